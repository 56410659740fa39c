/* body.c */
#include "web/body.h"

tt_status tt_web_read_json(GBytes *body, struct json_object **object, tt_error *error) {
  gsize size;
  tt_error reason;
  const char *text = g_bytes_get_data(body, &size);
  tt_status status = tt_json_read(text ? text : "", size, TT_JSON_STRICT, object, &reason);
  if (status == TT_OK) return status;
  return tt_fail(error, status, "the body is to be one JSON object: %s", reason.text);
}
