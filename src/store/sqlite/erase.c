/* erase.c: removes what was measured in a span, exactly, in steps: of each epoch the rows, then the segments. Of a segment
 * that lies within the span whole columns go; others are packed anew without what is to go.
 */
#include "store/sqlite/erase.h"

#include "base/saturate.h"
#include "database/sqlite_link.h"
#include "store/sqlite/cut.h"

#include <stdlib.h>

typedef enum statement { NEXT_EPOCH, NEXT_ROWS, STATEMENT_COUNT } statement;

static const char *const statement_texts[STATEMENT_COUNT] = {
    [NEXT_EPOCH] =
        ("SELECT epoch, offset_low, offset_high FROM boot WHERE device = ?1 AND epoch >= ?2"
         " ORDER BY epoch LIMIT 1"),
    [NEXT_ROWS] = ("SELECT id, device_time, nth, time FROM sample WHERE device = ?1 AND epoch = ?2"
                   " AND (device_time, nth) >= (?3, ?4) AND device_time <= ?5"
                   " ORDER BY device_time, nth LIMIT ?6"),
};

/** Where it goes on: the first row, or the first moment of a segment, that was not looked at. */
typedef struct place {
  int epoch;
  bool sealed; /**< its rows are done */
  int64_t device_time, nth;
} place;

struct tt_sqlite_eraser {
  sqlite3 *db;
  const char *path;
  sqlite3_stmt *statements[STATEMENT_COUNT];
  tt_store_purge purge; /**< the one in hand… */
  bool under_way;       /**< …if there is one */
  place place;
  tt_sqlite_pieces *pieces;
  tt_sqlite_marks *marks;
  tt_sqlite_piece piece;
  tt_sqlite_cutter *cutter;
};

static tt_status fail(const tt_sqlite_eraser *eraser, const char *what, tt_error *error) {
  return tt_sqlite_fail(eraser->db, eraser->path, what, error);
}

tt_status tt_sqlite_eraser_open(sqlite3 *db, const char *path, tt_sqlite_pieces *pieces,
                                tt_sqlite_marks *marks, tt_sqlite_eraser **out, tt_error *error) {
  tt_sqlite_eraser *eraser = calloc(1, sizeof *eraser);
  if (!eraser) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  *eraser = (tt_sqlite_eraser){.db = db, .path = path, .pieces = pieces, .marks = marks};
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    if (sqlite3_prepare_v3(db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                           &eraser->statements[i], NULL) == SQLITE_OK)
      continue;
    tt_status status = fail(eraser, "can't prepare", error);
    tt_sqlite_eraser_close(eraser);
    return status;
  }
  tt_status status = tt_sqlite_cutter_open(db, path, &eraser->cutter, error);
  if (status == TT_OK)
    *out = eraser;
  else
    tt_sqlite_eraser_close(eraser);
  return status;
}

void tt_sqlite_eraser_close(tt_sqlite_eraser *eraser) {
  if (!eraser) return;
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(eraser->statements[i]);
  tt_sqlite_piece_free(&eraser->piece);
  tt_sqlite_cutter_close(eraser->cutter);
  free(eraser);
}

/** µs UTC. */
static bool is_within(const tt_sqlite_eraser *eraser, int64_t time) {
  return time >= eraser->purge.from && time < eraser->purge.before;
}

/* --- rows --- */

/** Rows of one epoch from the place on, at most `*left`. TT_END: there are no more in it. */
static tt_status erase_rows(tt_sqlite_eraser *eraser, int64_t device_before, int *left,
                            int *removed, tt_error *error) {
  const tt_store_purge *purge = &eraser->purge;
  sqlite3_stmt *rows = eraser->statements[NEXT_ROWS];
  sqlite3_bind_int(rows, 1, purge->device + 1);
  sqlite3_bind_int(rows, 2, eraser->place.epoch);
  sqlite3_bind_int64(rows, 3, eraser->place.device_time);
  sqlite3_bind_int64(rows, 4, eraser->place.nth);
  sqlite3_bind_int64(rows, 5, device_before);
  sqlite3_bind_int(rows, 6, *left);
  tt_status status = TT_OK;
  int result = SQLITE_DONE;
  while (status == TT_OK && (result = sqlite3_step(rows)) == SQLITE_ROW) {
    --*left;
    eraser->place.device_time = sqlite3_column_int64(rows, 1);
    eraser->place.nth = sqlite3_column_int64(rows, 2) + 1;
    const int64_t time = sqlite3_column_int64(rows, 3);
    if (!is_within(eraser, time)) continue;
    status = tt_sqlite_mark(eraser->marks, purge->device, time, error);
    if (status == TT_OK)
      status = tt_sqlite_cut_row(eraser->cutter, sqlite3_column_int64(rows, 0), purge->attribute,
                                 removed, error);
  }
  sqlite3_reset(rows);
  if (status == TT_OK && result != SQLITE_DONE) status = fail(eraser, "can't read", error);
  return status == TT_OK && *left > 0 ? TT_END : status;
}

/* --- segments --- */

static bool goes(const void *context, const tt_sqlite_piece *piece, uint32_t row) {
  return is_within(context, tt_list_at(&piece->moments, tt_column_moment, row).time);
}

/** The hours in which something goes. */
static tt_status mark_piece(tt_sqlite_eraser *eraser, tt_error *error) {
  const tt_list *moments = &eraser->piece.moments;
  for (uint32_t i = 0; i < moments->len; i++) {
    const int64_t time = tt_list_at(moments, tt_column_moment, i).time;
    if (is_within(eraser, time))
      TT_TRY(tt_sqlite_mark(eraser->marks, eraser->purge.device, time, error));
  }
  return TT_OK;
}

static tt_status erase_segment(tt_sqlite_eraser *eraser, const tt_sqlite_segment *segment,
                               int *removed, tt_error *error) {
  const int attribute = eraser->purge.attribute;
  TT_TRY(tt_sqlite_piece_load(eraser->pieces, segment, &attribute, attribute >= 0, &eraser->piece,
                              error));
  TT_TRY(mark_piece(eraser, error));
  return tt_sqlite_cut_columns(eraser->cutter, &eraser->piece, goes, eraser, removed, error);
}

/** Segments of one epoch from the place on, of about `*left` rows. TT_END: there are no more in it. */
static tt_status erase_segments(tt_sqlite_eraser *eraser, int64_t device_before, int *left,
                                int *removed, tt_error *error) {
  while (*left > 0) {
    tt_sqlite_segment segment;
    tt_status status =
        tt_sqlite_segment_after(eraser->pieces, eraser->purge.device, eraser->place.epoch,
                                eraser->place.device_time, &segment, error);
    if (status == TT_NOT_FOUND || (status == TT_OK && segment.first > device_before)) return TT_END;
    TT_TRY(status);
    if (segment.time_last >= eraser->purge.from && segment.time_first < eraser->purge.before) {
      TT_TRY(erase_segment(eraser, &segment, removed, error));
      *left -= (int)segment.rows;
    }
    if (segment.last == INT64_MAX) return TT_END;
    eraser->place.device_time = segment.last + 1;
  }
  return TT_OK;
}

/* --- both --- */

/** The next epoch from the place's on. TT_END: there is none. */
static tt_status next_epoch(tt_sqlite_eraser *eraser, int *epoch, int64_t *low, int64_t *high,
                            tt_error *error) {
  sqlite3_stmt *next = eraser->statements[NEXT_EPOCH];
  sqlite3_bind_int(next, 1, eraser->purge.device + 1);
  sqlite3_bind_int(next, 2, eraser->place.epoch);
  int result = sqlite3_step(next);
  *epoch = sqlite3_column_int(next, 0);
  *low = sqlite3_column_int64(next, 1);
  *high = sqlite3_column_int64(next, 2);
  sqlite3_reset(next);
  if (result == SQLITE_DONE) return TT_END;
  return result == SQLITE_ROW ? TT_OK : fail(eraser, "can't read", error);
}

/** A record's time is its device time and something between the epoch's offsets. */
static tt_status erase_some(tt_sqlite_eraser *eraser, int *removed, tt_error *error) {
  for (int left = eraser->purge.limit; left > 0; left -= TT_SQLITE_EPOCH_COST) {
    int epoch;
    int64_t low, high;
    TT_TRY(next_epoch(eraser, &epoch, &low, &high, error));
    const int64_t first = tt_saturating_sub(eraser->purge.from, high);
    const int64_t last = tt_saturating_sub(eraser->purge.before, low);
    if (epoch != eraser->place.epoch)
      eraser->place = (place){.epoch = epoch, .device_time = INT64_MIN};
    if (eraser->place.device_time < first) eraser->place.device_time = first;
    if (!eraser->place.sealed) {
      tt_status status = erase_rows(eraser, last, &left, removed, error);
      if (status != TT_END) return status == TT_OK ? TT_AGAIN : status;
      eraser->place = (place){.epoch = epoch, .sealed = true, .device_time = first};
    }
    tt_status status = erase_segments(eraser, last, &left, removed, error);
    if (status != TT_END) return status == TT_OK ? TT_AGAIN : status;
    eraser->place = (place){.epoch = epoch + 1, .device_time = INT64_MIN};
  }
  return TT_AGAIN;
}

static bool is_same(const tt_store_purge *a, const tt_store_purge *b) {
  return a->device == b->device && a->attribute == b->attribute && a->from == b->from &&
         a->before == b->before;
}

tt_status tt_sqlite_erase(tt_sqlite_eraser *eraser, const tt_store_purge *purge, int *removed,
                          tt_error *error) {
  if (!eraser->under_way || !is_same(&eraser->purge, purge))
    eraser->place = (place){.epoch = 0, .device_time = INT64_MIN};
  eraser->purge = *purge;
  const place before = eraser->place;
  *removed = 0;
  TT_TRY(tt_sqlite_execute(eraser->db, eraser->path, "BEGIN IMMEDIATE", error));
  tt_sqlite_marks_begin(eraser->marks);
  tt_status status = erase_some(eraser, removed, error);
  if (status == TT_END) status = TT_OK;
  tt_status committed = TT_OK;
  if (status == TT_OK || status == TT_AGAIN)
    committed = tt_sqlite_execute(eraser->db, eraser->path, "COMMIT", error);
  if (committed != TT_OK) status = committed;
  eraser->under_way = status == TT_AGAIN;
  if (status == TT_OK || status == TT_AGAIN) return status;
  sqlite3_exec(eraser->db, "ROLLBACK", NULL, NULL, NULL);
  tt_sqlite_marks_forget(eraser->marks);
  eraser->place = before;
  *removed = 0;
  return status;
}
