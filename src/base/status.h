/* status.h: what every fallible function returns, and the message a loader fills.
 *
 * One X-macro list gives the codes, their names and their texts, so that they can't drift apart.
 */
#ifndef TT_BASE_STATUS_H
#define TT_BASE_STATUS_H

#include <stdarg.h>
#include <stddef.h>

#define TT_STATUS_LIST(X)                                                                          \
  X(OK, 0, "done")                                                                                 \
  X(INVALID, 1, "a file or a value in it is wrong")                                                \
  X(USAGE, 2, "the command line is wrong")                                                         \
  X(FAILED, 3, "something failed while running")                                                   \
  X(NOMEM, 4, "out of memory")                                                                     \
  X(NOT_FOUND, 5, "no such name")                                                                  \
  X(BAD_MESSAGE, 6, "a message is malformed")                                                      \
  X(STALE, 7, "a message is older than the last accepted one")                                     \
  X(FULL, 8, "a bounded queue or table is full")                                                   \
  X(CLOSED, 9, "the peer is gone")                                                                 \
  X(AGAIN, 10, "not complete yet")                                                                 \
  X(DIVERGED, 11, "the simulation diverged")                                                       \
  X(VERSION, 12, "made by another version")                                                        \
  X(DIFFERS, 13, "two runs differ")                                                                \
  X(INTERRUPTED, 14, "interrupted by a signal")                                                    \
  X(END, 20, "there are no more")

/** What a call came to. Other programs may know the numbers: they stay. */
typedef enum tt_status {
#define TT_STATUS_ENUM(name, code, text) TT_##name = (code),
  TT_STATUS_LIST(TT_STATUS_ENUM)
#undef TT_STATUS_ENUM
} tt_status;

/** The code's name, for example "BAD_MESSAGE". Static; never NULL. */
const char *tt_status_name(tt_status status);

/** What the code means, in one sentence without a period. Static; never NULL. */
const char *tt_status_text(tt_status status);

/** A message for the person who can mend it: where (file and line, or path), what, and the remedy.
 *  Owned by the caller; loaders fill it and return the status that belongs to it. */
typedef struct tt_error {
  char text[1024]; /**< always terminated; empty when nothing went wrong */
} tt_error;

/** Fills `error` (may be NULL) as printf does, cut at its size, and returns `status`, so that a
 *  loader can write `return tt_fail(error, TT_INVALID, "%s:%d: …", file, line)`. */
tt_status tt_fail(tt_error *error, tt_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef __clang_analyzer__ /* which doesn't look into another file to see what is returned */
#define tt_fail(error, status, ...) ((void)(tt_fail)((error), (status), __VA_ARGS__), (status))
#endif

/** Returns from the calling function with the status of `expression` unless it is TT_OK. */
#define TT_TRY(expression)                                                                         \
  do {                                                                                             \
    tt_status tt_try_status_ = (expression);                                                       \
    if (tt_try_status_ != TT_OK) return tt_try_status_;                                            \
  } while (0)

#endif
