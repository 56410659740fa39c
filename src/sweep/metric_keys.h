/* metric_keys.h: the keys of a metric as libcyaml fills them, and which measure takes which. metric_keys.c checks them, metric.c
 * makes a tt_metrics of them. */
#ifndef TT_SWEEP_METRIC_KEYS_H
#define TT_SWEEP_METRIC_KEYS_H

#include "robot/lua_script.h"
#include "sweep/metric.h"

/** What is computed. */
typedef enum tt_measure {
  TT_MEASURE_FINAL,
  TT_MEASURE_LEAST,
  TT_MEASURE_GREATEST,
  TT_MEASURE_MEAN,
  TT_MEASURE_RMS,
  TT_MEASURE_INTEGRAL,
  TT_MEASURE_TIME_ABOVE,
  TT_MEASURE_TIME_BELOW,
  TT_MEASURE_SETTLING_TIME,
  TT_MEASURE_OVERSHOOT,
  TT_MEASURE_RISE_TIME,
  TT_MEASURE_ENERGY,
  TT_MEASURE_EVENT_TIME,
  TT_MEASURE_CONTACTS,
  TT_MEASURE_LUA,
  TT_MEASURE_COUNT
} tt_measure;

/** Names of the measures as a plan writes them; [TT_MEASURE_COUNT], then NULL. */
extern const char *const tt_measure_names[];
/** The keys that a measure takes besides its name, "signal, distance, threshold". Gives `list`. */
const char *tt_measure_keys(tt_measure measure, char *list, size_t size);

/** `distance`: from a body, or two or three signals of length, to a body or a point. */
typedef struct tt_metric_distance_keys {
  char *of, *to;
  char **signals, **point;
  unsigned signals_count, point_count;
} tt_metric_distance_keys;

/** What `contacts` counts. */
typedef enum tt_contact_count { TT_CONTACT_STARTS, TT_CONTACT_TICKS } tt_contact_count;

/** One of `metrics`. */
struct tt_metric_keys {
  char *name, *measure;
  char *signal;
  tt_metric_distance_keys *distance;
  char *threshold, *target, *start, *band; /* quantities, of the dimension of what is measured */
  double *lower, *upper;
  char *when, *robot, *count, *lua, *function, *unit;
  char **joints, **between, **signals;
  unsigned joints_count, between_count, signals_count;
  uint64_t instructions, memory;
  /* By tt_metric_check(). */
  tt_measure kind;
  tt_contact_count counted;
  double rise_lower, rise_upper; /* shares of the way from start to target */
  const tt_unit *given;          /* that a Lua function gives */
  tt_lua_limits limits;
};

#endif
