/* metric_internal.h: what the parts of a metric share: what it measures, its parameters, and what is kept of a run. metric.c resolves
 * names, metric_measures.c computes, metric_lua.c asks a user's function.
 */
#ifndef TT_SWEEP_METRIC_INTERNAL_H
#define TT_SWEEP_METRIC_INTERNAL_H

#include "sweep/condition.h"
#include "sweep/metric_keys.h"

/** What is measured: a signal, or a distance. */
typedef struct sweep_quantity {
  bool is_distance;
  tt_signal signal;
  int from_body, to_body; /**< of a distance; −1: from `signals`, to `point` */
  tt_signal signals[3];
  double point[3]; /**< m */
  int components;  /**< 2 or 3 */
  tt_dimension dimension;
} sweep_quantity;

/** One side of a contact: a body, a robot, or anything. */
typedef struct sweep_side {
  int body, robot; /**< −1: not this */
} sweep_side;

typedef struct sweep_metric sweep_metric;

/** A measure. */
typedef struct sweep_measure {
  bool has_quantity; /**< run.now is read before sample() */
  /** `run.count` samples came before this one. */
  void (*sample)(sweep_metric *metric, const tt_view *view);
  /** What was measured; NaN: nothing. At least one sample came. */
  double (*end)(const sweep_metric *metric);
} sweep_measure;

/** A function over samples. */
typedef struct sweep_lua sweep_lua;

struct sweep_metric {
  const tt_metric_keys *keys;
  const char *where;
  const sweep_measure *measure;
  sweep_quantity quantity;
  double tick; /**< s */
  /** Parameters, SI; NaN: `start` is the first sample, `band` follows from it. */
  double threshold, target, start, band;
  tt_condition *when;
  int *axes;          /**< [axis_count], of an energy */
  double *velocities; /**< [axis_count], of the sample before */
  int axis_count;
  sweep_side sides[2];
  /** of bodies that touch: now, and at the sample before; [contact_capacity] */
  uint64_t *pairs[2];
  sweep_lua *lua;
  char unit[24];
  /** All that a run leaves behind: zero at its begin. */
  struct {
    uint64_t count;
    double now, before; /**< of the quantity */
    double sum, extreme;
    double start, band;        /**< as they hold for this run */
    double lower_at, upper_at; /**< s, NaN: not yet */
    double settled_at;         /**< s */
    bool settled;
    int pair_count;
  } run;
};

/** By tt_measure; that of Lua does nothing. */
extern const sweep_measure sweep_measures[];
/** The present value of what is measured, SI. */
double sweep_quantity_read(const sweep_quantity *quantity, const tt_view *view);

/** Reads and compiles the keys' file, and resolves its signals. */
tt_status sweep_lua_new(const tt_metric_keys *keys, const char *where, const tt_names *names,
                        double tick, sweep_lua **lua, tt_error *error);
/** NULL-safe. */
void sweep_lua_free(sweep_lua *lua);
/** Forgets all samples. */
void sweep_lua_begin(sweep_lua *lua);
/** Keeps a sample; of too many, none. TT_NOMEM. */
tt_status sweep_lua_sample(sweep_lua *lua, const tt_view *view, tt_error *error);
/** Calls the function: `*value` is SI, NaN where it gave nil. TT_FAILED, TT_FULL: with file and line, or there were too many
 *  samples. */
tt_status sweep_lua_end(sweep_lua *lua, double *value, tt_error *error);

#endif
