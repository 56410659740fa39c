/* enter.c: a call begins and ends: what its caller set of the thread is put aside, and the simulation is his alone. */
#include "library/library.h"

static locale_t plain; /* the C library's own of that name: it needs no memory */
static void make_plain(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

library_surroundings library_surroundings_begin(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  library_surroundings saved;
  pthread_once(&once, make_plain);
  saved.locale = uselocale(plain);
  saved.floats = library_floats_begin();
  return saved;
}

void library_surroundings_end(const library_surroundings *saved) {
  library_floats_end(&saved->floats);
  uselocale(saved->locale);
}

tether_status library_enter(tether_sim *sim, tether_error *error) {
  library_begin(error);
  if (!sim) return library_fail(error, TETHER_INVALID, "sim: NULL");
  if (atomic_flag_test_and_set(&sim->busy))
    return library_fail(error, TETHER_BUSY, "another thread is using this simulation");
  sim->surroundings = library_surroundings_begin();
  library_mind_fork(sim);
  return TETHER_OK;
}

tether_status library_leave(tether_sim *sim, tether_status status) {
  library_surroundings_end(&sim->surroundings);
  atomic_flag_clear(&sim->busy);
  return status;
}
