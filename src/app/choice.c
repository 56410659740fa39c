#include "app/guests.h"
#include "app/choice.h"

#include "scene/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tt_scene_choice_init(tt_scene_choice *choice, const tt_scene_options *options) {
  *choice = (tt_scene_choice){.options = options};
  pthread_mutex_init(&choice->mutex, NULL);
}

void tt_scene_choice_watch(tt_scene_choice *choice, tt_world *world) {
  pthread_mutex_lock(&choice->mutex);
  choice->world = world;
  pthread_mutex_unlock(&choice->mutex);
}

void tt_scene_choice_stay_at(tt_scene_choice *choice, const char *address) {
  const char *host = strstr(address, "//");
  pthread_mutex_lock(&choice->mutex);
  snprintf(choice->web, sizeof choice->web, "web.listen=%s", host ? host + 2 : address);
  pthread_mutex_unlock(&choice->mutex);
}

tt_status tt_scene_choice_load(tt_scene_choice *choice, const char *name, tt_scene **scene,
                               tt_error *error) {
  const tt_scene_options *options = choice->options;
  int count = options->setting_count;
  const char **settings = calloc((size_t)count + 1, sizeof *settings);
  char web[sizeof choice->web];
  if (!settings) return tt_fail(error, TT_NOMEM, "out of memory");
  pthread_mutex_lock(&choice->mutex);
  memcpy(web, choice->web, sizeof web);
  pthread_mutex_unlock(&choice->mutex);
  for (int i = 0; i < count; i++) settings[i] = options->settings[i];
  settings[count] = web;
  tt_status status = tt_scene_load(&tt_program_guests, name, settings, count + 1, scene, error);
  free(settings);
  return status;
}

static bool is_listed(const char *name) {
  char **names = tt_data_list(&tt_data_scene);
  bool found = false;
  for (char **one = names; one && *one; one++) {
    found = found || strcmp(*one, name) == 0;
    free(*one);
  }
  free(names);
  return found;
}

/* What was asked for this one run would be wrong for the next. */
static tt_status check_options(const tt_scene_options *options, tt_error *error) {
  bool file = false;
  for (int i = 0; i < options->setting_count; i++)
    file = file || strncmp(options->settings[i], "record.file=", 12) == 0;
  if (!file && !options->from_state && !options->save_state) return TT_OK;
  return tt_fail(error, TT_USAGE,
                 "this run was started with a file of its own (--record, --from-state or "
                 "--save-state); start the other scene by hand");
}

tt_status tt_scene_choice_make(void *context, const char *name, tt_error *error) {
  tt_scene_choice *choice = context;
  tt_scene *scene;
  if (!is_listed(name)) return tt_fail(error, TT_NOT_FOUND, "there is no such scene");
  TT_TRY(check_options(choice->options, error));
  TT_TRY(tt_scene_choice_load(choice, name, &scene, error));
  tt_scene_free(scene);
  pthread_mutex_lock(&choice->mutex);
  bool taken = choice->world;
  if (taken) {
    snprintf(choice->chosen, sizeof choice->chosen, "%s", name);
    choice->refused[0] = 0;
    tt_world_interrupt(choice->world);
  }
  pthread_mutex_unlock(&choice->mutex);
  return taken ? TT_OK : tt_fail(error, TT_FULL, "another scene is just beginning; try again");
}

bool tt_scene_choice_take(tt_scene_choice *choice, char name[TT_SCENE_NAME]) {
  pthread_mutex_lock(&choice->mutex);
  memcpy(name, choice->chosen, sizeof choice->chosen);
  choice->chosen[0] = 0;
  pthread_mutex_unlock(&choice->mutex);
  return *name;
}

void tt_scene_choice_refuse(tt_scene_choice *choice, const char *name, const tt_error *why) {
  pthread_mutex_lock(&choice->mutex);
  snprintf(choice->refused, sizeof choice->refused, "%s", name);
  choice->refusal = *why;
  pthread_mutex_unlock(&choice->mutex);
}

bool tt_scene_choice_refused(tt_scene_choice *choice, const char *name, tt_error *why) {
  pthread_mutex_lock(&choice->mutex);
  bool refused = strcmp(choice->refused, name) == 0;
  if (refused) *why = choice->refusal;
  pthread_mutex_unlock(&choice->mutex);
  return refused;
}
