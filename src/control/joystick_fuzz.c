/* joystick_fuzz.c: any text as a joystick script: what is accepted stays in range and ends, or goes on, when
 * played. */
#include "control/joystick.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tt_joystick_script script;
  tt_error error = {.text = ""};
  if (tt_joystick_script_parse("script", (const char *)data, size, &script, &error) != TT_OK) {
    check(script.events == NULL && error.text[0] != '\0');
    return 0;
  }
  bool repeats = script.events[script.count - 1].control == TT_JOYSTICK_REPEAT;
  double last = script.events[script.count - 1].time;
  int values[TT_JOYSTICK_VALUES] = {0};
  for (int round = 0; round <= 8; round++) {
    double time = last * round / 4;
    check(tt_joystick_script_play(&script, time, values) == (repeats || time < last));
    for (int i = 0; i < TT_JOYSTICK_VALUES; i++) {
      int lower, upper;
      tt_joystick_control_range(i, &lower, &upper);
      check(values[i] >= lower && values[i] <= upper);
    }
  }
  tt_joystick_script_free(&script);
  return 0;
}
