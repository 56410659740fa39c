/* device_clock.c: the estimate. */
#include "telemetry/device_clock.h"

#include <math.h>
#include <stdbool.h>

#define SECOND 1000000
/** Below this span a slope would be noise. */
#define MIN_SPAN (8 * (double)SECOND)
/** Measurements of the drift that are averaged, one a second. */
#define SLOPES_AVERAGED 30

static const struct tt_clock_point *point(const tt_device_clock *clock, int index) {
  return &clock->points[(clock->first + index) % TT_CLOCK_WINDOW];
}

/** Drift as the points show it: the edge of their lower convex hull below their middle. */
static double hull_slope(const double *x, const double *y, int count, double middle) {
  // Transmission times rise from point to point but for reordered messages, which are left out of the hull.
  int hull[TT_CLOCK_WINDOW], size = 0;
  for (int i = 0; i < count; i++) {
    if (size && x[i] <= x[hull[size - 1]]) continue;
    while (size >= 2) {
      int a = hull[size - 2], b = hull[size - 1];
      if ((x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a]) > 0) break;
      size--;
    }
    hull[size++] = i;
  }
  for (int i = 0; i + 1 < size; i++) {
    if (x[hull[i + 1]] < middle) continue;
    double slope = (y[hull[i + 1]] - y[hull[i]]) / (x[hull[i + 1]] - x[hull[i]]);
    return fmax(-TT_CLOCK_MAX_DRIFT, fmin(TT_CLOCK_MAX_DRIFT, slope));
  }
  return 0;
}

/** Lays the line under the points. `measure`: a point was added, so that the drift is looked at again; being
 *  steady, it is averaged over half a minute. */
static void fit(tt_device_clock *clock, bool measure) {
  const struct tt_clock_point *base = point(clock, 0);
  double x[TT_CLOCK_WINDOW] = {0}, y[TT_CLOCK_WINDOW] = {0};
  double middle = 0;
  for (int i = 0; i < clock->count; i++) {
    x[i] = (double)(point(clock, i)->device - base->device);
    y[i] = (double)(point(clock, i)->offset - base->offset);
    middle += x[i] / clock->count;
  }
  if (measure && x[clock->count - 1] - x[0] >= MIN_SPAN) {
    if (clock->slopes < SLOPES_AVERAGED) clock->slopes++;
    clock->slope += (hull_slope(x, y, clock->count, middle) - clock->slope) / clock->slopes;
  }
  double height = INFINITY;
  for (int i = 0; i < clock->count; i++) height = fmin(height, y[i] - clock->slope * x[i]);
  clock->origin = base->device;
  clock->offset = base->offset + llround(height);
}

void tt_device_clock_start(tt_device_clock *clock, int64_t device, int64_t received) {
  *clock = (tt_device_clock){.count = 1};
  clock->points[0] = (struct tt_clock_point){
      .second = received / SECOND, .device = device, .offset = received - device};
  fit(clock, false);
}

void tt_device_clock_add(tt_device_clock *clock, int64_t device, int64_t received) {
  struct tt_clock_point new = {
      .second = received / SECOND, .device = device, .offset = received - device};
  struct tt_clock_point *last = &clock->points[(clock->first + clock->count - 1) % TT_CLOCK_WINDOW];
  if (new.second <= last->second) {
    if (new.offset >= last->offset) return;
    new.second = last->second;
    *last = new;
    fit(clock, false);
  } else {
    while (clock->count && point(clock, 0)->second <= new.second - TT_CLOCK_WINDOW) {
      clock->first = (clock->first + 1) % TT_CLOCK_WINDOW;
      clock->count--;
    }
    clock->points[(clock->first + clock->count) % TT_CLOCK_WINDOW] = new;
    clock->count++;
    fit(clock, true);
  }
}

int64_t tt_device_clock_offset(const tt_device_clock *clock, int64_t device) {
  return clock->offset + llround(clock->slope * (double)(device - clock->origin));
}

void tt_device_clock_shift(tt_device_clock *clock, int64_t step) {
  for (int i = 0; i < TT_CLOCK_WINDOW; i++) {
    clock->points[i].second += step / SECOND;
    clock->points[i].offset += step;
  }
  clock->offset += step;
}

int64_t tt_device_clock_heard(const tt_device_clock *clock) {
  return point(clock, clock->count - 1)->second;
}
