/* clickhouse.c: the store in ClickHouse, which several collectors may share: there, or away.
 *
 * Writing a batch twice changes nothing, so one whose answer was lost is written again. It is away as long as one of its shards
 * is.
 */
#include "base/log.h"
#include "store/clickhouse/internal.h"
#include "store/refusal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** µs between two looks at what others made known. */
#define LOOK_INTERVAL (SECOND / 2)

unsigned tt_clickhouse_patience = 10;

/* --- state --- */

static void note_lost(tt_clickhouse *store, const char *trouble) {
  store->connected = false;
  atomic_store(&store->away, true);
  store->next_try = tt_monotonic_us() + RETRY_INTERVAL;
  tt_told_state_set(&store->state, trouble);
}

/* --- connecting --- */

static void wait_for_links(tt_clickhouse *store, unsigned patience) {
  for (int i = 0; i < store->address.shard_count; i++)
    tt_clickhouse_link_wait(store->links[i], patience);
}

static void hurry_links(tt_clickhouse *store) {
  if (atomic_load(&store->hurried)) wait_for_links(store, HURRIED_PATIENCE);
}

static tt_status tell_all(tt_clickhouse *store, tt_error *error) {
  tt_store_batch *all = tt_catalogue_all(store->catalogue);
  tt_status status = all ? tt_clickhouse_write_batch(store, all, &store->known, error)
                         : tt_clickhouse_no_memory(error);
  tt_store_batch_free(all);
  if (status == TT_OK) store->untold = false;
  return status;
}

/** TT_VERSION: it will fail the next time, too. */
static tt_status connect_all(tt_clickhouse *store, tt_error *error) {
  store->next_try = tt_monotonic_us() + RETRY_INTERVAL;
  wait_for_links(store, tt_clickhouse_patience);
  for (int i = 0; i < store->address.shard_count; i++) {
    const tt_clickhouse_source source = {store->links[i], &store->address};
    TT_TRY(tt_clickhouse_upgrade(&source, !store->viewed, error));
  }
  store->viewed = true;
  TT_TRY(tt_clickhouse_share(store, error));
  if (store->untold) TT_TRY(tell_all(store, error));
  wait_for_links(store, store->slow * tt_clickhouse_patience);
  store->connected = true;
  atomic_store(&store->away, false);
  return TT_OK;
}

/** Whether a shard lets us in or do what is needed only once somebody changes that. */
static bool is_refused(const tt_clickhouse *store) {
  bool refused = false;
  for (int i = 0; i < store->address.shard_count; i++)
    refused |= tt_clickhouse_is_refused(store->links[i]);
  return refused;
}

/** Connects again, where it is away and it is time to. */
static tt_status need_links(tt_clickhouse *store, tt_error *error) {
  hurry_links(store);
  if (store->connected) return TT_OK;
  if (atomic_load(&store->hurried) || tt_monotonic_us() < store->next_try)
    return tt_fail(error, TT_FAILED, "%s", store->state.now.reason);
  tt_status status = connect_all(store, error);
  if (status == TT_OK) tt_log_info("clickhouse: connected");
  tt_told_state_set(&store->state, status == TT_OK ? NULL : error->text);
  const bool refused = status == TT_VERSION || (status == TT_FAILED && is_refused(store));
  tt_store_note_refusal(&store->refused, refused, status == TT_OK, error);
  return status;
}

/* --- writing --- */

/** A server goes on with a batch for which nobody waits any more: given again with no more time it would be late for ever. */
static void note_pace(tt_clickhouse *store, int64_t took, tt_status status) {
  bool late = false;
  for (int i = 0; i < store->address.shard_count; i++)
    late |= tt_clickhouse_was_late(store->links[i]);
  if (atomic_load(&store->hurried)) return;
  if (status != TT_OK && late && store->slow < MOST_SLOW) store->slow *= 2;  // once connected again
  if (status != TT_OK || store->slow == 1 ||
      took >= store->slow * tt_clickhouse_patience * SECOND / 4)
    return;
  store->slow /= 2;
  wait_for_links(store, store->slow * tt_clickhouse_patience);
}

/** `known`: what the batch's indices mean. */
static tt_status write_known(tt_clickhouse *store, const tt_store_batch *batch,
                             tt_clickhouse_ids *known, tt_error *error) {
  TT_TRY(need_links(store, error));
  const int64_t begun = tt_monotonic_us();
  tt_status status = tt_clickhouse_write_batch(store, batch, known, error);
  if (batch->samples.len) note_pace(store, tt_monotonic_us() - begun, status);
  if (status == TT_OK)
    tt_told_state_set(&store->state, NULL);
  else if (status != TT_INVALID)
    note_lost(store, error->text);
  return status;
}

/** A batch with samples is stored: epochs that nobody goes on with are forgotten, now and then. */
static void settle(tt_clickhouse *store) {
  if (!tt_catalogue_settle(store->catalogue)) return;
  pthread_mutex_lock(&store->mutex);
  tt_clickhouse_ids_keep(&store->known, store->catalogue);
  pthread_mutex_unlock(&store->mutex);
}

static tt_status clickhouse_write(tt_store *base, const tt_store_batch *batch, tt_error *error) {
  tt_clickhouse *store = (tt_clickhouse *)base;
  if (!tt_catalogue_add_batch(store->catalogue, batch)) return tt_clickhouse_no_memory(error);
  tt_status status = write_known(store, batch, &store->known, error);
  store->untold |= status != TT_OK;
  if (status == TT_OK && batch->samples.len) settle(store);
  return status;
}

static tt_status clickhouse_write_foreign(tt_store *base, const tt_store_batch *batch,
                                          tt_error *error) {
  tt_clickhouse_ids known = tt_clickhouse_no_ids();
  tt_status status = write_known((tt_clickhouse *)base, batch, &known, error);
  tt_clickhouse_ids_clear(&known);
  return status;
}

/* --- tending --- */

static tt_status tell(tt_clickhouse *store, tt_error *error) {
  bool taken;
  tt_clickhouse_teller teller = {.source = tt_clickhouse_source_of(store),
                                 .loader = &store->loader,
                                 .known = &store->known,
                                 .mutex = &store->mutex,
                                 .store = store,
                                 .told = store->told};
  TT_TRY(tt_clickhouse_tell(&teller, &taken, error));
  if (taken) store->told = teller.told;
  return TT_OK;
}

static tt_status look(tt_clickhouse *store, tt_error *error) {
  const tt_clickhouse_source source = tt_clickhouse_source_of(store);
  int64_t change;
  TT_TRY(tt_clickhouse_last_change(&source, &change, error));
  return change == store->told ? TT_OK : tell(store, error);
}

/** Looks whether others have made anything known, now and then. */
static tt_status look_sometimes(tt_clickhouse *store, tt_error *error) {
  const int64_t now = tt_monotonic_us();
  if (now < store->next_look) return TT_OK;
  store->next_look = now + LOOK_INTERVAL;
  const tt_clickhouse_source source = tt_clickhouse_source_of(store);
  int64_t change;
  return store->loader.device ? look(store, error)
                              : tt_clickhouse_last_change(&source, &change, error);
}

static bool clickhouse_tend(tt_store *base) {
  tt_clickhouse *store = (tt_clickhouse *)base;
  tt_error error;
  bool more = false;
  if (need_links(store, &error) != TT_OK || atomic_load(&store->hurried)) return false;
  tt_status status = look_sometimes(store, &error);
  if (status != TT_OK) {
    note_lost(store, error.text);
    return false;
  }
  const bool forgets = tt_clickhouse_forget_some(store);
  tt_clickhouse_make_buckets(store, &more);
  return more || forgets;
}

static void clickhouse_state(tt_store *base, tt_store_state *state) {
  tt_clickhouse *store = (tt_clickhouse *)base;
  tt_told_state_get(&store->state, state);
}

/** What stands still for as long as somebody who hurries waits is cut: it has all the patience of a slow server. */
static void *run_hurrying(void *context) {
  tt_clickhouse *store = context;
  pthread_mutex_lock(&store->mutex);
  while (!store->ending) {
    const int64_t end = tt_monotonic_us() + HURRIED_PATIENCE * SECOND;
    for (int i = 0; i < store->address.shard_count; i++) tt_clickhouse_link_cut(store->links[i]);
    while (!store->ending && tt_monotonic_us() < end)
      tt_wait_until(&store->over, &store->mutex, end);
  }
  pthread_mutex_unlock(&store->mutex);
  return NULL;
}

static void clickhouse_hurry(tt_store *base) {
  tt_clickhouse *store = (tt_clickhouse *)base;
  if (atomic_exchange(&store->hurried, true)) return;
  store->hurries = !pthread_create(&store->hurrying, NULL, run_hurrying, store);
}

static void end_hurrying(tt_clickhouse *store) {
  if (!store->hurries) return;
  pthread_mutex_lock(&store->mutex);
  store->ending = true;
  pthread_cond_broadcast(&store->over);
  pthread_mutex_unlock(&store->mutex);
  pthread_join(store->hurrying, NULL);
}

static tt_status clickhouse_load(tt_store *base, const tt_store_loader *loader, tt_error *error) {
  tt_clickhouse *store = (tt_clickhouse *)base;
  store->loader = *loader;
  store->told = 0;
  if (need_links(store, error) != TT_OK) return TT_AGAIN;
  if (tell(store, error) == TT_OK) return TT_OK;
  note_lost(store, error->text);
  return TT_AGAIN;
}

/* --- beginning and end --- */

static void clickhouse_close(tt_store *base) {
  tt_clickhouse *store = (tt_clickhouse *)base;
  end_hurrying(store);
  for (int i = 0; i < store->address.shard_count; i++) {
    tt_clickhouse_link_free(store->links[i]);
    tt_clickhouse_block_free(&store->blocks[i]);
  }
  tt_list_free(&store->body);
  tt_clickhouse_link_free(store->asked);
  tt_clickhouse_address_clear(&store->address);
  tt_catalogue_free(store->catalogue);
  tt_clickhouse_free_making(store->making);
  tt_clickhouse_free_forgetting(store->forgetting);
  if (store->marks) g_hash_table_destroy(store->marks);
  tt_clickhouse_ids_clear(&store->known);
  tt_map_clear(&store->names);
  tt_map_clear(&store->ranges);
  tt_list_free(&store->boots);
  pthread_mutex_destroy(&store->mutex);
  tt_told_state_clear(&store->state);
  pthread_cond_destroy(&store->over);
  free(store->url);
  free(store);
}

/** The first connection. A server that is away is waited for, where it may be. */
static tt_status open_links(tt_clickhouse *store, const tt_store_options *options,
                            tt_error *error) {
  store->url = strdup(options->url);
  if (!store->catalogue || !store->url || !store->making || !store->forgetting)
    return tt_clickhouse_no_memory(error);
  TT_TRY(tt_clickhouse_address_parse(options->url, &store->address, error));
  for (int i = 0; i < store->address.shard_count; i++)
    TT_TRY(tt_clickhouse_link_new(&store->address, i, tt_clickhouse_patience, &store->links[i],
                                  error));
  tt_status status = connect_all(store, error);
  if (status == TT_FAILED && is_refused(store)) status = TT_INVALID;
  if (status != TT_FAILED || !options->may_be_away) return status;
  tt_told_state_set(&store->state, error->text);
  return TT_OK;
}

static tt_status clickhouse_check(const char *url, tt_error *error) {
  tt_clickhouse_address address;
  tt_status status = tt_clickhouse_address_parse(url, &address, error);
  tt_clickhouse_address_clear(&address);
  return status;
}

static tt_status clickhouse_open(const tt_store_options *options, tt_store **out, tt_error *error) {
  tt_clickhouse *store = calloc(1, sizeof *store);
  if (!store) return tt_clickhouse_no_memory(error);
  store->base = (tt_store){.backend = &tt_clickhouse_backend,
                           .load = clickhouse_load,
                           .write = clickhouse_write,
                           .write_foreign = clickhouse_write_foreign,
                           .find = tt_clickhouse_find,
                           .tend = clickhouse_tend,
                           .purge = tt_clickhouse_purge,
                           .forget = tt_clickhouse_forget,
                           .state = clickhouse_state,
                           .hurry = clickhouse_hurry,
                           .close = clickhouse_close,
                           .open_reader = tt_clickhouse_open_reader};
  store->slow = 1;
  store->catalogue = tt_catalogue_new();
  store->making = tt_clickhouse_new_making();
  store->forgetting = tt_clickhouse_new_forgetting();
  store->marks = tt_clickhouse_new_marks();
  store->known = tt_clickhouse_no_ids();
  store->boots = TT_LIST(tt_clickhouse_range, NULL);
  store->body = TT_LIST(char, NULL);
  for (int i = 0; i < TT_CLICKHOUSE_SHARDS; i++) store->blocks[i] = tt_clickhouse_value_block();
  atomic_init(&store->away, true);
  pthread_mutex_init(&store->mutex, NULL);
  tt_told_state_init(&store->state);
  pthread_cond_init(&store->over, NULL);
  tt_status status = open_links(store, options, error);
  if (status != TT_OK) {
    clickhouse_close(&store->base);
    return status;
  }
  *out = &store->base;
  return TT_OK;
}

/** Its own tools do it better, and while others write. */
static tt_status clickhouse_back_up(const tt_store_options *options, const char *path,
                                    bool (*progress)(void *context, double done), void *context,
                                    tt_error *error) {
  (void)options, (void)progress, (void)context;
  return tt_fail(error, TT_INVALID,
                 "clickhouse: it makes copies of its own: ALTER TABLE " TT_CLICKHOUSE_VALUES
                 " FREEZE on every shard; "
                 "or copy into "
                 "a file: tether telemetry copy URL %s",
                 path);
}

const tt_store_backend tt_clickhouse_backend = {
    .kind = "clickhouse",
    .portion = {.messages = 1024, .bytes = 5 << 20, .linger = 200000},
    .schemes = (const char *const[]){"clickhouse://", NULL},
    .example = "clickhouse://HOST/DATABASE",
    .abilities = TT_STORE_READS | TT_STORE_PURGES | TT_STORE_SHARED | TT_STORE_REMOTE,
    .check = clickhouse_check,
    .open = clickhouse_open,
    .open_reader = tt_clickhouse_open_alone,
    .back_up = clickhouse_back_up};
