/* purge_test.c: what a purge says is done, and then is not. */
#include "store/sqlite/purge.h"

#include "database/sqlite_link.h"
#include "store/store_testing.h"

#include <malloc.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** A connection as the store has one, to a file with a batch. */
typedef struct file {
  sqlite3 *db;
  tt_sqlite_pieces *pieces;
  tt_sqlite_marks marks;
  tt_sqlite_purger *purger;
} file;

static void open_file(file *of, tt_store_batch *batch) {
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, batch);
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
  open_file(&of, tt_testing_batch());
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

/** A device that was restarted often: in each epoch it said something some times. */
static tt_store_batch *batch_of_samples(int count, int samples) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 0, "ROBO1", NULL);
  tt_testing_add_name(&batch->attributes, 0, "a", NULL);
  tt_testing_add_name(&batch->attributes, 1, "b", NULL);
  for (int i = 0; i < count; i++) {
    tt_testing_add_epoch(batch, 0, i, 1000 * i, 1000 * i, 1000 * i, "");
    for (int time = 10; time < 10 + samples; time++) {
      tt_testing_add_sample(batch, 0, i, time, 1000 * i + time);
      tt_testing_add_value(batch, 0, NULL, 1);
      tt_testing_add_value(batch, 1, NULL, 2);
    }
  }
  return batch;
}

/** In each it said something once. */
static tt_store_batch *batch_of_epochs(int count) { return batch_of_samples(count, 1); }

/** Purges until nothing is left; returns how many calls it took. */
static int purge_all(file *of, int attribute, int64_t before, int most, int *removed) {
  const tt_store_purge purge = {
      .device = 0, .attribute = attribute, .before = before, .limit = 400};
  *removed = 0;
  for (int calls = 1;; calls++) {
    int some;
    tt_error error;
    const tt_status status = tt_sqlite_purge(of->purger, &purge, &some, &error);
    assert_in_range(some, 0, most);
    *removed += some;
    if (status == TT_OK) return calls;
    assert_int_equal(status, TT_AGAIN);
  }
}

static void test_epochs_are_looked_at_some_at_a_time(void **state) {
  (void)state;
  enum { COUNT = 3000 };
  const int64_t all = 1000 * COUNT;
  file of;
  int removed;
  open_file(&of, batch_of_epochs(COUNT));
  assert_in_range(purge_all(&of, 0, all / 2, 400, &removed), 4, COUNT / 10);
  assert_int_equal(removed, COUNT / 2);
  assert_in_range(purge_all(&of, 0, all, 400, &removed), 4, COUNT / 10);
  assert_int_equal(removed, COUNT / 2);
  // In vain, the first time and the next.
  for (int i = 0; i < 2; i++) {
    assert_in_range(purge_all(&of, 0, all, 0, &removed), 4, COUNT / 10);
    assert_int_equal(removed, 0);
  }
  assert_in_range(purge_all(&of, 1, all, 400, &removed), 4, COUNT / 10);
  assert_int_equal(removed, COUNT);
  assert_int_equal(ask(&of, "SELECT count(*) FROM sample"), 0);
  // Epochs stay, but those of which nothing is left cost nothing.
  assert_int_equal(ask(&of, "SELECT count(*) FROM boot"), COUNT);
  assert_int_equal(purge_all(&of, 0, all, 0, &removed), 1);
  close_file(&of);
}

/** But for pages of the file, which come and go. */
static int64_t memory_used(const file *of) {
  sqlite3_db_release_memory(of->db);
  const struct mallinfo2 now = mallinfo2();
  return (int64_t)(now.uordblks + now.hblkhd);
}

static void test_of_epochs_that_are_empty_nothing_is_noted(void **state) {
  (void)state;
  enum { COUNT = 3000 };
  file of;
  int removed;
  open_file(&of, batch_of_epochs(COUNT));
  const int64_t before = memory_used(&of);
  for (int attribute = 0; attribute < 2; attribute++) {
    purge_all(&of, attribute, 1000 * COUNT, 400, &removed);
    assert_int_equal(removed, COUNT);
  }
  assert_in_range(memory_used(&of) - before + 10000, 0, 10000 + 10 * COUNT);
  close_file(&of);
}

/** Others keep its rows: of most epochs it is noted that none is looked at again, also the next time. */
static void test_what_is_looked_at_in_vain_has_an_end(void **state) {
  (void)state;
  enum { COUNT = 1000, SAMPLES = 8, ATTRIBUTES = 297, MOST = 24 << 20 };
  file of;
  int removed, calls[2] = {0};
  open_file(&of, batch_of_samples(COUNT, SAMPLES));
  const int64_t before = memory_used(&of);
  int64_t most = 0;
  for (int round = 0; round < 2; round++) {
    for (int attribute = 2; attribute < 2 + ATTRIBUTES; attribute++) {
      calls[round] += purge_all(&of, attribute, 1000 * COUNT + round, 0, &removed);
      const int64_t grown = memory_used(&of) - before;
      if (grown > most) most = grown;
    }
  }
  assert_in_range(calls[1], 1, calls[0] / 2);
  assert_in_range(most, 0, MOST);
  assert_in_range(purge_all(&of, 0, 1000 * COUNT, 400, &removed), 4, COUNT / 10);
  assert_int_equal(removed, COUNT * SAMPLES);
  close_file(&of);
}

/** As many notes as there may be: of a device that was restarted often, and whose rows others keep. */
static void fill_notes(file *of, int count) {
  int removed;
  for (int attribute = 2; attribute * count <= 270000; attribute++)
    purge_all(of, attribute, 1000 * count, 0, &removed);
}

/** Another device, that was on for long: how many calls it takes; `came` comes behind the first. */
static int purge_second(file *of, int attribute, int64_t before, const tt_store_batch *came) {
  const tt_store_purge purge = {
      .device = 1, .attribute = attribute, .before = before, .limit = 400};
  tt_status status = TT_AGAIN;
  int calls = 0, removed;
  tt_error error;
  for (; status == TT_AGAIN && calls < 100; calls++) {
    status = tt_sqlite_purge(of->purger, &purge, &removed, &error);
    if (!came || calls) continue;
    tt_store *store = tt_testing_open();
    g_free(tt_testing_load(store));
    if (store->write(store, came, &error) != TT_OK) fail_msg("%s", error.text);
    store->close(store);
    tt_sqlite_purger_came(of->purger, came);
  }
  assert_int_equal(status, TT_OK);
  return calls;
}

static void test_an_epoch_goes_on_where_there_is_no_room_for_notes(void **state) {
  (void)state;
  enum { COUNT = 1000, SAMPLES = 1300 };
  file of;
  tt_store_batch *batch = batch_of_epochs(COUNT), *late = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 1, "ROBO2", NULL);
  tt_testing_add_epoch(batch, 1, 0, 0, 0, 0, "");
  for (int time = 10; time < 10 + SAMPLES; time++) {
    tt_testing_add_sample(batch, 1, 0, time, time);
    tt_testing_add_value(batch, 0, NULL, 1);
  }
  open_file(&of, batch);
  fill_notes(&of, COUNT);
  assert_in_range(purge_second(&of, 1, 9000, NULL), 4, 9);
  tt_testing_add_sample(late, 1, 0, 5, 5);
  tt_testing_add_value(late, 1, NULL, 1);
  assert_in_range(purge_second(&of, 1, 9001, late), 4, 9);
  tt_store_batch_free(late);
  assert_int_equal(ask(&of, "SELECT count(*) FROM sample WHERE device_time < 10"), 0);
  close_file(&of);
}

/** One fails, such as with a page that can't be read: what was looked at for others is not looked at again. */
static void test_what_fails_does_not_cost_others(void **state) {
  (void)state;
  enum { COUNT = 1000, SAMPLES = 8 };
  const tt_store_purge purge = {.device = 0, .attribute = 0, .before = 1000 * COUNT, .limit = 400};
  file of;
  int removed;
  tt_error error;
  open_file(&of, batch_of_samples(COUNT, SAMPLES));
  const int first = purge_all(&of, 2, 1000 * COUNT, 0, &removed);
  sqlite3_commit_hook(of.db, refuse, NULL);
  assert_int_equal(tt_sqlite_purge(of.purger, &purge, &removed, &error), TT_FAILED);
  sqlite3_commit_hook(of.db, NULL, NULL);
  assert_in_range(purge_all(&of, 2, 1000 * COUNT + 1, 0, &removed), 1, first / 2);
  purge_all(&of, 0, 1000 * COUNT, 400, &removed);
  assert_int_equal(removed, COUNT * SAMPLES);
  close_file(&of);
}

/** One is left in the middle for another, and then begun anew. */
static void test_purges_that_take_turns(void **state) {
  (void)state;
  enum { COUNT = 1000 };
  file of;
  int removed;
  tt_error error;
  open_file(&of, batch_of_epochs(COUNT));
  for (int i = 0; i < 6; i++) {
    const tt_store_purge purge = {
        .device = 0, .attribute = i % 2, .before = 1000 * COUNT, .limit = 400};
    assert_int_equal(tt_sqlite_purge(of.purger, &purge, &removed, &error), TT_AGAIN);
  }
  purge_all(&of, 0, 1000 * COUNT, 400, &removed);
  purge_all(&of, 1, 1000 * COUNT, 400, &removed);
  assert_int_equal(ask(&of, "SELECT count(*) FROM sample"), 0);
  close_file(&of);
}

static void test_what_people_remove_of_many_epochs(void **state) {
  (void)state;
  enum { COUNT = 3000 };
  const tt_store_purge purge = {.device = 0,
                                .attribute = -1,
                                .before = 1000 * COUNT,
                                .limit = 400,
                                .exact = true,
                                .from = INT64_MIN};
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, batch_of_epochs(COUNT));
  for (int i = 0; i < 2; i++) {  // all, and then in vain
    int calls = 0, all = 0, removed;
    tt_error error;
    tt_status status = TT_AGAIN;
    for (; status == TT_AGAIN; calls++, all += removed)
      status = store->purge(store, &purge, &removed, &error);
    assert_int_equal(status, TT_OK);
    assert_int_equal(all, i ? 0 : 2 * COUNT);
    assert_in_range(calls, 4 * COUNT / 400, COUNT / 10);
  }
  store->close(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_a_commit_that_fails, tt_testing_clean),
      cmocka_unit_test_setup(test_epochs_are_looked_at_some_at_a_time, tt_testing_clean),
      cmocka_unit_test_setup(test_of_epochs_that_are_empty_nothing_is_noted, tt_testing_clean),
      cmocka_unit_test_setup(test_what_is_looked_at_in_vain_has_an_end, tt_testing_clean),
      cmocka_unit_test_setup(test_an_epoch_goes_on_where_there_is_no_room_for_notes,
                             tt_testing_clean),
      cmocka_unit_test_setup(test_what_fails_does_not_cost_others, tt_testing_clean),
      cmocka_unit_test_setup(test_purges_that_take_turns, tt_testing_clean),
      cmocka_unit_test_setup(test_what_people_remove_of_many_epochs, tt_testing_clean),
  };
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}
