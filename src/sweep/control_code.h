/* control_code.h: the functions that a Lua file defines, so that one can be told from the others, and made again.
 *
 * Lua shows neither; but it writes compiled code down (lua_dump), and there each function stands with those in it. They
 * are numbered in that order: a function's number is the same wherever this file was compiled.
 */
#ifndef TT_SWEEP_CONTROL_CODE_H
#define TT_SWEEP_CONTROL_CODE_H

#include "base/bytes.h"

typedef struct lua_State lua_State;

/** One of the file's functions. */
typedef struct tt_control_function {
  size_t at, size; /**< its code in the file's */
  int upvalues;    /**< outer local variables that it uses */
} tt_control_function;

/** Its owner's, zero at first. */
typedef struct tt_control_code {
  tt_bytes bytes;             /**< of the whole file, as Lua writes it */
  size_t source, source_size; /**< where the file's name stands in them */
  tt_control_function *functions;
  int count, capacity;
} tt_control_code;

/* All but tt_control_code_clear() may raise an error of Lua. */

/** Reads the compiled file, a function on top of the stack, which stays. */
void tt_control_code_read(tt_control_code *code, lua_State *lua);
void tt_control_code_clear(tt_control_code *code);
/** Which the function on top of the stack is; −1: none of this file. */
int tt_control_code_find(const tt_control_code *code, lua_State *lua);
/** Leaves a new function on the stack: number `index`. All its upvalues must be set before it is called. */
void tt_control_code_make(const tt_control_code *code, int index, lua_State *lua);

#endif
