/* collector.c: messages and samples on their way in, and a collector's beginning and end. */
#include "telemetry/collector.h"

#include "base/log.h"
#include "telemetry/collector_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Most refusals logged in a second; all are counted. */
#define REFUSALS_LOGGED 5
/** s UTC */
#define YEAR_2020 1577836800

tt_collector_options tt_collector_options_default(void) {
  return (tt_collector_options){.late = SECOND,
                                .max_devices = 1000,
                                .max_attributes = 10000,
                                .max_queued = 32 << 20,
                                .batch_interval = SECOND / 10,
                                .max_readers = 64};
}

int64_t tt_collector_now(void) { return g_get_real_time(); }

/* --- samples --- */

/** A sample in hand: opened, given its values, closed. There is room for it in the batch. */
typedef struct open_sample {
  tt_device *from;
  tt_store_sample stored;
  bool keep, live;
} open_sample;

static void open_sample_at(tt_collector *collector, open_sample *sample, int device_index,
                           int epoch, int64_t device_time, int64_t time) {
  sample->from = tt_device_at(collector, device_index);
  sample->stored = (tt_store_sample){.device = device_index,
                                     .epoch = epoch,
                                     .device_time = device_time,
                                     .time = time,
                                     .first = collector->batch->values.len};
  g_array_set_size(collector->live_values, 0);
  g_array_set_size(collector->live_attributes, 0);
}

static void keep_value(tt_collector *collector, open_sample *sample, int attribute_index,
                       const char *text, double number) {
  tt_store_batch *batch = collector->batch;
  tt_writer_start_batch(collector);
  tt_store_value value = {.attribute = attribute_index, .text = TT_STORE_NUMBER, .number = number};
  if (text) {
    value.text = batch->text.len;
    tt_list_add(&batch->text, text, strlen(text) + 1);
  }
  tt_list_add(&batch->values, &value, 1);
  sample->stored.count++;
}

static void add_value(tt_collector *collector, open_sample *sample, int attribute_index,
                      const char *text, double number) {
  const tt_attribute *known = tt_attribute_at(collector, attribute_index);
  const tt_handling *handling = &known->handling;
  collector->values++;
  sample->from->values++;
  bool wanted = handling->mode != TT_MODE_IGNORE &&
                tt_handling_is_due(handling, sample->from, sample->stored.epoch, attribute_index,
                                   sample->stored.device_time);
  if (!wanted) {
    collector->skipped_values++;
    return;
  }
  if (sample->keep && handling->mode != TT_MODE_FORWARD) {
    keep_value(collector, sample, attribute_index, text, number);
  }
  if (sample->live && handling->mode != TT_MODE_STORE) {
    tt_live_value value = {.attribute = known->identifier, .text = text, .number = number};
    g_array_append_val(collector->live_values, value);
    g_array_append_val(collector->live_attributes, attribute_index);
  }
}

static void publish_sample(tt_collector *collector, const open_sample *sample) {
  tt_live_sample *live = tt_live_sample_new((int)collector->live_values->len);
  live->device = sample->from->identifier;
  live->epoch = sample->stored.epoch;
  live->device_time = sample->stored.device_time;
  live->time = sample->stored.time;
  for (int i = 0; i < live->count; i++) {
    live->values[i] = g_array_index(collector->live_values, tt_live_value, (guint)i);
    live->values[i].text = g_strdup(live->values[i].text);
  }
  tt_live_publish(collector->hub, sample->stored.device,
                  (const int *)(void *)collector->live_attributes->data, live);
}

static void close_sample(tt_collector *collector, open_sample *sample) {
  if (sample->stored.count) tt_list_add(&collector->batch->samples, &sample->stored, 1);
  tt_writer_hasten_big(collector);
  if (collector->live_values->len) publish_sample(collector, sample);
  if (sample->stored.time > sample->from->last_time) sample->from->last_time = sample->stored.time;
}

/* --- messages --- */

/** Looks up every name, and makes those that are new: all of them, or none where that would be too many. */
static tt_status need_names(tt_collector *collector, const tt_message *message, int *device_index,
                            int *attributes, tt_error *error) {
  GHashTable *new_names = NULL;
  for (uint32_t i = 0; i < message->value_count; i++) {
    const char *identifier = tt_message_text(message, message->values[i].identifier);
    attributes[i] = tt_registry_find(collector, false, identifier);
    if (attributes[i] >= 0) continue;
    if (!new_names) new_names = g_hash_table_new(g_str_hash, g_str_equal);
    g_hash_table_add(new_names, (char *)identifier);
  }
  guint count = new_names ? g_hash_table_size(new_names) : 0;
  if (new_names) g_hash_table_unref(new_names);
  *device_index = tt_registry_find(collector, true, message->device);
  if (*device_index < 0 && !tt_registry_has_room(collector, true, 1)) {
    return tt_fail(error, TT_BAD_MESSAGE, "more than %d devices", collector->options.max_devices);
  }
  if (count && !tt_registry_has_room(collector, false, count)) {
    return tt_fail(error, TT_BAD_MESSAGE, "more than %d attributes",
                   collector->options.max_attributes);
  }
  if (*device_index < 0) *device_index = tt_registry_need_device(collector, message->device);
  bool made = *device_index >= 0;
  for (uint32_t i = 0; i < message->value_count && count && made; i++) {
    if (attributes[i] >= 0) continue;
    attributes[i] = tt_registry_need_attribute(
        collector, tt_message_text(message, message->values[i].identifier));
    made = attributes[i] >= 0;
  }
  return made ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

static tt_boot *place(tt_collector *collector, int device_index, const tt_message *message,
                      tt_origin *origin, int64_t received, int64_t *offset, bool *again) {
  tt_device *from = tt_device_at(collector, device_index);
  tt_timed_message timed = {.transmitted = message->time,
                            .last_sample = message->time,
                            .hash = message->hash,
                            .received = received};
  for (uint32_t i = 0; i < message->sample_count; i++) {
    if (i == 0 || message->samples[i].time > timed.last_sample)
      timed.last_sample = message->samples[i].time;
  }
  if (origin && origin->has_previous && origin->device == device_index) {
    timed.after_previous = true;
    timed.previous = origin->previous;
  }
  from->heard = true;
  tt_boot *boot;
  bool widened;
  tt_placement placement = tt_device_time_place(&from->time, &timed, collector->options.late, &boot,
                                                offset, &widened, again);
  if (placement == TT_PLACED_JUMP) {
    tt_log_info("telemetry: the clock of device %s jumped (it says %.3f s); boot epoch %d begins",
                from->identifier, (double)message->time / SECOND, boot->epoch);
  }
  if (widened) tt_writer_tell_epoch(collector, device_index, boot);
  if (origin)
    *origin = (tt_origin){.has_previous = true, .device = device_index, .previous = message->time};
  return boot;
}

static void take_samples(tt_collector *collector, const tt_message *message, int device_index,
                         const tt_boot *boot, int64_t offset, bool live, const int *attributes) {
  for (uint32_t s = 0; s < message->sample_count; s++) {
    const tt_message_sample *sent = &message->samples[s];
    open_sample sample = {.keep = true, .live = live};
    open_sample_at(collector, &sample, device_index, boot->epoch, sent->time, sent->time + offset);
    for (uint32_t v = sent->first; v < sent->first + sent->count; v++) {
      const char *text = tt_message_text(message, message->values[v].text);
      double number = 0;
      if (tt_handling_convert(&tt_attribute_at(collector, attributes[v])->handling, &text,
                              &number)) {
        add_value(collector, &sample, attributes[v], text, number);
      } else {
        collector->bad_values++;
      }
    }
    close_sample(collector, &sample);
  }
}

/** Bytes of all values, each with its 0. */
static size_t text_size(const tt_message *message) {
  size_t size = 0;
  for (uint32_t i = 0; i < message->value_count; i++)
    size += strlen(tt_message_text(message, message->values[i].text)) + 1;
  return size;
}

static tt_status take(tt_collector *collector, const tt_message *message, tt_origin *origin,
                      int64_t received, int *attributes, uint64_t *ticket, tt_error *error) {
  if (tt_writer_is_full(collector)) return TT_FULL;
  if (!tt_store_batch_reserve(collector->batch, message->sample_count, message->value_count,
                              text_size(message)))
    return tt_fail(error, TT_NOMEM, "out of memory");
  int device_index;
  TT_TRY(need_names(collector, message, &device_index, attributes, error));
  int64_t offset;
  bool again;
  const tt_boot *boot = place(collector, device_index, message, origin, received, &offset, &again);
  bool live = !again && tt_live_reader_count(collector->hub) > 0;
  take_samples(collector, message, device_index, boot, offset, live, attributes);
  collector->messages++;
  tt_device_at(collector, device_index)->messages++;
  *ticket = tt_store_batch_is_empty(collector->batch) ? collector->filling - 1 : collector->filling;
  if (message->acknowledge) tt_writer_hasten(collector);
  return TT_OK;
}

tt_status tt_collector_take(tt_collector *collector, const tt_message *message, tt_origin *origin,
                            int64_t received, uint64_t *ticket, tt_error *error) {
  int few[256];
  int *attributes = message->value_count <= 256 ? few : g_new(int, message->value_count);
  pthread_mutex_lock(&collector->mutex);
  tt_status status = take(collector, message, origin, received, attributes, ticket, error);
  if (status == TT_BAD_MESSAGE || status == TT_NOMEM) collector->refused++;
  pthread_mutex_unlock(&collector->mutex);
  if (attributes != few) g_free(attributes);
  return status;
}

void tt_collector_refused(tt_collector *collector, const char *source,
                          const tt_message_refusal *refusal) {
  int64_t second = g_get_monotonic_time() / SECOND;
  pthread_mutex_lock(&collector->mutex);
  collector->refused++;
  if (collector->refusal_second != second) collector->refusals_logged = 0;
  collector->refusal_second = second;
  bool say = collector->refusals_logged++ < REFUSALS_LOGGED;
  pthread_mutex_unlock(&collector->mutex);
  if (say) {
    tt_log_warning("telemetry: message from %s refused: line %lu, column %lu: %s", source,
                   refusal->line, refusal->column, refusal->reason);
  }
}

/* --- devices inside --- */

tt_status tt_collector_device(tt_collector *collector, const char *identifier, int *index) {
  pthread_mutex_lock(&collector->mutex);
  *index = tt_registry_need_device(collector, identifier);
  pthread_mutex_unlock(&collector->mutex);
  return *index < 0 ? TT_FULL : TT_OK;
}

tt_status tt_collector_attribute(tt_collector *collector, const char *identifier, int *index) {
  pthread_mutex_lock(&collector->mutex);
  *index = tt_registry_need_attribute(collector, identifier);
  pthread_mutex_unlock(&collector->mutex);
  return *index < 0 ? TT_FULL : TT_OK;
}

int tt_collector_begin_epoch(tt_collector *collector, int device_index, int64_t device_time,
                             int64_t offset) {
  int epoch = -1;
  pthread_mutex_lock(&collector->mutex);
  if (tt_store_batch_reserve(collector->batch, 0, 0, 0)) {
    tt_device *begun = tt_device_at(collector, device_index);
    begun->heard = true;
    const tt_boot *boot = tt_device_time_begin(&begun->time, device_time, offset);
    tt_writer_tell_epoch(collector, device_index, boot);
    epoch = boot->epoch;
  }
  pthread_mutex_unlock(&collector->mutex);
  return epoch;
}

tt_status tt_collector_record(tt_collector *collector, int device_index, int epoch,
                              int64_t device_time, int64_t offset, const tt_direct_value *values,
                              int count, bool store) {
  size_t text = 0;
  for (int i = 0; i < count; i++) text += values[i].text ? strlen(values[i].text) + 1 : 0;
  pthread_mutex_lock(&collector->mutex);
  bool full = store && (tt_writer_is_full(collector) ||
                        !tt_store_batch_reserve(collector->batch, 1, (size_t)count, text));
  open_sample sample = {.keep = store && !full, .live = tt_live_reader_count(collector->hub) > 0};
  open_sample_at(collector, &sample, device_index, epoch, device_time, device_time + offset);
  for (int i = 0; i < count; i++) {
    const tt_handling *handling = &tt_attribute_at(collector, values[i].attribute)->handling;
    add_value(collector, &sample, values[i].attribute, values[i].text,
              values[i].number * handling->scale + handling->offset);
  }
  close_sample(collector, &sample);
  if (full) collector->lost_values += (uint64_t)count;
  pthread_mutex_unlock(&collector->mutex);
  return full ? TT_FULL : TT_OK;
}

/* --- loading, beginning and end --- */

/** What the store knows of a device's boots. Of one that was heard here, only the numbers matter that are taken. */
static void load_epoch(void *context, const tt_store_epoch *loaded, bool has_sample,
                       int64_t device_time, int64_t time) {
  tt_collector *collector = context;
  tt_boot range = {.epoch = loaded->number,
                   .anchor = loaded->anchor,
                   .offset_low = loaded->offset_low,
                   .offset_high = loaded->offset_high};
  pthread_mutex_lock(&collector->mutex);
  tt_device *from = tt_device_at(collector, loaded->device);
  if (!from->heard && !from->time.boot_count) from->time.next_epoch = 0;
  if (loaded->number >= from->time.next_epoch) {
    if (has_sample && !from->heard) {
      tt_device_time_restore(&from->time, &range, device_time, time - device_time);
    } else {
      from->time.next_epoch = loaded->number + 1;
    }
  }
  pthread_mutex_unlock(&collector->mutex);
}

static void load_sample(void *context, int device_index, int epoch, int64_t device_time) {
  tt_collector *collector = context;
  pthread_mutex_lock(&collector->mutex);
  tt_device *from = tt_device_at(collector, device_index);
  if (!from->heard) tt_device_time_restore_seen(&from->time, epoch, device_time);
  pthread_mutex_unlock(&collector->mutex);
}

/** Where the store is away, nobody knows how many boots a device had: then new ones are numbered from the seconds since
 *  2020, which no count of boots reaches. */
static tt_status load(tt_collector *collector, tt_error *error) {
  tt_store_loader loader = {collector,
                            tt_registry_load_device,
                            tt_registry_load_attribute,
                            tt_handlings_load,
                            load_epoch,
                            load_sample};
  tt_status status = collector->store->load(collector->store, &loader, error);
  if (status != TT_AGAIN) return status;
  collector->first_epoch = (int)(tt_collector_now() / SECOND - YEAR_2020);
  for (guint i = 0; i < collector->devices->len; i++) {
    tt_device_time *time = &tt_device_at(collector, (int)i)->time;
    time->next_epoch = MAX(time->next_epoch, collector->first_epoch);
  }
  return TT_OK;
}

static void free_collector(tt_collector *collector) {
  if (collector->store) collector->store->close(collector->store);
  tt_live_hub_free(collector->hub);
  tt_store_batch_free(collector->batch);
  tt_store_batch_free(collector->spare);
  tt_registry_clear(collector);
  tt_list_free(&collector->handlings);
  g_array_unref(collector->listeners);
  g_array_unref(collector->live_values);
  g_array_unref(collector->live_attributes);
  pthread_mutex_destroy(&collector->mutex);
  pthread_cond_destroy(&collector->work);
  pthread_cond_destroy(&collector->room);
  g_free(collector);
}

tt_status tt_collector_new(const tt_collector_options *options, tt_collector **out,
                           tt_error *error) {
  tt_collector *collector = g_new0(tt_collector, 1);
  collector->options = *options;
  collector->store = options->store;
  collector->hub = tt_live_hub_new(options->max_readers, tt_registry_human_name, collector);
  pthread_mutex_init(&collector->mutex, NULL);
  pthread_cond_init(&collector->work, NULL);
  pthread_cond_init(&collector->room, NULL);
  tt_registry_init(collector);
  tt_handlings_init(collector);
  collector->listeners = g_array_new(FALSE, FALSE, sizeof(tt_durable_listener));
  collector->live_values = g_array_new(FALSE, FALSE, sizeof(tt_live_value));
  collector->live_attributes = g_array_new(FALSE, FALSE, sizeof(int));
  collector->batch = tt_store_batch_new();
  collector->spare = tt_store_batch_new();
  collector->filling = 1;
  tt_status status = collector->batch && collector->spare
                         ? load(collector, error)
                         : tt_fail(error, TT_NOMEM, "out of memory");
  if (status != TT_OK) {
    free_collector(collector);
    return status;
  }
  collector->writer = g_thread_new("store", tt_writer_run, collector);
  *out = collector;
  return TT_OK;
}

void tt_collector_free(tt_collector *collector) {
  if (!collector) return;
  collector->store->hurry(collector->store);
  pthread_mutex_lock(&collector->mutex);
  collector->stopping = true;
  pthread_cond_broadcast(&collector->work);
  pthread_cond_broadcast(&collector->room);
  pthread_mutex_unlock(&collector->mutex);
  g_thread_join(collector->writer);
  free_collector(collector);
}

/* --- out --- */

tt_status tt_collector_open_reader(tt_collector *collector, tt_store_reader **reader,
                                   tt_error *error) {
  return collector->store->open_reader(collector->store, reader, error);
}

tt_live_reader *tt_collector_subscribe(tt_collector *collector, const tt_live_filter *filter,
                                       int capacity, void (*wake)(void *context), void *context) {
  return tt_live_subscribe(collector->hub, filter, capacity, wake, context);
}

void tt_collector_unsubscribe(tt_collector *collector, tt_live_reader *reader) {
  tt_live_unsubscribe(collector->hub, reader);
}

void tt_collector_get_stats(tt_collector *collector, tt_collector_stats *stats) {
  pthread_mutex_lock(&collector->mutex);
  *stats = (tt_collector_stats){.messages = collector->messages,
                                .refused = collector->refused,
                                .values = collector->values,
                                .stored_values = collector->stored_values,
                                .skipped_values = collector->skipped_values,
                                .bad_values = collector->bad_values,
                                .lost_values = collector->lost_values,
                                .batches = collector->batches,
                                .queued_bytes = tt_store_batch_bytes(collector->batch),
                                .devices = (int)collector->devices->len,
                                .attributes = (int)collector->attributes->len,
                                .readers = tt_live_reader_count(collector->hub),
                                .store = collector->store->kind};
  pthread_mutex_unlock(&collector->mutex);
  collector->store->state(collector->store, &stats->store_state);
}
