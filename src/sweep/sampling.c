#include "sweep/sampling.h"

#include "robot/noise.h"

#define ROUNDS 8

double tt_sample_random(uint64_t seed, uint64_t index, int dimension) {
  return tt_noise_uniform(tt_noise_of(seed, -1, "random"), index, (uint64_t)dimension);
}

/** A permutation of 0 … 4^half_bits − 1: a Feistel network, keyed by the noise (M. Luby, C. Rackoff, "How to construct pseudorandom
 *  permutations from pseudorandom functions", SIAM J. Comput. 17, 1988). */
static uint64_t scramble(tt_noise key, uint64_t value, int half_bits) {
  const uint64_t mask = (UINT64_C(1) << half_bits) - 1;
  uint64_t left = value >> half_bits, right = value & mask;
  for (uint64_t round = 0; round < ROUNDS; round++) {
    uint64_t next = left ^ (tt_noise_bits(key, round, right) & mask);
    left = right;
    right = next;
  }
  return left << half_bits | right;
}

/** A permutation of 0 … count − 1: what lands outside goes on until it is back inside, after fewer than four rounds on average, since
 *  count is more than a quarter of what is permuted (J. Black, P. Rogaway, "Ciphers with arbitrary finite domains", 2002). */
static uint64_t permute(tt_noise key, uint64_t value, uint64_t count) {
  int half_bits = 1;
  while (half_bits < 31 && UINT64_C(1) << (2 * half_bits) < count) half_bits++;
  do value = scramble(key, value, half_bits);
  while (value >= count);
  return value;
}

double tt_sample_latin(uint64_t seed, uint64_t index, uint64_t count, int dimension) {
  const tt_noise key = tt_noise_of(seed, dimension, "slice");
  const double within = tt_noise_uniform(tt_noise_of(seed, dimension, "within"), index, 0);
  const double share = ((double)permute(key, index, count) + within) / (double)count;
  return share < 1 ? share : 1 - 0x1p-53; /* what rounding makes of the last slice's end */
}
