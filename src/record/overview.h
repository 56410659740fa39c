/* overview.h: the least and the greatest of every signal in some thousand parts of a run, so that an hour is drawn without
 * reading it again. It grows with the log; where parts become too many, two become one.
 *
 * Once a run has ended it is left beside its log, as PATH.overview, for the next who looks.
 */
#ifndef TT_RECORD_OVERVIEW_H
#define TT_RECORD_OVERVIEW_H

#include "base/bytes.h"
#include "base/status.h"
#include "record/extremes.h"
#include "record/run_log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_OVERVIEW_PARTS                                                                          \
  4096 /**< at most; at least half as many, once there were so many samples */
#define TT_RUN_OVERVIEW ".overview" /**< ending of its file */

typedef struct tt_overview tt_overview;

/** Of `log`, which outlives it; nothing of it is taken in yet. NULL: out of memory. */
tt_overview *tt_overview_new(const tt_run_log *log);
/** NULL-safe. */
void tt_overview_free(tt_overview *overview);
/** Takes in the next samples of the log, at most so many. TT_END: there are no more, for now. TT_NOMEM: it is of no use any more. */
tt_status tt_overview_take(tt_overview *overview, unsigned samples);

/** Length of a part, µs; part 0 begins with the run. */
uint64_t tt_overview_every(const tt_overview *overview);
/** How many parts are complete. */
size_t tt_overview_complete(const tt_overview *overview);
/** Time of the first and last sample of a part, µs; false: it has none. */
bool tt_overview_times(const tt_overview *overview, size_t part, uint64_t *first, uint64_t *last);
/** Of the log's entry `entry`, a signal, in a part. */
tt_extremes tt_overview_part(const tt_overview *overview, uint32_t entry, size_t part);
/** Memory that it takes. */
size_t tt_overview_bytes(const tt_overview *overview);

/** Takes in what PATH.overview says of the log; false: nothing, or of another log. Before anything else was taken in. */
bool tt_overview_read(tt_overview *overview, const char *path);
/** The same from memory: as the file has it. */
bool tt_overview_unpack(tt_overview *overview, const void *bytes, size_t size);
/** Leaves it beside the log. One that can't be written is none. */
void tt_overview_write(const tt_overview *overview, const char *path);
/** The same into memory. */
void tt_overview_pack(const tt_overview *overview, tt_bytes *out);

#endif
