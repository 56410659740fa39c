/* journal.h: what a proof needs, never dropped: accepted inputs, events and state hashes, each with the
 * step at which it took effect. The world appends; sinks (a run log, a test) consume.
 */
#ifndef TT_SIM_JOURNAL_H
#define TT_SIM_JOURNAL_H

#include "model/model.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tt_entry_kind {
  TT_ENTRY_COMMANDS, /**< accepted commands: `submissions`, `count`, by `source` */
  TT_ENTRY_SAFE,     /**< commands made safe: values only, no acceptance: `submissions`, `count` */
  TT_ENTRY_RESET,    /**< reset of `robot`, or of the world: TT_NO_ROBOT; done at once */
  TT_ENTRY_EVENT, /**< something the wall clock, a peer or a person decided, for people: `text`, by `source` */
  TT_ENTRY_HASH, /**< `hash` of the state after `step` steps */
  TT_ENTRY_SEED, /**< all chance follows `seed` from here on */
  TT_ENTRY_STATE, /**< the saved `state` was restored: the steps that follow are counted on from its own */
  TT_ENTRY_VALUES, /**< values of the model (tt_sim_values) were set: `submissions`, `count`, by `source` */
  TT_ENTRY_FLAG, /**< what viewers know by the name `text` holds from here on, or not: `holds`; it changes nothing */
} tt_entry_kind;

/** One entry. Pointers are valid during the call only. */
typedef struct tt_entry {
  tt_entry_kind kind;
  uint64_t step;       /**< takes effect before this step is made */
  uint64_t total_step; /**< steps since the program began: never reset */
  const char *source;  /**< wire name, "web", "world", "supervisor" */
  const tt_submission *submissions;
  int count;
  int robot;
  const char *text;
  bool holds;
  uint64_t hash;
  uint64_t seed;
  /** [state_size] as tt_sim_save() gave it; read from a log: packed (journal_codec.h) */
  const void *state;
  size_t state_size;
} tt_entry;

/** Consumer of entries. `write` is called from the world's thread and must not block in real time;
 *  FULL, for whatever reason, marks the run unverifiable from that step on, loudly (in other paces it may block
 *  instead); a sink that refused an entry refuses all behind it. */
typedef struct tt_journal_sink {
  tt_status (*write)(struct tt_journal_sink *sink, const tt_entry *entry);
} tt_journal_sink;

#endif
