/* section.h: the scene's section `record`. */
#ifndef TT_RECORD_SECTION_H
#define TT_RECORD_SECTION_H

#include "model/schema.h"

#include <stdbool.h>
#include <stdint.h>

/** The section `record` of a scene. Missing pointers are NULL. */
typedef struct tt_record_keys {
  bool *on;           /**< default true */
  char *file;         /**< NULL: a file of its own in `folder`, named by date and scene */
  char *folder;       /**< default $XDG_STATE_HOME/tether/runs, or ~/.local/state/tether/runs */
  char *period;       /**< "10 ms": signals and poses are kept at most this often */
  uint64_t megabytes; /**< of one run; default 1000, or folder_megabytes. From nine tenths of it on
                          *   only inputs and events are kept */
  uint64_t keep;      /**< runs in `folder` of which the oldest are removed; default 50 */
  uint64_t folder_megabytes; /**< all runs in `folder` together; default 5000 */
  double period_seconds;     /**< of `period`; by check() */
} tt_record_keys;

/** Its keys, as docs/scene.md has them. Static. */
extern const tt_schema tt_record_schema;

#endif
