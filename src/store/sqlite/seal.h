/* seal.h: days that are over out of rows into segments, and back. One thread, on the connection that writes.
 *
 * Each call is one transaction: a kill leaves what was, or what is, and a reader sees the one or the other.
 */
#ifndef TT_STORE_SQLITE_SEAL_H
#define TT_STORE_SQLITE_SEAL_H

#include "store/sqlite/packing.h"

/** The sealer: what is left of a pass through all epochs. */
typedef struct tt_sqlite_sealer tt_sqlite_sealer;

/** `path` must outlive it, and so must `pieces`. */
tt_status tt_sqlite_sealer_open(sqlite3 *db, const char *path, tt_sqlite_pieces *pieces,
                                tt_sqlite_sealer **sealer, tt_error *error);
/** NULL-safe. */
void tt_sqlite_sealer_close(tt_sqlite_sealer *sealer);
/** See tt_store.seal; `sealing->undo` is false. TT_OK: a pass has come to its end. */
tt_status tt_sqlite_seal(tt_sqlite_sealer *sealer, const tt_store_sealing *sealing,
                         tt_store_sealed *sealed, tt_error *error);

/* --- unseal.c --- */

/** See tt_store.seal; `sealing->undo` is true. */
tt_status tt_sqlite_unseal(sqlite3 *db, const char *path, tt_sqlite_pieces *pieces,
                           const tt_store_sealing *sealing, tt_store_sealed *sealed,
                           tt_error *error);

/* --- shrink.c --- */

/** See tt_store.shrink(). The write-ahead log is empty. */
tt_status tt_sqlite_shrink(sqlite3 *db, const char *path, tt_error *error);

/* --- days --- */

/** µs on the device's clock at which a day is over, in which a moment lies; `anchor` is the epoch's. */
int64_t tt_sqlite_day_end(int64_t device_time, int64_t anchor);
/** Whether that day was over by then, in µs UTC. */
bool tt_sqlite_day_is_over(int64_t device_time, int64_t anchor, int64_t before);

#endif
