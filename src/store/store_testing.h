/* store_testing.h: what tests of a store share: the store under test, what is written to it and read. It is a file of the
 * default backend, unless tt_testing_at() said otherwise. One thread; what fails, fails the test. */
#ifndef TT_STORE_STORE_TESTING_H
#define TT_STORE_STORE_TESTING_H

#include "store/store.h"

#include <glib.h>

/** Where a backend is tested. Functions return false where they fail; what a place can't is NULL, and its cases are skipped. */
typedef struct tt_store_place {
  const char *(*url)(void); /**< NULL: a file of its own */
  /** Removes all that is stored. NULL: there are only files, which go. */
  bool (*clean)(const char *url);
  /** Puts a database there as an older program left it, with what conformance_versions.c tells. */
  bool (*make_older)(const char *url);
  /** Makes a database look as if a newer program had made it. */
  bool (*make_newer)(const char *url);
  /** Leaves no room on the disk for much, or gives it back. */
  bool (*fill_disk)(const char *url, bool full);
  /** Cuts a remote store off, or lets it be reached again. */
  bool (*cut)(const char *url, bool away);
} tt_store_place;
/** Before the tests begin. */
void tt_testing_at(const tt_store_backend *backend, const tt_store_place *place);
/** What that said. */
const tt_store_place *tt_testing_place(void);

/** Of a group of tests: makes a folder, and removes it with all that is in it. */
int tt_testing_begin(void **state);
int tt_testing_end(void **state);
/** Of a test: nothing is stored yet. */
int tt_testing_clean(void **state);
/** Of all files of the tests. */
const char *tt_testing_folder(void);
/** Of the store; the spool is NULL where there is none, the file is the default backend's. */
const char *tt_testing_url(void);
const char *tt_testing_spool(void);
const char *tt_testing_file(void);

/** The store under test, to be closed. */
tt_store *tt_testing_open(void);
/** Another, by these options. */
tt_store *tt_testing_open_by(const tt_store_options *options);
/** Another, without a spool; loaded. */
tt_store *tt_testing_open_url(const char *url);
/** Once more, with a spool of its own, to be closed. */
tt_store *tt_testing_open_beside(void);
/** Everything that a store tells at its start, a line each; to be freed. Away: it can tell only what waits. */
char *tt_testing_load(tt_store *store);
char *tt_testing_load_away(tt_store *store);
/** What the store that was loaded last has told until now. */
const char *tt_testing_told(void);
void tt_testing_assert_loads(tt_store *store, const char *expected);
/** Who is told what others put into a store that is loaded from now on and followed: tt_store_loader.others. NULL: nobody. */
void tt_testing_tell_others(void (*told)(void *context, const tt_store_batch *batch));
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
/** Removes all that it names, and returns how many values that were: a store that is busy is asked again until nothing is left. */
int tt_testing_purge(tt_store *store, const tt_store_purge *purge);

/** A reader without a store, to be closed, and what it told, a line each, to be freed. */
tt_store_reader *tt_testing_open_alone(char **told);
/** Records of a range, a line each: device time, time, seq if there is one, values; to be freed. */
char *tt_testing_read_range(tt_store_reader *reader, const tt_store_range *range);
/** Records of a device and epoch from µs to µs, a line each, of these attributes (0: of all); to be freed. */
char *tt_testing_read(tt_store *store, int device, int epoch, int64_t from, int64_t to,
                      const int *attributes, int count);
/** All of them. */
void tt_testing_assert_reads(tt_store *store, int device, int epoch, const char *expected);

#endif
