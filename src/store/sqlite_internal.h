/* sqlite_internal.h: shared by sqlite.c (batches into the file), sqlite_schema.c (its tables and their versions),
 * sqlite_load.c (what it knows already) and sqlite_read.c (cursors).
 */
#ifndef TT_STORE_SQLITE_INTERNAL_H
#define TT_STORE_SQLITE_INTERNAL_H

#include "store/store.h"

#include <sqlite3.h>

/** The connection's last error, with the file and what was tried. */
tt_status tt_sqlite_fail(sqlite3 *db, const char *path, const char *what, tt_error *error);
/** Runs statements that give no rows. */
tt_status tt_sqlite_execute(sqlite3 *db, const char *path, const char *sql, tt_error *error);
/** A file is data, whoever made it: nothing in its schema runs anything. */
void tt_sqlite_harden(sqlite3 *db);
/** Makes the tables, or upgrades older ones. TT_VERSION: a newer program made them. */
tt_status tt_sqlite_upgrade(sqlite3 *db, const char *path, tt_error *error);
/** Tells everything the file knows. */
tt_status tt_sqlite_load(sqlite3 *db, const char *path, const tt_store_loader *loader,
                         tt_error *error);
tt_status tt_sqlite_open_reader(const char *path, tt_store_reader **reader, tt_error *error);

#endif
