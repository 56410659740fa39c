/* conformance_test.c: every case of the suite, in ClickHouse with a spool around it. Needs TETHER_TEST_CLICKHOUSE, a URL whose
 * database may be dropped, and TETHER_TEST_CLICKHOUSE_CONTROL, a socket by which its server can be killed and started
 * (tests/telemetry/store_clickhouse_test.py gives both); without them all is skipped. */
#include "store/clickhouse/internal.h"
#include "store/conformance.h"

#include <stdio.h>
#include <unistd.h>

static const char *url(void) { return g_getenv("TETHER_TEST_CLICKHOUSE"); }

/** Runs a statement on every shard. */
static bool execute_sql(const char *sql) {
  tt_clickhouse_address address;
  tt_clickhouse_link *link;
  tt_error error = {0};
  tt_status status = tt_clickhouse_address_parse(url(), &address, &error);
  for (int i = 0; i < address.shard_count && status == TT_OK; i++) {
    status = tt_clickhouse_link_new(&address, i, 30, &link, &error);
    if (status != TT_OK) break;
    status = tt_clickhouse_ask(link, sql, NULL, NULL, &error);
    tt_clickhouse_link_free(link);
  }
  if (status != TT_OK) fprintf(stderr, "%s\n", error.text);
  tt_clickhouse_address_clear(&address);
  return status == TT_OK;
}

/** What stands before the database's name, and behind it. */
static bool execute(const char *before, const char *after) {
  tt_clickhouse_address address;
  tt_error error;
  char *sql = tt_clickhouse_address_parse(url(), &address, &error) == TT_OK
                  ? g_strconcat(before, address.database, after, NULL)
                  : NULL;
  const bool done = sql && execute_sql(sql);
  tt_clickhouse_address_clear(&address);
  g_free(sql);
  return done;
}

static bool clean(const char *database) {
  (void)database;
  return execute("DROP DATABASE IF EXISTS ", "");
}

/** Statements of a file, each with a ; at the end of its last line. */
static bool make_older(const char *database) {
  char *text;
  (void)database;
  if (!g_file_get_contents(TETHER_SOURCE_DIR "/tests/telemetry/stored_1_clickhouse.sql", &text,
                           NULL, NULL))
    return false;
  char **statements = g_strsplit(strchr(text, '\n') + 1, ";\n", -1);
  bool made = true;
  for (char **one = statements; *one && made; one++)
    if (**one) made = execute_sql(*one);
  g_strfreev(statements);
  g_free(text);
  return made;
}

static bool make_newer(const char *database) {
  (void)database;
  return execute("INSERT INTO ", ".schema_version VALUES (99)");
}

/** Has something done to the server. */
static bool wish(char what) {
  const char *control = g_getenv("TETHER_TEST_CLICKHOUSE_CONTROL");
  const int socket = control ? atoi(control) : -1;
  char done;
  return write(socket, &what, 1) == 1 && read(socket, &done, 1) == 1 && done == what;
}

/** No file of the server's may grow beyond some bytes; to it that is a full disk. */
static bool fill_disk(const char *database, bool full) {
  (void)database;
  return wish(full ? 'f' : 'e');
}

/** By kill -9. */
static bool cut(const char *database, bool away) {
  (void)database;
  return wish(away ? 'c' : 'b');
}

int main(void) {
  static const tt_store_place place = {.url = url,
                                       .clean = clean,
                                       .make_older = make_older,
                                       .make_newer = make_newer,
                                       .fill_disk = fill_disk,
                                       .cut = cut};
  // Hours are made at once, so that what is compared are kept buckets.
  tt_clickhouse_paces.quiet = tt_clickhouse_paces.settled = 0;
  if (url()) return tt_store_conform("clickhouse", &place);
  puts("skipped: needs TETHER_TEST_CLICKHOUSE");
  return 0;
}
