#include "core/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void tt_file_sync_name(const char *path) {
  char folder[4096];
  const char *end = strrchr(path, '/');
  int size = end == path ? 1 : end ? (int)(end - path) : 0;
  snprintf(folder, sizeof folder, "%.*s", size, path);
  int opened = open(size ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  fsync(opened);
  close(opened);
}
