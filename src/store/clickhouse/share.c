/* share.c: what is defined, on every shard, also on one that was added, or has lost what it had.
 *
 * What one shard has and another has not is copied by the other, over the native port. Rows of definitions are facts, of which the
 * tables keep one: those that two programs copy at once are there once.
 */
#include "store/clickhouse/internal.h"

/** Tables of definitions, and by what their rows are told apart. */
static const struct {
  const char *name, *key;
} tables[] = {{"name", "kind, identifier, fact, version"},
              {"pair", "device, attribute, version"},
              {"handling", "pattern, version"},
              {"boot", "device, key, at"}};

static void print_copy(const tt_clickhouse_source *source, const char *table, const char *key,
                       tt_list *sql) {
  tt_list_print(sql, "INSERT INTO %s SELECT DISTINCT * FROM ", table);
  tt_clickhouse_print_table(source, table, sql);
  tt_list_print(sql, " WHERE (%s) GLOBAL NOT IN (SELECT %s FROM %s)", key, key, table);
}

tt_status tt_clickhouse_share(tt_clickhouse *store, tt_error *error) {
  tt_list sql = TT_LIST(char, NULL);
  tt_status status = TT_OK;
  const int shards = store->address.shard_count;
  for (int i = 0; i < shards && shards > 1 && status == TT_OK; i++) {
    const tt_clickhouse_source source = {store->links[i], &store->address};
    for (size_t t = 0; t < sizeof tables / sizeof *tables && status == TT_OK; t++) {
      print_copy(&source, tables[t].name, tables[t].key, &sql);
      status = tt_clickhouse_ask_list(&source, &sql, NULL, error);
    }
  }
  tt_list_free(&sql);
  return status;
}
