/* policy_message.h: what a policy in Python and the simulation say to each other: one message each way a tick.
 *
 * A message is a packet of its own (SOCK_SEQPACKET between two processes of one machine), so numbers stand as the machine has
 * them. It begins with its kind, a u64. python/tether/sweep_policy.py is the other end.
 *
 *   to the policy                                  from the policy
 *   TICK      f64 of each signal it has found      DONE    f64 of each command it has found; NaN: not written
 *   SIGNAL    f64 its present value                READ    the name of a signal or axis
 *   NUMBER    f64 of an axis                       WRITE   the name of a command
 *   TEXT      of an axis                           FAILED  why
 *   NOTHING   an axis without a value              FULL    why: it took too much memory
 *   COMMAND   f64 least, greatest; then its unit as it stands behind a number
 *   REFUSED   why there is no such name
 *
 * A name is asked for once; from then on its number is in each TICK, or may stand in each DONE, in the order of asking.
 */
#ifndef TT_SWEEP_POLICY_MESSAGE_H
#define TT_SWEEP_POLICY_MESSAGE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define TT_POLICY_MOST_NAMES 4096   /**< signals, and commands, that one policy may find */
#define TT_POLICY_LONGEST_TEXT 1000 /**< bytes */
/** Bytes of the largest message. */
#define TT_POLICY_LARGEST (sizeof(uint64_t) + TT_POLICY_MOST_NAMES * sizeof(double))

/** What a message to the policy is. */
typedef enum tt_policy_answer {
  TT_POLICY_TICK = 1,
  TT_POLICY_SIGNAL,
  TT_POLICY_NUMBER,
  TT_POLICY_TEXT,
  TT_POLICY_NOTHING,
  TT_POLICY_COMMAND,
  TT_POLICY_REFUSED,
} tt_policy_answer;

/** What a message of the policy is. */
typedef enum tt_policy_kind {
  TT_POLICY_DONE = 1,
  TT_POLICY_READ,
  TT_POLICY_WRITE,
  TT_POLICY_FAILED,
  TT_POLICY_FULL,
} tt_policy_kind;

/** A message of the policy; what belongs to another kind is 0. */
typedef struct tt_policy_message {
  tt_policy_kind kind;
  double values[TT_POLICY_MOST_NAMES]; /**< [count], of TT_POLICY_DONE; any bits */
  int count;
  char text[TT_POLICY_LONGEST_TEXT + 1]; /**< a name, or why; of any bytes but 0, and never empty */
} tt_policy_message;

/** Reads a message of the policy, of which any bytes may come. TT_BAD_MESSAGE: `error` says what is wrong with it. */
tt_status tt_policy_decode(const void *bytes, size_t size, tt_policy_message *message,
                           tt_error *error);
/** Writes a message to the policy: `values` [count], then `text`, which may be NULL, and is cut at TT_POLICY_LONGEST_TEXT. `bytes` has
 *  TT_POLICY_LARGEST + TT_POLICY_LONGEST_TEXT. Returns its size. */
size_t tt_policy_encode(tt_policy_answer answer, const double *values, int count, const char *text,
                        void *bytes);

#endif
