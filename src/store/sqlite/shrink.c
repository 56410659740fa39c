/* shrink.c: gives the room back that rows have left behind in the file. */
#include "database/sqlite_link.h"
#include "store/sqlite/seal.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/** Pages of a file, and those of them that nothing stands in. */
typedef struct pages {
  int64_t size, all, unused;
} pages;

static tt_status count_pages(sqlite3 *db, const char *path, pages *counted, tt_error *error) {
  sqlite3_stmt *query;
  if (sqlite3_prepare_v2(db,
                         "SELECT page_size, page_count, freelist_count FROM pragma_page_size,"
                         " pragma_page_count, pragma_freelist_count",
                         -1, &query, NULL) != SQLITE_OK)
    return tt_sqlite_fail(db, path, "can't read", error);
  int result = sqlite3_step(query);
  *counted = (pages){sqlite3_column_int64(query, 0), sqlite3_column_int64(query, 1),
                     sqlite3_column_int64(query, 2)};
  sqlite3_finalize(query);
  return result == SQLITE_ROW ? TT_OK : tt_sqlite_fail(db, path, "can't read", error);
}

/** What stays is written twice before the file is cut: into another one, and into the log. */
static tt_status check_room(const char *folder, const char *path, const pages *counted,
                            tt_error *error) {
  struct statvfs disk;
  const int64_t needed = 2 * counted->size * (counted->all - counted->unused) + (16 << 20);
  if (statvfs(folder, &disk)) return TT_OK;  // it will be seen
  const uint64_t available = (uint64_t)disk.f_bavail * disk.f_frsize;
  if (available >= (uint64_t)needed) return TT_OK;
  return tt_fail(error, TT_FULL,
                 "%s: %.0f MB of it are not used any more, and will be by what comes next; to give "
                 "them back now takes %.0f MB of room on the disk, which has %.0f MB",
                 path, (double)(counted->unused * counted->size) / 1e6, (double)needed / 1e6,
                 (double)available / 1e6);
}

/** Nothing is gathered in memory, and beside the file there is room, which in /tmp may not be. */
static tt_status rewrite(sqlite3 *db, const char *path, const char *folder, tt_error *error) {
  char *sql = sqlite3_mprintf(
      "PRAGMA temp_store = FILE; PRAGMA temp_store_directory = %Q; PRAGMA cache_size = -16384",
      folder);
  tt_status status = sql ? tt_sqlite_execute(db, path, sql, error)
                         : tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  sqlite3_free(sql);
  if (status != TT_OK) return status;
  int attached = sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 1);  // the other file
  status = tt_sqlite_execute(db, path, "VACUUM", error);
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, attached);
  sqlite3_exec(db,
               "PRAGMA temp_store = MEMORY; PRAGMA temp_store_directory = '';"
               " PRAGMA cache_size = -16384",
               NULL, NULL, NULL);
  return status;
}

tt_status tt_sqlite_shrink(sqlite3 *db, const char *path, tt_error *error) {
  pages counted = {0};
  TT_TRY(count_pages(db, path, &counted, error));
  if (counted.unused < counted.all / 20) return TT_OK;
  char *name = strdup(sqlite3_db_filename(db, "main"));
  if (!name) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  const char *folder = dirname(name);
  tt_status status = check_room(folder, path, &counted, error);
  if (status == TT_OK) status = rewrite(db, path, folder, error);
  free(name);
  return status;
}
