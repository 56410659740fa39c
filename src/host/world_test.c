/* What a world does besides stepping: watchdogs, resets, pause, emergency stop, divergence, several robots. Real
 * scenes, real sockets. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "app/guests.h"
#include "app/assemble.h"
#include "base/log.h"
#include "engine/mujoco/mujoco_engine.h"
#include "scene/scene.h"
#include "host/journal_lines.h"
#include "host/world_internal.h"
#include "host/world_testing.h"

/* Two carts' worth of frc2011, each with a wire of its own, 10 ms a tick at 1 kHz. */
static const char two_robots[] =
    "timestep: 1/1000 s\n"
    "io_period: 10 ms\n"
    "pace: fast\n"
    "robots:\n"
    "  - {robot: frc2011, name: red, alliance: red, x: -2 m}\n"
    "  - {robot: frc2011, name: blue, alliance: blue, x: 2 m}\n"
    "wires:\n"
    "  - float-udp: {name: r, robot: red, bind: '127.0.0.1:0', watchdog: 0.055 s,\n"
    "      sensors: [{name: time}], commands: [{name: stamp}, {name: left_track.torque}, {name: "
    "grip}]}\n"
    "  - float-udp: {name: b, robot: blue, bind: '127.0.0.1:0', watchdog: 0,\n"
    "      sensors: [{name: time}], commands: [{name: stamp}, {name: left_track.torque}]}\n";

static int setup(void **state) {
  testing_world *made = malloc(sizeof *made);
  testing_open(made, two_robots);
  *state = made;
  return 0;
}

static int teardown(void **state) {
  testing_close(*state);
  free(*state);
  return 0;
}

static void drive_red(testing_world *in, float torque, float grip) {
  const float values[] = {in->stamp += 1, torque, grip};
  testing_send(in, 0, values, 3);
}

/* ---- watchdogs ---- */

static void a_silent_wire_is_made_safe_on_its_step(void **state) {
  testing_world *in = *state;
  drive_red(in, 3, 2);
  testing_tick(in, 5);
  assert_true(testing_value(in, "command:red/left_track.torque") == 3);
  assert_int_equal(tt_world_wire_at(in->world, 0)->state, TT_WIRE_DRIVING);
  testing_tick(in, 1);
  /* 55 ms after step 0, within a tick of 10 steps */
  assert_true(testing_journaled(in, "55 safe supervisor"));
  assert_true(testing_value(in, "command:red/left_track.torque") == 0);
  assert_true(testing_value(in, "command:red/grip") == 2);
  assert_int_equal(tt_world_wire_at(in->world, 0)->state, TT_WIRE_SILENT);
  assert_int_equal(tt_world_wire_at(in->world, 0)->stats.watchdog_trips, 1);
}

static void who_speaks_again_drives_again(void **state) {
  testing_world *in = *state;
  drive_red(in, 3, 0);
  testing_tick(in, 10);
  drive_red(in, 4, 0);
  testing_tick(in, 1);
  assert_true(testing_value(in, "command:red/left_track.torque") == 4);
  assert_int_equal(tt_world_wire_at(in->world, 0)->state, TT_WIRE_DRIVING);
}

static void who_never_spoke_trips_nothing(void **state) {
  testing_world *in = *state;
  testing_tick(in, 20);
  assert_int_equal(tt_world_wire_at(in->world, 0)->stats.watchdog_trips, 0);
  assert_int_equal(tt_world_wire_at(in->world, 0)->state, TT_WIRE_WAITING);
}

/* ---- robots side by side ---- */

static void a_robots_reset_touches_no_other(void **state) {
  testing_world *in = *state;
  const float blue[] = {1, 4};
  drive_red(in, 4, 0);
  testing_send(in, 1, blue, 2);
  testing_tick(in, 5);
  double blue_angle = testing_value(in, "blue/left_wheel.position");
  double blue_x = testing_value(in, "blue/chassis.x");
  assert_true(testing_value(in, "red/left_wheel.position") > 0);
  testing_post(in, TT_MAIL_RESET, 0, 0);
  testing_post(in, TT_MAIL_STEP, 0, 0);
  uint64_t step = tt_world_step(in->world);
  testing_tick(in, 1);
  assert_int_equal(tt_world_step(in->world), step + 10);
  assert_true(testing_value(in, "command:red/left_track.torque") == 0);
  assert_true(testing_value(in, "command:blue/left_track.torque") == 4);
  assert_true(fabs(testing_value(in, "red/left_wheel.position")) < 1e-3);
  assert_true(testing_value(in, "blue/left_wheel.position") > blue_angle);
  assert_true(fabs(testing_value(in, "blue/chassis.x") - blue_x) < 0.1);
}

static void a_broken_controller_disturbs_no_other(void **state) {
  testing_world *in = *state;
  const float blue[] = {1, 4}, broken[] = {NAN, 1, 0}, absurd[] = {9, 1e30f, 0};
  testing_send(in, 1, blue, 2);
  for (int i = 0; i < 10; i++) {
    testing_send(in, 0, broken, 3);
    testing_send(in, 0, absurd, 3);
    testing_tick(in, 1);
  }
  assert_int_equal(tt_world_wire_at(in->world, 0)->stats.accepted, 0);
  assert_int_equal(tt_world_wire_at(in->world, 0)->stats.dropped[TT_DROP_NON_FINITE], 10);
  assert_int_equal(tt_world_wire_at(in->world, 0)->stats.dropped[TT_DROP_RANGE], 10);
  assert_true(testing_value(in, "command:red/left_track.torque") == 0);
  assert_true(testing_value(in, "blue/left_wheel.velocity") > 0);
}

/* ---- the mailbox ---- */

static void send_meant_for(const testing_world *in, double number, uint64_t meant_for) {
  tt_mail mail = {.kind = TT_MAIL_COMMAND,
                  .index = testing_command(in, "red/left_track.torque"),
                  .value = number,
                  .source = "test",
                  .meant_for = meant_for};
  assert_int_equal(tt_world_post(in->world, &mail), TT_OK);
}

/* Who goes by the picture of before the reset would put things back there. */
static void a_command_meant_for_the_world_before_a_reset_is_void(void **state) {
  testing_world *in = *state;
  uint64_t before = (uint64_t)tt_world_view(in->world)->epoch + 1;
  send_meant_for(in, 3, before);
  testing_tick(in, 1);
  assert_true(testing_value(in, "command:red/left_track.torque") == 3);
  testing_post(in, TT_MAIL_RESET, TT_NO_ROBOT, 0);
  testing_tick(in, 1);
  send_meant_for(in, 4, before);
  testing_tick(in, 1);
  assert_true(testing_value(in, "command:red/left_track.torque") == 0);
  send_meant_for(in, 5, before + 1);
  testing_tick(in, 1);
  assert_true(testing_value(in, "command:red/left_track.torque") == 5);
  send_meant_for(in, 6, 0);
  testing_tick(in, 1);
  assert_true(testing_value(in, "command:red/left_track.torque") == 6);
}

static void post_from(const testing_world *in, const char *source, tt_mail_kind kind,
                      const char *command, double number) {
  tt_mail mail = {.kind = kind, .index = testing_command(in, command), .value = number};
  snprintf(mail.source, sizeof mail.source, "%s", source);
  assert_int_equal(tt_world_post(in->world, &mail), TT_OK);
}

static void who_goes_lets_go_of_what_he_commanded_last(void **state) {
  testing_world *in = *state;
  post_from(in, "web", TT_MAIL_COMMAND, "red/left_track.torque", 3);
  post_from(in, "web", TT_MAIL_COMMAND, "red/right_track.torque", 3);
  post_from(in, "web", TT_MAIL_COMMAND, "red/grip", 2);
  testing_tick(in, 1);
  post_from(in, "nt4", TT_MAIL_COMMAND, "red/right_track.torque", 4);
  testing_tick(in, 1);
  post_from(in, "web", TT_MAIL_LET_GO, "red/left_track.torque", 0);
  post_from(in, "web", TT_MAIL_LET_GO, "red/right_track.torque", 0);
  post_from(in, "web", TT_MAIL_LET_GO, "red/grip", 0);
  testing_post(in, TT_MAIL_LET_GO, -1, 0);
  testing_post(in, TT_MAIL_LET_GO, 1 << 20, 0);
  testing_tick(in, 1);
  assert_true(testing_journaled(in, "20 safe web"));
  assert_true(testing_value(in, "command:red/left_track.torque") == 0);
  assert_true(testing_value(in, "command:red/right_track.torque") == 4);
  assert_true(testing_value(in, "command:red/grip") == 2); /* has no safe value */
}

/* A wire may be called as anybody. */
static void what_a_wire_commands_nobody_else_lets_go(void **state) {
  testing_world *in = *state;
  post_from(in, "r", TT_MAIL_COMMAND, "red/left_track.torque", 3);
  testing_tick(in, 1);
  drive_red(in, 4, 0);
  testing_tick(in, 1);
  post_from(in, "r", TT_MAIL_LET_GO, "red/left_track.torque", 0);
  testing_tick(in, 1);
  assert_true(testing_value(in, "command:red/left_track.torque") == 4);
}

/* Of torque and velocity the kind accepted last holds, and that is not who goes. */
static void who_goes_takes_no_joint_from_who_drives_it(void **state) {
  testing_world *in = *state;
  post_from(in, "web", TT_MAIL_COMMAND, "red/left_track.velocity", 0);
  testing_tick(in, 1);
  post_from(in, "nt4", TT_MAIL_COMMAND, "red/left_track.torque", 4);
  testing_tick(in, 20);
  post_from(in, "web", TT_MAIL_LET_GO, "red/left_track.velocity", 0);
  double before = testing_value(in, "red/left_wheel.velocity");
  testing_tick(in, 50);
  assert_true(before > 0 && testing_value(in, "red/left_wheel.velocity") > before);
}

static void after_a_reset_nobody_has_anything_to_let_go(void **state) {
  testing_world *in = *state;
  post_from(in, "web", TT_MAIL_COMMAND, "red/left_track.torque", 3);
  post_from(in, "web", TT_MAIL_COMMAND, "blue/left_track.torque", 3);
  testing_tick(in, 1);
  testing_post(in, TT_MAIL_RESET, 0, 0);
  testing_tick(in, 1);
  post_from(in, "web", TT_MAIL_LET_GO, "red/left_track.torque", 0);
  testing_tick(in, 1);
  assert_false(testing_journaled(in, "safe web"));
  post_from(in, "web", TT_MAIL_LET_GO, "blue/left_track.torque", 0);
  testing_tick(in, 1);
  assert_true(testing_journaled(in, "safe web"));
  assert_true(testing_value(in, "command:blue/left_track.torque") == 0);
}

/* Refused, it is told by its name. */
static void a_command_from_elsewhere_is_checked_like_any_other(void **state) {
  testing_world *in = *state;
  int torque = testing_command(in, "red/left_track.torque");
  testing_post(in, TT_MAIL_COMMAND, torque, 2.5);
  testing_tick(in, 1);
  assert_true(testing_value(in, "command:red/left_track.torque") == 2.5);
  testing_post(in, TT_MAIL_COMMAND, torque, NAN);
  testing_post(in, TT_MAIL_COMMAND, -5, 1);
  testing_post(in, TT_MAIL_COMMAND, 1 << 20, 1);
  testing_post(in, TT_MAIL_COMMAND, torque, 1e9);
  testing_said said = {.lines = 0};
  tt_log_divert(testing_keep_last, &said);
  testing_tick(in, 1);
  assert_int_equal(said.lines, 2); /* one of each reason */
  in->world->refused[0].said_at -= 1000000;
  for (int i = 0; i < 400; i++) testing_post(in, TT_MAIL_COMMAND, torque, 1e9);
  testing_tick(in, 1);
  tt_log_divert(NULL, NULL);
  assert_string_equal(said.last,
                      "test: red/left_track.torque: 1e+09 is out of its range; in SI it is "
                      "-1e+07 to 1e+07 (and 1 more like it)");
  assert_int_equal(said.lines, 3);
  assert_true(testing_value(in, "command:red/left_track.torque") == 2.5);
}

static void the_emergency_stop_holds_until_released(void **state) {
  testing_world *in = *state;
  drive_red(in, 4, 0);
  testing_tick(in, 1);
  testing_post(in, TT_MAIL_STOP_ALL, 0, 1);
  testing_tick(in, 1);
  assert_true(testing_value(in, "command:red/left_track.torque") == 0);
  drive_red(in, 4, 0);
  testing_tick(in, 1);
  assert_true(testing_value(in, "command:red/left_track.torque") == 0);
  testing_post(in, TT_MAIL_STOP_ALL, 0, 0);
  testing_tick(in, 1);
  drive_red(in, 4, 0);
  testing_tick(in, 1);
  assert_true(testing_value(in, "command:red/left_track.torque") == 4);
  assert_true(testing_journaled(in, "event test emergency stop released"));
}

static void a_full_mailbox_says_so(void **state) {
  testing_world *in = *state;
  tt_mail mail = {.kind = TT_MAIL_SPEED, .value = 1, .source = "test"};
  int posted = 0;
  while (tt_world_post(in->world, &mail) == TT_OK) posted++;
  assert_int_equal(posted, 1024);
  testing_tick(in, 1);
  assert_int_equal(tt_world_post(in->world, &mail), TT_OK);
}

/* Who commands without end keeps nobody from an emergency stop. */
static void a_mailbox_full_of_commands_has_room_for_orders(void **state) {
  testing_world *in = *state;
  int torque = testing_command(in, "red/left_track.torque");
  tt_mail command = {.kind = TT_MAIL_COMMAND, .index = torque, .value = 3, .source = "test"};
  tt_mail stick = {
      .kind = TT_MAIL_STATION, .source = "test", .station = {.kind = TT_DS_JOYSTICK, .robot = -1}};
  while (tt_world_post(in->world, &command) == TT_OK) {
  }
  assert_int_equal(tt_world_post(in->world, &stick), TT_FULL);
  testing_post(in, TT_MAIL_STOP_ALL, 0, 1);
  testing_tick(in, 1);
  assert_true(testing_value(in, "command:red/left_track.torque") == 0);
  testing_post(in, TT_MAIL_COMMAND, torque, 3);
}

static void the_match_timer_starts_and_stops(void **state) {
  testing_world *in = *state;
  testing_post(in, TT_MAIL_COMMAND, testing_command(in, "match_timer"), 1);
  testing_tick(in, 10);
  assert_true(fabs(testing_value(in, "match_time") - 0.1) < 1e-12);
  testing_post(in, TT_MAIL_COMMAND, testing_command(in, "match_timer"), 1);
  testing_tick(in, 1);
  assert_true(testing_value(in, "match_time") == 0);
}

/* Ticks are made one by one while paused; those left over would go on in a world that people stopped. */
static void a_paused_world_makes_no_tick_that_was_asked_for_before(void **state) {
  testing_world *in = *state;
  testing_post(in, TT_MAIL_STEP, 0, 100);
  testing_post(in, TT_MAIL_PAUSE, 0, 1);
  testing_tick(in, 1);
  assert_true(tt_world_paused(in->world));
  assert_int_equal(in->world->ticks_to_make, 0);
  testing_post(in, TT_MAIL_STEP, 0, 1000);
  testing_post(in, TT_MAIL_STEP, 0, 1);
  testing_tick(in, 1);
  assert_int_equal(in->world->ticks_to_make, 1001);
  testing_post(in, TT_MAIL_PAUSE, 0, 1);
  testing_tick(in, 1);
  assert_int_equal(in->world->ticks_to_make, 0);
  testing_post(in, TT_MAIL_STEP, 0, 1000);
  testing_post(in, TT_MAIL_PAUSE, 0, 0);
  testing_tick(in, 1);
  assert_int_equal(in->world->ticks_to_make, 0);
}

/* As a wire whose every message has the command. */
static void who_says_again_that_the_world_is_to_stand_takes_no_tick_from_it(void **state) {
  testing_world *in = *state;
  int pause = testing_command(in, "pause");
  testing_post(in, TT_MAIL_COMMAND, pause, 1);
  testing_tick(in, 1);
  testing_post(in, TT_MAIL_STEP, 0, 100);
  testing_post(in, TT_MAIL_COMMAND, pause, 1);
  testing_tick(in, 1);
  assert_int_equal(in->world->ticks_to_make, 100);
  testing_post(in, TT_MAIL_COMMAND, pause, 0);
  testing_tick(in, 1);
  assert_int_equal(in->world->ticks_to_make, 0);
  assert_false(tt_world_paused(in->world));
}

/* ---- divergence ---- */

static void explode(testing_world *in) {
  testing_post(in, TT_MAIL_COMMAND, testing_command(in, "joint:red/arm.torque"), 9e6);
}

static void divergence_stops_the_world_with_a_reason(void **state) {
  testing_world *in = *state;
  tt_error error = {.text = ""};
  tt_status status = TT_OK;
  explode(in);
  for (int i = 0; i < 500 && status == TT_OK; i++) status = tt_world_tick(in->world, &error);
  assert_int_equal(status, TT_DIVERGED);
  assert_memory_equal(error.text, "step ", 5);
  assert_null(strstr(error.text, ": step ")); /* once */
  assert_true(testing_journaled(in, "event physics diverged at step"));
  int count;
  const tt_signal_entry *signals = tt_names_signals(tt_world_names(in->world), &count);
  for (int i = 0; i < count; i++)
    assert_true(isfinite(tt_signal_read(&signals[i].signal, tt_world_view(in->world))));
}

static void divergence_resets_the_world_where_the_scene_says_so(void **state) {
  (void)state;
  testing_world in;
  char text[sizeof two_robots + 32];
  snprintf(text, sizeof text, "on_divergence: reset\n%s", two_robots);
  testing_open(&in, text);
  uint32_t epoch = tt_world_view(in.world)->epoch;
  explode(&in);
  for (int i = 0; i < 500 && tt_world_view(in.world)->epoch == epoch; i++) testing_tick(&in, 1);
  assert_int_equal(tt_world_view(in.world)->epoch, epoch + 1);
  assert_int_equal(tt_world_step(in.world), 10);
  assert_true(testing_value(&in, "command:red/arm.torque") == 0);
  testing_close(&in);
}

/* ---- run ---- */

static void a_run_ends_with_its_duration(void **state) {
  (void)state;
  testing_world in;
  char text[sizeof two_robots + 32];
  snprintf(text, sizeof text, "duration: 0.25 s\n%s", two_robots);
  testing_open(&in, text);
  tt_error error = {.text = ""};
  assert_int_equal(tt_world_run(in.world, &error), TT_OK);
  assert_int_equal(tt_world_step(in.world), 250);
  testing_close(&in);
}

static tt_world *in_time; /* that SIGALRM ends */

static void end_in_time(int number) {
  (void)number;
  tt_world_interrupt(in_time);
}

/* Runs until its duration is over, or with an error once it has taken far too long. */
static void run_in_time(testing_world *in) {
  tt_error error = {.text = ""};
  in_time = in->world;
  signal(SIGALRM, end_in_time);
  alarm(20);
  assert_int_equal(tt_world_run(in->world, &error), TT_OK);
  alarm(0);
}

static void open_pausing(testing_world *made) {
  char text[sizeof two_robots + 64];
  const char *where = strstr(two_robots, "{name: left_track.torque}]}");
  snprintf(text, sizeof text, "duration: 0.25 s\n%.*s{name: pause}]}\n", (int)(where - two_robots),
           two_robots);
  testing_open(made, text);
}

/* The next message comes while the world stands. */
static void who_pauses_by_a_wire_resumes_by_it(void **state) {
  (void)state;
  testing_world in;
  const float stands[] = {1, 1}, goes[] = {2, 0};
  open_pausing(&in);
  testing_send(&in, 1, stands, 2);
  testing_tick(&in, 1);
  assert_true(tt_world_paused(in.world));
  testing_send(&in, 1, goes, 2);
  run_in_time(&in);
  assert_int_equal(tt_world_step(in.world), 250);
  assert_true(testing_journaled(&in, "resumed"));
  testing_close(&in);
}

/* A wire that says with every message that the world may go on says so to nobody else's pause. */
static void what_people_pause_no_wire_resumes(void **state) {
  (void)state;
  testing_world in;
  const float stands[] = {1, 1}, goes[] = {2, 0};
  open_pausing(&in);
  testing_send(&in, 1, stands, 2);
  testing_tick(&in, 1);
  assert_ptr_equal(in.world->paused_by, tt_world_wire_at(in.world, 1));
  testing_post(&in, TT_MAIL_PAUSE, 0, 1);
  testing_post(&in, TT_MAIL_QUIT, 0, 0);
  testing_send(&in, 1, goes, 2);
  run_in_time(&in);
  assert_true(tt_world_paused(in.world));
  testing_close(&in);
}

/* Whoever single-steps what he paused is not overruled either. */
static void what_people_step_no_wire_resumes(void **state) {
  (void)state;
  testing_world in;
  const float goes[] = {1, 0};
  open_pausing(&in);
  testing_post(&in, TT_MAIL_PAUSE, 0, 1);
  testing_tick(&in, 1);
  testing_send(&in, 1, goes, 2);
  testing_tick(&in, 1); /* that one */
  assert_true(tt_world_paused(in.world));
  testing_close(&in);
}

static void end_with_a_reset(tt_observer *observer, uint64_t step, const char *source,
                             const char *text) {
  (void)observer, (void)step, (void)source;
  if (strcmp(text, "reset") == 0) tt_world_interrupt(in_time);
}

static void look_away(tt_observer *observer, const tt_view *view) { (void)observer, (void)view; }

/* One robot and one wire; people pause, then `bytes` come. */
static void expect_reset_while_paused(const char *robot, const char *wire, int type,
                                      const void *bytes, size_t size) {
  testing_world in;
  char text[512];
  tt_observer end = {.publish = look_away, .event = end_with_a_reset};
  snprintf(text, sizeof text,
           "timestep: 1/1000 s\nio_period: 10 ms\npace: fast\nrobots: [{robot: %s}]\n"
           "wires: [%s]\n",
           robot, wire);
  testing_open(&in, text);
  assert_int_equal(tt_world_add_observer(in.world, &end), TT_OK);
  testing_post(&in, TT_MAIL_PAUSE, 0, 1);
  tt_world_drain_mail(in.world);
  int s = testing_connect(&in, 0, type);
  assert_int_equal(send(s, bytes, size, 0), (ssize_t)size);
  run_in_time(&in);
  assert_int_equal(in.world->clock->epoch, 1);
  assert_true(tt_world_paused(in.world));
  close(s);
  testing_close(&in);
}

#define EMPTY_MESSAGES 300 /* more than a period of ezphysics has time for */

/* It shows at once, whichever wire it comes from, and ends nobody's pause. */
static void a_reset_is_heard_while_people_pause(void **state) {
  (void)state;
  const float floats[] = {1, 1, 0};
  static const char guide[] = "{'guide': 1}";
  static const uint8_t reset[24] = {24, 0, 0, 0, 1, 0, 0, 0, 1};
  uint8_t xrp[3 + 6 * 7 + 4] = {0, 1, 1}, *at = xrp + 3;
  for (uint8_t i = 0; i < 6; i++, at += 7)
    memcpy(at, (uint8_t[]){6, i < 4 ? 0x12 : 0x13, i}, 3); /* motors and servos */
  memcpy(at, (uint8_t[]){3, 0x14, 0, 1}, 4);
  uint8_t many[8 * EMPTY_MESSAGES + sizeof reset] = {0};
  for (int i = 0; i < EMPTY_MESSAGES; i++) many[8 * i] = 8;
  memcpy(many + 8 * EMPTY_MESSAGES, reset, sizeof reset);
  expect_reset_while_paused("frc2011",
                            "float-udp: {bind: '127.0.0.1:0', sensors: [{name: time}], "
                            "commands: [{name: stamp}, {name: reset}, {name: pause}]}",
                            SOCK_DGRAM, floats, sizeof floats);
  expect_reset_while_paused("sharp", "sharp-json: {bind: '127.0.0.1:0', peer: sender}", SOCK_DGRAM,
                            guide, sizeof guide - 1);
  expect_reset_while_paused("xrp", "xrp: {bind: '127.0.0.1:0', outputs: [{name: reset}]}",
                            SOCK_DGRAM, xrp, sizeof xrp);
  expect_reset_while_paused("creature", "ezphysics: {listen: '127.0.0.1:0'}", SOCK_STREAM, reset,
                            sizeof reset);
  expect_reset_while_paused("creature", "ezphysics: {listen: '127.0.0.1:0', mode: realtime}",
                            SOCK_STREAM, many, sizeof many);
}

/* Those who wait to be obeyed have left: nobody is told that they are connected. */
static void who_is_refused_hears_why(void **state) {
  (void)state;
  testing_world in;
  static const uint8_t empty[8] = {8};
  testing_open(&in,
               "timestep: 1/1000 s\npace: fast\nrobots: [{robot: creature}]\n"
               "wires: [ezphysics: {listen: '127.0.0.1:0', receive_timeout: 0 s}]\n");
  const tt_wire_stats *stats = &tt_world_wire_at(in.world, 0)->stats;
  for (int i = 0; i < 6; i++) { /* one is met, and four may wait */
    int s = testing_connect(&in, 0, SOCK_STREAM);
    assert_int_equal(send(s, empty, sizeof empty, 0), (ssize_t)sizeof empty);
    close(s);
  }
  for (int i = 0; i < 1000 && stats->dropped[TT_DROP_REFUSED] == 0; i++)
    tt_net_poll(in.world->net, 20000000);
  assert_string_equal(
      stats->bad_text,
      "5 that have left are obeyed first; there is room once the world has gone on");
  testing_close(&in);
}

/* ---- a kept run ---- */

static void show_nothing(tt_player *player, uint64_t step, tt_view *view) {
  (void)player, (void)step, (void)view;
}

/* Who pauses a kept run and goes to a place of it sees that place, also when both are heard within a tick. */
static void a_place_of_a_kept_run_is_where_it_stands(void **state) {
  testing_world *in = *state;
  tt_player player = {.show = show_nothing, .steps = 3000};
  tt_error error = {.text = ""};
  assert_int_equal(tt_world_set_player(in->world, &player), TT_OK);
  testing_tick(in, 5);
  assert_true(fabs(tt_world_view(in->world)->time - 0.05) < 1e-9);
  testing_post(in, TT_MAIL_PAUSE, 0, 1);
  testing_post(in, TT_MAIL_SEEK, 0, 1.5);
  assert_int_equal(tt_world_tick(in->world, &error), TT_OK);
  assert_true(tt_world_paused(in->world));
  assert_true(fabs(tt_world_view(in->world)->time - 1.5) < 1e-9);
  testing_tick(in, 1); /* a single step */
  assert_true(fabs(tt_world_view(in->world)->time - 1.51) < 1e-9);
}

/* Ticks that were asked for before would lead away from it. */
static void who_goes_to_a_place_of_a_kept_run_stays_there(void **state) {
  testing_world *in = *state;
  tt_player player = {.show = show_nothing, .steps = 300000};
  assert_int_equal(tt_world_set_player(in->world, &player), TT_OK);
  testing_post(in, TT_MAIL_PAUSE, 0, 1);
  testing_tick(in, 1);
  testing_post(in, TT_MAIL_STEP, 0, 1000);
  testing_post(in, TT_MAIL_SEEK, 0, 1.5);
  testing_tick(in, 1);
  assert_int_equal(in->world->ticks_to_make, 0);
  testing_post(in, TT_MAIL_STEP, 0, 1000);
  testing_tick(in, 1);
  assert_int_equal(in->world->ticks_to_make, 1000);
  testing_post(in, TT_MAIL_RESET, TT_NO_ROBOT, 0);
  testing_tick(in, 1);
  assert_int_equal(in->world->ticks_to_make, 0);
}

static double time_after_a_tick(testing_world *in) {
  testing_tick(in, 1);
  return tt_world_view(in->world)->time;
}

/* One that went on from another has nothing before its beginning, and none has anything behind its end. */
static void a_kept_run_is_shown_from_its_beginning_to_its_end(void **state) {
  testing_world *in = *state;
  tt_player player = {.show = show_nothing, .first = 1000, .steps = 1200};
  assert_int_equal(tt_world_set_player(in->world, &player), TT_OK);
  assert_true(fabs(time_after_a_tick(in) - 1.01) < 1e-9);
  testing_tick(in, 3);
  testing_post(in, TT_MAIL_SEEK, 0, 0.3);
  assert_true(fabs(time_after_a_tick(in) - 1.01) < 1e-9);
  testing_tick(in, 3);
  testing_post(in, TT_MAIL_RESET, TT_NO_ROBOT, 0);
  assert_true(fabs(time_after_a_tick(in) - 1.01) < 1e-9);
  testing_post(in, TT_MAIL_PAUSE, 0, 1);
  testing_tick(in, 1);
  testing_post(in, TT_MAIL_STEP, 0, 1000);
  testing_post(in, TT_MAIL_SEEK, 0, 5);
  assert_true(fabs(time_after_a_tick(in) - 1.2) < 1e-9);
  assert_int_equal(in->world->ticks_to_make, 0); /* who goes back stays where he goes to */
  assert_true(tt_world_paused(in->world));
}

/* Its wires' peers only look on: whatever they do or don't, it neither begins anew nor ends. */
static void no_wire_begins_or_ends_a_kept_run(void **state) {
  testing_world *in = *state;
  tt_player player = {.show = show_nothing, .steps = 3000};
  tt_wire *wire = &in->world->wires[0].wire;
  assert_int_equal(tt_world_set_player(in->world, &player), TT_OK);
  testing_tick(in, 5);
  tt_wire_request_reset(wire);
  tt_wire_request_stop(wire, TT_FAILED, "nobody answers");
  testing_tick(in, 1);
  assert_false(tt_world_over(in->world));
  assert_true(fabs(tt_world_view(in->world)->time - 0.06) < 1e-9);
}

/* Who goes back in a kept run goes on in the time of the program. */
static void the_time_of_the_program_goes_on_where_a_kept_run_goes_back(void **state) {
  testing_world *in = *state;
  tt_player player = {.show = show_nothing, .steps = 3000};
  const tt_wire *wire = tt_world_wire_at(in->world, 0);
  assert_int_equal(tt_world_set_player(in->world, &player), TT_OK);
  testing_tick(in, 100);
  testing_post(in, TT_MAIL_SEEK, 0, 0.5);
  testing_tick(in, 1);
  assert_true(fabs(tt_wire_time(wire) - 0.51) < 1e-9);
  assert_true(fabs(tt_wire_run_time(wire) - 1.01) < 1e-9);
  testing_post(in, TT_MAIL_SEEK, 0, 2); /* ahead */
  testing_tick(in, 1);
  assert_true(fabs(tt_wire_run_time(wire) - 2.51) < 1e-9);
  testing_post(in, TT_MAIL_RESET, TT_NO_ROBOT, 0);
  testing_tick(in, 1);
  assert_true(fabs(tt_wire_time(wire) - 0.01) < 1e-9);
  assert_true(fabs(tt_wire_run_time(wire) - 2.52) < 1e-9);
}

static int open_peer(char address[32]) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  int peer = socket(AF_INET, SOCK_DGRAM, 0);
  assert_int_equal(bind(peer, (struct sockaddr *)&at, size), 0);
  assert_int_equal(getsockname(peer, (struct sockaddr *)&at, &size), 0);
  snprintf(address, 32, "127.0.0.1:%d", ntohs(at.sin_port));
  return peer;
}

/* The newest that came. */
static float told_time(int peer) {
  float value = NAN;
  while (recv(peer, &value, sizeof value, MSG_DONTWAIT) == sizeof value) continue;
  return value;
}

static void a_time_that_restarts_does_so_where_a_kept_run_goes_back(void **state) {
  (void)state;
  testing_world in;
  char text[sizeof two_robots + 64], address[32];
  const char *where = strstr(two_robots, "watchdog: 0,");
  int peer = open_peer(address);
  snprintf(text, sizeof text, "%.*stime: restart, peer: '%s', %s", (int)(where - two_robots),
           two_robots, address, where);
  testing_open(&in, text);
  tt_player player = {.show = show_nothing, .steps = 3000};
  assert_int_equal(tt_world_set_player(in.world, &player), TT_OK);
  testing_tick(&in, 100);
  assert_true(fabsf(told_time(peer) - 1) < 1e-5f);
  testing_post(&in, TT_MAIL_SEEK, 0, 0.5);
  testing_tick(&in, 1);
  assert_true(fabsf(told_time(peer) - 0.51f) < 1e-5f);
  testing_close(&in);
  close(peer);
}

/* ---- what a state hash covers ---- */

/* A part that remembers more than a page, as a sensor with a picture would. */
typedef struct long_memory {
  tt_part part;
  unsigned char bytes[20000];
} long_memory;

static tt_status declare_nothing(tt_part *part, tt_declare *declare, tt_error *error) {
  (void)part, (void)declare, (void)error;
  return TT_OK;
}
static size_t long_memory_size(const tt_part *part) {
  (void)part;
  return sizeof((long_memory *)0)->bytes;
}
static void save_long_memory(const tt_part *part, void *state) {
  memcpy(state, ((const long_memory *)part)->bytes, long_memory_size(part));
}
static void restore_long_memory(tt_part *part, const void *state) {
  memcpy(((long_memory *)part)->bytes, state, long_memory_size(part));
}
static void free_long_memory(tt_part *part) { free(part); }

static void every_byte_of_a_parts_state_is_hashed(void **state) {
  (void)state;
  static const tt_part_ops ops = {.kind = "memories",
                                  .declare = declare_nothing,
                                  .state_size = long_memory_size,
                                  .save = save_long_memory,
                                  .restore = restore_long_memory,
                                  .free = free_long_memory};
  long_memory *memory = calloc(1, sizeof *memory);
  memory->part = (tt_part){.ops = &ops, .robot = TT_NO_ROBOT, .name = "memory"};
  tt_part *parts[] = {&memory->part};
  const tt_engine_spec empty = {.timestep_num = 1, .timestep_den = 1000, .contact_capacity = 8};
  tt_sim_spec spec = {.dynamics = true, .parts = parts, .part_count = 1};
  tt_error error = {.text = ""};
  tt_sim *sim;
  if (tt_mujoco_load(&empty, &spec.engine, &error) != TT_OK ||
      tt_sim_new(&spec, &sim, &error) != TT_OK)
    fail_msg("%s", error.text);
  const uint64_t before = tt_sim_hash(sim);
  for (size_t i = 0; i < sizeof memory->bytes; i += 1999) {
    memory->bytes[i] ^= 1;
    assert_true(tt_sim_hash(sim) != before);
    memory->bytes[i] ^= 1;
  }
  assert_true(tt_sim_hash(sim) == before);
  tt_sim_free(sim);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(a_silent_wire_is_made_safe_on_its_step),
      TEST(who_speaks_again_drives_again),
      TEST(who_never_spoke_trips_nothing),
      TEST(a_robots_reset_touches_no_other),
      TEST(a_command_meant_for_the_world_before_a_reset_is_void),
      TEST(a_broken_controller_disturbs_no_other),
      TEST(a_command_from_elsewhere_is_checked_like_any_other),
      TEST(who_goes_lets_go_of_what_he_commanded_last),
      TEST(what_a_wire_commands_nobody_else_lets_go),
      TEST(who_goes_takes_no_joint_from_who_drives_it),
      TEST(after_a_reset_nobody_has_anything_to_let_go),
      TEST(the_emergency_stop_holds_until_released),
      TEST(a_full_mailbox_says_so),
      TEST(a_mailbox_full_of_commands_has_room_for_orders),
      TEST(the_match_timer_starts_and_stops),
      TEST(a_paused_world_makes_no_tick_that_was_asked_for_before),
      TEST(who_says_again_that_the_world_is_to_stand_takes_no_tick_from_it),
      TEST(divergence_stops_the_world_with_a_reason),
      cmocka_unit_test(divergence_resets_the_world_where_the_scene_says_so),
      cmocka_unit_test(a_run_ends_with_its_duration),
      cmocka_unit_test(who_pauses_by_a_wire_resumes_by_it),
      cmocka_unit_test(what_people_pause_no_wire_resumes),
      cmocka_unit_test(what_people_step_no_wire_resumes),
      cmocka_unit_test(a_reset_is_heard_while_people_pause),
      cmocka_unit_test(who_is_refused_hears_why),
      TEST(a_place_of_a_kept_run_is_where_it_stands),
      TEST(who_goes_to_a_place_of_a_kept_run_stays_there),
      TEST(a_kept_run_is_shown_from_its_beginning_to_its_end),
      TEST(no_wire_begins_or_ends_a_kept_run),
      TEST(the_time_of_the_program_goes_on_where_a_kept_run_goes_back),
      cmocka_unit_test(a_time_that_restarts_does_so_where_a_kept_run_goes_back),
      cmocka_unit_test(every_byte_of_a_parts_state_is_hashed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
