/* What a world does besides stepping: watchdogs, resets, pause, emergency stop, divergence, several robots. Real
 * scenes, real sockets. */
#include <arpa/inet.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "app/guests.h"
#include "app/assemble.h"
#include "engine/mujoco/mujoco_engine.h"
#include "scene/scene.h"
#include "host/journal_lines.h"

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

typedef struct fixture {
  tt_scene *scene;
  tt_world *world;
  tt_journal_sink *journal;
  int socket;
  float stamp;
} fixture;

static void open_text(fixture *made, const char *text) {
  tt_error error = {.text = ""};
  *made = (fixture){.socket = socket(AF_INET, SOCK_DGRAM, 0)};
  if (tt_scene_parse(&tt_program_guests, TETHER_SOURCE_DIR "/scenes/test.yaml", text, strlen(text),
                     NULL, 0, &made->scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_assembly assembly = {.hash_every_tick = true};
  if (tt_assemble(made->scene, &assembly, &made->world, &error) != TT_OK)
    fail_msg("%s", error.text);
  made->journal = journal_lines_open();
  tt_world_add_journal(made->world, made->journal);
  tt_world_start(made->world);
}

static int setup(void **state) {
  fixture *made = malloc(sizeof *made);
  open_text(made, two_robots);
  *state = made;
  return 0;
}

static void close_fixture(fixture *made) {
  tt_world_detach(made->world);
  tt_world_free(made->world);
  tt_scene_free(made->scene);
  journal_lines_close(made->journal);
  close(made->socket);
}

static int teardown(void **state) {
  close_fixture(*state);
  free(*state);
  return 0;
}

static void tick(fixture *in, int count) {
  tt_error error = {.text = ""};
  for (int i = 0; i < count; i++)
    if (tt_world_tick(in->world, &error) != TT_OK) fail_msg("%s", error.text);
}

static double value(const fixture *in, const char *name) {
  tt_signal signal;
  tt_error error = {.text = ""};
  if (tt_names_find_signal(tt_world_names(in->world), name, TT_NO_ROBOT, "test", &signal, &error) !=
      TT_OK)
    fail_msg("%s", error.text);
  return tt_signal_read(&signal, tt_world_view(in->world));
}

static int command_id(const fixture *in, const char *name) {
  int command;
  tt_error error = {.text = ""};
  if (tt_names_find_command(tt_world_names(in->world), name, TT_NO_ROBOT, "test", &command,
                            &error) != TT_OK)
    fail_msg("%s", error.text);
  return command;
}

/* Sends one message to wire `index`; loopback delivers it before sendto() returns. */
static void send_floats(fixture *in, int index, const float *values, int count) {
  const tt_wire *wire = tt_world_wire_at(in->world, index);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  to.sin_port = htons((uint16_t)atoi(strrchr(wire->ops->address(wire), ':') + 1));
  size_t size = (size_t)count * sizeof *values;
  assert_int_equal(sendto(in->socket, values, size, 0, (struct sockaddr *)&to, sizeof to),
                   (ssize_t)size);
}

static void drive_red(fixture *in, float torque, float grip) {
  const float values[] = {in->stamp += 1, torque, grip};
  send_floats(in, 0, values, 3);
}

static void post(fixture *in, tt_mail_kind kind, int index, double number) {
  tt_mail mail = {.kind = kind, .index = index, .value = number, .source = "test"};
  assert_int_equal(tt_world_post(in->world, &mail), TT_OK);
}

static bool journaled(const fixture *in, const char *text) {
  return strstr(journal_lines_text(in->journal), text) != NULL;
}

/* ---- watchdogs ---- */

static void a_silent_wire_is_made_safe_on_its_step(void **state) {
  fixture *in = *state;
  drive_red(in, 3, 2);
  tick(in, 5);
  assert_true(value(in, "command:red/left_track.torque") == 3);
  assert_int_equal(tt_world_wire_at(in->world, 0)->state, TT_WIRE_DRIVING);
  tick(in, 1);
  /* 55 ms after step 0, within a tick of 10 steps */
  assert_true(journaled(in, "55 safe supervisor"));
  assert_true(value(in, "command:red/left_track.torque") == 0);
  assert_true(value(in, "command:red/grip") == 2);
  assert_int_equal(tt_world_wire_at(in->world, 0)->state, TT_WIRE_SILENT);
  assert_int_equal(tt_world_wire_at(in->world, 0)->stats.watchdog_trips, 1);
}

static void who_speaks_again_drives_again(void **state) {
  fixture *in = *state;
  drive_red(in, 3, 0);
  tick(in, 10);
  drive_red(in, 4, 0);
  tick(in, 1);
  assert_true(value(in, "command:red/left_track.torque") == 4);
  assert_int_equal(tt_world_wire_at(in->world, 0)->state, TT_WIRE_DRIVING);
}

static void who_never_spoke_trips_nothing(void **state) {
  fixture *in = *state;
  tick(in, 20);
  assert_int_equal(tt_world_wire_at(in->world, 0)->stats.watchdog_trips, 0);
  assert_int_equal(tt_world_wire_at(in->world, 0)->state, TT_WIRE_WAITING);
}

/* ---- robots side by side ---- */

static void a_robots_reset_touches_no_other(void **state) {
  fixture *in = *state;
  const float blue[] = {1, 4};
  drive_red(in, 4, 0);
  send_floats(in, 1, blue, 2);
  tick(in, 5);
  double blue_angle = value(in, "blue/left_wheel.position");
  double blue_x = value(in, "blue/chassis.x");
  assert_true(value(in, "red/left_wheel.position") > 0);
  post(in, TT_MAIL_RESET, 0, 0);
  post(in, TT_MAIL_STEP, 0, 0);
  uint64_t step = tt_world_step(in->world);
  tick(in, 1);
  assert_int_equal(tt_world_step(in->world), step + 10);
  assert_true(value(in, "command:red/left_track.torque") == 0);
  assert_true(value(in, "command:blue/left_track.torque") == 4);
  assert_true(fabs(value(in, "red/left_wheel.position")) < 1e-3);
  assert_true(value(in, "blue/left_wheel.position") > blue_angle);
  assert_true(fabs(value(in, "blue/chassis.x") - blue_x) < 0.1);
}

static void a_broken_controller_disturbs_no_other(void **state) {
  fixture *in = *state;
  const float blue[] = {1, 4}, broken[] = {NAN, 1, 0}, absurd[] = {9, 1e30f, 0};
  send_floats(in, 1, blue, 2);
  for (int i = 0; i < 10; i++) {
    send_floats(in, 0, broken, 3);
    send_floats(in, 0, absurd, 3);
    tick(in, 1);
  }
  assert_int_equal(tt_world_wire_at(in->world, 0)->stats.accepted, 0);
  assert_int_equal(tt_world_wire_at(in->world, 0)->stats.dropped[TT_DROP_NON_FINITE], 10);
  assert_int_equal(tt_world_wire_at(in->world, 0)->stats.dropped[TT_DROP_RANGE], 10);
  assert_true(value(in, "command:red/left_track.torque") == 0);
  assert_true(value(in, "blue/left_wheel.velocity") > 0);
}

/* ---- the mailbox ---- */

static void send_meant_for(const fixture *in, double number, uint64_t meant_for) {
  tt_mail mail = {.kind = TT_MAIL_COMMAND,
                  .index = command_id(in, "red/left_track.torque"),
                  .value = number,
                  .source = "test",
                  .meant_for = meant_for};
  assert_int_equal(tt_world_post(in->world, &mail), TT_OK);
}

/* Who goes by the picture of before the reset would put things back there. */
static void a_command_meant_for_the_world_before_a_reset_is_void(void **state) {
  fixture *in = *state;
  uint64_t before = (uint64_t)tt_world_view(in->world)->epoch + 1;
  send_meant_for(in, 3, before);
  tick(in, 1);
  assert_true(value(in, "command:red/left_track.torque") == 3);
  post(in, TT_MAIL_RESET, TT_NO_ROBOT, 0);
  tick(in, 1);
  send_meant_for(in, 4, before);
  tick(in, 1);
  assert_true(value(in, "command:red/left_track.torque") == 0);
  send_meant_for(in, 5, before + 1);
  tick(in, 1);
  assert_true(value(in, "command:red/left_track.torque") == 5);
  send_meant_for(in, 6, 0);
  tick(in, 1);
  assert_true(value(in, "command:red/left_track.torque") == 6);
}

static void a_command_from_elsewhere_is_checked_like_any_other(void **state) {
  fixture *in = *state;
  int torque = command_id(in, "red/left_track.torque");
  post(in, TT_MAIL_COMMAND, torque, 2.5);
  tick(in, 1);
  assert_true(value(in, "command:red/left_track.torque") == 2.5);
  post(in, TT_MAIL_COMMAND, torque, NAN);
  post(in, TT_MAIL_COMMAND, torque, 1e9);
  post(in, TT_MAIL_COMMAND, -5, 1);
  post(in, TT_MAIL_COMMAND, 1 << 20, 1);
  tick(in, 1);
  assert_true(value(in, "command:red/left_track.torque") == 2.5);
}

static void the_emergency_stop_holds_until_released(void **state) {
  fixture *in = *state;
  drive_red(in, 4, 0);
  tick(in, 1);
  post(in, TT_MAIL_STOP_ALL, 0, 1);
  tick(in, 1);
  assert_true(value(in, "command:red/left_track.torque") == 0);
  drive_red(in, 4, 0);
  tick(in, 1);
  assert_true(value(in, "command:red/left_track.torque") == 0);
  post(in, TT_MAIL_STOP_ALL, 0, 0);
  tick(in, 1);
  drive_red(in, 4, 0);
  tick(in, 1);
  assert_true(value(in, "command:red/left_track.torque") == 4);
  assert_true(journaled(in, "event test emergency stop released"));
}

static void a_full_mailbox_says_so(void **state) {
  fixture *in = *state;
  tt_mail mail = {.kind = TT_MAIL_SPEED, .value = 1, .source = "test"};
  int posted = 0;
  while (tt_world_post(in->world, &mail) == TT_OK) posted++;
  assert_int_equal(posted, 1024);
  tick(in, 1);
  assert_int_equal(tt_world_post(in->world, &mail), TT_OK);
}

static void the_match_timer_starts_and_stops(void **state) {
  fixture *in = *state;
  post(in, TT_MAIL_COMMAND, command_id(in, "match_timer"), 1);
  tick(in, 10);
  assert_true(fabs(value(in, "match_time") - 0.1) < 1e-12);
  post(in, TT_MAIL_COMMAND, command_id(in, "match_timer"), 1);
  tick(in, 1);
  assert_true(value(in, "match_time") == 0);
}

/* ---- divergence ---- */

static void explode(fixture *in) {
  post(in, TT_MAIL_COMMAND, command_id(in, "joint:red/arm.torque"), 9e6);
}

static void divergence_stops_the_world_with_a_reason(void **state) {
  fixture *in = *state;
  tt_error error = {.text = ""};
  tt_status status = TT_OK;
  explode(in);
  for (int i = 0; i < 500 && status == TT_OK; i++) status = tt_world_tick(in->world, &error);
  assert_int_equal(status, TT_DIVERGED);
  assert_non_null(strstr(error.text, "step "));
  assert_true(journaled(in, "event physics diverged at step"));
  int count;
  const tt_signal_entry *signals = tt_names_signals(tt_world_names(in->world), &count);
  for (int i = 0; i < count; i++)
    assert_true(isfinite(tt_signal_read(&signals[i].signal, tt_world_view(in->world))));
}

static void divergence_resets_the_world_where_the_scene_says_so(void **state) {
  (void)state;
  fixture in;
  char text[sizeof two_robots + 32];
  snprintf(text, sizeof text, "on_divergence: reset\n%s", two_robots);
  open_text(&in, text);
  uint32_t epoch = tt_world_view(in.world)->epoch;
  explode(&in);
  for (int i = 0; i < 500 && tt_world_view(in.world)->epoch == epoch; i++) tick(&in, 1);
  assert_int_equal(tt_world_view(in.world)->epoch, epoch + 1);
  assert_int_equal(tt_world_step(in.world), 10);
  assert_true(value(&in, "command:red/arm.torque") == 0);
  close_fixture(&in);
}

/* ---- run ---- */

static void a_run_ends_with_its_duration(void **state) {
  (void)state;
  fixture in;
  char text[sizeof two_robots + 32];
  snprintf(text, sizeof text, "duration: 0.25 s\n%s", two_robots);
  open_text(&in, text);
  tt_error error = {.text = ""};
  assert_int_equal(tt_world_run(in.world, &error), TT_OK);
  assert_int_equal(tt_world_step(in.world), 250);
  close_fixture(&in);
}

/* ---- a kept run ---- */

static void show_nothing(tt_player *player, uint64_t step, tt_view *view) {
  (void)player, (void)step, (void)view;
}

/* Who pauses a kept run and goes to a place of it sees that place, also when both are heard within a tick. */
static void a_place_of_a_kept_run_is_where_it_stands(void **state) {
  fixture *in = *state;
  tt_player player = {.show = show_nothing, .steps = 3000};
  tt_error error = {.text = ""};
  assert_int_equal(tt_world_set_player(in->world, &player), TT_OK);
  tick(in, 5);
  assert_true(fabs(tt_world_view(in->world)->time - 0.05) < 1e-9);
  post(in, TT_MAIL_PAUSE, 0, 1);
  post(in, TT_MAIL_SEEK, 0, 1.5);
  assert_int_equal(tt_world_tick(in->world, &error), TT_OK);
  assert_true(tt_world_paused(in->world));
  assert_true(fabs(tt_world_view(in->world)->time - 1.5) < 1e-9);
  tick(in, 1); /* a single step */
  assert_true(fabs(tt_world_view(in->world)->time - 1.51) < 1e-9);
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
      TEST(the_emergency_stop_holds_until_released),
      TEST(a_full_mailbox_says_so),
      TEST(the_match_timer_starts_and_stops),
      TEST(divergence_stops_the_world_with_a_reason),
      cmocka_unit_test(divergence_resets_the_world_where_the_scene_says_so),
      cmocka_unit_test(a_run_ends_with_its_duration),
      TEST(a_place_of_a_kept_run_is_where_it_stands),
      cmocka_unit_test(every_byte_of_a_parts_state_is_hashed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
