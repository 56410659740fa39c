/* derive.h: the entries that a log does not hold, since they follow from those it does (linkage.h), made while it is read.
 *
 * A log's cursor owns one tt_derived, feeds it every record that it passes, and asks it for the entries from
 * tt_derivation.first on. Whoever reads a log through cursors sees no difference.
 */
#ifndef TT_RECORD_DERIVE_H
#define TT_RECORD_DERIVE_H

#include "record/journal_codec.h"
#include "record/linkage.h"
#include "record/run_log.h"

/** What a record of a kept entry tells. */
typedef enum tt_track_kind {
  TT_TRACK_NONE,
  TT_TRACK_SIGNAL,
  TT_TRACK_JOURNAL,
  TT_TRACK_COMMANDS, /**< all commands in force */
} tt_track_kind;
typedef struct tt_track {
  tt_track_kind kind;
  tt_signal signal;
} tt_track;

/** An entry that is made. */
typedef struct tt_derived_entry {
  tt_signal signal;
  int body; /**< whose pose it is; 0: it is the signal */
} tt_derived_entry;

/** Of a log; immutable. */
typedef struct tt_derivation {
  tt_linkage linkage;
  tt_field field;
  tt_track *tracks; /**< [first] of each kept entry */
  uint32_t first, count;
  tt_derived_entry *made; /**< [count] */
} tt_derivation;

/** Reads the log's linkage and appends the entries that are made to `*entries`, of which `*count` are kept ones. NULL where the
 *  log has none, or a malformed one: everything it has stands in it. TT_NOMEM. */
tt_status tt_derivation_read(const tt_run_log *log, tt_run_entry **entries, uint32_t *count,
                             tt_derivation **derivation);
/** NULL-safe; after the cursors that use it. */
void tt_derivation_free(tt_derivation *derivation);

typedef struct tt_derived tt_derived;
/** Before the log's first record. NULL when out of memory. */
tt_derived *tt_derived_new(const tt_derivation *derivation, const tt_run_entry *entries);
void tt_derived_free(tt_derived *derived);
/** Back there. */
void tt_derived_rewind(tt_derived *derived);
/** Would this record begin another sample? tt_derived_next() should be asked first for what is left of the present one. */
bool tt_derived_begins(const tt_derived *derived, const tt_wpilog_record *record);
/** Takes in a record of the log, each in its turn. */
void tt_derived_feed(tt_derived *derived, const tt_wpilog_record *record);
/** The next made record of the present sample whose value changed; false: there is none (left). */
bool tt_derived_next(tt_derived *derived, tt_wpilog_record *record);
/** The made entry `entry` as it is now; false before the first sample. The payload stays until it changes. */
bool tt_derived_value(tt_derived *derived, uint32_t entry, tt_wpilog_record *record);
/** The made signal `entry` as a number; NAN for a pose, and before the first sample. */
double tt_derived_number(tt_derived *derived, uint32_t entry);

#endif
