#include "app/attach/scene_data.h"

#include "app/assemble.h"
#include "app/choice.h"
#include "app/guests.h"
#include "app/state_folder.h"
#include "base/hash.h"
#include "base/json.h"
#include "draft/drafts.h"
#include "draft/keys_json.h"
#include "draft/picture.h"
#include "engine/mujoco/references.h"
#include "scene/data.h"
#include "scene/machine.h"
#include "scene/tree.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_BESIDE 100   /* scenes in one folder */
#define MOST_PICTURES 190 /* that are kept */

/* --- pictures --- */

static tt_status add_stamp(void *context, const char *path, tt_error *error) {
  uint64_t *hash = context;
  struct stat about;
  (void)error;
  if (stat(path, &about) != 0) return TT_OK;
  const int64_t stamp[] = {about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec};
  *hash = tt_hash_bytes(*hash, path, strlen(path));
  *hash = tt_hash_bytes(*hash, stamp, sizeof stamp);
  return TT_OK;
}

/* Another one when a file that the scene is made of changed. */
static uint64_t version_of(const tt_scene *scene) {
  uint64_t hash = TT_HASH_START;
  const char *yaml;
  for (int i = 0; (yaml = tt_scene_yaml_file(scene, i)); i++) add_stamp(&hash, yaml, NULL);
  for (int i = -1; i < scene->robot_count; i++) {
    const char *model = i < 0 ? scene->arena_file : scene->robots[i].model_file;
    if (model) tt_model_references(model, scene->search_path, add_stamp, &hash, NULL);
  }
  return hash;
}

static char *draw(const tt_scene *scene, tt_error *error) {
  tt_world *world;
  if (tt_assemble(scene, &(tt_assembly){.check_only = true}, &world, error) != TT_OK) return NULL;
  char *picture = tt_draft_picture(tt_world_sim(world));
  if (!picture) tt_fail(error, TT_NOMEM, "out of memory");
  tt_world_free(world);
  return picture;
}

/* Those that were made before are read; a scene takes a while to compile. */
static char *read_or_draw(const tt_scene *scene, tt_error *error) {
  char folder[400], name[32], *picture;
  size_t size;
  tt_draft_files kept = {0};
  tt_error ignored;
  const bool keeps = tt_state_folder(NULL, "pictures", folder, sizeof folder, &ignored) == TT_OK;
  snprintf(name, sizeof name, "%016llx.svg", (unsigned long long)version_of(scene));
  if (keeps && tt_draft_file_read(folder, name, &picture, &size, &ignored) == TT_OK) return picture;
  picture = draw(scene, error);
  if (!picture || !keeps) return picture;
  if (tt_draft_files_list(folder, &kept, &ignored) == TT_OK)
    for (int i = 0; kept.count > MOST_PICTURES && i < kept.count; i++)
      tt_draft_file_remove(folder, kept.items[i].path, &ignored);
  tt_draft_files_free(&kept);
  tt_draft_file_write(folder, name, picture, strlen(picture), &ignored); /* or it is drawn again */
  return picture;
}

static tt_status make_picture(void *context, const char *name, bool administers, char **picture,
                              tt_error *error) {
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  tt_scene *scene;
  char *path;
  TT_TRY(tt_scene_choice_find(context, name, &path, error));
  tt_status status = tt_scene_load(&tt_program_guests, path, NULL, 0, &scene, error);
  if (status != TT_OK && !administers) tt_machine_withhold(path, error);
  free(path);
  TT_TRY(status);
  pthread_mutex_lock(&one_at_a_time);
  *picture = read_or_draw(scene, error);
  pthread_mutex_unlock(&one_at_a_time);
  tt_scene_free(scene);
  return *picture ? TT_OK : TT_INVALID;
}

/* --- those that were saved from drafts --- */

/* Where such a scene would lie. */
static tt_status find_saved(const char *name, char folder[400], char path[PATH_MAX],
                            tt_error *error) {
  char main[1024];
  TT_TRY(tt_own_root(folder, 400 - sizeof "/scenes", error));
  strcat(folder, "/scenes");
  snprintf(main, sizeof main, "%s/%.64s/%.64s.yaml", folder, name, name);
  if (!realpath(main, path)) *path = 0;
  return TT_OK;
}

static bool is_saved(const char *name, const char *path) {
  char folder[400], saved[PATH_MAX];
  return tt_draft_name_is_good(name) && find_saved(name, folder, saved, NULL) == TT_OK &&
         strcmp(path, saved) == 0;
}

static tt_status remove_saved(void *context, const char *name, bool administers, bool *denied,
                              tt_error *error) {
  char folder[400], path[PATH_MAX];
  *denied = false;
  TT_TRY(find_saved(name, folder, path, error));
  if (context && *path && tt_scene_choice_runs(context, path))
    return tt_fail(error, TT_INVALID, "the scene '%s' runs now; choose another one first", name);
  return tt_draft_saved_remove(folder, name, administers, denied, error);
}

/* --- the list --- */

typedef struct listing {
  const tt_scene_list *from;
  struct json_object *scenes;
  bool has_present;
} listing;

static bool is_known(const listing *in, const char *path) {
  for (size_t i = 0; i < json_object_array_length(in->scenes); i++)
    if (!strcmp(tt_json_text(json_object_array_get_idx(in->scenes, i), "file"), path)) return true;
  return false;
}

/* A name in an address. */
static void encode(const char *name, char *encoded, size_t size) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  size_t used = 0;
  for (; *name && used + 4 < size; name++)
    if (strchr(plain, *name))
      encoded[used++] = *name;
    else
      used += (size_t)snprintf(encoded + used, size - used, "%%%02X", (unsigned char)*name);
  encoded[used] = 0;
}

static void add_loaded(listing *in, const char *name, const char *path, const tt_scene *scene) {
  char title[256], encoded[3 * PATH_MAX], picture[3 * PATH_MAX + 64];
  tt_error why;
  struct json_object *made = json_object_new_object();
  const bool present = strcmp(path, in->from->present) == 0,
             refused = in->from->choice && tt_scene_choice_refused(in->from->choice, name, &why);
  tt_element_name(path, title, sizeof title);
  encode(name, encoded, sizeof encoded);
  snprintf(picture, sizeof picture, "api/scenes/%s/picture?v=%016llx", encoded,
           (unsigned long long)version_of(scene));
  tt_json_add_text(made, "name", name);
  tt_json_add_text(made, "title", title);
  tt_json_add_text(made, "description", scene->description);
  tt_json_add_text(made, "file", path);
  tt_json_add_bool(made, "own", !tt_data_comes_along(path));
  tt_json_add_bool(made, "saved", is_saved(name, path));
  tt_json_add_text(made, "picture", picture);
  tt_json_add_bool(made, "current", present);
  tt_json_add_text(made, "refused", refused ? why.text : NULL);
  json_object_array_add(in->scenes, made);
  in->has_present = in->has_present || present;
}

/* One that does not load can't be run: it is left out. `name`: as it is chosen; NULL: by its path. */
static void add_scene(listing *in, const char *name, const char *path) {
  tt_scene *scene;
  tt_error ignored;
  char real[PATH_MAX];
  if (!realpath(path, real) || is_known(in, real) ||
      tt_scene_load(&tt_program_guests, real, NULL, 0, &scene, &ignored) != TT_OK)
    return;
  add_loaded(in, name ? name : real, real, scene);
  tt_scene_free(scene);
}

static void add_named(listing *in) {
  char **names = tt_data_list(&tt_data_scene), *path;
  for (char **name = names; name && *name; name++) {
    if (tt_data_find(&tt_data_scene, *name, NULL, "scenes", &path, NULL) == TT_OK) {
      add_scene(in, *name, path);
      free(path);
    }
    free(*name);
  }
  free(names);
}

/* Those beside the file that the program was started with. */
static void add_beside(listing *in) {
  char folder[TT_SCENE_NAME], path[TT_SCENE_NAME + 300];
  struct dirent **entries;
  if (!in->from->choice || !tt_scene_choice_folder(in->from->choice, folder)) return;
  const int count = scandir(folder, &entries, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    const char *dot = strrchr(entries[i]->d_name, '.');
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    if (dot && strcmp(dot, ".yaml") == 0 && i < MOST_BESIDE) add_scene(in, NULL, path);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
}

char *tt_scene_list_json(void *context) {
  listing in = {.from = context, .scenes = json_object_new_array()};
  if (!in.scenes) return NULL;
  add_named(&in);
  add_beside(&in);
  if (!in.has_present && *in.from->present) add_scene(&in, NULL, in.from->present);
  char *text = strdup(json_object_to_json_string_ext(
      in.scenes, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
  json_object_put(in.scenes);
  return text;
}

/* --- keys --- */

static const char *keys;

static void make_keys(void) { keys = tt_draft_keys_json(&tt_program_guests); }

static const char *get_keys(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_keys);
  return keys;
}

void tt_scene_data_add(tt_web *web, tt_scene_list *list) {
  list->routes = (tt_scene_routes_options){
      .picture = make_picture, .remove = remove_saved, .context = list->choice, .keys = get_keys};
  tt_scene_routes_add(web, &list->routes);
}
