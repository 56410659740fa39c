/* json.c */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

/* A walk over text that json-c took as JSON. */
typedef struct walk {
  tt_json_manner manner;
  const char *text;
  size_t size, at;
  struct json_object *seen[TT_JSON_MOST_DEPTH + 1]; /* the keys so far of each object around */
  int depth;
} walk;

/* From a quote to behind its fellow. */
static size_t skip_string(const walk *of) {
  size_t end = of->at + 1;
  while (end < of->size && of->text[end] != of->text[of->at]) end += of->text[end] == '\\' ? 2 : 1;
  return end < of->size ? end + 1 : of->size;
}

/* Before memory is spent on them. Whatever the text is. */
static tt_status count_objects(const char *text, size_t size, tt_json_manner manner,
                               tt_error *error) {
  walk of = {.text = text, .size = size};
  for (int count = 0; of.at < size;) {
    char sign = text[of.at];
    bool quotes = sign == '"' || (sign == '\'' && manner == TT_JSON_TOLERANT);
    if ((sign == '{' || sign == '[') && ++count > TT_JSON_MOST_OBJECTS)
      return tt_fail(error, TT_INVALID, "byte %zu: more than %d objects and arrays", of.at,
                     TT_JSON_MOST_OBJECTS);
    of.at = quotes ? skip_string(&of) : of.at + 1;
  }
  return TT_OK;
}

/* Decoded, so that "a" and "\u0061" are seen to be one; free() it. NULL when out of memory. */
static char *decode_string(const walk *of, size_t end) {
  const char *text = of->text + of->at;
  const size_t size = end - of->at;
  if (!memchr(text, '\\', size)) return strndup(text + 1, size - 2); /* hardly any has one */
  struct json_tokener *tokener = json_tokener_new();
  struct json_object *decoded = tokener ? json_tokener_parse_ex(tokener, text, (int)size) : NULL;
  char *made = decoded ? strdup(json_object_get_string(decoded)) : NULL;
  json_object_put(decoded);
  json_tokener_free(tokener);
  return made;
}

static tt_status note_key(walk *of, size_t end, tt_error *error) {
  char *key = decode_string(of, end);
  struct json_object *seen = of->seen[of->depth];
  tt_status status = key && seen ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_OK && json_object_object_get_ex(seen, key, NULL))
    status = tt_fail(error, TT_INVALID, "byte %zu: the key '%.40s' stands twice", of->at, key);
  if (status == TT_OK && json_object_object_add(seen, key, NULL) != 0)
    status = tt_fail(error, TT_NOMEM, "out of memory");
  free(key);
  return status;
}

/* A string before a colon is a key. */
static tt_status pass_string(walk *of, tt_error *error) {
  size_t end = skip_string(of), next = end;
  for (size_t i = of->at; of->manner == TT_JSON_STRICT && i < end; i++)
    if ((unsigned char)of->text[i] < ' ')
      return tt_fail(error, TT_INVALID, "byte %zu: a control character", i);
  while (next < of->size && strchr(" \t\r\n", of->text[next])) next++;
  if (next < of->size && of->text[next] == ':') TT_TRY(note_key(of, end, error));
  of->at = end;
  return TT_OK;
}

static tt_status pass_sign(walk *of, tt_error *error) {
  switch (of->text[of->at]) {
    case '\'':
      if (of->manner == TT_JSON_STRICT)
        return tt_fail(error, TT_INVALID, "byte %zu: a key stands in double quotes", of->at);
      return pass_string(of, error);
    case '"': return pass_string(of, error);
    case '/': return tt_fail(error, TT_INVALID, "byte %zu: comments are not read", of->at);
    case '{': of->seen[++of->depth] = json_object_new_object(); break;
    case '}': json_object_put(of->seen[of->depth--]); break;
    default: break;
  }
  of->at++;
  return TT_OK;
}

/* What json-c takes in silence. */
static tt_status check_keys(const char *text, size_t size, tt_json_manner manner, tt_error *error) {
  walk of = {.manner = manner, .text = text, .size = size};
  tt_status status = TT_OK;
  while (status == TT_OK && of.at < size) status = pass_sign(&of, error);
  while (of.depth > 0) json_object_put(of.seen[of.depth--]);
  return status;
}

static tt_status judge(enum json_tokener_error trouble, size_t end, size_t size,
                       struct json_object *object, tt_error *error) {
  if (trouble == json_tokener_continue)
    return tt_fail(error, TT_INVALID, "byte %zu: the text ends before its JSON does", end);
  if (trouble == json_tokener_error_depth)
    return tt_fail(error, TT_INVALID, "byte %zu: more than %d levels", end, TT_JSON_MOST_DEPTH);
  if (trouble != json_tokener_success)
    return tt_fail(error, TT_INVALID, "byte %zu: %s", end, json_tokener_error_desc(trouble));
  if (!json_object_is_type(object, json_type_object))
    return tt_fail(error, TT_INVALID, "not a JSON object");
  if (end != size)
    return tt_fail(error, TT_INVALID, "byte %zu: something follows the JSON object", end);
  return TT_OK;
}

/* `made` is the caller's also where this fails. */
static tt_status parse(const char *text, size_t size, int flags, struct json_object **made,
                       tt_error *error) {
  struct json_tokener *tokener = json_tokener_new_ex(TT_JSON_MOST_DEPTH);
  if (!tokener) return tt_fail(error, TT_NOMEM, "out of memory");
  json_tokener_set_flags(tokener, flags);
  *made = json_tokener_parse_ex(tokener, text, (int)size);
  tt_status status = judge(json_tokener_get_error(tokener), json_tokener_get_parse_end(tokener),
                           size, *made, error);
  json_tokener_free(tokener);
  return status;
}

/* The strict json-c 0.18 refuses every byte above 0x7f, so it sees a copy without them. */
static tt_status judge_strictly(const char *text, size_t size, tt_error *error) {
  char *ascii = malloc(size + 1);
  if (!ascii) return tt_fail(error, TT_NOMEM, "out of memory");
  for (size_t i = 0; i < size; i++) ascii[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
  struct json_object *made = NULL;
  tt_status status = parse(ascii, size, JSON_TOKENER_STRICT, &made, error);
  json_object_put(made);
  free(ascii);
  return status;
}

tt_status tt_json_read(const char *text, size_t size, tt_json_manner manner,
                       struct json_object **object, tt_error *error) {
  *object = NULL;
  if (size > INT32_MAX) return tt_fail(error, TT_INVALID, "more than 2 GiB");
  TT_TRY(count_objects(text, size, manner, error));
  struct json_object *made = NULL;
  tt_status status = parse(text, size, JSON_TOKENER_VALIDATE_UTF8, &made, error);
  if (status == TT_OK && manner == TT_JSON_STRICT) status = judge_strictly(text, size, error);
  if (status == TT_OK) status = check_keys(text, size, manner, error);
  if (status == TT_OK)
    *object = made;
  else
    json_object_put(made);
  return status;
}

/* ---- members ---- */

void tt_json_add(struct json_object *to, const char *key, struct json_object *value) {
  if (!to || json_object_object_add(to, key, value) != 0) json_object_put(value);
}

void tt_json_add_text(struct json_object *to, const char *key, const char *value) {
  tt_json_add(to, key, value ? json_object_new_string(value) : NULL);
}

void tt_json_add_int(struct json_object *to, const char *key, int64_t value) {
  tt_json_add(to, key, json_object_new_int64(value));
}

void tt_json_add_uint(struct json_object *to, const char *key, uint64_t value) {
  tt_json_add(to, key, json_object_new_uint64(value));
}

void tt_json_add_double(struct json_object *to, const char *key, double value) {
  tt_json_add(to, key, json_object_new_double(value));
}

void tt_json_add_bool(struct json_object *to, const char *key, bool value) {
  tt_json_add(to, key, json_object_new_boolean(value));
}

struct json_object *tt_json_add_array(struct json_object *to, const char *key) {
  struct json_object *array = json_object_new_array();
  tt_json_add(to, key, array);
  return to ? array : NULL;
}

const char *tt_json_text(struct json_object *from, const char *key) {
  struct json_object *value;
  bool given = json_object_object_get_ex(from, key, &value) && value;
  return given ? json_object_get_string(value) : "";
}

struct json_object *tt_json_list(struct json_object *from, const char *key, size_t *length) {
  struct json_object *list;
  bool given =
      json_object_object_get_ex(from, key, &list) && json_object_is_type(list, json_type_array);
  *length = given ? json_object_array_length(list) : 0;
  return given ? list : NULL;
}
