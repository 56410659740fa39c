/* run_log.h: a kept run, read: its entries by name, its values at any time, its journal in order.
 *
 * The file is mapped and scanned once; every ten seconds of the run a keyframe remembers where the last record of each
 * entry stands, so that seeking costs the same anywhere. What the scan of a large log found is left beside it, as
 * PATH.index, for the next who opens it. A log that a crash cut, or of which a disk lost a part, reads up to there.
 *
 * Entries that follow from others are made while it is read (derive.h), behind those that the file holds; cursors give them as if
 * they stood in it.
 */
#ifndef TT_RECORD_RUN_LOG_H
#define TT_RECORD_RUN_LOG_H

#include "game/field.h"
#include "base/status.h"
#include "record/wpilog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
typedef struct tt_run_log tt_run_log;

/** An announced entry. Texts are terminated and owned by the log; `name` is NULL where an id is unused. */
typedef struct tt_run_entry {
  const char *name, *type, *metadata;
  uint64_t records; /**< how many there are */
  bool journal;     /**< tt_journal_decode() reads it */
  /** journal, events and flags: written apart from the samples, so a little ahead of them */
  bool aside;
} tt_run_entry;

/** Opens a log and reads where its records are; it may still be growing. One thread at a time. TT_INVALID: it is none, with
 *  path and reason. Closing is NULL-safe. */
tt_status tt_run_log_open(const char *path, tt_run_log **log, tt_error *error);
void tt_run_log_close(tt_run_log *log);
/** The same of a log that a recorder may still be writing: it keeps the file, so that tt_run_log_follow() can read on. Of one that is being
 *  written it has what was hashed already: whole samples. */
tt_status tt_run_log_open_growing(const char *path, tt_run_log **log, tt_error *error);
/** Takes in what was written since. Nobody may use the log meanwhile; cursors stay valid, payloads that they gave do not. TT_NOMEM: as
 *  before. Nothing happens to one that tt_run_log_open() opened. */
tt_status tt_run_log_follow(tt_run_log *log);
/** May it still grow, as far as is known? */
bool tt_run_log_grows(const tt_run_log *log);
/** Is a recorder still writing the file? */
bool tt_run_log_is_growing(const char *path);

/** Entries by id: 0 … count − 1. */
const tt_run_entry *tt_run_log_entries(const tt_run_log *log, uint32_t *count);
/** Id of the entry called `name`, or 0 (which is never an entry's id). */
uint32_t tt_run_log_find(const tt_run_log *log, const char *name);
/** Is the entry made of others, and not in the file? */
bool tt_run_log_is_made(const tt_run_log *log, uint32_t entry);
/** Time of the last record, µs. */
uint64_t tt_run_log_duration(const tt_run_log *log);
/** Resets of the world, and states put in its place, before a time in µs: what is shown behind one does not go on from before. */
uint32_t tt_run_log_epoch(const tt_run_log *log, uint64_t time);
/** Did the run end in order? Otherwise it was cut off, or is still being recorded. */
bool tt_run_log_ended(const tt_run_log *log);
/** Bytes of the file. */
size_t tt_run_log_size(const tt_run_log *log);
/** The file itself: tt_run_log_size() bytes, owned by the log. */
const uint8_t *tt_run_log_data(const tt_run_log *log);

/** A place in a log: the time it stands at, and for each entry its newest record up to then. */
typedef struct tt_run_cursor {
  const tt_run_log *log;
  size_t offset;  /**< of the next record */
  uint64_t time;  /**< µs */
  size_t *latest; /**< [entry count] offset of the newest record, 0: none yet */
  /** what is made of them; NULL in older logs, which keep everything */
  struct tt_derived *derived;
} tt_run_cursor;
/** At the beginning, before the first record. False when out of memory. */
bool tt_run_cursor_open(tt_run_cursor *cursor, const tt_run_log *log);
void tt_run_cursor_close(tt_run_cursor *cursor);
/** Back to the beginning. */
void tt_run_cursor_rewind(tt_run_cursor *cursor);
/** Moves on to the next data record. TT_END at the end. The payload stays until the next call. */
tt_status tt_run_cursor_next(tt_run_cursor *cursor, tt_wpilog_record *record);
/** The same for those who want none that are made of others: the journal, events, texts. */
tt_status tt_run_cursor_next_kept(tt_run_cursor *cursor, tt_wpilog_record *record);
/** Moves on to the next time at which the run was sampled, and takes in all of that sample. TT_END: there is none. */
tt_status tt_run_cursor_next_sample(tt_run_cursor *cursor);
/** Moves on so that every record up to `time` (µs) is taken in. Forwards only. */
void tt_run_cursor_advance(tt_run_cursor *cursor, uint64_t time);
/** Moves to any time, forwards or back. */
void tt_run_cursor_seek(tt_run_cursor *cursor, uint64_t time);
/** The newest record of `entry` at the cursor; false when there is none. */
bool tt_run_cursor_value(const tt_run_cursor *cursor, uint32_t entry, tt_wpilog_record *record);
/** The same of a signal's entry, as a number; false also where it is none that is finite. Quicker than the record. */
bool tt_run_cursor_number(const tt_run_cursor *cursor, uint32_t entry, double *value);
/** The newest record of the entry called `name`, as the JSON it holds; NULL where there is none. The caller's to
 *  json_object_put(). */
struct json_object *tt_run_cursor_json(const tt_run_cursor *cursor, const char *name);
/** Where the frame of the log's poses lies in the arena, once the cursor is past the beginning; all 0 where the log does not
 *  say. */
tt_field tt_run_cursor_field(const tt_run_cursor *cursor);

#endif
