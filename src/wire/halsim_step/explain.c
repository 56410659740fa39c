/* explain.c */
#include "wire/halsim_step/explain.h"

#include "wire/explain.h"
#include "wire/halsim_step/codec.h"

#include <json-c/json.h>

#include <stdio.h>

/* A line of which the end was not kept is none that can be read, and not wrong either. */
static void explain_line(tt_explanation *to, int offset, const char *text, int size) {
  tt_halsim_message message;
  tt_error error;
  if (tt_halsim_read(text, (size_t)size, &message, &error) != TT_OK) {
    tt_wire_field *field = tt_explain_field(to, "message", "", offset, size);
    if (!field) return;
    snprintf(field->value, sizeof field->value, "%.60s", error.text);
    field->wrong = true;
    return;
  }
  json_object_object_foreach(message.data, key, value) {
    char name[64];
    snprintf(name, sizeof name, "%.20s %.20s%s%.20s", message.type, message.device,
             message.device[0] ? " " : "", key);
    tt_wire_field *field = tt_explain_field(to, name, "", offset, size);
    if (field)
      snprintf(field->value, sizeof field->value, "%.60s",
               json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
  }
  tt_halsim_message_clear(&message);
}

void tt_halsim_step_explain(tt_explanation *to) {
  tt_wire_field *field = tt_explain_field(to, "length", "", 0, TT_STEP_LENGTH);
  if (!field) return;
  snprintf(field->value, sizeof field->value, "%zu", tt_step_get_length(to->bytes));
  const uint8_t *body = to->bytes + TT_STEP_LENGTH;
  size_t kept = (size_t)to->size - TT_STEP_LENGTH, at = 0, size;
  const char *text;
  tt_error error;
  while (tt_step_line(body, kept, &at, &text, &size, &error) == TT_OK)
    explain_line(to, (int)(text - (const char *)to->bytes), text, (int)size);
}
