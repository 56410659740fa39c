/* simulation.c: the public face: simulations, from the first step to the last. See include/tether/tether.h. */
#include "library/library.h"

#include <stdlib.h>

/* A simulation around `inside`, which becomes its own, or is freed. */
static tether_status wrap(tether_scene *scene, tt_sim *inside, uint64_t seed, tether_sim **sim,
                          tether_error *error) {
  size_t commands = (size_t)tt_sim_model(inside)->command_count;
  *sim = calloc(1, sizeof **sim);
  if (!*sim || !((*sim)->submissions = calloc(commands + 1, sizeof *(*sim)->submissions))) {
    free(*sim);
    *sim = NULL;
    tt_sim_free(inside);
    return library_fail(error, TETHER_NO_MEMORY, "out of memory");
  }
  (*sim)->room = commands;
  atomic_fetch_add(&scene->references, 1);
  (*sim)->scene = scene;
  (*sim)->sim = inside;
  (*sim)->seed = seed;
  atomic_flag_clear(&(*sim)->busy);
  return TETHER_OK;
}

/* The first simulation of a scene compiles the models; it is kept as it is, and everybody gets a clone. */
static tt_status clone_pattern(tether_scene *scene, tt_sim **inside, tt_error *why) {
  tt_status status = TT_OK;
  pthread_mutex_lock(&scene->lock);
  if (!scene->pattern) {
    status = tt_scene_sim(scene->scene, &(tt_scene_sim_options){.hash_a_tick = true},
                          &scene->pattern, why);
    if (status == TT_OK) {
      tt_sim_sense(scene->pattern);
      scene->handles = library_mark_of(scene->pattern);
    }
  }
  if (status == TT_OK) status = tt_sim_clone(scene->pattern, inside, why);
  pthread_mutex_unlock(&scene->lock);
  return status;
}

tether_status tether_sim_new(tether_scene *scene, tether_sim **sim, tether_error *error) {
  tt_error why = {.text = ""};
  tt_sim *inside;
  library_begin(error);
  if (!sim) return library_fail(error, TETHER_INVALID, "sim: NULL; give where to put it");
  *sim = NULL;
  if (!scene) return library_fail(error, TETHER_INVALID, "scene: NULL");
  library_surroundings saved = library_surroundings_begin();
  tt_status status = clone_pattern(scene, &inside, &why);
  library_surroundings_end(&saved);
  if (status != TT_OK) return library_finish(status, &why, error);
  return wrap(scene, inside, scene->scene->seed, sim, error);
}

void tether_sim_free(tether_sim *sim) {
  if (!sim) return;
  library_end_record(sim, NULL);
  free(sim->submissions);
  tt_sim_free(sim->sim);
  tether_scene_free(sim->scene);
  free(sim);
}

/* Of one whose engine failed there is nothing to save or to clone. */
static tether_status no_state(tether_error *error) {
  return library_fail(error, TETHER_FAILED, "the simulation failed before: reset or restore it");
}

tether_status tether_sim_clone(tether_sim *sim, tether_sim **clone, tether_error *error) {
  tt_error why = {.text = ""};
  tt_sim *inside;
  if (!clone) return library_fail(error, TETHER_INVALID, "clone: NULL; give where to put it");
  *clone = NULL;
  tether_status entered = library_enter(sim, error);
  if (entered != TETHER_OK) return entered;
  if (sim->failed == TETHER_FAILED) return library_leave(sim, no_state(error));
  tt_status status = tt_sim_clone(sim->sim, &inside, &why);
  if (status != TT_OK) return library_leave(sim, library_finish(status, &why, error));
  return library_leave(sim, wrap(sim->scene, inside, sim->seed, clone, error));
}

void library_revive(tether_sim *sim) {
  sim->failed = TETHER_OK;
  if (!sim->batch_failed) return;
  *sim->batch_failed = 0;
  *sim->batch_failure = TETHER_OK;
  sim->batch_reason->text[0] = '\0';
}

tt_status library_reset(tether_sim *sim, uint64_t seed) {
  tt_sim_seed(sim->sim, seed);
  sim->seed = seed;
  tt_sim_reset(sim->sim, TT_NO_ROBOT);
  tt_sim_sense(sim->sim);
  library_tell(sim);
  library_revive(sim);
  return TT_OK;
}

tether_status tether_sim_reset(tether_sim *sim, const uint64_t *seed, tether_error *error) {
  tether_status entered = library_enter(sim, error);
  if (entered != TETHER_OK) return entered;
  library_reset(sim, seed ? *seed : sim->scene->scene->seed);
  return library_leave(sim, TETHER_OK);
}

/* Resets that commands asked for come before the step, and each is seen, as in a running program. */
static void take_resets(tether_sim *sim) {
  for (int robot; tt_sim_take_reset(sim->sim, &robot);) {
    tt_sim_reset(sim->sim, robot);
    tt_sim_sense(sim->sim);
    library_tell(sim);
  }
}

static tether_status broke_off(tether_sim *sim, tt_status status, const tt_error *why,
                               tether_error *error) {
  sim->failed = library_status(status);
  if (sim->recorder)
    tt_sim_event(sim->sim, "physics", "%s at step %llu: %s",
                 status == TT_DIVERGED ? "diverged" : "failed",
                 (unsigned long long)tt_sim_clock(sim->sim)->step, why->text);
  if (sim->batch_failed) { /* whose step it is, its own or the batch's */
    *sim->batch_failed = 1;
    *sim->batch_failure = library_finish(status, why, sim->batch_reason);
  }
  return library_finish(status, why, error);
}

/* An interrupted one ends with a step like any last one, so that what is sensed then is whole. */
tether_status library_step(tether_sim *sim, int64_t steps, library_watch *watch,
                           tether_error *error) {
  tt_error why; /* all of it as zeros would cost as much as reading ten signals */
  bool watched = watch->callback || watch->stop, ends = false;
  int64_t made = 0;
  why.text[0] = '\0';
  take_resets(sim);
  while (made < steps && !ends) {
    ends = watched && made + 1 < steps && library_watch_ends(watch);
    tt_status status = tt_sim_step(sim->sim, ends || made + 1 == steps, &why);
    if (status != TT_OK) return broke_off(sim, status, &why, error);
    made++;
  }
  tt_sim_sense(sim->sim);
  library_tell(sim);
  if (!ends) return TETHER_OK;
  return library_fail(error, TETHER_INTERRUPTED, "interrupted after %lld of %lld steps",
                      (long long)made, (long long)steps);
}

static tether_status check_alive(const tether_sim *sim, tether_error *error) {
  if (sim->failed == TETHER_OK) return TETHER_OK;
  return library_fail(error, sim->failed, "the simulation %s before: reset or restore it",
                      sim->failed == TETHER_DIVERGED ? "diverged" : "failed");
}

static tether_status check_step(const tether_sim *sim, int64_t steps, tether_error *error) {
  if (steps <= 0)
    return library_fail(error, TETHER_INVALID, "steps: %lld; give at least 1", (long long)steps);
  return check_alive(sim, error);
}

tether_status tether_sim_step(tether_sim *sim, int64_t steps, tether_error *error) {
  return tether_sim_exchange(sim, NULL, 0, steps, error);
}

static tether_status check_ios(const tether_sim *sim, const tether_io *ios, int io_count,
                               tether_error *error) {
  if (io_count < 0 || (io_count > 0 && !ios))
    return library_fail(error, TETHER_INVALID, "io_count: %d without an array of it", io_count);
  for (int i = 0; i < io_count; i++) {
    const tether_io *io = &ios[i];
    if (io->command_count < 0 || (io->command_count && !(io->commands && io->command_values)))
      return library_fail(error, TETHER_INVALID, "ios[%d].command_count: %d without arrays of it",
                          i, io->command_count);
    if (io->signal_count < 0 || (io->signal_count && !(io->signals && io->signal_values)))
      return library_fail(error, TETHER_INVALID, "ios[%d].signal_count: %d without arrays of it", i,
                          io->signal_count);
    tether_status status = library_check_signals(sim, io->signals, io->signal_count, error);
    if (status != TETHER_OK) return status;
  }
  return TETHER_OK;
}

tether_status tether_sim_exchange(tether_sim *sim, const tether_io *ios, int io_count,
                                  int64_t steps, tether_error *error) {
  tether_status status = library_enter(sim, error);
  if (status != TETHER_OK) return status;
  status = check_step(sim, steps, error);
  if (status == TETHER_OK) status = check_ios(sim, ios, io_count, error);
  if (status == TETHER_OK) status = library_apply(sim, ios, io_count, error);
  if (status != TETHER_OK) return library_leave(sim, status);
  if (steps > 1) library_watch_begin(&sim->watch);
  status = library_step(sim, steps, &sim->watch, error);
  if (status == TETHER_OK || status == TETHER_INTERRUPTED)
    for (int i = 0; i < io_count; i++)
      library_read(sim, ios[i].signals, ios[i].signal_values, ios[i].signal_count, NULL);
  return library_leave(sim, status);
}

tether_status tether_sim_set_interrupt(tether_sim *sim, tether_interrupt *callback, void *context,
                                       tether_error *error) {
  tether_status entered = library_enter(sim, error);
  if (entered != TETHER_OK) return entered;
  sim->watch = (library_watch){.callback = callback, .context = context};
  return library_leave(sim, TETHER_OK);
}

double tether_sim_time(const tether_sim *sim) {
  return sim ? tt_model_time(tt_sim_model(sim->sim), tt_sim_clock(sim->sim)->step) : 0;
}

uint64_t tether_sim_steps(const tether_sim *sim) { return sim ? tt_sim_clock(sim->sim)->step : 0; }

uint64_t tether_sim_hash(const tether_sim *sim) { return sim ? tt_sim_hash(sim->sim) : 0; }
