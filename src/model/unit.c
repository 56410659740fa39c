/* unit.c: the table of units and the strict, locale-independent reading of quantities. */
#include "model/unit.h"

#include "base/nearest.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PI 3.14159265358979323846

/* Exact by definition: the inch, the foot and the mile (international yard, 1959), the pound (0.45359237 kg)
 * and standard gravity (9.80665 m/s²), so also lbf = 4.4482216152605 N. The first unit of a dimension is SI. */
#define INCH 0.0254
#define FOOT 0.3048
#define MILE 1609.344
#define POUND 0.45359237
#define POUND_FORCE 4.4482216152605
#define INCH_POUND 0.1129848290276167 /* INCH × POUND_FORCE */
#define FOOT_POUND 1.3558179483314004 /* FOOT × POUND_FORCE */

static const tt_unit units[] = {
    {"1", "1", TT_DIMENSIONLESS, 1},
    {"ticks", "ticks", TT_DIMENSIONLESS, 1},
    {"tick", "tick", TT_DIMENSIONLESS, 1},
    {"%", "%", TT_DIMENSIONLESS, 0.01},
    {"rad", "rad", TT_ANGLE, 1},
    {"mrad", "mrad", TT_ANGLE, 0.001},
    {"deg", "deg", TT_ANGLE, PI / 180},
    {"rev", "rev", TT_ANGLE, 2 * PI},
    {"turn", "turn", TT_ANGLE, 2 * PI},
    {"turns", "turns", TT_ANGLE, 2 * PI},
    {"rad/s", "rad/s", TT_ANGULAR_VELOCITY, 1},
    {"deg/s", "deg/s", TT_ANGULAR_VELOCITY, PI / 180},
    {"rev/s", "rev/s", TT_ANGULAR_VELOCITY, 2 * PI},
    {"turn/s", "turn/s", TT_ANGULAR_VELOCITY, 2 * PI},
    {"rpm", "rpm", TT_ANGULAR_VELOCITY, PI / 30},
    {"rad/s²", "rad/s^2", TT_ANGULAR_ACCELERATION, 1},
    {"deg/s²", "deg/s^2", TT_ANGULAR_ACCELERATION, PI / 180},
    {"m", "m", TT_LENGTH, 1},
    {"mm", "mm", TT_LENGTH, 0.001},
    {"cm", "cm", TT_LENGTH, 0.01},
    {"km", "km", TT_LENGTH, 1000},
    {"in", "in", TT_LENGTH, INCH},
    {"ft", "ft", TT_LENGTH, FOOT},
    {"m/s", "m/s", TT_VELOCITY, 1},
    {"mm/s", "mm/s", TT_VELOCITY, 0.001},
    {"cm/s", "cm/s", TT_VELOCITY, 0.01},
    {"km/h", "km/h", TT_VELOCITY, 1000.0 / 3600},
    {"in/s", "in/s", TT_VELOCITY, INCH},
    {"ft/s", "ft/s", TT_VELOCITY, FOOT},
    {"mph", "mph", TT_VELOCITY, MILE / 3600},
    {"m/s²", "m/s^2", TT_ACCELERATION, 1},
    {"in/s²", "in/s^2", TT_ACCELERATION, INCH},
    {"ft/s²", "ft/s^2", TT_ACCELERATION, FOOT},
    {"N", "N", TT_FORCE, 1},
    {"kN", "kN", TT_FORCE, 1000},
    {"lbf", "lbf", TT_FORCE, POUND_FORCE},
    {"ozf", "ozf", TT_FORCE, POUND_FORCE / 16},
    {"N·m", "N-m", TT_TORQUE, 1},
    {"Nm", "Nm", TT_TORQUE, 1},
    {"N·cm", "N-cm", TT_TORQUE, 0.01},
    {"in·lbf", "in-lbf", TT_TORQUE, INCH_POUND},
    {"lbf·in", "lbf-in", TT_TORQUE, INCH_POUND},
    {"ft·lbf", "ft-lbf", TT_TORQUE, FOOT_POUND},
    {"lbf·ft", "lbf-ft", TT_TORQUE, FOOT_POUND},
    {"oz·in", "oz-in", TT_TORQUE, INCH_POUND / 16},
    {"ozf·in", "ozf-in", TT_TORQUE, INCH_POUND / 16},
    {"s", "s", TT_TIME, 1},
    {"ms", "ms", TT_TIME, 1e-3},
    {"µs", "us", TT_TIME, 1e-6},
    {"ns", "ns", TT_TIME, 1e-9},
    {"min", "min", TT_TIME, 60},
    {"h", "h", TT_TIME, 3600},
    {"V", "V", TT_VOLTAGE, 1},
    {"mV", "mV", TT_VOLTAGE, 0.001},
    {"A", "A", TT_CURRENT, 1},
    {"mA", "mA", TT_CURRENT, 0.001},
    {"kg", "kg", TT_MASS, 1},
    {"g", "g", TT_MASS, 0.001},
    {"lb", "lb", TT_MASS, POUND},
    {"W", "W", TT_POWER, 1},
    {"kW", "kW", TT_POWER, 1000},
    {"kg·m²", "kg-m^2", TT_INERTIA, 1},
    {"N·m·s/rad", "N-m-s/rad", TT_ANGULAR_DAMPING, 1},
    {"N·s/m", "N-s/m", TT_DAMPING, 1},
    {"N·m/rad", "N-m/rad", TT_ANGULAR_STIFFNESS, 1},
    {"N/m", "N/m", TT_STIFFNESS, 1},
    {"Ω", "Ohm", TT_RESISTANCE, 1},
    {"mΩ", "mOhm", TT_RESISTANCE, 0.001},
    {"C", "C", TT_CHARGE, 1},
    {"A·h", "A-h", TT_CHARGE, 3600},
    {"Ah", "Ah", TT_CHARGE, 3600},
};
#define UNIT_COUNT (sizeof units / sizeof *units)
#define NAME_SIZE 16 /* longest spelling that can still be a unit, with its end */

/* Letters that plain keyboards lack, and how the ascii names write them. */
static const struct {
  const char *written, *ascii;
} spellings[] = {
    {"·", "-"},                            /* U+00B7, middle dot */
    {"⋅", "-"},                            /* U+22C5, dot operator */
    {"*", "-"},   {"²", "^2"}, {"µ", "u"}, /* U+00B5, micro sign */
    {"μ", "u"},                            /* U+03BC, Greek mu */
    {"Ω", "Ohm"},                          /* U+03A9, Greek omega */
    {"Ω", "Ohm"},                          /* U+2126, ohm sign */
};

/* Writes `name` (of `length` bytes) in ascii; false when it is too long to be a unit. */
static bool to_ascii(const char *name, size_t length, char ascii[NAME_SIZE]) {
  size_t used = 0;
  for (size_t at = 0; at < length;) {
    const char *piece = name + at;
    size_t piece_length = 1, written_length = 1;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
      size_t spelling_length = strlen(spellings[i].written);
      if (length - at < spelling_length ||
          memcmp(piece, spellings[i].written, spelling_length) != 0)
        continue;
      written_length = spelling_length;
      piece = spellings[i].ascii;
      piece_length = strlen(piece);
      break;
    }
    if (used + piece_length >= NAME_SIZE) return false;
    memcpy(ascii + used, piece, piece_length);
    used += piece_length;
    at += written_length;
  }
  ascii[used] = '\0';
  return true;
}

static const tt_unit *find(const char *name, size_t length) {
  char ascii[NAME_SIZE];
  if (length == 0) return &units[0];
  if (!to_ascii(name, length, ascii)) return NULL;
  for (size_t i = 0; i < UNIT_COUNT; i++)
    if (strcmp(ascii, units[i].ascii) == 0) return &units[i];
  return NULL;
}

const tt_unit *tt_unit_find(const char *name) { return find(name, strlen(name)); }

/* What people write in full, and the unit they mean; a plural's s is taken off. */
static const char *const words[][2] = {
    {"degree", "deg"},     {"°", "deg"},         {"radian", "rad"},     {"revolution", "rev"},
    {"meter", "m"},        {"metre", "m"},       {"inch", "in"},        {"inche", "in"},
    {"foot", "ft"},        {"feet", "ft"},       {"millimeter", "mm"},  {"millimetre", "mm"},
    {"centimeter", "cm"},  {"centimetre", "cm"}, {"kilometer", "km"},   {"kilometre", "km"},
    {"second", "s"},       {"sec", "s"},         {"millisecond", "ms"}, {"microsecond", "us"},
    {"minute", "min"},     {"hour", "h"},        {"newton", "N"},       {"pound", "lb"},
    {"newtonmeter", "Nm"}, {"volt", "V"},        {"amp", "A"},          {"ampere", "A"},
    {"gram", "g"},         {"kilogram", "kg"},   {"kilo", "kg"},        {"watt", "W"},
    {"percent", "%"},      {"kph", "km/h"},      {"kmh", "km/h"},       {"newton-meter", "Nm"},
    {"in-lb", "in-lbf"},   {"ft-lb", "ft-lbf"},
};

/* "degrees" → "deg": appends the unit's ascii name, or the word itself. */
static void put_word(char *out, size_t size, const char *word, size_t length) {
  const char *meant = NULL;
  size_t singular = length > 1 && word[length - 1] == 's' ? length - 1 : length;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t known = strlen(words[i][0]);
    if ((known == length || known == singular) && strncasecmp(words[i][0], word, known) == 0)
      meant = words[i][1];
  }
  size_t used = strlen(out);
  snprintf(out + used, size - used, "%.*s", meant ? (int)strlen(meant) : (int)length,
           meant ? meant : word);
}

/* The unit that a text in words means: "degrees per second", "radians/sec". NULL: none. */
static const tt_unit *find_words(const char *name) {
  char meant[64] = "";
  while (*name && strlen(meant) < sizeof meant - 1) {
    size_t length = strcspn(name, "/ ");
    bool per = strncmp(name, "per ", 4) == 0 || *name == '/';
    if (per)
      strcat(meant, "/");
    else
      put_word(meant, sizeof meant, name, length);
    name += *name == '/' ? 1 : per ? strlen("per") : length;
    name += strspn(name, " ");
  }
  return tt_unit_find(strcmp(meant, "rev/min") == 0 ? "rpm" : meant);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Of one dimension, or of any: TT_DIMENSION_COUNT. */
static const char *nearest_of(const char *name, tt_dimension dimension) {
  const bool any = dimension == TT_DIMENSION_COUNT;
  const tt_unit *meant = find_words(name);
  if (meant && (any || meant->dimension == dimension)) return meant->name;
  if (is_digit(*name)) return NULL; /* 1/s, a frequency, is no misspelt m/s */
  tt_nearest nearest = tt_nearest_start(name);
  /* Of few letters, as Hz and J, none may differ by half: they are units of what nothing here measures. */
  const size_t half = (strlen(name) + 1) / 2;
  if (nearest.distance > half) nearest.distance = half;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (any || units[i].dimension == dimension) tt_nearest_offer(&nearest, units[i].name);
  return nearest.best;
}

const char *tt_unit_nearest(const char *name) { return nearest_of(name, TT_DIMENSION_COUNT); }

const tt_unit *tt_unit_si(tt_dimension dimension) {
  const tt_unit *unit = units;
  while (unit->dimension != dimension) unit++;
  return unit;
}

const char *tt_unit_behind(tt_dimension dimension, char text[static TT_UNIT_BEHIND]) {
  *text = 0;
  if (dimension != TT_DIMENSIONLESS)
    snprintf(text, TT_UNIT_BEHIND, " %s", tt_unit_si(dimension)->name);
  return text;
}

static char name_lists[TT_DIMENSION_COUNT][128];

static void write_name_lists(void) {
  for (size_t i = 0; i < UNIT_COUNT; i++) {
    char *list = name_lists[units[i].dimension];
    size_t used = strlen(list);
    snprintf(list + used, sizeof *name_lists - used, "%s%s", used ? ", " : "", units[i].name);
  }
}

const char *tt_unit_names(tt_dimension dimension) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, write_name_lists);
  return name_lists[dimension];
}

static const char *skip_spaces(const char *at) {
  while (*at == ' ' || *at == '\t') at++;
  return at;
}

static const char *skip_digits(const char *at) {
  while (is_digit(*at)) at++;
  return at;
}

/* The end of a decimal number at `text` (no sign, no "inf", "nan" or hexadecimal), or NULL when there is none. */
static const char *number_end(const char *text) {
  const char *at = skip_digits(text);
  bool any = at != text;
  if (*at == '.') {
    const char *fraction = at + 1;
    at = skip_digits(fraction);
    any = any || at != fraction;
  }
  if (!any) return NULL;
  if (*at != 'e' && *at != 'E') return at;
  const char *exponent = at + 1;
  if (*exponent == '+' || *exponent == '-') exponent++;
  return is_digit(*exponent) ? skip_digits(exponent) : at;
}

static locale_t c_locale;

static void make_c_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

/* Reads a number without sign and moves `at` behind it. */
static bool read_number(const char **at, double *value) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_c_locale);
  const char *end = number_end(*at);
  if (!end || !c_locale) return false;
  char *stopped;
  *value = strtod_l(*at, &stopped, c_locale);
  if (stopped != end || !isfinite(*value)) return false;
  *at = end;
  return true;
}

/* value × scale; by division where the scale is one over a whole number, so that "3 ms" is the double 0.003. */
static double to_si(double value, const tt_unit *unit) {
  double per_unit = 1 / unit->scale;
  return unit->scale < 1 && per_unit == rint(per_unit) ? value / per_unit : value * unit->scale;
}

/* Reads "0.5" or "1/3000" and moves `at` behind it. */
static bool read_fraction(const char **at, double *value) {
  const char *after = *at;
  if (!read_number(&after, value)) return false;
  *at = after;
  if (*after != '/') return true;
  double denominator;
  after++;
  if (!read_number(&after, &denominator)) return true;
  *value /= denominator;
  *at = after;
  return isfinite(*value);
}

bool tt_quantity_parse(const char *text, tt_dimension dimension, double *si) {
  const char *at = skip_spaces(text);
  bool negative = *at == '-';
  if (*at == '-' || *at == '+') at++;
  double value;
  if (!read_fraction(&at, &value)) return false;
  const char *unit_text = skip_spaces(at);
  size_t length = strcspn(unit_text, " \t");
  if (*skip_spaces(unit_text + length)) return false;
  const tt_unit *unit = length ? find(unit_text, length) : tt_unit_si(dimension);
  if (!unit || unit->dimension != dimension) return false;
  double result = to_si(negative ? -value : value, unit);
  if (!isfinite(result)) return false;
  *si = result;
  return true;
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* The longest unit that `text` begins with, no part of a longer word; NULL: none. */
static const tt_unit *find_prefix(const char *text, size_t *length) {
  size_t longest = 0;
  while (longest < 2 * NAME_SIZE &&
         (is_letter(text[longest]) || (text[longest] && strchr("%/*-^23", text[longest]))))
    longest++;
  for (size_t end = longest; end > 0; end--) {
    if (!is_letter(*text) && *text != '%') return NULL;
    if (is_letter(text[end]) && is_letter(text[end - 1])) continue;
    const tt_unit *unit = find(text, end);
    if (!unit || is_digit(text[end]) || text[end] == '_') continue;
    *length = end;
    return unit;
  }
  return NULL;
}

bool tt_quantity_scan(const char **text, const tt_unit **unit, double *si) {
  const char *at = *text;
  double value;
  if (!read_fraction(&at, &value)) return false;
  const char *unit_text = skip_spaces(at);
  size_t length = 0;
  const tt_unit *found = find_prefix(unit_text, &length);
  if (found) value = to_si(value, found);
  if (!isfinite(value)) return false;
  *unit = found;
  *si = value;
  *text = found ? unit_text + length : at;
  return true;
}

const char *tt_quantity_meant_unit(const char *text, tt_dimension dimension) {
  const char *at = skip_spaces(text);
  double value;
  if (*at == '-' || *at == '+') at++;
  if (!read_number(&at, &value)) return NULL;
  at = skip_spaces(at);
  return !*at || tt_unit_find(at) ? NULL : nearest_of(at, dimension);
}
