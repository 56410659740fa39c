/* device_time_test.c: epochs: what a store told of them, what it is asked for, boots, and messages without a time of sending. */
#include "telemetry/device_testing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
  tt_boot *boot = send_at(world, START + 9 * SECOND, 60 * SECOND, &again);
  assert_true(again);
  assert_int_equal(boot->stored.number, 3);
  world->stored_in = 0;
  boot = send_at(world, START + 70 * SECOND, 1000, &again);
  assert_int_equal(boot->stored.number, 3);
  assert_false(again);
  world->offset = -START - 65 * SECOND;  // it starts anew, at 7 s
  boot = send_at(world, START + 72 * SECOND, 1000, &again);
  assert_int_equal(boot->stored.number, 4);
  assert_false(again);
  free(world);
}

/** As one does whose collector was killed before it answered, where the store can't be asked. */
static void test_a_restored_device_sends_its_last_message_again(void **state) {
  (void)state;
  const char *const boots[] = {"", "a"};
  for (int i = 0; i < 2; i++) {
    tt_device_time *time = calloc(1, sizeof *time);
    assert_non_null(time);
    const tt_store_epoch epoch = {.anchor = START,
                                  .offset_low = START,
                                  .offset_high = START + 50000,
                                  .key = 77,
                                  .boot = {*boots[i]}};
    tt_device_time_restore(time, &epoch, 1000 * SECOND, START);
    for (int64_t transmitted = 1000; transmitted < 1100; transmitted++) {
      tt_timed_message message = {.transmitted = transmitted * SECOND,
                                  .last_sample = transmitted * SECOND,
                                  .hash = (uint64_t)transmitted,
                                  .received = START + 1100 * SECOND,
                                  .boot = boots[i]};
      tt_place place = tt_device_time_place(time, &message, LATE);
      assert_int_equal(place.boot->stored.key, 77);
      assert_true(llabs(place.offset - START) <= LATE);
    }
    free(time);
  }
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
      tt_boot *boot = send_at(world, made, 70000 * SECOND + i * 1000 - i * 10 * SECOND, &again);
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
  for (int i = 0; i < 100; i++) send_at(world, START + i * SECOND / 10, 1000, &again);
  assert_int_equal(world->asked, 1);  // of the first one
  send_at(world, START + 10 * SECOND, 5 * SECOND, &again);
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
  tt_boot *boot = send_at(world, START + 100 * SECOND, 1000, &again);
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
    send_at(world, START + i * SECOND / 10, i % 3 * 50000, &again);
    assert_int_equal(world->unsure, i < 10);
  }
  send_at(world, START + 27 * SECOND / 10, 300000, &again);  // again
  assert_true(world->unsure);
  // What was kept for five seconds comes at once, then what is made goes on.
  for (int i = 30; i < 80; i++) {
    int64_t now = START + i * SECOND / 10;
    send_at(world, now, START + 8 * SECOND + i * 1000 - now, &again);
    assert_true(world->unsure);
  }
  for (int i = 81; i < 100; i++) {
    send_at(world, START + i * SECOND / 10, 1000, &again);
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
      send_at(world, now, llround(next_random(&world->random) * 400000), &again);
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
    send_many(world, START, 2 * 3600, 1, 0.05, 0);
    assert_false(world->unsure);
    const int64_t ahead = jumps ? 1200000 : 0;
    const tt_timed_message message = {.transmitted = end + world->offset + ahead,
                                      .last_sample = end + world->offset + ahead,
                                      .hash = 1,
                                      .received = end + 1000,
                                      .boot = jumps ? "" : "another",
                                      .context = world,
                                      .find = find_stored};
    tt_place place = tt_device_time_place(&world->time, &message, LATE);
    assert_int_equal(place.placement, TT_PLACED_JUMP);
    assert_true(place.unsure);
    world->offset += ahead;
    bool again;
    send_at(world, end + SECOND / 2, 1000, &again);
    assert_int_equal(world->unsure, jumps);  // as long as the clock has not gone on
    free(world);
  }
}

/** A client that waits for answers of another collector for 10 s, to several requests at a time, sends each that late. */
static void test_what_follows_it_with_boot_is_unsure_for_a_minute(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  const int64_t end = START + 2 * 3600 * SECOND;
  send_many(world, START, 2 * 3600, 1, 0.05, 0);
  for (int i = 0; i < 80; i++) {
    const int64_t now = end + i * SECOND, device = device_clock_at(world, now);
    const tt_timed_message message = {.transmitted = device,
                                      .last_sample = device,
                                      .hash = (uint64_t)i + 1,
                                      .received = now + (i < 15 ? 10 * SECOND : 1000),
                                      .boot = "another",
                                      .context = world,
                                      .find = find_stored};
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
                              .find = find_stored};
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
}

/** Its host is a little ahead of ours, and sends of yesterday, too: that is not moved. */
static void test_points_that_are_a_little_ahead(void **state) {
  (void)state;
  world world = {0};
  tt_boot *boot;
  static const int64_t ages[] = {86400 * SECOND, -900000, 2 * 86400 * SECOND,
                                 5 * SECOND,     -4000,   3 * 86400 * SECOND};
  for (int first = 0; first < 2; first++) {  // also as the first one of all
    for (size_t i = (size_t)first; i < sizeof ages / sizeof *ages; i++) {
      const int64_t now = START + (int64_t)i * SECOND;
      assert_int_equal(send_points(&world, now, now - ages[i], &boot), now - ages[i]);
      assert_int_equal(boot->stored.number, 0);
      assert_int_equal(tt_device_clock_offset(&boot->clock, now), 0);
    }
    world = (struct world){0};
  }
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
      cmocka_unit_test(test_points_that_are_a_little_ahead),
      cmocka_unit_test(test_points_of_a_clock_that_is_ahead_until_it_is_set),
      cmocka_unit_test(test_points_of_a_clock_that_was_never_set),
      cmocka_unit_test(test_points_that_were_held_back),
      cmocka_unit_test(test_a_restored_device_goes_on),
      cmocka_unit_test(test_a_restored_device_sends_its_last_message_again),
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
