#include "app/attach/verifier.h"

#include "app/child.h"
#include "base/json.h"
#include "base/log.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST 16 /* answers that are remembered, and requests that wait */

typedef enum proof_state { NOTHING, WAITING, RUNNING, DONE } proof_state;
static const char *const state_names[] = {"", "waiting", "running", "done"};

/* Of one log, as it was when it was asked for. */
typedef struct proof {
  proof_state state;
  char path[PATH_MAX];
  struct timespec modified;
  uint64_t number; /* the greater, the newer */
  double done;     /* 0…1 */
  struct json_object *answer;
} proof;

struct tt_verifier {
  tt_run_verifier for_web;
  pthread_t thread;
  pthread_mutex_t mutex; /* guards what follows */
  pthread_cond_t changed;
  proof proofs[MOST];
  proof *now; /* is being made */
  uint64_t last;
  bool closing;
};

/* ---- what others ask ---- */

/* Of the file as it is now: one that was changed since counts for another. */
static proof *find(tt_verifier *verifier, const char *path) {
  struct stat about;
  if (stat(path, &about) != 0) return NULL;
  for (int i = 0; i < MOST; i++) {
    proof *one = &verifier->proofs[i];
    if (one->state != NOTHING && strcmp(one->path, path) == 0 &&
        memcmp(&one->modified, &about.st_mtim, sizeof one->modified) == 0)
      return one;
  }
  return NULL;
}

/* One that is free, or the oldest that is done; NULL: all wait. */
static proof *take_place(tt_verifier *verifier) {
  proof *found = NULL;
  for (int i = 0; i < MOST; i++) {
    proof *one = &verifier->proofs[i];
    if (one->state == NOTHING) return one;
    if (one->state == DONE && (!found || one->number < found->number)) found = one;
  }
  return found;
}

static tt_status begin_locked(tt_verifier *verifier, const char *path, tt_error *error) {
  struct stat about;
  if (find(verifier, path)) return TT_OK;
  proof *place = take_place(verifier);
  if (!place) return tt_fail(error, TT_FULL, "%d other runs are to be verified first", MOST);
  if (stat(path, &about) != 0 || strlen(path) >= sizeof place->path)
    return tt_fail(error, TT_NOT_FOUND, "there is no such run");
  json_object_put(place->answer);
  *place = (proof){.state = WAITING, .modified = about.st_mtim, .number = ++verifier->last};
  snprintf(place->path, sizeof place->path, "%s", path);
  pthread_cond_signal(&verifier->changed);
  return TT_OK;
}

static tt_status begin(void *context, const char *path, tt_error *error) {
  tt_verifier *verifier = context;
  pthread_mutex_lock(&verifier->mutex);
  tt_status status = begin_locked(verifier, path, error);
  pthread_mutex_unlock(&verifier->mutex);
  return status;
}

static void copy_member(struct json_object *from, const char *key, struct json_object *to) {
  struct json_object *value = NULL, *copy = NULL;
  json_object_object_get_ex(from, key, &value);
  if (value) json_object_deep_copy(value, &copy, NULL);
  tt_json_add(to, key, copy);
}

static struct json_object *tell(void *context, const char *path) {
  tt_verifier *verifier = context;
  struct json_object *made = NULL;
  pthread_mutex_lock(&verifier->mutex);
  const proof *one = find(verifier, path);
  if (one && (made = json_object_new_object())) {
    tt_json_add_text(made, "state", state_names[one->state]);
    tt_json_add_double(made, "done", one->done);
    copy_member(one->answer, "verdict", made);
    copy_member(one->answer, "lines", made);
    copy_member(one->answer, "error", made);
  }
  pthread_mutex_unlock(&verifier->mutex);
  return made;
}

/* ---- proving ---- */

static bool is_closing(void *context) {
  tt_verifier *verifier = context;
  pthread_mutex_lock(&verifier->mutex);
  bool closing = verifier->closing;
  pthread_mutex_unlock(&verifier->mutex);
  return closing;
}

/* {"done"}, and at the end {"verdict", "lines", "error"}. */
static void hear(void *context, const char *line) {
  tt_verifier *verifier = context;
  struct json_object *said, *done;
  if (tt_json_read(line, strlen(line), TT_JSON_STRICT, &said, NULL) != TT_OK) return;
  pthread_mutex_lock(&verifier->mutex);
  if (json_object_object_get_ex(said, "done", &done))
    verifier->now->done = json_object_get_double(done);
  if (json_object_object_get_ex(said, "verdict", NULL)) {
    json_object_put(verifier->now->answer);
    verifier->now->answer = json_object_get(said);
  }
  pthread_mutex_unlock(&verifier->mutex);
  json_object_put(said);
}

/* It ended without a word, or could not begin. */
static struct json_object *say_failed(const tt_error *error) {
  struct json_object *made = json_object_new_object();
  tt_json_add_text(made, "verdict", "failed");
  tt_json_add_array(made, "lines");
  tt_json_add_text(made, "error",
                   *error->text ? error->text : "tether verify ended before its time");
  return made;
}

static void prove(tt_verifier *verifier, proof *one) {
  const char *const words[] = {"verify", "--json", one->path, NULL};
  tt_error error = {""};
  tt_status status = tt_child_listen(words, hear, is_closing, verifier, &error);
  if (status != TT_OK) tt_log_info("verify: %s: %s", one->path, error.text);
  pthread_mutex_lock(&verifier->mutex);
  if (!one->answer) one->answer = say_failed(&error);
  one->state = DONE;
  one->done = 1;
  verifier->now = NULL;
  pthread_mutex_unlock(&verifier->mutex);
}

static proof *next(tt_verifier *verifier) {
  proof *found = NULL;
  for (int i = 0; i < MOST; i++) {
    proof *one = &verifier->proofs[i];
    if (one->state == WAITING && (!found || one->number < found->number)) found = one;
  }
  return found;
}

static void *work(void *context) {
  tt_verifier *verifier = context;
  pthread_mutex_lock(&verifier->mutex);
  while (!verifier->closing) {
    proof *one = next(verifier);
    if (!one) {
      pthread_cond_wait(&verifier->changed, &verifier->mutex);
      continue;
    }
    one->state = RUNNING;
    verifier->now = one;
    pthread_mutex_unlock(&verifier->mutex);
    prove(verifier, one);
    pthread_mutex_lock(&verifier->mutex);
  }
  pthread_mutex_unlock(&verifier->mutex);
  return NULL;
}

/* ---- beginning and end ---- */

tt_status tt_verifier_new(tt_verifier **made, tt_error *error) {
  tt_verifier *verifier = calloc(1, sizeof *verifier);
  if (!verifier) return tt_fail(error, TT_NOMEM, "out of memory");
  verifier->for_web = (tt_run_verifier){begin, tell, verifier};
  pthread_mutex_init(&verifier->mutex, NULL);
  pthread_cond_init(&verifier->changed, NULL);
  if (pthread_create(&verifier->thread, NULL, work, verifier) != 0) {
    free(verifier);
    return tt_fail(error, TT_FAILED, "can't start a thread");
  }
  *made = verifier;
  return TT_OK;
}

void tt_verifier_free(tt_verifier *verifier) {
  if (!verifier) return;
  pthread_mutex_lock(&verifier->mutex);
  verifier->closing = true;
  pthread_cond_signal(&verifier->changed);
  pthread_mutex_unlock(&verifier->mutex);
  pthread_join(verifier->thread, NULL);
  for (int i = 0; i < MOST; i++) json_object_put(verifier->proofs[i].answer);
  pthread_cond_destroy(&verifier->changed);
  pthread_mutex_destroy(&verifier->mutex);
  free(verifier);
}

const tt_run_verifier *tt_verifier_for_web(const tt_verifier *verifier) {
  return &verifier->for_web;
}
