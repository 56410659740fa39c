/* spool_testing.h: what tests of a spool's file share: a spool, and batches in it. Batch n holds two samples whose value is n; they
 * are counted sample by sample. One thread; what fails, fails the test. */
#ifndef TT_STORE_SPOOL_SPOOL_TESTING_H
#define TT_STORE_SPOOL_SPOOL_TESTING_H

#include "store/spool/spool.h"

/** Of a group of tests: makes a folder for the file, in memory, since every batch is synced; and removes it. */
int spool_begin(void **state);
int spool_end(void **state);
const char *spool_path(void);
uint64_t spool_file_size(void);

/** To be closed. */
tt_spool *spool_open(void);
tt_spool *spool_open_of(uint64_t limit);
/** To be freed. */
tt_store_batch *spool_batch(int number);
/** Appends batches from the first to the last. */
void spool_append(tt_spool *spool, int first, int last);

/** Adds a digit for each sample of a batch to `counted`. */
void spool_count(const tt_store_batch *batch, char *counted);
/** Takes everything out: "1122" is what two whole batches give. */
void spool_drain(tt_spool *spool, char *counted);
/** The same as after another start, one batch at a time, taking nothing out. */
void spool_look(tt_spool *spool, char *counted);
/** Fails unless exactly these are there, whichever way they are read. */
void spool_assert_holds(tt_spool *spool, const char *expected);

#endif
