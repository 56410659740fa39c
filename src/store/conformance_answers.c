/* conformance_answers.c: what every store's readers say beside records from the oldest on: records from the newest on, how
 * many there are, and what is newest of everything. */
#include "store/conformance.h"

static tt_store *store;
static tt_store_reader *reader;

static void open_reader(void) {
  tt_error error;
  if (store->open_reader(store, &reader, &error) != TT_OK) fail_msg("%s", error.text);
}

static void begin(void) {
  store = tt_testing_open();
  g_free(tt_testing_load(store));
}

static void end(void) {
  reader->close(reader);
  store->close(store);
}

static void add_pair(tt_store_batch *batch, int device, int attribute) {
  const tt_store_pair pair = {device, attribute};
  tt_list_add(&batch->pairs, &pair, 1);
}

/** Two devices, two attributes, epochs 0 and 1 of the first device. */
static tt_store_batch *named_batch(void) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 0, "ROBO1", NULL);
  tt_testing_add_name(&batch->devices, 1, "ROBO2", NULL);
  tt_testing_add_name(&batch->attributes, 0, "S.d.a", NULL);
  tt_testing_add_name(&batch->attributes, 1, "S.d.b", NULL);
  tt_testing_add_name(&batch->attributes, 2, "S.d.c", NULL);
  tt_testing_add_epoch(batch, 0, 0, 1000, 900, 1100, "");
  tt_testing_add_epoch(batch, 0, 1, 2000, 1900, 2100, "");
  tt_testing_add_epoch(batch, 1, 0, 0, -50, 50, "");
  for (int i = 0; i < 3; i++) add_pair(batch, 0, i);
  add_pair(batch, 1, 0);
  return batch;
}

static void add(tt_store_batch *batch, int device, int epoch, int64_t device_time, int64_t time,
                int attribute, const char *text, double number) {
  tt_testing_add_sample(batch, device, epoch, device_time, time);
  tt_testing_add_value(batch, attribute, text, number);
}

static char *read_range(const tt_store_range *range) {
  tt_store_cursor *cursor;
  tt_store_record record;
  tt_error error;
  GString *text = g_string_new(NULL);
  if (reader->open(reader, range, &cursor, &error) != TT_OK) fail_msg("%s", error.text);
  tt_status status;
  while ((status = reader->next(cursor, &record, &error)) == TT_OK) {
    g_string_append_printf(text, "%d", (int)record.device_time);
    for (int i = 0; i < record.count; i++)
      g_string_append_printf(text, " %d=%g", record.cells[i].attribute, record.cells[i].number);
    g_string_append_c(text, '\n');
  }
  assert_int_equal(status, TT_END);
  reader->close_cursor(cursor);
  return g_string_free(text, FALSE);
}

static void assert_range(const tt_store_range *range, uint64_t expected_count,
                         const char *expected) {
  uint64_t count;
  tt_error error;
  char *text = read_range(range);
  assert_string_equal(text, expected);
  g_free(text);
  if (reader->count(reader, range, &count, &error) != TT_OK) fail_msg("%s", error.text);
  assert_int_equal(count, expected_count);
}

static void test_the_newest_first_and_how_many(void **state) {
  (void)state;
  begin();
  tt_store_batch *batch = named_batch();
  add(batch, 0, 0, 100, 1100, 0, NULL, 1);
  tt_testing_add_value(batch, 1, NULL, 10);
  add(batch, 0, 0, 200, 1200, 0, NULL, 2);
  add(batch, 0, 0, 200, 1200, 0, NULL, 3);  // two records of a moment
  add(batch, 0, 0, 300, 1300, 1, NULL, 4);
  tt_testing_write(store, batch);
  open_reader();
  if (!reader->count) {
    end();
    skip();
  }
  tt_store_range range = {.device_from = INT64_MIN,
                          .device_to = INT64_MAX,
                          .from = INT64_MIN,
                          .to = INT64_MAX,
                          .newest_first = true};
  assert_range(&range, 4, "300 1=4\n200 0=3\n200 0=2\n100 0=1 1=10\n");
  const int only[] = {0};
  range.attributes = only;
  range.attribute_count = 1;
  assert_range(&range, 3, "200 0=3\n200 0=2\n100 0=1\n");
  range.from = 1101;
  range.device_to = 250;
  assert_range(&range, 2, "200 0=3\n200 0=2\n");
  range.newest_first = false;
  assert_range(&range, 2, "200 0=2\n200 0=3\n");
  range.from = 1201;
  assert_range(&range, 0, "");
  end();
}

/** A world that was held for a week: its clock is that much behind what it was at its beginning. */
static void test_a_range_of_a_clock_that_was_held(void **state) {
  (void)state;
  const int64_t week = 7 * 86400 * INT64_C(1000000);
  begin();
  tt_store_batch *batch = named_batch();
  tt_testing_add_epoch(batch, 1, 1, 0, 0, week, "");
  add(batch, 1, 1, 100, 100, 0, NULL, 1);
  add(batch, 1, 1, 200, week + 200, 0, NULL, 2);
  tt_testing_write(store, batch);
  open_reader();
  tt_store_range range = {.device = 1,
                          .epoch = 1,
                          .device_from = INT64_MIN,
                          .device_to = INT64_MAX,
                          .from = week,
                          .to = week + 1000};
  char *text = read_range(&range);
  assert_string_equal(text, "200 0=2\n");
  g_free(text);
  range.from = 0;
  range.to = 150;
  text = read_range(&range);
  assert_string_equal(text, "100 0=1\n");
  g_free(text);
  end();
}

static bool append_latest(void *context, const tt_store_latest *latest) {
  g_string_append_printf(context, "%d %d: %d %d %d ", latest->device, latest->cell.attribute,
                         latest->epoch, (int)latest->device_time, (int)latest->time);
  if (latest->cell.text)
    g_string_append_printf(context, "'%s'\n", latest->cell.text);
  else
    g_string_append_printf(context, "%g\n", latest->cell.number);
  return true;
}

static void assert_latest(int device, const char *expected) {
  tt_error error;
  GString *text = g_string_new(NULL);
  if (reader->latest(reader, device, append_latest, text, &error) != TT_OK)
    fail_msg("%s", error.text);
  assert_string_equal(text->str, expected);
  g_string_free(text, TRUE);
}

static void test_the_newest_of_everything(void **state) {
  (void)state;
  begin();
  tt_store_batch *batch = named_batch();
  add(batch, 0, 0, 100, 1100, 2, "old", 0);  // sent once, long ago
  for (int i = 200; i < 5000; i++) add(batch, 0, 0, i, i + 1000, 0, NULL, i);
  add(batch, 0, 0, 5000, 6090, 0, NULL, -1);
  add(batch, 0, 0, 5001, 6000, 0, NULL, -2);  // behind it on the device's clock, before it on ours
  add(batch, 0, 1, 100, 2100, 0, NULL, -3);   // another start, placed before all that
  add(batch, 0, 1, 4000, 6050, 1, "text", 0);
  add(batch, 1, 0, 7, 7, 0, NULL, 7);
  add(batch, 1, 0, 8, 8, 0, NULL, 8);
  add(batch, 1, 0, 8, 8, 0, NULL, 9);  // the later record of the moment
  tt_testing_write(store, batch);
  open_reader();
  if (!reader->latest) {
    end();
    skip();
  }
  assert_latest(0, "0 0: 0 5000 6090 -1\n0 1: 1 4000 6050 'text'\n0 2: 0 100 1100 'old'\n");
  assert_latest(1, "1 0: 0 8 8 9\n");
  assert_latest(-1,
                "0 0: 0 5000 6090 -1\n0 1: 1 4000 6050 'text'\n0 2: 0 100 1100 'old'\n"
                "1 0: 0 8 8 9\n");
  end();
}

static void test_nothing_is_newest_of_nothing(void **state) {
  (void)state;
  begin();
  open_reader();
  if (!reader->latest) {
    end();
    skip();
  }
  assert_latest(-1, "");
  assert_latest(5, "");
  end();
}

const tt_store_case tt_store_answers_cases[] = {
    {"the newest first and how many", test_the_newest_first_and_how_many, TT_STORE_READS, NULL},
    {"a range of a clock that was held", test_a_range_of_a_clock_that_was_held, TT_STORE_READS,
     NULL},
    {"the newest of everything", test_the_newest_of_everything, TT_STORE_READS, NULL},
    {"nothing is newest of nothing", test_nothing_is_newest_of_nothing, TT_STORE_READS, NULL},
    {0},
};
