/* conformance_test.c: every case of the suite, in PostgreSQL with a spool around it. Needs TETHER_TEST_POSTGRES, the
 * URL of a database whose schema `tether` may be dropped, on a server that listens on a Unix socket in a folder of ours
 * (tests/telemetry/store_postgres_test.py gives one); without it all is skipped. */
#include "store/conformance.h"

#include <glib/gstdio.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/** Bytes of a file of the server's: as long as those of its log, which must go on. */
#define DISK (16 << 20)

static const char *url(void) { return g_getenv("TETHER_TEST_POSTGRES"); }

/** One value, to be freed; NULL: it fails. */
static char *ask(const char *sql) {
  PGconn *connection = PQconnectdb(url());
  PGresult *result = PQexec(connection, sql);
  const ExecStatusType status = PQresultStatus(result);
  char *text = NULL;
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
    text = g_strdup(PQntuples(result) ? PQgetvalue(result, 0, 0) : "");
  else
    fprintf(stderr, "%s", PQerrorMessage(connection));
  PQclear(result);
  PQfinish(connection);
  return text;
}

static bool execute(const char *sql) {
  char *text = ask(sql);
  g_free(text);
  return text;
}

static bool clean(const char *database) {
  (void)database;
  return execute(
      "SET client_min_messages = error; SET lock_timeout = '10s'; DROP SCHEMA IF EXISTS tether "
      "CASCADE");
}

static bool execute_file(const char *path) {
  char *sql;
  if (!g_file_get_contents(path, &sql, NULL, NULL)) return false;
  bool made = execute(sql);
  g_free(sql);
  return made;
}

static bool make_older(const char *database) {
  (void)database;
  return execute_file(TETHER_SOURCE_DIR "/tests/telemetry/schema_4_postgres.sql") &&
         execute_file(TETHER_SOURCE_DIR "/tests/telemetry/stored_4_postgres.sql");
}

static bool make_newer(const char *database) {
  (void)database;
  return execute("UPDATE tether.schema_version SET version = 99");
}

/* --- the server --- */

/** The process that starts all others of the server. */
static pid_t find_postmaster(void) {
  char *text = ask("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)");
  const pid_t found = text ? (pid_t)atoi(text) : 0;
  g_free(text);
  return found;
}

static bool limit_process(pid_t process, bool full) {
  struct rlimit limit;
  if (prlimit(process, RLIMIT_FSIZE, NULL, &limit)) return false;
  limit.rlim_cur = full ? DISK : limit.rlim_max;
  return !prlimit(process, RLIMIT_FSIZE, &limit, NULL);
}

static bool limit_server(pid_t postmaster, const char *children, bool full) {
  bool limited = limit_process(postmaster, full);
  char **processes = g_strsplit(children, " ", -1);
  for (char **process = processes; *process; process++)
    if (**process) limit_process((pid_t)atoi(*process), full);  // or it has ended
  g_strfreev(processes);
  return limited;
}

/** No file of the server's may grow beyond DISK; to it that is a full disk. Only its user may do that. */
static bool fill_disk(const char *database, bool full) {
  (void)database;
  const pid_t postmaster = find_postmaster();
  struct stat owner;
  char *path = g_strdup_printf("/proc/%d/task/%d/children", (int)postmaster, (int)postmaster);
  char *children = NULL;
  g_file_get_contents(path, &children, NULL, NULL);
  bool found = children && !stat(path, &owner);
  g_free(path);
  const pid_t child = found ? fork() : -1;
  if (!child) {
    bool other = geteuid() != owner.st_uid;
    if (other && (setgid(owner.st_gid) || setuid(owner.st_uid))) _exit(1);
    _exit(!limit_server(postmaster, children, full));
  }
  g_free(children);
  int status;
  return child > 0 && waitpid(child, &status, 0) == child && !status;
}

/** Its socket has another name, and nobody is connected any more. */
static bool cut(const char *database, bool away) {
  (void)database;
  static char *socket, *hidden;
  if (!away) {
    bool there = !g_rename(hidden, socket);
    g_free(socket);
    g_free(hidden);
    return there;
  }
  socket =
      ask("SELECT current_setting('unix_socket_directories') || '/.s.PGSQL.'"
          " || current_setting('port')");
  if (!socket) return false;
  hidden = g_strconcat(socket, "-hidden", NULL);
  PGconn *connection = PQconnectdb(url());
  bool gone = PQstatus(connection) == CONNECTION_OK && !g_rename(socket, hidden);
  PGresult *result = PQexec(connection,
                            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'");
  gone &= PQresultStatus(result) == PGRES_TUPLES_OK;
  PQclear(result);
  PQfinish(connection);
  return gone;
}

/* --- of this backend alone --- */

/** What a page of records begins and ends with is told by their times: none may be in two, or in none. */
static void test_a_moment_with_two_times(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_epoch(batch, 0, 0, 1000, 900, 3000, "");
  tt_testing_add_sample(batch, 0, 0, 90000, 93000);
  tt_testing_add_value(batch, 0, NULL, 1);
  tt_testing_add_sample(batch, 0, 0, 90000, 91000);
  tt_testing_add_value(batch, 1, "x", 0);
  tt_testing_write(store, batch);
  tt_testing_assert_reads(store, 0, 0, TT_TESTING_ROBO1 "90000 91000 1='x'\n90000 93000 0=1\n");
  char *page = tt_testing_read(store, 0, 0, 81001, 92000, NULL, 0);
  char *next = tt_testing_read(store, 0, 0, 92001, 99000, NULL, 0);
  assert_string_equal(page, "90000 91000 1='x'\n");
  assert_string_equal(next, "90000 93000 0=1\n");
  g_free(page);
  g_free(next);
  tt_store_range range = {.attribute_count = 0, .newest_first = true};
  range.device_from = range.from = INT64_MIN;
  range.device_to = range.to = INT64_MAX;
  tt_store_reader *reader;
  tt_error error;
  assert_int_equal(store->open_reader(store, &reader, &error), TT_OK);
  char *newest = tt_testing_read_range(reader, &range);
  assert_string_equal(newest, "90000 93000 0=1\n90000 91000 1='x'\n" TT_TESTING_ROBO1);
  g_free(newest);
  uint64_t records;
  assert_int_equal(reader->count(reader, &range, &records, &error), TT_OK);
  assert_int_equal(records, 3);
  reader->close(reader);
  store->close(store);
}

static int test_own_cases(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_a_moment_with_two_times, tt_testing_clean)};
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}

int main(void) {
  static const tt_store_place place = {.url = url,
                                       .clean = clean,
                                       .make_older = make_older,
                                       .make_newer = make_newer,
                                       .fill_disk = fill_disk,
                                       .cut = cut};
  if (url()) return tt_store_conform("postgresql", &place) | test_own_cases();
  puts("skipped: needs TETHER_TEST_POSTGRES");
  return 0;
}
