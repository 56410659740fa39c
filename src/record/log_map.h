/* log_map.h: logs in memory, as they are mapped.
 *
 * Who cuts a file that is mapped, by copying another one over it, takes the memory away under who reads it: SIGBUS, which ends a process.
 * A program that has tt_log_map_mend() asked about it reads zeros from there on, which are no records of anything.
 */
#ifndef TT_RECORD_LOG_MAP_H
#define TT_RECORD_LOG_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The first bytes of a file, for reading; NULL: errno says why not. */
const uint8_t *tt_log_map(int file, size_t size);
/** The same file, which has become larger; perhaps elsewhere. NULL: all is as before. */
const uint8_t *tt_log_map_more(const uint8_t *data, size_t size, size_t more);
void tt_log_unmap(const uint8_t *data, size_t size);

/** Whether SIGBUS at `address` was about a log that was cut, so that reading it again works now. For signal handlers. */
bool tt_log_map_mend(const void *address);

#endif
