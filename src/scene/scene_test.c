/* scene_test.c: scenes as files: good ones come out in SI with their defaults, bad ones are refused with the
 * message that their first line expects. */
#include "app/guests.h"
#include "host/scene_wires.h"
#include "scene/scene_files.h"
#include "scene/data.h"
#include "scene/machine.h"
#include "scene/scene.h"

#include "scene/keys.h"
#include "record/section.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define GOOD TETHER_SOURCE_DIR "/tests/scenes/good/one.yaml"
#define BAD TETHER_SOURCE_DIR "/tests/scenes/bad"

static tt_scene *load(const char *name, const char *const *settings, int count) {
  tt_scene *scene;
  tt_error error = {""};
  if (tt_scene_load(&tt_program_guests, name, settings, count, &scene, &error))
    fail_msg("%s: %s", name, error.text);
  return scene;
}

static void test_good(void **state) {
  (void)state;
  tt_scene *scene = load(GOOD, NULL, 0);
  assert_string_equal(scene->description, "one robot, two wires");
  assert_int_equal(scene->timestep_num, 1);
  assert_int_equal(scene->timestep_den, 3000);
  assert_int_equal(scene->io_steps, 6); /* gcd of 30 and 12 */
  assert_int_equal(scene->pace, TT_PACE_REALTIME);
  assert_true(scene->speed == 1 && scene->dynamics && scene->duration == 0);
  assert_int_equal(scene->piece_count, 1);
  assert_string_equal(scene->pieces[0].body, "ball");
  assert_int_equal(scene->line_count, 1);
  assert_true(scene->lines[0].x2 == 1 && scene->lines[0].darkness == 0.8 && scene->lines[0].black);
  assert_int_equal(scene->place_count, 1);
  const tt_driver_place *place = &scene->places[0];
  assert_true(place->station == TT_STATION_BLUE2 && place->x == -9 && place->y == 1);
  assert_float_equal(place->heading, 1.5707963267948966, 1e-12);
  assert_int_equal(scene->robot_count, 1);
  const tt_scene_robot *robot = &scene->robots[0];
  assert_string_equal(robot->name, "red1");
  assert_string_equal(robot->alliance, "red");
  assert_float_equal(robot->x, 0.3048, 1e-12);
  assert_float_equal(robot->heading, 1.5707963267948966, 1e-12);
  assert_int_equal(access(robot->model_file, R_OK), 0);
  assert_int_equal(robot->part_count, 1);
  assert_string_equal(robot->parts[0].schema->key, "grippers");
  assert_int_equal(scene->wire_count, 2);
  assert_string_equal(scene->wires[0].name, "float-udp");
  assert_string_equal(scene->wires[1].name, "second");
  assert_int_equal(scene->wires[0].robot, 0);
  assert_int_equal(scene->wires[0].period_steps, 30);
  assert_int_equal(scene->wires[1].period_steps, 12);
  assert_true(scene->wires[1].watchdog == 0 && scene->wires[1].deadline == 1);
  assert_int_equal(scene->wires[0].late, TT_LATE_WAIT);
  tt_scene_free(scene);
}

static void test_settings(void **state) {
  (void)state;
  static const char *const settings[] = {"timestep=1/600 s",
                                         "wires.float-udp.period=10 ms",
                                         "wires.second.period=20 ms",
                                         "robots.red1.x=-2 m",
                                         "io_period=5 ms",
                                         "pace=fast",
                                         "duration=1 min",
                                         "physics=off",
                                         "record.file=/dev/null",
                                         "wires[1].late=hold",
                                         "wires.second.watchdog=100 ms"};
  tt_scene *scene = load(GOOD, settings, sizeof settings / sizeof *settings);
  assert_int_equal(scene->io_steps, 3);
  assert_int_equal(scene->wires[0].period_steps, 6);
  assert_int_equal(scene->wires[1].period_steps, 12);
  assert_int_equal(scene->wires[1].late, TT_LATE_HOLD);
  assert_true(scene->wires[1].watchdog == 0.1);
  assert_true(scene->robots[0].x == -2);
  assert_int_equal(scene->pace, TT_PACE_FAST);
  assert_true(scene->duration == 60 && !scene->dynamics);
  bool given;
  const tt_record_keys *record = tt_scene_section(scene, "record", &given);
  assert_true(given);
  assert_string_equal(record->file, "/dev/null");
  assert_null(tt_scene_section(scene, "recrod", NULL));
  tt_scene_free(scene);
}

/* Who has no wires and no pages reads the same scenes. */
static void test_a_scene_loads_without_guests(void **state) {
  (void)state;
  tt_scene *scene;
  tt_error error = {.text = ""};
  if (tt_scene_load(NULL, GOOD, NULL, 0, &scene, &error) != TT_OK) fail_msg("%s", error.text);
  assert_int_equal(scene->wire_count, 0);
  assert_true(scene->io_steps > 0);
  assert_null(tt_scene_section(scene, "record", NULL));
  tt_scene_free(scene);
  static const char text[] = "robots: []\nwires: {what: ever}\nweb: [1]\n";
  if (tt_scene_parse(NULL, GOOD, text, strlen(text), NULL, 0, &scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_scene_free(scene);
  for (int i = 0; tt_program_guests.sections[i]; i++) { /* any of the program's may stand there */
    char guest[64];
    snprintf(guest, sizeof guest, "%s: {what: ever}\n", tt_program_guests.sections[i]->key);
    if (tt_scene_parse(NULL, GOOD, guest, strlen(guest), NULL, 0, &scene, &error) != TT_OK)
      fail_msg("%s", error.text);
    tt_scene_free(scene);
  }
  static const char misspelt[] = "robots: []\nwirse: []\n";
  assert_int_equal(tt_scene_parse(NULL, GOOD, misspelt, strlen(misspelt), NULL, 0, &scene, &error),
                   TT_INVALID);
  assert_non_null(strstr(error.text, "did you mean 'wires'?"));
}

/** A robot's file has keys of its own, which are reached through the robot. */
static void test_settings_reach_a_robots_file(void **state) {
  (void)state;
  static const char *const settings[] = {"robots.red1.grippers.grip.reach=0.25 m",
                                         "robots.red1.joints.arm.max_torque=7 N·m",
                                         "robots[0].x=3 m", "robots[0].description=another one"};
  tt_scene *scene = load(GOOD, settings, sizeof settings / sizeof *settings);
  const tt_scene_robot *robot = &scene->robots[0];
  assert_true(robot->x == 3);
  assert_int_equal(robot->joint_count, 1);
  assert_true(robot->joints[0].max_torque == 7);
  tt_engine_gripper gripper;
  tt_robot_gripper(robot->parts[0].config, &gripper);
  assert_true(gripper.reach == 0.25);
  tt_scene_free(scene);

  tt_error error = {""};
  static const struct {
    const char *setting, *says;
  } bad[] = {
      {"robots.red1.gripers.grip.reach=1 m",
       "--set robots.red1.gripers.grip.reach: unknown key 'gripers'; did you mean 'grippers'?"},
      {"robots.red1.grippers.grip.reach=far", "--set robots.red1.grippers.grip.reach: 'far' is no"},
      {"robots.red1.grippers.grp.reach=1 m",
       "--set robots.red1.grippers.grp.reach: there is no 'grp' here; there are: grip"},
      {"robots.red1.joints.arm.max_torque=-1 N·m",
       "--set robots.red1.joints.arm.max_torque: '-1 N·m' is out of range"},
      {"robots.red1.joints.arm.most=1", "--set robots.red1.joints.arm.most: unknown key 'most'"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(tt_scene_load(&tt_program_guests, GOOD, &bad[i].setting, 1, &scene, &error),
                     TT_INVALID);
    if (!strstr(error.text, bad[i].says))
      fail_msg("'%s' does not say '%s'", error.text, bad[i].says);
  }
}

/** Robots that share a file are set each by itself; a model has no such keys. */
static void test_settings_of_robots_that_share_a_file(void **state) {
  (void)state;
  static const char text[] =
      "robots: [{robot: bot/robot.yaml, name: a}, {robot: bot/robot.yaml, name: b}, "
      "{robot: bot/robot.xml, name: c}]\n";
  static const char *const one[] = {"robots.b.joints.arm.max_torque=9 N·m"};
  static const char *const model[] = {"robots.c.joints=[]"};
  tt_scene *scene;
  tt_error error = {""};
  assert_int_equal(
      tt_scene_parse(&tt_program_guests, GOOD, text, strlen(text), one, 1, &scene, &error), TT_OK);
  assert_true(scene->robots[0].joints[0].max_torque == 5);
  assert_true(scene->robots[1].joints[0].max_torque == 9);
  tt_scene_free(scene);
  assert_int_equal(
      tt_scene_parse(&tt_program_guests, GOOD, text, strlen(text), model, 1, &scene, &error),
      TT_INVALID);
  assert_non_null(strstr(error.text, "robot.xml is a model; write a robot's file"));
}

static void test_sections_have_defaults(void **state) {
  (void)state;
  tt_scene *scene = load(GOOD, NULL, 0);
  for (int i = 0; tt_program_guests.sections[i]; i++) {
    bool given = true;
    assert_non_null(tt_scene_section(scene, tt_program_guests.sections[i]->key, &given));
    assert_false(given);
  }
  tt_scene_free(scene);
}

static tt_scene *parse(const char *text) {
  tt_scene *scene;
  tt_error error = {""};
  if (tt_scene_parse(&tt_program_guests, GOOD, text, strlen(text), NULL, 0, &scene, &error))
    fail_msg("%s", error.text);
  return scene;
}

static void test_defaults(void **state) {
  (void)state;
  tt_scene *scene = parse("description: nothing but this\n");
  assert_int_equal(scene->timestep_den, 1000);
  assert_int_equal(scene->io_steps, 10);
  assert_null(scene->arena_file);
  assert_int_equal(scene->robot_count + scene->wire_count + scene->piece_count + scene->line_count,
                   0);
  tt_scene_free(scene);
  scene = parse("timestep: 0.02 s\n");
  assert_int_equal(scene->io_steps, 1);
  tt_scene_free(scene);
}

#define BOT "robots: [{robot: bot/robot.yaml}]\n"
#define FLOATS "float-udp: {bind: '127.0.0.1:0', sensors: [time], commands: [stamp]}"
#define SHARP                                                                                      \
  "sharp-json: {bind: '127.0.0.1:0', commands: [none, none, none], sensors: [none, none, none]}"

/** A protocol's own interval counts where the scene leaves room for it, and is never undercut. */
static void test_intervals_that_suit_a_protocol(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t io_steps, last_wire;
  } cases[] = {
      {BOT "wires: [{" SHARP "}]\n", 17, 17},
      {BOT "timestep: 1/600 s\nwires: [{" SHARP "}]\n", 11, 11},
      {BOT "io_period: 5 ms\nwires: [{" SHARP "}]\n", 5, 20},
      {BOT "io_period: 30 ms\nwires: [{" SHARP "}]\n", 30, 30},
      {BOT "wires: [{" FLOATS "}, {" SHARP "}]\n", 10, 20},
      {BOT "wires: [{float-udp: {bind: '127.0.0.1:0', sensors: [time], period: 4 ms}}, {" SHARP
           "}]\n",
       4, 20},
      {BOT "wires: [{" SHARP "}, {" FLOATS "}]\n", 10, 10},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tt_scene *scene = parse(cases[i].text);
    assert_int_equal(scene->io_steps, cases[i].io_steps);
    assert_int_equal(scene->wires[scene->wire_count - 1].period_steps, cases[i].last_wire);
    tt_scene_free(scene);
  }
}

static tt_pace pace_of(const char *keys, const char *const *settings, int count) {
  char text[512];
  tt_scene *scene;
  tt_error error = {""};
  snprintf(text, sizeof text, BOT "%s", keys);
  if (tt_scene_parse(&tt_program_guests, GOOD, text, strlen(text), settings, count, &scene, &error))
    fail_msg("%s", error.text);
  tt_pace pace = scene->pace;
  tt_scene_free(scene);
  return pace;
}

static void test_a_wires_mode_decides_the_pace(void **state) {
  (void)state;
  static const char lockstep[] = "pace: lockstep\nwires: [{ezphysics: {listen: '127.0.0.1:0'}}]\n";
  static const char *const realtime[] = {"wires.ezphysics.mode=realtime"};
  static const char *const fast[] = {"wires.ezphysics.mode=realtime", "pace=fast"};
  assert_int_equal(pace_of(lockstep, NULL, 0), TT_PACE_LOCKSTEP);
  assert_int_equal(pace_of(lockstep, realtime, 1), TT_PACE_REALTIME);
  assert_int_equal(pace_of(lockstep, fast, 2), TT_PACE_FAST);
  static const char udp[] =
      "pace: lockstep\nwires: [{float-udp: {bind: '127.0.0.1:0', commands: [arm.velocity]}}]\n";
  assert_int_equal(pace_of(udp, NULL, 0), TT_PACE_LOCKSTEP);
}

static void test_same_protocol_twice(void **state) {
  (void)state;
  tt_scene *scene = parse(
      "robots: [{robot: bot/robot.yaml, name: a}, {robot: bot/robot.yaml, name: b}]\n"
      "wires:\n"
      "  - float-udp: {robot: a, bind: '127.0.0.1:0', sensors: [time], commands: [stamp]}\n"
      "  - float-udp: {robot: b, bind: '127.0.0.1:0', sensors: [time], commands: [stamp]}\n"
      "  - float-udp: {robot: world, name: all, bind: '127.0.0.1:0', sensors: [time], commands: "
      "[stamp]}\n");
  assert_string_equal(scene->wires[0].name, "a.float-udp");
  assert_string_equal(scene->wires[1].name, "b.float-udp");
  assert_int_equal(scene->wires[1].robot, 1);
  assert_int_equal(scene->wires[2].robot, TT_NO_ROBOT);
  tt_scene_free(scene);
}

static void test_later_errors_get_their_line(void **state) {
  (void)state;
  tt_scene *scene = load(GOOD, NULL, 0);
  tt_error error;
  snprintf(error.text, sizeof error.text, "%s.sensors[1]: no such signal", scene->wires[0].where);
  tt_scene_explain(scene, &error);
  assert_non_null(strstr(error.text, "one.yaml:14: wires.float-udp.sensors[1]: no such signal"));
  snprintf(error.text, sizeof error.text, "%s: no such site", scene->robots[0].parts[0].where);
  tt_scene_explain(scene, &error);
  assert_non_null(strstr(error.text, "bot/robot.yaml:6: grippers[0]: no such site"));
  tt_scene_free(scene);
}

static void test_data_folder(void **state) {
  (void)state;
  char folder[] = "/tmp/tether-data-XXXXXX", path[128];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path,
           "mkdir %s/scenes && echo 'description: mine' > %s/scenes/frc2011.yaml", folder, folder);
  assert_int_equal(system(path), 0);
  tt_data_set_root(folder);
  tt_scene *scene = load("frc2011", NULL, 0);
  assert_string_equal(scene->description, "mine");
  tt_scene_free(scene);
  tt_data_set_root(NULL);
  snprintf(path, sizeof path, "rm -r %s", folder);
  assert_int_equal(system(path), 0);
}

/* --- bad scenes --- */

/** The rest of the first line that begins with `prefix`, cut at the line's end; NULL if there is none. */
static char *directive(const char *text, const char *prefix) {
  const char *found = strstr(text, prefix);
  if (!found) return NULL;
  found += strlen(prefix);
  return strndup(found, strcspn(found, "\n"));
}

/** Whether it is refused as expected; says so if not. */
static bool check_bad(const char *name) {
  char path[512], text[16384] = "";
  snprintf(path, sizeof path, BAD "/%s", name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  assert_true(size < sizeof text - 1);
  char *expected = directive(text, "# expect: "), *setting = directive(text, "# set: ");
  if (!expected) fail_msg("%s: no line '# expect: '", name);
  const char *settings[] = {setting};
  tt_scene *scene;
  tt_error error = {""};
  tt_status status =
      tt_scene_load(&tt_program_guests, path, settings, setting ? 1 : 0, &scene, &error);
  bool right = status == TT_INVALID && strstr(error.text, expected);
  if (!right) print_error("%s:\n  expected %s\n  got      %s\n", name, expected, error.text);
  assert_null(scene);
  free(expected);
  free(setting);
  return right;
}

static void test_bad(void **state) {
  (void)state;
  struct dirent **entries;
  int count = scandir(BAD, &entries, NULL, alphasort), checked = 0, right = 0;
  assert_true(count > 0);
  for (int i = 0; i < count; i++) {
    if (strstr(entries[i]->d_name, ".yaml")) {
      right += check_bad(entries[i]->d_name);
      checked++;
    }
    free(entries[i]);
  }
  free(entries);
  assert_true(checked > 60);
  assert_int_equal(right, checked);
}

static void test_shipped(void **state) {
  (void)state;
  struct dirent **entries;
  int count = scandir(TETHER_SOURCE_DIR "/scenes", &entries, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    char *dot = strstr(entries[i]->d_name, ".yaml");
    if (dot) {
      *dot = 0;
      tt_scene *scene = load(entries[i]->d_name, NULL, 0);
      if (scene->replaced[0]) fail_msg("%s", scene->replaced[0]);
      tt_scene_free(scene);
    }
    free(entries[i]);
  }
  if (count >= 0) free(entries);
}

static void test_missing_scene(void **state) {
  (void)state;
  tt_scene *scene;
  tt_error error = {""};
  assert_int_equal(
      tt_scene_load(&tt_program_guests, "no-such-thing-at-all", NULL, 0, &scene, &error),
      TT_INVALID);
  assert_non_null(strstr(error.text, "there is no scene 'no-such-thing-at-all'; there are: "));
  assert_int_equal(tt_scene_load(&tt_program_guests, "nowhere/a.yaml", NULL, 0, &scene, &error),
                   TT_INVALID);
  assert_non_null(strstr(error.text, "there is no file 'nowhere/a.yaml'"));
  assert_int_equal(tt_scene_load(&tt_program_guests, "", NULL, 0, &scene, &error), TT_INVALID);
}

static void test_a_model_by_itself(void **state) {
  (void)state;
  static const char model[] = TETHER_SOURCE_DIR "/tests/scenes/good/bot/robot.xml";
  static const char *const settings[] = {"robots.robot.x=2 m"};
  tt_scene *scene;
  tt_error error = {""};
  if (tt_scene_load(&tt_program_guests, model, settings, 1, &scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  assert_int_equal(scene->robot_count, 1);
  assert_string_equal(scene->robots[0].name, "robot");
  assert_string_equal(scene->robots[0].model_file, model);
  assert_true(scene->robots[0].x == 2);
  assert_int_equal(scene->wire_count, 0);
  assert_string_equal(tt_scene_yaml_file(scene, 0), model);
  tt_scene_free(scene);
}

static char folder[] = "/tmp/tether-scene-XXXXXX";

static const char *write_file(const char *name, const char *text) {
  static char path[64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
  return path;
}

/* The timestep of a scene as a part of a second. */
static double rate_of(const char *path, const char *setting) {
  tt_scene *scene = load(path, &setting, setting ? 1 : 0);
  double rate = (double)scene->timestep_den / (double)scene->timestep_num;
  tt_scene_free(scene);
  return rate;
}

static void test_a_model_keeps_its_timestep(void **state) {
  (void)state;
  static const struct {
    const char *name, *text;
    double rate;
  } cases[] = {
      {"a.xml", "<mujoco><option timestep='.004'/></mujoco>", 250},
      {"b.xml", "<mujoco><option timestep='0.000333333'/></mujoco>", 3000},
      {"c.xml", "<mujoco><option timestep='0.003'/></mujoco>", 1000 / 3.0},
      {"d.xml", "<mujoco><option integrator='RK4'/></mujoco>", 1000},
      {"e.xml", "<mujoco><include file='a.xml'/></mujoco>", 250},
      {"f.xml", "<mujoco><option timestep='.1'/><include file='e.xml'/></mujoco>", 250},
      {"loop.xml", "<mujoco><include file='loop.xml'/><include file='loop.xml'/></mujoco>", 1000},
      {"r.urdf", "<robot name='r'><mujoco><option timestep='0.002'/></mujoco></robot>", 500},
      {"broken.xml", "<mujoco><option timestep='0.00", 1000},
      {"entity.xml",
       "<!DOCTYPE x [<!ENTITY a '0.004'><!ENTITY f SYSTEM 'file:///dev/zero'>]><mujoco>"
       "<include file='&f;'/><option timestep='&nowhere;'/></mujoco>",
       1000},
      {"negative.xml", "<mujoco><option timestep='-1'/></mujoco>", 1000},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *path = write_file(cases[i].name, cases[i].text);
    if (rate_of(path, NULL) != cases[i].rate)
      fail_msg("%s: %g steps a second", path, rate_of(path, NULL));
    assert_true(rate_of(path, "timestep=1/1200 s") == 1200);
  }
}

/* A scene has one timestep for all, and says whose it isn't. */
static void test_a_scene_replaces_timesteps(void **state) {
  (void)state;
  write_file("a.xml", "<mujoco><option timestep='.004'/></mujoco>");
  const char *path =
      write_file("s.yaml",
                 "timestep: 1/500 s\n"
                 "robots: [{robot: ./a.xml, name: one}, {robot: ./a.xml, name: two}]\n");
  tt_scene *scene = load(path, NULL, 0);
  assert_int_equal(scene->timestep_den, 500);
  assert_non_null(scene->replaced[0]);
  assert_non_null(strstr(scene->replaced[0],
                         "/a.xml: its own timestep of 0.004 s is replaced by the scene's 1/500 s"));
  assert_null(scene->replaced[1]);
  tt_scene_free(scene);
  static const char *const same[] = {"timestep=4 ms"};
  scene = load(path, same, 1);
  assert_null(scene->replaced[0]);
  tt_scene_free(scene);
}

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

/* However it is written; as long as before, and nothing else changes. */
static void test_hidden_tokens(void **state) {
  (void)state;
  static const char *const texts[][2] = {
      {"web: {token: secret, listen: x}", "web: {token: \"\"    , listen: x}"},
      {"# é\nweb:\n  token: \"sec\\x20ré\"\n", "#   \nweb:\n  token: \"\"          \n"},
      {"web:\n  token: |\n    secret\n  tokens: x\n", "web:\n  token: \"\n"},
      {"web: {token: x}\n", "web: {token: ~}\n"},
      {"web: {tokens: x, hosts: [token, y]}\n", NULL},
      {"token: x\nnt4: {token: y, web: {token: z}}\n", NULL},
      {"robots: [{web: {token: x}}]\nweb: [token, x]\n", NULL},
      {"x: &t secret\nweb: {token: *t}\ny: *t\n", "x: &t \"\"    \nweb: {token: *t}\ny: *t\n"},
      {"x: &w {token: secret}\nweb: *w\n", "x: &w {token: \"\"    }\nweb: *w\n"},
      {"web: {token: &t !!str secret}\nx: *t\n", "web: {token: &t !!str \"\"    }\nx: *t\n"},
      {"web: {token: \"secret\"}\nrobots: [\n", "                                 "},
      {"\xef\xbb\xbf{\"web\": {\"token\": \"ab\"}}", "\xef\xbb\xbf{\"web\": {\"token\": \"\"  }}"},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const char *wanted = texts[i][1] ? texts[i][1] : texts[i][0];
    char *bytes = strdup(texts[i][0]);
    assert_non_null(bytes);
    assert_int_equal(tt_scene_text_hide(bytes, strlen(bytes)), texts[i][1] != NULL);
    assert_false(tt_scene_text_hide(bytes, strlen(bytes)));
    assert_int_equal(strlen(bytes), strlen(texts[i][0]));
    assert_memory_equal(bytes, wanted, strlen(wanted) - (i == 2));
    assert_null(strstr(bytes, "sec"));
    free(bytes);
  }
}

/* One that was taken out is no token of the scene, and for nobody all the same. */
static void test_hidden_comments(void **state) {
  (void)state;
  static const char *const texts[][2] = {
      {"# token: x\na: 1 # é\n", "#         \na: 1 #   \n"},
      {"é: '# token: x' # web: {token: x}\n", "é: '# token: x' #                \n"},
      {"web:\n  # token:s\n  tokens: y\n", "web:\n  #        \n  tokens: y\n"},
      {"a: |\n  # token: x\n# token: y\nb: [1, # token\n 2]",
       "a: |\n  # token: x\n#         \nb: [1, #      \n 2]"},
      {"a: b#token x\n# tokens: file\n", "a: b#token x\n# tokens: file\n"},
      {"a: 1\r\n# token\r\nb: 2", "a: 1\r\n#      \r\nb: 2"},
      {"a: | # token: x\n  # b\n# c", "a: | #         \n  # b\n#  "},
      {"a: &b # token: x\n  3", "a: &b #         \n  3"},
      {"a: !!int # token: x\n  3", "a: !!int #         \n  3"},
      {"a: &b !!str >- # token: x\n  # c\n", "a: &b !!str >- #         \n  # c\n"},
      {"# web:\n#   token:\n#     x\na: '# b'\n", "#     \n#         \n#      \na: '# b'\n"},
      {"web:\n  token: #s3cret\n# c\n", "web:\n  token: #      \n#  \n"},
      {"web: {token: ''} # s3cret\n", "web: {token: \"\"} #       \n"},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char *bytes = strdup(texts[i][0]);
    assert_non_null(bytes);
    assert_false(tt_scene_text_hide(bytes, strlen(bytes)));
    assert_string_equal(bytes, texts[i][1]);
    free(bytes);
  }
}

/* Many values take a moment each, not a walk through the file, and lists in lists none. Ends by the alarm where they do. */
static void test_hidden_in_a_large_file(void **state) {
  (void)state;
  static char bytes[TT_TREE_MAX_FILE];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = "1,"[i % 2];
  bytes[0] = '[', bytes[1] = ' ';
  bytes[sizeof bytes - 1] = ']';
  alarm(10);
  assert_false(tt_scene_text_hide(bytes, sizeof bytes));
  memset(bytes, '[', sizeof bytes);
  assert_false(tt_scene_text_hide(bytes, sizeof bytes));
  alarm(0);
}

/* A text that is being typed is seldom whole, and what is typed into stands at a wrong place for a while. */
static void test_who_reads_a_text_with_a_token(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool denied;
  } texts[] = {
      {"web: {token: secret}\n", true},
      {"web: {token: secret}\nrobots: [\n", true},
      {"web: {token: secret}\nseed: 1\nseed: 2\n", true},
      {"web:\ntoken: secret\n", true},
      {"web: [token: secret]\n", true},
      {"web: {token: [secret]}\n", true},
      {"w: &w {token: secret}\nweb: *w\n", true},
      {"robots: [\n", false},
      {"robots: []\nweb: {tokens: file}\n", false},
      {"web:\n  token:s3cret\n", true},
      {"web:\n  token s3cret\n", true},
      {"web:\n  Token=s3cret\n", true},
      {"web: {token:s3cret}\n", true},
      {"web: {token: , listen: x}\n", true},
      {"# token: x\na: 1\n", true},
      {"a: 1 # token", true},
      {"{\"web\": {\"tok\\x65n\": \"x\"}}\n", true},
      {"tokens: [x]\n", false},
      {"robots: [{robot: frc2011, name: tokens}\n", false},
      {"web: {tokens: x}\nrobots: [\n", false},
      {"robots: [\n# the tokens of the game, \"Tokens\".\n", false},
      {"robots: [tokens", false},
      {"web:\n  listen: x\n  tokens3cret\n  hosts: [x]\n", true},
      {"web:\n  listen: x\n  tokensecret\n  hosts: [x]\n", true},
      {"web:\n  listen: x\n  tokens-3cret\n  hosts: [x]\n", true},
      {"robots: [token", true},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tt_error error = {""};
    bool denied;
    tt_status status =
        tt_machine_check_secrets(texts[i].text, strlen(texts[i].text), &denied, &error);
    if (denied != texts[i].denied) fail_msg("%s: %s", texts[i].text, error.text);
    assert_int_equal(status, denied ? TT_INVALID : TT_OK);
  }
  static char large[TT_TREE_MAX_FILE + 100];
  memset(large, '\n', sizeof large);
  memcpy(large, "web: {token: x}", 15);
  bool denied;
  assert_int_equal(tt_machine_check_secrets(large, sizeof large, &denied, NULL), TT_INVALID);
  assert_true(denied);
}

static void expect_withheld(const char *path, const char *text, const char *place) {
  tt_error error;
  char expected[sizeof error.text];
  snprintf(error.text, sizeof error.text, "%s", text);
  snprintf(expected, sizeof expected, "%s%s", place, tt_machine_withheld);
  tt_machine_withhold(path, &error);
  assert_string_equal(error.text, expected);
}

static void test_a_place_is_not_withheld(void **state) {
  (void)state;
  const char *path = write_file("a:7: b.yaml", "web: {token: s3cret}\nrobots: [\n");
  char text[600], place[500];
  snprintf(place, sizeof place, "%s:2: ", path);
  snprintf(text, sizeof text, "%ss3cret", place);
  expect_withheld(path, text, place);
  snprintf(text, sizeof text, "%s: s3cret", path);
  expect_withheld(path, text, "");
  snprintf(text, sizeof text, "%s:3cret", path);
  expect_withheld(path, text, "");
  expect_withheld(path, "s3cret:2: x", "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hidden_tokens),
      cmocka_unit_test(test_hidden_comments),
      cmocka_unit_test(test_hidden_in_a_large_file),
      cmocka_unit_test(test_who_reads_a_text_with_a_token),
      cmocka_unit_test(test_a_place_is_not_withheld),
      cmocka_unit_test(test_good),
      cmocka_unit_test(test_settings),
      cmocka_unit_test(test_settings_reach_a_robots_file),
      cmocka_unit_test(test_settings_of_robots_that_share_a_file),
      cmocka_unit_test(test_sections_have_defaults),
      cmocka_unit_test(test_a_scene_loads_without_guests),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_intervals_that_suit_a_protocol),
      cmocka_unit_test(test_a_wires_mode_decides_the_pace),
      cmocka_unit_test(test_same_protocol_twice),
      cmocka_unit_test(test_later_errors_get_their_line),
      cmocka_unit_test(test_data_folder),
      cmocka_unit_test(test_bad),
      cmocka_unit_test(test_shipped),
      cmocka_unit_test(test_missing_scene),
      cmocka_unit_test(test_a_model_by_itself),
      cmocka_unit_test(test_a_model_keeps_its_timestep),
      cmocka_unit_test(test_a_scene_replaces_timesteps),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
