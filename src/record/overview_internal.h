/* overview_internal.h: shared by overview.c, which fills it, and overview_file.c, which keeps it. */
#ifndef TT_RECORD_OVERVIEW_INTERNAL_H
#define TT_RECORD_OVERVIEW_INTERNAL_H

#include "record/overview.h"

#define TT_OVERVIEW_FIRST_EVERY 10000u /**< µs, length of a part at first: a sample, as a rule */

/** A signal. As long as it never changed it takes no room: `value` since part `begin`. */
typedef struct tt_overview_track {
  uint32_t entry;
  double value; /**< the last; NAN: none yet */
  size_t begin;
  tt_extremes *parts; /**< [TT_OVERVIEW_PARTS]; NULL: it never changed */
} tt_overview_track;

/** µs of the first and the last sample of a part; first > last: it has none. */
typedef struct tt_overview_span {
  uint64_t first, last;
} tt_overview_span;

struct tt_overview {
  const tt_run_log *log;
  tt_run_cursor cursor;    /**< behind the last sample that was taken in */
  bool open;               /**< the cursor is */
  uint64_t taken;          /**< µs: time of that sample */
  uint64_t every;          /**< µs */
  size_t parts;            /**< the last is being filled */
  tt_overview_span *spans; /**< [TT_OVERVIEW_PARTS] */
  tt_overview_track *tracks;
  size_t track_count;
  int32_t *track_of; /**< [entry_count] of the log; −1: no signal */
  uint32_t entry_count;
};

/** Room for the parts of a track that is about to change. False when out of memory. */
bool tt_overview_track_grow(tt_overview_track *track);

/* --- overview_file.c: what is packed --- */
#define TT_OVERVIEW_IDENTITY 3
/** The first words: the format, and what tells of which log it is. */
void tt_overview_identify(const tt_overview *overview, uint64_t words[TT_OVERVIEW_IDENTITY]);
/** Takes in words as a file has them; the last is tt_overview_checksum(). */
bool tt_overview_take_words(tt_overview *overview, const uint64_t *words, size_t count);
/** Of the words before the last. */
uint64_t tt_overview_checksum(const uint64_t *words, size_t count);

#endif
