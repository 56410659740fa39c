/* source.h: where a world's views come from. Live: a simulation that wires drive. Fed: the same, driven by inputs that were
 * recorded once. Shown: a kept run, of which nothing is computed. The stages of a tick know no difference.
 *
 * All calls come from the world's thread.
 */
#ifndef TT_HOST_SOURCE_H
#define TT_HOST_SOURCE_H

#include "base/status.h"
#include "host/world.h"
#include "sim/player.h"
#include "sim/sim.h"

typedef struct tt_source {
  const tt_clock *clock; /**< where it stands */
  /** What people and wires command takes effect; the run ends after its duration. */
  bool is_live;
  /** Hands over what is due before the next step and nobody sends. */
  void (*feed)(struct tt_source *source);
  /** Ends the tick with the next step? `usual`: it would, as the scene has it. After feed(). */
  bool (*ends_tick)(struct tt_source *source, bool usual);
  /** One step; as tt_sim_step(). */
  tt_status (*step)(struct tt_source *source, bool last, tt_error *error);
  /** Fills the view. */
  void (*sense)(struct tt_source *source);
  /** Back to the beginning, of one robot where that can be. Returns who begins anew: that robot, or TT_NO_ROBOT. */
  int (*reset)(struct tt_source *source, int robot);
  /** Goes to a time, s; false: it can't. */
  bool (*seek)(struct tt_source *source, double time);
  /** After a tick: tells what was told at this time. True: here it ends. */
  bool (*follow)(struct tt_source *source);
  void (*free)(struct tt_source *source);
} tt_source;

/** Each NULL when out of memory; freed by its own free(). */
tt_source *tt_live_source_new(tt_world *world, tt_sim *sim);
/** `feed` outlives the source. */
tt_source *tt_fed_source_new(tt_world *world, tt_sim *sim, tt_feed *feed);
/** `player` outlives the source. */
tt_source *tt_shown_source_new(tt_world *world, tt_sim *sim, tt_player *player);

#endif
