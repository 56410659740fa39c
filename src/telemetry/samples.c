/* samples.c: values into samples: those that are kept into a batch, those that are forwarded to live readers. */
#include "telemetry/collector_internal.h"

#include <string.h>

/* --- into a batch --- */

static void open_sample(tt_collector *collector, tt_sampling *to, int64_t device_time,
                        int64_t time) {
  to->open = true;
  to->sample.device_time = device_time;
  to->sample.time = time;
  to->sample.first = to->batch->values.len;
  to->sample.count = to->sample.thinned = 0;
  collector->samples++;
  tt_list_cut(&collector->thinned, 0);
}

void tt_sampling_end(tt_collector *collector, tt_sampling *to) {
  if (!to->open) return;
  to->open = false;
  tt_list_add(&to->batch->values, collector->thinned.data, collector->thinned.len);
  to->sample.thinned = collector->thinned.len;
  to->sample.count = to->batch->values.len - to->sample.first;
  if (!to->sample.count) return;
  tt_list_add(&to->batch->samples, &to->sample, 1);
  to->sample.flags |= TT_SAMPLE_CONTINUES;
}

void tt_sampling_moment(tt_collector *collector, tt_sampling *to, int64_t device_time,
                        int64_t time) {
  if (to->open && to->sample.device_time == device_time && to->sample.time == time) return;
  tt_sampling_end(collector, to);
  open_sample(collector, to, device_time, time);
}

void tt_sampling_add(tt_collector *collector, tt_sampling *to, int attribute_index,
                     const char *text, double number) {
  tt_attribute *attribute = tt_attribute_at(collector, attribute_index);
  if (attribute->sample == collector->samples) {  // another value of it for the same moment
    tt_sampling_end(collector, to);
    open_sample(collector, to, to->sample.device_time, to->sample.time);
  }
  attribute->sample = collector->samples;
  tt_store_value value = {.attribute = attribute_index, .text = TT_STORE_NUMBER, .number = number};
  if (text) {
    value.text = to->batch->text.len;
    tt_list_add(&to->batch->text, text, strlen(text) + 1);
  }
  bool thin = attribute->handling.min_interval > 0;
  tt_list_add(thin ? &collector->thinned : &to->batch->values, &value, 1);
}

/* --- into the batch that is filled, and to live readers --- */

void tt_samples_live_begin(tt_collector *collector) {
  g_array_set_size(collector->live_values, 0);
  g_array_set_size(collector->live_attributes, 0);
}

void tt_samples_live_add(tt_collector *collector, int attribute_index, const char *text,
                         double number) {
  const tt_attribute *known = tt_attribute_at(collector, attribute_index);
  if (known->handling.mode == TT_MODE_STORE) return;
  tt_feed_value value = {.attribute = known->identifier, .text = text, .number = number};
  g_array_append_val(collector->live_values, value);
  g_array_append_val(collector->live_attributes, attribute_index);
}

void tt_samples_take(tt_collector *collector, tt_samples *to, int attribute_index, const char *text,
                     double number) {
  const tt_attribute *known = tt_attribute_at(collector, attribute_index);
  const tt_handling *handling = &known->handling;
  tt_device *from = tt_device_at(collector, to->kept.sample.device);
  collector->values++;
  from->values++;
  bool wanted = handling->mode != TT_MODE_IGNORE &&
                tt_handling_is_due(handling, from, to->kept.sample.epoch, attribute_index,
                                   to->kept.sample.device_time);
  if (!wanted) {
    collector->skipped_values++;
    return;
  }
  if (to->keep && handling->mode != TT_MODE_FORWARD) {
    tt_batch_begin(collector);
    tt_sampling_add(collector, &to->kept, attribute_index, text, number);
    from->sample = collector->samples;
    tt_registry_note_stored(collector, to->kept.sample.device, attribute_index);
  }
  if (to->live) tt_samples_live_add(collector, attribute_index, text, number);
}

void tt_samples_moment(tt_collector *collector, tt_samples *to, int64_t device_time, int64_t time) {
  tt_sampling_moment(collector, &to->kept, device_time, time);
  tt_samples_live_begin(collector);
}

void tt_samples_publish(tt_collector *collector, const tt_samples *to) {
  const tt_store_sample *sample = &to->kept.sample;
  tt_device *from = tt_device_at(collector, sample->device);
  if (sample->time > from->last_time) from->last_time = sample->time;
  if (!collector->live_values->len) return;
  tt_feed_sample *live = tt_feed_sample_new((int)collector->live_values->len);
  live->device = from->identifier;
  live->epoch = sample->epoch;
  live->device_time = sample->device_time;
  live->time = sample->time;
  for (int i = 0; i < live->count; i++) {
    live->values[i] = g_array_index(collector->live_values, tt_feed_value, (guint)i);
    live->values[i].text = g_strdup(live->values[i].text);
  }
  tt_feed_publish(collector->hub, sample->device,
                  (const int *)(void *)collector->live_attributes->data, live);
}

void tt_samples_end(tt_collector *collector, tt_samples *to) {
  tt_sampling_end(collector, &to->kept);
  tt_device_at(collector, to->kept.sample.device)->heard = g_get_monotonic_time();
  tt_batch_hasten_big(collector);
}
