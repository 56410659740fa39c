/* noise.h: random numbers that depend on nothing but the scene's seed, the part and a counter, so that a restored or
 * replayed run hears the same noise, and there is no state to save.
 */
#ifndef TT_ROBOT_NOISE_H
#define TT_ROBOT_NOISE_H

#include <stdint.h>

/** Chance that depends on nothing but seed, part and step. Plain data. */
typedef struct tt_noise {
  uint64_t key;
} tt_noise;

/** The noise of the part `name` of robot `robot` in a scene with `seed`. */
tt_noise tt_noise_of(uint64_t seed, int robot, const char *name);
/** 64 random bits: number `index` at `step`. */
uint64_t tt_noise_bits(tt_noise noise, uint64_t step, uint64_t index);
/** Mean 0, variance 1, within ±6: the sum of twelve uniform numbers (exact integers, no libm). */
double tt_noise_normal(tt_noise noise, uint64_t step, uint64_t index);
/** In [0, 1). */
double tt_noise_uniform(tt_noise noise, uint64_t step, uint64_t index);

#endif
