/* run.c: `tether run`: a scene until its duration, a signal, or trouble. */
#include "app/guests.h"
#include "app/assemble.h"
#include "app/attach/attach.h"
#include "app/choice.h"
#include "app/commands/command.h"
#include "app/drive.h"
#include "app/options.h"
#include "app/run_worlds.h"
#include "app/saved_world.h"
#include "base/log.h"
#include "host/game_keys.h"
#include "record/section.h"

#include <stdlib.h>
#include <string.h>

/* s between the last message of a scene and the first of the next, on the time of wires that go on: a float32 can tell
 * it for months. */
#define BETWEEN_SCENES 1.0

/* A world that stands, and what hangs on it. */
typedef struct standing {
  tt_world *world;
  tt_attached *attached;
  void *state; /* that it starts from; NULL: the scene's own */
} standing;

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

static tt_status attach(standing *now, const tt_scene *scene, tt_scene_choice *choice,
                        tt_error *error) {
  const tt_scene_options *options = choice->options;
  tt_attach_context context = {
      .scene = scene, .options = options, .world = now->world, .choice = choice};
  if (options->from_state)
    TT_TRY(tt_saved_world_read(options->from_state, now->world, &now->state,
                               &context.initial_state_size, error));
  context.initial_state = now->state;
  return tt_attach_all(&context, &now->attached, error);
}

static void say_what_is_replaced(const tt_scene *scene) {
  for (const char *const *line = scene->replaced; *line; line++) tt_log_info("%s", *line);
}

/* Stands whole, or not at all. */
static tt_status open_scene(standing *now, const tt_scene *scene, tt_scene_choice *choice,
                            tt_error *error) {
  const tt_record_keys *record = tt_scene_section(scene, "record", NULL);
  tt_assembly assembly = {.hash_every_tick = *record->on,
                          .plays_match = choice->options->plays_match,
                          .time_before = choice->time_before};
  *now = (standing){0};
  say_what_is_replaced(scene);
  say_who_is_disabled(scene, choice->options);
  TT_TRY(tt_assemble(scene, &assembly, &now->world, error));
  tt_status status = attach(now, scene, choice, error);
  if (status != TT_OK) close_scene(now);
  return status;
}

static tt_status drive_scene(standing *now, tt_scene_choice *choice, tt_error *error) {
  tt_scene_choice_watch(choice, now->world);
  tt_status status = tt_drive_world(now->world, now->attached, error);
  tt_scene_choice_watch(choice, NULL);
  const tt_view *last = tt_world_view(now->world);
  choice->time_before += tt_model_time(last->model, last->total_step) + BETWEEN_SCENES;
  if (status == TT_OK && choice->options->save_state)
    status = tt_saved_world_write(choice->options->save_state, now->world, error);
  return status;
}

/* `*scene` stays as it is unless all goes well. */
static tt_status open_named(standing *now, tt_scene **scene, tt_scene_choice *choice,
                            const char *name, tt_error *error) {
  tt_scene *loaded = NULL;
  tt_status status = tt_scene_choice_load(choice, name, &loaded, error);
  if (status == TT_OK) status = open_scene(now, loaded, choice, error);
  tt_scene *unneeded = status == TT_OK ? *scene : loaded;
  if (status == TT_OK) *scene = loaded;
  tt_scene_free(unneeded);
  return status;
}

/* One scene after another, as long as somebody chooses the next in the pages. One that can't be opened (a port in use)
 * is told to the pages, and the scene before it begins anew. */
static tt_status run_scenes(tt_scene **scene, const tt_scene_options *options, tt_error *error) {
  tt_scene_choice choice;
  standing now;
  char present[TT_SCENE_NAME] = "", chosen[TT_SCENE_NAME]; /* "": as the command line says */
  tt_scene_choice_init(&choice, options);
  TT_TRY(open_scene(&now, *scene, &choice, error));
  for (;;) {
    tt_error why;
    tt_status status = drive_scene(&now, &choice, error);
    close_scene(&now);
    if (status != TT_OK || tt_stop_asked() || !tt_scene_choice_take(&choice, chosen)) return status;
    if (open_named(&now, scene, &choice, chosen, &why) == TT_OK) {
      memcpy(present, chosen, sizeof present);
      continue;
    }
    const char *before = *present ? present : options->scene;
    tt_log_warning("%s cannot be opened, %s goes on: %s", chosen, before, why.text);
    tt_scene_choice_refuse(&choice, chosen, &why);
    TT_TRY(open_named(&now, scene, &choice, before, error));
  }
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

static tt_status run(int argc, char **argv, tt_error *error) {
  tt_scene_options options;
  tt_scene *scene = NULL;
  tt_catch_signals();
  tt_status status = tt_scene_options_parse(argc, argv, &options, error);
  if (status == TT_OK)
    status = tt_scene_load(&tt_program_guests, options.scene, options.settings,
                           options.setting_count, &scene, error);
  if (status == TT_OK) {
    tt_log_start();
    if (*options.unused)
      tt_log_info("%s: these keys mean nothing here: %s", options.robot_config, options.unused);
    status = tt_runs_worlds(scene) ? run_worlds(scene, &options, error)
                                   : run_scenes(&scene, &options, error);
    tt_log_stop();
  }
  tt_scene_free(scene);
  tt_scene_options_free(&options);
  return status;
}

const tt_app_command tt_app_run = {
    "run",
    "SCENE [options]",
    "Runs a scene until it is stopped (Ctrl-C) or its duration is over",
    tt_scene_options_help,
    run,
};
