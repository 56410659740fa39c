/* metric_lua.c: a user's function over the samples of a run:
 *
 *   function measure(read, count, tick)
 *     local worst = 0
 *     for k = 1, count do worst = math.max(worst, math.abs(read("arm.position", k) - 1)) end
 *     return worst
 *   end
 *
 * The samples stay outside of Lua: read() fetches them one by one, so that its limits are for what the function itself makes.
 */
#include "base/file.h"
#include "robot/lua_sandbox.h"
#include "sweep/metric_internal.h"

#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sweep_lua {
  const tt_metric_keys *keys;
  const char *where;
  tt_lua_sandbox *sandbox;
  int64_t weight; /* of an instruction, with the file's own texts */
  double tick;
  tt_signal signals[TT_METRIC_LUA_SIGNALS];
  size_t signal_count, sample_count, capacity; /* the last two in samples of all signals */
  double *samples;
  bool too_many;
};

/* read(NAME, K): sample K, from 1, of a signal. */
static int read_sample(lua_State *lua) {
  const sweep_lua *self = tt_lua_sandbox_owner(lua);
  const char *name = luaL_checkstring(lua, 1);
  lua_Integer k = luaL_checkinteger(lua, 2);
  for (size_t i = 0; i < self->signal_count; i++) {
    if (strcmp(self->keys->signals[i], name) != 0) continue;
    if (k < 1 || (lua_Unsigned)k > self->sample_count)
      return luaL_error(lua, "there is no sample %I; there are 1 to %I", (LUAI_UACINT)k,
                        (LUAI_UACINT)self->sample_count);
    lua_pushnumber(lua, self->samples[((size_t)k - 1) * self->signal_count + i]);
    return 1;
  }
  return luaL_error(lua, "'%s' is not among the metric's signals", name);
}

/* Runs the file and leaves the function on the stack. */
static int push_function(lua_State *lua) {
  const sweep_lua *self = tt_lua_sandbox_owner(lua);
  tt_lua_sandbox_run_file(lua);
  lua_pushstring(lua, self->keys->function);
  lua_rawget(lua, -2);
  if (lua_isfunction(lua, -1)) return 1;
  return luaL_error(lua, "%s: it defines no function %s(read, count, tick)",
                    tt_lua_sandbox_file(self->sandbox), self->keys->function);
}

static int measure(lua_State *lua) {
  double *value = lua_touserdata(lua, 1);
  const sweep_lua *self = tt_lua_sandbox_owner(lua);
  push_function(lua);
  lua_pushcfunction(lua, read_sample);
  lua_pushinteger(lua, (lua_Integer)self->sample_count);
  lua_pushnumber(lua, self->tick);
  lua_call(lua, 3, 1);
  if (lua_isnil(lua, -1)) return 0;
  const char *file = tt_lua_sandbox_file(self->sandbox);
  int type = lua_type(lua, -1);
  if (type != LUA_TNUMBER && type != LUA_TBOOLEAN)
    return luaL_error(lua, "%s: %s() must give a number or nil, not a %s", file,
                      self->keys->function, luaL_typename(lua, -1));
  *value = type == LUA_TBOOLEAN ? lua_toboolean(lua, -1) : lua_tonumber(lua, -1);
  if (isfinite(*value)) return 0;
  return luaL_error(lua, "%s: %s() gave a number that is not finite", file, self->keys->function);
}

static tt_status compile(sweep_lua *self, tt_error *error) {
  const char *slash = strrchr(self->keys->lua, '/'), *name = slash ? slash + 1 : self->keys->lua;
  tt_bytes text;
  tt_error why;
  tt_status status = tt_file_read(self->keys->lua, TT_LUA_SOURCE_MAX, &text, &why);
  if (status == TT_OK)
    status = tt_lua_sandbox_new((const char *)text.data, text.size, name,
                                (tt_lua_keeping){.owner = self}, &self->sandbox, &why);
  tt_bytes_free(&text);
  if (status == TT_OK &&
      tt_lua_sandbox_run(self->sandbox, NULL, NULL, push_function, NULL, &why) != TT_OK)
    status = TT_INVALID;
  if (status == TT_OK) {
    self->weight = tt_lua_sandbox_weight(self->sandbox);
    return TT_OK;
  }
  return tt_fail(error, status, "%s.lua: %s", self->where, why.text);
}

static tt_status find_signals(sweep_lua *self, const tt_names *names, tt_error *error) {
  for (unsigned i = 0; i < self->keys->signals_count; i++) {
    char where[600];
    snprintf(where, sizeof where, "%s.signals[%u]", self->where, i);
    TT_TRY(tt_names_find_signal(names, self->keys->signals[i], TT_NO_ROBOT, where,
                                &self->signals[i], error));
  }
  self->signal_count = self->keys->signals_count;
  return TT_OK;
}

tt_status sweep_lua_new(const tt_metric_keys *keys, const char *where, const tt_names *names,
                        double tick, sweep_lua **lua, tt_error *error) {
  sweep_lua *self = calloc(1, sizeof *self);
  if (!self) return tt_fail(error, TT_NOMEM, "out of memory");
  *self = (sweep_lua){.keys = keys, .where = where, .tick = tick};
  tt_status status = find_signals(self, names, error);
  if (status == TT_OK) status = compile(self, error);
  if (status == TT_OK)
    *lua = self;
  else
    sweep_lua_free(self);
  return status;
}

void sweep_lua_free(sweep_lua *self) {
  if (!self) return;
  tt_lua_sandbox_free(self->sandbox);
  free(self->samples);
  free(self);
}

void sweep_lua_begin(sweep_lua *self) {
  self->sample_count = 0;
  self->too_many = false;
}

static tt_status grow(sweep_lua *self, tt_error *error) {
  size_t capacity = self->capacity ? 2 * self->capacity : 1024;
  if (capacity * self->signal_count > TT_METRIC_LUA_VALUES)
    capacity = TT_METRIC_LUA_VALUES / self->signal_count;
  double *grown = realloc(self->samples, capacity * self->signal_count * sizeof *grown);
  if (!grown) return tt_fail(error, TT_NOMEM, "%s: out of memory", self->where);
  self->samples = grown;
  self->capacity = capacity;
  return TT_OK;
}

tt_status sweep_lua_sample(sweep_lua *self, const tt_view *view, tt_error *error) {
  if ((self->sample_count + 1) * self->signal_count > TT_METRIC_LUA_VALUES) self->too_many = true;
  if (self->too_many) return TT_OK;
  if (self->sample_count == self->capacity) TT_TRY(grow(self, error));
  double *sample = self->samples + self->sample_count++ * self->signal_count;
  for (size_t i = 0; i < self->signal_count; i++)
    sample[i] = tt_signal_read(&self->signals[i], view);
  return TT_OK;
}

tt_status sweep_lua_end(sweep_lua *self, double *value, tt_error *error) {
  double result = NAN;
  tt_error why;
  *value = NAN;
  if (self->too_many)
    return tt_fail(error, TT_FULL,
                   "%s: the run has more samples than are kept for a function, %zu of each signal; "
                   "name fewer signals, or make duration shorter or io_period longer",
                   self->where, TT_METRIC_LUA_VALUES / self->signal_count);
  tt_lua_sandbox_set_weight(self->sandbox, self->weight);
  tt_status status =
      tt_lua_sandbox_run(self->sandbox, &self->keys->limits, NULL, measure, &result, &why);
  if (status != TT_OK) return tt_fail(error, status, "%s.lua: %s", self->where, why.text);
  *value = result * self->keys->given->scale;
  return TT_OK;
}
