/* tether.c: the public face: scenes, simulations, commands and signals. See include/tether/tether.h. */
#include "library/library.h"

#include "base/log.h"
#include "engine/mujoco/mujoco_engine.h"
#include "model/unit.h"
#include "scene/data.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_AT_ONCE 65536 /* commands: as many as a log's reader takes */

const char *tether_version(void) { return TETHER_VERSION; }

static tether_status begin(tether_error *error) {
  if (error) error->text[0] = '\0';
  return TETHER_OK;
}

/* ---- what would otherwise be printed ---- */

static _Atomic(tether_log *) log_callback; /* a recording's threads ask for them, too */
static _Atomic(void *) log_context;

static void on_line(void *context, tt_log_level level, const char *text) {
  (void)context;
  tether_log *callback = atomic_load(&log_callback);
  if (callback && level <= TT_LOG_INFO) callback(atomic_load(&log_context), (int)level, text);
}

void tether_set_log(tether_log *callback, void *context) {
  atomic_store(&log_context, context);
  atomic_store(&log_callback, callback);
}

/* From the first scene on: nothing below could say anything before. */
static void keep_quiet(void) {
  tt_log_set_sink(on_line, NULL);
  tt_data_keep_whole_paths();
}
static pthread_once_t quiet = PTHREAD_ONCE_INIT;

/* ---- whatever the caller set ---- */

static locale_t plain; /* the C library's own of that name: it needs no memory */
static void make_plain(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

library_surroundings library_surroundings_begin(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  library_surroundings saved;
  pthread_once(&once, make_plain);
  saved.locale = uselocale(plain);
  saved.floats = library_floats_begin();
  return saved;
}

void library_surroundings_end(const library_surroundings *saved) {
  library_floats_end(&saved->floats);
  uselocale(saved->locale);
}

/* ---- scenes ---- */

tether_status tether_set_data(const char *folder) {
  return library_status(tt_data_set_root(folder));
}

tether_status tether_scene_name(int index, char *name, size_t size) {
  if (!name || size == 0 || index < 0) return TETHER_INVALID;
  char **names = tt_data_list(&tt_data_scene);
  if (!names) return TETHER_NO_MEMORY;
  int count = 0;
  while (names[count]) count++;
  if (index < count) snprintf(name, size, "%s", names[index]);
  for (int i = 0; i < count; i++) free(names[i]);
  free(names);
  return index < count ? TETHER_OK : TETHER_NOT_FOUND;
}

tether_status tether_set_compiler(const char *program) {
  return library_status(tt_mujoco_set_compiler(program));
}

/* A recorded run keeps them. */
static bool copy_settings(tether_scene *scene, const char *const *settings, int count) {
  scene->settings = calloc((size_t)count + 1, sizeof(char *));
  for (; scene->settings && scene->setting_count < count; scene->setting_count++) {
    char *copy = strdup(settings[scene->setting_count]);
    if (!copy) return false;
    scene->settings[scene->setting_count] = copy;
  }
  return scene->settings != NULL;
}

tether_status tether_scene_load(const char *name, const char *const *settings, int setting_count,
                                tether_scene **scene, tether_error *error) {
  tt_error why = {.text = ""};
  begin(error);
  pthread_once(&quiet, keep_quiet);
  if (!scene) return library_fail(error, TETHER_INVALID, "scene: NULL; give where to put it");
  *scene = NULL;
  if (!name) return library_fail(error, TETHER_INVALID, "name: NULL; give a scene's");
  if (setting_count < 0 || (setting_count > 0 && !settings))
    return library_fail(error, TETHER_INVALID, "setting_count: there are not %d settings",
                        setting_count);
  for (int i = 0; i < setting_count; i++)
    if (!settings[i]) return library_fail(error, TETHER_INVALID, "settings[%d]: NULL", i);
  tether_scene *made = calloc(1, sizeof *made);
  if (!made) return library_fail(error, TETHER_NO_MEMORY, "out of memory");
  pthread_mutex_init(&made->lock, NULL);
  atomic_init(&made->references, 1);
  library_surroundings saved = library_surroundings_begin();
  tt_status status = copy_settings(made, settings, setting_count)
                         ? tt_scene_load(NULL, name, settings, setting_count, &made->scene, &why)
                         : tt_fail(&why, TT_NOMEM, "out of memory");
  if (status == TT_OK && !library_note_origin(made))
    status = tt_fail(&why, TT_NOMEM, "out of memory");
  library_surroundings_end(&saved);
  if (status != TT_OK) {
    tether_scene_free(made);
    return library_finish(status, &why, error);
  }
  *scene = made;
  return TETHER_OK;
}

void tether_scene_free(tether_scene *scene) {
  if (!scene || atomic_fetch_sub(&scene->references, 1) > 1) return;
  for (int i = 0; i < scene->setting_count; i++) free(scene->settings[i]);
  free(scene->settings);
  library_free_origin(scene);
  tt_scene_settings_free(&scene->keys);
  tt_sim_free(scene->pattern);
  tt_scene_free(scene->scene);
  pthread_mutex_destroy(&scene->lock);
  free(scene);
}

const char *tether_scene_description(const tether_scene *scene) {
  return scene ? scene->scene->description : "";
}

double tether_scene_timestep(const tether_scene *scene) {
  return scene ? (double)scene->scene->timestep_num / (double)scene->scene->timestep_den : 0;
}

/* ---- simulations ---- */

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
  begin(error);
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

tether_status library_enter(tether_sim *sim, tether_error *error) {
  begin(error);
  if (!sim) return library_fail(error, TETHER_INVALID, "sim: NULL");
  if (atomic_flag_test_and_set(&sim->busy))
    return library_fail(error, TETHER_BUSY, "another thread is using this simulation");
  sim->surroundings = library_surroundings_begin();
  library_mind_fork(sim);
  return TETHER_OK;
}

tether_status library_leave(tether_sim *sim, tether_status status) {
  library_surroundings_end(&sim->surroundings);
  atomic_flag_clear(&sim->busy);
  return status;
}

#define ENTER(sim)                                                                                 \
  do {                                                                                             \
    tether_status entered = library_enter(sim, error);                                             \
    if (entered != TETHER_OK) return entered;                                                      \
  } while (0)

/* Of one whose engine failed there is nothing to save or to clone. */
static tether_status no_state(tether_error *error) {
  return library_fail(error, TETHER_FAILED, "the simulation failed before: reset or restore it");
}

tether_status tether_sim_clone(tether_sim *sim, tether_sim **clone, tether_error *error) {
  tt_error why = {.text = ""};
  tt_sim *inside;
  if (!clone) return library_fail(error, TETHER_INVALID, "clone: NULL; give where to put it");
  *clone = NULL;
  ENTER(sim);
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
  ENTER(sim);
  library_reset(sim, seed ? *seed : sim->scene->scene->seed);
  return library_leave(sim, TETHER_OK);
}

/* Handles are of signals that a simulation has whatever it is driven by: the clock's own are not among them. */
static const tt_signal_entry *signals_of(const tether_sim *sim, int *count) {
  return tt_names_signals(tt_sim_names(sim->sim), count);
}

static tether_status check_signals(const tether_sim *sim, const tether_handle *signals, int count,
                                   tether_error *error) {
  int known;
  signals_of(sim, &known);
  for (int i = 0; i < count; i++) {
    tether_status status =
        library_check_handle(sim, &signals[i], LIBRARY_SIGNAL, known, "signals", i, error);
    if (status != TETHER_OK) return status;
  }
  return TETHER_OK;
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
    tether_status status = check_signals(sim, io->signals, io->signal_count, error);
    if (status != TETHER_OK) return status;
  }
  return TETHER_OK;
}

tether_status tether_sim_exchange(tether_sim *sim, const tether_io *ios, int io_count,
                                  int64_t steps, tether_error *error) {
  ENTER(sim);
  tether_status status = check_step(sim, steps, error);
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
  ENTER(sim);
  sim->watch = (library_watch){.callback = callback, .context = context};
  return library_leave(sim, TETHER_OK);
}

double tether_sim_time(const tether_sim *sim) {
  return sim ? tt_model_time(tt_sim_model(sim->sim), tt_sim_clock(sim->sim)->step) : 0;
}

uint64_t tether_sim_steps(const tether_sim *sim) { return sim ? tt_sim_clock(sim->sim)->step : 0; }

uint64_t tether_sim_hash(const tether_sim *sim) { return sim ? tt_sim_hash(sim->sim) : 0; }

/* ---- commands and signals ---- */

const char *library_robot_name(const tt_sim *sim, int robot) {
  return robot == TT_NO_ROBOT ? "" : tt_sim_model(sim)->robots[robot].name;
}

int tether_sim_signal_count(const tether_sim *sim) {
  int count = 0;
  if (sim) signals_of(sim, &count);
  return count;
}

int tether_sim_command_count(const tether_sim *sim) {
  return sim ? tt_sim_model(sim->sim)->command_count : 0;
}

tether_status tether_sim_signal_item(const tether_sim *sim, int index, tether_item *item) {
  int count;
  if (!sim || !item) return TETHER_INVALID;
  const tt_signal_entry *entries = signals_of(sim, &count);
  if (index < 0 || index >= count) return TETHER_NOT_FOUND;
  *item = (tether_item){.name = entries[index].name,
                        .unit = tt_unit_si(entries[index].signal.dimension)->name,
                        .robot = library_robot_name(sim->sim, entries[index].robot),
                        .lower = -INFINITY,
                        .upper = INFINITY};
  return TETHER_OK;
}

tether_status tether_sim_command_item(const tether_sim *sim, int index, tether_item *item) {
  if (!sim || !item) return TETHER_INVALID;
  const tt_model *model = tt_sim_model(sim->sim);
  if (index < 0 || index >= model->command_count) return TETHER_NOT_FOUND;
  const tt_command *command = &model->commands[index];
  *item = (tether_item){.name = tt_names_command(tt_sim_names(sim->sim), index),
                        .unit = tt_unit_si(command->dimension)->name,
                        .robot = library_robot_name(sim->sim, command->robot),
                        .lower = command->lower,
                        .upper = command->upper};
  return TETHER_OK;
}

/* With one robot its name may be left out. */
static int only_robot(const tether_sim *sim) {
  return tt_sim_model(sim->sim)->robot_count == 1 ? 0 : TT_NO_ROBOT;
}

tether_status library_find_unit(const char *name, const char *unit, tt_dimension dimension,
                                double *scale, tether_error *error) {
  *scale = 1;
  if (!unit) return TETHER_OK;
  const tt_unit *found = tt_unit_find(unit);
  if (found && found->dimension == dimension) {
    *scale = found->scale;
    return TETHER_OK;
  }
  return library_fail(error, TETHER_NOT_FOUND, "%s: '%s' is no unit of it; give one of %s", name,
                      unit, tt_unit_names(dimension));
}

tether_status library_check_find(const tether_sim *sim, const char *name,
                                 const tether_handle *handle, tether_error *error) {
  begin(error);
  if (!sim) return library_fail(error, TETHER_INVALID, "sim: NULL");
  if (!name) return library_fail(error, TETHER_INVALID, "name: NULL");
  if (!handle) return library_fail(error, TETHER_INVALID, "handle: NULL; give where to put it");
  return TETHER_OK;
}

/* The index of a signal in the list of all: it has no number of its own. */
static int index_of(const tether_sim *sim, const tt_signal *signal) {
  int count;
  const tt_signal_entry *entries = signals_of(sim, &count);
  for (int i = 0; i < count; i++) {
    const tt_signal *other = &entries[i].signal;
    if (other->source == signal->source && other->index == signal->index &&
        other->component == signal->component)
      return i;
  }
  return -1;
}

tether_status tether_signal_find(const tether_sim *sim, const char *name, const char *unit,
                                 tether_handle *handle, tether_error *error) {
  tt_error why = {.text = ""};
  tt_signal signal;
  tether_status status = library_check_find(sim, name, handle, error);
  if (status != TETHER_OK) return status;
  if (tt_names_find_signal(tt_sim_names(sim->sim), name, only_robot(sim), "signal", &signal,
                           &why) != TT_OK)
    return library_fail(error, TETHER_NOT_FOUND, "%s", why.text);
  int index = index_of(sim, &signal);
  if (index < 0) return library_fail(error, TETHER_NOT_FOUND, "%s: not a signal of its own", name);
  *handle = library_handle(sim, LIBRARY_SIGNAL, index);
  return library_find_unit(name, unit, signal.dimension, &handle->scale, error);
}

tether_status tether_command_find(const tether_sim *sim, const char *name, const char *unit,
                                  tether_handle *handle, tether_error *error) {
  tt_error why = {.text = ""};
  int command;
  tether_status status = library_check_find(sim, name, handle, error);
  if (status != TETHER_OK) return status;
  if (tt_names_find_command(tt_sim_names(sim->sim), name, only_robot(sim), "command", &command,
                            &why) != TT_OK)
    return library_fail(error, TETHER_NOT_FOUND, "%s", why.text);
  *handle = library_handle(sim, LIBRARY_COMMAND, command);
  return library_find_unit(name, unit, tt_sim_model(sim->sim)->commands[command].dimension,
                           &handle->scale, error);
}

static tether_status refuse_value(const tether_sim *sim, int command, double value,
                                  tether_error *error) {
  tether_item item;
  char unit[TT_UNIT_BEHIND];
  tether_sim_command_item(sim, command, &item);
  tt_unit_behind(tt_sim_model(sim->sim)->commands[command].dimension, unit);
  return library_fail(error, TETHER_INVALID, "%s: %g is out of its range; give %g to %g%s",
                      item.name, value, item.lower, item.upper, unit);
}

/* Resolves the handles of `io` into `submissions`. */
static tether_status gather(const tether_sim *sim, const tether_io *io, tt_submission *submissions,
                            tether_error *error) {
  const int known = tt_sim_model(sim->sim)->command_count;
  for (int i = 0; i < io->command_count; i++) {
    const tether_handle *handle = &io->commands[i];
    tether_status status =
        library_check_handle(sim, handle, LIBRARY_COMMAND, known, "commands", i, error);
    if (status != TETHER_OK) return status;
    submissions[i] = (tt_submission){(int)handle->index, io->command_values[i] * handle->scale};
  }
  return TETHER_OK;
}

/* For all commands of the scene there is room from the beginning. */
static bool make_room(tether_sim *sim, size_t count) {
  if (count <= sim->room) return true;
  tt_submission *grown = realloc(sim->submissions, count * sizeof *grown);
  if (!grown) return false;
  sim->submissions = grown;
  sim->room = count;
  return true;
}

tether_status library_apply(tether_sim *sim, const tether_io *ios, int io_count,
                            tether_error *error) {
  int count = 0, bad = 0;
  size_t all = 0;
  for (int i = 0; i < io_count; i++) all += (size_t)ios[i].command_count;
  if (all == 0) return TETHER_OK;
  if (all > MOST_AT_ONCE)
    return library_fail(error, TETHER_INVALID, "count: %zu commands are too many; give at most %d",
                        all, MOST_AT_ONCE);
  if (!make_room(sim, all)) return library_fail(error, TETHER_NO_MEMORY, "out of memory");
  tt_submission *submissions = sim->submissions;
  tether_status status = TETHER_OK;
  for (int i = 0; i < io_count && status == TETHER_OK; i++) {
    status = gather(sim, &ios[i], submissions + count, error);
    count += ios[i].command_count;
  }
  if (status == TETHER_OK && tt_sim_apply(sim->sim, "library", submissions, count, &bad) != TT_OK)
    status = refuse_value(sim, submissions[bad].command, submissions[bad].value, error);
  return status;
}

tether_status tether_sim_apply(tether_sim *sim, const tether_handle *commands, const double *values,
                               int count, tether_error *error) {
  tether_io io = {.commands = commands, .command_values = values, .command_count = count};
  ENTER(sim);
  if (count < 0 || (count > 0 && (!commands || !values)))
    return library_leave(
        sim, library_fail(error, TETHER_INVALID, "count: %d without arrays of it", count));
  return library_leave(sim, library_apply(sim, &io, 1, error));
}

tether_status library_read(const tether_sim *sim, const tether_handle *signals, double *values,
                           int count, tether_error *error) {
  int known;
  tether_status status = check_signals(sim, signals, count, error);
  if (status != TETHER_OK) return status;
  const tt_signal_entry *entries = signals_of(sim, &known);
  const tt_view *view = tt_sim_view(sim->sim);
  for (int i = 0; i < count; i++)
    values[i] = tt_signal_read(&entries[signals[i].index].signal, view) / signals[i].scale;
  return TETHER_OK;
}

tether_status tether_sim_read(const tether_sim *sim, const tether_handle *signals, double *values,
                              int count, tether_error *error) {
  begin(error);
  if (!sim) return library_fail(error, TETHER_INVALID, "sim: NULL");
  if (count < 0 || (count > 0 && (!signals || !values)))
    return library_fail(error, TETHER_INVALID, "count: %d without arrays of it", count);
  return library_read(sim, signals, values, count, error);
}

tether_status tether_sim_read_commands(const tether_sim *sim, const tether_handle *commands,
                                       double *values, int count, tether_error *error) {
  begin(error);
  if (!sim) return library_fail(error, TETHER_INVALID, "sim: NULL");
  if (count < 0 || (count > 0 && (!commands || !values)))
    return library_fail(error, TETHER_INVALID, "count: %d without arrays of it", count);
  const double *in_force = tt_sim_commands(sim->sim);
  const int known = tt_sim_model(sim->sim)->command_count;
  for (int i = 0; i < count; i++) {
    tether_status status =
        library_check_handle(sim, &commands[i], LIBRARY_COMMAND, known, "commands", i, error);
    if (status != TETHER_OK) return status;
    values[i] = in_force[commands[i].index] / commands[i].scale;
  }
  return TETHER_OK;
}

/* ---- bodies, joints, contacts ---- */

int tether_sim_body_count(const tether_sim *sim) {
  return sim ? tt_sim_model(sim->sim)->body_count : 0;
}

int tether_sim_joint_count(const tether_sim *sim) {
  return sim ? tt_sim_model(sim->sim)->joint_count : 0;
}

int tether_sim_contact_count(const tether_sim *sim) {
  return sim ? tt_sim_view(sim->sim)->contact_count : 0;
}

tether_status tether_sim_body(const tether_sim *sim, int index, tether_body *body) {
  if (!sim || !body) return TETHER_INVALID;
  const tt_view *view = tt_sim_view(sim->sim);
  if (index < 0 || index >= view->model->body_count) return TETHER_NOT_FOUND;
  const tt_body *from = &view->model->bodies[index];
  *body = (tether_body){.name = from->name,
                        .parent = from->parent,
                        .mass = from->mass,
                        .position = view->body_position[index],
                        .rotation = view->body_rotation[index],
                        .velocity = view->body_velocity[index],
                        .spin = view->body_spin[index]};
  return TETHER_OK;
}

tether_status tether_sim_joint(const tether_sim *sim, int index, tether_joint *joint) {
  if (!sim || !joint) return TETHER_INVALID;
  const tt_view *view = tt_sim_view(sim->sim);
  if (index < 0 || index >= view->model->joint_count) return TETHER_NOT_FOUND;
  const tt_joint *from = &view->model->joints[index];
  int axis = from->axis_count ? from->axis : 0;
  *joint = (tether_joint){.name = from->name,
                          .body = from->body,
                          .axis_count = from->axis_count,
                          .position = view->joint_position + axis,
                          .velocity = view->joint_velocity + axis,
                          .torque = view->joint_torque + axis,
                          .is_limited = from->limited,
                          .lower = from->lower,
                          .upper = from->upper};
  return TETHER_OK;
}

tether_status tether_sim_contact(const tether_sim *sim, int index, tether_contact *contact) {
  if (!sim || !contact) return TETHER_INVALID;
  const tt_view *view = tt_sim_view(sim->sim);
  if (index < 0 || index >= view->contact_count) return TETHER_NOT_FOUND;
  const tt_contact *from = &view->contacts[index];
  contact->body_a = from->body1;
  contact->body_b = from->body2;
  contact->depth = from->depth;
  memcpy(contact->position, from->position, sizeof contact->position);
  memcpy(contact->normal, from->normal, sizeof contact->normal);
  memcpy(contact->force, from->force, sizeof contact->force);
  return TETHER_OK;
}
