/* batch.c: the batch being filled, which the writer takes as a whole. */
#include "telemetry/collector_internal.h"

/** Bytes of a batch that waits for no more. */
#define BIG_BATCH ((size_t)1 << 20)

void tt_batch_begin(tt_collector *collector) {
  if (tt_store_batch_is_empty(collector->batch)) {
    collector->batch_started = g_get_monotonic_time();
    pthread_cond_signal(&collector->work);
  }
}

void tt_batch_hasten(tt_collector *collector) {
  if (collector->urgent) return;
  collector->urgent = true;
  pthread_cond_signal(&collector->work);
}

void tt_batch_hasten_big(tt_collector *collector) {
  size_t big = MIN(BIG_BATCH, collector->options.max_queued / 4);
  if (tt_store_batch_bytes(collector->batch) >= big) tt_batch_hasten(collector);
}

bool tt_batch_tell_name(tt_collector *collector, bool is_device, int index, const char *identifier,
                        const char *name, tt_name_state state) {
  tt_batch_begin(collector);
  tt_store_batch *batch = collector->batch;
  return tt_store_add_name(is_device ? &batch->devices : &batch->attributes, index, identifier,
                           name, state);
}

void tt_batch_tell_epoch(tt_collector *collector, int index, const tt_boot *boot) {
  tt_batch_begin(collector);
  tt_store_epoch told = boot->stored;
  told.device = index;
  tt_list_add(&collector->batch->epochs, &told, 1);
}

bool tt_batch_is_full(const tt_collector *collector) {
  return tt_store_batch_bytes(collector->batch) >= collector->options.max_queued;
}
