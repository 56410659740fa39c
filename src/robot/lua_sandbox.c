/* lua_sandbox.c: the sandbox. What it leaves out and why:
 *  - string: its patterns can take exponential time inside one instruction, format shows addresses;
 *  - next, and the order of Lua's own pairs: it follows hashes that are seeded by addresses and the clock;
 *  - table.sort: it seeds its pivots by the clock; table.move: it can loop two thousand million times in C;
 *  - pcall, coroutines: they could catch the error of a limit and go on;
 *  - setmetatable: finalizers run where no limit counts.
 */
#include "robot/lua_sandbox.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HOOK_INTERVAL 500 /* instructions between two looks at the budget */
#define TEXT_UNIT 256     /* bytes of a text that take about as long as an instruction */
#define VALUE_BYTES 16    /* of a value, as it is copied with its kind */
#define LEVELS 3          /* functions whose arguments are looked at */
#define LOAD_MEMORY ((size_t)8 << 20)
#define LOAD_INSTRUCTIONS 1000000
#define MAX_SHORTAGES 4

struct tt_lua_sandbox {
  lua_State *lua;
  lua_State *running; /* a thread of it, of this call alone; else `lua` */
  tt_lua_keeping keeping;
  int64_t instructions; /* left */
  size_t memory;        /* bytes that may still be allocated */
  size_t alive;         /* bytes in use */
  size_t most;          /* that may be; 0: any */
  size_t garbage;       /* bytes allocated since garbage was collected */
  int64_t weight;       /* that an instruction has: it may go through the longest text there is */
  bool at_limit;        /* the call failed since it took too much */
  int shortages;        /* how often garbage had to be collected in the midst of this call */
  const tt_lua_chance *chance;
  uint64_t randoms; /* drawn in this call */
  char file[128];
};

/* Keys of the registry. */
static const char chunk_key, base_key;

static void count(lua_State *lua, lua_Debug *where);

void tt_lua_sandbox_set_weight(tt_lua_sandbox *sandbox, int64_t weight) {
  int64_t interval = HOOK_INTERVAL / weight;
  sandbox->weight = weight;
  if (sandbox->running)
    lua_sethook(sandbox->running, count, LUA_MASKCOUNT, interval > 1 ? (int)interval : 1);
}

int64_t tt_lua_sandbox_weight(const tt_lua_sandbox *sandbox) { return sandbox->weight; }

/* Comparing and looking up a text, and reading a number in it, are one instruction of any length. By doubling, since the
 * hook begins to count anew each time. */
static void weigh_text(tt_lua_sandbox *sandbox, size_t size) {
  int64_t weight = sandbox->weight;
  while ((int64_t)(size / TEXT_UNIT) > weight) weight *= 2;
  if (weight > sandbox->weight) tt_lua_sandbox_set_weight(sandbox, weight);
}

/* Every allocation counts, freed or not, so that what a call may take doesn't depend on when garbage is collected. Where
 * too much is alive Lua collects garbage at once, and asks again; a call that has it do so again and again would take seconds. */
static bool may_take(tt_lua_sandbox *sandbox, size_t held, size_t new_size) {
  if (new_size > sandbox->memory || sandbox->shortages > MAX_SHORTAGES) return false;
  if (!sandbox->most || sandbox->alive - held + new_size <= sandbox->most) return true;
  sandbox->shortages++;
  return false;
}

static void *allocate(void *context, void *block, size_t old_size, size_t new_size) {
  tt_lua_sandbox *sandbox = context;
  size_t held = block ? old_size : 0; /* of a new object `old_size` is the kind */
  if (new_size == 0) {
    free(block);
    sandbox->alive -= held;
    return NULL;
  }
  bool grows = new_size > held;
  if (grows && !may_take(sandbox, held, new_size)) return NULL;
  void *moved = realloc(block, new_size);
  if (!moved) {
    if (grows) return NULL;
    moved = block; /* Lua takes shrinking for granted */
  }
  sandbox->alive += new_size - held;
  if (grows) sandbox->memory -= new_size, sandbox->garbage += new_size;
  if (!block && old_size == LUA_TSTRING) weigh_text(sandbox, new_size);
  return moved;
}

static tt_lua_sandbox *sandbox_of(lua_State *lua) {
  void *context;
  lua_getallocf(lua, &context);
  return context;
}

void *tt_lua_sandbox_owner(lua_State *lua) { return sandbox_of(lua)->keeping.owner; }

const char *tt_lua_sandbox_file(const tt_lua_sandbox *sandbox) { return sandbox->file; }

static void give(tt_lua_sandbox *sandbox, uint64_t instructions, size_t memory) {
  sandbox->instructions = (int64_t)instructions;
  sandbox->memory = memory;
}

void tt_lua_sandbox_charge(lua_State *lua, uint64_t work) {
  tt_lua_sandbox *sandbox = sandbox_of(lua);
  sandbox->instructions -= (int64_t)(work < INT32_MAX ? work : INT32_MAX) * sandbox->weight;
  if (sandbox->instructions >= 0) return;
  sandbox->at_limit = true;
  luaL_error(lua, "it takes too many instructions");
}

/* Handing on `...` is one instruction, too, of any number of values. */
static void weigh_arguments(tt_lua_sandbox *sandbox, lua_State *lua) {
  lua_Debug at;
  for (int level = 0; level < LEVELS && lua_getstack(lua, level, &at); level++)
    for (int n = 2 * TEXT_UNIT / VALUE_BYTES; lua_getlocal(lua, &at, -n); n *= 2) {
      lua_pop(lua, 1);
      weigh_text(sandbox, (size_t)n * VALUE_BYTES);
    }
}

static void count(lua_State *lua, lua_Debug *where) {
  tt_lua_sandbox *sandbox = sandbox_of(lua);
  weigh_arguments(sandbox, lua);
  sandbox->instructions -= sandbox->weight < HOOK_INTERVAL ? HOOK_INTERVAL : sandbox->weight;
  if (sandbox->instructions >= 0) return;
  sandbox->at_limit = true;
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

static int rank(int type) {
  return type == LUA_TNUMBER ? 0 : type == LUA_TSTRING ? 1 : type == LUA_TBOOLEAN ? 2 : 3;
}

static int compare_keys(const void *left, const void *right) {
  const key *a = left, *b = right;
  if (a->type != b->type) return rank(a->type) - rank(b->type);
  if (a->type != LUA_TSTRING) return (a->number > b->number) - (a->number < b->number);
  int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
  return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* Reads the key on top of the stack. */
static key read_key(lua_State *lua, lua_Integer slot, int others) {
  key read = {.type = lua_type(lua, -1), .slot = slot};
  switch (read.type) {
    case LUA_TNUMBER:
      read.number = lua_isinteger(lua, -1) ? (long double)lua_tointeger(lua, -1)
                                           : (long double)lua_tonumber(lua, -1);
      break;
    case LUA_TSTRING: read.text = lua_tolstring(lua, -1, &read.length); break;
    case LUA_TBOOLEAN: read.number = lua_toboolean(lua, -1); break;
    default:
      if (!others) luaL_error(lua, "pairs: keys must be numbers, texts or booleans");
      read.type = LUA_TTABLE;
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

static void list_keys(lua_State *lua, int index, lua_Integer *found) {
  *found = 0;
  lua_newtable(lua);
  for (lua_pushnil(lua); lua_next(lua, index);) {
    lua_pop(lua, 1);
    lua_pushvalue(lua, -1);
    lua_rawseti(lua, -3, ++*found);
  }
}

int64_t tt_lua_sandbox_push_keys(lua_State *lua, int index, int others) {
  lua_Integer found;
  index = lua_absindex(lua, index);
  list_keys(lua, index, &found);
  tt_lua_sandbox_charge(lua, (uint64_t)found * 8);
  key *keys = lua_newuserdatauv(lua, (size_t)(found ? found : 1) * sizeof *keys, 0);
  for (lua_Integer i = 0; i < found; i++) {
    lua_rawgeti(lua, -2, i + 1);
    keys[i] = read_key(lua, i + 1, others);
    lua_pop(lua, 1);
  }
  qsort(keys, (size_t)found, sizeof *keys, compare_keys);
  lua_createtable(lua, (int)found, 0);
  for (lua_Integer i = 0; i < found; i++) {
    lua_rawgeti(lua, -3, keys[i].slot);
    lua_rawseti(lua, -2, i + 1);
  }
  lua_replace(lua, -3); /* the keys as they came */
  lua_pop(lua, 1);
  return found;
}

static int sorted_pairs(lua_State *lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_settop(lua, 1);
  tt_lua_sandbox_push_keys(lua, 1, false);
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
  tt_lua_sandbox *sandbox = sandbox_of(lua);
  const tt_lua_chance *chance = sandbox->chance;
  if (!chance) return luaL_error(lua, "math.random: only while the function is called");
  uint64_t index = sandbox->randoms++;
  if (lua_gettop(lua) == 0) {
    lua_pushnumber(lua, tt_noise_uniform(chance->noise, chance->step, index));
    return 1;
  }
  lua_Integer low = lua_gettop(lua) > 1 ? luaL_checkinteger(lua, 1) : 1;
  lua_Integer high = luaL_checkinteger(lua, lua_gettop(lua) > 1 ? 2 : 1);
  luaL_argcheck(lua, low <= high, 1, "interval is empty");
  uint64_t span = (uint64_t)high - (uint64_t)low + 1,
           bits = tt_noise_bits(chance->noise, chance->step, index);
  lua_pushinteger(lua, (lua_Integer)((uint64_t)low + (span ? bits % span : bits)));
  return 1;
}

/* Calls Lua's own function (upvalue): straight, so that its errors name the line of the file that called it. */
static int call_original(lua_State *lua) { return lua_tocfunction(lua, lua_upvalueindex(1))(lua); }

/* Paying for the length of the table it works on. */
static int paid_by_length(lua_State *lua) {
  if (lua_istable(lua, 1)) tt_lua_sandbox_charge(lua, lua_rawlen(lua, 1));
  return call_original(lua);
}

/* For all that it is given. */
static int paid_by_arguments(lua_State *lua) {
  tt_lua_sandbox_charge(lua, (uint64_t)lua_gettop(lua));
  return call_original(lua);
}

/* For the range that it goes through, whose first number is argument `first`, whatever the table's length is. Returns it. */
static uint64_t pay_for_range(lua_State *lua, int first) {
  uint64_t length = lua_istable(lua, 1) ? lua_rawlen(lua, 1) : 0;
  lua_Integer from = luaL_optinteger(lua, first, 1);
  lua_Integer to = luaL_optinteger(lua, first + 1, (lua_Integer)length);
  uint64_t count = from <= to ? (uint64_t)to - (uint64_t)from : 0;
  tt_lua_sandbox_charge(lua, count > length ? count : length);
  return count;
}

static int paid_concat(lua_State *lua) {
  pay_for_range(lua, 3);
  return call_original(lua);
}

/* What it gives is copied from call to call, an instruction each time. */
static int paid_unpack(lua_State *lua) {
  weigh_text(sandbox_of(lua), pay_for_range(lua, 2) * VALUE_BYTES);
  return call_original(lua);
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

/* As copy_fields(), for a function that pays. */
static void add_paid(lua_State *lua, const char *name, lua_CFunction pays) {
  lua_getfield(lua, -1, name);
  lua_pushcclosure(lua, pays, 1);
  lua_setfield(lua, -3, name);
}

static void make_base(lua_State *lua) {
  static const char *const kept[] = {"assert", "error", "ipairs", "tonumber", "type", NULL};
  lua_newtable(lua);
  lua_pushcfunction(lua, luaopen_base);
  lua_call(lua, 0, 1);
  copy_fields(lua, kept);
  add_paid(lua, "select", paid_by_arguments);
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
  lua_newtable(lua);
  lua_pushcfunction(lua, luaopen_table);
  lua_call(lua, 0, 1);
  add_paid(lua, "concat", paid_concat);
  add_paid(lua, "insert", paid_by_length);
  add_paid(lua, "pack", paid_by_arguments);
  add_paid(lua, "remove", paid_by_length);
  add_paid(lua, "unpack", paid_unpack);
  lua_pop(lua, 1);
  wrap_read_only(lua, false);
  lua_setfield(lua, -2, "table");
}

void tt_lua_sandbox_push_file(lua_State *lua) { lua_rawgetp(lua, LUA_REGISTRYINDEX, &chunk_key); }

void tt_lua_sandbox_push_base(lua_State *lua) { lua_rawgetp(lua, LUA_REGISTRYINDEX, &base_key); }

void tt_lua_sandbox_push_environment(lua_State *lua) {
  tt_lua_sandbox_push_base(lua);
  wrap_read_only(lua, true);
}

void tt_lua_sandbox_run_file(lua_State *lua) {
  tt_lua_sandbox_push_file(lua);
  tt_lua_sandbox_push_environment(lua);
  lua_pushvalue(lua, -1);
  lua_setupvalue(lua, -3, 1); /* _ENV */
  lua_insert(lua, -2);
  lua_call(lua, 0, 0);
}

/* ---- what runs protected: everything that can raise an error ---- */

typedef struct source {
  const char *text;
  size_t length;
} source;

static int load(lua_State *lua) {
  const source *from = lua_touserdata(lua, 1);
  const char *name = lua_pushfstring(lua, "@%s", sandbox_of(lua)->file);
  if (luaL_loadbufferx(lua, from->text, from->length, name, "t") != LUA_OK) return lua_error(lua);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &chunk_key);
  make_base(lua);
  add_math(lua);
  add_table(lua);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &base_key);
  return 0;
}

/* What a call came to, with the text that stands on the stack of the thread that failed. */
static tt_status explain(const tt_lua_sandbox *sandbox, lua_State *lua, int outcome,
                         tt_error *error) {
  if (outcome == LUA_OK) return TT_OK;
  if (outcome == LUA_ERRMEM)
    return tt_fail(error, TT_FULL, "%s: it takes too much memory", sandbox->file);
  const char *text = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : NULL;
  const tt_status status = sandbox->at_limit ? TT_FULL : TT_FAILED;
  return text ? tt_fail(error, status, "%s", text)
              : tt_fail(error, status, "%s: an error without a text", sandbox->file);
}

static void collect_once(tt_lua_sandbox *sandbox) {
  lua_gc(sandbox->lua, LUA_GCCOLLECT);
  sandbox->garbage = 0;
}

/* Lua halves the list of its texts once in a collection. */
void tt_lua_sandbox_collect(tt_lua_sandbox *sandbox) {
  size_t before;
  do {
    before = sandbox->alive;
    collect_once(sandbox);
  } while (sandbox->alive < before);
}

/* A call in a thread of its own, so that none finds room on the stack that another has made: it would come to the limit of
 * memory later than the first. */
typedef struct entry {
  tt_lua_sandbox *sandbox;
  int (*function)(lua_State *);
  void *argument;
  tt_status status;
  tt_error *error;
} entry;

static int enter(lua_State *lua) {
  entry *made = lua_touserdata(lua, 1);
  tt_lua_sandbox *sandbox = made->sandbox;
  lua_State *thread = sandbox->running = lua_newthread(lua);
  tt_lua_sandbox_set_weight(sandbox, sandbox->weight); /* the hook counts anew */
  lua_pushcfunction(thread, made->function);
  lua_pushlightuserdata(thread, made->argument);
  made->status = explain(sandbox, thread, lua_pcall(thread, 1, 0, 0), made->error);
  return 0;
}

tt_status tt_lua_sandbox_run(tt_lua_sandbox *sandbox, const tt_lua_limits *limits,
                             const tt_lua_chance *chance, int (*function)(lua_State *),
                             void *argument, tt_error *error) {
  lua_State *lua = sandbox->lua;
  entry made = {.sandbox = sandbox, .function = function, .argument = argument, .error = error};
  if (limits)
    give(sandbox, limits->instructions, limits->memory);
  else
    give(sandbox, LOAD_INSTRUCTIONS, LOAD_MEMORY);
  sandbox->most = limits && limits->alive ? limits->alive : sandbox->keeping.alive;
  sandbox->chance = chance;
  sandbox->randoms = 0;
  sandbox->at_limit = false;
  sandbox->shortages = 0;
  lua_pushcfunction(lua, enter);
  lua_pushlightuserdata(lua, &made);
  int outcome = lua_pcall(lua, 1, 0, 0);
  if (outcome != LUA_OK) made.status = explain(sandbox, lua, outcome, error);
  lua_settop(lua, 0);
  sandbox->running = lua;
  sandbox->shortages = 0;
  give(sandbox, LOAD_INSTRUCTIONS, SIZE_MAX);
  if (sandbox->garbage >= sandbox->keeping.garbage) collect_once(sandbox);
  sandbox->chance = NULL;
  return made.status;
}

tt_status tt_lua_sandbox_new(const char *text, size_t length, const char *file,
                             tt_lua_keeping keeping, tt_lua_sandbox **made, tt_error *error) {
  *made = NULL;
  if (length > TT_LUA_SOURCE_MAX)
    return tt_fail(error, TT_INVALID, "%s: longer than %d bytes", file, TT_LUA_SOURCE_MAX);
  tt_lua_sandbox *sandbox = calloc(1, sizeof *sandbox);
  if (!sandbox) return tt_fail(error, TT_NOMEM, "%s: out of memory", file);
  sandbox->keeping = keeping;
  strncpy(sandbox->file, file, sizeof sandbox->file - 1);
  give(sandbox, LOAD_INSTRUCTIONS, LOAD_MEMORY);
  sandbox->weight = 1;
  sandbox->lua = lua_newstate(allocate, sandbox);
  if (!sandbox->lua) {
    free(sandbox);
    return tt_fail(error, TT_NOMEM, "%s: out of memory", file);
  }
  sandbox->running = sandbox->lua;
  lua_gc(sandbox->lua, LUA_GCSTOP); /* garbage is collected between calls */
  source from = {text, length};
  if (tt_lua_sandbox_run(sandbox, NULL, NULL, load, &from, error) != TT_OK) {
    tt_lua_sandbox_free(sandbox);
    return TT_INVALID;
  }
  *made = sandbox;
  return TT_OK;
}

void tt_lua_sandbox_free(tt_lua_sandbox *sandbox) {
  if (!sandbox) return;
  lua_close(sandbox->lua);
  free(sandbox);
}
