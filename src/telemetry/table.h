/* table.h: a query of stored telemetry as a table: one mechanism for XML, CSV and JSON, of any size in constant memory.
 *
 * One record per device and sample time; within a device in order of device time, between devices of normalized time. Or,
 * of numbers, one record per device and stretch of time: a bucket, or as long as a plot of so many points needs.
 */
#ifndef TT_TELEMETRY_TABLE_H
#define TT_TELEMETRY_TABLE_H

#include "telemetry/collector.h"

/** What a table is written as. */
typedef enum tt_table_format { TT_TABLE_XML, TT_TABLE_CSV, TT_TABLE_JSON } tt_table_format;
typedef enum tt_table_origin {
  TT_ORIGIN_FIRST,  /**< the time of the first record */
  TT_ORIGIN_GIVEN,  /**< `origin` */
  TT_ORIGIN_DEVICE, /**< each device's own clock */
} tt_table_origin;

/** How Time is written. */
typedef enum tt_table_time { TT_TIME_UNSET, TT_TIME_CLOCK, TT_TIME_ISO } tt_table_time;

/** More points than this are no plot. */
#define TT_TABLE_POINTS 100000

typedef struct tt_table_query {
  char **devices; /**< identifiers or human names; empty: all. NULL-terminated */
  /** the same, of attributes; empty: those of which there are values of the devices */
  char **fields;
  int64_t from, to; /**< µs UTC, inclusive; behind a cursor there may be nothing between them */
  int64_t origin;   /**< µs UTC */
  tt_table_origin origin_kind;
  tt_table_time time; /**< set where the query says nothing, too */
  GTimeZone *zone;    /**< of ISO times; NULL: UTC */
  bool fill_previous; /**< fill=previous: an empty cell gets the device's last value */
  uint64_t limit;     /**< most records; 0: all. Of pages: about so many, see `pages` */
  tt_table_format format;
  bool newest_first; /**< order=newest */
  /** order or cursor was given: a table that `limit` ends lies between two moments, so it may be a
   *  little longer, and says where to go on */
  bool pages;
  bool count;      /**< count=yes: the table says how many records there are */
  bool tall;       /**< shape=tall: a record per field, too, whose name is a column */
  uint32_t points; /**< of each device at most so many records, of least and greatest; 0: samples */
  tt_bucket_size bucket; /**< a record per device and bucket; TT_BUCKET_SIZES: none */
} tt_table_query;

/** Reads a time: ISO 8601, µs UTC, or from `now` (µs UTC) on, "-60 s", "-5 min". TT_INVALID names the key. */
tt_status tt_table_time_parse(const char *key, const char *text, int64_t now, int64_t *us,
                              tt_error *error);
/** Reads "device=ROBO1,ROBO2&fields=Speed&from=…&to=…&fill=previous&limit=10&time=iso&origin=…" and the other keys that
 *  docs/telemetry-tables.md has (percent-encoded; NULL is empty). device and fields may be repeated. `now`: µs UTC, for times such as
 *  "-60 s". TT_INVALID says which key is wrong, or which two exclude each other. */
tt_status tt_table_query_parse(const char *text, int64_t now, tt_table_query *query,
                               tt_error *error);
void tt_table_query_clear(tt_table_query *query);

/** Where a table goes, piece by piece. */
typedef struct tt_table_sink {
  /** May block; anything but TT_OK ends the table. No bytes: only whether anybody takes more. */
  tt_status (*write)(void *context, const char *bytes, size_t size);
  void *context;
} tt_table_sink;

/** Whether names are known; TT_NOT_FOUND suggests the nearest. Cheap, for an answer before the first byte. */
tt_status tt_table_check(tt_collector *collector, const tt_table_query *query, tt_error *error);
/** Writes the whole document, in pieces of about 32 KiB. TT_FULL, before the first piece: other wide tables took too
 *  long; see turns.h. */
tt_status tt_table_write(tt_collector *collector, const tt_table_query *query,
                         const tt_table_sink *sink, tt_error *error);

/** Writes the newest value of each attribute, of the query's devices and fields, with times in its zone: a JSON array. */
tt_status tt_table_write_latest(tt_collector *collector, const tt_table_query *query,
                                const tt_table_sink *sink, tt_error *error);

/** "text/xml; charset=utf-8" and so on. */
const char *tt_table_content_type(tt_table_format format);

#endif
