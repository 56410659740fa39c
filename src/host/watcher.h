/* watcher.h: who watches a world from a thread of its own, with sockets: shows the newest view every period of the wall
 * clock, and what people were told. The world's thread only fills queues.
 */
#ifndef TT_HOST_WATCHER_H
#define TT_HOST_WATCHER_H

#include "host/world.h"

/** What people were told; texts are cut to their room. */
typedef struct tt_told {
  uint64_t step;
  char source[32], text[224];
} tt_told;

/** Called in the watcher's thread. */
typedef struct tt_watcher_options {
  const char *name; /**< of who watches, for errors: "nt4" */
  double period;    /**< s of the wall clock between looks at the view, > 0 */
  /** The newest view, every period, also while the world rests and it is the same. Valid during the call. */
  void (*show)(void *context, const tt_view *view);
  /** May be NULL. */
  void (*hear)(void *context, const tt_told *told);
  /** After each round of the loop, at least every 5 ms. */
  void (*turn)(void *context);
  void *context;
} tt_watcher_options;

typedef struct tt_watcher tt_watcher;

/** Watches nothing yet; its loop is there for sockets. NULL: out of memory. */
tt_watcher *tt_watcher_new(tt_world *world, const tt_watcher_options *options);
/** Not while it is started. NULL-safe. */
void tt_watcher_free(tt_watcher *watcher);
/** The loop, which belongs to the thread once that is started. */
tt_net *tt_watcher_net(tt_watcher *watcher);
/** Adds itself to the world, which has not begun, and starts its thread. */
tt_status tt_watcher_start(tt_watcher *watcher, tt_error *error);
/** Once the world publishes no more: ends the thread. Again, or before it is started, nothing happens. */
void tt_watcher_stop(tt_watcher *watcher);

#endif
