/* address.c: see its header. */
#include "store/clickhouse/address.h"

#include <ctype.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NAME 64
#define HTTP_PORT 8123
#define HTTPS_PORT 8443
#define NATIVE_PORT 9000

void tt_clickhouse_address_clear(tt_clickhouse_address *address) {
  g_free(address->user);
  g_free(address->password);
  g_free(address->database);
  g_free(address->ca);
  *address = (tt_clickhouse_address){0};
}

/** Stands in SQL as it is. */
static bool is_name(const char *text) {
  const size_t size = strlen(text);
  for (const char *c = text; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') return false;
  return size && size <= LONGEST_NAME && !isdigit((unsigned char)*text);
}

static bool is_host(const char *text) {
  const size_t size = strlen(text);
  const bool bracketed = *text == '[' && size > 2 && text[size - 1] == ']';
  for (const char *c = bracketed ? text + 1 : text; *c && !(bracketed && !c[1]); c++)
    if (!isalnum((unsigned char)*c) && !strchr(bracketed ? ":." : "-._", *c)) return false;
  return size && size < sizeof((tt_clickhouse_shard *)NULL)->host;
}

static tt_status take_port(const char *text, int *port, tt_error *error) {
  char *end;
  const long number = strtol(text, &end, 10);
  if (!isdigit((unsigned char)*text) || *end || number < 1 || number > 65535)
    return tt_fail(error, TT_INVALID, "clickhouse: '%.64s' is no port: 1 to 65535", text);
  *port = (int)number;
  return TT_OK;
}

static tt_status take_shard(tt_clickhouse_address *address, char *text, tt_error *error) {
  char *bracket = strrchr(text, ']'), *colon = strrchr(text, ':');
  if (address->shard_count == TT_CLICKHOUSE_SHARDS)
    return tt_fail(error, TT_INVALID, "clickhouse: more than %d shards", TT_CLICKHOUSE_SHARDS);
  tt_clickhouse_shard *shard = &address->shards[address->shard_count++];
  *shard = (tt_clickhouse_shard){.native = NATIVE_PORT};
  if (colon && (!bracket || colon > bracket)) {
    *colon = 0;
    TT_TRY(take_port(colon + 1, &shard->port, error));
  }
  if (!is_host(text))
    return tt_fail(error, TT_INVALID,
                   "clickhouse: '%.64s' is no host; give clickhouse://HOST/DATABASE", text);
  g_strlcpy(shard->host, text, sizeof shard->host);
  return TT_OK;
}

/** One for all shards, or one for each. */
static tt_status take_natives(tt_clickhouse_address *address, const char *text, tt_error *error) {
  char **ports = g_strsplit(text, ",", -1);
  const int count = (int)g_strv_length(ports);
  tt_status status = TT_OK;
  if (count != 1 && count != address->shard_count)
    status = tt_fail(error, TT_INVALID, "clickhouse: native= has %d ports for %d hosts", count,
                     address->shard_count);
  for (int i = 0; i < address->shard_count && status == TT_OK; i++)
    status = take_port(ports[count == 1 ? 0 : i], &address->shards[i].native, error);
  g_strfreev(ports);
  return status;
}

static tt_status take_option(tt_clickhouse_address *address, const char *pair, tt_error *error) {
  if (!strcmp(pair, "tls=yes") || !strcmp(pair, "tls=no")) {
    address->tls = pair[4] == 'y';
    return TT_OK;
  }
  if (g_str_has_prefix(pair, "native=")) return take_natives(address, pair + 7, error);
  if (g_str_has_prefix(pair, "ca=") && pair[3]) {
    g_free(address->ca);
    address->ca = g_uri_unescape_string(pair + 3, NULL);
    if (address->ca) return TT_OK;
  }
  return tt_fail(error, TT_INVALID,
                 "clickhouse: '%.64s' is none of tls=yes, ca=FILE, native=PORT[,PORT…]", pair);
}

static tt_status take_options(tt_clickhouse_address *address, const char *text, tt_error *error) {
  char **pairs = g_strsplit(text, "&", -1);
  tt_status status = TT_OK;
  for (char **pair = pairs; *pair && status == TT_OK; pair++)
    if (**pair) status = take_option(address, *pair, error);
  g_strfreev(pairs);
  return status;
}

static tt_status take_user(tt_clickhouse_address *address, char *text, tt_error *error) {
  char *colon = strchr(text, ':');
  if (colon) *colon++ = 0;
  address->user = g_uri_unescape_string(text, NULL);
  address->password = g_uri_unescape_string(colon ? colon : "", NULL);
  return address->user && address->password
             ? TT_OK
             : tt_fail(error, TT_INVALID, "clickhouse: the user or the password has a bad escape");
}

static tt_status take_hosts(tt_clickhouse_address *address, const char *text, tt_error *error) {
  char **hosts = g_strsplit(text, ",", -1);
  tt_status status = TT_OK;
  for (char **host = hosts; *host && status == TT_OK; host++)
    status = take_shard(address, *host, error);
  g_strfreev(hosts);
  if (status == TT_OK && !address->shard_count)
    status = tt_fail(error, TT_INVALID,
                     "clickhouse: no server is named; give clickhouse://HOST/DATABASE");
  return status;
}

/** `text`: all behind "://", to be changed. */
static tt_status take_apart(tt_clickhouse_address *address, char *text, tt_error *error) {
  char *options = strchr(text, '?');
  if (options) *options++ = 0;
  char *database = strchr(text, '/');
  if (database) *database++ = 0;
  char *at = strrchr(text, '@');
  if (at) *at++ = 0;
  TT_TRY(take_user(address, at ? text : (char[]){""}, error));
  TT_TRY(take_hosts(address, at ? at : text, error));
  address->database = g_strdup(database && *database ? database : "tether");
  if (!is_name(address->database))
    return tt_fail(error, TT_INVALID,
                   "clickhouse: '%.64s' is no name of a database: letters, digits and _",
                   address->database);
  if (options) TT_TRY(take_options(address, options, error));
  for (int i = 0; i < address->shard_count; i++)
    if (!address->shards[i].port) address->shards[i].port = address->tls ? HTTPS_PORT : HTTP_PORT;
  return TT_OK;
}

tt_status tt_clickhouse_address_parse(const char *url, tt_clickhouse_address *address,
                                      tt_error *error) {
  *address = (tt_clickhouse_address){0};
  const char *host = strstr(url, "://");
  if (!host)
    return tt_fail(error, TT_INVALID,
                   "clickhouse: '%.200s' names no server; give clickhouse://HOST/DATABASE", url);
  char *text = g_strdup(host + 3);
  tt_status status = take_apart(address, text, error);
  g_free(text);
  return status;
}
