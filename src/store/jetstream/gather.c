/* gather.c: messages into a batch. Any bytes may come, so each thing is looked at before it is taken. */
#include "base/hash.h"
#include "base/text.h"
#include "store/jetstream/internal.h"
#include "store/jetstream/message.h"

#include <inttypes.h>
#include <math.h>
#include <mpack.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN_FLAGS (TT_SAMPLE_CONTINUES | TT_SAMPLE_UNSURE)
/** Where the second hash of a text begins. */
#define SECOND_HASH 0x9e3779b97f4a7c15u
/** Of epochs: no device starts so often, and there is room for what is given to others. */
#define MOST_NUMBER (INT32_MAX / 2)
/** µs, of times and of what lies between clocks: some 1,270 years. Collectors get to 700; PostgreSQL has no day before 4713 BC, and the
 *  sum of two is still one. */
#define MOST_TIME INT64_C(40000000000000000)
/** s, of handling: what tt_handling_check() allows. */
#define MOST_INTERVAL 1e9
#define MOST_RETENTION 1e10
/** More than any collector takes of a device; longer ones PostgreSQL's indices may refuse. */
#define MOST_NAME_BYTES 1000

bool tt_nats_gather_begin(tt_nats_gather *gather) {
  *gather = (tt_nats_gather){.batch = tt_store_batch_new()};
  return gather->batch;
}

void tt_nats_gather_clear(tt_nats_gather *gather) {
  tt_store_batch_clear(gather->batch);
  gather->number++;
  tt_map_clear(&gather->devices);
  tt_map_clear(&gather->attributes);
  tt_map_clear(&gather->epochs);
  tt_map_clear(&gather->numbers);
}

void tt_nats_gather_forget(tt_nats_gather *gather) {
  tt_map_clear(&gather->pairs);
  tt_map_clear(&gather->renewed);
}

void tt_nats_gather_end(tt_nats_gather *gather) {
  tt_store_batch_free(gather->batch);
  tt_map_clear(&gather->devices);
  tt_map_clear(&gather->attributes);
  tt_map_clear(&gather->epochs);
  tt_map_clear(&gather->numbers);
  tt_map_clear(&gather->pairs);
  tt_map_clear(&gather->renewed);
}

/* --- reading --- */

/** A message that is read: what its places mean in the batch. */
typedef struct reading {
  tt_nats_gather *gather;
  tt_list devices, attributes; /**< int32_t: indices in the batch */
  tt_list epochs;              /**< int32_t: numbers in the batch */
  /** uint32_t: of each attribute of the batch, the sample that had it last, counted from 1 */
  tt_list seen;
  uint32_t sample;
  tt_error *error;
} reading;

static tt_status bad(const reading *from, const char *what) {
  return tt_fail(from->error, TT_BAD_MESSAGE, "%s", what);
}

static tt_status no_memory(const reading *from) {
  return tt_fail(from->error, TT_NOMEM, "out of memory");
}

/** The items of an array of so many at least; more are those of a later version. NULL: it is none. */
static const msgpack_object *items_of(const msgpack_object *object, uint32_t least) {
  bool fits = object->type == MSGPACK_OBJECT_ARRAY && object->via.array.size >= least;
  return fits && object->via.array.size ? object->via.array.ptr : NULL;
}

bool tt_nats_get_integer(const msgpack_object *object, int64_t *value) {
  if (object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER) {
    *value = object->via.i64;
    return true;
  }
  *value = (int64_t)object->via.u64;
  return object->type == MSGPACK_OBJECT_POSITIVE_INTEGER && object->via.u64 <= INT64_MAX;
}

static bool get_within(const msgpack_object *object, int64_t least, int64_t most, int64_t *value) {
  return tt_nats_get_integer(object, value) && *value >= least && *value <= most;
}

static bool get_time(const msgpack_object *object, int64_t *us) {
  return get_within(object, -MOST_TIME, MOST_TIME, us);
}

static bool get_number(const msgpack_object *object, double *value) {
  *value = object->via.f64;
  bool is_float = object->type == MSGPACK_OBJECT_FLOAT64 || object->type == MSGPACK_OBJECT_FLOAT32;
  return is_float && isfinite(*value);
}

/** Of seconds, from 0 on. */
static bool get_seconds(const msgpack_object *object, double most, double *value) {
  return get_number(object, value) && *value >= 0 && *value <= most;
}

/** As every database takes it. */
static bool is_text(const msgpack_object *object) {
  return object->type == MSGPACK_OBJECT_STR &&
         !memchr(object->via.str.ptr, 0, object->via.str.size) &&
         tt_text_is_utf8(object->via.str.ptr, object->via.str.size);
}

/** Of what databases have in their indices: identifiers, names for people, patterns. */
static bool is_short_text(const msgpack_object *object) {
  return is_text(object) && object->via.str.size <= MOST_NAME_BYTES;
}

bool tt_nats_get_text(const msgpack_object *object, bool may_be_nil, char **text) {
  *text = NULL;
  if (object->type == MSGPACK_OBJECT_NIL) return may_be_nil;
  if (!is_short_text(object)) return false;
  *text = strndup(object->via.str.ptr, object->via.str.size);
  return *text;
}

/* --- names --- */

static uint64_t hash_of(const msgpack_object *text, uint64_t start) {
  return tt_hash_bytes(start, text->via.str.ptr, text->via.str.size);
}

/** Hashes may meet by chance, or be made to: what they find is compared. */
static bool is_same(const tt_store_name *name, const msgpack_object *text) {
  const size_t size = text->via.str.size;
  return strlen(name->identifier) == size && !memcmp(name->identifier, text->via.str.ptr, size);
}

/** What a later message says counts, but for what it doesn't say. */
static bool update(tt_store_name *name, char *human, tt_name_state state) {
  if (state != TT_NAME_KNOWN) name->state = state;
  if (!human) return true;
  free(name->name);
  name->name = human;
  return true;
}

static tt_status take_name(reading *from, const msgpack_object *object, bool device) {
  tt_nats_gather *gather = from->gather;
  tt_list *names = device ? &gather->batch->devices : &gather->batch->attributes;
  tt_map *places = device ? &gather->devices : &gather->attributes;
  const msgpack_object *items = items_of(object, 3);
  char *human;
  int64_t state;
  if (!items || !is_short_text(&items[0]) || !items[0].via.str.size ||
      !get_within(&items[2], TT_NAME_KNOWN, TT_NAME_REMOVED, &state))
    return bad(from, "a name is none");
  if (!tt_nats_get_text(&items[1], true, &human)) return bad(from, "a name for people is no text");
  const int64_t key_of_name = (int64_t)hash_of(&items[0], TT_HASH_START);
  tt_map_key key = {key_of_name, (int64_t)hash_of(&items[0], SECOND_HASH)};
  const int64_t *known;
  while ((known = tt_map_get(places, key)) &&
         !is_same(&tt_list_at(names, tt_store_name, *known), &items[0]))
    key.b++;
  int32_t index = known ? (int32_t)*known : (int32_t)names->len;
  const tt_map_key renewed = {key_of_name, device};
  bool ok = state == TT_NAME_KNOWN || tt_map_put(&gather->renewed, renewed, gather->number);
  if (known) {
    update(&tt_list_at(names, tt_store_name, index), human, (tt_name_state)state);
  } else {
    char *identifier = strndup(items[0].via.str.ptr, items[0].via.str.size);
    const tt_store_name added = {index, identifier, human, (tt_name_state)state};
    ok = ok && identifier && tt_map_put(places, key, index) && tt_list_add(names, &added, 1);
    if (!ok) {
      free(identifier);
      free(human);
    }
  }
  ok = ok && tt_list_add(device ? &from->devices : &from->attributes, &index, 1);
  return ok ? TT_OK : no_memory(from);
}

static tt_status take_names(reading *from, const msgpack_object *list, bool device) {
  if (list->type != MSGPACK_OBJECT_ARRAY) return bad(from, "names are no list");
  for (uint32_t i = 0; i < list->via.array.size; i++)
    TT_TRY(take_name(from, &list->via.array.ptr[i], device));
  return TT_OK;
}

/* --- epochs --- */

bool tt_nats_get_epoch(const msgpack_object *object, tt_store_epoch *epoch) {
  const msgpack_object *items = items_of(object, 6);
  int64_t number;
  *epoch = (tt_store_epoch){0};
  if (!items || !get_within(&items[0], 0, MOST_NUMBER, &number) ||
      !tt_nats_get_integer(&items[1], &epoch->key) || !get_time(&items[2], &epoch->anchor) ||
      !get_time(&items[3], &epoch->offset_low) || !get_time(&items[4], &epoch->offset_high) ||
      epoch->offset_low > epoch->offset_high || !is_text(&items[5]) ||
      items[5].via.str.size >= sizeof epoch->boot)
    return false;
  epoch->number = (int)number;
  memcpy(epoch->boot, items[5].via.str.ptr, items[5].via.str.size);
  return true;
}

/** Gives an epoch a number that no other one of the device has in the batch: its own, if it can be. False: out of memory. */
static bool settle_number(tt_map *numbers, tt_store_epoch *epoch) {
  const tt_map_key all = {epoch->device, -1};
  const int64_t *greatest = tt_map_get(numbers, all);
  const int64_t most = greatest ? *greatest : -1;
  if (tt_map_get(numbers, (tt_map_key){epoch->device, epoch->number}))
    epoch->number = (int)most + 1;
  return tt_map_put(numbers, (tt_map_key){epoch->device, epoch->number}, 1) &&
         tt_map_put(numbers, all, epoch->number > most ? epoch->number : most);
}

static void widen(tt_store_epoch *known, const tt_store_epoch *said) {
  if (said->offset_low < known->offset_low) known->offset_low = said->offset_low;
  if (said->offset_high > known->offset_high) known->offset_high = said->offset_high;
}

static tt_status take_epoch(reading *from, const msgpack_object *object) {
  tt_nats_gather *gather = from->gather;
  tt_store_batch *batch = gather->batch;
  tt_store_epoch epoch;
  if (!tt_nats_get_epoch(object, &epoch)) return bad(from, "an epoch is none");
  epoch.device = tt_list_at(&from->devices, int32_t, 0);
  const tt_map_key key = {epoch.device, epoch.key};
  const int64_t *known = tt_map_get(&gather->epochs, key);
  bool ok = true;
  if (known) {
    tt_store_epoch *there = &tt_list_at(&batch->epochs, tt_store_epoch, *known);
    widen(there, &epoch);
    epoch.number = there->number;
  } else {
    ok = settle_number(&gather->numbers, &epoch) &&
         tt_map_put(&gather->epochs, key, batch->epochs.len) &&
         tt_list_add(&batch->epochs, &epoch, 1);
  }
  ok = ok && tt_list_add(&from->epochs, &epoch.number, 1);
  return ok ? TT_OK : no_memory(from);
}

static tt_status take_epochs(reading *from, const msgpack_object *list) {
  if (list->type != MSGPACK_OBJECT_ARRAY) return bad(from, "epochs are no list");
  if (list->via.array.size && from->devices.len != 1)
    return bad(from, "epochs are of one device, which stands before them");
  for (uint32_t i = 0; i < list->via.array.size; i++)
    TT_TRY(take_epoch(from, &list->via.array.ptr[i]));
  return TT_OK;
}

/* --- samples --- */

/** Whether a batch behind another one says that a name is used or removed. */
static bool is_renewed(const tt_nats_gather *gather, bool device, int64_t hash, int64_t batch) {
  const int64_t *renewed = tt_map_get(&gather->renewed, (tt_map_key){hash, device});
  return renewed && *renewed > batch;
}

/** That the store has values of an attribute of a device, said once, and again where somebody may have removed one of them. */
static tt_status need_pair(reading *from, int32_t device, int32_t attribute) {
  tt_nats_gather *gather = from->gather;
  tt_store_batch *batch = gather->batch;
  const char *one = tt_list_at(&batch->devices, tt_store_name, device).identifier;
  const char *other = tt_list_at(&batch->attributes, tt_store_name, attribute).identifier;
  const tt_map_key key = {(int64_t)tt_hash_bytes(TT_HASH_START, one, strlen(one)),
                          (int64_t)tt_hash_bytes(TT_HASH_START, other, strlen(other))};
  const int64_t *said = tt_map_get(&gather->pairs, key);
  if (said && !is_renewed(gather, true, key.a, *said) && !is_renewed(gather, false, key.b, *said))
    return TT_OK;
  const tt_store_pair pair = {device, attribute};
  bool ok = tt_map_put(&gather->pairs, key, gather->number) && tt_list_add(&batch->pairs, &pair, 1);
  return ok ? TT_OK : no_memory(from);
}

static tt_status take_value(reading *from, int32_t device, const msgpack_object *pair) {
  tt_store_batch *batch = from->gather->batch;
  int64_t place;
  if (!get_within(&pair[0], 0, (int64_t)from->attributes.len - 1, &place))
    return bad(from, "a value's attribute is none");
  tt_store_value value = {.attribute = tt_list_at(&from->attributes, int32_t, place),
                          .text = TT_STORE_NUMBER};
  if (is_text(&pair[1])) {
    value.text = batch->text.len;
    tt_list_add(&batch->text, pair[1].via.str.ptr, pair[1].via.str.size);
    tt_list_add(&batch->text, "", 1);
  } else if (!get_number(&pair[1], &value.number)) {
    return bad(from, "a value is neither a finite number nor a text in UTF-8");
  }
  if (!tt_list_fill(&from->seen, (uint32_t)value.attribute + 1)) return no_memory(from);
  uint32_t *seen = &tt_list_at(&from->seen, uint32_t, value.attribute);
  if (*seen == from->sample) return bad(from, "a sample has two values of an attribute");
  if (!*seen) TT_TRY(need_pair(from, device, value.attribute));  // a message is of one device
  *seen = from->sample;
  return tt_list_add(&batch->values, &value, 1) && !batch->text.failed ? TT_OK : no_memory(from);
}

static tt_status take_sample(reading *from, const msgpack_object *object) {
  tt_store_batch *batch = from->gather->batch;
  const msgpack_object *items = items_of(object, 7);
  int64_t epoch, flags, thinned;
  if (!items) return bad(from, "a sample is none");
  const msgpack_object *values = &items[6];
  tt_store_sample sample = {.device = tt_list_at(&from->devices, int32_t, 0),
                            .first = batch->values.len};
  bool fits = get_within(&items[0], 0, (int64_t)from->epochs.len - 1, &epoch) &&
              get_time(&items[1], &sample.device_time) && get_time(&items[2], &sample.time) &&
              get_within(&items[3], 0, INT64_MAX, &sample.seq) &&
              get_within(&items[4], 0, INT32_MAX, &flags) && values->type == MSGPACK_OBJECT_ARRAY &&
              values->via.array.size && values->via.array.size % 2 == 0 &&
              get_within(&items[5], 0, values->via.array.size / 2, &thinned);
  if (!fits) return bad(from, "a sample is none");
  sample.epoch = tt_list_at(&from->epochs, int32_t, epoch);
  sample.flags = (uint32_t)flags & KNOWN_FLAGS;  // others are of a later version
  sample.thinned = (uint32_t)thinned;
  sample.count = values->via.array.size / 2;
  from->sample++;
  for (uint32_t v = 0; v < sample.count; v++)
    TT_TRY(take_value(from, sample.device, &values->via.array.ptr[2 * v]));
  return tt_list_add(&batch->samples, &sample, 1) ? TT_OK : no_memory(from);
}

static tt_status take_samples(reading *from, const msgpack_object *list) {
  if (list->type != MSGPACK_OBJECT_ARRAY) return bad(from, "samples are no list");
  if (list->via.array.size && from->devices.len != 1)
    return bad(from, "samples are of one device, which stands before them");
  for (uint32_t i = 0; i < list->via.array.size; i++)
    TT_TRY(take_sample(from, &list->via.array.ptr[i]));
  return TT_OK;
}

/* --- handling --- */

static bool get_handling(const msgpack_object *items, tt_handling *handling) {
  int64_t type, mode;
  bool fits = items[1].type == MSGPACK_OBJECT_BOOLEAN &&
              get_within(&items[2], TT_VALUE_AUTO, TT_VALUE_FLAG, &type) &&
              get_within(&items[3], TT_MODE_BOTH, TT_MODE_IGNORE, &mode) &&
              get_number(&items[5], &handling->scale) && get_number(&items[6], &handling->offset) &&
              get_seconds(&items[7], MOST_INTERVAL, &handling->min_interval) &&
              get_seconds(&items[8], MOST_RETENTION, &handling->retention);
  if (!fits) return false;
  handling->removed = items[1].via.boolean;
  handling->type = (tt_value_type)type;
  handling->mode = (tt_value_mode)mode;
  return tt_nats_get_text(&items[0], false, &handling->pattern) &&
         tt_nats_get_text(&items[4], true, &handling->unit);
}

bool tt_nats_get_handling(const msgpack_object *object, tt_handling *handling) {
  const msgpack_object *items = items_of(object, 9);
  *handling = (tt_handling){0};
  if (items && get_handling(items, handling)) return true;
  tt_handling_clear(handling);
  return false;
}

static tt_status take_handlings(reading *from, const msgpack_object *list) {
  if (list->type != MSGPACK_OBJECT_ARRAY) return bad(from, "handling is no list");
  for (uint32_t i = 0; i < list->via.array.size; i++) {
    tt_handling handling;
    if (!tt_nats_get_handling(&list->via.array.ptr[i], &handling))
      return bad(from, "a handling is none");
    bool ok = tt_store_add_handling(&from->gather->batch->handlings, &handling);
    tt_handling_clear(&handling);
    if (!ok) return no_memory(from);
  }
  return TT_OK;
}

/* --- a message --- */

static bool is_key(const msgpack_object *object, const char *key) {
  return object->type == MSGPACK_OBJECT_STR && object->via.str.size == strlen(key) &&
         !memcmp(object->via.str.ptr, key, strlen(key));
}

/** In the order of the map: what is used stands before what uses it. What is not known is of a later version. */
static tt_status take_map(reading *from, const msgpack_object *message) {
  if (message->type != MSGPACK_OBJECT_MAP) return bad(from, "it is no map");
  for (uint32_t i = 0; i < message->via.map.size; i++) {
    const msgpack_object_kv *pair = &message->via.map.ptr[i];
    if (is_key(&pair->key, "devices")) TT_TRY(take_names(from, &pair->val, true));
    if (is_key(&pair->key, "attributes")) TT_TRY(take_names(from, &pair->val, false));
    if (is_key(&pair->key, "epochs")) TT_TRY(take_epochs(from, &pair->val));
    if (is_key(&pair->key, "handlings")) TT_TRY(take_handlings(from, &pair->val));
    if (is_key(&pair->key, "samples")) TT_TRY(take_samples(from, &pair->val));
  }
  return TT_OK;
}

bool tt_nats_may_be_whole(const void *bytes, size_t size) {
  const char *at = bytes;
  uint64_t owed = 1;  // items that are still to come
  mpack_tokbuf_t state;
  mpack_tokbuf_init(&state);
  while (size) {
    mpack_token_t token;
    if (mpack_read(&state, &at, &size, &token) != MPACK_OK) return false;
    if (token.type == MPACK_TOKEN_CHUNK) continue;
    if (!owed--) return false;
    if (token.type == MPACK_TOKEN_ARRAY) owed += token.length;
    if (token.type == MPACK_TOKEN_MAP) owed += 2 * (uint64_t)token.length;
    if (owed > size) return false;
  }
  return true;
}

tt_status tt_nats_gather_add(tt_nats_gather *gather, const void *bytes, size_t size,
                             tt_error *error) {
  reading from = {.gather = gather,
                  .devices = TT_LIST(int32_t, NULL),
                  .attributes = TT_LIST(int32_t, NULL),
                  .epochs = TT_LIST(int32_t, NULL),
                  .seen = TT_LIST(uint32_t, NULL),
                  .error = error};
  const uint32_t samples = gather->batch->samples.len, values = gather->batch->values.len;
  msgpack_unpacked unpacked;
  msgpack_unpacked_init(&unpacked);
  size_t at = 0;
  tt_status status = TT_OK;
  if (size > TT_NATS_MESSAGE_MOST)
    status = bad(&from, "it is too long");
  else if (!tt_nats_may_be_whole(bytes, size) ||
           msgpack_unpack_next(&unpacked, bytes, size, &at) != MSGPACK_UNPACK_SUCCESS || at != size)
    status = bad(&from, "it is no MessagePack");
  if (status == TT_OK) status = take_map(&from, &unpacked.data);
  if (status != TT_OK) {
    tt_list_cut(&gather->batch->samples, samples);
    tt_list_cut(&gather->batch->values, values);
  }
  msgpack_unpacked_destroy(&unpacked);
  tt_list_free(&from.devices);
  tt_list_free(&from.attributes);
  tt_list_free(&from.epochs);
  tt_list_free(&from.seen);
  return status;
}
