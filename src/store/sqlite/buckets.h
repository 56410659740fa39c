/* buckets.h: buckets of a device as readers are given them: those that are made, and of marked hours what the samples say.
 */
#ifndef TT_STORE_SQLITE_BUCKETS_H
#define TT_STORE_SQLITE_BUCKETS_H

#include "store/sqlite/gather.h"
#include "store/sqlite/internal.h"

/** See tt_store_reader.buckets(). */
tt_status tt_sqlite_buckets(tt_store_reader *reader, const tt_store_bucket_query *query,
                            bool (*take)(void *context, int attribute, const tt_bucket *bucket),
                            void *context, tt_error *error);
/** The epochs of a device that have samples, by their numbers (tt_sqlite_span), appended to `spans`. */
tt_status tt_sqlite_spans(tt_sqlite_reader *reader, int device, tt_list *spans, tt_error *error);
/** How many attributes a device has values of. */
tt_status tt_sqlite_count_pairs(tt_sqlite_reader *reader, int device, int64_t *pairs,
                                tt_error *error);

#endif
