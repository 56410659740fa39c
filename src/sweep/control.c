/* control.c: runs a user's controller in Lua, tick by tick. */
#include "sweep/control.h"

#include "base/file.h"
#include "base/hash.h"
#include "sweep/control_internal.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION "control"
#define ALIVE ((size_t)16 << 20)    /* bytes that a controller may keep */
#define GARBAGE ((size_t)256 << 10) /* bytes allocated from one collection of garbage to the next */

static const tt_lua_limits tick_limits = {.instructions = 100000, .memory = 1 << 20};

/* Keys of the registry. */
static const char environment_key, read_key, write_key;

void tt_control_push_environment(lua_State *lua) {
  lua_rawgetp(lua, LUA_REGISTRYINDEX, &environment_key);
}

void tt_control_push_read(lua_State *lua) { lua_rawgetp(lua, LUA_REGISTRYINDEX, &read_key); }

void tt_control_push_write(lua_State *lua) { lua_rawgetp(lua, LUA_REGISTRYINDEX, &write_key); }

/* The compiled file holds the environment that it was run in last. */
void tt_control_take_environment(lua_State *lua) {
  tt_lua_sandbox_push_file(lua);
  lua_pushvalue(lua, -2);
  lua_setupvalue(lua, -2, 1);
  lua_pop(lua, 1);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &environment_key);
}

/* ---- names ---- */

/* Where `text` stands, or the empty slot for it; NULL: it is too long to be kept. */
static tt_control_name *slot_of(tt_control *control, const char *text, bool is_command) {
  size_t length = strlen(text);
  if (length == 0 || length >= sizeof control->names->text) return NULL;
  uint64_t at = tt_hash_bytes(TT_HASH_START + is_command, text, length);
  for (;; at++) {
    tt_control_name *slot = &control->names[at % TT_CONTROL_NAMES];
    if (!*slot->text || (slot->is_command == is_command && strcmp(slot->text, text) == 0))
      return slot;
  }
}

static tt_status look_up(const tt_control *control, const char *text, tt_control_name *name,
                         tt_error *error) {
  return name->is_command ? tt_control_find_command(&control->port, text, &name->command, error)
                          : tt_control_find_source(&control->port, text, &name->source, error);
}

static tt_status find_name(tt_control *control, const char *text, bool is_command,
                           tt_control_name *name, tt_error *error) {
  tt_control_name *slot = slot_of(control, text, is_command);
  if (slot && *slot->text) {
    *name = *slot;
    return TT_OK;
  }
  *name = (tt_control_name){.is_command = is_command};
  TT_TRY(look_up(control, text, name, error));
  if (!slot || control->name_count >= TT_CONTROL_NAMES / 2) return TT_OK;
  strcpy(name->text, text);
  *slot = *name;
  control->name_count++;
  return TT_OK;
}

/* ---- what the controller calls ---- */

static void push_value(lua_State *lua, const tt_sweep_value *value) {
  switch (value->kind) {
    case TT_SWEEP_NUMBER: lua_pushnumber(lua, value->number); break;
    case TT_SWEEP_TEXT: lua_pushstring(lua, value->text); break;
    case TT_SWEEP_NULL: lua_pushnil(lua); break;
  }
}

static int read_name(lua_State *lua) {
  tt_control *control = tt_lua_sandbox_owner(lua);
  tt_control_name name;
  tt_error error = {{0}};
  if (find_name(control, luaL_checkstring(lua, 1), false, &name, &error) != TT_OK)
    return luaL_error(lua, "%s", error.text);
  if (name.source.parameter >= 0)
    push_value(lua, &control->port.parameters[name.source.parameter].value);
  else
    lua_pushnumber(lua, tt_control_read(&control->port, &name.source));
  return 1;
}

static int write_name(lua_State *lua) {
  tt_control *control = tt_lua_sandbox_owner(lua);
  tt_control_name name;
  tt_error error = {{0}};
  const char *text = luaL_checkstring(lua, 1);
  if (find_name(control, text, true, &name, &error) != TT_OK)
    return luaL_error(lua, "%s", error.text);
  /* A text is no number, also where Lua could read one in it. */
  const int type = lua_type(lua, 2);
  if (type != LUA_TNUMBER && type != LUA_TBOOLEAN)
    return luaL_error(lua, "write: %s: number expected, got %s; give a number, or true or false",
                      text, luaL_typename(lua, 2));
  double value = type == LUA_TBOOLEAN ? lua_toboolean(lua, 2) : lua_tonumber(lua, 2);
  if (tt_control_write(&control->port, name.command, value, &error) != TT_OK)
    return luaL_error(lua, "%s", error.text);
  return 0;
}

/* ---- what runs protected ---- */

static int load(lua_State *lua) {
  tt_control *control = lua_touserdata(lua, 1);
  lua_pushcfunction(lua, read_name);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &read_key);
  lua_pushcfunction(lua, write_name);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &write_key);
  tt_lua_sandbox_push_file(lua);
  tt_control_code_read(&control->code, lua);
  return 0;
}

/* Leaves control(read, write) on the stack. */
static void push_function(lua_State *lua) {
  tt_control_push_environment(lua);
  lua_pushliteral(lua, FUNCTION);
  lua_rawget(lua, -2);
  if (lua_isfunction(lua, -1)) return;
  const tt_control *control = tt_lua_sandbox_owner(lua);
  luaL_error(lua, "%s: it defines no function %s(read, write)",
             tt_lua_sandbox_file(control->sandbox), FUNCTION);
}

static int forget(lua_State *lua) {
  lua_pushnil(lua);
  tt_control_take_environment(lua);
  return 0;
}

static int begin(lua_State *lua) {
  tt_lua_sandbox_run_file(lua);
  tt_control_take_environment(lua);
  push_function(lua);
  return 0;
}

static int tick(lua_State *lua) {
  push_function(lua);
  tt_control_push_read(lua);
  tt_control_push_write(lua);
  lua_call(lua, 2, 0);
  return 0;
}

/* ---- from outside ---- */

static tt_status compile(tt_control *control, const char *path, tt_error *error) {
  const char *slash = strrchr(path, '/');
  tt_bytes text;
  tt_status status = tt_file_read(path, TT_LUA_SOURCE_MAX, &text, error);
  if (status == TT_OK) {
    control->file = tt_hash_bytes(TT_HASH_START, text.data, text.size);
    status =
        tt_lua_sandbox_new((const char *)text.data, text.size, slash ? slash + 1 : path,
                           (tt_lua_keeping){.owner = control, .alive = ALIVE, .garbage = GARBAGE},
                           &control->sandbox, error);
  }
  tt_bytes_free(&text);
  TT_TRY(status);
  control->file_weight = tt_lua_sandbox_weight(control->sandbox);
  return tt_lua_sandbox_run(control->sandbox, NULL, NULL, load, control, error);
}

tt_status tt_control_new(const char *path, tt_control **made, tt_error *error) {
  tt_control *control = calloc(1, sizeof *control);
  if (!control) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  tt_status status = compile(control, path, error);
  if (status == TT_OK)
    *made = control;
  else
    tt_control_free(control);
  return status;
}

void tt_control_free(tt_control *control) {
  if (!control) return;
  tt_lua_sandbox_free(control->sandbox);
  tt_control_code_clear(&control->code);
  tt_control_port_clear(&control->port);
  free(control);
}

/* The file once more, with a fresh environment: what an earlier run kept takes no room from this one. */
static tt_status run_file(tt_control *control, uint64_t seed, tt_error *error) {
  control->noise = tt_noise_of(seed, TT_NO_ROBOT, FUNCTION);
  const tt_lua_chance chance = {control->noise, 0};
  tt_lua_sandbox_set_weight(control->sandbox, control->file_weight);
  TT_TRY(tt_lua_sandbox_run(control->sandbox, NULL, NULL, forget, NULL, error));
  tt_lua_sandbox_collect(control->sandbox);
  return tt_lua_sandbox_run(control->sandbox, NULL, &chance, begin, control, error);
}

tt_status tt_control_check(tt_control *control, tt_error *error) {
  return run_file(control, 0, error);
}

tt_status tt_control_begin(tt_control *control, tt_sim *sim, const tt_control_parameter *parameters,
                           int count, uint64_t seed, tt_error *error) {
  TT_TRY(tt_control_port_begin(&control->port, sim, parameters, count, error));
  memset(control->names, 0, sizeof control->names);
  control->name_count = 0;
  control->ticks = 0;
  return run_file(control, seed, error);
}

tt_status tt_control_tick(tt_control *control, tt_error *error) {
  const tt_lua_chance chance = {control->noise, ++control->ticks};
  tt_status status =
      tt_lua_sandbox_run(control->sandbox, &tick_limits, &chance, tick, control, error);
  if (status == TT_OK) return tt_control_apply(&control->port, error);
  tt_control_forget(&control->port);
  return status;
}
