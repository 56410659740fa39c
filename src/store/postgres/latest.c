/* latest.c: the newest value of everything, as the database finds it. */
#include "store/postgres/internal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int by_attribute(const void *a, const void *b) {
  const tt_store_latest *left = a, *right = b;
  return (left->cell.attribute > right->cell.attribute) -
         (left->cell.attribute < right->cell.attribute);
}

/** Adds the row in hand, its text as the offset + 1 until all are there. */
static void add_row(const tt_postgres_reader *reader, const tt_postgres_stream *from, int device,
                    tt_list *found, tt_list *text) {
  tt_store_latest latest = {
      .device = device,
      .epoch = tt_postgres_int_at(from, 1),
      .device_time = tt_postgres_bigint_at(from, 2),
      .time = tt_postgres_time_at(from, 3),
      .cell = {.attribute = tt_postgres_attribute_at(reader, from, 0)},
  };
  if (latest.cell.attribute < 0) return;
  if (PQgetisnull(from->rows, from->row, 4)) {
    const char *said = PQgetvalue(from->rows, from->row, 5);
    latest.cell.text = (const char *)(uintptr_t)(text->len + 1);
    tt_list_add(text, said, strlen(said) + 1);
  } else {
    latest.cell.number = tt_postgres_double_at(from, 4);
  }
  tt_list_add(found, &latest, 1);
}

/** `id`: the database's. */
static tt_status find_latest(tt_postgres_reader *reader, int device, int id, tt_list *found,
                             tt_list *text, tt_error *error) {
  char sql[128];
  tt_postgres_stream from = {0};
  snprintf(sql, sizeof sql,
           "SELECT attribute, epoch, device_time, time, number, text FROM latest_of(%d)", id);
  tt_status status = tt_postgres_open_stream(reader, &from, sql, error);
  while (status == TT_OK && tt_postgres_has_row(&from)) {
    add_row(reader, &from, device, found, text);
    status = tt_postgres_next_row(reader, &from, error);
  }
  tt_postgres_close_stream(reader, &from);
  TT_TRY(status);
  if (found->failed || text->failed) return tt_fail(error, TT_NOMEM, "out of memory");
  if (found->len) qsort(found->data, found->len, sizeof(tt_store_latest), by_attribute);
  return TT_OK;
}

/** `*wanted` becomes false where the caller has enough. */
static tt_status read_device(tt_postgres_reader *reader, int device,
                             bool (*take)(void *context, const tt_store_latest *latest),
                             void *context, bool *wanted, tt_error *error) {
  const int id = tt_postgres_get_id(&reader->known.devices, device);
  if (!id) return TT_OK;
  tt_list found = TT_LIST(tt_store_latest, NULL), text = TT_LIST(char, NULL);
  tt_status status = find_latest(reader, device, id, &found, &text, error);
  for (uint32_t i = 0; i < found.len && status == TT_OK && *wanted; i++) {
    tt_store_latest *latest = &tt_list_at(&found, tt_store_latest, i);
    if (latest->cell.text)
      latest->cell.text = (const char *)text.data + ((uintptr_t)latest->cell.text - 1);
    *wanted = take(context, latest);
  }
  tt_list_free(&found);
  tt_list_free(&text);
  return status;
}

tt_status tt_postgres_read_latest(tt_store_reader *base, int device,
                                  bool (*take)(void *context, const tt_store_latest *latest),
                                  void *context, tt_error *error) {
  tt_postgres_reader *reader = (tt_postgres_reader *)base;
  bool wanted = true;
  if (device >= 0) return read_device(reader, device, take, context, &wanted, error);
  for (int i = 0; i < (int)reader->known.devices.len && wanted; i++)
    TT_TRY(read_device(reader, i, take, context, &wanted, error));
  return TT_OK;
}
