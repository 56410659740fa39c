/* status_line.c: one live line on a terminal: simulated time, real-time factor, wires and their message rates,
 * drops. The log clears it before each of its own lines; the next refresh shows it again below. */
#include "app/status_line.h"

#include "app/progress.h"
#include "base/clock.h"
#include "base/text.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REFRESH_US 250000
#define LINE_SIZE 1024

/** What was counted at the last refresh, for rates. */
typedef struct tt_wire_counts {
  uint64_t received, sent;
} tt_wire_counts;

struct tt_status_line {
  tt_world *world;
  const tt_attached *attached;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool stop;
  int wire_count;
  tt_wire_counts *counts;
  double last; /**< s, monotonic wall clock of the last refresh */
};

static const char *state_name(tt_wire_state state) {
  switch (state) {
    case TT_WIRE_WAITING: return "waiting";
    case TT_WIRE_DRIVING: return "driving";
    case TT_WIRE_LATE: return "late";
    case TT_WIRE_SILENT: return "silent";
  }
  return "?";
}

/** Adds formatted text, cut at the buffer's end. */
static size_t add(char *text, size_t used, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static size_t add(char *text, size_t used, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(text + used, LINE_SIZE - used, format, arguments);
  va_end(arguments);
  size_t end = used + (size_t)(size > 0 ? size : 0);
  return end < LINE_SIZE ? end : LINE_SIZE - 1;
}

static uint64_t drops_of(const tt_wire_stats *stats) {
  uint64_t drops = 0;
  for (int i = 0; i < TT_DROP_COUNT; i++) drops += stats->dropped[i];
  return drops;
}

/** Of all wires together, and before whatever a terminal may be too narrow for: a number that is cut looks like another one. */
static size_t add_drops(tt_status_line *line, char *text, size_t used) {
  tt_wire_stats stats;
  tt_wire_state state;
  uint64_t drops = 0;
  for (int i = 0; i < line->wire_count; i++) {
    tt_world_get_wire(line->world, i, &stats, &state);
    drops += drops_of(&stats);
  }
  return drops ? add(text, used, "  dropped %llu", (unsigned long long)drops) : used;
}

static size_t add_wire(tt_status_line *line, int index, double elapsed, char *text, size_t used) {
  tt_wire_stats stats;
  tt_wire_state state;
  tt_world_get_wire(line->world, index, &stats, &state);
  tt_wire_counts *before = &line->counts[index];
  double in = (double)(stats.received - before->received) / elapsed;
  double out = (double)(stats.sent - before->sent) / elapsed;
  *before = (tt_wire_counts){stats.received, stats.sent};
  uint64_t drops = line->wire_count > 1 ? drops_of(&stats) : 0;
  used = add(text, used, " | %s %s in %.0f/s out %.0f/s",
             tt_world_wire_at(line->world, index)->name, state_name(state), in, out);
  return drops ? add(text, used, " dropped %llu", (unsigned long long)drops) : used;
}

static void show(tt_status_line *line) {
  tt_world_status status;
  tt_world_get_status(line->world, &status);
  double present = tt_monotonic_s(), elapsed = present - line->last;
  line->last = present;
  char text[LINE_SIZE];
  size_t used = add(text, 0, "%.1f s  %.2f× real time", status.time, status.real_time_factor);
  used = add_drops(line, text, used);
  if (status.paused) used = add(text, used, "  paused");
  if (status.stopped) used = add(text, used, "  STOPPED");
  if (status.robots > 0 && status.enabled == 0 && !status.stopped)
    used = add(text, used, "  robots disabled");
  if (status.period != TT_PERIOD_NONE)
    used = add(text, used, "  match: %s", tt_match_period_name(status.period));
  if (status.late_ticks)
    used = add(text, used, "  late %llu", (unsigned long long)status.late_ticks);
  tt_attached_troubles(line->attached, text + used, sizeof text - used);
  used += strlen(text + used);
  for (int i = 0; i < line->wire_count; i++)
    used = add_wire(line, i, elapsed > 0 ? elapsed : 1, text, used);
  tt_text_make_safe(text);
  tt_text_cut_columns(text, (size_t)tt_terminal_columns());
  char out[LINE_SIZE + 16];
  int size = snprintf(out, sizeof out, "\r%s\033[K", text);
  if (write(STDERR_FILENO, out, (size_t)size) < 0) return; /* the terminal is gone */
}

static void *refresh(void *context) {
  tt_status_line *line = context;
  pthread_mutex_lock(&line->lock);
  while (!line->stop) {
    pthread_mutex_unlock(&line->lock);
    show(line);
    pthread_mutex_lock(&line->lock);
    if (!line->stop) tt_wait_until(&line->wake, &line->lock, tt_monotonic_us() + REFRESH_US);
  }
  pthread_mutex_unlock(&line->lock);
  return NULL;
}

static void release(tt_status_line *line) {
  pthread_cond_destroy(&line->wake);
  pthread_mutex_destroy(&line->lock);
  free(line->counts);
  free(line);
}

tt_status_line *tt_status_line_start(tt_world *world, const tt_attached *attached) {
  if (!isatty(STDERR_FILENO)) return NULL;
  tt_status_line *line = calloc(1, sizeof *line);
  if (!line) return NULL;
  line->world = world;
  line->attached = attached;
  line->wire_count = tt_world_wire_count(world);
  line->counts = calloc((size_t)line->wire_count + 1, sizeof *line->counts);
  line->last = tt_monotonic_s();
  pthread_mutex_init(&line->lock, NULL);
  pthread_cond_init(&line->wake, NULL);
  sigset_t all, before;
  sigfillset(&all); /* signals are for the main thread */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = line->counts && !pthread_create(&line->thread, NULL, refresh, line);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (started) return line;
  release(line);
  return NULL;
}

void tt_status_line_stop(tt_status_line *line) {
  if (!line) return;
  pthread_mutex_lock(&line->lock);
  line->stop = true;
  pthread_cond_signal(&line->wake);
  pthread_mutex_unlock(&line->lock);
  pthread_join(line->thread, NULL);
  static const char clear[] = "\r\033[K";
  if (write(STDERR_FILENO, clear, sizeof clear - 1) < 0) { /* the terminal is gone */
  }
  release(line);
}
