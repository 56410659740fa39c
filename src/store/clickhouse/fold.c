/* fold.c: buckets, computed of values. */
#include "store/clickhouse/internal.h"

#include <stdlib.h>

/** Values that come twice count once: the server knows that of its own; over shards a device may have had another one. */
static void print_question(const tt_clickhouse_folding *folding, tt_list *sql) {
  const bool alone = folding->source.address->shard_count == 1;
  tt_list_print(sql,
                "SELECT attribute, start, epoch, count(), min(number), max(number), sum(number),"
                " argMax(number, place), max(time) FROM"
                " (SELECT attribute, epoch, device_time, number,"
                " %s AS time, tuple(time, device_time, bitNot(%s)) AS place, toInt64(%" PRId64
                ") AS length,"  // else it counts in fewer bits than are needed
                " time - ((time %% length) + length) %% length AS start FROM ",
                alone ? "time_offset + device_time" : "argMax(time_offset, rank) + device_time",
                alone ? "rank" : "max(rank)", tt_bucket_length(folding->size));
  tt_clickhouse_print_values(&folding->source, sql);
  if (alone) tt_list_print(sql, " FINAL");
  tt_list_print(sql, " WHERE device = %" PRIu64 " AND is_text = 0", folding->device);
  tt_clickhouse_print_times(folding->boots, folding->from, folding->to, sql);
  if (folding->filter) tt_list_print(sql, "%s", folding->filter);
  if (!alone) tt_list_print(sql, " GROUP BY attribute, epoch, device_time, seq, number");
  tt_list_print(sql, ") GROUP BY attribute, start, epoch");
}

int tt_clickhouse_number_of(const tt_list *boots, int64_t key) {
  for (uint32_t i = 0; i < boots->len; i++) {
    const tt_store_epoch *epoch = &tt_list_at(boots, tt_clickhouse_boot, i).epoch;
    if (epoch->key == key) return epoch->number;
  }
  return -1;
}

void tt_clickhouse_take_bucket(tt_clickhouse_rows *rows, tt_bucket *bucket) {
  bucket->count = tt_clickhouse_get_unsigned(rows);
  bucket->least = tt_clickhouse_get_double(rows);
  bucket->greatest = tt_clickhouse_get_double(rows);
  bucket->sum = tt_clickhouse_get_double(rows);
  bucket->last = tt_clickhouse_get_double(rows);
  bucket->last_time = tt_clickhouse_get_long(rows);
}

tt_status tt_clickhouse_fold(const tt_clickhouse_folding *folding, tt_list *parts,
                             tt_error *error) {
  tt_list sql = TT_LIST(char, NULL), answer = TT_LIST(char, NULL);
  print_question(folding, &sql);
  tt_status status = tt_clickhouse_ask_list(&folding->source, &sql, &answer, error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  while (status == TT_OK && tt_clickhouse_has_row(&rows)) {
    tt_clickhouse_part one = {.attribute = tt_clickhouse_get_unsigned(&rows)};
    one.bucket.start = tt_clickhouse_get_long(&rows);
    one.epoch = tt_clickhouse_number_of(folding->boots, tt_clickhouse_get_long(&rows));
    tt_clickhouse_take_bucket(&rows, &one.bucket);
    tt_list_add(parts, &one, 1);
  }
  if (status == TT_OK) status = tt_clickhouse_check(&rows, error);
  if (status == TT_OK && parts->failed) status = tt_clickhouse_no_memory(error);
  tt_list_free(&sql);
  tt_list_free(&answer);
  return status;
}

static int by_place(const void *a, const void *b) {
  const tt_clickhouse_part *left = a, *right = b;
  if (left->bucket.start != right->bucket.start)
    return left->bucket.start < right->bucket.start ? -1 : 1;
  if (left->attribute != right->attribute) return left->attribute < right->attribute ? -1 : 1;
  return (left->epoch > right->epoch) - (left->epoch < right->epoch);
}

void tt_clickhouse_merge_parts(tt_list *list) {
  tt_clickhouse_part *parts = list->data;
  uint32_t kept = 0;
  if (!list->len) return;
  qsort(parts, list->len, sizeof *parts, by_place);
  for (uint32_t i = 1; i < list->len; i++) {
    if (parts[i].attribute == parts[kept].attribute &&
        parts[i].bucket.start == parts[kept].bucket.start)
      tt_bucket_merge(&parts[kept].bucket, &parts[i].bucket);
    else
      parts[++kept] = parts[i];
  }
  tt_list_cut(list, kept + 1);
}
