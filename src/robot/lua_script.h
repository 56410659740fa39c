/* lua_script.h: a user's Lua 5.4 function over signals, in a sandbox without memory.
 *
 * The file is run afresh, in a new environment, at every call, and nothing it makes outlives the call: there is no
 * Lua state to save, and a restored run goes on as the one that went on. What it sees and may take: lua_sandbox.h.
 * math.random follows the scene's seed, the sensor's name and the step.
 */
#ifndef TT_ROBOT_LUA_SCRIPT_H
#define TT_ROBOT_LUA_SCRIPT_H

#include "robot/lua_sandbox.h"

typedef struct tt_lua_script tt_lua_script;

/** What a call may ask. */
typedef struct tt_lua_host {
  /** A signal's value, or a failure that says why not. */
  tt_status (*read)(void *context, const char *name, double *value, tt_error *error);
  void *context;
  tt_noise noise; /**< of math.random … */
  uint64_t step;  /**< … at this step */
} tt_lua_host;

/** Compiles `text` (copied; source only, never bytecode), runs it once, and checks that it defines the global
 *  `function`. `file` names it in errors: TT_INVALID with "file:line: what". */
tt_status tt_lua_script_new(const char *text, size_t length, const char *file, const char *function,
                            tt_lua_limits limits, tt_lua_script **script, tt_error *error);
void tt_lua_script_free(tt_lua_script *script);

/** Calls function(read) where read(name) gives a signal; a finite number or a boolean comes back. TT_FAILED with
 *  "file:line: what" in `error` otherwise. */
tt_status tt_lua_script_call(tt_lua_script *script, const tt_lua_host *host, double *value,
                             tt_error *error);

#endif
