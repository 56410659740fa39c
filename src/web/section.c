/* section.c: keys of the web server. */
#include "web/section.h"

#define OPTIONAL (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)

const cyaml_schema_field_t tt_web_fields[] = {
    CYAML_FIELD_STRING_PTR("listen", OPTIONAL, tt_web_keys, listen, 0, 256),
    CYAML_FIELD_STRING_PTR("token", OPTIONAL, tt_web_keys, token, 0, 256),
    CYAML_FIELD_STRING_PTR("tokens", OPTIONAL, tt_web_keys, tokens, 0, 4096),
    CYAML_FIELD_SEQUENCE_COUNT("proxies", OPTIONAL, tt_web_keys, proxies, proxy_count,
                               &tt_string_schema, 0, 64),
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

/* The same texts, NULL-terminated. */
static char **with_end(char **texts, unsigned count) {
  char **all = g_new0(char *, count + 1);
  for (unsigned i = 0; i < count; i++) all[i] = texts[i];
  return all;
}

tt_status tt_web_from_keys(const tt_web_keys *keys, tt_web **web, tt_error *error) {
  tt_web_options options = tt_web_options_default();
  options.next_free = !keys->listen;
  if (keys->listen) options.listen = keys->listen;
  options.token = keys->token;
  options.tokens = keys->tokens;
  options.max_connections = (int)keys->max_connections;
  char **hosts = with_end(keys->hosts, keys->host_count);
  char **proxies = with_end(keys->proxies, keys->proxy_count);
  options.hosts = (const char *const *)hosts;
  options.proxies = (const char *const *)proxies;
  tt_status status = tt_web_new(&options, web, error);
  g_free(hosts);
  g_free(proxies);
  return status;
}
