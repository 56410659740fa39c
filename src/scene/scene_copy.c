#include "scene/scene_copy.h"

#include "scene/scene_files.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a file goes, below the folder of the new scene: as it lies below that of the old one, or in a folder of shipped data. NULL: it
 * is the scene. */
static const char *place_of(const char *path, const char *scene) {
  static const char *const kinds[] = {"/robots/", "/arenas/", "/models/"};
  if (strcmp(path, scene) == 0) return NULL;
  const size_t folder = (size_t)(strrchr(scene, '/') - scene) + 1;
  if (strncmp(path, scene, folder) == 0) return path + folder;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const char *found = strstr(path, kinds[i]);
    if (found) return found + 1;
  }
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static tt_status make_folders(char *path, tt_error *error) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
    int reason = errno;
    *slash = '/';
    if (!made)
      return tt_fail(error, TT_FAILED, "%s: can't make its folder: %s", path, strerror(reason));
  }
  return TT_OK;
}

tt_status tt_scene_file_write(const char *path, const void *bytes, size_t size, tt_error *error) {
  char folders[PATH_MAX];
  snprintf(folders, sizeof folders, "%s", path);
  TT_TRY(make_folders(folders, error));
  FILE *file = fopen(path, "wbxe");
  if (!file && errno == EEXIST)
    return tt_fail(error, TT_FAILED, "%s: exists already; name another file or remove it", path);
  if (!file) return tt_fail(error, TT_FAILED, "%s: can't write here: %s", path, strerror(errno));
  bool wrote = fwrite(bytes, 1, size, file) == size;
  if (fclose(file) == 0 && wrote) return TT_OK;
  unlink(path);
  return tt_fail(error, TT_FAILED, "%s: can't write: %s", path, strerror(errno));
}

/* Length of the name behind `key` at `text`, whose begin goes to `*name`; 0: there is none. */
static size_t name_behind(const char *text, const char *key, const char **name) {
  if (strncmp(text, key, strlen(key)) != 0) return 0;
  const char *at = text + strlen(key);
  while (*at == ' ') at++;
  *name = at;
  while (isalnum((unsigned char)*at) || *at == '-' || *at == '_') at++;
  return *at == '.' || *at == '/' ? 0 : (size_t)(at - *name);
}

/* The scene's text, in which shipped robots and arenas are named by their new files. The caller frees; NULL: no memory. */
static char *rename_parts(const char *text, size_t size) {
  char *out = NULL;
  size_t made = 0;
  FILE *to = open_memstream(&out, &made);
  if (!to) return NULL;
  bool in_robots = false; /* elsewhere, `robot` means one of these by its name */
  for (const char *at = text; at < text + size;) {
    const char *name = NULL;
    bool starts_line = at == text || at[-1] == '\n';
    if (starts_line && isalpha((unsigned char)*at)) in_robots = strncmp(at, "robots:", 7) == 0;
    bool starts_word = starts_line || strchr(" {-,[", at[-1]);
    size_t robot = in_robots && starts_word ? name_behind(at, "robot:", &name) : 0;
    size_t arena = starts_line ? name_behind(at, "arena:", &name) : 0;
    size_t length = robot ? robot : arena;
    if (length) {
      fprintf(to, "%s: %s/%.*s/%s", robot ? "robot" : "arena", robot ? "robots" : "arenas",
              (int)length, name, robot ? "robot.yaml" : "arena.yaml");
      at = name + length;
    } else {
      fputc(*at++, to);
    }
  }
  return fclose(to) == 0 ? out : NULL;
}

/* Makes a file of the old scene that of the new one at `target`: its name, and what the scene itself says. */
static tt_status move(tt_file *file, const char *scene, const char *target, tt_error *error) {
  const char *place = place_of(file->path, scene), *slash = strrchr(target, '/');
  char *path = NULL, *text = NULL;
  if (place) {
    const int folder = slash ? (int)(slash - target) + 1 : 0;
    if (asprintf(&path, "%.*s%s", folder, target, place) < 0) path = NULL;
  } else {
    char *terminated = strndup(file->bytes, file->size);
    text = terminated ? rename_parts(terminated, strlen(terminated)) : NULL;
    path = text ? strdup(target) : NULL;
    free(terminated);
  }
  if (text) {
    free((void *)file->bytes);
    file->bytes = text;
    file->size = strlen(text);
  }
  if (!path) return tt_fail(error, TT_NOMEM, "out of memory");
  free((char *)file->path);
  file->path = path;
  return TT_OK;
}

static bool holds(FILE *file, const char *bytes, size_t size) {
  char part[4096];
  size_t length, at = 0;
  while ((length = fread(part, 1, sizeof part, file)) > 0) {
    if (length > size - at || memcmp(part, bytes + at, length) != 0) return false;
    at += length;
  }
  return at == size && !ferror(file);
}

/* Whether the file is there already, as another scene's that shares it. TT_FAILED: another one is. */
static tt_status look(const tt_file *wanted, bool *there, tt_error *error) {
  FILE *file;
  tt_error ignored;
  *there = false;
  if (access(wanted->path, F_OK) != 0) return TT_OK;
  if (tt_file_open(wanted->path, &file, &ignored) == TT_OK) {
    *there = holds(file, wanted->bytes, wanted->size);
    fclose(file);
  }
  if (*there) return TT_OK;
  return tt_fail(error, TT_FAILED,
                 "%s: exists already, and is another file than the scene's; make the scene in "
                 "another folder",
                 wanted->path);
}

/* Leaves in the list what has to be written. */
static tt_status leave_out_shared(tt_scene_files *files, tt_error *error) {
  tt_status status = TT_OK;
  int kept = 0;
  for (int i = 0; i < files->count; i++) {
    tt_file *file = &files->files[i];
    bool there = false;
    if (status == TT_OK) status = look(file, &there, error);
    if (there) {
      free((char *)file->path);
      free((void *)file->bytes);
    } else {
      files->files[kept++] = *file;
    }
  }
  files->count = kept;
  return status;
}

/* All or none. */
static tt_status write_all(const tt_scene_files *files, tt_error *error) {
  for (int i = 0; i < files->count; i++) {
    const tt_file *file = &files->files[i];
    tt_status status = tt_scene_file_write(file->path, file->bytes, file->size, error);
    if (status == TT_OK) continue;
    while (i-- > 0) unlink(files->files[i].path);
    return status;
  }
  return TT_OK;
}

tt_status tt_scene_copy(const tt_scene *scene, const char *target,
                        void (*told)(void *context, const char *path), void *context,
                        tt_error *error) {
  tt_scene_files files;
  char real[PATH_MAX];
  if (!realpath(scene->path, real))
    return tt_fail(error, TT_FAILED, "%s: %s", scene->path, strerror(errno));
  TT_TRY(tt_scene_files_read(scene, &files, error));
  if (strcmp(scene->path, target) == 0) unlink(target); /* begun for a robot; written anew */
  tt_status status = TT_OK;
  for (int i = 0; status == TT_OK && i < files.count; i++)
    status = move(&files.files[i], real, target, error);
  if (status == TT_OK) status = leave_out_shared(&files, error);
  if (status == TT_OK) status = write_all(&files, error);
  for (int i = 0; status == TT_OK && told && i < files.count; i++)
    told(context, files.files[i].path);
  tt_scene_files_free(&files);
  return status;
}
