/* rows_folder.h: the folder that shards share: writes files of rows, and reads those that others have written. */
#ifndef TT_SWEEP_ROWS_FOLDER_H
#define TT_SWEEP_ROWS_FOLDER_H

#include "sweep/shard.h"

/** Which files of a folder were read. Zero at first, but for `plan` and `path`. */
typedef struct tt_rows_folder {
  const tt_sweep_plan *plan;
  const char *path;
  uint64_t first,
      end;    /**< files of shards that make none of these runs aren't read; `end` 0: all are */
  void *seen; /**< names, a tree of tsearch() */
  tt_sweep_collected said;
} tt_rows_folder;

/** Gives the rows of all files that have come since the last call, in the order of their names. Files that are torn or another plan's are counted
 *  and warned of in the log. Stops at another status of `visit` than TT_OK, which is handed on. TT_FAILED: the folder can't be
 *  read. */
tt_status tt_rows_folder_read(tt_rows_folder *folder,
                              tt_status (*visit)(void *context, const tt_sweep_row *row,
                                                 tt_error *error),
                              void *context, tt_error *error);
void tt_rows_folder_clear(tt_rows_folder *folder);

/** Writes a file of a name that nobody else has, beginning with `stem`: whole, and on the disk, before it has it. */
tt_status tt_rows_folder_write(const char *path, const char *stem, const void *bytes, size_t size,
                               tt_error *error);

#endif
