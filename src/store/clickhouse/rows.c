/* rows.c: see its header. */
#include "store/clickhouse/rows.h"

#include <endian.h>
#include <string.h>

tt_clickhouse_rows tt_clickhouse_rows_of(const tt_list *answer) {
  return (tt_clickhouse_rows){.data = answer->data, .size = answer->len};
}

bool tt_clickhouse_has_row(const tt_clickhouse_rows *rows) {
  return !rows->failed && rows->at < rows->size;
}

/** The next bytes; NULL: there are not so many. */
static const uint8_t *take(tt_clickhouse_rows *rows, uint64_t size) {
  if (rows->failed || size > rows->size - rows->at) {
    rows->failed = true;
    return NULL;
  }
  rows->at += size;
  return rows->data + rows->at - size;
}

uint8_t tt_clickhouse_get_byte(tt_clickhouse_rows *rows) {
  const uint8_t *bytes = take(rows, 1);
  return bytes ? *bytes : 0;
}

uint64_t tt_clickhouse_get_unsigned(tt_clickhouse_rows *rows) {
  uint64_t number = 0;
  const uint8_t *bytes = take(rows, sizeof number);
  if (bytes) memcpy(&number, bytes, sizeof number);
  return le64toh(number);
}

int64_t tt_clickhouse_get_long(tt_clickhouse_rows *rows) {
  return (int64_t)tt_clickhouse_get_unsigned(rows);
}

int32_t tt_clickhouse_get_int(tt_clickhouse_rows *rows) {
  uint32_t number = 0;
  const uint8_t *bytes = take(rows, sizeof number);
  if (bytes) memcpy(&number, bytes, sizeof number);
  return (int32_t)le32toh(number);
}

double tt_clickhouse_get_double(tt_clickhouse_rows *rows) {
  const uint64_t bits = tt_clickhouse_get_unsigned(rows);
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

/** Seven bits a byte, the least first. */
static uint64_t get_size(tt_clickhouse_rows *rows) {
  uint64_t size = 0;
  for (int shift = 0; shift < 63; shift += 7) {
    const uint8_t byte = tt_clickhouse_get_byte(rows);
    size |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return size;
  }
  rows->failed = true;
  return 0;
}

uint32_t tt_clickhouse_get_text(tt_clickhouse_rows *rows, tt_list *texts) {
  const uint64_t size = get_size(rows);
  const uint8_t *bytes = take(rows, size);
  const uint32_t start = texts->len;
  if (bytes && size && memchr(bytes, 0, size)) rows->failed = true;
  if (bytes && !rows->failed && size) tt_list_add(texts, bytes, size);
  tt_list_add(texts, "", 1);
  return start;
}

/* --- blocks --- */

tt_clickhouse_block tt_clickhouse_block_of(const char *const *columns) {
  tt_clickhouse_block block = {0};
  for (; *columns && block.column_count < TT_CLICKHOUSE_COLUMNS; columns += 2)
    block.columns[block.column_count++] =
        (tt_clickhouse_column){columns[0], columns[1], TT_LIST(char, NULL)};
  return block;
}

void tt_clickhouse_block_free(tt_clickhouse_block *block) {
  for (int i = 0; i < block->column_count; i++) tt_list_free(&block->columns[i].bytes);
  block->rows = 0;
}

void tt_clickhouse_block_clear(tt_clickhouse_block *block) {
  for (int i = 0; i < block->column_count; i++) tt_list_cut(&block->columns[i].bytes, 0);
  block->rows = 0;
}

void tt_clickhouse_put_byte(tt_clickhouse_block *block, int column, uint8_t number) {
  tt_list_add(&block->columns[column].bytes, &number, 1);
}

void tt_clickhouse_put_int(tt_clickhouse_block *block, int column, int32_t number) {
  const uint32_t bits = htole32((uint32_t)number);
  tt_list_add(&block->columns[column].bytes, &bits, sizeof bits);
}

void tt_clickhouse_put_unsigned(tt_clickhouse_block *block, int column, uint64_t number) {
  const uint64_t bits = htole64(number);
  tt_list_add(&block->columns[column].bytes, &bits, sizeof bits);
}

void tt_clickhouse_put_long(tt_clickhouse_block *block, int column, int64_t number) {
  tt_clickhouse_put_unsigned(block, column, (uint64_t)number);
}

void tt_clickhouse_put_double(tt_clickhouse_block *block, int column, double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  tt_clickhouse_put_unsigned(block, column, bits);
}

void tt_clickhouse_put_unsigned_times(tt_clickhouse_block *block, int column, uint64_t number,
                                      uint32_t times) {
  const uint64_t bits = htole64(number);
  char *room = tt_list_add_room(&block->columns[column].bytes, times * sizeof bits);
  for (uint32_t i = 0; room && i < times; i++) memcpy(room + i * sizeof bits, &bits, sizeof bits);
}

void tt_clickhouse_put_long_times(tt_clickhouse_block *block, int column, int64_t number,
                                  uint32_t times) {
  tt_clickhouse_put_unsigned_times(block, column, (uint64_t)number, times);
}

static void put_size(tt_list *bytes, uint64_t size) {
  for (; size > 0x7f; size >>= 7) {
    const uint8_t byte = (uint8_t)(size | 0x80);
    tt_list_add(bytes, &byte, 1);
  }
  const uint8_t last = (uint8_t)size;
  tt_list_add(bytes, &last, 1);
}

static void put_text(tt_list *bytes, const char *text) {
  const size_t size = strlen(text);
  put_size(bytes, size);
  if (size) tt_list_add(bytes, text, size);
}

void tt_clickhouse_put_text(tt_clickhouse_block *block, int column, const char *text) {
  put_text(&block->columns[column].bytes, text);
}

bool tt_clickhouse_block_print(const tt_clickhouse_block *block, tt_list *out) {
  bool whole = true;
  put_size(out, (uint64_t)block->column_count);
  put_size(out, block->rows);
  for (int i = 0; i < block->column_count; i++) {
    const tt_clickhouse_column *column = &block->columns[i];
    put_text(out, column->name);
    put_text(out, column->type);
    if (column->bytes.len) tt_list_add(out, column->bytes.data, column->bytes.len);
    whole &= !column->bytes.failed;
  }
  return whole && !out->failed;
}
