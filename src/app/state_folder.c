#include "app/state_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tt_status status_of(int number) {
  return number == ENOSPC || number == EDQUOT ? TT_FULL : TT_FAILED;
}

/* mkdir -p; others than the owner have no business here. */
static int make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    int made = mkdir(path, 0700);
    *slash = '/';
    if (made != 0 && errno != EEXIST) return -1;
  }
  return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -1;
}

/* The folder that `variable` names, else BELOW in the home folder: HOME, or as the system knows it, since services and cron may
 * have no HOME. Relative paths are ignored, as the XDG Base Directory Specification asks. */
static tt_status find_base(const char *variable, const char *below, char *path, size_t size,
                           tt_error *error) {
  const char *base = getenv(variable), *home = getenv("HOME");
  char text[4096];
  struct passwd entry, *found = NULL;
  if (base && *base == '/') {
    snprintf(path, size, "%s", base);
    return TT_OK;
  }
  if (!home || *home != '/') {
    getpwuid_r(getuid(), &entry, text, sizeof text, &found);
    home = found ? found->pw_dir : NULL;
  }
  if (!home || *home != '/')
    return tt_fail(error, TT_FAILED,
                   "this user has no home folder: HOME is not set, and the system knows none; set "
                   "HOME, or %s, to a whole path",
                   variable);
  snprintf(path, size, "%s/%s", strcmp(home, "/") == 0 ? "" : home, below);
  return TT_OK;
}

tt_status tt_state_path(const char *placed, const char *name, char *path, size_t size,
                        tt_error *error) {
  char base[4096];
  if (placed) {
    snprintf(path, size, "%s", placed);
    return TT_OK;
  }
  TT_TRY(find_base("XDG_STATE_HOME", ".local/state", base, sizeof base, error));
  snprintf(path, size, "%s/tether/%s", base, name);
  return TT_OK;
}

tt_status tt_state_folder(const char *placed, const char *name, char *path, size_t size,
                          tt_error *error) {
  TT_TRY(tt_state_path(placed, name, path, size, error));
  if (make_folders(path) != 0)
    return tt_fail(error, status_of(errno), "%s: can't make this folder: %s; set XDG_STATE_HOME",
                   path, strerror(errno));
  return TT_OK;
}

tt_status tt_own_root(char *path, size_t size, tt_error *error) {
  char base[4096];
  TT_TRY(find_base("XDG_DATA_HOME", ".local/share", base, sizeof base, error));
  snprintf(path, size, "%s/tether", base);
  return TT_OK;
}

tt_status tt_state_file(const char *path, tt_error *error) {
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
  if (file < 0)
    return tt_fail(error, status_of(errno), "%s: can't write here: %s", path, strerror(errno));
  close(file);
  return TT_OK;
}
