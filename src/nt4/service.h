/* service.h: what a running world shows to viewers of NetworkTables 4: poses, components, game pieces, every signal. The
 * scene's section `nt4`.
 *
 * A thread of its own publishes the newest view every `period`; the world's thread only fills a queue. What others write
 * enters by the world's mailbox.
 */
#ifndef TT_NT4_SERVICE_H
#define TT_NT4_SERVICE_H

#include "host/world.h"
#include "game/field.h"
#include "model/schema.h"

typedef struct tt_nt4_keys {
  char *listen;  /**< "127.0.0.1:5810"; NULL: no server */
  char *connect; /**< "ws://127.0.0.1:5810"; NULL: no client */
  char *period;  /**< "20 ms", wall clock */
  char **allow;
  unsigned allow_count;
  bool commands;         /**< others may write commands */
  double period_seconds; /**< of `period`; by check() */
} tt_nt4_keys;

/** The section's keys and defaults. */
extern const tt_schema tt_nt4_schema;

typedef struct tt_nt4_service tt_nt4_service;

/** Adds an observer to a world that has not begun, and listens, and begins to look for the other's server. Poses are given in the frame of `field`. */
tt_status tt_nt4_service_open(tt_world *world, const tt_nt4_keys *keys, const tt_field *field,
                              tt_nt4_service **service, tt_error *error);
/** Static for its life; NULL: it does not listen. */
const char *tt_nt4_service_address(const tt_nt4_service *service);
/** Once the world publishes no more. NULL-safe. */
void tt_nt4_service_close(tt_nt4_service *service);

#endif
