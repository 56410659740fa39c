/* table.h: a query of stored telemetry as a table: one mechanism for XML, CSV and JSON, of any size in constant memory.
 *
 * One record per device and sample time; within a device in order of device time, between devices of normalized time.
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

typedef struct tt_table_query {
  char **devices; /**< identifiers or human names; empty: all. NULL-terminated */
  char **
      fields; /**< the same, of attributes; empty: those of which there are values of the devices */
  int64_t from, to; /**< µs UTC, inclusive */
  int64_t origin;   /**< µs UTC */
  tt_table_origin origin_kind;
  bool iso;           /**< time=iso */
  bool fill_previous; /**< fill=previous: an empty cell gets the device's last value */
  uint64_t limit;     /**< most records; 0: all */
  tt_table_format format;
} tt_table_query;

/** Reads "device=ROBO1,ROBO2&fields=Speed&from=…&to=…&fill=previous&limit=10&time=iso&origin=…" (percent-encoded;
 *  NULL is empty). Keys may be repeated. `now`: µs UTC, for times such as "-60 s". TT_INVALID says which key is wrong. */
tt_status tt_table_query_parse(const char *text, int64_t now, tt_table_query *query,
                               tt_error *error);
void tt_table_query_clear(tt_table_query *query);

/** Where a table goes, piece by piece. */
typedef struct tt_table_sink {
  /** May block; anything but TT_OK ends the table. */
  tt_status (*write)(void *context, const char *bytes, size_t size);
  void *context;
} tt_table_sink;

/** Whether names are known; TT_NOT_FOUND suggests the nearest. Cheap, for an answer before the first byte. */
tt_status tt_table_check(tt_collector *collector, const tt_table_query *query, tt_error *error);
/** Writes the whole document, in pieces of about 32 KiB. */
tt_status tt_table_write(tt_collector *collector, const tt_table_query *query,
                         const tt_table_sink *sink, tt_error *error);

/** "text/xml; charset=utf-8" and so on. */
const char *tt_table_content_type(tt_table_format format);

#endif
