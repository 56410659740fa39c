/* view_queue.c: the bounded single-producer single-consumer queue through which observers get views.
 *
 * A full queue drops views, but never the newest for good: after it a world may rest, and who watches would show for ever what was
 * before. So the newest of those that did not fit stands in a spare place, which the consumer looks at, too. The spare is a triple buffer: one view is the producer's, one the consumer's, and one lies between them.
 */
#include "model/observer.h"

#include <stdatomic.h>
#include <stdlib.h>

#define FRESH 4u /* beside the index of the view that lies between: the consumer has not had it */

typedef struct slot {
  tt_view *view;
  uint64_t number; /* of all views that were pushed, from 1 */
} slot;

struct tt_view_queue {
  int capacity;
  atomic_ullong head; /* views that got a place */
  atomic_ullong tail; /* views popped, without spare ones */
  atomic_ullong lost;
  tt_view *views; /* of all slots */
  slot *slots;
  slot spares[3];
  atomic_uint between;
  /* producer's */
  uint64_t pushed;
  unsigned filling; /* index of its spare */
  /* consumer's */
  uint64_t popped; /* number of the view popped last */
  slot *front;
  unsigned reading; /* index of its spare */
  bool has_spare;   /* that one is a view to come */
};

tt_view_queue *tt_view_queue_new(const tt_model *model, int capacity) {
  tt_view_queue *queue = calloc(1, sizeof *queue);
  if (!queue) return NULL;
  queue->capacity = capacity;
  queue->slots = calloc((size_t)capacity, sizeof *queue->slots);
  queue->views = tt_view_array(model, capacity + 3);
  atomic_store(&queue->between, 1);
  queue->reading = 2;
  if (!queue->slots || !queue->views) {
    tt_view_queue_free(queue);
    return NULL;
  }
  for (int i = 0; i < capacity; i++) queue->slots[i].view = &queue->views[i];
  for (int i = 0; i < 3; i++) queue->spares[i].view = &queue->views[capacity + i];
  return queue;
}

void tt_view_queue_free(tt_view_queue *queue) {
  if (!queue) return;
  tt_view_free(queue->views);
  free(queue->slots);
  free(queue);
}

static slot *slot_at(const tt_view_queue *queue, uint64_t turn) {
  return &queue->slots[turn % (uint64_t)queue->capacity];
}

static void put(slot *to, uint64_t number, const tt_view *view) {
  tt_view_copy(to->view, view);
  to->number = number;
}

/* Producer. The newest of those without a place. */
static void keep_spare(tt_view_queue *queue, const tt_view *view) {
  put(&queue->spares[queue->filling], queue->pushed, view);
  unsigned before =
      atomic_exchange_explicit(&queue->between, queue->filling | FRESH, memory_order_acq_rel);
  queue->filling = before & ~FRESH;
  if (before & FRESH) atomic_fetch_add_explicit(&queue->lost, 1, memory_order_relaxed);
}

void tt_view_queue_push(tt_view_queue *queue, const tt_view *view) {
  uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
  uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire);
  queue->pushed++;
  if (head - tail >= (uint64_t)queue->capacity) {
    keep_spare(queue, view);
    return;
  }
  put(slot_at(queue, head), queue->pushed, view);
  atomic_store_explicit(&queue->head, head + 1, memory_order_release);
}

/* Consumer. Once there is one it stays until it is popped. */
static bool has_spare(tt_view_queue *queue) {
  if (queue->has_spare) return true;
  if (!(atomic_load_explicit(&queue->between, memory_order_relaxed) & FRESH)) return false;
  queue->reading =
      atomic_exchange_explicit(&queue->between, queue->reading, memory_order_acq_rel) & ~FRESH;
  return queue->has_spare = true;
}

/* Consumer. The oldest of all that are there; NULL: there is none. What is in the queue was looked at before the spare one,
 * so that no older spare one is overlooked; and again after it, so that nothing older than it is. */
static slot *oldest(tt_view_queue *queue) {
  uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
  slot *first = slot_at(queue, tail), *spare;
  bool any = atomic_load_explicit(&queue->head, memory_order_acquire) != tail;
  if (!has_spare(queue)) return any ? first : NULL;
  spare = &queue->spares[queue->reading];
  any = atomic_load_explicit(&queue->head, memory_order_acquire) != tail;
  return any && first->number < spare->number ? first : spare;
}

const tt_view *tt_view_queue_front(tt_view_queue *queue, uint64_t *lost) {
  queue->front = oldest(queue);
  if (!queue->front) return NULL;
  if (lost) *lost = queue->front->number - queue->popped - 1;
  return queue->front->view;
}

void tt_view_queue_pop(tt_view_queue *queue) {
  queue->popped = queue->front->number;
  if (queue->has_spare && queue->front == &queue->spares[queue->reading])
    queue->has_spare = false;
  else
    atomic_fetch_add_explicit(&queue->tail, 1, memory_order_release);
}

uint64_t tt_view_queue_waiting(const tt_view_queue *queue) {
  tt_view_queue *of = (tt_view_queue *)queue;
  uint64_t tail = atomic_load_explicit(&of->tail, memory_order_relaxed);
  return atomic_load_explicit(&of->head, memory_order_acquire) - tail;
}

uint64_t tt_view_queue_lost(const tt_view_queue *queue) {
  return atomic_load_explicit(&((tt_view_queue *)queue)->lost, memory_order_relaxed);
}
