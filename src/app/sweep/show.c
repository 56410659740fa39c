#include "app/sweep/show.h"

#include "app/child.h"
#include "app/guests.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "record/run_folder.h"
#include "sweep/plan.h"
#include "sweep/table.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST_SHOWS 4
#define MOST_KEPT 50           /* logs that were made for this */
#define MOST_BYTES 2000000000u /* of them together */
#define PATIENCE_SECONDS 600   /* for one log */
#define OPENING_SECONDS 60     /* for a replay to listen */

typedef enum show_state { NOTHING, WAITING, MAKING, OPENING, READY, FAILED } show_state;
static const char *const state_names[] = {"", "waiting", "making", "opening", "ready", "failed"};

typedef struct show {
  char key[17];
  char *table;
  char runs[TT_SWEEP_MOST_SHOWN][33];
  int count, made;
  show_state state;
  uint64_t number; /* the greater, the newer */
  time_t began;
  char address[300];
  tt_child replay;
  tt_error error;
} show;

struct tt_sweep_shows {
  char folder[PATH_MAX], host[64];
  tt_sweep_shower shower;
  pthread_t thread;
  pthread_mutex_t mutex; /* guards what follows */
  pthread_cond_t changed;
  show shows[MOST_SHOWS];
  uint64_t last;
  bool closing;
};

/* ---- what others ask ---- */

static void name_show(const char *table, const char *const *runs, int count, char key[17]) {
  uint64_t hash = tt_hash_bytes(TT_HASH_START, table, strlen(table));
  for (int i = 0; i < count; i++) hash = tt_hash_bytes(hash, runs[i], strlen(runs[i]));
  snprintf(key, 17, "%016llx", (unsigned long long)hash);
}

static show *find(tt_sweep_shows *shows, const char *key) {
  for (int i = 0; i < MOST_SHOWS; i++)
    if (shows->shows[i].state != NOTHING && strcmp(shows->shows[i].key, key) == 0)
      return &shows->shows[i];
  return NULL;
}

/* Of a new show: one that is free, or the oldest that is done. NULL: all are being made. */
static show *take_place(tt_sweep_shows *shows) {
  show *found = NULL;
  for (int i = 0; i < MOST_SHOWS; i++) {
    show *one = &shows->shows[i];
    if (one->state == NOTHING) return one;
    bool done = one->state == READY || one->state == FAILED;
    if (done && (!found || one->number < found->number)) found = one;
  }
  return found;
}

/* Still there, and nothing went wrong. */
static bool lives(show *one) {
  return one->state != FAILED && (one->state != READY || tt_child_lives(&one->replay));
}

static tt_status begin(tt_sweep_shows *shows, const char *table, const char *const *runs, int count,
                       const char *key, tt_error *error) {
  show *place = find(shows, key);
  if (place && lives(place)) return TT_OK;
  if (!place) place = take_place(shows);
  char *copy = place ? strdup(table) : NULL;
  if (!copy) return tt_fail(error, TT_FULL, "other runs are being made at the moment; try again");
  tt_child_end(&place->replay);
  free(place->table);
  *place = (show){.table = copy, .count = count, .state = WAITING, .began = time(NULL)};
  place->number = ++shows->last;
  snprintf(place->key, sizeof place->key, "%s", key);
  for (int i = 0; i < count; i++) snprintf(place->runs[i], sizeof place->runs[i], "%s", runs[i]);
  pthread_cond_signal(&shows->changed);
  return TT_OK;
}

static tt_status show_runs(void *context, const char *table, const char *const *runs, int count,
                           char key[17], tt_error *error) {
  tt_sweep_shows *shows = context;
  name_show(table, runs, count, key);
  pthread_mutex_lock(&shows->mutex);
  tt_status status = begin(shows, table, runs, count, key, error);
  pthread_mutex_unlock(&shows->mutex);
  return status;
}

static struct json_object *describe(const show *one) {
  struct json_object *made = json_object_new_object();
  tt_json_add_text(made, "state", state_names[one->state]);
  tt_json_add_int(made, "made", one->made);
  tt_json_add_int(made, "count", one->count);
  tt_json_add_int(made, "seconds", time(NULL) - one->began);
  tt_json_add_text(made, "address", one->state == READY ? one->address : NULL);
  tt_json_add_text(made, "error", one->state == FAILED ? one->error.text : NULL);
  struct json_object *runs = tt_json_add_array(made, "runs");
  for (int i = 0; i < one->count; i++) {
    char id[64];
    snprintf(id, sizeof id, "%s" TT_RUN_ENDING, one->runs[i]);
    json_object_array_add(runs, json_object_new_string(id));
  }
  return made;
}

static struct json_object *tell(void *context, const char *key) {
  tt_sweep_shows *shows = context;
  pthread_mutex_lock(&shows->mutex);
  show *one = find(shows, key);
  if (one && !lives(one) && one->state == READY) {
    one->state = FAILED;
    tt_fail(&one->error, TT_FAILED, "its replay has ended; show it again");
  }
  struct json_object *made = one ? describe(one) : NULL;
  pthread_mutex_unlock(&shows->mutex);
  return made;
}

/* ---- making logs ---- */

static bool is_closing(void *context) {
  tt_sweep_shows *shows = context;
  pthread_mutex_lock(&shows->mutex);
  bool closing = shows->closing;
  pthread_mutex_unlock(&shows->mutex);
  return closing;
}

static void enter(tt_sweep_shows *shows, show *one, show_state state) {
  pthread_mutex_lock(&shows->mutex);
  one->state = state;
  pthread_mutex_unlock(&shows->mutex);
}

/* The sweep may have kept it: then it is shown, not made. Linked, since a replay has one folder of runs. */
static bool link_kept(const char *plan_path, const char *run, const char *log) {
  tt_sweep_plan *plan;
  tt_error error;
  char kept[PATH_MAX];
  if (tt_sweep_plan_load(&tt_program_guests, plan_path, NULL, 0, &plan, &error) != TT_OK) {
    tt_log_info("sweep: whether run %s was kept can't be told: %s", run, error.text);
    return false;
  }
  int length = snprintf(kept, sizeof kept, "%s/%s" TT_RUN_ENDING, plan->keep.folder, run);
  tt_sweep_plan_free(plan);
  if (length < PATH_MAX && link(kept, log) == 0) return true;
  if (errno != ENOENT) tt_log_info("sweep: %s: can't be linked: %s", kept, strerror(errno));
  return false;
}

/* Under another name as long as it isn't whole. */
static tt_status make_log(tt_sweep_shows *shows, const char *plan, const char *run, const char *log,
                          tt_error *error) {
  char part[PATH_MAX + 16];
  snprintf(part, sizeof part, "%s.%d.part", log, (int)getpid());
  unlink(part);
  const char *const words[] = {"sweep", plan, "--only", run, "--record", part, NULL};
  tt_status status = tt_child_run(words, PATIENCE_SECONDS, is_closing, shows, error);
  if (status != TT_OK) {
    unlink(part);
    return status;
  }
  if (rename(part, log) == 0) return TT_OK;
  unlink(part);
  return tt_fail(error, TT_FAILED, "%s: no log of this run was made: %s", part, strerror(errno));
}

static tt_status get_log(tt_sweep_shows *shows, const char *plan, const char *run,
                         char log[PATH_MAX], tt_error *error) {
  if (snprintf(log, PATH_MAX, "%s/%s" TT_RUN_ENDING, shows->folder, run) >= PATH_MAX)
    return tt_fail(error, TT_FAILED, "%s: this path is too long", shows->folder);
  if (access(log, R_OK) == 0 || link_kept(plan, run, log)) return TT_OK;
  return make_log(shows, plan, run, log, error);
}

static tt_status read_plan(const char *path, char **plan, tt_error *error) {
  tt_sweep_table *table;
  TT_TRY(tt_sweep_table_open(path, &table, error));
  *plan = tt_sweep_table_fact(table, "plan");
  tt_sweep_table_close(table);
  return *plan ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

static tt_status make(tt_sweep_shows *shows, show *one, char log[PATH_MAX], tt_error *error) {
  char *plan, other[PATH_MAX];
  tt_status status = read_plan(one->table, &plan, error);
  if (status != TT_OK) return status;
  for (int i = 0; i < one->count && status == TT_OK; i++) {
    status = get_log(shows, plan, one->runs[i], i ? other : log, error);
    pthread_mutex_lock(&shows->mutex);
    one->made += status == TT_OK;
    pthread_mutex_unlock(&shows->mutex);
  }
  free(plan);
  return status;
}

/* ---- room for logs ---- */

/* A log, and when it came here. */
typedef struct log_here {
  const tt_kept_run *run;
  struct timespec came;
  uint64_t size;
} log_here;

static int newest_first(const void *a, const void *b) {
  const log_here *one = a, *other = b;
  if (one->came.tv_sec != other->came.tv_sec) return one->came.tv_sec < other->came.tv_sec ? 1 : -1;
  return (one->came.tv_nsec < other->came.tv_nsec) - (one->came.tv_nsec > other->came.tv_nsec);
}

static bool is_of(const show *one, const char *id) {
  for (int i = 0; i < one->count; i++)
    if (strncmp(one->runs[i], id, strlen(one->runs[i])) == 0) return true;
  return false;
}

/* Removes the oldest; those that are to be shown now stay. Names are no dates here, as those of kept runs are. */
static void make_room(const tt_sweep_shows *shows, const show *now) {
  tt_kept_runs runs;
  size_t count = 0, kept = 0;
  uint64_t bytes = 0;
  log_here *logs = NULL;
  if (tt_kept_runs_list(shows->folder, &runs) == TT_OK) logs = calloc(runs.count + 1, sizeof *logs);
  for (size_t i = 0; logs && i < runs.count; i++) {
    struct stat about;
    if (stat(runs.runs[i].path, &about) != 0) continue;
    logs[count++] = (log_here){&runs.runs[i], about.st_ctim, (uint64_t)about.st_size};
  }
  if (count) qsort(logs, count, sizeof *logs, newest_first);
  for (size_t i = 0; i < count; i++) {
    bytes += logs[i].size;
    if ((++kept > MOST_KEPT || bytes > MOST_BYTES) && !is_of(now, logs[i].run->id))
      tt_kept_run_remove(shows->folder, logs[i].run->id, NULL);
  }
  free(logs);
  tt_kept_runs_free(&runs);
}

/* ---- showing them ---- */

static tt_status open_replay(tt_sweep_shows *shows, show *one, const char *log, tt_error *error) {
  char listen[100], folder[PATH_MAX + 20], address[300];
  const char *host = strchr(shows->host, ':') ? "[::1]" : shows->host;
  snprintf(listen, sizeof listen, "web.listen=%s:0", host);
  snprintf(folder, sizeof folder, "record.folder=%s", shows->folder);
  const char *const words[] = {"replay", log,          "--set", listen,        "--set", folder,
                               "--set",  "web.token=", "--set", "web.tokens=", NULL};
  tt_child child;
  TT_TRY(tt_child_start(words, &child, error));
  tt_status status = tt_child_ready(&child, "web=", OPENING_SECONDS, is_closing, shows, address,
                                    sizeof address, error);
  if (status != TT_OK) {
    tt_child_end(&child);
    return status;
  }
  pthread_mutex_lock(&shows->mutex);
  one->replay = child;
  snprintf(one->address, sizeof one->address, "%s", address);
  pthread_mutex_unlock(&shows->mutex);
  return TT_OK;
}

static void work_on(tt_sweep_shows *shows, show *one) {
  char log[PATH_MAX];
  tt_error error = {""};
  enter(shows, one, MAKING);
  tt_status status = make(shows, one, log, &error);
  make_room(shows, one);
  enter(shows, one, OPENING);
  if (status == TT_OK) status = open_replay(shows, one, log, &error);
  pthread_mutex_lock(&shows->mutex);
  one->error = error;
  one->state = status == TT_OK ? READY : FAILED;
  pthread_mutex_unlock(&shows->mutex);
  if (status != TT_OK) tt_log_info("sweep: a run can't be shown: %s", error.text);
}

static show *next(tt_sweep_shows *shows) {
  show *found = NULL;
  for (int i = 0; i < MOST_SHOWS; i++) {
    show *one = &shows->shows[i];
    if (one->state == WAITING && (!found || one->number < found->number)) found = one;
  }
  return found;
}

static void *work(void *context) {
  tt_sweep_shows *shows = context;
  pthread_mutex_lock(&shows->mutex);
  while (!shows->closing) {
    show *one = next(shows);
    if (!one) {
      pthread_cond_wait(&shows->changed, &shows->mutex);
      continue;
    }
    pthread_mutex_unlock(&shows->mutex);
    work_on(shows, one);
    pthread_mutex_lock(&shows->mutex);
  }
  for (int i = 0; i < MOST_SHOWS; i++) tt_child_end(&shows->shows[i].replay);
  pthread_mutex_unlock(&shows->mutex);
  return NULL;
}

/* ---- beginning and end ---- */

tt_status tt_sweep_shows_new(const char *folder, const char *host, tt_sweep_shows **made,
                             tt_error *error) {
  tt_sweep_shows *shows = calloc(1, sizeof *shows);
  if (!shows) return tt_fail(error, TT_NOMEM, "out of memory");
  snprintf(shows->folder, sizeof shows->folder, "%s", folder);
  snprintf(shows->host, sizeof shows->host, "%s", host);
  shows->shower = (tt_sweep_shower){show_runs, tell, shows, NULL};
  pthread_mutex_init(&shows->mutex, NULL);
  pthread_cond_init(&shows->changed, NULL);
  if (pthread_create(&shows->thread, NULL, work, shows) != 0) {
    free(shows);
    return tt_fail(error, TT_FAILED, "can't start a thread");
  }
  *made = shows;
  return TT_OK;
}

void tt_sweep_shows_free(tt_sweep_shows *shows) {
  if (!shows) return;
  pthread_mutex_lock(&shows->mutex);
  shows->closing = true;
  pthread_cond_signal(&shows->changed);
  pthread_mutex_unlock(&shows->mutex);
  pthread_join(shows->thread, NULL);
  for (int i = 0; i < MOST_SHOWS; i++) free(shows->shows[i].table);
  pthread_cond_destroy(&shows->changed);
  pthread_mutex_destroy(&shows->mutex);
  free(shows);
}

const tt_sweep_shower *tt_sweep_shows_shower(tt_sweep_shows *shows) { return &shows->shower; }
