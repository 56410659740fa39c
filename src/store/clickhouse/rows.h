/* rows.h: rows as ClickHouse writes and reads them: answers in RowBinary, what is inserted as one block of Native. A block says how many
 * rows it has; of RowBinary that is cut off behind a row the server would keep the first part.
 */
#ifndef TT_STORE_CLICKHOUSE_ROWS_H
#define TT_STORE_CLICKHOUSE_ROWS_H

#include "store/list.h"

/** An answer, read field by field in the order in which it was asked for. Once something is missing all fields are 0. */
typedef struct tt_clickhouse_rows {
  const uint8_t *data;
  size_t size, at;
  bool failed;
} tt_clickhouse_rows;

/** The answer of tt_clickhouse_ask(), which must stay. */
tt_clickhouse_rows tt_clickhouse_rows_of(const tt_list *answer);
/** Whether there is another row. */
bool tt_clickhouse_has_row(const tt_clickhouse_rows *rows);
uint8_t tt_clickhouse_get_byte(tt_clickhouse_rows *rows);
int32_t tt_clickhouse_get_int(tt_clickhouse_rows *rows);
int64_t tt_clickhouse_get_long(tt_clickhouse_rows *rows);
uint64_t tt_clickhouse_get_unsigned(tt_clickhouse_rows *rows);
double tt_clickhouse_get_double(tt_clickhouse_rows *rows);
/** Adds a text with its 0 to `texts`, and returns where it begins there. One with a 0 in it fails. */
uint32_t tt_clickhouse_get_text(tt_clickhouse_rows *rows, tt_list *texts);

#define TT_CLICKHOUSE_COLUMNS 12

/** A column of a block. */
typedef struct tt_clickhouse_column {
  const char *name, *type; /**< static */
  tt_list bytes;
} tt_clickhouse_column;

/** Rows to be inserted. */
typedef struct tt_clickhouse_block {
  tt_clickhouse_column columns[TT_CLICKHOUSE_COLUMNS];
  int column_count;
  uint64_t rows;
} tt_clickhouse_block;

/** `columns`: name, type, name, type, …, NULL. Static. To be freed. */
tt_clickhouse_block tt_clickhouse_block_of(const char *const *columns);
void tt_clickhouse_block_free(tt_clickhouse_block *block);
/** Takes all rows out; the memory stays for others. */
void tt_clickhouse_block_clear(tt_clickhouse_block *block);
/* One field of a row; who has put all of them counts the row. */
void tt_clickhouse_put_byte(tt_clickhouse_block *block, int column, uint8_t number);
void tt_clickhouse_put_int(tt_clickhouse_block *block, int column, int32_t number);
void tt_clickhouse_put_long(tt_clickhouse_block *block, int column, int64_t number);
void tt_clickhouse_put_unsigned(tt_clickhouse_block *block, int column, uint64_t number);
void tt_clickhouse_put_double(tt_clickhouse_block *block, int column, double number);
void tt_clickhouse_put_text(tt_clickhouse_block *block, int column, const char *text);
/* The same column of several rows. */
void tt_clickhouse_put_unsigned_times(tt_clickhouse_block *block, int column, uint64_t number,
                                      uint32_t times);
void tt_clickhouse_put_long_times(tt_clickhouse_block *block, int column, int64_t number,
                                  uint32_t times);
/** The bytes of all, added to `out`. False: memory ran out, now or before. */
bool tt_clickhouse_block_print(const tt_clickhouse_block *block, tt_list *out);

#endif
