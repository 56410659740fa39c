/* log.c: lines through the bounded queue to a writer thread, so that a full pipe never holds the world. */
#include "base/log.h"

#include "base/clock.h"
#include "base/queue.h"
#include "base/text.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_SIZE 1000          /* longest text of a line, bytes */
#define QUEUE_LINES 512         /* about half a megabyte */
#define SAY_AGAIN_AFTER 1000000 /* µs: a line that is held back */
#define STOP_PATIENCE_MS 500    /* how long stopping waits for a pipe that nobody reads */

typedef struct line {
  uint16_t level, length;
  char text[LINE_SIZE];
} line;

static atomic_int threshold = TT_LOG_INFO;
static atomic_bool running;
static _Atomic(tt_log_sink *) sink; /* instead of standard error */
static void *sink_context;
static _Thread_local tt_log_sink *diverted; /* this thread's lines, to somebody else */
static _Thread_local void *diverted_context;
static atomic_int speaking; /* threads inside tt_log() that may be using the queue */
static atomic_ulong lost;
static tt_queue *queue; /* made once and kept: a late speaker may still hold it */
static sem_t waiting;   /* one count a queued line, one more to stop */
static sem_t finished;  /* one when the writer is at its end */
static pthread_t writer;
static bool abandoned; /* the writer hung in a pipe when the program ended */

/* Fills `target` with what `format` gives, made safe for a terminal; cut between characters. */
__attribute__((format(printf, 3, 0))) static void compose(line *target, tt_log_level level,
                                                          const char *format, va_list arguments) {
  char text[LINE_SIZE + 4]; /* room for the character that straddles the end */
  vsnprintf(text, sizeof text, format, arguments);
  tt_text_cut(text, LINE_SIZE);
  tt_text_make_safe(text);
  target->length = (uint16_t)strlen(text);
  memcpy(target->text, text, target->length);
  target->level = (uint16_t)level;
}

/* One write a line, so that lines of several programs on one terminal don't mix. */
static void write_line(const line *source) {
  static const char *const prefixes[] = {"error: ", "warning: ", "", "debug: "};
  char out[LINE_SIZE + 32];
  /* A terminal may show a status line without a newline: a log line takes its place. */
  int length = snprintf(out, sizeof out, "%s%s%.*s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "",
                        prefixes[source->level], (int)source->length, source->text);
  for (size_t done = 0; done < (size_t)length;) {
    ssize_t written = write(STDERR_FILENO, out + done, (size_t)length - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return; /* nobody listens */
    done += (size_t)written;
  }
}

static void say_lost(void) {
  unsigned long count = atomic_exchange(&lost, 0);
  if (!count) return;
  line told = {.level = TT_LOG_WARNING};
  told.length =
      (uint16_t)snprintf(told.text, sizeof told.text,
                         "log: %lu lines lost, they came faster than they could be written", count);
  write_line(&told);
}

static void *write_lines(void *unused) {
  line next;
  for (;;) {
    while (sem_wait(&waiting) != 0) {
    }
    bool stop = !atomic_load(&running) && atomic_load(&speaking) == 0;
    while (tt_queue_pop(queue, &next)) {
      say_lost();
      write_line(&next);
    }
    if (stop) break;
  }
  say_lost();
  sem_post(&finished);
  return unused;
}

static bool make_queue(void) {
  if (queue) return true;
  queue = tt_queue_new(QUEUE_LINES, sizeof(line));
  return queue && sem_init(&waiting, 0, 0) == 0 && sem_init(&finished, 0, 0) == 0;
}

void tt_log_start(void) {
  if (atomic_load(&running) || abandoned || !make_queue())
    return; /* without memory, lines are written at once */
  sigset_t all, before;
  sigfillset(&all); /* the writer takes no signals: they belong to the program's own threads */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  atomic_store(&running, true);
  if (pthread_create(&writer, NULL, write_lines, NULL) != 0) atomic_store(&running, false);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void tt_log_stop(void) {
  if (!atomic_exchange(&running, false)) return;
  while (atomic_load(&speaking) > 0) sched_yield(); /* none of them blocks */
  sem_post(&waiting);
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += STOP_PATIENCE_MS * 1000000L;
  until.tv_sec += until.tv_nsec / 1000000000L;
  until.tv_nsec %= 1000000000L;
  while ((abandoned = sem_clockwait(&finished, CLOCK_MONOTONIC, &until) != 0) && errno == EINTR) {
  }
  if (abandoned)
    pthread_detach(writer);
  else
    pthread_join(writer, NULL); /* not pthread_clockjoin_np(): thread sanitizers don't know it */
}

void tt_log_set_sink(tt_log_sink *to, void *context) {
  sink_context = context;
  atomic_store(&sink, to);
}

void tt_log_divert(tt_log_sink *to, void *context) {
  diverted = to;
  diverted_context = context;
}

void tt_log_forked(void) { atomic_store(&running, false); }

void tt_log_set_level(tt_log_level level) { atomic_store(&threshold, (int)level); }

void tt_log(tt_log_level level, const char *format, ...) {
  if (!diverted && (int)level > atomic_load(&threshold)) return;
  line said;
  va_list arguments;
  va_start(arguments, format);
  compose(&said, level, format, arguments);
  va_end(arguments);
  tt_log_sink *to = diverted ? diverted : atomic_load(&sink);
  if (to) {
    char text[sizeof said.text + 1];
    snprintf(text, sizeof text, "%.*s", (int)said.length, said.text);
    to(diverted ? diverted_context : sink_context, level, text);
    return;
  }
  atomic_fetch_add(&speaking, 1);
  if (!atomic_load(&running))
    write_line(&said);
  else if (tt_queue_push(queue, &said))
    sem_post(&waiting);
  else
    atomic_fetch_add(&lost, 1);
  atomic_fetch_sub(&speaking, 1);
}

bool tt_log_is_due(tt_log_hold *hold, char more[TT_LOG_MORE]) {
  int64_t now = tt_monotonic_us();
  if (hold->said_at && now - hold->said_at < SAY_AGAIN_AFTER) {
    hold->unsaid++;
    return false;
  }
  more[0] = '\0';
  if (hold->unsaid)
    snprintf(more, TT_LOG_MORE, " (and %llu more like it)", (unsigned long long)hold->unsaid);
  *hold = (tt_log_hold){.said_at = now};
  return true;
}
