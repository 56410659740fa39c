/* mesh_find.c: finds the meshes that a URDF names. */
#include "engine/mujoco/physics_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_file(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static bool try_path(const char *folder, const char *name, char path[TT_PATH_SIZE]) {
  int n = snprintf(path, TT_PATH_SIZE, "%s/%s", folder, name);
  return n < TT_PATH_SIZE && is_file(path);
}

/* `name` in `folder`, then without its first folders one by one: packages are often moved. */
static bool try_shortening(const char *folder, const char *name, char path[TT_PATH_SIZE]) {
  for (const char *rest = name; rest; rest = strchr(rest, '/')) {
    if (*rest == '/') rest++;
    if (try_path(folder, rest, path)) return true;
  }
  return false;
}

tt_status physics_mesh_find(const char *const *search_path, const char *file, const char *reference,
                            char path[TT_PATH_SIZE], tt_error *error) {
  char folder[TT_PATH_SIZE];
  char *real = realpath(file, NULL);
  snprintf(folder, sizeof folder, "%s", real ? real : file);
  free(real);
  char *slash = strrchr(folder, '/');
  if (slash) *slash = '\0';
  const char *name = reference;
  bool package = strncmp(reference, "package://", 10) == 0;
  if (package) {
    name += 10;
  } else if (strncmp(reference, "file://", 7) == 0) {
    name += 7;
  }
  if (name[0] == '/' && is_file(name)) {
    snprintf(path, TT_PATH_SIZE, "%s", name);
    return TT_OK;
  }
  for (int i = 0; search_path && search_path[i]; i++) {
    if (try_path(search_path[i], name, path)) return TT_OK;
  }
  if (!package && try_path(folder, name, path)) return TT_OK;
  for (int i = 0; package && search_path && search_path[i]; i++) {
    if (try_shortening(search_path[i], name, path)) return TT_OK;
  }
  char above[TT_PATH_SIZE];
  snprintf(above, sizeof above, "%s", folder);
  for (int i = 0; package && i < 5 && above[0]; i++) {
    if (try_path(above, name, path)) return TT_OK;
    char *cut = strrchr(above, '/');
    if (cut) *cut = '\0';
  }
  if (package && try_shortening(folder, name, path)) return TT_OK;
  return tt_fail(error, TT_INVALID,
                 "%s: mesh '%s' is not found; add the folder that holds %s to the search path",
                 file, reference, package ? "its package" : "it");
}
