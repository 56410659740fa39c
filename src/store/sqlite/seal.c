/* seal.c: days that are over into segments.
 *
 * A pass looks at every epoch that has rows of such a day, and goes on with the one whose next row came first: devices that
 * sent at the same time stand in the same pages, which are emptied together. What stands in a segment already is packed
 * anew with the rows that came late.
 */
#include "store/sqlite/seal.h"

#include "base/clock.h"
#include "base/saturate.h"
#include "database/sqlite_link.h"
#include "store/sqlite/internal.h"

#include <stdlib.h>

#define DAY INT64_C(86400000000)

typedef enum statement { HEADS, HEAD, DROP_VALUES, DROP_SAMPLES, STATEMENT_COUNT } statement;

static const char *const statement_texts[STATEMENT_COUNT] = {
    [HEADS] = ("SELECT b.device, b.epoch, b.anchor, s.id, s.device_time FROM boot b JOIN sample s"
               " ON s.id = (SELECT id FROM sample WHERE device = b.device AND epoch = b.epoch"
               "  ORDER BY device_time LIMIT 1)"),
    [HEAD] =
        ("SELECT id, device_time FROM sample WHERE device = ?1 AND epoch = ?2 AND device_time >= ?3"
         " ORDER BY device_time LIMIT 1"),
    [DROP_VALUES] = "DELETE FROM value WHERE sample BETWEEN ?1 AND ?2",
    [DROP_SAMPLES] = "DELETE FROM sample WHERE id BETWEEN ?1 AND ?2",
};

/** The next row of an epoch. */
typedef struct head {
  int device, epoch;
  int64_t anchor;
  int64_t row;         /**< id */
  int64_t device_time; /**< before it all is done */
} head;

struct tt_sqlite_sealer {
  sqlite3 *db;
  const char *path;
  sqlite3_stmt *statements[STATEMENT_COUNT];
  tt_sqlite_pieces *pieces;
  tt_sqlite_packing *packing;
  tt_sqlite_piece piece; /**< that is packed anew */
  tt_list heads;         /**< head: what is left of the pass */
  tt_list ids; /**< int64_t: rows that stand in segments now, and go with the transaction */
};

/** What one step packs: rows of an epoch within, and the segment that lies there. */
typedef struct stretch {
  int device, epoch;
  int64_t from, to; /**< µs of the device's clock, inclusive */
  bool has_segment;
  tt_sqlite_segment segment;
} stretch;

/* --- days --- */

/** The end of the day, in µs UTC by the epoch's anchor. */
static int64_t end_of_day(int64_t device_time, int64_t anchor) {
  int64_t time = tt_saturating_add(device_time, anchor);
  int64_t day = time / DAY - (time % DAY < 0);
  return day >= INT64_MAX / DAY ? INT64_MAX : (day + 1) * DAY;
}

int64_t tt_sqlite_day_end(int64_t device_time, int64_t anchor) {
  int64_t end = end_of_day(device_time, anchor);
  return end == INT64_MAX ? end : tt_saturating_add(end, anchor == INT64_MIN ? INT64_MAX : -anchor);
}

bool tt_sqlite_day_is_over(int64_t device_time, int64_t anchor, int64_t before) {
  return end_of_day(device_time, anchor) <= before;
}

/* --- beginning and end --- */

static tt_status fail(const tt_sqlite_sealer *sealer, const char *what, tt_error *error) {
  return tt_sqlite_fail(sealer->db, sealer->path, what, error);
}

static tt_status prepare(tt_sqlite_sealer *sealer, tt_error *error) {
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    if (sqlite3_prepare_v3(sealer->db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                           &sealer->statements[i], NULL) != SQLITE_OK)
      return fail(sealer, "can't prepare", error);
  }
  return tt_sqlite_packing_open(sealer->db, sealer->path, &sealer->packing, error);
}

tt_status tt_sqlite_sealer_open(sqlite3 *db, const char *path, tt_sqlite_pieces *pieces,
                                tt_sqlite_sealer **out, tt_error *error) {
  tt_sqlite_sealer *sealer = calloc(1, sizeof *sealer);
  if (!sealer) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  sealer->db = db;
  sealer->path = path;
  sealer->pieces = pieces;
  sealer->heads = TT_LIST(head, NULL);
  sealer->ids = TT_LIST(int64_t, NULL);
  tt_status status = prepare(sealer, error);
  if (status == TT_OK)
    *out = sealer;
  else
    tt_sqlite_sealer_close(sealer);
  return status;
}

void tt_sqlite_sealer_close(tt_sqlite_sealer *sealer) {
  if (!sealer) return;
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(sealer->statements[i]);
  tt_sqlite_packing_close(sealer->packing);
  tt_sqlite_piece_free(&sealer->piece);
  tt_list_free(&sealer->heads);
  tt_list_free(&sealer->ids);
  free(sealer);
}

/* --- what is to be done --- */

static tt_status find_heads(tt_sqlite_sealer *sealer, int64_t before, tt_error *error) {
  sqlite3_stmt *query = sealer->statements[HEADS];
  int result;
  while ((result = sqlite3_step(query)) == SQLITE_ROW) {
    head found = {.device = sqlite3_column_int(query, 0) - 1,
                  .epoch = sqlite3_column_int(query, 1),
                  .anchor = sqlite3_column_int64(query, 2),
                  .row = sqlite3_column_int64(query, 3),
                  .device_time = sqlite3_column_int64(query, 4)};
    if (tt_sqlite_day_is_over(found.device_time, found.anchor, before))
      tt_list_add(&sealer->heads, &found, 1);
  }
  sqlite3_reset(query);
  if (result != SQLITE_DONE) return fail(sealer, "can't read", error);
  return sealer->heads.failed ? tt_fail(error, TT_NOMEM, "out of memory") : TT_OK;
}

/** Of the epochs that are left the one whose row came first. */
static uint32_t first_head(const tt_sqlite_sealer *sealer) {
  uint32_t first = 0;
  for (uint32_t i = 1; i < sealer->heads.len; i++) {
    if (tt_list_at(&sealer->heads, head, i).row < tt_list_at(&sealer->heads, head, first).row)
      first = i;
  }
  return first;
}

/** Looks where an epoch goes on behind a time; it is left out where nothing of it is to be done any more. */
static tt_status advance(tt_sqlite_sealer *sealer, uint32_t index, int64_t behind, int64_t before,
                         tt_error *error) {
  head *at = &tt_list_at(&sealer->heads, head, index);
  sqlite3_stmt *query = sealer->statements[HEAD];
  sqlite3_bind_int(query, 1, at->device + 1);
  sqlite3_bind_int(query, 2, at->epoch);
  sqlite3_bind_int64(query, 3, tt_saturating_add(behind, 1));
  int result = behind == INT64_MAX ? SQLITE_DONE : sqlite3_step(query);
  if (result == SQLITE_ROW) {
    at->row = sqlite3_column_int64(query, 0);
    at->device_time = sqlite3_column_int64(query, 1);
  }
  sqlite3_reset(query);
  if (result != SQLITE_ROW && result != SQLITE_DONE) return fail(sealer, "can't read", error);
  if (result == SQLITE_DONE || !tt_sqlite_day_is_over(at->device_time, at->anchor, before))
    tt_list_remove(&sealer->heads, index);
  return TT_OK;
}

/** What is packed together with the next row of an epoch: the segment in which it lies, or what lies between segments. */
static tt_status choose(tt_sqlite_sealer *sealer, const head *next, stretch *chosen,
                        tt_error *error) {
  *chosen = (stretch){.device = next->device,
                      .epoch = next->epoch,
                      .from = next->device_time,
                      .to = tt_sqlite_day_end(next->device_time, next->anchor) - 1};
  tt_sqlite_segment *segment = &chosen->segment;
  tt_status status = tt_sqlite_segment_after(sealer->pieces, next->device, next->epoch,
                                             next->device_time, segment, error);
  if (status == TT_NOT_FOUND) return TT_OK;
  TT_TRY(status);
  chosen->has_segment = segment->first <= next->device_time;
  if (chosen->has_segment) {
    chosen->from = segment->first;
    chosen->to = segment->last;
  } else if (segment->first <= chosen->to) {
    chosen->to = segment->first - 1;
  }
  return TT_OK;
}

/* --- gathering --- */

/** Adds what is sealed already of the segment that is packed anew: the rows from a time to another. */
static tt_status add_sealed(tt_sqlite_sealer *sealer, const stretch *chosen, int64_t from,
                            int64_t to, tt_error *error) {
  if (!chosen->has_segment) return TT_OK;
  if (sealer->piece.segment.id != chosen->segment.id)
    TT_TRY(tt_sqlite_piece_load(sealer->pieces, &chosen->segment, NULL, 0, &sealer->piece, error));
  return tt_sqlite_packing_add_rows(sealer->packing, &sealer->piece,
                                    tt_sqlite_piece_rows(&sealer->piece, from, to), error);
}

/** Adds the moment that the scan stands on, as far as there is room, and goes behind it. */
static tt_status add_moment(tt_sqlite_sealer *sealer, tt_sqlite_scan *scan,
                            tt_sqlite_scanned *record, tt_sqlite_fullness *fullness,
                            tt_error *error) {
  const int64_t moment = record->moment.device_time;
  tt_status status = TT_OK;
  tt_sqlite_packing_mark(sealer->packing);
  *fullness = TT_SQLITE_HAS_ROOM;
  while (status == TT_OK && record->moment.device_time == moment) {
    if (*fullness != TT_SQLITE_TOO_FULL) {
      TT_TRY(tt_sqlite_packing_add(sealer->packing, record, error));
      *fullness = tt_sqlite_packing_fullness(sealer->packing);
    }
    status = tt_sqlite_scan_next(scan, record, error);
  }
  return status;
}

/** Gathers moments until there is enough for a segment. `*upto`: all before and at that device time has been looked at. A
 *  moment that is too large for a segment of its own stays as it is. */
static tt_status gather(tt_sqlite_sealer *sealer, const stretch *chosen, tt_sqlite_scan *scan,
                        int64_t *upto, tt_error *error) {
  tt_sqlite_scanned record;
  tt_status status = tt_sqlite_scan_next(scan, &record, error);
  for (tt_sqlite_fullness full = TT_SQLITE_HAS_ROOM;
       status == TT_OK && full == TT_SQLITE_HAS_ROOM;) {
    const int64_t moment = record.moment.device_time;
    const bool alone = !tt_sqlite_packing_rows(sealer->packing);
    status = add_moment(sealer, scan, &record, &full, error);
    if (status != TT_OK && status != TT_END) return status;
    if (full == TT_SQLITE_TOO_FULL) {
      tt_sqlite_packing_take_back(sealer->packing);
      if (!alone) return TT_OK;
      TT_TRY(add_sealed(sealer, chosen, moment, moment, error));
      full = tt_sqlite_packing_fullness(sealer->packing);
    }
    *upto = moment;
    if (full != TT_SQLITE_HAS_ROOM) return TT_OK;
  }
  if (status != TT_END) return status;
  *upto = chosen->to;
  return TT_OK;
}

/* --- writing --- */

static tt_status drop_between(tt_sqlite_sealer *sealer, statement which, int64_t first,
                              int64_t last, tt_error *error) {
  sqlite3_stmt *drop = sealer->statements[which];
  sqlite3_bind_int64(drop, 1, first);
  sqlite3_bind_int64(drop, 2, last);
  int result = sqlite3_step(drop);
  sqlite3_reset(drop);
  return result == SQLITE_DONE ? TT_OK : fail(sealer, "can't write", error);
}

static int compare_ids(const void *a, const void *b) {
  const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
  return (one > other) - (one < other);
}

/** Removes the rows of all that was packed, as many at once as came one behind the other. No step looks at them again: each
 *  begins behind what the one before it has looked at. */
static tt_status drop_rows(tt_sqlite_sealer *sealer, tt_error *error) {
  const uint32_t count = sealer->ids.len;
  int64_t *id = sealer->ids.data;
  if (count) qsort(id, count, sizeof *id, compare_ids);
  for (uint32_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && id[end] == id[end - 1] + 1;) end++;
    TT_TRY(drop_between(sealer, DROP_VALUES, id[i], id[end - 1], error));
    TT_TRY(drop_between(sealer, DROP_SAMPLES, id[i], id[end - 1], error));
  }
  return TT_OK;
}

static tt_status write_segment(tt_sqlite_sealer *sealer, const stretch *chosen,
                               tt_store_sealed *sealed, tt_error *error) {
  return tt_sqlite_packing_write(sealer->packing, chosen->device, chosen->epoch, &sealed->values,
                                 &sealed->bytes, error);
}

/** What was gathered takes the place of its rows, and of the segment that lay there, whose rest becomes another. */
static tt_status replace(tt_sqlite_sealer *sealer, const stretch *chosen, int64_t upto,
                         tt_store_sealed *sealed, tt_error *error) {
  if (chosen->has_segment && upto < chosen->segment.last)  // before it goes
    TT_TRY(tt_sqlite_piece_load(sealer->pieces, &chosen->segment, NULL, 0, &sealer->piece, error));
  if (chosen->has_segment)
    TT_TRY(tt_sqlite_drop_segment(sealer->db, sealer->path, chosen->segment.id, error));
  TT_TRY(write_segment(sealer, chosen, sealed, error));
  const tt_list *ids = tt_sqlite_packing_ids(sealer->packing);
  if (!tt_list_add(&sealer->ids, ids->data, ids->len))
    return tt_fail(error, TT_NOMEM, "%s: out of memory", sealer->path);
  if (!chosen->has_segment || upto >= chosen->segment.last) return TT_OK;
  tt_sqlite_packing_clear(sealer->packing);
  TT_TRY(add_sealed(sealer, chosen, upto + 1, chosen->segment.last, error));
  return write_segment(sealer, chosen, sealed, error);
}

/** Packs a segment of the epoch whose row came first. */
static tt_status seal_one(tt_sqlite_sealer *sealer, int64_t before, tt_store_sealed *sealed,
                          tt_error *error) {
  const uint32_t index = first_head(sealer);
  stretch chosen;
  tt_sqlite_scan *scan;
  TT_TRY(choose(sealer, &tt_list_at(&sealer->heads, head, index), &chosen, error));
  const tt_store_range range = {.device = chosen.device,
                                .epoch = chosen.epoch,
                                .device_from = chosen.from,
                                .device_to = chosen.to,
                                .from = INT64_MIN,
                                .to = INT64_MAX};
  int64_t upto = chosen.from;
  tt_sqlite_packing_clear(sealer->packing);
  sealer->piece.segment.id = 0;
  TT_TRY(tt_sqlite_scan_open(sealer->db, sealer->path, sealer->pieces, &range, &scan, error));
  tt_status status = gather(sealer, &chosen, scan, &upto, error);
  tt_sqlite_scan_close(scan);
  if (status == TT_OK && tt_sqlite_packing_ids(sealer->packing)->len)
    status = replace(sealer, &chosen, upto, sealed, error);
  return status == TT_OK ? advance(sealer, index, upto, before, error) : status;
}

static int64_t done_until(const tt_sqlite_sealer *sealer, int64_t before) {
  int64_t until = before;
  for (uint32_t i = 0; i < sealer->heads.len; i++) {
    const head *at = &tt_list_at(&sealer->heads, head, i);
    int64_t time = tt_saturating_add(at->device_time, at->anchor);
    if (time < until) until = time;
  }
  return until;
}

static tt_status seal_some(tt_sqlite_sealer *sealer, const tt_store_sealing *sealing,
                           tt_store_sealed *sealed, tt_error *error) {
  const int64_t end = tt_saturating_add(tt_monotonic_us(), sealing->budget);
  bool any;
  TT_TRY(tt_sqlite_segment_any(sealer->pieces, &any, error));
  tt_list_cut(&sealer->ids, 0);
  if (!sealer->heads.len) TT_TRY(find_heads(sealer, sealing->before, error));
  while (sealer->heads.len) {
    TT_TRY(seal_one(sealer, sealing->before, sealed, error));
    if (tt_monotonic_us() >= end) break;
  }
  TT_TRY(drop_rows(sealer, error));
  if (!any && sealed->values) TT_TRY(tt_sqlite_show_packed(sealer->db, sealer->path, true, error));
  sealed->until = done_until(sealer, sealing->before);
  return TT_OK;
}

tt_status tt_sqlite_seal(tt_sqlite_sealer *sealer, const tt_store_sealing *sealing,
                         tt_store_sealed *sealed, tt_error *error) {
  *sealed = (tt_store_sealed){0};
  TT_TRY(tt_sqlite_execute(sealer->db, sealer->path, "BEGIN IMMEDIATE", error));
  tt_status status = seal_some(sealer, sealing, sealed, error);
  if (status == TT_OK) status = tt_sqlite_execute(sealer->db, sealer->path, "COMMIT", error);
  if (status != TT_OK) {
    tt_list_cut(&sealer->heads, 0);  // what they say may be undone
    if (!sqlite3_get_autocommit(sealer->db)) sqlite3_exec(sealer->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
  }
  return sealer->heads.len ? TT_AGAIN : TT_OK;
}
