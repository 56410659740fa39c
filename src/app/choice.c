#include "app/guests.h"
#include "app/choice.h"

#include "base/file.h"
#include "scene/data.h"
#include "scene/machine.h"
#include "scene/scene_files.h"
#include "scene/settings.h"
#include "scene/tree.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tt_scene_choice_init(tt_scene_choice *choice, const tt_scene_options *options) {
  *choice = (tt_scene_choice){.options = options};
  pthread_mutex_init(&choice->mutex, NULL);
}

/* ---- what is the machine's ---- */

/* A value as YAML has it in { }. */
static void put_value(FILE *to, const tt_scene_setting *setting) {
  if (setting->kind != TT_SETTING_TEXT) {
    fputs(setting->value, to);
    return;
  }
  putc('"', to);
  for (const char *c = setting->value; *c; c++)
    if ((unsigned char)*c < ' ' || *c == 0x7f)
      fprintf(to, "\\x%02x", (unsigned)*c);
    else
      fprintf(to, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
  putc('"', to);
}

/* The section as a whole, so that nothing that another scene says of it is left. */
static void put_web(FILE *to, const tt_scene_settings *settings) {
  bool first = true;
  fputs("web={", to);
  for (int i = 0; i < settings->count; i++) {
    const tt_scene_setting *setting = &settings->items[i];
    if (strcmp(setting->owner, "web") != 0 || !*setting->value) continue;
    fprintf(to, "%s%s: ", first ? "" : ", ", setting->path + strlen("web."));
    put_value(to, setting);
    first = false;
  }
  putc('}', to);
}

tt_status tt_scene_choice_keep_web(tt_scene_choice *choice, const tt_scene *scene,
                                   tt_error *error) {
  tt_scene_settings settings;
  size_t size;
  if (tt_scene_settings_list(scene, &settings) != TT_OK)
    return tt_fail(error, TT_NOMEM, "out of memory");
  FILE *to = open_memstream(&choice->first_web, &size);
  if (to) put_web(to, &settings);
  tt_scene_settings_free(&settings);
  return to && fclose(to) == 0 ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

static void copy_real(char to[TT_SCENE_NAME], const char *path) {
  char real[PATH_MAX];
  if (realpath(path, real))
    memcpy(to, real, sizeof real);
  else
    *to = 0;
}

void tt_scene_choice_drafts_at(tt_scene_choice *choice, const char *folder) {
  pthread_mutex_lock(&choice->mutex);
  copy_real(choice->drafts, folder);
  pthread_mutex_unlock(&choice->mutex);
}

/* By where it really is. */
static bool is_draft(tt_scene_choice *choice, const char *path) {
  char real[TT_SCENE_NAME];
  copy_real(real, path);
  pthread_mutex_lock(&choice->mutex);
  const size_t size = strlen(choice->drafts);
  const bool below = size && strncmp(real, choice->drafts, size) == 0 && real[size] == '/';
  pthread_mutex_unlock(&choice->mutex);
  return below;
}

/* Of the bytes that were loaded: whoever drives may have written others meanwhile. */
static tt_status check_machine(tt_scene_choice *choice, const tt_scene *scene, bool *denied,
                               tt_error *error) {
  *denied = false;
  return is_draft(choice, scene->path) ? tt_machine_check(scene->machine, denied, error) : TT_OK;
}

void tt_scene_choice_watch(tt_scene_choice *choice, tt_world *world, const char *path) {
  char real[PATH_MAX];
  if (!path || !realpath(path, real)) *real = 0;
  pthread_mutex_lock(&choice->mutex);
  choice->world = world;
  if (*real) memcpy(choice->present, real, sizeof real);
  pthread_mutex_unlock(&choice->mutex);
}

void tt_scene_choice_stay_at(tt_scene_choice *choice, const char *address) {
  const char *host = strstr(address, "//");
  pthread_mutex_lock(&choice->mutex);
  snprintf(choice->address, sizeof choice->address, "%s", host ? host + 2 : address);
  pthread_mutex_unlock(&choice->mutex);
}

bool tt_scene_choice_address(tt_scene_choice *choice, char address[TT_SCENE_ADDRESS]) {
  pthread_mutex_lock(&choice->mutex);
  memcpy(address, choice->address, sizeof choice->address);
  pthread_mutex_unlock(&choice->mutex);
  return *address;
}

static tt_status load(tt_scene_choice *choice, const char *name, const tt_fork *fork,
                      tt_scene **scene, tt_error *error) {
  const tt_scene_options *options = choice->options;
  int count = 0;
  const char **settings = calloc((size_t)options->setting_count + 2, sizeof *settings);
  if (!settings) return tt_fail(error, TT_NOMEM, "out of memory");
  if (choice->first_web) settings[count++] = choice->first_web;
  for (int i = 0; i < options->setting_count; i++)
    if (!fork || tt_setting_is_of_machine(options->settings[i]))
      settings[count++] = options->settings[i];
  tt_status status = fork ? tt_fork_load(fork, settings, count, scene, error)
                          : tt_scene_load(&tt_program_guests, name, settings, count, scene, error);
  free(settings);
  return status;
}

tt_status tt_scene_choice_load(tt_scene_choice *choice, const char *name, bool administers,
                               bool *denied, tt_scene **scene, tt_error *error) {
  tt_scene *loaded;
  *denied = false;
  TT_TRY(load(choice, name, NULL, &loaded, error));
  tt_status status = administers ? TT_OK : check_machine(choice, loaded, denied, error);
  if (status == TT_OK)
    *scene = loaded;
  else
    tt_scene_free(loaded);
  return status;
}

tt_status tt_scene_choice_load_fork(tt_scene_choice *choice, const tt_fork *fork, tt_scene **scene,
                                    tt_error *error) {
  return load(choice, NULL, fork, scene, error);
}

bool tt_scene_choice_folder(const tt_scene_choice *choice, char folder[TT_SCENE_NAME]) {
  const char *started = choice->options->scene;
  char *slash, real[PATH_MAX];
  if (!strpbrk(started, "/.") || !realpath(started, real)) return false;
  slash = strrchr(real, '/');
  if (slash == real) slash++;
  *slash = 0;
  memcpy(folder, real, sizeof real);
  return true;
}

/* Files are told by their paths, which lead to what was there when the program began, or runs now. */
static bool may_choose_file(tt_scene_choice *choice, const char *path) {
  char folder[TT_SCENE_NAME];
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  pthread_mutex_lock(&choice->mutex);
  const bool runs = strcmp(choice->present, path) == 0;
  pthread_mutex_unlock(&choice->mutex);
  if (runs) return true;
  return dot && strcmp(dot, ".yaml") == 0 && tt_scene_choice_folder(choice, folder) &&
         strlen(folder) == (size_t)(slash - path) &&
         strncmp(folder, path, (size_t)(slash - path)) == 0;
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

tt_status tt_scene_choice_find(tt_scene_choice *choice, const char *name, char **path,
                               tt_error *error) {
  if (*name == '/' && strlen(name) < TT_SCENE_NAME && choice && may_choose_file(choice, name)) {
    *path = strdup(name);
    return *path ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
  }
  if (is_listed(name) && tt_data_find(&tt_data_scene, name, NULL, name, path, error) == TT_OK)
    return TT_OK;
  return tt_fail(error, TT_NOT_FOUND, "there is no such scene");
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

/* Ends the world, with which nobody else is busy. */
static tt_status choose(tt_scene_choice *choice, const char *name, bool administers, tt_fork *fork,
                        tt_error *error) {
  pthread_mutex_lock(&choice->mutex);
  bool taken = choice->world;
  tt_fork *before = NULL;
  if (taken) {
    snprintf(choice->chosen, sizeof choice->chosen, "%s", name);
    choice->administers = administers;
    choice->refused[0] = 0;
    before = choice->fork;
    choice->fork = fork;
    tt_world_interrupt(choice->world);
  }
  pthread_mutex_unlock(&choice->mutex);
  tt_fork_free(before);
  return taken ? TT_OK : tt_fail(error, TT_FULL, "another scene is just beginning; try again");
}

/* `path`: the file of the scene `name`. */
static tt_status make(tt_scene_choice *choice, const char *name, const char *path, bool administers,
                      bool *denied, tt_error *error) {
  tt_scene *scene;
  *denied = false;
  TT_TRY(check_options(choice->options, error));
  tt_status status = tt_scene_choice_load(choice, name, administers, denied, &scene, error);
  if (status != TT_OK && !*denied && !administers) tt_machine_withhold(path, error);
  TT_TRY(status);
  tt_scene_free(scene);
  return choose(choice, name, administers, NULL, error);
}

tt_status tt_scene_choice_fork(tt_scene_choice *choice, tt_fork *fork, tt_error *error) {
  TT_TRY(check_options(choice->options, error));
  return choose(choice, tt_fork_scene(fork), true, fork,
                error); /* it was asked for its role before */
}

tt_status tt_scene_choice_may_go(const tt_scene_choice *choice, tt_error *error) {
  return check_options(choice->options, error);
}

/* As logs keep them, without what only who administers may read. */
static bool are_alike(const tt_bytes *one, const tt_bytes *other) {
  if (one->size != other->size || one->size > TT_TREE_MAX_FILE) return false;
  tt_scene_text_hide((char *)one->data, one->size);
  tt_scene_text_hide((char *)other->data, other->size);
  return memcmp(one->data, other->data, one->size) == 0;
}

/* Are two scenes the same, byte by byte? */
static bool is_copy(const char *path, const char *of) {
  tt_bytes one, other = {0};
  const bool same = tt_file_read(path, TT_TREE_MAX_FILE, &one, NULL) == TT_OK &&
                    tt_file_read(of, TT_TREE_MAX_FILE, &other, NULL) == TT_OK &&
                    are_alike(&one, &other);
  tt_bytes_free(&one);
  tt_bytes_free(&other);
  return same;
}

tt_status tt_scene_choice_may_run(tt_scene_choice *choice, const tt_fork *fork, tt_error *error) {
  int count;
  char present[TT_SCENE_NAME];
  const char *const *settings = tt_fork_added(fork, &count);
  pthread_mutex_lock(&choice->mutex);
  memcpy(present, choice->present, sizeof present);
  pthread_mutex_unlock(&choice->mutex);
  for (int i = 0; i < count; i++)
    if (tt_setting_is_of_machine(settings[i]))
      return tt_fail(error, TT_INVALID,
                     "%s: what concerns the machine takes the role administer; yours may drive",
                     settings[i]);
  if (!is_copy(tt_fork_scene(fork), present))
    return tt_fail(
        error, TT_INVALID,
        "the run is of another scene than the present one: who may administer has it go on; "
        "yours may drive");
  /* Whoever drives may have written other sections into a draft since it was loaded. */
  bool denied;
  return is_draft(choice, present) ? tt_machine_check_file(tt_fork_scene(fork), &denied, error)
                                   : TT_OK;
}

bool tt_scene_choice_runs(tt_scene_choice *choice, const char *path) {
  pthread_mutex_lock(&choice->mutex);
  bool runs = choice->world && strcmp(choice->present, path) == 0;
  pthread_mutex_unlock(&choice->mutex);
  return runs;
}

tt_status tt_scene_choice_make(void *context, const char *name, bool administers, bool *denied,
                               tt_error *error) {
  char *path;
  *denied = false;
  TT_TRY(tt_scene_choice_find(context, name, &path, error));
  tt_status status = make(context, name, path, administers, denied, error);
  free(path);
  return status;
}

tt_status tt_scene_choice_make_file(tt_scene_choice *choice, const char *path, bool administers,
                                    bool *denied, tt_error *error) {
  return make(choice, path, path, administers, denied, error);
}

bool tt_scene_choice_take(tt_scene_choice *choice, char name[TT_SCENE_NAME], bool *administers,
                          tt_fork **fork) {
  pthread_mutex_lock(&choice->mutex);
  memcpy(name, choice->chosen, sizeof choice->chosen);
  choice->chosen[0] = 0;
  *administers = choice->administers;
  *fork = choice->fork;
  choice->fork = NULL;
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

bool tt_scene_choice_last_refused(tt_scene_choice *choice, char name[TT_SCENE_NAME],
                                  tt_error *why) {
  pthread_mutex_lock(&choice->mutex);
  memcpy(name, choice->refused, sizeof choice->refused);
  *why = choice->refusal;
  pthread_mutex_unlock(&choice->mutex);
  return *name;
}
