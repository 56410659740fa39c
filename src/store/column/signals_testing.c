/* signals_testing.c */
#include "store/column/signals_testing.h"

#include <math.h>

#define PERIOD 100000 /* µs */
#define START INT64_C(1767225600000000)

/** A signal: a course of slow and quick sines around a middle, the noise of its sensor, and its decimals. */
typedef struct course {
  double middle, swing, seconds, noise;
  int decimals;
} course;

static const course courses[TT_TESTING_SIGNALS] = {
    {12.1, 0.6, 600, 0.03, 2},   // battery, V
    {18, 14, 23, 0.8, 1},        // its current, A
    {31.5, 4, 1800, 0.1, 1},     // a motor's temperature, °C
    {180, 179, 47, 0.3, 1},      // heading, °
    {0, 2.4, 11, 0.02, 3},       // speed, m/s
    {0, 180, 9, 1.5, 1},         // turn rate, °/s
    {0.02, 1.1, 3, 0.015, 3},    // acceleration, g
    {1.8, 1.6, 31, 0.004, 3},    // a range, m
    {1013, 2, 3600, 0.4, 0},     // pressure, hPa
    {0, 3.1, 11, 0.03, 2},       // a wheel, m/s
    {0, 100, 5, 0.5, 1},         // duty, %
    {0.45, 0.3, 120, 0.002, 4},  // a potentiometer
};

/** A number that row and salt decide, evenly from 0 to 1. */
static double draw(uint32_t row, unsigned salt) {
  uint64_t z = ((uint64_t)salt << 32 | row) * 0x9e3779b97f4a7c15u + 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/** Noise of deviation 1, nearly Gaussian. */
static double noise(uint32_t row, unsigned salt) {
  double sum = -6;
  for (unsigned i = 0; i < 12; i++) sum += draw(row, salt * 16 + i);
  return sum;
}

/** sin(2πx), of additions and multiplications alone, so that it is the same everywhere. */
static double wave(double x) {
  x -= floor(x) + 0.5;
  const double parabola = 16 * x * (fabs(x) - 0.5);
  return 0.225 * (parabola * fabs(parabola) - parabola) + parabola;
}

tt_column_moment tt_testing_moment(uint32_t row) {
  // The device is a little late now and then; the difference of the clocks is followed in steps.
  const int64_t late = (int64_t)(2000 * draw(row, 1000) * draw(row, 1001) * draw(row, 1002));
  const int64_t drift = row / 600 * 37;
  const int64_t device_time = INT64_C(4200000) + (int64_t)row * PERIOD + late;
  return (tt_column_moment){
      .device_time = device_time, .time = START + device_time + drift, .seq = (int64_t)row + 1};
}

static double smooth(unsigned signal, uint32_t row) {
  const course *course = &courses[signal];
  const double seconds = row * 0.1 / course->seconds;
  return course->middle + course->swing * (0.8 * wave(seconds) + 0.2 * wave(seconds * 7.3)) +
         course->noise * noise(row, signal);
}

static double counter(unsigned signal, uint32_t row) {
  // Ticks of an encoder; messages; a level that goes up and down and is 0 after each start.
  if (signal % 3 == 0) return floor(row * (17.3 + signal) + 40 * wave(row * 0.1 / 13));
  if (signal % 3 == 1) return row * (double)(signal + 1);
  return row % 5000 * 3 + floor(3 * draw(row, signal));
}

double tt_testing_signal(tt_testing_signals kind, unsigned signal, uint32_t row) {
  static const double powers[] = {1, 10, 100, 1000, 10000};
  if (kind == TT_TESTING_COUNTERS) return counter(signal, row);
  const double number = smooth(signal, row);
  if (kind == TT_TESTING_DOUBLES) return number;
  if (kind == TT_TESTING_SCALED) return rint(number * 100) * 0.01;
  const double power = powers[courses[signal].decimals];
  return rint(number * power) / power;
}

bool tt_testing_fill_moments(tt_list *moments, uint32_t first, uint32_t rows) {
  tt_list_cut(moments, 0);
  for (uint32_t i = 0; i < rows; i++) {
    const tt_column_moment moment = tt_testing_moment(first + i);
    tt_list_add(moments, &moment, 1);
  }
  return !moments->failed;
}

bool tt_testing_fill(tt_column *column, tt_testing_signals kind, unsigned signal, uint32_t first,
                     uint32_t rows) {
  tt_column_clear(column);
  for (uint32_t i = 0; i < rows; i++) {
    const tt_column_value value = {i, TT_COLUMN_NUMBER, tt_testing_signal(kind, signal, first + i)};
    tt_list_add(&column->values, &value, 1);
  }
  return !column->values.failed;
}
