/* lua_script.c: a function of a file, run afresh at each call. */
#include "robot/lua_script.h"

#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct tt_lua_script {
  tt_lua_sandbox *sandbox;
  tt_lua_limits limits;
  int64_t file_weight; /* of an instruction, with the texts that the file brings along */
  const tt_lua_host *host;
  char function[64];
};

static int read_signal(lua_State *lua) {
  const char *name = luaL_checkstring(lua, 1);
  const tt_lua_script *script = tt_lua_sandbox_owner(lua);
  double value = 0;
  tt_error error = {{0}};
  if (!script->host || script->host->read(script->host->context, name, &value, &error) != TT_OK)
    return luaL_error(lua, "%s", error.text);
  lua_pushnumber(lua, value);
  return 1;
}

/* Runs the file and leaves the function it defines on the stack. */
static void push_function(lua_State *lua, const tt_lua_script *script) {
  tt_lua_sandbox_run_file(lua);
  lua_pushstring(lua, script->function);
  lua_rawget(lua, -2);
}

static int try_file(lua_State *lua) {
  const tt_lua_script *script = lua_touserdata(lua, 1);
  push_function(lua, script);
  if (lua_isfunction(lua, -1)) return 0;
  return luaL_error(lua, "%s: it defines no function %s(read)",
                    tt_lua_sandbox_file(script->sandbox), script->function);
}

static int call(lua_State *lua) {
  double *value = lua_touserdata(lua, 1);
  const tt_lua_script *script = tt_lua_sandbox_owner(lua);
  const char *file = tt_lua_sandbox_file(script->sandbox);
  push_function(lua, script);
  lua_pushcfunction(lua, read_signal);
  lua_call(lua, 1, 1);
  int type = lua_type(lua, -1);
  if (type != LUA_TNUMBER && type != LUA_TBOOLEAN)
    return luaL_error(lua, "%s: %s() must give a number, not a %s", file, script->function,
                      luaL_typename(lua, -1));
  *value = type == LUA_TBOOLEAN ? lua_toboolean(lua, -1) : lua_tonumber(lua, -1);
  if (!isfinite(*value))
    return luaL_error(lua, "%s: %s() gave a number that is not finite", file, script->function);
  return 0;
}

tt_status tt_lua_script_new(const char *text, size_t length, const char *file, const char *function,
                            tt_lua_limits limits, tt_lua_script **made, tt_error *error) {
  *made = NULL;
  tt_lua_script *script = calloc(1, sizeof *script);
  if (!script) return tt_fail(error, TT_NOMEM, "%s: out of memory", file);
  script->limits = limits;
  strncpy(script->function, function, sizeof script->function - 1);
  tt_status status = tt_lua_sandbox_new(text, length, file, (tt_lua_keeping){.owner = script},
                                        &script->sandbox, error);
  if (status == TT_OK &&
      tt_lua_sandbox_run(script->sandbox, NULL, NULL, try_file, script, error) != TT_OK)
    status = TT_INVALID;
  if (status != TT_OK) {
    tt_lua_script_free(script);
    return status;
  }
  script->file_weight = tt_lua_sandbox_weight(script->sandbox);
  *made = script;
  return TT_OK;
}

void tt_lua_script_free(tt_lua_script *script) {
  if (!script) return;
  tt_lua_sandbox_free(script->sandbox);
  free(script);
}

tt_status tt_lua_script_call(tt_lua_script *script, const tt_lua_host *host, double *value,
                             tt_error *error) {
  const tt_lua_chance chance = {host->noise, host->step};
  script->host = host;
  tt_lua_sandbox_set_weight(script->sandbox, script->file_weight);
  double result = 0;
  tt_status status =
      tt_lua_sandbox_run(script->sandbox, &script->limits, &chance, call, &result, error);
  script->host = NULL;
  if (status == TT_OK) *value = result;
  return status == TT_FULL ? TT_FAILED : status;
}
