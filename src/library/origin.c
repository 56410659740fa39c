/* origin.c: what the files of a scene were when it was loaded. A log keeps them as they are when it begins. */
#include "library/library.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const tt_file *file) {
  return tt_hash_bytes(TT_HASH_START, file->bytes, file->size);
}

bool library_note_origin(tether_scene *scene) {
  tt_scene_files files;
  /* files that are too many, or can't be read, can't be kept either: who records hears it */
  tt_error ignored;
  if (tt_scene_files_read(scene->scene, &files, &ignored) != TT_OK) return true;
  scene->origin = calloc((size_t)files.count + 1, sizeof *scene->origin);
  for (int i = 0; scene->origin && i < files.count; i++) {
    library_origin *at = &scene->origin[i];
    *at = (library_origin){.path = strdup(files.files[i].path), .hash = hash_of(&files.files[i])};
    if (!at->path) break;
    scene->origin_count++;
  }
  const bool whole = scene->origin_count == files.count;
  tt_scene_files_free(&files);
  return whole;
}

static bool is_among(const library_origin *origin, const tt_scene_files *files) {
  for (int i = 0; i < files->count; i++)
    if (strcmp(files->files[i].path, origin->path) == 0)
      return hash_of(&files->files[i]) == origin->hash;
  return false;
}

tt_status library_check_origin(const tether_scene *scene, const tt_scene_files *files,
                               tt_error *why) {
  for (int i = 0; i < scene->origin_count; i++)
    if (!is_among(&scene->origin[i], files))
      return tt_fail(why, TT_INVALID,
                     "%s: changed or removed since the scene was loaded, so that a log would keep "
                     "another scene than the one that runs; load it anew",
                     scene->origin[i].path);
  return TT_OK;
}

void library_free_origin(tether_scene *scene) {
  for (int i = 0; i < scene->origin_count; i++) free(scene->origin[i].path);
  free(scene->origin);
}
