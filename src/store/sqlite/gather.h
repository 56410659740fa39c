/* gather.h: buckets of a device, column by column: out of its samples, and out of other buckets.
 *
 * One thread at a time.
 */
#ifndef TT_STORE_SQLITE_GATHER_H
#define TT_STORE_SQLITE_GATHER_H

#include "store/store.h"

/** Buckets of an attribute. */
typedef struct tt_sqlite_series {
  int attribute;
  tt_list buckets; /**< tt_bucket, in order of time */
} tt_sqlite_series;

/** Buckets of one size. */
typedef struct tt_sqlite_table {
  tt_bucket_size size;
  tt_list series; /**< tt_sqlite_series, by attribute; may have no buckets */
} tt_sqlite_table;

/** Has no series. */
tt_sqlite_table tt_sqlite_table_new(tt_bucket_size size);
/** Gives the memory back; also of one that is zero. */
void tt_sqlite_table_free(tt_sqlite_table *table);
/** No buckets are left; series and memory stay. */
void tt_sqlite_table_empty(tt_sqlite_table *table);
/** The series of an attribute, NULL: there is none. Valid until another one is added. */
tt_sqlite_series *tt_sqlite_table_find(const tt_sqlite_table *table, int attribute);
/** The same, added where there is none; NULL: out of memory. */
tt_sqlite_series *tt_sqlite_table_need(tt_sqlite_table *table, int attribute);
/** Adds what a bucket holds, which may be shorter than those of the table. False: out of memory. */
bool tt_sqlite_table_add(tt_sqlite_table *table, int attribute, const tt_bucket *bucket);

/** Where the samples of an epoch lie; inclusive. */
typedef struct tt_sqlite_span {
  int epoch;
  int64_t offset_low, offset_high; /**< µs */
  int64_t from, to;                /**< µs UTC; all lie within */
} tt_sqlite_span;

/** Where gathering goes on; zero at first. */
struct tt_sqlite_gathered {
  uint32_t span;
  bool inside;         /**< some of the span has been taken: */
  int64_t device_time; /**< up to there… */
  uint32_t records;    /**< …and so many records of that moment */
};

/** What is gathered out of samples: numbers of a device from `from` to before `to`. */
typedef struct tt_sqlite_gathering {
  tt_store_reader *reader;
  int device;
  int64_t from, to; /**< µs UTC */
  const int *attributes;
  int attribute_count;  /**< 0: all */
  const tt_list *spans; /**< tt_sqlite_span, by epoch */
  struct tt_sqlite_gathered at;
} tt_sqlite_gathering;

/** Adds the numbers to a table, until `deadline` (µs monotonic; 0: none) has passed: TT_AGAIN, to be called again, with the
 *  reader's moment moved on if one likes, as long as nothing in the range was changed. TT_OK: that is all. */
tt_status tt_sqlite_gather(tt_sqlite_gathering *gathering, int64_t deadline, tt_sqlite_table *table,
                           tt_error *error);

#endif
