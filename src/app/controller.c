#include "app/controller.h"

#include "app/assemble.h"
#include "app/attach/attach.h"
#include "app/comparison.h"
#include "app/program.h"
#include "app/saved_world.h"
#include "app/versions.h"
#include "record/section.h"

#include <json-c/json.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LAST_WORDS 0.5 /* s: a program that saw the run through may say its last words */

/* A lock-step world would wait for ever for a program that is gone; what it had said still counts. */
static void on_end(void *world, tt_program_end end) {
  (void)end;
  tt_world_post(world, &(tt_mail){.kind = TT_MAIL_LEFT, .source = "verify"});
}

static tt_status start(const char *command, tt_world *world, tt_program **program,
                       tt_error *error) {
  char **environment = tt_program_environment(world, 0);
  if (!environment) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_program_options options = {.command = command,
                                .environment = (const char *const *)environment,
                                .ended = on_end,
                                .context = world};
  tt_status status = tt_program_start(&options, program, error);
  tt_program_environment_free(environment);
  return status;
}

/* Whether the kept run played a practice match, by which robots were enabled. */
static bool played_match(const tt_run_log *log) {
  tt_run_cursor cursor;
  if (!tt_run_cursor_open(&cursor, log)) return false;
  tt_run_cursor_seek(&cursor, 0);
  struct json_object *run = tt_run_cursor_json(&cursor, "/tether/run");
  bool played = json_object_get_boolean(json_object_object_get(run, "match"));
  json_object_put(run);
  tt_run_cursor_close(&cursor);
  return played;
}

/* Runs the scene with the program, from where the kept run began; the scene's own settings say where its log goes. */
static tt_status run(const char *command, const tt_scene *scene, const tt_run_log *from,
                     tt_error *error) {
  tt_assembly assembly = {.hash_every_tick = true, .plays_match = played_match(from)};
  tt_scene_options options = {.scene = scene->path, .no_web = true};
  tt_world *world;
  tt_program *program = NULL;
  void *recorder = NULL;
  TT_TRY(tt_assemble(scene, &assembly, &world, error));
  tt_run_reference kept = {.id = ""};
  tt_attach_context context = {
      .scene = scene, .options = &options, .world = world, .run = &kept, .unlisted = true};
  tt_status status = tt_saved_world_begin(world, from, error);
  if (status == TT_OK) status = tt_record_attachment.open(&context, &recorder, error);
  if (status == TT_OK) status = start(command, world, &program, error);
  if (status == TT_OK) status = tt_world_run(world, error);
  tt_program_stop(program, LAST_WORDS);
  tt_program_free(program);
  tt_world_detach(world);
  if (recorder) tt_record_attachment.close(recorder);
  tt_world_free(world);
  return status;
}

/* Where what computed the kept run is another by now, its world differs whatever the program does. */
static void name_versions(const tt_run_log *kept, tt_error *error) {
  char versions[400], differs[sizeof error->text];
  if (!tt_versions_differ(kept, versions, sizeof versions)) return;
  snprintf(differs, sizeof differs, "%s", error->text);
  tt_fail(error, TT_DIFFERS, "%.600s; that may be for another reason than the program: %s", differs,
          versions);
}

static tt_status compare(const tt_controller_check *check, const tt_run_log *kept, const char *path,
                         double tick, tt_error *error) {
  tt_run_log *made;
  TT_TRY(tt_run_log_open(path, &made, error));
  double wanted = (double)tt_run_log_duration(kept) / 1e6;
  double lasted = (double)tt_run_log_duration(made) / 1e6;
  tt_status status =
      lasted < wanted - 1.5 * tick
          ? tt_fail(error, TT_DIFFERS, "the program ended after %.3f of %.3f s", lasted, wanted)
          : tt_comparison_say(kept, made, check->tolerances, check->tolerance_count, error);
  tt_run_log_close(made);
  if (status == TT_DIFFERS) name_versions(kept, error);
  return status;
}

tt_status tt_check_controller(const tt_controller_check *check, const tt_scene *scene,
                              const tt_run_log *kept, tt_error *error) {
  const tt_record_keys *record = tt_scene_section(scene, "record", NULL);
  double tick = (double)scene->io_steps * (double)scene->timestep_num / (double)scene->timestep_den;
  if (tt_run_log_duration(kept) == 0)
    return tt_fail(error, TT_INVALID,
                   "the kept run ended before its first step, so that any program would do the "
                   "same; keep one in which the program drives");
  TT_TRY(run(check->command, scene, kept, error));
  return compare(check, kept, record->file, tick, error);
}
