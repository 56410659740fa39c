/* postgres_load.c: what the database knows: all of it at the beginning, what is new whenever another collector has
 * made something known. While the database is away at the beginning, what the spool knows.
 */
#include "store/postgres_internal.h"

#include <stdio.h>
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
                           devices
                               ? "SELECT id, identifier, name, removed FROM device ORDER BY id"
                               : "SELECT id, identifier, name, removed FROM attribute ORDER BY id",
                           &result, error));
  bool noted = true;
  for (int row = 0; row < PQntuples(result) && noted; row++) {
    int id = (int)tt_postgres_integer(result, row, 0);
    const char *identifier = PQgetvalue(result, row, 1);
    bool removed = *PQgetvalue(result, row, 3) == 't';
    int index = (devices ? loader->device : loader->attribute)(
        loader->context, identifier, text_or_null(result, row, 2), &removed);
    noted = tt_catalogue_add_name(store->catalogue, devices, index, removed ? NULL : identifier);
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

/** Tells pairs that were added since the last time. */
static tt_status load_pairs(tt_postgres *store, const tt_map *devices, const tt_map *attributes,
                            tt_error *error) {
  PGresult *result;
  TT_TRY(tt_postgres_runf(store->link, tt_postgres_deadline(store), &result, error,
                          "SELECT device, attribute, added FROM pair WHERE added > %" PRId64
                          " ORDER BY added",
                          store->loaded_pairs));
  for (int row = 0; row < PQntuples(result); row++) {
    const tt_map_key id = {tt_postgres_integer(result, row, 1), 0};
    const int64_t *attribute = tt_map_get(attributes, id);
    const int device = index_of(devices, result, row);
    if (device >= 0 && attribute)
      store->loader.pair(store->loader.context, device, (int)*attribute);
    store->loaded_pairs = tt_postgres_integer(result, row, 2);
  }
  PQclear(result);
  return TT_OK;
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
static tt_status load_epochs(tt_postgres *store, const tt_map *indices, tt_error *error) {
  PGresult *result;
  TT_TRY(tt_postgres_query(store, "SELECT coalesce(max(added), 0) FROM boot", &result, error));
  const int64_t added = tt_postgres_integer(result, 0, 0);
  PQclear(result);
  if (added == store->loaded) return TT_OK;
  TT_TRY(tt_postgres_runf(store->link, tt_postgres_deadline(store), &result, error,
                          BOOTS "b.added > %" PRId64 " AND " LATEST " ORDER BY b.device, b.epoch",
                          store->loaded));
  for (int row = 0; row < PQntuples(result); row++) {
    const int index = index_of(indices, result, row);
    if (index < 0) continue;
    const tt_store_boot boot = read_boot(result, row, index);
    store->loader.epoch(store->loader.context, &boot);
  }
  PQclear(result);
  store->loaded = added;
  return TT_OK;
}

tt_status tt_postgres_load_news(tt_postgres *store, tt_error *error) {
  tt_map devices = {0}, attributes = {0};
  bool taken = true;
  tt_status status = load_names(store, true, &devices, error);
  if (status == TT_OK) status = load_names(store, false, &attributes, error);
  if (status == TT_OK) status = load_pairs(store, &devices, &attributes, error);
  if (status == TT_OK) status = load_handlings(store, &taken, error);
  if (status == TT_OK) status = load_epochs(store, &devices, error);
  if (status == TT_OK) store->stale = !taken;
  tt_map_clear(&devices);
  tt_map_clear(&attributes);
  return status;
}

/* --- the spool --- */

/** What is gathered from the spool. */
typedef struct spooled {
  tt_list devices, attributes; /**< int: for each index of the batch's process, index + 1 here */
  tt_list boots;               /**< tt_store_boot: epochs of which samples wait */
  tt_map places;               /**< device, key → index in `boots` */
  tt_map keys;                 /**< device and number in the batch's process → key */
} spooled;

/** Tells names, and notes for each index of the batch's process what it is here. False: out of memory. */
static bool take_spooled_names(tt_postgres *store, bool devices, const tt_list *names,
                               tt_list *indices) {
  const tt_store_loader *loader = &store->loader;
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    if (tt_postgres_get_id(indices, name->index) && !name->name && name->state == TT_NAME_KNOWN)
      continue;  // as before
    bool removed = name->state == TT_NAME_REMOVED;
    int index = (devices ? loader->device : loader->attribute)(loader->context, name->identifier,
                                                               name->name, &removed);
    if (!tt_catalogue_add_name(store->catalogue, devices, index,
                               removed ? NULL : name->identifier) ||
        !tt_postgres_set_id(indices, name->index, index + 1))
      return false;
  }
  return true;
}

static bool take_spooled_epochs(const tt_store_batch *batch, spooled *all) {
  for (uint32_t i = 0; i < batch->epochs.len; i++) {
    tt_store_boot boot = {.epoch = tt_list_at(&batch->epochs, tt_store_epoch, i)};
    const tt_map_key number = {boot.epoch.device, boot.epoch.number};
    boot.epoch.device = tt_postgres_get_id(&all->devices, boot.epoch.device) - 1;
    if (boot.epoch.device < 0) continue;
    const tt_map_key key = {boot.epoch.device, boot.epoch.key};
    if (!tt_map_put(&all->keys, number, boot.epoch.key)) return false;
    const int64_t *place = tt_map_get(&all->places, key);
    if (place) {
      tt_list_at(&all->boots, tt_store_boot, *place).epoch = boot.epoch;
    } else if (!tt_map_put(&all->places, key, all->boots.len) ||
               !tt_list_add(&all->boots, &boot, 1)) {
      return false;
    }
  }
  return true;
}

/** Tells a message of `count` samples whose attributes are ours. */
static void take_spooled_message(tt_postgres *store, const tt_store_batch *batch, spooled *all,
                                 uint32_t first, uint32_t count) {
  const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, first);
  const int device = tt_postgres_get_id(&all->devices, sample->device) - 1;
  const int64_t *key = tt_map_get(&all->keys, (tt_map_key){sample->device, sample->epoch});
  const int64_t *place = key ? tt_map_get(&all->places, (tt_map_key){device, *key}) : NULL;
  if (device < 0 || !place) return;
  tt_store_boot *boot = &tt_list_at(&all->boots, tt_store_boot, *place);
  int64_t last = INT64_MIN;
  for (uint32_t i = first; i < first + count; i++) {
    sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    if (sample->device_time > last) last = sample->device_time;
    if (boot->has_sample && boot->device_time > sample->device_time) continue;
    boot->has_sample = true;
    boot->device_time = sample->device_time;
    boot->time = sample->time;
  }
  store->loader.spooled(store->loader.context, device, *key, last,
                        tt_store_content(batch, first, count));
}

static void take_spooled_samples(tt_postgres *store, tt_store_batch *batch, spooled *all) {
  for (uint32_t i = 0; i < batch->values.len; i++) {
    tt_store_value *value = &tt_list_at(&batch->values, tt_store_value, i);
    value->attribute = tt_postgres_get_id(&all->attributes, value->attribute) - 1;
  }
  for (uint32_t i = 0, count; i < batch->samples.len; i += count) {
    count = tt_store_message_size(batch, i);
    take_spooled_message(store, batch, all, i, count);
  }
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
      tt_map_clear(&all->keys);
    }
    previous = writer;
    if (!take_spooled_names(store, true, &batch->devices, &all->devices) ||
        !take_spooled_names(store, false, &batch->attributes, &all->attributes) ||
        !take_spooled_epochs(batch, all))
      return no_memory(error);
    take_spooled_samples(store, batch, all);
  }
  return status == TT_END ? TT_OK : status;
}

static int by_number(const void *a, const void *b) {
  const tt_store_boot *left = a, *right = b;
  return left->epoch.number - right->epoch.number;
}

tt_status tt_postgres_load_spooled(tt_postgres *store, tt_error *error) {
  spooled all = {.devices = TT_LIST(int, NULL),
                 .attributes = TT_LIST(int, NULL),
                 .boots = TT_LIST(tt_store_boot, NULL)};
  tt_store_batch *batch = tt_store_batch_new();
  tt_status status = batch ? look_at_spool(store, batch, &all, error) : no_memory(error);
  if (all.boots.len) qsort(all.boots.data, all.boots.len, sizeof(tt_store_boot), by_number);
  for (uint32_t i = 0; i < all.boots.len; i++)
    store->loader.epoch(store->loader.context, &tt_list_at(&all.boots, tt_store_boot, i));
  tt_store_batch_free(batch);
  tt_list_free(&all.devices);
  tt_list_free(&all.attributes);
  tt_list_free(&all.boots);
  tt_map_clear(&all.places);
  tt_map_clear(&all.keys);
  return status;
}
