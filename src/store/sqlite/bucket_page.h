/* bucket_page.h: many buckets of an attribute as bytes. Pure.
 */
#ifndef TT_STORE_SQLITE_BUCKET_PAGE_H
#define TT_STORE_SQLITE_BUCKET_PAGE_H

#include "base/status.h"
#include "store/bucket.h"
#include "store/list.h"

/** How long a page is, µs; 0: of that size there are none. */
int64_t tt_bucket_page_length(tt_bucket_size size);
/** The number of the page in which a time lies, and when it begins. µs UTC. */
int64_t tt_bucket_page_of(tt_bucket_size size, int64_t time);
int64_t tt_bucket_page_start(tt_bucket_size size, int64_t page);

/** Replaces what `bytes` (char) holds by buckets (tt_bucket) of one page, in order. TT_NOMEM. */
tt_status tt_bucket_page_pack(const tt_list *buckets, tt_bucket_size size, int64_t page,
                              tt_list *bytes, tt_error *error);
/** Replaces what `buckets` holds. TT_INVALID: the bytes are damaged. `_part`: those that begin from `from` to before `to`, µs UTC;
 *  what the others say is not looked at. */
tt_status tt_bucket_page_unpack(const void *bytes, size_t byte_count, tt_bucket_size size,
                                int64_t page, tt_list *buckets, tt_error *error);
tt_status tt_bucket_page_unpack_part(const void *bytes, size_t byte_count, tt_bucket_size size,
                                     int64_t page, int64_t from, int64_t to, tt_list *buckets,
                                     tt_error *error);

#endif
