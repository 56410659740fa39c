/* saved_world.h: the state of a world in a file, from which another run goes on bit for bit. */
#ifndef TT_APP_SAVED_WORLD_H
#define TT_APP_SAVED_WORLD_H

#include "host/world.h"
#include "record/run_log.h"

/** Writes the world's present state; an earlier file is replaced only once the new one is whole. */
tt_status tt_saved_world_write(const char *path, tt_world *world, tt_error *error);
/** Restores a state. `*state` gets its bytes, the caller's to free(). TT_INVALID: damaged, or of another scene. */
tt_status tt_saved_world_read(const char *path, tt_world *world, void **state, size_t *size,
                              tt_error *error);
/** The state from which the run of a log began, where it went on from one. */
tt_status tt_saved_world_begin(tt_world *world, const tt_run_log *log, tt_error *error);

#endif
