/* timing.h: how a world's time passes, as a scene says it. */
#ifndef TT_MODEL_TIMING_H
#define TT_MODEL_TIMING_H

/** By the wall clock; as its peers answer; as fast as the machine can. */
typedef enum tt_pace { TT_PACE_REALTIME, TT_PACE_LOCKSTEP, TT_PACE_FAST } tt_pace;
/** Real time, when a tick comes late: make up for it at full speed, or let the schedule slip. */
typedef enum tt_late_tick { TT_TICK_CATCH_UP, TT_TICK_SLIP } tt_late_tick;
typedef enum tt_on_divergence { TT_DIVERGENCE_STOP, TT_DIVERGENCE_RESET } tt_on_divergence;

#endif
