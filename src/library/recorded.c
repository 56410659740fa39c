/* recorded.c: what a call owes the recording of its simulation: each new state, and an end. */
#include "library/library.h"

#include <unistd.h>

void library_tell(tether_sim *sim) {
  if (!sim->recorder) return;
  tt_observer *observer = tt_recorder_observer(sim->recorder);
  tt_sim_mark(sim->sim);
  observer->publish(observer, tt_sim_view(sim->sim));
}

/* Its threads stayed in the process that forked, and so does the log. */
static void leave_to_parent(tether_sim *sim) {
  tt_sim_detach(sim->sim);
  tt_recorder_abandon(sim->recorder);
  sim->recorder = NULL;
}

void library_mind_fork(tether_sim *sim) {
  if (sim->recorder && sim->recorded_by != getpid()) leave_to_parent(sim);
}

tt_status library_end_record(tether_sim *sim, tt_error *why) {
  library_mind_fork(sim);
  if (!sim->recorder) return TT_OK;
  tt_recorder *recorder = sim->recorder;
  tt_sim_detach(sim->sim);
  sim->recorder = NULL;
  return tt_recorder_end(recorder, why);
}
