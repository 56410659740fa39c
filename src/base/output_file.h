/* output_file.h: a file that somebody named for a result: it has its name once it is whole. */
#ifndef TT_BASE_OUTPUT_FILE_H
#define TT_BASE_OUTPUT_FILE_H

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct tt_output_file {
  FILE *stream; /**< to write to */
  const char *path;
  bool in_place;
  char part[PATH_MAX]; /**< where it is written, unless in place */
} tt_output_file;

/** Begins the file at `path`, a text that stays. It is written as PATH.part (PATH.part2 and so on where that is there), which
 *  takes its place and permissions at the end: what is there stays as it is until then, and a program that is killed leaves no half of it.
 *  Written in place are links (/dev/stdout), pipes and devices, which no file can replace, and a file whose folder lets no other be
 *  made; copied into at the end is one that can't be replaced. TT_FAILED with "PATH: can't write:
 *  why". Any thread. */
tt_status tt_output_file_open(const char *path, tt_output_file *to, tt_error *error);

/** Whether it could be begun, long before it is: nothing is made or changed. TT_FAILED as tt_output_file_open(). Any thread. */
tt_status tt_output_file_check(const char *path, tt_error *error);

/** Ends it. `status` is how the writing went: with TT_OK the file gets its name, with any other what was written is removed. Returns
 *  `status`, or TT_FAILED with "PATH: can't write: why" where that was TT_OK and not all is written. */
tt_status tt_output_file_close(tt_output_file *to, tt_status status, tt_error *error);

#endif
