#include "app/fork.h"

#include "app/assemble.h"
#include "app/guests.h"
#include "app/proof.h"
#include "app/saved_world.h"
#include "app/versions.h"
#include "record/replay.h"
#include "record/summary.h"
#include "record/unpack.h"
#include "scene/data.h"
#include "scene/machine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tt_fork {
  tt_unpacked unpacked;
  char log[PATH_MAX], state[64];
  char run[40];            /* its id */
  double time;             /* s of the run */
  char **settings;         /* what holds for the new run: the old one's, then others */
  int own, settings_count; /* the first `own` are the old one's */
};

/* ---- what it is made of ---- */

/* How long the old run lasted, where it was kept and what served it is its own affair. */
static bool holds_on(const char *setting) {
  return strncmp(setting, "duration=", 9) != 0 && !tt_setting_is_of_machine(setting);
}

static bool add_setting(tt_fork *fork, const char *setting) {
  char *copy = strdup(setting);
  fork->settings[fork->settings_count] = copy;
  fork->settings_count += copy != NULL;
  return copy != NULL;
}

static tt_status take_settings(tt_fork *fork, const char *const *settings, int count,
                               tt_error *error) {
  const tt_unpacked *from = &fork->unpacked;
  fork->settings = calloc((size_t)(from->setting_count + count) + 1, sizeof *fork->settings);
  bool whole = fork->settings;
  for (int i = 0; i < from->setting_count && whole; i++)
    if (holds_on(from->settings[i])) whole = add_setting(fork, from->settings[i]);
  fork->own = fork->settings_count;
  for (int i = 0; i < count && whole; i++) whole = add_setting(fork, settings[i]);
  return whole ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

static tt_status prepare(tt_fork *fork, const char *const *settings, int count, tt_error *error) {
  tt_run_log *log;
  TT_TRY(tt_run_log_open(fork->log, &log, error));
  double end = (double)tt_run_log_duration(log) / 1e6;
  tt_run_facts facts = {.run = ""};
  tt_status status = tt_run_get_facts(log, &facts);
  snprintf(fork->run, sizeof fork->run, "%s", facts.run);
  if (status == TT_OK)
    status = fork->time >= 0 && fork->time <= end
                 ? tt_unpack(log, &fork->unpacked, error)
                 : tt_fail(error, TT_INVALID, "%s: has 0 to %.3f s, and not %.3f", fork->log, end,
                           fork->time);
  tt_run_log_close(log);
  TT_TRY(status);
  snprintf(fork->state, sizeof fork->state, "%s/state", fork->unpacked.scratch.folder);
  return take_settings(fork, settings, count, error);
}

tt_status tt_fork_new(const char *path, double time, const char *const *settings, int count,
                      tt_fork **made, tt_error *error) {
  *made = NULL;
  tt_fork *fork = calloc(1, sizeof *fork);
  if (!fork) return tt_fail(error, TT_NOMEM, "out of memory");
  fork->time = time;
  snprintf(fork->log, sizeof fork->log, "%s", path);
  tt_status status = prepare(fork, settings, count, error);
  if (status != TT_OK) {
    tt_fork_free(fork);
    return status;
  }
  *made = fork;
  return TT_OK;
}

void tt_fork_free(tt_fork *fork) {
  if (!fork) return;
  tt_unpacked_remove(&fork->unpacked);
  for (int i = 0; i < fork->settings_count; i++) free(fork->settings[i]);
  free(fork->settings);
  free(fork);
}

const char *tt_fork_run(const tt_fork *fork) {
  const char *slash = strrchr(fork->log, '/');
  return slash ? slash + 1 : fork->log;
}

const char *tt_fork_run_id(const tt_fork *fork) { return fork->run; }

double tt_fork_time(const tt_fork *fork) { return fork->time; }

void tt_fork_set_time(tt_fork *fork, double time) { fork->time = time; }

const char *tt_fork_log(const tt_fork *fork) { return fork->log; }

const char *tt_fork_scene(const tt_fork *fork) { return fork->unpacked.scene; }

const char *tt_fork_state(const tt_fork *fork) { return fork->state; }

bool tt_fork_lacks_token(const tt_fork *fork) { return fork->unpacked.lacks_token; }

const char *const *tt_fork_settings(const tt_fork *fork, int *count) {
  *count = fork->settings_count;
  return (const char *const *)fork->settings;
}

const char *const *tt_fork_added(const tt_fork *fork, int *count) {
  *count = fork->settings_count - fork->own;
  return (const char *const *)fork->settings + fork->own;
}

/* ---- its scene ---- */

static tt_status load(const tt_fork *fork, int own, const char *const *more, int count,
                      tt_scene **scene, tt_error *error) {
  const char **all = calloc((size_t)(own + count) + 1, sizeof *all);
  if (!all) return tt_fail(error, TT_NOMEM, "out of memory");
  for (int i = 0; i < own; i++) all[i] = fork->settings[i];
  for (int i = 0; i < count; i++) all[own + i] = more[i];
  if (*fork->unpacked.data) tt_data_set_root(fork->unpacked.data);
  tt_status status =
      tt_scene_load(&tt_program_guests, fork->unpacked.scene, all, own + count, scene, error);
  tt_data_set_root(getenv("TETHER_DATA")); /* as the program began */
  free(all);
  return status;
}

tt_status tt_fork_load(const tt_fork *fork, const char *const *more, int count, tt_scene **scene,
                       tt_error *error) {
  return load(fork, fork->settings_count, more, count, scene, error);
}

/* ---- its state ---- */

/* One world after another: the old run's, then the new one's. */
typedef struct rerun {
  const tt_fork *fork;
  const char *path; /* where the state goes */
  const tt_run_log *log;
  uint64_t tick;  /* steps; 0: `until` is the end of one */
  uint64_t until; /* steps */
  double reached; /* s of the run: of the state */
  void *state;
  size_t size;
  void (*show)(void *context, double done);
  void *context;
} rerun;

static tt_status differs(const rerun *of, const tt_replay_result *result, tt_error *error) {
  char text[400];
  if (tt_versions_differ(of->log, text, sizeof text))
    return tt_fail(error, TT_VERSION, "the run can't be made again here: %s", text);
  return tt_fail(error, TT_DIFFERS,
                 "the run is another when it is made again, from step %llu on: %s",
                 (unsigned long long)result->first_step, result->reason);
}

/* Where the last tick ends that ends by then: a program that has the simulation as a library made its own. */
static void find_end(rerun *of, tt_replay *replay, const tt_model *model) {
  uint64_t found;
  double time = of->fork->time, timestep = tt_model_timestep(model);
  of->until = (uint64_t)(time / timestep + 1e-6);
  if (!tt_replay_find_tick(replay, (uint64_t)(time * 1e6) + 1, &found)) return;
  of->until = (uint64_t)((double)found / 1e6 / timestep + 0.5);
  of->tick = 0;
}

/* The last tick that ends by then. */
static tt_status tick_until(rerun *of, tt_world *world, tt_replay *replay, tt_error *error) {
  const tt_model *model = tt_world_model(world);
  const tt_clock *clock = tt_sim_clock(tt_world_sim(world));
  uint64_t begin = clock->total_steps; /* of a run that went on from another */
  if (of->until < begin)
    return tt_fail(error, TT_INVALID, "%s: begins at %.3f s, and not before %.3f", of->fork->log,
                   tt_model_time(model, begin), of->fork->time);
  tt_world_start(world);
  while (clock->total_steps < of->until && clock->total_steps + of->tick <= of->until &&
         !tt_replay_done(replay)) {
    TT_TRY(tt_world_tick(world, error));
    tt_replay_result result = tt_replay_get_result(replay);
    if (*result.reason) return differs(of, &result, error);
    if (of->show)
      of->show(of->context, (double)(clock->total_steps - begin) / (double)(of->until - begin));
  }
  of->reached = tt_model_time(model, clock->total_steps);
  of->size = tt_world_state_size(world);
  of->state = calloc(1, of->size);
  if (!of->state) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_world_save(world, of->state);
  return TT_OK;
}

static tt_status replay_in(rerun *of, tt_world *world, tt_error *error) {
  tt_replay *replay;
  tt_feed *feed;
  tt_observer *observer;
  TT_TRY(tt_replay_open(of->log, &replay, error));
  tt_status status = tt_saved_world_begin(world, of->log, error);
  find_end(of, replay, tt_world_model(world));
  if (status == TT_OK)
    status = tt_replay_attach(replay, tt_world_sim(world), &feed, &observer, error);
  if (status == TT_OK) status = tt_world_set_feed(world, feed);
  if (status == TT_OK) status = tick_until(of, world, replay, error);
  tt_world_detach(world);
  tt_replay_close(replay);
  return status;
}

static tt_status in_world(rerun *of, int own, const char *const *more, int count,
                          tt_status (*act)(rerun *of, tt_world *world, tt_error *error),
                          tt_error *error) {
  static const tt_assembly assembly = {.no_wires = true, .hash_every_tick = true};
  tt_scene *scene;
  tt_world *world;
  TT_TRY(load(of->fork, own, more, count, &scene, error));
  of->tick = scene->io_steps;
  tt_status status = tt_assemble(scene, &assembly, &world, error);
  if (status == TT_OK) {
    status = act(of, world, error);
    tt_world_free(world);
  }
  tt_scene_free(scene);
  return status;
}

static tt_status write_state(rerun *of, tt_world *world, tt_error *error) {
  if (tt_world_restore(world, of->state, of->size) == TT_OK)
    return tt_saved_world_write(of->path, world, error);
  return tt_fail(
      error, TT_INVALID,
      "with these settings the world consists of other things than in the run, whose state "
      "does not fit any more; leave out those that change bodies, joints or parts");
}

tt_status tt_fork_compute(tt_fork *fork, const char *path, void (*show)(void *context, double done),
                          void *context, tt_error *error) {
  static const char *const fast[] = {"pace=fast"};
  rerun of = {.fork = fork, .path = path, .show = show, .context = context};
  tt_run_log *log;
  TT_TRY(tt_run_log_open(fork->log, &log, error));
  of.log = log;
  tt_status status = tt_proof_check_bytes(fork->log, log, fork->time, NULL, error);
  if (status == TT_OK) status = in_world(&of, fork->own, fast, 1, replay_in, error);
  if (status == TT_OK) status = in_world(&of, fork->settings_count, fast, 1, write_state, error);
  if (status == TT_OK) fork->time = of.reached;
  free(of.state);
  tt_run_log_close(log);
  return status;
}
