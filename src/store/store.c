/* store.c: the choice of a backend by a store's URL. */
#include "base/log.h"
#include "store/spool/spool.h"
#include "store/spool/spooled.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool has_scheme(const tt_store_backend *backend, const char *url) {
  for (const char *const *scheme = backend->schemes; *scheme; scheme++)
    if (!strncmp(url, *scheme, strlen(*scheme))) return true;
  return false;
}

static const tt_store_backend *backend_of(const char *url) {
  for (const tt_store_backend *const *backend = tt_store_backends; *backend; backend++)
    if (has_scheme(*backend, url)) return *backend;
  return NULL;
}

tt_status tt_store_backend_of(const char *url, const tt_store_backend **out, tt_error *error) {
  *out = backend_of(url);
  if (*out) return (*out)->check ? (*out)->check(url, error) : TT_OK;
  tt_list examples = TT_LIST(char, NULL);
  for (const tt_store_backend *const *backend = tt_store_backends; *backend; backend++)
    if ((*backend)->example)
      tt_list_print(&examples, "%s%s", examples.len ? " or " : "", (*backend)->example);
  tt_status status = tt_fail(error, TT_INVALID, "store '%s' is not understood; give %s", url,
                             examples.len ? (const char *)examples.data : "none:");
  tt_list_free(&examples);
  return status;
}

const tt_store_backend *tt_store_default_backend(void) {
  const tt_store_backend *const *backend = tt_store_backends;
  while (*backend && !(*backend)->file) backend++;
  return *backend;
}

bool tt_store_url_can(const char *url, tt_store_ability ability) {
  const tt_store_backend *backend = backend_of(url);
  return backend && backend->abilities & ability;
}

/** What a store that was away was to get stays in the file, acknowledged, where none is opened that takes it. */
static void warn_of_spool(const tt_store_options *options) {
  const uint64_t left = options->spool ? tt_spool_left(options->spool) : 0;
  if (!left) return;
  char url[512];
  tt_store_print_url(options->url, url, sizeof url);
  tt_log_warning("%s: %" PRIu64
                 " bytes of messages wait here for a store that was away, and are "
                 "not written into %s; start once with that store, or remove the file",
                 options->spool, left, url);
}

tt_status tt_store_open(const tt_store_options *options, tt_store **store, tt_error *error) {
  const tt_store_backend *backend;
  TT_TRY(tt_store_backend_of(options->url, &backend, error));
  if (options->spool && backend->abilities & TT_STORE_REMOTE)
    return tt_spool_around(backend, options, store, error);
  warn_of_spool(options);
  return backend->open(options, store, error);
}

void tt_store_print_url(const char *url, char *text, size_t size) {
  const char *host = strstr(url, "://");
  if (!host) {
    snprintf(text, size, "%s", url);
    return;
  }
  const char *end = host + strcspn(host, "?");
  const char *at = memrchr(host, '@', (size_t)(end - host));
  if (!at) at = host + 2;
  snprintf(text, size, "%.*s%.*s", (int)(host + 3 - url), url, (int)(end - at - 1), at + 1);
}
