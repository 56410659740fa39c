/* load.c: what the database knows: all of it at the beginning, what is new whenever another collector has made something known. */
#include "store/clickhouse/internal.h"

#include <stdio.h>
#include <stdlib.h>

/** Epochs of a device that are told: the latest. */
#define LATEST 4
/** µs: changes that may have been made at once with the last one that was seen, and are told once more. */
#define OVERLAP (10 * SECOND)

tt_status tt_clickhouse_last_change(const tt_clickhouse_source *source, int64_t *change,
                                    tt_error *error) {
  tt_list answer = TT_LIST(char, NULL);
  tt_status status = tt_clickhouse_ask(
      source->link,
      "SELECT max(at) FROM (SELECT max(at) AS at FROM name UNION ALL SELECT max(at) AS at FROM pair"
      " UNION ALL SELECT max(at) AS at FROM handling"
      " UNION ALL SELECT maxIf(at, is_new) AS at FROM boot)",
      NULL, &answer, error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  if (status == TT_OK) {
    *change = tt_clickhouse_get_long(&rows);
    status = tt_clickhouse_check(&rows, error);
  }
  tt_list_free(&answer);
  return status;
}

/** What is told at once. */
typedef struct telling {
  tt_clickhouse_teller *teller;
  tt_map devices, attributes; /**< id → index */
  tt_map removed;             /**< kind, id → the change by which it was removed, or used again */
  tt_list answer, texts;
} telling;

static tt_status ask(telling *all, const char *sql, tt_clickhouse_rows *rows, tt_error *error) {
  tt_status status = tt_clickhouse_ask(all->teller->source.link, sql, NULL, &all->answer, error);
  *rows = tt_clickhouse_rows_of(&all->answer);
  return status;
}

static tt_status end_rows(const telling *all, const tt_clickhouse_rows *rows, tt_error *error) {
  return all->texts.failed ? tt_clickhouse_no_memory(error) : tt_clickhouse_check(rows, error);
}

/* --- names --- */

/** False: out of memory. */
static bool note_name(telling *all, bool device, int index, uint64_t id, const char *identifier,
                      bool removed) {
  tt_clickhouse_teller *teller = all->teller;
  tt_clickhouse_ids *known = teller->known;
  if (teller->mutex) pthread_mutex_lock(teller->mutex);
  bool noted = tt_clickhouse_set_id(device ? &known->devices : &known->attributes, index, id);
  if (teller->mutex) pthread_mutex_unlock(teller->mutex);
  if (teller->store)
    noted &= tt_catalogue_add_name(teller->store->catalogue, device, index,
                                   removed ? NULL : identifier) &&
             tt_map_put(&teller->store->names, (tt_map_key){!device, (int64_t)id}, 1);
  return noted &&
         tt_map_put(device ? &all->devices : &all->attributes, (tt_map_key){(int64_t)id, 0}, index);
}

/** The row in hand. False: out of memory. */
static bool tell_name(telling *all, tt_clickhouse_rows *rows) {
  const tt_store_loader *loader = all->teller->loader;
  tt_list_cut(&all->texts, 0);
  const bool device = !tt_clickhouse_get_byte(rows);
  const uint64_t id = tt_clickhouse_get_unsigned(rows);
  const uint32_t identifier_at = tt_clickhouse_get_text(rows, &all->texts);
  const uint32_t name_at = tt_clickhouse_get_text(rows, &all->texts);
  const uint32_t removed_at = tt_clickhouse_get_text(rows, &all->texts);
  const int64_t change = tt_clickhouse_get_long(rows);
  if (rows->failed || all->texts.failed) return !all->texts.failed;
  const char *texts = all->texts.data, *name = texts + name_at;
  bool removed = texts[removed_at] == '1';
  if (change && !tt_map_put(&all->removed, (tt_map_key){!device, (int64_t)id}, change))
    return false;
  const int index = (device ? loader->device : loader->attribute)(
      loader->context, texts + identifier_at, *name ? name : NULL, &removed);
  return note_name(all, device, index, id, texts + identifier_at, removed);
}

static tt_status tell_names(telling *all, tt_error *error) {
  tt_clickhouse_rows rows;
  TT_TRY(ask(all,
             "SELECT kind, id, identifier, argMaxIf(text, version, fact = 1),"
             " argMaxIf(text, version, fact = 2), maxIf(at, fact = 2) FROM name"
             " GROUP BY kind, id, identifier ORDER BY kind, minIf(at, fact = 0), identifier",
             &rows, error));
  while (tt_clickhouse_has_row(&rows))
    if (!tell_name(all, &rows)) return tt_clickhouse_no_memory(error);
  return end_rows(all, &rows, error);
}

/* --- pairs and handling --- */

static int64_t removed_at(const telling *all, bool device, int64_t id) {
  const int64_t *change = tt_map_get(&all->removed, (tt_map_key){!device, id});
  return change ? *change : INT64_MIN;
}

static tt_status tell_pairs(telling *all, tt_error *error) {
  tt_clickhouse_rows rows;
  char sql[160];
  snprintf(sql, sizeof sql,
           "SELECT device, attribute, max(at) AS change FROM pair GROUP BY device, attribute"
           " HAVING change > %" PRId64 " ORDER BY change",
           tt_saturating_sub(all->teller->told, OVERLAP));
  TT_TRY(ask(all, sql, &rows, error));
  while (tt_clickhouse_has_row(&rows)) {
    const int64_t device = tt_clickhouse_get_long(&rows), attribute = tt_clickhouse_get_long(&rows);
    const int64_t change = tt_clickhouse_get_long(&rows);
    const int64_t *device_index = tt_map_get(&all->devices, (tt_map_key){device, 0});
    const int64_t *attribute_index = tt_map_get(&all->attributes, (tt_map_key){attribute, 0});
    if (rows.failed || !device_index || !attribute_index ||
        change < removed_at(all, true, device) || change < removed_at(all, false, attribute))
      continue;
    const tt_store_loader *loader = all->teller->loader;
    loader->pair(loader->context, (int)*device_index, (int)*attribute_index);
  }
  return end_rows(all, &rows, error);
}

static void take_handling(telling *all, tt_clickhouse_rows *rows, tt_list *handlings) {
  tt_list_cut(&all->texts, 0);
  tt_handling handling = {0};
  const uint32_t pattern = tt_clickhouse_get_text(rows, &all->texts);
  handling.removed = tt_clickhouse_get_byte(rows);
  handling.type = (tt_value_type)tt_clickhouse_get_byte(rows);
  handling.mode = (tt_value_mode)tt_clickhouse_get_byte(rows);
  const bool has_unit = tt_clickhouse_get_byte(rows);
  const uint32_t unit = tt_clickhouse_get_text(rows, &all->texts);
  handling.scale = tt_clickhouse_get_double(rows);
  handling.offset = tt_clickhouse_get_double(rows);
  handling.min_interval = tt_clickhouse_get_double(rows);
  handling.retention = tt_clickhouse_get_double(rows);
  if (rows->failed || all->texts.failed || handling.removed || handling.type > TT_VALUE_FLAG ||
      handling.mode > TT_MODE_IGNORE)
    return;
  char *texts = all->texts.data;
  handling.pattern = texts + pattern;
  handling.unit = has_unit ? texts + unit : NULL;
  tt_store_add_handling(handlings, &handling);
}

static tt_status tell_handlings(telling *all, bool *taken, tt_error *error) {
  const tt_store_loader *loader = all->teller->loader;
  tt_clickhouse_rows rows;
  TT_TRY(ask(all,
             "SELECT pattern, removed, type, mode, has_unit, unit, scale, offset, min_interval,"
             " retention FROM handling FINAL ORDER BY pattern",
             &rows, error));
  tt_list handlings = tt_handling_list();
  while (tt_clickhouse_has_row(&rows)) take_handling(all, &rows, &handlings);
  tt_status status = end_rows(all, &rows, error);
  if (status == TT_OK && handlings.failed) status = tt_clickhouse_no_memory(error);
  if (status == TT_OK) *taken = loader->handlings(loader->context, &handlings);
  tt_list_free(&handlings);
  return status;
}

/* --- epochs --- */

/** Of each device the latest that are new. */
static bool choose_boots(const telling *all, const tt_list *boots, tt_list *devices,
                         tt_list *latest) {
  const int64_t since = tt_saturating_sub(all->teller->told, OVERLAP);
  for (uint32_t i = 0; i < boots->len; i++) {
    const tt_clickhouse_boot *boot = &tt_list_at(boots, tt_clickhouse_boot, i);
    const bool is_latest = i + LATEST >= boots->len ||
                           tt_list_at(boots, tt_clickhouse_boot, i + LATEST).device != boot->device;
    if (!is_latest || boot->at <= since) continue;
    tt_store_boot told = {.epoch = boot->epoch};
    told.epoch.device = (int)devices->len;
    tt_list_add(devices, &boot->device, 1);
    tt_list_add(latest, &told, 1);
  }
  return !devices->failed && !latest->failed;
}

static int by_device(const void *a, const void *b) {
  const tt_store_epoch *left = &((const tt_store_boot *)a)->epoch,
                       *right = &((const tt_store_boot *)b)->epoch;
  if (left->device != right->device) return left->device < right->device ? -1 : 1;
  return (left->number > right->number) - (left->number < right->number);
}

static void tell_boots(const telling *all, const tt_list *devices, tt_list *latest) {
  const tt_store_loader *loader = all->teller->loader;
  for (uint32_t i = 0; i < latest->len; i++) {
    const int64_t id = (int64_t)tt_list_at(devices, uint64_t, i);
    const int64_t *index = tt_map_get(&all->devices, (tt_map_key){id, 0});
    tt_list_at(latest, tt_store_boot, i).epoch.device = index ? (int)*index : -1;
  }
  if (latest->len) qsort(latest->data, latest->len, sizeof(tt_store_boot), by_device);
  for (uint32_t i = 0; i < latest->len; i++) {
    const tt_store_boot *boot = &tt_list_at(latest, tt_store_boot, i);
    if (boot->epoch.device >= 0) loader->epoch(loader->context, boot);
  }
}

static tt_status tell_epochs(telling *all, tt_error *error) {
  tt_list boots = TT_LIST(tt_clickhouse_boot, NULL), devices = TT_LIST(uint64_t, NULL),
          latest = TT_LIST(tt_store_boot, NULL);
  tt_status status = tt_clickhouse_read_boots(&all->teller->source, NULL, &boots, error);
  if (status == TT_OK && !choose_boots(all, &boots, &devices, &latest))
    status = tt_clickhouse_no_memory(error);
  if (status == TT_OK)
    status = tt_clickhouse_read_newest(&all->teller->source, &devices, &latest, error);
  if (status == TT_OK) tell_boots(all, &devices, &latest);
  tt_list_free(&boots);
  tt_list_free(&devices);
  tt_list_free(&latest);
  return status;
}

tt_status tt_clickhouse_tell(tt_clickhouse_teller *teller, bool *taken, tt_error *error) {
  telling all = {.teller = teller, .answer = TT_LIST(char, NULL), .texts = TT_LIST(char, NULL)};
  int64_t change;
  tt_status status = tt_clickhouse_last_change(&teller->source, &change, error);
  if (status == TT_OK) status = tell_names(&all, error);
  if (status == TT_OK) status = tell_pairs(&all, error);
  if (status == TT_OK) status = tell_handlings(&all, taken, error);
  if (status == TT_OK) status = tell_epochs(&all, error);
  if (status == TT_OK) teller->told = change;
  tt_map_clear(&all.devices);
  tt_map_clear(&all.attributes);
  tt_map_clear(&all.removed);
  tt_list_free(&all.answer);
  tt_list_free(&all.texts);
  return status;
}
