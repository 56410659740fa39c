/* Fuzz target: any bytes as a packed piece, as what stands inside of one (whose sum would keep them out), and as numbers and
 * texts that are packed.
 */
#include "store/column/column_internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static tt_error error;

/** What was read lies within its limits. */
static void check(const tt_column *column, uint32_t rows) {
  assert(column->values.len <= rows && column->text.len <= (size_t)4097 * rows);
  assert(!column->text.len || !tt_list_at(&column->text, char, column->text.len - 1));
  for (uint32_t i = 0; i < column->values.len; i++) {
    const tt_column_value *value = &tt_list_at(&column->values, tt_column_value, i);
    assert(value->row < rows && (!i || value->row > value[-1].row));
    if (value->text == TT_COLUMN_NUMBER)
      assert(isfinite(value->number));
    else
      assert(value->text < column->text.len);
  }
}

static void assert_same(const tt_column *one, const tt_column *other) {
  assert(one->values.len == other->values.len);
  for (uint32_t i = 0; i < one->values.len; i++) {
    const tt_column_value *a = &tt_list_at(&one->values, tt_column_value, i);
    const tt_column_value *b = &tt_list_at(&other->values, tt_column_value, i);
    assert(a->row == b->row && (a->text == TT_COLUMN_NUMBER) == (b->text == TT_COLUMN_NUMBER));
    if (a->text == TT_COLUMN_NUMBER)
      assert(!memcmp(&a->number, &b->number, sizeof a->number));
    else
      assert(!strcmp((char *)one->text.data + a->text, (char *)other->text.data + b->text));
  }
}

/** What could be read is packed and read again. */
static void repeat(const tt_column *column, uint32_t rows) {
  tt_list bytes = TT_LIST(char, NULL);
  tt_column back = tt_column_new();
  check(column, rows);
  tt_status status = tt_column_pack(column, rows, &bytes, &error);
  assert(status == TT_OK);
  status = tt_column_unpack(bytes.data, bytes.len, rows, &back, &error);
  assert(status == TT_OK);
  assert_same(column, &back);
  tt_column_free(&back);
  tt_list_free(&bytes);
}

static void read_inside(const uint8_t *data, size_t size, uint32_t rows) {
  tt_column column = tt_column_new();
  tt_list moments = TT_LIST(tt_column_moment, NULL), bytes = TT_LIST(char, NULL);
  tt_column_source source = {data, size, false, false};
  if (tt_column_read(&source, rows, &column, &error) == TT_OK) repeat(&column, rows);
  source = (tt_column_source){data, size, false, false};
  if (tt_column_read_moments(&source, &moments, &error) == TT_OK) {
    assert(moments.len && moments.len <= TT_COLUMN_ROWS);
    tt_status status = tt_column_pack_moments(&moments, &bytes, &error);
    assert(status == TT_OK);
  }
  tt_column_free(&column);
  tt_list_free(&moments);
  tt_list_free(&bytes);
}

static void read_frame(const uint8_t *data, size_t size, uint32_t rows) {
  tt_column column = tt_column_new();
  tt_list moments = TT_LIST(tt_column_moment, NULL);
  if (tt_column_unpack(data, size, rows, &column, &error) == TT_OK) check(&column, rows);
  if (tt_column_unpack_moments(data, size, &moments, &error) == TT_OK)
    assert(moments.len && moments.len <= TT_COLUMN_ROWS);
  tt_column_free(&column);
  tt_list_free(&moments);
}

/** Eight bytes are a number; one that is none, a text. */
static void pack(const uint8_t *data, size_t size) {
  tt_column column = tt_column_new();
  uint32_t row = 0;
  for (size_t at = 0; at + 8 <= size; at += 8) {
    tt_column_value value = {.row = row++, .text = TT_COLUMN_NUMBER};
    memcpy(&value.number, data + at, 8);
    if (!isfinite(value.number)) {
      value.text = column.text.len;
      value.number = 0;
      tt_list_add(&column.text, data + at, strnlen((const char *)data + at, 5));
      tt_list_add(&column.text, "", 1);
    }
    if (!(data[at] & 1)) row++;
    tt_list_add(&column.values, &value, 1);
  }
  repeat(&column, row);
  tt_column_free(&column);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  const uint32_t rows = ((uint32_t)data[0] << 8 | data[1]) % (TT_COLUMN_ROWS + 2);
  read_frame(data + 2, size - 2, rows);
  if (rows <= TT_COLUMN_ROWS) read_inside(data + 2, size - 2, rows);
  pack(data + 2, size - 2);
  return 0;
}
