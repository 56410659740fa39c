/* packing.h: records gathered in columns until they are a segment of the file.
 *
 * One thread at a time. A segment has each moment whole: what is added of one that does not fit is taken back together.
 */
#ifndef TT_STORE_SQLITE_PACKING_H
#define TT_STORE_SQLITE_PACKING_H

#include "store/sqlite/scan.h"

/** How full a segment is. */
typedef enum tt_sqlite_fullness {
  TT_SQLITE_HAS_ROOM,
  TT_SQLITE_FULL,     /**< nothing more, it is as large as one should be */
  TT_SQLITE_TOO_FULL, /**< the moment added last has to go again */
} tt_sqlite_fullness;

typedef struct tt_sqlite_packing tt_sqlite_packing;

/** `path` must outlive it. */
tt_status tt_sqlite_packing_open(sqlite3 *db, const char *path, tt_sqlite_packing **packing,
                                 tt_error *error);
/** NULL-safe. */
void tt_sqlite_packing_close(tt_sqlite_packing *packing);

/** Forgets what was gathered. */
void tt_sqlite_packing_clear(tt_sqlite_packing *packing);
/** What is added from here on is another moment. */
void tt_sqlite_packing_mark(tt_sqlite_packing *packing);
/** Takes back what was added since the mark. */
void tt_sqlite_packing_take_back(tt_sqlite_packing *packing);
/** Adds a record, in order. TT_NOMEM. */
tt_status tt_sqlite_packing_add(tt_sqlite_packing *packing, const tt_sqlite_scanned *record,
                                tt_error *error);
/** Adds the rows of a piece that has all its columns. TT_NOMEM. */
tt_status tt_sqlite_packing_add_rows(tt_sqlite_packing *packing, const tt_sqlite_piece *piece,
                                     tt_sqlite_rows rows, tt_error *error);
tt_sqlite_fullness tt_sqlite_packing_fullness(const tt_sqlite_packing *packing);
uint32_t tt_sqlite_packing_rows(const tt_sqlite_packing *packing);

/** Ids in `sample` of the records that have been added from there (int64_t). */
const tt_list *tt_sqlite_packing_ids(const tt_sqlite_packing *packing);
/** Writes a segment of what was gathered, none where that has no values. `values` and `bytes` are added to. Within a
 *  transaction. */
tt_status tt_sqlite_packing_write(tt_sqlite_packing *packing, int device, int epoch,
                                  uint64_t *values, uint64_t *bytes, tt_error *error);

/** Removes a segment with all its columns. Within a transaction. */
tt_status tt_sqlite_drop_segment(sqlite3 *db, const char *path, int64_t id, tt_error *error);

#endif
