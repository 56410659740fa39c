/* conformance_content.c: samples of some days, as varied as devices send them, and all that is read of them. */
#include "store/conformance.h"

#include <inttypes.h>

#define SECOND INT64_C(1000000)

static void add_names(tt_store_batch *batch) {
  tt_testing_add_name(&batch->devices, 0, "ROBO1", NULL);
  tt_testing_add_name(&batch->devices, 1, "ROBO2", "Red");
  for (int i = 0; i < 4; i++) {
    char name[] = "S.d.0";
    name[4] = (char)('0' + i);
    tt_testing_add_name(&batch->attributes, i, name, NULL);
    for (int device = 0; device < 2; device++) {
      const tt_store_pair pair = {device, i};
      tt_list_add(&batch->pairs, &pair, 1);
    }
  }
  tt_testing_add_epoch(batch, 0, 0, TT_CONFORMANCE_ANCHOR, TT_CONFORMANCE_ANCHOR,
                       TT_CONFORMANCE_ANCHOR + SECOND, "");
  tt_testing_add_epoch(batch, 0, 1, TT_CONFORMANCE_ANCHOR + TT_CONFORMANCE_DAY / 3,
                       TT_CONFORMANCE_ANCHOR, TT_CONFORMANCE_ANCHOR + TT_CONFORMANCE_DAY, "");
  tt_testing_add_epoch(batch, 1, 0, -5, -5, 5, "x");
}

/** A sample by its number: of three days and some epochs; moments come again with other values, texts and numbers. */
static void add_sample(tt_store_batch *batch, int i) {
  const int device = i % 5 == 0, epoch = !device && i % 7 == 0;
  const int64_t time = (i * INT64_C(7919) % TT_CONFORMANCE_SAMPLES) / 2 *
                       (3 * TT_CONFORMANCE_DAY / (TT_CONFORMANCE_SAMPLES / 2));
  tt_store_sample *sample = tt_testing_add_sample(
      batch, device, epoch, time, time + (device ? 0 : TT_CONFORMANCE_ANCHOR) + i % 3);
  if (i % 11 == 0) sample->seq = i + 1;
  tt_testing_add_value(batch, 0, NULL, i % 40 / 4.0);
  if (i % 2) tt_testing_add_value(batch, 1, NULL, (double)i * (double)i);
  if (i % 3 == 0) tt_testing_add_value(batch, 2, i % 9 ? "a" : "longer \xc3\xbc", 0);
  if (i % 100 == 0) tt_testing_add_value(batch, 3, NULL, -1);
}

void tt_conformance_write(tt_store *store, int divisor, int rest) {
  tt_store_batch *batch = tt_store_batch_new();
  add_names(batch);
  for (int i = 0; i < TT_CONFORMANCE_SAMPLES; i++)
    if (i % divisor == rest) add_sample(batch, i);
  tt_testing_write(store, batch);
}

tt_store *tt_conformance_begin(void) {
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  return store;
}

/* --- all that is read --- */

static bool append_latest(void *context, const tt_store_latest *latest) {
  g_string_append_printf(context, "latest %d %d: %" PRId64 " %g '%s'\n", latest->device,
                         latest->cell.attribute, latest->time, latest->cell.number,
                         latest->cell.text ? latest->cell.text : "");
  return true;
}

static bool append_bucket(void *context, int attribute, const tt_bucket *bucket) {
  g_string_append_printf(context, "bucket %d %" PRId64 ": %" PRIu64 " %.17g %.17g %.17g %.17g\n",
                         attribute, bucket->start, bucket->count, bucket->least, bucket->greatest,
                         bucket->sum, bucket->last);
  return true;
}

static void append_range(GString *text, tt_store_reader *reader, const tt_store_range *range) {
  char *records = tt_testing_read_range(reader, range);
  g_string_append(text, records);
  g_free(records);
  uint64_t count = 0;
  tt_error error;
  if (reader->count && reader->count(reader, range, &count, &error) != TT_OK)
    fail_msg("%s", error.text);
  g_string_append_printf(text, "%" PRIu64 " records\n", count);
}

static void append_device(GString *text, tt_store_reader *reader, int device) {
  static const int some[] = {3, 1};
  tt_error error;
  for (int epoch = 0; epoch < 2; epoch++) {
    tt_store_range range = {device,    epoch, INT64_MIN, INT64_MAX, INT64_MIN,
                            INT64_MAX, NULL,  0,         false};
    append_range(text, reader, &range);
    range.newest_first = reader->count;
    range.device_from = TT_CONFORMANCE_DAY / 2;
    range.to = TT_CONFORMANCE_ANCHOR + 2 * TT_CONFORMANCE_DAY;
    range.attributes = some;
    range.attribute_count = 2;
    append_range(text, reader, &range);
  }
  for (int attribute = 0; attribute < 5; attribute++) {
    bool held;
    if (reader->holds(reader, device, attribute, &held, &error) != TT_OK)
      fail_msg("%s", error.text);
    g_string_append_printf(text, "%d ", held);
  }
  const tt_store_bucket_query query = {
      .device = device, .size = TT_BUCKET_HOUR, .from = INT64_MIN, .to = INT64_MAX};
  if (reader->buckets)
    assert_int_equal(reader->buckets(reader, &query, append_bucket, text, &error), TT_OK);
}

char *tt_conformance_read(tt_store *store) {
  GString *text = g_string_new(NULL);
  tt_store_reader *reader;
  tt_error error;
  assert_int_equal(store->open_reader(store, &reader, &error), TT_OK);
  for (int device = 0; device < 2; device++) append_device(text, reader, device);
  if (reader->latest)
    assert_int_equal(reader->latest(reader, -1, append_latest, text, &error), TT_OK);
  reader->close(reader);
  return g_string_free(text, FALSE);
}

void tt_conformance_assert_reads(tt_store *store, const char *expected) {
  char *text = tt_conformance_read(store);
  if (strcmp(text, expected)) {
    size_t at = 0;
    while (text[at] && text[at] == expected[at]) at++;
    while (at && text[at - 1] != '\n') at--;
    fail_msg("differs at byte %zu: '%.100s' is not '%.100s'", at, text + at, expected + at);
  }
  g_free(text);
}

/* --- sealing --- */

uint64_t tt_conformance_seal(tt_store *store, bool undo) {
  const tt_store_sealing sealing = {.undo = undo, .before = INT64_MAX, .budget = 1000};
  uint64_t values = 0;
  tt_error error;
  for (tt_status status = TT_AGAIN; status == TT_AGAIN;) {
    tt_store_sealed done = {0};
    status = store->seal(store, &sealing, &done, &error);
    if (status != TT_OK && status != TT_AGAIN) fail_msg("%s", error.text);
    values += done.values;
  }
  return values;
}
