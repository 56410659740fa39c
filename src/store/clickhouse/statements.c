/* statements.c: what is put together and taken apart wherever ClickHouse is asked. */
#include "store/clickhouse/internal.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

tt_clickhouse_ids tt_clickhouse_no_ids(void) {
  return (tt_clickhouse_ids){TT_LIST(uint64_t, NULL), TT_LIST(uint64_t, NULL), {0}};
}

void tt_clickhouse_ids_clear(tt_clickhouse_ids *known) {
  tt_list_free(&known->devices);
  tt_list_free(&known->attributes);
  tt_map_clear(&known->epochs);
}

void tt_clickhouse_ids_keep(tt_clickhouse_ids *known, const tt_catalogue *catalogue) {
  tt_map kept = {0};
  bool ok = true;
  tt_store_batch *all = tt_catalogue_all(catalogue);
  for (uint32_t i = 0; all && i < all->epochs.len && ok; i++) {
    const tt_store_epoch *epoch = &tt_list_at(&all->epochs, tt_store_epoch, i);
    const tt_map_key number = {epoch->device, epoch->number};
    const int64_t *key = tt_map_get(&known->epochs, number);
    if (key) ok = tt_map_put(&kept, number, *key);
  }
  const bool whole = all && ok;  // else out of memory: another time
  tt_map_clear(whole ? &known->epochs : &kept);
  if (whole) known->epochs = kept;
  tt_store_batch_free(all);
}

uint64_t tt_clickhouse_id(const char *identifier) {
  const uint64_t hash = XXH64(identifier, strlen(identifier), 0);
  return hash ? hash : 1;
}

bool tt_clickhouse_set_id(tt_list *ids, int index, uint64_t id) {
  if (!tt_list_fill(ids, (uint32_t)index + 1)) return false;
  tt_list_at(ids, uint64_t, index) = id;
  return true;
}

tt_status tt_clickhouse_no_memory(tt_error *error) {
  return tt_fail(error, TT_NOMEM, "out of memory");
}

tt_status tt_clickhouse_ask_list(const tt_clickhouse_source *source, tt_list *sql, tt_list *answer,
                                 tt_error *error) {
  tt_status status = sql->failed ? tt_clickhouse_no_memory(error)
                                 : tt_clickhouse_ask(source->link, sql->data, NULL, answer, error);
  tt_list_cut(sql, 0);
  return status;
}

tt_status tt_clickhouse_check(const tt_clickhouse_rows *rows, tt_error *error) {
  return rows->failed ? tt_fail(error, TT_FAILED, "clickhouse: an answer is not what was asked for")
                      : TT_OK;
}

void tt_clickhouse_print_text(tt_list *sql, const char *text) {
  tt_list_print(sql, "'");
  for (; *text; text++) tt_list_print(sql, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
  tt_list_print(sql, "'");
}

int tt_clickhouse_shard_of(uint64_t device, int count) {
  int64_t shard = -1, next = 0;
  while (next < count) {
    shard = next;
    device = device * UINT64_C(2862933555777941757) + 1;
    next = (int64_t)((double)(shard + 1) *
                     ((double)(INT64_C(1) << 31) / ((double)(device >> 33) + 1)));
  }
  return (int)shard;
}

void tt_clickhouse_print_table(const tt_clickhouse_source *source, const char *name, tt_list *sql) {
  const tt_clickhouse_address *address = source->address;
  if (address->shard_count == 1) {
    tt_list_print(sql, "%s", name);
    return;
  }
  tt_list_print(sql, "remote('");
  for (int i = 0; i < address->shard_count; i++)
    tt_list_print(sql, "%s%s:%d", i ? "," : "", address->shards[i].host, address->shards[i].native);
  tt_list_print(sql, "', '%s', '%s'", address->database, name);
  if (*address->user || *address->password) {
    tt_list_print(sql, ", ");
    tt_clickhouse_print_text(sql, *address->user ? address->user : "default");
    tt_list_print(sql, ", ");
    tt_clickhouse_print_text(sql, address->password);
  }
  tt_list_print(sql, ")");
}

void tt_clickhouse_print_values(const tt_clickhouse_source *source, tt_list *sql) {
  tt_clickhouse_print_table(source, TT_CLICKHOUSE_VALUES, sql);
}

tt_status tt_clickhouse_insert(tt_clickhouse *store, int shard, const char *table,
                               const tt_clickhouse_block *block, tt_error *error) {
  if (!block->rows) return TT_OK;
  char sql[64];
  tt_list_cut(&store->body, 0);
  if (!tt_clickhouse_block_print(block, &store->body)) return tt_clickhouse_no_memory(error);
  snprintf(sql, sizeof sql, "INSERT INTO %s FORMAT Native", table);
  return tt_clickhouse_ask(store->links[shard], sql, &store->body, NULL, error);
}

tt_status tt_clickhouse_insert_all(tt_clickhouse *store, const char *table,
                                   const tt_clickhouse_block *block, tt_error *error) {
  for (int i = store->address.shard_count - 1; i >= 0; i--)
    TT_TRY(tt_clickhouse_insert(store, i, table, block, error));
  return TT_OK;
}
