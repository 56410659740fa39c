/* purge.c: old values out of rows and segments.
 *
 * Of a segment a column that is old goes as a whole, which costs hardly anything. One that is old in part is packed anew; of
 * one attribute, whose values grow old all the time, not before an eighth of it is.
 */
#include "store/sqlite/purge.h"

#include "database/sqlite_link.h"
#include "store/map.h"
#include "store/sqlite/cut.h"
#include "store/sqlite/packing.h"

#include <stdlib.h>

/** How much is noted in each of the maps, which is some 17 MB: epochs have no end. */
#define MOST_NOTED (1 << 18)
/** How often there is no room for a note until all are forgotten, since some may be of what is gone: so rarely that it costs little. */
#define MOST_LEFT_OUT (16 * MOST_NOTED)

typedef enum statement { NEXT_EPOCH, OLD_SAMPLES, STATEMENT_COUNT } statement;

#define FIRST_OF(table)                                                                            \
  "SELECT * FROM (SELECT epoch FROM " table                                                        \
  " WHERE device = ?1 AND epoch >= ?2 ORDER BY epoch LIMIT 1)"

static const char *const statement_texts[STATEMENT_COUNT] = {
    // Of which something is stored: those that are empty may be many.
    [NEXT_EPOCH] = ("SELECT next, (SELECT offset_high FROM boot WHERE device = ?1 AND epoch = next)"
                    " FROM (SELECT min(epoch) AS next FROM (" FIRST_OF(
                        "sample") " UNION ALL " FIRST_OF("segment") ")) WHERE next IS NOT NULL"),
    [OLD_SAMPLES] = ("SELECT id, device_time, time FROM sample WHERE device = ?1 AND epoch = ?2"
                     " AND device_time >= ?3 AND device_time < ?4 ORDER BY device_time LIMIT ?5"),
};

/** How far rows are done, or segments. */
typedef struct progress {
  tt_map noted; /**< device and epoch, attribute → device time up to which all has been done */
  int64_t here; /**< that of the epoch in hand, which goes on without a note, too */
} progress;

/** What one call has done, noted once that is committed. */
typedef struct note {
  tt_map *done;
  tt_map_key key;
  int64_t until; /**< INT64_MIN: it is looked through once more */
} note;

struct tt_sqlite_purger {
  sqlite3 *db;
  const char *path;
  sqlite3_stmt *statements[STATEMENT_COUNT];
  tt_sqlite_pieces *pieces;
  tt_sqlite_marks *marks;
  progress rows, segments;
  tt_map most;          /**< device and epoch → device time behind which nothing has been done */
  tt_list notes;        /**< note: of the call in hand, one of each epoch */
  uint32_t left_out;    /**< how often there was no room for a note */
  tt_list attributes;   /**< int32_t: those of which something has been… */
  tt_map listed;        /**< …found by themselves */
  tt_store_purge purge; /**< the one in hand… */
  bool under_way;       /**< …if there is one… */
  int64_t next;         /**< …and the epoch from which it goes on */
  tt_sqlite_packing *packing;
  tt_sqlite_piece piece;
  tt_sqlite_cutter *cutter;
};

/** What is removed of one epoch in one call. */
typedef struct purging {
  const tt_store_purge *purge;
  int epoch;
  int64_t before; /**< µs of the device's clock */
  int *removed;
  int looked; /**< samples… */
  bool vain;  /**< …some of which are still there, the last time */
} purging;

static tt_status fail(const tt_sqlite_purger *purger, const char *what, tt_error *error) {
  return tt_sqlite_fail(purger->db, purger->path, what, error);
}

tt_status tt_sqlite_purger_open(sqlite3 *db, const char *path, tt_sqlite_pieces *pieces,
                                tt_sqlite_marks *marks, tt_sqlite_purger **out, tt_error *error) {
  tt_sqlite_purger *purger = calloc(1, sizeof *purger);
  if (!purger) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  *purger = (tt_sqlite_purger){.db = db,
                               .path = path,
                               .pieces = pieces,
                               .marks = marks,
                               .notes = TT_LIST(note, NULL),
                               .attributes = TT_LIST(int32_t, NULL)};
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    if (sqlite3_prepare_v3(db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                           &purger->statements[i], NULL) == SQLITE_OK)
      continue;
    tt_status status = fail(purger, "can't prepare", error);
    tt_sqlite_purger_close(purger);
    return status;
  }
  tt_status status = tt_sqlite_packing_open(db, path, &purger->packing, error);
  if (status == TT_OK) status = tt_sqlite_cutter_open(db, path, &purger->cutter, error);
  if (status == TT_OK)
    *out = purger;
  else
    tt_sqlite_purger_close(purger);
  return status;
}

void tt_sqlite_purger_close(tt_sqlite_purger *purger) {
  if (!purger) return;
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(purger->statements[i]);
  tt_sqlite_purger_forget(purger);
  tt_list_free(&purger->notes);
  tt_sqlite_packing_close(purger->packing);
  tt_sqlite_piece_free(&purger->piece);
  tt_sqlite_cutter_close(purger->cutter);
  free(purger);
}

/* --- how far it is --- */

static int64_t epoch_of(int device, int epoch) { return (int64_t)device << 32 | epoch; }

static tt_map_key key_of(const purging *work) {
  return (tt_map_key){epoch_of(work->purge->device, work->epoch), work->purge->attribute};
}

static int64_t done_until(const progress *done, const purging *work) {
  const int64_t *known = tt_map_get(&done->noted, key_of(work));
  return known && *known > done->here ? *known : done->here;
}

/** False: out of memory. */
static bool note_attribute(tt_sqlite_purger *purger, int32_t attribute) {
  const tt_map_key key = {attribute, 0};
  return tt_map_get(&purger->listed, key) ||
         (tt_list_reserve(&purger->attributes, 1) && tt_map_put(&purger->listed, key, 1) &&
          tt_list_add(&purger->attributes, &attribute, 1));
}

/** False: out of memory. */
static bool note_most(tt_sqlite_purger *purger, int64_t epoch, int64_t until) {
  const int64_t *most = tt_map_get(&purger->most, (tt_map_key){epoch, 0});
  return (most && *most >= until) || tt_map_put(&purger->most, (tt_map_key){epoch, 0}, until);
}

/** All is looked through once more; what is under way goes on. */
static void forget_done(tt_sqlite_purger *purger) {
  tt_map_clear(&purger->rows.noted);
  tt_map_clear(&purger->segments.noted);
  tt_map_clear(&purger->most);
  tt_map_clear(&purger->listed);
  tt_list_free(&purger->attributes);
  purger->left_out = 0;
}

static bool has_room(const tt_map *map, tt_map_key key) {
  return map->count < MOST_NOTED || tt_map_get(map, key);
}

/** Notes what go_back() needs to know. False: out of memory, or there are as many notes as there may be. Those that are there stay: they
 *  are needed in the order in which they were made, so each would be gone just before. */
static bool note_more(tt_sqlite_purger *purger, const tt_map *done, tt_map_key key, int64_t until) {
  if (!has_room(done, key) || !has_room(&purger->most, (tt_map_key){key.a, 0})) {
    if (++purger->left_out < MOST_LEFT_OUT) return false;
    forget_done(purger);
  }
  return note_attribute(purger, (int32_t)key.b) && note_most(purger, key.a, until);
}

/** What isn't noted is looked through once more; so is all there is, of which there will be more the next time. Where all
 *  attributes are removed, nothing stays that would be looked at in vain. Epochs are many: of one that had nothing, or in which all
 *  that was looked at had something to remove, nothing may be left the next time. Where others keep what is old, each is noted. */
static void note_done(tt_sqlite_purger *purger, progress *done, const purging *work, int64_t until,
                      bool more) {
  const tt_map_key key = key_of(work);
  if (!tt_map_get(&done->noted, key) && !more && !work->vain) return;
  const bool again = work->purge->attribute < 0 || (!more && work->purge->before == INT64_MAX);
  const note made = {&done->noted, key, again ? INT64_MIN : until};
  if (more) done->here = made.until;
  tt_list_add(&purger->notes, &made, 1);  // out of memory: what was noted before is true, too
}

static void keep_note(tt_sqlite_purger *purger, const note *made) {
  const bool again =
      made->until == INT64_MIN || !note_more(purger, made->done, made->key, made->until);
  int64_t *known = tt_map_get(made->done, made->key);
  if (known)
    *known = again ? INT64_MIN : made->until;
  else if (!again)
    tt_map_put(made->done, made->key, made->until);
}

/** What was done is committed. */
static void keep_notes(tt_sqlite_purger *purger) {
  for (uint32_t i = 0; i < purger->notes.len; i++)
    keep_note(purger, &tt_list_at(&purger->notes, note, i));
}

void tt_sqlite_purger_forget(tt_sqlite_purger *purger) {
  forget_done(purger);
  purger->under_way = false;
}

static void lower(int64_t *done, int64_t until) {
  if (done && *done > until) *done = until;
}

/** What came late is still to be done. */
static void go_back(tt_sqlite_purger *purger, int64_t epoch, int64_t device_time) {
  if (epoch == epoch_of(purger->purge.device, (int)purger->next)) {
    lower(&purger->rows.here, device_time);
    lower(&purger->segments.here, device_time);
  }
  const int64_t *most = tt_map_get(&purger->most, (tt_map_key){epoch, 0});
  for (uint32_t i = 0; most && device_time < *most && i < purger->attributes.len; i++) {
    const tt_map_key key = {epoch, tt_list_at(&purger->attributes, int32_t, i)};
    lower(tt_map_get(&purger->rows.noted, key), device_time);
    lower(tt_map_get(&purger->segments.noted, key), device_time);
  }
}

void tt_sqlite_purger_came(tt_sqlite_purger *purger, const tt_store_batch *batch) {
  const tt_store_sample *least = NULL;  // of those of one epoch behind each other
  for (uint32_t i = 0; i < batch->samples.len && (purger->most.count || purger->under_way); i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    const bool other = least && (sample->device != least->device || sample->epoch != least->epoch);
    if (other) go_back(purger, epoch_of(least->device, least->epoch), least->device_time);
    if (!least || other || sample->device_time < least->device_time) least = sample;
  }
  if (least) go_back(purger, epoch_of(least->device, least->epoch), least->device_time);
}

/* --- rows --- */

/** Removes what is asked for of a row. */
static tt_status purge_row(tt_sqlite_purger *purger, purging *work, int64_t id, int64_t utc,
                           tt_error *error) {
  const int before = *work->removed;
  TT_TRY(tt_sqlite_cut_row(purger->cutter, id, work->purge->attribute, work->removed, error));
  if (*work->removed != before)
    return tt_sqlite_mark(purger->marks, work->purge->device, utc, error);
  work->vain = true;
  return TT_OK;
}

/** Looks at old rows of one epoch from where it last stopped. */
static tt_status purge_rows(tt_sqlite_purger *purger, purging *work, tt_error *error) {
  const int64_t done = done_until(&purger->rows, work);
  sqlite3_stmt *old = purger->statements[OLD_SAMPLES];
  sqlite3_bind_int(old, 1, work->purge->device + 1);
  sqlite3_bind_int(old, 2, work->epoch);
  sqlite3_bind_int64(old, 3, done);
  sqlite3_bind_int64(old, 4, work->before);
  sqlite3_bind_int(old, 5, work->purge->limit);
  int looked = 0, result = SQLITE_DONE;
  int64_t first = 0, last = work->before;
  tt_status status = TT_OK;
  work->vain = false;
  while (status == TT_OK && (result = sqlite3_step(old)) == SQLITE_ROW) {
    int64_t time = sqlite3_column_int64(old, 1);
    if (!looked++) first = time;
    last = time > first ? time : time + 1;  // there may be more rows of this moment
    status =
        purge_row(purger, work, sqlite3_column_int64(old, 0), sqlite3_column_int64(old, 2), error);
  }
  sqlite3_reset(old);
  if (status != TT_OK) return status;
  if (result != SQLITE_DONE) return fail(purger, "can't read", error);
  work->looked += looked;
  bool more = looked == work->purge->limit;
  if (!more) last = work->before > done ? work->before : done;
  note_done(purger, &purger->rows, work, last, more);
  return more ? TT_AGAIN : TT_OK;
}

/* --- segments --- */

/** Marks the hours of the first rows of the piece. */
static tt_status mark_rows(tt_sqlite_purger *purger, int device, uint32_t count, tt_error *error) {
  for (uint32_t row = 0; row < count; row++)
    TT_TRY(tt_sqlite_mark(purger->marks, device,
                          tt_list_at(&purger->piece.moments, tt_column_moment, row).time, error));
  return TT_OK;
}

/** Removes whole records of the piece: what stays becomes a segment of its own. */
static tt_status purge_records(tt_sqlite_purger *purger, const purging *work, tt_sqlite_rows old,
                               tt_error *error) {
  const tt_sqlite_piece *piece = &purger->piece;
  uint64_t values = 0, bytes = 0;
  if (old.to == old.from && piece->columns.len) return TT_OK;
  for (uint32_t i = 0; i < piece->columns.len; i++)
    *work->removed += (int)tt_list_at(&piece->columns, tt_sqlite_column, i).column.values.len;
  tt_sqlite_packing_clear(purger->packing);
  TT_TRY(tt_sqlite_packing_add_rows(purger->packing, piece,
                                    (tt_sqlite_rows){old.to, piece->moments.len}, error));
  TT_TRY(tt_sqlite_drop_segment(purger->db, purger->path, piece->segment.id, error));
  TT_TRY(tt_sqlite_packing_write(purger->packing, work->purge->device, work->epoch, &values, &bytes,
                                 error));
  *work->removed -= (int)values;
  return TT_OK;
}

static bool is_old(const void *context, const tt_sqlite_piece *piece, uint32_t row) {
  (void)piece;
  const tt_sqlite_rows *old = context;
  return row < old->to;
}

static tt_status purge_segment(tt_sqlite_purger *purger, purging *work,
                               const tt_sqlite_segment *segment, tt_error *error) {
  const int attribute = work->purge->attribute;
  TT_TRY(tt_sqlite_piece_load(purger->pieces, segment, &attribute, attribute >= 0, &purger->piece,
                              error));
  work->vain |= segment->last >= work->before || !purger->piece.columns.len;
  const tt_sqlite_rows old = tt_sqlite_piece_rows(&purger->piece, INT64_MIN, work->before - 1);
  TT_TRY(mark_rows(purger, work->purge->device, old.to, error));
  if (attribute < 0) return purge_records(purger, work, old, error);
  return tt_sqlite_cut_columns(purger->cutter, &purger->piece, is_old, &old, work->removed, error);
}

/** Whether enough of a segment is old to have it packed anew. */
static bool is_due(const purging *work, const tt_sqlite_segment *segment, int64_t done) {
  if (segment->last < work->before || work->purge->attribute < 0 || done == INT64_MIN) return true;
  const int64_t from = done > segment->first ? done : segment->first;
  return (work->before - from) >= (segment->last - segment->first) / 8;
}

/** Looks at segments of one epoch that begin before, from where it last stopped. */
static tt_status purge_segments(tt_sqlite_purger *purger, purging *work, tt_error *error) {
  int64_t done = done_until(&purger->segments, work), at = done;
  const int end = work->looked + work->purge->limit;
  tt_sqlite_segment segment;
  work->vain = false;
  for (; work->looked < end; work->looked += (int)segment.rows) {
    tt_status status = tt_sqlite_segment_after(purger->pieces, work->purge->device, work->epoch, at,
                                               &segment, error);
    if (status != TT_OK && status != TT_NOT_FOUND) return status;
    if (status == TT_NOT_FOUND || segment.first >= work->before) {
      note_done(purger, &purger->segments, work, done, false);
      return TT_OK;
    }
    const bool due = is_due(work, &segment, done);
    work->vain |= !due;
    if (due) {
      TT_TRY(purge_segment(purger, work, &segment, error));
      done = segment.last < work->before ? segment.last : work->before;
    }
    if (segment.last >= work->before) {
      note_done(purger, &purger->segments, work, done, false);
      return TT_OK;
    }
    at = segment.last + 1;
  }
  note_done(purger, &purger->segments, work, at, true);
  return TT_AGAIN;
}

/* --- both --- */

/** The next epoch, from `from` on. TT_END: there is none. */
static tt_status next_epoch(tt_sqlite_purger *purger, purging *work, int64_t from,
                            tt_error *error) {
  sqlite3_stmt *next = purger->statements[NEXT_EPOCH];
  sqlite3_bind_int(next, 1, work->purge->device + 1);
  sqlite3_bind_int64(next, 2, from);
  const int result = sqlite3_step(next);
  work->epoch = sqlite3_column_int(next, 0);
  const bool known = sqlite3_column_type(next, 1) != SQLITE_NULL;
  const int64_t high = sqlite3_column_int64(next, 1);
  sqlite3_reset(next);
  if (result == SQLITE_DONE) return TT_END;
  if (result != SQLITE_ROW) return fail(purger, "can't read", error);
  // Every sample before this device time was taken before `before`.
  if (!known)
    work->before = INT64_MIN;
  else if (work->purge->before == INT64_MAX ||
           __builtin_sub_overflow(work->purge->before, high, &work->before))
    work->before = INT64_MAX;
  return TT_OK;
}

static tt_status purge_epoch(tt_sqlite_purger *purger, purging *work, tt_error *error) {
  const tt_status rows = purge_rows(purger, work, error);
  if (rows != TT_OK && rows != TT_AGAIN) return rows;
  const tt_status segments = purge_segments(purger, work, error);
  return segments == TT_OK ? rows : segments;
}

static bool is_same(const tt_store_purge *a, const tt_store_purge *b) {
  return a->device == b->device && a->attribute == b->attribute && a->before == b->before;
}

/** Of the epoch nothing is done but what is noted. */
static void go_to(tt_sqlite_purger *purger, int64_t epoch) {
  purger->next = epoch;
  purger->rows.here = INT64_MIN;
  purger->segments.here = INT64_MIN;
}

/** One epoch after the other, from where the same was left. */
static tt_status purge_epochs(tt_sqlite_purger *purger, const tt_store_purge *purge, int *removed,
                              tt_error *error) {
  if (!purger->under_way || !is_same(&purger->purge, purge)) go_to(purger, INT64_MIN);
  purger->purge = *purge;
  purger->under_way = true;
  for (int looked = 0; looked < purge->limit;) {
    purging work = {.purge = purge, .removed = removed};
    tt_status status = next_epoch(purger, &work, purger->next, error);
    if (status == TT_END) {
      purger->under_way = false;
      return TT_OK;
    }
    TT_TRY(status);
    if (work.epoch != purger->next) go_to(purger, work.epoch);
    TT_TRY(purge_epoch(purger, &work, error));
    go_to(purger, work.epoch + 1LL);
    looked += work.looked + TT_SQLITE_EPOCH_COST;
  }
  return TT_AGAIN;
}

tt_status tt_sqlite_purge(tt_sqlite_purger *purger, const tt_store_purge *purge, int *removed,
                          tt_error *error) {
  *removed = 0;
  tt_list_cut(&purger->notes, 0);
  TT_TRY(tt_sqlite_execute(purger->db, purger->path, "BEGIN IMMEDIATE", error));
  tt_sqlite_marks_begin(purger->marks);
  tt_status status = purge_epochs(purger, purge, removed, error);
  if (status == TT_OK || status == TT_AGAIN) {
    const tt_status committed = tt_sqlite_execute(purger->db, purger->path, "COMMIT", error);
    if (committed == TT_OK) {
      keep_notes(purger);
      return status;
    }
    status = committed;
  }
  if (!sqlite3_get_autocommit(purger->db)) sqlite3_exec(purger->db, "ROLLBACK", NULL, NULL, NULL);
  purger->under_way = false;
  tt_sqlite_marks_forget(purger->marks);
  *removed = 0;
  return status;
}
