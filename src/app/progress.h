/* progress.h: a bar on the terminal for work that takes a while; nothing in a pipe. */
#ifndef TT_APP_PROGRESS_H
#define TT_APP_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tt_progress {
  const char *what;
  bool terminal, shown;
  uint64_t started, next; /**< ns */
} tt_progress;

/** Of the terminal at standard error; 80 where it does not tell. */
int tt_terminal_columns(void);
/** Begins now. `what` stands beside the bar and must outlive it. One thread. */
tt_progress tt_progress_start(const char *what);
/** `done` 0…1. Cheap: draws ten times a second, and not at all in the first half second. */
void tt_progress_show(tt_progress *progress, double done);
/** The same with other words beside the bar than the time that is left. */
void tt_progress_show_text(tt_progress *progress, double done, const char *text);
/** Wipes the bar. */
void tt_progress_end(tt_progress *progress);

#endif
