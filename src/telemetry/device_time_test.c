/* device_time_test.c: devices with bad clocks behind a bad network, on a clock of the test's own. */
#include "telemetry/device_time.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000LL
#define LATE SECOND
#define YEAR (365 * 86400 * SECOND)
#define START (56 * YEAR)

/** Uniform in [0, 1), the same on every run. */
static double next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 9007199254740992.0;
}

/** A device whose clock is `offset` off and runs `drift` too fast. */
typedef struct world {
  tt_device_time time;
  int64_t offset; /**< device = true + offset + drift × true */
  double drift;
  uint64_t random;
  int64_t smallest_delay, worst; /**< µs */
  int jumps;
  bool unsure; /**< of the last message */
  int64_t
      stored_in; /**< key of the epoch in which the store has what is asked for; 0: it has not */
  const tt_store_boot *stored; /**< …and those that it tells of, then */
  uint32_t stored_count;
  int asked;
  bool connected; /**< messages come on a connection, the next one behind this: */
  bool has_previous;
  int64_t previous, previous_key;
} world;

static bool find(void *context, int64_t *key) {
  world *world = context;
  world->asked++;
  *key = world->stored_in;
  tt_device_time_learn_all(&world->time, world->stored, world->stored_count,
                           world->stored_in ? key : NULL);
  return world->stored_in;
}

static int64_t device_clock_at(const world *world, int64_t now) {
  int64_t device = now + world->offset + (int64_t)(world->drift * (double)(now - START));
  return device / 1000 * 1000;  // devices say milliseconds
}

static tt_boot *send(world *world, int64_t now, int64_t delay, bool *again) {
  int64_t device = device_clock_at(world, now);
  tt_timed_message message = {.transmitted = device,
                              .last_sample = device,
                              .hash = (uint64_t)now * 2654435761u + 1,
                              .received = now + delay,
                              .boot = "",
                              .connected = world->connected && !world->has_previous,
                              .after_previous = world->connected && world->has_previous,
                              .previous = world->previous,
                              .previous_key = world->previous_key,
                              .context = world,
                              .find = find};
  tt_place place = tt_device_time_place(&world->time, &message, LATE);
  world->has_previous = true;
  world->previous = device;
  world->previous_key = place.boot->stored.key;
  world->jumps += place.placement == TT_PLACED_JUMP;
  world->unsure = place.unsure;
  int64_t error = llabs(device + place.offset - now);
  if (error > world->worst) world->worst = error;
  const tt_store_epoch *epoch = &place.boot->stored;
  assert_true(epoch->offset_low <= place.offset && place.offset <= epoch->offset_high);
  *again = place.again;
  return place.boot;
}

/** `seconds` of messages at `rate`, delayed at random; errors are looked at once `settle` s have passed. */
static void run(world *world, int64_t start, double seconds, double rate, double max_delay,
                double settle) {
  bool again;
  world->worst = 0;
  for (int i = 0; i < (int)(seconds * rate); i++) {
    int64_t now = start + (int64_t)(i / rate * 1e6);
    if (i == (int)(settle * rate)) world->worst = 0;
    send(world, now, (int64_t)(next_random(&world->random) * max_delay * 1e6), &again);
  }
}

static world *new_world(int64_t offset, double drift) {
  world *made = calloc(1, sizeof *made);
  assert_non_null(made);
  made->offset = offset;
  made->drift = drift;
  made->random = 42;
  return made;
}

static void test_years_off_drift_and_random_delays(void **state) {
  (void)state;
  const int64_t offsets[] = {-START, -30 * YEAR, 3 * YEAR, 0};
  const double drifts[] = {0, 100e-6, -100e-6};
  for (size_t o = 0; o < 4; o++) {
    for (size_t d = 0; d < 3; d++) {
      world *world = new_world(offsets[o], drifts[d]);
      run(world, START, 300, 50, 0.5, 10);
      if (world->worst > 5000)
        fail_msg("offset %zu, drift %zu: off by %lld us", o, d, (long long)world->worst);
      assert_int_equal(world->jumps, 0);
      free(world);
    }
  }
}

static void test_the_first_delay_is_soon_forgotten(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  bool again;
  send(world, START, 400000, &again);
  send(world, START + 20000, 1000, &again);
  world->worst = 0;
  send(world, START + 40000, 300000, &again);
  assert_true(world->worst <= 2000);
  free(world);
}

static void test_a_jump_back_begins_an_epoch(void **state) {
  (void)state;
  const int64_t back[] = {2 * SECOND, 3600 * SECOND, 100 * SECOND};
  for (size_t i = 0; i < 3; i++) {
    world *world = new_world(-START + 10 * SECOND, 0);
    run(world, START, 30, 50, 0.5, 5);
    assert_int_equal(world->jumps, 0);
    world->offset -= back[i];
    run(world, START + 30 * SECOND, 30, 50, 0.5, 10);
    assert_int_equal(world->jumps, 1);
    assert_true(world->worst <= 5000);
    assert_int_equal(world->time.boots[0].stored.number, 1);
    free(world);
  }
}

static void test_a_small_jump_on_one_connection(void **state) {
  (void)state;
  world *world = new_world(0, 0);
  const int64_t times[] = {1000, 1100, 1200, 900, 1000, 1100};
  const int epochs[] = {0, 0, 0, 1, 1, 1};
  for (int i = 0; i < 6; i++) {
    tt_timed_message message = {.transmitted = times[i] * 1000,
                                .last_sample = times[i] * 1000,
                                .hash = (uint64_t)i + 1,
                                .received = START + i * 100000,
                                .boot = "",
                                .after_previous = i > 0,
                                .previous = i ? times[i - 1] * 1000 : 0};
    tt_place place = tt_device_time_place(&world->time, &message, LATE);
    assert_int_equal(place.boot->stored.number, epochs[i]);
    assert_false(place.again);
  }
  free(world);
}

static void test_sent_again_is_no_jump(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  bool again;
  for (int i = 0; i < 100; i++) send(world, START + i * SECOND / 10, 1000, &again);
  // The same bytes, eight seconds later.
  tt_boot *boot = send(world, START + 20 * SECOND / 10, 8 * SECOND, &again);
  assert_true(again);
  assert_int_equal(boot->stored.number, 0);
  assert_int_equal(world->jumps, 0);
  world->worst = 0;
  send(world, START + 11 * SECOND, 1000, &again);
  assert_false(again);
  assert_true(world->worst <= 2000);
  free(world);
}

/** What a device measured each `step` from `from` to `until` comes at once, then. Returns the key of its epoch. */
static int64_t send_backlog(world *world, int64_t from, int64_t until, int64_t step,
                            bool *all_again) {
  int64_t key = 0;
  *all_again = true;
  world->has_previous = false;
  for (int64_t now = from, arrived = until; now < until; now += step, arrived += 10) {
    bool again;
    key = send(world, now, arrived - now, &again)->stored.key;
    *all_again = *all_again && again;
  }
  return key;
}

static void test_news_that_waited_for_a_connection(void **state) {
  (void)state;
  const int64_t outages[] = {10, 70, 300, 4000, 50000}, steps[] = {100, 500, 5000, 10000};  // s, ms
  for (int i = 0; i < 5 * 4 * 2; i++) {
    world *world = new_world(-START, 0);
    const int64_t outage = outages[i / 8] * SECOND, step = steps[i / 2 % 4] * SECOND / 1000;
    bool again;
    world->connected = i % 2;
    for (int k = 0; k < 100; k++) send(world, START + k * SECOND / 10, 1000, &again);
    const int64_t gone = START + 10 * SECOND, back = gone + outage;
    const int64_t key = send_backlog(world, gone, back, step, &again);
    assert_false(again);
    const int64_t worst = world->worst;  // the last ones were no later than others may be
    world->worst = 0;
    for (int k = 0; k < 100; k++) send(world, back + k * SECOND / 10, 1000, &again);
    if (world->jumps || worst > LATE || world->worst > 2000)
      fail_msg("outage of %lld s, a message each %lld ms: %d jumps, off by %lld us",
               (long long)outages[i / 8], (long long)steps[i / 2 % 4], world->jumps,
               (long long)(worst > world->worst ? worst : world->worst));
    assert_int_equal(world->time.boots[0].stored.key, key);
    free(world);
  }
}

static void test_who_had_no_network_from_the_start(void **state) {
  (void)state;
  for (int connected = 0; connected < 2; connected++) {
    world *world = new_world(-START, 0);
    bool again;
    world->connected = connected;
    int64_t key = send_backlog(world, START, START + 600 * SECOND, 10 * SECOND, &again);
    assert_false(again);
    assert_int_equal(world->time.next_epoch, 1);
    world->worst = 0;
    for (int i = 601; i < 610; i++) send(world, START + i * SECOND, 1000, &again);
    assert_int_equal(world->time.next_epoch, 1);
    assert_true(world->worst <= 2000);
    // The answers were lost, so all of it comes again.
    assert_int_equal(send_backlog(world, START, START + 600 * SECOND, 10 * SECOND, &again), key);
    assert_true(again);
    assert_int_equal(world->time.next_epoch, 1);
    free(world);
  }
}

/** What was held up is told from a clock that was set: by more than an hour, or after it had gone on with ours. */
static void test_a_jump_ahead_begins_an_epoch(void **state) {
  (void)state;
  for (int settled = 0; settled < 2; settled++) {
    world *world = new_world(-START, 0);
    bool again;
    world->connected = true;
    for (int i = 0; i < (settled ? 20 : 1); i++) send(world, START + i * SECOND / 10, 1000, &again);
    world->offset += settled ? 5 * SECOND : START;
    world->worst = 0;
    assert_int_equal(send(world, START + 2 * SECOND, 1000, &again)->stored.number, 1);
    assert_true(world->worst <= 2000);
    free(world);
  }
}

/** That is not seen at once where it is newer than all that was heard, but by how it goes on. */
static void test_a_clock_that_was_set_back_while_there_was_no_connection(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  bool again;
  run(world, START, 30, 10, 0.1, 0);
  world->offset -= 60 * SECOND;
  send(world, START + 200 * SECOND, 1000, &again);
  run(world, START + 201 * SECOND, 60, 10, 0.1, 40);
  assert_true(world->worst <= 100000);
  free(world);
}

/** However much the delays differ: what is less late than all before it becomes rare. */
static void test_a_clock_that_was_set_back_behind_a_bad_network(void **state) {
  (void)state;
  const double rates[] = {1, 10, 50};
  for (int r = 0; r < 3; r++) {
    world *world = new_world(-START, 0);
    run(world, START, 100, rates[r], 0.5, 0);
    world->offset -= 60 * SECOND;
    run(world, START + 200 * SECOND, 300, rates[r], 0.5, 120);
    if (world->worst > LATE) fail_msg("rate %g: off by %lld us", rates[r], (long long)world->worst);
    assert_int_equal(world->jumps, 0);
    free(world);
  }
}

/** …or now and then are longer than a message may be late, or where several are sent at one time, as in one request. */
static void test_a_clock_that_was_set_back_behind_a_network_that_stalls(void **state) {
  (void)state;
  static const struct {
    double rate, stall;
    int copies;
    bool connected;
  } cases[] = {
      {1, 1.5, 1, false}, {1, 1.5, 1, true}, {10, 1.5, 1, false},
      {10, 1.5, 1, true}, {1, 0, 2, true},   {10, 1.5, 2, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    world *world = new_world(-START, 0);
    bool again;
    run(world, START, 100, cases[i].rate, 0.05, 0);
    world->offset -= 60 * SECOND;
    world->connected = cases[i].connected;
    world->has_previous = false;
    const int64_t back = START + 200 * SECOND;
    const int a_second = (int)cases[i].rate;
    int64_t arrived = 0;
    for (int k = 0; k < 300 * a_second; k++) {
      const int64_t now = back + k * SECOND / a_second;
      const bool stalls = k % (15 * a_second) == 0;
      const int64_t due = now + 20000 + (stalls ? llround(cases[i].stall * 1e6) : 0);
      if (due > arrived) arrived = due;  // what comes behind waits
      if (k == 120 * a_second) world->worst = 0;
      for (int copy = 0; copy < cases[i].copies; copy++)  // µs, which the device doesn't say
        send(world, now + copy, arrived - now, &again);
    }
    if (world->worst > LATE) fail_msg("case %zu: off by %lld us", i, (long long)world->worst);
    assert_int_equal(world->jumps, 0);
    free(world);
  }
}

/** A message over a connection of its own. */
static tt_boot *report(world *world, int64_t now, int64_t delay) {
  bool again;
  world->connected = true;
  world->has_previous = false;
  return send(world, now, delay, &again);
}

/** Between two it drifts further than a message may be late. */
static void test_reports_that_are_rare(void **state) {
  (void)state;
  const double drifts[] = {-100e-6, 100e-6};
  for (int d = 0; d < 2; d++) {
    world *world = new_world(-START, drifts[d]);
    for (int i = 0; i < 1000; i++) report(world, START + i * 6 * 3600 * SECOND, 50000);
    if (world->worst > 52000) fail_msg("off by %lld us", (long long)world->worst);
    free(world);
  }
}

static void test_reports_of_a_clock_that_is_set_back(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  int i = 0;
  while (i < 10) report(world, START + i++ * 60 * SECOND, 50000);
  world->offset -= 5 * SECOND;
  for (int first = i; i < first + 3;) report(world, START + i++ * 60 * SECOND, 50000);
  const int asked = world->asked;
  world->worst = 0;
  while (i < 200) {
    report(world, START + i++ * 60 * SECOND, 50000);
    assert_true(world->unsure);  // it may be sent again, over another connection
  }
  assert_true(world->worst <= 52000);
  assert_true(world->asked <= asked + 1);
  assert_int_equal(world->jumps, 0);
  free(world);
}

/** As when the server's clock is set ahead, and the device's goes on: however far, it takes minutes. */
static void test_a_clock_that_is_set_back_by_far(void **state) {
  (void)state;
  const int64_t back[] = {3500 * SECOND, 86400 * SECOND, 30 * 86400 * SECOND};
  for (size_t i = 0; i < 3; i++) {
    world *world = new_world(-START, 0);
    int64_t now = START;
    for (; now < START + 600 * SECOND; now += SECOND) report(world, now, 50000);
    world->offset -= back[i];
    now += back[i];
    for (const int64_t end = now + 400 * SECOND; now < end; now += SECOND)
      report(world, now, 50000);
    world->worst = 0;
    for (const int64_t end = now + 600 * SECOND; now < end; now += SECOND)
      report(world, now, 50000);
    if (world->worst > LATE)
      fail_msg("%lld s back: off by %lld us", (long long)(back[i] / SECOND),
               (long long)world->worst);
    free(world);
  }
}

/** A rare sender finds back behind a network that stalls now and then. */
static void test_rare_reports_of_a_clock_that_is_set_back(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  int64_t now = START;
  for (; now < START + 3600 * SECOND; now += 30 * SECOND) report(world, now, 50000);
  world->offset -= 3500 * SECOND;
  now += 3500 * SECOND;
  int i = 0;
  for (const int64_t end = now + 900 * SECOND; now < end; now += 30 * SECOND)
    report(world, now, i++ % 4 == 1 ? 1500000 : 50000);
  world->worst = 0;
  for (const int64_t end = now + 900 * SECOND; now < end; now += 30 * SECOND)
    report(world, now, 50000);
  if (world->worst > LATE) fail_msg("off by %lld us", (long long)world->worst);
  free(world);
}

/** As of one that sleeps in between and has no clock of its own. */
static void test_a_device_that_says_one_time_again_and_again(void **state) {
  (void)state;
  world *world = new_world(0, 0);
  for (int i = 0; i < 20; i++) {
    const int64_t now = START + i * 600 * SECOND;
    world->offset = -now;
    report(world, now, 50000);
  }
  if (world->worst > LATE) fail_msg("off by %lld us", (long long)world->worst);
  free(world);
}

/** However long the clock has gone on, a backlog is none that was set back. */
static void test_reports_that_waited_for_a_network(void **state) {
  (void)state;
  const int days = 20;
  world *world = new_world(-START, 0);
  int64_t now = START;
  for (; now < START + days * 86400 * SECOND; now += 10 * SECOND) report(world, now, 50000);
  const int64_t back = now + 90 * SECOND;
  for (; now < back; now += 10 * SECOND) report(world, now, back - now);
  for (; now < back + 600 * SECOND; now += 10 * SECOND) report(world, now, 50000);
  assert_true(world->worst <= 52000);
  assert_int_equal(world->jumps, 0);
  free(world);
}

enum { REQUESTS, ONE_CONNECTION, CONNECTIONS, CONNECTION_KINDS };

/** One message more, over a connection as `how` tells. */
static void send_over(world *world, int how, int64_t now, int64_t delay) {
  bool again;
  world->connected = how != REQUESTS;
  if (how == CONNECTIONS) world->has_previous = false;
  send(world, now, delay, &again);
}

/** A message may take hardly less than the time until the next one is made. */
static void test_what_was_kept_is_sent_slowly(void **state) {
  (void)state;
  enum { DELAY = 50000 };
  // s: from one message to the next, what each takes, by how much that varies; without network for; of so many one waits for
  // its answer as long as until the next but one is made
  static const double cases[][5] = {
      {1, 0.8, 0, 600, 0},    {1, 0.75, 0, 600, 0},  {1, 0.99, 0, 600, 0},  {1, 0.9, 0, 60, 0},
      {0.2, 0.16, 0, 600, 0}, {10, 9.9, 0, 3600, 0}, {1, 0.8, 0.4, 600, 0}, {0.2, 0.16, 0.1, 60, 0},
      {10, 6, 10, 3600, 0},   {10, 1, 1, 3600, 10},  {30, 1, 1, 3600, 20},  {60, 1, 1, 3600, 20},
      {60, 2, 1, 36000, 50},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases * CONNECTION_KINDS * 2; i++) {
    const double *of = cases[i / CONNECTION_KINDS / 2];
    const int64_t period = llround(of[0] * 1e6);
    const int how = (int)(i / 2 % CONNECTION_KINDS);
    world *world = new_world(-START, 0);
    int64_t now = START;
    for (; now < START + 600 * SECOND; now += period) send_over(world, how, now, DELAY);
    world->has_previous = false;
    int64_t arrived = now + llround(of[3] * 1e6);
    for (; arrived >= now; now += period) {
      send_over(world, how, now, arrived - now);
      for (int k = 1; i % 2 && k < 4; k++)  // with others of the same time
        send_over(world, how, now + k, arrived - now);
      arrived += llround((of[1] + of[2] * (next_random(&world->random) - 0.5)) * 1e6);
      if (of[4] > 0 && next_random(&world->random) * of[4] < 1) arrived += period - SECOND / 2;
    }
    if (world->jumps || world->worst > LATE + DELAY)
      fail_msg("case %zu, connections %d: %d jumps, off by %lld us", i / CONNECTION_KINDS / 2, how,
               world->jumps, (long long)world->worst);
    free(world);
  }
}

/** Several that are of one time say no more than one. */
static void test_one_of_those_that_were_kept_waits_for_its_answer(void **state) {
  (void)state;
  for (int how = 0; how < CONNECTION_KINDS; how++) {
    world *world = new_world(-START, 0);
    int64_t now = START, arrived = START + 1100 * SECOND;
    for (; now < START + 600 * SECOND; now += 60 * SECOND) send_over(world, how, now, 50000);
    world->has_previous = false;
    for (int i = 0; arrived >= now; now += 60 * SECOND, i++) {
      for (int k = 0; k < 4; k++) send_over(world, how, now + k, arrived - now);
      arrived += i ? SECOND : 60 * SECOND;
    }
    if (world->jumps || world->worst > LATE)
      fail_msg("connections %d: %d jumps, off by %lld us", how, world->jumps,
               (long long)world->worst);
    free(world);
  }
}

/** Nor does it settle that a clock was heard in time, so that what is sent faster then is of the same epoch. */
static void test_what_was_kept_from_the_start_is_sent_slowly_then_quickly(void **state) {
  (void)state;
  for (int i = 0; i < CONNECTION_KINDS * 2; i++) {
    world *world = new_world(-START, 0);
    int64_t arrived = START + 600 * SECOND;
    for (int k = 0; k < 100; k++) {
      send_over(world, i / 2, START + k * 5 * SECOND, arrived - START - k * 5 * SECOND);
      arrived += k < 50 ? 4900000 : 10000;
      if (i % 2 && k == 20) arrived += 200000;  // one waits for its answer
    }
    assert_int_equal(world->jumps, 0);
    free(world);
  }
}

/** Hours later: drift can't be told from lateness, until it is seen. */
static void test_a_start_that_is_held_up_a_little(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  for (int i = 0; i < 100; i++) report(world, START + i * SECOND, 1000);
  const int64_t begins = START + 8 * 3600 * SECOND, up = begins + 5 * SECOND;
  for (int64_t now = begins; now < up; now += 2 * SECOND) report(world, now, up - now);
  assert_true(world->worst <= 5 * SECOND);
  world->worst = 0;
  for (int i = 2; i < 100; i++) report(world, up + i * SECOND, 1000);
  assert_true(world->worst <= 2000);
  assert_int_equal(world->jumps, 0);
  free(world);
}

static void restore(world *world, int number, int64_t key, const char *boot, int64_t newest,
                    int64_t offset) {
  tt_store_epoch epoch = {.number = number,
                          .anchor = offset,
                          .offset_low = offset - 50000,
                          .offset_high = offset + 50000,
                          .key = key};
  strcpy(epoch.boot, boot);
  tt_device_time_restore(&world->time, &epoch, newest, offset);
}

static void test_a_restored_device_goes_on(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  restore(world, 3, 77, "", 10 * SECOND, START + 1000);
  bool again;
  world->stored_in = 77;  // not acknowledged, so it comes again
  tt_boot *boot = send(world, START + 9 * SECOND, 60 * SECOND, &again);
  assert_true(again);
  assert_int_equal(boot->stored.number, 3);
  world->stored_in = 0;
  boot = send(world, START + 70 * SECOND, 1000, &again);
  assert_int_equal(boot->stored.number, 3);
  assert_false(again);
  world->offset = -START - 65 * SECOND;  // it starts anew, at 7 s
  boot = send(world, START + 72 * SECOND, 1000, &again);
  assert_int_equal(boot->stored.number, 4);
  assert_false(again);
  free(world);
}

/** As somebody does who has an old recording sent again. A store tells of the latest four epochs, and of the one that has it. */
static void test_what_an_old_epoch_has_is_sent_again(void **state) {
  (void)state;
  enum { EPOCHS = 6, FOUND = 0 };
  for (int connected = 0; connected < 2; connected++) {
    world *world = new_world(-START, 0);
    tt_store_boot boots[EPOCHS], told[5];
    for (int i = 0; i < EPOCHS; i++) {
      const int64_t begun = START + i * 10000 * SECOND;
      boots[i] = (tt_store_boot){.epoch = {.number = i,
                                           .anchor = begun,
                                           .offset_low = begun,
                                           .offset_high = begun,
                                           .key = 100 + i},
                                 .has_sample = true,
                                 .device_time = 5000 * SECOND,
                                 .time = begun + 5000 * SECOND};
      tt_device_time_learn(&world->time, &boots[i]);
    }
    told[0] = boots[FOUND];
    memcpy(told + 1, boots + EPOCHS - 4, 4 * sizeof *told);
    world->stored = told;
    world->stored_count = 5;
    world->stored_in = boots[FOUND].epoch.key;
    world->connected = connected;
    for (int i = 0; i < 100; i++) {
      const int64_t made = START + i * 10 * SECOND;
      bool again;
      tt_boot *boot = send(world, made, 70000 * SECOND + i * 1000 - i * 10 * SECOND, &again);
      assert_int_equal(boot->stored.key, boots[FOUND].epoch.key);
      if (!connected) assert_true(again);
      assert_true(world->unsure);
    }
    assert_int_equal(world->time.next_epoch, EPOCHS);
    free(world);
  }
}

static uint64_t content_of_the_test(void *context) {
  (void)context;
  return 12345;
}
static uint64_t other_content_of_the_test(void *context) {
  (void)context;
  return 54321;
}

static void test_a_spooled_message_is_known_by_its_content(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  restore(world, 0, 77, "", 10 * SECOND, START + 1000);
  tt_device_time_restore_seen(&world->time, 77, 9 * SECOND, 12345);
  tt_timed_message message = {.transmitted = 9 * SECOND,
                              .last_sample = 9 * SECOND,
                              .hash = 12345,
                              .received = START + 70 * SECOND,
                              .boot = "",
                              .content = content_of_the_test};
  tt_place place = tt_device_time_place(&world->time, &message, LATE);
  assert_true(place.again);
  assert_int_equal(place.boot->stored.key, 77);
  message.content = other_content_of_the_test;  // an equal time with another value
  message.hash = 1;
  place = tt_device_time_place(&world->time, &message, LATE);
  assert_false(place.again);
  assert_int_equal(place.boot->stored.number, 1);
  free(world);
}

static void test_the_store_is_asked_where_time_does_not_tell(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  bool again;
  for (int i = 0; i < 100; i++) send(world, START + i * SECOND / 10, 1000, &again);
  assert_int_equal(world->asked, 1);  // of the first one
  send(world, START + 10 * SECOND, 5 * SECOND, &again);
  assert_int_equal(world->asked, 2);
  assert_int_equal(world->jumps, 0);
  free(world);
}

static void test_another_boot_is_another_epoch(void **state) {
  (void)state;
  world *world = new_world(0, 0);
  const char *const boots[] = {"a", "a", "b", "b", "a", "", "c"};
  const int epochs[] = {0, 0, 1, 1, 0, 2, 3};
  for (int i = 0; i < 7; i++) {  // on time by the clock, which goes on
    tt_timed_message message = {.transmitted = i * SECOND / 10,
                                .last_sample = i * SECOND / 10,
                                .hash = (uint64_t)i + 1,
                                .received = START + i * SECOND / 10,
                                .boot = boots[i]};
    tt_place place = tt_device_time_place(&world->time, &message, LATE);
    assert_int_equal(place.boot->stored.number, epochs[i]);
    assert_string_equal(place.boot->stored.boot, boots[i]);
  }
  // A repeat of one boot is not looked for in another, whatever was heard before.
  tt_timed_message message = {
      .transmitted = 0, .last_sample = 0, .hash = 1, .received = START + SECOND, .boot = "b"};
  assert_false(tt_device_time_place(&world->time, &message, LATE).again);
  message.boot = "a";
  assert_true(tt_device_time_place(&world->time, &message, LATE).again);
  free(world);
}

static void test_epochs_of_others_get_numbers_of_their_own(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  bool again;
  tt_boot *boot = send(world, START + 100 * SECOND, 1000, &again);
  int64_t key = boot->stored.key;
  assert_int_equal(boot->stored.number, 0);
  assert_true(key > UINT32_MAX);
  restore(world, 0, 55, "", 20 * SECOND, START);  // another collector's, which began before
  restore(world, 0, key, "", 20 * SECOND, START);
  assert_int_equal(world->time.boot_count, 2);
  assert_int_equal(world->time.boots[0].stored.key, key);  // newer
  assert_int_equal(world->time.boots[1].stored.key, 55);
  assert_int_equal(world->time.boots[1].stored.number, 1);
  assert_int_equal(world->time.next_epoch, 2);
  free(world);
}

static void test_unsure_until_the_clock_goes_on(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  bool again;
  for (int i = 0; i < 30; i++) {
    send(world, START + i * SECOND / 10, i % 3 * 50000, &again);
    assert_int_equal(world->unsure, i < 10);
  }
  send(world, START + 27 * SECOND / 10, 300000, &again);  // again
  assert_true(world->unsure);
  // What was kept for five seconds comes at once, then what is made goes on.
  for (int i = 30; i < 80; i++) {
    int64_t now = START + i * SECOND / 10;
    send(world, now, START + 8 * SECOND + i * 1000 - now, &again);
    assert_true(world->unsure);
  }
  for (int i = 81; i < 100; i++) {
    send(world, START + i * SECOND / 10, 1000, &again);
    if (i < 90) assert_true(world->unsure);
  }
  assert_false(world->unsure);
  assert_int_equal(world->jumps, 0);
  free(world);
}

/** Each batch with one that is unsure is written alone, so there must be few of them where nothing is wrong. */
static void test_delays_do_not_make_unsure(void **state) {
  (void)state;
  const double rates[] = {1, 10};
  for (int r = 0; r < 2; r++) {
    const int count = (int)(3600 * rates[r]);
    world *world = new_world(-START, 0);
    int unsure = 0;
    for (int i = 0; i < count; i++) {
      bool again;
      const int64_t now = START + llround(i / rates[r] * 1e6);
      send(world, now, llround(next_random(&world->random) * 400000), &again);
      if (i >= count / 2 && world->unsure) unsure++;
    }
    if (unsure > count / 2 / 20) fail_msg("rate %g: %d of %d unsure", rates[r], unsure, count / 2);
    free(world);
  }
}

/** Another collector may have begun an epoch for it before, which is told too late. So it may be after hours of requests, too, in
 *  which a clock may drift as far as it jumps here. */
static void test_what_begins_an_epoch_is_unsure(void **state) {
  (void)state;
  for (int jumps = 0; jumps < 2; jumps++) {
    world *world = new_world(-START, 0);
    const int64_t end = START + 2 * 3600 * SECOND;
    run(world, START, 2 * 3600, 1, 0.05, 0);
    assert_false(world->unsure);
    const int64_t ahead = jumps ? 1200000 : 0;
    const tt_timed_message message = {.transmitted = end + world->offset + ahead,
                                      .last_sample = end + world->offset + ahead,
                                      .hash = 1,
                                      .received = end + 1000,
                                      .boot = jumps ? "" : "another",
                                      .context = world,
                                      .find = find};
    tt_place place = tt_device_time_place(&world->time, &message, LATE);
    assert_int_equal(place.placement, TT_PLACED_JUMP);
    assert_true(place.unsure);
    world->offset += ahead;
    bool again;
    send(world, end + SECOND / 2, 1000, &again);
    assert_int_equal(world->unsure, jumps);  // as long as the clock has not gone on
    free(world);
  }
}

/** A client that waits for answers of another collector for 10 s, to several requests at a time, sends each that late. */
static void test_what_follows_it_with_boot_is_unsure_for_a_minute(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  const int64_t end = START + 2 * 3600 * SECOND;
  run(world, START, 2 * 3600, 1, 0.05, 0);
  for (int i = 0; i < 80; i++) {
    const int64_t now = end + i * SECOND, device = device_clock_at(world, now);
    const tt_timed_message message = {.transmitted = device,
                                      .last_sample = device,
                                      .hash = (uint64_t)i + 1,
                                      .received = now + (i < 15 ? 10 * SECOND : 1000),
                                      .boot = "another",
                                      .context = world,
                                      .find = find};
    const tt_place place = tt_device_time_place(&world->time, &message, LATE);
    if (i < 60) assert_true(place.unsure);
    if (i > 70) assert_false(place.unsure);
  }
  free(world);
}

/* --- messages that don't say when they were sent --- */

/** A message whose last sample is of `sample` on the device's clock; returns what is stored as that sample's moment. */
static int64_t send_points(world *world, int64_t now, int64_t sample, tt_boot **boot) {
  tt_timed_message message = {.transmitted = TT_MESSAGE_NO_TIME,
                              .last_sample = sample,
                              .hash = (uint64_t)sample * 2654435761u + 1,
                              .received = now,
                              .boot = "",
                              .context = world,
                              .find = find};
  tt_place place = tt_device_time_place(&world->time, &message, LATE);
  world->jumps += place.placement == TT_PLACED_JUMP;
  world->unsure = place.unsure;
  *boot = place.boot;
  return (sample == TT_MESSAGE_NO_TIME ? place.transmitted : sample) + place.offset;
}

static void test_points_of_a_clock_that_is_right(void **state) {
  (void)state;
  world world = {0};
  tt_boot *boot;
  int64_t now = START;
  // Old ones, later ones, older ones again, some without a time: all are what they say.
  static const int64_t ages[] = {10, 3600, 0, 86400 * 400, 9, 0, 5};
  for (size_t i = 0; i < sizeof ages / sizeof *ages; i++, now += 10 * SECOND) {
    assert_int_equal(send_points(&world, now, now - ages[i] * SECOND, &boot),
                     now - ages[i] * SECOND);
    assert_int_equal(boot->stored.number, 0);
    assert_int_equal(send_points(&world, now + 1, TT_MESSAGE_NO_TIME, &boot), now + 1);
    assert_int_equal(boot->stored.number, 0);
  }
  assert_int_equal(world.jumps, 0);
  // A few ms ahead of ours: nothing is of the future, and not for long.
  assert_int_equal(send_points(&world, now, now + 4000, &boot), now);
  assert_int_equal(send_points(&world, now + 100 * SECOND, now + 90 * SECOND, &boot),
                   now + 90 * SECOND);
  assert_int_equal(boot->stored.number, 0);
}

static void test_points_of_a_clock_that_is_ahead_until_it_is_set(void **state) {
  (void)state;
  world world = {0};
  tt_boot *boot;
  int64_t now = START, wrong = 3600 * SECOND;
  for (int i = 0; i < 20; i++, now += 10 * SECOND) {
    int64_t age = i % 2 ? 3 * SECOND : 0;  // of the newest point when it was sent
    int64_t stored = send_points(&world, now, now + wrong - age, &boot);
    assert_int_equal(stored, now - age);
    assert_int_equal(boot->stored.number, 0);
  }
  assert_int_equal(send_points(&world, now, now - SECOND, &boot), now - SECOND);
  assert_int_equal(boot->stored.number, 1);
  assert_int_equal(send_points(&world, now, now - 7200 * SECOND, &boot), now - 7200 * SECOND);
  assert_int_equal(boot->stored.number, 1);
  assert_int_equal(world.jumps, 1);
  assert_true(world.unsure);  // there is an epoch in which it may stand
}

static void test_points_of_a_clock_that_was_never_set(void **state) {
  (void)state;
  world world = {0};
  tt_boot *boot;
  int64_t now = START;
  for (int64_t up = 5 * SECOND; up < 60 * SECOND; up += 5 * SECOND, now += 5 * SECOND)
    assert_int_equal(send_points(&world, now, up, &boot), now);
  assert_int_equal(boot->stored.number, 0);
  // It was restarted; what the store has is sent again, then it is set.
  assert_int_equal(send_points(&world, now, 5 * SECOND + 1, &boot), now);
  assert_int_equal(boot->stored.number, 1);
  world.stored_in = world.time.boots[1].stored.key;
  send_points(&world, now, 2 * SECOND, &boot);
  assert_int_equal(boot->stored.number, 0);
  world.stored_in = 0;
  assert_int_equal(send_points(&world, now, now, &boot), now);
  assert_int_equal(boot->stored.number, 2);
  assert_int_equal(boot->stored.anchor, 0);
}

static void test_points_that_were_held_back(void **state) {
  (void)state;
  world world = {0};
  tt_boot *boot;
  int64_t now = START;
  for (int i = 1; i <= 60; i++) send_points(&world, now + i, i * 10 * SECOND, &boot);
  assert_int_equal(boot->stored.number, 0);  // of who had no network from the start
  now += 10 * SECOND;
  for (int i = 61; i < 70; i++, now += 10 * SECOND)
    assert_in_range(send_points(&world, now, i * 10 * SECOND, &boot), now - 1000, now);
  for (int i = 70; i < 100; i++) {  // those of 300 s come at once
    const int64_t made = now + (i - 70) * 10 * SECOND;
    assert_in_range(send_points(&world, now + 290 * SECOND + i, i * 10 * SECOND, &boot),
                    made - 1000, made + 1000);
  }
  assert_int_equal(boot->stored.number, 0);
  assert_int_equal(world.jumps, 0);
}

static bool tells(tt_device_time *time, int64_t transmitted, const char *boot) {
  const tt_timed_message message = {.transmitted = transmitted,
                                    .last_sample = transmitted,
                                    .hash = (uint64_t)transmitted,
                                    .received = START + transmitted,
                                    .boot = boot};
  return tt_device_time_place(time, &message, LATE).tell;
}

/** Stores keep the epochs of a device that they were told last, so one that goes on is told again before it is none of those. */
static void test_an_epoch_is_told_again_behind_many_others(void **state) {
  (void)state;
  tt_device_time *time = calloc(1, sizeof *time);
  assert_non_null(time);
  assert_true(tells(time, SECOND, "a"));
  assert_false(tells(time, 2 * SECOND, "a"));
  for (int turn = 0; turn < 3; turn++) {
    tt_boot *boot = &time->boots[0];
    for (int i = 1; i < TT_BOOTS_TOLD; i++) {
      tt_boot other = {.told = false};
      assert_true(tt_device_time_is_due(time, &other));
      tt_device_time_tell(time, &other);
      assert_false(tt_device_time_is_due(time, boot));
    }
    assert_false(tells(time, (3 + 3 * turn) * SECOND, "a"));
    tt_device_time_tell(time, &(tt_boot){.told = false});
    assert_true(tells(time, (4 + 3 * turn) * SECOND, "a"));
    assert_false(tells(time, (5 + 3 * turn) * SECOND, "a"));
  }
  free(time);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_points_of_a_clock_that_is_right),
      cmocka_unit_test(test_points_of_a_clock_that_is_ahead_until_it_is_set),
      cmocka_unit_test(test_points_of_a_clock_that_was_never_set),
      cmocka_unit_test(test_points_that_were_held_back),
      cmocka_unit_test(test_years_off_drift_and_random_delays),
      cmocka_unit_test(test_the_first_delay_is_soon_forgotten),
      cmocka_unit_test(test_a_jump_back_begins_an_epoch),
      cmocka_unit_test(test_a_small_jump_on_one_connection),
      cmocka_unit_test(test_sent_again_is_no_jump),
      cmocka_unit_test(test_news_that_waited_for_a_connection),
      cmocka_unit_test(test_who_had_no_network_from_the_start),
      cmocka_unit_test(test_a_jump_ahead_begins_an_epoch),
      cmocka_unit_test(test_a_clock_that_was_set_back_while_there_was_no_connection),
      cmocka_unit_test(test_a_clock_that_was_set_back_behind_a_bad_network),
      cmocka_unit_test(test_a_clock_that_was_set_back_behind_a_network_that_stalls),
      cmocka_unit_test(test_reports_that_are_rare),
      cmocka_unit_test(test_reports_of_a_clock_that_is_set_back),
      cmocka_unit_test(test_a_clock_that_is_set_back_by_far),
      cmocka_unit_test(test_rare_reports_of_a_clock_that_is_set_back),
      cmocka_unit_test(test_a_device_that_says_one_time_again_and_again),
      cmocka_unit_test(test_reports_that_waited_for_a_network),
      cmocka_unit_test(test_what_was_kept_is_sent_slowly),
      cmocka_unit_test(test_one_of_those_that_were_kept_waits_for_its_answer),
      cmocka_unit_test(test_what_was_kept_from_the_start_is_sent_slowly_then_quickly),
      cmocka_unit_test(test_a_start_that_is_held_up_a_little),
      cmocka_unit_test(test_a_restored_device_goes_on),
      cmocka_unit_test(test_what_an_old_epoch_has_is_sent_again),
      cmocka_unit_test(test_a_spooled_message_is_known_by_its_content),
      cmocka_unit_test(test_the_store_is_asked_where_time_does_not_tell),
      cmocka_unit_test(test_another_boot_is_another_epoch),
      cmocka_unit_test(test_epochs_of_others_get_numbers_of_their_own),
      cmocka_unit_test(test_unsure_until_the_clock_goes_on),
      cmocka_unit_test(test_delays_do_not_make_unsure),
      cmocka_unit_test(test_what_begins_an_epoch_is_unsure),
      cmocka_unit_test(test_what_follows_it_with_boot_is_unsure_for_a_minute),
      cmocka_unit_test(test_an_epoch_is_told_again_behind_many_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
