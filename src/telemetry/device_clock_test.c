/* device_clock_test.c: clocks that drift, are set or begin anew, and what waited for a network. */
#include "telemetry/device_testing.h"
#include "telemetry/wall.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_years_off_drift_and_random_delays(void **state) {
  (void)state;
  const int64_t offsets[] = {-START, -30 * YEAR, 3 * YEAR, 0};
  const double drifts[] = {0, 100e-6, -100e-6};
  for (size_t o = 0; o < 4; o++) {
    for (size_t d = 0; d < 3; d++) {
      world *world = new_world(offsets[o], drifts[d]);
      send_many(world, START, 300, 50, 0.5, 10);
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
  send_at(world, START, 400000, &again);
  send_at(world, START + 20000, 1000, &again);
  world->worst = 0;
  send_at(world, START + 40000, 300000, &again);
  assert_true(world->worst <= 2000);
  free(world);
}

static void test_a_jump_back_begins_an_epoch(void **state) {
  (void)state;
  const int64_t back[] = {2 * SECOND, 3600 * SECOND, 100 * SECOND};
  for (size_t i = 0; i < 3; i++) {
    world *world = new_world(-START + 10 * SECOND, 0);
    send_many(world, START, 30, 50, 0.5, 5);
    assert_int_equal(world->jumps, 0);
    world->offset -= back[i];
    send_many(world, START + 30 * SECOND, 30, 50, 0.5, 10);
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
  for (int i = 0; i < 100; i++) send_at(world, START + i * SECOND / 10, 1000, &again);
  // The same bytes, eight seconds later.
  tt_boot *boot = send_at(world, START + 20 * SECOND / 10, 8 * SECOND, &again);
  assert_true(again);
  assert_int_equal(boot->stored.number, 0);
  assert_int_equal(world->jumps, 0);
  world->worst = 0;
  send_at(world, START + 11 * SECOND, 1000, &again);
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
    key = send_at(world, now, arrived - now, &again)->stored.key;
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
    for (int k = 0; k < 100; k++) send_at(world, START + k * SECOND / 10, 1000, &again);
    const int64_t gone = START + 10 * SECOND, back = gone + outage;
    const int64_t key = send_backlog(world, gone, back, step, &again);
    assert_false(again);
    const int64_t worst = world->worst;  // the last ones were no later than others may be
    world->worst = 0;
    for (int k = 0; k < 100; k++) send_at(world, back + k * SECOND / 10, 1000, &again);
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
    for (int i = 601; i < 610; i++) send_at(world, START + i * SECOND, 1000, &again);
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
    for (int i = 0; i < (settled ? 20 : 1); i++)
      send_at(world, START + i * SECOND / 10, 1000, &again);
    world->offset += settled ? 5 * SECOND : START;
    world->worst = 0;
    assert_int_equal(send_at(world, START + 2 * SECOND, 1000, &again)->stored.number, 1);
    assert_true(world->worst <= 2000);
    free(world);
  }
}

/** That is not seen at once where it is newer than all that was heard, but by how it goes on. */
static void test_a_clock_that_was_set_back_while_there_was_no_connection(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  bool again;
  send_many(world, START, 30, 10, 0.1, 0);
  world->offset -= 60 * SECOND;
  send_at(world, START + 200 * SECOND, 1000, &again);
  send_many(world, START + 201 * SECOND, 60, 10, 0.1, 40);
  assert_true(world->worst <= 100000);
  free(world);
}

/** However much the delays differ: what is less late than all before it becomes rare. */
static void test_a_clock_that_was_set_back_behind_a_bad_network(void **state) {
  (void)state;
  const double rates[] = {1, 10, 50};
  for (int r = 0; r < 3; r++) {
    world *world = new_world(-START, 0);
    send_many(world, START, 100, rates[r], 0.5, 0);
    world->offset -= 60 * SECOND;
    send_many(world, START + 200 * SECOND, 300, rates[r], 0.5, 120);
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
    send_many(world, START, 100, cases[i].rate, 0.05, 0);
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
        send_at(world, now + copy, arrived - now, &again);
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
  return send_at(world, now, delay, &again);
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

/** Another collector goes on, which knows of the latest epoch what the store does. */
static void restart_collector(world *world) {
  const tt_boot *boot = &world->time.boots[0];
  const tt_store_epoch epoch = boot->stored;
  const int64_t newest = boot->newest, offset = tt_device_clock_offset(&boot->clock, newest);
  world->time = (tt_device_time){0};
  tt_device_time_restore(&world->time, &epoch, newest, offset);
}

/** As of one that sleeps in between and has no clock of its own. The first message behind a restart may be sent again. */
static void test_a_device_that_says_one_time_again_and_again(void **state) {
  (void)state;
  world *world = new_world(0, 0);
  for (int i = 0; i < 20; i++) {
    const int64_t now = START + i * 600 * SECOND;
    world->offset = -now;
    if (i == 10) restart_collector(world);
    const int64_t worst = world->worst;
    report(world, now, 50000);
    if (i == 10) world->worst = worst;
  }
  if (world->worst > LATE) fail_msg("off by %lld us", (long long)world->worst);
  free(world);
}

enum { REQUESTS, ONE_CONNECTION, CONNECTIONS, CONNECTION_KINDS };

/** One message more, over a connection as `how` tells. */
static void send_over(world *world, int how, int64_t now, int64_t delay) {
  bool again;
  world->connected = how != REQUESTS;
  if (how == CONNECTIONS) world->has_previous = false;
  send_at(world, now, delay, &again);
}

/** Of two messages of one time, the second is lost with the network, and sent again before all that was kept. */
static void test_what_is_as_new_as_the_newest_waited_with_the_others(void **state) {
  (void)state;
  const int64_t outages[] = {6, 12, 1200, 12000};
  for (int i = 0; i < 4 * CONNECTION_KINDS; i++) {
    world *world = new_world(-START, 0);
    int64_t now = START;
    for (; now < START + 600 * SECOND; now += SECOND) {
      send_over(world, i % CONNECTION_KINDS, now, 1000);
      send_over(world, i % CONNECTION_KINDS, now + 300, 1000);
    }
    send_over(world, i % CONNECTION_KINDS, now, 1000);
    world->has_previous = false;
    const int64_t outage = outages[i / CONNECTION_KINDS] * SECOND, back = now + outage;
    int64_t arrives = back;
    for (int64_t made = now + 300; made < back; made += SECOND, arrives++)
      send_over(world, i % CONNECTION_KINDS, made, arrives - made);
    if (world->jumps || world->worst > LATE)
      fail_msg("outage of %lld s, connections %d: %d jumps, off by %lld us",
               (long long)outage / SECOND, i % CONNECTION_KINDS, world->jumps,
               (long long)world->worst);
    free(world);
  }
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

/** A small computer without a clock is set right while devices send to it. */
static void test_our_own_clock_is_set(void **state) {
  (void)state;
  static const int64_t steps[] = {600 * SECOND, -600 * SECOND, 7200 * SECOND, 2 * SECOND};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    for (int connected = 0; connected < 2; connected++) {
      world *world = new_world(0, 0);
      bool again;
      world->connected = connected;
      world->offset = -START;
      for (int n = 0; n < 40; n++) send_at(world, START + n * SECOND / 2, 0, &again);
      // What the device says stays as it was; all is received by the clock that is right.
      world->offset -= steps[i];
      tt_device_time_step(&world->time, steps[i]);
      world->worst = 0;
      for (int n = 40; n < 400; n++) send_at(world, START + steps[i] + n * SECOND / 2, 0, &again);
      assert_true(world->worst <= 1000);
      assert_int_equal(world->jumps, llabs(steps[i]) > 3600 * SECOND ? 1 : 0);
      free(world);
    }
  }
}

/** A machine that stood still as a whole is set to what devices said all the time. */
static void test_a_machine_that_stood_still(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  bool again;
  for (int n = 0; n < 40; n++) send_at(world, START + n * SECOND / 2, 0, &again);
  tt_device_time_step(&world->time, 600 * SECOND);
  for (int n = 1240; n < 1400; n++) send_at(world, START + n * SECOND / 2, 0, &again);
  assert_true(world->worst <= 1000);
  assert_int_equal(world->jumps, 0);
  free(world);
}

static void test_a_step_is_what_both_clocks_say(void **state) {
  (void)state;
  tt_wall wall = {0};
  assert_int_equal(tt_wall_look(&wall, 1000 * SECOND, 5 * SECOND, LATE), 0);
  assert_int_equal(tt_wall_look(&wall, 1900 * SECOND, 905 * SECOND, LATE), 0);
  assert_int_equal(tt_wall_receipt(&wall, 1900 * SECOND, 905 * SECOND, 1300 * SECOND),
                   1300 * SECOND);
  assert_int_equal(tt_wall_look(&wall, 2501 * SECOND, 906 * SECOND, LATE), 600 * SECOND);
  // Received just before, or behind it; later on what was received is as old as it says.
  assert_int_equal(tt_wall_receipt(&wall, 2501 * SECOND, 906 * SECOND, 1901 * SECOND),
                   2501 * SECOND);
  assert_int_equal(tt_wall_receipt(&wall, 2501 * SECOND, 906 * SECOND, 2500 * SECOND),
                   2500 * SECOND);
  assert_int_equal(tt_wall_receipt(&wall, 2511 * SECOND, 916 * SECOND, 1901 * SECOND),
                   1901 * SECOND);
  assert_int_equal(tt_wall_look(&wall, 2512 * SECOND, 917 * SECOND, LATE), 0);
  assert_int_equal(tt_wall_look(&wall, 1913 * SECOND, 918 * SECOND, LATE), -600 * SECOND);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_our_own_clock_is_set),
      cmocka_unit_test(test_a_machine_that_stood_still),
      cmocka_unit_test(test_a_step_is_what_both_clocks_say),
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
      cmocka_unit_test(test_what_is_as_new_as_the_newest_waited_with_the_others),
      cmocka_unit_test(test_reports_that_waited_for_a_network),
      cmocka_unit_test(test_what_was_kept_is_sent_slowly),
      cmocka_unit_test(test_one_of_those_that_were_kept_waits_for_its_answer),
      cmocka_unit_test(test_what_was_kept_from_the_start_is_sent_slowly_then_quickly),
      cmocka_unit_test(test_a_start_that_is_held_up_a_little),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
