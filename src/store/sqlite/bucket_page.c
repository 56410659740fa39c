/* bucket_page.c: a byte that says how it is laid out, then each bucket as six words of 64 bits, little-endian: its place in
 * the page and its count, the time of the last number within it, least, greatest, sum and last.
 */
#include "store/sqlite/bucket_page.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#define LAYOUT 1
#define WORDS 6
#define WORD sizeof(uint64_t)
#define PLACE_BITS 16
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)
#define MINUTES 240 /* in a page */
#define HOURS 192

int64_t tt_bucket_page_length(tt_bucket_size size) {
  static const int64_t buckets[TT_BUCKET_SIZES] = {
      [TT_BUCKET_MINUTE] = MINUTES, [TT_BUCKET_HOUR] = HOURS};
  return buckets[size] * tt_bucket_length(size);
}

int64_t tt_bucket_page_of(tt_bucket_size size, int64_t time) {
  const int64_t length = tt_bucket_page_length(size);
  return time / length - (time % length < 0);
}

int64_t tt_bucket_page_start(tt_bucket_size size, int64_t page) {
  int64_t start;
  if (__builtin_mul_overflow(page, tt_bucket_page_length(size), &start))
    return page < 0 ? INT64_MIN : INT64_MAX;
  return start;
}

static uint64_t bits_of(double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static double number_of(uint64_t bits) {
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

tt_status tt_bucket_page_pack(const tt_list *buckets, tt_bucket_size size, int64_t page,
                              tt_list *bytes, tt_error *error) {
  const int64_t start = tt_bucket_page_start(size, page), length = tt_bucket_length(size);
  tt_list_cut(bytes, 0);
  tt_list_add(bytes, &(char){LAYOUT}, 1);
  for (uint32_t i = 0; i < buckets->len; i++) {
    const tt_bucket *bucket = &tt_list_at(buckets, tt_bucket, i);
    uint64_t words[WORDS] = {
        (uint64_t)((bucket->start - start) / length) | bucket->count << PLACE_BITS,
        (uint64_t)(bucket->last_time - bucket->start),
        bits_of(bucket->least),
        bits_of(bucket->greatest),
        bits_of(bucket->sum),
        bits_of(bucket->last),
    };
    for (int w = 0; w < WORDS; w++) words[w] = htole64(words[w]);
    tt_list_add(bytes, words, sizeof words);
  }
  return bytes->failed ? tt_fail(error, TT_NOMEM, "out of memory") : TT_OK;
}

/** Whether a bucket is one that samples can make. */
static bool is_sane(const tt_bucket *bucket, uint64_t within, int64_t length) {
  return bucket->count && within < (uint64_t)length && isfinite(bucket->least) &&
         bucket->least <= bucket->greatest && isfinite(bucket->greatest) &&
         bucket->least <= bucket->last && bucket->last <= bucket->greatest;
}

/** A bucket of its words. */
static tt_bucket read_bucket(const char *bytes, int64_t start, int64_t length) {
  uint64_t words[WORDS];
  memcpy(words, bytes, sizeof words);
  for (int w = 0; w < WORDS; w++) words[w] = le64toh(words[w]);
  start += (int64_t)(words[0] & PLACE_MASK) * length;
  return (tt_bucket){.start = start,
                     .count = words[0] >> PLACE_BITS,
                     .least = number_of(words[2]),
                     .greatest = number_of(words[3]),
                     .sum = number_of(words[4]),
                     .last = number_of(words[5]),
                     .last_time = (int64_t)((uint64_t)start + words[1])};
}

static int64_t place_of(const char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return (int64_t)(le64toh(word) & PLACE_MASK);
}

tt_status tt_bucket_page_unpack_part(const void *data, size_t byte_count, tt_bucket_size size,
                                     int64_t page, int64_t from, int64_t to, tt_list *buckets,
                                     tt_error *error) {
  const char *bytes = data;
  const int64_t start = tt_bucket_page_start(size, page), length = tt_bucket_length(size);
  const int64_t places = tt_bucket_page_length(size) / length;
  const size_t count = byte_count ? (byte_count - 1) / (WORDS * WORD) : 0;
  tt_list_cut(buckets, 0);
  bool sane = byte_count == 1 + count * WORDS * WORD && *bytes == LAYOUT &&
              count <= (size_t)places && start <= INT64_MAX - tt_bucket_page_length(size) &&
              start != INT64_MIN;
  int64_t before = -1;
  for (size_t i = 0; i < count && sane; i++) {
    const char *at = bytes + 1 + i * WORDS * WORD;
    const int64_t place = place_of(at), begin = start + place * length;
    sane = place < places && place > before;
    before = place;
    if (!sane || begin < from || begin >= to) continue;
    const tt_bucket bucket = read_bucket(at, start, length);
    sane = is_sane(&bucket, (uint64_t)bucket.last_time - (uint64_t)bucket.start, length);
    if (sane && !tt_list_add(buckets, &bucket, 1)) return tt_fail(error, TT_NOMEM, "out of memory");
  }
  return sane ? TT_OK : tt_fail(error, TT_INVALID, "a page of buckets is damaged");
}

tt_status tt_bucket_page_unpack(const void *data, size_t byte_count, tt_bucket_size size,
                                int64_t page, tt_list *buckets, tt_error *error) {
  return tt_bucket_page_unpack_part(data, byte_count, size, page, INT64_MIN, INT64_MAX, buckets,
                                    error);
}
