/* bucket.c */
#include "store/bucket.h"

#define SECOND INT64_C(1000000)

const char *const tt_bucket_size_names[] = {"second", "minute", "hour", "day", 0};

int64_t tt_bucket_length(tt_bucket_size size) {
  static const int64_t lengths[TT_BUCKET_SIZES] = {SECOND, 60 * SECOND, 3600 * SECOND,
                                                   86400 * SECOND};
  return lengths[size];
}

int64_t tt_bucket_start(tt_bucket_size size, int64_t time) {
  const int64_t length = tt_bucket_length(size), rest = time % length;
  const int64_t within = rest < 0 ? rest + length : rest;
  return time < INT64_MIN + within ? INT64_MIN : time - within;
}

int64_t tt_bucket_round_up(tt_bucket_size size, int64_t time) {
  const int64_t length = tt_bucket_length(size), start = tt_bucket_start(size, time);
  return start == time || start > INT64_MAX - length ? start : start + length;
}

void tt_bucket_add(tt_bucket *bucket, int64_t time, double number) {
  const tt_bucket one = {bucket->start, 1, number, number, number, number, time};
  tt_bucket_merge(bucket, &one);
}

void tt_bucket_merge(tt_bucket *bucket, const tt_bucket *other) {
  if (!other->count) return;
  if (!bucket->count) {
    *bucket = *other;
    return;
  }
  if (other->least < bucket->least) bucket->least = other->least;
  if (other->greatest > bucket->greatest) bucket->greatest = other->greatest;
  if (other->last_time >= bucket->last_time) {
    bucket->last = other->last;
    bucket->last_time = other->last_time;
  }
  bucket->sum += other->sum;
  bucket->count += other->count;
}
