/* store.c: the choice of a store by its URL. */
#include "store/store.h"

#include <string.h>

static bool has_prefix(const char *text, const char *prefix) {
  return !strncmp(text, prefix, strlen(prefix));
}

tt_status tt_store_open(const tt_store_options *options, tt_store **store, tt_error *error) {
  if (has_prefix(options->url, "sqlite:")) return tt_sqlite_open(options->url + 7, store, error);
  if (!strcmp(options->url, "none:")) return tt_none_open(store, error);
  if (has_prefix(options->url, "postgresql://") || has_prefix(options->url, "postgres://")) {
    return tt_postgres_open(options, store, error);
  }
  return tt_fail(error, TT_INVALID,
                 "store '%s' is not understood; give sqlite:FILE or postgresql://HOST/DATABASE",
                 options->url);
}
