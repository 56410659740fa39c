/* conformance_test.c: halsim-step passes what every lock-step wire over TCP has to pass. */
#include "net/socket_testing.h"
#include "wire/conformance.h"
#include "wire/halsim_step/codec.h"

#include <stdio.h>
#include <string.h>

static size_t frame(const char *head, const char *more, uint8_t *bytes) {
  size_t size =
      (size_t)snprintf((char *)bytes + TT_STEP_LENGTH, TT_CONFORMANCE_MESSAGE - TT_STEP_LENGTH,
                       "{\"type\":\"Step\",\"device\":\"\",\"data\":{%s}}\n%s", head, more);
  tt_step_put_length(bytes, size);
  return TT_STEP_LENGTH + size;
}

static size_t message(uint64_t n, uint8_t *bytes) {
  char head[64], more[256];
  snprintf(head, sizeof head, "\"<time\":%llu", (unsigned long long)n * 20000);
  snprintf(more, sizeof more,
           "{\"type\":\"PWM\",\"device\":\"0\",\"data\":{\"<speed\":%.1f}}\n"
           "{\"type\":\"PWM\",\"device\":\"1\",\"data\":{\"<speed\":%.1f}}\n",
           0.1 * (double)(n % 5 + 1), 0.1 * (double)((n + 1) % 5 + 1));
  return frame(head, more, bytes);
}

/* Hello, and what the program uses. */
static size_t greeting(uint8_t *bytes) {
  size_t size = frame("\"<version\":1,\"<program\":\"test\"", "", bytes);
  return size + frame("\"<time\":0",
                      "{\"type\":\"PWM\",\"device\":\"0\",\"data\":{\"<init\":true,\"<speed\":0}}\n"
                      "{\"type\":\"PWM\",\"device\":\"1\",\"data\":{\"<init\":true,\"<speed\":0}}\n"
                      "{\"type\":\"Encoder\",\"device\":\"0\",\"data\":{\"<init\":true,\"<channel_"
                      "a\":0,\"<channel_b\":1}}\n"
                      "{\"type\":\"Encoder\",\"device\":\"1\",\"data\":{\"<init\":true,\"<channel_"
                      "a\":2,\"<channel_b\":3}}\n",
                      bytes + size);
}

static ssize_t answer(int socket, uint8_t *bytes) {
  ssize_t got = receive_whole(socket, bytes, TT_STEP_LENGTH);
  if (got != TT_STEP_LENGTH) return got;
  size_t size = tt_step_get_length(bytes);
  if (size > TT_CONFORMANCE_MESSAGE - TT_STEP_LENGTH) return -1;
  got = receive_whole(socket, bytes + TT_STEP_LENGTH, size);
  return got == (ssize_t)size ? got + TT_STEP_LENGTH : got;
}

int main(void) {
  static const char *const settings[] = {"wires.halsim-step.listen=127.0.0.1:0"};
  static const char *const hold[] = {"wires.halsim-step.late=hold",
                                     "wires.halsim-step.deadline=20 ms",
                                     "wires.halsim-step.watchdog=0.5 s"};
  const tt_conformance wire = {
      .scene = "sharp-wpilib-step",
      .settings = settings,
      .setting_count = 1,
      .message = message,
      .hold_settings = hold,
      .greeting = greeting,
      .answer = answer,
      .answer_size = TT_CONFORMANCE_MESSAGE,
  };
  return tt_conformance_stream(&wire);
}
