/* store_testing.h: what tests of a store share. They have SQLite always; PostgreSQL where TETHER_TEST_POSTGRES gives the URL
 * of a database whose schema `tether` may be dropped (tests/telemetry/store_postgres_test.py does). One thread; what fails,
 * fails the test. */
#ifndef TT_STORE_STORE_TESTING_H
#define TT_STORE_STORE_TESTING_H

#include "store/store.h"

#include <glib.h>

/** Of a group of tests: makes a folder, and removes it with all that is in it. */
int tt_testing_begin(void **state);
int tt_testing_end(void **state);
/** Of a test: nothing is stored yet. */
int tt_testing_clean(void **state);
/** Of the store. The file: of SQLite's. */
const char *tt_testing_url(void);
const char *tt_testing_file(void);

/** The store under test, to be closed. */
tt_store *tt_testing_open(void);
/** Everything that a store tells at its start, a line each; to be freed. */
char *tt_testing_load(tt_store *store);
void tt_testing_assert_loads(tt_store *store, const char *expected);
/** A line about an epoch and its newest sample. */
void tt_testing_append_boot(GString *text, const tt_store_boot *boot);

/** Adds to a batch. The key of an epoch is 100 × device + number; a value is a text, or, where that is NULL, a number, and
 *  belongs to the sample that was added last. */
void tt_testing_add_name(tt_list *names, int index, const char *identifier, const char *name);
void tt_testing_add_epoch(tt_store_batch *batch, int device, int number, int64_t anchor,
                          int64_t low, int64_t high, const char *boot);
tt_store_sample *tt_testing_add_sample(tt_store_batch *batch, int device, int epoch,
                                       int64_t device_time, int64_t time);
void tt_testing_add_value(tt_store_batch *batch, int attribute, const char *text, double number);

/** Two devices with a sample each; TT_TESTING_ROBO1 is what is read of the first one's. */
tt_store_batch *tt_testing_batch(void);
#define TT_TESTING_ROBO1 "80000 81000 0=50.25 1='Left & <\"ü\">'\n"
/** Writes a batch and frees it. */
void tt_testing_write(tt_store *store, tt_store_batch *batch);

/** Records of a device and epoch from µs to µs, a line each, of these attributes (0: of all); to be freed. */
char *tt_testing_read(tt_store *store, int device, int epoch, int64_t from, int64_t to,
                      const int *attributes, int count);
/** All of them. */
void tt_testing_assert_reads(tt_store *store, int device, int epoch, const char *expected);

#endif
