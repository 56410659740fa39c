/* turns.c: see its header. */
#include "telemetry/turns.h"

/** µs between two looks at whether anybody still waits for the table. */
#define LOOK 100000

static GMutex mutex;
static GCond given;
static GQueue waiting = G_QUEUE_INIT; /* tables, the first to come at its head */
static unsigned reading;              /* devices of all tables whose turn it is */

/** With the lock held. */
static bool is_turn(const void *table, unsigned devices) {
  return g_queue_peek_head(&waiting) == table &&
         (!reading || (devices <= TT_TURNS_DEVICES && reading <= TT_TURNS_DEVICES - devices));
}

/** With the lock held, which it leaves to look at the sink. */
static tt_status wait_turn(const void *table, unsigned devices, int64_t end,
                           const tt_table_sink *sink, tt_error *error) {
  while (!is_turn(table, devices)) {
    const int64_t now = g_get_monotonic_time();
    if (now >= end)
      return tt_fail(
          error, TT_FULL,
          "other tables of many devices are being read; try again, or ask for at most %d "
          "devices",
          TT_TURNS_FEW);
    g_cond_wait_until(&given, &mutex, MIN(end, now + LOOK));
    g_mutex_unlock(&mutex);
    tt_status status = sink->write(sink->context, "", 0);
    g_mutex_lock(&mutex);
    if (status != TT_OK) return status;
  }
  return TT_OK;
}

tt_status tt_turn_take(unsigned devices, int64_t patience, const tt_table_sink *sink,
                       tt_error *error) {
  if (devices <= TT_TURNS_FEW) return TT_OK;
  const int64_t end = g_get_monotonic_time() + patience;
  g_mutex_lock(&mutex);
  g_queue_push_tail(&waiting, &devices);
  tt_status status = wait_turn(&devices, devices, end, sink, error);
  g_queue_remove(&waiting, &devices);
  if (status == TT_OK) reading += devices;
  g_cond_broadcast(&given);  // another is at the head now
  g_mutex_unlock(&mutex);
  return status;
}

void tt_turn_give(unsigned devices) {
  if (devices <= TT_TURNS_FEW) return;
  g_mutex_lock(&mutex);
  reading -= devices;
  g_cond_broadcast(&given);
  g_mutex_unlock(&mutex);
}
