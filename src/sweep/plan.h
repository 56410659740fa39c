/* plan.h: what a sweep is to do: a scene, a controller, axes, metrics. Plain, checked structs made of a YAML file, and the
 * runs that follow from them, one by one: a plan of a million runs takes no more memory than one of ten.
 *
 * Everything belongs to the plan and lives as long as it does; nothing changes after loading, so that any thread may read it.
 * Keys, units and defaults are documented in docs/sweep.md.
 */
#ifndef TT_SWEEP_PLAN_H
#define TT_SWEEP_PLAN_H

#include "base/status.h"
#include "scene/guests.h"
#include "sweep/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_SWEEP_MAX_AXES 64
#define TT_SWEEP_MAX_METRICS 256
#define TT_SWEEP_MAX_RUNS 1000000000u

/** Who drives the robots. */
typedef enum tt_sweep_controller_kind {
  TT_SWEEP_NO_CONTROLLER,
  TT_SWEEP_LUA,    /**< control(read, write) of a file, each tick */
  TT_SWEEP_POLICY, /**< a Python function, each tick */
  TT_SWEEP_PROGRAM /**< a command on the scene's wires */
} tt_sweep_controller_kind;

typedef struct tt_sweep_controller {
  tt_sweep_controller_kind kind;
  const char *where; /**< "plan.yaml: controller" */
  const char *text;  /**< the Lua file's path, "module:function", or the command */
  const char *const *
      files; /**< that decide what it does besides, absolute, NULL-terminated: their bytes are part of a run's id */
  double memory; /**< bytes that a program may use */
  double output; /**< bytes that a program may print; its last words are kept */
  /** a program that can't be told where to send: it needs a network of its own */
  bool fixed_ports;
} tt_sweep_controller;

/** How the points of a plan are chosen. */
typedef enum tt_sweep_sampling {
  TT_SWEEP_GRID, /**< every combination, the last axis fastest */
  TT_SWEEP_RANDOM,
  TT_SWEEP_LATIN_HYPERCUBE,
  TT_SWEEP_SOBOL
} tt_sweep_sampling;

/** One column that a plan varies. Axes of one group go together: their values are taken by the same index. */
typedef struct tt_sweep_axis {
  const char *name;  /**< of the column, and for the controller */
  const char *where; /**< "plan.yaml: axes[0]" */
  /** a path of --set; "seed" is the run's own; NULL: only the controller reads it */
  const char *set;
  const char *unit; /**< SI, of numbers; "" where none is known */
  int group;        /**< from 0 */
  /** [count], of a list or an even range; NULL where it is sampled between bounds */
  const tt_sweep_value *values;
  int count;
  double lower, upper; /**< SI, both included; of a range */
  bool logarithmic;
} tt_sweep_axis;

/** What is measured: one column. `keys` and their meaning are metric.h's. */
typedef struct tt_sweep_metric {
  const char *name;
  const char *where; /**< "plan.yaml: metrics[0]" */
  const char *unit;  /**< SI, of the column; "" where there is none */
  const void *keys;  /**< tt_metric_keys */
} tt_sweep_metric;

/** Whose logs stay. */
typedef struct tt_sweep_keep {
  bool all, failures;
  int best, worst; /**< so many, by `metric` */
  int metric;      /**< index; of best and worst */
  bool greatest_is_best;
  const char *folder; /**< absolute */
} tt_sweep_keep;

typedef struct tt_sweep_plan {
  const char *path, *folder;   /**< the plan's file, and the folder it stands in: both absolute */
  const char *description;     /**< one line; "" when absent */
  const char *scene;           /**< as tt_scene_load() takes it; a file's path is absolute */
  const char *const *settings; /**< PATH=VALUE, for every run, NULL-terminated */
  double duration; /**< s simulated, of a run: it ends with the first tick that reaches it */
  double timeout;  /**< s, wall clock, of a run */
  uint64_t seed;   /**< of the first of the repeats, and of sampling */
  int repeat, retries;
  tt_sweep_sampling sampling;
  tt_sweep_controller controller;
  const tt_sweep_axis *axes;
  int axis_count;
  const tt_sweep_metric *metrics;
  int metric_count;
  const char *success; /**< a condition over axes and metrics; NULL: none */
  /** a condition over the present values of signals: ends a run early; NULL: none */
  const char *stop_when;
  tt_sweep_keep keep;
  const char *output;   /**< a file's absolute path, or a postgresql:// address */
  uint64_t point_count; /**< each is run `repeat` times */
  /** the file as it was read, with the settings of the command line behind it as comments */
  const char *text;
  const char *version; /**< of the library and the engine, as every run's id has it: for people */
  /** hash of all that decides its runs and their order, 32 hexadecimal digits */
  char runs_identity[33];
  /** the same of what its columns mean: axes, units, metrics, success */
  char columns_identity[33];
} tt_sweep_plan;

/** Loads and checks a plan: `path` is a file, or the name of one in scenes/sweeps/; `guests` has the sections of others in scenes
 *  (the program: tt_program_guests). `settings` are PATH=VALUE of the command line, for keys of the plan ("repeat=10"). The scene is loaded once, to check
 *  names, and what axes may be set to. TT_INVALID: file, line and remedy. */
tt_status tt_sweep_plan_load(const tt_scene_guests *guests, const char *path,
                             const char *const *settings, int setting_count, tt_sweep_plan **plan,
                             tt_error *error);
/** The same from text in memory; what it names is looked up as if it stood in the file `path`. */
tt_status tt_sweep_plan_parse(const tt_scene_guests *guests, const char *path, const char *text,
                              size_t size, const char *const *settings, int setting_count,
                              tt_sweep_plan **plan, tt_error *error);
/** Whether a file is a plan by what stands in it; or a name that of a plan in scenes/sweeps/, and of no scene. */
bool tt_sweep_is_plan(const char *path);
/** NULL-safe. */
void tt_sweep_plan_free(tt_sweep_plan *plan);

/** How many runs it has. */
uint64_t tt_sweep_plan_runs(const tt_sweep_plan *plan);

/** One run of a plan: what decides it. Plain data of a fixed size. */
typedef struct tt_sweep_run {
  uint64_t number; /**< from 0, in the plan's order: repeats of a point follow each other */
  uint64_t point;
  uint64_t seed;
  tt_sweep_value axes[TT_SWEEP_MAX_AXES]; /**< [axis_count]; texts are the plan's */
  char id[33];                            /**< hash of all that decides it, 32 hexadecimal digits */
} tt_sweep_run;

/** Makes the run of a number below tt_sweep_plan_runs(). In constant time. */
void tt_sweep_plan_run(const tt_sweep_plan *plan, uint64_t number, tt_sweep_run *run);

/** Whether all files that ids stand for are those that they were when the plan was loaded. After each run, so that no row stands for
 *  what it was not made of. TT_FAILED, with the file's name. Any thread; stats them all, and reads those that were touched. */
tt_status tt_sweep_plan_check_files(const tt_sweep_plan *plan, tt_error *error);

/** Whether `path` is one of these files, by whatever name. */
bool tt_sweep_plan_has_file(const tt_sweep_plan *plan, const char *path);

/** The settings with which its scene is loaded: the plan's, then those of its axes that are keys of a scene, without `models.` values
 *  and the seed, which a simulation may change after a reset. Two runs with equal `settings` share a scene.
 *  Written into `texts` [size] one behind the other, and pointed to by `settings` [capacity]; gives how many. −1: no room. */
int tt_sweep_run_settings(const tt_sweep_plan *plan, const tt_sweep_run *run, char *texts,
                          size_t size, const char **settings, int capacity);

/** How a run ended. */
typedef enum tt_sweep_status {
  TT_SWEEP_OK,
  TT_SWEEP_DIVERGED,
  TT_SWEEP_CONTROLLER_FAILED,
  TT_SWEEP_TIMEOUT,
  TT_SWEEP_LIMIT /**< of memory, output or instructions */
} tt_sweep_status;
/** "controller_failed". Static. */
const char *tt_sweep_status_name(tt_sweep_status status);

/** A row of the table. */
typedef struct tt_sweep_row {
  tt_sweep_run run;
  tt_sweep_status status;
  char error[1024];      /**< "" or why, with a program's last words */
  uint64_t hash;         /**< of the simulation's last state */
  double simulated_time; /**< s */
  double wall_time;      /**< s */
  char host[65];
  tt_sweep_value metrics[TT_SWEEP_MAX_METRICS]; /**< [metric_count]; numbers or nothing */
  tt_sweep_value success; /**< 1, 0; nothing where the plan has no condition */
} tt_sweep_row;

#endif
