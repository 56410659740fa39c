/* histories.h: the logs that pages look into, kept open: the one that is being recorded grows along, and of large ones the least and
 * greatest of each part of the run are found by a thread that has time.
 */
#ifndef TT_WEB_HISTORIES_H
#define TT_WEB_HISTORIES_H

#include "base/status.h"
#include "record/overview.h"
#include "record/run_log.h"

typedef struct tt_histories tt_histories;

/** Starts the thread. `recording` is the file of the run that is being kept, NULL where none is; it is copied. */
tt_histories *tt_histories_new(const char *recording);
/** Ends the thread, and leaves what it found of the present run beside its log. After the last tt_history_give(). NULL-safe. */
void tt_histories_free(tt_histories *histories);

/** An open log. Neither it nor its overview changes while it is taken; many may have it at a time. */
typedef struct tt_history tt_history;
/** The log of a file, with all that was written a tenth of a second ago. May take as long as reading it once. Any thread.
 *  @return as tt_run_log_open(); `*history` is to be given back */
tt_status tt_histories_take(tt_histories *histories, const char *path, tt_history **history,
                            tt_error *error);
void tt_history_give(tt_history *history);
const tt_run_log *tt_history_log(const tt_history *history);
/** NULL: there is none, or not yet. */
const tt_overview *tt_history_overview(const tt_history *history);

#endif
