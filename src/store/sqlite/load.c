/* load.c: names, handling and boots of each device, as a file knows them. */
#include "store/sqlite/internal.h"

#include <stdio.h>

/** What becomes of a row. TT_NOMEM is said by who called. */
typedef tt_status take_row(void *context, sqlite3_stmt *row, tt_error *error);

static tt_status taken(bool done) { return done ? TT_OK : TT_NOMEM; }

static bool load_name(sqlite3_stmt *row, int (*told)(void *, const char *, const char *, bool *),
                      void *context) {
  const char *identifier = (const char *)sqlite3_column_text(row, 1);
  const char *name = (const char *)sqlite3_column_text(row, 2);
  bool removed = sqlite3_column_int(row, 3);
  bool lost = !identifier || (!name && sqlite3_column_type(row, 2) != SQLITE_NULL);
  if (!lost) told(context, identifier, name, &removed);
  return !lost;
}

static tt_status load_device(void *context, sqlite3_stmt *row, tt_error *error) {
  const tt_store_loader *loader = context;
  (void)error;
  return taken(load_name(row, loader->device, loader->context));
}

static tt_status load_attribute(void *context, sqlite3_stmt *row, tt_error *error) {
  const tt_store_loader *loader = context;
  (void)error;
  return taken(load_name(row, loader->attribute, loader->context));
}

static tt_status load_pair(void *context, sqlite3_stmt *row, tt_error *error) {
  const tt_store_loader *loader = context;
  (void)error;
  loader->pair(loader->context, sqlite3_column_int(row, 0) - 1, sqlite3_column_int(row, 1) - 1);
  return TT_OK;
}

static tt_status load_handling(void *context, sqlite3_stmt *row, tt_error *error) {
  tt_list *all = context;
  (void)error;
  // Not changed through these: they are copied.
  tt_handling handling = {.pattern = (char *)sqlite3_column_text(row, 0),
                          .type = (tt_value_type)sqlite3_column_int(row, 1),
                          .mode = (tt_value_mode)sqlite3_column_int(row, 2),
                          .unit = (char *)sqlite3_column_text(row, 3),
                          .scale = sqlite3_column_double(row, 4),
                          .offset = sqlite3_column_double(row, 5),
                          .min_interval = sqlite3_column_double(row, 6),
                          .retention = sqlite3_column_double(row, 7)};
  return taken(handling.pattern && tt_store_add_handling(all, &handling));
}

/** Epochs with their newest samples, in a row and in a segment… */
#define BOOTS                                                                                      \
  "SELECT b.device, b.epoch, b.anchor, b.offset_low, b.offset_high, b.key, b.boot,"                \
  " s.device_time, s.time, (SELECT id FROM segment WHERE device = b.device AND epoch = b.epoch"    \
  "  ORDER BY first DESC LIMIT 1)"                                                                 \
  " FROM boot b LEFT JOIN sample s ON s.id = (SELECT id FROM sample WHERE device = b.device"       \
  "  AND epoch = b.epoch ORDER BY device_time DESC LIMIT 1)"
/** …of each device the latest. */
#define LATEST "b.epoch > (SELECT max(epoch) - 4 FROM boot WHERE device = b.device)"

/** The newest sample is the last of a segment, where that is newer. */
static tt_status look_in_segment(sqlite3 *db, int64_t id, tt_store_boot *boot, tt_error *error) {
  sqlite3_stmt *query;
  tt_list moments = TT_LIST(tt_column_moment, NULL);
  tt_status status = TT_OK;
  if (sqlite3_prepare_v2(db, "SELECT last, moments FROM segment WHERE id = ?1", -1, &query, NULL) !=
      SQLITE_OK)
    return tt_sqlite_fail(db, sqlite3_db_filename(db, "main"), "can't read", error);
  sqlite3_bind_int64(query, 1, id);
  bool newer = sqlite3_step(query) == SQLITE_ROW &&
               (!boot->has_sample || sqlite3_column_int64(query, 0) >= boot->device_time);
  if (newer) {
    const void *bytes = sqlite3_column_blob(query, 1);
    size_t size = (size_t)sqlite3_column_bytes(query, 1);
    status = tt_column_unpack_moments(bytes, size, &moments, error);
  }
  sqlite3_finalize(query);
  if (newer && status == TT_OK) {
    const tt_column_moment *last = &tt_list_at(&moments, tt_column_moment, moments.len - 1);
    boot->has_sample = true;
    boot->device_time = last->device_time;
    boot->time = last->time;
  }
  tt_list_free(&moments);
  return status;
}

static tt_status read_boot(sqlite3_stmt *row, tt_store_boot *boot, tt_error *error) {
  const char *name = (const char *)sqlite3_column_text(row, 6);
  if (!name) return TT_NOMEM;
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
  if (sqlite3_column_type(row, 9) == SQLITE_NULL) return TT_OK;
  return look_in_segment(sqlite3_db_handle(row), sqlite3_column_int64(row, 9), boot, error);
}

static tt_status load_boot(void *context, sqlite3_stmt *row, tt_error *error) {
  const tt_store_loader *loader = context;
  tt_store_boot boot;
  TT_TRY(read_boot(row, &boot, error));
  loader->epoch(loader->context, &boot);
  return TT_OK;
}

static tt_status add_boot(void *context, sqlite3_stmt *row, tt_error *error) {
  tt_store_boot boot;
  TT_TRY(read_boot(row, &boot, error));
  return taken(tt_list_add(context, &boot, 1));
}

static tt_status load_rows(sqlite3 *db, const char *path, const char *sql, take_row *take,
                           void *context, tt_error *error) {
  sqlite3_stmt *prepared;
  if (sqlite3_prepare_v2(db, sql, -1, &prepared, NULL) != SQLITE_OK) {
    return tt_sqlite_fail(db, path, "can't read", error);
  }
  int result = SQLITE_DONE;
  tt_status status = TT_OK;
  tt_error reason = {"out of memory"};
  while (status == TT_OK && (result = sqlite3_step(prepared)) == SQLITE_ROW)
    status = take(context, prepared, &reason);
  sqlite3_finalize(prepared);
  if (status != TT_OK) return tt_fail(error, status, "%s: %s", path, reason.text);
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
