/* samples.c: samples of a batch into the file, each value once.
 *
 * Nearly every sample is the first of its moment: one row of `sample`, and rows of `value` that many samples have written by
 * one statement. What is there already is looked at only where the row of the moment is not new.
 */
#include "store/map.h"
#include "store/sqlite/internal.h"
#include "store/sqlite/newest.h"
#include "store/sqlite/passed.h"

#include <stdlib.h>

typedef enum statement {
  PUT_SAMPLE,
  PUT_VALUE,
  PUT_VALUES,
  LAST_OF_MOMENT,
  VALUES_OF_MOMENT,
  ROWS_OF_MOMENT,
  COUNT_EPOCHS,
  BOOT_OF_EPOCH,
  STATEMENT_COUNT
} statement;

/** Values that one statement writes: what it costs to begin and end one is most of what a row costs. */
#define ROWS_TOGETHER 16
#define ROW "(?, ?, ?)"
#define FOUR_ROWS ROW ", " ROW ", " ROW ", " ROW
#define MOMENT "device = ?1 AND epoch = ?2 AND device_time = ?3"

static const char *const statement_texts[STATEMENT_COUNT] = {
    [PUT_SAMPLE] =
        "INSERT OR IGNORE INTO sample (device, epoch, device_time, nth, seq, time)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    // OR FAIL: else SQLite notes what it takes to undo each statement, though all is undone where one fails.
    [PUT_VALUE] = "INSERT OR FAIL INTO value VALUES " ROW,
    [PUT_VALUES] =
        "INSERT OR FAIL INTO value VALUES " FOUR_ROWS ", " FOUR_ROWS ", " FOUR_ROWS ", " FOUR_ROWS,
    [LAST_OF_MOMENT] = "SELECT max(nth) FROM sample WHERE " MOMENT,
    [VALUES_OF_MOMENT] =
        "SELECT s.nth, v.value = ?6 FROM sample s CROSS JOIN value v ON v.sample = s.id"
        " AND v.attribute = ?7 WHERE s." MOMENT " AND s.nth > ?4 AND s.seq IS ?5",
    [ROWS_OF_MOMENT] =
        "SELECT nth, id, time FROM sample WHERE " MOMENT " AND nth > ?4 AND seq IS ?5 ORDER BY nth",
    [COUNT_EPOCHS] = "SELECT count(*) FROM boot WHERE device = ?1",
    [BOOT_OF_EPOCH] = "SELECT boot FROM boot WHERE device = ?1 AND epoch = ?2",
};

/** What is sealed of a moment; without a piece nothing is. */
typedef struct sealed_moment {
  tt_sqlite_piece *piece;
  tt_sqlite_rows rows;
} sealed_moment;

struct tt_sqlite_samples {
  sqlite3 *db;
  const char *path;
  sqlite3_stmt *statements[STATEMENT_COUNT];
  tt_sqlite_finder finder;
  tt_sqlite_passed passed;
  tt_sqlite_newest newest;
  tt_sqlite_marks *marks;
  tt_map epochs; /**< device → how many it has; 0 or none: not known */
  tt_map sealed; /**< device, epoch → device time up to which it is sealed */
  tt_map_key sealed_key;
  int64_t sealed_until; /**< of that epoch, the one looked at last */
  bool any_sealed, known_sealed;
  tt_list new; /**< uint32_t: values of the sample in hand that are not there yet */

  const tt_store_batch *batch;
  /** Values gathered, of one sample or several, until there are enough for one statement. */
  struct {
    sqlite3_int64 samples[ROWS_TOGETHER]; /**< ids */
    const tt_store_value *values[ROWS_TOGETHER];
    int count;
  } rows;
};

static tt_status fail(const tt_sqlite_samples *samples, const char *what, tt_error *error) {
  return tt_sqlite_fail(samples->db, samples->path, what, error);
}

/** Runs a prepared statement that gives no rows. */
static tt_status run(tt_sqlite_samples *samples, statement which, tt_error *error) {
  int result = sqlite3_step(samples->statements[which]);
  sqlite3_reset(samples->statements[which]);
  return result == SQLITE_DONE ? TT_OK : fail(samples, "can't write", error);
}

/* --- rows of values --- */

static void bind_row(tt_sqlite_samples *samples, statement which, int row, int first) {
  sqlite3_stmt *put = samples->statements[which];
  const tt_store_value *value = samples->rows.values[row];
  sqlite3_bind_int64(put, first, samples->rows.samples[row]);
  sqlite3_bind_int(put, first + 1, value->attribute + 1);
  tt_sqlite_bind_value(put, first + 2, samples->batch, value);
}

/** Writes what is gathered. */
static tt_status flush(tt_sqlite_samples *samples, tt_error *error) {
  int count = samples->rows.count;
  samples->rows.count = 0;
  if (count == ROWS_TOGETHER) {
    for (int i = 0; i < count; i++) bind_row(samples, PUT_VALUES, i, 3 * i + 1);
    return run(samples, PUT_VALUES, error);
  }
  for (int i = 0; i < count; i++) {
    bind_row(samples, PUT_VALUE, i, 1);
    TT_TRY(run(samples, PUT_VALUE, error));
  }
  return TT_OK;
}

static tt_status gather(tt_sqlite_samples *samples, sqlite3_int64 sample, uint32_t value,
                        tt_error *error) {
  int row = samples->rows.count++;
  samples->rows.samples[row] = sample;
  samples->rows.values[row] = &tt_list_at(&samples->batch->values, tt_store_value, value);
  return samples->rows.count < ROWS_TOGETHER ? TT_OK : flush(samples, error);
}

/* --- a sample --- */

static void bind_moment(sqlite3_stmt *prepared, const tt_store_sample *sample) {
  sqlite3_bind_int(prepared, 1, sample->device + 1);
  sqlite3_bind_int(prepared, 2, sample->epoch);
  sqlite3_bind_int64(prepared, 3, sample->device_time);
}

/** The id of the row, 0: there was one. */
static tt_status put_row(tt_sqlite_samples *samples, const tt_store_sample *sample, int64_t nth,
                         int64_t time, sqlite3_int64 *id, tt_error *error) {
  sqlite3_stmt *put = samples->statements[PUT_SAMPLE];
  bind_moment(put, sample);
  sqlite3_bind_int64(put, 4, nth);
  tt_sqlite_bind_seq(put, 5, sample->seq);
  sqlite3_bind_int64(put, 6, time);
  TT_TRY(run(samples, PUT_SAMPLE, error));
  *id = sqlite3_changes(samples->db) ? sqlite3_last_insert_rowid(samples->db) : 0;
  return *id ? tt_sqlite_mark(samples->marks, sample->device, time, error) : TT_OK;
}

/** The number of the moment's last record. */
static tt_status last_of_moment(tt_sqlite_samples *samples, const tt_store_sample *sample,
                                const sealed_moment *sealed, int64_t *last, tt_error *error) {
  sqlite3_stmt *query = samples->statements[LAST_OF_MOMENT];
  bind_moment(query, sample);
  int result = sqlite3_step(query);
  *last = sqlite3_column_type(query, 0) == SQLITE_NULL ? -1 : sqlite3_column_int64(query, 0);
  sqlite3_reset(query);
  if (sealed->piece) {
    int64_t nth = tt_list_at(&sealed->piece->moments, tt_column_moment, sealed->rows.to - 1).nth;
    if (nth > *last) *last = nth;
  }
  return result == SQLITE_ROW ? TT_OK : fail(samples, "can't read", error);
}

/** Looks for a value in sealed records behind `before`: those that have its attribute are marked. */
static tt_status look_in_piece(tt_sqlite_samples *samples, const tt_store_sample *sample,
                               const sealed_moment *sealed, int64_t before,
                               const tt_store_value *value, bool *there, bool *has,
                               tt_error *error) {
  const tt_sqlite_column *column;
  if (!sealed->piece) return TT_OK;
  TT_TRY(tt_sqlite_piece_column(samples->finder.pieces, sealed->piece, value->attribute, &column,
                                error));
  for (uint32_t row = sealed->rows.from; column && row < sealed->rows.to && !*there; row++) {
    const tt_column_moment *moment = &tt_list_at(&sealed->piece->moments, tt_column_moment, row);
    if (moment->nth <= before || moment->seq != sample->seq) continue;
    has[moment->nth - before - 1] |= tt_sqlite_column_value(column, row) != NULL;
    *there = tt_sqlite_column_has(column, row, samples->batch, value);
  }
  return TT_OK;
}

/** Whether a value stands in a record behind `before`; where it does not, those that have its attribute are marked. */
static tt_status look_for(tt_sqlite_samples *samples, const tt_store_sample *sample,
                          const sealed_moment *sealed, int64_t before, uint32_t index, bool *there,
                          bool *taken, tt_error *error) {
  const tt_store_value *value = &tt_list_at(&samples->batch->values, tt_store_value, index);
  sqlite3_stmt *query = samples->statements[VALUES_OF_MOMENT];
  bool has[TT_STORE_RECORDS] = {false};
  bind_moment(query, sample);
  sqlite3_bind_int64(query, 4, before);
  tt_sqlite_bind_seq(query, 5, sample->seq);
  tt_sqlite_bind_value(query, 6, samples->batch, value);
  sqlite3_bind_int(query, 7, value->attribute + 1);
  int result = SQLITE_DONE;
  *there = false;
  while (!*there && (result = sqlite3_step(query)) == SQLITE_ROW) {
    has[sqlite3_column_int64(query, 0) - before - 1] = true;
    *there = sqlite3_column_int(query, 1);
  }
  sqlite3_reset(query);
  if (!*there && result != SQLITE_DONE) return fail(samples, "can't read", error);
  if (!*there) TT_TRY(look_in_piece(samples, sample, sealed, before, value, there, has, error));
  for (int i = 0; i < TT_STORE_RECORDS && !*there; i++) taken[i] |= has[i];
  return TT_OK;
}

/** Records of a moment into which a sample's values may go. */
typedef struct records {
  const tt_column_moment *sealed[TT_STORE_RECORDS]; /**< NULL: it isn't */
  sqlite3_int64 rows[TT_STORE_RECORDS];             /**< ids; 0: it has none */
  int64_t times[TT_STORE_RECORDS];                  /**< of the rows */
} records;

/** The records behind `before` that have the sample's number of a message. */
static tt_status list_records(tt_sqlite_samples *samples, const tt_store_sample *sample,
                              const sealed_moment *sealed, int64_t before, records *found,
                              tt_error *error) {
  *found = (records){0};
  for (uint32_t row = sealed->rows.from; sealed->piece && row < sealed->rows.to; row++) {
    const tt_column_moment *moment = &tt_list_at(&sealed->piece->moments, tt_column_moment, row);
    if (moment->nth > before && moment->seq == sample->seq)
      found->sealed[moment->nth - before - 1] = moment;
  }
  sqlite3_stmt *query = samples->statements[ROWS_OF_MOMENT];
  bind_moment(query, sample);
  sqlite3_bind_int64(query, 4, before);
  tt_sqlite_bind_seq(query, 5, sample->seq);
  int result;
  while ((result = sqlite3_step(query)) == SQLITE_ROW) {
    const int64_t place = sqlite3_column_int64(query, 0) - before - 1;
    found->rows[place] = sqlite3_column_int64(query, 1);
    found->times[place] = sqlite3_column_int64(query, 2);
  }
  sqlite3_reset(query);
  return result == SQLITE_DONE ? TT_OK : fail(samples, "can't read", error);
}

/** The row of the first record behind `before` that is not taken, or of a new one. A record that is sealed is given a row
 *  for what comes late. `*time`: the record's. */
static tt_status choose_row(tt_sqlite_samples *samples, const tt_store_sample *sample,
                            const sealed_moment *sealed, int64_t before, int64_t last,
                            const bool *taken, sqlite3_int64 *id, int64_t *time, tt_error *error) {
  records found;
  *time = sample->time;
  TT_TRY(list_records(samples, sample, sealed, before, &found, error));
  int first = 0;
  while (first < TT_STORE_RECORDS && (taken[first] || (!found.rows[first] && !found.sealed[first])))
    first++;
  if (first == TT_STORE_RECORDS)
    TT_TRY(put_row(samples, sample, last + 1, sample->time, id, error));
  else if (found.rows[first]) {
    *id = found.rows[first];
    *time = found.times[first];
    return tt_sqlite_mark(samples->marks, sample->device, found.times[first], error);
  } else {
    *time = found.sealed[first]->time;
    TT_TRY(put_row(samples, sample, found.sealed[first]->nth, *time, id, error));
  }
  return *id ? TT_OK
             : tt_fail(error, TT_FAILED, "%s: rows of a moment are not in order", samples->path);
}

static tt_status say_newest(tt_sqlite_samples *samples, const tt_store_sample *sample, int64_t time,
                            tt_error *error) {
  if (!sample->count) return TT_OK;
  return tt_sqlite_say_newest(&samples->newest, sample->device,
                              &tt_list_at(&samples->batch->values, tt_store_value, sample->first),
                              sample->count, time, error);
}

/** A sample of a moment that has records already. Its values that are not there go into one in which none of their attributes
 *  is, all into the same. */
static tt_status join_moment(tt_sqlite_samples *samples, const tt_store_sample *sample,
                             const sealed_moment *sealed, tt_error *error) {
  bool taken[TT_STORE_RECORDS] = {false};
  int64_t last;
  TT_TRY(flush(samples, error));
  TT_TRY(last_of_moment(samples, sample, sealed, &last, error));
  const int64_t before = last < TT_STORE_RECORDS ? -1 : last - TT_STORE_RECORDS;
  tt_list_cut(&samples->new, 0);
  for (uint32_t i = sample->first; i < sample->first + sample->count; i++) {
    bool there;
    TT_TRY(look_for(samples, sample, sealed, before, i, &there, taken, error));
    if (!there) tt_list_add(&samples->new, &i, 1);
  }
  if (samples->new.failed) return tt_fail(error, TT_NOMEM, "out of memory");
  if (!samples->new.len) return TT_OK;
  sqlite3_int64 id;
  int64_t time;
  TT_TRY(choose_row(samples, sample, sealed, before, last, taken, &id, &time, error));
  TT_TRY(say_newest(samples, sample, time, error));
  for (uint32_t i = 0; i < samples->new.len; i++)
    TT_TRY(gather(samples, id, tt_list_at(&samples->new, uint32_t, i), error));
  return TT_OK;
}

void tt_sqlite_samples_undone(tt_sqlite_samples *samples) {
  tt_sqlite_newest_forget(&samples->newest);
}

/* --- what is sealed --- */

void tt_sqlite_samples_forget(tt_sqlite_samples *samples) {
  tt_map_clear(&samples->sealed);
  samples->known_sealed = false;
  samples->sealed_key = (tt_map_key){-1, -1};
}

/** Sets `sealed_until` to that of an epoch. */
static tt_status know_sealed(tt_sqlite_samples *samples, tt_map_key key, tt_error *error) {
  const int64_t *known = tt_map_get(&samples->sealed, key);
  if (known) {
    samples->sealed_until = *known;
  } else {
    tt_sqlite_segment segment;
    tt_status status = tt_sqlite_segment_before(samples->finder.pieces, (int)key.a, (int)key.b,
                                                INT64_MAX, &segment, error);
    if (status != TT_OK && status != TT_NOT_FOUND) return status;
    samples->sealed_until = status == TT_OK ? segment.last : INT64_MIN;
    tt_map_put(&samples->sealed, key, samples->sealed_until);  // not noted, it is looked up again
  }
  samples->sealed_key = key;
  return TT_OK;
}

/** What is sealed of a sample's moment. What lies behind all that is sealed costs a comparison. */
static tt_status find_sealed(tt_sqlite_samples *samples, const tt_store_sample *sample,
                             sealed_moment *sealed, tt_error *error) {
  *sealed = (sealed_moment){NULL, {0, 0}};
  if (!samples->known_sealed) {
    TT_TRY(tt_sqlite_segment_any(samples->finder.pieces, &samples->any_sealed, error));
    samples->known_sealed = true;
  }
  if (!samples->any_sealed) return TT_OK;
  const tt_map_key key = {sample->device, sample->epoch};
  if (key.a != samples->sealed_key.a || key.b != samples->sealed_key.b)
    TT_TRY(know_sealed(samples, key, error));
  if (sample->device_time > samples->sealed_until) return TT_OK;
  return tt_sqlite_piece_of(samples->finder.pieces, sample->device, sample->epoch,
                            sample->device_time, &sealed->piece, &sealed->rows, error);
}

static tt_status put_sample(tt_sqlite_samples *samples, const tt_store_sample *sample,
                            tt_error *error) {
  sealed_moment sealed;
  sqlite3_int64 id = 0;
  TT_TRY(find_sealed(samples, sample, &sealed, error));
  if (!sealed.piece) TT_TRY(put_row(samples, sample, 0, sample->time, &id, error));
  if (!id) return join_moment(samples, sample, &sealed, error);
  TT_TRY(say_newest(samples, sample, sample->time, error));
  for (uint32_t i = sample->first; i < sample->first + sample->count; i++)
    TT_TRY(gather(samples, id, i, error));
  return TT_OK;
}

/* --- a message --- */

/** Whether its device has other epochs than one. */
static tt_status has_epochs(tt_sqlite_samples *samples, int device, bool *has, tt_error *error) {
  const int64_t *known = tt_map_get(&samples->epochs, (tt_map_key){device, 0});
  int64_t count = known ? *known : 0;
  if (!count) {
    sqlite3_stmt *query = samples->statements[COUNT_EPOCHS];
    sqlite3_bind_int(query, 1, device + 1);
    int result = sqlite3_step(query);
    count = sqlite3_column_int64(query, 0);
    sqlite3_reset(query);
    if (result != SQLITE_ROW) return fail(samples, "can't read", error);
    tt_map_put(&samples->epochs, (tt_map_key){device, 0}, count);  // not noted, it is counted again
  }
  *has = count > 1;
  return TT_OK;
}

/** Whether a message stands in another epoch. */
static tt_status is_repeat(tt_sqlite_samples *samples, uint32_t first, uint32_t count, bool *repeat,
                           tt_error *error) {
  const tt_store_sample *sample = &tt_list_at(&samples->batch->samples, tt_store_sample, first);
  TT_TRY(has_epochs(samples, sample->device, repeat, error));
  if (!*repeat) return TT_OK;
  TT_TRY(flush(samples, error));
  sqlite3_stmt *query = samples->statements[BOOT_OF_EPOCH];
  sqlite3_bind_int(query, 1, sample->device + 1);
  sqlite3_bind_int(query, 2, sample->epoch);
  int result = sqlite3_step(query);
  const char *boot = (const char *)sqlite3_column_text(query, 0);
  tt_sqlite_sought sought = {.device = sample->device,
                             .boot = boot,
                             .except = sample->epoch,
                             .batch = samples->batch,
                             .first = first,
                             .count = count,
                             .values = UINT32_MAX};
  int epoch;
  tt_status status = result == SQLITE_ROW && boot
                         ? tt_sqlite_find(&samples->finder, &sought, &epoch, error)
                         : fail(samples, "can't read", error);
  sqlite3_reset(query);
  *repeat = status == TT_OK;
  return status == TT_NOT_FOUND ? TT_OK : status;
}

tt_status tt_sqlite_put_samples(tt_sqlite_samples *samples, const tt_store_batch *batch,
                                tt_error *error) {
  samples->batch = batch;
  samples->rows.count = 0;
  tt_sqlite_marks_begin(samples->marks);
  for (uint32_t i = 0; i < batch->epochs.len; i++) {
    int device = tt_list_at(&batch->epochs, tt_store_epoch, i).device;
    int64_t *known = tt_map_get(&samples->epochs, (tt_map_key){device, 0});
    if (known) *known = 0;
  }
  for (uint32_t i = 0; i < batch->samples.len;) {
    uint32_t count = tt_store_message_size(batch, i);
    bool unsure, repeat = false;
    TT_TRY(tt_sqlite_is_unsure(&samples->passed, batch->log,
                               &tt_list_at(&batch->samples, tt_store_sample, i), &unsure, error));
    if (unsure) TT_TRY(is_repeat(samples, i, count, &repeat, error));
    for (uint32_t end = i + count; i < end; i++) {
      if (!repeat)
        TT_TRY(put_sample(samples, &tt_list_at(&batch->samples, tt_store_sample, i), error));
    }
  }
  return flush(samples, error);
}

/* --- beginning and end --- */

static tt_status prepare(tt_sqlite_samples *samples, tt_error *error) {
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    if (sqlite3_prepare_v3(samples->db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                           &samples->statements[i], NULL) != SQLITE_OK)
      return fail(samples, "can't prepare", error);
  }
  TT_TRY(tt_sqlite_passed_open(samples->db, samples->path, &samples->passed, error));
  TT_TRY(tt_sqlite_newest_open(samples->db, samples->path, &samples->newest, error));
  return tt_sqlite_finder_open(&samples->finder, samples->db, samples->path, error);
}

tt_status tt_sqlite_samples_open(sqlite3 *db, const char *path, tt_sqlite_marks *marks,
                                 tt_sqlite_samples **out, tt_error *error) {
  tt_sqlite_samples *samples = calloc(1, sizeof *samples);
  if (!samples) return tt_fail(error, TT_NOMEM, "out of memory");
  samples->db = db;
  samples->path = path;
  samples->marks = marks;
  samples->new = TT_LIST(uint32_t, NULL);
  tt_sqlite_samples_forget(samples);
  tt_status status = prepare(samples, error);
  if (status == TT_OK)
    *out = samples;
  else
    tt_sqlite_samples_close(samples);
  return status;
}

void tt_sqlite_samples_close(tt_sqlite_samples *samples) {
  if (!samples) return;
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(samples->statements[i]);
  tt_sqlite_finder_close(&samples->finder);
  tt_sqlite_passed_close(&samples->passed);
  tt_sqlite_newest_close(&samples->newest);
  tt_map_clear(&samples->epochs);
  tt_map_clear(&samples->sealed);
  tt_list_free(&samples->new);
  free(samples);
}
