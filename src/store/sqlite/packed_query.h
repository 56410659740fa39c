/* packed_query.h: what SQLite asks of the table of packed columns: its plan of a query, and what each run of it needs. SQLite
 * looks at each row again: too many do no harm. One thread at a time.
 */
#ifndef TT_STORE_SQLITE_PACKED_QUERY_H
#define TT_STORE_SQLITE_PACKED_QUERY_H

#ifdef TETHER_SQLITE_EXTENSION
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3 /* packed_table.c has them */
#else
#include <sqlite3.h>
#endif
#include <stdbool.h>
#include <stdint.h>

    /** The columns, as in TT_SQLITE_PACKED_COLUMNS. */
    typedef enum tt_packed_part {
      TT_PACKED_DEVICE,
      TT_PACKED_TEXT_OF_TIME,
      TT_PACKED_ATTRIBUTE,
      TT_PACKED_VALUE,
      TT_PACKED_TIME,
      TT_PACKED_DEVICE_TIME,
      TT_PACKED_EPOCH,
      TT_PACKED_DEVICE_IDENTIFIER,
      TT_PACKED_ATTRIBUTE_IDENTIFIER,
      TT_PACKED_COUNT /**< of them */
    } tt_packed_part;

/** Both ends included. */
typedef struct tt_packed_range {
  int64_t low, high;
} tt_packed_range;

/** Numbers of what is asked for. */
typedef struct tt_packed_query {
  tt_packed_range epochs;
  tt_packed_range device_times; /**< µs */
  tt_packed_range times;        /**< µs UTC */
  tt_packed_range text_times;   /**< µs UTC, of those from 0 to before TT_SQLITE_TIME_TEXT_END */
} tt_packed_query;

/** Names that are asked for, as they were given; NULL: any. Valid while SQLite's values are. */
typedef struct tt_packed_names {
  sqlite3_value *device, *device_identifier, *attribute, *attribute_identifier;
} tt_packed_names;

/** xBestIndex. What narrows is handed on, its columns and relations as bytes of idxStr. */
int tt_packed_query_plan(sqlite3_vtab *table, sqlite3_index_info *info);
/** xFilter's arguments. */
void tt_packed_query_read(const char *plan, int count, sqlite3_value **values,
                          tt_packed_query *asked, tt_packed_names *names);
/** Whether a record may be one that is asked for. */
bool tt_packed_query_takes(const tt_packed_query *asked, int64_t device_time, int64_t time);

#endif
