/* buckets.c: stretch by stretch, so that however long the answer is takes little memory. A stretch is a page of what is made,
 * or a part of one where attributes are many; seconds are not made, since they are hardly fewer than the samples, and days are
 * hours together.
 */
#include "store/sqlite/buckets.h"

#include "base/saturate.h"
#include "store/sqlite/bucket_page.h"
#include "store/sqlite/marks.h"

/** Of seconds that are gathered at once, µs. */
#define SECONDS_STRETCH INT64_C(600000000)
/** Buckets that are gathered at once, of all attributes together; but one of each. */
#define BUCKETS_AT_ONCE 20480

/** From `from` to before `to`, µs UTC. */
typedef struct stretch {
  int64_t from, to;
} stretch;

typedef struct job {
  tt_sqlite_reader *reader;
  const tt_store_bucket_query *query;
  bool (*take)(void *context, int attribute, const tt_bucket *bucket);
  void *context;
  tt_bucket_size made; /**< the size that is read: of days, that of hours */
  sqlite3_stmt *pages, *stale, *behind;
  int64_t at_once;       /**< µs: of what is made, gathered at once */
  tt_list spans;         /**< tt_sqlite_span */
  tt_list unmade;        /**< stretch: of the stretch in hand, in order */
  tt_list page;          /**< tt_bucket: scratch */
  tt_sqlite_table table; /**< of the stretch in hand */
  tt_sqlite_table days;  /**< out of it */
} job;

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

static bool is_days(const job *job) { return job->query->size == TT_BUCKET_DAY; }

static tt_status fail(const job *job, tt_error *error) {
  return tt_sqlite_fail(job->reader->db, job->reader->path, "can't read buckets", error);
}

tt_status tt_sqlite_spans(tt_sqlite_reader *reader, int device, tt_list *spans, tt_error *error) {
  sqlite3_stmt *query;
  if (sqlite3_prepare_v2(
          reader->db,
          "SELECT epoch, offset_low, offset_high,"
          " (SELECT min(device_time) FROM sample s WHERE s.device = b.device AND s.epoch = "
          "b.epoch),"
          " (SELECT max(device_time) FROM sample s WHERE s.device = b.device AND s.epoch = "
          "b.epoch),"
          " (SELECT first FROM segment s WHERE s.device = b.device AND s.epoch = b.epoch"
          "  ORDER BY first LIMIT 1),"
          " (SELECT last FROM segment s WHERE s.device = b.device AND s.epoch = b.epoch"
          "  ORDER BY first DESC LIMIT 1)"
          " FROM boot b WHERE device = ?1 ORDER BY epoch",
          -1, &query, NULL) != SQLITE_OK)
    return tt_sqlite_fail(reader->db, reader->path, "can't read", error);
  sqlite3_bind_int(query, 1, device + 1);
  int result;
  while ((result = sqlite3_step(query)) == SQLITE_ROW) {
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (int i = 3; i < 7; i++) {
      if (sqlite3_column_type(query, i) == SQLITE_NULL) continue;
      const int64_t time = sqlite3_column_int64(query, i);
      if (time < first) first = time;
      if (time > last) last = time;
    }
    if (first > last) continue;
    tt_sqlite_span span = {.epoch = sqlite3_column_int(query, 0),
                           .offset_low = sqlite3_column_int64(query, 1),
                           .offset_high = sqlite3_column_int64(query, 2)};
    span.from = tt_saturating_add(first, span.offset_low);
    span.to = tt_saturating_add(last, span.offset_high);
    tt_list_add(spans, &span, 1);
  }
  sqlite3_finalize(query);
  if (spans->failed) return no_memory(error);
  return result == SQLITE_DONE ? TT_OK
                               : tt_sqlite_fail(reader->db, reader->path, "can't read", error);
}

tt_status tt_sqlite_count_pairs(tt_sqlite_reader *reader, int device, int64_t *pairs,
                                tt_error *error) {
  sqlite3_stmt *query;
  if (sqlite3_prepare_v2(reader->db, "SELECT count(*) FROM pair WHERE device = ?1", -1, &query,
                         NULL) != SQLITE_OK)
    return tt_sqlite_fail(reader->db, reader->path, "can't read", error);
  sqlite3_bind_int(query, 1, device + 1);
  const int result = sqlite3_step(query);
  if (result == SQLITE_ROW) *pairs = sqlite3_column_int64(query, 0);
  sqlite3_finalize(query);
  return result == SQLITE_ROW ? TT_OK
                              : tt_sqlite_fail(reader->db, reader->path, "can't read", error);
}

/* --- what is not made --- */

static tt_status add_unmade(job *job, int64_t from, int64_t to, tt_error *error) {
  stretch *last = job->unmade.len ? &tt_list_at(&job->unmade, stretch, job->unmade.len - 1) : NULL;
  if (last && from <= last->to) {
    if (to > last->to) last->to = to;
    return TT_OK;
  }
  const stretch added = {from, to};
  return tt_list_add(&job->unmade, &added, 1) ? TT_OK : no_memory(error);
}

/** Marked hours of a stretch. */
static tt_status list_unmade(job *job, const stretch *within, tt_error *error) {
  tt_list_cut(&job->unmade, 0);
  if (!tt_bucket_page_length(job->made)) return add_unmade(job, within->from, within->to, error);
  sqlite3_bind_int(job->stale, 1, job->query->device + 1);
  sqlite3_bind_int64(job->stale, 2, tt_sqlite_hour_of(within->from));
  sqlite3_bind_int64(job->stale, 3, tt_sqlite_hour_of(within->to - 1));
  tt_status status = TT_OK;
  int result = SQLITE_DONE;
  while (status == TT_OK && (result = sqlite3_step(job->stale)) == SQLITE_ROW) {
    int64_t from = tt_sqlite_hour_start(sqlite3_column_int64(job->stale, 0));
    int64_t to = tt_sqlite_hour_start(tt_saturating_add(sqlite3_column_int64(job->stale, 1), 1));
    if (from < within->from) from = within->from;
    if (to > within->to) to = within->to;
    status = add_unmade(job, from, to, error);
  }
  sqlite3_reset(job->stale);
  if (status == TT_OK && result != SQLITE_DONE) status = fail(job, error);
  return status;
}

static bool is_unmade(const job *job, int64_t time) {
  for (uint32_t i = 0; i < job->unmade.len; i++) {
    const stretch *unmade = &tt_list_at(&job->unmade, stretch, i);
    if (time >= unmade->from && time < unmade->to) return true;
  }
  return false;
}

/* --- a stretch --- */

static tt_status take(job *job, int attribute, const tt_bucket *bucket) {
  if (bucket->start < job->query->from || bucket->start >= job->query->to) return TT_OK;
  return job->take(job->context, attribute, bucket) ? TT_OK : TT_END;
}

/** What stands in a page becomes of use: part of a day, or handed out, or kept until it is its turn. TT_END: the taker has had
 *  enough. */
static tt_status use_bucket(job *job, int attribute, const tt_bucket *bucket, tt_error *error) {
  if (!is_days(job) && job->query->unordered) return take(job, attribute, bucket);
  return tt_sqlite_table_add(is_days(job) ? &job->days : &job->table, attribute, bucket)
             ? TT_OK
             : no_memory(error);
}

/** Hands a stretch's buckets out in order of time. TT_END: the taker has had enough. */
static tt_status hand_out(job *job, const tt_sqlite_table *table, const stretch *within) {
  const int64_t length = tt_bucket_length(table->size);
  uint32_t count = table->series.len, left = 0;
  tt_list at = TT_LIST(uint32_t, NULL);
  tt_status status = tt_list_fill(&at, count) ? TT_OK : TT_NOMEM;
  for (uint32_t i = 0; i < count; i++)
    left += tt_list_at(&table->series, tt_sqlite_series, i).buckets.len;
  for (int64_t start = tt_bucket_start(table->size, within->from);
       left && start < within->to && status == TT_OK; start = tt_saturating_add(start, length)) {
    for (uint32_t i = 0; i < count && status == TT_OK; i++) {
      const tt_sqlite_series *series = &tt_list_at(&table->series, tt_sqlite_series, i);
      uint32_t *place = &tt_list_at(&at, uint32_t, i);
      if (*place >= series->buckets.len) continue;
      const tt_bucket *bucket = &tt_list_at(&series->buckets, tt_bucket, *place);
      if (bucket->start != start) continue;
      ++*place;
      left--;
      status = take(job, series->attribute, bucket);
    }
  }
  tt_list_free(&at);
  return status;
}

/** Adds what the samples of a span say to a table, of one attribute or (−1) of all. */
static tt_status gather(job *job, const stretch *span, int attribute, tt_sqlite_table *table,
                        tt_error *error) {
  tt_sqlite_gathering gathering = {
      .reader = &job->reader->base,
      .device = job->query->device,
      .from = span->from,
      .to = span->to,
      .attributes = attribute < 0 ? job->query->attributes : &attribute,
      .attribute_count = attribute < 0 ? job->query->attribute_count : 1,
      .spans = &job->spans};
  return tt_sqlite_gather(&gathering, 0, table, error);
}

/** A page that the disk has changed: the samples still say what it said. */
static tt_status use_samples(job *job, const stretch *within, int attribute, tt_error *error) {
  tt_sqlite_table table = tt_sqlite_table_new(job->made);
  tt_status status = gather(job, within, attribute, &table, error);
  const tt_sqlite_series *series = tt_sqlite_table_find(&table, attribute);
  for (uint32_t i = 0; series && i < series->buckets.len && status == TT_OK; i++) {
    const tt_bucket *bucket = &tt_list_at(&series->buckets, tt_bucket, i);
    if (!is_unmade(job, bucket->start)) status = use_bucket(job, attribute, bucket, error);
  }
  tt_sqlite_table_free(&table);
  return status;
}

/** The buckets of the page that the query stands on. */
static tt_status use_page(job *job, const stretch *within, int64_t page, tt_error *error) {
  const int attribute = sqlite3_column_int(job->pages, 0) - 1;
  tt_status status = tt_bucket_page_unpack_part(
      sqlite3_column_blob(job->pages, 1), (size_t)sqlite3_column_bytes(job->pages, 1), job->made,
      page, within->from, within->to, &job->page, error);
  if (status == TT_INVALID) return use_samples(job, within, attribute, error);
  for (uint32_t i = 0; i < job->page.len && status == TT_OK; i++) {
    const tt_bucket *bucket = &tt_list_at(&job->page, tt_bucket, i);
    if (!is_unmade(job, bucket->start)) status = use_bucket(job, attribute, bucket, error);
  }
  return status;
}

/** The page that a stretch is part of, of one attribute or (−1) of all. */
static tt_status use_page_of(job *job, const stretch *within, int attribute, tt_error *error) {
  const int64_t page = tt_bucket_page_of(job->made, within->from);
  sqlite3_bind_int(job->pages, 1, job->query->device + 1);
  sqlite3_bind_int(job->pages, 2, (int)job->made);
  sqlite3_bind_int64(job->pages, 3, page);
  if (attribute >= 0) sqlite3_bind_int(job->pages, 4, attribute + 1);
  tt_status status = TT_OK;
  int result = SQLITE_DONE;
  while (status == TT_OK && (result = sqlite3_step(job->pages)) == SQLITE_ROW)
    status = use_page(job, within, page, error);
  if (status == TT_OK && result != SQLITE_DONE) status = fail(job, error);
  sqlite3_reset(job->pages);
  return status;
}

static tt_status use_pages(job *job, const stretch *within, tt_error *error) {
  const tt_store_bucket_query *query = job->query;
  if (!tt_bucket_page_length(job->made)) return TT_OK;
  if (!query->attribute_count) return use_page_of(job, within, -1, error);
  for (int i = 0; i < query->attribute_count; i++) {
    bool again = false;
    for (int before = 0; before < i && !again; before++)
      again = query->attributes[before] == query->attributes[i];
    if (!again) TT_TRY(use_page_of(job, within, query->attributes[i], error));
  }
  return TT_OK;
}

/** Adds the hours in hand to their days. */
static tt_status add_to_days(job *job, tt_error *error) {
  for (uint32_t i = 0; i < job->table.series.len; i++) {
    const tt_sqlite_series *series = &tt_list_at(&job->table.series, tt_sqlite_series, i);
    for (uint32_t b = 0; b < series->buckets.len; b++) {
      if (!tt_sqlite_table_add(&job->days, series->attribute,
                               &tt_list_at(&series->buckets, tt_bucket, b)))
        return no_memory(error);
    }
  }
  tt_sqlite_table_empty(&job->table);
  return TT_OK;
}

/** What is not made, in parts that take little memory; where order matters the stretch is such a part. */
static tt_status use_unmade(job *job, tt_error *error) {
  const bool in_parts = is_days(job) || job->query->unordered;
  for (uint32_t i = 0; i < job->unmade.len; i++) {
    const stretch whole = tt_list_at(&job->unmade, stretch, i);
    for (stretch part = {.to = whole.from}; part.to < whole.to;) {
      part = (stretch){part.to, in_parts ? tt_saturating_add(part.to, job->at_once) : whole.to};
      if (part.to > whole.to) part.to = whole.to;
      TT_TRY(gather(job, &part, -1, &job->table, error));
      if (is_days(job)) {
        TT_TRY(add_to_days(job, error));
      } else if (job->query->unordered) {
        TT_TRY(hand_out(job, &job->table, &part));
        tt_sqlite_table_empty(&job->table);
      }
    }
  }
  return TT_OK;
}

/** TT_END: the taker has had enough. */
static tt_status give_stretch(job *job, const stretch *within, tt_error *error) {
  tt_sqlite_table_empty(&job->table);
  tt_sqlite_table_empty(&job->days);
  TT_TRY(list_unmade(job, within, error));
  TT_TRY(use_pages(job, within, error));
  TT_TRY(use_unmade(job, error));
  return hand_out(job, is_days(job) ? &job->days : &job->table, within);
}

/* --- all of them --- */

static int64_t stretch_length(tt_bucket_size made) {
  const int64_t length = tt_bucket_page_length(made);
  return length ? length : SECONDS_STRETCH;
}

/** How long a stretch is of which the buckets of all attributes take little memory. */
static tt_status choose_length(job *job, tt_error *error) {
  int64_t attributes = job->query->attribute_count;
  if (!attributes)
    TT_TRY(tt_sqlite_count_pairs(job->reader, job->query->device, &attributes, error));
  const int64_t bucket = tt_bucket_length(job->made), length = stretch_length(job->made);
  const int64_t most =
      attributes < BUCKETS_AT_ONCE ? BUCKETS_AT_ONCE / (attributes + !attributes) : 1;
  job->at_once = most < length / bucket ? most * bucket : length;
  return TT_OK;
}

/** When a span's next sample may be, from a time in it on; INT64_MAX: there is none. */
static tt_status next_of_span(const job *job, const tt_sqlite_span *span, int64_t time,
                              int64_t *next, tt_error *error) {
  sqlite3_bind_int(job->behind, 1, job->query->device + 1);
  sqlite3_bind_int(job->behind, 2, span->epoch);
  sqlite3_bind_int64(job->behind, 3, tt_saturating_sub(time, span->offset_high));
  int result = sqlite3_step(job->behind);
  *next = INT64_MAX;
  if (result == SQLITE_ROW && sqlite3_column_type(job->behind, 0) != SQLITE_NULL)
    *next = tt_saturating_add(sqlite3_column_int64(job->behind, 0), span->offset_low);
  sqlite3_reset(job->behind);
  if (*next < time) *next = time;
  return result == SQLITE_ROW ? TT_OK : fail(job, error);
}

/** When the next sample may be, from a time on; INT64_MAX: there is none. */
static tt_status next_sample(const job *job, int64_t time, int64_t *next, tt_error *error) {
  *next = INT64_MAX;
  for (uint32_t i = 0; i < job->spans.len; i++) {
    const tt_sqlite_span *span = &tt_list_at(&job->spans, tt_sqlite_span, i);
    if (span->to < time || span->from >= *next) continue;
    int64_t of_span = span->from;
    if (of_span < time) TT_TRY(next_of_span(job, span, time, &of_span, error));
    if (of_span < *next) *next = of_span;
  }
  return TT_OK;
}

/** The stretch in which a time lies, as far as it is asked for: what can be kept until it is its turn. */
static stretch stretch_of(const job *job, int64_t time) {
  const tt_bucket_size size = job->query->size;
  const int64_t length = stretch_length(job->made), bucket = tt_bucket_length(size);
  const int64_t rest = time % length,
                begin = tt_saturating_add(time, rest < 0 ? -rest - length : -rest);
  stretch whole = {begin, tt_saturating_add(begin, length)};
  const int64_t most = is_days(job)            ? job->at_once / tt_bucket_length(job->made) * bucket
                       : job->query->unordered ? length
                                               : job->at_once;
  if (most < length) {
    whole.from = tt_bucket_start(size, time);
    const int64_t end = tt_saturating_add(whole.from, most);
    if (end < whole.to) whole.to = end;
  }
  const int64_t from = tt_bucket_start(size, job->query->from);
  const int64_t to =
      tt_saturating_add(tt_bucket_start(size, job->query->to - 1), tt_bucket_length(size));
  if (whole.from < from) whole.from = from;
  if (whole.to > to) whole.to = to;
  return whole;
}

static tt_status give(job *job, tt_error *error) {
  int64_t time = tt_bucket_start(job->query->size, job->query->from);
  for (;;) {
    TT_TRY(next_sample(job, time, &time, error));
    if (time == INT64_MAX) return TT_OK;
    const stretch within = stretch_of(job, time);
    if (time >= within.to || within.from >= job->query->to) return TT_OK;  // it is beyond
    tt_status status = give_stretch(job, &within, error);
    if (status == TT_END) return TT_OK;
    if (status == TT_NOMEM) return no_memory(error);
    TT_TRY(status);
    time = within.to;
  }
}

/** The first device time from ?3 on of what is stored: of segments, which don't overlap, those around it may have it. */
#define OF_EPOCH "WHERE device = ?1 AND epoch = ?2"
static const char behind_text[] =
    "SELECT min(t) FROM (SELECT min(device_time) AS t FROM sample " OF_EPOCH
    " AND device_time >= ?3 UNION ALL SELECT min(first) FROM segment " OF_EPOCH
    " AND first >= ?3 UNION ALL SELECT ?3 FROM (SELECT last FROM segment " OF_EPOCH
    " AND first < ?3 ORDER BY first DESC LIMIT 1) WHERE last >= ?3)";

#define PAGES                                                                                      \
  "SELECT attribute, data FROM bucket_page WHERE device = ?1 AND size = ?2 AND page = ?3"
#define STALE                                                                                      \
  "SELECT first, last FROM stale WHERE device = ?1 AND last >= ?2 AND first <= ?3 ORDER BY first"

static tt_status prepare(job *job, tt_error *error) {
  const struct {
    sqlite3_stmt **statement;
    const char *text;
  } statements[] = {
      {&job->pages,
       job->query->attribute_count ? PAGES " AND attribute = ?4" : PAGES " ORDER BY attribute"},
      {&job->stale, STALE},
      {&job->behind, behind_text},
  };
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
    if (sqlite3_prepare_v2(job->reader->db, statements[i].text, -1, statements[i].statement,
                           NULL) != SQLITE_OK)
      return fail(job, error);
  }
  return TT_OK;
}

tt_status tt_sqlite_buckets(tt_store_reader *reader, const tt_store_bucket_query *query,
                            bool (*take)(void *context, int attribute, const tt_bucket *bucket),
                            void *context, tt_error *error) {
  if (query->from >= query->to) return TT_OK;
  const tt_bucket_size made = query->size == TT_BUCKET_DAY ? TT_BUCKET_HOUR : query->size;
  job job = {.reader = (tt_sqlite_reader *)reader,
             .query = query,
             .take = take,
             .context = context,
             .made = made,
             .spans = TT_LIST(tt_sqlite_span, NULL),
             .unmade = TT_LIST(stretch, NULL),
             .page = TT_LIST(tt_bucket, NULL),
             .table = tt_sqlite_table_new(made),
             .days = tt_sqlite_table_new(TT_BUCKET_DAY)};
  tt_status status = tt_sqlite_spans(job.reader, query->device, &job.spans, error);
  if (status == TT_OK) status = prepare(&job, error);
  if (status == TT_OK) status = choose_length(&job, error);
  if (status == TT_OK) status = give(&job, error);
  sqlite3_finalize(job.pages);
  sqlite3_finalize(job.stale);
  sqlite3_finalize(job.behind);
  tt_list_free(&job.spans);
  tt_list_free(&job.unmade);
  tt_list_free(&job.page);
  tt_sqlite_table_free(&job.table);
  tt_sqlite_table_free(&job.days);
  return status;
}
