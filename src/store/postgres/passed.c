/* passed.c: store/passed.h, with a table. Who stores an unsure message has the database alone, so whoever reads this with the lock in
 * hand sees all that was stored before.
 */
#include "store/passed.h"

#include "store/postgres/internal.h"

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

/** What the database has of these devices. */
static tt_status read_passed(tt_postgres *store, int64_t log, const tt_list *devices,
                             const tt_postgres_ids *known, tt_map *passed, tt_error *error) {
  tt_map indices = {0}; /* by the database's id */
  tt_list sql = TT_LIST(char, NULL);
  bool noted = tt_list_print(
      &sql, "SELECT device, place FROM passed WHERE log = %" PRId64 " AND device IN (", log);
  for (uint32_t i = 0; i < devices->len && noted; i++) {
    const int index = tt_list_at(devices, int32_t, i);
    const int device = tt_postgres_get_id(&known->devices, index);
    noted = tt_list_print(&sql, "%s%d", i ? ", " : "", device) &&
            tt_map_put(&indices, (tt_map_key){device, 0}, index);
  }
  PGresult *result = NULL;
  tt_status status = noted && tt_list_print(&sql, ")")
                         ? tt_postgres_query(store, sql.data, &result, error)
                         : no_memory(error);
  for (int row = 0; status == TT_OK && row < PQntuples(result); row++) {
    const tt_map_key device = {tt_postgres_integer(result, row, 0), 0};
    const tt_map_key index = {*tt_map_get(&indices, device), 0};
    if (!tt_map_put(passed, index, tt_postgres_integer(result, row, 1))) status = no_memory(error);
  }
  PQclear(result);
  tt_list_free(&sql);
  tt_map_clear(&indices);
  return status;
}

tt_status tt_postgres_find_unsure(tt_postgres *store, const tt_store_batch *batch,
                                  const tt_postgres_ids *known, tt_list *unsure, bool *any,
                                  tt_error *error) {
  tt_map passed = {0};
  tt_list devices = TT_LIST(int32_t, NULL);
  tt_status status = tt_store_passed_devices(batch, &devices) ? TT_OK : no_memory(error);
  if (status == TT_OK && devices.len)
    status = read_passed(store, batch->log, &devices, known, &passed, error);
  if (status == TT_OK && !tt_store_find_unsure(batch, &passed, unsure, any))
    status = no_memory(error);
  tt_list_free(&devices);
  tt_map_clear(&passed);
  return status;
}

tt_status tt_postgres_note_passed(tt_postgres *store, const tt_store_batch *batch,
                                  const tt_postgres_ids *known, tt_error *error) {
  tt_list sql = TT_LIST(char, NULL), passed = TT_LIST(tt_store_passed, NULL);
  bool noted = tt_store_find_passed(batch, &passed);
  tt_list_print(&sql, "INSERT INTO passed AS p VALUES ");
  for (uint32_t i = 0; i < passed.len; i++) {
    const tt_store_passed *one = &tt_list_at(&passed, tt_store_passed, i);
    tt_list_print(&sql, "%s(%d, %" PRId64 ", %" PRId64 ")", i ? ", " : "",
                  tt_postgres_get_id(&known->devices, one->device), batch->log, one->place);
  }
  tt_list_print(&sql,
                " ON CONFLICT (device, log)"
                " DO UPDATE SET place = greatest(p.place, excluded.place)");
  tt_status status = TT_OK;
  if (sql.failed || !noted)
    status = no_memory(error);
  else if (passed.len)
    status = tt_postgres_do(store, sql.data, error);
  tt_list_free(&sql);
  tt_list_free(&passed);
  return status;
}
