/* hours.c: which hours of a device have changed since their buckets were made. An hour whose values change gets a mark, a number drawn at
 * random, before they do; buckets say which marks they were made with, as the exclusive or of all. Where that is of other
 * marks than those there are, the hour is computed of its values. So nobody needs a lock, and no clock is compared with another one's.
 *
 * A writer relies on its mark for a while before it makes another. Whoever makes buckets does that with marks of its own when it is
 * not writing, and with those of others once there was no new one for longer than any writer relies on one.
 */
#include "store/clickhouse/internal.h"

#include <glib.h>
#include <string.h>

/** Hours that are remembered at most; others are like those of other programs. */
#define MOST_HOURS 100000

tt_clickhouse_pace tt_clickhouse_paces = {.quiet = 60 * SECOND,
                                          .relied = 300 * SECOND,
                                          .settled = 600 * SECOND,
                                          .looks = 5 * SECOND,
                                          .step = 30000};

/* --- what a writer has marked --- */

static guint hash_hour(gconstpointer key) {
  const tt_clickhouse_mark *mark = key;
  return (guint)((mark->device ^ (uint64_t)(mark->hour / SECOND) * UINT64_C(0x9e3779b97f4a7c15)) >>
                 13);
}

static gboolean is_same_hour(gconstpointer a, gconstpointer b) {
  const tt_clickhouse_mark *left = a, *right = b;
  return left->device == right->device && left->hour == right->hour;
}

GHashTable *tt_clickhouse_new_marks(void) {
  return g_hash_table_new_full(hash_hour, is_same_hour, g_free, NULL);
}

tt_clickhouse_mark *tt_clickhouse_find_mark(GHashTable *marks, uint64_t device, int64_t hour) {
  const tt_clickhouse_mark key = {.device = device, .hour = hour};
  return g_hash_table_lookup(marks, &key);
}

tt_clickhouse_mark *tt_clickhouse_add_mark(GHashTable *marks, uint64_t device, int64_t hour) {
  if (g_hash_table_size(marks) >= MOST_HOURS) g_hash_table_remove_all(marks);
  tt_clickhouse_mark *mark = g_new0(tt_clickhouse_mark, 1);
  *mark = (tt_clickhouse_mark){.device = device, .hour = hour};
  g_hash_table_add(marks, mark);
  return mark;
}

/** A number that is not 0. */
static uint64_t draw_mark(void) { return (uint64_t)g_random_int() << 32 | g_random_int() | 1; }

tt_status tt_clickhouse_mark_hours(tt_clickhouse *store, int shard, const tt_list *hours,
                                   tt_error *error) {
  static const char *const columns[] = {"device", "UInt64", "hour", "Int64", "id", "UInt64", NULL};
  if (!hours->len) return TT_OK;
  tt_clickhouse_block block = tt_clickhouse_block_of(columns);
  const int64_t now = tt_monotonic_us();
  for (uint32_t i = 0; i < hours->len; i++) {
    const tt_clickhouse_mark *hour = &tt_list_at(hours, tt_clickhouse_mark, i);
    tt_clickhouse_mark *mark = tt_clickhouse_find_mark(store->marks, hour->device, hour->hour);
    if (!mark) mark = tt_clickhouse_add_mark(store->marks, hour->device, hour->hour);
    const uint64_t id = draw_mark();
    mark->ids ^= id;
    mark->marked = mark->written = now;
    tt_clickhouse_put_unsigned(&block, 0, hour->device);
    tt_clickhouse_put_long(&block, 1, hour->hour);
    tt_clickhouse_put_unsigned(&block, 2, id);
    block.rows++;
  }
  tt_status status = tt_clickhouse_insert(store, shard, "marked_hour", &block, error);
  tt_clickhouse_block_free(&block);
  return status;
}

/* --- what the database says --- */

tt_status tt_clickhouse_read_hours(const tt_clickhouse_source *source, uint64_t device,
                                   int64_t from, int64_t to, tt_list *hours, tt_error *error) {
  tt_list sql = TT_LIST(char, NULL), answer = TT_LIST(char, NULL);
  tt_list_print(&sql,
                "SELECT start, groupBitXor(mark), argMax(covers, made), max(made) FROM"
                " (SELECT DISTINCT hour AS start, id AS mark, toUInt64(0) AS covers,"
                " toUInt64(0) AS made FROM ");
  tt_clickhouse_print_table(source, "marked_hour", &sql);
  tt_list_print(&sql,
                " WHERE device = %" PRIu64 " AND hour >= %" PRId64 " AND hour <= %" PRId64
                " UNION ALL SELECT start, toUInt64(0) AS mark, count AS covers, version AS made"
                " FROM ",
                device, from, to);
  tt_clickhouse_print_table(source, "bucket", &sql);
  tt_list_print(&sql,
                " WHERE size = 0 AND device = %" PRIu64 " AND start >= %" PRId64
                " AND start <= %" PRId64 ") GROUP BY start ORDER BY start",
                device, from, to);
  tt_status status = tt_clickhouse_ask_list(source, &sql, &answer, error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  while (status == TT_OK && tt_clickhouse_has_row(&rows)) {
    tt_clickhouse_hour hour = {.start = tt_clickhouse_get_long(&rows)};
    hour.marks = tt_clickhouse_get_unsigned(&rows);
    hour.covers = tt_clickhouse_get_unsigned(&rows);
    hour.version = tt_clickhouse_get_unsigned(&rows);
    tt_list_add(hours, &hour, 1);
  }
  if (status == TT_OK) status = tt_clickhouse_check(&rows, error);
  if (status == TT_OK && hours->failed) status = tt_clickhouse_no_memory(error);
  tt_list_free(&sql);
  tt_list_free(&answer);
  return status;
}

static int by_start(const void *a, const void *b) {
  const tt_clickhouse_hour *left = a, *right = b;
  return (left->start > right->start) - (left->start < right->start);
}

tt_clickhouse_hour *tt_clickhouse_find_hour(const tt_list *hours, int64_t start) {
  const tt_clickhouse_hour key = {.start = start};
  if (!hours->len) return NULL;
  return bsearch(&key, hours->data, hours->len, sizeof key, by_start);
}
