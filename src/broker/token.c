/* token.c: identifiers as tokens of subjects, and back. */
#include "broker/broker.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool tt_nats_print_token(char *text, size_t size, char escape, const char *identifier) {
  size_t at = 0;
  for (const unsigned char *c = (const unsigned char *)identifier; *c; c++) {
    bool plain = (*c < 0x80 && isalnum(*c)) || *c == '-' || *c == '_';
    if (at + 4 > size) return false;
    if (plain)
      text[at++] = (char)*c;
    else
      at += (size_t)snprintf(text + at, size - at, "%c%02X", escape, *c);
  }
  text[at] = 0;
  return true;
}

static int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool tt_nats_read_token(const char *token, size_t length, char *identifier, size_t size) {
  size_t to = 0;
  for (size_t at = 0; at < length; at++) {
    int byte = (unsigned char)token[at];
    if (byte == '%') {
      if (length - at < 3) return false;
      const int high = digit_of(token[at + 1]), low = digit_of(token[at + 2]);
      if (high < 0 || low < 0) return false;
      byte = high * 16 + low;
      at += 2;
    }
    if (!byte || to + 1 >= size) return false;
    identifier[to++] = (char)byte;
  }
  if (!to) return false;
  identifier[to] = 0;
  return true;
}
