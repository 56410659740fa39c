/* lua_sandbox.h: a Lua 5.4 state in which a user's file can do no harm: what it sees, what it may take, and how it ends.
 *
 * A file sees
 *   assert error ipairs pairs select tonumber tostring type
 *   math.* (its random follows a tt_lua_chance; there is no randomseed)
 *   table.concat .insert .pack .remove .unpack
 * and nothing else: no files, clock, loading, metatables, coroutines, strings' methods, protected calls or addresses.
 * pairs() goes through keys in order: numbers, then texts by their bytes, then booleans. Each call may execute a
 * number of instructions and allocate a number of bytes, all told; beyond them it fails. Once there is a text of more than
 * 256 bytes, every instruction counts for the time that going through it takes, one more for every 256 bytes.
 *
 * Functions that take a lua_State are for those that tt_lua_sandbox_run() calls, which may raise errors of Lua.
 */
#ifndef TT_ROBOT_LUA_SANDBOX_H
#define TT_ROBOT_LUA_SANDBOX_H

#include "base/status.h"
#include "robot/noise.h"

#include <stddef.h>
#include <stdint.h>

#define TT_LUA_SOURCE_MAX 65536 /**< bytes of a file */

typedef struct tt_lua_sandbox tt_lua_sandbox;
typedef struct lua_State lua_State;

typedef struct tt_lua_limits {
  uint64_t instructions; /**< of the virtual machine, a call */
  size_t memory;         /**< bytes allocated, a call */
  size_t alive;          /**< bytes in use at a time in this call; 0: as tt_lua_keeping has it */
} tt_lua_limits;

/** What math.random follows in a call. */
typedef struct tt_lua_chance {
  tt_noise noise;
  uint64_t step;
} tt_lua_chance;

/** How a sandbox is kept. */
typedef struct tt_lua_keeping {
  void *owner;  /**< of tt_lua_sandbox_owner() */
  size_t alive; /**< bytes that may be in use at a time; 0: what a call may take is bound enough */
  /** bytes that calls may allocate until garbage is collected; 0: after each call */
  size_t garbage;
} tt_lua_keeping;

/** Compiles `text` (copied; source only, never bytecode). `file` names it in errors: TT_INVALID with "file:line: what",
 *  TT_NOMEM. */
tt_status tt_lua_sandbox_new(const char *text, size_t length, const char *file,
                             tt_lua_keeping keeping, tt_lua_sandbox **sandbox, tt_error *error);
/** NULL-safe. */
void tt_lua_sandbox_free(tt_lua_sandbox *sandbox);
/** The file's name, as it stands in errors. The sandbox's. */
const char *tt_lua_sandbox_file(const tt_lua_sandbox *sandbox);

/** Calls `function` with a light userdata, `argument`, and drops what it returns. `limits` NULL: those of loading a file; `chance` NULL: math.random
 *  is refused. TT_FULL: at a limit; TT_FAILED; both with "file:line: what". */
tt_status tt_lua_sandbox_run(tt_lua_sandbox *sandbox, const tt_lua_limits *limits,
                             const tt_lua_chance *chance, int (*function)(lua_State *),
                             void *argument, tt_error *error);
/** Frees what nobody refers to any more, at once, and the room that Lua keeps for more of it: what is left is what a fresh one would have. */
void tt_lua_sandbox_collect(tt_lua_sandbox *sandbox);

/** For how many instructions each counts, since there are texts that one may go through. At first what the file's own texts
 *  ask for. */
int64_t tt_lua_sandbox_weight(const tt_lua_sandbox *sandbox);
/** At least 1. Before a call that begins with other texts than the last one ended with. */
void tt_lua_sandbox_set_weight(tt_lua_sandbox *sandbox, int64_t weight);

/** Whose sandbox it is. */
void *tt_lua_sandbox_owner(lua_State *lua);
/** Runs the file in a new environment, which is left on the stack: a table with its globals, and those above behind it. */
void tt_lua_sandbox_run_file(lua_State *lua);
/** Leaves the compiled file on the stack: a function without an environment. */
void tt_lua_sandbox_push_file(lua_State *lua);
/** Leaves an environment on the stack that no file was run in yet. */
void tt_lua_sandbox_push_environment(lua_State *lua);
/** Leaves the table of what every file sees on the stack: for who has to tell it from what a file made. */
void tt_lua_sandbox_push_base(lua_State *lua);
/** Leaves a list of the keys of the table at `index` on the stack, ordered as pairs() has them, and returns how many. Other keys
 *  than pairs() takes raise its error, or with `others` come last, in no order. */
int64_t tt_lua_sandbox_push_keys(lua_State *lua, int index, int others);
/** Work inside a function of ours counts as instructions. */
void tt_lua_sandbox_charge(lua_State *lua, uint64_t work);

#endif
