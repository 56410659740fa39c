/* conformance.h: the tests that every wire has to pass, whatever its protocol. For tests only.
 *
 * A wire describes one valid message from its controller and where its numbers stand; the suite makes everything out
 * of it that a bad network or a bad program could send, to a world of a real scene over a real socket, and compares
 * that world with one that was never attacked.
 */
#ifndef TT_WIRE_CONFORMANCE_H
#define TT_WIRE_CONFORMANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TT_CONFORMANCE_MESSAGE 1024 /**< bytes that hold any message of a controller */

/** A float32 in a message. */
typedef struct tt_conformance_field {
  const char *name; /**< as the log must name it */
  int offset;
  bool big_endian;
  bool limited; /**< ±1e30 is out of its range */
} tt_conformance_field;

typedef struct tt_conformance {
  const char *scene;           /**< with this wire alone, or as its first */
  const char *const *settings; /**< as --set; must bind 127.0.0.1:0 */
  int setting_count;
  /** Writes the n-th valid message (n = 1, 2, …; a later one is newer and says something else). Returns its size. */
  size_t (*message)(uint64_t n, uint8_t bytes[TT_CONFORMANCE_MESSAGE]);
  const tt_conformance_field *fields;
  int field_count;

  /* Datagrams */
  bool ordered;     /**< messages carry a timestamp: an old one is dropped */
  bool fixed_size;  /**< any other length is refused */
  const char *wire; /**< its name in the scene */
  /** Whether a message of the simulator is newer than another, by its time; NULL: it holds none. */
  bool (*is_newer)(const uint8_t *message, const uint8_t *than);

  /* Streams that answer each message with one of their own */
  size_t answer_size; /**< bytes of a message from the simulator, or of the longest */
  /** Receives one whole message of the simulator and returns its bytes; where it ends or fails, what recv() returned. NULL: all have
   *  answer_size. */
  ssize_t (*answer)(int socket, uint8_t bytes[TT_CONFORMANCE_MESSAGE]);
  /** Writes what a controller says before its first message, at most TT_CONFORMANCE_MESSAGE bytes. NULL: nothing. */
  size_t (*greeting)(uint8_t bytes[TT_CONFORMANCE_MESSAGE]);
  const char *const *
      hold_settings; /**< three, with which the world goes on without answers, and has a watchdog */
  /** a bad number refuses its message, but does not cost the connection */
  bool bad_numbers_answered;
} tt_conformance;

/** Runs all tests for a wire over UDP in real time, or for one over TCP, and returns what main() returns. */
int tt_conformance_datagrams(const tt_conformance *wire);
/** Those of a wire over UDP at pace lockstep. */
int tt_conformance_in_lockstep(const tt_conformance *wire);
int tt_conformance_stream(const tt_conformance *wire);

#endif
