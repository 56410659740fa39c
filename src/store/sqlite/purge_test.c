/* sqlite_purge_test.c: what a purge says is done, and then is not. */
#include "store/sqlite/purge.h"

#include "database/sqlite_link.h"
#include "store/store_testing.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** A connection as the store has one, to a file with tt_testing_batch(). */
typedef struct file {
  sqlite3 *db;
  tt_sqlite_pieces *pieces;
  tt_sqlite_marks marks;
  tt_sqlite_purger *purger;
} file;

static void open_file(file *of) {
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  store->close(store);
  const char *path = tt_testing_file();
  tt_error error;
  assert_int_equal(sqlite3_open(path, &of->db), SQLITE_OK);
  assert_int_equal(tt_sqlite_execute(of->db, path, "DELETE FROM stale", &error), TT_OK);
  assert_int_equal(tt_sqlite_pieces_open(of->db, path, &of->pieces, &error), TT_OK);
  assert_int_equal(tt_sqlite_marks_open(of->db, path, &of->marks, &error), TT_OK);
  assert_int_equal(tt_sqlite_purger_open(of->db, path, of->pieces, &of->marks, &of->purger, &error),
                   TT_OK);
}

static void close_file(file *of) {
  tt_sqlite_purger_close(of->purger);
  tt_sqlite_marks_close(&of->marks);
  tt_sqlite_pieces_close(of->pieces);
  assert_int_equal(sqlite3_close(of->db), SQLITE_OK);
}

static int64_t ask(file *of, const char *sql) {
  sqlite3_stmt *query;
  assert_int_equal(sqlite3_prepare_v2(of->db, sql, -1, &query, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(query), SQLITE_ROW);
  const int64_t answer = sqlite3_column_int64(query, 0);
  sqlite3_finalize(query);
  return answer;
}

/** For sqlite3_commit_hook(). */
static int refuse(void *context) {
  (void)context;
  return 1;
}

/** A disk that is full when it is committed: all is done the next time, and the hours are marked. */
static void test_a_commit_that_fails(void **state) {
  (void)state;
  file of;
  int removed = -1;
  tt_error error;
  const tt_store_purge purge = {.device = 0, .attribute = 0, .before = 90000, .limit = 100};
  open_file(&of);
  sqlite3_commit_hook(of.db, refuse, NULL);
  assert_int_equal(tt_sqlite_purge(of.purger, &purge, &removed, &error), TT_FAILED);
  assert_int_equal(removed, 0);
  assert_int_equal(ask(&of, "SELECT count(*) FROM stale"), 0);
  sqlite3_commit_hook(of.db, NULL, NULL);
  assert_int_equal(tt_sqlite_purge(of.purger, &purge, &removed, &error), TT_OK);
  assert_int_equal(removed, 1);
  assert_int_equal(ask(&of, "SELECT count(*) FROM stale"), 1);
  close_file(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_a_commit_that_fails, tt_testing_clean),
  };
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}
