/* observer.h: who watches a world from another thread: recorder, telemetry, web.
 *
 * The world calls publish() once a tick with its view; an observer copies what it wants into a bounded
 * single-producer queue of its own (tt_view_queue) and returns at once. One that is slow loses samples
 * and is told how many; the world never notices.
 */
#ifndef TT_MODEL_OBSERVER_H
#define TT_MODEL_OBSERVER_H

#include "model/view.h"

#include <stdint.h>

/** Who is shown the world. It belongs to whoever added it, and outlives the world or is detached before. */
typedef struct tt_observer {
  /** World's thread; must not block, lock for long, or allocate. */
  void (*publish)(struct tt_observer *observer, const tt_view *view);
  /** World's thread: something people want to know (reset, connect, watchdog, pause). May be NULL. */
  void (*event)(struct tt_observer *observer, uint64_t step, const char *source, const char *text);
  /** World's thread: the view as it is, once more, for who begins to look (TT_MAIL_SHOW). May be NULL. */
  void (*show)(struct tt_observer *observer, const tt_view *view);
} tt_observer;

/** A bounded single-producer single-consumer queue of views. Wait-free on both ends. */
typedef struct tt_view_queue tt_view_queue;
/** For `capacity` views of one model; NULL: out of memory. Freed once neither end uses it; NULL-safe. */
tt_view_queue *tt_view_queue_new(const tt_model *model, int capacity);
void tt_view_queue_free(tt_view_queue *queue);
/** Producer: copies `view` in. When it is full, the newest view is kept all the same; others are dropped and counted. */
void tt_view_queue_push(tt_view_queue *queue, const tt_view *view);
/** Consumer: the oldest view, or NULL; `lost` (may be NULL) gets the samples dropped just before it.
 *  The view stays valid until tt_view_queue_pop(), which is of this one. */
const tt_view *tt_view_queue_front(tt_view_queue *queue, uint64_t *lost);
void tt_view_queue_pop(tt_view_queue *queue);
/** Views that wait, but for one that had no place. Any thread. */
uint64_t tt_view_queue_waiting(const tt_view_queue *queue);
/** Dropped so far. Any thread. */
uint64_t tt_view_queue_lost(const tt_view_queue *queue);

#endif
