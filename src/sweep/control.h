/* control.h: a controller in the simulation's own process: a user's Lua function control(read, write), called each tick before the
 * step. Values are SI.
 *
 * The file is run once when a run begins; its globals, and the local variables of its functions, live as long as the run. It sees
 * what a Lua sensor sees (robot/lua_sandbox.h), under the same limits a call. read(NAME) gives a signal, or the value of an axis
 * of that name; write(NAME, VALUE) sets a command. math.random follows the run's seed and the number of the tick.
 */
#ifndef TT_SWEEP_CONTROL_H
#define TT_SWEEP_CONTROL_H

#include "sweep/control_port.h"

#include <stdint.h>

typedef struct tt_control tt_control;

/** Compiles the file. TT_INVALID: file, line and what. */
tt_status tt_control_new(const char *path, tt_control **control, tt_error *error);
void tt_control_free(tt_control *control);
/** Without a simulation, whether a run could begin: the file is run, and defines control(). TT_FAILED, TT_FULL: file and what. */
tt_status tt_control_check(tt_control *control, tt_error *error);
/** A run begins: fresh globals. `parameters` [count] and `sim` outlive the run. TT_INVALID: a parameter is named like a signal;
 *  TT_FAILED: the file failed. */
tt_status tt_control_begin(tt_control *control, tt_sim *sim, const tt_control_parameter *parameters,
                           int count, uint64_t seed, tt_error *error);
/** A tick: calls control(read, write); what was written is applied to the simulation at once, all or nothing. TT_FAILED: file, line
 *  and what; TT_FULL: a limit. */
tt_status tt_control_tick(tt_control *control, tt_error *error);

/** Everything that decides what the controller will do: its globals, tables, functions and their local variables. The caller's to free(). The
 *  controller itself goes on from what was saved. TT_INVALID: an iterator of pairs() that is kept can't be saved; TT_FULL: more
 *  than 16 MiB. */
tt_status tt_control_save(tt_control *control, void **state, size_t *size, tt_error *error);
/** After tt_control_begin(); any bytes may be given. TT_INVALID: no state of this file; nothing changed. */
tt_status tt_control_restore(tt_control *control, const void *state, size_t size, tt_error *error);

#endif
