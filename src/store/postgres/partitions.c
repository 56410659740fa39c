/* partitions.c: tables of days, of which `value` is made.
 *
 * To make one takes `value` from everybody for a moment. Whoever reads has it until his transaction ends, such as pg_dump or a reader of
 * ours whose client takes hours; and everybody else, readers too, waits behind who waits for it. So nobody waits long: what has
 * no table goes to the default one, and that of tomorrow is made today, at any time that it can be.
 */
#include "base/log.h"
#include "store/postgres/internal.h"

#include <stdio.h>
#include <string.h>

/** Days in the past that still get a partition of their own; what lies outside goes to the default one. */
#define PARTITION_DAYS_BACK 31
/** For how long others are kept from `value` where somebody has it: once, since a day that has values in the default partition never gets
 *  one of its own; and every minute (µs) as long as it is not needed. */
#define TIMEOUT_ONCE "1s"
#define TIMEOUT_EARLY "50ms"
#define TEND_INTERVAL (60 * SECOND)
#define LOCK_NOT_AVAILABLE "55P03"

tt_status tt_postgres_day_of(const tt_postgres_ids *known, const tt_store_sample *sample,
                             int64_t *day, tt_error *error) {
  const int64_t *anchor = tt_map_get(&known->anchors, (tt_map_key){sample->device, sample->epoch});
  if (!anchor) {
    return tt_fail(error, TT_INVALID, "epoch %d of device %d is not known to the database",
                   sample->epoch, sample->device);
  }
  *day = tt_postgres_floor_day(sample->device_time + *anchor);
  return TT_OK;
}

/** "2024-02-29" */
static void print_day(char text[16], int64_t day) {
  const time_t seconds = (time_t)day * 86400;
  struct tm date;
  gmtime_r(&seconds, &date);
  strftime(text, 16, "%Y-%m-%d", &date);
}

static bool is_settled(const tt_postgres *store, int64_t day) {
  return tt_map_get(&store->partitions, (tt_map_key){day, 0});
}

/** Within a transaction, which goes on whether or not it can be made. `early`: it is tried again, where somebody has `value`. */
static tt_status make_partition(tt_postgres *store, int64_t day, bool early, tt_error *error) {
  char from[16], to[16];
  print_day(from, day);
  print_day(to, day + 1);
  tt_error trouble;
  tt_status status = tt_postgres_runf(
      store->link, tt_postgres_deadline(store), NULL, &trouble,
      "SAVEPOINT partition; SET LOCAL lock_timeout = '%s';"
      " CREATE TABLE IF NOT EXISTS value_%.4s%.2s%.2s PARTITION OF value FOR VALUES"
      " FROM ('%s') TO ('%s'); SET LOCAL lock_timeout TO DEFAULT; RELEASE partition",
      early ? TIMEOUT_EARLY : TIMEOUT_ONCE, from, from + 5, from + 8, from, to);
  if (status != TT_OK && tt_postgres_is_alive(store->link)) {
    const bool again = early && !strcmp(tt_postgres_last_code(store->link), LOCK_NOT_AVAILABLE);
    TT_TRY(tt_postgres_do(store, "ROLLBACK TO partition", error));
    if (again) return TT_OK;
    tt_log_info("postgresql: values of %s go to the default partition: %s", from, trouble.text);
  } else if (status != TT_OK) {
    return tt_fail(error, status, "%s", trouble.text);
  }
  tt_map_put(&store->partitions, (tt_map_key){day, 0}, 1);  // not noted, it is asked for again
  return TT_OK;
}

/** A partition for a day that is not far from now. Others, and days that came too early, share the default one. */
static tt_status need_partition(tt_postgres *store, int64_t day, tt_error *error) {
  const int64_t today = tt_postgres_floor_day(tt_wall_us());
  if (day < today - PARTITION_DAYS_BACK || day > today + 1 || is_settled(store, day)) return TT_OK;
  return make_partition(store, day, false, error);
}

tt_status tt_postgres_need_partitions(tt_postgres *store, const tt_store_batch *batch,
                                      const tt_postgres_ids *known, tt_error *error) {
  int64_t last = INT64_MIN;
  for (uint32_t i = 0; i < batch->samples.len; i++) {
    int64_t day;
    TT_TRY(
        tt_postgres_day_of(known, &tt_list_at(&batch->samples, tt_store_sample, i), &day, error));
    if (day == last) continue;
    TT_TRY(need_partition(store, day, error));
    last = day;
  }
  return TT_OK;
}

tt_status tt_postgres_tend_partitions(tt_postgres *store, tt_error *error) {
  const int64_t now = tt_monotonic_us(), today = tt_postgres_floor_day(tt_wall_us());
  // Where nothing comes today nothing is expected tomorrow.
  if (now < store->next_partition || !is_settled(store, today) || is_settled(store, today + 1))
    return TT_OK;
  store->next_partition = now + TEND_INTERVAL;
  TT_TRY(tt_postgres_do(store, "BEGIN", error));
  TT_TRY(make_partition(store, today + 1, true, error));
  return tt_postgres_do(store, "COMMIT", error);
}
