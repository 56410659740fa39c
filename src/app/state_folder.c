#include "app/state_folder.h"

#include <errno.h>
#include <fcntl.h>
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

void tt_state_path(const char *placed, const char *name, char *path, size_t size) {
  const char *state = getenv("XDG_STATE_HOME");
  const char *home = getenv("HOME");
  if (placed)
    snprintf(path, size, "%s", placed);
  else if (state && *state)
    snprintf(path, size, "%s/tether/%s", state, name);
  else
    snprintf(path, size, "%s/.local/state/tether/%s", home && *home ? home : "/tmp", name);
}

tt_status tt_state_folder(const char *placed, const char *name, char *path, size_t size,
                          tt_error *error) {
  tt_state_path(placed, name, path, size);
  if (make_folders(path) != 0)
    return tt_fail(error, status_of(errno), "%s: can't make this folder: %s; set XDG_STATE_HOME",
                   path, strerror(errno));
  return TT_OK;
}

void tt_own_root(char *path, size_t size) {
  const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
  if (data && *data)
    snprintf(path, size, "%s/tether", data);
  else
    snprintf(path, size, "%s/.local/share/tether", home && *home ? home : "/tmp");
}

tt_status tt_state_file(const char *path, tt_error *error) {
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
  if (file < 0)
    return tt_fail(error, status_of(errno), "%s: can't write here: %s", path, strerror(errno));
  close(file);
  return TT_OK;
}
