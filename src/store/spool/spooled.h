/* spooled.h: a store around another one that may be away: what that one can't take waits in a spool, is acknowledged from
 * there, and is written in order when it is back. What waits may be in the database already, so it is written as messages
 * that may have been sent before.
 */
#ifndef TT_STORE_SPOOLED_H
#define TT_STORE_SPOOLED_H

#include "store/store.h"

/** Opens a store of a backend with TT_STORE_REMOTE and TT_STORE_SHARED, and the spool of the options, which is one
 *  process's. It can what the backend can. */
tt_status tt_spool_around(const tt_store_backend *backend, const tt_store_options *options,
                          tt_store **store, tt_error *error);

#endif
