/* record.c: a simulation's run in a file, as `tether run` keeps it. See include/tether/tether.h. */
#include "library/library.h"

#include "record/describe.h"
#include "record/recorder.h"
#include "scene/scene_files.h"
#include "scene/scene_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USUAL_PERIOD 0.01  /* s, as a scene's record.period */
#define LONGEST_PERIOD 1e6 /* s */

/* ---- what the log begins with ---- */

/* The scene's own but for chance, and for the length of a tick, which is each call's. */
static char *describe_run(const tether_sim *sim, const char *id, bool hid) {
  const tether_scene *scene = sim->scene;
  char seed[40];
  size_t count = (size_t)scene->setting_count;
  const char **settings = calloc(count + 1, sizeof *settings);
  if (!settings) return NULL;
  for (size_t i = 0; i < count; i++) settings[i] = scene->settings[i];
  snprintf(seed, sizeof seed, "seed=%llu", (unsigned long long)sim->seed);
  settings[count] = seed;
  struct json_object *run = tt_scene_describe_run(scene->scene, settings, (int)count + 1, id);
  free(settings);
  if (!run) return NULL;
  tt_json_add_uint(run, "seed", sim->seed);
  tt_json_add_int(run, "io_steps", 0);
  if (hid) tt_scene_run_lacks_token(run);
  char *text = strdup(json_object_to_json_string_ext(run, JSON_C_TO_STRING_PLAIN));
  json_object_put(run);
  return text;
}

/* What the recorder is given, for as long as it opens. */
typedef struct opening {
  tt_scene_files files;
  char *run, *model;
  void *state;
} opening;

static tt_status gather(tether_sim *sim, opening *of, tt_error *why) {
  char id[33];
  tt_sim_count_anew(sim->sim);
  const char *file = sim->scene->scene->path;
  if (access(file, R_OK) != 0)
    return tt_fail(
        why, TT_INVALID,
        "%s: the scene's file can't be read any more: %s; a log keeps it. If the current "
        "folder changed since, load the scene by an absolute path",
        file, strerror(errno));
  TT_TRY(tt_run_id_new(id, why));
  TT_TRY(tt_scene_files_read(sim->scene->scene, &of->files, why));
  TT_TRY(library_check_origin(sim->scene, &of->files, why));
  const bool hid = tt_scene_files_hide(&of->files, sim->scene->scene);
  of->run = describe_run(sim, id, hid);
  of->model = tt_describe_sim(sim->sim, NULL);
  const size_t size = tt_sim_state_size(sim->sim);
  of->state = malloc(size);
  if (!of->run || !of->model || !of->state) return tt_fail(why, TT_NOMEM, "out of memory");
  tt_sim_save(sim->sim, of->state);
  /* What is looked at first is what that state shows, with commands that were applied since the last step. */
  const tt_status status = tt_sim_restore(sim->sim, of->state, size, NULL);
  return status == TT_OK ? TT_OK : tt_fail(why, status, "%s", tt_status_text(status));
}

static tt_status open_recorder(tether_sim *sim, const char *path,
                               const tether_record_options *chosen, const opening *of,
                               tt_error *why) {
  const tt_model *model = tt_sim_model(sim->sim);
  const tt_scenery *scenery = tt_sim_scenery(sim->sim);
  const tt_scene *scene = sim->scene->scene;
  tt_recorder_options options = {
      .path = path,
      .run = of->run,
      .model = of->model,
      .meshes = scenery->meshes,
      .mesh_count = scenery->mesh_count,
      .files = of->files.files,
      .file_count = of->files.count,
      .initial_state = of->state,
      .initial_state_size = tt_sim_state_size(sim->sim),
      .field = scene->field,
      .placed = !scene->dynamics,
      .period_steps = (uint64_t)llround(chosen->period / tt_model_timestep(model)),
      .size_cap = chosen->most_bytes,
      .realtime = chosen->never_wait != 0};
  return tt_recorder_open(&options, model, tt_sim_names(sim->sim), &sim->recorder, why);
}

static tt_status begin_record(tether_sim *sim, const char *path,
                              const tether_record_options *chosen, tt_error *why) {
  opening of = {.run = NULL};
  tt_status status = gather(sim, &of, why);
  if (status == TT_OK) status = open_recorder(sim, path, chosen, &of, why);
  tt_scene_files_free(&of.files);
  free(of.run);
  free(of.model);
  free(of.state);
  TT_TRY(status);
  sim->recorded_by = getpid();
  tt_sim_add_journal(sim->sim, tt_recorder_journal(sim->recorder)); /* its only one */
  library_tell(sim);
  return TT_OK;
}

/* ---- the public functions ---- */

static tether_status check(const tether_sim *sim, const char *path,
                           const tether_record_options *options, tether_error *error) {
  if (!path || !*path)
    return library_fail(error, TETHER_INVALID, "path: NULL or empty; name a file");
  if (sim->recorder)
    return library_fail(error, TETHER_INVALID,
                        "sim: it is being recorded already; tether_sim_record_end() ends that");
  if (sim->failed == TETHER_FAILED)
    return library_fail(error, TETHER_FAILED, "the simulation failed before: reset or restore it");
  if (options->size != sizeof *options)
    return library_fail(error, TETHER_INVALID,
                        "options.size: %zu; give sizeof(tether_record_options), %zu", options->size,
                        sizeof *options);
  if (!(options->period >= 0 && options->period <= LONGEST_PERIOD))
    return library_fail(error, TETHER_INVALID, "options.period: %g; give 0 to %g s",
                        options->period, LONGEST_PERIOD);
  return TETHER_OK;
}

tether_status tether_sim_record(tether_sim *sim, const char *path,
                                const tether_record_options *options, tether_error *error) {
  static const tether_record_options usual = {.size = sizeof usual, .period = USUAL_PERIOD};
  tt_error why = {.text = ""};
  if (!options) options = &usual;
  tether_status status = library_enter(sim, error);
  if (status != TETHER_OK) return status;
  status = check(sim, path, options, error);
  if (status == TETHER_OK)
    status = library_finish(begin_record(sim, path, options, &why), &why, error);
  return library_leave(sim, status);
}

tether_status tether_sim_record_end(tether_sim *sim, tether_error *error) {
  tt_error why = {.text = ""};
  tether_status status = library_enter(sim, error);
  if (status != TETHER_OK) return status;
  status = sim->recorder ? library_finish(library_end_record(sim, &why), &why, error)
                         : library_fail(error, TETHER_NOT_FOUND, "sim: it is not being recorded");
  return library_leave(sim, status);
}

tether_status tether_sim_recording(const tether_sim *sim, tether_error *error) {
  tt_error why = {.text = ""};
  library_begin(error);
  if (!sim) return library_fail(error, TETHER_INVALID, "sim: NULL");
  if (!sim->recorder || sim->recorded_by != getpid())
    return library_fail(error, TETHER_NOT_FOUND, "sim: it is not being recorded");
  return library_finish(tt_recorder_trouble(sim->recorder, &why), &why, error);
}
