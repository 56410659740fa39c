#include "base/queue.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_LINE 64

/** A cell: its sequence number, then the item. At turn t it is free when sequence == t, full when t + 1. */
typedef struct cell {
  atomic_size_t sequence;
} cell;

struct tt_queue {
  _Alignas(CACHE_LINE) atomic_size_t head; /* next turn to write */
  _Alignas(CACHE_LINE) atomic_size_t tail; /* next turn to read; the consumer alone moves it */
  _Alignas(CACHE_LINE) size_t mask;
  size_t item_size, stride;
  unsigned char *cells;
};

static cell *cell_at(const tt_queue *queue, size_t turn) {
  return (cell *)(void *)(queue->cells + (turn & queue->mask) * queue->stride);
}

static void *item_of(cell *at) { return (unsigned char *)at + sizeof(cell); }

tt_queue *tt_queue_new(size_t capacity, size_t item_size) {
  size_t size = 2;
  while (size < capacity) size *= 2;
  tt_queue *queue = aligned_alloc(CACHE_LINE, sizeof *queue);
  if (!queue) return NULL;
  memset(queue, 0, sizeof *queue);
  queue->mask = size - 1;
  queue->item_size = item_size;
  queue->stride =
      (sizeof(cell) + item_size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
  queue->cells = calloc(size, queue->stride);
  if (!queue->cells) {
    free(queue);
    return NULL;
  }
  for (size_t turn = 0; turn < size; turn++) atomic_init(&cell_at(queue, turn)->sequence, turn);
  return queue;
}

void tt_queue_free(tt_queue *queue) {
  if (!queue) return;
  free(queue->cells);
  free(queue);
}

bool tt_queue_push(tt_queue *queue, const void *item) {
  size_t turn = atomic_load_explicit(&queue->head, memory_order_relaxed);
  for (;;) {
    cell *at = cell_at(queue, turn);
    size_t sequence = atomic_load_explicit(&at->sequence, memory_order_acquire);
    if (sequence == turn) {
      if (atomic_compare_exchange_weak_explicit(&queue->head, &turn, turn + 1, memory_order_relaxed,
                                                memory_order_relaxed)) {
        memcpy(item_of(at), item, queue->item_size);
        atomic_store_explicit(&at->sequence, turn + 1, memory_order_release);
        return true;
      }
    } else if ((intptr_t)(sequence - turn) < 0) {
      return false; /* the consumer has not freed this cell yet: full */
    } else {
      turn = atomic_load_explicit(&queue->head, memory_order_relaxed);
    }
  }
}

bool tt_queue_pop(tt_queue *queue, void *item) {
  const size_t turn = atomic_load_explicit(&queue->tail, memory_order_relaxed);
  cell *at = cell_at(queue, turn);
  if (atomic_load_explicit(&at->sequence, memory_order_acquire) != turn + 1) return false;
  memcpy(item, item_of(at), queue->item_size);
  atomic_store_explicit(&at->sequence, turn + queue->mask + 1, memory_order_release);
  atomic_store_explicit(&queue->tail, turn + 1, memory_order_relaxed);
  return true;
}

size_t tt_queue_waiting(const tt_queue *queue) {
  // Not at one moment: between the two the consumer may have gone past the producers.
  const size_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
  const size_t waiting = head - atomic_load_explicit(&queue->tail, memory_order_relaxed);
  return waiting <= queue->mask + 1 ? waiting : 0;
}
