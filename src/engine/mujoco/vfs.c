/* vfs.c: files that MuJoCo reads from memory. mj_defaultVFS() and mj_deleteVFS() each write zeros into two megabytes, which a
 * scene paid for with a thousand page faults at its start: here only what holds a file is touched. */
#include "engine/mujoco/physics_internal.h"

#include <stdlib.h>

mjVFS *physics_vfs_new(void) { return calloc(1, sizeof(mjVFS)); }

void physics_vfs_free(mjVFS *files) {
  if (!files) return;
  while (files->nfile > 0 && mj_deleteFileVFS(files, files->filename[files->nfile - 1]) == 0)
    continue;
  free(files);
}
