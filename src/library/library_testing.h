/* library_testing.h: what tests of the library begin with. A call that fails ends the test with the library's own words. */
#ifndef TT_LIBRARY_LIBRARY_TESTING_H
#define TT_LIBRARY_LIBRARY_TESTING_H

#include "tether/tether.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/** What the calls of a test leave; good() reads it. */
static tether_error error;

/** Fails the test unless the call, which was given &error, succeeded. */
static inline void good(tether_status status) {
  if (status != TETHER_OK) fail_msg("%d: %s", status, error.text);
}

/** With one setting as after `--set`, or none: NULL. The caller frees it. */
static inline tether_scene *load_with(const char *name, const char *setting) {
  tether_scene *scene;
  good(tether_scene_load(name, &setting, setting ? 1 : 0, &scene, &error));
  return scene;
}

/** The caller frees it. */
static inline tether_scene *load(const char *name) { return load_with(name, NULL); }

/** The caller frees it. */
static inline tether_sim *sim_of(tether_scene *scene) {
  tether_sim *sim;
  good(tether_sim_new(scene, &sim, &error));
  return sim;
}

#endif
