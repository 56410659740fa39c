/* purge.c: values that are removed: by mutations, which the server carries out in the background, part by part. */
#include "base/log.h"
#include "store/clickhouse/internal.h"

#include <stdio.h>
#include <unistd.h>

/** µs that a call waits for the server; one of which there are many until it is done, since between them values are stored; and between
 *  two looks. */
#define PURGE_TIME SECOND
#define STEP_TIME (SECOND / 10)
#define LOOK_INTERVAL 5000

/** Of what is asked for on one shard. */
typedef struct purging {
  tt_clickhouse *store;
  int shard;
  tt_clickhouse_source source;
  uint64_t device;
  tt_list condition;
  int64_t end; /**< not waited longer */
  bool exact;
} purging;

static void print_condition(const tt_clickhouse *store, const tt_store_purge *purge, tt_list *sql) {
  tt_list_print(sql, " WHERE device = %" PRIu64,
                tt_clickhouse_get_id(&store->known.devices, purge->device));
  if (purge->attribute >= 0)
    tt_list_print(sql, " AND attribute = %" PRIu64,
                  tt_clickhouse_get_id(&store->known.attributes, purge->attribute));
  if (purge->exact && purge->from > INT64_MIN)
    tt_list_print(sql, " AND device_time + time_offset >= %" PRId64, purge->from);
  if (purge->before < INT64_MAX)
    tt_list_print(sql, " AND device_time + time_offset < %" PRId64, purge->before);
}

static tt_status ask_number(const purging *job, const char *sql, int64_t *number, tt_error *error) {
  tt_list answer = TT_LIST(char, NULL);
  tt_status status = tt_clickhouse_ask(job->source.link, sql, NULL, &answer, error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  *number = tt_clickhouse_get_long(&rows);
  if (status == TT_OK) status = tt_clickhouse_check(&rows, error);
  tt_list_free(&answer);
  return status;
}

tt_status tt_clickhouse_count_mutations(const tt_clickhouse_source *source, int64_t *count,
                                        tt_error *error) {
  const purging job = {.source = *source};
  return ask_number(&job,
                    "SELECT toInt64(count()) FROM system.mutations WHERE NOT is_done AND table ="
                    " '" TT_CLICKHOUSE_VALUES "' AND database = currentDatabase()",
                    count, error);
}

/** Waits for what the server is removing. TT_AGAIN: it goes on. */
static tt_status wait_done(const purging *job, bool patient, tt_error *error) {
  for (;;) {
    int64_t waiting;
    TT_TRY(tt_clickhouse_count_mutations(&job->source, &waiting, error));
    if (!waiting) return TT_OK;
    if (!patient || tt_monotonic_us() > job->end) return TT_AGAIN;
    usleep(LOOK_INTERVAL);
  }
}

/** What comes twice counts once. `hours` gets those with such rows (tt_clickhouse_mark). */
static tt_status count_rows(const purging *job, int64_t *count, tt_list *hours, tt_error *error) {
  tt_list sql = TT_LIST(char, NULL), answer = TT_LIST(char, NULL);
  tt_list_print(&sql,
                "SELECT hour, toInt64(count()) FROM (SELECT toInt64(%" PRId64
                ") AS length, device_time + time_offset AS time,"
                " time - ((time %% length) + length) %% length AS hour"
                " FROM " TT_CLICKHOUSE_VALUES " FINAL%s) GROUP BY hour",
                HOUR, (const char *)job->condition.data);
  tt_status status = tt_clickhouse_ask_list(&job->source, &sql, &answer, error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  while (status == TT_OK && tt_clickhouse_has_row(&rows)) {
    const tt_clickhouse_mark hour = {.device = job->device, .hour = tt_clickhouse_get_long(&rows)};
    *count += tt_clickhouse_get_long(&rows);
    tt_list_add(hours, &hour, 1);
  }
  if (status == TT_OK) status = tt_clickhouse_check(&rows, error);
  if (status == TT_OK && hours->failed) status = tt_clickhouse_no_memory(error);
  tt_list_free(&sql);
  tt_list_free(&answer);
  return status;
}

static tt_status remove_rows(const purging *job, tt_error *error) {
  tt_list sql = TT_LIST(char, NULL);
  tt_list_print(&sql, "ALTER TABLE " TT_CLICKHOUSE_VALUES " DELETE%s",
                (const char *)job->condition.data);
  tt_status status = tt_clickhouse_ask_list(&job->source, &sql, NULL, error);
  tt_list_free(&sql);
  return status;
}

static tt_status purge_shard(const purging *job, int *removed, tt_error *error) {
  int64_t count = 0;
  tt_list hours = TT_LIST(tt_clickhouse_mark, NULL);
  // What is merely old waits for the next time: of many devices one alone is waited for.
  TT_TRY(wait_done(job, job->exact, error));
  tt_status status = count_rows(job, &count, &hours, error);
  if (status == TT_OK) status = tt_clickhouse_mark_hours(job->store, job->shard, &hours, error);
  tt_list_free(&hours);
  if (status != TT_OK || !count) return status;
  TT_TRY(remove_rows(job, error));
  *removed += count > INT32_MAX - *removed ? INT32_MAX - *removed : (int)count;
  return wait_done(job, true, error);
}

tt_status tt_clickhouse_purge(tt_store *base, const tt_store_purge *purge, int *removed,
                              tt_error *error) {
  tt_clickhouse *store = (tt_clickhouse *)base;
  *removed = 0;
  if (!store->connected) return TT_AGAIN;
  purging job = {.store = store,
                 .device = tt_clickhouse_get_id(&store->known.devices, purge->device),
                 .condition = TT_LIST(char, NULL),
                 .end = tt_monotonic_us() + (purge->exact ? STEP_TIME : PURGE_TIME),
                 .exact = purge->exact};
  print_condition(store, purge, &job.condition);
  tt_status status = job.condition.failed ? tt_clickhouse_no_memory(error) : TT_OK;
  for (int i = 0; i < store->address.shard_count && status == TT_OK; i++) {
    job.shard = i;
    job.source = (tt_clickhouse_source){store->links[i], &store->address};
    status = purge_shard(&job, removed, error);
  }
  // Nobody knows what the server still does; its hours are like those of others.
  if (status != TT_OK && status != TT_AGAIN) g_hash_table_remove_all(store->marks);
  tt_list_free(&job.condition);
  return status;
}
