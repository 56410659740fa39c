/* ranges.c: ranges of epochs that grow, though nothing else of a batch is new. */
#include "store/postgres/internal.h"

/** Notes what the database has now. */
static void note_widened(tt_postgres *store, const PGresult *result) {
  const int rows = PQntuples(result);
  for (int row = 0; row < rows; row++) {
    const tt_store_epoch there = {.number = (int)tt_postgres_integer(result, row, 2),
                                  .anchor = tt_postgres_integer(result, row, 3),
                                  .offset_low = tt_postgres_integer(result, row, 4),
                                  .offset_high = tt_postgres_integer(result, row, 5)};
    tt_postgres_defined_epoch(&store->defined, (int)tt_postgres_integer(result, row, 0),
                              tt_postgres_integer(result, row, 1), &there);
  }
}

/** Widens ranges in a transaction of its own: wider than what is stored does no harm, and whoever widens waits for nobody who stores.
 *  It is on the disk when the values are, since what is committed later is. `rows` may name an epoch more than once: its range grew
 *  more than once since the last batch, and UPDATE would take one of them. */
static tt_status widen(tt_postgres *store, const tt_list *rows, tt_error *error) {
  tt_list sql = TT_LIST(char, NULL);
  tt_list_print(&sql,
                "BEGIN; SET LOCAL synchronous_commit = off;"
                " SELECT pg_advisory_xact_lock(" TT_POSTGRES_RANGES_LOCK
                "); UPDATE boot b SET offset_low = least(b.offset_low, w.low),"
                " offset_high = greatest(b.offset_high, w.high) FROM"
                " (SELECT device, key, min(low) AS low, max(high) AS high"
                "  FROM (VALUES %s) v (device, key, low, high) GROUP BY device, key) w"
                " WHERE b.device = w.device AND b.key = w.key"
                " RETURNING b.device, b.key, b.epoch, b.anchor, b.offset_low, b.offset_high",
                (const char *)rows->data);
  PGresult *result;
  tt_status status = sql.failed ? tt_fail(error, TT_NOMEM, "out of memory")
                                : tt_postgres_query(store, sql.data, &result, error);
  tt_list_free(&sql);
  TT_TRY(status);
  note_widened(store, result);
  PQclear(result);
  return tt_postgres_do(store, "COMMIT", error);
}

static bool any_outgrows(const tt_postgres *store, const tt_store_batch *batch,
                         const tt_postgres_ids *known) {
  for (uint32_t i = 0; i < batch->epochs.len; i++) {
    if (tt_postgres_outgrows(store, &tt_list_at(&batch->epochs, tt_store_epoch, i), known))
      return true;
  }
  return false;
}

tt_status tt_postgres_widen(tt_postgres *store, const tt_store_batch *batch,
                            const tt_postgres_ids *known, tt_error *error) {
  tt_list rows = TT_LIST(char, NULL);
  uint32_t count = 0;
  for (uint32_t i = 0; i < batch->epochs.len; i++) {
    const tt_store_epoch *epoch = &tt_list_at(&batch->epochs, tt_store_epoch, i);
    if (!tt_postgres_outgrows(store, epoch, known)) continue;
    tt_list_print(&rows,
                  "%s(%d, '%" PRId64 "'::bigint, '%" PRId64 "'::bigint, '%" PRId64 "'::bigint)",
                  count++ ? ", " : "", tt_postgres_get_id(&known->devices, epoch->device),
                  epoch->key, epoch->offset_low, epoch->offset_high);
  }
  tt_status status = TT_OK;
  if (rows.failed)
    status = tt_fail(error, TT_NOMEM, "out of memory");
  else if (count)
    status = widen(store, &rows, error);
  tt_list_free(&rows);
  TT_TRY(status);
  return any_outgrows(store, batch, known)
             ? tt_fail(error, TT_FAILED, "postgresql: an epoch is gone that was there")
             : TT_OK;
}
