/* buckets_test.c: buckets say what the samples say, whatever comes late, is repeated, removed, packed or unpacked, made or
 * not, and whenever the program is killed. Samples are read by cursors, which other tests look at. */
#include "store/store_testing.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define HOUR (3600 * SECOND)
#define DEVICES 2
#define ATTRIBUTES 4
#define EPOCHS 3
/** A Sunday in 2001, in the middle of an hour. */
#define BEGINNING (INT64_C(1000001234) * SECOND)

static tt_store *store;

static bool is_long(void) { return g_strcmp0(g_getenv("TETHER_LONG"), "1") == 0; }

static void open_store(void) {
  store = tt_testing_open();
  g_free(tt_testing_load(store));
}

static int begin(void **state) {
  if (tt_testing_clean(state)) return 1;
  open_store();
  return 0;
}

static int end(void **state) {
  (void)state;
  store->close(store);
  return 0;
}

static tt_store_reader *open_reader(void) {
  tt_store_reader *reader;
  tt_error error;
  if (store->open_reader(store, &reader, &error) != TT_OK) fail_msg("%s", error.text);
  return reader;
}

/* --- what the samples say --- */

typedef struct said {
  int attribute;
  tt_bucket bucket;
} said;

/** `places`: of each beginning and attribute, its index in `all` + 1. */
static void add_number(GArray *all, GHashTable *places, tt_bucket_size size, int attribute,
                       int64_t time, double number) {
  const int64_t start = tt_bucket_start(size, time), key = start + attribute;
  guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, &key));
  if (!place) {
    const said added = {attribute, {start, 0, number, number, 0, number, time}};
    g_array_append_val(all, added);
    place = all->len;
    g_hash_table_insert(places, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(place));
  }
  said *found = &g_array_index(all, said, place - 1);
  tt_bucket *bucket = &found->bucket;
  bucket->count++;
  bucket->sum += number;
  if (number < bucket->least) bucket->least = number;
  if (number > bucket->greatest) bucket->greatest = number;
  if (time < bucket->last_time) return;
  bucket->last_time = time;
  bucket->last = number;
}

static bool is_asked(const tt_store_bucket_query *query, int attribute) {
  for (int i = 0; i < query->attribute_count; i++) {
    if (query->attributes[i] == attribute) return true;
  }
  return !query->attribute_count;
}

static void add_epoch_numbers(GArray *all, GHashTable *places, tt_store_reader *reader,
                              const tt_store_bucket_query *query, int epoch) {
  const tt_store_range range = {.device = query->device,
                                .epoch = epoch,
                                .device_from = INT64_MIN,
                                .device_to = INT64_MAX,
                                .from = INT64_MIN,
                                .to = INT64_MAX};
  tt_store_cursor *cursor;
  tt_store_record record;
  tt_error error;
  if (reader->open(reader, &range, &cursor, &error) != TT_OK) fail_msg("%s", error.text);
  tt_status status;
  while ((status = reader->next(cursor, &record, &error)) == TT_OK) {
    const int64_t start = tt_bucket_start(query->size, record.time);
    if (start < query->from || start >= query->to) continue;
    for (int i = 0; i < record.count; i++) {
      const tt_store_cell *cell = &record.cells[i];
      if (!cell->text && is_asked(query, cell->attribute))
        add_number(all, places, query->size, cell->attribute, record.time, cell->number);
    }
  }
  if (status != TT_END) fail_msg("%s", error.text);
  reader->close_cursor(cursor);
}

static int compare_said(const void *a, const void *b) {
  const said *one = a, *other = b;
  if (one->bucket.start != other->bucket.start)
    return one->bucket.start < other->bucket.start ? -1 : 1;
  return one->attribute - other->attribute;
}

/* --- what the buckets say --- */

static bool take(void *context, int attribute, const tt_bucket *bucket) {
  const said one = {attribute, *bucket};
  g_array_append_val((GArray *)context, one);
  return true;
}

static char *describe(const GArray *all) {
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < all->len; i++) {
    const said *one = &g_array_index(all, said, i);
    const tt_bucket *bucket = &one->bucket;
    g_string_append_printf(text,
                           "%" PRId64 " %d: %" PRIu64 " %g..%g sum %.17g last %g at %" PRId64 "\n",
                           bucket->start, one->attribute, bucket->count, bucket->least,
                           bucket->greatest, bucket->sum, bucket->last, bucket->last_time);
  }
  return g_string_free(text, FALSE);
}

/** What a reader gives, in any order. */
static char *describe_unordered(tt_store_reader *reader, const tt_store_bucket_query *asked) {
  tt_store_bucket_query query = *asked;
  query.unordered = true;
  GArray *given = g_array_new(FALSE, FALSE, sizeof(said));
  tt_error error;
  if (reader->buckets(reader, &query, take, given, &error) != TT_OK) fail_msg("%s", error.text);
  g_array_sort(given, compare_said);
  char *text = describe(given);
  g_array_unref(given);
  return text;
}

static void assert_buckets_of(tt_store_reader *reader, const tt_store_bucket_query *query) {
  GArray *expected = g_array_new(FALSE, FALSE, sizeof(said)),
         *given = g_array_new(FALSE, FALSE, sizeof(said));
  GHashTable *places = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  for (int i = 0; i < EPOCHS; i++) add_epoch_numbers(expected, places, reader, query, i);
  g_hash_table_unref(places);
  g_array_sort(expected, compare_said);
  tt_error error;
  if (reader->buckets(reader, query, take, given, &error) != TT_OK) fail_msg("%s", error.text);
  char *expected_text = describe(expected), *given_text = describe(given);
  char *unordered_text = describe_unordered(reader, query);
  assert_string_equal(given_text, expected_text);
  assert_string_equal(unordered_text, expected_text);
  g_free(expected_text);
  g_free(unordered_text);
  g_free(given_text);
  g_array_unref(expected);
  g_array_unref(given);
}

/** All buckets of everything, and some of some. */
static void assert_buckets(GRand *random) {
  static const int some[] = {0, 2};
  tt_store_reader *reader = open_reader();
  for (int device = 0; device < DEVICES; device++) {
    for (int size = 0; size < TT_BUCKET_SIZES; size++) {
      tt_store_bucket_query query = {
          .device = device, .size = (tt_bucket_size)size, .from = INT64_MIN, .to = INT64_MAX};
      assert_buckets_of(reader, &query);
      query.from = BEGINNING + g_rand_int_range(random, -20, 300) * 600 * SECOND;
      query.to = query.from + g_rand_int_range(random, 1, 200) * 777 * SECOND;
      query.attributes = some;
      query.attribute_count = 2;
      assert_buckets_of(reader, &query);
    }
  }
  reader->close(reader);
}

/* --- what is done to a store --- */

static tt_store_batch *named_batch(void) {
  static const char *const names[ATTRIBUTES] = {"S.d.a", "S.d.b", "S.d.c", "S.d.d"};
  tt_store_batch *batch = tt_store_batch_new();
  for (int device = 0; device < DEVICES; device++) {
    tt_testing_add_name(&batch->devices, device, device ? "ROBO2" : "ROBO1", NULL);
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      const int64_t offset = BEGINNING + epoch * 7 * HOUR;
      tt_testing_add_epoch(batch, device, epoch, offset, offset - 2 * SECOND, offset + 2 * SECOND,
                           "");
    }
  }
  for (int i = 0; i < ATTRIBUTES; i++) {
    tt_testing_add_name(&batch->attributes, i, names[i], NULL);
    for (int device = 0; device < DEVICES; device++) {
      const tt_store_pair pair = {device, i};
      tt_list_add(&batch->pairs, &pair, 1);
    }
  }
  return batch;
}

/** Samples of a stretch of a device's epoch that begins anywhere: late ones, some repeated, records of one moment, texts
 *  between numbers. */
static void write_some(GRand *random, int count) {
  tt_store_batch *batch = tt_store_batch_new();
  const int device = g_rand_int_range(random, 0, DEVICES);
  const int epoch = g_rand_int_range(random, 0, EPOCHS);
  const int64_t step = g_rand_boolean(random) ? SECOND / 10 : 97 * SECOND;
  int64_t at = g_rand_int_range(random, 0, 400) * 10 * 60 * SECOND;
  for (int i = 0; i < count; i++) {
    const int64_t offset = BEGINNING + epoch * 7 * HOUR + g_rand_int_range(random, -2, 3) * SECOND;
    tt_testing_add_sample(batch, device, epoch, at, at + offset);
    for (int attribute = 0; attribute < ATTRIBUTES; attribute++) {
      const int kind = g_rand_int_range(random, 0, 10);
      if (kind < 2) continue;
      tt_testing_add_value(batch, attribute, kind == 2 ? "text" : NULL,
                           g_rand_int_range(random, -40, 40) * 0.25);
    }
    if (!tt_list_at(&batch->samples, tt_store_sample, batch->samples.len - 1).count)
      tt_testing_add_value(batch, 0, NULL, 1);
    if (g_rand_int_range(random, 0, 8)) at += step;
  }
  tt_testing_write(store, batch);
}

static void purge_some(GRand *random) {
  tt_store_purge purge = {.device = g_rand_int_range(random, 0, DEVICES),
                          .attribute = g_rand_int_range(random, 0, ATTRIBUTES),
                          .before = BEGINNING + g_rand_int_range(random, 0, 50) * HOUR / 2,
                          .limit = g_rand_int_range(random, 1, 200)};
  int removed;
  tt_error error;
  tt_status status = store->purge(store, &purge, &removed, &error);
  if (status != TT_OK && status != TT_AGAIN) fail_msg("%s", error.text);
}

/** Packs days that are over, or unpacks them. */
static void seal_some(GRand *random) {
  const tt_store_sealing sealing = {
      .undo = g_rand_int_range(random, 0, 3) == 0,
      .before = BEGINNING + g_rand_int_range(random, 0, 5) * 24 * HOUR,
      .budget = g_rand_int_range(random, 0, 3000)};
  tt_store_sealed sealed;
  tt_error error;
  tt_status status = store->seal(store, &sealing, &sealed, &error);
  if (status != TT_OK && status != TT_AGAIN) fail_msg("%s", error.text);
}

static void tend_some(int times) {
  for (int i = 0; i < times; i++) {
    store->tend(store);
    g_usleep(500);
  }
}

static void do_something(GRand *random) {
  switch (g_rand_int_range(random, 0, 10)) {
    case 0: purge_some(random); break;
    case 1: seal_some(random); break;
    case 2:
    case 4:
      // What was touched lately is left alone for a minute, but not by a new process.
      store->close(store);
      open_store();
      tend_some(g_rand_int_range(random, 1, 30));
      break;
    case 3: tend_some(3); break;
    default: write_some(random, g_rand_int_range(random, 1, 150));
  }
}

/** What is compared grows with every round: from time to time there is nothing stored. */
static void begin_anew(void) {
  store->close(store);
  assert_int_equal(tt_testing_clean(NULL), 0);
  open_store();
  tt_testing_write(store, named_batch());
}

static void test_buckets_say_what_the_samples_say(void **state) {
  (void)state;
  GRand *random = g_rand_new_with_seed(7);
  for (int i = 0, rounds = is_long() ? 1000 : 100 / TETHER_FEWER; i < rounds; i++) {
    if (i % 100 == 0) begin_anew();
    do_something(random);
    if (i % 4 == 3) assert_buckets(random);
  }
  g_rand_free(random);
}

/* --- pages --- */

/** The first number that a query gives, on another connection. */
static int64_t ask(const char *sql) {
  sqlite3 *db;
  sqlite3_stmt *query;
  assert_int_equal(sqlite3_open(tt_testing_file(), &db), SQLITE_OK);
  sqlite3_busy_timeout(db, 10000);
  if (sqlite3_prepare_v2(db, sql, -1, &query, NULL) != SQLITE_OK)
    fail_msg("%s", sqlite3_errmsg(db));
  int64_t answer = 0;
  int result;
  while ((result = sqlite3_step(query)) == SQLITE_ROW) answer = sqlite3_column_int64(query, 0);
  if (result != SQLITE_DONE) fail_msg("%s", sqlite3_errmsg(db));
  sqlite3_finalize(query);
  sqlite3_close(db);
  return answer;
}

/** All that can be made is. */
static void make_all(void) {
  store->close(store);
  open_store();
  while (ask("SELECT count(*) FROM stale")) tend_some(10);
}

/** The greatest of all minutes of the first attribute. */
static double greatest(tt_bucket_size size) {
  static const int first[] = {0};
  const tt_store_bucket_query query = {
      .size = size, .from = INT64_MIN, .to = INT64_MAX, .attributes = first, .attribute_count = 1};
  tt_store_reader *reader = open_reader();
  GArray *given = g_array_new(FALSE, FALSE, sizeof(said));
  tt_error error;
  if (reader->buckets(reader, &query, take, given, &error) != TT_OK) fail_msg("%s", error.text);
  double most = -1e9;
  for (guint i = 0; i < given->len; i++)
    most = MAX(most, g_array_index(given, said, i).bucket.greatest);
  g_array_unref(given);
  reader->close(reader);
  return most;
}

static void write_hours(void) {
  tt_testing_write(store, named_batch());
  tt_store_batch *batch = tt_store_batch_new();
  for (int i = 0; i < 1000; i++) {
    tt_testing_add_sample(batch, 0, 0, i * 20 * SECOND, BEGINNING + i * 20 * SECOND);
    tt_testing_add_value(batch, 0, NULL, i * 0.25);
  }
  tt_testing_write(store, batch);
}

static void test_what_is_made_is_read_until_it_is_marked(void **state) {
  (void)state;
  write_hours();
  assert_true(ask("SELECT count(*) FROM stale") > 5);
  assert_int_equal(ask("SELECT count(*) FROM bucket_page"), 0);
  make_all();
  assert_true(ask("SELECT count(*) FROM bucket_page") >= 3);
  // Behind the program's back, so that it is seen who reads what.
  ask("UPDATE value SET value = 5000");
  for (int size = TT_BUCKET_MINUTE; size < TT_BUCKET_SIZES; size++)
    assert_true(greatest((tt_bucket_size)size) == 999 * 0.25);
  assert_true(greatest(TT_BUCKET_SECOND) == 5000);
  ask("INSERT INTO stale SELECT 1, min(time) / 3600000000, max(time) / 3600000000 FROM sample");
  for (int size = 0; size < TT_BUCKET_SIZES; size++)
    assert_true(greatest((tt_bucket_size)size) == 5000);
}

static void test_an_hour_that_was_touched_is_left_alone(void **state) {
  (void)state;
  write_hours();
  tend_some(200);
  assert_int_equal(ask("SELECT count(*) FROM bucket_page"), 0);
  make_all();
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_sample(batch, 0, 0, 1, BEGINNING + 1);
  tt_testing_add_value(batch, 0, NULL, 7000);
  tt_testing_write(store, batch);
  tend_some(20);
  assert_int_equal(ask("SELECT count(*) FROM stale"), 1);
  assert_true(greatest(TT_BUCKET_DAY) == 7000);
}

static void test_a_damaged_page_is_made_of_samples_again(void **state) {
  (void)state;
  GRand *random = g_rand_new_with_seed(5);
  write_hours();
  make_all();
  ask("UPDATE bucket_page SET data = x'01ff'");
  assert_buckets(random);
  // What comes late has the pages written again: those around it must not be lost with the damaged ones.
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_sample(batch, 0, 0, 1, BEGINNING + 1);
  tt_testing_add_value(batch, 0, NULL, 7000);
  tt_testing_write(store, batch);
  make_all();
  assert_buckets(random);
  assert_true(greatest(TT_BUCKET_HOUR) == 7000);
  g_rand_free(random);
}

/** More than are made together. */
#define MANY 2500

static void test_many_attributes(void **state) {
  (void)state;
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 0, "WIDE", NULL);
  tt_testing_add_epoch(batch, 0, 0, BEGINNING, BEGINNING, BEGINNING, "");
  for (int i = 0; i < MANY; i++) {
    char name[32];
    g_snprintf(name, sizeof name, "S.d.a%d", i);
    tt_testing_add_name(&batch->attributes, i, name, NULL);
    tt_list_add(&batch->pairs, &(tt_store_pair){0, i}, 1);
  }
  for (int at = 0; at < 12; at++) {
    const int64_t time = at * 25 * 60 * SECOND;
    tt_testing_add_sample(batch, 0, 0, time, time + BEGINNING);
    for (int i = at % 5; i < MANY; i += 1 + at % 2) tt_testing_add_value(batch, i, NULL, i + at);
  }
  tt_testing_write(store, batch);
  make_all();
  assert_int_equal(ask("SELECT count(DISTINCT attribute) FROM bucket_page"), MANY);
  tt_store_reader *reader = open_reader();
  for (int size = TT_BUCKET_MINUTE; size < TT_BUCKET_SIZES; size++) {
    const tt_store_bucket_query query = {
        .size = (tt_bucket_size)size, .from = INT64_MIN, .to = INT64_MAX};
    assert_buckets_of(reader, &query);
  }
  reader->close(reader);
}

/* --- kills --- */

/** Writes and tends until it is killed. */
static void work(unsigned seed) {
  GRand *random = g_rand_new_with_seed(seed);
  open_store();
  for (;;) {
    for (int i = 0; i < 20; i++) store->tend(store);
    write_some(random, 40);
    if (g_rand_int_range(random, 0, 3) == 0) purge_some(random);
    if (g_rand_int_range(random, 0, 2) == 0) seal_some(random);
  }
}

static void test_a_kill_leaves_buckets_right(void **state) {
  (void)state;
  GRand *random = g_rand_new_with_seed(3);
  for (unsigned i = 0, kills = is_long() ? 1000 : 12; i < kills; i++) {
    if (i % 50 == 0) begin_anew();
    store->close(store);
    const pid_t child = fork();
    if (!child) work(i);
    assert_true(child > 0);
    g_usleep((gulong)g_rand_int_range(random, 2000, 60000));
    int status;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    open_store();
    assert_buckets(random);
  }
  g_rand_free(random);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_buckets_say_what_the_samples_say, begin, end),
      cmocka_unit_test_setup_teardown(test_what_is_made_is_read_until_it_is_marked, begin, end),
      cmocka_unit_test_setup_teardown(test_an_hour_that_was_touched_is_left_alone, begin, end),
      cmocka_unit_test_setup_teardown(test_a_damaged_page_is_made_of_samples_again, begin, end),
      cmocka_unit_test_setup_teardown(test_many_attributes, begin, end),
      cmocka_unit_test_setup_teardown(test_a_kill_leaves_buckets_right, begin, end),
  };
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}
