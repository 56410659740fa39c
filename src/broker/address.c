/* address.c: a URL of NATS, taken apart. */
#include "broker/broker.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME "nats://"
#define LONGEST_NAME 64
#define LONGEST_USER 1024

void tt_nats_address_clear(tt_nats_address *address) {
  for (int i = 0; i < address->count; i++) free(address->each[i]);
  free(address->servers);
  free(address->user);
  free(address->password);
  free(address->name);
  free(address->creds);
  free(address->ca);
  free(address->cert);
  free(address->key);
  *address = (tt_nats_address){0};
}

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

/* --- options --- */

static bool is_name(const char *text) {
  size_t size = strlen(text);
  for (const char *c = text; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_') return false;
  return size && size <= LONGEST_NAME;
}

static tt_status take_option(tt_nats_address *address, const char *pair, tt_error *error) {
  const struct {
    const char *key;
    char **value;
  } files[] = {{"creds=", &address->creds},
               {"ca=", &address->ca},
               {"cert=", &address->cert},
               {"key=", &address->key}};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    const size_t size = strlen(files[i].key);
    if (strncmp(pair, files[i].key, size) != 0) continue;
    free(*files[i].value);
    *files[i].value = strdup(pair + size);
    return *files[i].value ? TT_OK : no_memory(error);
  }
  if (!strcmp(pair, "replicas=1") || !strcmp(pair, "replicas=3") || !strcmp(pair, "replicas=5")) {
    address->replicas = pair[9] - '0';
    return TT_OK;
  }
  return tt_fail(error, TT_INVALID,
                 "nats: '%.64s' is none of replicas=1, 3 or 5, creds=FILE, ca=FILE, cert=FILE, "
                 "key=FILE",
                 pair);
}

static tt_status take_options(tt_nats_address *address, char *text, tt_error *error) {
  char *rest = NULL;
  for (char *pair = strtok_r(text, "&", &rest); pair; pair = strtok_r(NULL, "&", &rest))
    TT_TRY(take_option(address, pair, error));
  if (!address->cert == !address->key) return TT_OK;
  return tt_fail(error, TT_INVALID, "nats: cert=FILE and key=FILE belong together");
}

/* --- servers --- */

/** A part of a user's name and password; NULL: `*bad`, or out of memory. */
static char *read_part(const char *text, size_t length, bool *bad) {
  char part[LONGEST_USER];
  *bad = length && !tt_nats_read_token(text, length, part, sizeof part);
  return *bad ? NULL : strdup(length ? part : "");
}

/** USER:PASSWORD, as far as `end`. */
static tt_status take_user(tt_nats_address *address, const char *text, const char *end,
                           tt_error *error) {
  const char *colon = memchr(text, ':', (size_t)(end - text));
  bool bad_user, bad_password = false;
  if (!colon || colon == text)
    return tt_fail(error, TT_INVALID, "nats: give nats://USER:PASSWORD@HOST, or ?creds=FILE");
  address->user = read_part(text, (size_t)(colon - text), &bad_user);
  address->password = read_part(colon + 1, (size_t)(end - colon - 1), &bad_password);
  if (bad_user || bad_password)
    return tt_fail(error, TT_INVALID,
                   "nats: in USER:PASSWORD@ a %% is %%25, an @ %%40, a / %%2F and a ? %%3F");
  return address->user && address->password ? TT_OK : no_memory(error);
}

static tt_status take_servers(tt_nats_address *address, tt_error *error) {
  char *hosts = strdup(address->servers), *rest = NULL;
  if (!hosts) return no_memory(error);
  tt_status status = TT_OK;
  for (char *host = strtok_r(hosts, ",", &rest); host && status == TT_OK;
       host = strtok_r(NULL, ",", &rest)) {
    const size_t size = strlen(host) + sizeof SCHEME;
    char *server = address->count < TT_NATS_MOST_SERVERS ? malloc(size) : NULL;
    if (server) {
      snprintf(server, size, SCHEME "%s", host);
      address->each[address->count++] = server;
    } else {
      status = address->count < TT_NATS_MOST_SERVERS
                   ? no_memory(error)
                   : tt_fail(error, TT_INVALID, "nats: at most %d servers", TT_NATS_MOST_SERVERS);
    }
  }
  free(hosts);
  if (status == TT_OK && !address->count)
    return tt_fail(error, TT_INVALID, "nats: no server is named; give nats://HOST:4222");
  return status;
}

tt_status tt_nats_address_parse(const char *url, tt_nats_address *address, tt_error *error) {
  *address = (tt_nats_address){.replicas = 1};
  if (strncmp(url, SCHEME, strlen(SCHEME)) != 0)  // it may have a password, so it is not shown
    return tt_fail(error, TT_INVALID,
                   "nats: its address begins with " SCHEME "; give " SCHEME
                   "HOST:4222, and ?ca=FILE where it speaks TLS");
  const char *host = url + strlen(SCHEME);
  const char *end = host + strcspn(host, "/?"), *at = memrchr(host, '@', (size_t)(end - host));
  if (at) TT_TRY(take_user(address, host, at, error));
  if (at) host = at + 1;
  address->servers = strndup(host, (size_t)(end - host));
  char *rest = strdup(end);
  tt_status status = address->servers && rest ? take_servers(address, error) : no_memory(error);
  char *options = rest ? strchr(rest, '?') : NULL;
  if (options) *options++ = 0;
  if (status == TT_OK) {
    address->name = strdup(rest[0] && rest[1] ? rest + 1 : "tether");
    if (!address->name) status = no_memory(error);
  }
  if (status == TT_OK && !is_name(address->name))
    status =
        tt_fail(error, TT_INVALID, "nats: '%.64s' is no name of a stream: letters, digits, - and _",
                address->name);
  if (status == TT_OK && options) status = take_options(address, options, error);
  free(rest);
  return status;
}

tt_status tt_nats_address_check(const char *url, tt_error *error) {
  tt_nats_address address;
  tt_status status = tt_nats_address_parse(url, &address, error);
  tt_nats_address_clear(&address);
  return status;
}
