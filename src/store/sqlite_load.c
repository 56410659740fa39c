/* sqlite_load.c: names, handling and boots of each device, as a file knows them. */
#include "store/sqlite_internal.h"

#include <stdio.h>

/** What becomes of a row. False: out of memory. */
typedef bool take_row(void *context, sqlite3_stmt *row);

static bool load_name(sqlite3_stmt *row, int (*told)(void *, const char *, const char *, bool *),
                      void *context) {
  const char *identifier = (const char *)sqlite3_column_text(row, 1);
  const char *name = (const char *)sqlite3_column_text(row, 2);
  bool removed = sqlite3_column_int(row, 3);
  bool lost = !identifier || (!name && sqlite3_column_type(row, 2) != SQLITE_NULL);
  if (!lost) told(context, identifier, name, &removed);
  return !lost;
}

static bool load_device(void *context, sqlite3_stmt *row) {
  const tt_store_loader *loader = context;
  return load_name(row, loader->device, loader->context);
}

static bool load_attribute(void *context, sqlite3_stmt *row) {
  const tt_store_loader *loader = context;
  return load_name(row, loader->attribute, loader->context);
}

static bool load_pair(void *context, sqlite3_stmt *row) {
  const tt_store_loader *loader = context;
  loader->pair(loader->context, sqlite3_column_int(row, 0) - 1, sqlite3_column_int(row, 1) - 1);
  return true;
}

static bool load_handling(void *context, sqlite3_stmt *row) {
  tt_list *all = context;
  // Not changed through these: they are copied.
  tt_handling handling = {.pattern = (char *)sqlite3_column_text(row, 0),
                          .type = (tt_value_type)sqlite3_column_int(row, 1),
                          .mode = (tt_value_mode)sqlite3_column_int(row, 2),
                          .unit = (char *)sqlite3_column_text(row, 3),
                          .scale = sqlite3_column_double(row, 4),
                          .offset = sqlite3_column_double(row, 5),
                          .min_interval = sqlite3_column_double(row, 6),
                          .retention = sqlite3_column_double(row, 7)};
  return handling.pattern && tt_store_add_handling(all, &handling);
}

/** Epochs with their newest samples… */
#define BOOTS                                                                                      \
  "SELECT b.device, b.epoch, b.anchor, b.offset_low, b.offset_high, b.key, b.boot,"                \
  " s.device_time, s.time"                                                                         \
  " FROM boot b LEFT JOIN sample s ON s.id = (SELECT id FROM sample WHERE device = b.device"       \
  "  AND epoch = b.epoch ORDER BY device_time DESC LIMIT 1)"
/** …of each device the latest. */
#define LATEST "b.epoch > (SELECT max(epoch) - 4 FROM boot WHERE device = b.device)"

/** False: out of memory. */
static bool read_boot(sqlite3_stmt *row, tt_store_boot *boot) {
  const char *name = (const char *)sqlite3_column_text(row, 6);
  if (!name) return false;
  *boot = (tt_store_boot){.epoch = {.device = sqlite3_column_int(row, 0) - 1,
                                    .number = sqlite3_column_int(row, 1),
                                    .anchor = sqlite3_column_int64(row, 2),
                                    .offset_low = sqlite3_column_int64(row, 3),
                                    .offset_high = sqlite3_column_int64(row, 4),
                                    .key = sqlite3_column_int64(row, 5)},
                          .has_sample = sqlite3_column_type(row, 7) != SQLITE_NULL,
                          .device_time = sqlite3_column_int64(row, 7),
                          .time = sqlite3_column_int64(row, 8)};
  snprintf(boot->epoch.boot, sizeof boot->epoch.boot, "%s", name);
  return true;
}

static bool load_boot(void *context, sqlite3_stmt *row) {
  const tt_store_loader *loader = context;
  tt_store_boot boot;
  if (!read_boot(row, &boot)) return false;
  loader->epoch(loader->context, &boot);
  return true;
}

static bool add_boot(void *context, sqlite3_stmt *row) {
  tt_store_boot boot;
  return read_boot(row, &boot) && tt_list_add(context, &boot, 1);
}

static tt_status load_rows(sqlite3 *db, const char *path, const char *sql, take_row *take,
                           void *context, tt_error *error) {
  sqlite3_stmt *prepared;
  if (sqlite3_prepare_v2(db, sql, -1, &prepared, NULL) != SQLITE_OK) {
    return tt_sqlite_fail(db, path, "can't read", error);
  }
  int result;
  bool taken = true;
  while ((result = sqlite3_step(prepared)) == SQLITE_ROW && taken) taken = take(context, prepared);
  sqlite3_finalize(prepared);
  if (!taken) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  return result == SQLITE_DONE ? TT_OK : tt_sqlite_fail(db, path, "can't read", error);
}

static tt_status load_handlings(sqlite3 *db, const char *path, const tt_store_loader *loader,
                                tt_error *error) {
  tt_list all = tt_handling_list();
  tt_status status = load_rows(
      db, path,
      "SELECT pattern, type, mode, unit, scale, offset, min_interval, retention FROM handling",
      load_handling, &all, error);
  if (status == TT_OK) loader->handlings(loader->context, &all);
  tt_list_free(&all);
  return status;
}

tt_status tt_sqlite_load(sqlite3 *db, const char *path, const tt_store_loader *told,
                         tt_error *error) {
  tt_store_loader loader = *told;
  TT_TRY(load_rows(db, path, "SELECT id, identifier, name, removed FROM device ORDER BY id",
                   load_device, &loader, error));
  TT_TRY(load_rows(db, path, "SELECT id, identifier, name, removed FROM attribute ORDER BY id",
                   load_attribute, &loader, error));
  TT_TRY(load_rows(db, path, "SELECT device, attribute FROM pair", load_pair, &loader, error));
  TT_TRY(load_handlings(db, path, &loader, error));
  return load_rows(db, path, BOOTS " WHERE " LATEST " ORDER BY b.device, b.epoch", load_boot,
                   &loader, error);
}

tt_status tt_sqlite_load_boots(sqlite3 *db, const char *path, int device, int number,
                               tt_list *boots, tt_error *error) {
  char sql[1024];
  snprintf(sql, sizeof sql,
           BOOTS " WHERE b.device = %d AND (" LATEST " OR b.epoch = %d) ORDER BY b.epoch",
           device + 1, number);
  return load_rows(db, path, sql, add_boot, boots, error);
}
