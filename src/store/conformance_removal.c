/* conformance_removal.c: what is removed is gone, to the record, and nothing else is; of packed days too. */
#include "store/conformance.h"

#include <unistd.h>

static tt_store_reader *open_reader(tt_store *store) {
  tt_store_reader *reader;
  tt_error error;
  assert_int_equal(store->open_reader(store, &reader, &error), TT_OK);
  return reader;
}

/** Records of the first device, from µs to before µs; to be freed. */
static char *read_span(tt_store *store, int64_t from, int64_t before, const int *attributes,
                       int count) {
  tt_store_reader *reader = open_reader(store);
  GString *text = g_string_new(NULL);
  for (int epoch = 0; epoch < 2; epoch++) {
    const tt_store_range range = {.device = 0,
                                  .epoch = epoch,
                                  .device_from = INT64_MIN,
                                  .device_to = INT64_MAX,
                                  .from = from,
                                  .to = before - 1,
                                  .attributes = attributes,
                                  .attribute_count = count};
    char *records = tt_testing_read_range(reader, &range);
    g_string_append_printf(text, "epoch %d\n%s", epoch, records);
    g_free(records);
  }
  reader->close(reader);
  return g_string_free(text, FALSE);
}

#define NOTHING "epoch 0\nepoch 1\n"

static void assert_span(tt_store *store, int64_t from, int64_t before, char *expected) {
  char *text = read_span(store, from, before, NULL, 0);
  assert_string_equal(text, expected);
  g_free(text);
}

static int remove_exactly(tt_store *store, int attribute, int64_t from, int64_t before) {
  const tt_store_purge purge = {.device = 0,
                                .attribute = attribute,
                                .before = before,
                                .limit = 100,
                                .exact = true,
                                .from = from};
  return tt_testing_purge(store, &purge);
}

static bool can_seal(const tt_store *store) { return store->seal; }

static void test_a_span_is_removed_to_the_record(void **state) {
  // From within a day to within another, between two records of one second.
  const int64_t from = TT_CONFORMANCE_ANCHOR + TT_CONFORMANCE_DAY / 2 + 1;
  const int64_t before = TT_CONFORMANCE_ANCHOR + 2 * TT_CONFORMANCE_DAY + 2;
  for (int sealed = 0; sealed < 2; sealed++) {
    assert_int_equal(tt_testing_clean(state), 0);
    tt_store *store = tt_conformance_begin();
    if (sealed && !can_seal(store)) {
      store->close(store);
      return;
    }
    tt_conformance_write(store, 1, 0);
    if (sealed) tt_conformance_seal(store, false);
    char *older = read_span(store, INT64_MIN + 1, from, NULL, 0);
    char *gone = read_span(store, from, before, NULL, 0);
    char *newer = read_span(store, before, INT64_MAX, NULL, 0);
    assert_true(strlen(older) > 1000 && strlen(gone) > 1000 && strlen(newer) > 1000);
    assert_true(remove_exactly(store, -1, from, before) > 100);
    for (int turn = 0; turn < 2; turn++) {
      assert_span(store, from, before, NOTHING);
      assert_span(store, INT64_MIN + 1, from, older);
      assert_span(store, before, INT64_MAX, newer);
      assert_int_equal(remove_exactly(store, -1, from, before), 0);
      store->close(store);
      store = tt_conformance_begin();
    }
    tt_conformance_write(store, 1, 0);  // what was removed may come again
    assert_span(store, from, before, gone);
    assert_span(store, before, INT64_MAX, newer);
    store->close(store);
    g_free(older);
    g_free(gone);
    g_free(newer);
  }
}

static void test_an_attribute_is_removed_of_a_device(void **state) {
  static const int removed[] = {1}, others[] = {0, 2, 3};
  for (int sealed = 0; sealed < 2; sealed++) {
    assert_int_equal(tt_testing_clean(state), 0);
    tt_store *store = tt_conformance_begin();
    tt_conformance_write(store, 1, 0);
    if (sealed && can_seal(store)) tt_conformance_seal(store, false);
    char *kept = read_span(store, INT64_MIN + 1, INT64_MAX, others, 3);
    assert_true(remove_exactly(store, 1, INT64_MIN, INT64_MAX) > 100);
    char *text = read_span(store, INT64_MIN + 1, INT64_MAX, removed, 1);
    assert_string_equal(text, NOTHING);
    g_free(text);
    text = read_span(store, INT64_MIN + 1, INT64_MAX, others, 3);
    assert_string_equal(text, kept);
    g_free(text);
    g_free(kept);
    tt_store_reader *reader = open_reader(store);
    tt_error error;
    bool held;
    assert_int_equal(reader->holds(reader, 0, 1, &held, &error), TT_OK);
    assert_false(held);
    assert_int_equal(reader->holds(reader, 1, 1, &held, &error), TT_OK);
    assert_true(held);
    reader->close(reader);
    store->close(store);
  }
}

/** All that is old of an attribute of the first device; how many values that were. */
static int remove_old(tt_store *store, int attribute, int64_t before) {
  const tt_store_purge purge = {
      .device = 0, .attribute = attribute, .before = before, .limit = 100};
  return tt_testing_purge(store, &purge);
}

/** A device was away for longer than its values are kept. */
static void test_what_comes_late_is_removed_too(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  assert_int_equal(remove_old(store, 0, 90000), 1);
  assert_int_equal(remove_old(store, 1, 90000), 1);
  tt_store_batch *batch = tt_store_batch_new();
  for (int i = 0; i < 3; i++) {
    tt_testing_add_sample(batch, 0, 0, 70000 - 10000 * i, 71000 - 10000 * i);
    for (int attribute = 0; attribute < 2; attribute++)
      tt_testing_add_value(batch, attribute, NULL, i);
  }
  tt_testing_write(store, batch);
  assert_int_equal(remove_old(store, 0, 62000), 2);
  assert_int_equal(remove_old(store, 1, 90000), 3);
  tt_testing_assert_reads(store, 0, 0, "70000 71000 0=0\n");
  assert_int_equal(remove_old(store, 0, 91000), 1);
  tt_testing_assert_reads(store, 0, 0, "");
  store->close(store);
}

const tt_store_case tt_store_removal_cases[] = {
    {"a span is removed to the record", test_a_span_is_removed_to_the_record,
     TT_STORE_READS | TT_STORE_PURGES, NULL},
    {"what comes late is removed, too", test_what_comes_late_is_removed_too,
     TT_STORE_READS | TT_STORE_PURGES, NULL},
    {"an attribute is removed of a device", test_an_attribute_is_removed_of_a_device,
     TT_STORE_READS | TT_STORE_PURGES, NULL},
    {0},
};
