/* watch.c: what does not work, said in a line when that is noticed and in another one when it is over. It is noticed here also
 * where a call does not return. Why a store can't write now, those say who know more of it: the spool, or the store itself.
 */
#include "base/log.h"
#include "telemetry/collector_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LOOK_INTERVAL (SECOND / 4)
/** µs after which a call is said not to return. */
#define PATIENCE (3 * SECOND / 2)

/** What is looked at, store or log. */
typedef struct watched {
  const char *name, *failing; /**< for people */
  tt_trouble *trouble;
  int64_t begun;    /**< µs, monotonic: of the call that has not returned; 0: none */
  char reason[256]; /**< "": it works */
  bool silent;      /**< somebody else says that it fails */
  uint64_t waits;   /**< of `unit` */
  const char *unit;
} watched;

/** A call that does not return is trouble, too. */
static void note_stuck(watched *at, int64_t now) {
  if (at->reason[0] || !at->begun || now - at->begun < PATIENCE) return;
  snprintf(at->reason, sizeof at->reason, "it has not answered for %.1f s",
           (double)(now - at->begun) / SECOND);
  at->silent = false;
}

static char *say_failing(const watched *at) {
  return g_strdup_printf("telemetry: %s, trying again: %s", at->failing, at->reason);
}

static char *say_works(const watched *at, int64_t now) {
  const tt_trouble *over = at->trouble;
  const double seconds = (double)(now - over->since) / SECOND;
  if (!over->waited)
    return g_strdup_printf("telemetry: %s works again after %.1f s", at->name, seconds);
  return g_strdup_printf("telemetry: %s works again after %.1f s; %" PRIu64 " %s waited", at->name,
                         seconds, over->waited, at->unit);
}

/** With the mutex held. Returns a line for the log, to be freed; NULL: there is nothing to say. */
static char *look(watched *at, int64_t now) {
  tt_trouble *trouble = at->trouble;
  note_stuck(at, now);
  if (!at->reason[0]) {
    char *line = trouble->since ? say_works(at, now) : NULL;
    *trouble = (tt_trouble){0};
    return line;
  }
  if (!trouble->since) trouble->since = at->begun ? at->begun : now;
  if (at->waits > trouble->waited) trouble->waited = at->waits;
  memcpy(trouble->reason, at->reason, sizeof trouble->reason);
  if (trouble->said || at->silent) return NULL;
  trouble->said = true;
  return say_failing(at);
}

static char *look_at_store(tt_collector *collector, const tt_store_state *state, int64_t now) {
  const tt_store_log_state *log = &collector->log;
  bool fails = collector->store_error.text[0];
  watched store = {
      .name = "the store",
      .failing = "can't store",
      .trouble = &collector->store_trouble,
      .begun = collector->storing,
      .silent = state->spools && !fails,
      .waits = collector->options.log ? log->waiting + log->in_hand : state->spooled_bytes,
      .unit = collector->options.log ? "messages of the log" : "bytes"};
  snprintf(store.reason, sizeof store.reason, "%.255s",
           state->degraded ? state->reason : collector->store_error.text);
  return look(&store, now);
}

/** Who puts into a store what it took may do so for long, and finds out afterwards that the log is gone. */
static bool is_log_lost(const tt_collector *collector) {
  tt_store_log *log = collector->options.log;
  return log && !log->is_there(log);
}

/** `lost`: the log is. */
static char *look_at_log(tt_collector *collector, bool lost, int64_t now) {
  watched log = {.name = "the log",
                 .failing = "can't take from the log",
                 .trouble = &collector->log_trouble,
                 .begun = collector->taking};
  snprintf(log.reason, sizeof log.reason, "%.255s", collector->log_error.text);
  if (!log.reason[0] && lost) snprintf(log.reason, sizeof log.reason, "the connection is lost");
  return look(&log, now);
}

static void look_at_all(tt_collector *collector) {
  const int64_t now = g_get_monotonic_time();
  const bool lost = is_log_lost(collector);
  tt_store_state state = {.degraded = false};
  collector->store->state(collector->store, &state);
  pthread_mutex_lock(&collector->mutex);
  char *lines[] = {look_at_store(collector, &state, now), look_at_log(collector, lost, now)};
  pthread_mutex_unlock(&collector->mutex);
  for (int i = 0; i < 2; i++) {
    if (lines[i]) tt_log_warning("%s", lines[i]);
    g_free(lines[i]);
  }
}

gpointer tt_watch_run(gpointer data) {
  tt_collector *collector = data;
  pthread_mutex_lock(&collector->mutex);
  while (!collector->stopping) {
    const int64_t end = g_get_monotonic_time() + LOOK_INTERVAL;
    while (!collector->stopping && tt_collector_wait(collector, &collector->ends, end)) continue;
    if (collector->stopping) break;
    pthread_mutex_unlock(&collector->mutex);
    look_at_all(collector);
    pthread_mutex_lock(&collector->mutex);
  }
  pthread_mutex_unlock(&collector->mutex);
  return NULL;
}
