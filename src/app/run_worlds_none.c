/* run_worlds_none.c: a program without the wire lockstep-tcp, whose clients alone can have worlds of their own. */
#include "app/run_worlds.h"

bool tt_runs_worlds(const tt_scene *scene) {
  (void)scene;
  return false;
}

tt_status tt_run_worlds(const tt_scene *scene, bool (*stop_asked)(void), tt_error *error) {
  (void)stop_asked;
  return tt_fail(error, TT_INVALID, "%s: this program has no wire lockstep-tcp", scene->path);
}
