/* topics_test.c: what others write enters the world, and what they leave is safe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

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

/* The world does not look meanwhile. */
static void who_writes_more_than_there_is_room_for_and_goes_is_let_go_of(void **state) {
  (void)state;
  testing_world in;
  told told = {.sink = {.add = add, .is_wanted = is_wanted, .set = set}, .torque = -1};
  tt_nt4_topics *topics;
  tt_nt4_topics_options options = {.field_table = "/SmartDashboard/Field", .commands = true};
  testing_open(&in, scene);
  assert_int_equal(tt_nt4_topics_new(&told.sink, in.world, &options, &topics, NULL), TT_OK);
  assert_true(told.torque >= 0);
  told.sink.on_written(told.sink.context, told.torque, 4);
  tt_nt4_topics_post(topics);
  testing_tick(&in, 1);
  assert_true(testing_value(&in, "command:left_track.torque") == 4);
  for (int i = 0; i < 3000; i++) {
    told.sink.on_written(told.sink.context, told.torque, 5);
    tt_nt4_topics_post(topics);
  }
  told.sink.on_released(told.sink.context, told.torque);
  tt_nt4_topics_post(topics);
  for (int i = 0; i < 2; i++) {
    testing_tick(&in, 1);
    tt_nt4_topics_post(topics);
  }
  assert_true(testing_value(&in, "command:left_track.torque") == 0);
  tt_nt4_topics_free(topics);
  testing_close(&in);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_writes_more_than_there_is_room_for_and_goes_is_let_go_of),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
