/* player.h: who stands in for a simulation's inputs or for the simulation itself: contracts that src/record fills and
 * src/host calls. */
#ifndef TT_SIM_PLAYER_H
#define TT_SIM_PLAYER_H

#include "model/view.h"
#include "sim/sim.h"

#include <stddef.h>
#include <stdint.h>

/** Recorded inputs, or others that nobody sends. apply() is called before every step, in the thread of the simulation; it
 *  hands over what is due at tt_sim_clock() with tt_sim_apply_entry(). */
typedef struct tt_feed {
  void (*apply)(struct tt_feed *feed, tt_sim *sim);
  /** Ends the tick with the next step, after which the view is sensed? `usual`: it would, as the scene has it. Asked after
   *  apply(). NULL: as usual. */
  bool (*ends_tick)(struct tt_feed *feed, tt_sim *sim, bool usual);
} tt_feed;

/** What people were told once, when `step` steps had been made since the run began. */
typedef struct tt_kept_event {
  uint64_t step;
  const char *source, *text;
} tt_kept_event;

/** A kept run that is shown instead of computed. */
typedef struct tt_player {
  /** Fills `view` with what was `step` steps after the run began. World's thread. */
  void (*show)(struct tt_player *player, uint64_t step, tt_view *view);
  uint64_t first; /**< where it begins: more than 0 steps where it went on from another run */
  uint64_t steps; /**< of the run; at its end the world pauses */
  const tt_kept_event *events; /**< [event_count] by step; observers hear each at its time */
  size_t event_count;
} tt_player;

#endif
