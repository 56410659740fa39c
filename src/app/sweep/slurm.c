#include "app/sweep/slurm.h"

#include "app/sweep/call.h"
#include "app/sweep/slurm_submit.h"
#include "app/sweep/slurm_task.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TURN_US 100000
#define COLLECT_NS 1000000000u
/* What was written on a node may be seen here a little later. */
#define LATE_NS 2000000000u
/* The controller of a cluster has better to do than to answer questions. */
#define ASK_LEAST_NS 1000000000u
#define ASK_MOST_NS 30000000000u
#define FRUITLESS_ROUNDS 3
#define SAID_IN_ROUND 5

/* What was last said of a task. */
typedef struct told {
  uint32_t array, restarts; /* of the newest array that has it */
  uint32_t ended;           /* the array whose end was told */
  bool in_round;            /* of this one */
} told;

typedef struct waiting {
  const tt_sweep_plan *plan;
  const tt_sweep_slurm_options *options;
  tt_sweep_collector *collector;
  tt_sweep_results *results;
  bool (*turn)(void *context);
  void *context;
  tt_slurm_array array;
  told *told; /* [array.count] */
  int said;   /* lines of this round */
  char why[900];
  char pending[65];     /* why tasks wait, as it was last said */
  unsigned active;      /* tasks that wait or run, when the queue was last read */
  bool queue_is_silent; /* that was said */
  uint64_t began, collected, asked;
} waiting;

static bool all_there(const waiting *w) {
  return tt_sweep_results_count(w->results) == tt_sweep_plan_runs(w->plan);
}

static bool lacks_rows(const void *context, uint32_t number) {
  const waiting *w = context;
  uint64_t first, end;
  tt_sweep_shard shard = {.number = number, .count = w->array.count};
  tt_sweep_shard_range(&shard, tt_sweep_plan_runs(w->plan), &first, &end);
  for (uint64_t run = first; run < end; run++)
    if (!tt_sweep_results_has(w->results, run)) return true;
  return false;
}

static tt_status collect(waiting *w, tt_error *error) {
  w->collected = tt_monotonic_ns();
  return tt_sweep_collect(w->collector, w->results, error);
}

/* `why` is kept for the end. */
static void say_why(waiting *w) {
  if (w->said++ < SAID_IN_ROUND) tt_log_warning("slurm: %s", w->why);
}

/* Why a task's rows are missing. */
static void tell_of_end(waiting *w, const tt_slurm_task *task) {
  char words[300];
  bool no_launch = strcmp(task->reason, "JobLaunchFailure") == 0;
  tt_slurm_last_words(&w->array, task->number, words, sizeof words);
  snprintf(w->why, sizeof w->why, "task %u on %s: %s (%s)%s%s%s%.200s", task->number, task->node,
           task->state, task->reason, *words ? ": " : "", words,
           no_launch ? "; every node has to see the folder " : "",
           no_launch ? w->array.folder : "");
  w->told[task->number - 1].in_round = true;
  say_why(w);
}

/* Those of which Slurm said nothing. */
static void tell_of_others(waiting *w) {
  for (uint32_t number = 1; number <= w->array.count; number++) {
    if (!w->told[number - 1].in_round && lacks_rows(w, number)) {
      snprintf(w->why, sizeof w->why,
               "task %u: left the queue without its rows: it was cancelled, or ended long ago",
               number);
      say_why(w);
    }
    w->told[number - 1].in_round = false;
  }
}

static void tell(waiting *w, const tt_slurm_task *task) {
  if (task->number < 1 || task->number > w->array.count) return;
  told *last = &w->told[task->number - 1];
  if (task->array > last->array)
    *last = (told){.array = task->array, .ended = last->ended, .in_round = last->in_round};
  if (task->array == last->array && task->restarts > last->restarts) {
    last->restarts = task->restarts;
    tt_log_warning(
        "slurm: task %u is run again: its node went down or could not start it, or others had "
        "precedence",
        task->number);
  }
  if (!tt_slurm_task_is_over(task) || task->array <= last->ended) return;
  last->ended = task->array;
  if (lacks_rows(w, task->number)) tell_of_end(w, task);
}

/* What everybody's tasks wait for, and what --array-limit asked for, is nobody's news. */
static bool is_news(const char *reason) {
  static const char *const usual[] = {"None", "BeginTime", "JobArrayTaskLimit"};
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
    if (strcmp(reason, usual[i]) == 0) return false;
  return true;
}

static void tell_why_all_wait(waiting *w, unsigned running, const char *reason) {
  if (running || !w->active || !is_news(reason) || strcmp(reason, w->pending) == 0) return;
  snprintf(w->pending, sizeof w->pending, "%s", reason);
  tt_print(stderr, "slurm: all that is left waits, %u tasks (%s); squeue --name=%s shows them\n",
           w->active, reason, w->array.name);
}

/* Reads what squeue said. */
static void read_queue(waiting *w, FILE *answer) {
  char line[400], reason[65] = "None";
  unsigned running = 0;
  w->active = 0;
  while (fgets(line, sizeof line, answer)) {
    tt_slurm_task task;
    if (!tt_slurm_task_read(line, &task)) continue;
    tell(w, &task);
    if (tt_slurm_task_is_over(&task)) continue;
    w->active++;
    if (strcmp(task.state, "PENDING") != 0)
      running++;
    else
      memcpy(reason, task.reason, sizeof reason);
  }
  tell_why_all_wait(w, running, reason);
}

static tt_status queue_answered(waiting *w, const tt_call *call, tt_error *error) {
  char complaint[300];
  TT_TRY(collect(w, error)); /* rows of tasks that were over then */
  FILE *answer = call->exit == 0 ? tt_call_answer(call) : NULL;
  if (!answer && !w->queue_is_silent)
    tt_log_warning("slurm: the queue does not answer, and is asked again: %s",
                   tt_call_complaint(call, complaint, sizeof complaint));
  w->queue_is_silent = !answer;
  if (!answer) return TT_AGAIN;
  read_queue(w, answer);
  fclose(answer);
  return TT_OK;
}

static tt_status ask_queue(waiting *w, tt_call *call, tt_error *error) {
  char name[80];
  snprintf(name, sizeof name, "--name=%s", w->array.name);
  const char *words[] = {
      "squeue", "--me", name, "--noheader", "--array", "--states=all", TT_SLURM_TASK_FORMAT, NULL};
  w->asked = tt_monotonic_ns();
  return tt_slurm_call(words, call, error);
}

static bool is_time_to_ask(const waiting *w) {
  uint64_t now = tt_monotonic_ns(), pause = (now - w->began) / 20;
  if (pause < ASK_LEAST_NS) pause = ASK_LEAST_NS;
  if (pause > ASK_MOST_NS) pause = ASK_MOST_NS;
  return now - w->asked >= pause;
}

/* Until all rows are there, or nothing is under way: TT_OK. */
static tt_status wait_for_array(waiting *w, tt_call *call, tt_error *error) {
  uint64_t over_at = 0;
  w->began = w->asked = tt_monotonic_ns();
  while (!all_there(w)) {
    if (!w->turn(w->context))
      return tt_fail(error, TT_INTERRUPTED,
                     "interrupted; the array is cancelled, and the same command goes on");
    usleep(TURN_US);
    uint64_t now = tt_monotonic_ns();
    if (now - w->collected >= COLLECT_NS) TT_TRY(collect(w, error));
    if (over_at) {
      if (now - over_at >= LATE_NS) break;
      continue;
    }
    if (!call->out && is_time_to_ask(w)) TT_TRY(ask_queue(w, call, error));
    if (!call->out || !tt_call_is_over(call)) continue;
    tt_status status = queue_answered(w, call, error);
    tt_call_end(call);
    if (status != TT_OK && status != TT_AGAIN) return status;
    if (status == TT_OK && w->active == 0) over_at = now;
  }
  return TT_OK;
}

/* What is under way already, of this sweep: another process submitted it, and ended. */
static tt_status look_for_array(waiting *w, tt_error *error) {
  tt_call call = {0};
  char complaint[300];
  TT_TRY(ask_queue(w, &call, error));
  tt_call_wait(&call);
  tt_status status = queue_answered(w, &call, error);
  if (status == TT_AGAIN)
    status = tt_fail(error, TT_FAILED, "slurm: %s",
                     tt_call_complaint(&call, complaint, sizeof complaint));
  tt_call_end(&call);
  if (status == TT_OK && w->active)
    tt_print(stderr, "slurm: %u tasks of this sweep are under way already, and are waited for\n",
             w->active);
  return status;
}

static tt_status one_round(waiting *w, tt_error *error) {
  tt_call call = {0};
  w->said = 0;
  tt_status status = wait_for_array(w, &call, error);
  tt_call_end(&call);
  if (status == TT_OK) tell_of_others(w);
  if (w->said > SAID_IN_ROUND)
    tt_log_warning("slurm: and %d more tasks ended without all of their rows",
                   w->said - SAID_IN_ROUND);
  return status;
}

static tt_status make_rows(waiting *w, tt_error *error) {
  char missing[200];
  TT_TRY(collect(w, error));
  TT_TRY(look_for_array(w, error));
  for (int fruitless = 0; !all_there(w);) {
    uint64_t before = tt_sweep_results_count(w->results);
    if (!w->active) TT_TRY(tt_slurm_submit(&w->array, lacks_rows, w, error));
    if (w->options->detach) return TT_OK;
    TT_TRY(one_round(w, error));
    w->active = all_there(w) ? w->active : 0;
    fruitless = tt_sweep_results_count(w->results) > before ? 0 : fruitless + 1;
    if (fruitless == FRUITLESS_ROUNDS)
      return tt_fail(
          error, TT_FAILED,
          "slurm: %d arrays one after the other brought no row of %s; the last reason: %s",
          FRUITLESS_ROUNDS, tt_sweep_results_missing(w->results, missing, sizeof missing),
          *w->why ? w->why : "none is known");
  }
  return TT_OK;
}

tt_status tt_sweep_slurm(const tt_sweep_plan *plan, const tt_sweep_slurm_options *options,
                         tt_sweep_collector *collector, tt_sweep_results *results,
                         bool (*turn)(void *context), void *context, tt_error *error) {
  waiting w = {.plan = plan,
               .options = options,
               .collector = collector,
               .results = results,
               .turn = turn,
               .context = context};
  TT_TRY(tt_slurm_prepare(plan, options, &w.array, error));
  w.told = calloc(w.array.count, sizeof *w.told);
  tt_status status = w.told ? make_rows(&w, error) : tt_fail(error, TT_NOMEM, "out of memory");
  bool leave = status == TT_INTERRUPTED || (status == TT_OK && !options->detach && w.active);
  if (leave) tt_slurm_cancel(&w.array);
  free(w.told);
  return status;
}
