/* run.c: `tether run`: a scene until its duration, a signal, or trouble. */
#include "app/guests.h"
#include "app/assemble.h"
#include "app/attach/attach.h"
#include "app/choice.h"
#include "app/commands/command.h"
#include "app/drive.h"
#include "app/forks.h"
#include "app/log_argument.h"
#include "app/options.h"
#include "app/progress.h"
#include "app/run_worlds.h"
#include "app/saved_world.h"
#include "base/log.h"
#include "host/game_keys.h"
#include "model/unit.h"
#include "record/section.h"
#include "record/state_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* s between the last message of a scene and the first of the next, on the time of wires that go on: a float32 can tell
 * it for months. */
#define BETWEEN_SCENES 1.0

/* A world that stands, and what hangs on it. */
typedef struct standing {
  tt_scene_options options; /* of this scene */
  tt_world *world;
  tt_attached *attached;
  void *state; /* that it starts from; NULL: the scene's own */
} standing;

/* What is run: a scene by its name, or the one that a kept run goes on with. */
typedef struct chosen {
  char name[TT_SCENE_NAME];
  bool administers; /* who chose it */
  tt_fork *fork;    /* owned; NULL: the scene begins at its beginning */
} chosen;

static void close_scene(standing *now) {
  tt_attached_close(now->attached);
  tt_world_free(now->world);
  free(now->state);
  *now = (standing){0};
}

/* Nobody should wonder why nothing moves. */
static void say_who_is_disabled(const tt_scene *scene, const tt_scene_options *options) {
  const tt_game_keys *game = tt_scene_section(scene, "game", NULL);
  if (game->begins == TT_START_DISABLED && !options->plays_match)
    tt_log_info("robots begin disabled: the page Drive enables them; --match plays a match");
}

/* The state that the world has was there when the run was to be over: it would make no step. */
static tt_status check_duration(const standing *now, const tt_scene *scene, const tt_fork *fork,
                                tt_error *error) {
  const tt_view *view = tt_world_view(now->world);
  double time = tt_model_time(view->model, view->total_step);
  if (scene->duration <= 0 || time < scene->duration - 1e-9) return TT_OK;
  return tt_fail(error, TT_USAGE,
                 "%s: goes on at %.3f s, when a duration of %g s is over; give a --duration above "
                 "%.3f, as simulated time counts on",
                 fork ? tt_fork_run(fork) : now->options.from_state, time, scene->duration, time);
}

static tt_status attach(standing *now, const tt_scene *scene, const tt_fork *fork,
                        tt_scene_choice *choice, tt_error *error) {
  const tt_scene_options *options = &now->options;
  tt_attach_context context = {
      .scene = scene, .options = options, .world = now->world, .fork = fork, .choice = choice};
  if (options->from_state) {
    TT_TRY(tt_saved_world_read(options->from_state, now->world, &now->state,
                               &context.initial_state_size, error));
    TT_TRY(check_duration(now, scene, fork, error));
  }
  context.initial_state = now->state;
  return tt_attach_all(&context, &now->attached, error);
}

static void say_what_is_replaced(const tt_scene *scene) {
  for (const char *const *line = scene->replaced; *line; line++) tt_log_info("%s", *line);
}

/* A fork has the settings of the run that goes on, and its state. */
static tt_scene_options options_of(const tt_scene_choice *choice, const tt_fork *fork) {
  tt_scene_options options = *choice->options;
  if (!fork) return options;
  options.settings = (const char **)tt_fork_settings(fork, &options.setting_count);
  options.from_state = tt_fork_state(fork);
  options.plays_match = false;
  return options;
}

/* Stands whole, or not at all. */
static tt_status open_scene(standing *now, const tt_scene *scene, const tt_fork *fork,
                            tt_scene_choice *choice, tt_error *error) {
  const tt_record_keys *record = tt_scene_section(scene, "record", NULL);
  tt_assembly assembly = {.hash_every_tick = *record->on,
                          .plays_match = choice->options->plays_match && !fork,
                          .time_before = choice->time_before};
  *now = (standing){.options = options_of(choice, fork)};
  say_what_is_replaced(scene);
  say_who_is_disabled(scene, &now->options);
  TT_TRY(tt_assemble(scene, &assembly, &now->world, error));
  tt_status status = attach(now, scene, fork, choice, error);
  if (status != TT_OK) close_scene(now);
  return status;
}

static tt_status drive_scene(standing *now, const tt_scene *scene, tt_scene_choice *choice,
                             tt_error *error) {
  tt_scene_choice_watch(choice, now->world, scene->path);
  tt_status status = tt_drive_world(now->world, now->attached, error);
  tt_scene_choice_watch(choice, NULL, NULL);
  const tt_view *last = tt_world_view(now->world);
  choice->time_before += tt_model_time(last->model, last->total_step) + BETWEEN_SCENES;
  if (status != TT_OK || !choice->options->save_state) return status;
  tt_world_apply_resets(now->world); /* a client left in the moment of the end */
  return tt_saved_world_write(choice->options->save_state, now->world, error);
}

/* `*scene` stays as it is unless all goes well. */
static tt_status open_chosen(standing *now, tt_scene **scene, tt_scene_choice *choice,
                             const chosen *next, tt_error *error) {
  tt_scene *loaded = NULL;
  bool denied;
  tt_status status = next->fork ? tt_scene_choice_load_fork(choice, next->fork, &loaded, error)
                                : tt_scene_choice_load(choice, next->name, next->administers,
                                                       &denied, &loaded, error);
  if (status == TT_OK) status = open_scene(now, loaded, next->fork, choice, error);
  tt_scene *unneeded = status == TT_OK ? *scene : loaded;
  if (status == TT_OK) *scene = loaded;
  tt_scene_free(unneeded);
  return status;
}

/* The first one is kept. */
static void replace(chosen *present, const chosen *first, const chosen *next) {
  if (present->fork != first->fork) tt_fork_free(present->fork);
  *present = *next;
}

/* The scene before begins anew as it was loaded, whatever its file says by now. Where its models have gone, too, the one that the
 * program was started with does. */
static tt_status go_back(standing *now, tt_scene **scene, tt_scene_choice *choice, chosen *present,
                         const chosen *first, tt_error *error) {
  tt_error why;
  if (open_scene(now, *scene, present->fork, choice, &why) == TT_OK) return TT_OK;
  tt_log_warning("%s cannot begin anew, %s does: %s", present->name, first->name, why.text);
  TT_TRY(open_chosen(now, scene, choice, first, error));
  replace(present, first, first);
  return TT_OK;
}

/* One scene after another, as long as somebody chooses the next in the pages. One that can't be opened (a port in use)
 * is told to the pages, and the scene before it begins anew. */
static tt_status run_chosen(tt_scene **scene, tt_scene_choice *choice, const chosen *first,
                            chosen *present, tt_error *error) {
  standing now;
  TT_TRY(open_scene(&now, *scene, present->fork, choice, error));
  for (;;) {
    chosen next;
    tt_error why;
    tt_status status = drive_scene(&now, *scene, choice, error);
    close_scene(&now);
    if (status != TT_OK || tt_stop_asked() ||
        !tt_scene_choice_take(choice, next.name, &next.administers, &next.fork))
      return status;
    if (open_chosen(&now, scene, choice, &next, &why) == TT_OK) {
      replace(present, first, &next);
      continue;
    }
    tt_log_warning("%s cannot be opened, %s goes on: %s", next.name, present->name, why.text);
    tt_scene_choice_refuse(choice, next.name, &why);
    tt_fork_free(next.fork);
    TT_TRY(go_back(&now, scene, choice, present, first, error));
  }
}

/* `fork` is taken over; NULL: `*scene` begins at its beginning. */
static tt_status run_scenes(tt_scene **scene, const tt_scene_options *options, tt_fork *fork,
                            tt_error *error) {
  static tt_scene_choice choice;
  chosen first = {.administers = true, .fork = fork};
  snprintf(first.name, sizeof first.name, "%s", fork ? tt_fork_scene(fork) : options->scene);
  chosen present = first;
  tt_scene_choice_init(&choice, options);
  tt_status status = tt_scene_choice_keep_web(&choice, *scene, error);
  if (status == TT_OK) status = tt_forks_new(&choice, &choice.forks, error);
  if (status == TT_OK) status = run_chosen(scene, &choice, &first, &present, error);
  tt_forks_close(choice.forks);
  tt_fork_free(choice.fork);
  replace(&present, &first, &first);
  tt_fork_free(first.fork);
  return status;
}

static tt_status run_worlds(const tt_scene *scene, const tt_scene_options *options,
                            tt_error *error) {
  if (options->from_state || options->save_state)
    return tt_fail(
        error, TT_USAGE,
        "worlds: per-connection has many worlds: their states are neither read nor written");
  if (options->plays_match)
    return tt_fail(error, TT_USAGE,
                   "worlds: per-connection has many worlds, and no match that all of them play; "
                   "leave --match out");
  say_what_is_replaced(scene);
  return tt_run_worlds(scene, tt_stop_asked, error);
}

static void show_rerun(void *context, double done) { tt_progress_show(context, done); }

/* LOG@SECONDS: its inputs are run again up to there. */
static tt_status make_fork(const tt_scene_options *options, tt_fork **fork, tt_error *error) {
  char given[PATH_MAX], path[PATH_MAX];
  double time;
  snprintf(given, sizeof given, "%s", options->from);
  char *at = strrchr(given, '@');
  if (!at || !tt_quantity_parse(at + 1, TT_TIME, &time))
    return tt_fail(error, TT_USAGE, "--from %s: give LOG@SECONDS, as in drive.wpilog@12.5", given);
  *at = 0;
  TT_TRY(tt_log_argument_path(given, path, sizeof path, error));
  TT_TRY(tt_fork_new(path, time, options->settings, options->setting_count, fork, error));
  if (options->no_web) return TT_OK;
  return tt_log_argument_check_token(tt_fork_lacks_token(*fork), options->settings,
                                     options->setting_count, error);
}

static tt_status compute(tt_fork *fork, tt_error *error) {
  tt_progress progress = tt_progress_start("run");
  tt_status status = tt_fork_compute(fork, tt_fork_state(fork), show_rerun, &progress, error);
  tt_progress_end(&progress);
  return status;
}

/* Who names a file wants the run in it. */
static tt_status check_record(const tt_scene_options *options, const tt_scene *scene,
                              tt_error *error) {
  const tt_record_keys *keys = tt_scene_section(scene, "record", NULL);
  if (!options->record) return TT_OK;
  if (!*keys->on)
    return tt_fail(error, TT_USAGE,
                   "--record %s: record.on is off, so nothing would be kept there; leave one of "
                   "them out, or give --set record.on=on",
                   options->record);
  if (tt_runs_worlds(scene))
    return tt_fail(error, TT_USAGE,
                   "--record %s: worlds: per-connection has many worlds, none of which is kept; "
                   "leave --record out",
                   options->record);
  return TT_OK;
}

static tt_status load(const tt_scene_options *options, tt_fork **fork, tt_scene **scene,
                      tt_error *error) {
  if (options->from) {
    TT_TRY(make_fork(options, fork, error));
    TT_TRY(tt_fork_load(*fork, NULL, 0, scene, error));
  } else {
    TT_TRY(tt_scene_load(&tt_program_guests, options->scene, options->settings,
                         options->setting_count, scene, error));
  }
  TT_TRY(check_record(options, *scene, error));
  return *fork ? compute(*fork, error) : TT_OK;
}

static tt_status run(int argc, char **argv, tt_error *error) {
  static tt_scene_options options; /* as long as the choice, which has it */
  tt_scene *scene = NULL;
  tt_fork *fork = NULL;
  tt_catch_signals();
  tt_status status = tt_scene_options_parse(argc, argv, &options, error);
  if (status == TT_OK && options.save_state)
    status = tt_state_file_check(options.save_state, error);
  if (status == TT_OK) status = load(&options, &fork, &scene, error);
  if (status == TT_OK) {
    tt_log_start();
    if (*options.unused)
      tt_log_info("%s: these keys mean nothing here: %s", options.robot_config, options.unused);
    if (!options.scene) options.scene = options.from;
    status = tt_runs_worlds(scene) ? run_worlds(scene, &options, error)
                                   : run_scenes(&scene, &options, fork, error);
    if (!tt_runs_worlds(scene)) fork = NULL;
    tt_log_stop();
  }
  tt_fork_free(fork);
  tt_scene_free(scene);
  return status;
}

const tt_app_command tt_app_run = {
    "run",
    "SCENE [options]",
    "Runs a scene until it is stopped (Ctrl-C) or its duration is over",
    tt_scene_options_help,
    run,
};
