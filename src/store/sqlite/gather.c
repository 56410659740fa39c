/* gather.c: see its header. */
#include "store/sqlite/gather.h"

#include "base/clock.h"
#include "base/saturate.h"

#include <stdlib.h>
#include <string.h>

/* --- tables --- */

static void clear_series(void *item) { tt_list_free(&((tt_sqlite_series *)item)->buckets); }

tt_sqlite_table tt_sqlite_table_new(tt_bucket_size size) {
  return (tt_sqlite_table){size, TT_LIST(tt_sqlite_series, clear_series)};
}

void tt_sqlite_table_free(tt_sqlite_table *table) { tt_list_free(&table->series); }

void tt_sqlite_table_empty(tt_sqlite_table *table) {
  for (uint32_t i = 0; i < table->series.len; i++)
    tt_list_cut(&tt_list_at(&table->series, tt_sqlite_series, i).buckets, 0);
}

/** The place of an attribute, or where it belongs. */
static uint32_t place_of(const tt_sqlite_table *table, int attribute) {
  uint32_t low = 0, high = table->series.len;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (tt_list_at(&table->series, tt_sqlite_series, middle).attribute < attribute)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

tt_sqlite_series *tt_sqlite_table_find(const tt_sqlite_table *table, int attribute) {
  const uint32_t place = place_of(table, attribute);
  if (place >= table->series.len) return NULL;
  tt_sqlite_series *series = &tt_list_at(&table->series, tt_sqlite_series, place);
  return series->attribute == attribute ? series : NULL;
}

/** Makes room for an item at an index. False: out of memory. */
static bool insert(tt_list *list, uint32_t index, const void *item) {
  if (!tt_list_add(list, item, 1)) return false;
  char *place = (char *)list->data + (size_t)index * list->item_size;
  memmove(place + list->item_size, place, (size_t)(list->len - 1 - index) * list->item_size);
  memcpy(place, item, list->item_size);
  return true;
}

tt_sqlite_series *tt_sqlite_table_need(tt_sqlite_table *table, int attribute) {
  tt_sqlite_series *known = tt_sqlite_table_find(table, attribute);
  if (known) return known;
  const tt_sqlite_series added = {attribute, TT_LIST(tt_bucket, NULL)};
  const uint32_t place = place_of(table, attribute);
  return insert(&table->series, place, &added)
             ? &tt_list_at(&table->series, tt_sqlite_series, place)
             : NULL;
}

/** The bucket that begins then, found or made; NULL: out of memory. Most come in order. */
static tt_bucket *need_bucket(tt_list *buckets, int64_t start) {
  uint32_t place = buckets->len;
  while (place > 0 && tt_list_at(buckets, tt_bucket, place - 1).start > start) place--;
  if (place > 0 && tt_list_at(buckets, tt_bucket, place - 1).start == start)
    return &tt_list_at(buckets, tt_bucket, place - 1);
  const tt_bucket added = {.start = start};
  return insert(buckets, place, &added) ? &tt_list_at(buckets, tt_bucket, place) : NULL;
}

bool tt_sqlite_table_add(tt_sqlite_table *table, int attribute, const tt_bucket *bucket) {
  tt_sqlite_series *series = tt_sqlite_table_need(table, attribute);
  if (!series) return false;
  const int64_t start = tt_bucket_start(table->size, bucket->start);
  tt_bucket *whole = need_bucket(&series->buckets, start);
  if (!whole) return false;
  tt_bucket_merge(whole, bucket);
  whole->start = start;
  return true;
}

/* --- samples --- */

static tt_status add_record(tt_sqlite_table *table, const tt_store_record *record,
                            tt_error *error) {
  for (int i = 0; i < record->count; i++) {
    const tt_store_cell *cell = &record->cells[i];
    if (cell->text) continue;
    const tt_bucket one = {record->time, 1,           cell->number, cell->number, cell->number,
                           cell->number, record->time};
    if (!tt_sqlite_table_add(table, cell->attribute, &one))
      return tt_fail(error, TT_NOMEM, "out of memory");
  }
  return TT_OK;
}

/** Records between two looks at the clock. */
#define RECORDS_A_LOOK 64

/** Goes on in a span, behind what has been taken of it. */
static tt_status gather_records(tt_sqlite_gathering *gathering, tt_store_cursor *cursor,
                                int64_t deadline, tt_sqlite_table *table, tt_error *error) {
  uint32_t to_skip = gathering->at.inside ? gathering->at.records : 0;
  const int64_t moment = gathering->at.device_time;
  tt_store_record record;
  for (unsigned looked = 1;; looked++) {
    tt_status status = gathering->reader->next(cursor, &record, error);
    if (status != TT_OK) return status == TT_END ? TT_OK : status;
    if (to_skip && record.device_time == moment) {
      to_skip--;
      continue;
    }
    TT_TRY(add_record(table, &record, error));
    const bool same = gathering->at.inside && record.device_time == gathering->at.device_time;
    gathering->at.records = same ? gathering->at.records + 1 : 1;
    gathering->at.inside = true;
    gathering->at.device_time = record.device_time;
    if (deadline && looked % RECORDS_A_LOOK == 0 && tt_monotonic_us() > deadline) return TT_AGAIN;
  }
}

static tt_status gather_span(tt_sqlite_gathering *gathering, const tt_sqlite_span *span,
                             int64_t deadline, tt_sqlite_table *table, tt_error *error) {
  const int64_t last = gathering->to - 1;
  const tt_store_range range = {
      .device = gathering->device,
      .epoch = span->epoch,
      .device_from = gathering->at.inside ? gathering->at.device_time
                                          : tt_saturating_sub(gathering->from, span->offset_high),
      .device_to = tt_saturating_sub(last, span->offset_low),
      .from = gathering->from,
      .to = last,
      .attributes = gathering->attributes,
      .attribute_count = gathering->attribute_count};
  tt_store_cursor *cursor;
  TT_TRY(gathering->reader->open(gathering->reader, &range, &cursor, error));
  tt_status status = gather_records(gathering, cursor, deadline, table, error);
  gathering->reader->close_cursor(cursor);
  return status;
}

tt_status tt_sqlite_gather(tt_sqlite_gathering *gathering, int64_t deadline, tt_sqlite_table *table,
                           tt_error *error) {
  for (; gathering->at.span < gathering->spans->len; gathering->at.span++) {
    const tt_sqlite_span *span = &tt_list_at(gathering->spans, tt_sqlite_span, gathering->at.span);
    if (span->to < gathering->from || span->from >= gathering->to) continue;
    TT_TRY(gather_span(gathering, span, deadline, table, error));
    gathering->at.inside = false;
  }
  return TT_OK;
}
