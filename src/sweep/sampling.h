/* sampling.h: points of the unit cube, each by its index alone: in constant time, in any order, with nothing to remember. */
#ifndef TT_SWEEP_SAMPLING_H
#define TT_SWEEP_SAMPLING_H

#include <stdint.h>

/** So many dimensions of a Sobol sequence there are. */
#define TT_SOBOL_DIMENSIONS 64
/** So many points of it. */
#define TT_SOBOL_POINTS (UINT64_C(1) << 32)

/** Coordinate `dimension` of point `index`, each in [0, 1). Any thread. */
double tt_sample_random(uint64_t seed, uint64_t index, int dimension);
/** The same of a Latin hypercube of `count` points, above `index`: along each dimension each of `count` even slices has one. */
double tt_sample_latin(uint64_t seed, uint64_t index, uint64_t count, int dimension);
/** The same of the Sobol sequence, unscrambled, with point 0 at the origin; below TT_SOBOL_DIMENSIONS and TT_SOBOL_POINTS. */
double tt_sample_sobol(uint64_t index, int dimension);

#endif
