/* section.c: the keys of the scene's section `foxglove`. */
#include "foxglove/service.h"

#include "net/net.h"

static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_STRING_PTR("listen", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_foxglove_keys,
                           listen, 0, 64),
    CYAML_FIELD_STRING_PTR("period", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_foxglove_keys,
                           period, 0, 64),
    CYAML_FIELD_BOOL("commands", CYAML_FLAG_OPTIONAL, tt_foxglove_keys, commands),
    CYAML_FIELD_SEQUENCE_COUNT("origins", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                               tt_foxglove_keys, origins, origin_count, &tt_string_schema, 0, 64),
    CYAML_FIELD_SEQUENCE_COUNT("allow", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_foxglove_keys,
                               allow, allow_count, &tt_string_schema, 0, 64),
    CYAML_FIELD_END,
};

static tt_status check(void *config, const char *where, tt_error *error) {
  tt_foxglove_keys *keys = config;
  tt_error why;
  tt_allow allow = {.cidrs = (const char *const *)keys->allow, .count = (int)keys->allow_count};
  TT_TRY(tt_default_string(&keys->listen, "127.0.0.1:8765", error));
  tt_status status = tt_address_check(keys->listen, &allow, &why);
  if (status != TT_OK) return tt_fail(error, status, "%s.listen: %s", where, why.text);
  return tt_quantity_check(keys->period, "period", where, TT_TIME, 0.005, 10, 0.02,
                           &keys->period_seconds, error);
}

const tt_schema tt_foxglove_schema = {
    .key = "foxglove", .fields = fields, .size = sizeof(tt_foxglove_keys), .check = check};
