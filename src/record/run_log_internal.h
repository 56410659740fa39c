/* run_log_internal.h: what a log knows of itself once it was read, or once its index was. */
#ifndef TT_RECORD_RUN_LOG_INTERNAL_H
#define TT_RECORD_RUN_LOG_INTERNAL_H

#include "record/run_log.h"

#define TT_RUN_MOST_ENTRIES 1000000u

/** Where every entry's newest record stood when the run reached `time`. */
typedef struct tt_run_keyframe {
  uint64_t time;  /**< µs */
  size_t offset;  /**< of the first record at that time */
  size_t *latest; /**< [latest_count]; entries announced later had none; 0: no record yet */
  uint32_t latest_count;
} tt_run_keyframe;

struct tt_run_log {
  int file; /**< −1: the log is not followed */
  const uint8_t *data;
  size_t mapped; /**< bytes of the file */
  size_t size;   /**< that make sense, from its beginning */
  size_t first;
  uint64_t modified; /**< ns, of the file */
  tt_run_entry *entries;
  size_t *starts;       /**< [entry_count] offset of the record that announces it */
  uint32_t entry_count; /* all */
  uint32_t kept_count;  /* those that stand in the file; the others are made (derive.h) */
  struct tt_derivation *derivation; /* or NULL */
  uint64_t duration;
  tt_run_keyframe *keyframes;
  size_t keyframe_count;
  uint64_t *breaks; /**< µs, ascending: the world was reset, or its state replaced */
  size_t break_count;
  size_t scanned;    /**< offset of the first record that was not looked at yet */
  uint64_t next_key; /**< µs: time of the next keyframe */
  size_t *latest; /**< [TT_RUN_MOST_ENTRIES] while it is scanned, and as long as it is followed */
  bool damaged;   /**< nothing behind `size` makes sense */
};

/* --- run_entries.c --- */
/** Takes in the record at `offset` that announces an entry; others say nothing. Once entries that are made stand behind the kept
 *  ones, it must have an id that was reserved, or it is passed over. */
tt_status tt_run_log_note_start(tt_run_log *log, const tt_wpilog_record *record, size_t offset);
/** Keeps ids free for entries that are announced later. Before tt_run_log_derive(). */
tt_status tt_run_log_reserve(tt_run_log *log, uint32_t count);
/** As before it was read: entries and keyframes are freed. Before tt_run_log_derive(), or at the end. */
void tt_run_log_forget(tt_run_log *log);

/* --- run_breaks.c --- */
/** Takes in a record of the journal that says that the run does not go on from what was before; others say nothing. TT_NOMEM. */
tt_status tt_run_log_note_break(tt_run_log *log, const tt_wpilog_record *record);
/** At a time in µs, none before the last. TT_NOMEM. */
tt_status tt_run_log_add_break(tt_run_log *log, uint64_t time);

/* --- run_log.c --- */
/** Once the file is read: adds the entries that are made of others. */
tt_status tt_run_log_derive(tt_run_log *log);

/* --- the index beside a large log: PATH.index. Numbers only; names are read from the log itself --- */
/** Takes entries and keyframes from the index, if there is one of this very file; false: the log is to be scanned. */
bool tt_run_index_read(tt_run_log *log, const char *path);
/** Leaves an index for the next who opens the log. One that can't be written is none. */
void tt_run_index_write(const tt_run_log *log, const char *path);
/** The same from memory: `words` as the file has them. */
bool tt_run_index_take(tt_run_log *log, const uint64_t *words, size_t count);
/** Of the words before the last, which holds it. */
uint64_t tt_run_index_checksum(const uint64_t *words, size_t count);

#endif
