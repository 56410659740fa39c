/* sqlite.c: the store in one file.
 *
 * One connection does all writes and all checkpoints; readers are read-only and never checkpoint (two connections
 * that write or checkpoint at once can corrupt a WAL in SQLite before 3.51.3). synchronous=FULL: a
 * committed batch survives a power cut.
 *
 * A sample is one row; its values are rows of their own, keyed by the sample, so that both tables only grow at
 * their ends and every record lies together (samples.c).
 */
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "database/lock.h"
#include "store/sqlite/erase.h"
#include "store/sqlite/internal.h"
#include "store/sqlite/make.h"
#include "store/sqlite/packed_table.h"
#include "store/sqlite/purge.h"
#include "store/sqlite/seal.h"
#include "store/told_state.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define SCHEME "sqlite:"
#define PAGE_SIZE 4096 /* SQLite's default */
#define CHECKPOINT_PAGES 4000
/** µs between two times at which what others made known is told. */
#define TELL_INTERVAL 500000

typedef enum statement {
  PUT_DEVICE,
  PUT_ATTRIBUTE,
  UNNAME_DEVICE,
  UNNAME_ATTRIBUTE,
  DROP_DEVICE,
  DROP_ATTRIBUTE,
  PUT_PAIR,
  PUT_HANDLING,
  DROP_HANDLING,
  PUT_EPOCH,
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
    [UNNAME_DEVICE] = "UPDATE device SET name = NULL WHERE name = ?1 AND id <> ?2",
    [UNNAME_ATTRIBUTE] = "UPDATE attribute SET name = NULL WHERE name = ?1 AND id <> ?2",
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
};

typedef struct sqlite_store {
  tt_store base;
  sqlite3 *db;
  sqlite3_stmt *statements[STATEMENT_COUNT];
  tt_sqlite_samples *samples;
  tt_sqlite_marks marks;
  tt_sqlite_maker maker;
  tt_sqlite_eraser *eraser;
  char *path;
  tt_lock lock; /**< against other programs that write */
  tt_file_mark file,
      wal;       /**< those that were opened, which keep names unless somebody removes them */
  int log_pages; /**< of the write-ahead log */
  tt_sqlite_pieces *pieces; /**< of the connection, for those two */
  tt_sqlite_purger *purger;
  tt_sqlite_sealer *sealer;
  tt_told_state state;
  sqlite3 *asked; /**< another connection, opened when a message is looked for */
  tt_sqlite_finder finder;
  tt_store_loader loader;
  bool stale;        /**< batches of others made something known that it has not been told */
  int64_t next_tell; /**< µs: not before then */
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

/** Two collectors may give one name to two things, or move it while nobody stores: the later one has it. */
static tt_status take_from_others(sqlite_store *store, bool devices, const tt_store_name *name,
                                  tt_error *error) {
  const statement unname = devices ? UNNAME_DEVICE : UNNAME_ATTRIBUTE;
  if (!name->name || !*name->name) return TT_OK;
  bind_text(store->statements[unname], 1, name->name);
  sqlite3_bind_int(store->statements[unname], 2, name->index + 1);
  return run(store, unname, error);
}

static tt_status put_names(sqlite_store *store, bool devices, const tt_list *names,
                           tt_error *error) {
  const statement put = devices ? PUT_DEVICE : PUT_ATTRIBUTE;
  const statement drop = devices ? DROP_DEVICE : DROP_ATTRIBUTE;
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    sqlite3_stmt *prepared = store->statements[put];
    TT_TRY(take_from_others(store, devices, name, error));
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

static tt_status put_batch(sqlite_store *store, const tt_store_batch *batch, tt_error *error) {
  TT_TRY(put_names(store, true, &batch->devices, error));
  TT_TRY(put_names(store, false, &batch->attributes, error));
  TT_TRY(put_pairs(store, &batch->pairs, error));
  TT_TRY(put_handlings(store, &batch->handlings, error));
  TT_TRY(put_epochs(store, &batch->epochs, error));
  tt_sqlite_purger_came(store->purger, batch);
  return tt_sqlite_put_samples(store->samples, batch, error);
}

static tt_status put_foreign(sqlite_store *store, const tt_store_batch *batch, tt_error *error) {
  tt_store_batch *own = tt_store_batch_new();
  if (!own) return tt_fail(error, TT_NOMEM, "out of memory");
  bool news = false;
  tt_status status = tt_sqlite_translate(store->db, store->path, batch, own, &news, error);
  store->stale |= news;
  if (status == TT_OK) status = put_batch(store, own, error);
  tt_store_batch_free(own);
  return status;
}

static tt_status write_all(sqlite_store *store, const tt_store_batch *batch, bool foreign,
                           tt_error *error) {
  TT_TRY(tt_sqlite_execute(store->db, store->path, "BEGIN IMMEDIATE", error));
  TT_TRY((foreign ? put_foreign : put_batch)(store, batch, error));
  return tt_sqlite_execute(store->db, store->path, "COMMIT", error);
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

/** On a full disk the write-ahead log may be what fills it: gives its room back, for one more try. */
static void empty_log(sqlite_store *store) {
  sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
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

static tt_status write_or_nothing(sqlite_store *store, const tt_store_batch *batch, bool foreign,
                                  tt_error *error) {
  TT_TRY(check_files(store, error));
  tt_status status = write_all(store, batch, foreign, error);
  if (status != TT_OK && !sqlite3_get_autocommit(store->db)) {
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
  }
  if (status != TT_OK) {
    tt_sqlite_marks_forget(&store->marks);
    tt_sqlite_samples_undone(store->samples);
  }
  // They may have gone meanwhile. It does no harm to write it again where they come back.
  return status == TT_OK ? check_files(store, error) : status;
}

static tt_status write_batch(sqlite_store *store, const tt_store_batch *batch, bool foreign,
                             tt_error *error) {
  tt_error trouble;
  const int64_t begun = tt_monotonic_us();
  tt_status status = write_or_nothing(store, batch, foreign, &trouble);
  if (status != TT_OK && status != TT_INVALID) {
    empty_log(store);
    status = write_or_nothing(store, batch, foreign, &trouble);
  }
  if (status == TT_OK) {
    checkpoint_if_due(store);
  } else {
    tt_fail(error, status, "%s", trouble.text);
  }
  tt_told_state_set(&store->state, status == TT_OK ? NULL : trouble.text);
  store->maker.wrote += tt_monotonic_us() - begun;
  return status;
}

static tt_status sqlite_write(tt_store *base, const tt_store_batch *batch, tt_error *error) {
  return write_batch((sqlite_store *)base, batch, false, error);
}

static tt_status sqlite_write_foreign(tt_store *base, const tt_store_batch *batch,
                                      tt_error *error) {
  return write_batch((sqlite_store *)base, batch, true, error);
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
                             .count = question->batch->samples.len,
                             .values = TT_STORE_VALUES};
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

/** What batches of others have made known. */
static void tell_news(sqlite_store *store) {
  tt_error error;
  const int64_t now = tt_monotonic_us();
  if (!store->stale || !store->loader.device || now < store->next_tell) return;
  store->next_tell = now + TELL_INTERVAL;
  store->stale = tt_sqlite_load(store->db, store->path, &store->loader, &error) != TT_OK;
}

static bool sqlite_tend(tt_store *base) {
  sqlite_store *store = (sqlite_store *)base;
  const int pages = store->log_pages;
  tell_news(store);
  tt_sqlite_make(&store->maker);
  if (store->log_pages != pages) checkpoint_if_due(store);
  return false;
}

static void sqlite_state(tt_store *base, tt_store_state *state) {
  sqlite_store *store = (sqlite_store *)base;
  tt_told_state_get(&store->state, state);
  struct stat file;
  const char *name = sqlite3_db_filename(store->db, "main");
  if (!stat(name, &file)) state->bytes = (uint64_t)file.st_size;
  if (!stat(sqlite3_filename_wal(name), &file)) state->bytes += (uint64_t)file.st_size;
}

/** Nothing here waits for longer than the busy timeout. */
static void sqlite_hurry(tt_store *base) { (void)base; }

static tt_status sqlite_purge(tt_store *base, const tt_store_purge *purge, int *removed,
                              tt_error *error) {
  sqlite_store *store = (sqlite_store *)base;
  return purge->exact ? tt_sqlite_erase(store->eraser, purge, removed, error)
                      : tt_sqlite_purge(store->purger, purge, removed, error);
}

/* --- sealing --- */

static tt_status seal_or_nothing(sqlite_store *store, const tt_store_sealing *sealing,
                                 tt_store_sealed *sealed, tt_error *error) {
  TT_TRY(check_files(store, error));
  tt_status status = sealing->undo ? tt_sqlite_unseal(store->db, store->path, store->pieces,
                                                      sealing, sealed, error)
                                   : tt_sqlite_seal(store->sealer, sealing, sealed, error);
  tt_sqlite_samples_forget(store->samples);
  if (sealing->undo && sealed->values) tt_sqlite_purger_forget(store->purger);
  return status;
}

static tt_status sqlite_seal(tt_store *base, const tt_store_sealing *sealing,
                             tt_store_sealed *sealed, tt_error *error) {
  sqlite_store *store = (sqlite_store *)base;
  tt_error trouble;
  tt_status status = seal_or_nothing(store, sealing, sealed, &trouble);
  if (status != TT_OK && status != TT_AGAIN) {
    empty_log(store);
    status = seal_or_nothing(store, sealing, sealed, &trouble);
  }
  if (status == TT_OK || status == TT_AGAIN)
    checkpoint_if_due(store);
  else
    tt_fail(error, status, "%s", trouble.text);
  return status;
}

static tt_status sqlite_shrink(tt_store *base, tt_error *error) {
  sqlite_store *store = (sqlite_store *)base;
  empty_log(store);
  tt_status status = tt_sqlite_shrink(store->db, store->path, error);
  empty_log(store);
  return status;
}

static tt_status sqlite_load(tt_store *base, const tt_store_loader *loader, tt_error *error) {
  sqlite_store *store = (sqlite_store *)base;
  store->loader = *loader;
  return tt_sqlite_load(store->db, store->path, loader, error);
}

/* --- opening --- */

static void sqlite_close(tt_store *base) {
  sqlite_store *store = (sqlite_store *)base;
  close_finder(store);
  tt_sqlite_samples_close(store->samples);
  tt_sqlite_maker_close(&store->maker);
  tt_sqlite_marks_close(&store->marks);
  tt_sqlite_purger_close(store->purger);
  tt_sqlite_sealer_close(store->sealer);
  tt_sqlite_pieces_close(store->pieces);
  tt_sqlite_eraser_close(store->eraser);
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(store->statements[i]);
  sqlite3_close(store->db);
  tt_lock_release(&store->lock);
  tt_told_state_clear(&store->state);
  free(store->path);
  free(store);
}

/** Without statistics nobody reads, SQLite's allocator takes no lock. Only before its first use, hence once. */
static void configure_library(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

static tt_status open_file(sqlite_store *store, tt_error *error) {
  const char *path = store->path;
  static pthread_once_t configured = PTHREAD_ONCE_INIT;
  pthread_once(&configured, configure_library);
  TT_TRY(tt_sqlite_connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                           &store->db, error));
  if (tt_sqlite_register_packed(store->db) != SQLITE_OK ||
      tt_sqlite_register_scan(store->db) != SQLITE_OK) {
    return tt_sqlite_fail(store->db, path, "can't open", error);
  }
  const char *resolved = sqlite3_db_filename(store->db, "main");
  TT_TRY(tt_lock_take(&store->lock, resolved, error));
  tt_sqlite_harden(store->db);
  sqlite3_busy_timeout(store->db, 300);
  sqlite3_wal_hook(store->db, on_commit, store);
  TT_TRY(tt_sqlite_execute(
      store->db, path,
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
      " PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY",
      error));
  TT_TRY(tt_sqlite_upgrade(store->db, path, error));
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    if (sqlite3_prepare_v3(store->db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                           &store->statements[i], NULL) != SQLITE_OK) {
      return tt_sqlite_fail(store->db, path, "can't prepare", error);
    }
  }
  store->file = tt_file_note(resolved);
  store->wal = tt_file_note(sqlite3_filename_wal(resolved));
  TT_TRY(tt_sqlite_pieces_open(store->db, path, &store->pieces, error));
  TT_TRY(tt_sqlite_marks_open(store->db, path, &store->marks, error));
  TT_TRY(tt_sqlite_maker_open(store->db, path, &store->marks, &store->maker, error));
  TT_TRY(
      tt_sqlite_purger_open(store->db, path, store->pieces, &store->marks, &store->purger, error));
  TT_TRY(tt_sqlite_sealer_open(store->db, path, store->pieces, &store->sealer, error));
  TT_TRY(
      tt_sqlite_eraser_open(store->db, path, store->pieces, &store->marks, &store->eraser, error));
  return tt_sqlite_samples_open(store->db, path, &store->marks, &store->samples, error);
}

/* --- beginning and end --- */

static tt_status sqlite_reader_of(tt_store *base, tt_store_reader **out, tt_error *error) {
  return tt_sqlite_open_reader(((sqlite_store *)base)->path, out, error);
}

/** Both would be gone with the process. */
static tt_status sqlite_check(const char *url, tt_error *error) {
  const char *path = url + strlen(SCHEME);
  if (*path && strcmp(path, ":memory:") != 0) return TT_OK;
  return tt_fail(error, TT_INVALID, "sqlite: '%s' is no name of a file; give " SCHEME "FILE", path);
}

static tt_status sqlite_open(const tt_store_options *options, tt_store **out, tt_error *error) {
  sqlite_store *store = calloc(1, sizeof *store);
  if (!store) return tt_fail(error, TT_NOMEM, "out of memory");
  store->base = (tt_store){.backend = &tt_sqlite_backend,
                           .load = sqlite_load,
                           .write = sqlite_write,
                           .write_foreign = sqlite_write_foreign,
                           .find = sqlite_find,
                           .tend = sqlite_tend,
                           .purge = sqlite_purge,
                           .seal = sqlite_seal,
                           .shrink = sqlite_shrink,
                           .state = sqlite_state,
                           .hurry = sqlite_hurry,
                           .close = sqlite_close,
                           .open_reader = sqlite_reader_of};
  store->path = strdup(options->url + strlen(SCHEME));
  store->lock = TT_LOCK_NONE;
  tt_told_state_init(&store->state);
  tt_status status =
      store->path ? open_file(store, error) : tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_FAILED && tt_sqlite_found_no_room(store->db)) status = TT_FULL;
  if (status != TT_OK) {
    sqlite_close(&store->base);
    return status;
  }
  *out = &store->base;
  return TT_OK;
}

static tt_status sqlite_open_reader(const tt_store_options *options, tt_store_reader **reader,
                                    tt_error *error) {
  return tt_sqlite_open_alone(options->url + strlen(SCHEME), reader, error);
}

static tt_status sqlite_back_up(const tt_store_options *options, const char *path,
                                bool (*progress)(void *context, double done), void *context,
                                tt_error *error) {
  return tt_sqlite_back_up(options->url + strlen(SCHEME), path, progress, context, error);
}

const tt_store_backend tt_sqlite_backend = {
    .kind = "sqlite",
    .schemes = (const char *const[]){SCHEME, NULL},
    .example = SCHEME "FILE",
    .file = "telemetry.sqlite",
    .abilities = TT_STORE_READS | TT_STORE_PURGES | TT_STORE_SEALS | TT_STORE_COPIES,
    .check = sqlite_check,
    .open = sqlite_open,
    .open_reader = sqlite_open_reader,
    .back_up = sqlite_back_up};
