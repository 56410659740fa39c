/* world.h: one world and its tick. world_tick() in world.c is the program's main path. */
#ifndef TT_HOST_WORLD_H
#define TT_HOST_WORLD_H

#include "base/status.h"
#include "game/driver_station.h"
#include "host/wire.h"
#include "model/observer.h"
#include "model/timing.h"
#include "model/view.h"
#include "sim/player.h"
#include "sim/sim.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct tt_world tt_world;

/** One wire to open in a world. Strings and config must outlive the world. */
typedef struct tt_world_wire {
  const tt_wire_ops *ops;
  const char *name, *where;
  int robot;
  uint64_t period_steps; /**< a multiple of io_steps */
  double watchdog;       /**< s simulated */
  bool lockstep;         /**< the world waits for its answers; its ops->must_wait says when */
  tt_late_policy late;
  double deadline;    /**< s wall clock, of the late policy */
  const void *config; /**< the adapter's own struct */
} tt_world_wire;

typedef struct tt_world_spec {
  tt_net *net; /**< shared with others in the same thread, or NULL: one of its own */
  tt_sim *sim; /**< becomes the world's */
  const tt_world_wire *wires;
  int wire_count;
  uint64_t io_steps; /**< steps a tick */
  tt_pace pace;
  double speed; /**< factor of real time, > 0 */
  tt_late_tick late_tick;
  tt_on_divergence on_divergence;
  double duration;     /**< s simulated; 0: no end */
  double time_before;  /**< s simulated by this program's earlier worlds; see tt_wire_run_time() */
  tt_game_start start; /**< of the robots' driver stations */
  tt_match_timing match; /**< of a practice match; all 0: tt_practice_match */
  bool plays_match;      /**< begins a practice match at once, and ends with it */
  bool check_only;       /**< resolve every name, open no socket */
} tt_world_spec;

/** Opens the wires. On failure everything given is freed. */
tt_status tt_world_new(const tt_world_spec *spec, tt_world **world, tt_error *error);
void tt_world_free(tt_world *world);

/** Before the first tick: who watches, and where the journal goes (not owned; NULL-safe). */
tt_status tt_world_add_observer(tt_world *world, tt_observer *observer);
tt_status tt_world_add_journal(tt_world *world, tt_journal_sink *sink);
/** After the last tick: nobody watches any more, nothing is journaled. */
void tt_world_detach(tt_world *world);

/** Sends frame 0, then ticks at the world's pace until duration, a stop request, or trouble. The status says
 *  why it ended (TT_OK: duration or stop) and `error` tells a person. */
tt_status tt_world_run(tt_world *world, tt_error *error);
/** What tt_world_run() does before its first tick, for who calls tt_world_tick() himself and keeps the run. */
void tt_world_begin(tt_world *world);
/** receive → supervise → (actuate → step) × n → sense → send → publish. For tests and tools that pace themselves. */
tt_status tt_world_tick(tt_world *world, tt_error *error);
/** Does the resets that were asked for; true if there was one, since its frame 0 wants an answer. A tick does so itself; a state that
 *  is to be kept would have them still to come. */
bool tt_world_apply_resets(tt_world *world);
/** Frame 0: the view before any step, to wires and observers. tt_world_run() does it itself. */
void tt_world_start(tt_world *world);

/** What its simulation is. The simulation's own, static for its life; any thread. */
const tt_model *tt_world_model(const tt_world *world);
const tt_names *tt_world_names(const tt_world *world);
/** The latest view. World's thread. */
const tt_view *tt_world_view(const tt_world *world);
/** What it puts in time. */
tt_sim *tt_world_sim(tt_world *world);
/** What the world looks like. Static for its life; any thread. */
const tt_scenery *tt_world_scenery(const tt_world *world);
int tt_world_wire_count(const tt_world *world);
const tt_wire *tt_world_wire_at(const tt_world *world, int index);
bool tt_world_paused(const tt_world *world);
uint64_t tt_world_hash(const tt_world *world);

/** Saved state of the whole world: the simulation's, and the watchdogs'. */
size_t tt_world_state_size(const tt_world *world);
void tt_world_save(const tt_world *world, void *state);
tt_status tt_world_restore(tt_world *world, const void *state, size_t size);

/* --- other sources than wires and pages; before the first tick --- */
/** Gives the world recorded inputs; `feed` outlives the world. A world that is fed should have no wires. */
tt_status tt_world_set_feed(tt_world *world, tt_feed *feed);
/** The world shows a kept run instead of computing one; `player` outlives it. No step is made, no command taken; a reset
 *  goes back to the beginning, and simulated time counts through the resets of the run. */
tt_status tt_world_set_player(tt_world *world, tt_player *player);
uint64_t tt_world_step(const tt_world *world);
/** It was told to end: tt_world_tick() makes no step any more. World's thread. */
bool tt_world_over(const tt_world *world);

/* --- the mailbox: the one way in from other threads, drained at *receive* --- */
typedef enum tt_mail_kind {
  TT_MAIL_PAUSE,    /**< value 1 pauses, 0 resumes; either ends what STEP asked for */
  TT_MAIL_STEP,     /**< while paused: makes `value` ticks more; else nothing */
  TT_MAIL_SPEED,    /**< factor `value` of real time */
  TT_MAIL_SEEK,     /**< a kept run: shows what was at `value` s; ends what STEP asked for */
  TT_MAIL_RESET,    /**< robot `index`, or the world if TT_NO_ROBOT */
  TT_MAIL_STOP_ALL, /**< e-stop: value 1 sets every command safe and refuses others until value 0 */
  TT_MAIL_COMMAND,  /**< command `index` gets `value` (checked like any other) */
  /** `source` goes: command `index` is safe, if mail of this source gave it its value, and nobody another one since. */
  TT_MAIL_LET_GO,
  TT_MAIL_TELL,    /**< something for people that others decided, as an event of `source`: `text` */
  TT_MAIL_STATION, /**< the driver station's order `station`; one that is not good is dropped */
  TT_MAIL_TAP, /**< value 1 shows the messages of wire `index` (tt_world_take_tapped), 0 does so no more */
  TT_MAIL_SHOW, /**< observers that show get the view as it is, also of a world that stands still */
  /** Ends tt_world_run() with TT_OK. */
  TT_MAIL_QUIT,
  /** Nobody is there any more to answer on the wires: QUIT, as soon as the world would wait for an answer that has not
   *  come yet; at once where it waits for nobody. */
  TT_MAIL_LEFT,
} tt_mail_kind;
typedef struct tt_mail {
  tt_mail_kind kind;
  int index;
  double value;
  char source[32]; /**< "web", "signal", … for the journal */
  char text[240];  /**< of TT_MAIL_TELL */
  tt_ds_order station;
  /** Of TT_MAIL_COMMAND: 1 + the epoch of the view that its sender went by; after a reset it means nothing any more, and is
   *  dropped. 0: it goes by none. */
  uint64_t meant_for;
} tt_mail;
/** Any thread; never blocks; TT_FULL when 1,024 are waiting, and for commands, their end, and joysticks when 512 are: there is room
 * for an emergency stop, whatever somebody commands. What must arrive all the same is tried again (host/wanted.h). */
tt_status tt_world_post(tt_world *world, const tt_mail *mail);
/** How many wait for the next tick, about. Any thread. */
size_t tt_world_waiting_mail(const tt_world *world);
/** From a signal handler: tt_world_run() ends soon. Async-signal-safe. */
void tt_world_interrupt(tt_world *world);

/** What the status line and the browser show. Any thread may call it: values are a consistent copy. */
typedef struct tt_world_status {
  double time, real_time_factor, speed;
  uint64_t step, tick, late_ticks;
  bool paused, stopped;   /**< stopped: e-stop */
  tt_match_period period; /**< of a practice match */
  int robots, enabled;    /**< how many there are, and how many their driver station enables */
  int wire_count;
} tt_world_status;
void tt_world_get_status(tt_world *world, tt_world_status *status);
/** What robot `index`, from 0, is told by its driver station; a world without robots has one, too. World's thread; it changes
 *  at *receive* and at the end of a tick. */
const tt_driver_station *tt_world_driver_station(const tt_world *world, int robot);
/** A copy of that. Any thread; at most one tick old. */
void tt_world_get_driver_station(tt_world *world, int robot, tt_driver_station *station);
/** A message that passed on a monitored wire. */
typedef struct tt_tapped {
  int wire;
  bool incoming; /**< to the simulator */
  uint64_t step;
  int size; /**< bytes of the whole message; at most TT_TAPPED_BYTES are kept */
  uint8_t bytes[TT_TAPPED_BYTES];
} tt_tapped;
/** The oldest monitored message not yet taken; false when there is none. One thread at a time; what it does not
 *  take in time is dropped. */
bool tt_world_take_tapped(tt_world *world, tt_tapped *message);
/** A copy of wire `index`'s stats and state. Any thread; at most one tick old. */
void tt_world_get_wire(tt_world *world, int index, tt_wire_stats *stats, tt_wire_state *state);

#endif
