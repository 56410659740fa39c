/* message_fuzz.c: any bytes as a message: what is read holds finite numbers only, and is the same once it was written. A
 * mapping hears it: what it makes of it is within its commands' ranges. */
#include "halsim/exchange.h"

#include <json-c/json.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

static void write_again(const tt_halsim_message *message) {
  tt_halsim_value values[TT_HALSIM_MOST_VALUES];
  int count = tt_halsim_values(message, values);
  for (int i = 0; i < count; i++) check(isfinite(values[i].number));
  char *text = malloc(8 * TT_HALSIM_MOST_BYTES);
  size_t size = tt_halsim_write(message->type, message->device, values, count, text,
                                8 * TT_HALSIM_MOST_BYTES);
  tt_halsim_message again;
  tt_error error;
  check(size > 0);
  if (tt_halsim_read(text, size, &again, &error) == TT_OK) {
    check(strcmp(again.type, message->type) == 0 && strcmp(again.device, message->device) == 0);
    check(json_object_object_length(again.data) == count);
    tt_halsim_message_clear(&again);
  } else {
    check(size > TT_HALSIM_MOST_BYTES); /* escapes make it longer */
  }
  free(text);
}

/* clang-format off */
#define DRIVEN(t, d, k)                                                                            \
  { .type = t, .device = d, .key = k, .lower = -1, .upper = 1, .unit = 1, .scale = 1 }
/* clang-format on */
static tt_halsim_line lines[] = {
    DRIVEN("PWM", "0", "speed"),          DRIVEN("Relay", "0", "direction"),
    DRIVEN("Solenoid", "0,0", "output"),  DRIVEN("AddressableLED", "0", "brightness"),
    DRIVEN("CANMotor", "1", "dutyCycle"), DRIVEN("SimDevice", "A", "B"),
};
#define LINES ((int)(sizeof lines / sizeof *lines))

static void hear(const tt_halsim_message *message) {
  static const tt_halsim_map map = {.lines = lines, .count = LINES};
  tt_halsim_value values[TT_HALSIM_MOST_VALUES];
  tt_submission submissions[LINES];
  tt_halsim_fault fault = {.text = ""};
  tt_halsim_stranger stranger;
  tt_halsim *halsim = tt_halsim_new(&map);
  int count = tt_halsim_values(message, values);
  if (tt_halsim_hear(halsim, message->type, message->device, values, count, &fault) != TT_OK)
    check(fault.text[0] && tt_halsim_take(halsim, submissions) == 0);
  for (int i = tt_halsim_take(halsim, submissions) - 1; i >= 0; i--)
    check(submissions[i].value >= -1 && submissions[i].value <= 1);
  while (tt_halsim_next_stranger(halsim, &stranger)) check(stranger.type[0] != '\0');
  tt_halsim_free(halsim);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tt_halsim_message message;
  tt_error error;
  if (tt_halsim_read((const char *)data, size, &message, &error) != TT_OK) return 0;
  write_again(&message);
  hear(&message);
  tt_halsim_message_clear(&message);
  return 0;
}
