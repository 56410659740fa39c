/* asked.c: what is asked for of a device, as parts of statements. */
#include "store/clickhouse/internal.h"

#include <stdio.h>
#include <stdlib.h>

tt_status tt_clickhouse_need_boots(tt_clickhouse_reader *reader, uint64_t device, tt_error *error) {
  if (device && reader->boots_of == device) return TT_OK;
  char id[24];
  tt_list_cut(&reader->boots, 0);
  reader->boots_of = 0;
  snprintf(id, sizeof id, "%" PRIu64, device);
  TT_TRY(tt_clickhouse_read_boots(&reader->source, id, &reader->boots, error));
  reader->boots_of = device;
  return TT_OK;
}

int tt_clickhouse_attribute_of(const tt_clickhouse_reader *reader, uint64_t id) {
  const int64_t *index = tt_map_get(&reader->attributes, (tt_map_key){(int64_t)id, 0});
  return index ? (int)*index : -1;
}

void tt_clickhouse_print_attributes(const tt_clickhouse_reader *reader, const int *attributes,
                                    int count, tt_list *sql) {
  for (int i = 0; i < count; i++)
    tt_list_print(sql, "%s%" PRIu64, i ? ", " : " AND attribute IN (",
                  tt_clickhouse_get_id(&reader->known.attributes, attributes[i]));
  if (count) tt_list_print(sql, ")");
}

/* A condition's time grows with the square of its parts (ClickHouse 18.16: 690 of them 10 s), so epochs share them. */
#define PARTS 16

static int by_offset(const void *a, const void *b) {
  const tt_store_epoch *left = a, *right = b;
  return (left->offset_low > right->offset_low) - (left->offset_low < right->offset_low);
}

/** Neighbouring epochs, and the stretch of device time that lies between `from` and `to` by any of them. */
static void print_part(const tt_store_epoch *epochs, uint32_t count, int64_t from, int64_t to,
                       tt_list *sql) {
  int64_t high = epochs[0].offset_high;
  for (uint32_t i = 0; i < count; i++) {
    if (epochs[i].offset_high > high) high = epochs[i].offset_high;
    tt_list_print(sql, i ? ", %" PRId64 : " OR (epoch IN (%" PRId64, epochs[i].key);
  }
  tt_list_print(sql, ")");
  if (from > INT64_MIN)
    tt_list_print(sql, " AND device_time >= %" PRId64, tt_saturating_sub(from, high));
  if (to < INT64_MAX)
    tt_list_print(sql, " AND device_time <= %" PRId64, tt_saturating_sub(to, epochs[0].offset_low));
  tt_list_print(sql, ")");
}

void tt_clickhouse_print_times(const tt_list *boots, int64_t from, int64_t to, tt_list *sql) {
  tt_list epochs = TT_LIST(tt_store_epoch, NULL);
  for (uint32_t i = 0; i < boots->len; i++)
    tt_list_add(&epochs, &tt_list_at(boots, tt_clickhouse_boot, i).epoch, 1);
  sql->failed |= epochs.failed;
  if (epochs.len > 0) qsort(epochs.data, epochs.len, sizeof(tt_store_epoch), by_offset);
  const uint32_t each = (epochs.len + PARTS - 1) / PARTS;
  tt_list_print(sql, " AND (0");
  for (uint32_t i = 0; i < epochs.len; i += each)
    print_part(&tt_list_at(&epochs, tt_store_epoch, i),
               epochs.len - i < each ? epochs.len - i : each, from, to, sql);
  tt_list_print(sql, ")");
  tt_list_free(&epochs);
  if (from > INT64_MIN) tt_list_print(sql, " AND device_time + time_offset >= %" PRId64, from);
  if (to < INT64_MAX) tt_list_print(sql, " AND device_time + time_offset <= %" PRId64, to);
}
