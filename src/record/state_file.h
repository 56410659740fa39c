/* state_file.h: the state of a world in a file, from which another run goes on bit for bit. */
#ifndef TT_RECORD_STATE_FILE_H
#define TT_RECORD_STATE_FILE_H

#include "sim/sim.h"

#include <stddef.h>

/** Whether a state can be written there: its folder exists, and what is there is a saved state, too. To be asked before the run whose
 *  state it is. TT_INVALID: something else is there; TT_FAILED: the folder. */
tt_status tt_state_file_check(const char *path, tt_error *error);
/** Writes a saved state of `sim`, or of the world around it, [size] bytes; an earlier one is replaced only once the new
 *  one is whole. Errors are those of tt_state_file_check(), too. */
tt_status tt_state_file_write(const char *path, const tt_sim *sim, const void *state, size_t size,
                              tt_error *error);
/** Reads a state that was written for the same model as `sim` has. `*state` gets its bytes, the caller's to free().
 *  TT_INVALID: damaged, or of another scene; TT_VERSION: of another version of Tether. */
tt_status tt_state_file_read(const char *path, const tt_sim *sim, void **state, size_t *size,
                             tt_error *error);

#endif
