/* conformance_buckets.c: buckets of every store say what its records say: whatever was written, late, again or at random,
 * was removed, was made or not yet, and across ends of the program. */
#include "store/conformance.h"

#include <float.h>

#define SECOND INT64_C(1000000)
#define HOUR (3600 * SECOND)
#define DEVICES 2
#define EPOCHS 2
#define ATTRIBUTES 3
/** 2020-02-28 21:00 UTC, and how much of what follows is sent. */
#define BEGIN (INT64_C(1582923600) * SECOND)
#define SPAN (50 * HOUR)

static tt_store *store;
static GRand *dice;

static void open_store(void) {
  store = tt_testing_open();
  g_free(tt_testing_load(store));
}

static void begin(void) {
  dice = g_rand_new_with_seed(16);
  open_store();
}

static void end(void) {
  store->close(store);
  g_rand_free(dice);
}

static tt_store_reader *open_reader(void) {
  tt_store_reader *reader;
  tt_error error;
  if (store->open_reader(store, &reader, &error) != TT_OK) fail_msg("%s", error.text);
  return reader;
}

/* --- what the records say --- */

typedef struct entry {
  int attribute;
  tt_bucket bucket;
} entry;

static int by_start(const void *a, const void *b) {
  const entry *left = a, *right = b;
  if (left->bucket.start != right->bucket.start)
    return left->bucket.start < right->bucket.start ? -1 : 1;
  return left->attribute - right->attribute;
}

static bool is_asked_for(const tt_store_bucket_query *query, int attribute) {
  for (int i = 0; i < query->attribute_count; i++)
    if (query->attributes[i] == attribute) return true;
  return !query->attribute_count;
}

static void fold(GArray *buckets, const tt_store_bucket_query *query, int64_t time,
                 const tt_store_cell *cell) {
  const int64_t start = tt_bucket_start(query->size, time);
  if (cell->text || start < query->from || start >= query->to ||
      !is_asked_for(query, cell->attribute))
    return;
  for (guint i = 0; i < buckets->len; i++) {
    entry *one = &g_array_index(buckets, entry, i);
    if (one->attribute != cell->attribute || one->bucket.start != start) continue;
    tt_bucket_add(&one->bucket, time, cell->number);
    return;
  }
  entry one = {cell->attribute, {.start = start}};
  tt_bucket_add(&one.bucket, time, cell->number);
  g_array_append_val(buckets, one);
}

static GArray *expected(tt_store_reader *reader, const tt_store_bucket_query *query) {
  GArray *buckets = g_array_new(FALSE, FALSE, sizeof(entry));
  for (int epoch = 0; epoch < EPOCHS; epoch++) {
    const tt_store_range range = {query->device, epoch, INT64_MIN, INT64_MAX, INT64_MIN,
                                  INT64_MAX,     NULL,  0,         false};
    tt_store_cursor *cursor;
    tt_store_record record;
    tt_error error;
    if (reader->open(reader, &range, &cursor, &error) != TT_OK) fail_msg("%s", error.text);
    while (reader->next(cursor, &record, &error) == TT_OK)
      for (int i = 0; i < record.count; i++) fold(buckets, query, record.time, &record.cells[i]);
    reader->close_cursor(cursor);
  }
  g_array_sort(buckets, by_start);
  return buckets;
}

/* --- what the store says --- */

typedef struct listing {
  GArray *buckets; /* entry */
  guint most;
} listing;

static bool note(void *context, int attribute, const tt_bucket *bucket) {
  const listing *to = context;
  const entry one = {attribute, *bucket};
  g_array_append_val(to->buckets, one);
  return to->buckets->len < to->most;
}

static void assert_same(const entry *one, const entry *other) {
  const tt_bucket *a = &one->bucket, *b = &other->bucket;
  assert_int_equal(one->attribute, other->attribute);
  assert_int_equal(a->start, b->start);
  assert_int_equal(a->count, b->count);
  assert_true(a->least == b->least && a->greatest == b->greatest);
  assert_true(a->sum == b->sum);
  assert_int_equal(a->last_time, b->last_time);
  assert_true(a->last == b->last);
}

/** Values that go: as many buckets with as many values are the same ones. */
static guint64 count_values(const GArray *buckets) {
  guint64 values = 0;
  for (guint i = 0; i < buckets->len; i++)
    values += (guint64)g_array_index(buckets, entry, i).bucket.count;
  return values;
}

/** Some of one device and size. What a store removes may go while it is read: then both are read again. */
static void check(tt_store_reader *reader, int device, tt_bucket_size size) {
  static const int attributes[] = {2, 0};
  tt_store_bucket_query query = {.device = device, .size = size, .to = INT64_MAX};
  query.from = BEGIN + g_rand_int_range(dice, -5, 30) * HOUR / 2;
  if (size <= TT_BUCKET_MINUTE) query.to = query.from + HOUR * 3 + 1;
  if (g_rand_boolean(dice)) query.from = INT64_MIN;
  if (size == TT_BUCKET_SECOND && query.from == INT64_MIN) query.to = BEGIN + 2 * HOUR;
  if (g_rand_boolean(dice)) query.attributes = attributes, query.attribute_count = 2;
  const bool all = g_rand_int_range(dice, 0, 4);
  listing found = {g_array_new(FALSE, FALSE, sizeof(entry)), 0};
  GArray *records = expected(reader, &query);
  for (bool steady = false; !steady;) {
    tt_error error;
    g_array_set_size(found.buckets, 0);
    found.most = all ? records->len : records->len / 2;
    if (reader->buckets(reader, &query, note, &found, &error) != TT_OK) fail_msg("%s", error.text);
    GArray *since = expected(reader, &query);
    steady = count_values(since) == count_values(records);
    g_array_free(records, TRUE);
    records = since;
  }
  if (found.most) assert_int_equal(found.buckets->len, found.most);
  if (found.buckets->len > records->len) fail_msg("a bucket too many");
  for (guint i = 0; i < found.buckets->len; i++)
    assert_same(&g_array_index(found.buckets, entry, i), &g_array_index(records, entry, i));
  g_array_free(records, TRUE);
  g_array_free(found.buckets, TRUE);
}

static void check_all(void) {
  tt_store_reader *reader = open_reader();
  for (int device = 0; device < DEVICES; device++)
    for (int size = 0; size < TT_BUCKET_SIZES; size++) check(reader, device, (tt_bucket_size)size);
  reader->close(reader);
}

/* --- what happens --- */

static tt_store_batch *new_batch(void) {
  tt_store_batch *batch = tt_store_batch_new();
  for (int i = 0; i < DEVICES; i++) {
    char *name = g_strdup_printf("ROBO%d", i);
    tt_testing_add_name(&batch->devices, i, name, NULL);
    g_free(name);
    for (int e = 0; e < EPOCHS; e++) {
      const int64_t anchor = BEGIN + e * 20 * HOUR;
      tt_testing_add_epoch(batch, i, e, anchor, anchor - SECOND, anchor + 30 * HOUR, "");
    }
    for (int a = 0; a < ATTRIBUTES; a++) {
      const tt_store_pair pair = {i, a};
      tt_list_add(&batch->pairs, &pair, 1);
    }
  }
  for (int i = 0; i < ATTRIBUTES; i++) {
    char *name = g_strdup_printf("S.d.a%d", i);
    tt_testing_add_name(&batch->attributes, i, name, NULL);
    g_free(name);
  }
  return batch;
}

/** Samples that lie together in a few seconds or are spread over all of it; what is at one time may be of another epoch. */
static void write_some(void) {
  tt_store_batch *batch = new_batch();
  const int64_t around = g_rand_int_range(dice, 0, SPAN / SECOND) * SECOND;
  const bool dense = g_rand_boolean(dice);
  for (int i = g_rand_int_range(dice, 1, 60); i > 0; i--) {
    const int epoch = g_rand_int_range(dice, 0, EPOCHS);
    const int64_t place = dense ? around + g_rand_int_range(dice, 0, 40) * SECOND / 10
                                : g_rand_int_range(dice, 0, SPAN / SECOND) * SECOND;
    // As of a world that was held: its clock goes slower than ours. A moment of it has one time of ours.
    const int64_t held = g_rand_int_range(dice, 0, 3) * (10 * HOUR + 1);
    tt_testing_add_sample(batch, g_rand_int_range(dice, 0, DEVICES), epoch,
                          place - epoch * 20 * HOUR - held, BEGIN + place);
    if (g_rand_int_range(dice, 0, 6) == 0)
      tt_testing_add_value(batch, 1, "text", 0);
    else
      tt_testing_add_value(batch, g_rand_int_range(dice, 0, ATTRIBUTES), NULL,
                           g_rand_int_range(dice, -400, 400) / 4.0);
  }
  tt_testing_write(store, batch);
}

/** What goes then goes in tending, step by step. */
static void forget_some(void) {
  tt_list all = TT_LIST(tt_store_old, NULL);
  for (int i = 0; i < ATTRIBUTES; i++) {
    const tt_store_old old = {i, BEGIN + g_rand_int_range(dice, 0, SPAN / SECOND / 3) * SECOND};
    tt_list_add(&all, &old, 1);
  }
  store->forget(store, &all);
  tt_list_free(&all);
}

static void purge_some(void) {
  tt_store_purge purge = {.device = g_rand_int_range(dice, 0, DEVICES),
                          .attribute = g_rand_int_range(dice, -1, ATTRIBUTES),
                          .before = BEGIN + g_rand_int_range(dice, 0, SPAN / SECOND / 3) * SECOND,
                          .limit = 20};
  tt_testing_purge(store, &purge);
}

static void tend(int64_t turns) {
  while (turns-- && store->tend(store)) continue;
}

static void test_buckets_say_what_records_say(void **state) {
  (void)state;
  begin();
  tt_store_reader *reader = open_reader();
  const bool has = reader->buckets;
  reader->close(reader);
  if (!has) {
    end();
    skip();
  }
  const int rounds = g_getenv("TETHER_LONG") ? 100 : 8;
  for (int round = 0; round < rounds; round++) {
    write_some();
    if (g_rand_int_range(dice, 0, 4) == 0) purge_some();
    if (store->forget && g_rand_int_range(dice, 0, 4) == 0) forget_some();
    if (g_rand_int_range(dice, 0, 3) == 0) tend(g_rand_int_range(dice, 1, 100));
    if (g_rand_int_range(dice, 0, 6) == 0) {
      store->close(store);
      open_store();
      tend(g_rand_int_range(dice, 1, 1000));
    }
    check_all();
  }
  tend(-1);
  check_all();
  end();
}

static void test_extreme_numbers(const double *numbers) {
  begin();
  tt_store_reader *reader = open_reader();
  const bool has = reader->buckets;
  reader->close(reader);
  if (!has) {
    end();
    skip();
  }
  tt_store_batch *batch = new_batch();
  for (int i = 0; numbers[i] != 0; i++) {
    tt_testing_add_sample(batch, 0, 0, i * 20 * SECOND, BEGIN + i * 20 * SECOND);
    tt_testing_add_value(batch, 0, NULL, numbers[i]);
  }
  tt_testing_write(store, batch);
  for (int turn = 0; turn < 2; turn++) {
    reader = open_reader();
    for (int size = 0; size < TT_BUCKET_SIZES; size++) check(reader, 0, (tt_bucket_size)size);
    reader->close(reader);
    store->close(store);
    open_store();
    tend(-1);
  }
  end();
}

/** As large as numbers may be; their sum is larger. */
static void test_large_numbers(void **state) {
  (void)state;
  test_extreme_numbers((const double[]){1.5e308, 1.5e308, 1.5e308, 1.5e308, 0});
}

static void test_the_largest_number(void **state) {
  (void)state;
  test_extreme_numbers((const double[]){DBL_MAX, 0});
}

/** As small as numbers may be. */
static void test_small_numbers(void **state) {
  (void)state;
  test_extreme_numbers((const double[]){5e-324, 5e-324, -5e-324, 1e-310, 5e-324, 0});
}

const tt_store_case tt_store_buckets_cases[] = {
    {"buckets say what records say", test_buckets_say_what_records_say,
     TT_STORE_READS | TT_STORE_PURGES, NULL},
    {"buckets of large numbers", test_large_numbers, TT_STORE_READS, NULL},
    {"buckets of the largest number", test_the_largest_number, TT_STORE_READS, NULL},
    {"buckets of small numbers", test_small_numbers, TT_STORE_READS, NULL},
    {0},
};
