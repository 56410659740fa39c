/* body.c */
#include "web/body.h"

#include <string.h>

/* json-c gives texts and keys that end at their first 0: what stands behind it would be lost in silence. */
static bool has_zero(const char *text, size_t size) {
  for (size_t i = 0; i + 5 < size; i++) {
    if (text[i] != '\\') continue;
    if (memcmp(text + i, "\\u0000", 6) == 0) return true;
    i++; /* what is escaped begins no escape */
  }
  return false;
}

tt_status tt_web_read_json(GBytes *body, struct json_object **object, tt_error *error) {
  gsize size;
  tt_error reason;
  const char *text = g_bytes_get_data(body, &size);
  if (text && has_zero(text, size))
    return tt_fail(error, TT_INVALID, "a text of the body has a character of number 0 (\\u0000)");
  tt_status status = tt_json_read(text ? text : "", size, TT_JSON_STRICT, object, &reason);
  if (status == TT_OK) return status;
  return tt_fail(error, status, "the body is to be one JSON object: %s", reason.text);
}
