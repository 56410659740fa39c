/* message.c: batches into messages. What is said of a name or an epoch stands before what uses it, and is used by its place there. */
#include "store/jetstream/message.h"

#include "store/jetstream/internal.h"

#include <float.h>
#include <math.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

/* --- what a batch defines --- */

static bool note_places(tt_map *places, const tt_list *names) {
  bool ok = true;
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_map_key key = {tt_list_at(names, tt_store_name, i).index, 0};
    ok &= tt_map_put(places, key, i);  // the latest one has all that was said before
  }
  return ok;
}

static int by_device(const void *a, const void *b, void *context) {
  const tt_store_batch *batch = context;
  const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
  const int first = tt_list_at(&batch->samples, tt_store_sample, one).device;
  const int second = tt_list_at(&batch->samples, tt_store_sample, other).device;
  if (first != second) return first < second ? -1 : 1;
  return one < other ? -1 : one > other;
}

bool tt_nats_split_begin(tt_nats_split *split, const tt_store_batch *whole) {
  *split = (tt_nats_split){.batch = whole, .order = TT_LIST(uint32_t, NULL)};
  bool ok = note_places(&split->devices, &whole->devices) &&
            note_places(&split->attributes, &whole->attributes);
  for (uint32_t i = 0; i < whole->epochs.len && ok; i++) {
    const tt_store_epoch *epoch = &tt_list_at(&whole->epochs, tt_store_epoch, i);
    ok = tt_map_put(&split->epochs, (tt_map_key){epoch->device, epoch->number}, i);
  }
  ok = ok && tt_list_reserve(&split->order, whole->samples.len);
  for (uint32_t i = 0; i < whole->samples.len && ok; i++) tt_list_add(&split->order, &i, 1);
  if (ok && split->order.len)
    qsort_r(split->order.data, split->order.len, sizeof(uint32_t), by_device, (void *)whole);
  if (!ok) tt_nats_split_end(split);
  return ok;
}

void tt_nats_split_end(tt_nats_split *split) {
  tt_list_free(&split->order);
  tt_map_clear(&split->devices);
  tt_map_clear(&split->attributes);
  tt_map_clear(&split->epochs);
}

/* --- MessagePack --- */

int tt_nats_put_bytes(void *to, const char *bytes, size_t size) {
  return tt_list_add(to, bytes, size) ? 0 : -1;
}

void tt_nats_put_text(msgpack_packer *to, const char *text) {
  if (!text) {
    msgpack_pack_nil(to);
    return;
  }
  const size_t size = strlen(text);
  msgpack_pack_str(to, size);
  msgpack_pack_str_body(to, text, size);
}

static void put_key(msgpack_packer *to, const char *key) { tt_nats_put_text(to, key); }

static void put_name(msgpack_packer *to, const tt_store_name *name) {
  msgpack_pack_array(to, 3);
  tt_nats_put_text(to, name->identifier);
  tt_nats_put_text(to, name->name);
  msgpack_pack_int(to, (int)name->state);
}

/* --- names and handling --- */

/** Whether a name is more than what a device's message says of it. */
static bool is_set(const tt_store_name *name) {
  return name->name || name->state == TT_NAME_REMOVED;
}

static uint32_t count_set(const tt_list *names, uint32_t first, uint32_t count) {
  uint32_t set = 0;
  for (uint32_t i = first; i < first + count; i++)
    set += is_set(&tt_list_at(names, tt_store_name, i));
  return set;
}

static void put_set(msgpack_packer *to, const char *key, const tt_list *names, uint32_t first,
                    uint32_t count) {
  put_key(to, key);
  msgpack_pack_array(to, count_set(names, first, count));
  for (uint32_t i = first; i < first + count; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    if (is_set(name)) put_name(to, name);
  }
}

void tt_nats_put_handling(msgpack_packer *to, const tt_handling *handling) {
  msgpack_pack_array(to, 9);
  tt_nats_put_text(to, handling->pattern);
  handling->removed ? msgpack_pack_true(to) : msgpack_pack_false(to);
  msgpack_pack_int(to, (int)handling->type);
  msgpack_pack_int(to, (int)handling->mode);
  tt_nats_put_text(to, handling->unit);
  msgpack_pack_double(to, handling->scale);
  msgpack_pack_double(to, handling->offset);
  msgpack_pack_double(to, handling->min_interval);
  msgpack_pack_double(to, handling->retention);
}

static uint32_t lesser(uint32_t a, uint32_t b) { return a < b ? a : b; }

/** The next names and handling, all behind each other. False: nothing of them was set. */
static bool put_settings(tt_nats_split *split, tt_list *bytes) {
  const tt_store_batch *batch = split->batch;
  const tt_list *lists[] = {&batch->devices, &batch->attributes, &batch->handlings};
  uint32_t first[3], count[3], at = split->settings_at, room = TT_NATS_SETTINGS_MOST;
  for (int i = 0; i < 3; i++) {
    first[i] = lesser(at, lists[i]->len);
    count[i] = lesser(room, lists[i]->len - first[i]);
    at -= first[i];
    room -= count[i];
  }
  split->settings_at += TT_NATS_SETTINGS_MOST - room;
  split->settings_done = room > 0;
  if (!count_set(lists[0], first[0], count[0]) && !count_set(lists[1], first[1], count[1]) &&
      !count[2])
    return false;
  msgpack_packer to;
  msgpack_packer_init(&to, bytes, tt_nats_put_bytes);
  msgpack_pack_map(&to, 3);
  put_set(&to, "devices", lists[0], first[0], count[0]);
  put_set(&to, "attributes", lists[1], first[1], count[1]);
  put_key(&to, "handlings");
  msgpack_pack_array(&to, count[2]);
  for (uint32_t i = first[2]; i < first[2] + count[2]; i++)
    tt_nats_put_handling(&to, &tt_list_at(&batch->handlings, tt_handling, i));
  return true;
}

/* --- samples --- */

/** A message that is made: which attributes and epochs it has, by their places in it. */
typedef struct making {
  tt_nats_split *split;
  tt_map attributes, epochs;
  tt_list attribute_places, epoch_places; /**< int64_t: in the batch, in the order of the message */
  uint32_t samples;
  size_t size;    /**< at most */
  uint32_t doubt; /**< TT_SAMPLE_UNSURE, or 0 */
} making;

static const tt_store_sample *sample_at(const tt_nats_split *split, uint32_t at) {
  return &tt_list_at(&split->batch->samples, tt_store_sample,
                     tt_list_at(&split->order, uint32_t, at));
}

/** Notes that the message has something. False: the batch doesn't define it, or memory ran out. */
static bool note(const tt_map *defined, tt_map_key key, tt_map *noted, tt_list *places) {
  if (tt_map_get(noted, key)) return true;
  const int64_t *place = tt_map_get(defined, key);
  return place && tt_map_put(noted, key, places->len) && tt_list_add(places, place, 1);
}

/** Bytes of a message that are no sample's, name's or epoch's; of an epoch; of a name beside its identifier, and with it. */
#define MESSAGE_BYTES 1000
#define EPOCH_BYTES 150
#define NAME_BYTES 10
#define LONGEST_NAME (200 + NAME_BYTES)

/** At most. */
static size_t size_of(const tt_store_batch *batch, const tt_store_sample *sample) {
  size_t size = 60;
  for (uint32_t v = 0; v < sample->count; v++) {
    const tt_store_value *value = &tt_list_at(&batch->values, tt_store_value, sample->first + v);
    size += value->text == TT_STORE_NUMBER
                ? 14
                : 10 + strlen((const char *)batch->text.data + value->text);
  }
  return size;
}

/** Notes what a sample uses, and its bytes. False: the batch doesn't define it, or memory ran out. */
static bool note_used(making *made, const tt_store_sample *sample) {
  const tt_nats_split *split = made->split;
  const uint32_t epochs = made->epoch_places.len, attributes = made->attribute_places.len;
  bool ok = note(&split->epochs, (tt_map_key){sample->device, sample->epoch}, &made->epochs,
                 &made->epoch_places);
  for (uint32_t v = 0; v < sample->count && ok; v++) {
    const tt_store_value *value =
        &tt_list_at(&split->batch->values, tt_store_value, sample->first + v);
    ok = note(&split->attributes, (tt_map_key){value->attribute, 0}, &made->attributes,
              &made->attribute_places);
  }
  made->size += EPOCH_BYTES * (made->epoch_places.len - epochs);
  for (uint32_t i = attributes; i < made->attribute_places.len; i++) {
    const int64_t place = tt_list_at(&made->attribute_places, int64_t, i);
    made->size +=
        NAME_BYTES + strlen(tt_list_at(&split->batch->attributes, tt_store_name, place).identifier);
  }
  return ok;
}

/** Whether another sample stands in the next message, too. What goes on with a message of its device stays with it, so that a repeat is
 *  seen; unless there is no room: then its parts come one behind the other. */
static bool has_room(const making *made, const tt_store_sample *sample, size_t size) {
  const bool goes_on = sample->flags & TT_SAMPLE_CONTINUES;
  const size_t all = made->size + size;
  return goes_on ? all + EPOCH_BYTES + (size_t)sample->count * LONGEST_NAME <= TT_NATS_MESSAGE_MOST
                 : all <= TT_NATS_MESSAGE_MOST / 4;
}

/** Chooses the samples of one device that the next message has. */
static tt_status choose(making *made, int device, tt_error *error) {
  tt_nats_split *split = made->split;
  for (uint32_t at = split->at; at < split->order.len; at++) {
    const tt_store_sample *sample = sample_at(split, at);
    const size_t size = size_of(split->batch, sample);
    if (sample->device != device || (made->samples && !has_room(made, sample, size))) break;
    made->size += size;
    made->samples++;
    if (!note_used(made, sample))
      return tt_fail(error, TT_INVALID, "the batch is not whole in itself");
  }
  return TT_OK;
}

static void put_epochs(msgpack_packer *to, const making *made) {
  const tt_store_batch *batch = made->split->batch;
  put_key(to, "epochs");
  msgpack_pack_array(to, made->epoch_places.len);
  for (uint32_t i = 0; i < made->epoch_places.len; i++) {
    const int64_t place = tt_list_at(&made->epoch_places, int64_t, i);
    tt_nats_put_epoch(to, &tt_list_at(&batch->epochs, tt_store_epoch, place));
  }
}

void tt_nats_put_epoch(msgpack_packer *to, const tt_store_epoch *epoch) {
  msgpack_pack_array(to, 6);
  msgpack_pack_int(to, epoch->number);
  msgpack_pack_int64(to, epoch->key);
  msgpack_pack_int64(to, epoch->anchor);
  msgpack_pack_int64(to, epoch->offset_low);
  msgpack_pack_int64(to, epoch->offset_high);
  tt_nats_put_text(to, epoch->boot);
}

/** In four bytes where these are exact, as they are of whole numbers and of all that wires of floats bring. */
static void put_number(msgpack_packer *to, double number) {
  const bool fits = fabs(number) <= (double)FLT_MAX && (double)(float)number == number;
  fits ? msgpack_pack_float(to, (float)number) : msgpack_pack_double(to, number);
}

static void put_sample(msgpack_packer *to, const making *made, const tt_store_sample *sample) {
  const tt_store_batch *batch = made->split->batch;
  msgpack_pack_array(to, 7);
  msgpack_pack_int64(to, *tt_map_get(&made->epochs, (tt_map_key){sample->device, sample->epoch}));
  msgpack_pack_int64(to, sample->device_time);
  msgpack_pack_int64(to, sample->time);
  msgpack_pack_int64(to, sample->seq);
  msgpack_pack_uint32(to, sample->flags | made->doubt);
  msgpack_pack_uint32(to, sample->thinned);
  msgpack_pack_array(to, 2 * (size_t)sample->count);
  for (uint32_t v = 0; v < sample->count; v++) {
    const tt_store_value *value = &tt_list_at(&batch->values, tt_store_value, sample->first + v);
    msgpack_pack_int64(to, *tt_map_get(&made->attributes, (tt_map_key){value->attribute, 0}));
    if (value->text == TT_STORE_NUMBER)
      put_number(to, value->number);
    else
      tt_nats_put_text(to, (const char *)batch->text.data + value->text);
  }
}

/** Only who says so himself takes a removal back: the message may be read again, after it. */
static void put_used(msgpack_packer *to, const tt_store_name *name) {
  const tt_name_state state = name->state == TT_NAME_USED ? TT_NAME_USED : TT_NAME_KNOWN;
  put_name(to, &(tt_store_name){.identifier = name->identifier, .state = state});
}

static void put_message(msgpack_packer *to, const making *made, const tt_store_name *device) {
  const tt_nats_split *split = made->split;
  msgpack_pack_map(to, 4);
  put_key(to, "devices");
  msgpack_pack_array(to, 1);
  put_used(to, device);
  put_key(to, "attributes");
  msgpack_pack_array(to, made->attribute_places.len);
  for (uint32_t i = 0; i < made->attribute_places.len; i++) {
    const int64_t place = tt_list_at(&made->attribute_places, int64_t, i);
    put_used(to, &tt_list_at(&split->batch->attributes, tt_store_name, place));
  }
  put_epochs(to, made);
  put_key(to, "samples");
  msgpack_pack_array(to, made->samples);
  for (uint32_t i = 0; i < made->samples; i++)
    put_sample(to, made, sample_at(split, split->at + i));
}

static tt_status make_message(making *made, tt_list *bytes, const char **device, tt_error *error) {
  tt_nats_split *split = made->split;
  const int index = sample_at(split, split->at)->device;
  const int64_t *place = tt_map_get(&split->devices, (tt_map_key){index, 0});
  if (!place) return tt_fail(error, TT_INVALID, "the batch is not whole in itself");
  const tt_store_name *name = &tt_list_at(&split->batch->devices, tt_store_name, *place);
  TT_TRY(choose(made, index, error));
  if (split->is_sure && !split->is_sure(split->context, name->identifier))
    made->doubt = TT_SAMPLE_UNSURE;
  msgpack_packer to;
  msgpack_packer_init(&to, bytes, tt_nats_put_bytes);
  put_message(&to, made, name);
  if (bytes->failed) return tt_fail(error, TT_NOMEM, "out of memory");
  if (bytes->len > TT_NATS_MESSAGE_MOST)
    return tt_fail(error, TT_INVALID, "a message of device %.64s is longer than %d bytes",
                   name->identifier, TT_NATS_MESSAGE_MOST);
  *device = name->identifier;
  split->at += made->samples;
  return TT_OK;
}

tt_status tt_nats_split_next(tt_nats_split *split, tt_list *bytes, const char **device,
                             tt_error *error) {
  while (!split->settings_done) {
    *device = NULL;
    bool said = put_settings(split, bytes);
    if (bytes->failed) return tt_fail(error, TT_NOMEM, "out of memory");
    if (said) return TT_OK;
  }
  if (split->at == split->order.len) return TT_END;
  making made = {.split = split,
                 .size = MESSAGE_BYTES,
                 .attribute_places = TT_LIST(int64_t, NULL),
                 .epoch_places = TT_LIST(int64_t, NULL)};
  tt_status status = make_message(&made, bytes, device, error);
  tt_map_clear(&made.attributes);
  tt_map_clear(&made.epochs);
  tt_list_free(&made.attribute_places);
  tt_list_free(&made.epoch_places);
  return status;
}
