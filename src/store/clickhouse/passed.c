/* passed.c: how far in a log messages of a device were stored that its device may have sent again. What was put there before them, and
 * comes behind them, was overtaken: by another writer, or because the log gave it once more. It is unsure, too.
 *
 * Writers don't wait for each other, so of what two of them store at this moment neither sees the other's; what stands there is seen.
 */
#include "store/clickhouse/internal.h"

static bool is_of_log(const tt_store_batch *batch) {
  for (uint32_t i = 0; i < batch->samples.len; i++)
    if (tt_list_at(&batch->samples, tt_store_sample, i).place) return true;
  return false;
}

static bool says_so(const tt_store_sample *sample) { return sample->flags & TT_SAMPLE_UNSURE; }

/** What the database has of the batch's devices: id → place. */
static tt_status read_passed(const tt_clickhouse_source *source, const tt_store_batch *batch,
                             const tt_clickhouse_ids *known, tt_map *passed, tt_error *error) {
  tt_map asked = {0};
  tt_list sql = TT_LIST(char, NULL), answer = TT_LIST(char, NULL);
  bool noted = tt_list_print(&sql, "SELECT device, max(place) FROM ");
  tt_clickhouse_print_table(source, "passed", &sql);
  tt_list_print(&sql, " WHERE log = %" PRId64 " AND device IN (", batch->log);
  for (uint32_t i = 0; i < batch->samples.len && noted; i++) {
    const int device = tt_list_at(&batch->samples, tt_store_sample, i).device;
    if (tt_map_get(&asked, (tt_map_key){device, 0})) continue;
    noted = tt_list_print(&sql, "%s%" PRIu64, asked.count ? ", " : "",
                          tt_clickhouse_get_id(&known->devices, device)) &&
            tt_map_put(&asked, (tt_map_key){device, 0}, 1);
  }
  tt_list_print(&sql, ") GROUP BY device");
  tt_map_clear(&asked);
  tt_status status =
      noted ? tt_clickhouse_ask_list(source, &sql, &answer, error) : tt_clickhouse_no_memory(error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  while (status == TT_OK && tt_clickhouse_has_row(&rows) && noted) {
    const int64_t device = tt_clickhouse_get_long(&rows), place = tt_clickhouse_get_long(&rows);
    noted = tt_map_put(passed, (tt_map_key){device, 0}, place);
  }
  if (status == TT_OK) status = tt_clickhouse_check(&rows, error);
  tt_list_free(&sql);
  tt_list_free(&answer);
  return noted ? status : tt_clickhouse_no_memory(error);
}

tt_status tt_clickhouse_find_unsure(tt_clickhouse *store, const tt_store_batch *batch,
                                    const tt_clickhouse_ids *known, tt_list *unsure,
                                    tt_error *error) {
  const tt_clickhouse_source source = tt_clickhouse_source_of(store);
  tt_map passed = {0};
  tt_status status =
      tt_list_fill(unsure, batch->samples.len) ? TT_OK : tt_clickhouse_no_memory(error);
  if (status == TT_OK && is_of_log(batch))
    status = read_passed(&source, batch, known, &passed, error);
  for (uint32_t i = 0; i < batch->samples.len && status == TT_OK; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    const tt_map_key key = {(int64_t)tt_clickhouse_get_id(&known->devices, sample->device), 0};
    const int64_t *before = tt_map_get(&passed, key);
    const bool overtaken = sample->place && before && *before > sample->after;
    tt_list_at(unsure, char, i) = says_so(sample) || overtaken;
    if (says_so(sample) && sample->place > (before ? *before : 0) &&
        !tt_map_put(&passed, key, sample->place))
      status = tt_clickhouse_no_memory(error);
  }
  tt_map_clear(&passed);
  return status;
}

static void put_row(tt_clickhouse_block *block, uint64_t device, int64_t log, int64_t place) {
  tt_clickhouse_put_unsigned(block, 0, device);
  tt_clickhouse_put_long(block, 1, log);
  tt_clickhouse_put_unsigned(block, 2, (uint64_t)place);
  block->rows++;
}

tt_status tt_clickhouse_note_passed(tt_clickhouse *store, const tt_store_batch *batch,
                                    const tt_clickhouse_ids *known, tt_error *error) {
  static const char *const columns[] = {"device", "UInt64", "log", "Int64",
                                        "place",  "UInt64", NULL};
  tt_clickhouse_block blocks[TT_CLICKHOUSE_SHARDS];
  tt_map reached = {0};
  const int shards = store->address.shard_count;
  tt_status status = TT_OK;
  for (int i = 0; i < shards; i++) blocks[i] = tt_clickhouse_block_of(columns);
  for (uint32_t i = batch->samples.len; i-- && status == TT_OK;) { /* the last ones first */
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    const tt_map_key key = {sample->device, 0};
    const int64_t *before = tt_map_get(&reached, key);
    if (!says_so(sample) || sample->place <= (before ? *before : 0)) continue;
    const uint64_t device = tt_clickhouse_get_id(&known->devices, sample->device);
    put_row(&blocks[tt_clickhouse_shard_of(device, shards)], device, batch->log, sample->place);
    if (!tt_map_put(&reached, key, sample->place)) status = tt_clickhouse_no_memory(error);
  }
  for (int i = 0; i < shards; i++) {
    if (status == TT_OK) status = tt_clickhouse_insert(store, i, "passed", &blocks[i], error);
    tt_clickhouse_block_free(&blocks[i]);
  }
  tt_map_clear(&reached);
  return status;
}
