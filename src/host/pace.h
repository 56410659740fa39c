/* pace.h: when a tick is due in real time, which ticks came late, and how fast the world really runs.
 *
 * The only part of the world that reads the wall clock; nothing it knows reaches the physics.
 */
#ifndef TT_HOST_PACE_H
#define TT_HOST_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define TT_PACE_MARKS 8

typedef struct tt_pacer {
  double tick;     /**< s simulated a tick */
  double speed;    /**< factor of real time */
  bool catch_up;   /**< make up for late ticks, or let the schedule slip */
  uint64_t origin; /**< ns wall clock at which `done` was 0 */
  uint64_t done;   /**< ticks since origin */
  uint64_t late_ticks;
  struct tt_pace_mark {
    uint64_t wall;        /**< ns */
    double simulated;     /**< s since the program began */
  } marks[TT_PACE_MARKS]; /**< ring, a quarter of a second apart */
  unsigned mark;
  double simulated;
} tt_pacer;

/** Begins a schedule of ticks of `tick` s, `speed` times real time, at `now`, ns. One thread. */
void tt_pacer_start(tt_pacer *pacer, double tick, double speed, bool catch_up, uint64_t now);
/** Starts the schedule anew from `now` (after a pause, or with another speed); late ticks are kept. */
void tt_pacer_restart(tt_pacer *pacer, double speed, uint64_t now);
/** Absolute wall-clock time at which the next tick is due, ns; no drift: a multiple of the tick from the origin. */
uint64_t tt_pacer_due(const tt_pacer *pacer);
/** Is the `ticks`th of the ticks to come due already? (1: the next one.) */
bool tt_pacer_is_behind(const tt_pacer *pacer, uint64_t ticks, uint64_t now);
/** A tick begins at `now`. It is late, and counted, when more than a tenth of its length overdue. With
 *  slipping, the schedule then starts anew from it; with catching up, debts beyond 100 ms wall clock do. */
void tt_pacer_tick(tt_pacer *pacer, uint64_t now, bool realtime);
/** Simulated time over wall time during the last second or two; 0 before anything is known. */
double tt_pacer_factor(const tt_pacer *pacer, uint64_t now);

#endif
