/* files.h: a folder of files that come from elsewhere: their names never lead out of it, and it has limits. */
#ifndef TT_DRAFT_FILES_H
#define TT_DRAFT_FILES_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_DRAFT_MOST_FILES 200
#define TT_DRAFT_MOST_BYTES ((size_t)128 << 20)
#define TT_DRAFT_MOST_FILE ((size_t)32 << 20)
#define TT_DRAFT_MOST_PATH 256 /**< bytes of a path, its end included */
#define TT_DRAFT_MOST_NAMES 8  /**< of a path: folders, and the file */

/** Whether `path` may name a file of a folder: relative UTF-8 text of at most 8 names, each of 1 to 100 bytes, that neither begins with a
 *  dot or a blank nor has a backslash or a control character. */
bool tt_draft_path_is_good(const char *path);
/** Whether what has this path may be a scene, or become one. */
bool tt_draft_path_is_yaml(const char *path);

/** A file. */
typedef struct tt_draft_file {
  char path[TT_DRAFT_MOST_PATH]; /**< relative to the folder */
  size_t size;                   /**< bytes */
  int64_t changed;               /**< ns since 1970 */
} tt_draft_file;

/** All of a folder, by path. Free it with tt_draft_files_free(). */
typedef struct tt_draft_files {
  tt_draft_file *items;
  int count;
  size_t bytes;      /**< together */
  int64_t changed;   /**< of the one that changed last */
  bool more;         /**< there are others, beyond TT_DRAFT_MOST_FILES */
  uint64_t revision; /**< another one with each change; below 2^53 */
} tt_draft_files;

/** Lists regular files whose path is good, links and whatever else not. Blocks. TT_NOT_FOUND: there is no such folder; TT_NOMEM. */
tt_status tt_draft_files_list(const char *folder, tt_draft_files *files, tt_error *error);
void tt_draft_files_free(tt_draft_files *files);

/** The bytes of a file, a 0 behind them; free() them. TT_INVALID: no such path; TT_NOT_FOUND: there is none; TT_FAILED: it can't be
 *  read, or not whole; TT_FULL: larger than TT_DRAFT_MOST_FILE. */
tt_status tt_draft_file_read(const char *folder, const char *path, char **bytes, size_t *size,
                             tt_error *error);
/** Makes or replaces a file, whole or not at all. TT_INVALID: the path; TT_FULL: beyond the limits above, or of the disk; TT_FAILED. */
tt_status tt_draft_file_write(const char *folder, const char *path, const void *bytes, size_t size,
                              tt_error *error);
/** Removes a file, and the folders that are empty then. TT_NOT_FOUND, TT_FAILED. */
tt_status tt_draft_file_remove(const char *folder, const char *path, tt_error *error);
/** Removes a folder with all that is in it, links themselves and not what they lead to. TT_FAILED. */
tt_status tt_draft_folder_remove(const char *folder, tt_error *error);

#endif
