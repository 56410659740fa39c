/* forget.c: what is old is removed, of all devices: by one mutation, for which nobody waits. What is to be removed is looked for first, in
 * steps of some devices each, since hours whose values go are marked before they do.
 *
 * What comes between the look and the mutation may be removed without a mark. So both lie close together, much closer than buckets are
 * made behind what was written; a look that became older is done again.
 */
#include "base/log.h"
#include "store/clickhouse/internal.h"

#include <stdlib.h>

/** Of all devices that a step has at least, but where there is too much of them: a server that is slow or far away answers no sooner where
 *  less is asked for. */
#define LEAST_WIDTH (UINT64_MAX / 128)
/** µs of looking after which it is looked again. */
#define STALE (30 * SECOND)
/** µs until it is looked again whether the server has done what it was told; until it is tried again after it failed. */
#define LOOK_INTERVAL SECOND
#define RETRY_LATER (2 * SECOND)
/** Attributes in one statement, and hours in one answer. */
#define MOST_ATTRIBUTES 2000
#define MOST_HOURS 100000

struct tt_clickhouse_forgetting {
  tt_list wanted;    /**< tt_store_old: not begun */
  tt_list condition; /**< char: of what is in hand; empty: nothing is */
  int shard;
  uint64_t from,
      at; /**< ids of devices: it was looked from the first one on, up to before the second */
  uint64_t width; /**< of a step, less 1 */
  int64_t begun;  /**< µs: when it was looked at `from` */
  bool found;     /**< something since then */
  int64_t next_try;
};

tt_clickhouse_forgetting *tt_clickhouse_new_forgetting(void) {
  tt_clickhouse_forgetting *job = calloc(1, sizeof *job);
  if (!job) return NULL;
  job->wanted = TT_LIST(tt_store_old, NULL);
  job->condition = TT_LIST(char, NULL);
  job->width = UINT64_MAX / 16;
  return job;
}

void tt_clickhouse_free_forgetting(tt_clickhouse_forgetting *job) {
  if (!job) return;
  tt_list_free(&job->wanted);
  tt_list_free(&job->condition);
  free(job);
}

bool tt_clickhouse_is_forgetting(const tt_clickhouse *store) { return store->forgetting->found; }

static int by_time(const void *a, const void *b) {
  const tt_store_old *left = a, *right = b;
  return (left->before > right->before) - (left->before < right->before);
}

void tt_clickhouse_forget(tt_store *base, const tt_list *old) {
  tt_list *wanted = &((tt_clickhouse *)base)->forgetting->wanted;
  if (wanted->len || !old->len) return;  // first what was asked for before
  tt_list_add(wanted, old->data, old->len);
  if (!wanted->failed) qsort(wanted->data, wanted->len, sizeof(tt_store_old), by_time);
}

/** Takes into hand as much as a statement can say. */
static void begin_pass(tt_clickhouse *store) {
  tt_clickhouse_forgetting *job = store->forgetting;
  tt_list *sql = &job->condition;
  int64_t before = 0;
  for (int i = 0; i < MOST_ATTRIBUTES && job->wanted.len; i++) {
    const tt_store_old old = tt_list_at(&job->wanted, tt_store_old, job->wanted.len - 1);
    const uint64_t id = tt_clickhouse_get_id(&store->known.attributes, old.attribute);
    tt_list_cut(&job->wanted, job->wanted.len - 1);
    if (!id) continue;
    if (sql->len && before == old.before)
      tt_list_print(sql, ", %" PRIu64, id);
    else
      tt_list_print(sql, "%sdevice_time + time_offset < %" PRId64 " AND attribute IN (%" PRIu64,
                    sql->len ? ") OR " : "(", old.before, id);
    before = old.before;
  }
  if (sql->len) tt_list_print(sql, "))");
  job->shard = 0;
  job->begun = 0;
  job->from = job->at = 0;
  job->found = false;
}

static tt_clickhouse_source source_of(const tt_clickhouse *store) {
  return (tt_clickhouse_source){store->links[store->forgetting->shard], &store->address};
}

/** Of devices from `from` to `to`, inclusive, the hours of what is to go (tt_clickhouse_mark). */
static tt_status find_hours(const tt_clickhouse *store, uint64_t from, uint64_t to, tt_list *hours,
                            tt_error *error) {
  const tt_clickhouse_source source = source_of(store);
  tt_list sql = TT_LIST(char, NULL), answer = TT_LIST(char, NULL);
  tt_list_print(&sql,
                "SELECT DISTINCT device, hour FROM (SELECT device, toInt64(%" PRId64
                ") AS length, device_time + time_offset AS time,"
                " time - ((time %% length) + length) %% length AS hour FROM " TT_CLICKHOUSE_VALUES
                " WHERE device >= %" PRIu64 " AND device <= %" PRIu64 " AND %s) LIMIT %d",
                HOUR, from, to, (const char *)store->forgetting->condition.data, MOST_HOURS);
  tt_status status = tt_clickhouse_ask_list(&source, &sql, &answer, error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  while (status == TT_OK && tt_clickhouse_has_row(&rows)) {
    tt_clickhouse_mark hour = {.device = tt_clickhouse_get_unsigned(&rows)};
    hour.hour = tt_clickhouse_get_long(&rows);
    tt_list_add(hours, &hour, 1);
  }
  if (status == TT_OK) status = tt_clickhouse_check(&rows, error);
  if (status == TT_OK && hours->failed) status = tt_clickhouse_no_memory(error);
  tt_list_free(&sql);
  tt_list_free(&answer);
  return status;
}

/** Looks at some devices, and marks the hours of what is to go. */
static tt_status look_step(tt_clickhouse *store, tt_error *error) {
  tt_clickhouse_forgetting *job = store->forgetting;
  tt_list hours = TT_LIST(tt_clickhouse_mark, NULL);
  const int64_t before = tt_monotonic_us();
  const uint64_t to = job->width > UINT64_MAX - job->at ? UINT64_MAX : job->at + job->width;
  if (job->at == job->from) job->begun = before;
  tt_status status = find_hours(store, job->at, to, &hours, error);
  const bool whole = hours.len < MOST_HOURS || !job->width;
  if (status == TT_OK && whole) {
    status = tt_clickhouse_mark_hours(store, job->shard, &hours, error);
    job->found |= hours.len > 0;
    job->at = to + 1;  // 0 behind the last one
  }
  tt_list_free(&hours);
  const int64_t took = tt_monotonic_us() - before;
  if (!whole || (took > tt_clickhouse_paces.step && job->width / 2 >= LEAST_WIDTH))
    job->width /= 2;
  else if (took < tt_clickhouse_paces.step / 3 || job->width < LEAST_WIDTH)
    job->width = job->width > UINT64_MAX / 2 ? UINT64_MAX : job->width * 2 + 1;
  return status;
}

/** Removes what was found since `from`. */
static tt_status remove_found(tt_clickhouse *store, tt_error *error) {
  tt_clickhouse_forgetting *job = store->forgetting;
  const tt_clickhouse_source source = source_of(store);
  tt_list sql = TT_LIST(char, NULL);
  tt_list_print(&sql,
                "ALTER TABLE " TT_CLICKHOUSE_VALUES " DELETE WHERE device >= %" PRIu64
                " AND device <= %" PRIu64 " AND %s",
                job->from, job->at - 1, (const char *)job->condition.data);
  tt_status status = tt_clickhouse_ask_list(&source, &sql, NULL, error);
  tt_list_free(&sql);
  // Nobody knows what the server does; its hours are like those of others.
  if (status != TT_OK) g_hash_table_remove_all(store->marks);
  job->from = job->at;
  job->found = false;
  return status;
}

/** Whether the server still has something of before to remove: that would be found again. */
static tt_status wait_for_last(tt_clickhouse *store, bool *waits, tt_error *error) {
  const tt_clickhouse_source source = source_of(store);
  int64_t waiting;
  TT_TRY(tt_clickhouse_count_mutations(&source, &waiting, error));
  *waits = waiting > 0;
  if (*waits) store->forgetting->next_try = tt_monotonic_us() + LOOK_INTERVAL;
  return TT_OK;
}

static tt_status step(tt_clickhouse *store, bool *waits, tt_error *error) {
  tt_clickhouse_forgetting *job = store->forgetting;
  if (!job->at && !job->begun) {
    TT_TRY(wait_for_last(store, waits, error));
    if (*waits) return TT_OK;
  }
  TT_TRY(look_step(store, error));
  const int64_t took = tt_monotonic_us() - job->begun;
  if (job->found && took > STALE) {
    job->at = job->from;
    job->found = false;
    return TT_OK;
  }
  const bool ended = !job->at;
  if (job->found && (ended || took > tt_clickhouse_paces.looks)) TT_TRY(remove_found(store, error));
  if (took > tt_clickhouse_paces.looks) job->from = job->at;
  if (!ended) return TT_OK;
  job->from = 0;
  job->begun = 0;
  if (++job->shard == store->address.shard_count) tt_list_cut(&job->condition, 0);
  return TT_OK;
}

static void give_up(tt_clickhouse_forgetting *job) {
  tt_list_cut(&job->condition, 0);
  job->found = false;
  job->width = job->width / 16 < LEAST_WIDTH ? LEAST_WIDTH : job->width / 16;
  job->next_try = tt_monotonic_us() + RETRY_LATER;
}

bool tt_clickhouse_forget_some(tt_clickhouse *store) {
  tt_clickhouse_forgetting *job = store->forgetting;
  tt_error error;
  bool waits = false;
  if (tt_monotonic_us() < job->next_try) return false;
  if (!job->condition.len) begin_pass(store);
  if (!job->condition.len) return false;
  tt_status status =
      job->condition.failed ? tt_clickhouse_no_memory(&error) : step(store, &waits, &error);
  if (status != TT_OK) {
    tt_log_warning("clickhouse: can't remove what is old, trying again: %s", error.text);
    give_up(job);
  }
  return job->condition.len > 0 && status == TT_OK && !waits;
}
