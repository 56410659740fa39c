#include "wire/halsim_ws/explain.h"

#include "halsim/message.h"
#include "wire/explain.h"

#include <json-c/json.h>

#include <stdio.h>
#include <string.h>

/* Where `"name"` stands; its size in `size`. 0 where it is written otherwise, as with escapes. */
static int find(const tt_explanation *in, const char *name, int *size) {
  char quoted[TT_HALSIM_NAME + 2];
  *size = snprintf(quoted, sizeof quoted, "\"%s\"", name);
  const uint8_t *found = memmem(in->bytes, (size_t)in->size, quoted, (size_t)*size);
  if (!found) *size = 0;
  return found ? (int)(found - in->bytes) : 0;
}

static void explain_value(tt_explanation *to, const char *key, struct json_object *value) {
  int size, offset = find(to, key, &size);
  tt_wire_field *field = tt_explain_field(to, key, "", offset, size);
  if (field)
    snprintf(field->value, sizeof field->value, "%s",
             json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
}

void tt_halsim_explain(tt_explanation *to) {
  tt_halsim_message message;
  tt_error error;
  tt_status status = tt_halsim_read((const char *)to->bytes, (size_t)to->size, &message, &error);
  if (status != TT_OK) {
    tt_wire_field *field = tt_explain_field(to, "message", "", 0, to->size);
    if (!field) return;
    bool cut = to->whole > to->size;
    snprintf(field->value, sizeof field->value, "%.60s", cut ? "its end was not kept" : error.text);
    field->wrong = !cut;
    return;
  }
  int size, offset = find(to, message.device, &size);
  tt_wire_field *field = tt_explain_field(to, "device", "", offset, size);
  if (field)
    snprintf(field->value, sizeof field->value, "%.30s %.30s", message.type, message.device);
  json_object_object_foreach(message.data, key, value) explain_value(to, key, value);
  tt_halsim_message_clear(&message);
}
