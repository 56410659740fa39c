/* control_internal.h: a Lua controller, for the files that run and save it. */
#ifndef TT_SWEEP_CONTROL_INTERNAL_H
#define TT_SWEEP_CONTROL_INTERNAL_H

#include "robot/lua_sandbox.h"
#include "sweep/control.h"
#include "sweep/control_code.h"

#define TT_CONTROL_NAMES 1024 /**< slots of names that were looked up; a power of 2 */

/** A name that was looked up. It decides nothing, and so it is no part of the state. */
typedef struct tt_control_name {
  char text[96]; /**< "": an empty slot */
  bool is_command;
  int command;
  tt_control_source source;
} tt_control_name;

struct tt_control {
  tt_lua_sandbox *sandbox;
  tt_control_code code;
  uint64_t file;       /**< hash of its text */
  int64_t file_weight; /**< of an instruction, with the file's own texts */
  tt_control_port port;
  tt_noise noise;
  uint64_t ticks; /**< since the run began */
  int name_count;
  tt_control_name names[TT_CONTROL_NAMES];
};

/** Leaves what stands in the registry on Lua's stack: the run's environment, and the functions read and write. */
void tt_control_push_environment(lua_State *lua);
void tt_control_push_read(lua_State *lua);
void tt_control_push_write(lua_State *lua);
/** The table on top of Lua's stack, which it takes, becomes the run's environment, and nothing holds the one before; nil: there is
 *  none. */
void tt_control_take_environment(lua_State *lua);

#endif
