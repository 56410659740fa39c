/* rational.c: times that must be exact. */
#include "scene/rational.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#define LIMIT INT64_C(1000000000000)

int64_t tt_greatest_common_divisor(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/** value × num / den, in lowest terms; false beyond the limit. */
static bool scale(tt_rational *value, int64_t num, int64_t den) {
  int64_t own = tt_greatest_common_divisor(num, den);
  if (!own) return false;
  num /= own;
  den /= own;
  int64_t across = tt_greatest_common_divisor(value->num, den),
          other = tt_greatest_common_divisor(num, value->den);
  if (!across || !other) return false;
  int64_t top, bottom;
  if (__builtin_mul_overflow(value->num / across, num / other, &top)) return false;
  if (__builtin_mul_overflow(value->den / other, den / across, &bottom)) return false;
  *value = (tt_rational){top, bottom};
  return top > 0 && bottom > 0 && top <= LIMIT && bottom <= LIMIT;
}

/** Up to 12 digits. */
static bool read_digits(const char **text, int64_t *value, int *count) {
  *value = 0;
  *count = 0;
  for (; isdigit((unsigned char)**text); ++*text, ++*count) {
    if (*count == 12) return false;
    *value = 10 * *value + (**text - '0');
  }
  return *count > 0;
}

static bool scale_by_ten(tt_rational *value, int64_t exponent) {
  if (exponent > 12 || exponent < -12) return false;
  for (; exponent > 0; exponent--) {
    if (!scale(value, 10, 1)) return false;
  }
  for (; exponent < 0; exponent++) {
    if (!scale(value, 1, 10)) return false;
  }
  return true;
}

static bool read_exponent(const char **text, int64_t *exponent) {
  ++*text;
  int sign = **text == '-' ? -1 : 1, count;
  if (**text == '-' || **text == '+') ++*text;
  if (!read_digits(text, exponent, &count)) return false;
  *exponent *= sign;
  return true;
}

/** "1/3000", "0.002", "25e-4" */
static bool read_number(const char **text, tt_rational *value) {
  int64_t whole, part = 0, exponent = 0;
  int digits, fraction = 0;
  if (!read_digits(text, &whole, &digits)) return false;
  if (**text == '/') {
    ++*text;
    int64_t den;
    if (!read_digits(text, &den, &digits) || !whole || !den) return false;
    *value = (tt_rational){1, 1};
    return scale(value, whole, den);
  }
  if (**text == '.') {
    ++*text;
    if (!read_digits(text, &part, &fraction)) return false;
  }
  if (**text == 'e' || **text == 'E') {
    if (!read_exponent(text, &exponent)) return false;
  }
  for (int i = 0; i < fraction; i++) {
    if (whole > LIMIT) return false;
    whole *= 10;
  }
  whole += part;
  if (whole <= 0 || whole > LIMIT) return false;
  *value = (tt_rational){whole, 1};
  return scale_by_ten(value, exponent - fraction);
}

static bool apply_unit(const char *unit, tt_rational *value) {
  static const struct {
    const char *name;
    int64_t num, den;
  } units[] = {
      {"", 1, 1},         {"s", 1, 1},        {"ms", 1, 1000},       {"us", 1, 1000000},
      {"µs", 1, 1000000}, {"μs", 1, 1000000}, {"ns", 1, 1000000000}, {"min", 60, 1},
  };
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (!strcmp(unit, units[i].name)) return scale(value, units[i].num, units[i].den);
  }
  return false;
}

bool tt_rational_parse(const char *text, tt_rational *value) {
  while (*text == ' ') text++;
  if (!read_number(&text, value)) return false;
  while (*text == ' ') text++;
  return apply_unit(text, value);
}

uint64_t tt_rational_steps(tt_rational time, tt_rational step) {
  tt_rational ratio = time;
  if (!scale(&ratio, step.den, step.num) || ratio.den != 1) return 0;
  return (uint64_t)ratio.num;
}
