/* conformance_test.c: every case of the suite, in files. */
#include "store/conformance.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

static bool execute(const char *sql) {
  sqlite3 *db;
  bool done = sqlite3_open(tt_testing_file(), &db) == SQLITE_OK &&
              sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
  sqlite3_close(db);
  return done;
}

static bool make_older(const char *url) {
  (void)url;
  char *sql;
  if (!g_file_get_contents(TETHER_SOURCE_DIR "/tests/telemetry/stored_4.sql", &sql, NULL, NULL))
    return false;
  bool made = execute(sql);
  g_free(sql);
  return made;
}

static bool make_newer(const char *url) {
  (void)url;
  return execute("PRAGMA user_version = 99");
}

/** A file may not grow: what SQLite is told is another error than on a full disk, but as much is written. */
static bool fill_disk(const char *url, bool full) {
  (void)url;
  struct rlimit limit;
  signal(SIGXFSZ, SIG_IGN);
  if (getrlimit(RLIMIT_FSIZE, &limit)) return false;
  limit.rlim_cur = full ? 1 << 20 : limit.rlim_max;
  return !setrlimit(RLIMIT_FSIZE, &limit);
}

int main(void) {
  static const tt_store_place place = {
      .make_older = make_older, .make_newer = make_newer, .fill_disk = fill_disk};
  return tt_store_conform("sqlite", &place);
}
