/* put.c: a batch into the store, however long that takes. */
#include "telemetry/collector_internal.h"

/** µs between attempts of a store that fails. */
#define RETRY_INTERVAL (SECOND / 2)

/** One try; what it says is kept for the watch. */
static tt_status try_write(tt_collector *collector, const tt_store_batch *batch, bool foreign,
                           tt_error *error) {
  tt_store *store = collector->store;
  const int64_t begun = g_get_monotonic_time();
  pthread_mutex_lock(&collector->mutex);
  collector->storing = begun;
  pthread_mutex_unlock(&collector->mutex);
  tt_status status = (foreign ? store->write_foreign : store->write)(store, batch, error);
  pthread_mutex_lock(&collector->mutex);
  collector->storing = 0;
  collector->write_time += g_get_monotonic_time() - begun;
  collector->store_error = status == TT_OK ? (tt_error){""} : *error;
  pthread_mutex_unlock(&collector->mutex);
  return status;
}

bool tt_put_batch(tt_collector *collector, const tt_store_batch *batch, bool foreign) {
  for (int last_tries = 2; last_tries > 0;) {
    tt_error error;
    if (try_write(collector, batch, foreign, &error) == TT_OK) return true;
    pthread_mutex_lock(&collector->mutex);
    int64_t end = g_get_monotonic_time() + RETRY_INTERVAL;
    while (!collector->stopping && tt_collector_wait(collector, &collector->work, end)) continue;
    if (collector->stopping) last_tries--;
    pthread_mutex_unlock(&collector->mutex);
    if (collector->options.log) collector->options.log->look(collector->options.log);
  }
  return false;
}
