#include "app/forks.h"

#include "app/child.h"
#include "app/choice.h"
#include "base/json.h"
#include "base/log.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 16 /* that are remembered */

typedef enum fork_state { NOTHING, RUNNING, STARTING, FAILED } fork_state;

typedef struct one_fork {
  fork_state state;
  uint64_t number;
  double done;               /* 0…1 */
  char scene[TT_SCENE_NAME]; /* the file that is run */
  tt_error error;
} one_fork;

struct tt_forks {
  tt_run_forker for_web;
  tt_scene_choice *choice;
  pthread_mutex_t mutex; /* guards what follows */
  one_fork forks[MOST];  /* by their number, modulo MOST */
  uint64_t last;
  bool busy; /* the thread is at it, with `fork` */
  bool started;
  pthread_t thread;
  tt_fork *fork;
  bool closing;
};

static one_fork *place_of(tt_forks *forks, uint64_t number) {
  one_fork *place = &forks->forks[number % MOST];
  return place->number == number && place->state != NOTHING ? place : NULL;
}

/* ---- making one, in a thread ---- */

static bool is_closing(void *context) {
  tt_forks *forks = context;
  pthread_mutex_lock(&forks->mutex);
  bool closing = forks->closing;
  pthread_mutex_unlock(&forks->mutex);
  return closing;
}

/* What `tether verify --json` says: {"done"}, and at the end {"time"} and {"verdict", "error"}. */
static void hear(void *context, const char *line) {
  tt_forks *forks = context;
  struct json_object *said, *done, *time;
  if (tt_json_read(line, strlen(line), TT_JSON_STRICT, &said, NULL) != TT_OK) return;
  pthread_mutex_lock(&forks->mutex);
  one_fork *now = place_of(forks, forks->last);
  if (json_object_object_get_ex(said, "done", &done)) now->done = json_object_get_double(done);
  if (json_object_object_get_ex(said, "time", &time))
    tt_fork_set_time(forks->fork, json_object_get_double(time));
  const char *verdict = tt_json_text(said, "verdict");
  if (strcmp(verdict, "identical") == 0) {
    now->state = STARTING;
    now->done = 1;
  } else if (*verdict) {
    tt_fail(&now->error, TT_FAILED, "%s", tt_json_text(said, "error"));
  }
  pthread_mutex_unlock(&forks->mutex);
  json_object_put(said);
}

static tt_status compute(tt_forks *forks, tt_error *error) {
  int count;
  char until[64];
  const tt_fork *fork = forks->fork;
  const char *const *settings = tt_fork_added(fork, &count);
  const char **words = calloc(2 * (size_t)count + 8, sizeof *words);
  if (!words) return tt_fail(error, TT_NOMEM, "out of memory");
  size_t used = 0;
  snprintf(until, sizeof until, "%.9f", tt_fork_time(fork));
  const char *const first[] = {"verify", "--json",       "--until",
                               until,    "--save-state", tt_fork_state(fork)};
  for (size_t i = 0; i < sizeof first / sizeof *first; i++) words[used++] = first[i];
  for (int i = 0; i < count; i++) words[used++] = "--set", words[used++] = settings[i];
  words[used] = tt_fork_log(fork);
  tt_status status = tt_child_listen(words, hear, is_closing, forks, error);
  free(words);
  return status;
}

static void *work(void *context) {
  tt_forks *forks = context;
  tt_error error = {""};
  tt_status status = compute(forks, &error);
  pthread_mutex_lock(&forks->mutex);
  one_fork *now = place_of(forks, forks->last);
  bool ready = status == TT_OK && now->state == STARTING;
  if (!ready && *now->error.text) error = now->error;
  tt_fork *fork = forks->fork;
  forks->fork = NULL;
  pthread_mutex_unlock(&forks->mutex);
  if (ready) status = tt_scene_choice_fork(forks->choice, fork, &error);
  if (!ready || status != TT_OK) tt_fork_free(fork);
  pthread_mutex_lock(&forks->mutex);
  if (!ready || status != TT_OK) {
    now->state = FAILED;
    now->error = error;
    if (!*error.text) tt_fail(&now->error, TT_FAILED, "tether verify ended before its time");
    tt_log_info("fork: %s", now->error.text);
  }
  forks->busy = false;
  pthread_mutex_unlock(&forks->mutex);
  return NULL;
}

/* ---- what others ask ---- */

/* Under the mutex. */
static tt_status start(tt_forks *forks, tt_fork *fork, uint64_t *number, tt_error *error) {
  if (forks->busy || forks->closing)
    return tt_fail(error, TT_FULL, "another run is about to go on; try again");
  if (forks->started) pthread_join(forks->thread, NULL);
  one_fork *place = &forks->forks[++forks->last % MOST];
  *place = (one_fork){.state = RUNNING, .number = forks->last};
  snprintf(place->scene, sizeof place->scene, "%s", tt_fork_scene(fork));
  forks->fork = fork;
  forks->busy = forks->started = pthread_create(&forks->thread, NULL, work, forks) == 0;
  *number = forks->last;
  if (forks->started) return TT_OK;
  forks->fork = NULL;
  place->state = NOTHING;
  return tt_fail(error, TT_FAILED, "can't start a thread");
}

static tt_status begin(void *context, const tt_fork_wish *wish, uint64_t *number, tt_error *error) {
  tt_forks *forks = context;
  tt_fork *fork;
  TT_TRY(tt_scene_choice_may_go(forks->choice, error));
  TT_TRY(tt_fork_new(wish->path, wish->time, wish->settings, wish->setting_count, &fork, error));
  tt_status status =
      wish->administers ? TT_OK : tt_scene_choice_may_run(forks->choice, fork, error);
  pthread_mutex_lock(&forks->mutex);
  if (status == TT_OK) status = start(forks, fork, number, error);
  pthread_mutex_unlock(&forks->mutex);
  if (status != TT_OK) tt_fork_free(fork);
  return status;
}

/* It is done once its scene runs; or that could not be opened. */
static const char *state_of(tt_forks *forks, one_fork *one) {
  if (one->state != STARTING) return one->state == RUNNING ? "running" : "failed";
  if (tt_scene_choice_refused(forks->choice, one->scene, &one->error)) {
    one->state = FAILED;
    return "failed";
  }
  return tt_scene_choice_runs(forks->choice, one->scene) ? "done" : "starting";
}

static struct json_object *tell(void *context, uint64_t number) {
  tt_forks *forks = context;
  struct json_object *made = NULL;
  pthread_mutex_lock(&forks->mutex);
  one_fork *one = place_of(forks, number);
  if (one && (made = json_object_new_object())) {
    tt_json_add_text(made, "state", state_of(forks, one));
    tt_json_add_double(made, "done", one->done);
    tt_json_add_text(made, "error", one->state == FAILED ? one->error.text : NULL);
  }
  pthread_mutex_unlock(&forks->mutex);
  return made;
}

/* ---- beginning and end ---- */

tt_status tt_forks_new(tt_scene_choice *choice, tt_forks **made, tt_error *error) {
  tt_forks *forks = calloc(1, sizeof *forks);
  if (!forks) return tt_fail(error, TT_NOMEM, "out of memory");
  forks->for_web = (tt_run_forker){begin, tell, forks};
  forks->choice = choice;
  pthread_mutex_init(&forks->mutex, NULL);
  *made = forks;
  return TT_OK;
}

void tt_forks_close(tt_forks *forks) {
  if (!forks) return;
  pthread_mutex_lock(&forks->mutex);
  forks->closing = true;
  bool started = forks->started;
  pthread_mutex_unlock(&forks->mutex);
  if (started) pthread_join(forks->thread, NULL);
}

const tt_run_forker *tt_forks_for_web(const tt_forks *forks) { return &forks->for_web; }
