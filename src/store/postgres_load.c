/* postgres_load.c: what the database knows: all of it at the beginning, what is new whenever another collector has
 * made something known. While the database is away at the beginning, what the spool knows.
 */
#include "store/postgres_internal.h"

static char *text_or_null(const PGresult *result, int row, int column) {
  return PQgetisnull(result, row, column) ? NULL : PQgetvalue(result, row, column);
}

/** The database's ids of names, and the loader's indices. `indices`: id -> index + 1. */
static tt_status load_names(tt_postgres *store, bool devices, GHashTable *indices,
                            tt_error *error) {
  const tt_store_loader *loader = &store->loader;
  PGresult *result;
  TT_TRY(tt_postgres_query(store,
                           devices ? "SELECT id, identifier, name FROM device ORDER BY id"
                                   : "SELECT id, identifier, name FROM attribute ORDER BY id",
                           &result, error));
  for (int row = 0; row < PQntuples(result); row++) {
    int id = (int)tt_postgres_integer(result, row, 0);
    const char *identifier = PQgetvalue(result, row, 1);
    int index = (devices ? loader->device : loader->attribute)(loader->context, identifier,
                                                               text_or_null(result, row, 2));
    tt_catalogue_add_name(store->catalogue, devices, index, identifier);
    pthread_mutex_lock(&store->mutex);
    tt_postgres_set_id(devices ? store->known.devices : store->known.attributes, index, id);
    pthread_mutex_unlock(&store->mutex);
    g_hash_table_insert(indices, GINT_TO_POINTER(id), GINT_TO_POINTER(index + 1));
  }
  PQclear(result);
  return TT_OK;
}

static void clear_handling(gpointer item) { tt_handling_clear(item); }

/** `*taken`: the loader has no changes of its own that are still to be written. */
static tt_status load_handlings(tt_postgres *store, bool *taken, tt_error *error) {
  PGresult *result;
  TT_TRY(tt_postgres_query(
      store,
      "SELECT pattern, type, mode, unit, scale, \"offset\", min_interval, retention FROM handling",
      &result, error));
  GArray *all = g_array_new(FALSE, FALSE, sizeof(tt_handling));
  g_array_set_clear_func(all, clear_handling);
  for (int row = 0; row < PQntuples(result); row++) {
    tt_handling handling = {.pattern = g_strdup(PQgetvalue(result, row, 0)),
                            .type = (tt_value_type)tt_postgres_integer(result, row, 1),
                            .mode = (tt_value_mode)tt_postgres_integer(result, row, 2),
                            .unit = g_strdup(text_or_null(result, row, 3)),
                            .scale = g_ascii_strtod(PQgetvalue(result, row, 4), NULL),
                            .offset = g_ascii_strtod(PQgetvalue(result, row, 5), NULL),
                            .min_interval = g_ascii_strtod(PQgetvalue(result, row, 6), NULL),
                            .retention = g_ascii_strtod(PQgetvalue(result, row, 7), NULL)};
    g_array_append_val(all, handling);
  }
  *taken = store->loader.handlings(store->loader.context, all);
  g_array_unref(all);
  PQclear(result);
  return TT_OK;
}

static int index_of(GHashTable *indices, const PGresult *result, int row) {
  gpointer id = GINT_TO_POINTER((int)tt_postgres_integer(result, row, 0));
  return GPOINTER_TO_INT(g_hash_table_lookup(indices, id)) - 1;
}

/** Ids of devices that have a boot epoch of which nothing is known here, as PostgreSQL writes an array. */
static tt_status find_devices_with_news(tt_postgres *store, GHashTable *indices, GString *ids,
                                        tt_error *error) {
  PGresult *result;
  TT_TRY(tt_postgres_query(store, "SELECT device, max(epoch) FROM boot GROUP BY device", &result,
                           error));
  g_string_assign(ids, "{");
  for (int row = 0; row < PQntuples(result); row++) {
    int index = index_of(indices, result, row);
    if (index < 0 ||
        tt_postgres_integer(result, row, 1) <= tt_catalogue_newest_epoch(store->catalogue, index))
      continue;
    g_string_append_printf(ids, "%s%s", ids->len > 1 ? "," : "", PQgetvalue(result, row, 0));
  }
  g_string_append_c(ids, '}');
  PQclear(result);
  return TT_OK;
}

static tt_status load_epochs(tt_postgres *store, GHashTable *indices, const char *ids,
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
  for (int row = 0; row < PQntuples(result); row++) {
    tt_store_epoch epoch = {.device = index_of(indices, result, row),
                            .number = (int)tt_postgres_integer(result, row, 1),
                            .anchor = tt_postgres_integer(result, row, 2),
                            .offset_low = tt_postgres_integer(result, row, 3),
                            .offset_high = tt_postgres_integer(result, row, 4)};
    bool has_sample = !PQgetisnull(result, row, 5);
    tt_postgres_set_anchor(&store->known, epoch.device, epoch.number, epoch.anchor);
    tt_catalogue_add_epoch(store->catalogue, &epoch);
    store->loader.epoch(store->loader.context, &epoch, has_sample,
                        has_sample ? tt_postgres_integer(result, row, 5) : 0,
                        has_sample ? tt_postgres_integer(result, row, 6) : 0);
  }
  PQclear(result);
  return TT_OK;
}

static tt_status load_samples(tt_postgres *store, GHashTable *indices, const char *ids,
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

static tt_status load_boots(tt_postgres *store, GHashTable *indices, tt_error *error) {
  GString *ids = g_string_new(NULL);
  tt_status status = find_devices_with_news(store, indices, ids, error);
  if (status == TT_OK && ids->len > 2) {
    status = load_epochs(store, indices, ids->str, error);
    if (status == TT_OK) status = load_samples(store, indices, ids->str, error);
  }
  g_string_free(ids, TRUE);
  return status;
}

tt_status tt_postgres_load_news(tt_postgres *store, tt_error *error) {
  GHashTable *devices = g_hash_table_new(g_direct_hash, g_direct_equal);
  GHashTable *attributes = g_hash_table_new(g_direct_hash, g_direct_equal);
  bool taken = true;
  tt_status status = load_names(store, true, devices, error);
  if (status == TT_OK) status = load_names(store, false, attributes, error);
  if (status == TT_OK) status = load_handlings(store, &taken, error);
  if (status == TT_OK) status = load_boots(store, devices, error);
  if (status == TT_OK) store->stale = !taken;
  g_hash_table_unref(devices);
  g_hash_table_unref(attributes);
  return status;
}

/* --- the spool --- */

/** A boot epoch of which samples wait. */
typedef struct spooled_epoch {
  tt_store_epoch epoch;
  bool has_sample;
  int64_t device_time, time; /**< of its newest sample */
} spooled_epoch;

/** Tells names, and notes for each index of the batch's process what it is here. */
static void take_spooled_names(tt_postgres *store, bool devices, const GArray *names,
                               GArray *indices) {
  const tt_store_loader *loader = &store->loader;
  for (guint i = 0; i < names->len; i++) {
    const tt_store_name *name = &g_array_index(names, tt_store_name, i);
    if (tt_postgres_get_id(indices, name->index) && !name->name) continue;  // as before
    int index = (devices ? loader->device : loader->attribute)(loader->context, name->identifier,
                                                               name->name);
    tt_catalogue_add_name(store->catalogue, devices, index, name->identifier);
    tt_postgres_set_id(indices, name->index, index + 1);
  }
}

/** The entry of an epoch, made on first sight. */
static spooled_epoch *need_spooled_epoch(GArray *epochs, int device, int number) {
  for (guint i = epochs->len; i-- > 0;) {
    spooled_epoch *known = &g_array_index(epochs, spooled_epoch, i);
    if (known->epoch.device == device && known->epoch.number == number) return known;
  }
  spooled_epoch new = {.epoch = {.device = device, .number = number}};
  g_array_append_val(epochs, new);
  return &g_array_index(epochs, spooled_epoch, epochs->len - 1);
}

static void take_spooled_batch(tt_postgres *store, const tt_store_batch *batch, GArray *devices,
                               GArray *epochs) {
  for (guint i = 0; i < batch->epochs->len; i++) {
    tt_store_epoch epoch = g_array_index(batch->epochs, tt_store_epoch, i);
    epoch.device = tt_postgres_get_id(devices, epoch.device) - 1;
    if (epoch.device < 0) continue;
    tt_catalogue_add_epoch(store->catalogue, &epoch);
    need_spooled_epoch(epochs, epoch.device, epoch.number)->epoch = epoch;
  }
  for (guint i = 0; i < batch->samples->len; i++) {
    const tt_store_sample *sample = &g_array_index(batch->samples, tt_store_sample, i);
    int device = tt_postgres_get_id(devices, sample->device) - 1;
    if (device < 0) continue;
    spooled_epoch *of = need_spooled_epoch(epochs, device, sample->epoch);
    store->loader.sample(store->loader.context, device, sample->epoch, sample->device_time);
    if (of->has_sample && of->device_time > sample->device_time) continue;
    of->has_sample = true;
    of->device_time = sample->device_time;
    of->time = sample->time;
  }
}

static gint by_number(gconstpointer a, gconstpointer b) {
  const spooled_epoch *left = a, *right = b;
  return left->epoch.number - right->epoch.number;
}

tt_status tt_postgres_load_spooled(tt_postgres *store, tt_error *error) {
  GArray *epochs = g_array_new(FALSE, FALSE, sizeof(spooled_epoch));
  GArray *devices = g_array_new(FALSE, TRUE, sizeof(int));
  GArray *attributes = g_array_new(FALSE, TRUE, sizeof(int));
  tt_store_batch *batch = tt_store_batch_new();
  uint64_t position = 0, writer = 0, previous = 0;
  tt_status status;
  while ((status = tt_spool_look(store->spool, &position, &writer, batch, error)) == TT_OK) {
    if (writer != previous) {
      g_array_set_size(devices, 0);
      g_array_set_size(attributes, 0);
    }
    previous = writer;
    take_spooled_names(store, true, batch->devices, devices);
    take_spooled_names(store, false, batch->attributes, attributes);
    take_spooled_batch(store, batch, devices, epochs);
  }
  g_array_sort(epochs, by_number);
  for (guint i = 0; i < epochs->len; i++) {
    const spooled_epoch *told = &g_array_index(epochs, spooled_epoch, i);
    store->loader.epoch(store->loader.context, &told->epoch, told->has_sample, told->device_time,
                        told->time);
  }
  tt_store_batch_free(batch);
  g_array_unref(attributes);
  g_array_unref(devices);
  g_array_unref(epochs);
  return status == TT_NOT_FOUND ? TT_OK : status;
}
