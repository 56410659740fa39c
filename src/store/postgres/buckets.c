/* buckets.c: hours of devices are marked by those who write, and their buckets made anew by whoever tends.
 *
 * A mark belongs to the session that made it, for as long as that lives; so a session marks an hour once, and whoever stores more of
 * that hour needs no further statement. Only its owner, between two transactions of its own, gives it up; those of sessions
 * that ended anybody does. What is given up has the number -1, and is made step by step, minutes first. So whoever
 * writes after that, in whatever order transactions end, has a mark that stays: either the one that makes the hour sees the
 * samples, or they have a mark that it doesn't see and can't take away.
 *
 * One at a time gives up marks and makes buckets (advisory lock 7603), so that the day's buckets see those of all its hours.
 */
#include "base/log.h"
#include "store/postgres/internal.h"

#include <string.h>

#define HOUR (3600LL * SECOND)
#define MINUTE (60LL * SECOND)
/** µs between two looks for marks that may be given up; and after one that failed. */
#define MAKING_INTERVAL SECOND
#define MAKING_PAUSE (60LL * SECOND)
/** µs that a step should take. */
#define STEP_LEAST (15LL * SECOND / 1000)
#define STEP_MOST (35LL * SECOND / 1000)
/** ms of samples. */
#define FIRST_STEP 60000
/** After that a step is given up; well within the deadline of a statement, which would cost the connection. */
#define MAKING_TIMEOUT "'2s'"
#define QUERY_CANCELED "57014"
/** Since 1970. */
#define MINUTES "timestamptz '1970-01-01 00:00:00Z' + interval '1 minute' * "
#define HOURS "timestamptz '1970-01-01 00:00:00Z' + interval '1 hour' * "

/* --- marks --- */

tt_status tt_postgres_need_marker(tt_postgres *store, tt_error *error) {
  while (
      !store->marker) {  // one that a session has, of tables that were there before, is passed over
    PGresult *result;
    TT_TRY(tt_postgres_query(store,
                             "SELECT n, pg_try_advisory_lock(7604, n::integer)::integer"
                             " FROM (SELECT nextval('marker') AS n OFFSET 0) s",
                             &result, error));
    if (tt_postgres_integer(result, 0, 1)) store->marker = (int)tt_postgres_integer(result, 0, 0);
    PQclear(result);
  }
  return TT_OK;
}

tt_status tt_postgres_mark(tt_postgres *store, const tt_store_batch *batch,
                           const tt_postgres_ids *known, tt_error *error) {
  tt_list sql = TT_LIST(char, NULL);
  int64_t last_hour = INT64_MIN;
  int last_device = -1;
  bool noted = true;
  TT_TRY(tt_postgres_need_marker(store, error));
  for (uint32_t i = 0; i < batch->samples.len && noted; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    const int64_t hour = tt_bucket_start(TT_BUCKET_HOUR, sample->time) / HOUR;
    if (hour == last_hour && sample->device == last_device) continue;
    last_hour = hour;
    last_device = sample->device;
    const int id = tt_postgres_get_id(&known->devices, sample->device);
    const tt_map_key key = {id, hour};
    if (tt_map_get(&store->marked, key)) continue;
    noted =
        tt_map_put(&store->marked, key, 1) &&
        tt_list_print(&sql, "%s(%d, " HOURS "%" PRId64 ", %d)",
                      sql.len ? ", " : "INSERT INTO marked_hour VALUES ", id, hour, store->marker);
  }
  tt_status status = TT_OK;
  if (sql.len && noted) noted = tt_list_print(&sql, " ON CONFLICT DO NOTHING");
  if (!noted || sql.failed)
    status = tt_fail(error, TT_NOMEM, "out of memory");
  else if (sql.len)
    status = tt_postgres_do(store, sql.data, error);
  tt_list_free(&sql);
  return status;
}

/* --- newest values --- */

/** Adds what is said of one value to a statement that has begun if it is not empty. False: out of memory. */
static bool say(tt_postgres *store, tt_list *sql, int device, int attribute, int64_t minute) {
  const tt_map_key key = {device, attribute};
  const int64_t *said = tt_map_get(&store->said, key);
  if (said && *said >= minute) return true;
  return tt_map_put(&store->said, key, minute) &&
         tt_list_print(sql, "%s(%d, %d, %" PRId64 ")",
                       sql->len ? ", "
                                : "INSERT INTO newest AS n SELECT device, attribute, " MINUTES
                                  "max(minute) FROM (VALUES ",
                       device, attribute, minute);
}

/** In the order of the key, so that two sessions never wait for each other. */
#define SAY                                                                                        \
  ") v (device, attribute, minute) GROUP BY device, attribute ORDER BY device, attribute"          \
  " ON CONFLICT (device, attribute) DO UPDATE SET minute = excluded.minute"                        \
  " WHERE n.minute < excluded.minute"

tt_status tt_postgres_say_newest(tt_postgres *store, const tt_store_batch *batch,
                                 const tt_postgres_ids *known, tt_error *error) {
  tt_list sql = TT_LIST(char, NULL);
  bool noted = true;
  for (uint32_t i = 0; i < batch->samples.len && noted; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    const int64_t minute =
        tt_bucket_start(TT_BUCKET_MINUTE, tt_postgres_clamp_time(sample->time)) / MINUTE;
    const int device = tt_postgres_get_id(&known->devices, sample->device);
    for (uint32_t v = 0; v < sample->count && noted; v++) {
      const tt_store_value *value = &tt_list_at(&batch->values, tt_store_value, sample->first + v);
      noted = say(store, &sql, device, tt_postgres_get_id(&known->attributes, value->attribute),
                  minute);
    }
  }
  tt_status status = TT_OK;
  if (sql.len && noted) noted = tt_list_print(&sql, SAY);
  if (!noted || sql.failed)
    status = tt_fail(error, TT_NOMEM, "out of memory");
  else if (sql.len)
    status = tt_postgres_do(store, sql.data, error);
  tt_list_free(&sql);
  return status;
}

/* --- making --- */

/** Makes buckets of the next samples, with the last of an hour those of hour and day. `*made`: there may be more. */
static tt_status make_some(tt_postgres *store, bool *made, tt_error *error) {
  const int64_t begin = tt_monotonic_us();
  PGresult *result;
  TT_TRY(tt_postgres_do(store, "BEGIN; SET LOCAL statement_timeout = " MAKING_TIMEOUT, error));
  TT_TRY(tt_postgres_runf(store->link, tt_postgres_deadline(store), &result, error,
                          "SELECT given_up, made FROM make_buckets('%d ms')", store->making_step));
  // Nothing was written since, so nothing relies on a mark that is gone.
  if (*PQgetvalue(result, 0, 0) == 't') tt_postgres_forget_marks(store);
  *made = *PQgetvalue(result, 0, 1) == 't';
  PQclear(result);
  TT_TRY(tt_postgres_do(store, "COMMIT", error));
  const int64_t took = tt_monotonic_us() - begin;
  if (*made && took < STEP_LEAST && store->making_step < 3600000) store->making_step *= 2;
  if (*made && took > STEP_MOST && store->making_step > 1) store->making_step /= 2;
  return TT_OK;
}

/** It failed, and there is a connection still. Where samples were too many for one step, the next is much smaller. */
static tt_status leave_making(tt_postgres *store, const tt_error *why, tt_error *error) {
  const bool late = !strcmp(tt_postgres_last_code(store->link), QUERY_CANCELED);
  store->next_making = tt_monotonic_us() + MAKING_INTERVAL;
  if (!late || store->making_step == 1) {
    tt_log_warning("%s; buckets are computed from the samples until they can be kept", why->text);
    store->next_making += MAKING_PAUSE;
  }
  store->making_step = store->making_step > 64 ? store->making_step / 64 : 1;
  return tt_postgres_do(store, "ROLLBACK", error);
}

tt_status tt_postgres_make_buckets(tt_postgres *store, bool *more, tt_error *error) {
  *more = false;
  if (tt_monotonic_us() < store->next_making) return TT_OK;
  if (!store->making_step) store->making_step = FIRST_STEP;
  const tt_status status = make_some(store, more, error);
  if (status != TT_OK && tt_postgres_is_alive(store->link)) {
    const tt_error why = *error;
    *more = false;
    return leave_making(store, &why, error);
  }
  if (!*more) store->next_making = tt_monotonic_us() + MAKING_INTERVAL;
  return status;
}
