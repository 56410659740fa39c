/* passed.c: how far in a log messages of a device were stored that its device may have sent again. What was put there before them, and
 * comes behind them, was overtaken: by another writer, or because the log gave it once more.
 *
 * Who stores such a message has the database alone, so whoever reads this with the lock in hand sees all that was stored before.
 */
#include "store/postgres/internal.h"

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

static bool is_of_log(const tt_store_batch *batch) {
  for (uint32_t i = 0; i < batch->samples.len; i++)
    if (tt_list_at(&batch->samples, tt_store_sample, i).place) return true;
  return false;
}

/** What the database has of the batch's devices: the database's id → place. */
static tt_status read_passed(tt_postgres *store, const tt_store_batch *batch,
                             const tt_postgres_ids *known, tt_map *passed, tt_error *error) {
  tt_map asked = {0};
  tt_list sql = TT_LIST(char, NULL);
  bool noted = tt_list_print(
      &sql, "SELECT device, place FROM passed WHERE log = %" PRId64 " AND device IN (", batch->log);
  for (uint32_t i = 0; i < batch->samples.len && noted; i++) {
    const int device = tt_list_at(&batch->samples, tt_store_sample, i).device;
    if (tt_map_get(&asked, (tt_map_key){device, 0})) continue;
    noted = tt_list_print(&sql, "%s%d", asked.count ? ", " : "",
                          tt_postgres_get_id(&known->devices, device)) &&
            tt_map_put(&asked, (tt_map_key){device, 0}, 1);
  }
  tt_map_clear(&asked);
  PGresult *result;
  tt_status status = noted && tt_list_print(&sql, ")")
                         ? tt_postgres_query(store, sql.data, &result, error)
                         : no_memory(error);
  tt_list_free(&sql);
  TT_TRY(status);
  for (int row = 0; row < PQntuples(result) && noted; row++)
    noted = tt_map_put(passed, (tt_map_key){tt_postgres_integer(result, row, 0), 0},
                       tt_postgres_integer(result, row, 1));
  PQclear(result);
  return noted ? TT_OK : no_memory(error);
}

tt_status tt_postgres_find_unsure(tt_postgres *store, const tt_store_batch *batch,
                                  const tt_postgres_ids *known, tt_list *unsure, bool *any,
                                  tt_error *error) {
  tt_map passed = {0};
  bool noted = tt_list_fill(unsure, batch->samples.len);
  tt_status status = noted ? TT_OK : no_memory(error);
  if (status == TT_OK && is_of_log(batch))
    status = read_passed(store, batch, known, &passed, error);
  *any = false;
  for (uint32_t i = 0; i < batch->samples.len && status == TT_OK; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    const tt_map_key key = {tt_postgres_get_id(&known->devices, sample->device), 0};
    const int64_t *before = tt_map_get(&passed, key);
    bool says_so = sample->flags & TT_SAMPLE_UNSURE;
    bool overtaken = sample->place && before && *before > sample->after;
    tt_list_at(unsure, char, i) = says_so || overtaken;
    *any |= says_so || overtaken;
    if (says_so && sample->place > (before ? *before : 0))
      status = tt_map_put(&passed, key, sample->place) ? TT_OK : no_memory(error);
  }
  tt_map_clear(&passed);
  return status;
}

/** How far a device's messages of a batch reach. */
typedef struct reach {
  int device; /**< the database's */
  int64_t place;
} reach;

/** One for each device of which some may be repeats: a batch has thousands of samples of one. False: out of memory. */
static bool find_reaches(const tt_store_batch *batch, const tt_postgres_ids *known,
                         tt_list *reaches) {
  tt_map places = {0};
  bool noted = true;
  for (uint32_t i = 0; i < batch->samples.len && noted; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    if (!(sample->flags & TT_SAMPLE_UNSURE) || !sample->place) continue;
    const tt_map_key key = {sample->device, 0};
    const reach added = {tt_postgres_get_id(&known->devices, sample->device), sample->place};
    const int64_t *at = tt_map_get(&places, key);
    reach *there = at ? &tt_list_at(reaches, reach, *at) : NULL;
    if (there && there->place < sample->place) there->place = sample->place;
    if (!there) noted = tt_map_put(&places, key, reaches->len) && tt_list_add(reaches, &added, 1);
  }
  tt_map_clear(&places);
  return noted;
}

tt_status tt_postgres_note_passed(tt_postgres *store, const tt_store_batch *batch,
                                  const tt_postgres_ids *known, tt_error *error) {
  tt_list sql = TT_LIST(char, NULL), reaches = TT_LIST(reach, NULL);
  bool noted = find_reaches(batch, known, &reaches);
  tt_list_print(&sql,
                "INSERT INTO passed AS p SELECT device, %" PRId64 ", max(place) FROM (VALUES ",
                batch->log);
  for (uint32_t i = 0; i < reaches.len; i++) {
    const reach *one = &tt_list_at(&reaches, reach, i);
    tt_list_print(&sql, "%s(%d, %" PRId64 "::bigint)", i ? ", " : "", one->device, one->place);
  }
  tt_list_print(&sql,
                ") v (device, place) GROUP BY device ON CONFLICT (device, log)"
                " DO UPDATE SET place = greatest(p.place, excluded.place)");
  tt_status status = TT_OK;
  if (sql.failed || !noted)
    status = no_memory(error);
  else if (reaches.len)
    status = tt_postgres_do(store, sql.data, error);
  tt_list_free(&sql);
  tt_list_free(&reaches);
  return status;
}
