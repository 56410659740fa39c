/* conformance.h: the tests that every backend of the store has to pass. For tests only.
 *
 * A backend says where it is tested; each case is run there, or skipped where the backend has not the ability that it needs.
 * docs/telemetry-backends.md has a table of all cases and backends; it is compared with what was run.
 */
#ifndef TT_STORE_CONFORMANCE_H
#define TT_STORE_CONFORMANCE_H

#include "store/store_testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** A test of the suite. */
typedef struct tt_store_case {
  const char *name; /**< "order and many" */
  void (*test)(void **state);
  unsigned needs; /**< tt_store_ability, or-ed; others skip it */
  /** What else it needs of the place; NULL: nothing. */
  bool (*possible)(const tt_store_place *place);
} tt_store_case;

/** Runs all cases for the backend of a kind, and returns what main() returns. */
int tt_store_conform(const char *kind, const tt_store_place *place);

/** The cases of each file, ended by one without a name. */
extern const tt_store_case tt_store_records_cases[], tt_store_repeats_cases[],
    tt_store_foreign_cases[], tt_store_answers_cases[], tt_store_buckets_cases[],
    tt_store_versions_cases[], tt_store_faults_cases[], tt_store_sealing_cases[],
    tt_store_removal_cases[], tt_store_copies_cases[], tt_store_away_cases[], tt_store_log_cases[];

/* --- what cases share: samples of three days, of two devices, the first of which has two epochs --- */

#define TT_CONFORMANCE_SAMPLES 3000
#define TT_CONFORMANCE_DAY INT64_C(86400000000)
/** Of the first epoch: its clock began at midnight. */
#define TT_CONFORMANCE_ANCHOR (20000 * TT_CONFORMANCE_DAY)

/** The store under test, loaded; to be closed. */
tt_store *tt_conformance_begin(void);
/** Writes those samples whose numbers leave a rest; all with 1 and 0. */
void tt_conformance_write(tt_store *store, int divisor, int rest);
/** All that its readers say, to be freed; and that it is the same. */
char *tt_conformance_read(tt_store *store);
void tt_conformance_assert_reads(tt_store *store, const char *expected);
/** Packs or unpacks all that is over, and returns how many values. */
uint64_t tt_conformance_seal(tt_store *store, bool undo);

#endif
