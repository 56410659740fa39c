/* run_modes.h: when the robots of a kept run were enabled, and in which mode: what their driver stations said. */
#ifndef TT_RECORD_RUN_MODES_H
#define TT_RECORD_RUN_MODES_H

#include "record/run_log.h"

#include <json-c/json.h>

/** [{robot, time, mode}]: the robot is in the mode (disabled, autonomous, teleop, test, estop) from this time (s) on, in order of
 *  time; `robot` is "" for the first. Empty where the log says nothing of it. The caller's to json_object_put(); NULL when
 *  out of memory. */
struct json_object *tt_run_modes_json(const tt_run_log *log);

#endif
