#include "base/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t tt_text_character(const char *text, const char *end, uint32_t *code) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char *bytes = (const unsigned char *)text;
  *code = bytes[0];
  if (bytes[0] < 0x80) return 1;
  const size_t length = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
  if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || (size_t)(end - text) < length) return 0;
  *code = bytes[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((bytes[i] & 0xc0) != 0x80) return 0;
    *code = *code << 6 | (bytes[i] & 0x3fu);
  }
  const bool surrogate = *code >= 0xd800 && *code < 0xe000;
  return *code < least[length] || *code > 0x10ffff || surrogate ? 0 : length;
}

bool tt_text_is_utf8(const char *text, size_t size) {
  const char *end = text + size;
  while (text < end) {
    uint32_t code;
    const size_t length = tt_text_character(text, end, &code);
    if (!length) return false;
    text += length;
  }
  return true;
}

static bool shown(uint32_t code) {
  bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  bool line_end = code == 0x2028 || code == 0x2029;
  bool direction = code == 0x061c || code == 0x200e || code == 0x200f ||
                   (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return !control && !line_end && !direction;
}

void tt_text_make_safe(char *text) {
  char *out = text;
  const char *end = text + strlen(text);
  for (const char *at = text; at < end;) {
    uint32_t code;
    const size_t length = tt_text_character(at, end, &code);
    if (length && shown(code)) {
      memmove(out, at, length);
      out += length;
    } else {
      *out++ = '?';
    }
    at += length ? length : 1;
  }
  *out = 0;
}

static bool continues(char byte) { return ((unsigned char)byte & 0xc0) == 0x80; }

size_t tt_text_cut(char *text, size_t size) {
  size_t length = strnlen(text, size + 1);
  if (length <= size) return length;
  size_t end = size;
  for (int i = 0; i < 3 && end > 0 && continues(text[end]); i++) end--; /* no character is longer */
  text[end] = 0;
  return end;
}

size_t tt_text_cut_columns(char *text, size_t columns) {
  size_t length = 0;
  while (text[length] && columns-- > 0) {
    length++;
    while (continues(text[length])) length++;
  }
  text[length] = 0;
  return length;
}

static const char *next_character(const char *text) {
  do text++;
  while (continues(*text));
  return text;
}

bool tt_text_matches(const char *text, const char *pattern) {
  const char *star = NULL, *tried = NULL; /* behind the last *, and where what it stands for ends */
  while (*text) {
    if (*pattern == '*') {
      star = ++pattern;
      tried = text;
    } else if (*pattern == '?') {
      pattern++;
      text = next_character(text);
    } else if (*pattern == *text) {
      pattern++;
      text++;
    } else if (star) {
      pattern = star;
      text = tried = next_character(tried);
    } else {
      return false;
    }
  }
  while (*pattern == '*') pattern++;
  return !*pattern;
}

bool tt_text_is_formula(const char *text) { return *text && strchr("=+-@\t\r", *text); }

void tt_print(FILE *to, const char *format, ...) {
  char *text;
  va_list arguments;
  va_start(arguments, format);
  int size = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (size < 0) return;
  size_t format_size = strlen(format), before = strspn(format, "\n"), after = 0;
  while (after < format_size - before && format[format_size - 1 - after] == '\n') after++;
  char *body = text + before, *end = text + size - after;
  *end = 0;
  tt_text_make_safe(body);
  end = body + strlen(body);
  memset(end, '\n', after); /* the body has only become shorter */
  fwrite(text, 1, (size_t)(end - text) + after, to);
  free(text);
}

void tt_print_lines(FILE *to, const char *indent, const char *text) {
  while (*text) {
    size_t length = strcspn(text, "\n");
    tt_print(to, "%s%.*s\n", indent, (int)length, text);
    text += length + (text[length] == '\n');
  }
}
