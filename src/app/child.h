/* child.h: this same program once more, as a process that ends with the thread that started it, `kill -9` included. */
#ifndef TT_APP_CHILD_H
#define TT_APP_CHILD_H

#include "base/status.h"

#include <stdbool.h>
#include <sys/types.h>

/** Zero at first; one thread at a time. */
typedef struct tt_child {
  pid_t process; /**< 0: none */
  int said;      /**< reads its standard error */
} tt_child;

/** Starts `tether WORDS…`, less urgent than this one, and waits for its end, whatever its exit status is; `hear` gets each line of its
 *  standard output, without its end, in the caller's thread. A line that is longer than 32 KiB, and what it says on its standard error,
 *  is forgotten. TT_FAILED: it can't be started; TT_CLOSED: `stop`, asked ten times a second, said so. */
tt_status tt_child_listen(const char *const *words, void (*hear)(void *context, const char *line),
                          bool (*stop)(void *context), void *context, tt_error *error);

/** Starts `tether WORDS…` (NULL-terminated), without input and output. tt_child_end() it. TT_FAILED. */
tt_status tt_child_start(const char *const *words, tt_child *child, tt_error *error);
/** Waits for its ready line, and writes what stands behind `name` ("web=") in it. TT_FAILED: it ended before, with its last
 *  words, or took longer than `seconds`; TT_CLOSED: `stop` said so. */
tt_status tt_child_ready(tt_child *child, const char *name, double seconds,
                         bool (*stop)(void *context), void *context, char *value, size_t size,
                         tt_error *error);
/** Starts, and waits for its end. TT_FAILED: with its last words where its exit status isn't 0. */
tt_status tt_child_run(const char *const *words, double seconds, bool (*stop)(void *context),
                       void *context, tt_error *error);
/** Whether it still runs. What it says meanwhile is read and forgotten. */
bool tt_child_lives(tt_child *child);
/** Ends it, within seconds; nothing to do where there is none. */
void tt_child_end(tt_child *child);

#endif
