/* collector.c: messages and samples on their way in, and a collector's beginning and end. */
#include "telemetry/collector.h"

#include "base/log.h"
#include "telemetry/collector_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** µs that those who hold it are waited for. */
#define RELEASE_PATIENCE (5 * SECOND)

tt_collector_options tt_collector_options_default(void) {
  return (tt_collector_options){.late = SECOND,
                                .max_devices = 1000,
                                .max_attributes = 10000,
                                .max_queued = 32 << 20,
                                .batch_interval = SECOND / 10,
                                .max_readers = 64};
}

int64_t tt_collector_now(void) { return g_get_real_time(); }

/* --- messages --- */

tt_status tt_collector_take(tt_collector *collector, const tt_message *message, tt_origin *origin,
                            int64_t received, uint64_t *ticket, tt_error *error) {
  if (collector->options.log) return tt_collector_refuse(error);
  pthread_mutex_lock(&collector->mutex);
  tt_status status = tt_intake(collector, message, origin, received, ticket, error);
  pthread_mutex_unlock(&collector->mutex);
  return status;
}

void tt_collector_refused(tt_collector *collector, const char *source,
                          const tt_message_refusal *refusal) {
  pthread_mutex_lock(&collector->mutex);
  collector->refused++;
  bool say = tt_intake_may_complain(collector);
  pthread_mutex_unlock(&collector->mutex);
  if (say) {
    tt_log_warning("telemetry: message from %s refused: line %lu, column %lu: %s", source,
                   refusal->line, refusal->column, refusal->reason);
  }
}

/* --- devices inside --- */

bool tt_collector_has_room(tt_collector *collector, bool device, const char *const *identifiers,
                           int count) {
  GHashTable *added = g_hash_table_new(g_str_hash, g_str_equal);
  pthread_mutex_lock(&collector->mutex);
  for (int i = 0; i < count; i++)
    if (tt_registry_find(collector, device, identifiers[i]) < 0)
      g_hash_table_add(added, (gpointer)identifiers[i]);
  const bool room = tt_registry_has_room(collector, device, g_hash_table_size(added));
  pthread_mutex_unlock(&collector->mutex);
  g_hash_table_unref(added);
  return room;
}

tt_status tt_collector_device(tt_collector *collector, const char *identifier, int *index) {
  pthread_mutex_lock(&collector->mutex);
  *index = tt_registry_need_device(collector, identifier);
  if (*index >= 0) tt_device_at(collector, *index)->held = true;
  pthread_mutex_unlock(&collector->mutex);
  return *index < 0 ? TT_FULL : TT_OK;
}

tt_status tt_collector_attribute(tt_collector *collector, const char *identifier, int *index) {
  pthread_mutex_lock(&collector->mutex);
  *index = tt_registry_need_attribute(collector, identifier);
  if (*index >= 0) tt_attribute_at(collector, *index)->held = true;
  pthread_mutex_unlock(&collector->mutex);
  return *index < 0 ? TT_FULL : TT_OK;
}

/** As with a message's, where others send by its name, too. There is room for it. */
static void tell_own(tt_collector *collector, int device_index, int epoch) {
  tt_device *device = tt_device_at(collector, device_index);
  if (device->own.stored.number != epoch || !tt_device_time_is_due(&device->time, &device->own))
    return;
  tt_device_time_tell(&device->time, &device->own);
  tt_batch_tell_epoch(collector, device_index, &device->own);
}

int tt_collector_begin_epoch(tt_collector *collector, int device_index, int64_t device_time,
                             int64_t offset) {
  int epoch = -1;
  pthread_mutex_lock(&collector->mutex);
  if (tt_store_batch_reserve(collector->batch, 0, 0, 0)) {
    tt_device *device = tt_device_at(collector, device_index);
    tt_boot *boot = tt_device_time_begin(&device->time, device_time, offset);
    tt_device_time_tell(&device->time, boot);
    tt_batch_tell_epoch(collector, device_index, boot);
    device->own = *boot;
    epoch = boot->stored.number;
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
  bool full =
      store && (tt_batch_is_full(collector) ||
                !tt_store_batch_reserve(collector->batch, (size_t)count, (size_t)count, text) ||
                !tt_list_reserve(&collector->thinned, (size_t)count));
  tt_samples to = {
      .kept = {.batch = collector->batch, .sample = {.device = device_index, .epoch = epoch}},
      .keep = store && !full,
      .live = tt_feed_reader_count(collector->hub) > 0};
  if (to.keep) tell_own(collector, device_index, epoch);
  tt_samples_moment(collector, &to, device_time, device_time + offset);
  for (int i = 0; i < count; i++) {
    const tt_handling *handling = &tt_attribute_at(collector, values[i].attribute)->handling;
    tt_samples_take(collector, &to, values[i].attribute, values[i].text,
                    values[i].number * handling->scale + handling->offset);
  }
  tt_samples_publish(collector, &to);
  tt_samples_end(collector, &to);
  if (full) collector->lost_values += (uint64_t)count;
  pthread_mutex_unlock(&collector->mutex);
  return full ? TT_FULL : TT_OK;
}

/* --- loading, beginning and end --- */

static void load_epoch(void *context, const tt_store_boot *boot) {
  tt_collector *collector = context;
  pthread_mutex_lock(&collector->mutex);
  tt_device_time_learn(&tt_device_at(collector, boot->epoch.device)->time, boot);
  if (boot->has_sample && !collector->loaded)
    collector->newest_stored = MAX(collector->newest_stored, boot->time);
  pthread_mutex_unlock(&collector->mutex);
}

static void load_spooled(void *context, int device, int64_t key, int64_t last_sample,
                         uint64_t content) {
  tt_collector *collector = context;
  pthread_mutex_lock(&collector->mutex);
  tt_device_time_restore_seen(&tt_device_at(collector, device)->time, key, last_sample, content);
  pthread_mutex_unlock(&collector->mutex);
}

static tt_status load(tt_collector *collector, tt_error *error) {
  tt_store_loader loader = {collector,
                            tt_registry_load_device,
                            tt_registry_load_attribute,
                            tt_registry_load_pair,
                            tt_handlings_load,
                            load_epoch,
                            load_spooled,
                            tt_others_take};
  tt_status status = collector->store->load(collector->store, &loader, error);
  // What comes from now on was stored by others meanwhile, and says nothing of the clock at our start.
  collector->loaded = status == TT_OK;
  return status == TT_AGAIN ? TT_OK : status;
}

static void free_collector(tt_collector *collector) {
  if (collector->store) collector->store->close(collector->store);
  if (collector->options.log) collector->options.log->close(collector->options.log);
  tt_feed_hub_free(collector->hub);
  tt_store_batch_free(collector->batch);
  tt_store_batch_free(collector->spare);
  tt_store_batch_free(collector->question);
  tt_list_free(&collector->thinned);
  tt_list_free(&collector->named);
  tt_list_free(&collector->unknown);
  tt_registry_clear(collector);
  tt_list_free(&collector->handlings);
  g_array_unref(collector->listeners);
  g_array_unref(collector->live_values);
  g_array_unref(collector->live_attributes);
  pthread_mutex_destroy(&collector->mutex);
  pthread_cond_destroy(&collector->work);
  pthread_cond_destroy(&collector->room);
  pthread_cond_destroy(&collector->removed);
  pthread_cond_destroy(&collector->ends);
  pthread_cond_destroy(&collector->released);
  g_ptr_array_unref(collector->removals);
  g_free(collector);
}

tt_status tt_collector_new(const tt_collector_options *options, tt_collector **out,
                           tt_error *error) {
  tt_collector *collector = g_new0(tt_collector, 1);
  collector->options = *options;
  collector->store = options->store;
  collector->hub = tt_feed_hub_new(options->max_readers, tt_registry_human_name, collector);
  pthread_mutex_init(&collector->mutex, NULL);
  pthread_cond_init(&collector->work, NULL);
  pthread_cond_init(&collector->room, NULL);
  pthread_cond_init(&collector->removed, NULL);
  pthread_cond_init(&collector->ends, NULL);
  pthread_cond_init(&collector->released, NULL);
  collector->removals = g_ptr_array_new();
  tt_registry_init(collector);
  tt_handlings_init(collector);
  collector->listeners = g_array_new(FALSE, FALSE, sizeof(tt_durable_listener));
  collector->live_values = g_array_new(FALSE, FALSE, sizeof(tt_feed_value));
  collector->live_attributes = g_array_new(FALSE, FALSE, sizeof(int));
  collector->batch = tt_store_batch_new();
  collector->spare = tt_store_batch_new();
  collector->question = tt_store_batch_new();
  collector->thinned = TT_LIST(tt_store_value, NULL);
  collector->named = TT_LIST(int, NULL);
  collector->unknown = TT_LIST(const char *, NULL);
  collector->filling = 1;
  collector->newest_stored = TT_RETENTION_NOTHING;
  tt_status status = collector->batch && collector->spare && collector->question
                         ? load(collector, error)
                         : tt_fail(error, TT_NOMEM, "out of memory");
  if (status != TT_OK) {
    free_collector(collector);
    return status;
  }
  collector->writer = g_thread_new("store", tt_writer_run, collector);
  collector->watch = g_thread_new("watch", tt_watch_run, collector);
  *out = collector;
  return TT_OK;
}

void tt_collector_hold(tt_collector *collector) {
  pthread_mutex_lock(&collector->mutex);
  collector->holders++;
  pthread_mutex_unlock(&collector->mutex);
}

void tt_collector_release(tt_collector *collector) {
  pthread_mutex_lock(&collector->mutex);
  if (!--collector->holders) pthread_cond_broadcast(&collector->released);
  pthread_mutex_unlock(&collector->mutex);
}

/** Whether nobody holds it any more: a table may be in the midst of a long question to the store. */
static bool wait_released(tt_collector *collector) {
  const int64_t end = g_get_monotonic_time() + RELEASE_PATIENCE;
  pthread_mutex_lock(&collector->mutex);
  while (collector->holders && tt_collector_wait(collector, &collector->released, end)) continue;
  const bool released = !collector->holders;
  pthread_mutex_unlock(&collector->mutex);
  return released;
}

void tt_collector_free(tt_collector *collector) {
  if (!collector) return;
  collector->store->hurry(collector->store);
  pthread_mutex_lock(&collector->mutex);
  collector->stopping = true;
  pthread_cond_broadcast(&collector->work);
  pthread_cond_broadcast(&collector->room);
  pthread_cond_broadcast(&collector->removed);
  pthread_cond_broadcast(&collector->ends);
  pthread_mutex_unlock(&collector->mutex);
  g_thread_join(collector->writer);
  g_thread_join(collector->watch);
  if (wait_released(collector)) free_collector(collector);
}

/* --- out --- */

tt_status tt_collector_open_reader(tt_collector *collector, tt_store_reader **reader,
                                   tt_error *error) {
  const tt_store_backend *proposed = tt_store_default_backend();
  if (!collector->store->open_reader)
    return tt_fail(error, TT_NOT_FOUND, "nothing is stored here: set telemetry.store%s%s%s",
                   proposed ? ", to " : "", proposed ? proposed->example : "",
                   proposed ? " for example" : "");
  return collector->store->open_reader(collector->store, reader, error);
}

tt_feed_reader *tt_collector_subscribe(tt_collector *collector, const tt_feed_filter *filter,
                                       int capacity, void (*wake)(void *context), void *context) {
  return tt_feed_subscribe(collector->hub, filter, capacity, wake, context);
}

void tt_collector_unsubscribe(tt_collector *collector, tt_feed_reader *reader) {
  tt_feed_unsubscribe(collector->hub, reader);
}

/** µs for which the oldest of what is not durable has waited. */
static int64_t find_lag(const tt_collector *collector) {
  if (collector->writing_started) return g_get_monotonic_time() - collector->writing_started;
  if (tt_store_batch_is_empty(collector->batch)) return 0;
  return g_get_monotonic_time() - collector->batch_started;
}

void tt_collector_note_taker(tt_collector *collector, bool takes, const char *taker) {
  pthread_mutex_lock(&collector->mutex);
  collector->shares_taking = true;
  collector->takes = takes;
  g_strlcpy(collector->taker, taker, sizeof collector->taker);
  pthread_mutex_unlock(&collector->mutex);
}

void tt_collector_get_stats(tt_collector *collector, tt_collector_stats *stats) {
  pthread_mutex_lock(&collector->mutex);
  *stats = (tt_collector_stats){
      .messages = collector->messages,
      .refused = collector->refused,
      .values = collector->values,
      .stored_values = collector->stored_values,
      .skipped_values = collector->skipped_values,
      .bad_values = collector->bad_values,
      .lost_values = collector->lost_values,
      .batches = collector->batches,
      .queued_bytes = tt_store_batch_bytes(collector->batch),
      .devices = (int)(collector->devices->len - collector->removed_devices),
      .attributes = (int)(collector->attributes->len - collector->removed_attributes),
      .readers = tt_feed_reader_count(collector->hub),
      .lag = find_lag(collector),
      .clock_ahead = collector->retention.ahead,
      .write_time = collector->write_time,
      .store_trouble = collector->store_trouble,
      .log_trouble = collector->log_trouble,
      .follows = collector->options.log,
      .log = collector->log,
      .log_lag = collector->log.oldest ? MAX(g_get_real_time() - collector->log.oldest, 0) : 0,
      .shares_taking = collector->shares_taking,
      .takes = collector->takes,
      .store = collector->store->backend->kind};
  g_strlcpy(stats->taker, collector->taker, sizeof stats->taker);
  pthread_mutex_unlock(&collector->mutex);
  tt_feed_get_queues(collector->hub, &stats->live_waiting, &stats->live_lost);
  collector->store->state(collector->store, &stats->store_state);
  stats->advice =
      tt_sealing_advice(collector->store, &stats->store_state, collector->options.seal_after);
}
