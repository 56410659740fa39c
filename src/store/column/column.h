/* column.h: records of one epoch of a device, packed column by column: their moments once, then each attribute's values.
 * Lossless, bit for bit. Pure: no database, no threads, no state; what is unpacked is checked as bytes of a stranger.
 */
#ifndef TT_STORE_COLUMN_COLUMN_H
#define TT_STORE_COLUMN_COLUMN_H

#include "base/status.h"
#include "store/list.h"

/** Rows of one packed piece at most. */
#define TT_COLUMN_ROWS 8192

/** A record's moment: a row. */
typedef struct tt_column_moment {
  int64_t device_time; /**< µs */
  int64_t time;        /**< µs UTC */
  int64_t seq;         /**< of its message; 0: it had none */
  int64_t nth;         /**< among the records of its moment, from 0 */
} tt_column_moment;

/** A value of one attribute. */
typedef struct tt_column_value {
  uint32_t row;  /**< index of its moment */
  uint32_t text; /**< offset into the column's text, or TT_COLUMN_NUMBER */
  double number; /**< finite */
} tt_column_value;

#define TT_COLUMN_NUMBER UINT32_MAX

/** Values of one attribute in order of their rows, at most one a row. */
typedef struct tt_column {
  tt_list values; /**< tt_column_value */
  tt_list text;   /**< char: texts, each with its 0 */
} tt_column;
/** An empty column. */
tt_column tt_column_new(void);
void tt_column_free(tt_column *column);
/** Keeps the memory. */
void tt_column_clear(tt_column *column);

/* Packing appends to `bytes` (char). TT_NOMEM. Unpacking replaces what its last argument holds. TT_INVALID: the bytes are
 * damaged; they never say more rows than TT_COLUMN_ROWS or more text than 4,097 bytes a row. Any thread. */

/** 1 to TT_COLUMN_ROWS moments (tt_column_moment), in order of device time, then nth. */
tt_status tt_column_pack_moments(const tt_list *moments, tt_list *bytes, tt_error *error);
tt_status tt_column_unpack_moments(const void *bytes, size_t size, tt_list *moments,
                                   tt_error *error);
/** A column of a piece of `rows` rows. */
tt_status tt_column_pack(const tt_column *column, uint32_t rows, tt_list *bytes, tt_error *error);
tt_status tt_column_unpack(const void *bytes, size_t size, uint32_t rows, tt_column *column,
                           tt_error *error);

#endif
