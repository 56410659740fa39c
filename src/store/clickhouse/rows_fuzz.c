/* rows_fuzz.c: answers in RowBinary: eight bytes say of which fields a row is, the rest is rows. Whatever is read lies within
 * the answer, texts have their ends, and what has failed stays so. */
#include "store/clickhouse/rows.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

static void take_text(tt_clickhouse_rows *rows, tt_list *texts) {
  const size_t before = rows->at;
  const uint32_t start = tt_clickhouse_get_text(rows, texts);
  const char *text = texts->data;
  check(start < texts->len && !text[texts->len - 1]);
  const size_t length = strlen(text + start);
  check(start + length + 1 == texts->len);
  check(rows->failed ? !length : rows->at - before > length);
}

static void take_field(tt_clickhouse_rows *rows, uint8_t kind, tt_list *texts) {
  switch (kind % 5) {
    case 0: tt_clickhouse_get_byte(rows); break;
    case 1: tt_clickhouse_get_int(rows); break;
    case 2: tt_clickhouse_get_long(rows); break;
    case 3: tt_clickhouse_get_double(rows); break;
    default: take_text(rows, texts); break;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { FIELDS = 8 };
  if (size < FIELDS) return 0;
  tt_list answer = TT_LIST(char, NULL), texts = TT_LIST(char, NULL);
  if (size > FIELDS) tt_list_add(&answer, data + FIELDS, size - FIELDS);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  while (tt_clickhouse_has_row(&rows)) {
    const size_t before = rows.at;
    tt_list_cut(&texts, 0);
    for (int i = 0; i < FIELDS; i++) {
      const bool failed = rows.failed;
      take_field(&rows, data[i], &texts);
      check(rows.at <= rows.size && (!failed || rows.failed));
    }
    check(rows.failed || rows.at > before);
  }
  tt_list_free(&answer);
  tt_list_free(&texts);
  return 0;
}
