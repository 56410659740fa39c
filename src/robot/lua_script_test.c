/* lua_script_test.c: the sandbox computes, remembers nothing, lets nothing out, and ends whatever it is given. */
#include "robot/lua_script.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define LIMITS ((tt_lua_limits){.instructions = 100000, .memory = 1 << 20})

static tt_status read_signal(void *context, const char *name, double *value, tt_error *error) {
  (void)context;
  if (strcmp(name, "left.velocity") == 0) return *value = 3, TT_OK;
  if (strcmp(name, "right.velocity") == 0) return *value = 5, TT_OK;
  return tt_fail(error, TT_INVALID, "there is no signal '%s'", name);
}

static const tt_lua_host host = {.read = read_signal, .noise = {42}, .step = 7};

static tt_lua_script *compile(const char *text) {
  tt_lua_script *script;
  tt_error error = {{0}};
  if (tt_lua_script_new(text, strlen(text), "a.lua", "sense", LIMITS, &script, &error) != TT_OK)
    fail_msg("%s\ndoes not load: %s", text, error.text);
  return script;
}

static double value_of(const char *text) {
  tt_lua_script *script = compile(text);
  tt_error error = {{0}};
  double value = NAN;
  if (tt_lua_script_call(script, &host, &value, &error) != TT_OK)
    fail_msg("%s\nfails: %s", text, error.text);
  tt_lua_script_free(script);
  return value;
}

/* The error of calling sense() with `body`. */
static void expect_failure(const char *text, const char *expected) {
  tt_lua_script *script = compile(text);
  tt_error error = {{0}};
  double value = 42;
  assert_int_equal(tt_lua_script_call(script, &host, &value, &error), TT_FAILED);
  assert_true(value == 42);
  if (!strstr(error.text, expected))
    fail_msg("%s\nsays '%s', not '%s'", text, error.text, expected);
  /* And it still works: a failed call leaves nothing behind. */
  assert_int_equal(tt_lua_script_call(script, &host, &value, &error), TT_FAILED);
  tt_lua_script_free(script);
}

static void functions_compute_from_signals(void **state) {
  (void)state;
  assert_true(value_of("function sense(read) return read('left.velocity') * 2 end") == 6);
  assert_true(
      value_of("local function mean(a, b) return (a + b) / 2 end\n"
               "function sense(s) return mean(s('left.velocity'), s('right.velocity')) end") == 4);
  assert_true(value_of("function sense() return 3 > 2 end") == 1);
  assert_true(value_of("function sense() local t = {} for i = 1, 9 do table.insert(t, 1, i) end\n"
                       "return #t + t[1] + math.floor(2.5) + select('#', table.unpack(t)) end") ==
              29);
}

static void pairs_go_in_order(void **state) {
  (void)state;
  assert_true(
      value_of(
          "function sense()\n"
          "  local t, said = {z = 1, [3] = 1, a = 1, [1.5] = 1, [-2] = 1, ab = 1, [true] = 1}, {}\n"
          "  for k in pairs(t) do table.insert(said, tostring(k)) end\n"
          "  return table.concat(said, ' ') == '-2 1.5 3 a ab z true'\n"
          "end") == 1);
  assert_true(value_of("function sense()\n"
                       "  local t, n = {a = 1, b = 2, c = 3}, 0\n"
                       "  for k, v in pairs(t) do n = n * 10 + v; t.b = nil end\n"
                       "  return n\n"
                       "end") == 13);
}

static void nothing_survives_a_call(void **state) {
  (void)state;
  tt_lua_script *script = compile(
      "local calls = 0\nlocal kept = {n = 0}\n"
      "function sense()\n"
      "  calls = calls + 1; kept.n = kept.n + 1; total = (total or 0) + 1\n"
      "  return calls + kept.n + total\nend");
  for (int i = 0; i < 5; i++) {
    double value;
    tt_error error;
    assert_int_equal(tt_lua_script_call(script, &host, &value, &error), TT_OK);
    assert_true(value == 3);
  }
  tt_lua_script_free(script);
}

static void chance_is_the_seeds(void **state) {
  (void)state;
  const char *text =
      "function sense() return math.random() + math.random(6) + math.random(10, 20) end";
  assert_true(value_of(text) == value_of(text));
  tt_lua_script *script = compile(text);
  tt_lua_host later = host;
  later.step++;
  double now, then;
  tt_error error;
  assert_int_equal(tt_lua_script_call(script, &host, &now, &error), TT_OK);
  assert_int_equal(tt_lua_script_call(script, &later, &then, &error), TT_OK);
  assert_true(now != then && now >= 11 && now < 27);
  tt_lua_script_free(script);
  assert_true(value_of("function sense() local a, b = math.random(), math.random()\n"
                       "return a ~= b and a >= 0 and a < 1 end") == 1);
}

static void nothing_dangerous_is_there(void **state) {
  (void)state;
  static const char *const names[] = {"io",
                                      "os",
                                      "package",
                                      "require",
                                      "load",
                                      "loadstring",
                                      "loadfile",
                                      "dofile",
                                      "string",
                                      "debug",
                                      "coroutine",
                                      "utf8",
                                      "pcall",
                                      "xpcall",
                                      "next",
                                      "rawget",
                                      "rawset",
                                      "rawequal",
                                      "rawlen",
                                      "print",
                                      "setmetatable",
                                      "getmetatable",
                                      "collectgarbage",
                                      "_G",
                                      "math.randomseed",
                                      "table.sort",
                                      "table.move",
                                      "warn"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char text[128];
    snprintf(text, sizeof text, "function sense() return %s == nil end", names[i]);
    if (value_of(text) != 1) fail_msg("%s is there", names[i]);
  }
  expect_failure("function sense() return ('x'):rep(9) end", "index");
  expect_failure("function sense() math.pi = 3 end", "a.lua:1: it is read-only");
  expect_failure("function sense() table.insert(math, 1) end", "read-only");
  assert_true(value_of("function sense() return tostring({}) == 'table' and tostring(sense) == "
                       "'function' end") == 1);
}

static void limits_end_everything(void **state) {
  (void)state;
  expect_failure("function sense()\n  while true do end\nend",
                 "a.lua:2: it takes too many instructions");
  expect_failure("function sense() return sense() end", "too many instructions");
  expect_failure("function sense() return 1 + sense() end", "it takes too much memory");
  expect_failure("function sense() local s = 'x' while true do s = s .. s end end",
                 "it takes too much memory");
  expect_failure("function sense() local t = {} for i = 1, 1e9 do t[i] = {} end end", "memory");
  expect_failure("function sense() local t = {} for i = 1, 20000 do table.insert(t, 1, i) end end",
                 "instructions");
  expect_failure(
      "function sense() local t = {} for i = 1, 2000 do t[i] = i end while true do pairs(t) end "
      "end",
      "it takes too m");
  expect_failure("function sense() for i = 1, 1e7 do local s = 'x' .. i end end", "a.lua");
  expect_failure("function sense() return select('#', table.unpack({}, 1, 900000)) end", "a.lua");
}

/* None of what follows is long by its own length, or by what it is written as. */
static void many_values_take_instructions(void **state) {
  (void)state;
  static const char *const ways[] = {
      "local t, u = {}, table.unpack for i = 1, 3000 do u(t, 1, 9000) end",
      "local t = {} for i = 20001, 20100 do t[i] = 'x' end\n"
      "for i = 1, 2000 do table.concat(t, '', 20001, 20100) end",
      "local function f(...) for i = 1, 10000 do select('#', ...) end end f(table.unpack({}, 1, "
      "2000))",
      "local function f(...) for i = 1, 10000 do table.pack(select(1999, ...)) end end\n"
      "f(table.unpack({}, 1, 2000))",
      "local function g(...) end local function f(...) for i = 1, 10000 do g(...) end end\n"
      "f(table.unpack({}, 1, 2000))",
      "local function g(n, ...) if n > 0 then return g(n - 1, n, ...) end "
      "end g(3000)"};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    char text[400];
    snprintf(text, sizeof text, "function sense() %s return 1 end", ways[i]);
    expect_failure(text, "it takes too many instructions");
  }
  assert_true(value_of("function sense() local s = 0 for i = 1, 3000 do\n"
                       "  local a, b, c = table.unpack({i, 1, 2}) s = s + b + c\n"
                       "end return s end") == 9000);
  assert_true(value_of("function sense() return #table.concat({'a', 'b', 'c'}, '-', 2) end") == 3);
  assert_true(value_of("function sense() return select(-1, 5, 6) + select('#', 1, nil) +\n"
                       "  table.pack(1, nil, 3).n end") == 11);
  expect_failure("function sense() table.unpack({}, 'x') end", "a.lua:1: bad argument #2");
  expect_failure("function sense() table.unpack({}, 1, 1e300) end", "a.lua:1: bad argument #3");
  expect_failure("function sense() table.unpack({}, -9223372036854775807, 9223372036854775807) end",
                 "a.lua:1: ");
}

/* Two texts of `length` bytes that are equal, but not the same object; compared `times` times. */
static const char *comparing(const char *how, int length, int times) {
  static char text[1000];
  snprintf(text, sizeof text,
           "function sense()\n"
           "  local a, b, t = 'x', 'x', {}\n"
           "  while #a < %d do a = a .. a; b = b .. b end\n"
           "  for i = 1, %d do %s end\n"
           "  return 1\n"
           "end",
           length, times, how);
  return text;
}

/* One instruction may go through all of a text. */
static void long_texts_take_instructions(void **state) {
  (void)state;
  static const char *const ways[] = {
      "if a < b then return 2 end", "if a <= b and a ~= b then return 2 end",
      "if a ~= b then return 2 end", "t[a] = t[b]", "t = tonumber(a)"};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    expect_failure(comparing(ways[i], 100000, 2000), "a.lua:4: it takes too many instructions");
    assert_true(value_of(comparing(ways[i], 200, 2000)) == 1);
  }
  const char *sorting =
      "if i == 1 then for k = 1, 8 do t[a .. k] = 1 end end for k in pairs(t) do end";
  expect_failure(comparing(sorting, 16384, 200), "it takes too many instructions");
  assert_true(value_of(comparing(sorting, 128, 200)) == 1);
  /* what a file brings along is as long in every call */
  static char constant[40000];
  int size =
      snprintf(constant, sizeof constant, "local a, b = '%0*d', '%0*d'\n", 15000, 1, 15000, 2);
  snprintf(constant + size, sizeof constant - (size_t)size,
           "function sense() for i = 1, 5000 do if a > b then return 2 end end return 1 end");
  expect_failure(constant, "it takes too many instructions");
}

static void failures_say_where(void **state) {
  (void)state;
  expect_failure("function sense(s)\n  return s('left.velocty')\nend",
                 "a.lua:2: there is no signal 'left.velocty'");
  expect_failure("\n\nfunction sense()\n  return nothing.x\nend", "a.lua:4: attempt to index");
  expect_failure("function sense() return 0 / 0 end",
                 "a.lua: sense() gave a number that is not finite");
  expect_failure("function sense() return 'text' end", "must give a number, not a string");
  expect_failure("function sense() end", "must give a number, not a nil");
  expect_failure("function sense() error({}) end", "an error without a text");
  expect_failure("function sense(s) return s() end", "a.lua:1: bad argument");
  expect_failure("function sense() for k in pairs({[{}] = 1}) do end end", "keys must be");
}

static void expect_load_failure(const char *text, size_t length, const char *expected) {
  tt_lua_script *script;
  tt_error error = {{0}};
  assert_int_equal(tt_lua_script_new(text, length, "a.lua", "sense", LIMITS, &script, &error),
                   TT_INVALID);
  assert_null(script);
  if (!strstr(error.text, expected)) fail_msg("says '%s', not '%s'", error.text, expected);
}

static void bad_files_are_refused(void **state) {
  (void)state;
  expect_load_failure("function sense(\n", 16, "a.lua:2:");
  expect_load_failure("x = 1", 5, "a.lua: it defines no function sense(read)");
  expect_load_failure("sense = 1", 9, "defines no function");
  expect_load_failure("\033Lua", 4, "attempt to load a binary chunk");
  expect_load_failure("while true do end", 17, "a.lua:1: it takes too many instructions");
  expect_load_failure("error('no')", 11, "a.lua:1: no");
  static char long_text[TT_LUA_SOURCE_MAX + 1];
  memset(long_text, ' ', sizeof long_text);
  expect_load_failure(long_text, sizeof long_text, "longer than 65536 bytes");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_compute_from_signals),
      cmocka_unit_test(pairs_go_in_order),
      cmocka_unit_test(nothing_survives_a_call),
      cmocka_unit_test(chance_is_the_seeds),
      cmocka_unit_test(nothing_dangerous_is_there),
      cmocka_unit_test(limits_end_everything),
      cmocka_unit_test(many_values_take_instructions),
      cmocka_unit_test(long_texts_take_instructions),
      cmocka_unit_test(failures_say_where),
      cmocka_unit_test(bad_files_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
