/* log.h: one line a message, to standard error, never blocking the thread that says it.
 *
 * Lines go through a bounded lock-free queue to a thread of their own. When the queue is full the
 * line is lost, counted, and the count is said with the next line that fits. Before tt_log_start()
 * and after tt_log_stop() a line is written at once by the caller.
 */
#ifndef TT_BASE_LOG_H
#define TT_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

/** Lower is worse; what is above the chosen level is not logged. */
typedef enum tt_log_level { TT_LOG_ERROR, TT_LOG_WARNING, TT_LOG_INFO, TT_LOG_DEBUG } tt_log_level;

/** Starts the writer thread. Any thread may log afterwards. */
void tt_log_start(void);
/** Writes out what is queued and ends the writer thread. */
void tt_log_stop(void);
/** In a child process after fork(): its lines are written at once, since the writer thread is the parent's. */
void tt_log_forked(void);
/** Lines go to `sink`, in the thread that says them, instead of standard error; NULL: to standard error again. Before other
 *  threads say anything. */
typedef void tt_log_sink(void *context, tt_log_level level, const char *text);
void tt_log_set_sink(tt_log_sink *sink, void *context);
/** From here on this thread's lines go to `sink`, whatever the level, and nowhere else; NULL: as everybody's again. For who does work
 *  for somebody who is to read them himself. */
void tt_log_divert(tt_log_sink *sink, void *context);
/** Lines less important than `level` are not said. Default TT_LOG_INFO. */
void tt_log_set_level(tt_log_level level);

/** Says one line (no newline in `format`), for example "float-udp: dropped …". Any thread; never
 *  blocks while the writer runs; cut at 1,000 bytes; made safe for a terminal (base/text.h). */
void tt_log(tt_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Of a line that others may cause without end; zero at first. */
typedef struct tt_log_hold {
  int64_t said_at; /* µs of the monotonic clock */
  uint64_t unsaid; /* since */
} tt_log_hold;
#define TT_LOG_MORE 48
/** Whether it is to be said: the first is, and one a second. Then `more` ends it: " (and 12 more like it)", or "". */
bool tt_log_is_due(tt_log_hold *hold, char more[TT_LOG_MORE]);

#define tt_log_error(...) tt_log(TT_LOG_ERROR, __VA_ARGS__)
#define tt_log_warning(...) tt_log(TT_LOG_WARNING, __VA_ARGS__)
#define tt_log_info(...) tt_log(TT_LOG_INFO, __VA_ARGS__)
#define tt_log_debug(...) tt_log(TT_LOG_DEBUG, __VA_ARGS__)

#endif
