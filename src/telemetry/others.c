/* others.c: what other collectors put into a log that is shared, for our live readers. */
#include "telemetry/collector_internal.h"

#include <string.h>

/** A name of a batch that is whole in itself, by its index there; NULL: it has none. */
static const char *identifier_at(const tt_list *names, int index) {
  if (index >= 0 && (uint32_t)index < names->len &&
      tt_list_at(names, tt_store_name, index).index == index)
    return tt_list_at(names, tt_store_name, index).identifier;
  for (uint32_t i = 0; i < names->len; i++)
    if (tt_list_at(names, tt_store_name, i).index == index)
      return tt_list_at(names, tt_store_name, i).identifier;
  return NULL;
}

/** Ours of theirs; −1: we haven't heard of it yet. */
static int our_index(tt_collector *collector, bool device, const tt_list *names, int index) {
  const char *identifier = identifier_at(names, index);
  return identifier ? tt_registry_find(collector, device, identifier) : -1;
}

static void take_value(tt_collector *collector, const tt_store_batch *batch,
                       const tt_store_value *value) {
  const int index = our_index(collector, false, &batch->attributes, value->attribute);
  if (index < 0) return;
  const tt_attribute *known = tt_attribute_at(collector, index);
  if (known->handling.mode == TT_MODE_STORE) return;
  const char *text =
      value->text == TT_STORE_NUMBER ? NULL : (const char *)batch->text.data + value->text;
  const tt_feed_value live = {
      .attribute = known->identifier, .text = text, .number = value->number};
  g_array_append_val(collector->live_values, live);
  g_array_append_val(collector->live_attributes, index);
}

static void publish(tt_collector *collector, const tt_store_batch *batch,
                    const tt_store_sample *sample) {
  const int device = our_index(collector, true, &batch->devices, sample->device);
  if (device < 0) return;
  tt_samples to = {.kept.sample = {.device = device,
                                   .epoch = sample->epoch,
                                   .device_time = sample->device_time,
                                   .time = sample->time}};
  g_array_set_size(collector->live_values, 0);
  g_array_set_size(collector->live_attributes, 0);
  for (uint32_t v = 0; v < sample->count; v++)
    take_value(collector, batch, &tt_list_at(&batch->values, tt_store_value, sample->first + v));
  tt_samples_publish(collector, &to);
  tt_device_at(collector, device)->heard = g_get_monotonic_time();
}

void tt_others_take(void *context, const tt_store_batch *batch) {
  tt_collector *collector = context;
  pthread_mutex_lock(&collector->mutex);
  for (uint32_t i = 0; i < batch->samples.len; i++)
    publish(collector, batch, &tt_list_at(&batch->samples, tt_store_sample, i));
  pthread_mutex_unlock(&collector->mutex);
}
