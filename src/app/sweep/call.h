/* call.h: another program's answer: it is started, waited for or not, and what it said is read when it is over. */
#ifndef TT_APP_SWEEP_CALL_H
#define TT_APP_SWEEP_CALL_H

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/** Zero at first; one thread. */
typedef struct tt_call {
  pid_t process; /**< 0: none runs */
  int out, err;  /**< what it says, files in memory */
  int exit;      /**< its exit status once it is over; −1: a signal ended it */
} tt_call;

/** Starts the program `words[0]`, looked for in $PATH, with `words` (NULL-terminated), no input, and without the variables of the
 *  environment that begin with `without` (NULL: with all). tt_call_end() it. TT_NOT_FOUND: there is no such program; TT_FAILED. */
tt_status tt_call_start(const char *const *words, const char *without, tt_call *call,
                        tt_error *error);
/** Whether it is over; does not block. */
bool tt_call_is_over(tt_call *call);
/** Blocks until it is over. */
void tt_call_wait(tt_call *call);
/** What it said on standard output, from the beginning; fclose() it. NULL: out of memory. Once it is over. */
FILE *tt_call_answer(const tt_call *call);
/** What it said last on standard error, in one line. Returns `text`. Once it is over. */
const char *tt_call_complaint(const tt_call *call, char *text, size_t size);
/** Ends it where it isn't over, and frees. */
void tt_call_end(tt_call *call);

#endif
