/* load.c: what the database knows: all of it at the beginning, what is new whenever another collector has
 * made something known.
 */
#include "store/postgres/internal.h"

#include <stdio.h>
#include <stdlib.h>

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

static char *text_or_null(const PGresult *result, int row, int column) {
  return PQgetisnull(result, row, column) ? NULL : PQgetvalue(result, row, column);
}

static tt_status query(const tt_postgres_teller *teller, const char *sql, PGresult **result,
                       tt_error *error) {
  return tt_postgres_run(teller->link, sql, 0, NULL, tt_monotonic_us() + teller->patience, result,
                         error);
}

/** False: out of memory. */
static bool note_id(tt_postgres_teller *teller, bool device, int index, int id) {
  if (teller->mutex) pthread_mutex_lock(teller->mutex);
  tt_postgres_ids *known = teller->known;
  bool noted = tt_postgres_set_id(device ? &known->devices : &known->attributes, index, id);
  if (teller->mutex) pthread_mutex_unlock(teller->mutex);
  return noted;
}

/** The database's ids of names, and the loader's indices. `indices`: index by id. */
static tt_status load_names(tt_postgres_teller *teller, bool devices, tt_map *indices,
                            tt_error *error) {
  const tt_store_loader *loader = teller->loader;
  PGresult *result;
  TT_TRY(query(teller,
               devices ? "SELECT id, identifier, name, removed FROM device ORDER BY id"
                       : "SELECT id, identifier, name, removed FROM attribute ORDER BY id",
               &result, error));
  bool noted = true;
  for (int row = 0; row < PQntuples(result) && noted; row++) {
    int id = (int)tt_postgres_integer(result, row, 0);
    const char *identifier = PQgetvalue(result, row, 1);
    bool removed = *PQgetvalue(result, row, 3) == 't';
    int index = (devices ? loader->device : loader->attribute)(
        loader->context, identifier, text_or_null(result, row, 2), &removed);
    if (teller->catalogue)
      noted = tt_catalogue_add_name(teller->catalogue, devices, index, removed ? NULL : identifier);
    noted &= note_id(teller, devices, index, id) && tt_map_put(indices, (tt_map_key){id, 0}, index);
  }
  PQclear(result);
  return noted ? TT_OK : no_memory(error);
}

static tt_status load_handlings(tt_postgres_teller *teller, bool *taken, tt_error *error) {
  PGresult *result;
  TT_TRY(query(
      teller,
      "SELECT pattern, type, mode, unit, scale, \"offset\", min_interval, retention FROM handling",
      &result, error));
  tt_list all = tt_handling_list();
  for (int row = 0; row < PQntuples(result); row++) {
    const tt_handling handling = {.pattern = PQgetvalue(result, row, 0),
                                  .type = (tt_value_type)tt_postgres_integer(result, row, 1),
                                  .mode = (tt_value_mode)tt_postgres_integer(result, row, 2),
                                  .unit = text_or_null(result, row, 3),
                                  .scale = strtod(PQgetvalue(result, row, 4), NULL),
                                  .offset = strtod(PQgetvalue(result, row, 5), NULL),
                                  .min_interval = strtod(PQgetvalue(result, row, 6), NULL),
                                  .retention = strtod(PQgetvalue(result, row, 7), NULL)};
    tt_store_add_handling(&all, &handling);
  }
  PQclear(result);
  bool whole = !all.failed;
  if (whole) *taken = teller->loader->handlings(teller->loader->context, &all);
  tt_list_free(&all);
  return whole ? TT_OK : no_memory(error);
}

/** −1: there is no such device. */
static int index_of(const tt_map *indices, const PGresult *result, int row) {
  const int64_t *index = tt_map_get(indices, (tt_map_key){tt_postgres_integer(result, row, 0), 0});
  return index ? (int)*index : -1;
}

/** Pairs that were added since the last time. */
static tt_status ask_pairs(const tt_postgres_teller *teller, PGresult **result, tt_error *error) {
  return tt_postgres_runf(teller->link, tt_monotonic_us() + teller->patience, result, error,
                          "SELECT device, attribute, added FROM pair WHERE added > %" PRId64
                          " ORDER BY added",
                          teller->pairs);
}

static void tell_pairs(tt_postgres_teller *teller, const tt_map *devices, const tt_map *attributes,
                       const PGresult *result) {
  for (int row = 0; row < PQntuples(result); row++) {
    const tt_map_key id = {tt_postgres_integer(result, row, 1), 0};
    const int64_t *attribute = tt_map_get(attributes, id);
    const int device = index_of(devices, result, row);
    if (device >= 0 && attribute)
      teller->loader->pair(teller->loader->context, device, (int)*attribute);
    teller->pairs = tt_postgres_integer(result, row, 2);
  }
}

/** Names with their pairs, which are asked first: a name without any is one that nobody uses. */
static tt_status load_used_names(tt_postgres_teller *teller, tt_map *devices, tt_map *attributes,
                                 tt_error *error) {
  PGresult *pairs;
  TT_TRY(ask_pairs(teller, &pairs, error));
  tt_status status = load_names(teller, true, devices, error);
  if (status == TT_OK) status = load_names(teller, false, attributes, error);
  if (status == TT_OK) tell_pairs(teller, devices, attributes, pairs);
  PQclear(pairs);
  return status;
}

/** Epochs `b` with their newest samples… */
#define BOOTS                                                                                      \
  "SELECT b.device, b.epoch, b.anchor, b.offset_low, b.offset_high, b.key, b.boot,"                \
  " v.device_time, (extract(epoch FROM v.time) * 1000000)::bigint FROM boot b LEFT JOIN LATERAL"   \
  " (SELECT device_time, time FROM any_value WHERE device = b.device AND epoch = b.epoch"          \
  "  ORDER BY device_time DESC LIMIT 1) v ON true WHERE "
/** …of each device the latest. */
#define LATEST "b.epoch > (SELECT max(epoch) - 4 FROM boot WHERE device = b.device)"

static tt_store_boot read_boot(const PGresult *result, int row, int index) {
  bool has_sample = !PQgetisnull(result, row, 7);
  tt_store_boot boot = {.epoch = {.device = index,
                                  .number = (int)tt_postgres_integer(result, row, 1),
                                  .anchor = tt_postgres_integer(result, row, 2),
                                  .offset_low = tt_postgres_integer(result, row, 3),
                                  .offset_high = tt_postgres_integer(result, row, 4),
                                  .key = tt_postgres_integer(result, row, 5)},
                        .has_sample = has_sample,
                        .device_time = has_sample ? tt_postgres_integer(result, row, 7) : 0,
                        .time = has_sample ? tt_postgres_integer(result, row, 8) : 0};
  snprintf(boot.epoch.boot, sizeof boot.epoch.boot, "%s", PQgetvalue(result, row, 6));
  return boot;
}

tt_status tt_postgres_load_boots(tt_postgres_link *link, int id, int index, int number,
                                 int64_t deadline, tt_list *boots, tt_error *error) {
  PGresult *result;
  TT_TRY(tt_postgres_runf(link, deadline, &result, error,
                          BOOTS "b.device = %d AND (" LATEST " OR b.epoch = %d) ORDER BY b.epoch",
                          id, number));
  for (int row = 0; row < PQntuples(result); row++) {
    const tt_store_boot boot = read_boot(result, row, index);
    tt_list_add(boots, &boot, 1);
  }
  PQclear(result);
  return boots->failed ? no_memory(error) : TT_OK;
}

/** Tells epochs that were added since the last time. */
static tt_status load_epochs(tt_postgres_teller *teller, const tt_map *indices, tt_error *error) {
  PGresult *result;
  TT_TRY(query(teller, "SELECT coalesce(max(added), 0) FROM boot", &result, error));
  const int64_t added = tt_postgres_integer(result, 0, 0);
  PQclear(result);
  if (added == teller->epochs) return TT_OK;
  TT_TRY(tt_postgres_runf(teller->link, tt_monotonic_us() + teller->patience, &result, error,
                          BOOTS "b.added > %" PRId64 " AND " LATEST " ORDER BY b.device, b.epoch",
                          teller->epochs));
  for (int row = 0; row < PQntuples(result); row++) {
    const int index = index_of(indices, result, row);
    if (index < 0) continue;
    const tt_store_boot boot = read_boot(result, row, index);
    teller->loader->epoch(teller->loader->context, &boot);
  }
  PQclear(result);
  teller->epochs = added;
  return TT_OK;
}

tt_status tt_postgres_tell(tt_postgres_teller *teller, bool *taken, tt_error *error) {
  tt_map devices = {0}, attributes = {0};
  tt_status status = load_used_names(teller, &devices, &attributes, error);
  if (status == TT_OK) status = load_handlings(teller, taken, error);
  if (status == TT_OK) status = load_epochs(teller, &devices, error);
  tt_map_clear(&devices);
  tt_map_clear(&attributes);
  return status;
}

tt_status tt_postgres_load_news(tt_postgres *store, tt_error *error) {
  bool taken;
  tt_postgres_teller teller = {
      .link = store->link,
      .loader = &store->loader,
      .known = &store->known,
      .mutex = &store->mutex,
      .catalogue = store->catalogue,
      .patience = atomic_load(&store->hurried) ? HURRIED_DEADLINE : STATEMENT_DEADLINE,
      .epochs = store->told_epochs,
      .pairs = store->told_pairs};
  // Of one moment: what came between two queries would be known in part, and never whole.
  TT_TRY(tt_postgres_do(store, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", error));
  tt_status status = tt_postgres_tell(&teller, &taken, error);
  const tt_status ended = tt_postgres_do(store, "COMMIT", status == TT_OK ? error : NULL);
  if (status == TT_OK) status = ended;
  store->told_epochs = teller.epochs;
  store->told_pairs = teller.pairs;
  if (status == TT_OK) store->stale = !taken;
  return status;
}
