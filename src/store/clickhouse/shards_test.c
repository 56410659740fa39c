/* shards_test.c: two shards, one that is added, and a server that is killed while it is written. Needs what
 * tests/telemetry/store_clickhouse_test.py gives; without it all is skipped. */
#include "store/clickhouse/internal.h"
#include "store/clickhouse/servers_testing.h"
#include "store/conformance.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define DEVICES 20

/** A sample of each device, and an attribute of its own in the batch's turn. */
static void write_devices(tt_store *store, int turn) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->attributes, 0, "S.d.a", NULL);
  for (int i = 0; i < DEVICES; i++) {
    char *name = g_strdup_printf("ROBO%d", i);
    tt_testing_add_name(&batch->devices, i, name, NULL);
    g_free(name);
    tt_testing_add_epoch(batch, i, 0, 0, 0, 0, "");
    tt_testing_add_sample(batch, i, 0, turn, turn);
    tt_testing_add_value(batch, 0, NULL, 100 * turn + i);
  }
  tt_testing_write(store, batch);
}

static void assert_devices(tt_store *store, int turns) {
  for (int i = 0; i < DEVICES; i++) {
    GString *expected = g_string_new(NULL);
    for (int turn = 0; turn < turns; turn++)
      g_string_append_printf(expected, "%d %d 0=%d\n", turn, turn, 100 * turn + i);
    tt_testing_assert_reads(store, i, 0, expected->str);
    g_string_free(expected, TRUE);
  }
}

#define VALUES "SELECT toInt64(count()) FROM tether.stored_value"
#define SEEN "SELECT toInt64(count()) FROM tether.telemetry"

static void test_values_are_spread_over_the_shards(void **state) {
  (void)state;
  tt_store *store = tt_testing_open_url(servers_both());
  for (int turn = 0; turn < 3; turn++) write_devices(store, turn);
  assert_devices(store, 3);
  const int64_t one = servers_ask(servers_one(), VALUES),
                other = servers_ask(servers_other(), VALUES);
  assert_int_equal(one + other, 3 * DEVICES);
  assert_true(one >= 3 * 3 && other >= 3 * 3);  // of 20 devices
  assert_int_equal(servers_ask(servers_one(), SEEN), 3 * DEVICES);
  assert_int_equal(servers_ask(servers_other(), SEEN), 3 * DEVICES);
  const tt_store_purge purge = {.device = 7, .attribute = -1, .before = INT64_MAX, .limit = 100};
  assert_int_equal(tt_testing_purge(store, &purge), 3);
  assert_int_equal(servers_ask(servers_one(), SEEN), 3 * (DEVICES - 1));
  store->close(store);
}

/** What is stored is found where it is, and does not come twice. */
static void test_a_shard_is_added(void **state) {
  (void)state;
  tt_store *store = tt_testing_open_url(servers_one());
  write_devices(store, 0);
  write_devices(store, 1);
  store->close(store);
  store = tt_testing_open_url(servers_both());
  assert_devices(store, 2);
  for (int turn = 0; turn < 3; turn++) write_devices(store, turn);
  assert_devices(store, 3);
  assert_true(servers_ask(servers_other(), VALUES) > 0);
  assert_int_equal(servers_ask(servers_one(), SEEN), 3 * DEVICES);
  store->close(store);
}

#define REMOVALS                                                                                   \
  "SELECT toInt64(count()) FROM system.mutations WHERE table = 'stored_value'"                     \
  " AND database = 'tether'"
#define UNDONE REMOVALS " AND NOT is_done"

static void ask_both(const char *sql) {
  servers_ask(servers_one(), sql);
  servers_ask(servers_other(), sql);
}

static void forget(tt_store *store, int64_t before) {
  const tt_store_old old = {0, before};
  tt_list all = TT_LIST(tt_store_old, NULL);
  tt_list_add(&all, &old, 1);
  store->forget(store, &all);
  tt_list_free(&all);
}

static void tend_all(tt_store *store) {
  while (store->tend(store)) continue;
}

/** Asks for what is old until the view has so much; of what comes late, too. */
static void forget_until(tt_store *store, int64_t before, int64_t seen) {
  const int64_t end = g_get_monotonic_time() + 60000000;
  while (servers_ask(servers_one(), SEEN) != seen) {
    if (g_get_monotonic_time() > end) fail_msg("what is old is still there");
    forget(store, before);
    tend_all(store);
    usleep(20000);
  }
}

/** Of all devices by one removal, for which nobody waits: the servers do nothing while others are stored. */
static void test_what_is_old_keeps_nobody_waiting(void **state) {
  (void)state;
  const tt_clickhouse_pace before = tt_clickhouse_paces;
  tt_clickhouse_paces.looks = 3600 * SECOND;  // one removal on a slow machine, too
  tt_store *store = tt_testing_open_url(servers_both());
  for (int turn = 0; turn < 3; turn++) write_devices(store, turn);
  ask_both("SYSTEM STOP MERGES");
  forget(store, 2);
  tend_all(store);
  assert_int_equal(servers_ask(servers_one(), UNDONE), 1);
  assert_int_equal(servers_ask(servers_other(), UNDONE), 1);
  write_devices(store, 3);
  write_devices(store, 1);  // late: it goes the next time
  forget(store, 2);
  tend_all(store);  // waits for what is undone
  assert_int_equal(servers_ask(servers_one(), REMOVALS), 1);
  ask_both("SYSTEM START MERGES");
  forget_until(store, 2, 2 * DEVICES);
  for (int i = 0; i < DEVICES; i++) {
    char expected[64];
    g_snprintf(expected, sizeof expected, "2 2 0=%d\n3 3 0=%d\n", 200 + i, 300 + i);
    tt_testing_assert_reads(store, i, 0, expected);
  }
  assert_int_equal(servers_ask(servers_one(), REMOVALS), 2);
  assert_int_equal(servers_ask(servers_other(), REMOVALS), 2);
  store->close(store);
  tt_clickhouse_paces = before;
}

/** Servers that are slow or far away answer no sooner where less is asked for. */
static void test_what_is_old_goes_however_slow_the_server_is(void **state) {
  (void)state;
  const tt_clickhouse_pace before = tt_clickhouse_paces;
  tt_clickhouse_paces.step = 0;
  tt_store *store = tt_testing_open_url(servers_both());
  for (int turn = 0; turn < 3; turn++) write_devices(store, turn);
  forget(store, 2);
  int steps = 0;
  while (store->tend(store))
    if (++steps > 1000) fail_msg("it does not end");
  store->close(store);
  tt_clickhouse_paces = before;
}

/** A server that is lost while it is looked for what is old. */
static void test_what_is_old_goes_when_the_server_is_back(void **state) {
  (void)state;
  tt_store *store = tt_testing_open_url(servers_both());
  for (int turn = 0; turn < 3; turn++) write_devices(store, turn);
  forget(store, 2);
  servers_ask(servers_other(), "RENAME TABLE tether.stored_value TO tether.away");
  tend_all(store);
  servers_ask(servers_other(), "RENAME TABLE tether.away TO tether.stored_value");
  forget_until(store, 2, DEVICES);
  store->close(store);
}

/** As many definitions as a shard has, by kind. */
#define DEFINED                                                                                    \
  "SELECT toInt64((SELECT uniqExact(kind, identifier, fact, text) FROM tether.name) +"             \
  " 100 * (SELECT uniqExact(device, attribute) FROM tether.pair) +"                                \
  " 10000 * (SELECT uniqExact(device, key) FROM tether.boot) +"                                    \
  " 1000000 * (SELECT uniqExact(pattern) FROM tether.handling))"
/** Rows that people see without a name. */
#define NAMELESS                                                                                   \
  "SELECT toInt64(count()) FROM tether.telemetry"                                                  \
  " WHERE device_identifier = '' OR attribute_identifier = ''"

static void define_more(tt_store *store) {
  tt_store_batch *batch = tt_testing_batch();
  const tt_handling handling = {"Input.*", false, TT_VALUE_FLAG, TT_MODE_STORE, "V", 2, 0.5,
                                0.1,       60};
  const tt_store_pair pair = {0, 1};
  tt_store_add_handling(&batch->handlings, &handling);
  tt_list_add(&batch->pairs, &pair, 1);
  tt_error error;
  if (store->write_foreign(store, batch, &error) != TT_OK) fail_msg("%s", error.text);
  tt_store_batch_free(batch);
}

static void assert_all_defined(const char *url, int64_t expected) {
  assert_int_equal(servers_ask(url, DEFINED), expected);
  assert_int_equal(servers_ask(url, SEEN), 3 * DEVICES + 3);
  assert_int_equal(servers_ask(url, NAMELESS), 0);
}

/** What was defined before a shard was there stands on it as on the others, whichever of them it is. */
static void test_a_shard_that_is_added_hears_what_was_defined(void **state) {
  (void)state;
  tt_store *store = tt_testing_open_url(servers_one());
  for (int turn = 0; turn < 3; turn++) write_devices(store, turn);
  define_more(store);
  const int64_t expected = servers_ask(servers_one(), DEFINED);
  assert_true(expected > 1000000);
  store->close(store);
  store = tt_testing_open_url(servers_both());
  assert_all_defined(servers_one(), expected);
  assert_all_defined(servers_other(), expected);
  store->close(store);
}

/** Definitions were on every shard: those of one that has lost all come from the others. */
static void test_a_shard_that_lost_all_hears_what_was_defined(void **state) {
  (void)state;
  tt_store *store = tt_testing_open_url(servers_both());
  write_devices(store, 0);
  define_more(store);
  const int64_t expected = servers_ask(servers_one(), DEFINED);
  store->close(store);
  servers_ask(servers_one(), "DROP DATABASE tether");
  store = tt_testing_open_url(servers_both());
  assert_int_equal(servers_ask(servers_one(), DEFINED), expected);
  assert_non_null(strstr(tt_testing_told(), "ROBO2 Red\n"));
  assert_non_null(strstr(tt_testing_told(), "handling Input.* 3 1 V 2 0.5 0.1 60\n"));
  store->close(store);
}

static void test_shards_say_what_one_says(void **state) {
  (void)state;
  char *expected[2];
  for (int turn = 0; turn < 2; turn++) {
    assert_int_equal(servers_clean(state), 0);
    tt_store *store = tt_testing_open_url(turn ? servers_both() : servers_one());
    tt_conformance_write(store, 2, 0);
    tt_conformance_write(store, 2, 1);
    expected[turn] = tt_conformance_read(store);
    store->close(store);
  }
  assert_string_equal(expected[0], expected[1]);
  g_free(expected[0]);
  g_free(expected[1]);
}

/* --- by chance --- */

#define LIFES 2 /* epochs of a device */
#define TIMES 40
#define BATCHES 160

/** What was sent, by device and epoch. */
typedef struct sent {
  bool samples[DEVICES][LIFES][TIMES], told[DEVICES][LIFES];
  int64_t low[DEVICES][LIFES], high[DEVICES][LIFES];
} sent;

/** What it says of an epoch, whose range may grow, and a sample, which may have been sent before. */
static void add_message(tt_store_batch *batch, GRand *chance, sent *all) {
  const int device = g_rand_int_range(chance, 0, DEVICES);
  const int life = g_rand_int_range(chance, 0, LIFES);
  const int time = g_rand_int_range(chance, 0, TIMES);
  const int64_t low = 1000 - g_rand_int_range(chance, 0, 500);
  const int64_t high = 1000 + g_rand_int_range(chance, 0, 500);
  tt_testing_add_epoch(batch, device, life, 1000, low, high, "");
  tt_testing_add_sample(batch, device, life, time, time + 1000);
  tt_testing_add_value(batch, 0, NULL, time);
  all->samples[device][life][time] = all->told[device][life] = true;
  all->low[device][life] = MIN(all->low[device][life], low);
  all->high[device][life] = MAX(all->high[device][life], high);
}

static tt_store_batch *random_batch(GRand *chance, sent *all) {
  tt_store_batch *batch = tt_store_batch_new();
  for (int i = 0; i < DEVICES; i++) {
    char name[16];
    g_snprintf(name, sizeof name, "ROBO%d", i);
    tt_store_add_name(&batch->devices, i, name, NULL,
                      g_rand_int_range(chance, 0, 10) ? TT_NAME_KNOWN : TT_NAME_USED);
  }
  tt_store_add_name(&batch->attributes, 0, "speed", NULL, TT_NAME_KNOWN);
  for (int left = g_rand_int_range(chance, 1, 12); left; left--) add_message(batch, chance, all);
  return batch;
}

/** Writes a batch while a shard lacks a table, so that some of it fails, and then until it is stored. */
static void write_in_trouble(tt_store *store, const tt_store_batch *batch, GRand *chance) {
  static const char *const tables[] = {"name", "boot", "marked_hour", "stored_value"};
  const char *table = tables[g_rand_int_range(chance, 0, G_N_ELEMENTS(tables))];
  const char *shard = g_rand_int_range(chance, 0, 2) ? servers_one() : servers_other();
  char away[96], back[96];
  g_snprintf(away, sizeof away, "RENAME TABLE tether.%s TO tether.away", table);
  g_snprintf(back, sizeof back, "RENAME TABLE tether.away TO tether.%s", table);
  tt_error error;
  servers_ask(shard, away);
  tt_status status = store->write_foreign(store, batch, &error);
  servers_ask(shard, back);
  const int64_t end = g_get_monotonic_time() + 60000000;
  while (status != TT_OK && g_get_monotonic_time() < end) {
    usleep(20000);
    status = store->write_foreign(store, batch, &error);
  }
  if (status != TT_OK) fail_msg("%s", error.text);
}

static void assert_sent(const char *url, const sent *all) {
  char sql[256];
  int64_t values = 0;
  for (int i = 0; i < DEVICES * LIFES; i++) {
    const int device = i / LIFES, life = i % LIFES;
    for (int time = 0; time < TIMES; time++) values += all->samples[device][life][time];
    if (!all->told[device][life]) continue;
    g_snprintf(sql, sizeof sql,
               "SELECT max(offset_high) - 10000 * min(offset_low) FROM tether.boot WHERE key = %d",
               100 * device + life);
    assert_int_equal(servers_ask(url, sql),
                     all->high[device][life] - 10000 * all->low[device][life]);
  }
  assert_int_equal(servers_ask(url, SEEN), values);
  assert_int_equal(
      servers_ask(url,
                  "SELECT toInt64(count()) FROM tether.telemetry WHERE number = device_time"
                  " AND attribute = 'speed' AND device = concat('ROBO',"
                  " toString(intDiv(epoch, 100)))"),
      values);
}

/** Two writers, each message by either, some more than once; now and then a shard fails in the midst of a batch. */
static void test_what_two_writers_are_told_by_chance(void **state) {
  (void)state;
  tt_store *stores[] = {tt_testing_open_url(servers_both()), tt_testing_open_url(servers_both())};
  GRand *chance = g_rand_new_with_seed(18);
  static sent all;
  all = (sent){0};
  for (int i = 0; i < DEVICES * LIFES; i++)
    all.low[i / LIFES][i % LIFES] = all.high[i / LIFES][i % LIFES] = 1000;
  for (int i = 0; i < BATCHES; i++) {
    tt_store *store = stores[g_rand_int_range(chance, 0, 2)];
    tt_store_batch *batch = random_batch(chance, &all);
    tt_error error;
    if (i % 20 == 19)
      write_in_trouble(store, batch, chance);
    else if (store->write_foreign(store, batch, &error) != TT_OK)
      fail_msg("%s", error.text);
    tt_store_batch_free(batch);
  }
  assert_sent(servers_one(), &all);
  assert_sent(servers_other(), &all);
  g_rand_free(chance);
  for (int i = 0; i < 2; i++) stores[i]->close(stores[i]);
}

/* --- killed --- */

static int control(void) { return atoi(g_getenv("TETHER_TEST_CLICKHOUSE_CONTROL")); }

/** Whether the server is killed no more. */
static bool is_over(void) {
  struct pollfd socket = {.fd = control(), .events = POLLIN};
  char said;
  return poll(&socket, 1, 0) == 1 && read(socket.fd, &said, 1) == 1 && said == 'd';
}

static tt_store_batch *message(int number) {
  tt_store_batch *batch = tt_testing_batch();
  for (int i = 0; i < 3; i++) {
    tt_testing_add_sample(batch, 0, 0, 100000 + 10 * number + i, 101000 + 10 * number + i);
    tt_testing_add_value(batch, 0, NULL, number);
    tt_testing_add_value(batch, 1, "text", 0);
  }
  return batch;
}

#define EPOCHS "SELECT toInt64(uniqExact(device, key)) FROM tether.boot"

/** What one shard was told of and the other not is told again, to both. */
static void test_a_shard_that_fails_hears_of_all_later(void **state) {
  (void)state;
  tt_store *store = tt_testing_open_url(servers_both());
  tt_error error;
  servers_ask(servers_other(), "RENAME TABLE tether.boot TO tether.away");
  tt_store_batch *batch = message(0);
  assert_int_equal(store->write(store, batch, &error), TT_FAILED);
  servers_ask(servers_other(), "RENAME TABLE tether.away TO tether.boot");
  const int64_t end = g_get_monotonic_time() + 30000000;
  while (store->write(store, batch, &error) != TT_OK && g_get_monotonic_time() < end) usleep(20000);
  tt_store_batch_free(batch);
  assert_int_equal(servers_ask(servers_one(), EPOCHS), 2);
  assert_int_equal(servers_ask(servers_other(), EPOCHS), 2);
  store->close(store);
}

static bool take_bucket(void *context, int attribute, const tt_bucket *bucket) {
  if (!attribute) *(tt_bucket *)context = *bucket;
  return true;
}

/** The only hour, whose buckets were made again and again while the server was killed. */
static void assert_hour(tt_store *store, int messages) {
  const tt_store_bucket_query query = {.size = TT_BUCKET_HOUR, .from = INT64_MIN, .to = INT64_MAX};
  tt_store_reader *reader;
  tt_bucket hour = {0};
  tt_error error;
  if (store->open_reader(store, &reader, &error) != TT_OK ||
      reader->buckets(reader, &query, take_bucket, &hour, &error) != TT_OK)
    fail_msg("%s", error.text);
  reader->close(reader);
  assert_int_equal(hour.count, 3 * messages + 1);
  assert_true(hour.sum == 50.25 + 3.0 * messages * (messages - 1) / 2);
}

static void test_a_server_that_is_killed_while_it_is_written(void **state) {
  (void)state;
  tt_clickhouse_paces.quiet = tt_clickhouse_paces.settled = 0;
  tt_clickhouse_paces.looks = 25 * SECOND;  // one removal on a slow machine, too
  tt_store *store = tt_testing_open_url(servers_one());
  tt_error error;
  int count = 0, refused = 0;
  char said;
  assert_int_equal(write(control(), "k", 1), 1);
  assert_int_equal(read(control(), &said, 1), 1);
  for (bool over = false; !over; count++) {
    tt_store_batch *batch = message(count);
    while (store->write(store, batch, &error) != TT_OK) {
      refused++;
      usleep(20000);
    }
    tt_store_batch_free(batch);
    store->tend(store);
    over = is_over();
  }
  assert_true(refused > 0);
  GString *expected = g_string_new(TT_TESTING_ROBO1);
  for (int number = 0; number < count; number++)
    for (int i = 0; i < 3; i++)
      g_string_append_printf(expected, "%d %d 0=%d 1='text'\n", 100000 + 10 * number + i,
                             101000 + 10 * number + i, number);
  tt_testing_assert_reads(store, 0, 0, expected->str);
  assert_int_equal(servers_ask(servers_one(), SEEN), 3 + 6 * count);
  g_string_free(expected, TRUE);
  assert_hour(store, count);
  for (int idle = 0; idle < 3;) idle = store->tend(store) ? 0 : idle + 1;
  assert_hour(store, count);
  store->close(store);
}

/** Of many devices the same sample, each in an epoch of this number. */
static void write_epoch(tt_store *store, int number, unsigned flags) {
  enum { MANY = 200 };
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->attributes, 0, "S.d.a", NULL);
  for (int i = 0; i < MANY; i++) {
    char *name = g_strdup_printf("ROBO%d", i);
    tt_testing_add_name(&batch->devices, i, name, NULL);
    g_free(name);
    tt_testing_add_epoch(batch, i, number, 0, 0, 0, "");
    tt_testing_add_sample(batch, i, number, 5, 5)->flags = flags;
    tt_testing_add_value(batch, 0, NULL, i);
  }
  tt_testing_write(store, batch);
}

/** A log brings messages again when a writer is slow: a question for each device, or for each few epochs, would make it slower still. */
static void test_repeats_of_many_devices_are_looked_for_at_once(void **state) {
  (void)state;
  enum { OLDER = 70 };  // more than are looked at
  static const char questions[] =
      "SELECT toInt64(value) FROM system.events WHERE event = 'SelectQuery'";
  tt_store *store = tt_testing_open_url(servers_one());
  for (int number = 0; number < OLDER; number++) write_epoch(store, number, 0);
  const int64_t before = servers_ask(servers_one(), questions);
  write_epoch(store, OLDER, TT_SAMPLE_UNSURE);
  assert_in_range(servers_ask(servers_one(), questions) - before, 1, 9);
  assert_int_equal(servers_ask(servers_one(), VALUES), 200 * OLDER);
  store->close(store);
}

/** Long texts at the same moments of a device in each epoch of this number. */
static void write_texts(tt_store *store, int number, const char *text, unsigned flags) {
  enum { AT = 200 };
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 0, "A", NULL);
  tt_testing_add_name(&batch->attributes, 0, "S.d.a", NULL);
  tt_testing_add_epoch(batch, 0, number, 0, 0, 0, "");
  for (int time = 0; time < AT; time++) {
    tt_testing_add_sample(batch, 0, number, time, time)->flags = flags;
    tt_testing_add_value(batch, 0, text, 0);
  }
  tt_testing_write(store, batch);
}

/** What stands at all moments of all epochs is more than an answer may have: it is asked for in parts. */
static void test_repeats_of_long_texts_are_found(void **state) {
  (void)state;
  enum { OLDER = 64, SIZE = 6000 };
  char text[SIZE + 1] = "";
  tt_store *store = tt_testing_open_url(servers_one());
  memset(text, 'x', SIZE);
  for (int number = 0; number < OLDER; number++) write_texts(store, number, text, 0);
  assert_int_equal(servers_ask(servers_one(), VALUES), 200 * OLDER);
  write_texts(store, OLDER, text, TT_SAMPLE_UNSURE);
  assert_int_equal(servers_ask(servers_one(), VALUES), 200 * OLDER);
  store->close(store);
}

/** Samples of one moment, each with long texts that differ. */
static void write_moment(tt_store *store, int number, int samples, int attributes, unsigned flags) {
  enum { TOGETHER = 2000, SIZE = 4000 };
  char text[SIZE + 1] = "";
  for (int i = 0; i < samples;) {
    tt_store_batch *batch = tt_store_batch_new();
    tt_testing_add_name(&batch->devices, 0, "A", NULL);
    for (int a = 0; a < attributes; a++) {
      char name[16];
      snprintf(name, sizeof name, "S.d.a%d", a);
      tt_testing_add_name(&batch->attributes, a, name, NULL);
    }
    tt_testing_add_epoch(batch, 0, number, 0, 0, 0, "");
    for (int end = i + TOGETHER / attributes; i < samples && i < end; i++) {
      tt_testing_add_sample(batch, 0, number, 5, 5)->flags = flags;
      memset(text, 'x', SIZE);
      text[snprintf(text, SIZE, "%d", i)] = ' ';
      for (int a = 0; a < attributes; a++) tt_testing_add_value(batch, a, text, 0);
    }
    tt_testing_write(store, batch);
  }
}

/** A device whose clock stands still gives one moment more than an answer may have. Who asked for all of it could never store what that
 *  device, or another one of the batch, sends after a restart. */
static void test_a_moment_with_more_than_an_answer_has(void **state) {
  (void)state;
  enum { SAMPLES = 17000 };
  tt_store *store = tt_testing_open_url(servers_one());
  write_moment(store, 0, SAMPLES, 1, 0);
  write_moment(store, 1, 1, 1, TT_SAMPLE_UNSURE);  // the first ones are compared
  assert_int_equal(servers_ask(servers_one(), VALUES), SAMPLES);
  store->close(store);
}

/** The first records are more than that, too: what is sent again is stored again. */
static void test_records_with_more_than_an_answer_has(void **state) {
  (void)state;
  enum { ATTRIBUTES = 180 };
  tt_store *store = tt_testing_open_url(servers_one());
  write_moment(store, 0, TT_STORE_RECORDS, ATTRIBUTES, 0);
  write_moment(store, 1, 1, ATTRIBUTES, TT_SAMPLE_UNSURE);
  assert_int_equal(servers_ask(servers_one(), VALUES), (TT_STORE_RECORDS + 1) * ATTRIBUTES);
  store->close(store);
}

static tt_store_batch *new_sample(int64_t time) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 0, "A", NULL);
  tt_testing_add_name(&batch->attributes, 0, "S.d.a", NULL);
  tt_testing_add_epoch(batch, 0, 0, 0, 0, 0, "");
  tt_testing_add_sample(batch, 0, 0, time, time);
  tt_testing_add_value(batch, 0, NULL, 1);
  return batch;
}

/** How often a sample was tried until it was stored. */
static int write_until_stored(tt_store *store, int64_t time) {
  tt_store_batch *batch = new_sample(time);
  const int64_t end = g_get_monotonic_time() + 60000000;
  tt_error error;
  int tries = 1;
  for (; store->write_foreign(store, batch, &error) != TT_OK; tries++) {
    if (g_get_monotonic_time() > end) fail_msg("%s", error.text);
    usleep(20000);
  }
  tt_store_batch_free(batch);
  return tries;
}

/** What had no time has more the next time, and what comes behind it at once; later less again. */
static void test_a_batch_that_takes_longer_than_it_is_waited_for(void **state) {
  (void)state;
  tt_clickhouse_patience = 1;
  tt_store *store = tt_testing_open_url(servers_one());
  const tt_clickhouse *of = (const tt_clickhouse *)store;
  write_until_stored(store, 0);
  servers_ask(servers_one(),
              "CREATE MATERIALIZED VIEW tether.slow ENGINE = Memory AS"
              " SELECT sleep(2.5) AS slept FROM tether.stored_value");
  assert_true(write_until_stored(store, 1) > 2);
  assert_true(of->slow >= 4);
  assert_int_equal(write_until_stored(store, 2), 1);
  servers_ask(servers_one(), "DROP TABLE tether.slow");
  const int64_t end = g_get_monotonic_time() + 60000000;
  int time = 3;
  for (; of->slow > 1 && g_get_monotonic_time() < end; time++) write_until_stored(store, time);
  assert_int_equal(of->slow, 1);
  assert_int_equal(servers_ask(servers_one(), SEEN), time);
  store->close(store);
  tt_clickhouse_patience = 10;
}

static gpointer hurry_once_it_is_written(gpointer store) {
  while (!servers_ask(servers_one(),
                      "SELECT toInt64(count()) FROM system.processes WHERE query LIKE"
                      " 'INSERT INTO stored_value%'"))
    usleep(20000);
  ((tt_store *)store)->hurry(store);
  return NULL;
}

/** A program that is to end does not wait until a slow server has stored what is on its way. */
static void test_who_hurries_waits_for_no_slow_server(void **state) {
  (void)state;
  tt_clickhouse_patience = 60;
  tt_store *store = tt_testing_open_url(servers_one());
  write_until_stored(store, 0);
  servers_ask(servers_one(),
              "CREATE MATERIALIZED VIEW tether.slow ENGINE = Memory AS SELECT sleep(2.7) + "
              "sleep(2.8) + sleep(2.9) AS slept FROM tether.stored_value");
  GThread *other = g_thread_new("hurry", hurry_once_it_is_written, store);
  tt_store_batch *batch = new_sample(1);
  tt_error error;
  assert_int_equal(store->write_foreign(store, batch, &error), TT_FAILED);
  g_thread_join(other);
  tt_store_batch_free(batch);
  store->close(store);
  tt_clickhouse_patience = 10;
}

int main(void) {
  if (!servers_one() || !servers_other() || !servers_both() ||
      !g_getenv("TETHER_TEST_CLICKHOUSE_CONTROL")) {
    puts("skipped: needs TETHER_TEST_CLICKHOUSE");
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_values_are_spread_over_the_shards, servers_clean),
      cmocka_unit_test_setup(test_what_is_old_keeps_nobody_waiting, servers_clean),
      cmocka_unit_test_setup(test_what_is_old_goes_however_slow_the_server_is, servers_clean),
      cmocka_unit_test_setup(test_what_is_old_goes_when_the_server_is_back, servers_clean),
      cmocka_unit_test_setup(test_a_shard_is_added, servers_clean),
      cmocka_unit_test_setup(test_a_shard_that_is_added_hears_what_was_defined, servers_clean),
      cmocka_unit_test_setup(test_a_shard_that_lost_all_hears_what_was_defined, servers_clean),
      cmocka_unit_test_setup(test_shards_say_what_one_says, servers_clean),
      cmocka_unit_test_setup(test_a_shard_that_fails_hears_of_all_later, servers_clean),
      cmocka_unit_test_setup(test_what_two_writers_are_told_by_chance, servers_clean),
      cmocka_unit_test_setup(test_repeats_of_many_devices_are_looked_for_at_once, servers_clean),
      cmocka_unit_test_setup(test_repeats_of_long_texts_are_found, servers_clean),
      cmocka_unit_test_setup(test_a_moment_with_more_than_an_answer_has, servers_clean),
      cmocka_unit_test_setup(test_records_with_more_than_an_answer_has, servers_clean),
      cmocka_unit_test_setup(test_a_batch_that_takes_longer_than_it_is_waited_for, servers_clean),
      cmocka_unit_test_setup(test_who_hurries_waits_for_no_slow_server, servers_clean),
      cmocka_unit_test_setup(test_a_server_that_is_killed_while_it_is_written, servers_clean)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
