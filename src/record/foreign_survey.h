/* foreign_survey.h: a WPILOG of another program as a whole, read once: what it announces, in what order its records stand, and how many
 * signals that makes. foreign.c writes a run's log by it. */
#ifndef TT_RECORD_FOREIGN_SURVEY_H
#define TT_RECORD_FOREIGN_SURVEY_H

#include "record/foreign_struct.h"
#include "record/wpilog.h"

#define TT_SURVEY_MOST_NAME 300  /**< bytes; an entry with a longer one is left out */
#define TT_SURVEY_MOST_TYPES 200 /**< bytes of the list of types that are left out */

/** Ids of the new log: of what every one has, and of the signals behind it. */
enum { RUN = 1, MODEL, EVENTS, END, FIRST_SIGNAL };

/** How an entry's values are shown. */
typedef enum value_kind {
  LEFT_OUT,
  NUMBER,
  SINGLE,
  INTEGER,
  FLAGS,
  TEXT,
  TEXTS,
  STRUCT
} value_kind;

/** A type of the log, as WPILib names it. */
typedef struct value_type {
  const char *name;
  value_kind kind;
  unsigned size; /* bytes of an element */
  bool array;
} value_type;

/** An entry of the log that is read. */
typedef struct source {
  struct source *next; /* in the order in which they were announced */
  const value_type *type;
  tt_struct_layout *layout; /* of a struct; else NULL */
  char *name, *unit;
  unsigned elements; /* the most that a record of it has */
  uint32_t first;    /* id of its first signal; the others follow */
  uint32_t flag;     /* id under which it stays a flag; 0: it is none */
  const uint8_t *text;
  size_t text_size; /* told last */
} source;

/** An id of the log. */
typedef struct log_entry {
  source *first, *latest; /* what it was announced as first and last; NULL: not yet, or left out */
  bool announced, finished, renewed;
} log_entry;

/** An id that was announced as something else, after it was finished. */
typedef struct renewal {
  uint32_t id;
  size_t from;    /* offset: records behind it are of … */
  source *source; /* NULL: left out */
} renewal;

/** The log as a whole. */
typedef struct survey {
  const uint8_t *data;
  size_t size, first; /**< bytes; `first`: offset of the first record */
  log_entry *by_id;   /* [ids] */
  size_t ids;
  renewal *renewals; /* by id and place once all are known */
  size_t renewal_count, renewal_capacity;
  source *all, **end_of_all;
  uint32_t count;
  void *by_name; /* tsearch() */
  tt_schemas schemas;
  uint32_t signals;
  uint64_t records, begin, end,
      last; /* µs: the least and greatest time, and that of the last record */
  bool ordered, any;
  int64_t clock; /* µs since 1970 at time 0 of the log, as an entry says; 0: none does */
  unsigned left_out;
  char left_types[TT_SURVEY_MOST_TYPES];
} survey;

/** Reads the log at `data`, of `size` bytes, which are all that is set before, and outlive it. TT_INVALID with why it can't be shown, TT_NOMEM; in
 *  any case it is to be freed. One thread. */
tt_status tt_survey_look_through(survey *of, tt_error *error);
/** Frees all but the log's bytes. */
void tt_survey_free(survey *of);
/** What a record is of, `end` being the offset behind it; NULL: of nothing that is shown. */
source *tt_survey_source_of(const survey *of, const tt_wpilog_record *record, size_t end);
/** How many numbers a record of it has; 0: it is a text, or broken. */
unsigned tt_survey_elements(const source *from, const tt_wpilog_record *record);
/** Whether `size` bytes are that text. */
bool tt_survey_is_text(const char *text, uint32_t size, const char *expected);

#endif
