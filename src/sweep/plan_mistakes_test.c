/* plan_mistakes_test.c: each mistake that people make in a plan is told with its file, line and remedy, before anything runs. */
#include "app/guests.h"
#include "scene/scene.h"
#include "sweep/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define FOLDER TETHER_SOURCE_DIR "/src/sweep/testdata"
#define HEAD "scene: sharp\nduration: 2 s\n" /* a mistake stands in line 3 or below */
#define AXIS(text) HEAD "axes:\n  - " text "\n"
#define METRIC(text) HEAD "metrics:\n  - " text "\n"
#define Y "{name: y, signal: chassis.y, measure: final}"

/** A plan, the line that the message names (0: none), and what it has to say. */
typedef struct tt_mistake {
  const char *text;
  int line;
  const char *said[3];
} tt_mistake;

static const tt_mistake mistakes[] = {
    /* the file itself */
    {"", 0, {"the file is empty"}},
    {"scene sharp\n", 1, {"must hold keys with values"}},
    {"scene: sharp\n\tduration: 2 s\n", 2, {"a tab"}},
    {"scene: sharp\nscene: gripper\n", 2, {"'scene' stands here twice", "remove one"}},
    {"robots: [{robot: sharp}]\nwires: []\n", 0, {"this is a scene", "scene: FILE"}},
    /* keys */
    {"duration: 2 s\n", 1, {"the key 'scene' is missing"}},
    {"scene: sharp\n", 1, {"the key 'duration' is missing"}},
    {HEAD "axis: []\n", 3, {"unknown key 'axis'", "did you mean 'axes'"}},
    {HEAD "metric: []\n", 3, {"unknown key 'metric'", "did you mean 'metrics'"}},
    {HEAD "repeats: 3\n", 3, {"did you mean 'repeat'"}},
    {HEAD "axes: 5\n", 3, {"expected a list"}},
    {HEAD "axes: {name: a, value: [1]}\n", 3, {"expected a list"}},
    /* scene and settings */
    {"scene: shrap\nduration: 2 s\n", 1, {"there is no scene 'shrap'", "did you mean 'sharp'"}},
    {"scene: ./nowhere.yaml\nduration: 2 s\n", 1, {"there is no file './nowhere.yaml'"}},
    {"scene: frc2012\nduration: 2 s\n", 1, {"did you mean 'frc2011'"}},
    {HEAD "set:\n  robots.sharp.headin: 3 deg\n", 4, {"'headin'", "did you mean 'heading'"}},
    {HEAD "set:\n  robots.shrap.heading: 3 deg\n", 4, {"there is no 'shrap'", "sharp"}},
    {HEAD "set:\n  robots.sharp.heading: 3 kg\n", 4, {"'3 kg' is not understood", "deg"}},
    {HEAD "set: [robots.sharp.x=1]\n", 3, {"set: {robots.sharp.x: 1 m}"}},
    {HEAD "set:\n  robots.sharp.x=1 m\n", 3, {"set: {robots.sharp.x: 1 m}"}},
    {HEAD "set:\n  seed: 5\n", 4, {"give the plan's own key: seed"}},
    {HEAD "set:\n  pace: realtime\n", 4, {"as fast as it can"}},
    {HEAD "set:\n  web: {bind: '127.0.0.1:0'}\n", 4, {"opens no pages"}},
    {HEAD "set:\n  models.sharp.bodies.chasis.mass: 3 kg\n", 4, {"chassis"}},
    /* times and numbers */
    {"scene: sharp\nduration: 0\n", 2, {"measures nothing", "as 2 s"}},
    {"scene: sharp\nduration: -2 s\n", 2, {"out of range"}},
    {"scene: sharp\nduration: 2 seconds\n", 2, {"did you mean 's'"}},
    {"scene: sharp\nduration: two\n", 2, {"'two' is not understood"}},
    {HEAD "timeout: 0 s\n", 3, {"before it begins", "10 min"}},
    {HEAD "timeout: 5 m\n", 3, {"'5 m' is not understood", "min"}},
    {HEAD "repeat: 0\n", 3, {"out of range", "give 1 to"}},
    {HEAD "repeat: 2.5\n", 3, {"not a whole number"}},
    {HEAD "repeat: -1\n", 3, {"out of range"}},
    {HEAD "repeat: 2000000000\n", 3, {"out of range"}},
    {HEAD "retries: 1000\n", 3, {"give 0 to 100"}},
    {HEAD "seed: many\n", 3, {"not a whole number"}},
    {HEAD "seed: 12345678901234567890\n", 3, {"give 0 to 1000000000000000"}},
    {HEAD "seed: -3\n", 3, {"not negative"}},
    /* names of axes */
    {AXIS("{value: [1]}"), 4, {"the key 'name' is missing"}},
    {AXIS("{name: '', value: [1]}"), 4, {"can't be a column's name"}},
    {AXIS("{name: my gain, value: [1]}"), 4, {"'my gain'", "letters, digits and _"}},
    {AXIS("{name: 2nd, value: [1]}"), 4, {"begin with a letter"}},
    {AXIS("{name: id, value: [1]}"), 4, {"has a column 'id'", "another name"}},
    {AXIS("{name: run, value: [1]}"), 4, {"has a column 'run'"}},
    {AXIS("{name: Seed, value: [1]}"), 4, {"has a column 'seed'"}},
    {AXIS("{name: status, value: [1]}"), 4, {"has a column 'status'"}},
    {AXIS("{name: error, value: [1]}"), 4, {"has a column 'error'"}},
    {AXIS("{name: hash, value: [1]}"), 4, {"has a column 'hash'"}},
    {AXIS("{name: simulated_time, value: [1]}"), 4, {"has a column 'simulated_time'"}},
    {AXIS("{name: wall_time, value: [1]}"), 4, {"has a column 'wall_time'"}},
    {AXIS("{name: host, value: [1]}"), 4, {"has a column 'host'"}},
    {AXIS("{name: RowID, value: [1]}"), 4, {"has a column 'rowid'"}},
    {AXIS("{name: gain, value: [1]}\n  - {name: gain, value: [2]}"), 5, {"names a column already"}},
    {AXIS("{name: gain, value: [1]}\n  - {name: Gain, value: [2]}"), 5, {"upper and lower case"}},
    {AXIS("{name: time, value: [1]}"), 4, {"has a signal 'time'", "another name"}},
    /* what axes set */
    {AXIS("{name: a, set: robots.sharp.headin, value: [1]}"), 4, {"robots.sharp.heading"}},
    {AXIS("{name: a, set: robots.sharp.heading=3, value: [1]}"), 4, {"is no path"}},
    {AXIS("{name: a, set: duration, value: [1 s]}"), 4, {"give the plan's own key: duration"}},
    {AXIS("{name: a, set: models.sharp.bodies.chasis.mass, value: [1 kg]}"), 4, {"did you mean"}},
    {AXIS("{name: a, set: robots.sharp.x, value: [1]}\n  - {name: b, set: robots.sharp.x, value: "
          "[2]}"),
     5,
     {"'a' sets robots.sharp.x already"}},
    {AXIS("{name: a, set: robots.sharp.robot, value: [sharp, xrp]}\n  - {name: b, set: "
          "models.sharp.bodies.chassis.mass, value: [1 kg]}"),
     5,
     {"axes[1].set", "no such value", "(where robots.sharp.robot=xrp)"}},
    {AXIS("{name: a, set: robots.sharp.robot, value: [sharp, xrp]}\nmetrics:\n  - {name: y, "
          "signal: elevator.position, measure: final}"),
     6,
     {"metrics[0].signal", "(where robots.sharp.robot=xrp)"}},
    {AXIS("{name: a, set: robots.sharp.heading, value: [10 m]}"), 4, {"units", "deg"}},
    {AXIS("{name: a, set: robots.sharp.heading, value: [10 degrees]}"), 4, {"did you mean 'deg'"}},
    {AXIS("{name: a, set: models.sharp.bodies.chassis.mass, value: [1 kg, -1 kg]}"),
     4,
     {"value[1]", "out of range", "kg"}},
    {AXIS("{name: a, set: robots.sharp.alliance, value: [red, green]}"), 4, {"'green'", "blue"}},
    {AXIS("{name: a, set: robots.sharp.alliance, range: [1, 2], count: 2}"), 4, {"list values"}},
    {AXIS("{name: a, set: io_period, value: [10 ms, 10.5 ms, 1/7 ms]}"),
     4,
     {"whole number of steps"}},
    {AXIS("{name: a, set: io_period, value: [10 ms, 10.5 ms, 20 ms]}"), 4, {"take 10 (10 ms)"}},
    {AXIS("{name: a, set: timestep, range: [1 ms, 2 ms], count: 4}"), 4, {"no exact time"}},
    {HEAD
     "sampling: random\nsamples: 3\naxes:\n  - {name: a, set: timestep, range: [1 ms, 2 ms]}\n",
     6,
     {"no exact time"}},
    {AXIS("{name: a, set: wires.sharp-json.faults.loss, value: [0, 0.5]}"),
     4,
     {"no wire is opened"}},
    {HEAD "set: {wires.sharp-json.faults.loss: 0.5}\n", 3, {"wires has no meaning", "command"}},
    {HEAD "controller: {lua: hold.lua}\nset: {game.start: disabled}\n",
     4,
     {"game has no meaning without a program", "command"}},
    {AXIS("{name: a, set: game.start, value: [enabled, disabled]}"),
     4,
     {"game has no meaning without a program"}},
    {"scene: sharp\nduration: 2 s\ncontroller: {command: ./arm}\naxes:\n"
     "  - {name: a, set: wires.sharp-json.faults.loss, range: [0, 2], count: 3}\n",
     5,
     {"'2' is out of range", "give 0 to 1"}},
    {AXIS("{name: a, set: arena, value: [frc2011, frc2012]}"), 4, {"'frc2012'", "frc2011"}},
    {AXIS("{name: a, set: 'robots[0].robot', value: [sharp, gripper]}\n"
          "metrics: [{name: y, signal: chassis.y, measure: final}]"),
     5,
     {"chassis.y"}},
    {AXIS("{name: a, set: seed, value: [1, 1.5]}"), 4, {"value[1]", "not a whole number"}},
    /* values and ranges */
    {AXIS("{name: a}"), 4, {"give its values", "range: [0, 1]"}},
    {AXIS("{name: a, value: []}"), 4, {"give its values"}},
    {AXIS("{name: a, value: 3}"), 4, {"expected a list"}},
    {AXIS("{name: a, values: [3]}"), 4, {"did you mean 'value'"}},
    {AXIS("{name: a, value: [1], range: [1, 2]}"), 4, {"not both"}},
    {AXIS("{name: a, value: [1, 2], count: 2}"), 4, {"belongs to a range"}},
    {AXIS("{name: a, value: [1, two]}"), 4, {"'two' is text", "one kind"}},
    {AXIS("{name: a, value: [1 s, 2 m]}"), 4, {"another unit"}},
    {AXIS("{name: a, value: [1, 2, 1]}"), 4, {"value[2]", "the same as value[0]", "repeat"}},
    {AXIS("{name: a, value: [2 apples]}"), 4, {"there is no unit 'apples'"}},
    {AXIS("{name: a, range: [0, 1]}"), 4, {"give count"}},
    {AXIS("{name: a, range: [0, 1], count: 0}"), 4, {"out of range", "give 2 (both ends)"}},
    {AXIS("{name: a, range: [0, 1], count: 1}"), 4, {"value: [x]"}},
    {AXIS("{name: a, range: [1, 0], count: 3}"), 4, {"runs backwards", "write [0, 1]"}},
    {AXIS("{name: a, range: [1, 1], count: 3}"), 4, {"both ends are the same"}},
    {AXIS("{name: a, range: [1], count: 3}"), 4, {"give both ends"}},
    {AXIS("{name: a, range: [1, 2, 3], count: 3}"), 4, {"value: […]"}},
    {AXIS("{name: a, range: [-1, 1], count: 3, scale: log}"), 4, {"above 0", "linear"}},
    {AXIS("{name: a, range: [0, 1], count: 3, scale: log}"), 4, {"above 0"}},
    {AXIS("{name: a, range: [1, 2], count: 3, scale: logarithmic}"), 4, {"one of linear, log"}},
    {AXIS("{name: a, range: [1 s, 2 m], count: 3}"), 4, {"different units"}},
    {AXIS("{name: a, set: seed, range: [1, 10], count: 3}"), 4, {"whole numbers", "another count"}},
    {AXIS("{name: a, value: [1, 2], group: g}\n  - {name: b, value: [1, 2, 3], group: g}"),
     5,
     {"it has 3 values and 'a' of the same group 2"}},
    {AXIS("{name: a, range: [0, 1], count: 100000}\n  - {name: b, range: [0, 1], count: 100000}"),
     3,
     {"more than 1000000000 runs", "sobol"}},
    /* sampling */
    {HEAD "sampling: lhs\n", 3, {"latin-hypercube"}},
    {HEAD "samples: 100\n", 3, {"sampling: random"}},
    {HEAD "sampling: sobol\naxes: [{name: a, range: [0, 1]}]\n", 3, {"give samples"}},
    {HEAD "sampling: sobol\nsamples: 100\n", 3, {"no axes"}},
    {HEAD "sampling: random\nsamples: 5\naxes:\n  - {name: a, range: [0, 1], count: 3}\n",
     6,
     {"remove count"}},
    /* controllers */
    {HEAD "controller: {lua: nowhere.lua}\n", 3, {"nowhere.lua", "relative to the plan's folder"}},
    {HEAD "controller: {lua: broken.lua}\n", 3, {"broken.lua:3"}},
    {HEAD "controller: {lua: hold.lua, command: ./arm}\n", 3, {"one of lua, command, policy"}},
    {HEAD "controller: hold.lua\n", 3, {"give {lua: FILE}"}},
    {"scene: ../../../robots/sharp/robot.xml\nduration: 2 s\ncontroller: {command: ./arm}\n",
     3,
     {"the scene has no wire", "take lua"}},
    {HEAD "controller: {luo: hold.lua}\n", 3, {"did you mean 'lua'"}},
    {HEAD "controller: {lua: hold.lua, memory: 1e9}\n", 3, {"memory", "only a program"}},
    {HEAD "controller: {files: [arm.py]}\n", 3, {"one of lua, command, policy as well"}},
    {HEAD "controller: {policy: arm.py}\n", 3, {"write module:function"}},
    {HEAD "controller: {command: '  '}\n", 3, {"give the program"}},
    {HEAD "controller: {command: './arm {gian}'}\naxes: [{name: gain, value: [1]}]\n",
     3,
     {"{gian} is no axis", "did you mean 'gain'"}},
    {HEAD "controller: {command: './arm', memory: 10}\n", 3, {"memory", "out of range"}},
    {HEAD "controller: {command: './arm', files: [nowhere.txt]}\n", 3, {"nowhere.txt"}},
    {HEAD "controller: {command: './arm', fixed_ports: maybe}\n", 3, {"neither on nor off"}},
    /* metrics */
    {METRIC("{name: y, signal: chassis.y}"), 4, {"measure"}},
    {METRIC("{name: y, signal: chassis.y, measure: finale}"), 4, {"did you mean 'final'"}},
    {METRIC("{name: y, signal: chasis.y, measure: final}"), 4, {"did you mean 'chassis.y'"}},
    {METRIC("{name: host, signal: chassis.y, measure: final}"), 4, {"has a column 'host'"}},
    {METRIC(Y "\n  - " Y), 5, {"names a column already", "metrics[0]"}},
    {HEAD "axes: [{name: y, value: [1]}]\nmetrics:\n  - " Y "\n", 5, {"names a column already"}},
    {HEAD "success: y > 1\nmetrics: [{name: z, signal: chassis.z, measure: final}]\n", 3, {"'y'"}},
    {HEAD "success: '> 3'\n", 3, {"success"}},
    {HEAD "stop_when: chasis.y > 1\n", 3, {"chassis.y"}},
    /* logs and results */
    {HEAD "keep: some\n", 3, {"nothing, failures, all"}},
    {HEAD "keep: {bset: 3}\n", 3, {"did you mean 'best'"}},
    {HEAD "keep: {best: 3}\n", 3, {"without metrics"}},
    {HEAD "keep: {best: 3}\nmetrics: [" Y "]\n", 3, {"give metric: y"}},
    {HEAD "keep: {best: 3, metric: x, order: least}\nmetrics: [" Y "]\n", 3, {"no metric 'x'"}},
    {HEAD "keep: {best: 3, metric: y}\nmetrics: [" Y "]\n", 3, {"greatest or least"}},
    {HEAD "keep: {metric: y, order: least}\nmetrics: [" Y "]\n", 3, {"give best or worst"}},
    {HEAD "output: table.csv\n", 3, {"table.sqlite", "--csv"}},
    {HEAD "output: nowhere/table.sqlite\n", 3, {"there is no folder"}},
    {HEAD "output: mysql://host/db\n", 3, {"postgresql://"}},
    {HEAD "output: ../testdata\n", 3, {"is a folder"}},
};

/** How the message has to begin: file and line. */
static void place_of(const tt_mistake *mistake, char *text, size_t size) {
  if (mistake->line)
    snprintf(text, size, FOLDER "/plan.yaml:%d: ", mistake->line);
  else
    snprintf(text, size, FOLDER "/plan.yaml: ");
}

static bool is_told(const tt_mistake *mistake, const char *said) {
  char place[1024];
  place_of(mistake, place, sizeof place);
  bool told = strncmp(said, place, strlen(place)) == 0;
  for (int i = 0; i < 3 && mistake->said[i]; i++)
    told = told && strstr(said, mistake->said[i]) != NULL;
  return told;
}

static void test_mistakes(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    const tt_mistake *mistake = &mistakes[i];
    tt_sweep_plan *plan = NULL;
    tt_error error = {""};
    tt_status status = tt_sweep_plan_parse(&tt_program_guests, FOLDER "/plan.yaml", mistake->text,
                                           strlen(mistake->text), NULL, 0, &plan, &error);
    if (status == TT_INVALID && is_told(mistake, error.text)) continue;
    print_error("%s=> %s: %s\n\n", mistake->text, tt_status_name(status), error.text);
    tt_sweep_plan_free(plan);
    wrong++;
  }
  assert_int_equal(wrong, 0);
}

/* On the command line the place is the option. */
static void test_mistakes_of_the_command_line(void **state) {
  static const struct {
    const char *setting, *said;
  } cases[] = {
      {"repeat", "--set repeat: write PATH=VALUE"},
      {"repeats=3", "--set repeats: unknown key 'repeats'; did you mean 'repeat'?"},
      {"repeat=0", "--set repeat: 0 is out of range"},
      {"duration=2 kg", "--set duration: '2 kg' is not understood"},
      {"set.robots.sharp.headin=3", "--set set.robots.sharp.headin: unknown key"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tt_sweep_plan *plan;
    tt_error error = {""};
    assert_int_not_equal(tt_sweep_plan_parse(&tt_program_guests, FOLDER "/plan.yaml", HEAD,
                                             sizeof HEAD - 1, &cases[i].setting, 1, &plan, &error),
                         TT_OK);
    if (strncmp(error.text, cases[i].said, strlen(cases[i].said)) != 0) fail_msg("%s", error.text);
  }
}

static void refuse_file(const char *path, const char *said) {
  tt_sweep_plan *plan;
  tt_error error = {""};
  assert_int_equal(tt_sweep_plan_load(&tt_program_guests, path, NULL, 0, &plan, &error),
                   TT_INVALID);
  if (!strstr(error.text, said)) fail_msg("%s", error.text);
}

static void test_files_that_are_no_plans(void **state) {
  (void)state;
  refuse_file("nowhere.yaml", "there is no file 'nowhere.yaml'");
  refuse_file(FOLDER "/hold.lua", "a script");
  refuse_file(FOLDER, "a folder");
  refuse_file(TETHER_SOURCE_DIR "/scenes/sharp.yaml", "this is a scene, not the plan of a sweep");
  refuse_file("", "is no name of a plan");
}

static void test_a_plan_is_no_scene(void **state) {
  static const char text[] = HEAD "repeat: 3\n";
  (void)state;
  char folder[] = "/tmp/plan_mistakes_test.XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/plan.yaml", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  tt_scene *scene;
  tt_error error;
  tt_status status = tt_scene_load(&tt_program_guests, path, NULL, 0, &scene, &error);
  unlink(path);
  rmdir(folder);
  assert_int_equal(status, TT_INVALID);
  assert_non_null(strstr(error.text, "this is the plan of a sweep, not a scene: tether sweep"));
  status = tt_scene_load(&tt_program_guests, "arm-gains", NULL, 0, &scene, &error);
  assert_int_equal(status, TT_INVALID);
  assert_non_null(strstr(error.text, "'arm-gains' is the plan of a sweep, not a scene"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_mistakes_of_the_command_line),
      cmocka_unit_test(test_files_that_are_no_plans),
      cmocka_unit_test(test_a_plan_is_no_scene),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
