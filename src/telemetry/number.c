/* number.c: short decimals take a fast path that is exact; the rest goes through GLib, which knows no locale. */
#include "telemetry/number.h"

#include <glib.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/** Both the digits (below 2⁵³) and the power are exact doubles, so that one division rounds correctly. */
static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

bool tt_number_parse(const char *text, double *number) {
  const char *c = text;
  bool negative = *c == '-';
  if (*c == '-' || *c == '+') c++;
  if (!g_ascii_isdigit(*c) && !(*c == '.' && g_ascii_isdigit(c[1]))) return false;
  uint64_t digits = 0;
  int count = 0, decimals = 0;
  for (; g_ascii_isdigit(*c) && count < 16; c++, count++)
    digits = digits * 10 + (uint64_t)(*c - '0');
  if (*c == '.') {
    for (c++; g_ascii_isdigit(*c) && count < 16; c++, count++, decimals++) {
      digits = digits * 10 + (uint64_t)(*c - '0');
    }
  }
  if (!*c && count <= 15) {
    double value = (double)digits / powers[decimals];
    *number = negative ? -value : value;
    return true;
  }
  if (strpbrk(text, "xXpPnN")) return false;
  char *end;
  double value = g_ascii_strtod(text, &end);
  if (*end || !isfinite(value)) return false;
  *number = value;
  return true;
}

/** One of few decimals, as measurements are: at most 15 digits, which "%.15g" would write too, but slowly. 0: it is none. */
static int format_decimal(char text[TT_NUMBER_SIZE], double number) {
  const double size = fabs(number);
  if (size < 1e-4) return 0;
  for (int decimals = 1; decimals <= 6; decimals++) {
    const double digits = nearbyint(size * powers[decimals]);
    if (digits >= 1e15) return 0;
    if (digits / powers[decimals] != size) continue;
    const uint64_t all = (uint64_t)digits, one = (uint64_t)powers[decimals];
    return g_snprintf(text, TT_NUMBER_SIZE, "%s%" G_GUINT64_FORMAT ".%0*" G_GUINT64_FORMAT,
                      number < 0 ? "-" : "", all / one, decimals, all % one);
  }
  return 0;
}

int tt_number_format(char text[TT_NUMBER_SIZE], double number) {
  if (number == 0) number = 0;  // no "-0"
  if (fabs(number) < 1e15 && number == (double)(int64_t)number) {
    return g_snprintf(text, TT_NUMBER_SIZE, "%" G_GINT64_FORMAT, (int64_t)number);
  }
  const int decimal = format_decimal(text, number);
  if (decimal) return decimal;
  static const char *const formats[] = {"%.15g", "%.16g", "%.17g"};
  for (int i = 0; i < 3; i++) {
    g_ascii_formatd(text, TT_NUMBER_SIZE, formats[i], number);
    if (i == 2 || g_ascii_strtod(text, NULL) == number) break;
  }
  return (int)strlen(text);
}
