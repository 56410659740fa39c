/* table_internal.h: shared by table.c (records), table_stretches.c (buckets and points) and table_writer.c (what both are
 * written with).
 */
#ifndef TT_TELEMETRY_TABLE_INTERNAL_H
#define TT_TELEMETRY_TABLE_INTERNAL_H

#include "telemetry/number.h"
#include "telemetry/table.h"
#include "telemetry/text.h"

/* --- table_names.c --- */

/** What a table is of. */
typedef struct tt_table_names {
  GArray *devices;   /**< int */
  GArray *fields;    /**< int: attributes in order of columns */
  GPtrArray *labels; /**< char *: of the fields */
  bool all_fields;   /**< none was asked for: those of which there are values of the devices */
  int *column;       /**< attribute -> column + 1, or 0 */
  int column_size;
} tt_table_names;

/** TT_NOT_FOUND: an unknown name. To be cleared in any case. */
tt_status tt_table_names_resolve(tt_collector *collector, const tt_table_query *query,
                                 tt_table_names *names, tt_error *error);
void tt_table_names_clear(tt_table_names *names);
/** The column of an attribute; −1: it has none. */
static inline int tt_table_column(const tt_table_names *names, int attribute) {
  return attribute < names->column_size ? names->column[attribute] - 1 : -1;
}
/** Human name or identifier, to be freed. */
char *tt_table_label(tt_collector *collector, bool device, int index);

/* --- table_writer.c --- */

/** A cell ready to be written. */
typedef struct tt_table_cell {
  const char *text; /**< NULL: empty */
  bool is_text;
  char number[TT_NUMBER_SIZE];
} tt_table_cell;

/** `cell` shows a number; empty where it is not finite. */
void tt_table_show_number(tt_table_cell *cell, double number);
void tt_table_show_count(tt_table_cell *cell, uint64_t count);
void tt_table_show_text(tt_table_cell *cell, const char *text);

#define TT_TABLE_TIME_SIZE (TT_ISO_SIZE > TT_MS_SIZE ? TT_ISO_SIZE : TT_MS_SIZE)

/** Where a table is written, in pieces of about 32 KiB. */
typedef struct tt_table_writer {
  const tt_table_query *query;
  const tt_table_sink *sink;
  GString *out;
  uint64_t rows;
  int64_t origin; /**< µs UTC */
  /** Of the record in hand. */
  const char *device;
  char time[TT_TABLE_TIME_SIZE];
} tt_table_writer;

/** Nothing is written yet; to be cleared. */
tt_table_writer tt_table_writer_init(const tt_table_query *query, const tt_table_sink *sink);
/** Frees what was not written. */
void tt_table_writer_clear(tt_table_writer *writer);
/** The columns behind Device and Time: of every field `values`, named "Speed least"; a field's own name where that is "".
 *  A tall table has one column for the names of fields, and one for each of the values. */
tt_status tt_table_write_header(tt_table_writer *writer, const tt_table_names *names,
                                const char *const *values);
/** JSON alone: how many records there are; at least so many where that is not `exact`. Behind the header. */
void tt_table_write_count(tt_table_writer *writer, uint64_t records, bool exact);
/** A record begins; `device` is the caller's until it ends. Its fields follow in order, and tt_table_end_record(). */
void tt_table_begin_record(tt_table_writer *writer, const char *device, int64_t time,
                           int64_t device_time);
/** The cells of a field, of which it has `values`. Where all are empty a tall table leaves it out. */
tt_status tt_table_write_field(tt_table_writer *writer, const char *label, int values,
                               const tt_table_cell *cells);
void tt_table_end_record(tt_table_writer *writer);
/** `next`: the cursor of where to go on, or NULL: that was all. CSV has no place for it. */
tt_status tt_table_write_end(tt_table_writer *writer, const char *next);

/* --- query.c --- */

/** Where a table goes on that ended with `time` (µs UTC), to be freed. */
char *tt_table_cursor(const tt_table_query *query, int64_t time);

/* --- table_stretches.c --- */

/** tt_table_write() for `points` and `bucket`. */
tt_status tt_table_write_stretches(tt_collector *collector, const tt_table_query *query,
                                   const tt_table_names *names, tt_table_writer *writer,
                                   tt_error *error);

#endif
