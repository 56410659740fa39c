/* data.c: finding the files that a scene names. */
#include "scene/data.h"

#include "base/file.h"
#include "base/nearest.h"
#include "scene/stranger.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const tt_data_kind tt_data_scene = {"scene", "scenes", NULL};
const tt_data_kind tt_data_robot = {"robot", "robots", "robot.yaml"};
const tt_data_kind tt_data_arena = {"arena", "arenas", "arena.yaml"};
const tt_data_kind tt_data_plan = {"plan", "scenes/sweeps", NULL};

#define MAX_ROOTS 3
typedef char tt_root[PATH_MAX];

static tt_root first_root, own_root;

tt_status tt_data_set_root(const char *folder) {
  if (folder && strlen(folder) >= PATH_MAX) return TT_INVALID;
  strcpy(first_root, folder ? folder : "");
  return TT_OK;
}

tt_status tt_data_set_own(const char *folder) {
  if (folder && strlen(folder) >= PATH_MAX) return TT_INVALID;
  strcpy(own_root, folder ? folder : "");
  return TT_OK;
}

static bool is_folder(const char *path) {
  struct stat info;
  return !stat(path, &info) && S_ISDIR(info.st_mode);
}

/** share/tether of the prefix that this code is installed in: the program in bin/, the library in lib/ or lib/ARCHITECTURE/. */
static bool installed_root(tt_root root) {
  if (!tt_file_own(root)) return false;
  for (int i = 0; i < 3; i++) {
    char *slash = strrchr(root, '/');
    if (!slash) return false;
    *slash = 0;
    size_t size = strlen(root);
    if (i == 0 || size + sizeof "/share/tether" > PATH_MAX) continue;
    strcpy(root + size, "/share/tether");
    if (is_folder(root)) return true;
    root[size] = 0;
  }
  return false;
}

bool tt_data_is_installed(void) {
  tt_root root;
  return installed_root(root);
}

/** An installed program never looks into the tree it was built from: whoever can write there now is somebody else. */
static int data_roots(tt_root roots[MAX_ROOTS]) {
  int count = 0;
  if (*first_root) memcpy(roots[count++], first_root, PATH_MAX);
  if (*own_root) memcpy(roots[count++], own_root, PATH_MAX);
  if (!installed_root(roots[count])) snprintf(roots[count], PATH_MAX, "%s", TETHER_SOURCE_DIR);
  return count + 1;
}

static bool is_file(const char *path) {
  struct stat info;
  return !stat(path, &info) && S_ISREG(info.st_mode);
}

static const char *const endings[] = {".yaml", ".yml", ".xml", ".urdf", ".mjcf"};

static bool has_ending(const char *name) {
  const char *dot = strrchr(name, '.');
  for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++) {
    if (!strcmp(dot, endings[i])) return true;
  }
  return false;
}

static bool whole_paths;
static _Thread_local const char *confined; /* to this folder; NULL: not at all */

void tt_data_confine(const char *folder) { confined = folder; }

static bool lies_below(const char *path, const char *folder) {
  size_t size = strlen(folder);
  return size > 0 && strncmp(path, folder, size) == 0 && path[size] == '/';
}

bool tt_data_holds(const char *path) {
  tt_root roots[MAX_ROOTS], real;
  int count = data_roots(roots);
  for (int i = 0; i < count; i++)
    if (realpath(roots[i], real) && lies_below(path, real)) return true;
  return false;
}

bool tt_data_comes_along(const char *path) {
  tt_root roots[MAX_ROOTS], root, real;
  int count = data_roots(roots);
  return realpath(roots[count - 1], root) && realpath(path, real) && lies_below(real, root);
}

/** Whether `name` leads out of the folder that this thread is confined to, from a file of it: how deep it goes. */
static bool leads_out(const char *name, const char *including) {
  if (!confined || !including || !lies_below(including, confined)) return false;
  int depth = *name == '/' ? -1 : 0;
  for (const char *at = including + strlen(confined) + 1; (at = strchr(at, '/')); at++) depth++;
  for (size_t size; *name && depth >= 0; name += size + (name[size] == '/')) {
    size = strcspn(name, "/");
    bool up = size == 2 && memcmp(name, "..", 2) == 0, stays = !size || (size == 1 && *name == '.');
    depth += up ? -1 : stays ? 0 : 1;
  }
  return depth < 0;
}

void tt_data_keep_whole_paths(void) { whole_paths = true; }

/** Without looking at what links lead to: who names a file by one means what stands beside the link. */
static void make_whole(char **path) {
  char here[PATH_MAX], *whole;
  if (**path == '/' || !getcwd(here, sizeof here)) return;
  if (asprintf(&whole, "%s/%s", here, *path) < 0) return;
  free(*path);
  *path = whole;
}

/** People read paths that are below where they work relative to it. */
static void shorten(char *path) {
  char here[PATH_MAX];
  if (!getcwd(here, sizeof here)) return;
  size_t size = strlen(here);
  if (!strncmp(path, here, size) && path[size] == '/')
    memmove(path, path + size + 1, strlen(path + size + 1) + 1);
}

static bool take_file(char **path) {
  if (!is_file(*path) || !has_ending(*path)) {
    free(*path);
    return false;
  }
  if (whole_paths || confined)
    make_whole(path);
  else
    shorten(*path);
  return true;
}

/** Takes `folder/name`, or the file of that kind inside it, if there is one. */
static bool try_path(const tt_data_kind *kind, const char *folder, const char *name, char **path) {
  const char *slash = *folder ? "/" : "";
  if (asprintf(path, "%s%s%s", folder, slash, name) < 0) return false;
  if (take_file(path)) return true;
  if (!kind->file || asprintf(path, "%s%s%s/%s", folder, slash, name, kind->file) < 0) return false;
  return take_file(path);
}

static bool try_root(const tt_data_kind *kind, const char *root, const char *name, bool is_path,
                     char **path) {
  char folder[PATH_MAX + 16], file[2 * NAME_MAX + 8];
  snprintf(folder, sizeof folder, "%.*s/%s", PATH_MAX - 1, root, kind->folder);
  if (is_path || kind->file) return try_path(kind, folder, name, path);
  snprintf(file, sizeof file, "%.*s.yaml", NAME_MAX, name);
  if (try_path(kind, folder, file, path)) return true;
  snprintf(file, sizeof file, "%.*s/%.*s.yaml", NAME_MAX, name, NAME_MAX, name);
  return try_path(kind, folder, file, path); /* one with its robots beside it */
}

/** All names of this kind, once each, comma separated, and the one nearest to `nearest->wanted`. */
typedef struct tt_listing {
  char *names[256];
  int count;
} tt_listing;

static void list_root(const tt_data_kind *kind, const char *root, tt_listing *listing) {
  char folder[PATH_MAX + 16];
  snprintf(folder, sizeof folder, "%.*s/%s", PATH_MAX - 1, root, kind->folder);
  struct dirent **entries;
  int count = scandir(folder, &entries, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    char *name = entries[i]->d_name, *found;
    char *dot = strrchr(name, '.');
    if (!kind->file && dot && !strcmp(dot, ".yaml")) *dot = 0;
    bool known = *name == '.' || !try_root(kind, root, name, false, &found);
    if (!known) free(found);
    for (int k = 0; k < listing->count; k++) known = known || !strcmp(listing->names[k], name);
    if (!known && listing->count < 256 && (listing->names[listing->count] = strdup(name)))
      listing->count++;
    free(entries[i]);
  }
  if (count >= 0) free(entries);
}

char **tt_data_list(const tt_data_kind *kind) {
  tt_root roots[MAX_ROOTS];
  tt_listing listing = {.count = 0};
  int count = data_roots(roots);
  for (int i = 0; i < count; i++) list_root(kind, roots[i], &listing);
  char **names = calloc((size_t)listing.count + 1, sizeof *names);
  for (int i = 0; i < listing.count; i++) {
    if (names)
      names[i] = listing.names[i];
    else
      free(listing.names[i]);
  }
  return names;
}

/** The name of something else given as a scene's is told as what it is. */
static tt_status refuse_other_kind(const char *name, const char *where, tt_root *roots, int count,
                                   tt_error *error) {
  char *found;
  for (int i = 0; i < count; i++) {
    if (try_root(&tt_data_robot, roots[i], name, false, &found)) {
      free(found);
      return tt_fail(error, TT_INVALID,
                     "%s: '%s' is a robot; a scene names it: robots: [{robot: %s}]", where, name,
                     name);
    }
    if (try_root(&tt_data_arena, roots[i], name, false, &found)) {
      free(found);
      return tt_fail(error, TT_INVALID, "%s: '%s' is an arena; a scene names it: arena: %s", where,
                     name, name);
    }
    if (try_root(&tt_data_plan, roots[i], name, false, &found)) {
      free(found);
      return tt_fail(error, TT_INVALID,
                     "%s: '%s' is the plan of a sweep, not a scene: tether sweep %s", where, name,
                     name);
    }
  }
  return TT_OK;
}

static void join(char path[2 * PATH_MAX], const char *folder, const char *name) {
  bool joined = *folder && *name != '/';
  snprintf(path, 2 * PATH_MAX, "%s%s%s", joined ? folder : "", joined ? "/" : "", name);
}

/** The file of `folder` that `name` may mean, which lacks its ending. */
static bool find_unended(const char *folder, const char *name, char file[NAME_MAX + 8]) {
  char path[2 * PATH_MAX];
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    snprintf(file, NAME_MAX + 8, "%s%s", name, endings[i]);
    join(path, folder, file);
    if (is_file(path)) return true;
  }
  return false;
}

static tt_status not_found(const tt_data_kind *kind, const char *folder, const char *name,
                           const char *where, tt_root *roots, int count, tt_error *error) {
  if (kind == &tt_data_scene) TT_TRY(refuse_other_kind(name, where, roots, count, error));
  tt_listing listing = {.count = 0};
  for (int i = 0; i < count; i++) list_root(kind, roots[i], &listing);
  tt_nearest nearest = tt_nearest_start(name);
  char list[512] = "none";
  size_t size = 0;
  for (int i = 0; i < listing.count; i++) {
    tt_nearest_offer(&nearest, listing.names[i]);
    if (size < sizeof list) {
      size += (size_t)snprintf(list + size, sizeof list - size, "%s%s", i ? ", " : "",
                               listing.names[i]);
    }
  }
  char here[NAME_MAX + 8];
  tt_status status = find_unended(folder, name, here)
                         ? tt_fail(error, TT_INVALID,
                                   "%s: there is no %s '%s'; for the file in %s folder, give its "
                                   "whole name: %s",
                                   where, kind->noun, name, kind->file ? "its" : "this", here)
                     : nearest.best
                         ? tt_fail(error, TT_INVALID, "%s: there is no %s '%s'; did you mean '%s'?",
                                   where, kind->noun, name, nearest.best)
                         : tt_fail(error, TT_INVALID, "%s: there is no %s '%s'; there are: %s",
                                   where, kind->noun, name, list);
  for (int i = 0; i < listing.count; i++) free(listing.names[i]);
  return status;
}

/** A misspelt path is told with the file of its folder that is nearest to it. */
static tt_status no_file(const char *folder, const char *name, const char *where, tt_error *error) {
  char path[2 * PATH_MAX];
  join(path, folder, name);
  char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  tt_nearest nearest = tt_nearest_start(base);
  struct dirent **entries;
  if (slash) *slash = 0;
  int count = scandir(slash == path ? "/" : slash ? path : ".", &entries, NULL, alphasort);
  for (int i = 0; i < count; i++)
    if (has_ending(entries[i]->d_name)) tt_nearest_offer(&nearest, entries[i]->d_name);
  tt_status status =
      nearest.best ? tt_fail(error, TT_INVALID, "%s: there is no file '%s'; did you mean '%s'?",
                             where, name, nearest.best)
                   : tt_fail(error, TT_INVALID, "%s: there is no file '%s'", where, name);
  for (int i = 0; i < count; i++) free(entries[i]);
  if (count >= 0) free(entries);
  return status;
}

tt_status tt_data_find(const tt_data_kind *kind, const char *name, const char *including,
                       const char *where, char **path, tt_error *error) {
  *path = NULL;
  bool is_path = strchr(name, '/') || has_ending(name);
  if (!*name || strlen(name) >= NAME_MAX + (is_path ? PATH_MAX - NAME_MAX : 0)) {
    return tt_fail(error, TT_INVALID, "%s: '%.80s' is no name of a %s", where, name, kind->noun);
  }
  if (leads_out(name, including))
    return tt_fail(error, TT_INVALID,
                   "%s: '%s' lies elsewhere; add the file here, and name it by its path from here",
                   where, name);
  char folder[PATH_MAX] = "", near[2 * PATH_MAX];
  const char *slash = including ? strrchr(including, '/') : NULL;
  if (slash && *name != '/')
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - including), including);
  if (slash && slash == including && *name != '/') strcpy(folder, "/");
  if (is_path && try_path(kind, folder, name, path)) return TT_OK;
  tt_root roots[MAX_ROOTS];
  int count = data_roots(roots);
  for (int i = 0; i < count && *name != '/'; i++) {
    if (try_root(kind, roots[i], name, is_path, path)) return TT_OK;
  }
  *path = NULL;
  join(near, folder, name);
  TT_TRY(tt_stranger_refuse(kind->noun, near, name, where, error));
  if (is_path) return no_file(folder, name, where, error);
  return not_found(kind, folder, name, where, roots, count, error);
}
