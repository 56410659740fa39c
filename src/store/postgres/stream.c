/* stream.c: rows of a reader's query, in binary, piece by piece. */
#include "store/postgres/internal.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#define FETCH_ROWS 2000

int64_t tt_postgres_reader_deadline(void) { return tt_monotonic_us() + 3 * STATEMENT_DEADLINE; }

int64_t tt_postgres_clamp_time(int64_t time) {
  const int64_t far = 9000000000000000LL;
  return time < -far ? -far : time > far ? far : time;
}

static tt_status fetch(const tt_postgres_reader *reader, tt_postgres_stream *from,
                       tt_error *error) {
  if (from->rows) PQclear(from->rows);
  from->rows = NULL;
  from->row = 0;
  tt_status status = tt_postgres_runf(reader->link, tt_postgres_reader_deadline(), &from->rows,
                                      error, "FETCH %d FROM %s", FETCH_ROWS, from->name);
  if (status == TT_OK) from->last = PQntuples(from->rows) < FETCH_ROWS;
  return status;
}

tt_status tt_postgres_open_stream(tt_postgres_reader *reader, tt_postgres_stream *stream,
                                  const char *sql, tt_error *error) {
  tt_list declared = TT_LIST(char, NULL);
  snprintf(stream->name, sizeof stream->name, "c%d", reader->cursors++);
  tt_status status =
      tt_list_print(&declared, "DECLARE %s BINARY NO SCROLL CURSOR FOR %s", stream->name, sql)
          ? tt_postgres_run(reader->link, declared.data, 0, NULL, tt_postgres_reader_deadline(),
                            NULL, error)
          : tt_fail(error, TT_NOMEM, "out of memory");
  tt_list_free(&declared);
  return status == TT_OK ? fetch(reader, stream, error) : status;
}

void tt_postgres_close_stream(tt_postgres_reader *reader, tt_postgres_stream *stream) {
  tt_error ignored;
  if (*stream->name)
    tt_postgres_runf(reader->link, tt_postgres_reader_deadline(), NULL, &ignored, "CLOSE %s",
                     stream->name);
  if (stream->rows) PQclear(stream->rows);
}

tt_status tt_postgres_next_row(tt_postgres_reader *reader, tt_postgres_stream *stream,
                               tt_error *error) {
  stream->row++;
  return tt_postgres_has_row(stream) || stream->last ? TT_OK : fetch(reader, stream, error);
}

int32_t tt_postgres_int_at(const tt_postgres_stream *stream, int column) {
  uint32_t number;
  memcpy(&number, PQgetvalue(stream->rows, stream->row, column), sizeof number);
  return (int32_t)be32toh(number);
}

int64_t tt_postgres_bigint_at(const tt_postgres_stream *stream, int column) {
  uint64_t number;
  memcpy(&number, PQgetvalue(stream->rows, stream->row, column), sizeof number);
  return (int64_t)be64toh(number);
}

int64_t tt_postgres_time_at(const tt_postgres_stream *stream, int column) {
  return tt_postgres_bigint_at(stream, column) + POSTGRES_EPOCH;
}

double tt_postgres_double_at(const tt_postgres_stream *stream, int column) {
  const int64_t bits = tt_postgres_bigint_at(stream, column);
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

int tt_postgres_attribute_at(const tt_postgres_reader *reader, const tt_postgres_stream *stream,
                             int column) {
  const tt_map_key id = {tt_postgres_int_at(stream, column), 0};
  const int64_t *index = tt_map_get(&reader->attributes, id);
  return index ? (int)*index : -1;
}

bool tt_postgres_print_attributes(const tt_postgres_reader *reader, const int *attributes,
                                  int count, tt_list *sql) {
  for (int i = 0; i < count; i++)
    tt_list_print(sql, "%s%d", i ? "," : " AND attribute IN (",
                  tt_postgres_get_id(&reader->known.attributes, attributes[i]));
  return tt_list_print(sql, "%s", count ? ")" : "");
}
