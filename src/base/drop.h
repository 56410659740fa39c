/* drop.h: why a message from outside was dropped. */
#ifndef TT_BASE_DROP_H
#define TT_BASE_DROP_H

#include "base/status.h"

/** Why a message did not change anything. Counted each for itself; the first of each reason a
 *  second is logged with sender and field. */
#define TT_DROP_LIST(X)                                                                            \
  X(LENGTH, "wrong length")                                                                        \
  X(NON_FINITE, "non-finite number")                                                               \
  X(RANGE, "value out of range")                                                                   \
  X(STALE, "not newer than the last accepted message")                                             \
  X(SYNTAX, "malformed")                                                                           \
  X(UNKNOWN, "unknown or unmarked object")                                                         \
  X(SUPERSEDED, "a newer message arrived in the same period")                                      \
  X(REFUSED, "not allowed")                                                                        \
  X(OVERFLOW, "queue full")                                                                        \
  X(SURPLUS, "more answers than messages in lock-step")
typedef enum tt_drop {
#define TT_DROP_ENUM(name, text) TT_DROP_##name,
  TT_DROP_LIST(TT_DROP_ENUM)
#undef TT_DROP_ENUM
      TT_DROP_COUNT
} tt_drop;
/** The text of a reason. Static. */
const char *tt_drop_text(tt_drop drop);

/** Why a decoder refuses a message. */
typedef struct tt_refusal {
  tt_drop drop;
  char text[128]; /**< names the field, for people; always terminated */
} tt_refusal;
/** Fills `refusal` as printf does, cut at its size, and returns TT_BAD_MESSAGE. */
tt_status tt_refuse(tt_refusal *refusal, tt_drop drop, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
