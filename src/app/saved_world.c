#include "app/saved_world.h"

#include "record/state_file.h"

#include <stdlib.h>

tt_status tt_saved_world_write(const char *path, tt_world *world, tt_error *error) {
  size_t size = tt_world_state_size(world);
  void *state = calloc(1, size);
  if (!state) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  tt_world_save(world, state);
  tt_status status = tt_state_file_write(path, tt_world_sim(world), state, size, error);
  free(state);
  return status;
}

tt_status tt_saved_world_read(const char *path, tt_world *world, void **state, size_t *size,
                              tt_error *error) {
  TT_TRY(tt_state_file_read(path, tt_world_sim(world), state, size, error));
  if (tt_world_restore(world, *state, *size) == TT_OK) return TT_OK;
  free(*state);
  *state = NULL;
  *size = 0;
  return tt_fail(error, TT_INVALID, "%s: saved from another scene", path);
}

tt_status tt_saved_world_begin(tt_world *world, const tt_run_log *log, tt_error *error) {
  tt_run_cursor cursor;
  tt_wpilog_record record;
  tt_status status = TT_OK;
  if (!tt_run_cursor_open(&cursor, log)) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_run_cursor_seek(&cursor, 0);
  if (tt_run_cursor_value(&cursor, tt_run_log_find(log, "/tether/initial_state"), &record) &&
      tt_world_restore(world, record.payload, record.size) != TT_OK)
    status = tt_fail(error, TT_INVALID, "the state from which the run started can't be restored");
  tt_run_cursor_close(&cursor);
  return status;
}
