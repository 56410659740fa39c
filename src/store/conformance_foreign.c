/* conformance_foreign.c: batches of other processes, and readers without a store. */
#include "store/conformance.h"

static void write_foreign(tt_store *store, tt_store_batch *batch) {
  tt_error error;
  if (store->write_foreign(store, batch, &error) != TT_OK) fail_msg("%s", error.text);
  tt_store_batch_free(batch);
}

static void add_epoch(tt_store_batch *batch, int device, int number, int64_t key) {
  tt_testing_add_epoch(batch, device, number, 1000, 900, 1100, "");
  tt_list_at(&batch->epochs, tt_store_epoch, batch->epochs.len - 1).key = key;
}

/** Of a process that has heard of the devices and attributes of tt_testing_batch() in another order, and of more. */
static tt_store_batch *other_batch(void) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 0, "ROBO9", "Red");  // which is another one's
  tt_testing_add_name(&batch->devices, 1, "ROBO1", NULL);
  tt_testing_add_name(&batch->attributes, 0, "Input.battery.level", NULL);
  tt_testing_add_name(&batch->attributes, 1, "Output.turn.heading", NULL);
  tt_testing_add_name(&batch->attributes, 2, "Output.drive.velocity", "Pace");
  const tt_store_pair pair = {1, 2};
  tt_list_add(&batch->pairs, &pair, 1);
  add_epoch(batch, 1, 7, 0);    // which is there as number 0
  add_epoch(batch, 1, 0, 700);  // whose number is another one's
  add_epoch(batch, 0, 3, 300);
  tt_testing_add_sample(batch, 1, 7, 80000, 81000);  // there already
  tt_testing_add_value(batch, 2, NULL, 50.25);
  tt_testing_add_sample(batch, 1, 7, 80001, 81001);
  tt_testing_add_value(batch, 1, "new", 0);
  tt_testing_add_sample(batch, 1, 0, 80000, 81000)->seq = 12;
  tt_testing_add_value(batch, 2, NULL, 1);
  tt_testing_add_value(batch, 0, NULL, 2);
  tt_testing_add_sample(batch, 0, 3, 5, 6);
  tt_testing_add_value(batch, 0, "x", 0);
  return batch;
}

static const char *const told_lines[] = {
    "device 0 ROBO1 -\n",
    "device 1 ROBO2 -\n",
    "device 2 ROBO9 Red\n",
    "attribute 0 Output.drive.velocity Pace\n",
    "attribute 1 Output.turn.heading -\n",
    "attribute 2 Input.battery.level -\n",
    "pair 0 0\n",
    "epoch 0 0 1000 900 1100 0 '' | 1 80001 81001\n",
    "epoch 0 1 1000 900 1100 700 '' | 1 80000 81000\n",
    "epoch 1 0 0 -50 50 100 'start 7' | 1 80050 80050\n",
    "epoch 2 3 1000 900 1100 300 '' | 1 5 6\n",
};

static void assert_records(tt_store_reader *reader, int device, int epoch, const char *expected) {
  const tt_store_range range = {device,    epoch, INT64_MIN, INT64_MAX, INT64_MIN,
                                INT64_MAX, NULL,  0,         false};
  char *text = tt_testing_read_range(reader, &range);
  assert_string_equal(text, expected);
  g_free(text);
}

static void test_another_process_means_the_same_by_other_numbers(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  write_foreign(store, tt_testing_batch());
  write_foreign(store, other_batch());
  write_foreign(store, other_batch());  // the same once more
  char *told;
  tt_store_reader *reader = tt_testing_open_alone(&told);
  for (size_t i = 0; i < sizeof told_lines / sizeof *told_lines; i++)
    if (!strstr(told, told_lines[i])) fail_msg("no '%s' in\n%s", told_lines[i], told);
  g_free(told);
  assert_records(reader, 0, 0, TT_TESTING_ROBO1 "80001 81001 1='new'\n");
  assert_records(reader, 0, 1, "80000 81000 #12 0=1 2=2\n");
  assert_records(reader, 1, 0, "80050 80050 0=-0.10000000000000001\n");
  assert_records(reader, 2, 3, "5 6 2='x'\n");
  tt_list epochs = TT_LIST(tt_store_epoch, NULL);
  tt_error error;
  assert_int_equal(reader->epochs(reader, 1, &epochs, &error), TT_OK);
  assert_int_equal(epochs.len, 1);
  assert_int_equal(tt_list_at(&epochs, tt_store_epoch, 0).key, 100);
  assert_string_equal(tt_list_at(&epochs, tt_store_epoch, 0).boot, "start 7");
  tt_list_free(&epochs);
  reader->close(reader);
  store->close(store);
}

/** What a store tells of names after somebody said some: of devices, and of attributes that are called as these are. */
static void assert_names(tt_store *store, const tt_store_name *said, int count,
                         const char *const *expected) {
  tt_store_batch *batch = tt_store_batch_new();
  for (int i = 0; i < count; i++) {
    tt_store_add_name(&batch->devices, said[i].index, said[i].identifier, said[i].name,
                      TT_NAME_USED);
    tt_store_add_name(&batch->attributes, said[i].index, said[i].identifier, said[i].name,
                      TT_NAME_USED);
  }
  write_foreign(store, batch);
  char *told;
  tt_store_reader *reader = tt_testing_open_alone(&told);
  for (int i = 0; i < 3; i++) {
    for (int kind = 0; kind < 2; kind++) {
      char *line = g_strdup_printf("%s %d %s\n", kind ? "attribute" : "device", i, expected[i]);
      if (!strstr(told, line)) fail_msg("no '%s' in\n%s", line, told);
      g_free(line);
    }
  }
  g_free(told);
  reader->close(reader);
}

/** Two collectors gave it before they heard of each other, or it was moved while nobody stored: a log tells both at once. */
static void test_the_later_one_has_a_name(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  assert_names(store,
               (tt_store_name[]){{.index = 0, .identifier = "A", .name = "X"},
                                 {.index = 1, .identifier = "B", .name = "X"},
                                 {.index = 2, .identifier = "C", .name = "Y"}},
               3, (const char *const[]){"A -", "B X", "C Y"});
  assert_names(store,
               (tt_store_name[]){{.index = 0, .identifier = "C", .name = ""},
                                 {.index = 1, .identifier = "A", .name = "Y"},
                                 {.index = 2, .identifier = "B", .name = NULL}},
               3, (const char *const[]){"A Y", "B X", "C -"});
  // Moved around, and back: what is said last counts.
  assert_names(store,
               (tt_store_name[]){{.index = 0, .identifier = "C", .name = "X"},
                                 {.index = 1, .identifier = "B", .name = "Y"},
                                 {.index = 2, .identifier = "A", .name = "X"},
                                 {.index = 0, .identifier = "C", .name = NULL}},
               4, (const char *const[]){"A X", "B Y", "C -"});
  store->close(store);
}

/** Only what says so may be a repeat that stands in another epoch. */
static void test_foreign_messages_are_news_unless_they_say_otherwise(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  for (int turn = 0; turn < 3; turn++) {
    tt_store_batch *batch = tt_store_batch_new();
    tt_testing_add_name(&batch->devices, 0, "ROBO1", NULL);
    tt_testing_add_name(&batch->attributes, 0, "Output.drive.velocity", NULL);
    add_epoch(batch, 0, turn, turn);
    tt_testing_add_sample(batch, 0, turn, 80000, 81000)->flags = turn == 1 ? TT_SAMPLE_UNSURE : 0;
    tt_testing_add_value(batch, 0, NULL, 4);
    write_foreign(store, batch);
  }
  char *told;
  tt_store_reader *reader = tt_testing_open_alone(&told);
  assert_records(reader, 0, 0, "80000 81000 0=4\n");
  assert_records(reader, 0, 1, "");
  assert_records(reader, 0, 2, "80000 81000 0=4\n");
  g_free(told);
  reader->close(reader);
  store->close(store);
}

/** A value of ROBO1 at a time in one of two epochs; where its message stands in a log, and what it was put behind. */
static void write_of_log(tt_store *store, int64_t log, int epoch, int64_t device_time,
                         int64_t place, int64_t after, uint32_t flags) {
  tt_store_batch *batch = tt_store_batch_new();
  batch->log = log;
  tt_testing_add_name(&batch->devices, 0, "ROBO1", NULL);
  tt_testing_add_name(&batch->attributes, 0, "Output.drive.velocity", NULL);
  add_epoch(batch, 0, epoch, epoch);
  tt_store_sample *sample = tt_testing_add_sample(batch, 0, epoch, device_time, device_time + 1000);
  sample->place = place;
  sample->after = after;
  sample->flags = flags;
  tt_testing_add_value(batch, 0, NULL, 4);
  write_foreign(store, batch);
}

/** Who takes of a log may be overtaken by another, or be given once more what was done: what a device sent again came first. */
static void test_what_was_overtaken_is_looked_for(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  write_of_log(store, 7, 0, 100, 10, 9, 0);
  write_of_log(store, 7, 1, 100, 11, 10, 0);  // news: the device was restarted, and says the same
  write_of_log(store, 7, 1, 200, 21, 20, TT_SAMPLE_UNSURE);
  write_of_log(store, 7, 0, 200, 20, 11, 0);  // before that one in the log, stored after it
  write_of_log(store, 7, 1, 300, 31, 21, TT_SAMPLE_UNSURE);
  write_of_log(store, 7, 0, 300, 32, 21,
               0);  // its place was given away without knowing of that one
  write_of_log(store, 7, 0, 400, 40, 32, 0);
  write_of_log(store, 7, 1, 400, 41, 40, TT_SAMPLE_UNSURE);
  write_of_log(store, 7, 1, 400, 41, 40, 0);  // dropped as a repeat, and given once more
  write_of_log(store, 7, 1, 500, 50, 41, TT_SAMPLE_UNSURE);
  write_of_log(store, 7, 0, 500, 51, 50, 0);  // behind it: news
  write_of_log(store, 8, 0, 200, 20, 11, 0);  // another log's
  store->close(store);
  store = tt_testing_open();
  write_of_log(store, 7, 0, 300, 32, 21, 0);  // it is remembered
  char *told;
  tt_store_reader *reader = tt_testing_open_alone(&told);
  assert_records(reader, 0, 0, "100 1100 0=4\n200 1200 0=4\n400 1400 0=4\n500 1500 0=4\n");
  assert_records(reader, 0, 1, "100 1100 0=4\n200 1200 0=4\n300 1300 0=4\n500 1500 0=4\n");
  g_free(told);
  reader->close(reader);
  store->close(store);
}

static void assert_refused(tt_store *store, tt_store_batch *batch) {
  tt_error error;
  assert_int_equal(store->write_foreign(store, batch, &error), TT_INVALID);
  tt_store_batch_free(batch);
}

static void test_a_batch_that_is_not_whole_is_refused(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  write_foreign(store, tt_testing_batch());
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 0, "ROBO1", NULL);
  tt_testing_add_name(&batch->attributes, 0, "Output.drive.velocity", NULL);
  tt_testing_add_sample(batch, 0, 0, 90000, 91000);  // its epoch is not said
  tt_testing_add_value(batch, 0, NULL, 1);
  assert_refused(store, batch);
  store->close(store);
  store = tt_testing_open();
  batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 0, "ROBO1", NULL);
  add_epoch(batch, 0, 0, 0);
  tt_testing_add_sample(batch, 0, 0, 90000, 91000);
  tt_testing_add_value(batch, 1, NULL, 1);  // its attribute is not said
  assert_refused(store, batch);
  store->close(store);
  char *told;
  tt_store_reader *reader = tt_testing_open_alone(&told);
  assert_records(reader, 0, 0, TT_TESTING_ROBO1);
  g_free(told);
  reader->close(reader);
}

static void test_nothing_to_read_is_said(void **state) {
  (void)state;
  const tt_store_options options = {.url = tt_testing_url()};
  const tt_store_backend *backend;
  tt_store_reader *reader;
  tt_error error;
  assert_int_equal(tt_store_backend_of(options.url, &backend, &error), TT_OK);
  assert_int_equal(backend->open_reader(&options, &reader, &error), TT_NOT_FOUND);
}

const tt_store_case tt_store_foreign_cases[] = {
    {"another process means the same by other numbers",
     test_another_process_means_the_same_by_other_numbers, TT_STORE_READS, NULL},
    {"the later one has a name", test_the_later_one_has_a_name, TT_STORE_READS, NULL},
    {"foreign messages are news unless they say otherwise",
     test_foreign_messages_are_news_unless_they_say_otherwise, TT_STORE_READS, NULL},
    {"what was overtaken is looked for", test_what_was_overtaken_is_looked_for, TT_STORE_READS,
     NULL},
    {"a batch that is not whole is refused", test_a_batch_that_is_not_whole_is_refused,
     TT_STORE_READS, NULL},
    {"nothing to read is said", test_nothing_to_read_is_said, TT_STORE_READS, NULL},
    {0},
};
