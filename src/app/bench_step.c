/* bench_step.c: `tether bench step SCENE`: free-running steps against a bare mj_step loop of the same model and states.
 *
 * The run is cut into segments. Each is made once to learn the torques; then, from the same saved state, once more by
 * world_tick() and once by mj_step alone with those torques, in alternating order. What is printed are medians.
 */
#include "app/guests.h"
#include "base/clock.h"
#include "host/scene_wires.h"
#include "app/assemble.h"
#include "app/bench.h"
#include "app/bench_driver.h"
#include "app/options.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/mujoco/mujoco_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_SEGMENTS 4096
#define SEGMENT 0.1       /* s simulated */
#define REPEAT_AFTER 15.0 /* s simulated: then from the start again */
#define WARM_UP 2.0       /* s simulated: loose pieces come to rest */

typedef struct step_bench {
  tt_world *world;
  tt_bench_driver *driver;
  uint64_t io_steps;
  bool idle;                    /* nobody drives */
  int ticks;                    /* a segment */
  double warm_up, repeat_after; /* s simulated */
  size_t state_size;
  void *start, *state;
  double *torques;
  double ours[MOST_SEGMENTS], bare[MOST_SEGMENTS]; /* ns a step */
  int segments;
} step_bench;

static tt_status make_ticks(step_bench *bench, tt_error *error) {
  for (int i = 0; i < bench->ticks; i++) TT_TRY(tt_world_tick(bench->world, error));
  return TT_OK;
}

/** Time this thread really ran: who else uses the machine does not count. */
static uint64_t cpu_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static double per_step(const step_bench *bench, uint64_t started) {
  return (double)(cpu_now() - started) / ((double)bench->ticks * (double)bench->io_steps);
}

static tt_status time_ours(step_bench *bench, double *ns, tt_error *error) {
  TT_TRY(tt_world_restore(bench->world, bench->state, bench->state_size));
  uint64_t started = cpu_now();
  TT_TRY(make_ticks(bench, error));
  *ns = per_step(bench, started);
  return TT_OK;
}

static tt_status time_bare(step_bench *bench, double *ns) {
  TT_TRY(tt_world_restore(bench->world, bench->state, bench->state_size));
  uint64_t started = cpu_now();
  tt_mujoco_bare_steps(tt_sim_engine(tt_world_sim(bench->world)), bench->torques,
                       bench->ticks * (int)bench->io_steps);
  *ns = per_step(bench, started);
  return TT_OK;
}

/** One segment: learn the torques, time both, and stand where it ended. */
static tt_status segment(step_bench *bench, void *end, tt_error *error) {
  int i = bench->segments++;
  tt_world_save(bench->world, bench->state);
  tt_bench_driver_record(bench->driver, bench->torques);
  TT_TRY(make_ticks(bench, error));
  tt_bench_driver_keep_torques(bench->driver);
  tt_bench_driver_record(bench->driver, NULL);
  tt_world_save(bench->world, end);
  if (i % 2 == 0) TT_TRY(time_bare(bench, &bench->bare[i]));
  TT_TRY(time_ours(bench, &bench->ours[i], error));
  if (i % 2 == 1) TT_TRY(time_bare(bench, &bench->bare[i]));
  return tt_world_restore(bench->world, end, bench->state_size);
}

static tt_status measure(step_bench *bench, double seconds, void *end, tt_error *error) {
  uint64_t until = tt_monotonic_ns() + (uint64_t)(seconds * 1e9);
  tt_world_start(bench->world);
  while (tt_world_view(bench->world)->time < bench->warm_up)
    TT_TRY(tt_world_tick(bench->world, error));
  tt_world_save(bench->world, bench->start);
  while (bench->segments < MOST_SEGMENTS && (bench->segments < 8 || tt_monotonic_ns() < until)) {
    TT_TRY(segment(bench, end, error));
    if (tt_world_view(bench->world)->time > bench->repeat_after - 1e-9)
      TT_TRY(tt_world_restore(bench->world, bench->start, bench->state_size));
  }
  return TT_OK;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *numbers, int count) {
  qsort(numbers, (size_t)count, sizeof *numbers, ascending);
  return numbers[count / 2];
}

/** One JSON object a line, for script/bench and for people. */
static void print(step_bench *bench) {
  double ratio[MOST_SEGMENTS];
  for (int i = 0; i < bench->segments; i++) ratio[i] = bench->bare[i] / bench->ours[i];
  double ours = median(bench->ours, bench->segments), bare = median(bench->bare, bench->segments);
  double mean = 0;
  for (int i = 0; i < bench->segments; i++) mean += bench->bare[i] / bench->segments;
  tt_print(stdout,
           "{\"ours_ns\": %.1f, \"bare_ns\": %.1f, \"bare_mean_ns\": %.1f, \"ratio\": %.4f, "
           "\"real_time_factor\": %.2f, \"segments\": %d, \"segment_steps\": %d}\n",
           ours, bare, mean, median(ratio, bench->segments),
           tt_model_timestep(tt_world_model(bench->world)) / (ours * 1e-9), bench->segments,
           bench->ticks * (int)bench->io_steps);
}

static tt_status measure_world(step_bench *bench, double seconds, tt_error *error) {
  const tt_model *model = tt_world_model(bench->world);
  double tick = (double)bench->io_steps * tt_model_timestep(model);
  bench->ticks = tick < SEGMENT ? (int)(SEGMENT / tick + 0.5) : 1;
  size_t steps = (size_t)bench->ticks * bench->io_steps;
  bench->state_size = tt_world_state_size(bench->world);
  bench->start = malloc(bench->state_size);
  bench->state = malloc(bench->state_size);
  void *end = malloc(bench->state_size);
  bench->torques = calloc(steps * (size_t)model->axis_count + 1, sizeof(double));
  tt_status status = TT_OK;
  if (!bench->start || !bench->state || !end || !bench->torques)
    status = tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_OK)
    status = tt_bench_driver_new(bench->world, bench->io_steps, bench->idle, &bench->driver, error);
  if (status == TT_OK) status = measure(bench, seconds, end, error);
  if (status == TT_OK) print(bench);
  free(end);
  return status;
}

/** Wires stay open as in a run, but not those whose answer the world would wait for. */
static bool waits_for_somebody(const tt_scene *scene) {
  for (int i = 0; i < scene->wire_count; i++)
    if (scene->wires[i].lockstep) return true;
  return false;
}

static tt_status measure_scene(const tt_scene *scene, bool idle, double until, double seconds,
                               tt_error *error) {
  static step_bench bench;
  bench.warm_up = until > 0 ? 0 : WARM_UP;
  bench.repeat_after = until > 0 ? until : REPEAT_AFTER;
  tt_assembly assembly = {.no_wires = waits_for_somebody(scene)};
  bench.io_steps = scene->io_steps;
  bench.idle = idle;
  TT_TRY(tt_assemble(scene, &assembly, &bench.world, error));
  tt_status status = measure_world(&bench, seconds, error);
  tt_world_free(bench.world);
  tt_bench_driver_free(bench.driver);
  free(bench.start);
  free(bench.state);
  free(bench.torques);
  return status;
}

static tt_status run(int argc, char **argv, tt_error *error) {
  double seconds = 3, until = 0;
  bool idle = false;
  tt_scene_options options;
  tt_scene *scene;
  if (argc > 2 && !strcmp(argv[1], "--seconds")) {
    seconds = strtod(argv[2], NULL);
    argv += 2;
    argc -= 2;
  }
  if (argc > 1 && !strcmp(argv[1], "--idle")) {
    idle = true;
    argv++;
    argc--;
  }
  if (argc > 2 && !strcmp(argv[1], "--until")) {
    until = strtod(argv[2], NULL);
    argv += 2;
    argc -= 2;
  }
  tt_log_set_level(TT_LOG_WARNING);
  tt_status status = tt_scene_options_parse(argc, argv, &options, error);
  if (status == TT_OK)
    status = tt_scene_load(&tt_program_guests, options.scene, options.settings,
                           options.setting_count, &scene, error);
  if (status == TT_OK) {
    status = measure_scene(scene, idle, until, seconds, error);
    tt_scene_free(scene);
  }
  tt_scene_options_free(&options);
  return status;
}

const tt_bench tt_bench_step = {"step",
                                "[--seconds N] [--idle] [--until S] SCENE [--set …]: steps of a "
                                "scene against bare mj_step of the same states; with --until "
                                "those of its first S seconds",
                                run};
