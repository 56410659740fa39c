/* file.h: a file's name and content, as it passes from who read it to who keeps it. */
#ifndef TT_CORE_FILE_H
#define TT_CORE_FILE_H

#include <stddef.h>

typedef struct tt_file {
  const char *path; /**< absolute */
  const void *bytes;
  size_t size;
} tt_file;

#endif
