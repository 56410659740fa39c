/* view_queue.c: the bounded single-producer single-consumer queue through which observers get views. */
#include "model/observer.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct slot {
  tt_view *view;
  uint64_t lost_before; /* samples dropped between the one before and this one */
} slot;

struct tt_view_queue {
  int capacity;
  atomic_ullong head; /* views pushed */
  atomic_ullong tail; /* views popped */
  atomic_ullong lost;
  uint64_t lost_reported; /* producer's: already told with an earlier view */
  slot *slots;
};

tt_view_queue *tt_view_queue_new(const tt_model *model, int capacity) {
  tt_view_queue *queue = calloc(1, sizeof *queue);
  if (!queue) return NULL;
  queue->capacity = capacity;
  queue->slots = calloc((size_t)capacity, sizeof *queue->slots);
  for (int i = 0; queue->slots && i < capacity; i++) {
    queue->slots[i].view = tt_view_new(model);
    if (!queue->slots[i].view) {
      tt_view_queue_free(queue);
      return NULL;
    }
  }
  if (!queue->slots) {
    free(queue);
    return NULL;
  }
  return queue;
}

void tt_view_queue_free(tt_view_queue *queue) {
  if (!queue) return;
  for (int i = 0; i < queue->capacity; i++) tt_view_free(queue->slots[i].view);
  free(queue->slots);
  free(queue);
}

static slot *slot_at(const tt_view_queue *queue, uint64_t turn) {
  return &queue->slots[turn % (uint64_t)queue->capacity];
}

void tt_view_queue_push(tt_view_queue *queue, const tt_view *view) {
  uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
  uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire);
  if (head - tail >= (uint64_t)queue->capacity) {
    atomic_fetch_add_explicit(&queue->lost, 1, memory_order_relaxed);
    return;
  }
  slot *at = slot_at(queue, head);
  tt_view_copy(at->view, view);
  uint64_t lost = atomic_load_explicit(&queue->lost, memory_order_relaxed);
  at->lost_before = lost - queue->lost_reported;
  queue->lost_reported = lost;
  atomic_store_explicit(&queue->head, head + 1, memory_order_release);
}

const tt_view *tt_view_queue_front(tt_view_queue *queue, uint64_t *lost) {
  uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
  if (atomic_load_explicit(&queue->head, memory_order_acquire) == tail) return NULL;
  slot *at = slot_at(queue, tail);
  if (lost) *lost = at->lost_before;
  return at->view;
}

void tt_view_queue_pop(tt_view_queue *queue) {
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
