/* make.c: see its header. */
#include "store/sqlite/make.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/sqlite/bucket_page.h"
#include "store/sqlite/buckets.h"

#include <string.h>

#define SECOND INT64_C(1000000)
/** An hour that was touched is left alone for so long: what comes late comes in many batches. */
#define SETTLING (60 * SECOND)
/** When nothing is to do, it is looked again after so long. */
#define LOOK_INTERVAL SECOND
/** After trouble, such as a full disk. */
#define TROUBLE_INTERVAL (10 * SECOND)
/** How long a step takes, and how many times as long nothing is made then: where nothing is written, and where the store has
 *  hardly time for anything else. */
#define BUDGET (20 * SECOND / 1000)
#define REST 2
#define BUSY_REST 20
/** Attributes whose minutes of an hour are gathered together: some MB. */
#define GROUP 1024
/** Clocks of devices are followed to within so much. */
#define OVER_SINCE (10 * SECOND)

static tt_status fail(const tt_sqlite_maker *maker, tt_error *error) {
  return tt_sqlite_fail(maker->db, maker->path, "can't make buckets", error);
}

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

tt_status tt_sqlite_maker_open(sqlite3 *db, const char *path, tt_sqlite_marks *marks,
                               tt_sqlite_maker *maker, tt_error *error) {
  *maker = (tt_sqlite_maker){.db = db,
                             .path = path,
                             .marks = marks,
                             .spans = TT_LIST(tt_sqlite_span, NULL),
                             .minutes = tt_sqlite_table_new(TT_BUCKET_MINUTE),
                             .all = TT_LIST(int, NULL),
                             .page = TT_LIST(tt_bucket, NULL),
                             .bytes = TT_LIST(char, NULL)};
  const struct {
    sqlite3_stmt **statement;
    const char *text;
  } statements[] = {
      {&maker->due, "SELECT device, first, last FROM stale WHERE first < ?1"},
      {&maker->attributes,
       "SELECT attribute FROM pair WHERE device = ?1 UNION"
       " SELECT attribute FROM bucket_page WHERE device = ?1 AND size = ?2 AND page = ?3 UNION"
       " SELECT attribute FROM bucket_page WHERE device = ?1 AND size = ?4 AND page = ?5"
       " ORDER BY attribute"},
      {&maker->get,
       "SELECT data FROM bucket_page WHERE device = ?1 AND size = ?2 AND page = ?3"
       " AND attribute = ?4"},
      {&maker->put,
       "INSERT INTO bucket_page (device, size, page, attribute, data) VALUES (?1, ?2, ?3, ?4, ?5)"
       " ON CONFLICT DO UPDATE SET data = excluded.data"},
      {&maker->drop,
       "DELETE FROM bucket_page WHERE device = ?1 AND size = ?2 AND page = ?3 AND attribute = ?4"},
  };
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
    if (sqlite3_prepare_v3(db, statements[i].text, -1, SQLITE_PREPARE_PERSISTENT,
                           statements[i].statement, NULL) != SQLITE_OK)
      return fail(maker, error);
  }
  return TT_OK;
}

void tt_sqlite_maker_close(tt_sqlite_maker *maker) {
  sqlite3_stmt *statements[] = {maker->due, maker->attributes, maker->get, maker->put, maker->drop};
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
    sqlite3_finalize(statements[i]);
  if (maker->reader) maker->reader->close(maker->reader);
  tt_list_free(&maker->spans);
  tt_sqlite_table_free(&maker->minutes);
  tt_list_free(&maker->all);
  tt_list_free(&maker->page);
  tt_list_free(&maker->bytes);
  *maker = (tt_sqlite_maker){0};
}

/* --- samples --- */

/** The reader at the present moment. It keeps none between two steps: the write-ahead log could not be emptied. */
static tt_status look_again(tt_sqlite_maker *maker, tt_error *error) {
  if (!maker->reader) return tt_sqlite_open_reader(maker->path, &maker->reader, error);
  return tt_sqlite_execute(((tt_sqlite_reader *)maker->reader)->db, maker->path, "BEGIN", error);
}

static void look_away(tt_sqlite_maker *maker) {
  if (maker->reader)
    sqlite3_exec(((tt_sqlite_reader *)maker->reader)->db, "COMMIT", NULL, NULL, NULL);
}

/** Chooses a marked hour that is over and was left alone for a while. TT_NOT_FOUND. */
static tt_status choose(tt_sqlite_maker *maker, int64_t now, tt_error *error) {
  const int64_t current = tt_sqlite_hour_of(now - OVER_SINCE), since = tt_monotonic_us() - SETTLING;
  sqlite3_bind_int64(maker->due, 1, current);
  int result;
  bool found = false;
  while (!found && (result = sqlite3_step(maker->due)) == SQLITE_ROW) {
    maker->device = sqlite3_column_int(maker->due, 0) - 1;
    maker->hour = sqlite3_column_int64(maker->due, 1);
    const int64_t touched = tt_sqlite_mark_touched(maker->marks, maker->device, maker->hour);
    found = !touched || touched < since;
  }
  sqlite3_reset(maker->due);
  if (found) return TT_OK;
  return result == SQLITE_DONE ? TT_NOT_FOUND : fail(maker, error);
}

/* --- pages --- */

static void bind_page(const tt_sqlite_maker *maker, sqlite3_stmt *prepared, tt_bucket_size size) {
  sqlite3_bind_int(prepared, 1, maker->device + 1);
  sqlite3_bind_int(prepared, 2, (int)size);
  sqlite3_bind_int64(prepared, 3, tt_bucket_page_of(size, maker->gathering.from));
}

/** Attributes of which the hour may have numbers, or may have had. */
static tt_status list_attributes(tt_sqlite_maker *maker, tt_error *error) {
  sqlite3_stmt *query = maker->attributes;
  tt_list_cut(&maker->all, 0);
  bind_page(maker, query, TT_BUCKET_MINUTE);
  sqlite3_bind_int(query, 4, TT_BUCKET_HOUR);
  sqlite3_bind_int64(query, 5, tt_bucket_page_of(TT_BUCKET_HOUR, maker->gathering.from));
  int result;
  while ((result = sqlite3_step(query)) == SQLITE_ROW)
    tt_list_add(&maker->all, &(int){sqlite3_column_int(query, 0) - 1}, 1);
  sqlite3_reset(query);
  if (maker->all.failed) return no_memory(error);
  return result == SQLITE_DONE ? TT_OK : fail(maker, error);
}

/** Begins with as many of the hour's attributes as are gathered together; where that isn't all, with these alone. */
static void begin_group(tt_sqlite_maker *maker) {
  const uint32_t left = maker->all.len - maker->written;
  maker->group_end = maker->written + (left < GROUP ? left : GROUP);
  const bool is_all = maker->all.len <= GROUP;
  maker->gathering.attributes = is_all ? NULL : &tt_list_at(&maker->all, int, maker->written);
  maker->gathering.attribute_count = is_all ? 0 : (int)(maker->group_end - maker->written);
  maker->gathering.at = (struct tt_sqlite_gathered){0};
  tt_sqlite_table_free(&maker->minutes);
  maker->minutes = tt_sqlite_table_new(TT_BUCKET_MINUTE);
  maker->at = TT_SQLITE_GATHERING;
}

static tt_status begin(tt_sqlite_maker *maker, int64_t now, tt_error *error) {
  TT_TRY(choose(maker, now, error));
  tt_list_cut(&maker->spans, 0);
  TT_TRY(tt_sqlite_spans((tt_sqlite_reader *)maker->reader, maker->device, &maker->spans, error));
  maker->gathering = (tt_sqlite_gathering){.reader = maker->reader,
                                           .device = maker->device,
                                           .from = tt_sqlite_hour_start(maker->hour),
                                           .to = tt_sqlite_hour_start(maker->hour + 1),
                                           .spans = &maker->spans};
  tt_sqlite_marks_watch(maker->marks, maker->device, maker->hour);
  maker->written = 0;
  TT_TRY(list_attributes(maker, error));
  begin_group(maker);
  return TT_OK;
}

/** The buckets that a page has. One that the disk has changed has none, and its hours are marked. */
static tt_status get_page(tt_sqlite_maker *maker, tt_bucket_size size, int attribute,
                          tt_error *error) {
  const int64_t page = tt_bucket_page_of(size, maker->gathering.from);
  bind_page(maker, maker->get, size);
  sqlite3_bind_int(maker->get, 4, attribute + 1);
  tt_list_cut(&maker->page, 0);
  int result = sqlite3_step(maker->get);
  tt_status status = TT_OK;
  if (result == SQLITE_ROW)
    status = tt_bucket_page_unpack(sqlite3_column_blob(maker->get, 0),
                                   (size_t)sqlite3_column_bytes(maker->get, 0), size, page,
                                   &maker->page, error);
  sqlite3_reset(maker->get);
  if (result != SQLITE_ROW && result != SQLITE_DONE) return fail(maker, error);
  if (status != TT_INVALID) return status;
  tt_list_cut(&maker->page, 0);
  const int64_t start = tt_bucket_page_start(size, page);
  return tt_sqlite_mark_span(maker->marks, maker->device, start,
                             start + tt_bucket_page_length(size) - 1, error);
}

/** Puts buckets in the place of those that a page has of the hour. */
static tt_status put_page(tt_sqlite_maker *maker, tt_bucket_size size, int attribute,
                          const tt_bucket *buckets, uint32_t count, tt_error *error) {
  TT_TRY(get_page(maker, size, attribute, error));
  tt_list *page = &maker->page;
  uint32_t before = 0, behind = 0;
  while (before < page->len && tt_list_at(page, tt_bucket, before).start < maker->gathering.from)
    before++;
  for (behind = before;
       behind < page->len && tt_list_at(page, tt_bucket, behind).start < maker->gathering.to;)
    behind++;
  const uint32_t rest = page->len - behind;
  if (!tt_list_reserve(page, count)) return no_memory(error);
  tt_bucket *all = page->data;
  if (rest) memmove(all + before + count, all + behind, rest * sizeof *all);
  if (count) memcpy(all + before, buckets, count * sizeof *all);
  page->len = before + count + rest;
  sqlite3_stmt *change = page->len ? maker->put : maker->drop;
  bind_page(maker, change, size);
  sqlite3_bind_int(change, 4, attribute + 1);
  if (page->len) {
    TT_TRY(tt_bucket_page_pack(page, size, tt_bucket_page_of(size, maker->gathering.from),
                               &maker->bytes, error));
    sqlite3_bind_blob64(change, 5, maker->bytes.data, maker->bytes.len, SQLITE_STATIC);
  }
  int result = sqlite3_step(change);
  sqlite3_reset(change);
  return result == SQLITE_DONE ? TT_OK : fail(maker, error);
}

static tt_status write_attribute(tt_sqlite_maker *maker, int attribute, tt_error *error) {
  const tt_sqlite_series *series = tt_sqlite_table_find(&maker->minutes, attribute);
  const tt_bucket *minutes = series ? series->buckets.data : NULL;
  const uint32_t count = series ? series->buckets.len : 0;
  tt_bucket hour = {0};
  for (uint32_t i = 0; i < count; i++) tt_bucket_merge(&hour, &minutes[i]);
  hour.start = maker->gathering.from;
  TT_TRY(put_page(maker, TT_BUCKET_MINUTE, attribute, minutes, count, error));
  return put_page(maker, TT_BUCKET_HOUR, attribute, &hour, count ? 1 : 0, error);
}

/** The group's attributes until the deadline has passed: TT_AGAIN; behind the last one of all the mark goes. */
static tt_status write_pages(tt_sqlite_maker *maker, int64_t deadline, tt_error *error) {
  if (!maker->writing) {
    TT_TRY(tt_sqlite_execute(maker->db, maker->path, "BEGIN IMMEDIATE", error));
    tt_sqlite_marks_begin(maker->marks);
    maker->writing = true;
  }
  while (maker->written < maker->group_end) {
    TT_TRY(write_attribute(maker, tt_list_at(&maker->all, int, maker->written), error));
    maker->written++;
    if (tt_monotonic_us() > deadline) return TT_AGAIN;
  }
  if (maker->written < maker->all.len) {
    begin_group(maker);
    return TT_OK;
  }
  maker->at = TT_SQLITE_IDLE;
  return tt_sqlite_unmark(maker->marks, maker->device, maker->hour, error);
}

/* --- both --- */

/** Goes on with a group of an hour's attributes, or begins one. TT_AGAIN: the deadline has passed; TT_NOT_FOUND: there is none. */
static tt_status go_on(tt_sqlite_maker *maker, int64_t now, int64_t deadline, tt_error *error) {
  if (maker->at == TT_SQLITE_IDLE) TT_TRY(begin(maker, now, error));
  if (maker->at == TT_SQLITE_GATHERING) {
    TT_TRY(tt_sqlite_gather(&maker->gathering, deadline, &maker->minutes, error));
    maker->at = TT_SQLITE_WRITING;
  }
  return write_pages(maker, deadline, error);
}

/** As much of them as there is time for, in one transaction. */
static tt_status step(tt_sqlite_maker *maker, int64_t now, int64_t deadline, tt_error *error) {
  TT_TRY(look_again(maker, error));
  tt_status status = TT_OK;
  while (status == TT_OK && tt_monotonic_us() < deadline)
    status = go_on(maker, now, deadline, error);
  look_away(maker);
  if (!maker->writing) return status;
  maker->writing = false;
  if (status == TT_OK || status == TT_AGAIN || status == TT_NOT_FOUND)
    TT_TRY(tt_sqlite_execute(maker->db, maker->path, "COMMIT", error));
  return status;
}

/** Whether there is hardly time for it: a store writes more than half of the time. */
static bool is_busy(tt_sqlite_maker *maker, int64_t now) {
  const bool busy = 2 * maker->wrote > now - maker->looked;
  maker->looked = now;
  maker->wrote = 0;
  return busy;
}

static void take_back(tt_sqlite_maker *maker) {
  if (sqlite3_get_autocommit(maker->db)) return;
  sqlite3_exec(maker->db, "ROLLBACK", NULL, NULL, NULL);
  tt_sqlite_marks_forget(maker->marks);
}

void tt_sqlite_make(tt_sqlite_maker *maker) {
  const int64_t begun = tt_monotonic_us();
  const bool busy = is_busy(maker, begun);
  if (begun < maker->next) return;
  if (maker->at != TT_SQLITE_IDLE && maker->marks->disturbed) maker->at = TT_SQLITE_IDLE;
  tt_error error;
  tt_status status = step(maker, tt_wall_us(), begun + BUDGET, &error);
  const int64_t end = tt_monotonic_us();
  maker->next = end + (end - begun) * (busy ? BUSY_REST : REST);
  const bool fails = status != TT_OK && status != TT_AGAIN && status != TT_NOT_FOUND;
  if (fails && !maker->failed)
    tt_log_warning("telemetry: buckets can't be made, so long stretches are read slowly: %s",
                   error.text);
  maker->failed = fails;
  if (status == TT_OK || status == TT_AGAIN) return;
  maker->at = TT_SQLITE_IDLE;
  maker->next = end + (fails ? TROUBLE_INTERVAL : LOOK_INTERVAL);
  take_back(maker);
}
