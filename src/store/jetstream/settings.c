/* settings.c: what is set in the bucket, as messages of the log say it, for a store that is new. */
#include "store/jetstream/internal.h"
#include "store/jetstream/names.h"

#include <stdlib.h>

/** ms. */
#define LOAD_PATIENCE 10000

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

/** A message of the log in the making: values of the bucket, which stand there in the same form. */
typedef struct settings {
  tt_list lists[3]; /**< char: devices, attributes, handlings */
  uint32_t counts[3];
} settings;

/** Takes what is gathered into the batch, and begins anew. */
static tt_status flush_settings(settings *said, tt_nats_gather *gather, tt_error *error) {
  static const char *const keys[] = {"devices", "attributes", "handlings"};
  tt_list bytes = TT_LIST(char, NULL);
  msgpack_packer to;
  msgpack_packer_init(&to, &bytes, tt_nats_put_bytes);
  msgpack_pack_map(&to, 3);
  bool whole = true;
  for (int i = 0; i < 3; i++) {
    tt_nats_put_text(&to, keys[i]);
    msgpack_pack_array(&to, said->counts[i]);
    if (said->lists[i].len) tt_list_add(&bytes, said->lists[i].data, said->lists[i].len);
    whole &= !said->lists[i].failed;
    tt_list_cut(&said->lists[i], 0);
    said->counts[i] = 0;
  }
  whole &= !bytes.failed;
  tt_status status =
      whole ? tt_nats_gather_add(gather, bytes.data, bytes.len, error) : no_memory(error);
  tt_list_free(&bytes);
  return status;
}

/** Whether a value is a name for people, of one that is not removed. */
static bool is_human_name(const msgpack_object *value) {
  char *identifier = NULL, *human = NULL;
  int64_t state = TT_NAME_REMOVED;
  const msgpack_object *items = value->via.array.ptr;
  const bool fits = value->type == MSGPACK_OBJECT_ARRAY && value->via.array.size >= 3 &&
                    tt_nats_get_text(&items[0], false, &identifier) && *identifier &&
                    tt_nats_get_text(&items[1], false, &human) &&
                    tt_nats_get_integer(&items[2], &state);
  free(identifier);
  free(human);
  return fits && (state == TT_NAME_KNOWN || state == TT_NAME_USED);
}

/** Which list of settings has a key's value; −1: none. */
static int list_of(char kind, const msgpack_object *value) {
  tt_handling handling;
  if (kind == 'd' || kind == 'a') return is_human_name(value) ? kind == 'a' : -1;
  if (kind != 'h' || !tt_nats_get_handling(value, &handling)) return -1;
  tt_handling_clear(&handling);
  return 2;
}

static void add_setting(settings *said, kvEntry *entry) {
  const void *value = kvEntry_Value(entry);
  const size_t size = (size_t)kvEntry_ValueLen(entry);
  msgpack_unpacked unpacked;
  size_t at = 0;
  if (kvEntry_Operation(entry) != kvOp_Put || !tt_nats_may_be_whole(value, size)) return;
  msgpack_unpacked_init(&unpacked);
  if (msgpack_unpack_next(&unpacked, value, size, &at) == MSGPACK_UNPACK_SUCCESS && at == size) {
    const int list = list_of(kvEntry_Key(entry)[0], &unpacked.data);
    if (list >= 0) {
      tt_list_add(&said->lists[list], value, size);
      said->counts[list]++;
    }
  }
  msgpack_unpacked_destroy(&unpacked);
}

tt_status tt_nats_names_gather(tt_nats_link *link, tt_nats_gather *gather, tt_error *error) {
  kvWatcher *watcher = NULL;
  settings said = {.lists = {TT_LIST(char, NULL), TT_LIST(char, NULL), TT_LIST(char, NULL)}};
  natsStatus watched = kvStore_WatchAll(&watcher, tt_nats_link_keys(link), NULL);
  tt_status status = TT_OK;
  for (bool more = true; watched == NATS_OK && more && status == TT_OK;) {
    kvEntry *entry = NULL;
    watched = kvWatcher_Next(&entry, watcher, LOAD_PATIENCE);
    more = watched == NATS_OK && entry;
    if (more) add_setting(&said, entry);
    kvEntry_Destroy(entry);
    const uint32_t count = said.counts[0] + said.counts[1] + said.counts[2];
    if (count && (!more || count == TT_NATS_SETTINGS_MOST))
      status = flush_settings(&said, gather, error);
  }
  if (watcher) kvWatcher_Stop(watcher);
  kvWatcher_Destroy(watcher);
  for (int i = 0; i < 3; i++) tt_list_free(&said.lists[i]);
  return watched == NATS_OK ? status : tt_nats_fail(watched, "the bucket", error);
}
