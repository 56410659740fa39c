/* postgres.c: the store in PostgreSQL, which several collectors may share: connected, away, or catching up.
 *
 * While the database is away, also from the beginning, batches go to a spool on disk and are durable there; they are
 * written in order when it is back, and writing one twice changes nothing.
 */
#include "base/log.h"
#include "store/postgres_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** µs between two looks at what others made known. */
#define LOOK_INTERVAL (SECOND / 2)
#define CATCHING_UP "what was spooled is being written"

/* --- state --- */

static void set_state(tt_postgres *store, const char *trouble) {
  pthread_mutex_lock(&store->mutex);
  store->state.degraded = trouble;
  snprintf(store->state.reason, sizeof store->state.reason, "%.255s", trouble ? trouble : "");
  if (store->spool) {
    tt_spool_loss lost = tt_spool_lost(store->spool);
    store->state.spooled_bytes = tt_spool_bytes(store->spool);
    store->state.spool_lost_bytes = lost.bytes;
    store->state.spool_lost_samples = lost.samples;
  }
  pthread_mutex_unlock(&store->mutex);
}

/** Says that the database is not to be reached, by whomever that was noticed. */
static void note_away(tt_postgres *store, const tt_error *error) {
  tt_log_warning("%s; %s until it is there", error->text, store->spool ? "spooling" : "waiting");
  set_state(store, error->text);
}

/* --- the spool's way in --- */

static bool is_behind(const tt_postgres *store) {
  return store->spool && tt_spool_bytes(store->spool);
}

static tt_status spool_batch(tt_postgres *store, const tt_store_batch *batch, const char *reason,
                             tt_error *error) {
  if (!store->spool) {
    set_state(store, reason);
    return tt_fail(error, TT_FAILED, "%s", reason);
  }
  tt_store_batch *whole = tt_catalogue_complete(store->catalogue, batch);
  tt_status status = whole ? tt_spool_append(store->spool, whole, error)
                           : tt_fail(error, TT_NOMEM, "out of memory");
  tt_store_batch_free(whole);
  set_state(store, status == TT_OK ? reason : error->text);
  return status;
}

static tt_status postgres_write(tt_store *base, const tt_store_batch *batch, tt_error *error) {
  tt_postgres *store = (tt_postgres *)base;
  tt_error trouble;
  if (!tt_catalogue_add_batch(store->catalogue, batch)) {
    set_state(store, "out of memory");
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  if (!store->link) {
    snprintf(trouble.text, sizeof trouble.text, "%s", store->state.reason);
    return spool_batch(store, batch, trouble.text, error);
  }
  // Samples may pass those that are spooled; what people set must not be undone by what they set before.
  if (is_behind(store) && (batch->devices.len || batch->attributes.len || batch->handlings.len))
    return spool_batch(store, batch, CATCHING_UP, error);
  if (tt_postgres_write_batch(store, batch, &store->known, false, &trouble) == TT_OK) {
    set_state(store, is_behind(store) ? CATCHING_UP : NULL);
    return TT_OK;
  }
  note_away(store, &trouble);
  return spool_batch(store, batch, trouble.text, error);
}

/* --- connecting, and the spool's way out --- */

/** Tells the database every name and epoch, of which it may never have heard. */
static tt_status tell_all(tt_postgres *store, tt_error *error) {
  tt_store_batch *all = tt_catalogue_all(store->catalogue);
  tt_status status = all ? tt_postgres_write_batch(store, all, &store->known, false, error)
                         : tt_fail(error, TT_NOMEM, "out of memory");
  tt_store_batch_free(all);
  return status;
}

/** TT_INVALID, TT_VERSION: it will fail the next time, too. */
static tt_status connect_and_tell(tt_postgres *store, tt_error *error) {
  store->next_try = tt_monotonic_us() + RETRY_INTERVAL;
  TT_TRY(tt_postgres_connect(store->url, tt_postgres_deadline(store), &store->link, error));
  tt_status status = tt_postgres_upgrade(store, error);
  if (status == TT_FAILED && tt_postgres_is_mistake(tt_postgres_last_code(store->link)))
    status = TT_INVALID;
  if (status == TT_OK) status = tell_all(store, error);
  if (status != TT_OK && store->link) tt_postgres_disconnect(store);
  if (status == TT_OK) atomic_store(&store->away, false);
  store->stale = true;  // nobody told us anything meanwhile
  return status;
}

/** Writes the oldest spooled batch. TT_NOT_FOUND: there is none. */
static tt_status drain_one(tt_postgres *store, tt_error *error) {
  tt_store_batch *batch = tt_store_batch_new();
  if (!batch) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_postgres_ids known = tt_postgres_ids_new();
  tt_status status = tt_spool_front(store->spool, batch, error);
  if (status == TT_OK) {
    status = tt_postgres_write_batch(store, batch, &known, true, error);
    if (status == TT_OK) tt_spool_pop(store->spool);
  }
  tt_postgres_ids_clear(&known);
  tt_store_batch_free(batch);
  return status;
}

/** Returns whether there is a connection. */
static bool tend_connection(tt_postgres *store) {
  tt_error error;
  if (store->link && tt_postgres_was_notified(store->link)) store->stale = true;
  if (store->link && !tt_postgres_is_alive(store->link)) {
    tt_postgres_disconnect(store);
    tt_fail(&error, TT_FAILED, "postgresql: the connection is lost");
    note_away(store, &error);
  }
  if (store->link) return true;
  if (atomic_load(&store->hurried) || tt_monotonic_us() < store->next_try) return false;
  if (connect_and_tell(store, &error) != TT_OK) {
    set_state(store, error.text);
    return false;
  }
  tt_log_info("postgresql: connected");
  set_state(store, is_behind(store) ? CATCHING_UP : NULL);
  return true;
}

static bool tend_spool(tt_postgres *store) {
  tt_error error;
  tt_status status = drain_one(store, &error);
  bool more = status == TT_OK && is_behind(store);
  set_state(store, status != TT_OK && status != TT_NOT_FOUND ? error.text
                   : more                                    ? CATCHING_UP
                                                             : NULL);
  return more;
}

static void tend_news(tt_postgres *store) {
  int64_t now = tt_monotonic_us();
  if (!store->stale || now < store->next_look) return;
  store->next_look = now + LOOK_INTERVAL;
  tt_error error;
  if (tt_postgres_load_news(store, &error) == TT_OK) return;
  tt_postgres_disconnect(store);
  note_away(store, &error);
}

static bool postgres_tend(tt_store *base) {
  tt_postgres *store = (tt_postgres *)base;
  if (!tend_connection(store) || atomic_load(&store->hurried)) return false;
  // What an earlier process spooled comes first, so that what is loaded is all there is.
  if (is_behind(store)) return tend_spool(store);
  tend_news(store);
  return false;
}

static tt_status purge_table(tt_postgres *store, const char *table, const tt_store_purge *purge,
                             int *removed, tt_error *error) {
  PGresult *result;
  TT_TRY(tt_postgres_runf(
      store->link, tt_postgres_deadline(store), &result, error,
      "DELETE FROM %s WHERE device = %d AND attribute = %d AND day <= date '1970-01-01' + "
      "%" PRId64 " AND time < timestamptz '1970-01-01 00:00:00Z' + %" PRId64
      " * interval '1 microsecond'",
      table, tt_postgres_get_id(&store->known.devices, purge->device),
      tt_postgres_get_id(&store->known.attributes, purge->attribute),
      tt_postgres_floor_day(purge->before) + 1, purge->before));
  *removed += atoi(PQcmdTuples(result));
  PQclear(result);
  return TT_OK;
}

static tt_status postgres_purge(tt_store *base, const tt_store_purge *purge, int *removed,
                                tt_error *error) {
  tt_postgres *store = (tt_postgres *)base;
  *removed = 0;
  if (!store->link) return TT_OK;
  tt_status status = purge_table(store, "value", purge, removed, error);
  if (status == TT_OK) status = purge_table(store, "numbered_value", purge, removed, error);
  if (status != TT_OK) tt_postgres_disconnect(store);
  return status;
}

static void postgres_state(tt_store *base, tt_store_state *state) {
  tt_postgres *store = (tt_postgres *)base;
  pthread_mutex_lock(&store->mutex);
  *state = store->state;
  pthread_mutex_unlock(&store->mutex);
}

static void postgres_hurry(tt_store *base) { atomic_store(&((tt_postgres *)base)->hurried, true); }

/** From the database, once all is in it that was spooled. */
static tt_status load_all(tt_postgres *store, tt_error *error) {
  tt_status status = TT_OK;
  while (is_behind(store) && status == TT_OK) status = drain_one(store, error);
  if (status != TT_OK && status != TT_NOT_FOUND) return status;
  return tt_postgres_load_news(store, error);
}

static tt_status postgres_load(tt_store *base, const tt_store_loader *loader, tt_error *error) {
  tt_postgres *store = (tt_postgres *)base;
  store->loader = *loader;
  if (store->link) {
    tt_status status = load_all(store, error);
    if (status == TT_OK || !store->spool || tt_postgres_is_alive(store->link)) return status;
    if (store->link) tt_postgres_disconnect(store);
    note_away(store, error);
  }
  if (is_behind(store)) TT_TRY(tt_postgres_load_spooled(store, error));
  return TT_AGAIN;
}

/* --- beginning and end --- */

static void postgres_close_store(tt_store *base) {
  tt_postgres *store = (tt_postgres *)base;
  tt_postgres_close(store->link);
  tt_postgres_close(store->asked);
  tt_spool_close(store->spool);
  tt_catalogue_free(store->catalogue);
  tt_postgres_ids_clear(&store->known);
  tt_map_clear(&store->partitions);
  pthread_mutex_destroy(&store->mutex);
  free(store->url);
  free(store);
}

/** The first connection. A server that is away, or lets nobody in now, is waited for, where there is a spool; one that
 *  never lets us in is not. */
static tt_status open_link(tt_postgres *store, tt_error *error) {
  tt_status status = connect_and_tell(store, error);
  if (status != TT_FAILED || !store->spool || tt_postgres_is_refused(store->url)) return status;
  note_away(store, error);
  return TT_OK;
}

tt_status tt_postgres_open(const tt_store_options *options, tt_store **out, tt_error *error) {
  tt_postgres *store = calloc(1, sizeof *store);
  if (!store) return tt_fail(error, TT_NOMEM, "out of memory");
  store->base = (tt_store){.kind = "postgresql",
                           .load = postgres_load,
                           .write = postgres_write,
                           .find = tt_postgres_find,
                           .tend = postgres_tend,
                           .purge = postgres_purge,
                           .state = postgres_state,
                           .hurry = postgres_hurry,
                           .close = postgres_close_store,
                           .open_reader = tt_postgres_open_reader};
  store->url = strdup(options->url);
  store->catalogue = tt_catalogue_new();
  store->known = tt_postgres_ids_new();
  atomic_init(&store->away, true);
  pthread_mutex_init(&store->mutex, NULL);
  tt_status status =
      store->url && store->catalogue ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_OK && options->spool)
    status = tt_spool_open(options->spool, options->spool_limit, &store->spool, error);
  if (status == TT_OK) status = open_link(store, error);
  if (status != TT_OK) {
    postgres_close_store(&store->base);
    return status;
  }
  *out = &store->base;
  return TT_OK;
}
