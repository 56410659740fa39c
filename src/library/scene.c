/* scene.c: the public face: what holds for the process, and scenes. See include/tether/tether.h. */
#include "library/library.h"

#include "base/log.h"
#include "engine/mujoco/mujoco_engine.h"
#include "scene/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tether_version(void) { return TETHER_VERSION; }

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
  library_begin(error);
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

tether_status tether_scene_title(const char *name, char *title, size_t size, tether_error *error) {
  tether_scene *scene;
  if (!title || size == 0)
    return library_fail(error, TETHER_INVALID, "title: no room; give where to put it");
  *title = '\0';
  tether_status status = tether_scene_load(name, NULL, 0, &scene, error);
  if (status != TETHER_OK) return status;
  snprintf(title, size, "%s", tether_scene_description(scene));
  tether_scene_free(scene);
  return TETHER_OK;
}
