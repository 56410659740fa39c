/* noise.c: seeded random numbers by counter. */
#include "robot/noise.h"

/* The output function of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
 * OOPSLA 2014): a bijection that mixes every bit into every other. */
static uint64_t mix(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31);
}

#define GOLDEN 0x9e3779b97f4a7c15U /* 2⁶⁴ / golden ratio: SplitMix64's step */

tt_noise tt_noise_of(uint64_t seed, int robot, const char *name) {
  uint64_t key = mix(seed + GOLDEN);
  key = mix(key + GOLDEN * (uint64_t)(robot + 1));
  for (const char *at = name; *at; at++) key = mix(key + GOLDEN * (unsigned char)*at);
  return (tt_noise){key};
}

uint64_t tt_noise_bits(tt_noise noise, uint64_t step, uint64_t index) {
  return mix(mix(noise.key + GOLDEN * (step + 1)) + GOLDEN * (index + 1));
}

double tt_noise_normal(tt_noise noise, uint64_t step, uint64_t index) {
  int64_t sum = 0;
  for (uint64_t i = 0; i < 3; i++) {
    uint64_t bits = tt_noise_bits(noise, step, 3 * index + i);
    for (int part = 0; part < 4; part++) sum += (int64_t)((bits >> (16 * part)) & 0xffff);
  }
  /* Twelve numbers of 0…65535 have the mean 12 × 32767.5 and the variance 12 × (65536² − 1) / 12. */
  return ((double)sum - 393210.0) / 65536.0;
}

double tt_noise_uniform(tt_noise noise, uint64_t step, uint64_t index) {
  return (double)(tt_noise_bits(noise, step, index) >> 11) * 0x1p-53;
}
