/* section.c: keys of the web server. */
#include "web/section.h"

#define OPTIONAL (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)

const cyaml_schema_field_t tt_web_fields[] = {
    CYAML_FIELD_STRING_PTR("listen", OPTIONAL, tt_web_keys, listen, 0, 256),
    CYAML_FIELD_STRING_PTR("token", OPTIONAL, tt_web_keys, token, 0, 256),
    CYAML_FIELD_SEQUENCE_COUNT("hosts", OPTIONAL, tt_web_keys, hosts, host_count, &tt_string_schema,
                               0, 64),
    CYAML_FIELD_UINT("max_connections", CYAML_FLAG_OPTIONAL, tt_web_keys, max_connections),
    CYAML_FIELD_END,
};

static tt_status check(void *config, const char *where, tt_error *error) {
  tt_web_keys *keys = config;
  uint64_t connections;
  TT_TRY(tt_count_check(keys->max_connections, "max_connections", where, 1, 10000, 256,
                        &connections, error));
  keys->max_connections = (unsigned)connections;
  return TT_OK;
}

const tt_schema tt_web_schema = {
    .key = "web", .fields = tt_web_fields, .size = sizeof(tt_web_keys), .check = check};

tt_status tt_web_from_keys(const tt_web_keys *keys, tt_web **web, tt_error *error) {
  tt_web_options options = tt_web_options_default();
  options.next_free = !keys->listen;
  if (keys->listen) options.listen = keys->listen;
  options.token = keys->token;
  options.max_connections = (int)keys->max_connections;
  char **hosts = g_new0(char *, keys->host_count + 1);
  for (unsigned i = 0; i < keys->host_count; i++) hosts[i] = keys->hosts[i];
  options.hosts = (const char *const *)hosts;
  tt_status status = tt_web_new(&options, web, error);
  g_free(hosts);
  return status;
}
