/* run.c: `tether run`: a scene until its duration, a signal, or trouble. */
#include "app/assemble.h"
#include "app/attach.h"
#include "app/choice.h"
#include "app/command.h"
#include "app/drive.h"
#include "app/options.h"
#include "app/run_worlds.h"
#include "core/log.h"
#include "record/section.h"
#include "record/state_file.h"

#include <stdlib.h>

static tt_status run_scene(const tt_scene *scene, const tt_scene_options *options,
                           tt_scene_choice *choice, tt_error *error) {
  const tt_record_keys *record = tt_scene_section(scene, "record", NULL);
  tt_assembly assembly = {.hash_every_tick = *record->on};
  tt_world *world;
  tt_attached *attached = NULL;
  void *state = NULL;
  TT_TRY(tt_assemble(scene, &assembly, &world, error));
  tt_attach_context context = {
      .scene = scene, .options = options, .world = world, .choice = choice};
  tt_status status = TT_OK;
  if (options->from_state)
    status =
        tt_state_file_read(options->from_state, world, &state, &context.initial_state_size, error);
  context.initial_state = state;
  if (status == TT_OK) status = tt_attach_all(&context, &attached, error);
  tt_scene_choice_watch(choice, world);
  if (status == TT_OK) status = tt_drive_world(world, attached, error);
  tt_scene_choice_watch(choice, NULL);
  if (status == TT_OK && options->save_state)
    status = tt_state_file_write(options->save_state, world, error);
  tt_attached_close(attached);
  tt_world_free(world);
  free(state);
  return status;
}

/* One scene after another, as long as somebody chooses the next in the pages. */
static tt_status run_scenes(tt_scene **scene, const tt_scene_options *options, tt_error *error) {
  tt_scene_choice choice;
  tt_scene_choice_init(&choice, options);
  for (;;) {
    tt_scene *next = NULL;
    TT_TRY(run_scene(*scene, options, &choice, error));
    if (tt_stop_asked()) return TT_OK;
    TT_TRY(tt_scene_choice_load(&choice, &next, error));
    if (!next) return TT_OK;
    tt_scene_free(*scene);
    *scene = next;
  }
}

static tt_status run_worlds(const tt_scene *scene, const tt_scene_options *options,
                            tt_error *error) {
  if (options->from_state || options->save_state)
    return tt_fail(
        error, TT_USAGE,
        "worlds: per-connection has many worlds: their states are neither read nor written");
  return tt_run_worlds(scene, tt_stop_asked, error);
}

static tt_status run(int argc, char **argv, tt_error *error) {
  tt_scene_options options;
  tt_scene *scene = NULL;
  tt_catch_signals();
  tt_status status = tt_scene_options_parse(argc, argv, &options, error);
  if (status == TT_OK)
    status = tt_scene_load(options.scene, options.settings, options.setting_count, &scene, error);
  if (status == TT_OK) {
    tt_log_start();
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
