/* numbers.c: doubles as integers: m of m / 10^k or m × 10^-k where they are decimals, else their bits.
 *
 * What a device sends as a decimal of few digits is the double nearest to it, which m / 10^k is, too; what was scaled by 0.01
 * is m × 0.01. Which it is, and k, are guessed from some of the numbers. Each number is then made again from its integer
 * and compared bit for bit; those that are none of it (-0 is one) are kept beside.
 */
#include "store/column/column_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum form { FORM_BITS, FORM_DIVIDED, FORM_MULTIPLIED, FORMS } form;

static const double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
static const double fractions[] = {1,    1e-1, 1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7,
                                   1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15};
#define POWERS (sizeof powers / sizeof *powers)
_Static_assert(sizeof fractions == sizeof powers, "of the same powers");
/** Added, it leaves a number of less than 2^51 without a fraction. */
#define ROUNDING 0x1.8p52
#define MOST_INTEGER 0x1p51
/** Numbers that are looked at for a guess. */
#define SAMPLES 64
/** One in so many may be something else. */
#define OTHERS 8

static inline uint64_t bits_of(double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static inline double number_of(uint64_t bits) {
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static inline double make(double integer, form form, unsigned power) {
  return form == FORM_DIVIDED ? integer / powers[power] : integer * fractions[power];
}

/** Whether a number is an integer of this form, and which. */
static inline bool is(double number, form form, unsigned power, double *integer) {
  const double scaled = number * powers[power];
  if (!(fabs(scaled) < MOST_INTEGER)) return false;
  *integer = scaled + ROUNDING - ROUNDING;
  return bits_of(make(*integer, form, power)) == bits_of(number);
}

/** The least power at which all but a few of the sampled numbers are of the form. False: there is none. */
static bool guess_power(const double *numbers, uint32_t count, form form, unsigned *power,
                        uint32_t *fitting) {
  const uint32_t samples = count < SAMPLES ? count : SAMPLES;
  uint32_t from[POWERS] = {0}, fit = 0;
  for (uint32_t i = 0; i < samples; i++) {
    double integer;
    unsigned k = 0;
    while (k < POWERS && !is(numbers[(uint64_t)i * count / samples], form, k, &integer)) k++;
    if (k < POWERS) from[k]++, fit++;
  }
  if (fit + samples / OTHERS < samples) return false;
  *fitting = 0;
  for (*power = 0; *fitting + samples / OTHERS < samples; ++*power) *fitting += from[*power];
  if (*power) --*power;
  return true;
}

static form guess(const double *numbers, uint32_t count, unsigned *power) {
  unsigned divided = 0, multiplied = 0;
  uint32_t one = 0, other = 0;
  const bool is_divided = guess_power(numbers, count, FORM_DIVIDED, &divided, &one);
  const bool is_multiplied = guess_power(numbers, count, FORM_MULTIPLIED, &multiplied, &other);
  *power = is_divided ? divided : multiplied;
  if (!is_divided) return is_multiplied ? FORM_MULTIPLIED : FORM_BITS;
  if (!is_multiplied || divided < multiplied || (divided == multiplied && one >= other))
    return FORM_DIVIDED;
  *power = multiplied;
  return FORM_MULTIPLIED;
}

/** What a pass over the numbers needs. */
typedef struct scratch {
  uint64_t integers[TT_COLUMN_ROWS];
  uint32_t others; /**< numbers that are not of the form */
  uint64_t rows[TT_COLUMN_ROWS / OTHERS + 1], bits[TT_COLUMN_ROWS / OTHERS + 1];
} scratch;

/** False: too many are others. */
static bool to_integers(const double *numbers, uint32_t count, form form, unsigned power,
                        scratch *made) {
  made->others = 0;
  for (uint32_t i = 0; i < count; i++) {
    double integer;
    if (is(numbers[i], form, power, &integer)) {
      made->integers[i] = (uint64_t)(int64_t)integer;
      continue;
    }
    if (made->others > count / OTHERS) return false;
    made->integers[i] = i ? made->integers[i - 1] : 0;  // costs least
    made->rows[made->others] = i;
    made->bits[made->others++] = bits_of(numbers[i]);
  }
  return true;
}

void tt_column_put_numbers(tt_column_content *content, const double *numbers, uint32_t count) {
  scratch *made = malloc(sizeof *made);
  if (!made) {
    content->bytes.failed = true;
    return;
  }
  unsigned power = 0;
  form form = guess(numbers, count, &power);
  if (form != FORM_BITS && !to_integers(numbers, count, form, power, made)) form = FORM_BITS;
  if (form == FORM_BITS) memcpy(made->integers, numbers, count * sizeof *numbers);
  tt_column_put(content, form);
  tt_column_put_integers(content, made->integers, count);
  if (form != FORM_BITS) {
    tt_column_put(content, power);
    tt_column_put(content, made->others);
  }
  if (form != FORM_BITS && made->others) {
    tt_column_put_integers(content, made->rows, made->others);
    tt_column_put_integers(content, made->bits, made->others);
  }
  free(made);
}

static void get_others(tt_column_source *source, uint32_t others, double *numbers, uint32_t count) {
  uint64_t *rows = malloc(2 * others * sizeof *rows), *bits = rows + others;
  if (!rows) {
    source->failed = true;
    return;
  }
  tt_column_get_integers(source, rows, others);
  tt_column_get_integers(source, bits, others);
  for (uint32_t i = 0; i < others && !source->damaged; i++) {
    if (rows[i] < count) {
      numbers[rows[i]] = number_of(bits[i]);
    } else {
      source->damaged = true;
    }
  }
  free(rows);
}

static inline void from_integers(double *numbers, uint32_t count, form form, unsigned power) {
  for (uint32_t i = 0; i < count; i++) {
    numbers[i] = make((double)(int64_t)bits_of(numbers[i]), form, power);
  }
}

void tt_column_get_numbers(tt_column_source *source, double *numbers, uint32_t count) {
  _Static_assert(sizeof(double) == sizeof(uint64_t), "integers stand where their numbers will");
  const uint64_t form = tt_column_get(source);
  tt_column_get_integers(source, (uint64_t *)numbers, count);
  const uint64_t power = form == FORM_BITS ? 0 : tt_column_get(source);
  const uint64_t others = form == FORM_BITS ? 0 : tt_column_get(source);
  if (form >= FORMS || power >= POWERS || others > count) source->damaged = true;
  if (source->damaged) return;
  if (form == FORM_DIVIDED) from_integers(numbers, count, FORM_DIVIDED, (unsigned)power);
  if (form == FORM_MULTIPLIED) from_integers(numbers, count, FORM_MULTIPLIED, (unsigned)power);
  if (others) get_others(source, (uint32_t)others, numbers, count);
  if (form == FORM_BITS || others) {
    for (uint32_t i = 0; i < count; i++) source->damaged |= !isfinite(numbers[i]);
  }
}
