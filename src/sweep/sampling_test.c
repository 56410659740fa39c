/* sampling_test.c: points of the unit cube: known ones of the Sobol sequence, and what each kind promises. */
#include "sweep/sampling.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The first ten points in three dimensions, as Joe and Kuo's program prints them with new-joe-kuo-6.21201 ("sobol 10 3"). */
static const double published[10][3] = {
    {0, 0, 0},
    {0.5, 0.5, 0.5},
    {0.75, 0.25, 0.25},
    {0.25, 0.75, 0.75},
    {0.375, 0.375, 0.625},
    {0.875, 0.875, 0.125},
    {0.625, 0.125, 0.875},
    {0.125, 0.625, 0.375},
    {0.1875, 0.3125, 0.9375},
    {0.6875, 0.8125, 0.4375},
};

static void test_known_points_of_sobol(void **state) {
  (void)state;
  for (uint64_t i = 0; i < 10; i++)
    for (int k = 0; k < 3; k++) assert_true(tt_sample_sobol(i, k) == published[i][k]);
}

/* Along every axis, each of 2ᵐ even slices has one of the first 2ᵐ points. */
static void test_sobol_fills_every_slice(void **state) {
  enum { COUNT = 1024 };
  (void)state;
  for (int k = 0; k < TT_SOBOL_DIMENSIONS; k++) {
    bool taken[COUNT] = {false};
    for (uint64_t i = 0; i < COUNT; i++) {
      const int slice = (int)(tt_sample_sobol(i, k) * (double)COUNT);
      assert_false(taken[slice]);
      taken[slice] = true;
    }
  }
}

/* Sobol's property A, which Joe and Kuo's numbers have: of 2ᵈ points in d dimensions, one lies in each of the 2ᵈ parts that halving every
 * axis makes. A wrong number in the table breaks it in nearly all cases. */
static void test_sobol_has_property_a(void **state) {
  (void)state;
  for (int dimensions = 1; dimensions <= 16; dimensions++) {
    const uint64_t count = UINT64_C(1) << dimensions;
    bool *taken = calloc(count, 1);
    assert_non_null(taken);
    for (uint64_t i = 0; i < count; i++) {
      uint64_t part = 0;
      for (int k = 0; k < dimensions; k++) part = part << 1 | (tt_sample_sobol(i, k) >= 0.5);
      assert_false(taken[part]);
      taken[part] = true;
    }
    free(taken);
  }
}

/* The same for as many dimensions as points have bits: which halves point 2ᵏ turns over is linear over GF(2), and has to be invertible. */
static void test_sobol_has_property_a_in_32_dimensions(void **state) {
  uint64_t rows[TT_SOBOL_DIMENSIONS] = {0};
  (void)state;
  for (int k = 0; k < 32; k++) { /* point 2ᵏ⁺¹ − 1 has Gray code 2ᵏ */
    const uint64_t index = (UINT64_C(1) << (k + 1)) - 1;
    for (int j = 0; j < 32; j++)
      if (tt_sample_sobol(index, j) >= 0.5) rows[j] |= UINT64_C(1) << k;
  }
  for (int column = 0; column < 32; column++) {
    int pivot = column;
    while (pivot < 32 && !(rows[pivot] >> column & 1)) pivot++;
    assert_true(pivot < 32);
    const uint64_t row = rows[pivot];
    rows[pivot] = rows[column];
    rows[column] = row;
    for (int j = 0; j < 32; j++)
      if (j != column && rows[j] >> column & 1) rows[j] ^= row;
  }
}

static void check_latin(uint64_t seed, uint64_t count, int dimension) {
  bool *taken = calloc(count, 1);
  assert_non_null(taken);
  for (uint64_t i = 0; i < count; i++) {
    const double share = tt_sample_latin(seed, i, count, dimension);
    assert_true(share >= 0 && share < 1);
    const uint64_t slice = (uint64_t)(share * (double)count);
    assert_true(slice < count);
    assert_false(taken[slice]);
    taken[slice] = true;
  }
  free(taken);
}

static void test_latin_hypercubes(void **state) {
  static const uint64_t counts[] = {1, 2, 3, 4, 5, 7, 16, 17, 100, 1000, 65537};
  (void)state;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (int k = 0; k < 3; k++) check_latin(42 + i, counts[i], k);
}

/* Neighbours in one dimension are none in another: the order of the slices is by chance. */
static void test_latin_dimensions_are_independent(void **state) {
  enum { COUNT = 4096 };
  double product = 0;
  (void)state;
  for (uint64_t i = 0; i < COUNT; i++) {
    const double a = tt_sample_latin(7, i, COUNT, 0) - 0.5,
                 b = tt_sample_latin(7, i, COUNT, 1) - 0.5;
    product += a * b;
    assert_true(a != b);
  }
  assert_true(fabs(product / (double)COUNT * 12) <
              0.08); /* correlation; five standard errors of 1/64 */
}

static void test_points_follow_from_seed_and_index(void **state) {
  (void)state;
  for (uint64_t i = 0; i < 100; i++)
    for (int k = 0; k < 4; k++) {
      const double random = tt_sample_random(1, i, k);
      assert_true(random >= 0 && random < 1);
      assert_true(random == tt_sample_random(1, i, k) && random != tt_sample_random(2, i, k));
      assert_true(tt_sample_latin(1, i, 100, k) == tt_sample_latin(1, i, 100, k));
      assert_true(tt_sample_latin(1, i, 100, k) != tt_sample_latin(2, i, 100, k));
    }
}

static void test_random_points_are_even(void **state) {
  enum { COUNT = 16000, PARTS = 16 };
  int counts[PARTS] = {0};
  double chi = 0;
  (void)state;
  for (uint64_t i = 0; i < COUNT; i++)
    counts[(int)(tt_sample_random(3, i, 0) * 4) * 4 + (int)(tt_sample_random(3, i, 1) * 4)]++;
  for (int i = 0; i < PARTS; i++) chi += pow(counts[i] - 1000.0, 2) / 1000;
  assert_true(chi < 37.7); /* 15 degrees of freedom: one in a thousand is above */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_points_of_sobol),
      cmocka_unit_test(test_sobol_fills_every_slice),
      cmocka_unit_test(test_sobol_has_property_a),
      cmocka_unit_test(test_sobol_has_property_a_in_32_dimensions),
      cmocka_unit_test(test_latin_hypercubes),
      cmocka_unit_test(test_latin_dimensions_are_independent),
      cmocka_unit_test(test_points_follow_from_seed_and_index),
      cmocka_unit_test(test_random_points_are_even),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
