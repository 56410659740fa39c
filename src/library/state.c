/* state.c: saved states of the library: a head with the seed, then the simulation's own, which does not have it. The hash refuses bytes
 * that nobody saved: what stands in a state is taken as it is. */
#include "library/library.h"

#include "base/hash.h"

#include <string.h>

#define MAGIC 0x3230455441545454u /* "TTTATE02", little-endian */

typedef struct head {
  uint64_t magic, hash, seed;
} head;

static uint64_t hash_of(uint64_t seed, const void *state, size_t size) {
  return tt_hash_bytes(tt_hash_bytes(TT_HASH_START, &seed, sizeof seed), state, size);
}

size_t library_state_size(const tether_sim *sim) {
  return sizeof(head) + tt_sim_state_size(sim->sim);
}

tether_status library_save(const tether_sim *sim, void *state, tether_error *error) {
  unsigned char *inside = (unsigned char *)state + sizeof(head);
  if (sim->failed == TETHER_FAILED)
    return library_fail(error, TETHER_FAILED, "the simulation failed before: reset or restore it");
  tt_sim_save(sim->sim, inside);
  head first = {MAGIC, hash_of(sim->seed, inside, tt_sim_state_size(sim->sim)), sim->seed};
  memcpy(state, &first, sizeof first);
  return TETHER_OK;
}

static tether_status refuse(const tether_sim *sim, tt_status status, size_t size,
                            tether_error *error) {
  switch (status) {
    case TT_NOMEM:
    case TT_FAILED:
      return library_fail(error, library_status(status), "%s", tt_status_text(status));
    case TT_VERSION:
      return library_fail(error, TETHER_OTHER_VERSION, "state: saved by another version of Tether");
    default:
      if (size == library_state_size(sim))
        return library_fail(error, TETHER_INVALID,
                            "state: not one of this scene, or of other settings of it");
      return library_fail(error, TETHER_INVALID,
                          "state: not one of this scene (%zu bytes, not %zu)", size,
                          library_state_size(sim));
  }
}

/* The seed first: what is sensed of the state has chance, too. */
static tt_status restore_with(tether_sim *sim, uint64_t seed, const void *inside, size_t size) {
  if (seed == sim->seed) return tt_sim_restore(sim->sim, inside, size, NULL);
  tt_sim_seed(sim->sim, seed);
  tt_status status = tt_sim_restore(sim->sim, inside, size, NULL);
  if (status == TT_OK)
    sim->seed = seed;
  else
    tt_sim_seed(sim->sim, sim->seed);
  return status;
}

tether_status library_restore(tether_sim *sim, const void *state, size_t size,
                              tether_error *error) {
  const unsigned char *inside = (const unsigned char *)state + sizeof(head);
  head first;
  if (!state) return library_fail(error, TETHER_INVALID, "state: NULL");
  if (size < sizeof first) return refuse(sim, TT_INVALID, size, error);
  memcpy(&first, state, sizeof first);
  if (first.magic != MAGIC) return refuse(sim, TT_VERSION, size, error);
  size -= sizeof first;
  if (first.hash != hash_of(first.seed, inside, size))
    return size != tt_sim_state_size(sim->sim)
               ? refuse(sim, TT_INVALID, size + sizeof first, error)
               : library_fail(error, TETHER_INVALID, "state: damaged: its bytes were changed");
  tt_status status = restore_with(sim, first.seed, inside, size);
  if (status != TT_OK) return refuse(sim, status, size + sizeof first, error);
  library_tell(sim);
  library_revive(sim);
  return TETHER_OK;
}

size_t tether_sim_state_size(const tether_sim *sim) { return sim ? library_state_size(sim) : 0; }

/* Saving changes nothing but whose turn it is. */
tether_status tether_sim_save(const tether_sim *sim, void *state, size_t size,
                              tether_error *error) {
  tether_sim *mine = (tether_sim *)sim;
  tether_status status = library_enter(mine, error);
  if (status != TETHER_OK) return status;
  if (!state)
    status =
        library_fail(error, TETHER_INVALID, "state: NULL; give %zu bytes", library_state_size(sim));
  else if (size != library_state_size(sim))
    status =
        library_fail(error, TETHER_INVALID, "size: a state of this scene has %zu bytes, not %zu",
                     library_state_size(sim), size);
  else
    status = library_save(sim, state, error);
  return library_leave(mine, status);
}

tether_status tether_sim_restore(tether_sim *sim, const void *state, size_t size,
                                 tether_error *error) {
  tether_status status = library_enter(sim, error);
  if (status != TETHER_OK) return status;
  return library_leave(sim, library_restore(sim, state, size, error));
}
