/* summary.h: what happened in a kept run, in a few numbers. */
#ifndef TT_RECORD_SUMMARY_H
#define TT_RECORD_SUMMARY_H

#include "base/status.h"
#include "record/run_log.h"

#include <stdbool.h>
#include <stdint.h>

/** What can be told without looking at every sample. Texts are "" where the log does not say. */
typedef struct tt_run_facts {
  char scene[128];
  char started[40];    /**< ISO 8601 */
  char run[40];        /**< its id, as its telemetry names it */
  char telemetry[256]; /**< where that is stored */
  char outcome[160];   /**< "ended", "diverged …", "cut off" */
  struct {
    char run[40],
        name[256]; /**< its id and what it was called there; name "": it began at its beginning */
    double time;   /**< s of that run */
  } from;          /**< the kept run that it went on from */
  /** that wrote the log from which this one was made (foreign.h); "": it is Tether's own */
  char program[104];
  char left_types[200]; /**< of entries of that log that are left out */
  uint64_t left_out;    /**< how many */
  double duration;      /**< s simulated, through resets */
  uint64_t size;        /**< bytes */
  uint64_t samples_lost;
  uint64_t late_ticks;
  uint64_t received, accepted, dropped; /**< messages, of all wires */
  /** messages sent again in lock-step: with any, its controllers need not make the same bits again */
  uint64_t repeated;
  char drops[256]; /**< reasons with their counts: "stale 3, malformed 1"; "" for none */
} tt_run_facts;
tt_status tt_run_get_facts(const tt_run_log *log, tt_run_facts *facts);

/** One robot's run. */
typedef struct tt_robot_summary {
  char name[128];
  double distance;  /**< m that its root body moved over the floor; a reset is no movement */
  double top_speed; /**< m/s over the floor, between two samples */
} tt_robot_summary;
/** One pass over the log. `*robots` is the caller's to free(). */
tt_status tt_run_summarize_robots(const tt_run_log *log, tt_robot_summary **robots, int *count);

/** s at which a body of a robot left its first place for the first time: by 2 cm or 2°. Negative: none did. Reads the log up to there. */
double tt_run_first_motion(const tt_run_log *log);

/** An event of the log, as tt_run_cursor_next() finds them. Texts lead into the log and are not terminated. */
typedef struct tt_run_event {
  double time; /**< s of the run */
  const char *source, *text;
  int source_size, text_size;
} tt_run_event;
/** Splits a record of /events. */
tt_run_event tt_run_read_event(const tt_wpilog_record *record);

#endif
