/* section.c: the keys of the scene's section `nt4`. */
#include "nt4/service.h"

#include "net/net.h"
#include "nt4/client.h"

static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_STRING_PTR("listen", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_nt4_keys, listen,
                           0, 64),
    CYAML_FIELD_STRING_PTR("connect", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_nt4_keys,
                           connect, 0, 512),
    CYAML_FIELD_BOOL("commands", CYAML_FLAG_OPTIONAL, tt_nt4_keys, commands),
    CYAML_FIELD_STRING_PTR("period", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_nt4_keys, period,
                           0, 64),
    CYAML_FIELD_SEQUENCE_COUNT("allow", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_nt4_keys,
                               allow, allow_count, &tt_string_schema, 0, 64),
    CYAML_FIELD_END,
};

static tt_status check(void *config, const char *where, tt_error *error) {
  tt_nt4_keys *keys = config;
  tt_error why;
  tt_allow allow = {.cidrs = (const char *const *)keys->allow, .count = (int)keys->allow_count};
  tt_status status;
  if (!keys->connect) TT_TRY(tt_default_string(&keys->listen, "127.0.0.1:5810", error));
  if (keys->listen && (status = tt_address_check(keys->listen, &allow, &why)) != TT_OK)
    return tt_fail(error, status, "%s.listen: %s", where, why.text);
  if (keys->connect && (status = tt_nt4_client_check(keys->connect, &why)) != TT_OK)
    return tt_fail(error, status, "%s.connect: %s", where, why.text);
  return tt_quantity_check(keys->period, "period", where, TT_TIME, 0.005, 10, 0.02,
                           &keys->period_seconds, error);
}

const tt_schema tt_nt4_schema = {
    .key = "nt4", .fields = fields, .size = sizeof(tt_nt4_keys), .check = check};
