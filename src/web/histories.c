#include "web/histories.h"

#include "base/clock.h"

#include <glib.h>
#include <glib/gstdio.h>

#include <stdatomic.h>
#include <sys/resource.h>

#define MOST_OPEN 12               /* logs that nobody looks into at the moment */
#define IDLE 120000000             /* µs after which one is closed */
#define FOLLOW_EVERY 100000        /* µs */
#define TURN_EVERY 250000          /* µs: the thread's */
#define PORTION 500                /* samples: a few milliseconds */
#define LEAST_OVERVIEW (32u << 20) /* bytes: a smaller log is quickly read */
#define POLITE 10                  /* below the world's thread, which has a time to keep */

struct tt_history {
  gatomicrefcount references; /* the table's, and one of each who has it */
  pthread_rwlock_t lock;      /* guards what follows but `used` */
  char *path;
  guint64 device, inode; /* of its file */
  atomic_size_t size;    /* that it had at least, once it is open */
  tt_run_log *log;       /* NULL: not open yet */
  tt_overview *overview; /* NULL: it is small */
  bool whole;            /* the overview has everything there is */
  gint64 followed;       /* µs monotonic */
  gint64 used;           /* the same; guarded by the table's mutex */
};

struct tt_histories {
  char *recording;       /* NULL: none */
  pthread_mutex_t mutex; /* guards what follows */
  pthread_cond_t changed;
  GPtrArray *open; /* tt_history */
  bool ending;
  GThread *thread;
};

static void unref(tt_history *history) {
  if (!g_atomic_ref_count_dec(&history->references)) return;
  tt_overview_free(history->overview);
  tt_run_log_close(history->log);
  pthread_rwlock_destroy(&history->lock);
  g_free(history->path);
  g_free(history);
}

static void unref_any(gpointer history) { unref(history); }

/* ---- the table ---- */

static tt_history *find(tt_histories *histories, const char *path, const GStatBuf *about) {
  for (guint i = 0; i < histories->open->len; i++) {
    tt_history *one = histories->open->pdata[i];
    const bool cut = (size_t)about->st_size < atomic_load(&one->size);
    if (strcmp(one->path, path) == 0 && one->device == about->st_dev &&
        one->inode == about->st_ino && !cut)
      return one;
  }
  return NULL;
}

static tt_history *add(tt_histories *histories, const char *path, const GStatBuf *about) {
  tt_history *made = g_new0(tt_history, 1);
  g_atomic_ref_count_init(&made->references);
  pthread_rwlock_init(&made->lock, NULL);
  made->path = g_strdup(path);
  made->device = about->st_dev;
  made->inode = about->st_ino;
  g_ptr_array_add(histories->open, made);
  return made;
}

/* Closes those that nobody looked into for long, and the oldest of too many. Under the mutex. */
static void forget_old(tt_histories *histories, gint64 now) {
  guint left = histories->open->len;
  for (guint i = 0; i < histories->open->len;) {
    tt_history *one = histories->open->pdata[i];
    bool present = g_strcmp0(one->path, histories->recording) == 0;
    bool idle = g_atomic_ref_count_compare(&one->references, 1) && !present;
    if (idle && (now - one->used > IDLE || left > MOST_OPEN)) {
      g_ptr_array_remove_index(histories->open, i);
      left--;
    } else {
      i++;
    }
  }
}

static tt_history *take(tt_histories *histories, const char *path) {
  GStatBuf about;
  if (g_stat(path, &about) != 0) return NULL;
  gint64 now = g_get_monotonic_time();
  pthread_mutex_lock(&histories->mutex);
  tt_history *found = find(histories, path, &about);
  if (!found) {
    forget_old(histories, now);
    found = add(histories, path, &about);
  }
  found->used = now;
  g_atomic_ref_count_inc(&found->references);
  pthread_mutex_unlock(&histories->mutex);
  return found;
}

/* ---- one log; for writing ---- */

static tt_status open_log(tt_history *history, tt_error *error) {
  TT_TRY(tt_run_log_open_growing(history->path, &history->log, error));
  atomic_store(&history->size, tt_run_log_size(history->log));
  history->followed = g_get_monotonic_time();
  return TT_OK;
}

static tt_status follow(tt_history *history, tt_error *error) {
  gint64 now = g_get_monotonic_time();
  if (!history->log) return open_log(history, error);
  if (!tt_run_log_grows(history->log) || now - history->followed < FOLLOW_EVERY) return TT_OK;
  size_t before = tt_run_log_size(history->log);
  tt_status status = tt_run_log_follow(history->log);
  if (tt_run_log_size(history->log) != before) history->whole = false;
  history->followed = now;
  return status == TT_OK ? TT_OK : tt_fail(error, status, "%s: out of memory", history->path);
}

/* What the last who looked into it found is taken; else it begins with nothing. */
static void begin_overview(tt_history *history) {
  if (tt_run_log_size(history->log) < LEAST_OVERVIEW) return;
  history->overview = tt_overview_new(history->log);
  if (history->overview) tt_overview_read(history->overview, history->path);
}

/* True: there is more to do. */
static bool build_overview(tt_history *history) {
  if (history->whole) return false;
  if (!history->overview) begin_overview(history);
  if (!history->overview) return false;
  tt_status status = tt_overview_take(history->overview, PORTION);
  if (status == TT_OK) return true;
  if (status == TT_END) {
    history->whole = true;
    if (!tt_run_log_grows(history->log)) tt_overview_write(history->overview, history->path);
  } else {
    tt_overview_free(history->overview);
    history->overview = NULL;
  }
  return false;
}

/* ---- taking ---- */

/* Is the log as it should be? For reading. */
static bool is_fresh(const tt_history *history) {
  return history->log && (!tt_run_log_grows(history->log) ||
                          g_get_monotonic_time() - history->followed < FOLLOW_EVERY);
}

static tt_status lock_fresh(tt_history *history, tt_error *error) {
  tt_status status = TT_OK;
  pthread_rwlock_rdlock(&history->lock);
  if (is_fresh(history)) return TT_OK;
  pthread_rwlock_unlock(&history->lock);
  pthread_rwlock_wrlock(&history->lock);
  status = follow(history, error);
  if (status == TT_OK && !history->overview) begin_overview(history);
  pthread_rwlock_unlock(&history->lock);
  if (status == TT_OK) pthread_rwlock_rdlock(&history->lock);
  return status;
}

tt_status tt_histories_take(tt_histories *histories, const char *path, tt_history **history,
                            tt_error *error) {
  *history = NULL;
  tt_history *taken = take(histories, path);
  if (!taken) return tt_fail(error, TT_NOT_FOUND, "%s: can't be read", path);
  tt_status status = lock_fresh(taken, error);
  if (status != TT_OK) {
    unref(taken);
    return status;
  }
  *history = taken;
  return TT_OK;
}

void tt_history_give(tt_history *history) {
  if (!history) return;
  pthread_rwlock_unlock(&history->lock);
  unref(history);
}

const tt_run_log *tt_history_log(const tt_history *history) { return history->log; }

const tt_overview *tt_history_overview(const tt_history *history) { return history->overview; }

/* ---- the thread ---- */

static bool is_ending(tt_histories *histories) {
  pthread_mutex_lock(&histories->mutex);
  bool ending = histories->ending;
  pthread_mutex_unlock(&histories->mutex);
  return ending;
}

/* Portion by portion, so that others come to it, too. */
static void work_on(tt_histories *histories, tt_history *history) {
  for (bool more = true; more && !is_ending(histories);) {
    pthread_rwlock_wrlock(&history->lock);
    more = history->log && follow(history, NULL) == TT_OK && build_overview(history);
    pthread_rwlock_unlock(&history->lock);
  }
}

static GPtrArray *list_open(tt_histories *histories) {
  GPtrArray *list = g_ptr_array_new_with_free_func(unref_any);
  tt_history *present;
  if (histories->recording &&
      tt_histories_take(histories, histories->recording, &present, NULL) == TT_OK)
    tt_history_give(present);
  pthread_mutex_lock(&histories->mutex);
  forget_old(histories, g_get_monotonic_time());
  for (guint i = 0; i < histories->open->len; i++) {
    tt_history *one = histories->open->pdata[i];
    g_atomic_ref_count_inc(&one->references);
    g_ptr_array_add(list, one);
  }
  pthread_mutex_unlock(&histories->mutex);
  return list;
}

static gpointer run(gpointer data) {
  tt_histories *histories = data;
  setpriority(PRIO_PROCESS, 0, POLITE); /* this thread's alone */
  while (!is_ending(histories)) {
    GPtrArray *list = list_open(histories);
    for (guint i = 0; i < list->len; i++) work_on(histories, list->pdata[i]);
    g_ptr_array_unref(list);
    pthread_mutex_lock(&histories->mutex);
    const int64_t until = tt_monotonic_us() + TURN_EVERY;
    while (!histories->ending && tt_monotonic_us() < until)
      tt_wait_until(&histories->changed, &histories->mutex, until);
    pthread_mutex_unlock(&histories->mutex);
  }
  return NULL;
}

tt_histories *tt_histories_new(const char *recording) {
  tt_histories *made = g_new0(tt_histories, 1);
  made->recording = g_strdup(recording);
  made->open = g_ptr_array_new_with_free_func(unref_any);
  pthread_mutex_init(&made->mutex, NULL);
  pthread_cond_init(&made->changed, NULL);
  made->thread = g_thread_new("histories", run, made);
  return made;
}

/* So that the next who looks into it need not read it. */
static void keep_present(tt_histories *histories) {
  for (guint i = 0; i < histories->open->len; i++) {
    const tt_history *one = histories->open->pdata[i];
    if (one->overview && g_strcmp0(one->path, histories->recording) == 0)
      tt_overview_write(one->overview, one->path);
  }
}

void tt_histories_free(tt_histories *histories) {
  if (!histories) return;
  pthread_mutex_lock(&histories->mutex);
  histories->ending = true;
  pthread_cond_signal(&histories->changed);
  pthread_mutex_unlock(&histories->mutex);
  g_thread_join(histories->thread);
  keep_present(histories);
  g_ptr_array_unref(histories->open);
  pthread_cond_destroy(&histories->changed);
  pthread_mutex_destroy(&histories->mutex);
  g_free(histories->recording);
  g_free(histories);
}
