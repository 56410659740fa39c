/* list.h: the folder in which this user's sweeps are noted, so that pages of any program find their tables.
 *
 * A sweep is a file NAME.sweep in the folder, a line that says where its table is. Names follow from the table's path, so that a
 * sweep stands there once however often it is run. Any thread; programs may share a folder.
 */
#ifndef TT_SWEEP_LIST_H
#define TT_SWEEP_LIST_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_SWEEP_MOST_NOTED 200 /**< of the list; the newest */

/** One of the list. Texts are the list's. */
typedef struct tt_noted_sweep {
  char *id;      /**< "gains-1f0c3a52" */
  char *path;    /**< of its table, absolute */
  int64_t noted; /**< when it was run last, s since 1970 */
} tt_noted_sweep;

typedef struct tt_noted_sweeps {
  tt_noted_sweep *sweeps; /**< [count], newest first */
  size_t count;
} tt_noted_sweeps;

/** Puts the table at `path`, which is there, into the list, or to its head. A table in a database is not noted. */
tt_status tt_sweeps_note(const char *folder, const char *path, tt_error *error);
/** Those whose table is there. A folder that can't be read has none. TT_NOMEM. Free it with tt_sweeps_free(), also after
 *  failure. */
tt_status tt_sweeps_list(const char *folder, tt_noted_sweeps *sweeps);
void tt_sweeps_free(tt_noted_sweeps *sweeps);
/** The path of the sweep called `id`, which may come from anybody: free() it. NULL: this user has noted none of that name. */
char *tt_sweep_find(const char *folder, const char *id);

#endif
