/* line_content.c: one line: measurement, tags, fields, timestamp. Escapes are undone where they stand. */
#include "telemetry/line_internal.h"

#include "telemetry/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Of a point; Telegraf's have a dozen. */
#define MAX_TAGS 64
/** A number longer than this is none. */
#define NUMBER_BYTES 64

/** Where reading stands. */
typedef struct cursor {
  tt_line *into;
  const tt_line_options *options;
  char *at, *end;
  char *start;          /**< of the present line; texts may have line ends in them */
  unsigned long number; /**< its number */
} cursor;

static bool fail_at(const cursor *from, unsigned long line, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static bool fail_at(const cursor *from, unsigned long line, size_t column, const char *format,
                    ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(from->into->reason, sizeof from->into->reason, format, arguments);
  va_end(arguments);
  from->into->line = line;
  from->into->column = column;
  return false;
}

static size_t column(const cursor *from) { return (size_t)(from->at - from->start) + 1; }

/** For what went wrong where the cursor stands. */
#define FAIL(from, ...) fail_at((from), (from)->number, column(from), __VA_ARGS__)

static bool is_next(const cursor *from, char wanted) {
  return from->at < from->end && *from->at == wanted;
}

static bool take(cursor *from, char wanted) {
  if (!is_next(from, wanted)) return false;
  from->at++;
  return true;
}

static void skip_blanks(cursor *from) {
  while (take(from, ' ')) continue;
}

/** Up to one of `stops`, each of which a backslash makes part of the name. */
static tt_piece take_name(cursor *from, const char *stops) {
  char *to = from->at, *begun = to;
  while (from->at < from->end && !strchr(stops, *from->at)) {
    const char next = *from->at == '\\' && from->at + 1 < from->end ? from->at[1] : 0;
    if (next == '\\') *to++ = *from->at;  // two of them are two, and hide nothing
    if (next && strchr(",= \\", next)) from->at++;
    *to++ = *from->at++;
  }
  return (tt_piece){begun, (size_t)(to - begun)};
}

static bool add_pair(const cursor *from, tt_list *to, const tt_line_pair *pair) {
  if (tt_list_add(to, pair, 1)) return true;
  return FAIL(from, "out of memory");
}

static bool is_utf8(const cursor *from, tt_piece piece, size_t at) {
  if (tt_piece_is_text(piece)) return true;
  return fail_at(from, from->number, at, "not UTF-8, or a control character");
}

static int by_key(const void *a, const void *b) {
  const tt_line_pair *one = a, *other = b;
  const size_t common = one->key.size < other->key.size ? one->key.size : other->key.size;
  const int order = memcmp(one->key.bytes, other->key.bytes, common);
  return order ? order : (one->key.size > other->key.size) - (one->key.size < other->key.size);
}

static bool read_tags(cursor *from) {
  tt_list *tags = &from->into->tags;
  while (take(from, ',')) {
    tt_line_pair pair = {.line = from->number, .column = column(from)};
    pair.key = take_name(from, ",= ");
    if (!pair.key.size || !take(from, '=')) return FAIL(from, "a tag is KEY=VALUE");
    pair.value = take_name(from, ",= ");
    if (!pair.value.size || is_next(from, '=')) return FAIL(from, "a tag is KEY=VALUE");
    if (!is_utf8(from, pair.key, pair.column) || !is_utf8(from, pair.value, pair.column))
      return false;
    if (tags->len == MAX_TAGS) return FAIL(from, "more than %d tags", MAX_TAGS);
    if (!add_pair(from, tags, &pair)) return false;
  }
  if (tags->len) qsort(tags->data, tags->len, sizeof(tt_line_pair), by_key);
  for (uint32_t i = 1; i < tags->len; i++) {
    const tt_line_pair *pair = &tt_list_at(tags, tt_line_pair, i);
    if (!by_key(pair, pair - 1))
      return fail_at(from, pair->line, pair->column, "the tag %.*s stands twice",
                     (int)(pair->key.size < 64 ? pair->key.size : 64), pair->key.bytes);
  }
  return true;
}

/** From behind its quote to behind the one that ends it. */
static bool read_text(cursor *from, tt_piece *value) {
  char *to = from->at, *begun = to;
  const unsigned long line = from->number;
  const size_t quote = column(from) - 1;
  while (from->at < from->end && *from->at != '"') {
    if (*from->at == '\\' && from->at + 1 < from->end && strchr("\"\\", from->at[1]) && from->at[1])
      from->at++;
    *to++ = *from->at++;
    if (from->at[-1] != '\n') continue;
    from->number++;
    from->start = from->at;
  }
  *value = (tt_piece){begun, (size_t)(to - begun)};
  if (!take(from, '"')) return fail_at(from, line, quote, "a text that does not end");
  if (tt_piece_is_text(*value)) return true;
  return fail_at(from, line, quote, "a text that is no UTF-8, or has a control character");
}

static bool is_word(tt_piece word, const char *const *words) {
  for (; *words; words++) {
    if (word.size == strlen(*words) && !memcmp(word.bytes, *words, word.size)) return true;
  }
  return false;
}

/** "-12i", "12u": whole, of 64 bits. */
static bool is_whole(const char *text, bool is_signed) {
  char *end;
  if (!isdigit((unsigned char)text[is_signed && *text == '-'])) return false;
  errno = 0;
  if (is_signed)
    strtoll(text, &end, 10);
  else
    strtoull(text, &end, 10);
  return !errno && !*end;
}

/** A number, true or false: what a MESSAGE would say for it. */
static bool read_plain(cursor *from, tt_piece *value) {
  static const char *const yes[] = {"t", "T", "true", "True", "TRUE", NULL};
  static const char *const no[] = {"f", "F", "false", "False", "FALSE", NULL};
  char text[NUMBER_BYTES + 1];
  double number;
  const tt_piece word = {from->at, strcspn(from->at, ", \"")};
  *value = word;
  if (is_word(word, yes) || is_word(word, no)) {
    *value = tt_piece_of(is_word(word, yes) ? "1" : "0");
  } else {
    const char kind = word.size ? word.bytes[word.size - 1] : 0;
    if (kind == 'i' || kind == 'u') value->size--;
    bool good = value->size && value->size <= NUMBER_BYTES;
    memcpy(text, value->bytes, good ? value->size : 0);
    text[good ? value->size : 0] = 0;
    good = good && (kind == 'i' || kind == 'u' ? is_whole(text, kind == 'i')
                                               : tt_number_parse(text, &number));
    if (!good)
      return FAIL(from,
                  "a value is a number, a number of 64 bits with i or u behind it, true, "
                  "false, or a text in double quotes");
  }
  from->at += word.size;
  return true;
}

static bool read_fields(cursor *from) {
  do {
    tt_line_pair pair = {.line = from->number, .column = column(from)};
    if (from->into->fields.len >= from->options->limits.attributes)
      return FAIL(from, "more than %u fields", from->options->limits.attributes);
    pair.key = take_name(from, ",= ");
    if (!pair.key.size || !take(from, '=')) return FAIL(from, "a field is KEY=VALUE");
    if (!is_utf8(from, pair.key, pair.column)) return false;
    if (!(take(from, '"') ? read_text(from, &pair.value) : read_plain(from, &pair.value)))
      return false;
    if (!add_pair(from, &from->into->fields, &pair)) return false;
  } while (take(from, ','));
  if (from->at < from->end && !is_next(from, ' ')) return FAIL(from, "something behind a value");
  return true;
}

bool tt_line_time(int64_t count, int64_t unit, int64_t *us) {
  const int64_t most = TT_MESSAGE_MAX_TIME_MS * 1000;
  if (unit >= 1000) {
    if (count > most / (unit / 1000) || count < -most / (unit / 1000)) return false;
    *us = count * (unit / 1000);
  } else {
    const int64_t per = 1000 / unit;
    *us = count / per - (count % per < 0);
  }
  return *us <= most && *us >= -most;
}

static bool read_time(cursor *from) {
  from->into->time = TT_MESSAGE_NO_TIME;
  skip_blanks(from);
  if (from->at == from->end) return true;
  char *end;
  errno = 0;
  const bool begins = isdigit((unsigned char)from->at[*from->at == '-']);
  const long long count = begins ? strtoll(from->at, &end, 10) : 0;
  if (!begins || errno || !tt_line_time(count, from->options->unit, &from->into->time))
    return FAIL(from,
                "a timestamp is a whole number that is none beyond the year 2255; see "
                "precision");
  from->at = end;
  skip_blanks(from);
  return from->at == from->end || FAIL(from, "something behind the timestamp");
}

void tt_line_init(tt_line *line) {
  *line = (tt_line){.tags = TT_LIST(tt_line_pair, NULL), .fields = TT_LIST(tt_line_pair, NULL)};
}

void tt_line_clear(tt_line *line) {
  tt_list_free(&line->tags);
  tt_list_free(&line->fields);
}

bool tt_line_read(tt_line *line, char *bytes, size_t size, unsigned long number,
                  const tt_line_options *options) {
  cursor from = {line, options, bytes, bytes + size, bytes, number};
  tt_list_cut(&line->tags, 0);
  tt_list_cut(&line->fields, 0);
  *line->reason = 0;
  bytes[size] = 0;
  skip_blanks(&from);
  const size_t begins = column(&from);
  line->measurement = take_name(&from, ", ");
  if (!line->measurement.size) return FAIL(&from, "no measurement");
  if (!is_utf8(&from, line->measurement, begins)) return false;
  if (!read_tags(&from)) return false;
  skip_blanks(&from);
  return read_fields(&from) && read_time(&from);
}
