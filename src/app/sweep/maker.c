/* maker.c: makes runs. tt_sweep_make() at the end names the stages of one. */
#include "app/sweep/maker.h"

#include "app/assemble.h"
#include "app/attach/attach.h"
#include "app/sweep/deadline.h"
#include "app/sweep/driver.h"
#include "app/sweep/stage.h"
#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tt_sweep_maker {
  const tt_sweep_plan *plan;
  const tt_sweep_driver_ops *driver; /* NULL: nobody drives */
  void *driver_self;
  double timeout; /* s */
  tt_sweep_stages stages;
  tt_condition *success; /* NULL: none */
  char host[65];
};

/* A run that is being made. */
typedef struct making {
  tt_sweep_maker *maker;
  const tt_sweep_run *run;
  tt_sweep_stage *stage;
  tt_world *world;
  void *recorder;
  tt_sweep_row *row;
  uint64_t started, deadline; /* ns */
  bool broken;                /* the engine failed: its world is not used again */
  tt_error *error;
} making;

/* ---- making and ending a maker ---- */

/* By tt_sweep_controller_kind. */
static const tt_sweep_driver_ops *const drivers[] = {
    [TT_SWEEP_NO_CONTROLLER] = NULL,
    [TT_SWEEP_LUA] = &tt_sweep_lua_driver,
    [TT_SWEEP_POLICY] = &tt_sweep_policy_driver,
    [TT_SWEEP_PROGRAM] = &tt_sweep_program_driver,
};

tt_status tt_sweep_maker_check(const tt_sweep_plan *plan, int jobs, tt_error *error) {
  const tt_sweep_driver_ops *driver = drivers[plan->controller.kind];
  return driver && driver->check ? driver->check(plan, jobs, error) : TT_OK;
}

static tt_status open_driver(tt_sweep_maker *maker, tt_error *error) {
  const tt_sweep_controller *controller = &maker->plan->controller;
  if (controller->kind == TT_SWEEP_NO_CONTROLLER) return TT_OK;
  const tt_sweep_driver_ops *driver = drivers[controller->kind];
  TT_TRY(driver->open(maker->plan, &maker->driver_self, error));
  maker->driver = driver;
  return TT_OK;
}

/* The columns of the condition `success`: axes, then metrics. */
static tt_status read_success(tt_sweep_maker *maker, tt_error *error) {
  static tt_condition_column columns[TT_SWEEP_MAX_AXES + TT_SWEEP_MAX_METRICS];
  const tt_sweep_plan *plan = maker->plan;
  tt_condition_scope scope = {.columns = columns};
  if (!plan->success) return TT_OK;
  for (int i = 0; i < plan->axis_count; i++)
    columns[scope.column_count++] = (tt_condition_column){plan->axes[i].name, plan->axes[i].unit};
  for (int i = 0; i < plan->metric_count; i++)
    columns[scope.column_count++] =
        (tt_condition_column){plan->metrics[i].name, plan->metrics[i].unit};
  char where[PATH_MAX + 16];
  snprintf(where, sizeof where, "%s: success", plan->path);
  return tt_condition_new(plan->success, where, &scope, &maker->success, error);
}

tt_status tt_sweep_maker_new(const tt_sweep_plan *plan, tt_sweep_maker **maker, tt_error *error) {
  tt_sweep_maker *made = calloc(1, sizeof *made);
  if (!made) return tt_fail(error, TT_NOMEM, "out of memory");
  made->plan = plan;
  made->timeout = plan->timeout;
  if (gethostname(made->host, sizeof made->host - 1) != 0) *made->host = 0;
  tt_status status = read_success(made, error);
  if (status == TT_OK) status = open_driver(made, error);
  if (status == TT_OK)
    *maker = made;
  else
    tt_sweep_maker_free(made);
  return status;
}

tt_status tt_sweep_maker_try(const tt_sweep_plan *plan, tt_error *error) {
  tt_sweep_maker *maker;
  /* The others have been looked at when the plan was loaded, or by tt_sweep_maker_check(). */
  if (plan->controller.kind != TT_SWEEP_POLICY) return TT_OK;
  TT_TRY(tt_sweep_maker_new(plan, &maker, error));
  tt_sweep_maker_free(maker);
  return TT_OK;
}

void tt_sweep_maker_set_timeout(tt_sweep_maker *maker, double timeout) { maker->timeout = timeout; }

void tt_sweep_maker_free(tt_sweep_maker *maker) {
  if (!maker) return;
  if (maker->driver) maker->driver->close(maker->driver_self);
  tt_sweep_stages_clear(&maker->stages);
  tt_condition_free(maker->success);
  free(maker);
}

static bool opens_wires(const tt_sweep_maker *maker) {
  return maker->driver && maker->driver->opens_wires;
}

/* ---- how a run ends ---- */

static void end_with(making *of, tt_sweep_status status, const tt_error *why) {
  of->row->status = status;
  snprintf(of->row->error, sizeof of->row->error, "%s", why->text);
}

/* What a controller or a metric came to: the run's own affair, or not. */
static tt_status judge(making *of, tt_status status, const tt_error *why) {
  switch (status) {
    case TT_FAILED: end_with(of, TT_SWEEP_CONTROLLER_FAILED, why); return TT_END;
    case TT_FULL: end_with(of, TT_SWEEP_LIMIT, why); return TT_END;
    case TT_CLOSED: return TT_END;
    case TT_OK: return TT_OK;
    default: *of->error = *why; return status;
  }
}

static bool is_over(const making *of) {
  const tt_view *view = tt_world_view(of->world);
  return tt_model_time(view->model, view->total_step) >= of->maker->plan->duration - 1e-9 ||
         (of->stage->stop && tt_condition_holds_in(of->stage->stop, view));
}

static tt_status time_out(making *of) {
  tt_error why;
  tt_fail(&why, TT_OK, "not done within the plan's timeout of %g s", of->maker->timeout);
  end_with(of, TT_SWEEP_TIMEOUT, &why);
  return TT_END;
}

/* ---- a tick ---- */

/* An engine that fails over a state is as one that diverges; the world tells which it was. */
static tt_status tick_world(making *of) {
  tt_error why;
  tt_status status = tt_world_tick(of->world, &why);
  if (status != TT_DIVERGED && status != TT_FAILED) {
    if (status != TT_OK) *of->error = why;
    return status;
  }
  end_with(of, TT_SWEEP_DIVERGED, &why);
  of->broken = status == TT_FAILED;
  return TT_END;
}

static tt_status sample(making *of) {
  tt_error why;
  return judge(of, tt_metrics_sample(of->stage->metrics, tt_world_view(of->world), &why), &why);
}

static tt_status tick(making *of) {
  const tt_sweep_driver_ops *driver = of->maker->driver;
  const uint64_t before = tt_world_view(of->world)->total_step;
  tt_error why;
  if (tt_monotonic_ns() >= of->deadline) return time_out(of);
  if (driver) TT_TRY(judge(of, driver->tick(of->maker->driver_self, &why), &why));
  TT_TRY(tick_world(of));
  if (tt_world_view(of->world)->total_step ==
      before) { /* it was told to end: the driver or the clock says why */
    usleep(1000);
    return TT_OK;
  }
  return sample(of);
}

/* TT_END, or what is no affair of the run's. */
static tt_status run_world(making *of) {
  tt_world_begin(of->world);
  TT_TRY(sample(of));
  while (!is_over(of)) TT_TRY(tick(of));
  return TT_END;
}

static tt_status drive(making *of) {
  const tt_sweep_driver_ops *driver = of->maker->driver;
  void *self = of->maker->driver_self;
  tt_error why;
  tt_metrics_begin(of->stage->metrics);
  if (!driver) return run_world(of);
  TT_TRY(judge(of, driver->begin(self, of->world, of->run, &why), &why));
  tt_status status = run_world(of);
  driver->end(self, of->row);
  return status;
}

/* ---- before it ---- */

/* A world that has had a run, or has none of the run's own settings yet, becomes as a fresh one with them. Every world is
 * sensed once when it is made, and draws its first noise then. */
static tt_status set_back(making *of, bool lived) {
  const tt_sweep_plan *plan = of->maker->plan;
  const tt_sweep_stage *stage = of->stage;
  tt_sim *sim = tt_world_sim(of->world);
  int count = stage->value_count, bad = 0;
  memcpy(stage->wanted, stage->values, (size_t)count * sizeof *stage->wanted);
  for (int i = 0; i < plan->axis_count; i++)
    if (stage->value_of_axis[i] >= 0)
      stage->wanted[stage->value_of_axis[i]].value = of->run->axes[i].number;
  tt_status status = tt_sim_set_values(sim, "sweep", stage->wanted, count, &bad, of->error);
  if (status == TT_BAD_MESSAGE)
    return tt_fail(of->error, TT_INVALID, "%s: %g is out of the range of %s", plan->path,
                   stage->wanted[bad].value, tt_sim_values(sim, &count)[bad].name);
  TT_TRY(status);
  if (lived) {
    tt_sim_reset(sim, TT_NO_ROBOT);
    tt_sim_count_anew(sim);
  }
  tt_sim_seed(sim, of->run->seed);
  tt_sim_sense(sim);
  return TT_OK;
}

/* Where a log is wanted everything is a setting of its scene, so that the log says it. */
static tt_status set_stage(making *of, const tt_sweep_settings *settings, const char *log) {
  tt_sweep_maker *maker = of->maker;
  const bool wires = opens_wires(maker);
  if (log)
    TT_TRY(tt_sweep_stage_new(maker->plan, settings, true, &of->stage, of->error));
  else
    TT_TRY(tt_sweep_stages_take(&maker->stages, maker->plan, settings, &of->stage, of->error));
  if (!wires) {
    of->world = of->stage->world;
  } else {
    const tt_assembly assembly = {.hash_every_tick = log != NULL,
                                  .engine = tt_sim_engine(tt_world_sim(of->stage->world))};
    TT_TRY(tt_assemble(of->stage->scene, &assembly, &of->world, of->error));
  }
  return log ? TT_OK : set_back(of, !wires);
}

static tt_status record(making *of, const tt_sweep_settings *settings) {
  const tt_scene_options options = {.scene = of->maker->plan->scene,
                                    .settings = settings->list,
                                    .setting_count = settings->count};
  tt_run_reference kept = {.id = ""};
  const tt_attach_context context = {.scene = of->stage->scene,
                                     .options = &options,
                                     .world = of->world,
                                     .run = &kept,
                                     .unlisted = true};
  return tt_record_attachment.open(&context, &of->recorder, of->error);
}

/* ---- behind it ---- */

static void measure(making *of) {
  const tt_sweep_plan *plan = of->maker->plan;
  tt_sweep_row *row = of->row;
  tt_sweep_value columns[TT_SWEEP_MAX_AXES + TT_SWEEP_MAX_METRICS];
  tt_sim *sim = tt_world_sim(of->world);
  tt_error why;
  tt_status status = tt_metrics_end(of->stage->metrics, row->metrics, &why);
  if (status != TT_OK && row->status == TT_SWEEP_OK)
    end_with(of, status == TT_FULL ? TT_SWEEP_LIMIT : TT_SWEEP_CONTROLLER_FAILED, &why);
  row->hash = of->broken ? 0 : tt_world_hash(of->world);
  row->simulated_time = tt_model_time(tt_sim_model(sim), tt_sim_clock(sim)->total_steps);
  row->wall_time = (double)(tt_monotonic_ns() - of->started) * 1e-9;
  if (!of->maker->success) return;
  memcpy(columns, of->run->axes, (size_t)plan->axis_count * sizeof *columns);
  memcpy(columns + plan->axis_count, row->metrics, (size_t)plan->metric_count * sizeof *columns);
  row->success = (tt_sweep_value){
      .kind = TT_SWEEP_NUMBER,
      .number = row->status == TT_SWEEP_OK && tt_condition_holds_for(of->maker->success, columns)};
}

/* A log that is not whole is none: the row would say that there is one. */
static tt_status end_log(making *of, tt_status status) {
  tt_error why;
  if (!of->recorder) return status;
  tt_world_detach(of->world);
  tt_status ended = tt_record_end(of->recorder, &why);
  if (status != TT_END || ended == TT_OK) return status;
  *of->error = why;
  return ended;
}

static void clear_stage(making *of, bool spoilt, bool shared) {
  if (of->stage && of->world != of->stage->world) tt_world_free(of->world);
  if (!shared)
    tt_sweep_stage_free(of->stage);
  else if (spoilt)
    tt_sweep_stages_drop(&of->maker->stages, of->stage);
}

/* Its settings, its stage, the run itself, and what is measured of it. */
static tt_status make(making *of, const char *log) {
  tt_sweep_maker *maker = of->maker;
  tt_sweep_settings settings = {0};
  const tt_sweep_driver_ops *driver = maker->driver;
  const char *const *wires =
      driver && driver->settings ? driver->settings(maker->driver_self) : NULL;
  TT_TRY(tt_sweep_settings_make(maker->plan, of->run, wires, log, &settings, of->error));
  tt_status status = set_stage(of, &settings, log);
  if (status == TT_OK && log) status = record(of, &settings);
  if (status == TT_OK) {
    of->started = tt_monotonic_ns();
    of->deadline = of->started + (uint64_t)(maker->timeout * 1e9);
    if (opens_wires(maker)) tt_sweep_deadline_set(of->world, maker->timeout);
    status = drive(of);
    if (opens_wires(maker)) tt_sweep_deadline_clear();
    if (status == TT_END) measure(of);
  }
  status = end_log(of, status);
  clear_stage(of, status != TT_END || of->broken, !log);
  tt_sweep_settings_clear(&settings);
  return status == TT_END ? TT_OK : status;
}

tt_status tt_sweep_make(tt_sweep_maker *maker, const tt_sweep_run *run, const char *log,
                        tt_sweep_row *row, tt_error *error) {
  making of = {.maker = maker, .run = run, .row = row, .error = error};
  *row = (tt_sweep_row){.run = *run, .status = TT_SWEEP_OK};
  memcpy(row->host, maker->host, sizeof row->host);
  TT_TRY(make(&of, log));
  return tt_sweep_plan_check_files(maker->plan, error);
}
