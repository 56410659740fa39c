/* sim.h: one simulation: an engine, the parts of its robots, the commands in force, and a view of it all. It has no
 * socket, clock, thread, signal or file. What drives it are tt_sim_apply(), tt_sim_reset(), tt_sim_step() and
 * tt_sim_sense(); who puts it in time is src/host.
 *
 * Not thread-safe: one thread per simulation at a time; any number of them side by side. Nothing here blocks, and nothing
 * allocates after tt_sim_new().
 */
#ifndef TT_SIM_SIM_H
#define TT_SIM_SIM_H

#include "base/status.h"
#include "model/engine.h"
#include "model/part.h"
#include "model/signal.h"
#include "model/view.h"
#include "sim/journal.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#define TT_NEVER UINT64_MAX /**< a step that does not come */
#define TT_MAX_SINKS 8      /**< journals of a simulation */

typedef struct tt_sim tt_sim;

/** Where a simulation stands, in steps. */
typedef struct tt_clock {
  uint64_t step;        /**< since the last whole reset */
  uint64_t total_steps; /**< never reset; a state brings its own, but where a journal is kept */
  uint32_t epoch;       /**< number of whole resets, and of other breaks in time */
} tt_clock;

/** Who is told what a simulation can't do alone. All calls come from the thread that drives it; each may be NULL. */
typedef struct tt_sim_owner {
  /** A command that pauses (or resumes) was accepted from `source`. */
  void (*paused)(struct tt_sim_owner *owner, const char *source, bool paused);
  /** A recorded reset is due (tt_sim_apply_entry): the owner does it, with all that hangs on the simulation. Without this
   *  the simulation does it itself. */
  void (*reset)(struct tt_sim_owner *owner, int robot);
  /** A recorded state was restored (tt_sim_apply_entry), and sensed: what hangs on the simulation is to hear of it. */
  void (*restored)(struct tt_sim_owner *owner);
  /** Something people want to know; it is journaled already. */
  void (*event)(struct tt_sim_owner *owner, uint64_t step, const char *source, const char *text);
} tt_sim_owner;

typedef struct tt_sim_spec {
  tt_engine *engine;     /**< becomes the simulation's */
  tt_part *const *parts; /**< become the simulation's; in the order in which they act and sense */
  int part_count;
  bool dynamics;    /**< false: concept mode, commands place things */
  bool hash_a_tick; /**< tt_sim_mark() journals a state hash */
} tt_sim_spec;

/** Composes names and commands and lets the parts declare theirs. On failure everything given is freed. */
tt_status tt_sim_new(const tt_sim_spec *spec, tt_sim **sim, tt_error *error);
/** A second one in the same state, with the same seed, no owner and no journal. */
tt_status tt_sim_clone(const tt_sim *sim, tt_sim **clone, tt_error *error);
/** NULL-safe. */
void tt_sim_free(tt_sim *sim);
/** Before the first command. `owner` is not owned and outlives the simulation; NULL: none. */
void tt_sim_set_owner(tt_sim *sim, tt_sim_owner *owner);

/* --- what it is. Owned by the simulation, static for its life --- */

/** Names, units and shapes, for those who look at it. */
const tt_model *tt_sim_model(const tt_sim *sim);
const tt_names *tt_sim_names(const tt_sim *sim);
const tt_scenery *tt_sim_scenery(const tt_sim *sim);
/** The ray of range finder `index`, from 0, of the model's own sensors and of parts; false: there are no more. */
bool tt_sim_ray(const tt_sim *sim, int index, tt_ray *ray);
/** For benches and tests: who steps it aside from tt_sim_step() must restore a saved state. */
tt_engine *tt_sim_engine(tt_sim *sim);

/* --- what drives it --- */

/** TT_BAD_MESSAGE, and in `bad` (may be NULL) the index of the first that is no command of this simulation, no finite
 *  number, or out of its command's range; changes nothing. */
tt_status tt_sim_check(const tt_sim *sim, const tt_submission *submissions, int count, int *bad);
/** Checks all, then journals and applies all, or none. A reset that a command asks for waits for tt_sim_take_reset(). */
tt_status tt_sim_apply(tt_sim *sim, const char *source, const tt_submission *submissions, int count,
                       int *bad);
/** Sets those of `commands` that have a safe value to it, journaled, without acceptance. */
void tt_sim_make_safe(tt_sim *sim, const char *source, const int *commands, int count);

/** Asks for a reset of a robot, or with TT_NO_ROBOT of the world. */
void tt_sim_ask_reset(tt_sim *sim, int robot);
bool tt_sim_reset_asked(const tt_sim *sim);
/** Takes the next reset that was asked for: of the world first, with which the robots' are done too. False: none. */
bool tt_sim_take_reset(tt_sim *sim, int *robot);
/** Back to the initial state: a robot and nothing else, or with TT_NO_ROBOT everything. Journaled. The view is as it was
 *  until tt_sim_sense(). */
void tt_sim_reset(tt_sim *sim, int robot);

/* Values of the model: masses, frictions, gears, noises … that may be changed before and between steps. They are settings:
 * a reset leaves them as they are; a saved state, and so a clone, has them. */

/** All of them, with their range and the model's own value. Static for the simulation's life. */
const tt_value *tt_sim_values(const tt_sim *sim, int *count);
/** The present ones, [count], SI. */
const double *tt_sim_present_values(const tt_sim *sim);
/** The index of the value called `name`. TT_INVALID with the nearest one; `where` begins the message. */
tt_status tt_sim_find_value(const tt_sim *sim, const char *name, const char *where, int *index,
                            tt_error *error);
/** Checks all, then sets and journals all, or none; they take effect with the next step. `command` of a submission is the index of a value.
 *  TT_BAD_MESSAGE, and in `bad` (may be NULL) the first that is no value of this simulation or out of its range. Other than
 *  commands, this may allocate: masses and gears make constants of the model anew, which are kept. TT_NOMEM, TT_FAILED. */
tt_status tt_sim_set_values(tt_sim *sim, const char *source, const tt_submission *values, int count,
                            int *bad, tt_error *error);
/** The present values are those that a simulation of this scene begins with: a state older than values has these. */
void tt_sim_settle_values(tt_sim *sim);

/** All chance follows `seed` from here on; the state is as it was. Journaled. */
void tt_sim_seed(tt_sim *sim, uint64_t seed);
/** Commands become drives, parts change them, the engine advances one step. `last`: a view will be sensed after it.
 *  TT_DIVERGED with the reason in `error`: the state is that before the step. TT_FAILED: the engine failed; the simulation
 *  allows only to be reset as a whole, restored or freed, and to be looked at: the view stays as it was. */
tt_status tt_sim_step(tt_sim *sim, bool last, tt_error *error);
/** Fills the view from the present state; once a tick, since parts may sense with noise. */
void tt_sim_sense(tt_sim *sim);
/** Ends a tick: journals the state's hash, where the spec wants it and somebody keeps a journal. */
void tt_sim_mark(tt_sim *sim);

/* --- what it gives --- */

/** The view as last sensed. */
const tt_view *tt_sim_view(const tt_sim *sim);
/** The same, for who adds what only time knows: late ticks, the real-time factor. */
tt_view *tt_sim_own_view(tt_sim *sim);
const tt_clock *tt_sim_clock(const tt_sim *sim);

/** False in concept mode, where commands place things. */
bool tt_sim_dynamics(const tt_sim *sim);

/** The last accepted value of each command, SI; [command_count of the model]. */
const double *tt_sim_commands(const tt_sim *sim);

/** Everything that decides the future. Of a fixed size for a simulation, bytes. */
size_t tt_sim_state_size(const tt_sim *sim);
void tt_sim_save(const tt_sim *sim, void *state);
/** TT_VERSION: of another version of Tether; TT_INVALID: of another scene; then nothing changed. `used` (may be NULL) gets
 *  the bytes read: more may follow that are another's. Journaled. The view is sensed. */
tt_status tt_sim_restore(tt_sim *sim, const void *state, size_t size, size_t *used);
/** Of what decides the physics' future: the engine's state, the commands in force, and the parts. Counters are left out,
 *  so that a message that changes nothing changes no hash. */
uint64_t tt_sim_hash(const tt_sim *sim);

/* --- the journal --- */

/** total_steps count from here on: before a journal is kept of a simulation that has lived already. */
void tt_sim_count_anew(tt_sim *sim);
/** Not owned. TT_FULL: there are TT_MAX_SINKS. */
tt_status tt_sim_add_journal(tt_sim *sim, tt_journal_sink *sink);
/** Nothing is journaled any more. */
void tt_sim_detach(tt_sim *sim);
/** Journals something the wall clock or a person decided, tells the owner, and logs it. */
void tt_sim_event_va(tt_sim *sim, const char *source, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
void tt_sim_event(tt_sim *sim, const char *source, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Journals whether what viewers of a log know by `name` holds from here on. */
void tt_sim_flag(tt_sim *sim, const char *source, const char *name, bool holds);
/** What was journaled once takes effect again, at once; events, hashes and flags change nothing. TT_BAD_MESSAGE when
 *  a command or robot is not one of this simulation; a state as tt_sim_restore(). */
tt_status tt_sim_apply_entry(tt_sim *sim, const tt_entry *entry);

#endif
