/* bucket.h: what the numbers of a stretch of time come to: least, greatest, mean, count and last. Plain data. */
#ifndef TT_STORE_BUCKET_H
#define TT_STORE_BUCKET_H

#include <stdint.h>

/** How long a bucket is. Each begins at a multiple of its length since 1970, UTC. */
typedef enum tt_bucket_size {
  TT_BUCKET_SECOND,
  TT_BUCKET_MINUTE,
  TT_BUCKET_HOUR,
  TT_BUCKET_DAY,
  TT_BUCKET_SIZES
} tt_bucket_size;

/** "second", "minute", "hour", "day", NULL: as they are asked for. */
extern const char *const tt_bucket_size_names[];

/** µs. */
int64_t tt_bucket_length(tt_bucket_size size);
/** The beginning of the bucket in which a time lies. Both µs UTC. */
int64_t tt_bucket_start(tt_bucket_size size, int64_t time);

/** The beginning of the first bucket that begins at or after a time. Both µs UTC. */
int64_t tt_bucket_round_up(tt_bucket_size size, int64_t time);

/** Finite numbers; the mean is sum / count. All zero: empty. */
typedef struct tt_bucket {
  int64_t start; /**< µs UTC */
  uint64_t count;
  double least, greatest, sum;
  double last;
  int64_t last_time; /**< µs UTC */
} tt_bucket;

/** Adds a number to a bucket. Of numbers of one time the one that is added last counts as the last. */
void tt_bucket_add(tt_bucket *bucket, int64_t time, double number);
/** Adds what another bucket holds, which may be empty. `start` stays, but for an empty one's, which takes the other's. */
void tt_bucket_merge(tt_bucket *bucket, const tt_bucket *other);

#endif
