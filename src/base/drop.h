/* drop.h: why a message from outside was dropped. */
#ifndef TT_BASE_DROP_H
#define TT_BASE_DROP_H

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

#endif
