/* internal.h: what the files of this backend share. */
#ifndef TT_STORE_JETSTREAM_INTERNAL_H
#define TT_STORE_JETSTREAM_INTERNAL_H

#include "store/store.h"

#include <msgpack.h>

/** The registry's. */
extern const tt_store_backend tt_jetstream_backend;

/** A boot epoch as messages and the bucket have it: an array; `device` is not in it. False: it is none. */
void tt_nats_put_epoch(msgpack_packer *to, const tt_store_epoch *epoch);
bool tt_nats_get_epoch(const msgpack_object *object, tt_store_epoch *epoch);
/** Nine items. False: it is none; else the handling is to be cleared. */
void tt_nats_put_handling(msgpack_packer *to, const tt_handling *handling);
bool tt_nats_get_handling(const msgpack_object *object, tt_handling *handling);
/** A text, or nil for NULL. */
void tt_nats_put_text(msgpack_packer *to, const char *text);
/** For msgpack_packer_init(): the list is of char. */
int tt_nats_put_bytes(void *list, const char *bytes, size_t size);
/** A copy to be freed; `*text` is NULL for nil. False: it is none of UTF-8 without a 0, or is longer than what has to be found by it. */
bool tt_nats_get_text(const msgpack_object *object, bool may_be_nil, char **text);
/** Whether the lists in MessagePack may be as long as it says: each item takes a byte at least. msgpack-c makes room for what is said,
 *  so that others are not to be given to it. */
bool tt_nats_may_be_whole(const void *bytes, size_t size);
bool tt_nats_get_integer(const msgpack_object *object, int64_t *value);

/** ns after which what is not done comes again. For tests to be changed, before anything is opened. */
extern int64_t tt_nats_hand_back;

/** tt_store_backend.open_log. */
tt_status tt_jetstream_open_log(const tt_store_log_options *options, tt_store_log **log,
                                tt_error *error);

#endif
