/* table_stretches.c: bucket= and points=: a record per device and stretch of time, of what its numbers come to. The span is
 * cut into stretches of one length, and gone through in windows of so many of them as memory is meant for.
 */
#include "base/saturate.h"
#include "telemetry/table_internal.h"

#include <string.h>

/** Cells of a window: 1 MB. */
#define WINDOW 20480
/** Of which it is known at once whether they have something. */
#define DAYS 4096

/** Years 1 to 9999: what ISO 8601 can say. */
#define EARLIEST (INT64_C(-62135596800) * 1000000)
#define LATEST (INT64_C(253402300799) * 1000000)

typedef struct stretches {
  tt_collector *collector;
  const tt_table_query *query;
  const tt_table_names *names;
  tt_table_writer *writer;
  tt_store_reader *reader;
  GPtrArray *labels; /**< char *: of the devices */
  int64_t from, to;  /**< µs UTC; stretches that begin from `from` to before `to` */
  int64_t length;    /**< µs: of a stretch, which begins at a multiple of it */
  /** of the buckets it is made of; TT_BUCKET_SIZES: it is shorter, and made of samples */
  tt_bucket_size size;
  tt_bucket *cells; /**< of the window: by stretch, device, field */
  int64_t days_from, days_to;
  bool days[DAYS]; /**< those between them that have something */
} stretches;

static const char *const bucket_values[] = {"least", "greatest", "mean", "count", "last", NULL};
static const char *const point_values[] = {"least", "greatest", NULL};

/* --- reading --- */

/** Gets buckets of one device; a sample is one of its own. False ends it. */
typedef bool take_bucket(void *context, int attribute, const tt_bucket *bucket);

/** Hands the numbers of an epoch on; `*going` becomes false where that was ended. */
static tt_status take_epoch(const stretches *table, const tt_store_range *range, take_bucket *take,
                            void *context, bool *going, tt_error *error) {
  tt_store_reader *reader = table->reader;
  tt_store_cursor *cursor;
  tt_store_record record;
  TT_TRY(reader->open(reader, range, &cursor, error));
  tt_status status = TT_OK;
  while (*going && (status = reader->next(cursor, &record, error)) == TT_OK) {
    for (int i = 0; *going && i < record.count; i++) {
      const tt_store_cell *cell = &record.cells[i];
      tt_bucket one = {.start = record.time};
      if (cell->text) continue;
      tt_bucket_add(&one, record.time, cell->number);
      *going = take(context, cell->attribute, &one);
    }
  }
  reader->close_cursor(cursor);
  return !*going || status == TT_END ? TT_OK : status;
}

static tt_status take_samples(const stretches *table, const tt_store_bucket_query *asked,
                              take_bucket *take, void *context, tt_error *error) {
  tt_list epochs = TT_LIST(tt_store_epoch, NULL);
  tt_status status = table->reader->epochs(table->reader, asked->device, &epochs, error);
  bool going = true;
  for (guint i = 0; i < epochs.len && status == TT_OK && going; i++) {
    const tt_store_epoch *epoch = &tt_list_at(&epochs, tt_store_epoch, i);
    tt_store_range range = {.device = asked->device,
                            .epoch = epoch->number,
                            .device_from = tt_saturating_sub(asked->from, epoch->offset_high),
                            .device_to = tt_saturating_sub(asked->to - 1, epoch->offset_low),
                            .from = asked->from,
                            .to = asked->to - 1,
                            .attributes = asked->attributes,
                            .attribute_count = asked->attribute_count};
    status = take_epoch(table, &range, take, context, &going, error);
  }
  tt_list_free(&epochs);
  return status;
}

/** Hands on what a device has between two moments, as buckets of a size or, of none, as samples. */
static tt_status read_device(const stretches *table, int device, tt_bucket_size size, int64_t from,
                             int64_t to, bool unordered, take_bucket *take, void *context,
                             tt_error *error) {
  tt_store_bucket_query asked = {
      .device = device,
      .size = size,
      .from = from,
      .to = to,
      .attributes = (const int *)(void *)table->names->fields->data,
      .attribute_count = table->names->all_fields ? 0 : (int)table->names->fields->len,
      .unordered = unordered};
  // Where little is stored nothing is written for long, by which it would be noticed that nobody takes it any more.
  TT_TRY(table->writer->sink->write(table->writer->sink->context, "", 0));
  if (size == TT_BUCKET_SIZES) return take_samples(table, &asked, take, context, error);
  if (!table->reader->buckets)
    return tt_fail(error, TT_INVALID, "this kind of store keeps no buckets; ask for records");
  return table->reader->buckets(table->reader, &asked, take, context, error);
}

static int device_at(const stretches *table, guint index) {
  return g_array_index(table->names->devices, int, index);
}

/* --- the span --- */

/** The first and the last beginning of what was taken. */
typedef struct edges {
  int64_t first, last;
  bool first_only; /**< enough once there is one */
} edges;

static bool take_edge(void *context, int attribute, const tt_bucket *bucket) {
  (void)attribute;
  edges *found = context;
  found->first = MIN(found->first, bucket->start);
  found->last = MAX(found->last, bucket->start);
  return !found->first_only;
}

/** TT_NOT_FOUND: there is nothing between these moments. */
static tt_status find_edges(const stretches *table, tt_bucket_size size, int64_t from, int64_t to,
                            bool first_only, edges *found, tt_error *error) {
  *found = (edges){
      .first = INT64_MAX, .last = INT64_MIN, .first_only = first_only && table->reader->buckets};
  for (guint d = 0; d < table->names->devices->len; d++)
    TT_TRY(read_device(table, device_at(table, d), size, from, to, !found->first_only, take_edge,
                       found, error));
  return found->first == INT64_MAX ? TT_NOT_FOUND : TT_OK;
}

/** Now, or the newest sample that is known, which is later where a world is faster than time. */
static int64_t newest(const stretches *table) {
  int64_t time = tt_collector_now();
  for (guint d = 0; d < table->names->devices->len; d++) {
    tt_device_info info = {0};
    if (tt_collector_get_device(table->collector, device_at(table, d), &info))
      time = MAX(time, info.last_time);
    tt_device_info_clear(&info);
  }
  return time;
}

/** The last day of which there is something, from the day `first` on, which is one: looked for from its end, in spans of days that
 *  become longer, since all of them may be years. */
static tt_status find_last_day(const stretches *table, int64_t first, int64_t *last,
                               tt_error *error) {
  const int64_t day = tt_bucket_length(TT_BUCKET_DAY);
  edges found;
  int64_t to = MIN(tt_bucket_start(TT_BUCKET_DAY, newest(table)) + day, table->to);
  tt_status status = find_edges(table, TT_BUCKET_DAY, to, table->to, false, &found, error);
  for (int64_t days = 1; status == TT_NOT_FOUND && to > first; days *= 2) {
    const int64_t from = (to - first) / day > days ? to - days * day : first;
    status = find_edges(table, TT_BUCKET_DAY, from, to, false, &found, error);
    to = from;
  }
  *last = status == TT_OK ? found.last : first;
  return status == TT_NOT_FOUND ? TT_OK : status;
}

/** Where no span was asked for: from the first minute of which there is something to the last one. */
static tt_status find_span(stretches *table, tt_error *error) {
  edges days;
  int64_t last;
  TT_TRY(find_edges(table, TT_BUCKET_DAY, table->from, table->to, true, &days, error));
  int64_t first = days.first;
  TT_TRY(find_last_day(table, first, &last, error));
  for (tt_bucket_size size = TT_BUCKET_HOUR; size >= TT_BUCKET_MINUTE; size--) {
    int64_t whole = tt_bucket_length(size + 1);
    edges found;
    TT_TRY(find_edges(table, size, tt_bucket_start(size + 1, first),
                      tt_bucket_start(size + 1, first) + whole, true, &found, error));
    first = found.first;
    TT_TRY(find_edges(table, size, tt_bucket_start(size + 1, last),
                      tt_bucket_start(size + 1, last) + whole, false, &found, error));
    last = found.last;
  }
  if (table->query->from == INT64_MIN) table->from = tt_bucket_start(TT_BUCKET_MINUTE, first);
  if (table->query->to == INT64_MAX)
    table->to = tt_bucket_start(TT_BUCKET_MINUTE, last) + tt_bucket_length(TT_BUCKET_MINUTE);
  return TT_OK;
}

/** The beginning of the stretch in which a moment lies. */
static int64_t floor_to(int64_t time, int64_t length) {
  int64_t rest = time % length;
  return time - rest - (rest < 0 ? length : 0);
}

/** Seconds are not kept but made of samples, many where the span is long. So a minute does where this part of the points is
 *  left. */
#define ENOUGH_POINTS 4

/** A length of which there are no more stretches than points: of whole buckets, so that they are read; of samples, where
 *  it is less than a second. */
static void choose_length(stretches *table) {
  int64_t least = (table->to - table->from) / (table->query->points - 1) + 1;
  const int64_t minute = tt_bucket_length(TT_BUCKET_MINUTE);
  if (least < minute && least >= minute / ENOUGH_POINTS) least = minute;
  table->size = TT_BUCKET_SIZES;
  table->length = least;
  for (tt_bucket_size size = 0; size < TT_BUCKET_SIZES; size++) {
    int64_t length = tt_bucket_length(size);
    if (length > least) break;
    table->size = size;
    table->length = (least + length - 1) / length * length;
  }
}

/** TT_NOT_FOUND: nothing is stored of what is asked for. */
static tt_status settle_span(stretches *table, tt_error *error) {
  const tt_table_query *query = table->query;
  table->from = CLAMP(query->from, EARLIEST, LATEST);
  table->to = CLAMP(query->to, EARLIEST, LATEST) + 1;
  if (query->from == INT64_MIN)
    TT_TRY(find_span(table, error));
  else if (query->to == INT64_MAX)
    table->to = MAX(newest(table), table->from) + 1;
  if (query->points) {
    choose_length(table);
  } else {
    table->size = query->bucket;
    table->length = tt_bucket_length(query->bucket);
  }
  table->from = floor_to(table->from, table->length);
  table->to = floor_to(table->to - 1, table->length) + table->length;
  return TT_OK;
}

/* --- a window --- */

typedef struct window {
  const stretches *table;
  int64_t from, to;
  guint first_device, devices; /**< of which it is */
  guint device;                /**< that is read, counted from the first one */
} window;

static tt_bucket *cells_of(const window *of, int64_t stretch, guint device) {
  const guint fields = of->table->names->fields->len;
  return of->table->cells + ((guint64)stretch * of->devices + device) * fields;
}

static bool take_cell(void *context, int attribute, const tt_bucket *bucket) {
  const window *of = context;
  const int column = tt_table_column(of->table->names, attribute);
  if (column < 0 || bucket->start < of->from || bucket->start >= of->to) return true;
  tt_bucket_merge(cells_of(of, (bucket->start - of->from) / of->table->length, of->device) + column,
                  bucket);
  return true;
}

/** What a bucket of a table shows, and what a point does. */
enum { BUCKET_VALUES = 5, POINT_VALUES = 2 };

static void show_bucket(const tt_bucket *bucket, bool whole, tt_table_cell *cells) {
  if (!bucket->count) {
    for (int i = 0; i < (whole ? BUCKET_VALUES : POINT_VALUES); i++) cells[i].text = NULL;
    return;
  }
  tt_table_show_number(&cells[0], bucket->least);
  tt_table_show_number(&cells[1], bucket->greatest);
  if (!whole) return;
  tt_table_show_number(&cells[2], bucket->sum / (double)bucket->count);
  tt_table_show_count(&cells[3], bucket->count);
  tt_table_show_number(&cells[4], bucket->last);
}

/** A record, unless there is nothing in it. */
static tt_status write_stretch(const window *of, int64_t time, guint device,
                               const tt_bucket *buckets) {
  const stretches *table = of->table;
  const bool whole = !table->query->points;
  const guint fields = table->names->fields->len;
  guint first = 0;
  while (first < fields && !buckets[first].count) first++;
  if (first == fields) return TT_OK;
  tt_table_begin_record(table->writer, table->labels->pdata[of->first_device + device], time, 0);
  for (guint i = 0; i < fields; i++) {
    tt_table_cell cells[BUCKET_VALUES];
    show_bucket(&buckets[i], whole, cells);
    TT_TRY(tt_table_write_field(table->writer, table->names->labels->pdata[i],
                                whole ? BUCKET_VALUES : POINT_VALUES, cells));
  }
  tt_table_end_record(table->writer);
  return TT_OK;
}

static bool is_full(const stretches *table) {
  return table->query->limit && table->writer->rows >= table->query->limit;
}

static tt_status write_window(window *of, tt_error *error) {
  const stretches *table = of->table;
  const int64_t count = (of->to - of->from) / table->length;
  const guint fields = table->names->fields->len;
  memset(table->cells, 0, (size_t)count * of->devices * fields * sizeof(tt_bucket));
  for (of->device = 0; of->device < of->devices; of->device++) {
    TT_TRY(read_device(table, device_at(table, of->first_device + of->device), table->size,
                       of->from, of->to, true, take_cell, of, error));
  }
  for (int64_t stretch = 0; stretch < count; stretch++) {
    for (guint device = 0; device < of->devices && !is_full(table); device++) {
      TT_TRY(write_stretch(of, of->from + stretch * table->length, device,
                           cells_of(of, stretch, device)));
    }
  }
  return TT_OK;
}

/** The first bucket between two moments that is no longer than `enough` (µs), or of the table's size: within the first of the next
 *  greater size that has one, since of these there are few. TT_NOT_FOUND: there is none. */
static tt_status find_bucket(const stretches *table, tt_bucket_size size, int64_t enough,
                             int64_t from, int64_t to, int64_t *start, tt_error *error) {
  for (int64_t at = tt_bucket_start(size, from); at < to;) {
    edges next;
    TT_TRY(find_edges(table, size, at, to, true, &next, error));
    *start = next.first;
    if (size == table->size || tt_bucket_length(size) <= enough) return TT_OK;
    const int64_t end = next.first + tt_bucket_length(size);
    tt_status status =
        find_bucket(table, size - 1, enough, MAX(from, next.first), MIN(to, end), start, error);
    if (status != TT_NOT_FOUND) return status;
    at = end;  // what it has lies before `from`
  }
  return TT_NOT_FOUND;
}

static bool take_day(void *context, int attribute, const tt_bucket *bucket) {
  (void)attribute;
  stretches *table = context;
  if (bucket->start >= table->days_from && bucket->start < table->days_to)
    table->days[(bucket->start - table->days_from) / tt_bucket_length(TT_BUCKET_DAY)] = true;
  return true;
}

/** Looks which days have something, from the first that has, at or after a time. TT_NOT_FOUND: none has. */
static tt_status read_days(stretches *table, int64_t from, tt_error *error) {
  const int64_t day = tt_bucket_length(TT_BUCKET_DAY);
  edges first;
  TT_TRY(find_edges(table, TT_BUCKET_DAY, tt_bucket_start(TT_BUCKET_DAY, from), table->to, true,
                    &first, error));
  table->days_from = first.first;
  table->days_to = MIN(first.first + DAYS * day, tt_bucket_round_up(TT_BUCKET_DAY, table->to));
  memset(table->days, 0, sizeof table->days);
  for (guint d = 0; d < table->names->devices->len; d++)
    TT_TRY(read_device(table, device_at(table, d), TT_BUCKET_DAY, table->days_from, table->days_to,
                       true, take_day, table, error));
  return TT_OK;
}

/** The first day that has something of those from a time on. They are asked for many at once: a store may have to make all of them to tell
 *  the first. */
static tt_status find_day(stretches *table, int64_t from, int64_t *start, tt_error *error) {
  const int64_t day = tt_bucket_length(TT_BUCKET_DAY);
  for (int64_t at = tt_bucket_start(TT_BUCKET_DAY, from); at < table->to;) {
    if (at < table->days_from || at >= table->days_to) TT_TRY(read_days(table, at, error));
    for (at = MAX(at, table->days_from); at < table->days_to; at += day) {
      *start = at;
      if (table->days[(at - table->days_from) / day]) return TT_OK;
    }
  }
  return TT_NOT_FOUND;
}

/** The first bucket as find_bucket() finds it, of a day or within one. */
static tt_status find_next(stretches *table, int64_t enough, int64_t from, int64_t *start,
                           tt_error *error) {
  const int64_t length = tt_bucket_length(TT_BUCKET_DAY);
  for (int64_t at = from;; at = *start + length) {
    TT_TRY(find_day(table, at, start, error));
    if (table->size == TT_BUCKET_DAY || length <= enough) return TT_OK;
    int64_t within;
    const int64_t end = MIN(table->to, *start + length);
    tt_status status =
        find_bucket(table, TT_BUCKET_HOUR, enough, MAX(at, *start), end, &within, error);
    if (status == TT_OK) *start = within;
    if (status != TT_NOT_FOUND) return status;
  }
}

/** Where the next window begins in which there is something, one of `length` (µs); the table's end: nowhere. Samples are not asked: they
 *  are near. */
static tt_status skip_empty(stretches *table, int64_t length, int64_t *from, tt_error *error) {
  int64_t next;
  if (table->size == TT_BUCKET_SIZES) return TT_OK;
  tt_status status = find_next(table, length, *from, &next, error);
  *from = status == TT_OK ? MAX(*from, floor_to(next, table->length)) : table->to;
  return status == TT_NOT_FOUND ? TT_OK : status;
}

static tt_status write_windows(stretches *table, tt_error *error) {
  const guint devices = table->names->devices->len, fields = table->names->fields->len;
  const guint64 of_one = (guint64)devices * fields;  // stretch
  const int64_t most = of_one < WINDOW ? (int64_t)(WINDOW / of_one) : 1;
  // Where a stretch of all devices is too much, it is read device by device.
  const guint at_once = of_one <= WINDOW ? devices : 1;
  table->cells = g_new(tt_bucket, (gsize)most * at_once * fields);
  for (int64_t from = table->from; !is_full(table);) {
    TT_TRY(skip_empty(table, most * table->length, &from, error));
    if (from >= table->to) return TT_OK;
    const int64_t to = from + MIN((table->to - from) / table->length, most) * table->length;
    for (guint d = 0; d < devices; d += at_once) {
      window window = {table, from, to, d, at_once, 0};
      TT_TRY(write_window(&window, error));
    }
    from = to;
  }
  return TT_OK;
}

static tt_status write_table(stretches *table, tt_error *error) {
  tt_status status = TT_NOT_FOUND;
  TT_TRY(tt_collector_open_reader(table->collector, &table->reader, error));
  if (table->names->devices->len && table->names->fields->len) status = settle_span(table, error);
  if (status != TT_OK && status != TT_NOT_FOUND) return status;
  TT_TRY(tt_table_write_header(table->writer, table->names,
                               table->query->points ? point_values : bucket_values));
  if (status == TT_OK) TT_TRY(write_windows(table, error));
  return tt_table_write_end(table->writer, NULL);
}

tt_status tt_table_write_stretches(tt_collector *collector, const tt_table_query *query,
                                   const tt_table_names *names, tt_table_writer *writer,
                                   tt_error *error) {
  stretches table = {.collector = collector,
                     .query = query,
                     .names = names,
                     .writer = writer,
                     .labels = g_ptr_array_new_with_free_func(g_free)};
  for (guint d = 0; d < names->devices->len; d++)
    g_ptr_array_add(table.labels, tt_table_label(collector, true, device_at(&table, d)));
  tt_status status = write_table(&table, error);
  if (table.reader) table.reader->close(table.reader);
  g_ptr_array_unref(table.labels);
  g_free(table.cells);
  return status;
}
