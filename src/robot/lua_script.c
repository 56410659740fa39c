/* lua_script.c: the sandbox. What it leaves out and why:
 *  - string: its patterns can take exponential time inside one instruction, format shows addresses;
 *  - next, and the order of Lua's own pairs: it follows hashes that are seeded by addresses and the clock;
 *  - table.sort: it seeds its pivots by the clock; table.move: it can loop two thousand million times in C;
 *  - pcall, coroutines: they could catch the error of a limit and go on;
 *  - setmetatable: finalizers run where no limit counts.
 */
#include "robot/lua_script.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HOOK_INTERVAL 500 /* instructions between two looks at the budget */
#define TEXT_UNIT 256     /* bytes of a text that take about as long as an instruction */
#define LOAD_MEMORY ((size_t)8 << 20)
#define LOAD_INSTRUCTIONS 1000000

struct tt_lua_script {
  lua_State *lua;
  tt_lua_limits limits;
  int64_t instructions; /* left */
  size_t memory;        /* bytes that may still be allocated */
  int64_t weight;       /* that an instruction has: it may go through the longest text there is */
  int64_t file_weight;  /* with the texts that the file brings along */
  const tt_lua_host *host;
  uint64_t randoms; /* drawn in this call */
  char file[128], function[64];
};

/* Keys of the registry. */
static const char chunk_key, environment_key;

static void count(lua_State *lua, lua_Debug *where);

static void set_weight(tt_lua_script *script, int64_t weight) {
  int64_t interval = HOOK_INTERVAL / weight;
  script->weight = weight;
  if (script->lua) lua_sethook(script->lua, count, LUA_MASKCOUNT, interval > 1 ? (int)interval : 1);
}

/* Comparing and looking up a text, and reading a number in it, are one instruction of any length. By doubling, since the
 * hook begins to count anew each time. */
static void weigh_text(tt_lua_script *script, size_t size) {
  int64_t weight = script->weight;
  while ((int64_t)(size / TEXT_UNIT) > weight) weight *= 2;
  if (weight > script->weight) set_weight(script, weight);
}

/* Every allocation counts, freed or not, so that what a call may take doesn't depend on when garbage is collected. */
static void *allocate(void *context, void *block, size_t old_size, size_t new_size) {
  tt_lua_script *script = context;
  if (new_size == 0) {
    free(block);
    return NULL;
  }
  bool grows = !block || new_size > old_size;
  if (grows && new_size > script->memory) return NULL;
  void *moved = realloc(block, new_size);
  if (!moved) return grows ? NULL : block; /* Lua takes shrinking for granted */
  if (grows) script->memory -= new_size;
  if (!block && old_size == LUA_TSTRING) weigh_text(script, new_size); /* a new object's kind */
  return moved;
}

static tt_lua_script *script_of(lua_State *lua) {
  void *context;
  lua_getallocf(lua, &context);
  return context;
}

static void give(tt_lua_script *script, uint64_t instructions, size_t memory) {
  script->instructions = (int64_t)instructions;
  script->memory = memory;
}

/* Work inside one instruction counts as well. */
static void charge(lua_State *lua, lua_Unsigned work) {
  tt_lua_script *script = script_of(lua);
  script->instructions -= (int64_t)(work < INT32_MAX ? work : INT32_MAX) * script->weight;
  if (script->instructions < 0) luaL_error(lua, "it takes too many instructions");
}

static void count(lua_State *lua, lua_Debug *where) {
  tt_lua_script *script = script_of(lua);
  script->instructions -= script->weight < HOOK_INTERVAL ? HOOK_INTERVAL : script->weight;
  if (script->instructions >= 0) return;
  lua_getinfo(lua, "Sl", where);
  lua_pushfstring(lua, "%s:%d: it takes too many instructions", where->short_src,
                  where->currentline);
  lua_error(lua);
}

/* ---- the functions that differ from Lua's own ---- */

typedef struct key {
  int type;
  long double number; /* holds every integer and every double exactly */
  const char *text;
  size_t length;
  lua_Integer slot;
} key;

static int compare_keys(const void *left, const void *right) {
  const key *a = left, *b = right;
  if (a->type != b->type) {
    static const int ranks[] = {[LUA_TNUMBER] = 0, [LUA_TSTRING] = 1, [LUA_TBOOLEAN] = 2};
    return ranks[a->type] - ranks[b->type];
  }
  if (a->type != LUA_TSTRING) return (a->number > b->number) - (a->number < b->number);
  int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
  return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* Reads the key on top of the stack. */
static key read_key(lua_State *lua, lua_Integer slot) {
  key read = {.type = lua_type(lua, -1), .slot = slot};
  switch (read.type) {
    case LUA_TNUMBER:
      read.number = lua_isinteger(lua, -1) ? (long double)lua_tointeger(lua, -1)
                                           : (long double)lua_tonumber(lua, -1);
      break;
    case LUA_TSTRING: read.text = lua_tolstring(lua, -1, &read.length); break;
    case LUA_TBOOLEAN: read.number = lua_toboolean(lua, -1); break;
    default: luaL_error(lua, "pairs: keys must be numbers, texts or booleans");
  }
  return read;
}

/* Upvalues: the table, its keys in order, how many are done. */
static int next_pair(lua_State *lua) {
  lua_Integer done = lua_tointeger(lua, lua_upvalueindex(3));
  for (;;) {
    lua_settop(lua, 0);
    lua_rawgeti(lua, lua_upvalueindex(2), ++done);
    lua_pushinteger(lua, done);
    lua_replace(lua, lua_upvalueindex(3));
    if (lua_isnil(lua, 1)) return 1;
    lua_pushvalue(lua, 1);
    lua_rawget(lua, lua_upvalueindex(1));
    if (!lua_isnil(lua, 2)) return 2; /* else it was taken out meanwhile */
  }
}

static int sorted_pairs(lua_State *lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_settop(lua, 1);
  lua_newtable(lua); /* 2: keys as they come */
  lua_Integer found = 0;
  for (lua_pushnil(lua); lua_next(lua, 1); found++) {
    lua_pop(lua, 1);
    lua_pushvalue(lua, -1);
    lua_rawseti(lua, 2, found + 1);
  }
  charge(lua, (lua_Unsigned)found * 8);
  key *keys = lua_newuserdatauv(lua, (size_t)(found ? found : 1) * sizeof *keys, 0);
  for (lua_Integer i = 0; i < found; i++) {
    lua_rawgeti(lua, 2, i + 1);
    keys[i] = read_key(lua, i + 1);
    lua_pop(lua, 1);
  }
  qsort(keys, (size_t)found, sizeof *keys, compare_keys);
  lua_pushvalue(lua, 1);
  lua_createtable(lua, (int)found, 0);
  for (lua_Integer i = 0; i < found; i++) {
    lua_rawgeti(lua, 2, keys[i].slot);
    lua_rawseti(lua, -2, i + 1);
  }
  lua_pushinteger(lua, 0);
  lua_pushcclosure(lua, next_pair, 3);
  return 1;
}

static int plain_tostring(lua_State *lua) {
  luaL_checkany(lua, 1);
  switch (lua_type(lua, 1)) {
    case LUA_TNUMBER:
    case LUA_TSTRING:
      lua_settop(lua, 1);
      lua_tolstring(lua, 1, NULL);
      break;
    case LUA_TBOOLEAN: lua_pushstring(lua, lua_toboolean(lua, 1) ? "true" : "false"); break;
    default: lua_pushstring(lua, luaL_typename(lua, 1)); /* Lua would show an address */
  }
  return 1;
}

/* As Lua's: nothing gives [0, 1), one integer 1…m, two m…n. */
static int seeded_random(lua_State *lua) {
  tt_lua_script *script = script_of(lua);
  if (!script->host) return luaL_error(lua, "math.random: only while the function is called");
  uint64_t index = script->randoms++;
  if (lua_gettop(lua) == 0) {
    lua_pushnumber(lua, tt_noise_uniform(script->host->noise, script->host->step, index));
    return 1;
  }
  lua_Integer low = lua_gettop(lua) > 1 ? luaL_checkinteger(lua, 1) : 1;
  lua_Integer high = luaL_checkinteger(lua, lua_gettop(lua) > 1 ? 2 : 1);
  luaL_argcheck(lua, low <= high, 1, "interval is empty");
  uint64_t span = (uint64_t)high - (uint64_t)low + 1,
           bits = tt_noise_bits(script->host->noise, script->host->step, index);
  lua_pushinteger(lua, (lua_Integer)((uint64_t)low + (span ? bits % span : bits)));
  return 1;
}

/* Lua's own function (upvalue), paying for the length of the table it works on. */
static int paid_by_length(lua_State *lua) {
  if (lua_istable(lua, 1)) charge(lua, lua_rawlen(lua, 1));
  /* Called straight, so that its errors name the line of the file that called it. */
  return lua_tocfunction(lua, lua_upvalueindex(1))(lua);
}

static int read_signal(lua_State *lua) {
  const char *name = luaL_checkstring(lua, 1);
  const tt_lua_host *host = script_of(lua)->host;
  double value = 0;
  tt_error error = {{0}};
  if (!host || host->read(host->context, name, &value, &error) != TT_OK)
    return luaL_error(lua, "%s", error.text);
  lua_pushnumber(lua, value);
  return 1;
}

static int refuse_write(lua_State *lua) { return luaL_error(lua, "it is read-only"); }

/* ---- the environment ---- */

/* Puts an empty table on the stack that reads from the one on top, in its place. */
static void wrap_read_only(lua_State *lua, bool writable) {
  lua_newtable(lua);
  lua_createtable(lua, 0, 3);
  lua_rotate(lua, -3, -1); /* proxy, metatable, original */
  lua_setfield(lua, -2, "__index");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  if (!writable) {
    lua_pushcfunction(lua, refuse_write);
    lua_setfield(lua, -2, "__newindex");
  }
  lua_setmetatable(lua, -2);
}

/* Copies fields of the table on top of the stack into the one below it. */
static void copy_fields(lua_State *lua, const char *const names[]) {
  for (; *names; names++) {
    lua_getfield(lua, -1, *names);
    lua_setfield(lua, -3, *names);
  }
}

static void make_base(lua_State *lua) {
  static const char *const kept[] = {"assert",   "error", "ipairs", "select",
                                     "tonumber", "type",  NULL};
  lua_newtable(lua);
  lua_pushcfunction(lua, luaopen_base);
  lua_call(lua, 0, 1);
  copy_fields(lua, kept);
  lua_pop(lua, 1);
  lua_pushcfunction(lua, sorted_pairs);
  lua_setfield(lua, -2, "pairs");
  lua_pushcfunction(lua, plain_tostring);
  lua_setfield(lua, -2, "tostring");
}

static void add_math(lua_State *lua) {
  static const char *const kept[] = {
      "abs",  "acos", "asin", "atan", "ceil",       "cos",  "deg",        "exp",  "floor",
      "fmod", "huge", "log",  "max",  "maxinteger", "min",  "mininteger", "modf", "pi",
      "rad",  "sin",  "sqrt", "tan",  "tointeger",  "type", "ult",        NULL};
  lua_newtable(lua);
  lua_pushcfunction(lua, luaopen_math);
  lua_call(lua, 0, 1);
  copy_fields(lua, kept);
  lua_pop(lua, 1);
  lua_pushcfunction(lua, seeded_random);
  lua_setfield(lua, -2, "random");
  wrap_read_only(lua, false);
  lua_setfield(lua, -2, "math");
}

static void add_table(lua_State *lua) {
  static const char *const kept[] = {"concat", "insert", "pack", "remove", "unpack", NULL};
  lua_newtable(lua);
  lua_pushcfunction(lua, luaopen_table);
  lua_call(lua, 0, 1);
  for (const char *const *name = kept; *name; name++) {
    lua_getfield(lua, -1, *name);
    lua_pushcclosure(lua, paid_by_length, 1);
    lua_setfield(lua, -3, *name);
  }
  lua_pop(lua, 1);
  wrap_read_only(lua, false);
  lua_setfield(lua, -2, "table");
}

/* Runs the file in a new environment and leaves the function it defines on the stack. */
static void run_file(lua_State *lua) {
  lua_rawgetp(lua, LUA_REGISTRYINDEX, &chunk_key);
  lua_rawgetp(lua, LUA_REGISTRYINDEX, &environment_key);
  wrap_read_only(lua, true);
  lua_pushvalue(lua, -1);
  lua_setupvalue(lua, -3, 1); /* _ENV */
  lua_insert(lua, -2);
  lua_call(lua, 0, 0);
  lua_pushstring(lua, script_of(lua)->function);
  lua_rawget(lua, -2);
}

/* ---- what runs protected: everything that can raise an error ---- */

typedef struct source {
  const char *text;
  size_t length;
} source;

static int load(lua_State *lua) {
  const source *from = lua_touserdata(lua, 1);
  const tt_lua_script *script = script_of(lua);
  const char *name = lua_pushfstring(lua, "@%s", script->file);
  if (luaL_loadbufferx(lua, from->text, from->length, name, "t") != LUA_OK) return lua_error(lua);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &chunk_key);
  make_base(lua);
  add_math(lua);
  add_table(lua);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &environment_key);
  run_file(lua);
  if (lua_isfunction(lua, -1)) return 0;
  return luaL_error(lua, "%s: it defines no function %s(read)", script->file, script->function);
}

static int call(lua_State *lua) {
  double *value = lua_touserdata(lua, 1);
  const tt_lua_script *script = script_of(lua);
  run_file(lua);
  lua_pushcfunction(lua, read_signal);
  lua_call(lua, 1, 1);
  int type = lua_type(lua, -1);
  if (type != LUA_TNUMBER && type != LUA_TBOOLEAN)
    return luaL_error(lua, "%s: %s() must give a number, not a %s", script->file, script->function,
                      luaL_typename(lua, -1));
  *value = type == LUA_TBOOLEAN ? lua_toboolean(lua, -1) : lua_tonumber(lua, -1);
  if (!isfinite(*value))
    return luaL_error(lua, "%s: %s() gave a number that is not finite", script->file,
                      script->function);
  return 0;
}

static tt_status run(tt_lua_script *script, lua_CFunction function, void *argument,
                     tt_error *error) {
  lua_State *lua = script->lua;
  lua_pushcfunction(lua, function);
  lua_pushlightuserdata(lua, argument);
  int outcome = lua_pcall(lua, 1, 0, 0);
  const char *text =
      outcome != LUA_OK && lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : NULL;
  tt_status status = TT_OK;
  if (outcome == LUA_ERRMEM)
    status = tt_fail(error, TT_FAILED, "%s: it takes too much memory", script->file);
  else if (outcome != LUA_OK)
    status = tt_fail(error, TT_FAILED, "%s", text ? text : "an error without a text");
  lua_settop(lua, 0);
  give(script, LOAD_INSTRUCTIONS, SIZE_MAX);
  lua_gc(lua, LUA_GCCOLLECT);
  return status;
}

tt_status tt_lua_script_new(const char *text, size_t length, const char *file, const char *function,
                            tt_lua_limits limits, tt_lua_script **made, tt_error *error) {
  *made = NULL;
  if (length > TT_LUA_SOURCE_MAX)
    return tt_fail(error, TT_INVALID, "%s: longer than %d bytes", file, TT_LUA_SOURCE_MAX);
  tt_lua_script *script = calloc(1, sizeof *script);
  if (!script) return tt_fail(error, TT_NOMEM, "%s: out of memory", file);
  script->limits = limits;
  strncpy(script->file, file, sizeof script->file - 1);
  strncpy(script->function, function, sizeof script->function - 1);
  give(script, LOAD_INSTRUCTIONS, LOAD_MEMORY);
  script->weight = 1;
  script->lua = lua_newstate(allocate, script);
  if (!script->lua) {
    free(script);
    return tt_fail(error, TT_NOMEM, "%s: out of memory", file);
  }
  lua_gc(script->lua, LUA_GCSTOP); /* garbage is collected between calls */
  set_weight(script, script->weight);
  source from = {text, length};
  if (run(script, load, &from, error) != TT_OK) {
    tt_lua_script_free(script);
    return TT_INVALID;
  }
  script->file_weight = script->weight;
  *made = script;
  return TT_OK;
}

void tt_lua_script_free(tt_lua_script *script) {
  if (!script) return;
  lua_close(script->lua);
  free(script);
}

tt_status tt_lua_script_call(tt_lua_script *script, const tt_lua_host *host, double *value,
                             tt_error *error) {
  script->host = host;
  script->randoms = 0;
  give(script, script->limits.instructions, script->limits.memory);
  set_weight(script, script->file_weight);
  double result = 0;
  tt_status status = run(script, call, &result, error);
  script->host = NULL;
  if (status == TT_OK) *value = result;
  return status;
}
