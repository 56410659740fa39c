/* read_buckets.c: buckets, as the database puts them together of what it keeps and of samples. */
#include "store/postgres/internal.h"

#include <stdlib.h>

/** A bucket and whose it is. */
typedef struct row {
  int attribute;
  tt_bucket bucket;
} row;

static int by_attribute(const void *a, const void *b) {
  const row *left = a, *right = b;
  return (left->attribute > right->attribute) - (left->attribute < right->attribute);
}

static row row_at(const tt_postgres_reader *reader, const tt_postgres_stream *from) {
  return (row){tt_postgres_attribute_at(reader, from, 0),
               {.start = tt_postgres_time_at(from, 1),
                .count = (uint64_t)tt_postgres_bigint_at(from, 2),
                .least = tt_postgres_double_at(from, 3),
                .greatest = tt_postgres_double_at(from, 4),
                .sum = tt_postgres_double_at(from, 5),
                .last = tt_postgres_double_at(from, 6),
                .last_time = tt_postgres_time_at(from, 7)}};
}

/** Those that begin with the next one, in order of attributes, which the database knows by other numbers. */
static tt_status read_together(tt_postgres_reader *reader, tt_postgres_stream *from, tt_list *rows,
                               tt_error *error) {
  const int64_t start = tt_postgres_time_at(from, 1);
  tt_list_cut(rows, 0);
  while (tt_postgres_has_row(from) && tt_postgres_time_at(from, 1) == start) {
    const row one = row_at(reader, from);
    if (one.attribute >= 0) tt_list_add(rows, &one, 1);
    TT_TRY(tt_postgres_next_row(reader, from, error));
  }
  if (rows->failed) return tt_fail(error, TT_NOMEM, "out of memory");
  if (rows->len) qsort(rows->data, rows->len, sizeof(row), by_attribute);
  return TT_OK;
}

tt_status tt_postgres_read_buckets(tt_store_reader *base, const tt_store_bucket_query *query,
                                   bool (*take)(void *context, int attribute,
                                                const tt_bucket *bucket),
                                   void *context, tt_error *error) {
  tt_postgres_reader *reader = (tt_postgres_reader *)base;
  tt_list sql = TT_LIST(char, NULL), rows = TT_LIST(row, NULL);
  tt_postgres_stream from = {0};
  tt_list_print(&sql,
                "SELECT attribute, time, count, least, greatest, sum, last, last_time FROM %s_of"
                "(%d, " TT_POSTGRES_TIME ", " TT_POSTGRES_TIME ") b WHERE true",
                tt_bucket_size_names[query->size],
                tt_postgres_get_id(&reader->known.devices, query->device),
                tt_bucket_round_up(query->size, tt_postgres_clamp_time(query->from)),
                tt_postgres_clamp_time(query->to));
  tt_postgres_print_attributes(reader, query->attributes, query->attribute_count, &sql);
  tt_list_print(&sql, " ORDER BY time");
  tt_status status = sql.failed ? tt_fail(error, TT_NOMEM, "out of memory")
                                : tt_postgres_open_stream(reader, &from, sql.data, error);
  bool wanted = true;
  while (status == TT_OK && wanted && tt_postgres_has_row(&from)) {
    status = read_together(reader, &from, &rows, error);
    for (uint32_t i = 0; i < rows.len && status == TT_OK && wanted; i++) {
      const row *one = &tt_list_at(&rows, row, i);
      wanted = take(context, one->attribute, &one->bucket);
    }
  }
  tt_postgres_close_stream(reader, &from);
  tt_list_free(&rows);
  tt_list_free(&sql);
  return status;
}
