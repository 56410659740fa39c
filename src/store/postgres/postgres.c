/* postgres.c: the store in PostgreSQL, which several collectors may share: connected, or away.
 *
 * Writing a batch twice changes nothing, so one whose answer was lost is written again.
 */
#include "base/log.h"
#include "store/postgres/internal.h"
#include "store/refusal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** µs between two looks at what others made known. */
#define LOOK_INTERVAL (SECOND / 2)

/* --- connecting --- */

/** Tells the database every name and epoch, of which it may never have heard. */
static tt_status tell_all(tt_postgres *store, tt_error *error) {
  tt_store_batch *all = tt_catalogue_all(store->catalogue);
  tt_status status = all ? tt_postgres_write_batch(store, all, &store->known, error)
                         : tt_fail(error, TT_NOMEM, "out of memory");
  tt_store_batch_free(all);
  return status;
}

/** Texts are UTF-8. In a database of another encoding not all of them have room, and one that hasn't would hold up all behind it. */
static tt_status check_encoding(const tt_postgres *store, tt_error *error) {
  const char *encoding = tt_postgres_encoding(store->link);
  if (!*encoding || !strcmp(encoding, "UTF8") || !strcmp(encoding, "SQL_ASCII")) return TT_OK;
  return tt_fail(error, TT_INVALID,
                 "the database's encoding is %s, which has no room for all texts: make another one "
                 "by CREATE DATABASE NAME ENCODING 'UTF8' TEMPLATE template0; `tether telemetry "
                 "copy` brings what is stored here into it",
                 encoding);
}

/** TT_INVALID, TT_VERSION: it will fail the next time, too. */
static tt_status connect_and_tell(tt_postgres *store, tt_error *error) {
  store->next_try = tt_monotonic_us() + RETRY_INTERVAL;
  const int64_t deadline = tt_monotonic_us() + STATEMENT_DEADLINE;
  TT_TRY(tt_postgres_connect(store->url, deadline, &store->link, error));
  tt_postgres_bear(store->link, store->slow);
  tt_postgres_obey(store->link, &store->hurried, SECOND);
  tt_status status = check_encoding(store, error);
  if (status == TT_OK) status = tt_postgres_upgrade(store, error);
  if (status == TT_FAILED && tt_postgres_is_mistake(tt_postgres_last_code(store->link)))
    status = TT_INVALID;
  if (status == TT_OK) status = tell_all(store, error);
  if (status != TT_OK && store->link) tt_postgres_disconnect(store);
  if (status == TT_OK) atomic_store(&store->away, false);
  store->stale = true;  // nobody told us anything meanwhile
  return status;
}

/** Connects again, where there is no connection and it is time to. */
static tt_status need_link(tt_postgres *store, tt_error *error) {
  if (store->link) return TT_OK;
  if (atomic_load(&store->hurried) || tt_monotonic_us() < store->next_try)
    return tt_fail(error, TT_FAILED, "%s", store->state.now.reason);
  tt_status status = connect_and_tell(store, error);
  if (status == TT_OK) tt_log_info("postgresql: connected");
  tt_told_state_set(&store->state, status == TT_OK ? NULL : error->text);
  tt_store_note_refusal(&store->refused, status == TT_VERSION || status == TT_INVALID,
                        status == TT_OK, error);
  return status == TT_INVALID ? TT_FAILED : status;  // it let us in before: somebody will mend it
}

/* --- writing --- */

/** `known`: what the batch's indices mean. */
static tt_status write_known(tt_postgres *store, const tt_store_batch *batch,
                             tt_postgres_ids *known, tt_error *error) {
  TT_TRY(need_link(store, error));
  tt_status status = tt_postgres_write_batch(store, batch, known, error);
  tt_told_state_set(&store->state, status == TT_OK ? NULL : error->text);
  return status;
}

static tt_status postgres_write(tt_store *base, const tt_store_batch *batch, tt_error *error) {
  tt_postgres *store = (tt_postgres *)base;
  if (!tt_catalogue_add_batch(store->catalogue, batch))
    return tt_fail(error, TT_NOMEM, "out of memory");
  TT_TRY(write_known(store, batch, &store->known, error));
  if (batch->samples.len && tt_catalogue_settle(store->catalogue))
    tt_postgres_ids_keep(&store->known, store->catalogue);
  return TT_OK;
}

static tt_status postgres_write_foreign(tt_store *base, const tt_store_batch *batch,
                                        tt_error *error) {
  tt_postgres_ids known = tt_postgres_ids_new();
  tt_status status = write_known((tt_postgres *)base, batch, &known, error);
  tt_postgres_ids_clear(&known);
  return status;
}

/** Each statement is a transaction of its own, so one that is refused leaves the connection as it is. Who has none any more is away until
 *  it is tried again. */
static tt_status postgres_purge(tt_store *base, const tt_store_purge *purge, int *removed,
                                tt_error *error) {
  tt_postgres *store = (tt_postgres *)base;
  const tt_status status = tt_postgres_purge(base, purge, removed, error);
  if (status == TT_OK || status == TT_AGAIN || tt_postgres_is_alive(store->link)) return status;
  tt_postgres_disconnect(store);
  tt_told_state_set(&store->state, error->text);
  return status;
}

/* --- tending --- */

static void tend_news(tt_postgres *store) {
  int64_t now = tt_monotonic_us();
  if (!store->loader.device || !store->stale || now < store->next_look) return;
  store->next_look = now + LOOK_INTERVAL;
  tt_error error;
  if (tt_postgres_load_news(store, &error) == TT_OK) return;
  tt_postgres_disconnect(store);
  tt_told_state_set(&store->state, error.text);
}

/** Nobody has asked for anything. */
static void note_lost(tt_postgres *store) {
  tt_postgres_disconnect(store);
  tt_told_state_set(&store->state, "postgresql: the connection is lost");
}

static void tend_partitions(tt_postgres *store) {
  tt_error error;
  if (!store->link || tt_postgres_tend_partitions(store, &error) == TT_OK) return;
  tt_postgres_disconnect(store);
  tt_told_state_set(&store->state, error.text);
}

static bool tend_buckets(tt_postgres *store) {
  tt_error error;
  bool more = false;
  if (!store->link || tt_postgres_make_buckets(store, &more, &error) == TT_OK) return more;
  note_lost(store);
  return false;
}

static bool postgres_tend(tt_store *base) {
  tt_postgres *store = (tt_postgres *)base;
  tt_error error;
  if (store->link && tt_postgres_was_notified(store->link)) store->stale = true;
  if (store->link && !tt_postgres_is_alive(store->link)) note_lost(store);
  if (need_link(store, &error) != TT_OK || atomic_load(&store->hurried)) return false;
  tend_news(store);
  tend_partitions(store);
  return tend_buckets(store);
}

static void postgres_state(tt_store *base, tt_store_state *state) {
  tt_postgres *store = (tt_postgres *)base;
  tt_told_state_get(&store->state, state);
}

static void postgres_hurry(tt_store *base) { atomic_store(&((tt_postgres *)base)->hurried, true); }

static tt_status postgres_load(tt_store *base, const tt_store_loader *loader, tt_error *error) {
  tt_postgres *store = (tt_postgres *)base;
  store->loader = *loader;
  if (need_link(store, error) != TT_OK) return TT_AGAIN;
  tt_status status = tt_postgres_load_news(store, error);
  if (status == TT_OK || tt_postgres_is_alive(store->link)) return status;
  tt_postgres_disconnect(store);
  tt_told_state_set(&store->state, error->text);
  return TT_AGAIN;
}

/* --- beginning and end --- */

static void postgres_close_store(tt_store *base) {
  tt_postgres *store = (tt_postgres *)base;
  tt_postgres_close(store->link);
  tt_postgres_close(store->asked);
  tt_catalogue_free(store->catalogue);
  tt_postgres_ids_clear(&store->known);
  tt_postgres_defined_clear(&store->defined);
  tt_map_clear(&store->partitions);
  tt_map_clear(&store->marked);
  tt_map_clear(&store->said);
  pthread_mutex_destroy(&store->mutex);
  tt_told_state_clear(&store->state);
  free(store->url);
  free(store);
}

/** The first connection. A server that is away, or lets nobody in now, is waited for, where it may be; one that
 *  never lets us in is not. */
static tt_status open_link(tt_postgres *store, bool may_be_away, tt_error *error) {
  tt_status status = connect_and_tell(store, error);
  if (status != TT_FAILED || !may_be_away) return status;
  if (tt_postgres_is_refused(store->url)) return status;
  tt_told_state_set(&store->state, error->text);
  return TT_OK;
}

static tt_status postgres_open(const tt_store_options *options, tt_store **out, tt_error *error) {
  tt_postgres *store = calloc(1, sizeof *store);
  if (!store) return tt_fail(error, TT_NOMEM, "out of memory");
  store->base = (tt_store){.backend = &tt_postgres_backend,
                           .load = postgres_load,
                           .write = postgres_write,
                           .write_foreign = postgres_write_foreign,
                           .find = tt_postgres_find,
                           .tend = postgres_tend,
                           .purge = postgres_purge,
                           .state = postgres_state,
                           .hurry = postgres_hurry,
                           .close = postgres_close_store,
                           .open_reader = tt_postgres_open_reader};
  store->slow = 1;
  store->url = strdup(options->url);
  store->catalogue = tt_catalogue_new();
  store->known = tt_postgres_ids_new();
  store->defined = tt_postgres_defined_none();
  atomic_init(&store->away, true);
  pthread_mutex_init(&store->mutex, NULL);
  tt_told_state_init(&store->state);
  tt_status status =
      store->url && store->catalogue ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_OK) status = open_link(store, options->may_be_away, error);
  if (status != TT_OK) {
    postgres_close_store(&store->base);
    return status;
  }
  *out = &store->base;
  return TT_OK;
}

/** Its own tools do it better, and while others write. */
static tt_status postgres_back_up(const tt_store_options *options, const char *path,
                                  bool (*progress)(void *context, double done), void *context,
                                  tt_error *error) {
  (void)options, (void)progress, (void)context;
  return tt_fail(error, TT_INVALID,
                 "postgresql: pg_dump makes a copy while it is written: pg_dump --schema=tether "
                 "--format=custom --file=%s URL",
                 path);
}

const tt_store_backend tt_postgres_backend = {
    .kind = "postgresql",
    .schemes = (const char *const[]){"postgresql://", "postgres://", NULL},
    .example = "postgresql://HOST/DATABASE",
    .abilities = TT_STORE_READS | TT_STORE_PURGES | TT_STORE_SHARED | TT_STORE_REMOTE,
    .check = tt_postgres_check_url,
    .open = postgres_open,
    .open_reader = tt_postgres_open_alone,
    .back_up = postgres_back_up};
