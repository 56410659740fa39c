/* follow.c: a collector that follows a log: what other collectors have put there is stored here. Of devices and attributes it knows
 * what the store tells, so what a batch says is found by its identifiers.
 */
#include "telemetry/collector_internal.h"

/** µs: for something to come, and between two tries of what failed. */
#define TAKE_PATIENCE 100000
#define RETRY_INTERVAL 300000

/* --- what is said of it --- */

/** With the mutex held. */
static void note_log(tt_collector *collector, tt_status status, const tt_error *error) {
  bool works = status == TT_OK || status == TT_AGAIN;
  collector->taking = 0;
  collector->log = collector->options.log->state;
  collector->log_error = works ? (tt_error){""} : *error;
}

/** By their indices in a batch, those here (int); −1: not known here yet, or removed. */
static GArray *find_all(tt_collector *collector, bool device, const tt_list *names) {
  const int unknown = -1;
  GArray *indices = g_array_new(FALSE, FALSE, sizeof unknown);
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    while (indices->len <= (guint)name->index) g_array_append_val(indices, unknown);
    const int index = tt_registry_find(collector, device, name->identifier);
    g_array_index(indices, int, name->index) = index;
    if (index < 0 && tt_registry_find_any(collector, device, name->identifier) >= 0)
      collector->forgotten++;
  }
  return indices;
}

/** Who has not heard yet that a name was removed sends values of which nothing says that they are there. */
static void note_late(tt_collector *collector, const tt_store_batch *batch,
                      const tt_store_sample *sample, int device, const GArray *attributes) {
  for (uint32_t v = sample->first; v < sample->first + sample->count; v++) {
    const tt_store_value *value = &tt_list_at(&batch->values, tt_store_value, v);
    const int attribute = g_array_index(attributes, int, value->attribute);
    if (attribute >= 0 && !tt_registry_is_stored(collector, device, attribute) &&
        tt_registry_was_removed(collector, device, attribute))
      collector->forgotten++;
  }
}

static void publish_values(tt_collector *collector, const tt_store_batch *batch,
                           const tt_store_sample *sample, const GArray *attributes) {
  for (uint32_t v = sample->first; v < sample->first + sample->count; v++) {
    const tt_store_value *value = &tt_list_at(&batch->values, tt_store_value, v);
    const int attribute = g_array_index(attributes, int, value->attribute);
    const char *text =
        value->text == TT_STORE_NUMBER ? NULL : (const char *)batch->text.data + value->text;
    if (attribute >= 0) tt_samples_live_add(collector, attribute, text, value->number);
  }
}

/** Tells live readers, and that the devices are heard of. With the mutex held. */
static void publish(tt_collector *collector, const tt_store_batch *batch) {
  GArray *devices = find_all(collector, true, &batch->devices);
  GArray *attributes = find_all(collector, false, &batch->attributes);
  const int64_t now = g_get_monotonic_time();
  bool live = tt_feed_reader_count(collector->hub) > 0;
  for (uint32_t i = 0; i < batch->samples.len; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    const int device = g_array_index(devices, int, sample->device);
    if (device < 0) continue;
    tt_samples to = {.kept = {.sample = *sample}};
    to.kept.sample.device = device;
    tt_device *from = tt_device_at(collector, device);
    from->messages += !(sample->flags & TT_SAMPLE_CONTINUES);
    from->values += sample->count;
    from->heard = now;
    note_late(collector, batch, sample, device, attributes);
    tt_samples_live_begin(collector);
    if (live) publish_values(collector, batch, sample, attributes);
    tt_samples_publish(collector, &to);
  }
  g_array_unref(devices);
  g_array_unref(attributes);
}

/* --- a turn --- */

static tt_status take(tt_collector *collector, int64_t patience, const tt_store_batch **batch,
                      tt_error *error) {
  tt_store_log *log = collector->options.log;
  pthread_mutex_lock(&collector->mutex);
  collector->taking = g_get_monotonic_time();
  pthread_mutex_unlock(&collector->mutex);
  tt_status status = log->take(log, patience, batch, error);
  pthread_mutex_lock(&collector->mutex);
  note_log(collector, status, error);
  if (status == TT_OK) {
    collector->messages += log->state.in_hand;
    collector->values += (*batch)->values.len;
    publish(collector, *batch);
  }
  pthread_mutex_unlock(&collector->mutex);
  return status;
}

static tt_status done(tt_collector *collector, const tt_store_batch *batch, tt_error *error) {
  tt_store_log *log = collector->options.log;
  const uint32_t values = batch->values.len;
  tt_status status = log->done(log, error);
  pthread_mutex_lock(&collector->mutex);
  note_log(collector, status, error);
  collector->stored_values += values;
  collector->batches++;
  pthread_mutex_unlock(&collector->mutex);
  return status;
}

void tt_follow(tt_collector *collector, bool hurried) {
  const tt_store_batch *batch;
  tt_error error;
  tt_status status = take(collector, hurried ? 0 : TAKE_PATIENCE, &batch, &error);
  if (status == TT_OK && tt_put_batch(collector, batch, true))
    status = done(collector, batch, &error);
  if (status == TT_OK || status == TT_AGAIN) return;
  const int64_t end = g_get_monotonic_time() + RETRY_INTERVAL;
  pthread_mutex_lock(&collector->mutex);
  while (!collector->stopping && tt_collector_wait(collector, &collector->work, end)) continue;
  pthread_mutex_unlock(&collector->mutex);
}
