/* sqlite_link.c: a connection to a file, and what is said to it by all that use one. */
#include "database/sqlite_link.h"

#include "base/file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

tt_status tt_sqlite_connect(const char *path, int flags, sqlite3 **db, tt_error *error) {
  *db = NULL;
  TT_TRY(tt_file_check_place(path, "give a file", error));
  return sqlite3_open_v2(path, db, flags, NULL) == SQLITE_OK
             ? TT_OK
             : tt_sqlite_fail(*db, path, "can't open", error);
}

bool tt_sqlite_found_no_room(sqlite3 *db) {
  const int code = sqlite3_errcode(db) & 0xff, number = sqlite3_system_errno(db);
  const bool refused = code == SQLITE_CANTOPEN || code == SQLITE_IOERR;
  return code == SQLITE_FULL || (refused && (number == ENOSPC || number == EDQUOT));
}

tt_status tt_sqlite_fail(sqlite3 *db, const char *path, const char *what, tt_error *error) {
  const bool unopened = db && sqlite3_errcode(db) == SQLITE_CANTOPEN && sqlite3_system_errno(db);
  return tt_fail(error, TT_FAILED, "%s: %s: %s%s%s", path, what,
                 db ? sqlite3_errmsg(db) : "out of memory", unopened ? ": " : "",
                 unopened ? strerror(sqlite3_system_errno(db)) : "");
}

tt_status tt_sqlite_execute(sqlite3 *db, const char *path, const char *sql, tt_error *error) {
  return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK
             ? TT_OK
             : tt_sqlite_fail(db, path, "SQLite says", error);
}

void tt_sqlite_harden(sqlite3 *db) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
}

tt_status tt_sqlite_connect_reading(const char *path, sqlite3 **db, tt_error *error) {
  TT_TRY(tt_sqlite_connect(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, db, error));
  tt_sqlite_harden(*db);
  sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  return tt_sqlite_execute(*db, path, "PRAGMA query_only = ON; PRAGMA cache_size = -1024", error);
}
