/* latest.c: the newest value of each attribute of a device.
 *
 * It is looked for in the minute in which the attribute was said last (newest.h). Where it isn't there, since it was removed, all before that
 * is read: every epoch from its end, the newest epoch first, until nothing older can be newer than what was found. A sample's
 * time and its device time differ by what the epoch says.
 */
#include "base/saturate.h"
#include "store/sqlite/internal.h"
#include "store/sqlite/newest.h"

#include <stdlib.h>
#include <string.h>

/** An attribute of the device, and the newest value found so far. */
typedef struct wanted {
  int attribute, epoch;
  int64_t minute; /**< nothing is of a later one; INT64_MAX: that is not known */
  bool looked_at; /**< that minute */
  bool asked;     /**< it is looked for now */
  bool found;
  int64_t device_time, time;
  double number;
  char *text; /**< NULL: a number */
} wanted;

/** Where an epoch's samples lie. µs, µs UTC. */
typedef struct span {
  int epoch;
  int64_t offset_low, offset_high, first, last;
} span;

typedef struct search {
  tt_sqlite_reader *reader;
  int device;
  tt_list wanted;     /**< by attribute */
  tt_list spans;      /**< the newest first */
  tt_list attributes; /**< int: those asked for */
} search;

static void clear_wanted(void *item) { free(((wanted *)item)->text); }

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

/** What a row becomes. */
typedef void add_row(sqlite3_stmt *row, tt_list *list);

/** Rows that a query gives of a number. */
static tt_status list_rows(tt_sqlite_reader *reader, const char *sql, int number, add_row *add,
                           tt_list *list, tt_error *error) {
  sqlite3_stmt *query;
  if (sqlite3_prepare_v2(reader->db, sql, -1, &query, NULL) != SQLITE_OK)
    return tt_sqlite_fail(reader->db, reader->path, "can't read", error);
  sqlite3_bind_int(query, 1, number);
  int result;
  while ((result = sqlite3_step(query)) == SQLITE_ROW) add(query, list);
  sqlite3_finalize(query);
  if (list->failed) return no_memory(error);
  return result == SQLITE_DONE ? TT_OK
                               : tt_sqlite_fail(reader->db, reader->path, "can't read", error);
}

static void add_index(sqlite3_stmt *row, tt_list *list) {
  const int index = sqlite3_column_int(row, 0) - 1;
  tt_list_add(list, &index, 1);
}

static void add_wanted(sqlite3_stmt *row, tt_list *list) {
  const bool known = sqlite3_column_type(row, 1) != SQLITE_NULL;
  const wanted added = {.attribute = sqlite3_column_int(row, 0) - 1,
                        .minute = known ? sqlite3_column_int64(row, 1) : INT64_MAX};
  tt_list_add(list, &added, 1);
}

static void add_span(sqlite3_stmt *row, tt_list *list) {
  if (sqlite3_column_type(row, 4) == SQLITE_NULL) return;
  const span added = {sqlite3_column_int(row, 0), sqlite3_column_int64(row, 1),
                      sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3),
                      sqlite3_column_int64(row, 4)};
  tt_list_add(list, &added, 1);
}

#define LEAST_OF_SAMPLES                                                                           \
  "SELECT min(device_time) AS first FROM sample s WHERE s.device = b.device AND s.epoch = b.epoch"
#define LEAST_OF_SEGMENTS                                                                          \
  "SELECT first FROM segment g WHERE g.device = b.device AND g.epoch = b.epoch"                    \
  " ORDER BY first LIMIT 1"

static tt_status begin(search *search, tt_error *error) {
  TT_TRY(list_rows(search->reader,
                   "SELECT p.attribute, n.minute FROM pair p LEFT JOIN newest n"
                   " ON n.device = p.device AND n.attribute = p.attribute"
                   " WHERE p.device = ?1 ORDER BY p.attribute",
                   search->device + 1, add_wanted, &search->wanted, error));
  return list_rows(search->reader,
                   "SELECT epoch, offset_low, offset_high, (SELECT min(first) FROM"
                   "  (" LEAST_OF_SAMPLES " UNION ALL SELECT (" LEAST_OF_SEGMENTS
                   "))),"
                   " (SELECT max(last) FROM ("
                   "  SELECT max(device_time) AS last FROM sample s"
                   "   WHERE s.device = b.device AND s.epoch = b.epoch UNION ALL"
                   "  SELECT (SELECT last FROM segment g WHERE g.device = b.device"
                   "   AND g.epoch = b.epoch ORDER BY first DESC LIMIT 1))) AS last"
                   " FROM boot b WHERE device = ?1 ORDER BY last + offset_high DESC",
                   search->device + 1, add_span, &search->spans, error);
}

/** As far as the bounds of all times, which stay what they are. */
static int64_t device_time(int64_t time, int64_t offset) {
  return time == INT64_MIN || time == INT64_MAX ? time : tt_saturating_sub(time, offset);
}

/** The time before which nothing is of interest any more. */
static int64_t oldest_found(const search *search) {
  int64_t oldest = INT64_MAX;
  for (uint32_t i = 0; i < search->wanted.len; i++) {
    const wanted *one = &tt_list_at(&search->wanted, wanted, i);
    if (!one->asked) continue;
    if (!one->found) return INT64_MIN;
    if (one->time < oldest) oldest = one->time;
  }
  return oldest;
}

static int compare_wanted(const void *attribute, const void *item) {
  const int a = *(const int *)attribute, b = ((const wanted *)item)->attribute;
  return (a > b) - (a < b);
}

/** True: it is the newest so far. */
static tt_status take_cell(search *search, int epoch, const tt_store_record *record,
                           const tt_store_cell *cell, bool *newer, tt_error *error) {
  wanted *one = bsearch(&cell->attribute, search->wanted.data, search->wanted.len, sizeof *one,
                        compare_wanted);
  *newer = one && one->asked &&
           (!one->found || record->time > one->time ||
            (record->time == one->time && epoch > one->epoch));
  if (!*newer) return TT_OK;
  char *text = cell->text ? strdup(cell->text) : NULL;
  if (cell->text && !text) return no_memory(error);
  free(one->text);
  one->epoch = epoch;
  one->found = true;
  one->device_time = record->device_time;
  one->time = record->time;
  one->number = cell->number;
  one->text = text;
  return TT_OK;
}

static tt_status read_back(search *search, const span *span, tt_store_cursor *cursor,
                           tt_error *error) {
  int64_t oldest = oldest_found(search);
  tt_store_record record;
  tt_status status;
  while ((status = search->reader->base.next(cursor, &record, error)) == TT_OK) {
    if (tt_saturating_add(record.device_time, span->offset_high) < oldest) return TT_OK;
    bool any = false;
    for (int i = 0; i < record.count; i++) {
      bool newer;
      TT_TRY(take_cell(search, span->epoch, &record, &record.cells[i], &newer, error));
      any = any || newer;
    }
    if (any) oldest = oldest_found(search);
  }
  return status == TT_END ? TT_OK : status;
}

static tt_status search_span(search *search, const span *span, int64_t from, int64_t to,
                             tt_error *error) {
  const tt_store_range range = {.device = search->device,
                                .epoch = span->epoch,
                                .device_from = device_time(from, span->offset_high),
                                .device_to = device_time(to, span->offset_low),
                                .from = from,
                                .to = to,
                                .attributes = search->attributes.data,
                                .attribute_count = (int)search->attributes.len,
                                .newest_first = true};
  tt_store_reader *reader = &search->reader->base;
  tt_store_cursor *cursor;
  TT_TRY(reader->open(reader, &range, &cursor, error));
  tt_status status = read_back(search, span, cursor, error);
  reader->close_cursor(cursor);
  return status;
}

/** Looks between two times, both included, µs UTC, for what is asked for. */
static tt_status look(search *search, int64_t from, int64_t to, tt_error *error) {
  tt_list_cut(&search->attributes, 0);
  for (uint32_t i = 0; i < search->wanted.len; i++) {
    const wanted *one = &tt_list_at(&search->wanted, wanted, i);
    if (one->asked && !tt_list_add(&search->attributes, &one->attribute, 1))
      return no_memory(error);
  }
  for (uint32_t i = 0; i < search->spans.len; i++) {
    const span *span = &tt_list_at(&search->spans, struct span, i);
    const int64_t end = tt_saturating_add(span->last, span->offset_high);
    if (end < from || end < oldest_found(search)) return TT_OK;  // as those behind it
    if (tt_saturating_add(span->first, span->offset_low) <= to)
      TT_TRY(search_span(search, span, from, to, error));
  }
  return TT_OK;
}

/** Asks for those whose latest minute is the latest that was not looked at. False: there are none. */
static bool ask_next(search *search, int64_t *minute) {
  bool any = false;
  for (uint32_t i = 0; i < search->wanted.len; i++) {
    const wanted *one = &tt_list_at(&search->wanted, wanted, i);
    if (one->looked_at || one->minute == INT64_MAX || (any && one->minute <= *minute)) continue;
    *minute = one->minute;
    any = true;
  }
  for (uint32_t i = 0; i < search->wanted.len && any; i++) {
    wanted *one = &tt_list_at(&search->wanted, wanted, i);
    one->asked = !one->looked_at && one->minute == *minute;
    one->looked_at |= one->asked;
  }
  return any;
}

/** Asks for those that are still missing. False: there are none. */
static bool ask_rest(search *search, int64_t *minute) {
  bool any = false;
  for (uint32_t i = 0; i < search->wanted.len; i++) {
    wanted *one = &tt_list_at(&search->wanted, wanted, i);
    one->asked = !one->found;
    if (!one->asked) continue;
    *minute = any && *minute > one->minute ? *minute : one->minute;
    any = true;
  }
  return any;
}

/** TT_END: the taker has had enough. */
static tt_status tell(const search *search,
                      bool (*take)(void *context, const tt_store_latest *latest), void *context) {
  for (uint32_t i = 0; i < search->wanted.len; i++) {
    const wanted *one = &tt_list_at(&search->wanted, wanted, i);
    const tt_store_latest latest = {search->device,
                                    one->epoch,
                                    one->device_time,
                                    one->time,
                                    {one->attribute, one->text, one->number}};
    if (one->found && !take(context, &latest)) return TT_END;
  }
  return TT_OK;
}

static tt_status search_device(tt_sqlite_reader *reader, int device,
                               bool (*take)(void *context, const tt_store_latest *latest),
                               void *context, tt_error *error) {
  search search = {.reader = reader,
                   .device = device,
                   .wanted = TT_LIST(wanted, clear_wanted),
                   .spans = TT_LIST(span, NULL),
                   .attributes = TT_LIST(int, NULL)};
  tt_status status = begin(&search, error);
  int64_t minute = INT64_MAX;
  while (status == TT_OK && ask_next(&search, &minute))
    status = look(&search, tt_sqlite_minute_first(minute), tt_sqlite_minute_last(minute), error);
  if (status == TT_OK && ask_rest(&search, &minute))
    status = look(&search, INT64_MIN,
                  minute == INT64_MAX ? INT64_MAX : tt_sqlite_minute_last(minute), error);
  if (status == TT_OK) status = tell(&search, take, context);
  tt_list_free(&search.wanted);
  tt_list_free(&search.spans);
  tt_list_free(&search.attributes);
  return status;
}

tt_status tt_sqlite_latest(tt_store_reader *base, int device,
                           bool (*take)(void *context, const tt_store_latest *latest),
                           void *context, tt_error *error) {
  tt_sqlite_reader *reader = (tt_sqlite_reader *)base;
  tt_list devices = TT_LIST(int, NULL);
  tt_status status = TT_OK;
  if (device >= 0)
    tt_list_add(&devices, &device, 1);
  else
    status = list_rows(reader, "SELECT DISTINCT device FROM pair WHERE ?1 ORDER BY device", 1,
                       add_index, &devices, error);
  if (status == TT_OK && devices.failed) status = no_memory(error);
  for (uint32_t i = 0; i < devices.len && status == TT_OK; i++)
    status = search_device(reader, tt_list_at(&devices, int, i), take, context, error);
  tt_list_free(&devices);
  return status == TT_END ? TT_OK : status;
}
