/* hex.h: bytes written as hexadecimal in tests: "0000803f 00004842". Spaces may stand between bytes. */
#ifndef TT_WIRE_HEX_H
#define TT_WIRE_HEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/** Reads `hex` into `bytes` (room for `capacity`) and returns their number; SIZE_MAX when it is malformed or too long. */
static inline size_t tt_hex_read(const char *hex, uint8_t *bytes, size_t capacity) {
  size_t count = 0;
  while (*hex) {
    if (*hex == ' ' || *hex == '\n' || *hex == '\t') {
      hex++;
      continue;
    }
    char digits[3] = {hex[0], hex[1], '\0'};
    char *end;
    unsigned long value = strtoul(digits, &end, 16);
    if (end != digits + 2 || count == capacity) return SIZE_MAX;
    bytes[count++] = (uint8_t)value;
    hex += 2;
  }
  return count;
}

#endif
