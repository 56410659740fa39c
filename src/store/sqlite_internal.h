/* sqlite_internal.h: shared by sqlite.c (batches into the file), sqlite_link.c (a connection to it), sqlite_samples.c (their
 * samples, each value once), sqlite_find.c (messages that are stored), sqlite_schema.c (its tables and their versions), sqlite_load.c (what it knows
 * already) and sqlite_read.c (cursors).
 */
#ifndef TT_STORE_SQLITE_INTERNAL_H
#define TT_STORE_SQLITE_INTERNAL_H

#include "store/sqlite_link.h"
#include "store/store.h"

#include <sqlite3.h>

/* --- sqlite_link.c, which has a header of its own --- */

/** Binds a value of the batch, whose text must outlive the statement's run. */
void tt_sqlite_bind_value(sqlite3_stmt *prepared, int index, const tt_store_batch *batch,
                          const tt_store_value *value);
/** Binds the number of a message; 0, it had none, as NULL. */
void tt_sqlite_bind_seq(sqlite3_stmt *prepared, int index, int64_t seq);

/* --- sqlite_schema.c, sqlite_load.c --- */

/** Makes the tables, or upgrades older ones. TT_VERSION: a newer program made them. */
tt_status tt_sqlite_upgrade(sqlite3 *db, const char *path, tt_error *error);
/** Tells everything the file knows. */
tt_status tt_sqlite_load(sqlite3 *db, const char *path, const tt_store_loader *loader,
                         tt_error *error);
/** Adds the latest epochs of a device, and the one with that number, oldest first (tt_store_boot). */
tt_status tt_sqlite_load_boots(sqlite3 *db, const char *path, int device, int number,
                               tt_list *boots, tt_error *error);

/* --- sqlite_find.c --- */

/** Looks for messages on one connection; zero at first. */
typedef struct tt_sqlite_finder {
  sqlite3 *db;
  const char *path;
  sqlite3_stmt *candidates, *value;
} tt_sqlite_finder;

/** A message: samples `first`… of a batch, in epochs of the boot but for the one whose number is `except` (−1: none). */
typedef struct tt_sqlite_sought {
  int device;
  const char *boot;
  int except;
  const tt_store_batch *batch;
  uint32_t first, count;
} tt_sqlite_sought;

/** To be closed on failure, too. */
tt_status tt_sqlite_finder_open(tt_sqlite_finder *finder, sqlite3 *db, const char *path,
                                tt_error *error);
/** Ends its statements; the connection stays. */
void tt_sqlite_finder_close(tt_sqlite_finder *finder);
/** The number of the latest epoch in which all firm values of the message stand. TT_NOT_FOUND. */
tt_status tt_sqlite_find(tt_sqlite_finder *finder, const tt_sqlite_sought *sought, int *epoch,
                         tt_error *error);

/* --- sqlite_samples.c --- */

typedef struct tt_sqlite_samples tt_sqlite_samples;

/** `path` must outlive it. */
tt_status tt_sqlite_samples_open(sqlite3 *db, const char *path, tt_sqlite_samples **samples,
                                 tt_error *error);
/** NULL-safe. */
void tt_sqlite_samples_close(tt_sqlite_samples *samples);
/** Within a transaction, behind the batch's epochs. */
tt_status tt_sqlite_put_samples(tt_sqlite_samples *samples, const tt_store_batch *batch,
                                tt_error *error);

/* --- sqlite_read.c --- */

/** A reader of its own connection, which sees one moment. Any thread. Ended by its `close`. */
tt_status tt_sqlite_open_reader(const char *path, tt_store_reader **reader, tt_error *error);

#endif
