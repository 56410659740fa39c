/* passed.c: store/passed.h, with a table. Writers don't wait for each other, so of what two of them store at this moment neither sees the
 * other's; what stands there is seen.
 */
#include "store/passed.h"

#include "store/clickhouse/internal.h"

/** What the database has of these devices. */
static tt_status read_passed(const tt_clickhouse_source *source, int64_t log,
                             const tt_list *devices, const tt_clickhouse_ids *known, tt_map *passed,
                             tt_error *error) {
  tt_map indices = {0}; /* by the database's id */
  tt_list sql = TT_LIST(char, NULL), answer = TT_LIST(char, NULL);
  bool noted = tt_list_print(&sql, "SELECT device, max(place) FROM ");
  tt_clickhouse_print_table(source, "passed", &sql);
  tt_list_print(&sql, " WHERE log = %" PRId64 " AND device IN (", log);
  for (uint32_t i = 0; i < devices->len && noted; i++) {
    const int index = tt_list_at(devices, int32_t, i);
    const uint64_t device = tt_clickhouse_get_id(&known->devices, index);
    noted = tt_list_print(&sql, "%s%" PRIu64, i ? ", " : "", device) &&
            tt_map_put(&indices, (tt_map_key){(int64_t)device, 0}, index);
  }
  tt_list_print(&sql, ") GROUP BY device");
  tt_status status =
      noted ? tt_clickhouse_ask_list(source, &sql, &answer, error) : tt_clickhouse_no_memory(error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  while (status == TT_OK && tt_clickhouse_has_row(&rows) && noted) {
    const int64_t device = tt_clickhouse_get_long(&rows), place = tt_clickhouse_get_long(&rows);
    const int64_t *index = tt_map_get(&indices, (tt_map_key){device, 0});
    if (index) noted = tt_map_put(passed, (tt_map_key){*index, 0}, place);
  }
  if (status == TT_OK) status = tt_clickhouse_check(&rows, error);
  tt_list_free(&sql);
  tt_list_free(&answer);
  tt_map_clear(&indices);
  return noted ? status : tt_clickhouse_no_memory(error);
}

tt_status tt_clickhouse_find_unsure(tt_clickhouse *store, const tt_store_batch *batch,
                                    const tt_clickhouse_ids *known, tt_list *unsure,
                                    tt_error *error) {
  const tt_clickhouse_source source = tt_clickhouse_source_of(store);
  tt_map passed = {0};
  tt_list devices = TT_LIST(int32_t, NULL);
  bool any;
  tt_status status =
      tt_store_passed_devices(batch, &devices) ? TT_OK : tt_clickhouse_no_memory(error);
  if (status == TT_OK && devices.len)
    status = read_passed(&source, batch->log, &devices, known, &passed, error);
  if (status == TT_OK && !tt_store_find_unsure(batch, &passed, unsure, &any))
    status = tt_clickhouse_no_memory(error);
  tt_list_free(&devices);
  tt_map_clear(&passed);
  return status;
}

tt_status tt_clickhouse_note_passed(tt_clickhouse *store, const tt_store_batch *batch,
                                    const tt_clickhouse_ids *known, tt_error *error) {
  static const char *const columns[] = {"device", "UInt64", "log", "Int64",
                                        "place",  "UInt64", NULL};
  tt_clickhouse_block blocks[TT_CLICKHOUSE_SHARDS];
  tt_list passed = TT_LIST(tt_store_passed, NULL);
  const int shards = store->address.shard_count;
  tt_status status = tt_store_find_passed(batch, &passed) ? TT_OK : tt_clickhouse_no_memory(error);
  for (int i = 0; i < shards; i++) blocks[i] = tt_clickhouse_block_of(columns);
  for (uint32_t i = 0; i < passed.len; i++) {
    const tt_store_passed *one = &tt_list_at(&passed, tt_store_passed, i);
    const uint64_t device = tt_clickhouse_get_id(&known->devices, one->device);
    tt_clickhouse_block *block = &blocks[tt_clickhouse_shard_of(device, shards)];
    tt_clickhouse_put_unsigned(block, 0, device);
    tt_clickhouse_put_long(block, 1, batch->log);
    tt_clickhouse_put_unsigned(block, 2, (uint64_t)one->place);
    block->rows++;
  }
  for (int i = 0; i < shards; i++) {
    if (status == TT_OK) status = tt_clickhouse_insert(store, i, "passed", &blocks[i], error);
    tt_clickhouse_block_free(&blocks[i]);
  }
  tt_list_free(&passed);
  return status;
}
