/* policy_host.h: the Python process that has imported a plan's policy, and a child of it for each run (python/tether/sweep_policy.py).
 *
 * Both end with this process, whatever kills it.
 */
#ifndef TT_APP_SWEEP_POLICY_HOST_H
#define TT_APP_SWEEP_POLICY_HOST_H

#include "app/last_words.h"
#include "sweep/plan.h"

#include <stdbool.h>
#include <sys/types.h>

/** Zero at first. */
typedef struct tt_policy_host {
  pid_t process;       /**< 0: none */
  int control;         /**< to it */
  int output;          /**< what it and its children print */
  int run;             /**< to the run's child; −1: none */
  bool is_over;        /**< the run's process has ended, and Python has told of it, or is gone */
  tt_last_words words; /**< of the run, or of the import */
} tt_policy_host;

/** Starts Python in the plan's folder, and waits for the import. Blocks, for a minute or the plan's timeout at most. TT_INVALID: the module
 *  fails, with file and line; TT_FAILED: no Python, or no package `tether`. */
tt_status tt_policy_host_start(tt_policy_host *host, const tt_sweep_plan *plan, tt_error *error);
/** Has all of it be gone. */
void tt_policy_host_stop(tt_policy_host *host);
/** A run's own process begins; Python is started again where it is gone. TT_FAILED. */
tt_status tt_policy_host_begin(tt_policy_host *host, const tt_sweep_plan *plan, uint64_t seed,
                               double memory, tt_error *error);
/** Sends `size` bytes to the run. False: it is gone. */
bool tt_policy_host_send(const tt_policy_host *host, const void *bytes, size_t size);
/** Waits for a message of the run until `deadline` (ns, tt_monotonic_ns()), and keeps what is printed meanwhile. TT_CLOSED: the run's process has ended, with how
 *  in `error`; TT_AGAIN: the time is over; TT_FULL: more than `most` bytes were printed. */
tt_status tt_policy_host_receive(tt_policy_host *host, uint64_t deadline, double most, void *bytes,
                                 size_t *size, tt_error *error);
/** The run is over; `kills`: its process may not know, and is ended. What was printed is in `words`, settled. */
void tt_policy_host_end(tt_policy_host *host, bool kills);

#endif
