/* since.c: what came of many devices since a time of each, as part of a statement. Device times are what the table is ordered by, so each
 * epoch has a bound of its own. The index is asked by few of them, in parts that rows are spared (indexHint), and rows by all.
 */
#include "store/clickhouse/internal.h"

#include <stdlib.h>

/* A condition's time grows with the square of its parts (ClickHouse 18.16: 690 of them 10 s). */
#define MOST_PARTS 16

/** Nothing of an epoch is looked at that has a lesser device time. */
typedef struct bound {
  int64_t key, least;
} bound;

static int by_key(const void *a, const void *b) {
  const bound *left = a, *right = b;
  if (left->key != right->key) return left->key < right->key ? -1 : 1;
  return (left->least > right->least) - (left->least < right->least);
}

static int by_least(const void *a, const void *b) {
  const bound *left = a, *right = b;
  return (left->least > right->least) - (left->least < right->least);
}

static void gather(const tt_list *since, tt_list *bounds) {
  for (uint32_t i = 0; i < since->len; i++) {
    const tt_clickhouse_since *one = &tt_list_at(since, tt_clickhouse_since, i);
    for (uint32_t e = 0; e < one->boots.len; e++) {
      const tt_store_epoch *epoch = &tt_list_at(&one->boots, tt_clickhouse_boot, e).epoch;
      const bound next = {epoch->key, tt_saturating_sub(one->from, epoch->offset_high)};
      tt_list_add(bounds, &next, 1);
    }
  }
}

/** In order of time; where two devices have an epoch of one key, its earlier bound. */
static void sort_out(tt_list *bounds) {
  bound *all = bounds->data;
  uint32_t kept = 0;
  if (!bounds->len) return;
  qsort(all, bounds->len, sizeof *all, by_key);
  for (uint32_t i = 1; i < bounds->len; i++)
    if (all[i].key != all[kept].key) all[++kept] = all[i];
  tt_list_cut(bounds, kept + 1);
  qsort(all, bounds->len, sizeof *all, by_least);
}

/** The end of the part that begins with one: its bounds lie at most so far apart, µs. */
static uint32_t end_of_part(const tt_list *bounds, uint32_t first, int64_t spread) {
  const bound *all = bounds->data;
  uint32_t end = first + 1;
  while (end < bounds->len && tt_saturating_sub(all[end].least, all[first].least) <= spread) end++;
  return end;
}

/** The least spread by which there are few parts. */
static int64_t choose_spread(const tt_list *bounds) {
  for (int64_t spread = HOUR;; spread *= 2) {
    uint32_t parts = 0;
    for (uint32_t i = 0; i < bounds->len; parts++) i = end_of_part(bounds, i, spread);
    if (parts <= MOST_PARTS || spread > INT64_MAX / 2) return spread;
  }
}

static void print_keys(const tt_list *bounds, uint32_t first, uint32_t end, tt_list *sql) {
  for (uint32_t i = first; i < end; i++)
    tt_list_print(sql, i > first ? ", %" PRId64 : "%" PRId64, tt_list_at(bounds, bound, i).key);
}

static void print_parts(const tt_list *bounds, tt_list *sql) {
  const int64_t spread = choose_spread(bounds);
  tt_list_print(sql, " AND indexHint(0");
  for (uint32_t i = 0, end; i < bounds->len; i = end) {
    end = end_of_part(bounds, i, spread);
    tt_list_print(sql, " OR (epoch IN (");
    print_keys(bounds, i, end, sql);
    tt_list_print(sql, ") AND device_time >= %" PRId64 ")", tt_list_at(bounds, bound, i).least);
  }
  tt_list_print(sql, ")");
}

/* Arrays are texts that are cast: as many calls of toInt64() take the server half a second. */

/** Of every row of these epochs. */
static void print_bounds(const tt_list *bounds, tt_list *sql) {
  if (!bounds->len) return;
  tt_list_print(sql, " AND device_time >= transform(epoch, CAST('[");
  print_keys(bounds, 0, bounds->len, sql);
  tt_list_print(sql, "]' AS Array(Int64)), CAST('[");
  for (uint32_t i = 0; i < bounds->len; i++)
    tt_list_print(sql, i ? ", %" PRId64 : "%" PRId64, tt_list_at(bounds, bound, i).least);
  tt_list_print(sql, "]' AS Array(Int64)), toInt64(%" PRId64 "))", INT64_MAX);
}

static void print_devices(const tt_list *since, tt_list *sql) {
  for (uint32_t i = 0; i < since->len; i++)
    tt_list_print(sql, i ? ", %" PRIu64 : "%" PRIu64,
                  tt_list_at(since, tt_clickhouse_since, i).device);
}

static void print_froms(const tt_list *since, tt_list *sql) {
  tt_list_print(sql, " WHERE device_time + time_offset >= transform(device, CAST('[");
  print_devices(since, sql);
  tt_list_print(sql, "]' AS Array(UInt64)), CAST('[");
  for (uint32_t i = 0; i < since->len; i++)
    tt_list_print(sql, i ? ", %" PRId64 : "%" PRId64,
                  tt_list_at(since, tt_clickhouse_since, i).from);
  tt_list_print(sql, "]' AS Array(Int64)), toInt64(%" PRId64 "))", INT64_MAX);
}

void tt_clickhouse_print_since(const tt_list *since, bool all, tt_list *sql) {
  tt_list bounds = TT_LIST(bound, NULL);
  gather(since, &bounds);
  sort_out(&bounds);
  tt_list_print(sql, " PREWHERE device IN (");
  print_devices(since, sql);
  tt_list_print(sql, ")");
  if (all) {
    tt_list_print(sql, " AND epoch IN (");
    print_keys(&bounds, 0, bounds.len, sql);
    tt_list_print(sql, bounds.len ? ")" : "0)");
  } else {
    print_parts(&bounds, sql);
    print_bounds(&bounds, sql);
    print_froms(since, sql);
  }
  sql->failed |= bounds.failed;
  tt_list_free(&bounds);
}
