/* control_state.c: what a Lua controller has made so far, as bytes, and back.
 *
 * The state is a graph: tables, functions, and the variables that functions share (cells), each with a number, and values
 * that name them. A function is its number in the file's code and its cells; what Lua or we brought along is named. So no
 * code is in a state, and one that somebody else wrote can make tables and call the file's functions, and no more.
 *
 *   8 bytes "TTLUA 1\0", u64 hash of the file, u64 ticks, u64 weight, u64 key of chance
 *   u32 tables, functions, cells; then that many records of each, as they were met, the globals first:
 *     'T' u32 length, u32 others: values 1 … length, then a key and a value for each other
 *     'F' u32 number in the code, u8 cells: u32 each
 *     'C' value
 *   value: one byte of enum value_kind, then i64, f64, u32 size and text, u32 number, or u8 size and name
 * Numbers stand as this kind of machine has them.
 */
#include "base/bytes.h"
#include "sweep/control_internal.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "TTLUA 1"
#define STATE_MAX ((size_t)16 << 20)
#define PATH_SIZE 160
#define COUNTS_AT (sizeof MAGIC + 4 * sizeof(uint64_t))

enum value_kind { NIL, FALSE, TRUE, INTEGER, FLOAT, TEXT, TABLE, FUNCTION, BUILTIN };
enum object_kind { TABLES, FUNCTIONS, CELLS, OBJECT_KINDS };

/* Saving keeps lists of what it meets, and restoring rebuilds the state, beside the one that is there. */
static const tt_lua_limits limits = {
    .instructions = INT64_MAX, .memory = (size_t)1 << 28, .alive = (size_t)1 << 28};

/* ---- what isn't the file's own: named ---- */

/* The table at `names` gets value → name, and name → value. */
static void name_builtin(lua_State *lua, int names, const char *prefix, const char *name) {
  lua_pushfstring(lua, "%s%s", prefix, name);
  lua_pushvalue(lua, -2);
  lua_pushvalue(lua, -2);
  lua_rawset(lua, names);
  lua_pushvalue(lua, -2);
  lua_rawset(lua, names);
}

static void name_fields(lua_State *lua, int names, const char *prefix);

/* The value on top of the stack: math and table show another table that only their metatable names. */
static void name_field(lua_State *lua, int names, const char *prefix, const char *name) {
  if (lua_isfunction(lua, -1) || lua_istable(lua, -1)) name_builtin(lua, names, prefix, name);
  if (!lua_istable(lua, -1) || !lua_getmetatable(lua, -1)) return;
  lua_getfield(lua, -1, "__index");
  name_fields(lua, names, lua_pushfstring(lua, "%s.", name));
  lua_pop(lua, 3);
}

/* All fields of the table below the top of the stack (`prefix` stands there) or on it. */
static void name_fields(lua_State *lua, int names,
                        const char *prefix) {  // NOLINT(misc-no-recursion): two deep
  int table = lua_gettop(lua) - (*prefix != 0);
  for (lua_pushnil(lua); lua_next(lua, table); lua_pop(lua, 1))
    name_field(lua, names, prefix, lua_tostring(lua, -2));
}

/* Leaves the table of builtins on the stack. */
static void push_builtins(lua_State *lua) {
  luaL_checkstack(lua, 40, NULL);
  lua_newtable(lua);
  int names = lua_gettop(lua);
  tt_lua_sandbox_push_base(lua);
  name_fields(lua, names, "");
  lua_pop(lua, 1);
  tt_control_push_read(lua);
  name_builtin(lua, names, "", "read");
  tt_control_push_write(lua);
  name_builtin(lua, names, "", "write");
  lua_settop(lua, names);
}

/* ---- saving ---- */

/* What is on Lua's stack while a state is made; each list has the objects of a kind by number, `numbers` their numbers. */
enum { ARGUMENT = 1, BUILTINS, NUMBERS, PATHS, LISTS, PLACES = LISTS + OBJECT_KINDS, HELD };

typedef struct saving {
  tt_control *control;
  tt_bytes bytes;
  uint32_t counts[OBJECT_KINDS];
  tt_status status;       /* TT_FULL, TT_NOMEM, TT_INVALID: why it could not be saved */
  char holder[PATH_SIZE]; /* what is being written, as people call it */
} saving;

static void put(saving *to, lua_State *lua, const void *bytes, size_t size) {
  if (size > STATE_MAX - to->bytes.size) {
    to->status = TT_FULL;
    luaL_error(lua, "its state is larger than %d MiB", (int)(STATE_MAX >> 20));
  }
  tt_bytes_append(&to->bytes, bytes, size);
  if (!to->bytes.failed) return;
  to->status = TT_NOMEM;
  luaL_error(lua, "out of memory");
}

static void put_byte(saving *to, lua_State *lua, int byte) {
  put(to, lua, &(uint8_t){(uint8_t)byte}, 1);
}

static void put_count(saving *to, lua_State *lua, size_t count) {
  put(to, lua, &(uint32_t){(uint32_t)count}, sizeof(uint32_t));
}

static void put_word(saving *to, lua_State *lua, uint64_t word) {
  put(to, lua, &word, sizeof word);
}

/* The number of the object on top of the stack, which may be new; `id` on top of it is what it is known by. Takes both. */
static uint32_t number_of(saving *to, lua_State *lua, enum object_kind kind, const char *path) {
  lua_pushvalue(lua, -1);
  if (lua_rawget(lua, NUMBERS) == LUA_TNIL) {
    uint32_t number = ++to->counts[kind];
    lua_pop(lua, 1);
    lua_pushinteger(lua, number);
    lua_rawset(lua, NUMBERS);
    lua_rawseti(lua, LISTS + (int)kind, number);
    if (kind == CELLS) return number;
    lua_rawgeti(lua, LISTS + (int)kind, number);
    lua_pushstring(lua, path);
    lua_rawset(lua, PATHS);
    return number;
  }
  uint32_t number = (uint32_t)lua_tointeger(lua, -1);
  lua_pop(lua, 3);
  return number;
}

static void put_object(saving *to, lua_State *lua, enum object_kind kind, const char *path) {
  lua_pushvalue(lua, -1);
  lua_pushvalue(lua, -1);
  uint32_t number = number_of(to, lua, kind, path);
  put_byte(to, lua, kind == TABLES ? TABLE : FUNCTION);
  put_count(to, lua, number);
}

static bool put_builtin(saving *to, lua_State *lua) {
  size_t length;
  lua_pushvalue(lua, -1);
  lua_rawget(lua, BUILTINS);
  const char *name = lua_tolstring(lua, -1, &length);
  if (name) {
    put_byte(to, lua, BUILTIN);
    put_byte(to, lua, (int)length);
    put(to, lua, name, length);
  }
  lua_pop(lua, 1);
  return name != NULL;
}

static void put_number(saving *to, lua_State *lua) {
  uint64_t bits;
  if (lua_isinteger(lua, -1)) {
    bits = (uint64_t)lua_tointeger(lua, -1);
  } else {
    double number = lua_tonumber(lua, -1);
    memcpy(&bits, &number, sizeof bits);
  }
  put_byte(to, lua, lua_isinteger(lua, -1) ? INTEGER : FLOAT);
  put_word(to, lua, bits);
}

static void put_text(saving *to, lua_State *lua) {
  size_t length;
  const char *text = lua_tolstring(lua, -1, &length);
  put_byte(to, lua, TEXT);
  put_count(to, lua, length < UINT32_MAX ? length : UINT32_MAX);
  put(to, lua, text, length);
}

/* The value on top of the stack, which stays. */
static void put_value(saving *to, lua_State *lua, const char *path) {
  switch (lua_type(lua, -1)) {
    case LUA_TNIL: put_byte(to, lua, NIL); return;
    case LUA_TBOOLEAN: put_byte(to, lua, lua_toboolean(lua, -1) ? TRUE : FALSE); return;
    case LUA_TNUMBER: put_number(to, lua); return;
    case LUA_TSTRING: put_text(to, lua); return;
    case LUA_TTABLE:
      if (!put_builtin(to, lua)) put_object(to, lua, TABLES, path);
      return;
    case LUA_TFUNCTION:
      if (put_builtin(to, lua)) return;
      if (!lua_iscfunction(lua, -1)) {
        put_object(to, lua, FUNCTIONS, path);
        return;
      }
      break;
    default: break;
  }
  to->status = TT_INVALID;
  luaL_error(lua, "%s is an iterator, as pairs() makes it: that can't be saved", path);
}

/* "pid.integral", of the field whose key is at `key`. */
static const char *path_of_field(const saving *to, lua_State *lua, int key, char *path) {
  lua_pushvalue(lua, key);
  const char *name = lua_isstring(lua, -1) ? lua_tostring(lua, -1) : luaL_typename(lua, -1);
  snprintf(path, PATH_SIZE, "%.100s%s%.50s", to->holder, *to->holder ? "." : "", name);
  lua_pop(lua, 1);
  return path;
}

static void recall_path(saving *to, lua_State *lua) {
  lua_pushvalue(lua, -1);
  lua_rawget(lua, PATHS);
  const char *path = lua_tostring(lua, -1);
  snprintf(to->holder, sizeof to->holder, "%s", path ? path : "");
  lua_pop(lua, 1);
}

/* Whether the key on top of the stack is among 1 … length. */
static bool is_in_order(lua_State *lua, lua_Integer length) {
  if (!lua_isinteger(lua, -1)) return false;
  lua_Integer key = lua_tointeger(lua, -1);
  return key >= 1 && key <= length;
}

/* The table on top of the stack, which it takes. */
static void put_table(saving *to, lua_State *lua) {
  char path[PATH_SIZE];
  int table = lua_gettop(lua);
  lua_Integer length = (lua_Integer)lua_rawlen(lua, table), others = 0;
  lua_Integer keys = tt_lua_sandbox_push_keys(lua, table, true);
  for (lua_Integer i = 1; i <= keys; i++) {
    lua_rawgeti(lua, table + 1, i);
    others += !is_in_order(lua, length);
    lua_pop(lua, 1);
  }
  put_byte(to, lua, 'T');
  put_count(to, lua, (size_t)length);
  put_count(to, lua, (size_t)others);
  for (lua_Integer i = 1; i <= length; i++) {
    lua_pushinteger(lua, i);
    lua_rawgeti(lua, table, i);
    put_value(to, lua, path_of_field(to, lua, table + 2, path));
    lua_settop(lua, table + 1);
  }
  for (lua_Integer i = 1; i <= keys; i++) {
    lua_rawgeti(lua, table + 1, i);
    if (!is_in_order(lua, length)) {
      path_of_field(to, lua, table + 2, path);
      put_value(to, lua, path);
      lua_pushvalue(lua, -1);
      lua_rawget(lua, table);
      put_value(to, lua, path);
    }
    lua_settop(lua, table + 1);
  }
  lua_settop(lua, table - 1);
}

/* The function on top of the stack, which it takes. */
static void put_function(saving *to, lua_State *lua) {
  int function = lua_gettop(lua), index = tt_control_code_find(&to->control->code, lua);
  if (index < 0) luaL_error(lua, "%s: this function can't be found in the file", to->holder);
  int cells = to->control->code.functions[index].upvalues;
  put_byte(to, lua, 'F');
  put_count(to, lua, (size_t)index);
  put_byte(to, lua, cells);
  for (int i = 1; i <= cells; i++) {
    uint32_t known = to->counts[CELLS];
    lua_pushvalue(lua, function);
    lua_pushlightuserdata(lua, lua_upvalueid(lua, function, i));
    uint32_t number = number_of(to, lua, CELLS, NULL);
    put_count(to, lua, number);
    if (number <= known) continue;
    lua_pushinteger(lua, i); /* where it is found: in the function that is listed for it */
    lua_rawseti(lua, PLACES, number);
  }
  lua_settop(lua, function - 1);
}

/* The cell `number`; its function is on top of the stack, which it takes. */
static void put_cell(saving *to, lua_State *lua, uint32_t number) {
  char path[PATH_SIZE];
  recall_path(to, lua);
  lua_rawgeti(lua, PLACES, number);
  int place = (int)lua_tointeger(lua, -1);
  lua_pop(lua, 1);
  const char *name = lua_getupvalue(lua, -1, place);
  snprintf(path, sizeof path, "%.50s in %.100s", name ? name : "?", to->holder);
  put_byte(to, lua, 'C');
  put_value(to, lua, path);
  lua_pop(lua, 2);
}

/* Writes every object that is met until there is none left. */
static void put_objects(saving *to, lua_State *lua) {
  uint32_t done[OBJECT_KINDS] = {0};
  for (bool more = true; more;) {
    more = false;
    for (int kind = 0; kind < OBJECT_KINDS; kind++) {
      if (done[kind] == to->counts[kind]) continue;
      more = true;
      lua_rawgeti(lua, LISTS + kind, ++done[kind]);
      if (kind == CELLS) {
        put_cell(to, lua, done[kind]);
        continue;
      }
      recall_path(to, lua);
      (kind == TABLES ? put_table : put_function)(to, lua);
    }
  }
}

static int save(lua_State *lua) {
  saving *to = lua_touserdata(lua, ARGUMENT);
  luaL_checkstack(lua, 60, NULL);
  push_builtins(lua);
  for (int i = NUMBERS; i < HELD; i++) lua_newtable(lua);
  put(to, lua, MAGIC, sizeof MAGIC);
  put_word(to, lua, to->control->file);
  put_word(to, lua, to->control->ticks);
  put_word(to, lua, (uint64_t)tt_lua_sandbox_weight(to->control->sandbox));
  put_word(to, lua, to->control->noise.key);
  for (int i = 0; i < OBJECT_KINDS; i++) put_count(to, lua, 0);
  tt_control_push_environment(lua);
  lua_pushvalue(lua, -1);
  number_of(to, lua, TABLES, "");
  put_objects(to, lua);
  memcpy(to->bytes.data + COUNTS_AT, to->counts, sizeof to->counts);
  return 0;
}

/* ---- restoring ---- */

typedef struct restoring {
  tt_control *control;
  const uint8_t *bytes;
  size_t size, at;
  uint64_t ticks, weight, key;
  uint32_t counts[OBJECT_KINDS];
} restoring;

static const uint8_t *take(restoring *from, lua_State *lua, size_t size) {
  if (size > from->size - from->at) luaL_error(lua, "it is cut off");
  from->at += size;
  return from->bytes + from->at - size;
}

static uint32_t take_count(restoring *from, lua_State *lua) {
  uint32_t count;
  memcpy(&count, take(from, lua, sizeof count), sizeof count);
  return count;
}

static uint64_t take_word(restoring *from, lua_State *lua) {
  uint64_t word;
  memcpy(&word, take(from, lua, sizeof word), sizeof word);
  return word;
}

static uint32_t take_number(restoring *from, lua_State *lua, enum object_kind kind) {
  uint32_t number = take_count(from, lua);
  if (number < 1 || number > from->counts[kind]) luaL_error(lua, "it names what it doesn't have");
  return number;
}

static void push_float(lua_State *lua, uint64_t bits) {
  double number;
  memcpy(&number, &bits, sizeof number);
  lua_pushnumber(lua, number);
}

/* Leaves the next value on the stack. */
static void take_value(restoring *from, lua_State *lua) {
  size_t length;
  switch (*take(from, lua, 1)) {
    case NIL: lua_pushnil(lua); break;
    case FALSE: lua_pushboolean(lua, false); break;
    case TRUE: lua_pushboolean(lua, true); break;
    case INTEGER: lua_pushinteger(lua, (lua_Integer)take_word(from, lua)); break;
    case FLOAT: push_float(lua, take_word(from, lua)); break;
    case TEXT:
      length = take_count(from, lua);
      lua_pushlstring(lua, (const char *)take(from, lua, length), length);
      break;
    case TABLE: lua_rawgeti(lua, LISTS + TABLES, take_number(from, lua, TABLES)); break;
    case FUNCTION: lua_rawgeti(lua, LISTS + FUNCTIONS, take_number(from, lua, FUNCTIONS)); break;
    case BUILTIN:
      length = *take(from, lua, 1);
      lua_pushlstring(lua, (const char *)take(from, lua, length), length);
      if (lua_rawget(lua, BUILTINS) == LUA_TNIL) luaL_error(lua, "it names what there is not");
      break;
    default: luaL_error(lua, "it has a value of no kind");
  }
}

static void skip_value(restoring *from, lua_State *lua) {
  switch (*take(from, lua, 1)) {
    case INTEGER:
    case FLOAT: take(from, lua, 8); break;
    case TABLE:
    case FUNCTION: take(from, lua, 4); break;
    case TEXT: take(from, lua, take_count(from, lua)); break;
    case BUILTIN: take(from, lua, *take(from, lua, 1)); break;
    default: break;
  }
}

/* First way through: every object is made, empty. */
static void make_table(restoring *from, lua_State *lua, uint32_t number) {
  uint32_t length = take_count(from, lua), others = take_count(from, lua);
  if (length > from->size - from->at || others > (from->size - from->at) / 2)
    luaL_error(lua, "it is cut off");
  if (number == 1)
    tt_lua_sandbox_push_environment(lua);
  else
    lua_createtable(lua, (int)length, (int)others);
  lua_rawseti(lua, LISTS + TABLES, number);
  for (uint64_t i = 0; i < (uint64_t)length + 2 * (uint64_t)others; i++) skip_value(from, lua);
}

static void make_function(restoring *from, lua_State *lua, uint32_t number) {
  const tt_control_code *code = &from->control->code;
  uint32_t index = take_count(from, lua);
  int cells = *take(from, lua, 1);
  if (index >= (uint32_t)code->count || code->functions[index].upvalues != cells)
    luaL_error(lua, "it has a function that this file doesn't have");
  tt_control_code_make(code, (int)index, lua);
  int function = lua_gettop(lua);
  for (int i = 1; i <= cells; i++) {
    uint32_t cell = take_number(from, lua, CELLS);
    if (lua_rawgeti(lua, LISTS + CELLS, cell) == LUA_TNIL) { /* the first that uses it has it */
      lua_pushvalue(lua, function);
      lua_rawseti(lua, LISTS + CELLS, cell);
      lua_pushinteger(lua, i);
      lua_rawseti(lua, PLACES, cell);
    } else {
      lua_rawgeti(lua, PLACES, cell);
      lua_upvaluejoin(lua, function, i, function + 1, (int)lua_tointeger(lua, -1));
    }
    lua_settop(lua, function);
  }
  lua_rawseti(lua, LISTS + FUNCTIONS, number);
}

/* Second way: they are filled. */
static void fill_table(restoring *from, lua_State *lua, uint32_t number) {
  uint32_t length = take_count(from, lua), others = take_count(from, lua);
  lua_rawgeti(lua, LISTS + TABLES, number);
  int table = lua_gettop(lua);
  for (uint32_t i = 1; i <= length; i++) {
    take_value(from, lua);
    lua_rawseti(lua, table, i);
  }
  for (uint32_t i = 0; i < others; i++) {
    take_value(from, lua);
    take_value(from, lua);
    lua_rawset(lua, table);
  }
  if (lua_rawlen(lua, table) != length)
    luaL_error(lua,
               "a table has gaps between 1 and its length, so that its length is anybody's guess");
  lua_settop(lua, table - 1);
}

static void fill_cell(restoring *from, lua_State *lua, uint32_t number) {
  if (lua_rawgeti(lua, LISTS + CELLS, number) == LUA_TNIL)
    luaL_error(lua, "it has a variable of no function");
  int function = lua_gettop(lua);
  lua_rawgeti(lua, PLACES, number);
  int place = (int)lua_tointeger(lua, -1);
  take_value(from, lua);
  lua_setupvalue(lua, function, place);
  lua_settop(lua, function - 1);
}

static void pass(restoring *from, lua_State *lua, bool fills) {
  uint32_t done[OBJECT_KINDS] = {0};
  while (from->at < from->size) {
    switch (*take(from, lua, 1)) {
      case 'T': (fills ? fill_table : make_table)(from, lua, ++done[TABLES]); break;
      case 'F':
        ++done[FUNCTIONS];
        if (fills)
          take(from, lua, 4), take(from, lua, 4 * (size_t)*take(from, lua, 1));
        else
          make_function(from, lua, done[FUNCTIONS]);
        break;
      case 'C':
        ++done[CELLS];
        if (fills)
          fill_cell(from, lua, done[CELLS]);
        else
          skip_value(from, lua);
        break;
      default: luaL_error(lua, "it has a record of no kind");
    }
  }
  if (memcmp(done, from->counts, sizeof done) != 0 || done[TABLES] == 0)
    luaL_error(lua, "it has not what it says");
}

static void take_header(restoring *from, lua_State *lua) {
  if (memcmp(take(from, lua, sizeof MAGIC), MAGIC, sizeof MAGIC) != 0)
    luaL_error(lua, "it is no state of a controller");
  if (take_word(from, lua) != from->control->file)
    luaL_error(lua, "it is the state of another file, or the file has changed since");
  from->ticks = take_word(from, lua);
  from->weight = take_word(from, lua);
  from->key = take_word(from, lua);
  if (from->weight < 1 || from->weight > STATE_MAX) luaL_error(lua, "it has a weight out of range");
  for (int i = 0; i < OBJECT_KINDS; i++) from->counts[i] = take_count(from, lua);
}

static int restore(lua_State *lua) {
  restoring *from = lua_touserdata(lua, ARGUMENT);
  luaL_checkstack(lua, 60, NULL);
  push_builtins(lua);
  for (int i = NUMBERS; i < HELD; i++) lua_newtable(lua);
  take_header(from, lua);
  size_t records = from->at;
  pass(from, lua, false);
  from->at = records;
  pass(from, lua, true);
  lua_rawgeti(lua, LISTS + TABLES, 1);
  tt_control_take_environment(lua);
  return 0;
}

tt_status tt_control_restore(tt_control *control, const void *state, size_t size, tt_error *error) {
  const char *file = tt_lua_sandbox_file(control->sandbox);
  if (size > STATE_MAX) return tt_fail(error, TT_INVALID, "%s: a state is never so large", file);
  restoring from = {.control = control, .bytes = state, .size = size};
  tt_error why;
  tt_lua_sandbox_collect(control->sandbox);
  int64_t weight = tt_lua_sandbox_weight(control->sandbox);
  if (tt_lua_sandbox_run(control->sandbox, &limits, NULL, restore, &from, &why) != TT_OK) {
    tt_lua_sandbox_set_weight(control->sandbox, weight);
    return tt_fail(error, TT_INVALID, "%s: this state can't be taken: %s", file, why.text);
  }
  tt_lua_sandbox_collect(control->sandbox);
  tt_lua_sandbox_set_weight(control->sandbox, (int64_t)from.weight);
  control->ticks = from.ticks;
  control->noise.key = from.key;
  return TT_OK;
}

tt_status tt_control_save(tt_control *control, void **state, size_t *size, tt_error *error) {
  saving to = {.control = control, .status = TT_FAILED};
  int64_t weight = tt_lua_sandbox_weight(control->sandbox);
  tt_error why;
  tt_status status = tt_lua_sandbox_run(control->sandbox, &limits, NULL, save, &to, &why);
  tt_lua_sandbox_set_weight(control->sandbox, weight);
  if (status != TT_OK)
    status = tt_fail(error, to.status, "%s: can't be saved: %s",
                     tt_lua_sandbox_file(control->sandbox), why.text);
  else /* so that what goes on and what is restored are laid out alike, and a state that can't be restored is never given */
    status = tt_control_restore(control, to.bytes.data, to.bytes.size, error);
  if (status != TT_OK) {
    tt_bytes_free(&to.bytes);
    return status;
  }
  *state = to.bytes.data;
  *size = to.bytes.size;
  return TT_OK;
}
