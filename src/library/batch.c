/* batch.c: many simulations of one scene, stepped by threads of the batch's own. Each takes the next simulation that nobody has, so
 * that one that is slow, or is kept from running, holds up nobody. Nothing is shared while they step but the caller's
 * arrays, row by row. */
#include "library/library.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often a thread looks for work before it sleeps: some tens of microseconds, about what waking it would take. */
#define LOOKS 2000
#define MOST_SIMS 1000000
#define MOST_THREADS 1024

typedef enum task { STEP, RESET, SAVE, RESTORE, QUIT } task;

typedef struct worker {
  tether_batch *batch;
  pthread_t thread;
  library_watch watch; /* the first asks; the others are told */
} worker;

struct tether_batch {
  int count, thread_count, command_count, signal_count;
  tether_sim **sims;
  tether_status *failures;
  uint8_t *failed; /* [count] not 0: failures[i] is one */
  tether_error *reasons;
  tether_handle *commands, *signals;
  worker *workers; /* [thread_count]; the first is the caller's thread */
  int started;     /* beside the caller's */
  int looks;       /* LOOKS; 0 where there are more threads than processors */
  pid_t process;
  atomic_flag busy;
  atomic_bool stop; /* this step was interrupted */

  atomic_int round;   /* of work; another one begins when it changes */
  atomic_int next;    /* simulation that nobody has yet */
  atomic_int pending; /* threads that are not done */
  pthread_mutex_t lock;
  pthread_cond_t begun, done;

  /* What is to be done; written by the caller before a round begins. */
  task task;
  const double *values;
  int64_t steps;
  double *out;
  const uint8_t *mask;
  const uint64_t *seeds;
  const unsigned char *saved; /* [count][state_size] */
  unsigned char *states;      /* the same, to be filled */
  size_t state_size;
};

static void note(tether_batch *batch, int i, tether_status status) {
  batch->failures[i] = status;
  batch->failed[i] = status != TETHER_OK;
}

static void step_one(tether_batch *batch, int i, library_watch *watch) {
  tether_sim *sim = batch->sims[i];
  tether_error *reason = &batch->reasons[i];
  size_t first = (size_t)i * (size_t)batch->command_count;
  if (batch->failed[i]) return;
  tether_io io = {.commands = batch->commands,
                  .command_values = batch->command_count ? batch->values + first : NULL,
                  .command_count = batch->command_count};
  tether_status status = library_apply(sim, &io, 1, reason);
  if (status == TETHER_OK) status = library_step(sim, batch->steps, watch, reason);
  note(batch, i, status);
}

static void reset_one(tether_batch *batch, int i) {
  if (batch->mask && !batch->mask[i]) return;
  uint64_t own = batch->sims[i]->scene->scene->seed + (uint64_t)i;
  library_reset(batch->sims[i], batch->seeds ? batch->seeds[i] : own);
  note(batch, i, TETHER_OK);
  batch->reasons[i].text[0] = '\0';
}

/* Of one whose engine failed there is no state: its row is 0, which is none. */
static void save_one(tether_batch *batch, int i) {
  unsigned char *row = batch->states + (size_t)i * batch->state_size;
  if (library_save(batch->sims[i], row, NULL) != TETHER_OK) memset(row, 0, batch->state_size);
}

static void restore_one(tether_batch *batch, int i) {
  const unsigned char *row = batch->saved + (size_t)i * batch->state_size;
  if (batch->mask && !batch->mask[i]) return;
  batch->reasons[i].text[0] = '\0';
  note(batch, i, library_restore(batch->sims[i], row, batch->state_size, &batch->reasons[i]));
}

static void read_one(const tether_batch *batch, int i) {
  if (!batch->out) return;
  library_read(batch->sims[i], batch->signals, batch->out + (size_t)i * (size_t)batch->signal_count,
               batch->signal_count, NULL);
}

/* The share of one thread. */
static void work(tether_batch *batch, library_watch *watch) {
  library_surroundings saved = library_surroundings_begin();
  library_watch_begin(watch);
  for (int i;
       (i = atomic_fetch_add_explicit(&batch->next, 1, memory_order_relaxed)) < batch->count;) {
    if (batch->task == STEP) step_one(batch, i, watch);
    if (batch->task == RESET) reset_one(batch, i);
    if (batch->task == SAVE) save_one(batch, i);
    if (batch->task == RESTORE) restore_one(batch, i);
    read_one(batch, i);
  }
  library_surroundings_end(&saved);
}

/* Waits until `value` is not `old`: it looks a while, then it sleeps on `changed`. */
static void await_change(tether_batch *batch, atomic_int *value, int old, pthread_cond_t *changed) {
  for (int i = 0; i < batch->looks; i++) {
    if (atomic_load(value) != old) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  pthread_mutex_lock(&batch->lock);
  while (atomic_load(value) == old) pthread_cond_wait(changed, &batch->lock);
  pthread_mutex_unlock(&batch->lock);
}

/* Under the lock, so that nobody falls asleep between his last look and it. */
static void tell(tether_batch *batch, pthread_cond_t *changed) {
  pthread_mutex_lock(&batch->lock);
  pthread_cond_broadcast(changed);
  pthread_mutex_unlock(&batch->lock);
}

static void *worker_main(void *untyped) {
  worker *self = untyped;
  tether_batch *batch = self->batch;
  for (int round = 0;; round++) {
    await_change(batch, &batch->round, round, &batch->begun);
    if (batch->task == QUIT) return NULL;
    work(batch, &self->watch);
    if (atomic_fetch_sub(&batch->pending, 1) == 1) tell(batch, &batch->done);
  }
}

static void run(tether_batch *batch, task what) {
  batch->task = what;
  atomic_store(&batch->next, 0);
  atomic_store(&batch->pending, batch->started);
  atomic_fetch_add(&batch->round, 1);
  tell(batch, &batch->begun);
  if (what == QUIT) return;
  work(batch, &batch->workers[0].watch);
  for (int left; (left = atomic_load(&batch->pending)) != 0;)
    await_change(batch, &batch->pending, left, &batch->done);
}

/* The caller's signals are not for them. */
static tether_status start_threads(tether_batch *batch, tether_error *error) {
  tether_status status = TETHER_OK;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int i = 1; i < batch->thread_count && status == TETHER_OK; i++) {
    batch->workers[i] = (worker){.batch = batch, .watch = {.stop = &batch->stop}};
    if (pthread_create(&batch->workers[i].thread, NULL, worker_main, &batch->workers[i]) != 0)
      status = library_fail(error, TETHER_FAILED, "threads: only %d could be started", i);
    else
      batch->started++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return status;
}

static tether_status resolve(tether_batch *batch, const char *const *commands,
                             const char *const *signals, tether_error *error) {
  for (int i = 0; i < batch->command_count; i++) {
    tether_status status =
        tether_command_find(batch->sims[0], commands[i], NULL, &batch->commands[i], error);
    if (status != TETHER_OK) return status;
  }
  for (int i = 0; i < batch->signal_count; i++) {
    tether_status status =
        tether_signal_find(batch->sims[0], signals[i], NULL, &batch->signals[i], error);
    if (status != TETHER_OK) return status;
  }
  return TETHER_OK;
}

static tether_status build(tether_batch *batch, tether_scene *scene, const char *const *commands,
                           const char *const *signals, tether_error *error) {
  size_t count = (size_t)batch->count;
  batch->sims = calloc(count, sizeof(tether_sim *));
  batch->failures = calloc(count, sizeof *batch->failures);
  batch->failed = calloc(count, sizeof *batch->failed);
  batch->reasons = calloc(count, sizeof *batch->reasons);
  batch->commands = calloc((size_t)batch->command_count + 1, sizeof *batch->commands);
  batch->signals = calloc((size_t)batch->signal_count + 1, sizeof *batch->signals);
  batch->workers = calloc((size_t)batch->thread_count, sizeof *batch->workers);
  if (!batch->sims || !batch->failures || !batch->failed || !batch->reasons || !batch->commands ||
      !batch->signals || !batch->workers)
    return library_fail(error, TETHER_NO_MEMORY, "out of memory");
  batch->workers[0].watch.stop = &batch->stop;
  for (int i = 0; i < batch->count; i++) {
    tether_status status = tether_sim_new(scene, &batch->sims[i], error);
    if (status != TETHER_OK) return status;
    batch->sims[i]->batch_failed = &batch->failed[i];
    batch->sims[i]->batch_failure = &batch->failures[i];
    batch->sims[i]->batch_reason = &batch->reasons[i];
  }
  batch->state_size = library_state_size(batch->sims[0]);
  tether_status status = resolve(batch, commands, signals, error);
  if (status != TETHER_OK) return status;
  status = start_threads(batch, error);
  if (status == TETHER_OK) run(batch, RESET); /* each with a seed of its own */
  return status;
}

static tether_status check_names(const char *what, const char *const *names, int count,
                                 tether_error *error) {
  if (count < 0 || (count > 0 && !names))
    return library_fail(error, TETHER_INVALID, "%s_count: %d without an array of %ss", what, count,
                        what);
  for (int i = 0; i < count; i++)
    if (!names[i]) return library_fail(error, TETHER_INVALID, "%ss[%d]: NULL", what, i);
  return TETHER_OK;
}

tether_status tether_batch_new(tether_scene *scene, int count, int threads,
                               const char *const *commands, int command_count,
                               const char *const *signals, int signal_count, tether_batch **batch,
                               tether_error *error) {
  library_begin(error);
  if (!batch) return library_fail(error, TETHER_INVALID, "batch: NULL; give where to put it");
  *batch = NULL;
  if (!scene) return library_fail(error, TETHER_INVALID, "scene: NULL");
  if (count < 1 || threads < 0)
    return library_fail(error, TETHER_INVALID,
                        "count: %d, threads: %d; give at least 1 simulation, and 0 or more threads",
                        count, threads);
  if (count > MOST_SIMS || threads > MOST_THREADS)
    return library_fail(error, TETHER_INVALID,
                        "count: %d, threads: %d; give at most %d simulations and %d threads", count,
                        threads, MOST_SIMS, MOST_THREADS);
  tether_status named = check_names("command", commands, command_count, error);
  if (named == TETHER_OK) named = check_names("signal", signals, signal_count, error);
  if (named != TETHER_OK) return named;
  int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
  if (threads == 0) threads = processors;
  if (threads > count) threads = count;
  if (threads < 1) threads = 1;
  tether_batch *made = calloc(1, sizeof *made);
  if (!made) return library_fail(error, TETHER_NO_MEMORY, "out of memory");
  made->count = count;
  made->thread_count = threads;
  made->command_count = command_count;
  made->signal_count = signal_count;
  made->looks = threads <= processors ? LOOKS : 0;
  made->process = getpid();
  atomic_flag_clear(&made->busy);
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->begun, NULL);
  pthread_cond_init(&made->done, NULL);
  tether_status status = build(made, scene, commands, signals, error);
  if (status == TETHER_OK)
    *batch = made;
  else
    tether_batch_free(made);
  return status;
}

/* In a child of fork() there are no threads to stop. */
static void stop_threads(tether_batch *batch) {
  if (batch->process != getpid()) return;
  run(batch, QUIT);
  for (int i = 1; i <= batch->started; i++) pthread_join(batch->workers[i].thread, NULL);
  pthread_cond_destroy(&batch->begun);
  pthread_cond_destroy(&batch->done);
  pthread_mutex_destroy(&batch->lock);
}

void tether_batch_free(tether_batch *batch) {
  if (!batch) return;
  stop_threads(batch);
  for (int i = 0; batch->sims && i < batch->count; i++) tether_sim_free(batch->sims[i]);
  free(batch->sims);
  free(batch->failures);
  free(batch->failed);
  free(batch->reasons);
  free(batch->commands);
  free(batch->signals);
  free(batch->workers);
  free(batch);
}

static tether_status check(const tether_batch *batch, tether_error *error) {
  library_begin(error);
  if (!batch) return library_fail(error, TETHER_INVALID, "batch: NULL");
  if (batch->process != getpid())
    return library_fail(error, TETHER_FAILED,
                        "the batch's threads stayed in the process that forked; make a new one");
  return TETHER_OK;
}

static void leave_sims(tether_batch *batch, int count) {
  for (int i = 0; i < count; i++) atomic_flag_clear(&batch->sims[i]->busy);
  atomic_flag_clear(&batch->busy);
}

/* The caller's, with all its simulations, until it leaves. */
static tether_status enter(tether_batch *batch, tether_error *error) {
  tether_status status = check(batch, error);
  if (status != TETHER_OK) return status;
  if (atomic_flag_test_and_set(&batch->busy))
    return library_fail(error, TETHER_BUSY, "another thread is using this batch");
  for (int i = 0; i < batch->count; i++) {
    if (!atomic_flag_test_and_set(&batch->sims[i]->busy)) continue;
    leave_sims(batch, i);
    return library_fail(error, TETHER_BUSY, "another thread is using simulation %d of this batch",
                        i);
  }
  return TETHER_OK;
}

static tether_status leave(tether_batch *batch, tether_status status) {
  leave_sims(batch, batch->count);
  return status;
}

static tether_status check_step(const tether_batch *batch, const double *commands, int64_t steps,
                                const double *signals, tether_error *error) {
  if (steps <= 0)
    return library_fail(error, TETHER_INVALID, "steps: %lld; give at least 1", (long long)steps);
  if (batch->command_count && !commands)
    return library_fail(error, TETHER_INVALID, "commands: NULL; give [%d][%d] values", batch->count,
                        batch->command_count);
  if (batch->signal_count && !signals)
    return library_fail(error, TETHER_INVALID, "signals: NULL; give room for [%d][%d] values",
                        batch->count, batch->signal_count);
  return TETHER_OK;
}

tether_status tether_batch_step(tether_batch *batch, const double *commands, int64_t steps,
                                double *signals, tether_error *error) {
  tether_status status = enter(batch, error);
  if (status != TETHER_OK) return status;
  status = check_step(batch, commands, steps, signals, error);
  if (status != TETHER_OK) return leave(batch, status);
  batch->values = commands;
  batch->steps = steps;
  batch->out = signals;
  atomic_store(&batch->stop, false);
  run(batch, STEP);
  if (atomic_load(&batch->stop))
    status = library_fail(error, TETHER_INTERRUPTED,
                          "interrupted: simulations that had not made %lld steps have failed",
                          (long long)steps);
  return leave(batch, status);
}

tether_status tether_batch_reset(tether_batch *batch, const uint8_t *mask, const uint64_t *seeds,
                                 double *signals, tether_error *error) {
  tether_status status = enter(batch, error);
  if (status != TETHER_OK) return status;
  batch->mask = mask;
  batch->seeds = seeds;
  batch->out = signals;
  run(batch, RESET);
  return leave(batch, TETHER_OK);
}

static tether_status check_states(const tether_batch *batch, const void *states, size_t size,
                                  tether_error *error) {
  size_t whole = batch->state_size * (size_t)batch->count;
  if (!states) return library_fail(error, TETHER_INVALID, "states: NULL; give %zu bytes", whole);
  if (size != whole)
    return library_fail(error, TETHER_INVALID,
                        "size: %d states of this scene have %zu bytes, not %zu", batch->count,
                        whole, size);
  return TETHER_OK;
}

tether_status tether_batch_save(tether_batch *batch, void *states, size_t size,
                                tether_error *error) {
  tether_status status = enter(batch, error);
  if (status != TETHER_OK) return status;
  status = check_states(batch, states, size, error);
  if (status != TETHER_OK) return leave(batch, status);
  batch->states = states;
  batch->out = NULL;
  run(batch, SAVE);
  return leave(batch, status);
}

tether_status tether_batch_restore(tether_batch *batch, const uint8_t *mask, const void *states,
                                   size_t size, double *signals, tether_error *error) {
  tether_status status = enter(batch, error);
  if (status != TETHER_OK) return status;
  status = check_states(batch, states, size, error);
  if (status != TETHER_OK) return leave(batch, status);
  batch->mask = mask;
  batch->saved = states;
  batch->out = signals;
  run(batch, RESTORE);
  return leave(batch, status);
}

static tether_status with_unit(const tether_batch *batch, const tether_handle *old,
                               const char *unit, tether_handle *handle, tether_error *error) {
  const tether_sim *sim = batch->sims[0];
  tether_item item;
  if ((old->kind & LIBRARY_KINDS) == LIBRARY_COMMAND) {
    tether_sim_command_item(sim, (int)old->index, &item);
    return tether_command_find(sim, item.name, unit, handle, error);
  }
  tether_sim_signal_item(sim, (int)old->index, &item);
  return tether_signal_find(sim, item.name, unit, handle, error);
}

/* The handles with these units: written to `made`, or only looked for. */
static tether_status with_units(const tether_batch *batch, const tether_handle *handles, int count,
                                const char *const *units, tether_handle *made,
                                tether_error *error) {
  tether_status status = TETHER_OK;
  tether_handle handle;
  for (int i = 0; i < count && status == TETHER_OK; i++) {
    status = with_unit(batch, &handles[i], units ? units[i] : NULL, &handle, error);
    if (status == TETHER_OK && made) made[i].scale = handle.scale;
  }
  return status;
}

tether_status tether_batch_set_units(tether_batch *batch, const char *const *command_units,
                                     const char *const *signal_units, tether_error *error) {
  tether_status status = enter(batch, error);
  if (status != TETHER_OK) return status;
  for (int set = 0; set < 2 && status == TETHER_OK; set++) { /* all can be, then all are */
    status = with_units(batch, batch->commands, batch->command_count, command_units,
                        set ? batch->commands : NULL, error);
    if (status == TETHER_OK)
      status = with_units(batch, batch->signals, batch->signal_count, signal_units,
                          set ? batch->signals : NULL, error);
  }
  return leave(batch, status);
}

int tether_batch_count(const tether_batch *batch) { return batch ? batch->count : 0; }

tether_status tether_batch_failure(const tether_batch *batch, int index, tether_error *error) {
  if (!batch || index < 0 || index >= batch->count)
    return library_fail(error, TETHER_NOT_FOUND, "index: there is no simulation %d", index);
  if (error) *error = batch->reasons[index];
  return batch->failures[index];
}

const uint8_t *tether_batch_failed(const tether_batch *batch) {
  return batch ? batch->failed : NULL;
}

tether_status tether_batch_set_interrupt(tether_batch *batch, tether_interrupt *callback,
                                         void *context, tether_error *error) {
  tether_status status = enter(batch, error);
  if (status != TETHER_OK) return status;
  batch->workers[0].watch.callback = callback;
  batch->workers[0].watch.context = context;
  return leave(batch, TETHER_OK);
}

tether_sim *tether_batch_sim(tether_batch *batch, int index) {
  return batch && index >= 0 && index < batch->count ? batch->sims[index] : NULL;
}
