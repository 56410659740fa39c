/* file.h: a file's name and content, as it passes from who read it to who keeps it; and its name on the disk. */
#ifndef TT_BASE_FILE_H
#define TT_BASE_FILE_H

#include "base/status.h"

#include <stddef.h>
#include <stdio.h>

typedef struct tt_file {
  const char *path; /**< absolute */
  const void *bytes;
  size_t size;
} tt_file;

/** Opens a file to be read; fclose() it. A folder, a pipe or a device is refused at once: to open a pipe is to wait for its
 *  other end. TT_INVALID with "PATH: why"; `*file` is NULL then. Any thread. */
tt_status tt_file_open(const char *path, FILE **file, tt_error *error);

/** Has the disk keep the name of a file that was made or renamed: its content, once synced, is of no use without. What a
 *  broken disk answers is left to the syncing of the content. */
void tt_file_sync_name(const char *path);

#endif
