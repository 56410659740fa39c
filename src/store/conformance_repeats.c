/* conformance_repeats.c: what comes once more, and what only looks so, in every store. */
#include "store/conformance.h"

static void test_a_repeat_is_stored_once(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  tt_testing_write(store, tt_testing_batch());
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_sample(batch, 0, 0, 80000,
                        81003);  // the same sample, normalized a little differently
  tt_testing_add_value(batch, 0, NULL, 50.25);
  tt_testing_add_sample(batch, 0, 0, 80001, 81001);  // twice in one batch
  tt_testing_add_value(batch, 0, NULL, 1);
  tt_testing_add_sample(batch, 0, 0, 80001, 81001);
  tt_testing_add_value(batch, 0, NULL, 1);
  tt_testing_write(store, batch);
  char *expected = g_strconcat(TT_TESTING_ROBO1, "80001 81001 0=1\n", NULL);
  tt_testing_assert_reads(store, 0, 0, expected);
  g_free(expected);
  store->close(store);
}

static void test_another_value_is_another_sample(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  // Attributes that a moment does not have yet join its record; values that differ make one of their own, together.
  for (int turn = 0; turn < 2; turn++) {
    tt_store_batch *batch = tt_store_batch_new();
    tt_testing_add_sample(batch, 0, 0, 90000, 91000);
    tt_testing_add_value(batch, 0, NULL, 1);
    tt_testing_add_sample(batch, 0, 0, 90000, 91000);
    tt_testing_add_value(batch, 1, "a", 0);
    tt_testing_write(store, batch);
    batch = tt_store_batch_new();
    tt_testing_add_sample(batch, 0, 0, 90000, 91001);
    tt_testing_add_value(batch, 0, NULL, 2);
    tt_testing_add_value(batch, 1, "b", 0);
    tt_testing_add_sample(batch, 0, 0, 90000, 91002);
    tt_testing_add_value(batch, 0, NULL, 3);
    tt_testing_add_value(batch, 1, "b", 0);  // there already
    tt_testing_add_sample(batch, 0, 0, 90000, 91003);
    tt_testing_add_value(batch, 0, NULL, 4);
    tt_testing_add_value(batch, 1, "4", 0);
    tt_testing_add_sample(batch, 0, 0, 90000, 91004);
    tt_testing_add_value(batch, 0, "4", 0);  // a text is no number
    tt_testing_write(store, batch);
  }
  char *expected = g_strconcat(TT_TESTING_ROBO1,
                               "90000 91000 0=1 1='a'\n90000 91001 0=2 1='b'\n90000 91002 0=3\n"
                               "90000 91003 0=4 1='4'\n90000 91004 0='4'\n",
                               NULL);
  tt_testing_assert_reads(store, 0, 0, expected);
  g_free(expected);
  store->close(store);
}

/** Writes a sample of the first device by itself; a text or a number that is NULL or 0 is none. */
static void write_one(tt_store *store, int64_t seq, double number, const char *text) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_sample(batch, 0, 0, 90000, 91000)->seq = seq;
  if (number != 0) tt_testing_add_value(batch, 0, NULL, number);
  if (text) tt_testing_add_value(batch, 1, text, 0);
  tt_testing_write(store, batch);
}

/** What comes again may be a part of what was sent: the rest doesn't fit any more, or a minimum interval leaves it out. */
static void test_a_part_of_a_record_is_stored_once(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  write_one(store, 0, 1, NULL);
  write_one(store, 0, 2, "b");
  write_one(store, 5, 1, NULL);
  write_one(store, 6, 2, "b");
  for (int turn = 0; turn < 2; turn++) {
    write_one(store, 0, 0, "b");
    write_one(store, 0, 0, "c");  // the first record has none yet
    write_one(store, 6, 0, "b");
  }
  char *expected = g_strconcat(TT_TESTING_ROBO1,
                               "90000 91000 0=1 1='c'\n90000 91000 0=2 1='b'\n"
                               "90000 91000 #5 0=1\n90000 91000 #6 0=2 1='b'\n",
                               NULL);
  tt_testing_assert_reads(store, 0, 0, expected);
  g_free(expected);
  store->close(store);
}

/** A clock that stands still: more records of one moment than are compared. */
static void test_many_of_one_moment(void **state) {
  (void)state;
  enum { COUNT = 3 * TT_STORE_RECORDS };
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  GString *expected = g_string_new(TT_TESTING_ROBO1);
  for (int turn = 0; turn < 2; turn++) {  // the second time in one batch
    tt_store_batch *batch = turn ? tt_store_batch_new() : tt_testing_batch();
    for (int i = 0; i < COUNT; i++) {
      if (!turn) g_string_append_printf(expected, "90000 91000 0=%d 1='x%d'\n", i, i);
      tt_testing_add_sample(batch, 0, 0, 90000, 91000);
      tt_testing_add_value(batch, 0, NULL, turn ? COUNT - 1 - i % TT_STORE_RECORDS : i);
      char *text = g_strdup_printf("x%d", turn ? COUNT - 1 - i % TT_STORE_RECORDS : i);
      tt_testing_add_value(batch, 1, text, 0);
      g_free(text);
      if (!turn && i % 50 == 49) {
        tt_testing_write(store, batch);
        batch = tt_store_batch_new();
      }
    }
    tt_testing_write(store, batch);
  }
  tt_testing_assert_reads(store, 0, 0, expected->str);
  g_string_free(expected, TRUE);
  store->close(store);
}

static void test_a_number_of_its_own_makes_a_message_another(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  const int64_t seqs[] = {0, 5, 6, 5, 0, 6};
  for (int i = 0; i < 6; i++) {
    tt_store_batch *batch = tt_store_batch_new();
    tt_testing_add_sample(batch, 0, 0, 90000, 91000)->seq = seqs[i];
    tt_testing_add_value(batch, 0, NULL, 7);
    tt_testing_write(store, batch);
  }
  char *expected = g_strconcat(TT_TESTING_ROBO1,
                               "90000 91000 0=7\n90000 91000 #5 0=7\n90000 91000 #6 0=7\n", NULL);
  tt_testing_assert_reads(store, 0, 0, expected);
  g_free(expected);
  store->close(store);
}

static void test_numbered_messages_of_one_moment_stay_apart(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  write_one(store, 5, 1, NULL);
  write_one(store, 6, 0, "b");  // none of the attributes of the other one
  char *expected =
      g_strconcat(TT_TESTING_ROBO1, "90000 91000 #5 0=1\n90000 91000 #6 1='b'\n", NULL);
  tt_testing_assert_reads(store, 0, 0, expected);
  g_free(expected);
  tt_store_reader *reader;
  tt_error error;
  uint64_t records = 0;
  const tt_store_range all = {0, 0, INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX, NULL, 0, true};
  if (store->open_reader(store, &reader, &error) != TT_OK ||
      reader->count(reader, &all, &records, &error) != TT_OK)
    fail_msg("%s", error.text);
  assert_int_equal(records, 3);
  char *newest_first = tt_testing_read_range(reader, &all);
  assert_string_equal(newest_first, "90000 91000 #6 1='b'\n90000 91000 #5 0=1\n" TT_TESTING_ROBO1);
  g_free(newest_first);
  reader->close(reader);
  store->close(store);
}

/* --- messages sent again --- */

/** Two samples of one message. */
static void add_message(tt_store_batch *batch, int epoch, int64_t device_time, double number,
                        const char *text, uint32_t flags) {
  tt_testing_add_sample(batch, 0, epoch, device_time, device_time + 1000)->flags = flags;
  tt_testing_add_value(batch, 0, NULL, number);
  tt_testing_add_sample(batch, 0, epoch, device_time + 10, device_time + 1010)->flags =
      flags | TT_SAMPLE_CONTINUES;
  tt_testing_add_value(batch, 1, text, 0);
}

static void test_what_may_be_a_repeat_is_looked_for_in_other_epochs(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_store_batch *batch = tt_testing_batch();
  add_message(batch, 0, 90000, 1, "one", 0);
  tt_testing_write(store, batch);
  batch = tt_store_batch_new();
  tt_testing_add_epoch(batch, 0, 1, 2000, 1900, 2100, "");
  add_message(batch, 1, 90000, 1, "one", TT_SAMPLE_UNSURE);  // all is there
  add_message(batch, 1, 90100, 1, "one", TT_SAMPLE_UNSURE);  // another time
  add_message(batch, 1, 90000, 1, "two", TT_SAMPLE_UNSURE);  // one value differs
  add_message(batch, 1, 90000, 2, "one", TT_SAMPLE_UNSURE);  // the other one
  tt_testing_write(store, batch);
  batch = tt_store_batch_new();
  add_message(batch, 1, 90000, 1, "one", 0);  // sure: the device was restarted, and sends the same
  tt_testing_write(store, batch);
  char *expected = g_strconcat(TT_TESTING_ROBO1, "90000 91000 0=1\n90010 91010 1='one'\n", NULL);
  tt_testing_assert_reads(store, 0, 0, expected);
  g_free(expected);
  tt_testing_assert_reads(
      store, 0, 1,
      "90000 91000 0=1\n90000 91000 0=2\n90010 91010 1='two'\n90010 91010 1='one'\n"
      "90100 91100 0=1\n90110 91110 1='one'\n");
  store->close(store);
}

static void test_repeats_of_another_boot_are_none(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_store_batch *batch = tt_testing_batch();
  tt_testing_add_epoch(batch, 0, 1, 1000, 900, 1100, "a");
  tt_testing_add_epoch(batch, 0, 2, 1000, 900, 1100, "b");
  tt_testing_add_epoch(batch, 0, 3, 1000, 900, 1100, "b");  // its clock was set
  add_message(batch, 1, 90000, 1, "one", 0);
  tt_testing_write(store, batch);
  for (int turn = 0; turn < 2; turn++) {
    batch = tt_store_batch_new();
    add_message(batch, 2, 90000, 1, "one", TT_SAMPLE_UNSURE);  // in "a" only, then here
    add_message(batch, 3, 90000, 1, "one", TT_SAMPLE_UNSURE);  // of the same boot
    tt_testing_write(store, batch);
  }
  tt_testing_assert_reads(store, 0, 2, "90000 91000 0=1\n90010 91010 1='one'\n");
  tt_testing_assert_reads(store, 0, 3, "");
  store->close(store);
}

static void test_thinned_values_may_be_missing(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_store_batch *batch = tt_testing_batch();
  tt_testing_add_epoch(batch, 0, 1, 2000, 1900, 2100, "");
  tt_testing_add_sample(batch, 0, 0, 90000, 91000);
  tt_testing_add_value(batch, 0, NULL, 1);
  tt_testing_write(store, batch);
  batch = tt_store_batch_new();
  tt_store_sample *again = tt_testing_add_sample(batch, 0, 1, 90000, 92000);
  again->flags = TT_SAMPLE_UNSURE;
  again->thinned = 1;
  tt_testing_add_value(batch, 0, NULL, 1);
  tt_testing_add_value(batch, 1, "kept this time", 0);
  tt_testing_write(store, batch);
  tt_testing_assert_reads(store, 0, 1, "");
  store->close(store);
}

/** Of one batch, too, a message is compared with what is stored when its turn comes: with what those before it added, and with nothing of
 *  those that were left out. */
static void test_messages_of_a_batch_are_compared_one_by_one(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_store_batch *batch = tt_testing_batch();
  for (int number = 1; number < 4; number++)
    tt_testing_add_epoch(batch, 0, number, 1000, 900, 1100, "");
  tt_testing_add_sample(batch, 0, 0, 90000, 91000);
  tt_testing_add_value(batch, 0, NULL, 1);
  tt_testing_write(store, batch);
  batch = tt_store_batch_new();
  tt_store_sample *thinned = tt_testing_add_sample(batch, 0, 1, 90000, 91000);
  thinned->flags = TT_SAMPLE_UNSURE;
  thinned->thinned = 1;
  tt_testing_add_value(batch, 0, NULL, 1);  // in epoch 0: all of it is left out
  tt_testing_add_value(batch, 1, "kept this time", 0);
  for (int number = 2; number < 4; number++) {  // what was left out is news, once
    tt_testing_add_sample(batch, 0, number, 90000, 91000)->flags = TT_SAMPLE_UNSURE;
    tt_testing_add_value(batch, 0, NULL, 1);
    tt_testing_add_value(batch, 1, "kept this time", 0);
  }
  tt_testing_add_sample(batch, 0, 0, 90000, 91000);
  tt_testing_add_value(batch, 1, "later", 0);
  tt_testing_add_sample(batch, 0, 3, 90000, 91000)->flags = TT_SAMPLE_UNSURE;
  tt_testing_add_value(batch, 0, NULL, 1);  // one value was there, the other has come since
  tt_testing_add_value(batch, 1, "later", 0);
  tt_testing_write(store, batch);
  char *expected = g_strconcat(TT_TESTING_ROBO1, "90000 91000 0=1 1='later'\n", NULL);
  tt_testing_assert_reads(store, 0, 0, expected);
  g_free(expected);
  tt_testing_assert_reads(store, 0, 1, "");
  tt_testing_assert_reads(store, 0, 2, "90000 91000 0=1 1='kept this time'\n");
  tt_testing_assert_reads(store, 0, 3, "");
  store->close(store);
}

/** However many values of a message stand in another epoch, another one makes it news. */
static void test_every_value_of_a_message_counts(void **state) {
  (void)state;
  enum { VALUES = 2 * TT_STORE_VALUES };
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_store_batch *batch = tt_testing_batch();
  tt_testing_add_epoch(batch, 0, 1, 2000, 1900, 2100, "");
  for (int turn = 0; turn < 3; turn++) {
    for (int i = 0; i < VALUES; i++) {  // of one message
      const unsigned flags = (turn ? TT_SAMPLE_UNSURE : 0) | (i ? TT_SAMPLE_CONTINUES : 0);
      tt_testing_add_sample(batch, 0, turn > 0, 90000 + i, 91000 + i)->flags = flags;
      tt_testing_add_value(batch, 0, NULL, turn == 2 && i == VALUES - 1 ? 2 : 1);
    }
    tt_testing_write(store, batch);
    batch = tt_store_batch_new();
    char *read = tt_testing_read(store, 0, 1, INT64_MIN, INT64_MAX, NULL, 0);
    int lines = 0;
    for (const char *c = read; *c; c++) lines += *c == '\n';
    assert_int_equal(lines, turn == 2 ? VALUES : 0);
    g_free(read);
  }
  tt_store_batch_free(batch);
  store->close(store);
}

/** What find() says. */
static char *find(tt_store *store, const char *boot, tt_store_batch *batch) {
  const tt_store_question question = {0, boot, batch};
  tt_list boots = TT_LIST(tt_store_boot, NULL);
  GString *text = g_string_new(NULL);
  int64_t key = -1;
  tt_status status = store->find(store, &question, &boots, &key);
  if (status == TT_OK) g_string_append_printf(text, "in %d\n", (int)key);
  assert_true(status == TT_OK || status == TT_NOT_FOUND);
  for (uint32_t i = 0; status == TT_OK && i < boots.len; i++)
    tt_testing_append_boot(text, &tt_list_at(&boots, tt_store_boot, i));
  tt_list_free(&boots);
  tt_store_batch_free(batch);
  return g_string_free(text, FALSE);
}

static tt_store_batch *message(int64_t device_time, double number, const char *text) {
  tt_store_batch *batch = tt_store_batch_new();
  add_message(batch, 0, device_time, number, text, 0);
  return batch;
}

static void assert_finds(tt_store *store, const char *boot, tt_store_batch *batch,
                         const char *expected) {
  char *found = find(store, boot, batch);
  assert_string_equal(found, expected);
  g_free(found);
}

static void test_a_message_is_found(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_store_batch *batch = tt_testing_batch();
  add_message(batch, 0, 90000, 1.1, "o'ne \"\\", 0);
  for (int number = 1; number < 7; number++)
    tt_testing_add_epoch(batch, 0, number, 1000, 900, 1100, number == 6 ? "x" : "");
  add_message(batch, 5, 90000, 5, "five", 0);
  add_message(batch, 6, 90000, 6, "six", 0);
  tt_testing_write(store, batch);
  static const char latest[] =
      "epoch 0 3 1000 900 1100 3 '' | 0 0 0\nepoch 0 4 1000 900 1100 4 '' | 0 0 0\n"
      "epoch 0 5 1000 900 1100 5 '' | 1 90010 91010\nepoch 0 6 1000 900 1100 6 'x' | 1 90010 "
      "91010\n";
  char *expected =
      g_strconcat("in 0\nepoch 0 0 1000 900 1100 0 '' | 1 90010 91010\n", latest, NULL);
  assert_finds(store, "", message(90000, 1.1, "o'ne \"\\"), expected);
  g_free(expected);
  expected = g_strconcat("in 5\n", latest, NULL);
  assert_finds(store, "", message(90000, 5, "five"), expected);
  g_free(expected);
  expected = g_strconcat("in 6\n", latest, NULL);
  assert_finds(store, "x", message(90000, 6, "six"), expected);
  g_free(expected);
  assert_finds(store, "", message(90000, 6, "six"), "");
  assert_finds(store, "y", message(90000, 6, "six"), "");
  assert_finds(store, "", message(90000, 5, "six"), "");
  assert_finds(store, "", message(90001, 5, "five"), "");
  assert_finds(store, "", tt_store_batch_new(), "");
  store->close(store);
}

const tt_store_case tt_store_repeats_cases[] = {
    {"a repeat is stored once", test_a_repeat_is_stored_once, TT_STORE_READS, NULL},
    {"another value is another sample", test_another_value_is_another_sample, TT_STORE_READS, NULL},
    {"a part of a record is stored once", test_a_part_of_a_record_is_stored_once, TT_STORE_READS,
     NULL},
    {"many of one moment", test_many_of_one_moment, TT_STORE_READS, NULL},
    {"a number of its own makes a message another",
     test_a_number_of_its_own_makes_a_message_another, TT_STORE_READS, NULL},
    {"numbered messages of one moment stay apart", test_numbered_messages_of_one_moment_stay_apart,
     TT_STORE_READS, NULL},
    {"what may be a repeat is looked for in other epochs",
     test_what_may_be_a_repeat_is_looked_for_in_other_epochs, TT_STORE_READS, NULL},
    {"repeats of another boot are none", test_repeats_of_another_boot_are_none, TT_STORE_READS,
     NULL},
    {"thinned values may be missing", test_thinned_values_may_be_missing, TT_STORE_READS, NULL},
    {"every value of a message counts", test_every_value_of_a_message_counts, TT_STORE_READS, NULL},
    {"messages of a batch are compared one by one",
     test_messages_of_a_batch_are_compared_one_by_one, TT_STORE_READS, NULL},
    {"a message is found", test_a_message_is_found, TT_STORE_READS, NULL},
    {0},
};
