/* integers.c: integers as what each differs by from what those before it let expect.
 *
 * Three guesses are tried: a constant, the one before, the line through the two before. Of what is left over the middle is
 * taken away, and the sign goes into the lowest bit, so that it is small. The bytes of these numbers are put plane by
 * plane: all the lowest ones, then all those above. Everything is computed modulo 2^64, which undoes itself.
 */
#include "store/column/column_internal.h"

#include <stdlib.h>

/** Integers before one that its guess needs: 0 to… */
#define MOST_ORDER 2
/** Of so many the middle is looked for. */
#define SAMPLES 15

static inline uint64_t fold(uint64_t number) { return number << 1 ^ -(number >> 63); }
static inline uint64_t unfold(uint64_t folded) { return folded >> 1 ^ -(folded & 1); }

static inline uint64_t rest(const uint64_t *integers, uint32_t at, unsigned order) {
  if (order == 0) return integers[at];
  if (order == 1) return integers[at] - integers[at - 1];
  return integers[at] - 2 * integers[at - 1] + integers[at - 2];
}

static int by_size(const void *a, const void *b) {
  const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
  return (one > other) - (one < other);
}

/** About the middle one of what is left over. */
static uint64_t middle(const uint64_t *integers, uint32_t count, unsigned order) {
  const uint32_t rests = count - order, samples = rests < SAMPLES ? rests : SAMPLES;
  int64_t sample[SAMPLES];
  for (uint32_t i = 0; i < samples; i++) {
    sample[i] = (int64_t)rest(integers, order + (uint32_t)((uint64_t)i * rests / samples), order);
  }
  qsort(sample, samples, sizeof *sample, by_size);
  return samples ? (uint64_t)sample[samples / 2] : 0;
}

/** Bits that the rests have together. `all`: those that any of them has. */
static inline uint64_t weigh(const uint64_t *integers, uint32_t count, unsigned order,
                             uint64_t base, uint64_t *all) {
  uint64_t bits = 0, any = 0;
  for (uint32_t i = order; i < count; i++) {
    const uint64_t folded = fold(rest(integers, i, order) - base);
    bits += 64 - (unsigned)__builtin_clzll(folded | 1) - !folded;
    any |= folded;
  }
  *all = any;
  return bits;
}

static inline void put_planes(uint8_t *planes, const uint64_t *integers, uint32_t count,
                              unsigned order, uint64_t base, unsigned byte) {
  for (uint32_t i = order; i < count; i++) {
    planes[i - order] = (uint8_t)(fold(rest(integers, i, order) - base) >> 8 * byte);
  }
}

void tt_column_put_integers(tt_column_content *content, const uint64_t *integers, uint32_t count) {
  unsigned order = 0;
  uint64_t base = 0, all = 0, least = UINT64_MAX;
  for (unsigned i = 0; i <= MOST_ORDER && (i == 0 || i < count); i++) {
    uint64_t any, mid = middle(integers, count, i);
    // With the order known the compiler makes a loop without a question of each.
    const uint64_t bits = i == 0   ? weigh(integers, count, 0, mid, &any)
                          : i == 1 ? weigh(integers, count, 1, mid, &any)
                                   : weigh(integers, count, 2, mid, &any);
    if (bits + 64 * i >= least) continue;
    least = bits + 64 * i;
    order = i, base = mid, all = any;
  }
  unsigned width = 0;
  while (width < 8 && all >> 8 * width) width++;
  tt_column_put(content, order);
  tt_column_put(content, width);
  for (unsigned i = 0; i < order; i++) tt_column_put(content, fold(integers[i]));
  tt_column_put(content, fold(base));
  for (unsigned byte = 0; byte < width; byte++) {
    uint8_t *plane = tt_column_put_part(content, count - order);
    if (!plane) return;
    if (order == 0) put_planes(plane, integers, count, 0, base, byte);
    if (order == 1) put_planes(plane, integers, count, 1, base, byte);
    if (order == 2) put_planes(plane, integers, count, 2, base, byte);
  }
}

/** What was left over, from its planes. */
static void join(const uint8_t *planes, unsigned width, uint32_t count, uint64_t base,
                 uint64_t *rests) {
  if (width == 1) {
    for (uint32_t i = 0; i < count; i++) rests[i] = unfold(planes[i]) + base;
  } else if (width == 2) {
    const uint8_t *high = planes + count;
    for (uint32_t i = 0; i < count; i++) {
      rests[i] = unfold(planes[i] | (uint64_t)high[i] << 8) + base;
    }
  } else {
    for (uint32_t i = 0; i < count; i++) rests[i] = 0;
    for (unsigned byte = 0; byte < width; byte++, planes += count) {
      for (uint32_t i = 0; i < count; i++) rests[i] |= (uint64_t)planes[i] << 8 * byte;
    }
    for (uint32_t i = 0; i < count; i++) rests[i] = unfold(rests[i]) + base;
  }
}

void tt_column_get_integers(tt_column_source *source, uint64_t *integers, uint32_t count) {
  const uint64_t order = tt_column_get(source), width = tt_column_get(source);
  if (order > MOST_ORDER || (order && order >= count) || width > 8) {
    source->damaged = true;
    return;
  }
  for (uint32_t i = 0; i < order; i++) integers[i] = unfold(tt_column_get(source));
  const uint64_t base = unfold(tt_column_get(source));
  const uint32_t rests = count - (uint32_t)order;
  const uint8_t *planes = tt_column_get_part(source, (size_t)width * rests);
  if (!planes) return;
  join(planes, (unsigned)width, rests, base, integers + order);
  if (order == 1) {
    for (uint32_t i = 1; i < count; i++) integers[i] += integers[i - 1];
  } else if (order == 2) {
    uint64_t step = integers[1] - integers[0];
    for (uint32_t i = 2; i < count; i++) {
      step += integers[i];
      integers[i] = integers[i - 1] + step;
    }
  }
}
