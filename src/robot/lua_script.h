/* lua_script.h: a user's Lua 5.4 function over signals, in a sandbox without memory.
 *
 * The file is run afresh, in a new environment, at every call, and nothing it makes outlives the call: there is no
 * Lua state to save, and a restored run goes on as the one that went on. It sees
 *   assert error ipairs pairs select tonumber tostring type
 *   math.* (its random is seeded by the scene, the sensor's name and the step; there is no randomseed)
 *   table.concat .insert .pack .remove .unpack
 * and nothing else: no files, clock, loading, metatables, coroutines, strings' methods, protected calls or addresses.
 * pairs() goes through keys in order: numbers, then texts by their bytes, then booleans. Each call may execute a
 * number of instructions and allocate a number of bytes, all told; beyond them it fails. Once there is a text of more than
 * 256 bytes, every instruction counts for the time that going through it takes, one more for every 256 bytes.
 */
#ifndef TT_ROBOT_LUA_SCRIPT_H
#define TT_ROBOT_LUA_SCRIPT_H

#include "base/status.h"
#include "robot/noise.h"

#include <stddef.h>
#include <stdint.h>

#define TT_LUA_SOURCE_MAX 65536 /**< bytes of a file */

typedef struct tt_lua_script tt_lua_script;

typedef struct tt_lua_limits {
  uint64_t instructions; /**< of the virtual machine, a call */
  size_t memory;         /**< bytes allocated, a call */
} tt_lua_limits;

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
