/* bind.c: values of a batch as parameters of a statement, and beside those that are sealed. */
#include "store/sqlite/internal.h"

#include <string.h>

void tt_sqlite_bind_value(sqlite3_stmt *prepared, int index, const tt_store_batch *batch,
                          const tt_store_value *value) {
  if (value->text == TT_STORE_NUMBER) {
    sqlite3_bind_double(prepared, index, value->number);
  } else {
    const char *text = (const char *)batch->text.data + value->text;
    sqlite3_bind_text(prepared, index, text, -1, SQLITE_STATIC);
  }
}

void tt_sqlite_bind_seq(sqlite3_stmt *prepared, int index, int64_t seq) {
  if (seq) {
    sqlite3_bind_int64(prepared, index, seq);
  } else {
    sqlite3_bind_null(prepared, index);
  }
}

bool tt_sqlite_column_has(const tt_sqlite_column *column, uint32_t row, const tt_store_batch *batch,
                          const tt_store_value *value) {
  const tt_column_value *sealed = tt_sqlite_column_value(column, row);
  if (!sealed || (sealed->text == TT_COLUMN_NUMBER) != (value->text == TT_STORE_NUMBER))
    return false;
  if (value->text == TT_STORE_NUMBER) return sealed->number == value->number;
  return !strcmp((const char *)column->column.text.data + sealed->text,
                 (const char *)batch->text.data + value->text);
}
