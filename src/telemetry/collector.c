/* collector.c: registry of devices and attributes, handling, batches, and the thread that writes them. */
#include "telemetry/collector.h"

#include "core/log.h"
#include "core/nearest.h"
#include "telemetry/device_clock.h"
#include "telemetry/live_hub.h"
#include "telemetry/number.h"
#include "telemetry/text.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define SECOND 1000000
/** µs between attempts of a store that fails. */
#define RETRY_INTERVAL (SECOND / 2)
/** Bytes of a batch that waits for no more. */
#define BIG_BATCH ((size_t)1 << 20)
#define TEND_INTERVAL (SECOND / 10)
#define PURGE_INTERVAL (30LL * SECOND)
/** Most refusals logged in a second; all are counted. */
#define REFUSALS_LOGGED 5
#define NAME_BYTES 128

const char *const tt_value_type_names[] = {"auto", "number", "text", "flag", NULL};
const char *const tt_value_mode_names[] = {"both", "store", "forward", "ignore", NULL};

typedef struct device {
  char *identifier, *name;
  tt_device_time time;
  GHashTable *
      kept; /**< attribute + 1 -> device time of the last value kept, for those with a minimum interval */
  int kept_epoch;
  int64_t last_time;
  uint64_t messages, values;
} device;

typedef struct attribute {
  char *identifier, *name;
  tt_handling handling; /**< in effect; its strings belong to the handling set */
} attribute;

typedef struct listener {
  void (*wake)(void *context);
  void *context;
} listener;

struct tt_collector {
  tt_collector_options options;
  tt_store *store;
  tt_live_hub *hub;
  GThread *writer;

  GMutex mutex; /**< guards everything below */
  GCond work, room;
  bool stopping, urgent;
  GPtrArray *devices, *attributes;            /**< device, attribute */
  GHashTable *device_index, *attribute_index; /**< identifier -> index + 1 */
  GHashTable *device_names, *attribute_names; /**< human name -> index + 1 */
  GArray *handlings;                          /**< tt_handling */
  tt_store_batch *batch;                      /**< being filled */
  uint64_t filling;                           /**< ticket of `batch` */
  uint64_t durable;
  int64_t batch_started;
  GArray *listeners;
  GArray *live_values; /**< scratch: tt_live_value of the sample in hand */
  GArray *live_attributes;
  uint64_t messages, refused, values, stored_values, skipped_values, bad_values, lost_values,
      batches;
  int64_t refusal_second;
  int refusals_logged;
};

tt_collector_options tt_collector_options_default(void) {
  return (tt_collector_options){.late = SECOND,
                                .max_devices = 1000,
                                .max_attributes = 10000,
                                .max_queued = 32 << 20,
                                .batch_interval = SECOND / 10,
                                .max_readers = 64};
}

int64_t tt_collector_now(void) { return g_get_real_time(); }

tt_handling tt_handling_default(void) { return (tt_handling){.scale = 1}; }

/* --- registry --- */

static device *device_at(tt_collector *collector, int index) {
  return g_ptr_array_index(collector->devices, (guint)index);
}

static attribute *attribute_at(tt_collector *collector, int index) {
  return g_ptr_array_index(collector->attributes, (guint)index);
}

static void free_device(gpointer item) {
  device *freed = item;
  g_free(freed->identifier);
  g_free(freed->name);
  if (freed->kept) g_hash_table_unref(freed->kept);
  g_free(freed);
}

static void free_attribute(gpointer item) {
  attribute *freed = item;
  g_free(freed->identifier);
  g_free(freed->name);
  g_free(freed);
}

static int lookup(GHashTable *table, const char *key) {
  return GPOINTER_TO_INT(g_hash_table_lookup(table, key)) - 1;
}

static int add_device(tt_collector *collector, const char *identifier, const char *name) {
  device *added = g_new0(device, 1);
  added->identifier = g_strdup(identifier);
  added->name = g_strdup(name);
  g_ptr_array_add(collector->devices, added);
  int index = (int)collector->devices->len - 1;
  g_hash_table_insert(collector->device_index, added->identifier, GINT_TO_POINTER(index + 1));
  if (name) g_hash_table_insert(collector->device_names, added->name, GINT_TO_POINTER(index + 1));
  return index;
}

/** Exact before patterns, longer patterns before shorter ones. */
static void resolve_handling(tt_collector *collector, attribute *resolved) {
  const tt_handling *best = NULL;
  size_t best_length = 0;
  for (guint i = 0; i < collector->handlings->len; i++) {
    const tt_handling *handling = &g_array_index(collector->handlings, tt_handling, i);
    if (!strcmp(handling->pattern, resolved->identifier)) {
      best = handling;
      break;
    }
    size_t length = strlen(handling->pattern);
    if (length > best_length && g_pattern_match_simple(handling->pattern, resolved->identifier)) {
      best = handling;
      best_length = length;
    }
  }
  resolved->handling = best ? *best : tt_handling_default();
}

static int add_attribute(tt_collector *collector, const char *identifier, const char *name) {
  attribute *added = g_new0(attribute, 1);
  added->identifier = g_strdup(identifier);
  added->name = g_strdup(name);
  g_ptr_array_add(collector->attributes, added);
  int index = (int)collector->attributes->len - 1;
  g_hash_table_insert(collector->attribute_index, added->identifier, GINT_TO_POINTER(index + 1));
  if (name)
    g_hash_table_insert(collector->attribute_names, added->name, GINT_TO_POINTER(index + 1));
  resolve_handling(collector, added);
  return index;
}

static void start_batch(tt_collector *collector) {
  if (tt_store_batch_is_empty(collector->batch)) {
    collector->batch_started = g_get_monotonic_time();
    g_cond_signal(&collector->work);
  }
}

/** Whether the batch waits for no more: its rows cost far more than its transaction. */
static bool is_big(const tt_collector *collector) {
  return tt_store_batch_bytes(collector->batch) >=
         MIN(BIG_BATCH, collector->options.max_queued / 4);
}

/** Has the batch written as soon as the writer is free. */
static void hasten(tt_collector *collector) {
  if (collector->urgent) return;
  collector->urgent = true;
  g_cond_signal(&collector->work);
}

/** `name`: NULL leaves the human name as it is, "" takes it away. */
static void tell_store_name(tt_collector *collector, bool is_device, int index, const char *name) {
  start_batch(collector);
  tt_store_name told = {.index = index};
  if (is_device) {
    device *named = device_at(collector, index);
    told.identifier = g_strdup(named->identifier);
    told.name = g_strdup(name);
    g_array_append_val(collector->batch->devices, told);
  } else {
    attribute *named = attribute_at(collector, index);
    told.identifier = g_strdup(named->identifier);
    told.name = g_strdup(name);
    g_array_append_val(collector->batch->attributes, told);
  }
}

static void tell_store_epoch(tt_collector *collector, int index, const tt_boot *boot) {
  start_batch(collector);
  tt_store_epoch told = {.device = index,
                         .number = boot->epoch,
                         .anchor = boot->anchor,
                         .offset_low = boot->offset_low,
                         .offset_high = boot->offset_high};
  g_array_append_val(collector->batch->epochs, told);
}

static int need_device(tt_collector *collector, const char *identifier) {
  int index = lookup(collector->device_index, identifier);
  if (index >= 0) return index;
  if (collector->devices->len >= (guint)collector->options.max_devices) return -1;
  index = add_device(collector, identifier, NULL);
  tell_store_name(collector, true, index, NULL);
  tt_log_info("telemetry: new device %s", identifier);
  return index;
}

static int need_attribute(tt_collector *collector, const char *identifier) {
  int index = lookup(collector->attribute_index, identifier);
  if (index >= 0) return index;
  if (collector->attributes->len >= (guint)collector->options.max_attributes) return -1;
  index = add_attribute(collector, identifier, NULL);
  tell_store_name(collector, false, index, NULL);
  return index;
}

static const char *human_name(void *context, bool is_device, int index) {
  tt_collector *collector = context;
  return is_device ? device_at(collector, index)->name : attribute_at(collector, index)->name;
}

/* --- values --- */

static bool parse_flag(const char *text, double *number) {
  static const char *const yes[] = {"1", "true", "yes", "on", NULL}, *const no[] = {"0", "false",
                                                                                    "no", "off",
                                                                                    NULL};
  for (int i = 0; yes[i]; i++) {
    bool set = !g_ascii_strcasecmp(text, yes[i]);
    if (!set && g_ascii_strcasecmp(text, no[i])) continue;
    *number = set;
    return true;
  }
  return false;
}

/** The kept form of a sent value: `*text` stays or becomes NULL (a number). False: not of the attribute's type. */
static bool convert(const tt_handling *handling, const char **text, double *number) {
  switch (handling->type) {
    case TT_VALUE_TEXT: return true;
    case TT_VALUE_FLAG:
      if (!parse_flag(*text, number)) return false;
      *text = NULL;
      return true;
    case TT_VALUE_NUMBER:
    case TT_VALUE_AUTO: break;
  }
  if (!tt_number_parse(*text, number)) return handling->type == TT_VALUE_AUTO;
  *number = *number * handling->scale + handling->offset;
  *text = NULL;
  return isfinite(*number);
}

/** Whether the minimum interval of an attribute allows to keep a value of this device time. */
static bool is_due(device *from, int epoch, int attribute_index, const tt_handling *handling,
                   int64_t device_time) {
  if (handling->min_interval <= 0) return true;
  if (!from->kept) from->kept = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
  if (from->kept_epoch != epoch) {
    g_hash_table_remove_all(from->kept);
    from->kept_epoch = epoch;
  }
  gpointer key = GINT_TO_POINTER(attribute_index + 1);
  int64_t *last = g_hash_table_lookup(from->kept, key);
  if (last && llabs(device_time - *last) < llround(handling->min_interval * SECOND)) return false;
  if (!last) {
    last = g_new(int64_t, 1);
    g_hash_table_insert(from->kept, key, last);
    *last = device_time;
  }
  if (device_time > *last) *last = device_time;
  return true;
}

/** A sample in hand: opened, given its values, closed. */
typedef struct open_sample {
  device *from;
  tt_store_sample stored;
  bool keep, live;
} open_sample;

static void open_sample_at(tt_collector *collector, open_sample *sample, int device_index,
                           int epoch, int64_t device_time, int64_t time) {
  sample->from = device_at(collector, device_index);
  sample->stored = (tt_store_sample){.device = device_index,
                                     .epoch = epoch,
                                     .device_time = device_time,
                                     .time = time,
                                     .first = collector->batch->values->len};
  g_array_set_size(collector->live_values, 0);
  g_array_set_size(collector->live_attributes, 0);
}

static void keep_value(tt_collector *collector, open_sample *sample, int attribute_index,
                       const char *text, double number) {
  tt_store_batch *batch = collector->batch;
  start_batch(collector);
  tt_store_value value = {.attribute = attribute_index, .text = TT_STORE_NUMBER, .number = number};
  if (text) {
    value.text = (uint32_t)batch->text->len;
    g_string_append_len(batch->text, text, (gssize)strlen(text) + 1);
  }
  g_array_append_val(batch->values, value);
  sample->stored.count++;
}

static void add_value(tt_collector *collector, open_sample *sample, int attribute_index,
                      const char *text, double number) {
  const attribute *known = attribute_at(collector, attribute_index);
  const tt_handling *handling = &known->handling;
  collector->values++;
  sample->from->values++;
  bool wanted = handling->mode != TT_MODE_IGNORE &&
                is_due(sample->from, sample->stored.epoch, attribute_index, handling,
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
  if (sample->stored.count) g_array_append_val(collector->batch->samples, sample->stored);
  if (is_big(collector)) hasten(collector);
  if (collector->live_values->len) publish_sample(collector, sample);
  if (sample->stored.time > sample->from->last_time) sample->from->last_time = sample->stored.time;
}

/* --- messages --- */

static bool is_full(tt_collector *collector) {
  return tt_store_batch_bytes(collector->batch) >= collector->options.max_queued;
}

/** Looks up every name first, so that a message with one too many leaves nothing behind but the names before it. */
static tt_status need_names(tt_collector *collector, const tt_message *message, int *device_index,
                            int *attributes, tt_error *error) {
  *device_index = need_device(collector, message->device);
  if (*device_index < 0) {
    return tt_fail(error, TT_BAD_MESSAGE, "more than %d devices", collector->options.max_devices);
  }
  for (uint32_t i = 0; i < message->value_count; i++) {
    attributes[i] =
        need_attribute(collector, tt_message_text(message, message->values[i].identifier));
    if (attributes[i] < 0) {
      return tt_fail(error, TT_BAD_MESSAGE, "more than %d attributes",
                     collector->options.max_attributes);
    }
  }
  return TT_OK;
}

static tt_boot *place(tt_collector *collector, int device_index, const tt_message *message,
                      tt_origin *origin, int64_t received, int64_t *offset, bool *again) {
  device *from = device_at(collector, device_index);
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
  tt_boot *boot;
  bool widened;
  tt_placement placement = tt_device_time_place(&from->time, &timed, collector->options.late, &boot,
                                                offset, &widened, again);
  if (placement == TT_PLACED_JUMP) {
    tt_log_info("telemetry: the clock of device %s jumped (it says %.3f s); boot epoch %d begins",
                from->identifier, (double)message->time / SECOND, boot->epoch);
  }
  if (widened) tell_store_epoch(collector, device_index, boot);
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
      if (convert(&attribute_at(collector, attributes[v])->handling, &text, &number)) {
        add_value(collector, &sample, attributes[v], text, number);
      } else {
        collector->bad_values++;
      }
    }
    close_sample(collector, &sample);
  }
}

static tt_status take(tt_collector *collector, const tt_message *message, tt_origin *origin,
                      int64_t received, int *attributes, uint64_t *ticket, tt_error *error) {
  if (is_full(collector)) return TT_FULL;
  int device_index;
  TT_TRY(need_names(collector, message, &device_index, attributes, error));
  int64_t offset;
  bool again;
  const tt_boot *boot = place(collector, device_index, message, origin, received, &offset, &again);
  bool live = !again && tt_live_reader_count(collector->hub) > 0;
  take_samples(collector, message, device_index, boot, offset, live, attributes);
  collector->messages++;
  device_at(collector, device_index)->messages++;
  *ticket = tt_store_batch_is_empty(collector->batch) ? collector->filling - 1 : collector->filling;
  if (message->acknowledge) hasten(collector);
  return TT_OK;
}

tt_status tt_collector_take(tt_collector *collector, const tt_message *message, tt_origin *origin,
                            int64_t received, uint64_t *ticket, tt_error *error) {
  int few[256];
  int *attributes = message->value_count <= 256 ? few : g_new(int, message->value_count);
  g_mutex_lock(&collector->mutex);
  tt_status status = take(collector, message, origin, received, attributes, ticket, error);
  if (status == TT_BAD_MESSAGE) collector->refused++;
  g_mutex_unlock(&collector->mutex);
  if (attributes != few) g_free(attributes);
  return status;
}

bool tt_collector_wait_room(tt_collector *collector, int64_t timeout) {
  int64_t end = g_get_monotonic_time() + timeout;
  g_mutex_lock(&collector->mutex);
  while (is_full(collector) && !collector->stopping) {
    if (!g_cond_wait_until(&collector->room, &collector->mutex, end)) break;
  }
  bool room = !is_full(collector);
  g_mutex_unlock(&collector->mutex);
  return room;
}

uint64_t tt_collector_durable(tt_collector *collector) {
  g_mutex_lock(&collector->mutex);
  uint64_t durable = collector->durable;
  g_mutex_unlock(&collector->mutex);
  return durable;
}

void tt_collector_refused(tt_collector *collector, const char *source,
                          const tt_message_refusal *refusal) {
  int64_t second = g_get_monotonic_time() / SECOND;
  g_mutex_lock(&collector->mutex);
  collector->refused++;
  if (collector->refusal_second != second) collector->refusals_logged = 0;
  collector->refusal_second = second;
  bool say = collector->refusals_logged++ < REFUSALS_LOGGED;
  g_mutex_unlock(&collector->mutex);
  if (say) {
    tt_log_warning("telemetry: message from %s refused: line %lu, column %lu: %s", source,
                   refusal->line, refusal->column, refusal->reason);
  }
}

void tt_collector_on_durable(tt_collector *collector, void (*wake)(void *context), void *context) {
  listener added = {wake, context};
  g_mutex_lock(&collector->mutex);
  g_array_append_val(collector->listeners, added);
  g_mutex_unlock(&collector->mutex);
}

void tt_collector_off_durable(tt_collector *collector, void (*wake)(void *context), void *context) {
  g_mutex_lock(&collector->mutex);
  for (guint i = 0; i < collector->listeners->len; i++) {
    listener *known = &g_array_index(collector->listeners, listener, i);
    if (known->wake != wake || known->context != context) continue;
    g_array_remove_index_fast(collector->listeners, i);
    break;
  }
  g_mutex_unlock(&collector->mutex);
}

/* --- devices inside --- */

tt_status tt_collector_device(tt_collector *collector, const char *identifier, int *index) {
  g_mutex_lock(&collector->mutex);
  *index = need_device(collector, identifier);
  g_mutex_unlock(&collector->mutex);
  return *index < 0 ? TT_FULL : TT_OK;
}

tt_status tt_collector_attribute(tt_collector *collector, const char *identifier, int *index) {
  g_mutex_lock(&collector->mutex);
  *index = need_attribute(collector, identifier);
  g_mutex_unlock(&collector->mutex);
  return *index < 0 ? TT_FULL : TT_OK;
}

int tt_collector_begin_epoch(tt_collector *collector, int device_index, int64_t device_time,
                             int64_t offset) {
  g_mutex_lock(&collector->mutex);
  const tt_boot *boot =
      tt_device_time_begin(&device_at(collector, device_index)->time, device_time, offset);
  tell_store_epoch(collector, device_index, boot);
  int epoch = boot->epoch;
  g_mutex_unlock(&collector->mutex);
  return epoch;
}

tt_status tt_collector_record(tt_collector *collector, int device_index, int epoch,
                              int64_t device_time, int64_t offset, const tt_direct_value *values,
                              int count, bool store) {
  g_mutex_lock(&collector->mutex);
  bool full = store && is_full(collector);
  open_sample sample = {.keep = store && !full, .live = tt_live_reader_count(collector->hub) > 0};
  open_sample_at(collector, &sample, device_index, epoch, device_time, device_time + offset);
  for (int i = 0; i < count; i++) {
    const tt_handling *handling = &attribute_at(collector, values[i].attribute)->handling;
    add_value(collector, &sample, values[i].attribute, NULL,
              values[i].number * handling->scale + handling->offset);
  }
  close_sample(collector, &sample);
  if (full) collector->lost_values += (uint64_t)count;
  g_mutex_unlock(&collector->mutex);
  return full ? TT_FULL : TT_OK;
}

/* --- names and handling --- */

void tt_device_info_clear(tt_device_info *info) {
  g_free(info->identifier);
  g_free(info->name);
}

void tt_attribute_info_clear(tt_attribute_info *info) {
  g_free(info->identifier);
  g_free(info->name);
  tt_handling_clear(&info->handling);
}

int tt_collector_device_count(tt_collector *collector) {
  g_mutex_lock(&collector->mutex);
  guint count = collector->devices->len;
  g_mutex_unlock(&collector->mutex);
  return (int)count;
}

int tt_collector_attribute_count(tt_collector *collector) {
  g_mutex_lock(&collector->mutex);
  guint count = collector->attributes->len;
  g_mutex_unlock(&collector->mutex);
  return (int)count;
}

bool tt_collector_get_device(tt_collector *collector, int index, tt_device_info *info) {
  g_mutex_lock(&collector->mutex);
  bool found = index >= 0 && (guint)index < collector->devices->len;
  if (found) {
    const device *known = device_at(collector, index);
    *info = (tt_device_info){.identifier = g_strdup(known->identifier),
                             .name = g_strdup(known->name),
                             .last_time = known->last_time,
                             .messages = known->messages,
                             .values = known->values};
    if (known->time.boot_count) {
      const tt_boot *boot = &known->time.boots[0];
      info->epoch = boot->epoch;
      info->offset = tt_device_clock_offset(&boot->clock, boot->newest);
      info->drift = boot->clock.slope;
    }
  }
  g_mutex_unlock(&collector->mutex);
  return found;
}

bool tt_collector_get_attribute(tt_collector *collector, int index, tt_attribute_info *info) {
  g_mutex_lock(&collector->mutex);
  bool found = index >= 0 && (guint)index < collector->attributes->len;
  if (found) {
    const attribute *known = attribute_at(collector, index);
    *info = (tt_attribute_info){.identifier = g_strdup(known->identifier),
                                .name = g_strdup(known->name)};
    tt_handling_copy(&info->handling, &known->handling);
  }
  g_mutex_unlock(&collector->mutex);
  return found;
}

static int find(tt_collector *collector, bool is_device, const char *name) {
  int index = lookup(is_device ? collector->device_index : collector->attribute_index, name);
  return index >= 0
             ? index
             : lookup(is_device ? collector->device_names : collector->attribute_names, name);
}

int tt_collector_find_device(tt_collector *collector, const char *name) {
  g_mutex_lock(&collector->mutex);
  int index = find(collector, true, name);
  g_mutex_unlock(&collector->mutex);
  return index;
}

int tt_collector_find_attribute(tt_collector *collector, const char *name) {
  g_mutex_lock(&collector->mutex);
  int index = find(collector, false, name);
  g_mutex_unlock(&collector->mutex);
  return index;
}

char *tt_collector_nearest(tt_collector *collector, bool is_device, const char *name) {
  tt_nearest nearest = tt_nearest_start(name);
  g_mutex_lock(&collector->mutex);
  GHashTable *tables[] = {is_device ? collector->device_index : collector->attribute_index,
                          is_device ? collector->device_names : collector->attribute_names};
  for (int i = 0; i < 2; i++) {
    GHashTableIter iterator;
    gpointer key;
    g_hash_table_iter_init(&iterator, tables[i]);
    while (g_hash_table_iter_next(&iterator, &key, NULL)) tt_nearest_offer(&nearest, key);
  }
  char *best = g_strdup(nearest.best);
  g_mutex_unlock(&collector->mutex);
  return best;
}

static tt_status rename_item(tt_collector *collector, bool is_device, const char *identifier,
                             const char *name, tt_error *error) {
  int index =
      is_device ? need_device(collector, identifier) : need_attribute(collector, identifier);
  if (index < 0)
    return tt_fail(error, TT_FULL, "there are as many %s as allowed",
                   is_device ? "devices" : "attributes");
  int owner = name ? find(collector, is_device, name) : -1;
  if (owner >= 0 && owner != index) {
    return tt_fail(error, TT_INVALID, "the name '%s' belongs to %s", name,
                   is_device ? device_at(collector, owner)->identifier
                             : attribute_at(collector, owner)->identifier);
  }
  GHashTable *names = is_device ? collector->device_names : collector->attribute_names;
  char **held =
      is_device ? &device_at(collector, index)->name : &attribute_at(collector, index)->name;
  if (*held) g_hash_table_remove(names, *held);
  g_free(*held);
  *held = g_strdup(name);
  if (name) g_hash_table_insert(names, *held, GINT_TO_POINTER(index + 1));
  tell_store_name(collector, is_device, index, name ? name : "");
  tt_live_renamed(collector->hub);
  return TT_OK;
}

static tt_status rename_checked(tt_collector *collector, bool is_device, const char *identifier,
                                const char *name, tt_error *error) {
  if (name && !*name) name = NULL;
  if (!tt_text_is_fit(identifier, is_device ? 64 : 200)) {
    return tt_fail(error, TT_INVALID,
                   "an identifier is UTF-8 of 1 to %d bytes without control characters",
                   is_device ? 64 : 200);
  }
  if (name && !tt_text_is_fit(name, NAME_BYTES)) {
    return tt_fail(error, TT_INVALID,
                   "a name is UTF-8 of at most %d bytes without control characters", NAME_BYTES);
  }
  g_mutex_lock(&collector->mutex);
  tt_status status = rename_item(collector, is_device, identifier, name, error);
  g_mutex_unlock(&collector->mutex);
  return status;
}

tt_status tt_collector_name_device(tt_collector *collector, const char *identifier,
                                   const char *name, tt_error *error) {
  return rename_checked(collector, true, identifier, name, error);
}

tt_status tt_collector_name_attribute(tt_collector *collector, const char *identifier,
                                      const char *name, tt_error *error) {
  return rename_checked(collector, false, identifier, name, error);
}

static void drop_handling(tt_collector *collector, const char *pattern) {
  for (guint i = 0; i < collector->handlings->len; i++) {
    tt_handling *handling = &g_array_index(collector->handlings, tt_handling, i);
    if (strcmp(handling->pattern, pattern)) continue;
    g_array_remove_index_fast(collector->handlings, i);
    return;
  }
}

/** Replaces what is set for the pattern (or only takes it away), and looks up every attribute anew. */
static void apply_handling(tt_collector *collector, const tt_handling *handling) {
  tt_handling copy;
  tt_handling_copy(&copy, handling);
  drop_handling(collector, copy.pattern);
  if (copy.removed) {
    tt_handling_clear(&copy);
  } else {
    g_array_append_val(collector->handlings, copy);
  }
  for (guint i = 0; i < collector->attributes->len; i++)
    resolve_handling(collector, attribute_at(collector, (int)i));
}

static tt_status change_handling(tt_collector *collector, const tt_handling *handling) {
  g_mutex_lock(&collector->mutex);
  apply_handling(collector, handling);
  tt_handling told;
  tt_handling_copy(&told, handling);
  start_batch(collector);
  g_array_append_val(collector->batch->handlings, told);
  g_mutex_unlock(&collector->mutex);
  return TT_OK;
}

tt_status tt_collector_set_handling(tt_collector *collector, const tt_handling *handling,
                                    tt_error *error) {
  if (!handling->pattern || !tt_text_is_fit(handling->pattern, 200)) {
    return tt_fail(error, TT_INVALID,
                   "a pattern is UTF-8 of 1 to 200 bytes without control characters");
  }
  if (handling->unit && *handling->unit && !tt_text_is_fit(handling->unit, 32)) {
    return tt_fail(error, TT_INVALID,
                   "a unit is UTF-8 of at most 32 bytes without control characters");
  }
  if (!isfinite(handling->scale) || !isfinite(handling->offset) || handling->scale == 0) {
    return tt_fail(error, TT_INVALID, "scale and offset are finite numbers, and scale is not 0");
  }
  if (!(handling->min_interval >= 0) || !(handling->retention >= 0) ||
      handling->min_interval > 1e9 || handling->retention > 1e10) {
    return tt_fail(error, TT_INVALID, "min_interval and retention are seconds, 0 or more");
  }
  return change_handling(collector, handling);
}

tt_status tt_collector_remove_handling(tt_collector *collector, const char *pattern,
                                       tt_error *error) {
  bool found = false;
  g_mutex_lock(&collector->mutex);
  for (guint i = 0; i < collector->handlings->len && !found; i++) {
    found = !strcmp(g_array_index(collector->handlings, tt_handling, i).pattern, pattern);
  }
  g_mutex_unlock(&collector->mutex);
  if (!found) return tt_fail(error, TT_NOT_FOUND, "no handling is set for '%s'", pattern);
  tt_handling removed = {.pattern = (char *)pattern, .removed = true};
  return change_handling(collector, &removed);
}

static void clear_handling(gpointer item) { tt_handling_clear(item); }

GArray *tt_collector_handlings(tt_collector *collector) {
  GArray *copies = g_array_new(FALSE, FALSE, sizeof(tt_handling));
  g_array_set_clear_func(copies, clear_handling);
  g_mutex_lock(&collector->mutex);
  for (guint i = 0; i < collector->handlings->len; i++) {
    tt_handling copy;
    tt_handling_copy(&copy, &g_array_index(collector->handlings, tt_handling, i));
    g_array_append_val(copies, copy);
  }
  g_mutex_unlock(&collector->mutex);
  return copies;
}

/* --- the writer's thread --- */

static void announce(tt_collector *collector, uint64_t ticket, uint64_t values) {
  g_mutex_lock(&collector->mutex);
  collector->durable = ticket;
  collector->stored_values += values;
  collector->batches++;
  for (guint i = 0; i < collector->listeners->len; i++) {
    listener *told = &g_array_index(collector->listeners, listener, i);
    told->wake(told->context);
  }
  g_mutex_unlock(&collector->mutex);
}

/** Writes a batch, trying again until it is durable or the collector ends. */
static void write_batch(tt_collector *collector, tt_store_batch *batch, uint64_t ticket) {
  bool said = false;
  for (int last_tries = 2; last_tries > 0;) {
    tt_error error;
    if (collector->store->write(collector->store, batch, &error) == TT_OK) {
      if (said) tt_log_info("telemetry: the store works again");
      announce(collector, ticket, batch->values->len);
      return;
    }
    if (!said) tt_log_error("telemetry: can't store, trying again: %s", error.text);
    said = true;
    g_mutex_lock(&collector->mutex);
    int64_t end = g_get_monotonic_time() + RETRY_INTERVAL;
    while (!collector->stopping && g_cond_wait_until(&collector->work, &collector->mutex, end))
      continue;
    if (collector->stopping) last_tries--;
    g_mutex_unlock(&collector->mutex);
  }
  tt_log_error("telemetry: %u values could not be stored; none of them was acknowledged",
               batch->values->len);
}

static void purge_attribute(tt_collector *collector, int attribute_index, double retention) {
  int devices = tt_collector_device_count(collector);
  for (int i = 0; i < devices; i++) {
    tt_store_purge purge = {.device = i,
                            .attribute = attribute_index,
                            .before = tt_collector_now() - llround(retention * SECOND),
                            .limit = 2000};
    int removed;
    tt_error error;
    tt_status status = collector->store->purge(collector->store, &purge, &removed, &error);
    if (status != TT_OK && status != TT_AGAIN) {
      tt_log_warning("telemetry: can't remove old values: %s", error.text);
      return;
    }
  }
}

static void purge_all(tt_collector *collector) {
  int count = tt_collector_attribute_count(collector);
  for (int i = 0; i < count; i++) {
    g_mutex_lock(&collector->mutex);
    double retention = attribute_at(collector, i)->handling.retention;
    g_mutex_unlock(&collector->mutex);
    if (retention > 0) purge_attribute(collector, i, retention);
  }
}

/** Waits until there is a batch to write or something to tend. True: `spare` was exchanged for a batch. */
static bool wait_for_batch(tt_collector *collector, tt_store_batch **spare, uint64_t *ticket,
                           bool *stop) {
  bool taken = false;
  g_mutex_lock(&collector->mutex);
  int64_t tend = g_get_monotonic_time() + TEND_INTERVAL;
  for (;;) {
    int64_t now = g_get_monotonic_time(), end = tend;
    if (!tt_store_batch_is_empty(collector->batch)) {
      int64_t due = collector->batch_started + collector->options.batch_interval;
      taken = collector->urgent || collector->stopping || now >= due;
      if (due < end) end = due;
    }
    if (taken || collector->stopping || now >= tend) break;
    g_cond_wait_until(&collector->work, &collector->mutex, end);
  }
  if (taken) {
    tt_store_batch *full = collector->batch;
    collector->batch = *spare;
    *spare = full;
    *ticket = collector->filling++;
    collector->urgent = false;
    g_cond_broadcast(&collector->room);
  }
  *stop = collector->stopping && tt_store_batch_is_empty(collector->batch);
  g_mutex_unlock(&collector->mutex);
  return taken;
}

static gpointer write_forever(gpointer data) {
  tt_collector *collector = data;
  tt_store_batch *spare = tt_store_batch_new();
  int64_t purged = g_get_monotonic_time();
  for (bool stop = false; !stop;) {
    uint64_t ticket = 0;
    if (wait_for_batch(collector, &spare, &ticket, &stop)) {
      write_batch(collector, spare, ticket);
      tt_store_batch_clear(spare);
    }
    while (collector->store->tend(collector->store) && !stop) {
      g_mutex_lock(&collector->mutex);
      bool busy = collector->stopping || !tt_store_batch_is_empty(collector->batch);
      g_mutex_unlock(&collector->mutex);
      if (busy) break;
    }
    if (!stop && g_get_monotonic_time() - purged > PURGE_INTERVAL) {
      purge_all(collector);
      purged = g_get_monotonic_time();
    }
  }
  tt_store_batch_free(spare);
  return NULL;
}

/* --- loading, beginning and end --- */

static void load_device(void *context, const tt_store_name *loaded) {
  add_device(context, loaded->identifier, loaded->name);
}

static void load_attribute(void *context, const tt_store_name *loaded) {
  add_attribute(context, loaded->identifier, loaded->name);
}

static void load_handling(void *context, const tt_handling *loaded) {
  apply_handling(context, loaded);
}

static void load_epoch(void *context, const tt_store_epoch *loaded, bool has_sample,
                       int64_t device_time, int64_t time) {
  tt_collector *collector = context;
  if (loaded->device < 0 || (guint)loaded->device >= collector->devices->len) return;
  tt_boot range = {.epoch = loaded->number,
                   .anchor = loaded->anchor,
                   .offset_low = loaded->offset_low,
                   .offset_high = loaded->offset_high};
  tt_device_time *known = &device_at(collector, loaded->device)->time;
  if (has_sample) {
    tt_device_time_restore(known, &range, device_time, time - device_time);
  } else {
    known->next_epoch = MAX(known->next_epoch, loaded->number + 1);
  }
}

static void load_sample(void *context, int device_index, int epoch, int64_t device_time) {
  tt_collector *collector = context;
  if (device_index < 0 || (guint)device_index >= collector->devices->len) return;
  tt_device_time_restore_seen(&device_at(collector, device_index)->time, epoch, device_time);
}

static void free_collector(tt_collector *collector) {
  if (collector->store) collector->store->close(collector->store);
  tt_live_hub_free(collector->hub);
  tt_store_batch_free(collector->batch);
  g_hash_table_unref(collector->device_index);
  g_hash_table_unref(collector->attribute_index);
  g_hash_table_unref(collector->device_names);
  g_hash_table_unref(collector->attribute_names);
  g_ptr_array_unref(collector->devices);
  g_ptr_array_unref(collector->attributes);
  g_array_unref(collector->handlings);
  g_array_unref(collector->listeners);
  g_array_unref(collector->live_values);
  g_array_unref(collector->live_attributes);
  g_mutex_clear(&collector->mutex);
  g_cond_clear(&collector->work);
  g_cond_clear(&collector->room);
  g_free(collector);
}

tt_status tt_collector_new(const tt_collector_options *options, tt_collector **out,
                           tt_error *error) {
  tt_collector *collector = g_new0(tt_collector, 1);
  collector->options = *options;
  collector->store = options->store;
  collector->hub = tt_live_hub_new(options->max_readers, human_name, collector);
  g_mutex_init(&collector->mutex);
  g_cond_init(&collector->work);
  g_cond_init(&collector->room);
  collector->devices = g_ptr_array_new_with_free_func(free_device);
  collector->attributes = g_ptr_array_new_with_free_func(free_attribute);
  collector->device_index = g_hash_table_new(g_str_hash, g_str_equal);
  collector->attribute_index = g_hash_table_new(g_str_hash, g_str_equal);
  collector->device_names = g_hash_table_new(g_str_hash, g_str_equal);
  collector->attribute_names = g_hash_table_new(g_str_hash, g_str_equal);
  collector->handlings = g_array_new(FALSE, FALSE, sizeof(tt_handling));
  g_array_set_clear_func(collector->handlings, clear_handling);
  collector->listeners = g_array_new(FALSE, FALSE, sizeof(listener));
  collector->live_values = g_array_new(FALSE, FALSE, sizeof(tt_live_value));
  collector->live_attributes = g_array_new(FALSE, FALSE, sizeof(int));
  collector->batch = tt_store_batch_new();
  collector->filling = 1;
  tt_store_loader loader = {collector,     load_device, load_attribute,
                            load_handling, load_epoch,  load_sample};
  tt_status status = collector->store->load(collector->store, &loader, error);
  if (status != TT_OK) {
    free_collector(collector);
    return status;
  }
  collector->writer = g_thread_new("store", write_forever, collector);
  *out = collector;
  return TT_OK;
}

void tt_collector_free(tt_collector *collector) {
  if (!collector) return;
  collector->store->hurry(collector->store);
  g_mutex_lock(&collector->mutex);
  collector->stopping = true;
  g_cond_broadcast(&collector->work);
  g_cond_broadcast(&collector->room);
  g_mutex_unlock(&collector->mutex);
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
  g_mutex_lock(&collector->mutex);
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
  g_mutex_unlock(&collector->mutex);
  collector->store->state(collector->store, &stats->store_state);
}
