/* make.h: makes the buckets of marked hours that are over, little by little: out of their samples into pages, and then the
 * mark goes. A kill in between leaves the mark, so that the hour is made once more. Nobody is given what stands in pages of
 * an hour that is marked.
 */
#ifndef TT_STORE_SQLITE_MAKE_H
#define TT_STORE_SQLITE_MAKE_H

#include "store/sqlite/gather.h"
#include "store/sqlite/marks.h"

/** What it is at. */
typedef enum tt_sqlite_making {
  TT_SQLITE_IDLE,
  TT_SQLITE_GATHERING, /**< samples */
  TT_SQLITE_WRITING,   /**< pages */
} tt_sqlite_making;

/** Zero at first. */
typedef struct tt_sqlite_maker {
  sqlite3 *db;
  const char *path;
  tt_sqlite_marks *marks;
  sqlite3_stmt *due, *attributes, *get, *put, *drop;
  tt_store_reader *reader; /**< another connection; NULL: not opened yet */
  tt_sqlite_making at;
  bool writing; /**< a transaction has begun */
  int device;
  int64_t hour;
  tt_sqlite_gathering gathering;
  tt_list spans;           /**< tt_sqlite_span */
  tt_sqlite_table minutes; /**< of the hour */
  tt_list all;             /**< int: attributes of the hour, in order */
  uint32_t written;        /**< of those */
  uint32_t group_end;      /**< up to there they are gathered together */
  tt_list page, bytes;     /**< scratch: tt_bucket, char */
  int64_t next;            /**< µs monotonic: when it goes on */
  int64_t looked;          /**< µs monotonic: when it was called last */
  int64_t wrote; /**< µs: how long the store has been writing since; the store counts it */
  bool failed;   /**< the last time */
} tt_sqlite_maker;

/** `path` and `marks` must outlive it. To be closed on failure, too. */
tt_status tt_sqlite_maker_open(sqlite3 *db, const char *path, tt_sqlite_marks *marks,
                               tt_sqlite_maker *maker, tt_error *error);
void tt_sqlite_maker_close(tt_sqlite_maker *maker);
/** Goes on for some 20 ms, or does nothing where it did so lately. What goes wrong is said in the log. */
void tt_sqlite_make(tt_sqlite_maker *maker);

#endif
