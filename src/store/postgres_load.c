/* postgres_load.c: what the database knows: all of it at the beginning, what is new whenever another collector has
 * made something known. While the database is away at the beginning, what the spool knows.
 */
#include "store/postgres_internal.h"

#include <stdlib.h>

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

static char *text_or_null(const PGresult *result, int row, int column) {
  return PQgetisnull(result, row, column) ? NULL : PQgetvalue(result, row, column);
}

/** The database's ids of names, and the loader's indices. `indices`: index by id. */
static tt_status load_names(tt_postgres *store, bool devices, tt_map *indices, tt_error *error) {
  const tt_store_loader *loader = &store->loader;
  PGresult *result;
  TT_TRY(tt_postgres_query(store,
                           devices ? "SELECT id, identifier, name FROM device ORDER BY id"
                                   : "SELECT id, identifier, name FROM attribute ORDER BY id",
                           &result, error));
  bool noted = true;
  for (int row = 0; row < PQntuples(result) && noted; row++) {
    int id = (int)tt_postgres_integer(result, row, 0);
    const char *identifier = PQgetvalue(result, row, 1);
    int index = (devices ? loader->device : loader->attribute)(loader->context, identifier,
                                                               text_or_null(result, row, 2));
    noted = tt_catalogue_add_name(store->catalogue, devices, index, identifier);
    pthread_mutex_lock(&store->mutex);
    noted &=
        tt_postgres_set_id(devices ? &store->known.devices : &store->known.attributes, index, id);
    pthread_mutex_unlock(&store->mutex);
    noted &= tt_map_put(indices, (tt_map_key){id, 0}, index);
  }
  PQclear(result);
  return noted ? TT_OK : no_memory(error);
}

/** `*taken`: the loader has no changes of its own that are still to be written. */
static tt_status load_handlings(tt_postgres *store, bool *taken, tt_error *error) {
  PGresult *result;
  TT_TRY(tt_postgres_query(
      store,
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
  if (whole) *taken = store->loader.handlings(store->loader.context, &all);
  tt_list_free(&all);
  return whole ? TT_OK : no_memory(error);
}

/** −1: made known after the names were read. */
static int index_of(const tt_map *indices, const PGresult *result, int row) {
  const int64_t *index = tt_map_get(indices, (tt_map_key){tt_postgres_integer(result, row, 0), 0});
  return index ? (int)*index : -1;
}

/** Ids of devices that have a boot epoch of which nothing is known here, as PostgreSQL writes an array. */
static tt_status find_devices_with_news(tt_postgres *store, tt_map *indices, tt_list *ids,
                                        tt_error *error) {
  PGresult *result;
  TT_TRY(tt_postgres_query(store, "SELECT device, max(epoch) FROM boot GROUP BY device", &result,
                           error));
  const char *separator = "{";
  for (int row = 0; row < PQntuples(result); row++) {
    int index = index_of(indices, result, row);
    if (index < 0 ||
        tt_postgres_integer(result, row, 1) <= tt_catalogue_newest_epoch(store->catalogue, index))
      continue;
    tt_list_print(ids, "%s%s", separator, PQgetvalue(result, row, 0));
    separator = ",";
  }
  PQclear(result);
  if (ids->len) tt_list_print(ids, "}");
  return ids->failed ? no_memory(error) : TT_OK;
}

static tt_status load_epochs(tt_postgres *store, tt_map *indices, const char *ids,
                             tt_error *error) {
  PGresult *result;
  TT_TRY(tt_postgres_run(
      store->link,
      "SELECT b.device, b.epoch, b.anchor, b.offset_low, b.offset_high, v.device_time,"
      " (extract(epoch FROM v.time) * 1000000)::bigint FROM boot b LEFT JOIN LATERAL"
      " (SELECT device_time, time FROM value WHERE device = b.device AND epoch = b.epoch"
      "  ORDER BY device_time DESC LIMIT 1) v ON true"
      " WHERE b.epoch > (SELECT max(epoch) - 4 FROM boot WHERE device = b.device)"
      " AND b.device = ANY ($1) ORDER BY b.device, b.epoch",
      1, &ids, tt_postgres_deadline(store), &result, error));
  bool noted = true;
  for (int row = 0; row < PQntuples(result) && noted; row++) {
    tt_store_epoch epoch = {.device = index_of(indices, result, row),
                            .number = (int)tt_postgres_integer(result, row, 1),
                            .anchor = tt_postgres_integer(result, row, 2),
                            .offset_low = tt_postgres_integer(result, row, 3),
                            .offset_high = tt_postgres_integer(result, row, 4)};
    bool has_sample = !PQgetisnull(result, row, 5);
    noted = tt_postgres_set_anchor(&store->known, epoch.device, epoch.number, epoch.anchor) &&
            tt_catalogue_add_epoch(store->catalogue, &epoch);
    store->loader.epoch(store->loader.context, &epoch, has_sample,
                        has_sample ? tt_postgres_integer(result, row, 5) : 0,
                        has_sample ? tt_postgres_integer(result, row, 6) : 0);
  }
  PQclear(result);
  return noted ? TT_OK : no_memory(error);
}

static tt_status load_samples(tt_postgres *store, tt_map *indices, const char *ids,
                              tt_error *error) {
  PGresult *result;
  TT_TRY(tt_postgres_run(
      store->link,
      "SELECT b.device, b.epoch, v.device_time FROM (SELECT device, max(epoch) AS epoch FROM boot"
      "  WHERE device = ANY ($1) GROUP BY device) b CROSS JOIN LATERAL"
      " (SELECT DISTINCT device_time FROM value"
      "  WHERE device = b.device AND epoch = b.epoch ORDER BY device_time DESC LIMIT 500) v"
      " ORDER BY b.device, v.device_time",
      1, &ids, tt_postgres_deadline(store), &result, error));
  for (int row = 0; row < PQntuples(result); row++) {
    store->loader.sample(store->loader.context, index_of(indices, result, row),
                         (int)tt_postgres_integer(result, row, 1),
                         tt_postgres_integer(result, row, 2));
  }
  PQclear(result);
  return TT_OK;
}

static tt_status load_boots(tt_postgres *store, tt_map *indices, tt_error *error) {
  tt_list ids = TT_LIST(char, NULL);
  tt_status status = find_devices_with_news(store, indices, &ids, error);
  if (status == TT_OK && ids.len) {
    status = load_epochs(store, indices, ids.data, error);
    if (status == TT_OK) status = load_samples(store, indices, ids.data, error);
  }
  tt_list_free(&ids);
  return status;
}

tt_status tt_postgres_load_news(tt_postgres *store, tt_error *error) {
  tt_map devices = {0}, attributes = {0};
  bool taken = true;
  tt_status status = load_names(store, true, &devices, error);
  if (status == TT_OK) status = load_names(store, false, &attributes, error);
  if (status == TT_OK) status = load_handlings(store, &taken, error);
  if (status == TT_OK) status = load_boots(store, &devices, error);
  if (status == TT_OK) store->stale = !taken;
  tt_map_clear(&devices);
  tt_map_clear(&attributes);
  return status;
}

/* --- the spool --- */

/** A boot epoch of which samples wait. */
typedef struct spooled_epoch {
  tt_store_epoch epoch;
  bool has_sample;
  int64_t device_time, time; /**< of its newest sample */
} spooled_epoch;

/** What is gathered from the spool. */
typedef struct spooled {
  tt_list devices, attributes; /**< int: for each index of the batch's process, index + 1 here */
  tt_list epochs;              /**< spooled_epoch */
} spooled;

/** Tells names, and notes for each index of the batch's process what it is here. False: out of memory. */
static bool take_spooled_names(tt_postgres *store, bool devices, const tt_list *names,
                               tt_list *indices) {
  const tt_store_loader *loader = &store->loader;
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    if (tt_postgres_get_id(indices, name->index) && !name->name) continue;  // as before
    int index = (devices ? loader->device : loader->attribute)(loader->context, name->identifier,
                                                               name->name);
    if (!tt_catalogue_add_name(store->catalogue, devices, index, name->identifier) ||
        !tt_postgres_set_id(indices, name->index, index + 1))
      return false;
  }
  return true;
}

/** The entry of an epoch, made on first sight. NULL: out of memory. */
static spooled_epoch *need_spooled_epoch(tt_list *epochs, int device, int number) {
  for (uint32_t i = epochs->len; i-- > 0;) {
    spooled_epoch *known = &tt_list_at(epochs, spooled_epoch, i);
    if (known->epoch.device == device && known->epoch.number == number) return known;
  }
  spooled_epoch new = {.epoch = {.device = device, .number = number}};
  if (!tt_list_add(epochs, &new, 1)) return NULL;
  return &tt_list_at(epochs, spooled_epoch, epochs->len - 1);
}

static bool take_spooled_epochs(tt_postgres *store, const tt_store_batch *batch, spooled *all) {
  for (uint32_t i = 0; i < batch->epochs.len; i++) {
    tt_store_epoch epoch = tt_list_at(&batch->epochs, tt_store_epoch, i);
    epoch.device = tt_postgres_get_id(&all->devices, epoch.device) - 1;
    if (epoch.device < 0) continue;
    spooled_epoch *of = need_spooled_epoch(&all->epochs, epoch.device, epoch.number);
    if (!of || !tt_catalogue_add_epoch(store->catalogue, &epoch)) return false;
    of->epoch = epoch;
  }
  return true;
}

static bool take_spooled_samples(tt_postgres *store, const tt_store_batch *batch, spooled *all) {
  for (uint32_t i = 0; i < batch->samples.len; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    int device = tt_postgres_get_id(&all->devices, sample->device) - 1;
    if (device < 0) continue;
    spooled_epoch *of = need_spooled_epoch(&all->epochs, device, sample->epoch);
    if (!of) return false;
    store->loader.sample(store->loader.context, device, sample->epoch, sample->device_time);
    if (of->has_sample && of->device_time > sample->device_time) continue;
    of->has_sample = true;
    of->device_time = sample->device_time;
    of->time = sample->time;
  }
  return true;
}

static int by_number(const void *a, const void *b) {
  const spooled_epoch *left = a, *right = b;
  return left->epoch.number - right->epoch.number;
}

/** Everything that waits, batch by batch. */
static tt_status look_at_spool(tt_postgres *store, tt_store_batch *batch, spooled *all,
                               tt_error *error) {
  uint64_t position = 0, writer = 0, previous = 0;
  tt_status status;
  while ((status = tt_spool_look(store->spool, &position, &writer, batch, error)) == TT_OK) {
    if (writer != previous) {
      tt_list_cut(&all->devices, 0);
      tt_list_cut(&all->attributes, 0);
    }
    previous = writer;
    if (!take_spooled_names(store, true, &batch->devices, &all->devices) ||
        !take_spooled_names(store, false, &batch->attributes, &all->attributes) ||
        !take_spooled_epochs(store, batch, all) || !take_spooled_samples(store, batch, all))
      return no_memory(error);
  }
  return status == TT_NOT_FOUND ? TT_OK : status;
}

tt_status tt_postgres_load_spooled(tt_postgres *store, tt_error *error) {
  spooled all = {TT_LIST(int, NULL), TT_LIST(int, NULL), TT_LIST(spooled_epoch, NULL)};
  tt_store_batch *batch = tt_store_batch_new();
  tt_status status = batch ? look_at_spool(store, batch, &all, error) : no_memory(error);
  if (all.epochs.len) qsort(all.epochs.data, all.epochs.len, sizeof(spooled_epoch), by_number);
  for (uint32_t i = 0; i < all.epochs.len; i++) {
    const spooled_epoch *told = &tt_list_at(&all.epochs, spooled_epoch, i);
    store->loader.epoch(store->loader.context, &told->epoch, told->has_sample, told->device_time,
                        told->time);
  }
  tt_store_batch_free(batch);
  tt_list_free(&all.devices);
  tt_list_free(&all.attributes);
  tt_list_free(&all.epochs);
  return status;
}
