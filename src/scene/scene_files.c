#include "scene/scene_files.h"

#include "engine/mujoco/references.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_TOTAL (256u << 20)

typedef struct gathering {
  tt_scene_files *files;
  size_t total;
  tt_status status;
} gathering;

static bool gathered(const tt_scene_files *files, const char *path) {
  for (int i = 0; i < files->count; i++)
    if (strcmp(files->files[i].path, path) == 0) return true;
  return false;
}

/* Adds one file; false where it is there already or can't be read. */
static bool add(gathering *into, const char *name) {
  char path[PATH_MAX];
  tt_bytes bytes;
  tt_scene_files *files = into->files;
  if (into->status != TT_OK || !realpath(name, path) || gathered(files, path)) return false;
  if (files->count == files->capacity) {
    int capacity = files->capacity ? 2 * files->capacity : 16;
    tt_file *grown = realloc(files->files, (size_t)capacity * sizeof *grown);
    if (!grown) return into->status = TT_NOMEM, false;
    files->files = grown;
    files->capacity = capacity;
  }
  tt_status status = tt_file_read(path, LARGEST_TOTAL, &bytes, NULL);
  char *kept = status == TT_OK ? strdup(path) : NULL;
  if (!kept) {
    if (status != TT_INVALID) into->status = TT_NOMEM;
    tt_bytes_free(&bytes);
    return false;
  }
  into->total += bytes.size;
  files->files[files->count++] = (tt_file){kept, bytes.data, bytes.size};
  if (into->total > LARGEST_TOTAL) into->status = TT_FULL;
  return true;
}

static tt_status add_reference(void *context, const char *path, tt_error *error) {
  gathering *into = context;
  (void)error;
  add(into, path);
  return into->status;
}

static void add_model(gathering *into, const tt_scene *scene, const char *path) {
  tt_status status = tt_model_references(path, scene->search_path, add_reference, into, NULL);
  if (into->status == TT_OK) into->status = status;
}

static void add_lua(gathering *into, const char *folder) {
  char path[PATH_MAX + 256];
  struct dirent **entries;
  int count = scandir(*folder ? folder : ".", &entries, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    const char *dot = strrchr(entries[i]->d_name, '.');
    snprintf(path, sizeof path, "%s/%s", *folder ? folder : ".", entries[i]->d_name);
    if (dot && strcmp(dot, ".lua") == 0) add(into, path);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
}

tt_status tt_scene_files_read(const tt_scene *scene, tt_scene_files *files, tt_error *error) {
  *files = (tt_scene_files){0};
  gathering into = {.files = files};
  const char *yaml;
  for (int i = 0; (yaml = tt_scene_yaml_file(scene, i)); i++) add(&into, yaml);
  if (scene->arena_file) add_model(&into, scene, scene->arena_file);
  for (int i = 0; i < scene->robot_count; i++) add_model(&into, scene, scene->robots[i].model_file);
  add_lua(&into, scene->folder);
  for (int i = 0; i < scene->robot_count; i++) add_lua(&into, scene->robots[i].folder);
  if (into.status == TT_OK) return TT_OK;
  tt_scene_files_free(files);
  return tt_fail(error, into.status, "%s: its files can't be kept with the run: %s", scene->path,
                 into.status == TT_FULL ? "they are larger than 256 MB" : "out of memory");
}

void tt_scene_files_free(tt_scene_files *files) {
  for (int i = 0; i < files->count; i++) {
    free((char *)files->files[i].path);
    free((void *)files->files[i].bytes);
  }
  free(files->files);
  *files = (tt_scene_files){0};
}
