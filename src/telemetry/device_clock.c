/* device_clock.c: the estimate, and the choice of a message's boot epoch. */
#include "telemetry/device_clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000
/** No clock in use drifts more; what looks like more is noise of the delays. */
#define MAX_DRIFT 300e-6
/** Below this span a slope would be noise. */
#define MIN_SPAN (8 * (double)SECOND)
/** Measurements of the drift that are averaged, one a second. */
#define SLOPES_AVERAGED 30
/** Offsets of an epoch are recorded rounded outward to this, so that the store is rarely told. */
#define RANGE_STEP 50000
/** Offsets further than this from an epoch's first begin a new epoch, so that device time + anchor stays
 *  near the normalized time. */
#define MAX_DEPARTURE (3600LL * SECOND)

static int64_t floor_to(int64_t value, int64_t step) {
  int64_t rest = value % step;
  return value - (rest < 0 ? rest + step : rest);
}

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
    return fmax(-MAX_DRIFT, fmin(MAX_DRIFT, slope));
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

/* --- epochs --- */

static tt_boot *add_boot(tt_device_time *time) {
  memmove(time->boots + 1, time->boots, (TT_BOOTS_KEPT - 1) * sizeof *time->boots);
  if (time->boot_count < TT_BOOTS_KEPT) time->boot_count++;
  time->boots[0] = (tt_boot){.epoch = time->next_epoch++};
  return &time->boots[0];
}

tt_boot *tt_device_time_begin(tt_device_time *time, int64_t device, int64_t offset) {
  tt_boot *boot = add_boot(time);
  boot->anchor = offset;
  boot->newest = device;
  boot->offset_low = floor_to(offset, RANGE_STEP);
  boot->offset_high = boot->offset_low + RANGE_STEP;
  tt_device_clock_start(&boot->clock, device, device + offset);
  return boot;
}

void tt_device_time_restore(tt_device_time *time, const tt_boot *range, int64_t newest,
                            int64_t offset) {
  tt_boot *boot = add_boot(time);
  boot->epoch = range->epoch;
  boot->anchor = range->anchor;
  boot->offset_low = range->offset_low;
  boot->offset_high = range->offset_high;
  boot->newest = newest;
  tt_device_clock_start(&boot->clock, newest, newest + offset);
  time->next_epoch = range->epoch + 1;
}

static void remember(tt_device_time *time, int64_t sample, uint64_t hash, int epoch) {
  time->seen[time->seen_next] = (struct tt_seen){.time = sample, .hash = hash, .epoch = epoch};
  time->seen_next = (time->seen_next + 1) % TT_SEEN_KEPT;
  if (time->seen_count < TT_SEEN_KEPT) time->seen_count++;
}

void tt_device_time_restore_seen(tt_device_time *time, int epoch, int64_t sample) {
  remember(time, sample, 0, epoch);
}

/** The kept epoch in which this very message was seen before, or NULL. */
static tt_boot *seen_before(tt_device_time *time, const tt_timed_message *message) {
  for (int i = 0; i < time->seen_count; i++) {
    const struct tt_seen *seen = &time->seen[i];
    if (seen->time != message->last_sample || (seen->hash && seen->hash != message->hash)) continue;
    for (int b = 0; b < time->boot_count; b++) {
      if (time->boots[b].epoch == seen->epoch) return &time->boots[b];
    }
  }
  return NULL;
}

/** How late the message would be, were it of this epoch. */
static int64_t delay(const tt_boot *boot, const tt_timed_message *message) {
  return message->received - message->transmitted -
         tt_device_clock_offset(&boot->clock, message->transmitted);
}

/** What the clock may have drifted away since it was last heard of. */
static int64_t slack(const tt_boot *boot, const tt_timed_message *message) {
  int64_t silent = message->received / SECOND - point(&boot->clock, boot->clock.count - 1)->second;
  return silent > TT_CLOCK_WINDOW ? (int64_t)((double)silent * SECOND * MAX_DRIFT) : 0;
}

static bool fits(const tt_boot *boot, const tt_timed_message *message, int64_t late) {
  int64_t excess = delay(boot, message), allowed = late + slack(boot, message);
  return excess >= -allowed && excess <= allowed;
}

/** The epoch of a message, or NULL when the clock must have jumped. */
static tt_boot *choose(tt_device_time *time, const tt_timed_message *message, int64_t late,
                       bool *again) {
  tt_boot *current = &time->boots[0];
  bool backwards = message->after_previous && message->transmitted < message->previous;
  tt_boot *known = seen_before(time, message);
  *again = known;
  if (fits(current, message, late) && (!backwards || known == current)) return current;
  if (known) return known;
  for (int i = backwards ? 1 : 0; i < time->boot_count; i++) {
    if (fits(&time->boots[i], message, late)) return &time->boots[i];
  }
  if (backwards || delay(current, message) < 0) return NULL;
  // Behind its time. A connection that was held up, or news that waited for one, is late; else the clock went back.
  if (message->after_previous || message->transmitted > current->newest) return current;
  return NULL;
}

static bool widen(tt_boot *boot, int64_t offset) {
  bool widened = false;
  if (offset < boot->offset_low) {
    boot->offset_low = floor_to(offset, RANGE_STEP);
    widened = true;
  }
  if (offset > boot->offset_high) {
    boot->offset_high = floor_to(offset, RANGE_STEP) + RANGE_STEP;
    widened = true;
  }
  return widened;
}

/** Makes a kept epoch the current one. */
static tt_boot *make_current(tt_device_time *time, tt_boot *boot) {
  if (boot == time->boots) return boot;
  tt_boot chosen = *boot;
  memmove(time->boots + 1, time->boots, (size_t)(boot - time->boots) * sizeof *boot);
  time->boots[0] = chosen;
  return &time->boots[0];
}

tt_placement tt_device_time_place(tt_device_time *time, const tt_timed_message *message,
                                  int64_t late, tt_boot **boot, int64_t *offset, bool *widened,
                                  bool *again) {
  int64_t implied = message->received - message->transmitted;
  tt_placement placement = TT_PLACED;
  tt_boot *chosen = NULL;
  *again = false;
  *widened = true;
  if (!time->boot_count) {
    placement = TT_PLACED_FIRST;
  } else {
    chosen = choose(time, message, late, again);
    if (!chosen) placement = TT_PLACED_JUMP;
  }
  if (chosen && llabs(tt_device_clock_offset(&chosen->clock, message->transmitted) -
                      chosen->anchor) > MAX_DEPARTURE) {
    chosen = NULL;
    placement = TT_PLACED_JUMP;
  }
  if (!chosen) {
    chosen = tt_device_time_begin(time, message->transmitted, implied);
  } else {
    if (message->transmitted > chosen->newest) {
      chosen = make_current(time, chosen);
      chosen->newest = message->transmitted;
    }
    // What was sent again says nothing about the clock.
    if (!*again) tt_device_clock_add(&chosen->clock, message->transmitted, message->received);
    *widened = widen(chosen, tt_device_clock_offset(&chosen->clock, message->transmitted));
  }
  *offset = tt_device_clock_offset(&chosen->clock, message->transmitted);
  *boot = chosen;
  remember(time, message->last_sample, message->hash, chosen->epoch);
  return placement;
}
