/* slice_test.c: many devices whose days are sealed are read side by side: what is held of them is little, and all of it
 * comes, in order, whichever way it is read.
 */
#include "store/store_testing.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define DEVICES (1000 / TETHER_FEWER)
#define RECORDS 512
#define ATTRIBUTES 4
#define SPARSE 100 /* every so many-th record has the text */
#define TOGETHER 64
#define MIB (1024.0 * 1024.0)

/* --- what is stored --- */

/** A value that tells where it belongs. */
static double number_at(int device, int record, int attribute) {
  return device * 10 + attribute + record / 1024.0;
}

static void add_record(tt_store_batch *batch, int device, int record) {
  char text[32];
  tt_testing_add_sample(batch, device, 0, record * INT64_C(1000000),
                        record * INT64_C(1000000) + device);
  for (int i = 0; i < ATTRIBUTES; i++)
    tt_testing_add_value(batch, i, NULL, number_at(device, record, i));
  if (record % SPARSE) return;
  g_snprintf(text, sizeof text, "%d of %d", record, device);
  tt_testing_add_value(batch, ATTRIBUTES, text, 0);
}

static void write_all(tt_store *store) {
  for (int first = 0; first < RECORDS; first += TOGETHER) {
    tt_store_batch *batch = tt_store_batch_new();
    for (int i = 0; i < DEVICES && !first; i++) {
      char name[16];
      g_snprintf(name, sizeof name, "D%d", i);
      tt_testing_add_name(&batch->devices, i, name, NULL);
      tt_testing_add_epoch(batch, i, 0, i, i, i, "");
    }
    for (int i = 0; i <= ATTRIBUTES && !first; i++) {
      char name[] = "S.d.0";
      name[4] = (char)('0' + i);
      tt_testing_add_name(&batch->attributes, i, name, NULL);
    }
    for (int device = 0; device < DEVICES; device++)
      for (int i = first; i < first + TOGETHER; i++) add_record(batch, device, i);
    tt_testing_write(store, batch);
  }
}

static void seal_all(tt_store *store) {
  const tt_store_sealing sealing = {.before = INT64_MAX, .budget = INT64_MAX};
  tt_store_sealed sealed;
  tt_error error;
  if (store->seal(store, &sealing, &sealed, &error) != TT_OK) fail_msg("%s", error.text);
  const uint64_t texts = (RECORDS + SPARSE - 1) / SPARSE;
  assert_int_equal(sealed.values, DEVICES * (RECORDS * ATTRIBUTES + texts));
}

/* --- what is read --- */

static void check_record(const tt_store_record *record, int device, int number) {
  char text[32];
  assert_int_equal(record->device_time, number * INT64_C(1000000));
  assert_int_equal(record->time, number * INT64_C(1000000) + device);
  assert_int_equal(record->count, ATTRIBUTES + !(number % SPARSE));
  for (int i = 0; i < ATTRIBUTES; i++) {
    assert_int_equal(record->cells[i].attribute, i);
    assert_null(record->cells[i].text);
    assert_true(record->cells[i].number == number_at(device, number, i));
  }
  if (number % SPARSE) return;
  g_snprintf(text, sizeof text, "%d of %d", number, device);
  assert_string_equal(record->cells[ATTRIBUTES].text, text);
}

/** All devices side by side, a record of each in turn, as a table reads them. The memory at most that this takes, in MiB. */
static double read_side_by_side(tt_store *store, bool newest_first, int first, int last) {
  tt_store_reader *reader;
  tt_store_record record;
  tt_error error;
  static tt_store_cursor *cursors[DEVICES];
  const size_t before = mallinfo2().uordblks;
  size_t most = before;
  if (store->open_reader(store, &reader, &error) != TT_OK) fail_msg("%s", error.text);
  for (int i = 0; i < DEVICES; i++) {
    const tt_store_range range = {.device = i,
                                  .device_from = first * INT64_C(1000000),
                                  .device_to = last * INT64_C(1000000),
                                  .from = INT64_MIN,
                                  .to = INT64_MAX,
                                  .newest_first = newest_first};
    if (reader->open(reader, &range, &cursors[i], &error) != TT_OK) fail_msg("%s", error.text);
  }
  for (int i = 0; i <= last - first; i++) {
    for (int device = 0; device < DEVICES; device++) {
      if (reader->next(cursors[device], &record, &error) != TT_OK) fail_msg("%s", error.text);
      check_record(&record, device, newest_first ? last - i : first + i);
    }
    const size_t now = mallinfo2().uordblks;
    if (now > most) most = now;
  }
  for (int i = 0; i < DEVICES; i++) {
    assert_int_equal(reader->next(cursors[i], &record, &error), TT_END);
    reader->close_cursor(cursors[i]);
  }
  reader->close(reader);
  return (double)(most - before) / MIB;
}

static void test_many_devices(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  write_all(store);
  seal_all(store);
  const double forward = read_side_by_side(store, false, 0, RECORDS - 1);
  const double backward = read_side_by_side(store, true, 0, RECORDS - 1);
  const double part = read_side_by_side(store, false, 77, 333);
  store->close(store);
  print_message("%.1f, %.1f and %.1f MiB\n", forward, backward, part);
  assert_true(forward < 40 && backward < 40 && part < 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_devices)};
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}
