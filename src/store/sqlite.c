/* sqlite.c: the store in one file.
 *
 * One connection does all writes and all checkpoints; readers are read-only and never checkpoint (two connections
 * that write or checkpoint at once can corrupt a WAL in SQLite before 3.51.3). synchronous=FULL: a
 * committed batch survives a power cut.
 *
 * A sample is one row; its values are rows of their own, keyed by the sample, so that both tables only grow at
 * their ends and every record lies together.
 */
#include "core/log.h"
#include "store/store.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define PAGE_SIZE 4096 /* SQLite's default */
#define CHECKPOINT_PAGES 4000
#define APPLICATION_ID 0x54544c4d /* "TTLM" */

/** Each step brings a file from version n to n + 1; a new file goes through all of them. */
static const char *const migrations[] = {
    // 0 → 1: the tables.
    "CREATE TABLE device (id INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, name TEXT "
    "UNIQUE);"
    "CREATE TABLE attribute (id INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, name TEXT "
    "UNIQUE);"
    "CREATE TABLE handling (pattern TEXT PRIMARY KEY, type INTEGER NOT NULL, mode INTEGER NOT "
    "NULL, unit TEXT,"
    " scale REAL NOT NULL, offset REAL NOT NULL, min_interval REAL NOT NULL, retention REAL NOT "
    "NULL) WITHOUT ROWID;"
    "CREATE TABLE boot (device INTEGER NOT NULL, epoch INTEGER NOT NULL, anchor INTEGER NOT NULL,"
    " offset_low INTEGER NOT NULL, offset_high INTEGER NOT NULL, PRIMARY KEY (device, epoch)) "
    "WITHOUT ROWID;"
    "CREATE TABLE sample (id INTEGER PRIMARY KEY, device INTEGER NOT NULL, epoch INTEGER NOT NULL,"
    " device_time INTEGER NOT NULL, time INTEGER NOT NULL, UNIQUE (device, epoch, device_time));"
    "CREATE TABLE value (sample INTEGER NOT NULL, attribute INTEGER NOT NULL, value NOT NULL,"
    " PRIMARY KEY (sample, attribute)) WITHOUT ROWID;",
    // 1 → 2: one view for people.
    "CREATE VIEW telemetry AS"
    " SELECT coalesce(device.name, device.identifier) AS device,"
    "  strftime('%Y-%m-%dT%H:%M:', sample.time / 1000000, 'unixepoch') ||"
    "  printf('%02d.%06dZ', sample.time / 1000000 % 60, sample.time % 1000000) AS time,"
    "  coalesce(attribute.name, attribute.identifier) AS attribute, value.value AS value,"
    "  sample.time AS time_us, sample.device_time AS device_time_us, sample.epoch AS epoch,"
    "  device.identifier AS device_identifier, attribute.identifier AS attribute_identifier"
    " FROM sample JOIN value ON value.sample = sample.id"
    " JOIN device ON device.id = sample.device JOIN attribute ON attribute.id = value.attribute;",
};
#define VERSION ((int)(sizeof migrations / sizeof *migrations))

typedef enum statement {
  PUT_DEVICE,
  PUT_ATTRIBUTE,
  PUT_HANDLING,
  DROP_HANDLING,
  PUT_EPOCH,
  PUT_SAMPLE,
  FIND_SAMPLE,
  PUT_VALUE,
  PUT_VALUES,
  LIST_EPOCHS,
  OLD_SAMPLES,
  DROP_VALUE,
  DROP_SAMPLE,
  STATEMENT_COUNT
} statement;

/** Values that one statement writes: what it costs to begin and end one is most of what a row costs. */
#define ROWS_TOGETHER 16
#define ROW "(?, ?, ?)"
#define FOUR_ROWS ROW ", " ROW ", " ROW ", " ROW

#define PUT_NAME(table)                                                                            \
  "INSERT INTO " table                                                                             \
  " VALUES (?1, ?2, nullif(?3, '')) ON CONFLICT (id) DO UPDATE SET"                                \
  " name = CASE WHEN ?3 = '' THEN NULL ELSE coalesce(?3, name) END"

static const char *const statement_texts[STATEMENT_COUNT] = {
    [PUT_DEVICE] = PUT_NAME("device"),
    [PUT_ATTRIBUTE] = PUT_NAME("attribute"),
    [PUT_HANDLING] = "INSERT OR REPLACE INTO handling VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [DROP_HANDLING] = "DELETE FROM handling WHERE pattern = ?1",
    [PUT_EPOCH] =
        "INSERT INTO boot VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET"
        " offset_low = min(offset_low, excluded.offset_low),"
        " offset_high = max(offset_high, excluded.offset_high)",
    [PUT_SAMPLE] =
        "INSERT OR IGNORE INTO sample (device, epoch, device_time, time) VALUES (?1, ?2, ?3, ?4)",
    [FIND_SAMPLE] = "SELECT id FROM sample WHERE device = ?1 AND epoch = ?2 AND device_time = ?3",
    [PUT_VALUE] = "INSERT OR IGNORE INTO value VALUES " ROW,
    [PUT_VALUES] = "INSERT OR IGNORE INTO value VALUES " FOUR_ROWS ", " FOUR_ROWS ", " FOUR_ROWS
                   ", " FOUR_ROWS,
    [LIST_EPOCHS] = "SELECT epoch, offset_high FROM boot WHERE device = ?1",
    [OLD_SAMPLES] =
        ("SELECT id, device_time FROM sample WHERE device = ?1 AND epoch = ?2 AND device_time >= ?3"
         " AND device_time < ?4 ORDER BY device_time LIMIT ?5"),
    [DROP_VALUE] = "DELETE FROM value WHERE sample = ?1 AND attribute = ?2",
    [DROP_SAMPLE] =
        "DELETE FROM sample WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM value WHERE sample = ?1)",
};

typedef struct sqlite_store {
  tt_store base;
  sqlite3 *db;
  sqlite3_stmt *statements[STATEMENT_COUNT];
  char *path;
  int log_pages;      /**< of the write-ahead log */
  GHashTable *purged; /**< "device epoch attribute" -> device time up to which it has been done */
  GMutex mutex;       /**< guards state */
  tt_store_state state;
} sqlite_store;

static tt_status fail(sqlite3 *db, const char *path, const char *what, tt_error *error) {
  return tt_fail(error, TT_FAILED, "%s: %s: %s", path, what,
                 db ? sqlite3_errmsg(db) : "out of memory");
}

/** Runs a prepared statement that gives no rows. */
static tt_status run(sqlite_store *store, statement which, tt_error *error) {
  sqlite3_stmt *prepared = store->statements[which];
  int result = sqlite3_step(prepared);
  sqlite3_reset(prepared);
  return result == SQLITE_DONE ? TT_OK : fail(store->db, store->path, "can't write", error);
}

static void bind_text(sqlite3_stmt *prepared, int index, const char *text) {
  if (text) {
    sqlite3_bind_text(prepared, index, text, -1, SQLITE_STATIC);
  } else {
    sqlite3_bind_null(prepared, index);
  }
}

static tt_status put_names(sqlite_store *store, statement which, const GArray *names,
                           tt_error *error) {
  for (guint i = 0; i < names->len; i++) {
    const tt_store_name *name = &g_array_index(names, tt_store_name, i);
    sqlite3_stmt *prepared = store->statements[which];
    sqlite3_bind_int(prepared, 1, name->index + 1);
    bind_text(prepared, 2, name->identifier);
    bind_text(prepared, 3, name->name);
    TT_TRY(run(store, which, error));
  }
  return TT_OK;
}

static tt_status put_handlings(sqlite_store *store, const GArray *handlings, tt_error *error) {
  for (guint i = 0; i < handlings->len; i++) {
    const tt_handling *handling = &g_array_index(handlings, tt_handling, i);
    statement which = handling->removed ? DROP_HANDLING : PUT_HANDLING;
    sqlite3_stmt *prepared = store->statements[which];
    bind_text(prepared, 1, handling->pattern);
    if (!handling->removed) {
      sqlite3_bind_int(prepared, 2, (int)handling->type);
      sqlite3_bind_int(prepared, 3, (int)handling->mode);
      bind_text(prepared, 4, handling->unit);
      sqlite3_bind_double(prepared, 5, handling->scale);
      sqlite3_bind_double(prepared, 6, handling->offset);
      sqlite3_bind_double(prepared, 7, handling->min_interval);
      sqlite3_bind_double(prepared, 8, handling->retention);
    }
    TT_TRY(run(store, which, error));
  }
  return TT_OK;
}

static tt_status put_epochs(sqlite_store *store, const GArray *epochs, tt_error *error) {
  for (guint i = 0; i < epochs->len; i++) {
    const tt_store_epoch *epoch = &g_array_index(epochs, tt_store_epoch, i);
    sqlite3_stmt *prepared = store->statements[PUT_EPOCH];
    sqlite3_bind_int(prepared, 1, epoch->device + 1);
    sqlite3_bind_int(prepared, 2, epoch->number);
    sqlite3_bind_int64(prepared, 3, epoch->anchor);
    sqlite3_bind_int64(prepared, 4, epoch->offset_low);
    sqlite3_bind_int64(prepared, 5, epoch->offset_high);
    TT_TRY(run(store, PUT_EPOCH, error));
  }
  return TT_OK;
}

/** The row of a sample, new or there already. */
static tt_status put_sample(sqlite_store *store, const tt_store_sample *sample, sqlite3_int64 *id,
                            tt_error *error) {
  sqlite3_stmt *put = store->statements[PUT_SAMPLE];
  sqlite3_bind_int(put, 1, sample->device + 1);
  sqlite3_bind_int(put, 2, sample->epoch);
  sqlite3_bind_int64(put, 3, sample->device_time);
  sqlite3_bind_int64(put, 4, sample->time);
  TT_TRY(run(store, PUT_SAMPLE, error));
  if (sqlite3_changes(store->db)) {
    *id = sqlite3_last_insert_rowid(store->db);
    return TT_OK;
  }
  sqlite3_stmt *find = store->statements[FIND_SAMPLE];
  sqlite3_bind_int(find, 1, sample->device + 1);
  sqlite3_bind_int(find, 2, sample->epoch);
  sqlite3_bind_int64(find, 3, sample->device_time);
  int result = sqlite3_step(find);
  *id = sqlite3_column_int64(find, 0);
  sqlite3_reset(find);
  return result == SQLITE_ROW ? TT_OK : fail(store->db, store->path, "can't read", error);
}

/** Values gathered, of one sample or several, until there are enough for one statement. */
typedef struct value_rows {
  const tt_store_batch *batch;
  sqlite3_int64 samples[ROWS_TOGETHER]; /**< ids */
  const tt_store_value *values[ROWS_TOGETHER];
  int count;
} value_rows;

static void bind_value(sqlite3_stmt *put, const value_rows *rows, int row, int first) {
  const tt_store_value *value = rows->values[row];
  sqlite3_bind_int64(put, first, rows->samples[row]);
  sqlite3_bind_int(put, first + 1, value->attribute + 1);
  if (value->text == TT_STORE_NUMBER) {
    sqlite3_bind_double(put, first + 2, value->number);
  } else {
    sqlite3_bind_text(put, first + 2, rows->batch->text->str + value->text, -1, SQLITE_STATIC);
  }
}

static tt_status put_rows_together(sqlite_store *store, const value_rows *rows, tt_error *error) {
  for (int i = 0; i < ROWS_TOGETHER; i++) {
    bind_value(store->statements[PUT_VALUES], rows, i, 3 * i + 1);
  }
  return run(store, PUT_VALUES, error);
}

static tt_status put_rows_singly(sqlite_store *store, const value_rows *rows, tt_error *error) {
  for (int i = 0; i < rows->count; i++) {
    bind_value(store->statements[PUT_VALUE], rows, i, 1);
    TT_TRY(run(store, PUT_VALUE, error));
  }
  return TT_OK;
}

static tt_status put_samples(sqlite_store *store, const tt_store_batch *batch, tt_error *error) {
  value_rows rows = {.batch = batch};
  for (guint i = 0; i < batch->samples->len; i++) {
    const tt_store_sample *sample = &g_array_index(batch->samples, tt_store_sample, i);
    sqlite3_int64 id;
    TT_TRY(put_sample(store, sample, &id, error));
    for (uint32_t v = sample->first; v < sample->first + sample->count; v++) {
      rows.samples[rows.count] = id;
      rows.values[rows.count] = &g_array_index(batch->values, tt_store_value, v);
      if (++rows.count < ROWS_TOGETHER) continue;
      TT_TRY(put_rows_together(store, &rows, error));
      rows.count = 0;
    }
  }
  return put_rows_singly(store, &rows, error);
}

static tt_status execute(sqlite3 *db, const char *path, const char *sql, tt_error *error) {
  return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK
             ? TT_OK
             : fail(db, path, "SQLite says", error);
}

static tt_status write_all(sqlite_store *store, const tt_store_batch *batch, tt_error *error) {
  TT_TRY(execute(store->db, store->path, "BEGIN IMMEDIATE", error));
  TT_TRY(put_names(store, PUT_DEVICE, batch->devices, error));
  TT_TRY(put_names(store, PUT_ATTRIBUTE, batch->attributes, error));
  TT_TRY(put_handlings(store, batch->handlings, error));
  TT_TRY(put_epochs(store, batch->epochs, error));
  TT_TRY(put_samples(store, batch, error));
  return execute(store->db, store->path, "COMMIT", error);
}

static void set_state(sqlite_store *store, const char *trouble) {
  g_mutex_lock(&store->mutex);
  store->state.degraded = trouble;
  g_strlcpy(store->state.reason, trouble ? trouble : "", sizeof store->state.reason);
  g_mutex_unlock(&store->mutex);
}

static int on_commit(void *data, sqlite3 *db, const char *name, int pages) {
  (void)db, (void)name;
  ((sqlite_store *)data)->log_pages = pages;
  return SQLITE_OK;
}

/** Empties the write-ahead log when it is long, or when what it must still be copied to might not find room. */
static void checkpoint_if_due(sqlite_store *store) {
  struct statvfs disk;
  bool tight = statvfs(store->path, &disk) == 0 &&
               (uint64_t)disk.f_bavail * disk.f_frsize < 3 * (uint64_t)store->log_pages * PAGE_SIZE;
  if (!tight && store->log_pages < CHECKPOINT_PAGES) return;
  int mode = tight ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
  sqlite3_wal_checkpoint_v2(store->db, NULL, mode, NULL, NULL);  // else the next time
}

static tt_status write_or_nothing(sqlite_store *store, const tt_store_batch *batch,
                                  tt_error *error) {
  tt_status status = write_all(store, batch, error);
  if (status != TT_OK && !sqlite3_get_autocommit(store->db)) {
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
  }
  return status;
}

static tt_status sqlite_write(tt_store *base, const tt_store_batch *batch, tt_error *error) {
  sqlite_store *store = (sqlite_store *)base;
  tt_error trouble;
  tt_status status = write_or_nothing(store, batch, &trouble);
  if (status != TT_OK) {
    // On a full disk the write-ahead log may be what fills it: give its room back, and try once more.
    sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    status = write_or_nothing(store, batch, &trouble);
  }
  if (status == TT_OK) {
    checkpoint_if_due(store);
  } else {
    tt_fail(error, status, "%s", trouble.text);
  }
  set_state(store, status == TT_OK ? NULL : trouble.text);
  return status;
}

static bool sqlite_tend(tt_store *base) {
  (void)base;
  return false;
}

static void sqlite_state(tt_store *base, tt_store_state *state) {
  sqlite_store *store = (sqlite_store *)base;
  g_mutex_lock(&store->mutex);
  *state = store->state;
  g_mutex_unlock(&store->mutex);
}

/** Nothing here waits for longer than the busy timeout. */
static void sqlite_hurry(tt_store *base) { (void)base; }

/** Looks at old samples of one epoch from where it last stopped. */
static tt_status purge_epoch(sqlite_store *store, const tt_store_purge *purge, int epoch,
                             int64_t device_before, int *removed, tt_error *error) {
  char *key = g_strdup_printf("%d %d %d", purge->device, epoch, purge->attribute);
  int64_t *done = g_hash_table_lookup(store->purged, key);
  if (!done) {
    done = g_new(int64_t, 1);
    *done = INT64_MIN;
    g_hash_table_insert(store->purged, g_strdup(key), done);
  }
  g_free(key);
  sqlite3_stmt *old = store->statements[OLD_SAMPLES];
  sqlite3_bind_int(old, 1, purge->device + 1);
  sqlite3_bind_int(old, 2, epoch);
  sqlite3_bind_int64(old, 3, *done);
  sqlite3_bind_int64(old, 4, device_before);
  sqlite3_bind_int(old, 5, purge->limit);
  int looked = 0;
  int64_t last = device_before;
  tt_status status = TT_OK;
  while (status == TT_OK && sqlite3_step(old) == SQLITE_ROW) {
    sqlite3_int64 id = sqlite3_column_int64(old, 0);
    last = sqlite3_column_int64(old, 1) + 1;
    looked++;
    sqlite3_bind_int64(store->statements[DROP_VALUE], 1, id);
    sqlite3_bind_int(store->statements[DROP_VALUE], 2, purge->attribute + 1);
    status = run(store, DROP_VALUE, error);
    if (status != TT_OK || !sqlite3_changes(store->db)) continue;
    ++*removed;
    sqlite3_bind_int64(store->statements[DROP_SAMPLE], 1, id);
    status = run(store, DROP_SAMPLE, error);
  }
  sqlite3_reset(old);
  if (status != TT_OK) return status;
  if (looked == purge->limit) {
    *done = last;
    return TT_AGAIN;
  }
  if (device_before > *done) *done = device_before;
  return TT_OK;
}

static tt_status purge_epochs(sqlite_store *store, const tt_store_purge *purge, int *removed,
                              tt_error *error) {
  sqlite3_stmt *epochs = store->statements[LIST_EPOCHS];
  sqlite3_bind_int(epochs, 1, purge->device + 1);
  tt_status status = TT_OK;
  while (status == TT_OK && sqlite3_step(epochs) == SQLITE_ROW) {
    // Every sample before this device time was taken before `before`.
    int64_t device_before = purge->before - sqlite3_column_int64(epochs, 1);
    status =
        purge_epoch(store, purge, sqlite3_column_int(epochs, 0), device_before, removed, error);
  }
  sqlite3_reset(epochs);
  return status;
}

static tt_status sqlite_purge(tt_store *base, const tt_store_purge *purge, int *removed,
                              tt_error *error) {
  sqlite_store *store = (sqlite_store *)base;
  *removed = 0;
  TT_TRY(execute(store->db, store->path, "BEGIN IMMEDIATE", error));
  tt_status status = purge_epochs(store, purge, removed, error);
  if (status == TT_OK || status == TT_AGAIN) {
    TT_TRY(execute(store->db, store->path, "COMMIT", error));
  } else {
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    g_hash_table_remove_all(store->purged);
  }
  return status;
}

/* --- loading --- */

static void load_device(void *context, sqlite3_stmt *row) {
  const tt_store_loader *loader = context;
  loader->device(loader->context, (const char *)sqlite3_column_text(row, 1),
                 (const char *)sqlite3_column_text(row, 2));
}

static void load_attribute(void *context, sqlite3_stmt *row) {
  const tt_store_loader *loader = context;
  loader->attribute(loader->context, (const char *)sqlite3_column_text(row, 1),
                    (const char *)sqlite3_column_text(row, 2));
}

static void load_handling(void *context, sqlite3_stmt *row) {
  GArray *all = context;
  tt_handling handling = {.pattern = g_strdup((const char *)sqlite3_column_text(row, 0)),
                          .type = (tt_value_type)sqlite3_column_int(row, 1),
                          .mode = (tt_value_mode)sqlite3_column_int(row, 2),
                          .unit = g_strdup((const char *)sqlite3_column_text(row, 3)),
                          .scale = sqlite3_column_double(row, 4),
                          .offset = sqlite3_column_double(row, 5),
                          .min_interval = sqlite3_column_double(row, 6),
                          .retention = sqlite3_column_double(row, 7)};
  g_array_append_val(all, handling);
}

static void load_epoch(void *context, sqlite3_stmt *row) {
  const tt_store_loader *loader = context;
  tt_store_epoch epoch = {.device = sqlite3_column_int(row, 0) - 1,
                          .number = sqlite3_column_int(row, 1),
                          .anchor = sqlite3_column_int64(row, 2),
                          .offset_low = sqlite3_column_int64(row, 3),
                          .offset_high = sqlite3_column_int64(row, 4)};
  bool has_sample = sqlite3_column_type(row, 5) != SQLITE_NULL;
  loader->epoch(loader->context, &epoch, has_sample, sqlite3_column_int64(row, 5),
                sqlite3_column_int64(row, 6));
}

static void load_sample(void *context, sqlite3_stmt *row) {
  const tt_store_loader *loader = context;
  loader->sample(loader->context, sqlite3_column_int(row, 0) - 1, sqlite3_column_int(row, 1),
                 sqlite3_column_int64(row, 2));
}

static tt_status load_rows(sqlite_store *store, const char *sql,
                           void (*row)(void *context, sqlite3_stmt *row), void *context,
                           tt_error *error) {
  sqlite3_stmt *prepared;
  if (sqlite3_prepare_v2(store->db, sql, -1, &prepared, NULL) != SQLITE_OK) {
    return fail(store->db, store->path, "can't read", error);
  }
  int result;
  while ((result = sqlite3_step(prepared)) == SQLITE_ROW) row(context, prepared);
  sqlite3_finalize(prepared);
  return result == SQLITE_DONE ? TT_OK : fail(store->db, store->path, "can't read", error);
}

static void clear_handling(gpointer item) { tt_handling_clear(item); }

static tt_status load_handlings(sqlite_store *store, const tt_store_loader *loader,
                                tt_error *error) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(tt_handling));
  g_array_set_clear_func(all, clear_handling);
  tt_status status = load_rows(
      store,
      "SELECT pattern, type, mode, unit, scale, offset, min_interval, retention FROM handling",
      load_handling, all, error);
  if (status == TT_OK) loader->handlings(loader->context, all);
  g_array_unref(all);
  return status;
}

static tt_status sqlite_load(tt_store *base, const tt_store_loader *told, tt_error *error) {
  sqlite_store *store = (sqlite_store *)base;
  tt_store_loader loader = *told;
  TT_TRY(load_rows(store, "SELECT id, identifier, name FROM device ORDER BY id", load_device,
                   &loader, error));
  TT_TRY(load_rows(store, "SELECT id, identifier, name FROM attribute ORDER BY id", load_attribute,
                   &loader, error));
  TT_TRY(load_handlings(store, &loader, error));
  TT_TRY(load_rows(
      store,
      "SELECT b.device, b.epoch, b.anchor, b.offset_low, b.offset_high, s.device_time, s.time"
      " FROM boot b LEFT JOIN sample s ON s.id = (SELECT id FROM sample WHERE device = b.device"
      "  AND epoch = b.epoch ORDER BY device_time DESC LIMIT 1)"
      " WHERE b.epoch > (SELECT max(epoch) - 4 FROM boot WHERE device = b.device)"
      " ORDER BY b.device, b.epoch",
      load_epoch, &loader, error));
  return load_rows(
      store,
      "SELECT device, epoch, device_time FROM (SELECT d.id AS device, s.epoch AS epoch,"
      "  s.device_time AS device_time FROM device d JOIN sample s ON s.id IN (SELECT id FROM sample"
      "   WHERE device = d.id AND epoch = (SELECT max(epoch) FROM boot WHERE device = d.id)"
      "   ORDER BY device_time DESC LIMIT 500)) ORDER BY device, device_time",
      load_sample, &loader, error);
}

/* --- opening --- */

static tt_status upgrade(sqlite3 *db, const char *path, tt_error *error) {
  sqlite3_stmt *query;
  if (sqlite3_prepare_v2(
          db, "SELECT user_version, application_id FROM pragma_user_version, pragma_application_id",
          -1, &query, NULL) != SQLITE_OK ||
      sqlite3_step(query) != SQLITE_ROW) {
    tt_status status = fail(db, path, "this is no database", error);
    sqlite3_finalize(query);
    return status;
  }
  int version = sqlite3_column_int(query, 0), application = sqlite3_column_int(query, 1);
  sqlite3_finalize(query);
  if (application != 0 && application != APPLICATION_ID) {
    return tt_fail(error, TT_INVALID,
                   "%s: belongs to another program (application id %#x); give another file", path,
                   (unsigned)application);
  }
  if (version > VERSION) {
    return tt_fail(error, TT_VERSION,
                   "%s: made by a newer Tether (schema %d, this program knows up to %d); "
                   "use that program or give another file",
                   path, version, VERSION);
  }
  if (version && version < VERSION)
    tt_log_info("%s: upgraded from schema %d to %d", path, version, VERSION);
  for (; version < VERSION; version++) {
    char *sql = g_strdup_printf(
        "BEGIN IMMEDIATE; %s PRAGMA user_version = %d; PRAGMA application_id = %d; COMMIT",
        migrations[version], version + 1, APPLICATION_ID);
    tt_status status = execute(db, path, sql, error);
    g_free(sql);
    TT_TRY(status);
  }
  return TT_OK;
}

static void harden(sqlite3 *db) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
}

static void sqlite_close(tt_store *base) {
  sqlite_store *store = (sqlite_store *)base;
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(store->statements[i]);
  sqlite3_close(store->db);
  g_hash_table_unref(store->purged);
  g_mutex_clear(&store->mutex);
  g_free(store->path);
  g_free(store);
}

/** Without statistics nobody reads, SQLite's allocator takes no lock. Only before its first use, hence once. */
static void configure_library(void) {
  static gsize done;
  if (!g_once_init_enter(&done)) return;
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  g_once_init_leave(&done, 1);
}

static tt_status open_file(sqlite_store *store, tt_error *error) {
  const char *path = store->path;
  configure_library();
  if (sqlite3_open_v2(path, &store->db,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                      NULL) != SQLITE_OK) {
    return fail(store->db, path, "can't open", error);
  }
  harden(store->db);
  sqlite3_busy_timeout(store->db, 300);
  sqlite3_wal_hook(store->db, on_commit, store);
  TT_TRY(execute(store->db, path,
                 "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
                 " PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY",
                 error));
  TT_TRY(upgrade(store->db, path, error));
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    if (sqlite3_prepare_v3(store->db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                           &store->statements[i], NULL) != SQLITE_OK) {
      return fail(store->db, path, "can't prepare", error);
    }
  }
  return TT_OK;
}

/* --- reading --- */

typedef struct sqlite_reader {
  tt_store_reader base;
  sqlite3 *db;
  char *path;
} sqlite_reader;

struct tt_store_cursor {
  sqlite_reader *reader;
  sqlite3_stmt *query;
  GArray *cells; /**< tt_store_cell; texts are offsets until the record is whole */
  GString *text;
  bool row; /**< the query stands on a row that has not been taken */
};

static tt_status reader_epochs(tt_store_reader *base, int device, GArray *epochs, tt_error *error) {
  sqlite_reader *reader = (sqlite_reader *)base;
  sqlite3_stmt *query;
  if (sqlite3_prepare_v2(reader->db,
                         "SELECT epoch, anchor, offset_low, offset_high FROM boot WHERE device = ?1"
                         " ORDER BY epoch",
                         -1, &query, NULL) != SQLITE_OK) {
    return fail(reader->db, reader->path, "can't read", error);
  }
  sqlite3_bind_int(query, 1, device + 1);
  int result;
  while ((result = sqlite3_step(query)) == SQLITE_ROW) {
    tt_store_epoch epoch = {.device = device,
                            .number = sqlite3_column_int(query, 0),
                            .anchor = sqlite3_column_int64(query, 1),
                            .offset_low = sqlite3_column_int64(query, 2),
                            .offset_high = sqlite3_column_int64(query, 3)};
    g_array_append_val(epochs, epoch);
  }
  sqlite3_finalize(query);
  return result == SQLITE_DONE ? TT_OK : fail(reader->db, reader->path, "can't read", error);
}

static void cursor_close(tt_store_cursor *cursor) {
  sqlite3_finalize(cursor->query);
  g_array_unref(cursor->cells);
  g_string_free(cursor->text, TRUE);
  g_free(cursor);
}

static tt_status cursor_step(tt_store_cursor *cursor, tt_error *error) {
  int result = sqlite3_step(cursor->query);
  cursor->row = result == SQLITE_ROW;
  return result == SQLITE_ROW || result == SQLITE_DONE
             ? TT_OK
             : fail(cursor->reader->db, cursor->reader->path, "can't read", error);
}

static tt_status reader_open(tt_store_reader *base, const tt_store_range *range,
                             tt_store_cursor **out, tt_error *error) {
  sqlite_reader *reader = (sqlite_reader *)base;
  // CROSS JOIN keeps the order of the loops: samples by their index, then the values of each.
  GString *sql = g_string_new(
      "SELECT s.id, s.device_time, s.time, v.attribute, v.value FROM sample s CROSS JOIN value v "
      "ON v.sample = s.id"
      " WHERE s.device = ?1 AND s.epoch = ?2 AND s.device_time BETWEEN ?3 AND ?4 AND s.time "
      "BETWEEN ?5 AND ?6");
  for (int i = 0; i < range->attribute_count; i++) {
    g_string_append_printf(sql, "%s%d", i ? "," : " AND v.attribute IN (",
                           range->attributes[i] + 1);
  }
  if (range->attribute_count) g_string_append_c(sql, ')');
  g_string_append(sql, " ORDER BY s.device_time");
  tt_store_cursor *cursor = g_new0(tt_store_cursor, 1);
  cursor->reader = reader;
  cursor->cells = g_array_new(FALSE, FALSE, sizeof(tt_store_cell));
  cursor->text = g_string_new(NULL);
  int prepared = sqlite3_prepare_v2(reader->db, sql->str, -1, &cursor->query, NULL);
  g_string_free(sql, TRUE);
  tt_status status = TT_OK;
  if (prepared != SQLITE_OK) {
    status = fail(reader->db, reader->path, "can't read", error);
  } else {
    sqlite3_bind_int(cursor->query, 1, range->device + 1);
    sqlite3_bind_int(cursor->query, 2, range->epoch);
    sqlite3_bind_int64(cursor->query, 3, range->device_from);
    sqlite3_bind_int64(cursor->query, 4, range->device_to);
    sqlite3_bind_int64(cursor->query, 5, range->from);
    sqlite3_bind_int64(cursor->query, 6, range->to);
    status = cursor_step(cursor, error);
  }
  if (status != TT_OK) {
    cursor_close(cursor);
    return status;
  }
  *out = cursor;
  return TT_OK;
}

static void take_cell(tt_store_cursor *cursor) {
  tt_store_cell cell = {.attribute = sqlite3_column_int(cursor->query, 3) - 1};
  if (sqlite3_column_type(cursor->query, 4) == SQLITE_TEXT) {
    const char *text = (const char *)sqlite3_column_text(cursor->query, 4);
    cell.text = GSIZE_TO_POINTER(cursor->text->len + 1);
    g_string_append_len(cursor->text, text ? text : "",
                        sqlite3_column_bytes(cursor->query, 4) + (text ? 1 : 0));
  } else {
    cell.number = sqlite3_column_double(cursor->query, 4);
  }
  g_array_append_val(cursor->cells, cell);
}

static tt_status cursor_next(tt_store_cursor *cursor, tt_store_record *record, tt_error *error) {
  if (!cursor->row) return TT_NOT_FOUND;
  g_array_set_size(cursor->cells, 0);
  g_string_truncate(cursor->text, 0);
  sqlite3_int64 id = sqlite3_column_int64(cursor->query, 0);
  record->device_time = sqlite3_column_int64(cursor->query, 1);
  record->time = sqlite3_column_int64(cursor->query, 2);
  while (cursor->row && sqlite3_column_int64(cursor->query, 0) == id) {
    take_cell(cursor);
    TT_TRY(cursor_step(cursor, error));
  }
  for (guint i = 0; i < cursor->cells->len; i++) {
    tt_store_cell *cell = &g_array_index(cursor->cells, tt_store_cell, i);
    if (cell->text) cell->text = cursor->text->str + (GPOINTER_TO_SIZE(cell->text) - 1);
  }
  record->cells = (const tt_store_cell *)(void *)cursor->cells->data;
  record->count = (int)cursor->cells->len;
  return TT_OK;
}

static void reader_close(tt_store_reader *base) {
  sqlite_reader *reader = (sqlite_reader *)base;
  sqlite3_close(reader->db);
  g_free(reader->path);
  g_free(reader);
}

static tt_status sqlite_open_reader(tt_store *base, tt_store_reader **out, tt_error *error) {
  sqlite_store *store = (sqlite_store *)base;
  sqlite_reader *reader = g_new0(sqlite_reader, 1);
  reader->base =
      (tt_store_reader){reader_epochs, reader_open, cursor_next, cursor_close, reader_close};
  reader->path = g_strdup(store->path);
  if (sqlite3_open_v2(reader->path, &reader->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                      NULL) != SQLITE_OK) {
    tt_status status = fail(reader->db, reader->path, "can't open", error);
    reader_close(&reader->base);
    return status;
  }
  harden(reader->db);
  sqlite3_db_config(reader->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  sqlite3_busy_timeout(reader->db, 2000);
  // One transaction: all cursors of a query see the same moment.
  tt_status status = execute(reader->db, reader->path,
                             "PRAGMA query_only = ON; PRAGMA cache_size = -4096; BEGIN", error);
  if (status != TT_OK) {
    reader_close(&reader->base);
    return status;
  }
  *out = &reader->base;
  return TT_OK;
}

tt_status tt_sqlite_open(const char *path, tt_store **out, tt_error *error) {
  sqlite_store *store = g_new0(sqlite_store, 1);
  store->base = (tt_store){.kind = "sqlite",
                           .load = sqlite_load,
                           .write = sqlite_write,
                           .tend = sqlite_tend,
                           .purge = sqlite_purge,
                           .state = sqlite_state,
                           .hurry = sqlite_hurry,
                           .close = sqlite_close,
                           .open_reader = sqlite_open_reader};
  store->path = g_strdup(path);
  store->purged = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  g_mutex_init(&store->mutex);
  tt_status status = open_file(store, error);
  if (status != TT_OK) {
    sqlite_close(&store->base);
    return status;
  }
  *out = &store->base;
  return TT_OK;
}
