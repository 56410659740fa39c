/* names_put.c: what a batch defines is put into the bucket. */
#include "store/jetstream/internal.h"
#include "store/jetstream/message.h"
#include "store/jetstream/names_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_SUBJECT 128
/** One that begins removes some of those before: few, since the server does them before it answers a ping behind. */
#define MOST_REMOVED 2

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

/** Where to. */
typedef struct putting {
  tt_nats_names *names;
  tt_nats_link *link;
} putting;

/** Whether what the bucket says of a name is all that the batch says, too. Of a name that is only used, somebody may have set another
 *  one for people: the key that is there stays; but who uses a name takes its removal back. */
static bool says_all(const tt_nats_names *names, const char *key, const tt_store_name *name) {
  const int64_t *state = tt_map_get(&names->states, tt_nats_names_key(key));
  if (name->name || name->state == TT_NAME_REMOVED || !state || *state == TT_NATS_GONE)
    return false;
  return *state != TT_NAME_REMOVED || name->state != TT_NAME_USED;
}

/** A key and its value, unless it was put so already. */
static tt_status put(const putting *to, const char *key, const tt_list *value, tt_error *error) {
  tt_nats_names *names = to->names;
  const int64_t content = tt_nats_names_hash(value->data, value->len);
  const int64_t *before = tt_map_get(&names->values, tt_nats_names_key(key));
  if (before && *before == content) return TT_OK;
  TT_TRY(tt_nats_names_publish(to->link, key, value, error));
  if (!tt_map_put(&names->values, tt_nats_names_key(key), content)) return no_memory(error);
  return tt_nats_names_keep(names, key, value->data, value->len, error);
}

/** Whether it is a name that has this one for people. */
static bool is_called(const msgpack_object *value, const char *human) {
  const size_t size = strlen(human);
  if (value->type != MSGPACK_OBJECT_ARRAY || value->via.array.size < 3) return false;
  const msgpack_object *name = &value->via.array.ptr[1];
  return name->type == MSGPACK_OBJECT_STR && name->via.str.size == size &&
         !memcmp(name->via.str.ptr, human, size);
}

/** What the bucket has, but for the name for people. */
static tt_status put_unnamed(const putting *to, const char *key, const msgpack_object *value,
                             tt_error *error) {
  tt_list unnamed = TT_LIST(char, NULL);
  msgpack_packer packer;
  msgpack_packer_init(&packer, &unnamed, tt_nats_put_bytes);
  msgpack_pack_array(&packer, value->via.array.size);
  for (uint32_t i = 0; i < value->via.array.size; i++) {
    if (i == 1)
      tt_nats_put_text(&packer, "");
    else
      msgpack_pack_object(&packer, value->via.array.ptr[i]);
  }
  tt_status status = unnamed.failed ? no_memory(error) : put(to, key, &unnamed, error);
  tt_list_free(&unnamed);
  return status;
}

/** Two collectors may give one name to two things, or move it while nobody hears of it: the later one has it. */
static tt_status take_from_others(const putting *to, const char *key, const char *human,
                                  tt_error *error) {
  const tt_list *kept = &to->names->kept;
  tt_status status = TT_OK;
  for (uint32_t i = 0; i < kept->len && human && *human && status == TT_OK; i++) {
    const tt_nats_kept *other = &tt_list_at(kept, tt_nats_kept, i);
    msgpack_unpacked unpacked;
    size_t at = 0;
    if (*other->key != *key || !strcmp(other->key, key) ||
        !memmem(other->bytes.data, other->bytes.len, human, strlen(human)) ||
        !tt_nats_may_be_whole(other->bytes.data, other->bytes.len))
      continue;
    msgpack_unpacked_init(&unpacked);
    if (msgpack_unpack_next(&unpacked, other->bytes.data, other->bytes.len, &at) ==
            MSGPACK_UNPACK_SUCCESS &&
        is_called(&unpacked.data, human))
      status = put_unnamed(to, other->key, &unpacked.data, error);
    msgpack_unpacked_destroy(&unpacked);
  }
  return status;
}

static tt_status put_name(const putting *to, char kind, const tt_store_name *name,
                          tt_error *error) {
  char token[TT_NATS_LONGEST_KEY - 8], key[TT_NATS_LONGEST_KEY];
  if (!tt_nats_print_token(token, sizeof token, '=', name->identifier))
    return tt_fail(error, TT_INVALID, "nats: the name %.64s… is too long", name->identifier);
  snprintf(key, sizeof key, "%c.%s", kind, token);
  if (says_all(to->names, key, name)) return TT_OK;
  TT_TRY(take_from_others(to, key, name->name, error));
  tt_list value = TT_LIST(char, NULL);
  msgpack_packer packer;
  msgpack_packer_init(&packer, &value, tt_nats_put_bytes);
  msgpack_pack_array(&packer, 3);
  tt_nats_put_text(&packer, name->identifier);
  tt_nats_put_text(&packer, name->name);
  msgpack_pack_int(&packer, (int)name->state);
  tt_status status = value.failed ? no_memory(error) : put(to, key, &value, error);
  if (status == TT_OK && !tt_map_put(&to->names->states, tt_nats_names_key(key), name->state))
    status = no_memory(error);
  tt_list_free(&value);
  return status;
}

/** Out of the bucket, or another time: nothing depends on it. */
static void remove_epoch(tt_nats_link *link, const char *token, int64_t key) {
  char subject[LONGEST_SUBJECT], filter[TT_NATS_LONGEST_KEY + LONGEST_SUBJECT];
  const char *name = tt_nats_link_name(link);
  snprintf(subject, sizeof subject, "$JS.API.STREAM.PURGE.KV_%s", name);
  snprintf(filter, sizeof filter, "{\"filter\":\"$KV.%s.e.%s.%" PRIu64 "\"}", name, token,
           (uint64_t)key);
  natsConnection_PublishString(tt_nats_link_connection(link), subject, filter);
}

/** The oldest epochs of a device go when there are more than are compared. */
static void remove_oldest(tt_nats_link *link, const char *token, tt_list *places) {
  for (int removed = 0; places->len > TT_NATS_MOST_EPOCHS && removed < MOST_REMOVED; removed++) {
    const tt_nats_place *oldest = tt_nats_place_oldest(places);
    remove_epoch(link, token, oldest->key);
    tt_nats_place_forget(places, oldest);
  }
}

/** The value of an epoch's key, unless it was put so already. */
static tt_status put_epoch_value(const putting *to, const char *token, const tt_store_epoch *epoch,
                                 const tt_list *value, tt_error *error) {
  char key[TT_NATS_LONGEST_KEY];
  snprintf(key, sizeof key, "e.%s.%" PRIu64, token, (uint64_t)epoch->key);
  tt_nats_names *names = to->names;
  tt_list *places = tt_nats_places_need(&names->places, key);
  if (!places) return no_memory(error);
  const int64_t content = tt_nats_names_hash(value->data, value->len);
  tt_nats_place *known = tt_nats_place_find(places, epoch->key);
  if (!known || known->content != content)
    TT_TRY(tt_nats_names_publish(to->link, key, value, error));
  if (known) {
    known->content = content;
    tt_nats_place_use(&names->places, known);
    return TT_OK;
  }
  if (!tt_nats_place_add(&names->places, places, epoch, content)) return no_memory(error);
  remove_oldest(to->link, token, places);
  return TT_OK;
}

static tt_status put_epoch(const putting *to, const char *device, const tt_store_epoch *epoch,
                           tt_error *error) {
  char token[TT_NATS_LONGEST_KEY - 40];
  if (!device || !tt_nats_print_token(token, sizeof token, '=', device))
    return tt_fail(error, TT_INVALID, "nats: the batch is not whole in itself");
  tt_list value = TT_LIST(char, NULL);
  msgpack_packer packer;
  msgpack_packer_init(&packer, &value, tt_nats_put_bytes);
  msgpack_pack_array(&packer, 2);
  tt_nats_put_text(&packer, device);
  tt_nats_put_epoch(&packer, epoch);
  tt_status status =
      value.failed ? no_memory(error) : put_epoch_value(to, token, epoch, &value, error);
  tt_list_free(&value);
  return status;
}

/** The epochs of a batch of thousands of devices, each as it is said last: one that was removed meanwhile is not put once more. */
static tt_status put_epochs(const putting *to, const tt_store_batch *whole, tt_error *error) {
  tt_map named = {0};  // index of a device → place of its name
  tt_map last = {0};   // device, number → place of the epoch
  bool noted = true;
  for (uint32_t i = 0; i < whole->devices.len && noted; i++)
    noted =
        tt_map_put(&named, (tt_map_key){tt_list_at(&whole->devices, tt_store_name, i).index, 0}, i);
  for (uint32_t i = 0; i < whole->epochs.len && noted; i++) {
    const tt_store_epoch *epoch = &tt_list_at(&whole->epochs, tt_store_epoch, i);
    noted = tt_map_put(&last, (tt_map_key){epoch->device, epoch->number}, i);
  }
  tt_status status = noted ? TT_OK : no_memory(error);
  for (uint32_t i = 0; i < whole->epochs.len && status == TT_OK; i++) {
    const tt_store_epoch *epoch = &tt_list_at(&whole->epochs, tt_store_epoch, i);
    if (*tt_map_get(&last, (tt_map_key){epoch->device, epoch->number}) != i) continue;
    const int64_t *place = tt_map_get(&named, (tt_map_key){epoch->device, 0});
    const char *device =
        place ? tt_list_at(&whole->devices, tt_store_name, *place).identifier : NULL;
    status = put_epoch(to, device, epoch, error);
  }
  tt_map_clear(&named);
  tt_map_clear(&last);
  return status;
}

static tt_status put_handling(const putting *to, const tt_handling *handling, tt_error *error) {
  char token[TT_NATS_LONGEST_KEY - 8], key[TT_NATS_LONGEST_KEY];
  if (!tt_nats_print_token(token, sizeof token, '=', handling->pattern))
    return tt_fail(error, TT_INVALID, "nats: the pattern %.64s… is too long", handling->pattern);
  snprintf(key, sizeof key, "h.%s", token);
  tt_list value = TT_LIST(char, NULL);
  msgpack_packer packer;
  msgpack_packer_init(&packer, &value, tt_nats_put_bytes);
  tt_nats_put_handling(&packer, handling);
  tt_status status = value.failed ? no_memory(error) : put(to, key, &value, error);
  tt_list_free(&value);
  return status;
}

tt_status tt_nats_names_put(tt_nats_names *names, tt_nats_link *link, const tt_store_batch *whole,
                            tt_error *error) {
  const putting to = {names, link};
  for (uint32_t i = 0; i < whole->devices.len; i++)
    TT_TRY(put_name(&to, 'd', &tt_list_at(&whole->devices, tt_store_name, i), error));
  for (uint32_t i = 0; i < whole->attributes.len; i++)
    TT_TRY(put_name(&to, 'a', &tt_list_at(&whole->attributes, tt_store_name, i), error));
  for (uint32_t i = 0; i < whole->handlings.len; i++)
    TT_TRY(put_handling(&to, &tt_list_at(&whole->handlings, tt_handling, i), error));
  return put_epochs(&to, whole, error);
}
