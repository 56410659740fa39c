/* conformance_log.c: stores that keep what they took for other stores. */
#include "store/conformance.h"

#include <stdatomic.h>

#define PATIENCE INT64_C(60000000) /* µs */

static tt_store_log *open_log(const char *name, int64_t replay) {
  const tt_store_log_options options = {.url = tt_testing_url(), .name = name, .replay = replay};
  const tt_store_backend *backend;
  tt_store_log *log = NULL;
  tt_error error;
  if (tt_store_backend_of(tt_testing_url(), &backend, &error) != TT_OK ||
      backend->open_log(&options, &log, &error) != TT_OK)
    fail_msg("%s", error.text);
  return log;
}

static tt_store *open_other(void) {
  char *url = g_strdup_printf("sqlite:%s/other.sqlite", tt_testing_folder());
  tt_store *store = tt_testing_open_by(&(tt_store_options){.url = url});
  g_free(url);
  return store;
}

/** It says where each message stands. */
static void assert_places(const tt_store_batch *batch) {
  for (uint32_t i = 0; i < batch->samples.len; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    assert_true(batch->log && sample->after >= 0 && sample->place > sample->after);
  }
}

/** Stores what there is to be taken, until so many values came. */
static void store_values(tt_store_log *log, tt_store *store, uint64_t values, bool done) {
  while (values) {
    const tt_store_batch *batch;
    tt_error error;
    if (log->take(log, PATIENCE, &batch, &error) != TT_OK) fail_msg("%s", error.text);
    assert_places(batch);
    if (store->write_foreign(store, batch, &error) != TT_OK) fail_msg("%s", error.text);
    assert_true(values >= batch->values.len);
    values -= batch->values.len;
    if (done) assert_int_equal(log->done(log, &error), TT_OK);
  }
}

/** What another store says of a device that it may have heard of in any order. */
static void assert_stored(tt_store *other, const char *device, const char *expected) {
  char *told = tt_testing_load(other);
  char *line = g_strdup_printf(" %s ", device), *found = strstr(told, line);
  assert_non_null(found);
  const int index = found[-1] - '0';
  g_free(line);
  g_free(told);
  tt_testing_assert_reads(other, index, 0, expected);
}

static void assert_empty(tt_store_log *log) {
  const tt_store_batch *batch;
  tt_error error;
  assert_int_equal(log->take(log, 200000, &batch, &error), TT_AGAIN);
}

static bool says_name(const tt_store_batch *batch, const char *device, const char *human) {
  for (uint32_t i = 0; i < batch->devices.len; i++) {
    const tt_store_name *name = &tt_list_at(&batch->devices, tt_store_name, i);
    if (!strcmp(name->identifier, device)) return name->name && !strcmp(name->name, human);
  }
  return false;
}

static void test_what_it_took_others_store(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_store_log *log = open_log("one", INT64_MAX);
  assert_empty(log);
  tt_testing_write(store, tt_testing_batch());
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_sample(batch, 0, 0, 80001, 81001)->seq = 3;  // by names that were said before
  tt_testing_add_value(batch, 1, "later", 0);
  tt_testing_write(store, batch);
  tt_store *other = open_other();
  store_values(log, other, 4, true);
  assert_empty(log);
  const char *expected = TT_TESTING_ROBO1 "80001 81001 #3 1='later'\n";
  assert_stored(other, "ROBO1", expected);
  // Another name gets all of it; the first one gets it again from a time on.
  tt_store_log *second = open_log("two", INT64_MAX), *again = open_log("three", 0);
  store_values(second, other, 4, true);
  store_values(again, other, 4, true);
  other->close(other);
  other = open_other();
  assert_stored(other, "ROBO1", expected);
  assert_stored(other, "ROBO2", "80050 80050 0=-0.10000000000000001\n");
  again->close(again);
  second->close(second);
  // One that begins later gets the names first.
  g_usleep(1000);
  again = open_log("four", g_get_real_time());
  const tt_store_batch *settings;
  tt_error error;
  assert_int_equal(again->take(again, 200000, &settings, &error), TT_OK);
  assert_int_equal(settings->samples.len, 0);
  assert_true(says_name(settings, "ROBO2", "Red"));
  again->close(again);
  log->close(log);
  other->close(other);
  store->close(store);
}

static void test_what_is_not_done_comes_again(void **state) {
  (void)state;
  tt_store *store = tt_testing_open(), *other = open_other();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  tt_store_log *log = open_log("one", INT64_MAX);
  store_values(log, other, 3, false);
  log->close(log);
  log = open_log("one", INT64_MAX);
  store_values(log, other, 3, true);
  assert_empty(log);
  log->close(log);
  assert_stored(other, "ROBO1", TT_TESTING_ROBO1);
  other->close(other);
  store->close(store);
}

static void test_who_comes_next_is_told_all(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_store_batch *batch = tt_testing_batch();
  const tt_handling handling = {"Input.*", false, TT_VALUE_FLAG, TT_MODE_STORE, "V", 2, 0.5,
                                0.1,       60};
  tt_store_add_handling(&batch->handlings, &handling);
  tt_testing_write(store, batch);
  store->close(store);
  store = tt_testing_open();
  char *told = tt_testing_load(store);
  static const char *const lines[] = {"ROBO1 -\n",
                                      "ROBO2 Red\n",
                                      "Output.drive.velocity Speed\n",
                                      "Output.turn.heading -\n",
                                      "handling Input.* 3 1 V 2 0.5 0.1 60\n",
                                      "0 1000 900 1100 0 '' | 1 80000 81000\n",
                                      "0 0 -50 50 100 'start 7' | 1 80050 80050\n"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    if (!strstr(told, lines[i])) fail_msg("no '%s' in\n%s", lines[i], told);
  g_free(told);
  // What one sets the other hears, and a name that is only used stays.
  tt_store *beside = tt_testing_open_beside();
  g_free(tt_testing_load(beside));
  batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 0, "ROBO9", "Blue");
  tt_testing_write(store, batch);
  const gint64 end = g_get_monotonic_time() + PATIENCE;
  while (!strstr(tt_testing_told(), "ROBO9 Blue\n") && g_get_monotonic_time() < end)
    if (!beside->tend(beside)) g_usleep(10000);
  assert_non_null(strstr(tt_testing_told(), "ROBO9 Blue\n"));
  beside->close(beside);
  store->close(store);
}

static void name_device(tt_store *store, int index, const char *identifier, const char *name) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, index, identifier, name);
  tt_testing_write(store, batch);
}

/** What a store that is opened now tells of devices. To be freed. */
static char *told_anew(void) {
  tt_store *store = tt_testing_open_by(&(tt_store_options){.url = tt_testing_url()});
  char *told = tt_testing_load(store);
  store->close(store);
  return told;
}

/** A collector that was cut off gives a name that has been given meanwhile; once the later one has it no more, nobody has. */
static void test_a_name_does_not_come_back(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  name_device(store, 0, "ROBO1", "Red");
  tt_store *beside = tt_testing_open_beside();
  g_free(tt_testing_load(beside));
  name_device(beside, 1, "ROBO2", "Red");
  char *told = told_anew();
  assert_string_equal(told, "device 0 ROBO1 -\ndevice 1 ROBO2 Red\n");
  g_free(told);
  name_device(beside, 1, "ROBO2", "");
  told = told_anew();
  assert_string_equal(told, "device 0 ROBO1 -\ndevice 1 ROBO2 -\n");
  g_free(told);
  beside->close(beside);
  store->close(store);
}

/** A collector hears that another one removed a name while a batch with its samples is being filled; all names are told anew after that. */
static void test_who_hears_of_a_removal_goes_on(void **state) {
  (void)state;
  tt_store *store = tt_testing_open(), *beside = tt_testing_open_beside();
  g_free(tt_testing_load(beside));
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  tt_store_batch *batch = tt_store_batch_new();
  tt_store_add_name(&batch->devices, 0, "ROBO1", NULL, TT_NAME_REMOVED);
  tt_testing_write(beside, batch);
  const gint64 end = g_get_monotonic_time() + PATIENCE;
  while (!strstr(tt_testing_told(), "ROBO1 - removed\n") && g_get_monotonic_time() < end)
    if (!store->tend(store)) g_usleep(10000);
  batch = tt_store_batch_new();
  tt_testing_add_sample(batch, 0, 0, 90000, 91000);
  tt_testing_add_value(batch, 0, NULL, 1);
  tt_testing_write(store, batch);
  char *told = told_anew();
  assert_non_null(strstr(told, "ROBO1 - removed\n"));
  g_free(told);
  beside->close(beside);
  store->close(store);
}

/* --- several who put into it --- */

/** A message of ROBO1 at a time, in epoch 0; behind what defines them (`batch`), or NULL. */
static void put_message(tt_store *store, tt_store_batch *batch, int64_t device_time,
                        uint32_t flags) {
  if (!batch) batch = tt_store_batch_new();
  tt_testing_add_sample(batch, 0, 0, device_time, device_time + 1000)->flags = flags;
  tt_testing_add_value(batch, 0, NULL, 1);
  tt_testing_write(store, batch);
}

/** Takes until a message comes that is of that time, and returns those that may be repeats: "90000 90001 ". To be freed. */
static char *take_unsure(tt_store_log *log, int64_t device_time) {
  GString *unsure = g_string_new(NULL);
  const tt_store_batch *batch;
  tt_error error;
  for (bool came = false; !came;) {
    if (log->take(log, PATIENCE, &batch, &error) != TT_OK) fail_msg("%s", error.text);
    for (uint32_t i = 0; i < batch->samples.len; i++) {
      const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
      came |= sample->device_time == device_time;
      if (sample->device_time >= 90000 && sample->flags & TT_SAMPLE_UNSURE)
        g_string_append_printf(unsure, "%d ", (int)sample->device_time);
    }
    assert_int_equal(log->done(log, &error), TT_OK);
  }
  return g_string_free(unsure, FALSE);
}

static void assert_unsure(tt_store_log *log, int64_t device_time, const char *expected) {
  char *unsure = take_unsure(log, device_time);
  assert_string_equal(unsure, expected);
  g_free(unsure);
}

/** A device that left, and has sent to another collector what the first one has still to write. */
static void test_what_others_put_before_may_be_the_same(void **state) {
  (void)state;
  tt_store *store = tt_testing_open(), *beside = tt_testing_open_beside();
  g_free(tt_testing_load(store));
  tt_store_log *log = open_log("one", INT64_MAX);
  put_message(store, tt_testing_batch(), 90000, 0);
  assert_unsure(log, 90000, "90000 ");  // who knows what came just before
  const gint64 end = g_get_monotonic_time() + PATIENCE;
  bool sure = false;
  for (int64_t time = 90001; !sure; time++) {  // until all that came for long was the store's own
    put_message(store, NULL, time, 0);
    char *unsure = take_unsure(log, time);
    sure = !*unsure;
    g_free(unsure);
    assert_true(g_get_monotonic_time() < end);
    g_usleep(100000);
  }
  put_message(beside, tt_testing_batch(), 91000, TT_SAMPLE_UNSURE);
  put_message(store, NULL, 91001, 0);
  put_message(store, NULL, 91002, 0);  // which came in before it was known that there was another
  assert_unsure(log, 91002, "91000 91001 91002 ");
  log->close(log);
  beside->close(beside);
  store->close(store);
}

/* --- what others put into it, as it comes --- */

/** Times of ROBO1's messages that were told, as bits of what they have beyond 90000; bit 63: one of them was not whole. */
static atomic_ullong heard;

static void on_others(void *context, const tt_store_batch *batch) {
  (void)context;
  for (uint32_t i = 0; i < batch->samples.len; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    const tt_store_value *value = &tt_list_at(&batch->values, tt_store_value, sample->first);
    bool whole = batch->devices.len && batch->attributes.len && batch->epochs.len &&
                 value->text == TT_STORE_NUMBER;
    if (!whole) atomic_fetch_or(&heard, 1ull << 63);
    if (sample->device_time >= 90000)
      atomic_fetch_or(&heard, 1ull << (sample->device_time - 90000));
  }
}

static bool has_heard(int64_t device_time) {
  return atomic_load(&heard) >> (device_time - 90000) & 1;
}

/** Writes a message every 100 ms until one is told, at most up to `last`. */
static int64_t write_until_heard(tt_store *store, tt_store *follower, int64_t first, int64_t last) {
  for (int64_t time = first; time < last; time++) {
    put_message(store, NULL, time, 0);
    for (int i = 0; i < 10 && !has_heard(time); i++) {
      follower->tend(follower);
      g_usleep(10000);
    }
    if (has_heard(time)) return time;
  }
  fail_msg("nothing was told");
  return 0;
}

static void test_who_follows_is_told_what_others_put(void **state) {
  (void)state;
  atomic_store(&heard, 0);
  tt_store *store = tt_testing_open(), *follower = tt_testing_open_beside();
  g_free(tt_testing_load(store));
  tt_testing_tell_others(on_others);
  g_free(tt_testing_load(follower));
  tt_testing_tell_others(NULL);
  put_message(store, tt_testing_batch(), 90000, 0);
  follower->tend(follower);
  follower->follow(follower, true);
  const int64_t told = write_until_heard(store, follower, 90001, 90030);
  put_message(follower, tt_testing_batch(), 90030, 0);  // its own
  write_until_heard(store, follower, 90031, 90040);
  assert_false(has_heard(90000) || has_heard(90030));
  follower->follow(follower, false);
  follower->tend(follower);
  put_message(store, NULL, 90040, 0);
  g_usleep(300000);
  assert_false(has_heard(90040));
  follower->follow(follower, true);  // once more, and nothing of what was missed
  write_until_heard(store, follower, 90041, 90060);
  assert_false(has_heard(90040));
  assert_true(told < 90030 && !(atomic_load(&heard) >> 63));
  follower->close(follower);
  store->close(store);
}

/* --- ahead --- */

#define MANY 1100 /* more messages than a batch has */

/** What is taken ahead is nobody else's, comes in its turn, and comes again where whoever took it ends. */
static void test_the_next_is_taken_while_one_is_stored(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  put_message(store, tt_testing_batch(), 90000, 0);
  for (int i = 1; i < MANY; i++) put_message(store, NULL, 90000 + i, 0);
  tt_store_log *log = open_log("one", INT64_MAX);
  const tt_store_batch *batch;
  tt_error error;
  log->look(log);
  const uint64_t all = log->state.waiting;
  assert_true(all >= MANY);
  assert_int_equal(log->take(log, PATIENCE, &batch, &error), TT_OK);
  const uint64_t first = log->state.in_hand;
  assert_true(first > 0 && first < all);
  const gint64 end = g_get_monotonic_time() + PATIENCE;
  do {
    log->look(log);
    g_usleep(10000);
  } while (log->state.waiting + first >= all && g_get_monotonic_time() < end);
  assert_true(log->state.waiting + first < all);
  assert_int_equal(log->state.in_hand, first);
  assert_int_equal(log->done(log, &error), TT_OK);
  log->close(log);
  // All but the first ones comes, once, to who takes now.
  log = open_log("one", INT64_MAX);
  bool came[MANY] = {false};
  for (uint64_t left = all - first; left;) {
    assert_int_equal(log->take(log, PATIENCE, &batch, &error), TT_OK);
    for (uint32_t i = 0; i < batch->samples.len; i++) {
      const int64_t time = tt_list_at(&batch->samples, tt_store_sample, i).device_time - 90000;
      if (time < 0) continue;  // what defined them
      assert_true(time < MANY && !came[time]);
      came[time] = true;
    }
    assert_true(log->state.in_hand <= left);
    left -= log->state.in_hand;
    assert_int_equal(log->done(log, &error), TT_OK);
  }
  assert_empty(log);
  log->close(log);
  store->close(store);
}

/* --- by chance --- */

#define DEVICES 3
#define TIMES 300
#define TURNS 400

/** Two who put into it, two of one name who take, and what was sent: by device, times. */
typedef struct chances {
  GRand *dice;
  tt_store *from[2], *to;
  tt_store_log *logs[2];
  bool sent[DEVICES][TIMES];
} chances;

static const char *const names[DEVICES] = {"A", "B", "C"};

/** Some messages, of which some were sent before, by the same collector or the other one. */
static void put_some(chances *of) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->attributes, 0, "speed", NULL);
  for (int i = 0; i < DEVICES; i++) {
    tt_store_add_name(&batch->devices, i, names[i], NULL, TT_NAME_KNOWN);
    tt_testing_add_epoch(batch, i, 0, 1000, 900, 1100, "");
  }
  for (int left = g_rand_int_range(of->dice, 1, 9); left; left--) {
    const int device = g_rand_int_range(of->dice, 0, DEVICES);
    const int time = g_rand_int_range(of->dice, 0, TIMES);
    bool *sent = &of->sent[device][time];
    tt_testing_add_sample(batch, device, 0, time, time + 1000)->flags =
        *sent ? TT_SAMPLE_UNSURE : 0;
    tt_testing_add_value(batch, 0, NULL, time);
    *sent = true;
  }
  tt_testing_write(of->from[g_rand_int_range(of->dice, 0, 2)], batch);
}

/** False: there was nothing. */
static bool store_some(chances *of, tt_store_log *log, int64_t patience) {
  const tt_store_batch *batch;
  tt_error error;
  tt_status status = log->take(log, patience, &batch, &error);
  if (status == TT_AGAIN) return false;
  if (status != TT_OK || of->to->write_foreign(of->to, batch, &error) != TT_OK)
    fail_msg("%s", error.text);
  return true;
}

/** Who takes ends, before or after what was taken is stored, and begins anew. */
static void end_one(chances *of, int which) {
  const tt_store_batch *batch;
  tt_error error;
  if (g_rand_int_range(of->dice, 0, 2))
    store_some(of, of->logs[which], 1000);
  else
    of->logs[which]->take(of->logs[which], 1000, &batch, &error);
  of->logs[which]->close(of->logs[which]);
  of->logs[which] = open_log("one", INT64_MAX);
}

/** So that a device has the same index there, in whichever order messages come. */
static void tell_names(chances *of) {
  tt_store_batch *batch = tt_store_batch_new();
  g_free(tt_testing_load(of->to));
  for (int i = 0; i < DEVICES; i++)
    tt_store_add_name(&batch->devices, i, names[i], NULL, TT_NAME_KNOWN);
  tt_error error;
  if (of->to->write_foreign(of->to, batch, &error) != TT_OK) fail_msg("%s", error.text);
  tt_store_batch_free(batch);
  while (of->to->tend(of->to)) continue;
}

/** What a device has sent, as it is read. To be freed. */
static char *expected_of(const chances *of, int device) {
  GString *expected = g_string_new(NULL);
  for (int time = 0; time < TIMES; time++)
    if (of->sent[device][time])
      g_string_append_printf(expected, "%d %d 0=%d\n", time, time + 1000, time);
  return g_string_free(expected, FALSE);
}

static bool has_all(const chances *of) {
  bool all = true;
  for (int device = 0; device < DEVICES && all; device++) {
    char *expected = expected_of(of, device);
    char *stored = tt_testing_read(of->to, device, 0, INT64_MIN, INT64_MAX, NULL, 0);
    all = !strcmp(stored, expected);
    g_free(stored);
    g_free(expected);
  }
  return all;
}

/** Until all is there, which takes long where somebody ended before he had what was on its way to him. */
static void store_the_rest(chances *of) {
  const gint64 end = g_get_monotonic_time() + 3 * PATIENCE;
  do {
    for (int i = 0; i < 2; i++) {
      tt_error error;
      if (store_some(of, of->logs[i], 100000))
        assert_int_equal(of->logs[i]->done(of->logs[i], &error), TT_OK);
    }
  } while (!has_all(of) && g_get_monotonic_time() < end);
}

static void test_what_two_put_and_two_take_by_chance(void **state) {
  (void)state;
  chances of = {.dice = g_rand_new_with_seed(18),
                .from = {tt_testing_open(), tt_testing_open_beside()},
                .to = open_other(),
                .logs = {open_log("one", INT64_MAX), open_log("one", INT64_MAX)}};
  for (int i = 0; i < 2; i++) g_free(tt_testing_load(of.from[i]));
  tell_names(&of);
  for (int turn = 0; turn < TURNS; turn++) {
    const int what = g_rand_int_range(of.dice, 0, 80), which = g_rand_int_range(of.dice, 0, 2);
    tt_error error;
    if (what < 48)
      put_some(&of);
    else if (what == 48)
      end_one(&of, which);
    else if (store_some(&of, of.logs[which], 1000))
      assert_int_equal(of.logs[which]->done(of.logs[which], &error), TT_OK);
  }
  store_the_rest(&of);
  for (int device = 0; device < DEVICES; device++) {
    char *expected = expected_of(&of, device);
    tt_testing_assert_reads(of.to, device, 0, expected);
    g_free(expected);
  }
  for (int i = 0; i < 2; i++) of.logs[i]->close(of.logs[i]);
  for (int i = 0; i < 2; i++) of.from[i]->close(of.from[i]);
  of.to->close(of.to);
  g_rand_free(of.dice);
}

const tt_store_case tt_store_log_cases[] = {
    {"who follows is told what others put", test_who_follows_is_told_what_others_put,
     TT_STORE_FORWARDS, NULL},
    {"what others put before may be the same", test_what_others_put_before_may_be_the_same,
     TT_STORE_FORWARDS, NULL},
    {"what it took others store", test_what_it_took_others_store, TT_STORE_FORWARDS, NULL},
    {"what is not done comes again", test_what_is_not_done_comes_again, TT_STORE_FORWARDS, NULL},
    {"who comes next is told all", test_who_comes_next_is_told_all, TT_STORE_FORWARDS, NULL},
    {"a name does not come back", test_a_name_does_not_come_back, TT_STORE_FORWARDS, NULL},
    {"who hears of a removal goes on", test_who_hears_of_a_removal_goes_on, TT_STORE_FORWARDS,
     NULL},
    {"what two put and two take by chance is stored once", test_what_two_put_and_two_take_by_chance,
     TT_STORE_FORWARDS, NULL},
    {"the next is taken while one is stored", test_the_next_is_taken_while_one_is_stored,
     TT_STORE_FORWARDS, NULL},
    {0},
};
