/* log_file.h: the file of a run log while it is written: pieces of whole records, each with its checksum.
 *
 * What a disk refuses ends it: what comes behind would make no sense to a reader. One thread writes; another may sync.
 */
#ifndef TT_RECORD_LOG_FILE_H
#define TT_RECORD_LOG_FILE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tt_log_file tt_log_file;

/** Creates it, refusing to overwrite anything that is not empty or that another recorder has, and locks it (flock), which says that it grows.
 *  @param checksum id of the entry of checksums, below 256
 *  @return TT_FULL: the disk has no room; TT_FAILED, with the reason */
tt_status tt_log_file_open(const char *path, uint8_t checksum, tt_log_file **file, tt_error *error);
/** NULL-safe. */
void tt_log_file_close(tt_log_file *file);
/** Writes whole records, and the checksum of their bytes. False once the disk refused something, which the log says once, but
 *  not of the very first, which is the caller's to say; errno has the reason.
 *  @param timestamp µs, of the checksum */
bool tt_log_file_write(tt_log_file *file, const void *bytes, size_t size, uint64_t timestamp);
/** What was written survives a failure of the power. Any thread. False as above, and once the file has no name any more,
 *  because it was removed or another took its place: nobody will find it. */
bool tt_log_file_sync(tt_log_file *file);
/** Has it ended before its run, since the disk refused something or the file has no name any more? Any thread. */
bool tt_log_file_broken(const tt_log_file *file);
/** Has it no name any more? Any thread. */
bool tt_log_file_removed(const tt_log_file *file);
/** TT_OK while all is kept; TT_FAILED with "PATH: why, and what of it is kept". Any thread. */
tt_status tt_log_file_check(const tt_log_file *file, tt_error *error);
/** Bytes written. Any thread. */
uint64_t tt_log_file_bytes(const tt_log_file *file);
/** Removes a file that is not worth keeping; still to be closed. */
void tt_log_file_remove(tt_log_file *file);

#endif
