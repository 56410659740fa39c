/* internal.h: shared by sqlite.c (batches into the file), bind.c (values as parameters), samples.c (their
 * samples, each value once), foreign.c (batches of other processes), find.c (messages that are stored), schema.c (its tables and
 * their versions), load.c (what it knows already), read.c (cursors) and latest.c (newest values).
 */
#ifndef TT_STORE_SQLITE_INTERNAL_H
#define TT_STORE_SQLITE_INTERNAL_H

#include "database/sqlite_link.h"
#include "store/sqlite/marks.h"
#include "store/sqlite/scan.h"

#include <sqlite3.h>

/** This folder, as the registry of backends knows it. Static. */
extern const tt_store_backend tt_sqlite_backend;

/* --- bind.c --- */

/** Binds a value of the batch, whose text must outlive the statement's run. */
void tt_sqlite_bind_value(sqlite3_stmt *prepared, int index, const tt_store_batch *batch,
                          const tt_store_value *value);
/** Binds the number of a message; 0, it had none, as NULL. */
void tt_sqlite_bind_seq(sqlite3_stmt *prepared, int index, int64_t seq);

/** Whether the value of a row is that of a batch. */
bool tt_sqlite_column_has(const tt_sqlite_column *column, uint32_t row, const tt_store_batch *batch,
                          const tt_store_value *value);

/* --- schema.c, load.c --- */

/** Makes the tables, or upgrades older ones. TT_VERSION: a newer program made them. */
tt_status tt_sqlite_upgrade(sqlite3 *db, const char *path, tt_error *error);
/** Makes the view `telemetry` one of rows and of what is packed, which plain SQLite can't read, or one of rows. Within a
 *  transaction. */
tt_status tt_sqlite_show_packed(sqlite3 *db, const char *path, bool packed, tt_error *error);
/** For readers. TT_VERSION: the tables are not of this version; TT_NOT_FOUND: there are none. */
tt_status tt_sqlite_check_version(sqlite3 *db, const char *path, tt_error *error);
/** Tells everything the file knows. */
tt_status tt_sqlite_load(sqlite3 *db, const char *path, const tt_store_loader *loader,
                         tt_error *error);
/** Adds the latest epochs of a device, and the one with that number, oldest first (tt_store_boot). */
tt_status tt_sqlite_load_boots(sqlite3 *db, const char *path, int device, int number,
                               tt_list *boots, tt_error *error);

/* --- foreign.c --- */

/** Makes a batch of what one of another process says, which must be whole in itself, in an empty one; names and epochs that
 *  are new are in the file then. Within a transaction. `*news`: who was told what the file knows is to be told again. TT_INVALID: it
 *  is not whole. */
tt_status tt_sqlite_translate(sqlite3 *db, const char *path, const tt_store_batch *batch,
                              tt_store_batch *own, bool *news, tt_error *error);

/* --- backup.c --- */

/** See tt_store_backend.back_up. */
tt_status tt_sqlite_back_up(const char *path, const char *target,
                            bool (*progress)(void *context, double done), void *context,
                            tt_error *error);

/* --- find.c --- */

/** Looks for messages on one connection; zero at first. */
typedef struct tt_sqlite_finder {
  sqlite3 *db;
  const char *path;
  tt_sqlite_pieces *pieces;
  sqlite3_stmt *candidates, *value;
} tt_sqlite_finder;

/** A message: samples `first`… of a batch, in epochs of the boot but for the one whose number is `except` (−1: none). */
typedef struct tt_sqlite_sought {
  int device;
  const char *boot;
  int except;
  const tt_store_batch *batch;
  uint32_t first, count;
  uint32_t values; /**< that are looked at, at most */
} tt_sqlite_sought;

/** Looks into segments, too. To be closed on failure, too. */
tt_status tt_sqlite_finder_open(tt_sqlite_finder *finder, sqlite3 *db, const char *path,
                                tt_error *error);
/** Ends its statements; the connection stays. */
void tt_sqlite_finder_close(tt_sqlite_finder *finder);
/** The number of the latest epoch in which all firm values of the message stand. TT_NOT_FOUND. */
tt_status tt_sqlite_find(tt_sqlite_finder *finder, const tt_sqlite_sought *sought, int *epoch,
                         tt_error *error);

/* --- samples.c --- */

typedef struct tt_sqlite_samples tt_sqlite_samples;

/** `path` and `marks` must outlive it. */
tt_status tt_sqlite_samples_open(sqlite3 *db, const char *path, tt_sqlite_marks *marks,
                                 tt_sqlite_samples **samples, tt_error *error);
/** NULL-safe. */
void tt_sqlite_samples_close(tt_sqlite_samples *samples);
/** Something was sealed or unsealed: what is known of how far it goes is so no more. */
void tt_sqlite_samples_forget(tt_sqlite_samples *samples);
/** A transaction failed: what it noted is there no more. */
void tt_sqlite_samples_undone(tt_sqlite_samples *samples);
/** Within a transaction, behind the batch's epochs. */
tt_status tt_sqlite_put_samples(tt_sqlite_samples *samples, const tt_store_batch *batch,
                                tt_error *error);

/* --- read.c --- */

/** A connection that sees one moment. */
typedef struct tt_sqlite_reader {
  tt_store_reader base;
  sqlite3 *db;
  char *path;
  tt_sqlite_pieces *pieces; /**< of the connection */
} tt_sqlite_reader;

/** A reader of its own connection, which sees one moment. Any thread. Ended by its `close`. */
tt_status tt_sqlite_open_reader(const char *path, tt_store_reader **reader, tt_error *error);
/** The same of a file that nobody here has opened: see tt_store_backend.open_reader(). */
tt_status tt_sqlite_open_alone(const char *path, tt_store_reader **reader, tt_error *error);

/* --- latest.c --- */

/** See tt_store_reader.latest(). */
tt_status tt_sqlite_latest(tt_store_reader *reader, int device,
                           bool (*take)(void *context, const tt_store_latest *latest),
                           void *context, tt_error *error);

#endif
