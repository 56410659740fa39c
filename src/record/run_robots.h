/* run_robots.h: who is in a kept run: the robots of its model, and which entries hold the poses of their bodies. */
#ifndef TT_RECORD_RUN_ROBOTS_H
#define TT_RECORD_RUN_ROBOTS_H

#include "base/status.h"
#include "record/run_log.h"

#include <stdint.h>

typedef struct tt_run_robot {
  char name[128];
  char alliance[8]; /**< "red", "blue" or "" */
  uint32_t root;    /**< entry of its root body's pose, or 0 */
} tt_run_robot;

typedef struct tt_run_robots {
  tt_run_robot *robots;
  int count;     /**< 0 where the log does not say */
  int *robot_of; /**< by entry: the robot whose body's pose it holds, or -1 */
} tt_run_robots;

/** Free it with tt_run_robots_free(), also after failure: TT_NOMEM. */
tt_status tt_run_robots_read(const tt_run_log *log, tt_run_robots *robots);
void tt_run_robots_free(tt_run_robots *robots);

#endif
