/* store_test.c: what every store must do. SQLite always; PostgreSQL where TETHER_TEST_POSTGRES gives the URL of a database
 * whose schema `tether` may be dropped (tests/telemetry/store_postgres_test.py does).
 */
#include "store/store.h"

#include <glib/gstdio.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char *url;    /* of the store under test */
static char *folder; /* SQLite */
static char *spool;

static tt_store *open_store(void) {
  tt_store *store;
  tt_error error;
  tt_store_options options = {.url = url, .spool = spool, .spool_limit = 1 << 20};
  if (tt_store_open(&options, &store, &error) != TT_OK) fail_msg("%s", error.text);
  return store;
}

typedef struct loaded {
  GString *text;
  int devices, attributes;
} loaded;

static int on_device(void *context, const char *identifier, const char *name, bool *removed) {
  loaded *to = context;
  g_string_append_printf(to->text, "device %d %s %s%s\n", to->devices, identifier,
                         name ? name : "-", *removed ? " removed" : "");
  return to->devices++;
}
static int on_attribute(void *context, const char *identifier, const char *name, bool *removed) {
  loaded *to = context;
  g_string_append_printf(to->text, "attribute %d %s %s%s\n", to->attributes, identifier,
                         name ? name : "-", *removed ? " removed" : "");
  return to->attributes++;
}
static void on_pair(void *context, int device, int attribute) {
  g_string_append_printf(((loaded *)context)->text, "pair %d %d\n", device, attribute);
}
static bool on_handlings(void *context, const tt_list *handlings) {
  for (guint i = 0; i < handlings->len; i++) {
    const tt_handling *handling = &tt_list_at(handlings, tt_handling, i);
    g_string_append_printf(((loaded *)context)->text, "handling %s %d %d %s %g %g %g %g\n",
                           handling->pattern, handling->type, handling->mode,
                           handling->unit ? handling->unit : "-", handling->scale, handling->offset,
                           handling->min_interval, handling->retention);
  }
  return true;
}
static void append_boot(GString *text, const tt_store_boot *boot) {
  const tt_store_epoch *epoch = &boot->epoch;
  g_string_append_printf(text, "epoch %d %d %d %d %d %d '%s' | %d %d %d\n", epoch->device,
                         epoch->number, (int)epoch->anchor, (int)epoch->offset_low,
                         (int)epoch->offset_high, (int)epoch->key, epoch->boot, boot->has_sample,
                         (int)boot->device_time, (int)boot->time);
}
static void on_epoch(void *context, const tt_store_boot *boot) {
  append_boot(((loaded *)context)->text, boot);
}
static void on_spooled(void *context, int device, int64_t key, int64_t last_sample,
                       uint64_t content) {
  (void)content;
  g_string_append_printf(((loaded *)context)->text, "spooled %d %d %d\n", device, (int)key,
                         (int)last_sample);
}

/** Everything a store tells at its start. */
static char *load(tt_store *store) {
  loaded to = {g_string_new(NULL), 0, 0};
  tt_store_loader loader = {&to,          on_device, on_attribute, on_pair,
                            on_handlings, on_epoch,  on_spooled};
  tt_error error;
  if (store->load(store, &loader, &error) != TT_OK) fail_msg("%s", error.text);
  return g_string_free(to.text, FALSE);
}

static void assert_loads(tt_store *store, const char *expected) {
  char *text = load(store);
  assert_string_equal(text, expected);
  g_free(text);
}

static void add_name(tt_list *names, int index, const char *identifier, const char *name) {
  assert_true(tt_store_add_name(names, index, identifier, name, TT_NAME_USED));
}

/** Its key is 100 × device + number. */
static void add_epoch(tt_store_batch *batch, int device, int number, int64_t anchor, int64_t low,
                      int64_t high, const char *boot) {
  tt_store_epoch epoch = {.device = device,
                          .number = number,
                          .anchor = anchor,
                          .offset_low = low,
                          .offset_high = high,
                          .key = 100 * device + number};
  strcpy(epoch.boot, boot);
  tt_list_add(&batch->epochs, &epoch, 1);
}

static tt_store_sample *add_sample(tt_store_batch *batch, int device, int epoch,
                                   int64_t device_time, int64_t time) {
  tt_store_sample sample = {.device = device,
                            .epoch = epoch,
                            .device_time = device_time,
                            .time = time,
                            .first = batch->values.len};
  tt_list_add(&batch->samples, &sample, 1);
  return &tt_list_at(&batch->samples, tt_store_sample, batch->samples.len - 1);
}

static void add_value(tt_store_batch *batch, int attribute, const char *text, double number) {
  tt_store_value value = {attribute, TT_STORE_NUMBER, number};
  if (text) {
    value.text = batch->text.len;
    tt_list_add(&batch->text, text, strlen(text) + 1);
  }
  tt_list_add(&batch->values, &value, 1);
  tt_list_at(&batch->samples, tt_store_sample, batch->samples.len - 1).count++;
}

static tt_store_batch *new_batch(void) {
  tt_store_batch *batch = tt_store_batch_new();
  add_name(&batch->devices, 0, "ROBO1", NULL);
  add_name(&batch->devices, 1, "ROBO2", "Red");
  add_name(&batch->attributes, 0, "Output.drive.velocity", "Speed");
  add_name(&batch->attributes, 1, "Output.turn.heading", NULL);
  add_epoch(batch, 0, 0, 1000, 900, 1100, "");
  add_epoch(batch, 1, 0, 0, -50, 50, "start 7");
  add_sample(batch, 0, 0, 80000, 81000);
  add_value(batch, 0, NULL, 50.25);
  add_value(batch, 1, "Left & <\"ü\">", 0);
  add_sample(batch, 1, 0, 80050, 80050);
  add_value(batch, 0, NULL, -0.1);
  return batch;
}

static void write_batch(tt_store *store, tt_store_batch *batch) {
  tt_error error;
  if (store->write(store, batch, &error) != TT_OK) fail_msg("%s", error.text);
  tt_store_batch_free(batch);
}

/** All records of a device and epoch, a line each. */
static char *read_all(tt_store *store, int device, int epoch, int64_t from, int64_t to,
                      const int *attributes, int count) {
  tt_store_reader *reader;
  tt_store_cursor *cursor;
  tt_store_record record;
  tt_error error;
  GString *text = g_string_new(NULL);
  tt_store_range range = {device, epoch, INT64_MIN, INT64_MAX, from, to, attributes, count};
  if (store->open_reader(store, &reader, &error) != TT_OK) fail_msg("%s", error.text);
  if (reader->open(reader, &range, &cursor, &error) != TT_OK) fail_msg("%s", error.text);
  tt_status status;
  while ((status = reader->next(cursor, &record, &error)) == TT_OK) {
    g_string_append_printf(text, "%d %d", (int)record.device_time, (int)record.time);
    for (int i = 0; i < record.count; i++) {
      const tt_store_cell *cell = &record.cells[i];
      if (cell->text) {
        g_string_append_printf(text, " %d='%s'", cell->attribute, cell->text);
      } else {
        g_string_append_printf(text, " %d=%.17g", cell->attribute, cell->number);
      }
    }
    g_string_append_c(text, '\n');
  }
  assert_int_equal(status, TT_NOT_FOUND);
  reader->close_cursor(cursor);
  reader->close(reader);
  return g_string_free(text, FALSE);
}

static void assert_reads(tt_store *store, int device, int epoch, const char *expected) {
  char *text = read_all(store, device, epoch, INT64_MIN, INT64_MAX, NULL, 0);
  assert_string_equal(text, expected);
  g_free(text);
}

static const char robo1[] = "80000 81000 0=50.25 1='Left & <\"ü\">'\n";

static void test_what_is_written_is_read(void **state) {
  (void)state;
  tt_store *store = open_store();
  assert_loads(store, "");
  write_batch(store, new_batch());
  assert_reads(store, 0, 0, robo1);
  assert_reads(store, 1, 0, "80050 80050 0=-0.10000000000000001\n");
  assert_reads(store, 1, 1, "");
  char *text = read_all(store, 0, 0, 81001, 90000, NULL, 0);
  assert_string_equal(text, "");
  g_free(text);
  int only[] = {1};
  text = read_all(store, 0, 0, 81000, 81000, only, 1);
  assert_string_equal(text, "80000 81000 1='Left & <\"ü\">'\n");
  g_free(text);
  store->close(store);
}

static void test_everything_is_there_again(void **state) {
  (void)state;
  tt_store *store = open_store();
  g_free(load(store));
  tt_store_batch *batch = new_batch();
  tt_handling handling = {"Input.*", false, TT_VALUE_FLAG, TT_MODE_STORE, "V", 2, 0.5, 0.1, 60};
  tt_store_add_handling(&batch->handlings, &handling);
  write_batch(store, batch);
  batch = tt_store_batch_new();
  add_epoch(batch, 0, 0, 5555, 800, 1050, "");  // wider below; the anchor stays
  add_epoch(batch, 0, 1, 7, 0, 10, "");
  add_sample(batch, 0, 1, 3, 10);
  add_value(batch, 0, NULL, 1);
  add_sample(batch, 0, 1, 4, 11);
  add_value(batch, 0, NULL, 1);
  write_batch(store, batch);
  store->close(store);
  store = open_store();
  assert_loads(store,
               "device 0 ROBO1 -\ndevice 1 ROBO2 Red\n"
               "attribute 0 Output.drive.velocity Speed\nattribute 1 Output.turn.heading -\n"
               "handling Input.* 3 1 V 2 0.5 0.1 60\n"
               "epoch 0 0 1000 800 1100 0 '' | 1 80000 81000\nepoch 0 1 7 0 10 1 '' | 1 4 11\n"
               "epoch 1 0 0 -50 50 100 'start 7' | 1 80050 80050\n");
  batch = tt_store_batch_new();
  add_name(&batch->attributes, 0, "Output.drive.velocity", "");  // takes the name away
  add_name(&batch->devices, 1, "ROBO2", NULL);                   // leaves it
  tt_handling removed = {"Input.*", true, 0, 0, NULL, 1, 0, 0, 0};
  tt_store_add_handling(&batch->handlings, &removed);
  write_batch(store, batch);
  store->close(store);
  store = open_store();
  char *text = load(store);
  assert_non_null(strstr(text, "device 1 ROBO2 Red\nattribute 0 Output.drive.velocity -\n"));
  assert_null(strstr(text, "handling"));
  g_free(text);
  store->close(store);
}

static void add_pair(tt_store_batch *batch, int device, int attribute) {
  const tt_store_pair pair = {device, attribute};
  tt_list_add(&batch->pairs, &pair, 1);
}

static void write_name(tt_store *store, bool device, int index, const char *identifier,
                       const char *name, tt_name_state state) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_store_add_name(device ? &batch->devices : &batch->attributes, index, identifier, name, state);
  write_batch(store, batch);
}

/** What is loaded of names and pairs. */
static void assert_names(const char *expected) {
  tt_store *store = open_store();
  char *text = load(store), *end = strstr(text, "epoch");
  if (end) *end = 0;
  assert_string_equal(text, expected);
  g_free(text);
  store->close(store);
}

static void test_names_are_removed_until_they_are_used(void **state) {
  (void)state;
  tt_store *store = open_store();
  g_free(load(store));
  tt_store_batch *batch = new_batch();
  add_pair(batch, 0, 0);
  add_pair(batch, 0, 1);
  add_pair(batch, 1, 0);
  add_pair(batch, 1, 0);
  write_batch(store, batch);
  store->close(store);
  assert_names(
      "device 0 ROBO1 -\ndevice 1 ROBO2 Red\n"
      "attribute 0 Output.drive.velocity Speed\nattribute 1 Output.turn.heading -\n"
      "pair 0 0\npair 0 1\npair 1 0\n");
  store = open_store();
  g_free(load(store));
  write_name(store, false, 0, "Output.drive.velocity", "", TT_NAME_REMOVED);
  write_name(store, true, 1, "ROBO2", NULL, TT_NAME_KNOWN);
  store->close(store);
  const char *removed =
      "device 0 ROBO1 -\ndevice 1 ROBO2 Red\n"
      "attribute 0 Output.drive.velocity - removed\nattribute 1 Output.turn.heading -\npair 0 1\n";
  assert_names(removed);
  store = open_store();
  g_free(load(store));
  write_name(store, false, 0, "Output.drive.velocity", NULL, TT_NAME_KNOWN);
  store->close(store);
  assert_names(removed);
  store = open_store();
  g_free(load(store));
  write_name(store, false, 0, "Output.drive.velocity", NULL, TT_NAME_USED);
  write_name(store, true, 0, "ROBO1", "", TT_NAME_REMOVED);
  store->close(store);
  assert_names(
      "device 0 ROBO1 - removed\ndevice 1 ROBO2 Red\n"
      "attribute 0 Output.drive.velocity -\nattribute 1 Output.turn.heading -\n");
}

static bool holds(tt_store *store, int device, int attribute) {
  tt_store_reader *reader;
  tt_error error;
  bool held;
  if (store->open_reader(store, &reader, &error) != TT_OK) fail_msg("%s", error.text);
  assert_int_equal(reader->holds(reader, device, attribute, &held, &error), TT_OK);
  reader->close(reader);
  return held;
}

static void test_it_is_known_whether_a_value_is_left(void **state) {
  (void)state;
  tt_store *store = open_store();
  g_free(load(store));
  write_batch(store, new_batch());
  assert_true(holds(store, 0, 1));
  assert_false(holds(store, 1, 1));
  tt_store_purge purge = {.device = 0, .attribute = 1, .before = 90000, .limit = 100};
  int removed;
  tt_error error;
  assert_int_equal(store->purge(store, &purge, &removed, &error), TT_OK);
  assert_false(holds(store, 0, 1));
  assert_true(holds(store, 0, 0));
  store->close(store);
}

static void test_a_repeat_is_stored_once(void **state) {
  (void)state;
  tt_store *store = open_store();
  g_free(load(store));
  write_batch(store, new_batch());
  write_batch(store, new_batch());
  tt_store_batch *batch = tt_store_batch_new();
  add_sample(batch, 0, 0, 80000, 81003);  // the same sample, normalized a little differently
  add_value(batch, 0, NULL, 50.25);
  add_sample(batch, 0, 0, 80001, 81001);  // twice in one batch
  add_value(batch, 0, NULL, 1);
  add_sample(batch, 0, 0, 80001, 81001);
  add_value(batch, 0, NULL, 1);
  write_batch(store, batch);
  char *expected = g_strconcat(robo1, "80001 81001 0=1\n", NULL);
  assert_reads(store, 0, 0, expected);
  g_free(expected);
  store->close(store);
}

static void test_another_value_is_another_sample(void **state) {
  (void)state;
  tt_store *store = open_store();
  g_free(load(store));
  write_batch(store, new_batch());
  // Attributes that a moment does not have yet join its record; values that differ make one of their own, together.
  for (int turn = 0; turn < 2; turn++) {
    tt_store_batch *batch = tt_store_batch_new();
    add_sample(batch, 0, 0, 90000, 91000);
    add_value(batch, 0, NULL, 1);
    add_sample(batch, 0, 0, 90000, 91000);
    add_value(batch, 1, "a", 0);
    write_batch(store, batch);
    batch = tt_store_batch_new();
    add_sample(batch, 0, 0, 90000, 91001);
    add_value(batch, 0, NULL, 2);
    add_value(batch, 1, "b", 0);
    add_sample(batch, 0, 0, 90000, 91002);
    add_value(batch, 0, NULL, 3);
    add_value(batch, 1, "b", 0);  // there already
    add_sample(batch, 0, 0, 90000, 91003);
    add_value(batch, 0, NULL, 4);
    add_value(batch, 1, "4", 0);
    add_sample(batch, 0, 0, 90000, 91004);
    add_value(batch, 0, "4", 0);  // a text is no number
    write_batch(store, batch);
  }
  char *expected = g_strconcat(robo1,
                               "90000 91000 0=1 1='a'\n90000 91001 0=2 1='b'\n90000 91002 0=3\n"
                               "90000 91003 0=4 1='4'\n90000 91004 0='4'\n",
                               NULL);
  assert_reads(store, 0, 0, expected);
  g_free(expected);
  store->close(store);
}

/** A clock that stands still: more records of one moment than are compared. */
static void test_many_of_one_moment(void **state) {
  (void)state;
  enum { COUNT = 3 * TT_STORE_RECORDS };
  tt_store *store = open_store();
  g_free(load(store));
  GString *expected = g_string_new(robo1);
  for (int turn = 0; turn < 2; turn++) {  // the second time in one batch
    tt_store_batch *batch = turn ? tt_store_batch_new() : new_batch();
    for (int i = 0; i < COUNT; i++) {
      if (!turn) g_string_append_printf(expected, "90000 91000 0=%d 1='x%d'\n", i, i);
      add_sample(batch, 0, 0, 90000, 91000);
      add_value(batch, 0, NULL, turn ? COUNT - 1 - i % TT_STORE_RECORDS : i);
      char *text = g_strdup_printf("x%d", turn ? COUNT - 1 - i % TT_STORE_RECORDS : i);
      add_value(batch, 1, text, 0);
      g_free(text);
      if (!turn && i % 50 == 49) {
        write_batch(store, batch);
        batch = tt_store_batch_new();
      }
    }
    write_batch(store, batch);
  }
  assert_reads(store, 0, 0, expected->str);
  g_string_free(expected, TRUE);
  store->close(store);
}

static void test_a_number_of_its_own_makes_a_message_another(void **state) {
  (void)state;
  tt_store *store = open_store();
  g_free(load(store));
  write_batch(store, new_batch());
  const int64_t seqs[] = {0, 5, 6, 5, 0, 6};
  for (int i = 0; i < 6; i++) {
    tt_store_batch *batch = tt_store_batch_new();
    add_sample(batch, 0, 0, 90000, 91000)->seq = seqs[i];
    add_value(batch, 0, NULL, 7);
    write_batch(store, batch);
  }
  char *expected = g_strconcat(robo1, "90000 91000 0=7\n90000 91000 0=7\n90000 91000 0=7\n", NULL);
  assert_reads(store, 0, 0, expected);
  g_free(expected);
  store->close(store);
}

/* --- messages sent again --- */

/** Two samples of one message. */
static void add_message(tt_store_batch *batch, int epoch, int64_t device_time, double number,
                        const char *text, uint32_t flags) {
  add_sample(batch, 0, epoch, device_time, device_time + 1000)->flags = flags;
  add_value(batch, 0, NULL, number);
  add_sample(batch, 0, epoch, device_time + 10, device_time + 1010)->flags =
      flags | TT_SAMPLE_CONTINUES;
  add_value(batch, 1, text, 0);
}

static void test_what_may_be_a_repeat_is_looked_for_in_other_epochs(void **state) {
  (void)state;
  tt_store *store = open_store();
  g_free(load(store));
  tt_store_batch *batch = new_batch();
  add_message(batch, 0, 90000, 1, "one", 0);
  write_batch(store, batch);
  batch = tt_store_batch_new();
  add_epoch(batch, 0, 1, 2000, 1900, 2100, "");
  add_message(batch, 1, 90000, 1, "one", TT_SAMPLE_UNSURE);  // all is there
  add_message(batch, 1, 90100, 1, "one", TT_SAMPLE_UNSURE);  // another time
  add_message(batch, 1, 90000, 1, "two", TT_SAMPLE_UNSURE);  // one value differs
  add_message(batch, 1, 90000, 2, "one", TT_SAMPLE_UNSURE);  // the other one
  write_batch(store, batch);
  batch = tt_store_batch_new();
  add_message(batch, 1, 90000, 1, "one", 0);  // sure: the device was restarted, and sends the same
  write_batch(store, batch);
  char *expected = g_strconcat(robo1, "90000 91000 0=1\n90010 91010 1='one'\n", NULL);
  assert_reads(store, 0, 0, expected);
  g_free(expected);
  assert_reads(store, 0, 1,
               "90000 91000 0=1\n90000 91000 0=2\n90010 91010 1='two'\n90010 91010 1='one'\n"
               "90100 91100 0=1\n90110 91110 1='one'\n");
  store->close(store);
}

static void test_repeats_of_another_boot_are_none(void **state) {
  (void)state;
  tt_store *store = open_store();
  g_free(load(store));
  tt_store_batch *batch = new_batch();
  add_epoch(batch, 0, 1, 1000, 900, 1100, "a");
  add_epoch(batch, 0, 2, 1000, 900, 1100, "b");
  add_epoch(batch, 0, 3, 1000, 900, 1100, "b");  // its clock was set
  add_message(batch, 1, 90000, 1, "one", 0);
  write_batch(store, batch);
  for (int turn = 0; turn < 2; turn++) {
    batch = tt_store_batch_new();
    add_message(batch, 2, 90000, 1, "one", TT_SAMPLE_UNSURE);  // in "a" only, then here
    add_message(batch, 3, 90000, 1, "one", TT_SAMPLE_UNSURE);  // of the same boot
    write_batch(store, batch);
  }
  assert_reads(store, 0, 2, "90000 91000 0=1\n90010 91010 1='one'\n");
  assert_reads(store, 0, 3, "");
  store->close(store);
}

static void test_thinned_values_may_be_missing(void **state) {
  (void)state;
  tt_store *store = open_store();
  g_free(load(store));
  tt_store_batch *batch = new_batch();
  add_epoch(batch, 0, 1, 2000, 1900, 2100, "");
  add_sample(batch, 0, 0, 90000, 91000);
  add_value(batch, 0, NULL, 1);
  write_batch(store, batch);
  batch = tt_store_batch_new();
  tt_store_sample *again = add_sample(batch, 0, 1, 90000, 92000);
  again->flags = TT_SAMPLE_UNSURE;
  again->thinned = 1;
  add_value(batch, 0, NULL, 1);
  add_value(batch, 1, "kept this time", 0);
  write_batch(store, batch);
  assert_reads(store, 0, 1, "");
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
    append_boot(text, &tt_list_at(&boots, tt_store_boot, i));
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
  tt_store *store = open_store();
  g_free(load(store));
  tt_store_batch *batch = new_batch();
  add_message(batch, 0, 90000, 1.1, "o'ne \"\\", 0);
  for (int number = 1; number < 7; number++)
    add_epoch(batch, 0, number, 1000, 900, 1100, number == 6 ? "x" : "");
  add_message(batch, 5, 90000, 5, "five", 0);
  add_message(batch, 6, 90000, 6, "six", 0);
  write_batch(store, batch);
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

static void test_an_epoch_is_another_life(void **state) {
  (void)state;
  tt_store *store = open_store();
  g_free(load(store));
  write_batch(store, new_batch());
  tt_store_batch *batch = tt_store_batch_new();
  add_epoch(batch, 0, 1, 2000, 1900, 2100, "");
  add_sample(batch, 0, 1, 80000, 82000);
  add_value(batch, 0, NULL, 7);
  write_batch(store, batch);
  assert_reads(store, 0, 0, robo1);
  assert_reads(store, 0, 1, "80000 82000 0=7\n");
  store->close(store);
}

static void test_order_and_many(void **state) {
  (void)state;
  tt_store *store = open_store();
  g_free(load(store));
  tt_store_batch *batch = new_batch();
  GString *expected = g_string_new(robo1);
  for (int i = 5000; i > 0; i--) {
    add_sample(batch, 0, 0, 90000 + i, 91000 + i);
    add_value(batch, 0, NULL, i);
    add_value(batch, 1, "x", 0);
  }
  for (int i = 1; i <= 5000; i++) {
    g_string_append_printf(expected, "%d %d 0=%d 1='x'\n", 90000 + i, 91000 + i, i);
  }
  write_batch(store, batch);
  assert_reads(store, 0, 0, expected->str);
  g_string_free(expected, TRUE);
  store->close(store);
}

static void test_old_values_are_removed(void **state) {
  (void)state;
  tt_store *store = open_store();
  g_free(load(store));
  write_batch(store, new_batch());
  tt_store_purge purge = {.device = 0, .attribute = 1, .before = 90000, .limit = 100};
  int removed;
  tt_error error;
  assert_int_equal(store->purge(store, &purge, &removed, &error), TT_OK);
  assert_int_equal(removed, 1);
  assert_reads(store, 0, 0, "80000 81000 0=50.25\n");
  purge.attribute = 0;
  purge.before = 80900;
  assert_int_equal(store->purge(store, &purge, &removed, &error), TT_OK);
  assert_int_equal(removed, 0);
  purge.before = 90000;
  assert_int_equal(store->purge(store, &purge, &removed, &error), TT_OK);
  assert_int_equal(removed, 1);
  assert_reads(store, 0, 0, "");
  store->close(store);
}

static void test_a_newer_one_is_refused(void **state) {
  (void)state;
  if (!folder) skip();
  tt_store *made = open_store();
  made->close(made);
  sqlite3 *db;
  assert_int_equal(sqlite3_open(url + 7, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  tt_store *store;
  tt_error error;
  tt_store_options options = {.url = url};
  assert_int_equal(tt_store_open(&options, &store, &error), TT_VERSION);
  assert_non_null(strstr(error.text, "newer Tether"));
}

/** A file with the content of a dump of tests/telemetry. */
static void make_older(const char *dump) {
  char *sql;
  sqlite3 *db;
  char *path = g_build_filename(TETHER_SOURCE_DIR "/tests/telemetry", dump, NULL);
  assert_true(g_file_get_contents(path, &sql, NULL, NULL));
  assert_int_equal(sqlite3_open(url + 7, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  g_free(sql);
  g_free(path);
}

static int count_rows(void *context, int columns, char **values, char **names) {
  (void)columns, (void)values, (void)names;
  ++*(int *)context;
  return 0;
}

static void assert_view_has(int rows) {
  sqlite3 *db;
  int count = 0;
  assert_int_equal(sqlite3_open(url + 7, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "SELECT * FROM telemetry", count_rows, &count, NULL),
                   SQLITE_OK);
  sqlite3_close(db);
  assert_int_equal(count, rows);
}

static void test_schema_1_is_upgraded(void **state) {
  (void)state;
  if (!folder) skip();
  make_older("schema_1.sql");
  tt_store *store = open_store();
  assert_loads(store,
               "device 0 OLD -\nattribute 0 Output.drive.velocity -\npair 0 0\n"
               "epoch 0 0 0 -50 50 0 '' | 1 5 5\n");
  assert_reads(store, 0, 0, "5 5 0=42\n");
  store->close(store);
  assert_view_has(1);
}

static void test_schema_2_is_upgraded(void **state) {
  (void)state;
  if (!folder) skip();
  make_older("schema_2.sql");
  tt_store *store = open_store();
  char *text = load(store);
  assert_non_null(strstr(text,
                         "attribute 0 S.d.n Number\nattribute 1 S.d.t -\n"
                         "pair 0 0\npair 0 1\nhandling S.x.* 0 0 V 2 0 0 0\nepoch 0 0 "));
  g_free(text);
  tt_store_batch *batch = tt_store_batch_new();  // what was stored then, and something new
  add_sample(batch, 0, 0, 1000000, 0);
  add_value(batch, 0, NULL, 1);
  add_value(batch, 1, "new", 0);
  write_batch(store, batch);
  text = read_all(store, 0, 0, INT64_MIN, INT64_MAX, NULL, 0);
  char **lines = g_strsplit(text, "\n", -1);
  assert_int_equal(g_strv_length(lines), 4);
  assert_true(g_str_has_suffix(lines[0], " 0=1 1='one'"));
  assert_string_equal(lines[1], "1000000 0 1='new'");
  assert_true(g_str_has_suffix(lines[2], " 0=2 1='two'"));
  g_strfreev(lines);
  g_free(text);
  store->close(store);
  assert_view_has(6);
}

static void test_not_ours(void **state) {
  (void)state;
  if (!folder) skip();
  assert_true(g_file_set_contents(
      url + 7, "this is a letter, not a database, and long enough to tell", -1, NULL));
  tt_store *store;
  tt_error error;
  tt_store_options options = {.url = url};
  assert_int_equal(tt_store_open(&options, &store, &error), TT_FAILED);
  assert_non_null(strstr(error.text, url + 7));
}

static int remove_files(void **state) {
  (void)state;
  static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; folder && i < sizeof endings / sizeof *endings; i++) {
    char *path = g_strconcat(url + 7, endings[i], NULL);
    g_unlink(path);
    g_free(path);
  }
  if (!folder) {
    char *command = g_strdup_printf(
        "psql -X -q '%s' -c 'DROP SCHEMA IF EXISTS tether CASCADE' 2>/dev/null", url);
    int status = system(command);
    g_free(command);
    if (status) return 1;
  }
  if (spool) g_unlink(spool);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_what_is_written_is_read, remove_files),
      cmocka_unit_test_setup(test_everything_is_there_again, remove_files),
      cmocka_unit_test_setup(test_names_are_removed_until_they_are_used, remove_files),
      cmocka_unit_test_setup(test_it_is_known_whether_a_value_is_left, remove_files),
      cmocka_unit_test_setup(test_a_repeat_is_stored_once, remove_files),
      cmocka_unit_test_setup(test_another_value_is_another_sample, remove_files),
      cmocka_unit_test_setup(test_many_of_one_moment, remove_files),
      cmocka_unit_test_setup(test_a_number_of_its_own_makes_a_message_another, remove_files),
      cmocka_unit_test_setup(test_what_may_be_a_repeat_is_looked_for_in_other_epochs, remove_files),
      cmocka_unit_test_setup(test_repeats_of_another_boot_are_none, remove_files),
      cmocka_unit_test_setup(test_thinned_values_may_be_missing, remove_files),
      cmocka_unit_test_setup(test_a_message_is_found, remove_files),
      cmocka_unit_test_setup(test_an_epoch_is_another_life, remove_files),
      cmocka_unit_test_setup(test_order_and_many, remove_files),
      cmocka_unit_test_setup(test_old_values_are_removed, remove_files),
      cmocka_unit_test_setup(test_a_newer_one_is_refused, remove_files),
      cmocka_unit_test_setup(test_schema_1_is_upgraded, remove_files),
      cmocka_unit_test_setup(test_schema_2_is_upgraded, remove_files),
      cmocka_unit_test_setup(test_not_ours, remove_files),
  };
  char *made = g_dir_make_tmp("tether-store-XXXXXX", NULL);
  const char *postgres = g_getenv("TETHER_TEST_POSTGRES");
  if (postgres) {
    url = g_strdup(postgres);
    spool = g_build_filename(made, "spool", NULL);
  } else {
    folder = made;
    url = g_strdup_printf("sqlite:%s/t.sqlite", folder);
  }
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  remove_files(NULL);
  g_rmdir(made);
  g_free(made);
  g_free(url);
  g_free(spool);
  return failed;
}
