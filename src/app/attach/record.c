/* record.c: the recorder of a running scene: where the log goes, and what a replay needs besides. */
#include "app/attach/attach.h"
#include "app/floor_lines.h"
#include "app/state_folder.h"
#include "scene/scene_files.h"
#include "scene/scene_run.h"
#include "base/json.h"
#include "base/log.h"
#include "record/describe.h"
#include "record/run_folder.h"
#include "record/run_picture.h"
#include "record/recorder.h"
#include "record/section.h"
#include "telemetry/service.h"

#include <json-c/json.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_DRAWN                                                                                 \
  10000000 /* bytes of a log whose picture is made when the run ends: a quarter of a second */

/* Where the run's telemetry goes, or NULL; without the user, password and options of a database's URL. */
static struct json_object *describe_store(const tt_scene *scene) {
  bool given;
  const tt_telemetry_keys *keys = tt_scene_section(scene, "telemetry", &given);
  const char *store = given ? keys->store : NULL;
  if (!store) return NULL;
  char text[1200];
  tt_store_print_url(store, text, sizeof text);
  return json_object_new_string(text);
}

/* The run that this one goes on from, or NULL. */
static struct json_object *describe_parent(const tt_fork *fork) {
  struct json_object *made = fork ? json_object_new_object() : NULL;
  if (!made) return NULL;
  tt_json_add_text(made, "run", tt_fork_run_id(fork));
  tt_json_add_text(made, "name", tt_fork_run(fork));
  tt_json_add_double(made, "time", tt_fork_time(fork));
  return made;
}

/* What a reader wants to know first; and what makes the scene again. */
static char *describe_run(const tt_attach_context *context, bool hid) {
  const tt_scene_options *options = context->options;
  struct json_object *run = tt_scene_describe_run(context->scene, options->settings,
                                                  options->setting_count, context->run->id);
  if (!run) return NULL;
  tt_json_add(run, "telemetry", describe_store(context->scene));
  tt_json_add(run, "from", describe_parent(context->fork));
  if (options->plays_match) tt_json_add_bool(run, "match", true);
  if (hid || (context->fork && tt_fork_lacks_token(context->fork))) tt_scene_run_lacks_token(run);
  char *text = strdup(json_object_to_json_string_ext(run, JSON_C_TO_STRING_PLAIN));
  json_object_put(run);
  return text;
}

/* What passed over a wire. */
static struct json_object *count_wire(tt_world *world, int index) {
  tt_wire_stats stats;
  tt_wire_state state;
  tt_world_get_wire(world, index, &stats, &state);
  struct json_object *made = json_object_new_object();
  struct json_object *dropped = json_object_new_object();
  const struct {
    const char *key;
    uint64_t count;
  } counts[] = {{"received", stats.received},
                {"accepted", stats.accepted},
                {"sent", stats.sent},
                {"send_failed", stats.send_failed},
                {"late", stats.late},
                {"repeated", stats.repeated},
                {"watchdog_trips", stats.watchdog_trips}};
  const char *name = tt_world_wire_at(world, index)->name;
  tt_json_add_text(made, "name", name);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    tt_json_add_uint(made, counts[i].key, counts[i].count);
  for (int i = 0; i < TT_DROP_COUNT; i++)
    if (stats.dropped[i])
      tt_json_add(dropped, tt_drop_text((tt_drop)i),
                  json_object_new_int64((int64_t)stats.dropped[i]));
  tt_json_add(made, "dropped", dropped);
  return made;
}

/* The run that is being kept. */
typedef struct kept_run {
  tt_world *world;
  char list[1024]; /* folder whose list has the run; "": none */
  char file[PATH_MAX];
  tt_recorder *recorder; /* NULL: the disk is full, nothing is kept */
  tt_error full;         /* then: what was said of it */
  char folder[1024];     /* in which it takes room; "": none of ours */
  uint64_t keep, most,
      seen; /* runs; bytes of the folder; bytes of the run when room was made last */
} kept_run;

/* The recorder's thread asks. */
static char *count_run(void *context) {
  tt_world *world = ((kept_run *)context)->world;
  tt_world_status status;
  tt_world_get_status(world, &status);
  struct json_object *made = json_object_new_object();
  struct json_object *wires = json_object_new_array();
  tt_json_add_uint(made, "late_ticks", status.late_ticks);
  for (int i = 0; i < tt_world_wire_count(world); i++)
    json_object_array_add(wires, count_wire(world, i));
  tt_json_add(made, "wires", wires);
  char *text = strdup(json_object_to_json_string_ext(made, JSON_C_TO_STRING_PLAIN));
  json_object_put(made);
  return text;
}

/* The recorder's thread tells. The folder is looked at where the run took another hundredth of it. */
static void make_room(void *context, uint64_t bytes) {
  kept_run *run = context;
  if (!*run->folder || bytes - run->seen < run->most / 100) return;
  run->seen = bytes;
  tt_kept_runs_make_room(run->folder, run->keep, run->most);
}

static tt_status open_recorder(const tt_attach_context *context, const tt_record_keys *keys,
                               const char *path, kept_run *kept, tt_error *error) {
  const tt_scene *scene = context->scene;
  tt_scene_files files;
  TT_TRY(tt_scene_files_read(scene, &files, error));
  const bool hid = tt_scene_files_hide(&files, scene);
  char *run = describe_run(context, hid);
  tt_floor_line *lines = tt_floor_lines_of(scene);
  tt_floor floor = tt_floor_of(scene, lines);
  char *model = tt_describe_sim(tt_world_sim(context->world), &floor);
  const tt_scenery *scenery = tt_world_scenery(context->world);
  double timestep = tt_model_timestep(tt_world_model(context->world));
  tt_recorder_options options = {.path = path,
                                 .run = run ? run : "{}",
                                 .model = model,
                                 .meshes = scenery->meshes,
                                 .mesh_count = scenery->mesh_count,
                                 .initial_state = context->initial_state,
                                 .initial_state_size = context->initial_state_size,
                                 .statistics = count_run,
                                 .grew = make_room,
                                 .statistics_context = kept,
                                 .files = files.files,
                                 .file_count = files.count,
                                 .field = scene->field,
                                 .placed = !scene->dynamics,
                                 .period_steps = (uint64_t)llround(keys->period_seconds / timestep),
                                 .size_cap = keys->megabytes * 1000000u,
                                 .realtime = scene->pace == TT_PACE_REALTIME};
  tt_status status = tt_recorder_open(&options, tt_world_model(context->world),
                                      tt_world_names(context->world), &kept->recorder, error);
  free(run);
  free(model);
  free(lines);
  tt_scene_files_free(&files);
  return status;
}

/* A run with a file of its own is in the list, too. A list that can't be written is no reason not to run. */
static void list_run(const tt_record_keys *keys, const char *scene, const char *path,
                     kept_run *run) {
  char folder[1024];
  tt_error error;
  tt_status status = tt_state_folder(keys->folder, "runs", folder, sizeof folder, &error);
  if (status == TT_OK && keys->file) status = tt_kept_runs_note(folder, scene, path, &error);
  if (status != TT_OK) {
    tt_log_debug("record: not in the list of kept runs: %s", error.text);
    return;
  }
  tt_kept_runs_make_room(folder, keys->keep, keys->folder_megabytes * 1000000u);
  snprintf(run->list, sizeof run->list, "%s", folder);
  snprintf(run->file, sizeof run->file, "%s", path);
}

/* Where the run goes: where the user said, or into the folder of kept runs. */
static tt_status choose_path(const tt_record_keys *keys, const char *scene, char *path, size_t size,
                             tt_error *error) {
  char folder[1024];
  if (keys->file) {
    snprintf(path, size, "%s", keys->file);
    return TT_OK;
  }
  TT_TRY(tt_state_folder(keys->folder, "runs", folder, sizeof folder, error));
  return tt_kept_runs_claim(folder, scene, path, size, error);
}

static tt_status open_log(const tt_attach_context *context, const tt_record_keys *keys,
                          kept_run *run, tt_error *error) {
  char path[1200], scene[128];
  tt_scene_name(context->scene, scene, sizeof scene);
  TT_TRY(tt_run_id_new(context->run->id, error));
  TT_TRY(choose_path(keys, scene, path, sizeof path, error));
  if (!keys->file)
    snprintf(run->folder, sizeof run->folder, "%.*s", (int)(strrchr(path, '/') - path), path);
  tt_status status = open_recorder(context, keys, path, run, error);
  if (status != TT_OK && !keys->file) unlink(path);
  TT_TRY(status);
  if (!realpath(path, context->run->file)) snprintf(context->run->file, PATH_MAX, "%s", path);
  if (!context->unlisted) list_run(keys, scene, path, run);
  tt_log_info("record: %s", path);
  return TT_OK;
}

/* A disk without room is no reason not to run. */
static tt_status open_record(const tt_attach_context *context, void **self, tt_error *error) {
  const tt_record_keys *keys = tt_scene_section(context->scene, "record", NULL);
  if (!*keys->on) return TT_OK;
  kept_run *run = calloc(1, sizeof *run);
  if (!run) return tt_fail(error, TT_NOMEM, "out of memory");
  run->world = context->world;
  run->keep = keys->keep;
  run->most = keys->folder_megabytes * 1000000u;
  tt_status status = open_log(context, keys, run, error);
  if (status == TT_FULL) {
    tt_log_error("record: %s; nothing of this run is kept", error->text);
    *context->run = (tt_run_reference){.id = ""};
    run->full = *error;
    *self = run;
    return TT_OK;
  }
  if (status != TT_OK) {
    free(run);
    return status;
  }
  *self = run;
  TT_TRY(tt_world_add_observer(context->world, tt_recorder_observer(run->recorder)));
  return tt_world_add_journal(context->world, tt_recorder_journal(run->recorder));
}

static size_t record_trouble(void *self, char *text, size_t size) {
  static const char trouble[] = " | not kept";
  const tt_recorder *recorder = ((kept_run *)self)->recorder;
  if ((recorder && !tt_recorder_broken(recorder)) || size < sizeof trouble) return 0;
  memcpy(text, trouble, sizeof trouble);
  return sizeof trouble - 1;
}

/* So that a list of runs shows it at once. Who looks at a larger one first has it made then: nobody waits for it here. */
static void draw(const kept_run *from) {
  struct stat about;
  tt_kept_run run;
  tt_bytes picture = {0};
  if (!*from->list || stat(from->file, &about) != 0 || about.st_size > MOST_DRAWN) return;
  tt_error error = {""};
  char id[TT_RUN_ID];
  tt_kept_run_name(from->list, from->file, id);
  if (tt_kept_run_find(from->list, id, &run) &&
      tt_kept_run_picture(&run, &picture, &error) != TT_OK)
    tt_log_debug("record: no picture: %s", error.text);
  tt_kept_run_clear(&run);
  tt_bytes_free(&picture);
}

tt_status tt_record_end(void *self, tt_error *error) {
  kept_run *run = self;
  tt_status status = run->recorder ? tt_recorder_end(run->recorder, error)
                                   : tt_fail(error, TT_FAILED, "%s", run->full.text);
  if (*run->list) tt_kept_run_is_newest(run->list, run->file); /* whatever its clock said */
  draw(run);
  if (*run->folder)
    tt_kept_runs_make_room(run->folder, run->keep, run->most); /* for its end, too */
  free(run);
  return status;
}

static void close_record(void *self) { tt_record_end(self, NULL); }

const tt_attachment tt_record_attachment = {
    .name = "record", .open = open_record, .trouble = record_trouble, .close = close_record};
