/* buckets_test.c: buckets that are kept: when they are made, by whom, and when they are not believed. Needs what
 * tests/telemetry/store_clickhouse_test.py gives; without it all is skipped. */
#include "store/clickhouse/internal.h"
#include "store/clickhouse/servers_testing.h"
#include "store/conformance.h"

#include <stdio.h>

#define BEGIN (INT64_C(1582923600) * SECOND)
#define LONG (3600 * SECOND)

static int clean(void **state) {
  tt_clickhouse_paces = (tt_clickhouse_pace){
      .quiet = 0, .relied = LONG, .settled = LONG, .looks = LONG, .step = 30000};
  return servers_clean(state);
}

/** A number at a second. */
static void write_one(tt_store *store, int second, double number) {
  tt_store_batch *batch = tt_store_batch_new();
  const tt_store_pair pair = {0, 0};
  tt_testing_add_name(&batch->devices, 0, "ROBO1", NULL);
  tt_testing_add_name(&batch->attributes, 0, "S.d.a", NULL);
  tt_list_add(&batch->pairs, &pair, 1);
  tt_testing_add_epoch(batch, 0, 0, BEGIN, BEGIN, BEGIN, "");
  tt_testing_add_sample(batch, 0, 0, second * SECOND, BEGIN + second * SECOND);
  tt_testing_add_value(batch, 0, NULL, number);
  tt_testing_write(store, batch);
}

static void tend(tt_store *store) {
  for (int idle = 0; idle < 3;) idle = store->tend(store) ? 0 : idle + 1;
}

static bool note(void *context, int attribute, const tt_bucket *bucket) {
  g_string_append_printf(context, "%d@%d:%d=%g ", attribute,
                         (int)((bucket->start - BEGIN) / SECOND), (int)bucket->count, bucket->sum);
  return true;
}

static void assert_stretch(tt_store *store, tt_bucket_size size, int64_t to, const char *expected) {
  const tt_store_bucket_query query = {.size = size, .from = BEGIN, .to = to};
  tt_store_reader *reader;
  tt_error error;
  GString *found = g_string_new(NULL);
  if (store->open_reader(store, &reader, &error) != TT_OK ||
      reader->buckets(reader, &query, note, found, &error) != TT_OK)
    fail_msg("%s", error.text);
  reader->close(reader);
  assert_string_equal(found->str, expected);
  g_string_free(found, TRUE);
}

static void assert_buckets(tt_store *store, tt_bucket_size size, const char *expected) {
  assert_stretch(store, size, INT64_MAX, expected);
}

/** Takes the values away behind the program's back, so that it is seen what is computed and what is kept. */
static void lose_values(void) {
  servers_ask(servers_one(), "ALTER TABLE tether.stored_value DELETE WHERE 1");
  while (
      servers_ask(servers_one(), "SELECT toInt64(count()) FROM system.mutations WHERE NOT is_done"))
    continue;
}

static void test_kept_buckets_are_read(void **state) {
  (void)state;
  tt_store *store = tt_testing_open_url(servers_one());
  write_one(store, 1, 1);
  write_one(store, 61, 2);
  write_one(store, 3601, 4);
  tend(store);
  lose_values();
  assert_buckets(store, TT_BUCKET_SECOND, "");
  assert_buckets(store, TT_BUCKET_MINUTE, "0@0:1=1 0@60:1=2 0@3600:1=4 ");
  assert_buckets(store, TT_BUCKET_HOUR, "0@0:2=3 0@3600:1=4 ");
  write_one(store, 30, 8);  // only it is left
  assert_buckets(store, TT_BUCKET_HOUR, "0@0:1=8 0@3600:1=4 ");
  tend(store);
  lose_values();
  assert_buckets(store, TT_BUCKET_MINUTE, "0@0:1=8 0@3600:1=4 ");
  store->close(store);
}

/** What ends within an hour that has values only behind that. */
static void test_a_stretch_without_values(void **state) {
  (void)state;
  tt_store *store = tt_testing_open_url(servers_one());
  write_one(store, 30, 1);
  for (int turn = 0; turn < 2; turn++) {
    assert_stretch(store, TT_BUCKET_SECOND, BEGIN + 20 * SECOND, "");
    assert_stretch(store, TT_BUCKET_SECOND, BEGIN + 31 * SECOND + 1, "0@30:1=1 ");
    write_one(store, 70, 1);
    assert_stretch(store, TT_BUCKET_MINUTE, BEGIN + 60 * SECOND, "0@0:1=1 ");
    tend(store);
  }
  store->close(store);
}

/** Of two programs that write, neither makes what the other may be writing. */
static void test_hours_of_others(void **state) {
  (void)state;
  tt_store *store = tt_testing_open_url(servers_one()), *other = tt_testing_open_url(servers_one());
  write_one(store, 1, 1);
  tend(other);
  assert_int_equal(servers_ask(servers_one(), "SELECT toInt64(count()) FROM tether.bucket"), 0);
  write_one(other, 2, 2);
  tend(store);
  tend(other);
  assert_int_equal(servers_ask(servers_one(), "SELECT toInt64(count()) FROM tether.bucket"), 0);
  assert_buckets(store, TT_BUCKET_HOUR, "0@0:2=3 ");
  store->close(store);
  tt_clickhouse_paces.settled = 0;
  tend(other);
  tend(other);
  lose_values();
  assert_buckets(other, TT_BUCKET_HOUR, "0@0:2=3 ");
  other->close(other);
}

/** What is written while an hour is made is in the next buckets of it, and nowhere missing until then. */
static void test_written_while_it_is_made(void **state) {
  (void)state;
  for (int steps = 1; steps < 4; steps++) {
    assert_int_equal(clean(state), 0);
    tt_store *store = tt_testing_open_url(servers_one());
    write_one(store, 1, 1);
    for (int i = 0; i < steps; i++) store->tend(store);
    write_one(store, 2, 2);
    assert_buckets(store, TT_BUCKET_HOUR, "0@0:2=3 ");
    tend(store);
    lose_values();
    assert_buckets(store, TT_BUCKET_HOUR, "0@0:2=3 ");
    store->close(store);
  }
}

/** Of two versions of an hour that both were made, the one of fewer marks may be the later. */
static void test_stale_buckets_are_not_believed(void **state) {
  (void)state;
  tt_store *store = tt_testing_open_url(servers_one());
  write_one(store, 1, 1);
  tend(store);
  write_one(store, 2, 2);
  tend(store);
  servers_ask(servers_one(),
              "INSERT INTO tether.bucket SELECT size, device, start, attribute, 7, least, greatest,"
              " sum, last, last_time, version + 1 FROM tether.bucket");
  assert_buckets(store, TT_BUCKET_HOUR, "0@0:2=3 ");
  servers_ask(servers_one(), "OPTIMIZE TABLE tether.bucket FINAL");
  assert_buckets(store, TT_BUCKET_HOUR, "0@0:2=3 ");
  store->close(store);
}

/** What stands on the shard where a device was before is of the same buckets. */
static void test_a_device_that_has_another_shard(void **state) {
  (void)state;
  tt_store *store = tt_testing_open_url(servers_one());
  write_one(store, 1, 1);
  tend(store);
  store->close(store);
  store = tt_testing_open_url(servers_both());
  write_one(store, 1, 1);
  write_one(store, 2, 2);
  for (int turn = 0; turn < 2; turn++) {
    assert_buckets(store, TT_BUCKET_MINUTE, "0@0:2=3 ");
    assert_buckets(store, TT_BUCKET_DAY, "");  // the day began before
    tend(store);
  }
  store->close(store);
}

/** The hour of a device that began hundreds of times is made at once, and read. */
static void test_a_device_of_many_starts(void **state) {
  (void)state;
  enum { STARTS = 700 };
  tt_store *store = tt_testing_open_url(servers_one());
  tt_store_batch *batch = tt_store_batch_new();
  const tt_store_pair pair = {0, 0};
  tt_testing_add_name(&batch->devices, 0, "ROBO1", NULL);
  tt_testing_add_name(&batch->attributes, 0, "S.d.a", NULL);
  tt_list_add(&batch->pairs, &pair, 1);
  for (int i = 0; i < STARTS; i++) {
    const int64_t start = BEGIN + i * SECOND;
    tt_testing_add_epoch(batch, 0, i, start, start, start, "");
    tt_testing_add_sample(batch, 0, i, i, start + i);
    tt_testing_add_value(batch, 0, NULL, 1);
  }
  tt_testing_write(store, batch);
  for (int turn = 0; turn < 2; turn++) {
    assert_stretch(store, TT_BUCKET_HOUR, BEGIN + LONG, "0@0:700=700 ");
    assert_stretch(store, TT_BUCKET_MINUTE, BEGIN + 60 * SECOND, "0@0:60=60 ");
    tend(store);
  }
  lose_values();
  assert_stretch(store, TT_BUCKET_HOUR, BEGIN + LONG, "0@0:700=700 ");
  store->close(store);
}

int main(void) {
  if (!servers_one() || !servers_both()) {
    puts("skipped: needs TETHER_TEST_CLICKHOUSE");
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_kept_buckets_are_read, clean),
      cmocka_unit_test_setup(test_a_stretch_without_values, clean),
      cmocka_unit_test_setup(test_hours_of_others, clean),
      cmocka_unit_test_setup(test_written_while_it_is_made, clean),
      cmocka_unit_test_setup(test_stale_buckets_are_not_believed, clean),
      cmocka_unit_test_setup(test_a_device_that_has_another_shard, clean),
      cmocka_unit_test_setup(test_a_device_of_many_starts, clean)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
