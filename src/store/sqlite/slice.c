/* slice.c: see its header. */
#include "store/sqlite/slice.h"

#include <stdatomic.h>
#include <string.h>

/** Values of all slices together. */
#define VALUES_OF_ALL (1u << 20)
/** Those who come first have room for a whole segment. */
#define FEW 8
/** Values of the first slice of each who comes later: nobody knows how many more will come, and the beginning is all that many
 *  want. */
#define FIRST_VALUES 1024

static _Atomic uint32_t readers;

static uint32_t share_of(uint32_t count) { return VALUES_OF_ALL / (count > FEW ? count : FEW); }

uint32_t tt_sqlite_slice_begin(void) {
  const uint32_t count = atomic_fetch_add(&readers, 1) + 1, share = share_of(count);
  return count > FEW && share > FIRST_VALUES ? FIRST_VALUES : share;
}

uint32_t tt_sqlite_slice_share(void) { return share_of(atomic_load(&readers)); }

void tt_sqlite_slice_end(void) { atomic_fetch_sub(&readers, 1); }

static uint32_t size_of(const tt_column *column) {
  return column->values.len + column->text.len / (uint32_t)sizeof(tt_column_value);
}

/** Adds a value of another column. A text that is that of the value before it is kept once. */
static bool copy_value(const tt_column *from, const tt_column_value *value, uint32_t *text,
                       tt_column *to) {
  tt_column_value copy = *value;
  if (value->text != TT_COLUMN_NUMBER && value->text != *text) {
    const char *characters = (const char *)from->text.data + value->text;
    if (!tt_list_add(&to->text, characters, strlen(characters) + 1)) return false;
    *text = value->text;
  }
  if (value->text != TT_COLUMN_NUMBER)
    copy.text = to->text.len - (uint32_t)strlen((const char *)from->text.data + value->text) - 1;
  return tt_list_add(&to->values, &copy, 1);
}

/** Leaves the values of these rows, in as little memory as they take. */
static bool cut_column(tt_column *column, tt_sqlite_rows rows) {
  const tt_column_value *values = column->values.data;
  tt_column cut = tt_column_new();
  uint32_t text = TT_COLUMN_NUMBER;
  bool good = true;
  for (uint32_t i = 0; i < column->values.len && good; i++) {
    if (values[i].row >= rows.from && values[i].row < rows.to)
      good = copy_value(column, &values[i], &text, &cut);
  }
  tt_column_free(good ? column : &cut);
  if (good) *column = cut;
  return good;
}

/** Half as many rows, until what is held of them fits. */
static bool narrow(tt_sqlite_slice *slice, tt_sqlite_piece *piece) {
  while (slice->size > slice->most && slice->rows.to - slice->rows.from > 1) {
    const uint32_t half = slice->rows.from + (slice->rows.to - slice->rows.from) / 2;
    *(slice->from_end ? &slice->rows.from : &slice->rows.to) = half;
    slice->size = 2 * (slice->rows.to - slice->rows.from);
    for (uint32_t i = 0; i < piece->columns.len; i++) {
      tt_column *column = &tt_list_at(&piece->columns, tt_sqlite_column, i).column;
      if (!cut_column(column, slice->rows)) return false;
      slice->size += size_of(column);
    }
  }
  return true;
}

bool tt_sqlite_slice_fit(tt_sqlite_slice *slice, tt_sqlite_piece *piece, uint32_t place) {
  tt_column *column = &tt_list_at(&piece->columns, tt_sqlite_column, place).column;
  const bool whole = slice->rows.from == 0 && slice->rows.to == piece->segment.rows;
  if (!whole && !cut_column(column, slice->rows)) return false;
  slice->size += size_of(column);
  return narrow(slice, piece);
}

bool tt_sqlite_slice_cut_moments(const tt_sqlite_slice *slice, tt_list *moments) {
  const uint32_t rows = slice->rows.to - slice->rows.from;
  if (rows == moments->len) return true;
  tt_list cut = TT_LIST(tt_column_moment, NULL);
  if (!tt_list_add(&cut, &tt_list_at(moments, tt_column_moment, slice->rows.from), rows))
    return false;
  tt_list_free(moments);
  *moments = cut;
  return true;
}
