/* conformance_test.c: sharp-json passes what every wire has to pass. Its numbers are text: the codec's tests spoil them. */
#include "wire/conformance.h"
#include "sharp/codec.h"

#include <string.h>

static size_t message(uint64_t n, uint8_t *bytes) {
  const int values[TT_SHARP_COMMAND_VALUES] = {100 + (int)(n % 300), -100, (int)(n % 5), 0, 0, 0};
  char text[TT_SHARP_MAX_TEXT];
  size_t size = tt_sharp_encode(&tt_sharp_command_format, TT_SHARP_COLUMNS, values, text);
  memcpy(bytes, text, size);
  return size;
}

int main(void) {
  static const char *const settings[] = {"wires.sharp-json.bind=127.0.0.1:0",
                                         "wires.sharp-json.peer=sender"};
  const tt_conformance wire = {.scene = "sharp",
                               .wire = "sharp-json",
                               .settings = settings,
                               .setting_count = 2,
                               .message = message};
  return tt_conformance_datagrams(&wire) + tt_conformance_in_lockstep(&wire);
}
