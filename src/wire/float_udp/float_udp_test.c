/* float_udp_test.c: what stands in a float-udp message and what it does to a world, over a real socket. */
#include "app/guests.h"
#include "app/assemble.h"
#include "net/address.h"
#include "net/socket_testing.h"
#include "wire/float_udp/codec.h"
#include "wire/hex.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define SETTINGS(...)                                                                              \
  (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

/* A world without dynamics and with one wire, whose lists follow. */
#define PLACED                                                                                     \
  "timestep: 1/1000 s\nio_period: 10 ms\npace: fast\nphysics: off\n"                               \
  "robots: [{robot: concept-symmetric, name: r}]\n"                                                \
  "wires:\n  - float-udp:\n      bind: 127.0.0.1:0\n      peer: sender\n"

typedef struct rig {
  tt_scene *scene;
  tt_world *world;
  const tt_wire *wire;
  int socket;
} rig;

static void begin(rig *rig) {
  tt_error error = {""};
  if (tt_assemble(rig->scene, &(tt_assembly){0}, &rig->world, &error) != TT_OK)
    fail_msg("%s", error.text);
  rig->wire = tt_world_wire_at(rig->world, 0);
  tt_address address;
  assert_int_equal(tt_address_parse(rig->wire->ops->address(rig->wire), &address, NULL), TT_OK);
  rig->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct timeval patience = {.tv_sec = 10};
  setsockopt(rig->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  assert_int_equal(connect(rig->socket, &address.any, tt_address_size(&address)), 0);
  tt_world_start(rig->world);
}

static void begin_scene(rig *rig, const char *name, const char *const *settings, size_t count) {
  tt_error error = {""};
  if (tt_scene_load(&tt_program_guests, name, settings, (int)count, &rig->scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  begin(rig);
}

static tt_status try_text(rig *rig, const char *text, tt_error *error) {
  TT_TRY(tt_scene_parse(&tt_program_guests, "scenes/test.yaml", text, strlen(text), NULL, 0,
                        &rig->scene, error));
  tt_status status =
      tt_assemble(rig->scene, &(tt_assembly){.check_only = true}, &rig->world, error);
  tt_world_free(rig->world);
  return status;
}

static void begin_text(rig *rig, const char *text) {
  tt_error error = {""};
  if (tt_scene_parse(&tt_program_guests, "scenes/test.yaml", text, strlen(text), NULL, 0,
                     &rig->scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  begin(rig);
}

static void end(rig *rig) {
  close(rig->socket);
  tt_world_free(rig->world);
  tt_scene_free(rig->scene);
}

static void tick(rig *rig) {
  tt_error error = {""};
  if (tt_world_tick(rig->world, &error) != TT_OK) fail_msg("%s", error.text);
}

static void say(const rig *rig, const float *values, int count) {
  uint8_t bytes[TT_FLOAT_UDP_BYTES];
  size_t size = tt_float_udp_encode(values, count, bytes);
  assert_int_equal(send(rig->socket, bytes, size, 0), (ssize_t)size);
}

static void say_hex(const rig *rig, const char *hex) {
  uint8_t bytes[TT_FLOAT_UDP_BYTES];
  size_t size = tt_hex_read(hex, bytes, sizeof bytes);
  assert_int_equal(send(rig->socket, bytes, size, 0), (ssize_t)size);
}

static void hear(const rig *rig, float *values, int count) {
  uint8_t bytes[TT_FLOAT_UDP_BYTES];
  tt_drop drop;
  int field;
  ssize_t size = receive_part(rig->socket, bytes, sizeof bytes);
  assert_int_equal(size, 4 * count);
  assert_int_equal(tt_float_udp_decode(bytes, (size_t)size, count, values, &drop, &field), TT_OK);
}

static double command(const rig *rig, const char *name) {
  int index;
  assert_int_equal(tt_names_find_command(tt_world_names(rig->world), name, 0, "test", &index, NULL),
                   TT_OK);
  return tt_world_view(rig->world)->commands[index];
}

static double signal_of(const rig *rig, const char *name) {
  tt_signal signal;
  assert_int_equal(tt_names_find_signal(tt_world_names(rig->world), name, 0, "test", &signal, NULL),
                   TT_OK);
  return tt_signal_read(&signal, tt_world_view(rig->world));
}

/* --- what a message means --- */

static void golden_torques_reach_the_world(void **state) {
  (void)state;
  rig rig;
  begin_scene(&rig, "frc2011",
              SETTINGS("wires.float-udp.bind=127.0.0.1:0", "wires.float-udp.peer=sender"));
  say_hex(&rig, "0000803f 00004842 0000c8c2 00004841 00000000 00000040");
  tick(&rig);
  assert_true(command(&rig, "left_track.torque") == 5.649241451380835);
  assert_true(command(&rig, "right_track.torque") == -100 * 0.1129848290276167);
  assert_true(command(&rig, "arm.torque") == 12.5 * 0.1129848290276167);
  assert_true(command(&rig, "wrist.torque") == 0);
  assert_true(command(&rig, "grip") == 2);
  float values[10];
  hear(&rig, values, 10);
  assert_true(values[0] == 0.01f);
  assert_true(values[1] == (float)signal_of(&rig, "left_wheel.position"));
  assert_true(values[3] == (float)signal_of(&rig, "arm.position"));
  assert_true(values[8] == (float)signal_of(&rig, "wrist.velocity"));
  assert_true(values[9] == (float)signal_of(&rig, "chassis.yaw_rate"));
  end(&rig);
}

static void golden_placing_reaches_the_world(void **state) {
  (void)state;
  rig rig;
  begin_scene(&rig, "concept-symmetric",
              SETTINGS("wires.float-udp.bind=127.0.0.1:0", "wires.float-udp.peer=sender"));
  say_hex(&rig, "0000803f 00002040 0000a0bf da0fc93f 0000803e 000000bf 00004040");
  tick(&rig);
  assert_true(fabs(signal_of(&rig, "chassis.x") - 2.5) < 1e-9);
  assert_true(fabs(signal_of(&rig, "chassis.y") + 1.25) < 1e-9);
  assert_true(fabs(signal_of(&rig, "chassis.heading") - 1.5707963) < 1e-6);
  assert_true(fabs(signal_of(&rig, "arm.position") - 0.25) < 1e-9);
  assert_true(fabs(signal_of(&rig, "wrist.position") + 0.5) < 1e-9);
  assert_true(command(&rig, "grip") == 3);
  float values[10];
  hear(&rig, values, 10);
  assert_true(values[3] == 0.25f && values[4] == -0.5f);
  end(&rig);
}

static void units_scales_and_wraps_apply(void **state) {
  (void)state;
  rig rig;
  begin_text(&rig, PLACED
             "      commands: [{name: arm.position, unit: deg, scale: 2, offset: 10}]\n"
             "      sensors: [{name: none}, {name: arm.position, unit: deg}, {name: arm.position, "
             "unit: rev, wrap: turn}]\n");
  say(&rig, (float[]){10 - 2 * 9}, 1);
  tick(&rig);
  float values[3];
  hear(&rig, values, 3);
  assert_true(values[0] == 0);
  assert_true(fabsf(values[1] + 9) < 1e-5f);
  assert_true(fabsf(values[2] - 0.975f) < 1e-5f);
  end(&rig);
}

static void time_always_grows(void **state) {
  (void)state;
  rig rig;
  begin_text(&rig, PLACED
             "      commands: [{name: stamp}]\n"
             "      sensors: [{name: time, scale: 0.000000000001, offset: 100}]\n");
  say(&rig, (float[]){1}, 1);
  float before = 0, now;
  for (int i = 0; i < 100; i++) {
    tick(&rig);
    hear(&rig, &now, 1);
    assert_true(now > before);
    before = now;
  }
  assert_true(now < 100.01f);
  end(&rig);
}

static void two_times_grow_each_by_itself(void **state) {
  (void)state;
  rig rig;
  begin_text(&rig, PLACED
             "      commands: [{name: stamp}]\n"
             "      sensors: [{name: time, offset: 5}, {name: time, unit: ms, offset: 7000}]\n");
  say(&rig, (float[]){1}, 1);
  float times[2];
  for (int i = 1; i <= 3; i++) {
    tick(&rig);
    hear(&rig, times, 2);
    assert_true(fabsf(times[0] - (5 + 0.01f * (float)i)) < 1e-5f);
    assert_true(fabsf(times[1] - (7000 + 10 * (float)i)) < 1e-2f);
  }
  end(&rig);
}

static void post_reset(const rig *rig) {
  tt_world_post(rig->world,
                &(tt_mail){.kind = TT_MAIL_RESET, .index = TT_NO_ROBOT, .source = "test"});
}

/* The seed's words for it are "any monotonic increasing float to act as a filter". */
static void time_grows_through_a_reset(void **state) {
  (void)state;
  rig rig;
  begin_text(&rig, PLACED
             "      commands: [{name: stamp}]\n"
             "      sensors: [{name: time}]\n");
  say(&rig, (float[]){1}, 1);
  float before = 0, now;
  for (int i = 1; i <= 60; i++) {
    if (i % 20 == 0) post_reset(&rig); /* what it sends at once counts, too */
    tick(&rig);
    for (int k = i % 20 == 0 ? 2 : 1; k > 0; k--) {
      hear(&rig, &now, 1);
      assert_true(now > before);
      before = now;
    }
    assert_true(fabsf(now - 0.01f * (float)i) < 1e-5f);
  }
  assert_true(tt_world_view(rig.world)->time < 0.02);
  end(&rig);
}

static void time_may_restart_at_a_reset(void **state) {
  (void)state;
  rig rig;
  begin_text(&rig, PLACED
             "      time: restart\n"
             "      commands: [{name: stamp}]\n"
             "      sensors: [{name: time}]\n");
  say(&rig, (float[]){1}, 1);
  float now;
  for (int i = 0; i < 20; i++) {
    tick(&rig);
    hear(&rig, &now, 1);
  }
  post_reset(&rig);
  tick(&rig);
  hear(&rig, &now, 1);
  assert_true(now == 0);
  hear(&rig, &now, 1);
  assert_true(fabsf(now - 0.01f) < 1e-6f);
  end(&rig);
}

static void the_longest_message_has_256_numbers(void **state) {
  (void)state;
  rig rig;
  static char text[65536];
  size_t used = (size_t)snprintf(text, sizeof text, "%s      commands:\n", PLACED);
  for (int i = 0; i < 256; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "        - {name: %s}\n",
                             i == 0     ? "stamp"
                             : i == 255 ? "arm.position"
                                        : "none");
  used += (size_t)snprintf(text + used, sizeof text - used, "      sensors:\n");
  for (int i = 0; i < 256; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "        - {name: arm.position}\n");
  begin_text(&rig, text);
  float values[256] = {1};
  values[255] = 0.125f;
  say(&rig, values, 256);
  tick(&rig);
  hear(&rig, values, 256);
  assert_true(values[0] == 0.125f && values[255] == 0.125f);
  end(&rig);
}

static void a_grip_is_a_whole_number(void **state) {
  (void)state;
  rig rig;
  begin_scene(&rig, "frc2011",
              SETTINGS("wires.float-udp.bind=127.0.0.1:0", "wires.float-udp.peer=sender"));
  const float bad[] = {0.5f, -1, 5, 1.0001f};
  for (int i = 0; i < 4; i++) {
    say(&rig, (float[]){(float)i + 1, 0, 0, 0, 0, bad[i]}, 6);
    tick(&rig);
    assert_int_equal(rig.wire->stats.dropped[TT_DROP_RANGE], i + 1);
    assert_non_null(strstr(rig.wire->stats.bad_text, "field 6 (grip)"));
  }
  assert_int_equal(rig.wire->stats.accepted, 0);
  end(&rig);
}

static void without_a_stamp_the_last_to_arrive_counts(void **state) {
  (void)state;
  rig rig;
  begin_text(&rig, PLACED "      commands: [{name: arm.position}]\n");
  for (int i = 3; i > 0; i--) say(&rig, (float[]){(float)i / 8}, 1);
  tick(&rig);
  assert_true(signal_of(&rig, "arm.position") == 0.125);
  assert_int_equal(rig.wire->stats.dropped[TT_DROP_SUPERSEDED], 2);
  end(&rig);
}

/* --- order, silence, an imperfect network --- */

static void a_reset_starts_the_order_anew(void **state) {
  (void)state;
  rig rig;
  begin_text(&rig, PLACED "      commands: [{name: stamp}, {name: arm.position}]\n");
  say(&rig, (float[]){1000, 0.25f}, 2);
  tick(&rig);
  say(&rig, (float[]){1, 0.5f}, 2);
  tick(&rig);
  assert_int_equal(rig.wire->stats.dropped[TT_DROP_STALE], 1);
  post_reset(&rig);
  tick(&rig);
  say(&rig, (float[]){2, 0.5f}, 2);
  tick(&rig);
  assert_int_equal(rig.wire->stats.accepted, 2);
  assert_true(command(&rig, "arm.position") == 0.5);
  end(&rig);
}

static void ten_percent_loss_for_ten_minutes_trips_no_watchdog(void **state) {
  (void)state;
  rig rig;
  begin_text(&rig, PLACED
             "      watchdog: 0.5 s\n"
             "      commands: [{name: stamp}, {name: arm.position}]\n"
             "      faults: {loss: 0.1, delay: 5 ms, jitter: 15 ms, duplicate: 0.05, reorder: "
             "0.05, seed: 7}\n");
  const tt_wire_stats *stats = &rig.wire->stats;
  float stamp = 0;
  for (int i = 0; i < 60000; i++) { /* ticks of 10 ms; a command at 50 Hz */
    if (i % 2 == 0) say(&rig, (float[]){++stamp, 0.25f}, 2);
    tick(&rig);
  }
  assert_int_equal(stats->watchdog_trips, 0);
  assert_in_range(stats->accepted, 20000, 30000 * 0.93);
  assert_true(stats->dropped[TT_DROP_STALE] + stats->dropped[TT_DROP_SUPERSEDED] > 0);
  int silent = 0;
  while (stats->watchdog_trips == 0 && silent < 1000) {
    tick(&rig);
    silent++;
  }
  assert_in_range(silent, 48, 54); /* 0.5 s, and what was still under way */
  end(&rig);
}

/* --- scenes that are wrong --- */

static void wrong_scenes_name_the_key_and_the_remedy(void **state) {
  (void)state;
  const struct {
    const char *keys, *said;
  } cases[] = {
      {"      commands: [{name: arm.positoin}]\n", "arm.position"},
      {"      sensors: [{name: arm.position, unit: in·lbf}]\n", "does not measure arm.position"},
      {"      sensors: [{name: arm.position, unit: smoot}]\n", "smoot"},
      {"      sensors: [{name: arm.velocity, wrap: pi}]\n", "no angle"},
      {"      commands: [{name: arm.position}, {name: arm.position}]\n", "twice"},
      {"      commands: [{name: stamp}, {name: stamp}]\n", "twice"},
      {"", "list the sensors"},
      {"      commands: [{name: stamp}]\n      time: wall\n", "'wall' is not one of grow, restart"},
      {"      commands: [{name: stamp}]\n      faults: {loss: 2}\n", "loss"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[2048];
    snprintf(text, sizeof text, "%s%s", PLACED, cases[i].keys);
    rig rig = {0};
    tt_error error = {""};
    assert_int_equal(try_text(&rig, text, &error), TT_INVALID);
    if (!strstr(error.text, cases[i].said))
      fail_msg("'%s' does not say '%s'", error.text, cases[i].said);
    assert_non_null(strstr(error.text, "scenes/test.yaml"));
    tt_scene_free(rig.scene);
  }
}

static void a_public_address_is_refused_with_the_remedy(void **state) {
  (void)state;
  tt_scene *scene;
  tt_error error = {""};
  const char *settings[] = {"wires.float-udp.bind=0.0.0.0:5801"};
  assert_int_equal(tt_scene_load(&tt_program_guests, "frc2011", settings, 1, &scene, &error),
                   TT_INVALID);
  assert_non_null(strstr(error.text, "allow: ["));
}

static void messages_are_explained(void **state) {
  (void)state;
  rig rig;
  begin_scene(&rig, "frc2011", SETTINGS("wires.float-udp.bind=127.0.0.1:0"));
  uint8_t bytes[24];
  tt_hex_read("0000803f 00004842 0000c8c2 00004841 0000c07f 00000040", bytes, sizeof bytes);
  tt_wire_field fields[8];
  tt_explanation whole = {bytes, 24, 24, fields, 8, 0};
  rig.wire->ops->explain(rig.wire, true, &whole);
  assert_int_equal(whole.count, 6);
  assert_string_equal(fields[1].name, "left_track.torque");
  assert_string_equal(fields[1].value, "50");
  assert_string_equal(fields[1].unit, "in·lbf");
  assert_int_equal(fields[1].offset, 4);
  assert_false(fields[1].wrong);
  assert_string_equal(fields[4].value, "nan");
  assert_true(fields[4].wrong);
  tt_explanation shorter = {bytes, 11, 11, fields, 8, 0};
  rig.wire->ops->explain(rig.wire, true, &shorter);
  assert_int_equal(shorter.count, 6);
  assert_string_equal(fields[2].value, "3 of 4 bytes");
  assert_string_equal(fields[5].name, "grip");
  assert_string_equal(fields[5].value, "missing");
  assert_true(fields[5].wrong);
  tt_explanation cut = {bytes, 24, 40, fields, 3, 0};
  rig.wire->ops->explain(rig.wire, false, &cut);
  assert_int_equal(cut.count, 3);
  assert_string_equal(fields[0].name, "time");
  assert_string_equal(fields[0].unit, "s");
  end(&rig);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(golden_torques_reach_the_world),
      cmocka_unit_test(golden_placing_reaches_the_world),
      cmocka_unit_test(units_scales_and_wraps_apply),
      cmocka_unit_test(time_always_grows),
      cmocka_unit_test(two_times_grow_each_by_itself),
      cmocka_unit_test(time_grows_through_a_reset),
      cmocka_unit_test(time_may_restart_at_a_reset),
      cmocka_unit_test(the_longest_message_has_256_numbers),
      cmocka_unit_test(a_grip_is_a_whole_number),
      cmocka_unit_test(without_a_stamp_the_last_to_arrive_counts),
      cmocka_unit_test(a_reset_starts_the_order_anew),
      cmocka_unit_test(ten_percent_loss_for_ten_minutes_trips_no_watchdog),
      cmocka_unit_test(wrong_scenes_name_the_key_and_the_remedy),
      cmocka_unit_test(a_public_address_is_refused_with_the_remedy),
      cmocka_unit_test(messages_are_explained),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
