/* json_content.c: id, time, boot, seq, sets and values of a message, each of its type, and nothing else. */
#include "telemetry/json_content.h"

#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A message that is read. */
typedef struct reading {
  tt_message_build *build;
  const char *text; /**< all of it */
  size_t size;
  bool *looked, *large; /**< whether has_too_large() was asked, and what it said */
  char *reason;
  size_t room;
} reading;

static bool fail(const reading *from, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool fail(const reading *from, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(from->reason, from->room, format, arguments);
  va_end(arguments);
  return false;
}

/** For a reason of message_build.h's, with the place. */
static bool passes(const reading *from, const char *where, const char *reason) {
  return !reason || fail(from, "%s: %s", where, reason);
}

static tt_piece text_of(struct json_object *value) {
  return (tt_piece){json_object_get_string(value), (size_t)json_object_get_string_len(value)};
}

/** As it was sent. */
static tt_piece number_of(struct json_object *value) {
  return tt_piece_of(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
}

static bool is_number(struct json_object *value) {
  return json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double);
}

/** Behind a string that begins here. */
static const char *skip_text(const char *c) {
  for (c++; *c != '"'; c++) c += *c == '\\';
  return c + 1;
}

/** Whether a whole number of more than 64 bits stands anywhere in a text that is JSON. */
static bool has_too_large(const reading *from) {
  if (*from->looked) return *from->large;
  *from->looked = true;
  for (const char *c = from->text; c < from->text + from->size;) {
    const size_t size = strspn(c, "-+.0123456789eE"), whole = strspn(c, "-0123456789");
    errno = 0;
    if (whole && size == whole && *c == '-') strtoll(c, NULL, 10);
    if (whole && size == whole && *c != '-') strtoull(c, NULL, 10);
    if (errno == ERANGE) return *from->large = true;
    c = *c == '"' ? skip_text(c) : c + (size ? size : 1);
  }
  return false;
}

/** json-c takes the nearest for a whole number of more than 64 bits, and infinity for one beyond all doubles. */
static bool is_too_large(const reading *from, struct json_object *value) {
  if (json_object_is_type(value, json_type_int))
    return (json_object_get_uint64(value) == UINT64_MAX ||
            json_object_get_int64(value) == INT64_MIN) &&
           has_too_large(from);
  return is_number(value) && !isfinite(json_object_get_double(value));
}

/** Whether there is nothing in an object but these keys. */
static bool has_only(const reading *from, const char *where, struct json_object *object,
                     const char *const *keys) {
  json_object_object_foreach(object, key, value) {
    (void)value;
    bool known = false;
    for (int i = 0; keys[i]; i++) known = known || !strcmp(keys[i], key);
    if (!known) return fail(from, "%s: there is no key '%.40s'", where, key);
  }
  return true;
}

static bool read_ms(const reading *from, const char *where, struct json_object *object,
                    int64_t *us) {
  struct json_object *time;
  if (!json_object_object_get_ex(object, "time", &time)) return fail(from, "%s: no time", where);
  if (is_number(time) && tt_message_parse_ms(number_of(time), us)) return true;
  return fail(from, "%s.time is a number of milliseconds up to %lld, without an exponent", where,
              (long long)TT_MESSAGE_MAX_TIME_MS);
}

static bool read_name(const reading *from, const char *where, const char *key) {
  if (tt_piece_is_name(tt_piece_of(key))) return true;
  return fail(from,
              "%s: '%.40s' is no name: letters, digits, '_', '-', '.' and ':', a letter first",
              where, key);
}

static bool read_value(const reading *from, const char *set, const char *data, const char *key,
                       struct json_object *value) {
  const tt_piece parts[] = {tt_piece_of(set), tt_piece_of(data), tt_piece_of(key)};
  char where[160];
  tt_piece piece = {NULL, 0};
  snprintf(where, sizeof where, "%.50s.%.50s.%.50s", set, data, key);
  if (!read_name(from, where, key)) return false;
  if (json_object_is_type(value, json_type_boolean)) {
    piece = tt_piece_of(json_object_get_boolean(value) ? "1" : "0");
  } else if (json_object_is_type(value, json_type_string)) {
    piece = text_of(value);
    if (!tt_piece_is_text(piece)) return fail(from, "%s: a text with a control character", where);
  } else if (is_too_large(from, value)) {
    return fail(from, "%s: a number too large; whole ones have 64 bits", where);
  } else if (is_number(value)) {
    piece = number_of(value);
  } else {
    return fail(from, "%s: a value is a number, a text, true or false", where);
  }
  return passes(from, where, tt_message_build_value(from->build, parts, 3, piece));
}

static bool read_data(const reading *from, const char *set, const char *data,
                      struct json_object *values) {
  if (!read_name(from, set, data)) return false;
  if (!json_object_is_type(values, json_type_object))
    return fail(from, "%.50s.%.50s is an object: a value by each name", set, data);
  if ((uint32_t)json_object_object_length(values) > from->build->limits.attributes)
    return fail(from, "%.50s.%.50s has more than %u values", set, data,
                from->build->limits.attributes);
  json_object_object_foreach(values, key, value) {
    if (!read_value(from, set, data, key, value)) return false;
  }
  return true;
}

static bool read_set(const reading *from, struct json_object *set, size_t index) {
  static const char *const keys[] = {"name", "time", "values", NULL};
  char where[64];
  struct json_object *name, *values;
  int64_t time;
  snprintf(where, sizeof where, "sets[%zu]", index);
  if (!json_object_is_type(set, json_type_object))
    return fail(from, "%s is an object with name, time and values", where);
  if (!has_only(from, where, set, keys)) return false;
  if (!json_object_object_get_ex(set, "name", &name) ||
      !json_object_is_type(name, json_type_string))
    return fail(from, "%s: no name, which is a text", where);
  const tt_piece text = text_of(name);
  if (!read_name(from, where, text.bytes)) return false;
  if (!read_ms(from, where, set, &time)) return false;
  if (!json_object_object_get_ex(set, "values", &values) ||
      !json_object_is_type(values, json_type_object))
    return fail(from, "%s: no values, which is an object of data sets", where);
  if (time <= 0) time += from->build->message.time;
  if (!passes(from, where, tt_message_build_sample(from->build, time, text))) return false;
  json_object_object_foreach(values, data, of) {
    if (!read_data(from, text.bytes, data, of)) return false;
  }
  return true;
}

static bool read_sender(const reading *from, struct json_object *message) {
  struct json_object *id, *boot, *seq;
  int64_t time;
  if (!json_object_object_get_ex(message, "id", &id) ||
      !json_object_is_type(id, json_type_string) || !json_object_get_string_len(id))
    return fail(from, "the message has no id, which is a text");
  if (!read_ms(from, "the message", message, &time)) return false;
  if (!tt_piece_is_text(text_of(id))) return fail(from, "the id has a control character");
  if (!passes(from, "id", tt_message_build_sender(from->build, text_of(id), time))) return false;
  if (json_object_object_get_ex(message, "boot", &boot)) {
    if (!json_object_is_type(boot, json_type_string))
      return fail(from, "boot is a text: put it in quotes");
    if (!tt_piece_is_text(text_of(boot))) return fail(from, "the boot has a control character");
    if (!passes(from, "boot", tt_message_build_boot(from->build, text_of(boot)))) return false;
  }
  if (!json_object_object_get_ex(message, "seq", &seq)) return true;
  if (!json_object_is_type(seq, json_type_int)) return fail(from, "seq is a whole number");
  return passes(from, "seq", tt_message_build_seq(from->build, number_of(seq)));
}

static bool read_message(const reading *from, struct json_object *message) {
  static const char *const keys[] = {"id", "time", "boot", "seq", "sets", NULL};
  struct json_object *sets;
  if (!has_only(from, "the message", message, keys) || !read_sender(from, message)) return false;
  if (!json_object_object_get_ex(message, "sets", &sets) ||
      !json_object_is_type(sets, json_type_array))
    return fail(from, "the message has no sets, which is an array");
  const size_t count = json_object_array_length(sets);
  for (size_t i = 0; i < count; i++) {
    if (!read_set(from, json_object_array_get_idx(sets, i), i)) return false;
  }
  return true;
}

/** json-c ends a key at the 0 that "\\u0000" stands for. */
static bool has_zero(const char *text, size_t size, size_t *at) {
  for (size_t i = 0; i + 5 < size; i++) {
    if (text[i] != '\\') continue;
    *at = i;
    if (!memcmp(text + i, "\\u0000", 6)) return true;
    i++;
  }
  *at = 0;
  return false;
}

bool tt_json_content_read(tt_message_build *build, const char *text, size_t size, size_t *at,
                          char *reason, size_t room) {
  bool looked = false, large = false;
  const reading from = {build, text, size, &looked, &large, reason, room};
  struct json_object *message;
  tt_error error;
  if (has_zero(text, size, at)) return fail(&from, "a text with a control character");
  if (tt_json_read(text, size, TT_JSON_STRICT, &message, &error) != TT_OK) {
    int skip = 0;
    if (sscanf(error.text, "byte %zu: %n", at, &skip) != 1) *at = 0;
    return fail(&from, "%s", error.text + skip);
  }
  const bool good = read_message(&from, message);
  json_object_put(message);
  return good;
}
