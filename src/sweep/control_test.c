/* control_test.c: a controller in Lua drives a real arm; saved and restored it goes on as if nothing had been; whatever it does
 * costs itself only, and its errors say where. */
#include "sweep/control.h"

#include "base/file.h"
#include "robot/lua_sandbox.h"
#include "scene/scene_sim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static tt_scene *scene;
static tt_sim *first; /* whose engine others are clones of */

static const tt_control_parameter parameters[] = {
    {"gain", {.kind = TT_SWEEP_NUMBER, .number = 1.5}},
    {"kind", {.kind = TT_SWEEP_TEXT, .text = "slow"}},
    {"none", {.kind = TT_SWEEP_NULL}}};
#define PARAMETERS ((int)(sizeof parameters / sizeof *parameters))

static int load_scene(void **state) {
  (void)state;
  tt_error error;
  if (tt_scene_load(NULL, "gripper", NULL, 0, &scene, &error) != TT_OK ||
      tt_scene_sim(scene, &(tt_scene_sim_options){0}, &first, &error) != TT_OK)
    fail_msg("%s", error.text);
  return 0;
}

static int free_scene(void **state) {
  (void)state;
  tt_sim_free(first);
  tt_scene_free(scene);
  return 0;
}

static tt_sim *clone(const tt_sim *of) {
  tt_sim *made;
  tt_error error;
  if (tt_sim_clone(of, &made, &error) != TT_OK) fail_msg("%s", error.text);
  return made;
}

static tt_control *open_file(const char *path) {
  tt_control *control;
  tt_error error;
  if (tt_control_new(path, &control, &error) != TT_OK) fail_msg("%s", error.text);
  return control;
}

static tt_status open_text(const char *text, tt_control **control, tt_error *error) {
  char path[] = "/tmp/control.XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), strlen(text));
  close(file);
  tt_status status = tt_control_new(path, control, error);
  unlink(path);
  return status;
}

static tt_control *compile(const char *text) {
  tt_control *control;
  tt_error error;
  if (open_text(text, &control, &error) != TT_OK) fail_msg("%s\n%s", text, error.text);
  return control;
}

static void begin(tt_control *control, tt_sim *sim, uint64_t seed) {
  tt_error error;
  if (tt_control_begin(control, sim, parameters, PARAMETERS, seed, &error) != TT_OK)
    fail_msg("%s", error.text);
}

static void step_tick(tt_sim *sim) {
  tt_error error;
  for (int i = 0; i < 10; i++)
    if (tt_sim_step(sim, i == 9, &error) != TT_OK) fail_msg("%s", error.text);
  tt_sim_sense(sim);
}

static void run(tt_control *control, tt_sim *sim, int ticks) {
  tt_error error;
  for (int i = 0; i < ticks; i++) {
    if (tt_control_tick(control, &error) != TT_OK) fail_msg("%s", error.text);
    step_tick(sim);
  }
}

#define STATEFUL TETHER_SOURCE_DIR "/src/sweep/control_testing.lua"

static void a_controller_drives(void **state) {
  (void)state;
  tt_sim *sim = clone(first);
  tt_control *control = compile(
      "function control(read, write)\n"
      "  write('swivel.velocity', read('gain') * (0.5 - read('swivel.position')) * 4)\n"
      "  write('finger1_base.velocity', read('kind') == 'slow' and 0.1 or 9)\n"
      "  write('swivel.max_torque', 1); write('swivel.max_torque', 2500)\n"
      "  if read('none') ~= nil then write('gripper.reset', true) end\n"
      "end");
  begin(control, sim, 1);
  run(control, sim, 120);
  tt_signal swivel;
  assert_int_equal(tt_names_find_signal(tt_sim_names(sim), "swivel.position", 0, "", &swivel, NULL),
                   TT_OK);
  assert_true(fabs(tt_signal_read(&swivel, tt_sim_view(sim)) - 0.5) < 0.02);
  tt_control_free(control);
  tt_sim_free(sim);
}

static void globals_are_fresh_at_a_runs_start(void **state) {
  (void)state;
  tt_control *control = open_file(STATEFUL);
  uint64_t hashes[3];
  for (int i = 0; i < 3; i++) {
    tt_sim *sim = clone(first);
    begin(control, sim, i < 2 ? 7 : 8);
    run(control, sim, 30);
    hashes[i] = tt_sim_hash(sim);
    tt_sim_free(sim);
  }
  assert_true(hashes[0] == hashes[1]);
  assert_true(hashes[0] != hashes[2]); /* chance is the seed's */
  tt_control_free(control);
}

/* Both stand at a tick: that which goes on and that which was restored then do the same for ever. */
static void a_restored_controller_goes_on(void **state) {
  (void)state;
  tt_control *one = open_file(STATEFUL);
  for (int at = 0; at <= 45; at += 15) {
    tt_sim *sim = clone(first);
    begin(one, sim, 7);
    run(one, sim, at);
    void *saved, *later, *again;
    size_t size, later_size, again_size;
    tt_error error;
    if (tt_control_save(one, &saved, &size, &error) != TT_OK) fail_msg("%s", error.text);
    tt_sim *copy = clone(sim);
    tt_control *other = open_file(STATEFUL);
    begin(other, copy, 999); /* all that counts is in the state */
    assert_int_equal(tt_control_restore(other, saved, size, &error), TT_OK);
    run(one, sim, 40);
    run(other, copy, 40);
    assert_true(tt_sim_hash(sim) == tt_sim_hash(copy));
    assert_int_equal(tt_control_save(one, &later, &later_size, &error), TT_OK);
    assert_int_equal(tt_control_save(other, &again, &again_size, &error), TT_OK);
    assert_int_equal(later_size, again_size);
    assert_memory_equal(later, again, later_size);
    free(saved);
    free(later);
    free(again);
    tt_control_free(other);
    tt_sim_free(sim);
    tt_sim_free(copy);
  }
  tt_control_free(one);
}

/* Saving is looking: who was saved does what who was not does. */
static void saving_changes_nothing(void **state) {
  (void)state;
  uint64_t hashes[2];
  for (int i = 0; i < 2; i++) {
    tt_control *control = open_file(STATEFUL);
    tt_sim *sim = clone(first);
    begin(control, sim, 3);
    for (int tick = 0; tick < 40; tick++) {
      run(control, sim, 1);
      void *saved;
      size_t size;
      if (i == 0) continue;
      assert_int_equal(tt_control_save(control, &saved, &size, NULL), TT_OK);
      free(saved);
    }
    hashes[i] = tt_sim_hash(sim);
    tt_sim_free(sim);
    tt_control_free(control);
  }
  assert_true(hashes[0] == hashes[1]);
}

static double command_of(const tt_sim *sim, const char *name) {
  int command;
  assert_int_equal(tt_names_find_command(tt_sim_names(sim), name, 0, "", &command, NULL), TT_OK);
  return tt_sim_commands(sim)[command];
}

/* Runs `text` two ticks, saves, restores into a fresh one, and gives what both write in the third. */
static void expect_restored(const char *text, double expected) {
  tt_control *one = compile(text), *other = compile(text);
  tt_sim *sim = clone(first), *copy = clone(first);
  tt_error error;
  void *saved;
  size_t size;
  begin(one, sim, 1);
  begin(other, copy, 1);
  for (int i = 0; i < 2; i++) assert_int_equal(tt_control_tick(one, &error), TT_OK);
  if (tt_control_save(one, &saved, &size, &error) != TT_OK) fail_msg("%s\n%s", text, error.text);
  if (tt_control_restore(other, saved, size, &error) != TT_OK) fail_msg("%s\n%s", text, error.text);
  tt_control *const both[] = {one, other};
  tt_sim *const sims[] = {sim, copy};
  for (int i = 0; i < 2; i++) {
    if (tt_control_tick(both[i], &error) != TT_OK) fail_msg("%s\n%s", text, error.text);
    double written = command_of(sims[i], "swivel.velocity");
    if (written != expected) fail_msg("%s\n%d: %g, not %g", text, i, written, expected);
  }
  free(saved);
  tt_control_free(one);
  tt_control_free(other);
  tt_sim_free(sim);
  tt_sim_free(copy);
}

static void everything_it_keeps_is_restored(void **state) {
  (void)state;
  static const char *const kept[] = {
      "local n = 0 function control(r, w) n = n + 1 w('swivel.velocity', n) end",
      "n = 0 function control(r, w) n = n + 1 w('swivel.velocity', n) end",
      /* two functions share a variable, and nothing else does */
      "local function pair() local n = 0 return function() n = n + 1 end, function() return n end "
      "end\n"
      "local up, get = pair() local other = pair()\n"
      "function control(r, w) up() other() w('swivel.velocity', get()) end",
      /* made while it runs, two of the same code with variables of their own */
      "local list = {}\n"
      "function control(r, w)\n"
      "  if not list[1] then for i = 1, 2 do local n = (i - 1) * 10 list[i] = function() n = n + 1 "
      "return n end end end\n"
      "  local b = list[2]() w('swivel.velocity', list[1]() * 1 + (b == 10 + list[1]() / 2 and 0 "
      "or -1)) end",
      /* circles, and what is the same stays the same */
      "local a = {n = 0} a.self = a local same = {a, a}\n"
      "function control(r, w) same[1].self.n = same[2].n + 1 w('swivel.velocity', a.n) end",
      /* integers stay integers */
      "n, m = 1, 1.0 function control(r, w)\n"
      "  if math.type(n) ~= 'integer' or math.type(m) ~= 'float' then error('kinds') end\n"
      "  w('swivel.velocity', m) n = n + 1 m = m + 1.0 end",
      "big = math.mininteger function control(r, w) big = big + 1 w('swivel.velocity', big - "
      "math.mininteger) end",
      /* zero's sign, infinities */
      "z, i, n = -0.0, -math.huge, 0 function control(r, w) n = n + 1 if 1 / z > 0 or i > 0 then "
      "error('x') end w('swivel.velocity', n) end",
      /* texts with any byte */
      "s, n = 'a\\0b\\255', 0 function control(r, w) n = n + 1 if s ~= 'a\\0b\\255' then "
      "error('x') end w('swivel.velocity', n) end",
      /* what Lua brought along, under other names, and the environment itself */
      "local floor, R, e, n = math.floor, nil, _ENV, 0\n"
      "function control(r, w) R = R or r n = n + 1 e.g = math w('swivel.velocity', floor(e.n and 0 "
      "or n) + 0 * R('time')) end",
      /* a controller that replaces itself */
      "function control(r, w) w('swivel.velocity', 1) local second = function(r, w)\n"
      "  w('swivel.velocity', 2) control = function(r, w) w('swivel.velocity', 3) end end control "
      "= second end",
      /* keys of every kind */
      "local k = {} t = {[k] = 0, [1.5] = 0, [true] = 0, x = 0, [-1] = 0, [7] = 0}\n"
      "function control(r, w) for _, i in ipairs({k, 1.5, true, 'x', -1, 7}) do t[i] = t[i] + 1 "
      "end\n"
      "  w('swivel.velocity', (t[k] + t[1.5] + t[true] + t.x + t[-1] + t[7]) / 6) end",
      "h = {} function control(r, w) table.insert(h, #h + 1) w('swivel.velocity', #h == h[#h] and "
      "#h or -1) end",
  };
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) expect_restored(kept[i], i == 3 ? 5 : 3);
}

static void what_cannot_be_saved_is_told(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
    tt_status status;
  } cases[] = {
      {"kept = {} function control() kept.it = pairs({}) end", "kept.it is an iterator",
       TT_INVALID},
      {"local it function control() it = pairs({}) end", "it in control is an iterator",
       TT_INVALID},
      {"big = 'x' function control() if #big < 3e5 then big = big .. big t = t or {} t[#t + 1] = "
       "big end for i = 1, 6 do t[#t + 1] = big end end",
       "larger than 16 MiB", TT_FULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tt_control *control = compile(cases[i].text);
    tt_sim *sim = clone(first);
    tt_error error;
    void *saved = NULL;
    size_t size;
    begin(control, sim, 1);
    for (int tick = 0; tick < 40; tick++) tt_control_tick(control, &error);
    assert_int_equal(tt_control_save(control, &saved, &size, &error), cases[i].status);
    assert_null(saved);
    if (!strstr(error.text, cases[i].says))
      fail_msg("says '%s', not '%s'", error.text, cases[i].says);
    tt_control_free(control);
    tt_sim_free(sim);
  }
}

static void strange_states_change_nothing(void **state) {
  (void)state;
  const char *text =
      "n = 0 local t = {1, {2}} function control(r, w) n = n + t[1] w('swivel.velocity', n) end";
  tt_control *control = compile(text), *other = compile("function control() end");
  tt_sim *sim = clone(first);
  tt_error error;
  void *saved;
  size_t size;
  begin(control, sim, 1);
  begin(other, sim, 1);
  assert_int_equal(tt_control_tick(control, &error), TT_OK);
  assert_int_equal(tt_control_save(control, &saved, &size, &error), TT_OK);
  assert_int_equal(tt_control_restore(other, saved, size, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "another file"));
  uint8_t *changed = malloc(size);
  for (size_t cut = 0; cut < size; cut++)
    assert_int_equal(tt_control_restore(control, saved, cut, &error), TT_INVALID);
  /* Another byte may make another state that is one: nothing breaks, and what is refused changed nothing. */
  for (size_t at = 48; at < size; at++) {
    memcpy(changed, saved, size);
    changed[at] ^= 0x41;
    if (tt_control_restore(control, changed, size, &error) == TT_OK)
      assert_int_equal(tt_control_restore(control, saved, size, &error), TT_OK);
  }
  assert_int_equal(tt_control_tick(control, &error), TT_OK);
  assert_true(command_of(sim, "swivel.velocity") == 2);
  free(changed);
  free(saved);
  tt_control_free(control);
  tt_control_free(other);
  tt_sim_free(sim);
}

/* `text` fails in a tick, within its first thirty, as it should; nothing of that tick took effect. */
static void expect_failure(const char *text, tt_status expected, const char *says) {
  tt_control *control = compile(text);
  tt_sim *sim = clone(first);
  tt_error error = {{0}};
  tt_status status = TT_OK;
  begin(control, sim, 1);
  for (int i = 0; i < 30 && status == TT_OK; i++) status = tt_control_tick(control, &error);
  if (status != expected || !strstr(error.text, says))
    fail_msg("%s\n%s: '%s', not '%s'", text, tt_status_name(status), error.text, says);
  assert_true(command_of(sim, "swivel.velocity") == 0);
  /* The next run is none the worse. */
  begin(control, sim, 1);
  tt_control_free(control);
  tt_sim_free(sim);
}

static void failures_say_where(void **state) {
  (void)state;
#define IN "function control(read, write)\n  write('swivel.velocity', 1)\n  "
  expect_failure(IN "read('swivel.positon') end", TT_FAILED, ":3: read: no signal is called");
  expect_failure(IN "read('swivel.positon') end", TT_FAILED, "did you mean 'swivel.position'?");
  expect_failure(IN "read('gian') end", TT_FAILED, "did you mean 'gain'?");
  expect_failure(IN "write('swivel.veloctiy', 1) end", TT_FAILED,
                 "did you mean 'swivel.velocity'?");
  expect_failure(IN "write('swivel.velocity', 0/0) end", TT_FAILED, ":3: write: swivel.velocity: ");
  expect_failure(IN "write('swivel.velocity', 1e9) end", TT_FAILED,
                 "1e+09 is out of its range; give -1e+07 to 1e+07 rad/s");
  expect_failure(IN "write('swivel.velocity', 'fast') end", TT_FAILED,
                 "number expected, got string");
  expect_failure(IN "write('swivel.velocity') end", TT_FAILED, "number expected");
  expect_failure(IN "write('swivel.velocity', '1') end", TT_FAILED,
                 "write: swivel.velocity: number expected, got string; give a number");
  expect_failure(IN "nothing.x = 1 end", TT_FAILED, ":3: attempt to index");
  expect_failure(IN "error('gave up') end", TT_FAILED, ":3: gave up");
  expect_failure(IN "error({}) end", TT_FAILED, ": an error without a text");
  expect_failure(IN "error(nil) end", TT_FAILED, ": an error without a text");
  expect_failure("function control(r, w) w('swivel.velocity', 1) control = 3 error('x') end",
                 TT_FAILED, "x");
}

static void hostile_controllers_end(void **state) {
  (void)state;
  expect_failure(IN "while true do end end", TT_FULL, ":3: it takes too many instructions");
  expect_failure(IN "local t = {} while true do t = {t, t} end end", TT_FULL, "it takes too m");
  expect_failure(IN "local s = 'x' while true do s = s .. s end end", TT_FULL, "too much memory");
  expect_failure(IN "local function f() return 1 + f() end f() end", TT_FULL, "too much memory");
  expect_failure(IN "local function f() return f() end f() end", TT_FULL, "too many instructions");
  expect_failure(IN "for i = 1, 1e7 do local s = 'x' .. i end end", TT_FULL, "it takes too m");
  expect_failure(IN "setmetatable({}, {}) end", TT_FAILED, "global 'setmetatable'");
  expect_failure(IN "read('time'):rep(9) end", TT_FAILED, "attempt to index");
  expect_failure(IN "math.pi = 3 end", TT_FAILED, ":3: it is read-only");
  expect_failure(IN "control = nil error('x') end", TT_FAILED, "x");
  expect_failure(IN "string.rep('x', 9) end", TT_FAILED, "global 'string'");
  /* what is kept from tick to tick is bounded, too */
  expect_failure(
      "t = {} n = 0 function control(r, w) n = n + 1 local s = 'x' for i = 1, 15 do s = s .. s "
      "end\n"
      "  for i = 1, 20 do t[#t + 1] = s .. n .. i end end",
      TT_FULL, "too much memory");
}

static void bad_files_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } cases[] = {{"function control(\n", ":2:"}, {"\033Lua", "binary chunk"}, {"x = = 1", ":1:"}};
  tt_control *control = NULL;
  tt_error error;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(open_text(cases[i].text, &control, &error), TT_INVALID);
    assert_null(control);
    if (!strstr(error.text, cases[i].says)) fail_msg("'%s', not '%s'", error.text, cases[i].says);
  }
  assert_int_equal(tt_control_new("/nowhere/control.lua", &control, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "/nowhere/control.lua"));
  static const struct {
    const char *text, *says;
    tt_status status;
  } starts[] = {{"x = 1", "it defines no function control(read, write)", TT_FAILED},
                {"error('no')", ":1: no", TT_FAILED},
                {"while true do end", ":1: it takes too many instructions", TT_FULL}};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    control = compile(starts[i].text);
    assert_int_equal(tt_control_begin(control, first, NULL, 0, 1, &error), starts[i].status);
    if (!strstr(error.text, starts[i].says)) fail_msg("'%s', not '%s'", error.text, starts[i].says);
    tt_control_free(control);
  }
}

static void an_axis_is_no_signal(void **state) {
  (void)state;
  tt_control *control = compile("function control() end");
  static const tt_control_parameter wrong[] = {{"swivel.position", {.kind = TT_SWEEP_NUMBER}}};
  tt_error error;
  assert_int_equal(tt_control_begin(control, first, wrong, 1, 1, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "axis 'swivel.position': a signal is called so"));
  tt_control_free(control);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_controller_drives),
      cmocka_unit_test(globals_are_fresh_at_a_runs_start),
      cmocka_unit_test(a_restored_controller_goes_on),
      cmocka_unit_test(saving_changes_nothing),
      cmocka_unit_test(everything_it_keeps_is_restored),
      cmocka_unit_test(what_cannot_be_saved_is_told),
      cmocka_unit_test(strange_states_change_nothing),
      cmocka_unit_test(failures_say_where),
      cmocka_unit_test(hostile_controllers_end),
      cmocka_unit_test(bad_files_are_refused),
      cmocka_unit_test(an_axis_is_no_signal),
  };
  return cmocka_run_group_tests(tests, load_scene, free_scene);
}
