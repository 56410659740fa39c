/* none.c: keeps nothing, for those who only look at live samples. */
#include "store/store.h"

#include <stdlib.h>

extern const tt_store_backend tt_none_backend;

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

static void state(tt_store *store, tt_store_state *state) {
  (void)store;
  *state = (tt_store_state){0};
}

static void hurry(tt_store *store) { (void)store; }
static void close_store(tt_store *store) { free(store); }

static tt_status none_open(const tt_store_options *options, tt_store **store, tt_error *error) {
  (void)options;
  *store = malloc(sizeof **store);
  if (!*store) return tt_fail(error, TT_NOMEM, "out of memory");
  **store = (tt_store){.backend = &tt_none_backend,
                       .load = load,
                       .write = write_batch,
                       .write_foreign = write_batch,
                       .find = find,
                       .tend = tend,
                       .state = state,
                       .hurry = hurry,
                       .close = close_store};
  return TT_OK;
}

const tt_store_backend tt_none_backend = {
    .kind = "none", .schemes = (const char *const[]){"none:", NULL}, .open = none_open};
