/* file.h: a file's name and content, as it passes from who read it to who keeps it; and its name on the disk. */
#ifndef TT_BASE_FILE_H
#define TT_BASE_FILE_H

#include "base/bytes.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct tt_file {
  const char *path; /**< absolute */
  const void *bytes;
  size_t size;
} tt_file;

/** Opens a file to be read; fclose() it. A folder, a pipe or a device is refused at once: to open a pipe is to wait for its
 *  other end. TT_INVALID with "PATH: why"; `*file` is NULL then. Any thread. */
tt_status tt_file_open(const char *path, FILE **file, tt_error *error);

/** The whole of a file of at most `most` bytes; of a larger one the first `most` + 1, by whose number it is known. A 0 that does not count
 *  stands behind them. `*bytes` is to be freed with tt_bytes_free(), and empty after a failure. TT_INVALID with "PATH: why", TT_NOMEM.
 *  Any thread. */
tt_status tt_file_read(const char *path, size_t most, tt_bytes *bytes, tt_error *error);

/** The same of a file that is open, from where it stands, which stays open; `path` is for the error. */
tt_status tt_file_read_rest(FILE *file, const char *path, size_t most, tt_bytes *bytes,
                            tt_error *error);

/** Whether the file at `path` can be opened to be read and written, or made, without waiting: whoever opens a pipe may wait for its other
 *  end, and some libraries do so whatever a signal says. TT_INVALID with "PATH: is a pipe or a device; `remedy`", or a folder. Any thread. */
tt_status tt_file_check_place(const char *path, const char *remedy, tt_error *error);

/** Writes all of it, however often it takes; a pipe or a socket may have it wait. False with errno: some of it may be written. */
bool tt_file_write_all(int file, const void *bytes, size_t size);
/** The same from the byte `position` on, and the file stands where it stood. */
bool tt_file_write_all_at(int file, const void *bytes, size_t size, uint64_t position);

/** Writes the file at `path` whole or not at all: under another name first, which then takes its place, and which nobody else has. Only
 *  its owner may read it. `synced`: it is on the disk then, with its name. TT_FAILED with "PATH: why", and errno says why, too; what was
 *  there stays then. TT_NOMEM. Any thread. */
tt_status tt_file_replace(const char *path, const void *bytes, size_t size, bool synced,
                          tt_error *error);

/** Has the disk keep the name of a file that was made or renamed: its content, once synced, is of no use without. What a
 *  broken disk answers is left to the syncing of the content. */
void tt_file_sync_name(const char *path);

/** The file that this code stands in, by its absolute path, into [4096]: the shared library, or the program. False where it
 *  can't be told. */
bool tt_file_own(char *path);

/** The program `name` that is installed with this code, into [4096]: libexec/tether/NAME in the folder that this code stands in, or in
 *  one of the two above: the program's bin/ or the library's lib/ARCHITECTURE/ below a prefix, or the folder in which all of it is
 *  built. False where there is none; `path` is `name` then. Any thread. */
bool tt_file_helper(const char *name, char *path);

/** Which file a name stood for. */
typedef struct tt_file_mark {
  dev_t device;
  ino_t inode; /**< 0: none */
} tt_file_mark;

/** Of the file of that name now. */
tt_file_mark tt_file_note(const char *path);
/** Whether the name stands for another file now, or none: what is written into that which was opened is lost with the
 *  program. False where none was noted. */
bool tt_file_has_moved(const char *path, const tt_file_mark *mark);

/** Whether two names stand for one file that is there. */
bool tt_file_is_same(const char *one, const char *other);

#endif
