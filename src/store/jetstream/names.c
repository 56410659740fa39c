#include "store/jetstream/names_internal.h"

#include "base/clock.h"
#include "base/hash.h"
#include "store/jetstream/internal.h"
#include "store/jetstream/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** ms: for an answer of the server, and for all of those by which a device is found, since who asks is receiving messages. */
#define ANSWER_PATIENCE 400
#define FIND_PATIENCE 1000
#define LOAD_PATIENCE 10000
#define CHECK_PATIENCE 200
/** µs between two looks at what others have changed: each waits for a millisecond, in the thread that publishes. */
#define LOOK_INTERVAL INT64_C(100000)
/** µs between two looks at whether it is still the same bucket. */
#define BUCKET_INTERVAL INT64_C(1000000)
/** Keys taken in one look. */
#define MOST_AT_ONCE 1000

/** An epoch of a device that the loader knows by a number. */
typedef struct known_epoch {
  char *device; /**< identifier */
  tt_store_boot boot;
} known_epoch;

static void clear_kept(void *item) {
  tt_nats_kept *kept = item;
  free(kept->key);
  tt_list_free(&kept->bytes);
}
static void clear_text(void *item) { free(*(char **)item); }
static void clear_epoch(void *item) { free(((known_epoch *)item)->device); }

tt_nats_names *tt_nats_names_new(void) {
  tt_nats_names *names = calloc(1, sizeof *names);
  if (!names) return NULL;
  *names = (tt_nats_names){.devices = TT_LIST(char *, clear_text),
                           .handlings = tt_handling_list(),
                           .epochs = TT_LIST(known_epoch, clear_epoch),
                           .places = tt_nats_places_of_none(),
                           .kept = TT_LIST(tt_nats_kept, clear_kept)};
  return names;
}

void tt_nats_names_tell(tt_nats_names *names, const tt_store_loader *loader) {
  names->loader = *loader;
}

void tt_nats_names_leave(tt_nats_names *names) {
  if (!names || !names->watcher) return;
  kvWatcher_Stop(names->watcher);
  kvWatcher_Destroy(names->watcher);
  names->watcher = NULL;
}

void tt_nats_names_free(tt_nats_names *names) {
  if (!names) return;
  tt_nats_names_leave(names);
  tt_list_free(&names->devices);
  tt_list_free(&names->handlings);
  tt_list_free(&names->epochs);
  tt_nats_places_clear(&names->places);
  tt_list_free(&names->kept);
  tt_map_clear(&names->kept_at);
  tt_map_clear(&names->indices);
  tt_map_clear(&names->values);
  tt_map_clear(&names->states);
  free(names);
}

void tt_nats_names_forget(tt_nats_names *names) {
  tt_map_clear(&names->values);
  tt_map_clear(&names->states);
  tt_nats_places_doubt(&names->places);
}

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

/* --- keys, and what is kept of them --- */

tt_map_key tt_nats_names_key(const char *identifier) {
  return tt_map_key_of(identifier, strlen(identifier));
}

int64_t tt_nats_names_hash(const void *bytes, size_t size) {
  return (int64_t)tt_hash_bytes(TT_HASH_START, bytes, size);
}

static tt_nats_kept *need_kept(tt_nats_names *names, const char *key) {
  const int64_t *at = tt_map_get(&names->kept_at, tt_nats_names_key(key));
  if (at) return &tt_list_at(&names->kept, tt_nats_kept, *at);
  tt_nats_kept kept = {.key = strdup(key), .bytes = TT_LIST(char, NULL)};
  if (kept.key && tt_map_put(&names->kept_at, tt_nats_names_key(key), names->kept.len) &&
      tt_list_add(&names->kept, &kept, 1))
    return &tt_list_at(&names->kept, tt_nats_kept, names->kept.len - 1);
  free(kept.key);
  return NULL;
}

tt_status tt_nats_names_keep(tt_nats_names *names, const char *key, const void *bytes, size_t size,
                             tt_error *error) {
  tt_nats_kept *kept = need_kept(names, key);
  if (!kept) return no_memory(error);
  kept->load = names->loads;
  tt_list_cut(&kept->bytes, 0);
  return !size || tt_list_add(&kept->bytes, bytes, size) ? TT_OK : no_memory(error);
}

tt_status tt_nats_names_publish(tt_nats_link *link, const char *key, const tt_list *value,
                                tt_error *error) {
  char subject[TT_NATS_LONGEST_KEY + 100];
  snprintf(subject, sizeof subject, "$KV.%s.%s", tt_nats_link_name(link), key);
  return tt_nats_link_publish(link, subject, NULL, 0, value->data, value->len, error);
}

/* --- telling --- */

/** The index of a device, told now where it was not. −1: out of memory. */
static int tell_device(tt_nats_names *names, const char *identifier, const char *human,
                       bool removed) {
  const tt_store_loader *loader = &names->loader;
  const int index = loader->device ? loader->device(loader->context, identifier, human, &removed)
                                   : (int)names->devices.len;
  if (index < 0 || !tt_list_fill(&names->devices, (uint32_t)index + 1)) return -1;
  char **known = &tt_list_at(&names->devices, char *, index);
  if (!*known) *known = strdup(identifier);
  return *known && tt_map_put(&names->indices, tt_nats_names_key(identifier), index) ? index : -1;
}

static int need_device(tt_nats_names *names, const char *identifier) {
  const int64_t *index = tt_map_get(&names->indices, tt_nats_names_key(identifier));
  if (index && !strcmp(tt_list_at(&names->devices, char *, *index), identifier)) return (int)*index;
  return tell_device(names, identifier, NULL, false);
}

static tt_status tell_epoch(tt_nats_names *names, const known_epoch *known, tt_error *error) {
  if (!names->loader.epoch) return TT_OK;
  tt_store_boot boot = known->boot;
  boot.epoch.device = need_device(names, known->device);
  if (boot.epoch.device < 0) return no_memory(error);
  names->loader.epoch(names->loader.context, &boot);
  return TT_OK;
}

/* --- keys --- */

/** [identifier, human name, state] */
static tt_status take_name(tt_nats_names *names, const char *key, const msgpack_object *value,
                           tt_error *error) {
  const bool device = *key == 'd';
  char *identifier = NULL, *human = NULL;
  int64_t state;
  const msgpack_object *items = value->via.array.ptr;
  bool fits = value->type == MSGPACK_OBJECT_ARRAY && value->via.array.size >= 3 &&
              tt_nats_get_text(&items[0], false, &identifier) && *identifier &&
              tt_nats_get_text(&items[1], true, &human) && tt_nats_get_integer(&items[2], &state);
  tt_status status = TT_OK;
  if (fits) {
    bool removed = state == TT_NAME_REMOVED;
    const char *name = human && *human ? human : NULL;
    const tt_store_loader *loader = &names->loader;
    int index = 0;
    if (loader->device)
      index = device ? tell_device(names, identifier, name, removed)
                     : loader->attribute(loader->context, identifier, name, &removed);
    if (index < 0 || !tt_map_put(&names->states, tt_nats_names_key(key), state))
      status = no_memory(error);
  }
  free(identifier);
  free(human);
  return status;
}

static tt_status take_handling(tt_nats_names *names, const msgpack_object *value, tt_error *error) {
  tt_handling handling;
  if (!tt_nats_get_handling(value, &handling)) return TT_OK;
  for (uint32_t i = 0; i < names->handlings.len; i++) {
    if (strcmp(tt_list_at(&names->handlings, tt_handling, i).pattern, handling.pattern) != 0)
      continue;
    tt_list_remove(&names->handlings, i);
    break;
  }
  bool ok = handling.removed || tt_store_add_handling(&names->handlings, &handling);
  tt_handling_clear(&handling);
  names->changed = true;
  return ok ? TT_OK : no_memory(error);
}

/** Notes an epoch that the bucket has, of which each comes once in a load. Where another collector put it that one removes the oldest; what is
 *  older is what we put and removed ourselves. False: out of memory. */
static bool note_place(tt_nats_names *names, const char *key, const tt_store_epoch *epoch,
                       int64_t content) {
  tt_list *places = tt_nats_places_need(&names->places, key);
  if (!places) return false;
  tt_nats_place *known = names->loading ? NULL : tt_nats_place_find(places, epoch->key);
  if (known) {
    known->content = content;
    return true;
  }
  if (places->len >= TT_NATS_MOST_EPOCHS && !names->loading) {
    const tt_nats_place *oldest = tt_nats_place_oldest(places);
    if (epoch->number < oldest->number) return true;
    tt_nats_place_forget(places, oldest);
  }
  return tt_nats_place_add(&names->places, places, epoch, content);
}

/** Somebody deleted the key of an epoch. */
static tt_status lose_place(tt_nats_names *names, const char *key, tt_error *error) {
  const char *number = strrchr(key, '.');
  tt_list *places = tt_nats_places_need(&names->places, key);
  if (!places) return no_memory(error);
  const tt_nats_place *place =
      number ? tt_nats_place_find(places, (int64_t)strtoull(number + 1, NULL, 10)) : NULL;
  if (place) tt_nats_place_forget(places, place);
  return TT_OK;
}

/** [device, [epoch]] */
static tt_status take_epoch(tt_nats_names *names, const char *key, int64_t content,
                            const msgpack_object *value, tt_error *error) {
  known_epoch known = {0};
  bool fits = value->type == MSGPACK_OBJECT_ARRAY && value->via.array.size >= 2 &&
              tt_nats_get_text(&value->via.array.ptr[0], false, &known.device) && *known.device &&
              tt_nats_get_epoch(&value->via.array.ptr[1], &known.boot.epoch);
  tt_status status = TT_OK;
  if (fits && !note_place(names, key, &known.boot.epoch, content)) {
    status = no_memory(error);
  } else if (fits && names->loading) {
    if (tt_list_add(&names->epochs, &known, 1)) return TT_OK;
    status = no_memory(error);
  } else if (fits) {
    status = tell_epoch(names, &known, error);
  }
  free(known.device);
  return status;
}

/** Notes what the bucket has at a key. */
static tt_status note_entry(tt_nats_names *names, kvEntry *entry, int64_t content,
                            tt_error *error) {
  const char *key = kvEntry_Key(entry);
  const bool is_put = kvEntry_Operation(entry) == kvOp_Put;
  if (*key == 'e') return is_put ? TT_OK : lose_place(names, key, error);
  if (!tt_map_put(&names->values, tt_nats_names_key(key), content) ||
      (!is_put && !tt_map_put(&names->states, tt_nats_names_key(key), TT_NATS_GONE)))
    return no_memory(error);
  return tt_nats_names_keep(names, key, kvEntry_Value(entry),
                            is_put ? (size_t)kvEntry_ValueLen(entry) : 0, error);
}

/** What is no value of ours is passed over: the bucket may have keys of a later version. */
static tt_status take_entry(tt_nats_names *names, kvEntry *entry, tt_error *error) {
  const char *key = kvEntry_Key(entry);
  const int64_t content = tt_nats_names_hash(kvEntry_Value(entry), (size_t)kvEntry_ValueLen(entry));
  const bool is_put = kvEntry_Operation(entry) == kvOp_Put;
  TT_TRY(note_entry(names, entry, content, error));
  msgpack_unpacked unpacked;
  msgpack_unpacked_init(&unpacked);
  size_t at = 0;
  tt_status status = TT_OK;
  if (is_put &&  // what was deleted is put again by who needs it
      tt_nats_may_be_whole(kvEntry_Value(entry), (size_t)kvEntry_ValueLen(entry)) &&
      msgpack_unpack_next(&unpacked, kvEntry_Value(entry), (size_t)kvEntry_ValueLen(entry), &at) ==
          MSGPACK_UNPACK_SUCCESS) {
    switch (key[0]) {
      case 'd':
      case 'a': status = take_name(names, key, &unpacked.data, error); break;
      case 'h': status = take_handling(names, &unpacked.data, error); break;
      case 'e': status = take_epoch(names, key, content, &unpacked.data, error); break;
      default: break;
    }
  }
  msgpack_unpacked_destroy(&unpacked);
  return status;
}

static tt_status tell_handlings(tt_nats_names *names) {
  const tt_store_loader *loader = &names->loader;
  if (names->changed && loader->handlings && loader->handlings(loader->context, &names->handlings))
    names->changed = false;
  return TT_OK;
}

/* --- the newest samples --- */

/** Notes in `boot` the newest sample of its epoch in a message. */
static void note_newest(const tt_store_batch *said, tt_store_boot *boot) {
  for (uint32_t e = 0; e < said->epochs.len; e++) {
    const tt_store_epoch *epoch = &tt_list_at(&said->epochs, tt_store_epoch, e);
    if (epoch->key != boot->epoch.key) continue;
    for (uint32_t i = 0; i < said->samples.len; i++) {
      const tt_store_sample *sample = &tt_list_at(&said->samples, tt_store_sample, i);
      if (sample->epoch != epoch->number) continue;
      if (boot->has_sample && sample->device_time <= boot->device_time) continue;
      boot->has_sample = true;
      boot->device_time = sample->device_time;
      boot->time = sample->time;
    }
  }
}

/** The last message of a device tells which of its epochs have samples now. */
static tt_status look_at_last(tt_nats_link *link, const char *identifier, int64_t patience,
                              tt_store_boot *boots, uint32_t count, tt_error *error) {
  char token[TT_NATS_LONGEST_KEY], subject[TT_NATS_LONGEST_KEY + 80];
  natsMsg *message = NULL;
  jsErrCode code = 0;
  if (!tt_nats_print_token(token, sizeof token, '%', identifier)) return TT_OK;
  snprintf(subject, sizeof subject, "%s.log.%s", tt_nats_link_name(link), token);
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = patience;
  natsStatus status = js_GetLastMsg(&message, tt_nats_link_js(link), tt_nats_link_name(link),
                                    subject, &options, &code);
  if (status == NATS_NOT_FOUND) return TT_OK;
  if (status != NATS_OK) return tt_nats_fail(status, "the last message of a device", error);
  tt_nats_gather gather;
  tt_status gathered = tt_nats_gather_begin(&gather) ? TT_OK : no_memory(error);
  if (gathered == TT_OK)
    gathered = tt_nats_gather_add(&gather, natsMsg_GetData(message),
                                  (size_t)natsMsg_GetDataLength(message), error);
  for (uint32_t i = 0; i < count && gathered == TT_OK; i++) note_newest(gather.batch, &boots[i]);
  tt_nats_gather_end(&gather);
  natsMsg_Destroy(message);
  return gathered == TT_BAD_MESSAGE ? TT_OK : gathered;
}

/* --- loading and watching --- */

static int by_device(const void *a, const void *b) {
  const known_epoch *one = a, *other = b;
  const int order = strcmp(one->device, other->device);
  if (order) return order;
  return one->boot.epoch.number < other->boot.epoch.number
             ? -1
             : one->boot.epoch.number > other->boot.epoch.number;
}

/** Devices one after the other, the epochs of each oldest first. */
static tt_status tell_epochs(tt_nats_names *names, tt_nats_link *link, tt_error *error) {
  tt_list *epochs = &names->epochs;
  if (epochs->len) qsort(epochs->data, epochs->len, sizeof(known_epoch), by_device);
  for (uint32_t first = 0, end; first < epochs->len; first = end) {
    known_epoch *of = &tt_list_at(epochs, known_epoch, first);
    tt_list boots = TT_LIST(tt_store_boot, NULL);
    for (end = first; end < epochs->len; end++) {
      const known_epoch *next = &tt_list_at(epochs, known_epoch, end);
      if (strcmp(next->device, of->device) != 0) break;
      tt_list_add(&boots, &next->boot, 1);
    }
    tt_status status = boots.failed ? no_memory(error) : TT_OK;
    if (status == TT_OK)
      status = look_at_last(link, of->device, ANSWER_PATIENCE, boots.data, boots.len, error);
    for (uint32_t i = 0; i < boots.len && status == TT_OK; i++) {
      of[i].boot = tt_list_at(&boots, tt_store_boot, i);
      status = tell_epoch(names, &of[i], error);
    }
    tt_list_free(&boots);
    TT_TRY(status);
  }
  tt_list_cut(epochs, 0);
  return TT_OK;
}

/** ms, one at least, until `end` (µs, monotonic). */
static int64_t left_until(int64_t end) {
  const int64_t left = (end - tt_monotonic_us()) / 1000;
  return left > 1 ? left : 1;
}

/** Takes keys until there are no more now, each of which may take so long, all of them until `end` (µs, monotonic). */
static tt_status take_all(tt_nats_names *names, int64_t patience, int64_t end, bool *all,
                          tt_error *error) {
  for (int i = 0; names->loading || i < MOST_AT_ONCE; i++) {
    kvEntry *entry = NULL;
    const int64_t left = left_until(end);
    natsStatus status = kvWatcher_Next(&entry, names->watcher, left < patience ? left : patience);
    if (status == NATS_TIMEOUT && !names->loading) return TT_OK;
    if (status != NATS_OK) return tt_nats_fail(status, "the bucket", error);
    if (!entry) {
      *all = true;
      return TT_OK;
    }
    tt_status taken = take_entry(names, entry, error);
    kvEntry_Destroy(entry);
    TT_TRY(taken);
  }
  return TT_OK;
}

/** All keys there are. */
static tt_status load_keys(tt_nats_names *names, tt_nats_link *link, tt_error *error) {
  bool all = false;
  tt_nats_names_leave(names);
  natsStatus status = kvStore_WatchAll(&names->watcher, tt_nats_link_keys(link), NULL);
  if (status != NATS_OK) return tt_nats_fail(status, "the bucket", error);
  tt_list_cut(&names->epochs, 0);  // of a load that failed
  tt_nats_places_clear(&names->places);
  names->loads++;
  names->loading = true;
  tt_status taken = take_all(names, LOAD_PATIENCE, INT64_MAX, &all, error);
  names->loading = false;
  return taken;
}

/** What was set in a bucket that is no more, and nobody has put into this one yet. */
static tt_status put_back(tt_nats_names *names, tt_nats_link *link, tt_error *error) {
  tt_nats_names_forget(names);
  TT_TRY(load_keys(names, link, error));
  for (uint32_t i = 0; i < names->kept.len; i++) {
    const tt_nats_kept *kept = &tt_list_at(&names->kept, tt_nats_kept, i);
    if (kept->load != names->loads && kept->bytes.len)
      TT_TRY(tt_nats_names_publish(link, kept->key, &kept->bytes, error));
  }
  return tt_nats_link_flush(link, error);
}

tt_status tt_nats_names_load(tt_nats_names *names, tt_nats_link *link, tt_error *error) {
  int64_t made;
  TT_TRY(tt_nats_link_bucket_made(link, LOAD_PATIENCE, &made, error));
  if (names->made && made != names->made) TT_TRY(put_back(names, link, error));
  TT_TRY(load_keys(names, link, error));
  names->made = made;
  TT_TRY(tell_handlings(names));
  return tell_epochs(names, link, error);
}

/** Nothing comes of a bucket that somebody removed, not even that. */
static tt_status check_bucket(tt_nats_names *names, tt_nats_link *link, int64_t now,
                              tt_error *error) {
  int64_t made;
  if (now < names->next_bucket_check) return TT_OK;
  names->next_bucket_check = now + BUCKET_INTERVAL;
  tt_status status = tt_nats_link_bucket_made(link, CHECK_PATIENCE, &made, error);
  if (status == TT_NOT_FOUND) return status;
  if (status != TT_OK || made == names->made) return TT_OK;  // others see who is silent
  return tt_fail(error, TT_NOT_FOUND, "nats: somebody made the bucket anew");
}

tt_status tt_nats_names_look(tt_nats_names *names, tt_nats_link *link, tt_error *error) {
  bool all = false;
  const int64_t now = tt_monotonic_us();
  if (now < names->next_look) return TT_OK;
  names->next_look = now + LOOK_INTERVAL;
  TT_TRY(check_bucket(names, link, now, error));
  TT_TRY(take_all(names, 1, INT64_MAX, &all, error));
  return tell_handlings(names);
}

tt_status tt_nats_names_find(tt_nats_link *link, int device, const char *identifier, tt_list *boots,
                             tt_error *error) {
  char token[TT_NATS_LONGEST_KEY], pattern[TT_NATS_LONGEST_KEY + 8];
  const int64_t end = tt_monotonic_us() + FIND_PATIENCE * INT64_C(1000);
  if (!tt_nats_print_token(token, sizeof token, '=', identifier)) return TT_OK;
  snprintf(pattern, sizeof pattern, "e.%s.*", token);
  tt_nats_names *found = tt_nats_names_new();
  if (!found) return no_memory(error);
  bool all = false;
  natsStatus watched = kvStore_Watch(&found->watcher, tt_nats_link_keys(link), pattern, NULL);
  tt_status status = watched == NATS_OK ? TT_OK : tt_nats_fail(watched, "the bucket", error);
  found->loading = true;
  if (status == TT_OK) status = take_all(found, ANSWER_PATIENCE, end, &all, error);
  tt_list *epochs = &found->epochs;
  if (status == TT_OK && epochs->len)
    qsort(epochs->data, epochs->len, sizeof(known_epoch), by_device);
  const uint32_t first = boots->len;
  for (uint32_t i = 0; i < epochs->len && status == TT_OK; i++) {
    tt_store_boot *boot = &tt_list_at(epochs, known_epoch, i).boot;
    boot->epoch.device = device;
    if (!tt_list_add(boots, boot, 1)) status = no_memory(error);
  }
  if (status == TT_OK)
    status = look_at_last(link, identifier, left_until(end), (tt_store_boot *)boots->data + first,
                          boots->len - first, error);
  tt_nats_names_free(found);
  return status;
}
