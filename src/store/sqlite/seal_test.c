/* seal_test.c: two stores are given the same, one of which seals and unseals; what is read must be the same. */
#include "store/sqlite/packed_table.h"
#include "store/store_testing.h"

#include <glib/gstdio.h>
#include <inttypes.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define HOUR (3600 * SECOND)
#define DAY (24 * HOUR)
#define EVER INT64_MAX
#define ANCHOR (20000 * DAY) /* of the first device's first epoch: its clock began at midnight */

typedef struct twins {
  char *folder;
  tt_store *rows, *sealed;
  GRand *random;
} twins;

static tt_store *open_store(const char *folder, const char *name) {
  char *url = g_strdup_printf("sqlite:%s/%s", folder, name);
  tt_store *store = tt_testing_open_by(&(tt_store_options){.url = url});
  g_free(url);
  return store;
}

static int begin(void **state) {
  twins *pair = g_new0(twins, 1);
  // In memory: what is synced is not what is tested.
  pair->folder = g_file_test("/dev/shm", G_FILE_TEST_IS_DIR)
                     ? g_mkdtemp(g_strdup("/dev/shm/tether-seal-XXXXXX"))
                     : g_dir_make_tmp("tether-seal-XXXXXX", NULL);
  pair->rows = open_store(pair->folder, "rows");
  pair->sealed = open_store(pair->folder, "sealed");
  pair->random = g_rand_new_with_seed(7);
  *state = pair;
  return 0;
}

static int end(void **state) {
  twins *pair = *state;
  pair->rows->close(pair->rows);
  pair->sealed->close(pair->sealed);
  GDir *folder = g_dir_open(pair->folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name(folder));) {
    char *path = g_build_filename(pair->folder, name, NULL);
    g_unlink(path);
    g_free(path);
  }
  g_dir_close(folder);
  g_rmdir(pair->folder);
  g_free(pair->folder);
  g_rand_free(pair->random);
  g_free(pair);
  return 0;
}

/* --- what is done with them --- */

/** Device 0 has two epochs, device 1 another one; attributes 0 to 3. */
static void add_names(tt_store_batch *batch) {
  for (int i = 0; i < 2; i++) tt_testing_add_name(&batch->devices, i, i ? "ROBO2" : "ROBO1", NULL);
  for (int i = 0; i < 4; i++) {
    char name[] = "S.d.0";
    name[4] = (char)('0' + i);
    tt_testing_add_name(&batch->attributes, i, name, NULL);
  }
  tt_testing_add_epoch(batch, 0, 0, ANCHOR, ANCHOR, ANCHOR + SECOND, "");
  tt_testing_add_epoch(batch, 0, 1, ANCHOR + DAY / 3, ANCHOR, ANCHOR + DAY, "");
  tt_testing_add_epoch(batch, 1, 0, -5, -5, 5, "x");
}

static void write_both(twins *pair, tt_store_batch *batch) {
  tt_error error;
  if (pair->rows->write(pair->rows, batch, &error) != TT_OK) fail_msg("%s", error.text);
  if (pair->sealed->write(pair->sealed, batch, &error) != TT_OK) fail_msg("%s", error.text);
  tt_store_batch_free(batch);
}

static tt_store_sealed seal(tt_store *store, bool undo, int64_t before, int64_t budget) {
  tt_store_sealing sealing = {.undo = undo, .before = before, .budget = budget};
  tt_store_sealed sealed, all = {0};
  tt_error error;
  tt_status status;
  do {
    status = store->seal(store, &sealing, &sealed, &error);
    if (status != TT_OK && status != TT_AGAIN) fail_msg("%s", error.text);
    all.values += sealed.values;
    all.bytes += sealed.bytes;
    all.until = sealed.until;
  } while (status == TT_AGAIN && budget);
  return all;
}

/* --- what is compared --- */

static char *read_range(tt_store *store, const tt_store_range *range) {
  tt_store_reader *reader;
  tt_store_cursor *cursor;
  tt_store_record record;
  tt_error error;
  GString *text = g_string_new(NULL);
  uint64_t count = 0, counted;
  if (store->open_reader(store, &reader, &error) != TT_OK) fail_msg("%s", error.text);
  if (reader->open(reader, range, &cursor, &error) != TT_OK) fail_msg("%s", error.text);
  tt_status status;
  for (; (status = reader->next(cursor, &record, &error)) == TT_OK; count++) {
    g_string_append_printf(text, "%" PRId64 " %" PRId64 " %" PRId64, record.device_time,
                           record.time, record.seq);
    for (int i = 0; i < record.count; i++) {
      const tt_store_cell *cell = &record.cells[i];
      g_string_append_printf(text, " %d=%s/%.17g", cell->attribute, cell->text ? cell->text : "",
                             cell->text ? 0 : cell->number);
    }
    g_string_append_c(text, '\n');
  }
  if (status != TT_END) fail_msg("%s", error.text);
  reader->close_cursor(cursor);
  if (reader->count(reader, range, &counted, &error) != TT_OK) fail_msg("%s", error.text);
  assert_int_equal(counted, count);
  reader->close(reader);
  return g_string_free(text, FALSE);
}

/** Both are freed. */
static void assert_same(char *actual, char *expected) {
  if (strcmp(actual, expected) != 0) {
    char **left = g_strsplit(actual, "\n", -1), **right = g_strsplit(expected, "\n", -1);
    size_t line = 0;
    while (left[line] && right[line] && !strcmp(left[line], right[line])) line++;
    fail_msg("line %zu: '%s', but '%s' was expected", line, left[line] ? left[line] : "(end)",
             right[line] ? right[line] : "(end)");
  }
  g_free(actual);
  g_free(expected);
}

static void compare_range(const twins *pair, const tt_store_range *range) {
  assert_same(read_range(pair->sealed, range), read_range(pair->rows, range));
}

static bool note_latest(void *context, const tt_store_latest *latest) {
  g_string_append_printf(context, "%d %d %" PRId64 " %" PRId64 " %d %s %g\n", latest->device,
                         latest->epoch, latest->device_time, latest->time, latest->cell.attribute,
                         latest->cell.text ? latest->cell.text : "", latest->cell.number);
  return true;
}

static int count_in(const twins *pair, bool sealed, const char *sql) {
  char *path = g_build_filename(pair->folder, sealed ? "sealed" : "rows", NULL);
  sqlite3 *db;
  sqlite3_stmt *query;
  assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
  assert_int_equal(tt_sqlite_register_packed(db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(query), SQLITE_ROW);
  int count = sqlite3_column_int(query, 0);
  sqlite3_finalize(query);
  sqlite3_close(db);
  g_free(path);
  return count;
}

/** Everything else that a store tells. */
static char *read_rest(tt_store *store) {
  char *loaded = tt_testing_load(store);
  GString *text = g_string_new(loaded);
  tt_store_reader *reader;
  tt_error error;
  if (store->open_reader(store, &reader, &error) != TT_OK) fail_msg("%s", error.text);
  for (int device = 0; device < 2; device++) {
    for (int attribute = 0; attribute < 4; attribute++) {
      bool holds;
      if (reader->holds(reader, device, attribute, &holds, &error) != TT_OK)
        fail_msg("%s", error.text);
      g_string_append_printf(text, "%d holds %d: %d\n", device, attribute, holds);
    }
  }
  if (reader->latest(reader, -1, note_latest, text, &error) != TT_OK) fail_msg("%s", error.text);
  reader->close(reader);
  g_free(loaded);
  return g_string_free(text, FALSE);
}

static const int some_attributes[] = {1, 3};

static void compare(const twins *pair) {
  for (int i = 0; i < 12; i++) {
    const tt_store_range range = {.device = i % 3 == 2,
                                  .epoch = i % 3 == 1,
                                  .device_from = i < 6 ? INT64_MIN : DAY / 2,
                                  .device_to = i < 6 ? INT64_MAX : 2 * DAY + DAY / 3,
                                  .from = i < 9 ? INT64_MIN : ANCHOR + DAY,
                                  .to = INT64_MAX,
                                  .attributes = some_attributes,
                                  .attribute_count = i % 2 ? 2 : 0,
                                  .newest_first = i % 4 > 1};
    compare_range(pair, &range);
  }
  assert_same(read_rest(pair->sealed), read_rest(pair->rows));
  static const char sums[] =
      "SELECT count(*) + 7 * total(value) + total(time_us % 1000) FROM telemetry";
  assert_int_equal(count_in(pair, true, sums), count_in(pair, false, sums));
}

/* --- at random --- */

/** Values of a moment out of few, so that moments, values and numbers of messages meet again. */
static void add_random(twins *pair, tt_store_batch *batch) {
  GRand *random = pair->random;
  int device = g_rand_int_range(random, 0, 3) == 2, epoch = !device && g_rand_boolean(random);
  int64_t time = g_rand_int_range(random, 0, 300) * (DAY / 97);
  tt_store_sample *sample = tt_testing_add_sample(batch, device, epoch, time, time + ANCHOR);
  sample->seq = g_rand_int_range(random, 0, 6) ? 0 : g_rand_int_range(random, 1, 3);
  sample->flags = g_rand_int_range(random, 0, 4) ? 0 : TT_SAMPLE_UNSURE;
  for (int attribute = 0; attribute < 4; attribute++) {
    if (g_rand_boolean(random)) continue;
    static const char *const texts[] = {"", "open", "closed"};
    int pick = g_rand_int_range(random, 0, 3);
    tt_testing_add_value(batch, attribute, attribute == 3 ? texts[pick] : NULL, pick - 0.5);
  }
}

static void write_random(twins *pair) {
  tt_store_batch *batch = tt_store_batch_new();
  for (int i = g_rand_int_range(pair->random, 1, 60); i > 0; i--) add_random(pair, batch);
  // A sample without a value is none.
  for (uint32_t i = 0; i < batch->samples.len;) {
    if (tt_list_at(&batch->samples, tt_store_sample, i).count)
      i++;
    else
      tt_list_remove(&batch->samples, i);
  }
  write_both(pair, batch);
}

/** The answers of both to a message that may be stored. */
static void ask_random(twins *pair) {
  tt_store_batch *batch = tt_store_batch_new();
  do {
    tt_store_batch_clear(batch);
    add_random(pair, batch);
  } while (!tt_list_at(&batch->samples, tt_store_sample, 0).count);
  int device = tt_list_at(&batch->samples, tt_store_sample, 0).device;
  tt_store_question question = {device, device ? "x" : "", batch};
  int64_t keys[2] = {-1, -1};
  tt_status answers[2];
  for (int i = 0; i < 2; i++) {
    tt_store *store = i ? pair->sealed : pair->rows;
    tt_list boots = TT_LIST(tt_store_boot, NULL);
    answers[i] = store->find(store, &question, &boots, &keys[i]);
    tt_list_free(&boots);
  }
  assert_int_equal(answers[0], answers[1]);
  assert_int_equal(keys[0], keys[1]);
  tt_store_batch_free(batch);
}

static void purge_both(twins *pair, int device, int attribute, int64_t before) {
  const tt_store_purge purge = {
      .device = device, .attribute = attribute, .before = before, .limit = 50};
  tt_store *const stores[] = {pair->rows, pair->sealed};
  for (int i = 0; i < 2; i++) {
    tt_status status;
    int removed;
    tt_error error;
    while ((status = stores[i]->purge(stores[i], &purge, &removed, &error)) == TT_AGAIN) continue;
    if (status != TT_OK) fail_msg("%s", error.text);
  }
}

static void test_the_same_is_read(void **state) {
  twins *pair = *state;
  tt_store_batch *batch = tt_store_batch_new();
  add_names(batch);
  for (int i = 0; i < 8; i++) {
    const tt_store_pair stored = {i / 4, i % 4};
    tt_list_add(&batch->pairs, &stored, 1);
  }
  write_both(pair, batch);
  for (int turn = 0; turn < 80; turn++) {
    write_random(pair);
    for (int i = 0; i < 5; i++) ask_random(pair);
    const int64_t before = g_rand_int_range(pair->random, 0, 3)
                               ? EVER
                               : ANCHOR + g_rand_int_range(pair->random, 0, 4) * DAY;
    switch (g_rand_int_range(pair->random, 0, 8)) {
      case 0: seal(pair->sealed, false, before, EVER); break;
      case 1:
      case 2: seal(pair->sealed, false, before, 0); break;
      case 3: seal(pair->sealed, true, before, turn % 2 ? 0 : EVER); break;
      case 4:
        purge_both(pair, turn % 2, -1, ANCHOR + g_rand_int_range(pair->random, 0, 40) * HOUR);
        break;
      default: break;
    }
    if (turn % 3 == 0) compare(pair);
    if (turn % 40 != 39) continue;
    pair->sealed->close(pair->sealed);
    pair->sealed = open_store(pair->folder, "sealed");
  }
  purge_both(pair, 0, 2, EVER);
  compare(pair);
  seal(pair->sealed, false, EVER, EVER);
  purge_both(pair, 0, 3, EVER);
  purge_both(pair, 1, 0, ANCHOR + 2 * DAY);
  compare(pair);
  assert_int_equal(count_in(pair, true, "SELECT count(*) FROM sample"), 0);
  assert_int_equal(count_in(pair, true, "SELECT count(*) FROM value"), 0);
  seal(pair->sealed, true, EVER, EVER);
  compare(pair);
  assert_int_equal(count_in(pair, true, "SELECT count(*) FROM segment"), 0);
  assert_int_equal(count_in(pair, true, "SELECT count(*) FROM packed"), 0);
  assert_int_equal(count_in(pair, true, "SELECT count(*) > 100 FROM telemetry"), 1);
}

/** Many records of a moment, much text, and more rows than a segment takes. */
static void test_what_is_large(void **state) {
  twins *pair = *state;
  tt_store_batch *batch = tt_store_batch_new();
  char *text = g_strnfill(4000, 'x');
  add_names(batch);
  for (int i = 0; i < 9000; i++) {  // one moment, too large for a segment
    tt_testing_add_sample(batch, 1, 0, 5 * SECOND, 5 * SECOND);
    tt_testing_add_value(batch, 0, NULL, i);
  }
  for (int i = 0; i < 20000; i++) {
    tt_testing_add_sample(batch, 1, 0, i * SECOND, i * SECOND);
    tt_testing_add_value(batch, 1, NULL, i);
    if (i < 500) {
      text[0] = (char)('a' + i % 20);
      tt_testing_add_value(batch, 3, text, 0);
    }
  }
  write_both(pair, batch);
  g_free(text);
  for (int turn = 0; turn < 3; turn++) {
    seal(pair->sealed, turn == 2, EVER, turn ? EVER : 0);
    while (!turn && count_in(pair, true, "SELECT count(*) > 9000 FROM sample"))
      seal(pair->sealed, false, EVER, 0);
    assert_int_equal(count_in(pair, true, "SELECT coalesce(max(rows) <= 8192, 1) FROM segment"), 1);
    compare(pair);
    batch = tt_store_batch_new();
    for (int i = 0; i < 4; i++) {  // among them
      tt_testing_add_sample(batch, 1, 0, (5 + 3000 * i) * SECOND, (5 + 3000 * i) * SECOND);
      tt_testing_add_value(batch, 2, NULL, turn);
    }
    write_both(pair, batch);
    compare(pair);
  }
}

/** Who reads while days are packed and unpacked gets each record once. */
static void test_a_reader_sees_one_moment(void **state) {
  twins *pair = *state;
  tt_store_batch *batch = tt_store_batch_new();
  add_names(batch);
  for (int i = 0; i < 3000; i++) {
    tt_testing_add_sample(batch, 1, 0, i * SECOND, i * SECOND);
    tt_testing_add_value(batch, 0, NULL, i);
  }
  write_both(pair, batch);
  const tt_store_range range = {.device = 1,
                                .device_from = INT64_MIN,
                                .device_to = INT64_MAX,
                                .from = INT64_MIN,
                                .to = INT64_MAX};
  for (int undo = 0; undo < 2; undo++) {
    tt_store_reader *reader;
    tt_store_cursor *cursor;
    tt_store_record record;
    tt_error error;
    if (pair->sealed->open_reader(pair->sealed, &reader, &error) != TT_OK)
      fail_msg("%s", error.text);
    if (reader->open(reader, &range, &cursor, &error) != TT_OK) fail_msg("%s", error.text);
    for (int i = 0; i < 3000; i++) {
      if (i == 1000) seal(pair->sealed, undo, EVER, EVER);
      if (reader->next(cursor, &record, &error) != TT_OK) fail_msg("%s", error.text);
      assert_int_equal(record.device_time, i * SECOND);
    }
    assert_int_equal(reader->next(cursor, &record, &error), TT_END);
    reader->close_cursor(cursor);
    reader->close(reader);
    compare(pair);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_the_same_is_read, begin, end),
      cmocka_unit_test_setup_teardown(test_what_is_large, begin, end),
      cmocka_unit_test_setup_teardown(test_a_reader_sees_one_moment, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
