/* turns.c: see its header. */
#include "telemetry/turns.h"

#include "base/clock.h"

#include <malloc.h>

/** µs between two looks at whether anybody still waits for the table. */
#define LOOK 100000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER;
static GQueue waiting = G_QUEUE_INIT; /* tables, the first to come at its head */
static unsigned reading;              /* what all tables weigh whose turn it is */

/** With the lock held. */
static bool is_turn(const void *table, unsigned weight) {
  return g_queue_peek_head(&waiting) == table &&
         (!reading || (weight <= TT_TURNS_WEIGHT && reading <= TT_TURNS_WEIGHT - weight));
}

/** With the lock held, which it leaves to look at the sink. */
static tt_status wait_turn(const void *table, unsigned weight, int64_t end,
                           const tt_table_sink *sink, tt_error *error) {
  while (!is_turn(table, weight)) {
    if (g_get_monotonic_time() >= end)
      return tt_fail(
          error, TT_FULL,
          "other wide tables are being read; try again, or ask for at most %d devices and %d "
          "columns",
          TT_TURNS_LIGHT, TT_TURNS_LIGHT * TT_TURNS_COLUMNS);
    tt_wait_until(&given, &mutex, tt_monotonic_us() + LOOK);
    pthread_mutex_unlock(&mutex);
    tt_status status = sink->write(sink->context, "", 0);
    pthread_mutex_lock(&mutex);
    if (status != TT_OK) return status;
  }
  return TT_OK;
}

tt_status tt_turn_take(unsigned weight, int64_t patience, const tt_table_sink *sink,
                       tt_error *error) {
  if (weight <= TT_TURNS_LIGHT) return TT_OK;
  const int64_t end = g_get_monotonic_time() + patience;
  pthread_mutex_lock(&mutex);
  g_queue_push_tail(&waiting, &weight);
  tt_status status = wait_turn(&weight, weight, end, sink, error);
  g_queue_remove(&waiting, &weight);
  if (status == TT_OK) reading += weight;
  pthread_cond_broadcast(&given);  // another is at the head now
  pthread_mutex_unlock(&mutex);
  return status;
}

void tt_turn_give(unsigned weight) {
  if (weight <= TT_TURNS_LIGHT) return;
  malloc_trim(0);  // each thread has a heap of its own, which would keep what the table took
  pthread_mutex_lock(&mutex);
  reading -= weight;
  pthread_cond_broadcast(&given);
  pthread_mutex_unlock(&mutex);
}
