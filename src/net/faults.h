/* faults.h: an imperfect network for one direction of a UDP endpoint: seeded, on simulated time, bounded. */
#ifndef TT_NET_FAULTS_H
#define TT_NET_FAULTS_H

#include "net/address.h"
#include "net/net.h"

#include <stdbool.h>
#include <stdint.h>

#define TT_FAULT_QUEUE 1024 /**< datagrams under way in one direction; a further one is lost */

typedef struct tt_flight {
  double due;        /**< s simulated */
  uint64_t sequence; /**< breaks ties: first in, first out */
  tt_address peer;
  size_t size;
  bool truncated;
  uint8_t *bytes;
} tt_flight;

typedef struct tt_fault_line {
  tt_faults faults;
  uint64_t random[4];
  uint64_t sequence;
  tt_flight *flights; /**< heap, the next one due first */
  int count;
  tt_flight held; /**< a datagram that waits to be overtaken; bytes NULL: none */
} tt_fault_line;

/** True if `faults` changes anything. */
bool tt_faults_any(const tt_faults *faults);
/** `direction` 0 or 1, so that the two directions of one seed differ. */
tt_status tt_fault_line_open(tt_fault_line *line, const tt_faults *faults, uint64_t direction,
                             tt_error *error);
void tt_fault_line_close(tt_fault_line *line);
/** Puts a datagram on the line at `time`. Copies the bytes. */
void tt_fault_line_put(tt_fault_line *line, double time, const uint8_t *bytes, size_t size,
                       bool truncated, const tt_address *peer);
/** Takes the next datagram that is due at `time`; the caller frees flight->bytes. False: none is. */
bool tt_fault_line_take(tt_fault_line *line, double time, tt_flight *flight);

#endif
