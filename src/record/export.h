/* export.h: a kept run as a file that other programs read. In constant memory, whatever the length of the run. */
#ifndef TT_RECORD_EXPORT_H
#define TT_RECORD_EXPORT_H

#include "base/status.h"
#include "record/run_log.h"

/** Where the bytes go. */
typedef struct tt_export_sink {
  /** Anything but TT_OK ends the export with that status. */
  tt_status (*write)(void *context, const void *bytes, size_t size);
  /** `done` 0…1 of the log is read; called often. May be NULL. */
  void (*progress)(void *context, double done);
  void *context;
} tt_export_sink;

/** X(name, function): the formats by the names of `--format`. */
#define TT_EXPORT_FORMATS(X)                                                                       \
  X("csv", tt_export_csv)                                                                          \
  X("jsonl", tt_export_jsonl)                                                                      \
  X("mcap", tt_export_mcap)                                                                        \
  X("wpilog", tt_export_wpilog)                                                                    \
  X("svg", tt_export_svg)                                                                          \
  X("summary", tt_export_summary)

/* Each reads the whole log, in the caller's thread, and blocks for as long as its sink does. The status is the sink's, or
 * TT_NOMEM. */

/** A table: a line for each time at which the run was sampled, a column a signal and command; values hold until they
 *  change. RFC 4180, but lines end in LF. */
tt_status tt_export_csv(const tt_run_log *log, const tt_export_sink *sink);
/** A JSON object a line and record, in the log's order: {"time": s, "name", "value"}. */
tt_status tt_export_jsonl(const tt_run_log *log, const tt_export_sink *sink);
/** MCAP: chunks in zstd, indexed; JSON messages with their schemas. */
tt_status tt_export_mcap(const tt_run_log *log, const tt_export_sink *sink);
/** WPILOG in which every signal, command and pose stands as its own entry, for viewers. */
tt_status tt_export_wpilog(const tt_run_log *log, const tt_export_sink *sink);
/** Where each robot went, as a picture. */
tt_status tt_export_svg(const tt_run_log *log, const tt_export_sink *sink);
/** What happened, for people, as YAML. */
tt_status tt_export_summary(const tt_run_log *log, const tt_export_sink *sink);

/* --- what formats share --- */

/** Output collected into pieces of reasonable size. */
typedef struct tt_export_buffer {
  const tt_export_sink *sink;
  tt_bytes bytes;
  tt_status status;
} tt_export_buffer;
void tt_export_begin(tt_export_buffer *buffer, const tt_export_sink *sink);
/** Appends; writes when enough is there. */
void tt_export_put(tt_export_buffer *buffer, const void *bytes, size_t size);
void tt_export_text(tt_export_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Writes the rest, frees the buffer, and tells how it went. */
tt_status tt_export_end(tt_export_buffer *buffer);

#define TT_DOUBLE_SIZE 32
/** The shortest decimal that reads back as the same double. */
const char *tt_double_text(double value, char text[TT_DOUBLE_SIZE]);
/** Appends a JSON string with its quotes; bytes that are no UTF-8 become U+FFFD. */
void tt_bytes_append_json(tt_bytes *out, const char *text, size_t size);

/** How an entry of the log is exported. */
typedef enum tt_entry_role {
  TT_ROLE_OTHER,
  TT_ROLE_SIGNAL,  /**< /signals/NAME, /commands/NAME: a double */
  TT_ROLE_NUMBER,  /**< any other double */
  TT_ROLE_POSE,    /**< /poses/NAME: struct:Pose3d */
  TT_ROLE_EVENT,   /**< /events: "source: text" */
  TT_ROLE_JOURNAL, /**< /tether/journal, and behind it the name of a source */
  TT_ROLE_TEXT,    /**< strings and JSON */
  TT_ROLE_FLAG,    /**< a boolean */
} tt_entry_role;
tt_entry_role tt_entry_role_of(const tt_run_entry *entry);
/** Has the record the size that its role asks for? Logs are files: anything may stand in them. */
bool tt_record_has_form(tt_entry_role role, const tt_wpilog_record *record);
/** The same, and its numbers are finite. */
bool tt_record_fits(tt_entry_role role, const tt_wpilog_record *record);
/** Tells the sink how far the cursor is. */
void tt_export_progress(const tt_export_sink *sink, const tt_run_cursor *cursor);

#endif
