/* buckets.c: buckets for readers, stretch by stretch: kept ones of hours that are as they were when these were made (hours.c), the others
 * computed of the values; seconds always are. Days are put together of hours. */
#include "store/clickhouse/internal.h"

#include <stdlib.h>

/** Buckets of an attribute that are asked for at once. */
#define STRETCH_BUCKETS 10000
/** Stretches of changed hours that are computed one by one; where there are more, all from the first to the last. */
#define MOST_RUNS 16
/** µs of values that are folded at once. */
#define MOST_FOLDED (24 * HOUR)

typedef struct reading {
  tt_clickhouse_reader *reader;
  const tt_store_bucket_query *query;
  bool (*take)(void *context, int attribute, const tt_bucket *bucket);
  void *context;
  bool wanted;
  uint64_t device;
  int64_t stretch;      /**< µs */
  tt_bucket_size asked; /**< of what is asked of the database */
  tt_list filter;       /**< char: of attributes */
  tt_list hours; /**< tt_clickhouse_hour: of the stretch in hand; `version` 0: to be computed */
  tt_list parts; /**< tt_clickhouse_part: of the stretch in hand */
} reading;

/* --- kept ones --- */

static bool is_kept(const tt_clickhouse_hour *hour) {
  return hour->version && hour->covers == hour->marks;
}

/** One row: of an hour, which was made anew meanwhile, or of a bucket. */
static void take_kept(reading *job, tt_bucket_size size, tt_clickhouse_part *one,
                      uint64_t version) {
  tt_clickhouse_hour *hour =
      tt_clickhouse_find_hour(&job->hours, tt_bucket_start(TT_BUCKET_HOUR, one->bucket.start));
  if (!hour) return;
  if (!size && version > hour->version) hour->version = 0;
  if (size && version == hour->version) tt_list_add(&job->parts, one, 1);
}

static void print_kept(const reading *job, int64_t from, int64_t to, tt_list *sql) {
  tt_list_print(sql,
                "SELECT size, start, attribute, version, count, least, greatest, sum, last,"
                " last_time FROM ");
  tt_clickhouse_print_table(&job->reader->source, "bucket", sql);
  tt_list_print(sql,
                " WHERE device = %" PRIu64 " AND start >= %" PRId64 " AND start <= %" PRId64
                " AND (size = 0 OR size = %d%s) ORDER BY size",
                job->device, from, to, job->asked, (const char *)job->filter.data);
}

static tt_status read_kept(reading *job, int64_t from, int64_t to, tt_error *error) {
  tt_list sql = TT_LIST(char, NULL), answer = TT_LIST(char, NULL);
  print_kept(job, from, to, &sql);
  tt_status status = tt_clickhouse_ask_list(&job->reader->source, &sql, &answer, error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  while (status == TT_OK && tt_clickhouse_has_row(&rows)) {
    const tt_bucket_size size = (tt_bucket_size)tt_clickhouse_get_byte(&rows);
    tt_clickhouse_part one = {.bucket.start = tt_clickhouse_get_long(&rows)};
    one.attribute = tt_clickhouse_get_unsigned(&rows);
    const uint64_t version = tt_clickhouse_get_unsigned(&rows);
    tt_clickhouse_take_bucket(&rows, &one.bucket);
    take_kept(job, size, &one, version);
  }
  if (status == TT_OK) status = tt_clickhouse_check(&rows, error);
  if (status == TT_OK && job->parts.failed) status = tt_clickhouse_no_memory(error);
  tt_list_free(&sql);
  tt_list_free(&answer);
  return status;
}

/* --- computed ones --- */

static tt_status fold_run(reading *job, int64_t from, int64_t to, tt_error *error) {
  tt_clickhouse_folding folding = {.source = job->reader->source,
                                   .device = job->device,
                                   .boots = &job->reader->boots,
                                   .size = job->asked,
                                   .from = from,
                                   .filter = job->filter.data};
  while (folding.from <= to) {
    folding.to = folding.from > to - MOST_FOLDED + 1 ? to : folding.from + MOST_FOLDED - 1;
    TT_TRY(tt_clickhouse_fold(&folding, &job->parts, error));
    if (folding.to == to) break;
    folding.from = folding.to + 1;
  }
  return TT_OK;
}

/** Where a stretch of changed hours ends that begins with one: behind its last. */
static uint32_t end_of_run(const reading *job, uint32_t first) {
  const tt_clickhouse_hour *hours = job->hours.data;
  uint32_t end = first + 1;
  while (end < job->hours.len && !hours[end].version &&
         hours[end].start - hours[end - 1].start <= MOST_FOLDED)
    end++;
  return end;
}

static uint32_t count_runs(const reading *job) {
  uint32_t runs = 0;
  for (uint32_t i = 0; i < job->hours.len;) {
    const bool kept = tt_list_at(&job->hours, tt_clickhouse_hour, i).version;
    i = kept ? i + 1 : end_of_run(job, i);
    runs += !kept;
  }
  return runs;
}

/** Computes all, where there is too much between that would have to be left out. */
static void give_up_kept(reading *job) {
  tt_list_cut(&job->parts, 0);
  for (uint32_t i = 0; i < job->hours.len; i++)
    tt_list_at(&job->hours, tt_clickhouse_hour, i).version = 0;
}

static tt_status fold_changed(reading *job, int64_t from, int64_t to, tt_error *error) {
  if (count_runs(job) > MOST_RUNS) give_up_kept(job);
  const tt_clickhouse_hour *hours = job->hours.data;
  for (uint32_t i = 0, end; i < job->hours.len; i = end) {
    end = i + 1;
    if (hours[i].version) continue;
    end = end_of_run(job, i);
    const int64_t last = hours[end - 1].start;
    const int64_t run_to = last > to - HOUR + 1 ? to : last + HOUR - 1;
    TT_TRY(fold_run(job, hours[i].start > from ? hours[i].start : from, run_to, error));
  }
  return TT_OK;
}

/* --- a stretch --- */

/** Of its hours, whether they are kept. */
static void judge_hours(reading *job) {
  for (uint32_t i = 0; i < job->hours.len; i++) {
    tt_clickhouse_hour *hour = &tt_list_at(&job->hours, tt_clickhouse_hour, i);
    if (job->asked == TT_BUCKET_SECOND || !is_kept(hour)) hour->version = 0;
  }
}

static tt_status read_stretch(reading *job, int64_t from, int64_t to, tt_error *error) {
  tt_list_cut(&job->hours, 0);
  tt_list_cut(&job->parts, 0);
  TT_TRY(tt_clickhouse_read_hours(&job->reader->source, job->device,
                                  tt_bucket_start(TT_BUCKET_HOUR, from), to, &job->hours, error));
  judge_hours(job);
  if (job->asked != TT_BUCKET_SECOND) TT_TRY(read_kept(job, from, to, error));
  return fold_changed(job, from, to, error);
}

/** Puts all of a bucket together, and gives it. */
static void give_buckets(reading *job) {
  tt_list *parts = &job->parts;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < parts->len; i++) {
    tt_clickhouse_part one = tt_list_at(parts, tt_clickhouse_part, i);
    const int attribute = tt_clickhouse_attribute_of(job->reader, one.attribute);
    if (attribute < 0) continue;
    one.attribute = (uint64_t)attribute;
    one.bucket.start = tt_bucket_start(job->query->size, one.bucket.start);
    tt_list_at(parts, tt_clickhouse_part, kept++) = one;
  }
  tt_list_cut(parts, kept);
  tt_clickhouse_merge_parts(parts);
  for (uint32_t i = 0; i < parts->len && job->wanted; i++) {
    const tt_clickhouse_part *one = &tt_list_at(parts, tt_clickhouse_part, i);
    job->wanted = job->take(job->context, (int)one->attribute, &one->bucket);
  }
}

/* --- all --- */

/** The first and the last hour from one time to another that has values, or had some. TT_NOT_FOUND: there is none. */
static tt_status find_bounds(reading *job, int64_t from, int64_t to, int64_t *first, int64_t *last,
                             tt_error *error) {
  tt_list sql = TT_LIST(char, NULL), answer = TT_LIST(char, NULL);
  tt_list_print(&sql, "SELECT toInt64(count()), min(hour), max(hour) FROM ");
  tt_clickhouse_print_table(&job->reader->source, "marked_hour", &sql);
  tt_list_print(&sql, " WHERE device = %" PRIu64 " AND hour >= %" PRId64 " AND hour <= %" PRId64,
                job->device, tt_bucket_start(TT_BUCKET_HOUR, from), to);
  tt_status status = tt_clickhouse_ask_list(&job->reader->source, &sql, &answer, error);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&answer);
  if (status == TT_OK) {
    const int64_t count = tt_clickhouse_get_long(&rows);
    const int64_t least = tt_clickhouse_get_long(&rows);
    const int64_t greatest = tt_clickhouse_get_long(&rows);
    *first = least > from ? least : from;
    *last = greatest > to - HOUR ? to : greatest + HOUR - 1;
    status = tt_clickhouse_check(&rows, error);
    if (status == TT_OK && !count) status = TT_NOT_FOUND;
  }
  tt_list_free(&sql);
  tt_list_free(&answer);
  return status;
}

/** Where buckets of a stretch end that begins at a time, inclusive. */
static int64_t end_of(const reading *job, int64_t from, int64_t to) {
  const int64_t start = tt_bucket_start(job->query->size, from);
  return start > to - job->stretch + 1 ? to : start + job->stretch - 1;
}

static tt_status read_stretches(reading *job, int64_t from, int64_t to, tt_error *error) {
  int64_t last = to;
  TT_TRY(find_bounds(job, from, to, &from, &last, error));
  while (job->wanted && from <= last) {
    const int64_t end = end_of(job, from, to);
    tt_status status = read_stretch(job, from, end, error);
    if (status == TT_FULL && job->stretch > tt_bucket_length(job->query->size)) {
      job->stretch = tt_bucket_round_up(job->query->size, job->stretch / 8);
      continue;
    }
    TT_TRY(status);
    give_buckets(job);
    if (end >= last) return TT_OK;
    from = end + 1;
    if (!job->parts.len) TT_TRY(find_bounds(job, from, to, &from, &last, error));
  }
  return TT_OK;
}

static tt_status prepare(reading *job, tt_error *error) {
  tt_list_print(&job->filter, "%s", "");
  tt_clickhouse_print_attributes(job->reader, job->query->attributes, job->query->attribute_count,
                                 &job->filter);
  if (job->filter.failed) return tt_clickhouse_no_memory(error);
  return tt_clickhouse_need_boots(job->reader, job->device, error);
}

tt_status tt_clickhouse_read_buckets(tt_store_reader *base, const tt_store_bucket_query *query,
                                     bool (*take)(void *context, int attribute,
                                                  const tt_bucket *bucket),
                                     void *context, tt_error *error) {
  tt_clickhouse_reader *reader = (tt_clickhouse_reader *)base;
  reading job = {.reader = reader,
                 .query = query,
                 .take = take,
                 .context = context,
                 .wanted = true,
                 .device = tt_clickhouse_get_id(&reader->known.devices, query->device),
                 .stretch = STRETCH_BUCKETS * tt_bucket_length(query->size),
                 .asked = query->size == TT_BUCKET_DAY ? TT_BUCKET_HOUR : query->size,
                 .filter = TT_LIST(char, NULL),
                 .hours = TT_LIST(tt_clickhouse_hour, NULL),
                 .parts = TT_LIST(tt_clickhouse_part, NULL)};
  const int64_t from = tt_bucket_round_up(query->size, query->from);
  int64_t to = query->to == INT64_MAX ? INT64_MAX : tt_bucket_round_up(query->size, query->to);
  if (to < INT64_MAX) to--;
  tt_status status = TT_NOT_FOUND;
  if (from <= to) status = prepare(&job, error);
  if (status == TT_OK) status = read_stretches(&job, from, to, error);
  tt_list_free(&job.filter);
  tt_list_free(&job.hours);
  tt_list_free(&job.parts);
  return status == TT_NOT_FOUND ? TT_OK : status;
}
