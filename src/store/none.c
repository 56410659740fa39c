/* none.c: keeps nothing, for those who only look at live samples. */
#include "store/store.h"

#include <stdlib.h>

static tt_status load(tt_store *store, const tt_store_loader *loader, tt_error *error) {
  (void)store, (void)loader, (void)error;
  return TT_OK;
}

static tt_status write_batch(tt_store *store, const tt_store_batch *batch, tt_error *error) {
  (void)store, (void)batch, (void)error;
  return TT_OK;
}

static tt_status find(tt_store *store, const tt_store_question *question, tt_list *boots,
                      int64_t *key) {
  (void)store, (void)question, (void)boots, (void)key;
  return TT_NOT_FOUND;
}

static bool tend(tt_store *store) {
  (void)store;
  return false;
}

static tt_status purge(tt_store *store, const tt_store_purge *purge, int *removed,
                       tt_error *error) {
  (void)store, (void)purge, (void)error;
  *removed = 0;
  return TT_OK;
}

static void state(tt_store *store, tt_store_state *state) {
  (void)store;
  *state = (tt_store_state){0};
}

static void hurry(tt_store *store) { (void)store; }
static void close_store(tt_store *store) { free(store); }

static tt_status open_reader(tt_store *store, tt_store_reader **reader, tt_error *error) {
  (void)store, (void)reader;
  return tt_fail(error, TT_NOT_FOUND,
                 "nothing is stored here: set telemetry.store, to sqlite:FILE for example");
}

tt_status tt_none_open(tt_store **store, tt_error *error) {
  *store = malloc(sizeof **store);
  if (!*store) return tt_fail(error, TT_NOMEM, "out of memory");
  **store = (tt_store){"none", load,  write_batch, find,        tend,
                       purge,  state, hurry,       close_store, open_reader};
  return TT_OK;
}
