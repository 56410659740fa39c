/* topics_test.c: what others write enters the world, and what they leave is safe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/log.h"
#include "host/world_testing.h"
#include "nt4/topics.h"

static const char scene[] =
    "timestep: 1/1000 s\nio_period: 10 ms\npace: fast\nrobots: [{robot: frc2011}]\n";

/* Whom the topics are told; the number of one is looked for. */
typedef struct told {
  tt_nt4_sink sink;
  int count, torque;
} told;

static int add(tt_nt4_sink *sink, const tt_nt4_spec *spec) {
  told *of = (told *)sink;
  if (strcmp(spec->name, "/Tether/commands/left_track.torque") == 0) of->torque = of->count;
  return of->count++;
}

static bool is_wanted(const tt_nt4_sink *sink, int topic) {
  (void)sink, (void)topic;
  return false;
}

static void set(tt_nt4_sink *sink, int topic, const tt_bytes *value) {
  (void)sink, (void)topic, (void)value;
}

typedef struct rig {
  testing_world in;
  told told;
  tt_nt4_topics *topics;
} rig;

static void open_topics(rig *rig, const char *source) {
  tt_nt4_topics_options options = {
      .source = source, .field_table = "/SmartDashboard/Field", .commands = true};
  rig->told = (told){.sink = {.add = add, .is_wanted = is_wanted, .set = set}, .torque = -1};
  assert_int_equal(tt_nt4_topics_new(&rig->told.sink, rig->in.world, &options, &rig->topics, NULL),
                   TT_OK);
  assert_true(rig->told.torque >= 0);
}

static int setup(void **state) {
  static rig rig;
  testing_open(&rig.in, scene);
  open_topics(&rig, "nt4");
  *state = &rig;
  return 0;
}

static int teardown(void **state) {
  rig *rig = *state;
  tt_nt4_topics_free(rig->topics);
  testing_close(&rig->in);
  return 0;
}

static bool write_torque(const rig *rig, double number) {
  const tt_nt4_sink *sink = &rig->told.sink;
  bool taken = sink->on_written(sink->context, rig->told.torque, number, "dash");
  tt_nt4_topics_post(rig->topics);
  return taken;
}

static double torque_after_a_tick(rig *rig) {
  testing_tick(&rig->in, 1);
  return testing_value(&rig->in, "command:left_track.torque");
}

/* The world does not look meanwhile. */
static void who_writes_more_than_there_is_room_for_and_goes_is_let_go_of(void **state) {
  rig *rig = *state;
  assert_true(write_torque(rig, 4));
  assert_true(torque_after_a_tick(rig) == 4);
  for (int i = 0; i < 3000; i++) assert_true(write_torque(rig, 5));
  rig->told.sink.on_released(rig->told.sink.context, rig->told.torque);
  tt_nt4_topics_post(rig->topics);
  testing_tick(&rig->in, 1);
  tt_nt4_topics_post(rig->topics);
  assert_true(torque_after_a_tick(rig) == 0);
}

/* A server here and a connection to a robot program's may both be open. */
static void who_goes_takes_nothing_from_who_commanded_since_on_the_other_side(void **state) {
  rig *served = *state, brought = {.in = served->in};
  open_topics(&brought, "nt4.connect");
  assert_true(write_torque(&brought, 3));
  assert_true(torque_after_a_tick(served) == 3);
  assert_true(write_torque(served, 6));
  assert_true(torque_after_a_tick(served) == 6);
  brought.told.sink.on_released(brought.told.sink.context, brought.told.torque);
  tt_nt4_topics_post(brought.topics);
  assert_true(torque_after_a_tick(served) == 6);
  served->told.sink.on_released(served->told.sink.context, served->told.torque);
  tt_nt4_topics_post(served->topics);
  assert_true(torque_after_a_tick(served) == 0);
  tt_nt4_topics_free(brought.topics);
}

static void what_is_out_of_range_is_refused_and_told_once(void **state) {
  rig *rig = *state;
  testing_said said = {.lines = 0};
  tt_log_divert(testing_keep_last, &said);
  for (int i = 0; i < 900; i++) assert_false(write_torque(rig, 1e9));
  tt_log_divert(NULL, NULL);
  assert_int_equal(said.lines, 1);
  assert_string_equal(said.last,
                      "nt4: left_track.torque of dash: 1e+09 is out of its range; in SI "
                      "it is -1e+07 to 1e+07");
  assert_int_equal(tt_world_waiting_mail(rig->in.world), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(who_writes_more_than_there_is_room_for_and_goes_is_let_go_of),
      TEST(who_goes_takes_nothing_from_who_commanded_since_on_the_other_side),
      TEST(what_is_out_of_range_is_refused_and_told_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
