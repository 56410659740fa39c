/* linkage.h: what a log says once so that a reader knows what it does not keep: how bodies hang on each other, and
 * all signals by name. JSON, the record of TT_LINKAGE.
 *
 * Kept are the positions and velocities of axes, what free bodies do, and all that nothing else says. Poses, velocities and
 * headings of the bodies that hang on joints follow from these (tt_kinematics), the clock from the journal's state hashes, the
 * commands in force from the journal.
 */
#ifndef TT_RECORD_LINKAGE_H
#define TT_RECORD_LINKAGE_H

#include "model/signal.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct json_object;

#define TT_LINKAGE "/tether/linkage"
/** Entry of all commands in force, a double each: at the first sample, every ten seconds, and where the journal does not say. */
#define TT_COMMANDS_ENTRY "/tether/commands"
/** SI: a value is written when it is farther than this from the one written last. What stands still trembles by less, and
 *  nobody measures it. */
#define TT_RECORD_RESOLUTION 1e-9

/** For each body of the model: must its pose be kept? So must its own, and where physics is off, where commands place things,
 *  those of the robots' roots. [body_count], the caller's to free(); NULL when out of memory. */
bool *tt_linkage_keeps(const tt_model *model, bool placed);
/** Does the signal follow from others that are kept? `keeps` as above. */
bool tt_linkage_follows(const tt_model *model, const bool *keeps, const tt_signal *signal);
/** Is the body's pose kept as one, for viewers? Those of the robots' roots are, where they are kept at all. */
bool tt_linkage_shows(const tt_model *model, const bool *keeps, int body);

/** The name of the log's entry of a signal called `name`: "/signals/NAME", or "/commands/NAME" for "command:NAME". How fast the
 *  machine was is nothing that happened in the run: "/tether/real_time_factor". */
void tt_linkage_entry(const tt_signal *signal, const char *name, char *entry, size_t size);

/** The JSON; the caller's to free(); NULL when out of memory. */
char *tt_linkage_describe(const tt_model *model, const tt_names *names, const bool *keeps);

/** A signal of the log. */
typedef struct tt_linked_signal {
  char *name, *unit;
  tt_signal signal;
} tt_linked_signal;

/** What is read from it: a model with bodies, joints and counts, and nothing else. */
typedef struct tt_linkage {
  tt_model model; /**< tt_body.own says what is kept */
  tt_linked_signal *signals;
  int signal_count;
} tt_linkage;
/** TT_INVALID when it is malformed: it may come from anywhere. tt_linkage_free() it, also after failure. */
tt_status tt_linkage_read(struct json_object *from, tt_linkage *linkage);
void tt_linkage_free(tt_linkage *linkage);

#endif
