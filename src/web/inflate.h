/* inflate.h: a compressed body, unpacked as it comes. Web's thread. */
#ifndef TT_WEB_INFLATE_H
#define TT_WEB_INFLATE_H

#include "base/status.h"

#include <stddef.h>

typedef struct tt_inflate tt_inflate;

/** Unpacks "gzip" or "deflate" into pieces for `take`; NULL: another encoding. `limit` bytes may come out. */
tt_inflate *tt_inflate_new(const char *encoding, size_t limit,
                           void (*take)(void *context, const void *bytes, size_t size),
                           void *context);
void tt_inflate_free(tt_inflate *inflate);
/** More of it has come, which tt_inflate_step() is to unpack. */
void tt_inflate_add(tt_inflate *inflate, const void *bytes, size_t size);
/** Unpacks one piece of what has come, of at most 64 KiB. TT_AGAIN: that was all; TT_INVALID: it is damaged; TT_FULL: more than
 *  `limit` came out. Nothing may follow the last two. */
tt_status tt_inflate_step(tt_inflate *inflate, tt_error *error);
/** TT_INVALID: it ended too early. */
tt_status tt_inflate_end(const tt_inflate *inflate, tt_error *error);

#endif
