/* controller.h: `tether verify LOG --controller CMD`: a user's program drives the scene of a kept run once more. */
#ifndef TT_APP_CONTROLLER_H
#define TT_APP_CONTROLLER_H

#include "scene/scene.h"
#include "record/compare.h"

typedef struct tt_controller_check {
  const char *command; /**< for /bin/sh */
  const tt_tolerance *tolerances;
  int tolerance_count;
} tt_controller_check;

/** Runs `scene` with the program on its wires for as long as `kept` lasts, and compares the two. The program finds each
 *  wire's address in TETHER_<WIRE> ("TETHER_LOCKSTEP_TCP=127.0.0.1:40001"). TT_DIFFERS when a signal leaves its
 *  tolerance, or the program ends before its time. */
tt_status tt_check_controller(const tt_controller_check *check, const tt_scene *scene,
                              const tt_run_log *kept, tt_error *error);

#endif
