#include "app/guests.h"
#include "app/attach/page_data.h"

#include "app/choice.h"
#include "app/state_folder.h"
#include "base/log.h"
#include "scene/data.h"
#include "record/section.h"

#include <json-c/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_file_of(const tt_scene *scene, const char *name) {
  char *path;
  if (tt_data_find(&tt_data_scene, name, NULL, "scenes", &path, NULL) != TT_OK) return false;
  char *real = realpath(path, NULL), *own = realpath(scene->path, NULL);
  bool same = real && own && strcmp(real, own) == 0;
  free(real);
  free(own);
  free(path);
  return same;
}

/* A scene that does not load can't be run: it is left out. */
static void add_scene(struct json_object *list, const char *name, const tt_scene_list *from) {
  tt_scene *scene;
  tt_error error;
  if (tt_scene_load(&tt_program_guests, name, NULL, 0, &scene, &error) != TT_OK) return;
  struct json_object *made = json_object_new_object();
  json_object_object_add(made, "name", json_object_new_string(name));
  json_object_object_add(made, "description", json_object_new_string(scene->description));
  json_object_object_add(made, "current", json_object_new_boolean(is_file_of(from->present, name)));
  bool refused = from->choice && tt_scene_choice_refused(from->choice, name, &error);
  json_object_object_add(made, "refused", refused ? json_object_new_string(error.text) : NULL);
  json_object_array_add(list, made);
  tt_scene_free(scene);
}

static char *list_scenes(void *context) {
  struct json_object *list = json_object_new_array();
  char **names = tt_data_list(&tt_data_scene);
  for (char **name = names; name && *name; name++) {
    add_scene(list, *name, context);
    free(*name);
  }
  free(names);
  char *text = strdup(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN));
  json_object_put(list);
  return text;
}

tt_status tt_runs_folder(const tt_scene *scene, char *path, size_t size, tt_error *error) {
  const tt_record_keys *keys = tt_scene_section(scene, "record", NULL);
  return tt_state_folder(keys->folder, "runs", path, size, error);
}

/* "" where the disk has no room for it: then there are no trials. */
static tt_status find_trials(char *path, size_t size, tt_error *error) {
  char state[1024];
  tt_status status = tt_state_folder(NULL, "trials", state, sizeof state, error);
  snprintf(path, size, "%s/trials.sqlite", state);
  if (status == TT_OK) status = tt_state_file(path, error);
  if (status != TT_FULL) return status;
  tt_log_error("trials: %s; none are kept", error->text);
  *path = 0;
  return TT_OK;
}

tt_status tt_runs_add_routes(tt_web *web, const tt_attach_context *context, tt_scene_list *list,
                             tt_run_routes **routes, tt_error *error) {
  char runs[1024], trials[1100];
  tt_status status = tt_runs_folder(context->scene, runs, sizeof runs, error);
  if (status != TT_OK && status != TT_FULL) return status; /* a folder that is not there is empty */
  TT_TRY(find_trials(trials, sizeof trials, error));
  *list = (tt_scene_list){context->scene, context->choice};
  *routes = tt_run_routes_new(
      web, &(tt_run_routes_options){.runs = runs,
                                    .trials = *trials ? trials : NULL,
                                    .scenes = list_scenes,
                                    .scenes_context = list,
                                    .choose = context->choice ? tt_scene_choice_make : NULL,
                                    .choose_context = context->choice});
  return TT_OK;
}
