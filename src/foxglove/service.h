/* service.h: a running world, or a kept run, in Foxglove: scene, transforms, signals, events, time; pause, step, speed, reset,
 * seek; commands. The scene's section `foxglove`.
 *
 * A thread of its own publishes the newest view every `period`; the world's thread only fills queues. What others ask for
 * enters by the world's mailbox.
 */
#ifndef TT_FOXGLOVE_SERVICE_H
#define TT_FOXGLOVE_SERVICE_H

#include "game/field.h"
#include "host/world.h"
#include "model/schema.h"

typedef struct tt_foxglove_keys {
  char *listen;   /**< "127.0.0.1:8765" */
  char *period;   /**< "20 ms", wall clock */
  bool commands;  /**< clients may set commands */
  char **origins; /**< of pages elsewhere that may command and pause, too */
  unsigned origin_count;
  char **allow;
  unsigned allow_count;
  double period_seconds; /**< of `period`; by check() */
} tt_foxglove_keys;

/** The section's keys and defaults. */
extern const tt_schema tt_foxglove_schema;

/** What is shown. */
typedef struct tt_foxglove_shown {
  const char *scene; /**< its name, for people */
  tt_field field;
  double begin,
      duration; /**< s, where a kept run begins and ends; 0: a world that computes its own */
} tt_foxglove_shown;

typedef struct tt_foxglove_service tt_foxglove_service;

/** Adds an observer to a world that has not begun, and listens. `keys` outlive it. */
tt_status tt_foxglove_service_open(tt_world *world, const tt_foxglove_keys *keys,
                                   const tt_foxglove_shown *shown, tt_foxglove_service **service,
                                   tt_error *error);
/** Static for its life. */
const char *tt_foxglove_service_address(const tt_foxglove_service *service);
/** Once the world publishes no more. NULL-safe. */
void tt_foxglove_service_close(tt_foxglove_service *service);

#endif
