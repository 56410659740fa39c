/* pool.c: hands runs out to worker processes, takes their rows, and replaces those that end before their time.
 *
 * A worker has runs waiting for some tenths of a second, so that neither a slow disk under the table nor a pipe makes it wait. Runs that
 * follow each other in the plan mostly share a scene: a worker is given several at a time.
 */
#include "app/sweep/pool.h"

#include "app/sweep/frame.h"
#include "app/sweep/worker.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURN_NS 100000000u
#define AHEAD 0.3        /* s of work that waits at a worker */
#define MOST_WAITING 256 /* runs: 4 KiB, which a pipe always has room for */
#define GRACE 60.0       /* s beyond the plan's timeout: scenes are loaded, machines are busy */
#define PATIENCE_MS 5000 /* for workers to end in order */

/* A run that is under way, or has to be made again. */
typedef struct order {
  uint64_t number;
  bool records;
  int attempts;   /* made before that came to nothing */
  bool abandoned; /* its process ended once: that may have been somebody else's fault */
} order;

typedef struct worker {
  tt_sweep_worker process; /* .process 0: none */
  order orders[MOST_WAITING];
  int first, count; /* of a ring; the first is being made */
  tt_bytes came;    /* and is no whole frame yet */
  uint64_t since;   /* ns: when it began the first */
  bool timed_out;   /* and was killed for it */
} worker;

typedef struct pool {
  const tt_sweep_plan *plan;
  const tt_sweep_pool_options *options;
  const tt_sweep_work *work;
  tt_error *error;
  worker *workers;
  order *again; /* [again_count] to be made once more */
  int again_count;
  bool no_more; /* work->next() has said so */
  bool stopped; /* turn() wants no more */
  double mean;  /* s a run, of the last ones; 0: none yet */
  uint64_t turned;
  tt_sweep_frame frame;
} pool;

/* ---- what is to be made ---- */

static bool next(pool *of, order *made) {
  if (of->again_count > 0) {
    *made = of->again[--of->again_count];
    return true;
  }
  *made = (order){.records = of->options->records_all};
  if (!of->no_more) of->no_more = !of->work->next(of->work->context, &made->number);
  return !of->no_more;
}

static bool any_left(pool *of) {
  order one;
  if (of->again_count > 0) return true;
  if (of->no_more || !next(of, &one)) return false;
  of->again[of->again_count++] = one;
  return true;
}

/* All that workers may hold, and one more. */
static size_t most_again(const tt_sweep_pool_options *options) {
  return (size_t)options->jobs * (MOST_WAITING + 1) + 1;
}

static void make_again(pool *of, const order *one) { of->again[of->again_count++] = *one; }

/* ---- handing out ---- */

static int wanted_ahead(const pool *of) {
  if (of->mean <= 0) return 2;
  double runs = AHEAD / of->mean;
  if (runs < 2) return 2;
  return runs < MOST_WAITING ? (int)runs : MOST_WAITING;
}

static order *order_at(worker *to, int index) {
  return &to->orders[(to->first + index) % MOST_WAITING];
}

/* The pipe has room for all that may wait. */
static bool send(worker *to, const order *one) {
  const tt_sweep_order told = {one->number, one->records};
  ssize_t wrote;
  while ((wrote = write(to->process.orders, &told, sizeof told)) < 0 && errno == EINTR) {
  }
  return wrote == sizeof told;
}

static void hand_out(pool *of, worker *to, int most) {
  if (to->count == 0) to->since = tt_monotonic_ns();
  for (order one; to->count < most && next(of, &one);) {
    *order_at(to, to->count++) = one;
    if (!send(to, &one)) return; /* it has ended; its orders come back when that is noticed */
  }
}

static tt_status start(pool *of, worker *to) {
  to->first = to->count = 0;
  to->timed_out = false;
  return tt_sweep_worker_start(of->plan, of->options->log_folder, &to->process, of->error);
}

/* A worker is refilled once it has less than half: several runs of one scene come together. */
static tt_status keep_busy(pool *of) {
  const int most = wanted_ahead(of);
  for (int i = 0; i < of->options->jobs; i++) {
    worker *to = &of->workers[i];
    if (to->count > most / 2 || !any_left(of)) continue;
    if (!to->process.process) TT_TRY(start(of, to));
    hand_out(of, to, most);
  }
  return TT_OK;
}

/* ---- rows ---- */

static const char *log_of(const pool *of, const tt_sweep_run *run, char *path, size_t size) {
  if (!of->options->log_folder) return NULL;
  tt_sweep_log_path(of->options->log_folder, run, path, size);
  return access(path, F_OK) == 0 ? path : NULL;
}

static tt_status finish(pool *of, const tt_sweep_row *row) {
  char path[PATH_MAX];
  const char *log = log_of(of, &row->run, path, sizeof path);
  return of->work->done(of->work->context, row, log, of->error);
}

static bool may_help(tt_sweep_status status) {
  return status != TT_SWEEP_OK && status != TT_SWEEP_DIVERGED;
}

/* The same run gives the same row, and is made a second time only where its log is to stay. */
static bool wants_log(const pool *of, const order *one, const tt_sweep_row *row) {
  return of->options->log_folder && !one->records && of->work->wants_log &&
         of->work->wants_log(of->work->context, row);
}

static void learn_time(pool *of, worker *from) {
  const uint64_t now = tt_monotonic_ns();
  const double took = (double)(now - from->since) * 1e-9 + 1e-6;
  of->mean = of->mean > 0 ? 0.9 * of->mean + 0.1 * took : took;
  from->since = now;
}

static tt_status take_row(pool *of, worker *from) {
  const tt_sweep_row *row = &of->frame.row;
  order *one = order_at(from, 0);
  if (from->count == 0 || row->run.number != one->number)
    return tt_fail(of->error, TT_BAD_MESSAGE, "a worker gave a row that nobody asked it for");
  learn_time(of, from);
  from->first = (from->first + 1) % MOST_WAITING;
  from->count--;
  if (may_help(row->status) && one->attempts < of->plan->retries)
    one->attempts++;
  else if (wants_log(of, one, row))
    one->records = true;
  else
    return finish(of, row);
  make_again(of, one);
  return TT_OK;
}

static tt_status take_frame(pool *of, worker *from) {
  if (of->frame.kind == TT_SWEEP_FRAME_ROW) return take_row(of, from);
  *of->error = of->frame.error;
  return of->frame.status;
}

/* Bytes that are no frame end their worker, as if it had crashed. */
static tt_status take_frames(pool *of, worker *from) {
  size_t at = 0, used = 0;
  tt_error why;
  tt_status status = TT_OK;
  while (status == TT_OK) {
    status = tt_sweep_frame_take(of->plan, from->came.data + at, from->came.size - at, &of->frame,
                                 &used, &why);
    if (status == TT_AGAIN) break;
    if (status == TT_BAD_MESSAGE || status == TT_VERSION) {
      kill(from->process.process, SIGKILL);
      tt_bytes_cut(&from->came, 0);
      return TT_OK;
    }
    if (status != TT_OK)
      *of->error = why;
    else
      status = take_frame(of, from);
    at += used;
  }
  if (at > 0) {
    memmove(from->came.data, from->came.data + at, from->came.size - at);
    tt_bytes_cut(&from->came, from->came.size - at);
  }
  return status == TT_AGAIN ? TT_OK : status;
}

/* ---- ends ---- */

static void make_row(pool *of, const order *one, tt_sweep_status status, const char *why) {
  tt_sweep_row *row = &of->frame.row;
  *row = (tt_sweep_row){.status = status};
  tt_sweep_plan_run(of->plan, one->number, &row->run);
  snprintf(row->error, sizeof row->error, "%s", why);
  if (of->plan->success) row->success = (tt_sweep_value){.kind = TT_SWEEP_NUMBER};
  gethostname(row->host, sizeof row->host - 1);
}

/* How its worker ended is how the run did. The kernel kills with SIGKILL what takes too much memory. */
static tt_status fail_run(pool *of, const worker *from, const order *one, int end) {
  char why[200];
  tt_sweep_status status = TT_SWEEP_CONTROLLER_FAILED;
  if (from->timed_out) {
    status = TT_SWEEP_TIMEOUT;
    snprintf(why, sizeof why, "not done within the plan's timeout of %g s, and did not end",
             of->plan->timeout);
  } else if (WIFSIGNALED(end)) {
    if (WTERMSIG(end) == SIGKILL) status = TT_SWEEP_LIMIT;
    snprintf(why, sizeof why, "its process was ended by signal %d (%s)%s", WTERMSIG(end),
             strsignal(WTERMSIG(end)), status == TT_SWEEP_LIMIT ? ", perhaps for its memory" : "");
  } else {
    snprintf(why, sizeof why, "its process ended with status %d", WEXITSTATUS(end));
  }
  make_row(of, one, status, why);
  return finish(of, &of->frame.row);
}

static void drop_log(pool *of, const order *one) {
  static tt_sweep_run run;
  char path[PATH_MAX];
  tt_sweep_plan_run(of->plan, one->number, &run);
  const char *log = log_of(of, &run, path, sizeof path);
  if (log) unlink(log);
}

static int forget_process(worker *of) {
  int end = 0;
  tt_process_reap(of->process.process, 0, &end);
  close(of->process.orders);
  close(of->process.answers);
  of->process.process = 0;
  tt_bytes_cut(&of->came, 0);
  return end;
}

/* It ended though there was work. The run it was at is made once more in any case: who knows whose fault it was; the others
 * as if nothing had been. */
static tt_status bury(pool *of, worker *from) {
  int end = forget_process(from);
  for (int i = from->count - 1; i > 0; i--) make_again(of, order_at(from, i));
  if (from->count == 0) return TT_OK;
  order *one = order_at(from, 0);
  from->count = 0;
  if (one->attempts < of->plan->retries || (!one->abandoned && !from->timed_out)) {
    drop_log(of, one);
    one->attempts += one->abandoned || from->timed_out;
    one->abandoned = true;
    make_again(of, one);
    return TT_OK;
  }
  return fail_run(of, from, one, end);
}

/* What came before its end counts. */
static tt_status read_worker(pool *of, worker *from) {
  uint8_t bytes[65536];
  for (;;) {
    ssize_t got = read(from->process.answers, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return TT_OK;
    if (got == 0) return bury(of, from);
    tt_bytes_append(&from->came, bytes, (size_t)got);
    if (from->came.failed) return tt_fail(of->error, TT_NOMEM, "out of memory");
    TT_TRY(take_frames(of, from));
  }
}

/* ---- time ---- */

/* A maker looks at the clock between ticks; who is long over his time does no ticks any more. */
static void end_overdue(pool *of, uint64_t now) {
  for (int i = 0; i < of->options->jobs; i++) {
    worker *at = &of->workers[i];
    if (!at->process.process || at->count == 0 || at->timed_out) continue;
    if ((double)(now - at->since) * 1e-9 < of->plan->timeout + GRACE) continue;
    at->timed_out = true;
    kill(at->process.process, SIGKILL);
  }
}

static void take_turn(pool *of) {
  const uint64_t now = tt_monotonic_ns();
  if (now - of->turned < TURN_NS) return;
  of->turned = now;
  end_overdue(of, now);
  if (!of->work->turn(of->work->context)) of->stopped = true;
}

static int wait_time(const pool *of) {
  const uint64_t gone = tt_monotonic_ns() - of->turned;
  return gone < TURN_NS ? (int)((TURN_NS - gone) / 1000000u) + 1 : 0;
}

/* Rows of whoever has some; false: nobody is at work. */
static tt_status wait_for_rows(pool *of, struct pollfd *polled, bool *busy) {
  *busy = false;
  for (int i = 0; i < of->options->jobs; i++) {
    const worker *at = &of->workers[i];
    polled[i] =
        (struct pollfd){.fd = at->process.process ? at->process.answers : -1, .events = POLLIN};
    *busy |= at->process.process && at->count > 0;
  }
  if (!*busy) return TT_OK;
  if (poll(polled, (nfds_t)of->options->jobs, wait_time(of)) <= 0) return TT_OK;
  for (int i = 0; i < of->options->jobs; i++)
    if (polled[i].revents) TT_TRY(read_worker(of, &of->workers[i]));
  return TT_OK;
}

static tt_status run(pool *of, struct pollfd *polled) {
  for (bool busy = true; busy && !of->stopped; take_turn(of)) {
    TT_TRY(keep_busy(of));
    TT_TRY(wait_for_rows(of, polled, &busy));
  }
  return TT_OK;
}

/* ---- the end ---- */

static bool ended(const worker *of) {
  siginfo_t about = {.si_pid = 0};
  return waitid(P_PID, (id_t)of->process.process, &about, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         about.si_pid != 0;
}

/* Who has nothing to do ends by himself when his orders end; the others at once. */
static void end_workers(pool *of, bool in_order) {
  for (int i = 0; i < of->options->jobs; i++) {
    worker *at = &of->workers[i];
    if (!at->process.process) continue;
    close(at->process.orders);
    at->process.orders = -1;
    if (!in_order) kill(at->process.process, SIGKILL);
  }
  for (int i = 0, waited = 0; i < of->options->jobs; i++) {
    worker *at = &of->workers[i];
    if (at->process.process) {
      for (; waited < PATIENCE_MS && !ended(at); waited++) usleep(1000);
      kill(at->process.process, SIGKILL);
      forget_process(at);
    }
    tt_bytes_free(&at->came);
  }
}

tt_status tt_sweep_pool_run(const tt_sweep_plan *plan, const tt_sweep_pool_options *options,
                            const tt_sweep_work *work, tt_error *error) {
  pool *of = calloc(1, sizeof *of);
  struct pollfd *polled = calloc((size_t)options->jobs, sizeof *polled);
  if (of)
    *of = (pool){.plan = plan,
                 .options = options,
                 .work = work,
                 .error = error,
                 .workers = calloc((size_t)options->jobs, sizeof *of->workers),
                 .again = calloc(most_again(options), sizeof *of->again)};
  tt_status status = TT_NOMEM;
  if (of && polled && of->workers && of->again) {
    status = run(of, polled);
    end_workers(of, status == TT_OK && !of->stopped);
  } else {
    tt_fail(error, TT_NOMEM, "out of memory for %d workers", options->jobs);
  }
  if (of) {
    free(of->workers);
    free(of->again);
  }
  free(of);
  free(polled);
  return status;
}
