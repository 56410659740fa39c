/* intake.c: a message on its way in: its names, its boot epoch, its samples. */
#include "base/log.h"
#include "telemetry/collector_internal.h"

#include <stdlib.h>
#include <string.h>

/** µs of an answer of the store that hold up nobody. */
#define QUICK_ANSWER (SECOND / 20)
/** All wait while the store is asked, so for so many times as long as that took it is not asked again. */
#define QUESTION_REST 9
/** Most refusals logged in a second; all are counted. */
#define REFUSALS_LOGGED 5

bool tt_intake_may_complain(tt_collector *collector) {
  int64_t second = g_get_monotonic_time() / SECOND;
  if (collector->refusal_second != second) collector->refusals_logged = 0;
  collector->refusal_second = second;
  return collector->refusals_logged++ < REFUSALS_LOGGED;
}

static int by_text(const void *a, const void *b) {
  const char *const *one = a, *const *other = b;
  return strcmp(*one, *other);
}

/** How many names there are among the unknown ones, each counted once. */
static guint count_unknown(tt_collector *collector) {
  const char **names = collector->unknown.data;
  guint count = 0;
  if (collector->unknown.len) qsort(names, collector->unknown.len, sizeof *names, by_text);
  for (uint32_t i = 0; i < collector->unknown.len; i++)
    count += i == 0 || strcmp(names[i - 1], names[i]) != 0;
  return count;
}

/** Looks up every name, and makes those that are new: all of them, or none where that would be too many. There is room for
 *  their indices in `named`. */
static tt_status need_names(tt_collector *collector, const tt_message *message, int *device_index,
                            tt_error *error) {
  tt_list_cut(&collector->unknown, 0);
  for (uint32_t i = 0; i < message->value_count; i++) {
    const char *identifier = tt_message_text(message, message->values[i].identifier);
    const int known = tt_registry_find(collector, false, identifier);
    tt_list_add(&collector->named, &known, 1);
    if (known < 0) tt_list_add(&collector->unknown, &identifier, 1);
  }
  if (collector->unknown.failed) return tt_fail(error, TT_NOMEM, "out of memory");
  const guint count = count_unknown(collector);
  *device_index = tt_registry_find(collector, true, message->device);
  if (*device_index < 0 && !tt_registry_has_room(collector, true, 1)) {
    return tt_fail(error, TT_BAD_MESSAGE, "more than %d devices", collector->options.max_devices);
  }
  if (!tt_registry_has_room(collector, false, count)) {
    return tt_fail(error, TT_BAD_MESSAGE, "more than %d attributes",
                   collector->options.max_attributes);
  }
  if (*device_index < 0) *device_index = tt_registry_need_device(collector, message->device);
  bool made = *device_index >= 0;
  for (uint32_t i = 0; i < message->value_count && count && made; i++) {
    int *index = &tt_list_at(&collector->named, int, i);
    if (*index >= 0) continue;
    *index = tt_registry_need_attribute(collector,
                                        tt_message_text(message, message->values[i].identifier));
    made = *index >= 0;
  }
  return made ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

/** A message whose names are known. */
typedef struct taken {
  tt_collector *collector;
  const tt_message *message;
  int device;
  const int *attributes; /**< of its values */
} taken;

/** Values that would be stored of it, but for those that a minimum interval may leave out. Null where memory runs out. */
static const tt_store_batch *make_question(const taken *of) {
  tt_collector *collector = of->collector;
  const tt_message *message = of->message;
  tt_store_batch *batch = collector->question;
  tt_sampling to = {.batch = batch, .sample = {.device = of->device, .seq = message->seq + 1}};
  tt_store_batch_clear(batch);
  for (uint32_t s = 0; s < message->sample_count; s++) {
    const tt_message_sample *sent = &message->samples[s];
    const int64_t time = sent->time == TT_MESSAGE_NO_TIME ? message->time : sent->time;
    if (time == TT_MESSAGE_NO_TIME) continue;  // of now: not stored yet
    tt_sampling_moment(collector, &to, time, time);
    for (uint32_t v = sent->first; v < sent->first + sent->count; v++) {
      const tt_handling *handling = &tt_attribute_at(collector, of->attributes[v])->handling;
      const char *text = tt_message_text(message, message->values[v].text);
      double number = 0;
      bool stored = handling->mode == TT_MODE_BOTH || handling->mode == TT_MODE_STORE;
      if (stored && handling->min_interval <= 0 && tt_handling_convert(handling, &text, &number))
        tt_sampling_add(collector, &to, of->attributes[v], text, number);
    }
  }
  tt_sampling_end(collector, &to);
  return tt_store_batch_has_failed(batch) ? NULL : batch;
}

static uint64_t content(void *context) {
  const tt_store_batch *question = make_question(context);
  return question ? tt_store_content(question, 0, question->samples.len) : 0;
}

/** A database looks for what is unsure when it is written, so it need not be asked now. A log can't, and its writers may be given what
 *  was sent again before what it repeats: only by its epoch it is known to be the same. */
static bool may_rest(const tt_collector *collector) {
  return !(collector->store->backend->abilities & TT_STORE_FORWARDS);
}

static bool find(void *context, int64_t *key) {
  const taken *of = context;
  tt_collector *collector = of->collector;
  const int64_t begun = g_get_monotonic_time();
  if (begun < collector->next_question) return false;
  const tt_store_batch *batch = make_question(of);
  if (!batch || !batch->samples.len) return false;
  const tt_store_question question = {of->device, of->message->boot, batch};
  tt_list boots = TT_LIST(tt_store_boot, NULL);
  tt_status status = collector->store->find(collector->store, &question, &boots, key);
  const int64_t end = g_get_monotonic_time();
  if (end - begun > QUICK_ANSWER && may_rest(collector))
    collector->next_question = end + QUESTION_REST * (end - begun);
  tt_device_time_learn_all(&tt_device_at(collector, of->device)->time, boots.data, boots.len,
                           status == TT_OK ? key : NULL);
  tt_list_free(&boots);
  return status == TT_OK;
}

static tt_place place(taken *of, tt_origin *origin, int64_t received) {
  tt_collector *collector = of->collector;
  const tt_message *message = of->message;
  tt_device *from = tt_device_at(collector, of->device);
  tt_timed_message timed = {.transmitted = message->time,
                            .last_sample = message->time,
                            .hash = message->hash,
                            .received = received,
                            .boot = message->boot,
                            .context = of,
                            .content = content,
                            .find = find};
  for (uint32_t i = 0; i < message->sample_count; i++) {
    if (i == 0 || message->samples[i].time > timed.last_sample)
      timed.last_sample = message->samples[i].time;
  }
  if (origin) timed.connected = !origin->request && !origin->has_previous;
  if (origin && origin->has_previous && origin->device == of->device) {
    timed.after_previous = true;
    timed.previous = origin->previous;
    timed.previous_key = origin->previous_key;
  }
  tt_place place = tt_device_time_place(&from->time, &timed, collector->options.late);
  const tt_store_epoch *epoch = &place.boot->stored;
  if (place.placement == TT_PLACED_JUMP && tt_intake_may_complain(collector)) {
    tt_log_info("telemetry: the clock of device %s jumped (it says %.3f s); boot epoch %d begins",
                from->identifier, (double)place.transmitted / SECOND, epoch->number);
  }
  if (place.tell) tt_batch_tell_epoch(collector, of->device, place.boot);
  if (origin) {
    origin->has_previous = true;
    origin->device = of->device;
    origin->previous = place.transmitted;
    origin->previous_key = epoch->key;
  }
  return place;
}

/** Counts a value that does not fit, and notes it for the answer; the log hears of the first of a message. */
static void drop(const taken *of, tt_origin *origin, int attribute_index) {
  tt_collector *collector = of->collector;
  const tt_attribute *attribute = tt_attribute_at(collector, attribute_index);
  collector->bad_values++;
  if (!origin || origin->dropped++) return;
  const tt_value_type type = attribute->handling.type;
  if (type == TT_VALUE_AUTO)
    g_snprintf(origin->drop_reason, sizeof origin->drop_reason, "%s is too large",
               attribute->identifier);
  else
    g_snprintf(origin->drop_reason, sizeof origin->drop_reason, "%s is no %s",
               attribute->identifier, tt_value_type_names[type]);
  if (tt_intake_may_complain(collector))
    tt_log_warning("telemetry: a value of device %s is dropped: %s", of->message->device,
                   origin->drop_reason);
}

static void take_samples(const taken *of, const tt_place *place, tt_origin *origin) {
  tt_collector *collector = of->collector;
  const tt_message *message = of->message;
  tt_samples to = {.kept = {.batch = collector->batch,
                            .sample = {.device = of->device,
                                       .epoch = place->boot->stored.number,
                                       .seq = message->seq + 1,
                                       .flags = place->unsure ? TT_SAMPLE_UNSURE : 0}},
                   .keep = true,
                   .live = !place->again && tt_feed_reader_count(collector->hub) > 0};
  for (uint32_t s = 0; s < message->sample_count; s++) {
    const tt_message_sample *sent = &message->samples[s];
    const int64_t time = sent->time == TT_MESSAGE_NO_TIME ? place->transmitted : sent->time;
    tt_samples_moment(collector, &to, time, time + place->offset);
    for (uint32_t v = sent->first; v < sent->first + sent->count; v++) {
      const char *text = tt_message_text(message, message->values[v].text);
      double number = 0;
      if (tt_handling_convert(&tt_attribute_at(collector, of->attributes[v])->handling, &text,
                              &number)) {
        tt_samples_take(collector, &to, of->attributes[v], text, number);
      } else {
        drop(of, origin, of->attributes[v]);
      }
    }
    tt_samples_publish(collector, &to);
  }
  tt_samples_end(collector, &to);
}

/** When it was received, by our clock as it is now. Where that was set, devices' clocks were not. */
static int64_t look_at_clock(tt_collector *collector, int64_t received) {
  int64_t now;
  const int64_t passed = tt_wall_read(&now);
  const int64_t step = tt_wall_look(&collector->wall, now, passed, collector->options.late);
  if (step) {
    tt_log_warning(
        "telemetry: this machine's clock was set by %.3f s; devices' clocks are followed as before",
        (double)step / SECOND);
    for (guint i = 0; i < collector->devices->len; i++)
      tt_device_time_step(&tt_device_at(collector, (int)i)->time, step);
  }
  return tt_wall_receipt(&collector->wall, now, passed, received);
}

tt_status tt_intake(tt_collector *collector, const tt_message *message, tt_origin *origin,
                    int64_t received, uint64_t *ticket, tt_error *error) {
  if (tt_batch_is_full(collector)) return TT_FULL;
  tt_list_cut(&collector->named, 0);
  if (!tt_store_batch_reserve(collector->batch, message->value_count, message->value_count,
                              message->text_size) ||
      !tt_list_reserve(&collector->thinned, message->value_count) ||
      !tt_list_reserve(&collector->named, message->value_count))
    return tt_fail(error, TT_NOMEM, "out of memory");
  taken of = {.collector = collector, .message = message};
  TT_TRY(need_names(collector, message, &of.device, error));
  of.attributes = collector->named.data;
  const tt_place placed = place(&of, origin, look_at_clock(collector, received));
  if (origin) {
    origin->dropped = 0;
    origin->drop_reason[0] = '\0';
  }
  take_samples(&of, &placed, origin);
  collector->messages++;
  tt_device_at(collector, of.device)->messages++;
  *ticket = tt_store_batch_is_empty(collector->batch) ? collector->filling - 1 : collector->filling;
  if (message->acknowledge) tt_batch_hasten(collector);
  return TT_OK;
}
