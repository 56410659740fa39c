/* sqlite.c: the store in one file.
 *
 * One connection does all writes and all checkpoints; readers are read-only and never checkpoint (two connections
 * that write or checkpoint at once can corrupt a WAL in SQLite before 3.51.3). synchronous=FULL: a
 * committed batch survives a power cut.
 *
 * A sample is one row; its values are rows of their own, keyed by the sample, so that both tables only grow at
 * their ends and every record lies together (sqlite_samples.c).
 */
#include "base/file.h"
#include "base/log.h"
#include "store/lock.h"
#include "store/map.h"
#include "store/sqlite_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define PAGE_SIZE 4096 /* SQLite's default */
#define CHECKPOINT_PAGES 4000

typedef enum statement {
  PUT_DEVICE,
  PUT_ATTRIBUTE,
  DROP_DEVICE,
  DROP_ATTRIBUTE,
  PUT_PAIR,
  PUT_HANDLING,
  DROP_HANDLING,
  PUT_EPOCH,
  LIST_EPOCHS,
  OLD_SAMPLES,
  DROP_VALUE,
  DROP_SAMPLE,
  STATEMENT_COUNT
} statement;

/* Texts below have the numbers in them, and so have files. */
_Static_assert(TT_NAME_KNOWN == 0 && TT_NAME_USED == 1 && TT_NAME_REMOVED == 2, "as in PUT_NAME");
_Static_assert(TT_VALUE_FLAG == 3 && TT_MODE_IGNORE == 3, "the last of those kept in `handling`");

/** ?4: tt_name_state */
#define PUT_NAME(table)                                                                            \
  "INSERT INTO " table                                                                             \
  " (id, identifier, name, removed) VALUES (?1, ?2, nullif(?3, ''), ?4 = 2) ON CONFLICT (id)"      \
  " DO UPDATE SET name = CASE WHEN ?3 = '' THEN NULL ELSE coalesce(?3, name) END,"                 \
  " removed = CASE ?4 WHEN 0 THEN removed ELSE ?4 = 2 END"

static const char *const statement_texts[STATEMENT_COUNT] = {
    [PUT_DEVICE] = PUT_NAME("device"),
    [PUT_ATTRIBUTE] = PUT_NAME("attribute"),
    [DROP_DEVICE] = "DELETE FROM pair WHERE device = ?1",
    [DROP_ATTRIBUTE] = "DELETE FROM pair WHERE attribute = ?1",
    [PUT_PAIR] = "INSERT OR IGNORE INTO pair VALUES (?1, ?2)",
    [PUT_HANDLING] = "INSERT OR REPLACE INTO handling VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [DROP_HANDLING] = "DELETE FROM handling WHERE pattern = ?1",
    [PUT_EPOCH] =
        "INSERT INTO boot (device, epoch, anchor, offset_low, offset_high, key, boot)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET"
        " offset_low = min(offset_low, excluded.offset_low),"
        " offset_high = max(offset_high, excluded.offset_high)",
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
  tt_sqlite_samples *samples;
  char *path;
  tt_lock lock; /**< against other programs that write */
  tt_file_mark file,
      wal;       /**< those that were opened, which keep names unless somebody removes them */
  int log_pages; /**< of the write-ahead log */
  tt_map purged; /**< device and epoch, attribute → device time up to which it has been done */
  pthread_mutex_t mutex; /**< guards state */
  tt_store_state state;
  sqlite3 *asked; /**< another connection, opened when a message is looked for */
  tt_sqlite_finder finder;
} sqlite_store;

/** Runs a prepared statement that gives no rows. */
static tt_status run(sqlite_store *store, statement which, tt_error *error) {
  sqlite3_stmt *prepared = store->statements[which];
  int result = sqlite3_step(prepared);
  sqlite3_reset(prepared);
  return result == SQLITE_DONE ? TT_OK
                               : tt_sqlite_fail(store->db, store->path, "can't write", error);
}

static void bind_text(sqlite3_stmt *prepared, int index, const char *text) {
  if (text) {
    sqlite3_bind_text(prepared, index, text, -1, SQLITE_STATIC);
  } else {
    sqlite3_bind_null(prepared, index);
  }
}

static tt_status put_names(sqlite_store *store, bool devices, const tt_list *names,
                           tt_error *error) {
  const statement put = devices ? PUT_DEVICE : PUT_ATTRIBUTE;
  const statement drop = devices ? DROP_DEVICE : DROP_ATTRIBUTE;
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    sqlite3_stmt *prepared = store->statements[put];
    sqlite3_bind_int(prepared, 1, name->index + 1);
    bind_text(prepared, 2, name->identifier);
    bind_text(prepared, 3, name->name);
    sqlite3_bind_int(prepared, 4, (int)name->state);
    TT_TRY(run(store, put, error));
    if (name->state != TT_NAME_REMOVED) continue;
    sqlite3_bind_int(store->statements[drop], 1, name->index + 1);
    TT_TRY(run(store, drop, error));
  }
  return TT_OK;
}

static tt_status put_pairs(sqlite_store *store, const tt_list *pairs, tt_error *error) {
  for (uint32_t i = 0; i < pairs->len; i++) {
    const tt_store_pair *pair = &tt_list_at(pairs, tt_store_pair, i);
    sqlite3_bind_int(store->statements[PUT_PAIR], 1, pair->device + 1);
    sqlite3_bind_int(store->statements[PUT_PAIR], 2, pair->attribute + 1);
    TT_TRY(run(store, PUT_PAIR, error));
  }
  return TT_OK;
}

static tt_status put_handlings(sqlite_store *store, const tt_list *handlings, tt_error *error) {
  for (uint32_t i = 0; i < handlings->len; i++) {
    const tt_handling *handling = &tt_list_at(handlings, tt_handling, i);
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

static tt_status put_epochs(sqlite_store *store, const tt_list *epochs, tt_error *error) {
  for (uint32_t i = 0; i < epochs->len; i++) {
    const tt_store_epoch *epoch = &tt_list_at(epochs, tt_store_epoch, i);
    sqlite3_stmt *prepared = store->statements[PUT_EPOCH];
    sqlite3_bind_int(prepared, 1, epoch->device + 1);
    sqlite3_bind_int(prepared, 2, epoch->number);
    sqlite3_bind_int64(prepared, 3, epoch->anchor);
    sqlite3_bind_int64(prepared, 4, epoch->offset_low);
    sqlite3_bind_int64(prepared, 5, epoch->offset_high);
    sqlite3_bind_int64(prepared, 6, epoch->key);
    bind_text(prepared, 7, epoch->boot);
    TT_TRY(run(store, PUT_EPOCH, error));
  }
  return TT_OK;
}

static tt_status write_all(sqlite_store *store, const tt_store_batch *batch, tt_error *error) {
  TT_TRY(tt_sqlite_execute(store->db, store->path, "BEGIN IMMEDIATE", error));
  TT_TRY(put_names(store, true, &batch->devices, error));
  TT_TRY(put_names(store, false, &batch->attributes, error));
  TT_TRY(put_pairs(store, &batch->pairs, error));
  TT_TRY(put_handlings(store, &batch->handlings, error));
  TT_TRY(put_epochs(store, &batch->epochs, error));
  TT_TRY(tt_sqlite_put_samples(store->samples, batch, error));
  return tt_sqlite_execute(store->db, store->path, "COMMIT", error);
}

static void set_state(sqlite_store *store, const char *trouble) {
  pthread_mutex_lock(&store->mutex);
  store->state.degraded = trouble;
  snprintf(store->state.reason, sizeof store->state.reason, "%.255s", trouble ? trouble : "");
  pthread_mutex_unlock(&store->mutex);
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

/** TT_FAILED: what is written goes into a file without a name, and is gone with the program. */
static tt_status check_files(const sqlite_store *store, tt_error *error) {
  const char *name = sqlite3_db_filename(store->db, "main");
  if (tt_file_has_moved(name, &store->file)) {
    return tt_fail(error, TT_FAILED,
                   "%s: removed or replaced while it is in use, so nothing is stored; put it back, "
                   "or end this program and begin again with a new one",
                   store->path);
  }
  if (tt_file_has_moved(sqlite3_filename_wal(name), &store->wal)) {
    return tt_fail(error, TT_FAILED,
                   "%s-wal: removed while it is in use, so nothing is stored; end this program, "
                   "which saves what was in it, and begin again",
                   store->path);
  }
  return TT_OK;
}

static tt_status write_or_nothing(sqlite_store *store, const tt_store_batch *batch,
                                  tt_error *error) {
  TT_TRY(check_files(store, error));
  tt_status status = write_all(store, batch, error);
  if (status != TT_OK && !sqlite3_get_autocommit(store->db)) {
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
  }
  // They may have gone meanwhile. It does no harm to write it again where they come back.
  return status == TT_OK ? check_files(store, error) : status;
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

static tt_status open_finder(sqlite_store *store, tt_error *error) {
  if (store->finder.value) return TT_OK;
  TT_TRY(tt_sqlite_connect_reading(store->path, &store->asked, error));
  return tt_sqlite_finder_open(&store->finder, store->asked, store->path, error);
}

static void close_finder(sqlite_store *store) {
  tt_sqlite_finder_close(&store->finder);
  sqlite3_close(store->asked);
  store->asked = NULL;
}

static tt_status sqlite_find(tt_store *base, const tt_store_question *question, tt_list *boots,
                             int64_t *key) {
  sqlite_store *store = (sqlite_store *)base;
  tt_sqlite_sought sought = {.device = question->device,
                             .boot = question->boot,
                             .except = -1,
                             .batch = question->batch,
                             .count = question->batch->samples.len};
  tt_error error;
  int number = -1;
  tt_status status = open_finder(store, &error);
  if (status == TT_OK) status = tt_sqlite_find(&store->finder, &sought, &number, &error);
  if (status == TT_OK) {
    status =
        tt_sqlite_load_boots(store->asked, store->path, question->device, number, boots, &error);
  }
  for (uint32_t i = 0; i < boots->len; i++) {
    const tt_store_epoch *epoch = &tt_list_at(boots, tt_store_boot, i).epoch;
    if (epoch->number == number) *key = epoch->key;
  }
  if (status == TT_OK || status == TT_NOT_FOUND) return status;
  tt_log_warning("telemetry: can't look for what may have been sent again: %s", error.text);
  close_finder(store);
  return TT_AGAIN;
}

static bool sqlite_tend(tt_store *base) {
  (void)base;
  return false;
}

static void sqlite_state(tt_store *base, tt_store_state *state) {
  sqlite_store *store = (sqlite_store *)base;
  pthread_mutex_lock(&store->mutex);
  *state = store->state;
  pthread_mutex_unlock(&store->mutex);
}

/** Nothing here waits for longer than the busy timeout. */
static void sqlite_hurry(tt_store *base) { (void)base; }

/** Looks at old samples of one epoch from where it last stopped. */
static tt_status purge_epoch(sqlite_store *store, const tt_store_purge *purge, int epoch,
                             int64_t device_before, int *removed, tt_error *error) {
  tt_map_key key = {(int64_t)purge->device << 32 | epoch, purge->attribute};
  const int64_t *known = tt_map_get(&store->purged, key);
  int64_t done = known ? *known : INT64_MIN;
  sqlite3_stmt *old = store->statements[OLD_SAMPLES];
  sqlite3_bind_int(old, 1, purge->device + 1);
  sqlite3_bind_int(old, 2, epoch);
  sqlite3_bind_int64(old, 3, done);
  sqlite3_bind_int64(old, 4, device_before);
  sqlite3_bind_int(old, 5, purge->limit);
  int looked = 0;
  int64_t first = 0, last = device_before;
  tt_status status = TT_OK;
  while (status == TT_OK && sqlite3_step(old) == SQLITE_ROW) {
    sqlite3_int64 id = sqlite3_column_int64(old, 0);
    int64_t time = sqlite3_column_int64(old, 1);
    if (!looked++) first = time;
    last = time > first ? time : time + 1;  // there may be more rows of this moment
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
  bool more = looked == purge->limit;
  if (!more) last = device_before > done ? device_before : done;
  tt_map_put(&store->purged, key, last);  // not noted, it is looked through once more
  return more ? TT_AGAIN : TT_OK;
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
  TT_TRY(tt_sqlite_execute(store->db, store->path, "BEGIN IMMEDIATE", error));
  tt_status status = purge_epochs(store, purge, removed, error);
  if (status == TT_OK || status == TT_AGAIN) {
    TT_TRY(tt_sqlite_execute(store->db, store->path, "COMMIT", error));
  } else {
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    tt_map_clear(&store->purged);
  }
  return status;
}

static tt_status sqlite_load(tt_store *base, const tt_store_loader *loader, tt_error *error) {
  sqlite_store *store = (sqlite_store *)base;
  return tt_sqlite_load(store->db, store->path, loader, error);
}

/* --- opening --- */

static void sqlite_close(tt_store *base) {
  sqlite_store *store = (sqlite_store *)base;
  close_finder(store);
  tt_sqlite_samples_close(store->samples);
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(store->statements[i]);
  sqlite3_close(store->db);
  tt_lock_release(&store->lock);
  tt_map_clear(&store->purged);
  pthread_mutex_destroy(&store->mutex);
  free(store->path);
  free(store);
}

/** Without statistics nobody reads, SQLite's allocator takes no lock. Only before its first use, hence once. */
static void configure_library(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

static tt_status open_file(sqlite_store *store, tt_error *error) {
  const char *path = store->path;
  static pthread_once_t configured = PTHREAD_ONCE_INIT;
  pthread_once(&configured, configure_library);
  if (sqlite3_open_v2(path, &store->db,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                      NULL) != SQLITE_OK) {
    return tt_sqlite_fail(store->db, path, "can't open", error);
  }
  const char *resolved = sqlite3_db_filename(store->db, "main");
  if (resolved && *resolved) TT_TRY(tt_lock_take(&store->lock, resolved, error));
  tt_sqlite_harden(store->db);
  sqlite3_busy_timeout(store->db, 300);
  sqlite3_wal_hook(store->db, on_commit, store);
  TT_TRY(tt_sqlite_execute(
      store->db, path,
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
      " PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY",
      error));
  TT_TRY(tt_sqlite_upgrade(store->db, path, error));
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    if (sqlite3_prepare_v3(store->db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                           &store->statements[i], NULL) != SQLITE_OK) {
      return tt_sqlite_fail(store->db, path, "can't prepare", error);
    }
  }
  if (resolved && *resolved) {
    store->file = tt_file_note(resolved);
    store->wal = tt_file_note(sqlite3_filename_wal(resolved));
  }
  return tt_sqlite_samples_open(store->db, path, &store->samples, error);
}

/* --- beginning and end --- */

static tt_status sqlite_open_reader(tt_store *base, tt_store_reader **out, tt_error *error) {
  return tt_sqlite_open_reader(((sqlite_store *)base)->path, out, error);
}

tt_status tt_sqlite_open(const char *path, tt_store **out, tt_error *error) {
  sqlite_store *store = calloc(1, sizeof *store);
  if (!store) return tt_fail(error, TT_NOMEM, "out of memory");
  store->base = (tt_store){.kind = "sqlite",
                           .load = sqlite_load,
                           .write = sqlite_write,
                           .find = sqlite_find,
                           .tend = sqlite_tend,
                           .purge = sqlite_purge,
                           .state = sqlite_state,
                           .hurry = sqlite_hurry,
                           .close = sqlite_close,
                           .open_reader = sqlite_open_reader};
  store->path = strdup(path);
  store->lock = TT_LOCK_NONE;
  pthread_mutex_init(&store->mutex, NULL);
  tt_status status =
      store->path ? open_file(store, error) : tt_fail(error, TT_NOMEM, "out of memory");
  if (status != TT_OK) {
    sqlite_close(&store->base);
    return status;
  }
  *out = &store->base;
  return TT_OK;
}
