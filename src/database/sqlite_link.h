/* sqlite_link.h: a connection to a file of SQLite, and what is said to it by all that use one. */
#ifndef TT_DATABASE_SQLITE_LINK_H
#define TT_DATABASE_SQLITE_LINK_H

#include "base/status.h"

#include <sqlite3.h>
#include <stdbool.h>

/** Opens a connection as sqlite3_open_v2() does with these flags; to be closed on failure, too. TT_INVALID: a folder, or a pipe or a device,
 *  at which SQLite would wait for ever. */
tt_status tt_sqlite_connect(const char *path, int flags, sqlite3 **db, tt_error *error);
/** Whether the connection's last error is that its disk has no room. */
bool tt_sqlite_found_no_room(sqlite3 *db);
/** The connection's last error, with the file and what was tried. */
tt_status tt_sqlite_fail(sqlite3 *db, const char *path, const char *what, tt_error *error);
/** Runs statements that give no rows. */
tt_status tt_sqlite_execute(sqlite3 *db, const char *path, const char *sql, tt_error *error);
/** A file is data, whoever made it: nothing in its schema runs anything. */
void tt_sqlite_harden(sqlite3 *db);
/** A connection that reads and never checkpoints. To be closed on failure, too. */
tt_status tt_sqlite_connect_reading(const char *path, sqlite3 **db, tt_error *error);

#endif
