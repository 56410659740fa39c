/* feed.c: queues of live samples, and what they look like on a wire. */
#include "telemetry/feed.h"

#include "base/text.h"
#include "telemetry/feed_hub.h"
#include "telemetry/number.h"
#include "telemetry/text.h"

#include <pthread.h>
#include <string.h>

enum { UNKNOWN, WANTED, UNWANTED };

struct tt_feed_reader {
  tt_feed_hub *hub;
  char **devices, **fields;               /**< NULL: all */
  GByteArray *device_cache, *field_cache; /**< by index */
  GQueue queue;                           /**< tt_feed_sample */
  guint capacity;
  uint64_t lost;
  void (*wake)(void *context);
  void *context;
};

struct tt_feed_hub {
  pthread_mutex_t mutex;
  GPtrArray *readers;
  guint max_readers;
  uint64_t lost;
  tt_feed_human_name *human_name;
  void *context;
};

tt_feed_sample *tt_feed_sample_new(int count) {
  tt_feed_sample *sample = g_malloc0(sizeof *sample + (size_t)count * sizeof *sample->values);
  atomic_init(&sample->references, 1);
  sample->count = count;
  return sample;
}

void tt_feed_sample_unref(tt_feed_sample *sample) {
  if (!sample || atomic_fetch_sub(&sample->references, 1) > 1) return;
  for (int i = 0; i < sample->count; i++) g_free((char *)sample->values[i].text);
  g_free(sample);
}

tt_feed_hub *tt_feed_hub_new(int max_readers, tt_feed_human_name *human_name, void *context) {
  tt_feed_hub *hub = g_new0(tt_feed_hub, 1);
  pthread_mutex_init(&hub->mutex, NULL);
  hub->readers = g_ptr_array_new();
  hub->max_readers = (guint)max_readers;
  hub->human_name = human_name;
  hub->context = context;
  return hub;
}

void tt_feed_hub_free(tt_feed_hub *hub) {
  if (!hub) return;
  g_ptr_array_unref(hub->readers);
  pthread_mutex_destroy(&hub->mutex);
  g_free(hub);
}

tt_feed_reader *tt_feed_subscribe(tt_feed_hub *hub, const tt_feed_filter *filter, int capacity,
                                  void (*wake)(void *context), void *context) {
  tt_feed_reader *reader = NULL;
  pthread_mutex_lock(&hub->mutex);
  if (hub->readers->len < hub->max_readers) {
    reader = g_new0(tt_feed_reader, 1);
    reader->hub = hub;
    if (filter->devices && *filter->devices) reader->devices = g_strdupv((char **)filter->devices);
    if (filter->fields && *filter->fields) reader->fields = g_strdupv((char **)filter->fields);
    reader->device_cache = g_byte_array_new();
    reader->field_cache = g_byte_array_new();
    g_queue_init(&reader->queue);
    reader->capacity = (guint)capacity;
    reader->wake = wake;
    reader->context = context;
    g_ptr_array_add(hub->readers, reader);
  }
  pthread_mutex_unlock(&hub->mutex);
  return reader;
}

void tt_feed_unsubscribe(tt_feed_hub *hub, tt_feed_reader *reader) {
  pthread_mutex_lock(&hub->mutex);
  g_ptr_array_remove_fast(hub->readers, reader);
  pthread_mutex_unlock(&hub->mutex);
  g_queue_clear_full(&reader->queue, (GDestroyNotify)tt_feed_sample_unref);
  g_strfreev(reader->devices);
  g_strfreev(reader->fields);
  g_byte_array_unref(reader->device_cache);
  g_byte_array_unref(reader->field_cache);
  g_free(reader);
}

int tt_feed_reader_count(tt_feed_hub *hub) {
  pthread_mutex_lock(&hub->mutex);
  guint count = hub->readers->len;
  pthread_mutex_unlock(&hub->mutex);
  return (int)count;
}

void tt_feed_get_queues(tt_feed_hub *hub, uint64_t *waiting, uint64_t *lost) {
  *waiting = 0;
  pthread_mutex_lock(&hub->mutex);
  for (guint i = 0; i < hub->readers->len; i++)
    *waiting += ((const tt_feed_reader *)g_ptr_array_index(hub->readers, i))->queue.length;
  *lost = hub->lost;
  pthread_mutex_unlock(&hub->mutex);
}

void tt_feed_renamed(tt_feed_hub *hub) {
  pthread_mutex_lock(&hub->mutex);
  for (guint i = 0; i < hub->readers->len; i++) {
    tt_feed_reader *reader = g_ptr_array_index(hub->readers, i);
    g_byte_array_set_size(reader->device_cache, 0);
    g_byte_array_set_size(reader->field_cache, 0);
  }
  pthread_mutex_unlock(&hub->mutex);
}

static bool matches(char **patterns, const char *identifier, const char *name) {
  for (; *patterns; patterns++) {
    if (tt_text_matches(identifier, *patterns) || (name && !strcmp(*patterns, name))) return true;
  }
  return false;
}

static bool wants(tt_feed_reader *reader, bool device, int index, const char *identifier) {
  char **patterns = device ? reader->devices : reader->fields;
  if (!patterns) return true;
  GByteArray *cache = device ? reader->device_cache : reader->field_cache;
  if (cache->len <= (guint)index) {
    guint old = cache->len;
    g_byte_array_set_size(cache, (guint)index + 64);
    memset(cache->data + old, UNKNOWN, cache->len - old);
  }
  guint8 *known = &cache->data[index];
  if (*known == UNKNOWN) {
    const char *name = reader->hub->human_name(reader->hub->context, device, index);
    *known = matches(patterns, identifier, name) ? WANTED : UNWANTED;
  }
  return *known == WANTED;
}

/** The part of a sample that a reader wants, or NULL: nothing of it. */
static tt_feed_sample *select_values(tt_feed_reader *reader, const int *attributes,
                                     tt_feed_sample *sample) {
  int wanted = 0;
  for (int i = 0; i < sample->count; i++)
    wanted += wants(reader, false, attributes[i], sample->values[i].attribute);
  if (!wanted) return NULL;
  if (wanted == sample->count) {
    atomic_fetch_add(&sample->references, 1);
    return sample;
  }
  tt_feed_sample *part = tt_feed_sample_new(wanted);
  part->device = sample->device;
  part->epoch = sample->epoch;
  part->device_time = sample->device_time;
  part->time = sample->time;
  for (int i = 0, to = 0; i < sample->count; i++) {
    if (!wants(reader, false, attributes[i], sample->values[i].attribute)) continue;
    part->values[to] = sample->values[i];
    part->values[to++].text = g_strdup(sample->values[i].text);
  }
  return part;
}

void tt_feed_publish(tt_feed_hub *hub, int device, const int *attributes, tt_feed_sample *sample) {
  pthread_mutex_lock(&hub->mutex);
  for (guint i = 0; i < hub->readers->len; i++) {
    tt_feed_reader *reader = g_ptr_array_index(hub->readers, i);
    if (!wants(reader, true, device, sample->device)) continue;
    tt_feed_sample *part = select_values(reader, attributes, sample);
    if (!part) continue;
    if (reader->queue.length >= reader->capacity) {
      tt_feed_sample_unref(g_queue_pop_head(&reader->queue));
      reader->lost++;
      hub->lost++;
    }
    g_queue_push_tail(&reader->queue, part);
    if (reader->queue.length == 1) reader->wake(reader->context);
  }
  pthread_mutex_unlock(&hub->mutex);
  tt_feed_sample_unref(sample);
}

tt_feed_sample *tt_feed_next(tt_feed_reader *reader, uint64_t *lost) {
  pthread_mutex_lock(&reader->hub->mutex);
  tt_feed_sample *sample = g_queue_pop_head(&reader->queue);
  *lost = sample ? reader->lost : 0;
  if (sample) reader->lost = 0;
  pthread_mutex_unlock(&reader->hub->mutex);
  return sample;
}

void tt_feed_append_json(GString *out, const tt_feed_sample *sample) {
  char number[TT_NUMBER_SIZE], time[TT_ISO_SIZE];
  tt_iso_format(time, sample->time);
  g_string_append(out, "{\"device\":");
  tt_append_json(out, sample->device);
  g_string_append_printf(
      out, ",\"epoch\":%d,\"device_time\":%" G_GINT64_FORMAT ",\"time\":\"%s\",\"values\":{",
      sample->epoch, sample->device_time, time);
  for (int i = 0; i < sample->count; i++) {
    const tt_feed_value *value = &sample->values[i];
    if (i) g_string_append_c(out, ',');
    tt_append_json(out, value->attribute);
    g_string_append_c(out, ':');
    if (value->text) {
      tt_append_json(out, value->text);
    } else {
      tt_number_format(number, value->number);
      g_string_append(out, number);
    }
  }
  g_string_append(out, "}}");
}

/** "Set.Data.attribute" in its three parts, as they are in XML. A point without tags has no data set: it is called value. False:
 *  an identifier of one part. */
static bool split_identifier(const char *identifier, char ***parts) {
  *parts = g_strsplit(identifier, ".", 3);
  const guint count = g_strv_length(*parts);
  if (count == 2) {
    *parts = g_renew(char *, *parts, 4);
    (*parts)[3] = NULL;
    (*parts)[2] = (*parts)[1];
    (*parts)[1] = g_strdup("value");
  }
  if (count > 1) return true;
  g_strfreev(*parts);
  return false;
}

void tt_feed_append_xml(GString *out, const tt_feed_sample *sample) {
  char number[TT_NUMBER_SIZE], time[TT_MS_SIZE];
  tt_ms_format(time, sample->device_time);
  g_string_append(out, "<MESSAGE id=\"");
  tt_append_xml(out, sample->device);
  g_string_append_printf(out, "\" time=\"%s\">", time);
  for (int i = 0; i < sample->count; i++) {
    const tt_feed_value *value = &sample->values[i];
    char **parts;
    if (!split_identifier(value->attribute, &parts)) continue;
    g_string_append_printf(out, "<%s time=\"%s\"><%s %s=\"", parts[0],
                           sample->device_time > 0 ? time : "0", parts[1], parts[2]);
    if (value->text) {
      tt_append_xml(out, value->text);
    } else {
      tt_number_format(number, value->number);
      g_string_append(out, number);
    }
    g_string_append_printf(out, "\"/></%s>", parts[0]);
    g_strfreev(parts);
  }
  g_string_append(out, "</MESSAGE>");
}
