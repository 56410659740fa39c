/* queue.h: a bounded queue of fixed-size items, many producers and one consumer, that never blocks.
 *
 * Each cell carries a sequence number that says whose turn it is (D. Vyukov, "Bounded MPMC queue", 2010).
 * The world's mailbox is one, the log another.
 */
#ifndef TT_BASE_QUEUE_H
#define TT_BASE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tt_queue tt_queue;

/** `capacity` is rounded up to a power of two. NULL when out of memory. */
tt_queue *tt_queue_new(size_t capacity, size_t item_size);
void tt_queue_free(tt_queue *queue);
/** Copies an item in; false when full. Any thread; wait-free but for other producers; async-signal-safe. */
bool tt_queue_push(tt_queue *queue, const void *item);
/** Copies the oldest item out; false when empty. One thread. */
bool tt_queue_pop(tt_queue *queue, void *item);
/** How many wait, about. Any thread. */
size_t tt_queue_waiting(const tt_queue *queue);

#endif
