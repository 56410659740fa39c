/* handles.c: what a handle is of, and of which scene. */
#include "library/library.h"

#include "base/hash.h"

#include <string.h>

/* An index counts what has a name, in this order: scenes that agree in all of it share their handles. */
uint32_t library_mark_of(const tt_sim *sim) {
  int count;
  uint64_t hash = TT_HASH_START;
  const tt_signal_entry *signals = tt_names_signals(tt_sim_names(sim), &count);
  for (int i = 0; i < count; i++)
    hash = tt_hash_bytes(hash, signals[i].name, strlen(signals[i].name) + 1);
  for (int i = 0; i < tt_sim_model(sim)->command_count; i++) {
    const char *name = tt_names_command(tt_sim_names(sim), i);
    hash = tt_hash_bytes(hash, name, strlen(name) + 1);
  }
  const tt_value *values = tt_sim_values(sim, &count);
  for (int i = 0; i < count; i++)
    hash = tt_hash_bytes(hash, values[i].name, strlen(values[i].name) + 1);
  return (uint32_t)hash & ~(uint32_t)LIBRARY_KINDS;
}

tether_handle library_handle(const tether_sim *sim, int kind, int index) {
  return (tether_handle){.kind = sim->scene->handles | (uint32_t)kind, .index = (uint32_t)index};
}

tether_status library_check_handle(const tether_sim *sim, const tether_handle *handle, int kind,
                                   int count, const char *argument, int number,
                                   tether_error *error) {
  static const char *const names[] = {"", "signal", "command", "value"};
  if (handle->kind == (sim->scene->handles | (uint32_t)kind) && handle->index < (uint32_t)count)
    return TETHER_OK;
  if ((handle->kind & LIBRARY_KINDS) == (uint32_t)kind)
    return library_fail(error, TETHER_INVALID, "%s[%d]: a handle of another scene", argument,
                        number);
  return library_fail(error, TETHER_INVALID, "%s[%d]: not the handle of a %s", argument, number,
                      names[kind]);
}
