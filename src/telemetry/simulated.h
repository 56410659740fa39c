/* simulated.h: the robots of a running world as devices: live at every tick, stored at a lower one.
 *
 * Their time needs no estimate: the moment the run began plus simulated time. Each signal is an attribute:
 * "left_wheel.position" of a robot is State.left_wheel.position, the last accepted value of its command left_track.torque is
 * Command.left_track.torque. The first sample of an epoch also says which kept run it belongs to: Run.log.id, Run.log.file.
 */
#ifndef TT_TELEMETRY_SIMULATED_H
#define TT_TELEMETRY_SIMULATED_H

#include "host/world.h"
#include "telemetry/collector.h"

typedef struct tt_simulated tt_simulated;

typedef struct tt_simulated_options {
  double store_interval; /**< s simulated between stored samples; 0: every tick is stored */
  const char *run, *log; /**< id and file of the log that keeps this run; NULL: none does */
} tt_simulated_options;

/** Adds an observer to a world that has not begun. Views wait in a queue of their own; a collector that is behind loses
 *  samples, never the world time. The collector hears of no robot before tt_simulated_begin(). */
tt_status tt_simulated_new(tt_world *world, tt_collector *collector,
                           const tt_simulated_options *options, tt_simulated **simulated,
                           tt_error *error);
/** The run is accepted, and the world has not begun: the robots are devices from now on, once. TT_FULL: the collector has no room
 *  for all of them, and has heard of none. */
tt_status tt_simulated_begin(tt_simulated *simulated, tt_error *error);
/** Samples lost because the collector was behind. Any thread. */
uint64_t tt_simulated_lost(const tt_simulated *simulated);
/** Once the world publishes no more: takes what is waiting and ends. NULL-safe. */
void tt_simulated_free(tt_simulated *simulated);

#endif
