#include "app/comparison.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SHOWN 20

tt_status tt_tolerance_take(char *text, tt_tolerance *tolerance, tt_error *error) {
  char *equals = strrchr(text, '='), *end;
  double value = strtod(equals ? equals + 1 : text, &end);
  if (*end || end == text || !(value >= 0) || !isfinite(value))
    return tt_fail(error, TT_USAGE, "--tolerance %s: give SIGNAL=VALUE, or VALUE for all", text);
  if (equals) *equals = 0;
  *tolerance = (tt_tolerance){equals ? text : "", value};
  return TT_OK;
}

static int largest_first(const void *a, const void *b) {
  const tt_deviation *left = a, *right = b;
  double x = left->first < 0 ? INFINITY : left->first,
         y = right->first < 0 ? INFINITY : right->first;
  return x < y ? -1 : x > y;
}

static tt_status report(tt_deviation *deviations, int count, tt_error *error) {
  int outside = 0;
  double worst = 0;
  const char *name = "";
  qsort(deviations, (size_t)count, sizeof *deviations, largest_first);
  for (int i = 0; i < count; i++) {
    const tt_deviation *of = &deviations[i];
    if (of->largest > worst) worst = of->largest, name = of->name;
    if (of->first < 0 || outside++ >= MOST_SHOWN) continue;
    if (of->missing || of->added)
      tt_print(stdout, "%s: %s\n", of->name, of->missing ? "missing" : "added");
    else
      tt_print(stdout, "%s: beyond %g from %.3f s on, by up to %g at %.3f s\n", of->name,
               of->tolerance, of->first, of->largest, of->at);
  }
  if (outside > MOST_SHOWN) tt_print(stdout, "and %d more\n", outside - MOST_SHOWN);
  if (outside)
    return tt_fail(error, TT_DIFFERS, "%d of %d signals leave their tolerance", outside, count);
  if (worst > 0)
    tt_print(stdout, "within tolerances: %d signals; the largest difference is %g, of %s\n", count,
             worst, name);
  else
    tt_print(stdout, "equal: %d signals\n", count);
  return TT_OK;
}

tt_status tt_comparison_say(const tt_run_log *kept, const tt_run_log *other,
                            const tt_tolerance *tolerances, int tolerance_count, tt_error *error) {
  tt_deviation *deviations = NULL;
  int count = 0;
  TT_TRY(tt_compare_runs(kept, other, tolerances, tolerance_count, &deviations, &count, error));
  tt_status status = report(deviations, count, error);
  free(deviations);
  return status;
}
