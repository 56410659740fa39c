#include "record/recorder.h"

#include "base/log.h"
#include "record/checksum.h"
#include "record/describe.h"
#include "record/journal_codec.h"
#include "record/wpilog.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define QUEUE_VIEWS 256
#define WRITE_EVERY_NS 50000000  /* half of the 100 ms that a crash may cost */
#define STATISTICS_EVERY 20      /* writings: once a second */
#define SYNC_EVERY_NS 1000000000 /* what a failure of the power may cost */
#define LARGEST_BACKLOG                                                                            \
  (64u << 20) /* bytes of journal not yet written: then the run is unverifiable, or held */

enum {
  ENTRY_RUN = 1,
  ENTRY_INITIAL_STATE,
  ENTRY_JOURNAL,
  ENTRY_EVENTS,
  ENTRY_LOST,
  ENTRY_MODEL,
  ENTRY_STATISTICS,
  ENTRY_END,
  ENTRY_CHECKSUM,
  ENTRY_FIRST_FREE
};

struct tt_recorder {
  tt_observer observer; /* first: the world calls back with it */
  tt_journal_sink sink;
  const tt_model *model;
  const tt_signal_entry *signals;
  int signal_count;
  uint64_t period_steps, next_step, published;
  tt_field field;
  uint64_t size_cap;
  bool realtime;
  char *(*statistics)(void *context);
  void *statistics_context;
  char *path;
  int file;

  tt_view_queue *views;
  pthread_t writer, syncer;
  pthread_mutex_t writing; /* of the file: one segment at a time, with its checksum */
  pthread_mutex_t lock;    /* guards pending, closing and broken; held for copies only */
  pthread_cond_t wanted;   /* the writer has something to do */
  pthread_cond_t written;  /* the backlog shrank */
  pthread_cond_t ending;   /* the syncer need not wait any more */
  tt_bytes pending;        /* journal and events, encoded: whole records */
  bool closing, broken;
  bool gap; /* an entry was refused: none comes behind it, so what is kept is a run up to there */

  /* the writer's alone */
  uint32_t first_signal, first_pose;
  uint64_t *last_values; /* bits of each signal's last kept value */
  double (*last_poses)[7];
  bool *kept; /* signals, then poses: was anything kept yet? */
  bool capped;
  uint64_t lost; /* samples, of which the log does not say yet */
  char *last_statistics;
  int writings;
  atomic_ullong newest;          /* µs of the newest view; the writer's, others only look */
  atomic_ullong bytes, given_up; /* given_up: samples that did not fit into memory */
};

/* ---- the world's thread ---- */

static uint64_t microseconds(const tt_recorder *recorder, uint64_t step) {
  const tt_model *model = recorder->model;
  return step * 1000000u * (uint64_t)model->timestep_num / (uint64_t)model->timestep_den;
}

static void publish(tt_observer *observer, const tt_view *view) {
  tt_recorder *recorder = (tt_recorder *)observer;
  if (view->total_step < recorder->next_step) return;
  recorder->next_step = view->total_step + recorder->period_steps;
  tt_view_queue_push(recorder->views, view);
  /* A fast world would fill the queue before the writer wakes by itself. */
  if (++recorder->published % (QUEUE_VIEWS / 4) == 0) pthread_cond_signal(&recorder->wanted);
}

/* Waits for the disk where the pace allows it; false when the entry can't be kept. */
static bool room_for_more(tt_recorder *recorder) {
  while (recorder->pending.size > LARGEST_BACKLOG && !recorder->realtime && !recorder->broken)
    pthread_cond_wait(&recorder->written, &recorder->lock);
  return !recorder->broken && recorder->pending.size <= LARGEST_BACKLOG;
}

/* Whole or not at all; false when memory ran out. */
static bool append_entry(tt_recorder *recorder, const tt_entry *entry) {
  uint64_t timestamp = microseconds(recorder, entry->total_step);
  size_t before = recorder->pending.size;
  if (entry->kind == TT_ENTRY_EVENT) {
    char text[320];
    snprintf(text, sizeof text, "%s: %s", entry->source, entry->text);
    tt_wpilog_write_string(&recorder->pending, ENTRY_EVENTS, timestamp, text);
  } else {
    tt_journal_encode(&recorder->pending, ENTRY_JOURNAL, timestamp, entry);
  }
  bool whole = !recorder->pending.failed;
  if (!whole) tt_bytes_cut(&recorder->pending, before);
  return whole;
}

static tt_status write_entry(tt_journal_sink *sink, const tt_entry *entry) {
  tt_recorder *recorder = (tt_recorder *)((char *)sink - offsetof(tt_recorder, sink));
  pthread_mutex_lock(&recorder->lock);
  bool kept = !recorder->gap && room_for_more(recorder) && append_entry(recorder, entry);
  recorder->gap = !kept;
  pthread_mutex_unlock(&recorder->lock);
  return kept ? TT_OK : TT_FULL;
}

/* ---- the writer's thread ---- */

static bool is_broken(tt_recorder *recorder) {
  pthread_mutex_lock(&recorder->lock);
  bool broken = recorder->broken;
  pthread_mutex_unlock(&recorder->lock);
  return broken;
}

/* The disk refused something. What comes behind it would make no sense to a reader, so nothing does. */
static void break_off(tt_recorder *recorder) {
  const char *reason = strerror(errno);
  pthread_mutex_lock(&recorder->lock);
  bool first = !recorder->broken;
  recorder->broken = true;
  pthread_cond_broadcast(&recorder->written);
  pthread_mutex_unlock(&recorder->lock);
  if (first)
    tt_log_error("%s: can't write: %s; nothing more of this run is kept", recorder->path, reason);
}

static void write_all(tt_recorder *recorder, const uint8_t *bytes, size_t size) {
  size_t done = 0;
  while (done < size && !is_broken(recorder)) {
    ssize_t wrote = write(recorder->file, bytes + done, size - done);
    if (wrote >= 0) {
      done += (size_t)wrote;
    } else if (errno != EINTR) {
      break_off(recorder);
    }
  }
  atomic_fetch_add(&recorder->bytes, done);
}

/* Whole records, and behind them the checksum of their bytes. */
static void write_out(tt_recorder *recorder, const tt_bytes *bytes) {
  uint8_t checksum[TT_CHECKSUM_SIZE];
  if (bytes->size == 0) return;
  pthread_mutex_lock(&recorder->writing);
  tt_checksum_make(checksum, ENTRY_CHECKSUM, atomic_load(&recorder->newest),
                   atomic_load(&recorder->bytes), bytes->data, bytes->size);
  write_all(recorder, bytes->data, bytes->size);
  write_all(recorder, checksum, sizeof checksum);
  pthread_mutex_unlock(&recorder->writing);
}

static void flush(tt_journal_sink *sink) {
  tt_recorder *recorder = (tt_recorder *)((char *)sink - offsetof(tt_recorder, sink));
  pthread_mutex_lock(&recorder->lock);
  tt_bytes left = recorder->pending;
  recorder->pending = (tt_bytes){0};
  pthread_mutex_unlock(&recorder->lock);
  write_out(recorder, &left);
  tt_bytes_free(&left);
}

/* Signals are kept when their bits change: between two records a value holds. */
static void encode_signals(tt_recorder *recorder, tt_bytes *out, const tt_view *view,
                           uint64_t timestamp) {
  for (int i = 0; i < recorder->signal_count; i++) {
    double value = tt_signal_read(&recorder->signals[i].signal, view);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (recorder->kept[i] && recorder->last_values[i] == bits) continue;
    recorder->kept[i] = true;
    recorder->last_values[i] = bits;
    tt_wpilog_write_double(out, recorder->first_signal + (uint32_t)i, timestamp, value);
  }
}

static void encode_poses(tt_recorder *recorder, tt_bytes *out, const tt_view *view,
                         uint64_t timestamp) {
  for (int b = 1; b < recorder->model->body_count; b++) {
    double pose[7];
    memcpy(pose, view->body_position[b], 3 * sizeof(double));
    memcpy(pose + 3, view->body_rotation[b], 4 * sizeof(double));
    tt_field_from_arena(&recorder->field, pose);
    bool *kept = &recorder->kept[recorder->signal_count + b];
    if (*kept && memcmp(pose, recorder->last_poses[b], sizeof pose) == 0) continue;
    *kept = true;
    memcpy(recorder->last_poses[b], pose, sizeof pose);
    tt_wpilog_write(out, recorder->first_pose + (uint32_t)b, timestamp, pose, sizeof pose);
  }
}

static void say_capped(tt_recorder *recorder) {
  if (recorder->capped) return;
  recorder->capped = true;
  tt_log_warning("%s: reached its size cap: signals and poses are no longer kept, inputs are",
                 recorder->path);
}

static void encode_lost(tt_recorder *recorder, tt_bytes *out, uint64_t timestamp) {
  uint8_t count[8];
  if (recorder->lost == 0) return;
  for (int i = 0; i < 8; i++) count[i] = (uint8_t)(recorder->lost >> (8 * i));
  tt_wpilog_write(out, ENTRY_LOST, timestamp, count, sizeof count);
  recorder->lost = 0;
}

/* A sample for which memory did not suffice is as lost as one for which the queue had no room; the next is whole. */
static void give_up_sample(tt_recorder *recorder, tt_bytes *out, size_t before, uint64_t lost) {
  size_t entries = (size_t)recorder->signal_count + (size_t)recorder->model->body_count;
  tt_bytes_cut(out, before);
  memset(recorder->kept, 0, entries * sizeof *recorder->kept);
  recorder->lost = lost + 1;
  atomic_fetch_add(&recorder->given_up, 1);
}

static void encode_views(tt_recorder *recorder, tt_bytes *out) {
  uint64_t lost;
  for (const tt_view *view; (view = tt_view_queue_front(recorder->views, &lost));) {
    uint64_t timestamp = microseconds(recorder, view->total_step);
    size_t before = out->size;
    atomic_store(&recorder->newest, timestamp);
    recorder->lost += lost;
    lost = recorder->lost;
    encode_lost(recorder, out, timestamp);
    if (recorder->size_cap && atomic_load(&recorder->bytes) + out->size > recorder->size_cap) {
      say_capped(recorder);
    } else {
      encode_signals(recorder, out, view, timestamp);
      encode_poses(recorder, out, view, timestamp);
    }
    if (out->failed) give_up_sample(recorder, out, before, lost);
    tt_view_queue_pop(recorder->views);
  }
}

/* Whole or not at all. */
static void append_string(tt_bytes *out, uint32_t entry, uint64_t timestamp, const char *text) {
  size_t before = out->size;
  tt_wpilog_write_string(out, entry, timestamp, text);
  if (out->failed) tt_bytes_cut(out, before);
}

/* Once a second, and only when they changed. */
static void encode_statistics(tt_recorder *recorder, tt_bytes *out, bool last) {
  if (!recorder->statistics || (!last && recorder->writings++ % STATISTICS_EVERY != 0)) return;
  char *text = recorder->statistics(recorder->statistics_context);
  if (!text || (recorder->last_statistics && strcmp(recorder->last_statistics, text) == 0)) {
    free(text);
    return;
  }
  append_string(out, ENTRY_STATISTICS, atomic_load(&recorder->newest), text);
  free(recorder->last_statistics);
  recorder->last_statistics = text;
}

/* Waits to be told, or for so long, unless the run has ended. Call with the lock held. */
static void wait_for(tt_recorder *recorder, pthread_cond_t *told, long nanoseconds) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += (until.tv_nsec + nanoseconds) / 1000000000;
  until.tv_nsec = (until.tv_nsec + nanoseconds) % 1000000000;
  if (!recorder->closing) pthread_cond_clockwait(told, &recorder->lock, CLOCK_MONOTONIC, &until);
}

/* Takes what the world left; false when there is nothing more to come. */
static bool take_pending(tt_recorder *recorder, tt_bytes *taken) {
  pthread_mutex_lock(&recorder->lock);
  wait_for(recorder, &recorder->wanted, WRITE_EVERY_NS);
  bool more = !recorder->closing;
  tt_bytes swapped = recorder->pending;
  taken->size = 0;
  recorder->pending = *taken;
  *taken = swapped;
  pthread_cond_broadcast(&recorder->written);
  pthread_mutex_unlock(&recorder->lock);
  return more;
}

static void *write_log(void *context) {
  tt_recorder *recorder = context;
  tt_bytes journal = {0};
  tt_bytes samples = {0};
  bool more = true;
  while (more) {
    more = take_pending(recorder, &journal);
    samples.size = 0;
    encode_views(recorder, &samples);
    encode_statistics(recorder, &samples, !more);
    if (!more) append_string(&samples, ENTRY_END, atomic_load(&recorder->newest), "ended");
    write_out(recorder, &journal);
    write_out(recorder, &samples);
  }
  tt_bytes_free(&journal);
  tt_bytes_free(&samples);
  return NULL;
}

/* ---- the syncer's thread: a disk that takes its time must not keep the writer from the world's views ---- */

static void sync_file(tt_recorder *recorder) {
  if (fdatasync(recorder->file) != 0) break_off(recorder);
}

static void *sync_log(void *context) {
  tt_recorder *recorder = context;
  for (;;) {
    pthread_mutex_lock(&recorder->lock);
    wait_for(recorder, &recorder->ending, SYNC_EVERY_NS);
    bool ends = recorder->closing;
    pthread_mutex_unlock(&recorder->lock);
    if (ends) return NULL;
    sync_file(recorder);
  }
}

/* ---- opening and closing ---- */

static void announce_poses(tt_recorder *recorder, tt_bytes *out, uint32_t *next) {
  static const char *const schemas[][2] = {
      {"/.schema/struct:Translation3d", "double x;double y;double z"},
      {"/.schema/struct:Quaternion", "double w;double x;double y;double z"},
      {"/.schema/struct:Rotation3d", "Quaternion q"},
      {"/.schema/struct:Pose3d", "Translation3d translation;Rotation3d rotation"},
  };
  for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
    tt_wpilog_write_start(out, *next, schemas[i][0], "structschema", "", 0);
    tt_wpilog_write_string(out, (*next)++, 0, schemas[i][1]);
  }
  recorder->first_pose = *next;
  for (int b = 0; b < recorder->model->body_count; b++) {
    char name[300];
    snprintf(name, sizeof name, "/poses/%s", recorder->model->bodies[b].name);
    if (b > 0) tt_wpilog_write_start(out, *next, name, "struct:Pose3d", "", 0);
    (*next)++;
  }
}

/* How fast the machine was is kept, but is nothing that happened in the run: the same run has it otherwise. */
static const char *place_of(const tt_signal *signal) {
  switch (signal->source) {
    case TT_SIGNAL_COMMAND: return "commands";
    case TT_SIGNAL_REAL_TIME_FACTOR: return "tether";
    default: return "signals";
  }
}

static void announce_signals(tt_recorder *recorder, tt_bytes *out, uint32_t *next) {
  recorder->first_signal = *next;
  for (int i = 0; i < recorder->signal_count; i++) {
    const tt_signal_entry *entry = &recorder->signals[i];
    char name[300];
    char metadata[80];
    bool command = entry->signal.source == TT_SIGNAL_COMMAND;
    const char *tail = command ? strchr(entry->name, ':') + 1 : entry->name;
    snprintf(name, sizeof name, "/%s/%s", place_of(&entry->signal), tail);
    snprintf(metadata, sizeof metadata, "{\"unit\":\"%s\"}",
             tt_unit_si(entry->signal.dimension)->name);
    tt_wpilog_write_start(out, (*next)++, name, "double", metadata, 0);
  }
}

static void announce_files(const tt_recorder_options *options, tt_bytes *out, uint32_t *next) {
  for (int i = 0; i < options->file_count; i++) {
    char name[1100];
    snprintf(name, sizeof name, "/tether/files%s", options->files[i].path);
    tt_wpilog_write_start(out, *next, name, "raw", "", 0);
    tt_wpilog_write(out, (*next)++, 0, options->files[i].bytes, options->files[i].size);
  }
}

static void announce_model(const tt_recorder_options *options, tt_bytes *out, uint32_t *next) {
  tt_wpilog_write_start(out, ENTRY_MODEL, "/tether/model", "json", "", 0);
  if (options->model) tt_wpilog_write_string(out, ENTRY_MODEL, 0, options->model);
  for (int i = 0; i < options->mesh_count; i++) {
    char name[64];
    tt_bytes mesh = {0};
    snprintf(name, sizeof name, "/tether/meshes/%d", i);
    tt_describe_mesh(&options->meshes[i], &mesh);
    out->failed |= mesh.failed;
    tt_wpilog_write_start(out, *next, name, "raw", "", 0);
    tt_wpilog_write(out, (*next)++, 0, mesh.data, mesh.size);
    tt_bytes_free(&mesh);
  }
}

static void announce(tt_recorder *recorder, const tt_recorder_options *options, tt_bytes *out) {
  uint32_t next = ENTRY_FIRST_FREE;
  tt_wpilog_write_header(out, "tether " TETHER_VERSION);
  tt_wpilog_write_start(out, ENTRY_RUN, "/tether/run", "json", "", 0);
  tt_wpilog_write_string(out, ENTRY_RUN, 0, options->run);
  tt_wpilog_write_start(out, ENTRY_INITIAL_STATE, "/tether/initial_state", "raw", "", 0);
  if (options->initial_state)
    tt_wpilog_write(out, ENTRY_INITIAL_STATE, 0, options->initial_state,
                    options->initial_state_size);
  tt_wpilog_write_start(out, ENTRY_JOURNAL, "/tether/journal", "raw", "", 0);
  tt_wpilog_write_start(out, ENTRY_EVENTS, "/events", "string", "", 0);
  tt_wpilog_write_start(out, ENTRY_LOST, "/tether/samples_lost", "int64", "", 0);
  tt_wpilog_write_start(out, ENTRY_STATISTICS, "/tether/statistics", "json", "", 0);
  tt_wpilog_write_start(out, ENTRY_END, "/tether/end", "string", "", 0);
  tt_wpilog_write_start(out, ENTRY_CHECKSUM, "/tether/checksum", "raw", "", 0);
  announce_model(options, out, &next);
  announce_files(options, out, &next);
  announce_poses(recorder, out, &next);
  announce_signals(recorder, out, &next);
}

/* Says that the run has ended, and waits for a thread to hear it. */
static void end_thread(tt_recorder *recorder, pthread_t thread, pthread_cond_t *waits) {
  pthread_mutex_lock(&recorder->lock);
  recorder->closing = true;
  pthread_cond_signal(waits);
  pthread_mutex_unlock(&recorder->lock);
  pthread_join(thread, NULL);
}

static void free_recorder(tt_recorder *recorder) {
  if (recorder->file >= 0) close(recorder->file);
  tt_view_queue_free(recorder->views);
  tt_bytes_free(&recorder->pending);
  free(recorder->path);
  free(recorder->last_statistics);
  free(recorder->last_values);
  free(recorder->last_poses);
  free(recorder->kept);
  free(recorder);
}

static bool allocate(tt_recorder *recorder, const tt_recorder_options *options) {
  size_t signals = (size_t)recorder->signal_count;
  size_t bodies = (size_t)recorder->model->body_count;
  recorder->path = strdup(options->path);
  recorder->views = tt_view_queue_new(recorder->model, QUEUE_VIEWS);
  recorder->last_values = calloc(signals + 1, sizeof *recorder->last_values);
  recorder->last_poses = calloc(bodies + 1, sizeof *recorder->last_poses);
  recorder->kept = calloc(signals + bodies + 1, sizeof *recorder->kept);
  return recorder->path && recorder->views && recorder->last_values && recorder->last_poses &&
         recorder->kept;
}

static tt_status open_file(tt_recorder *recorder, tt_error *error) {
  struct stat about;
  if (stat(recorder->path, &about) == 0 && !S_ISREG(about.st_mode))
    return tt_fail(error, TT_FAILED, "%s: is no file that a run log can be; name another",
                   recorder->path);
  recorder->file =
      open(recorder->path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0600);
  if (recorder->file < 0)
    return tt_fail(error, TT_FAILED,
                   "%s: can't write the run log: %s; its folder must exist and be yours",
                   recorder->path, strerror(errno));
  if (lseek(recorder->file, 0, SEEK_END) > 0)
    return tt_fail(error, TT_FAILED, "%s: exists already; name another file or remove it",
                   recorder->path);
  flock(recorder->file, LOCK_EX | LOCK_NB); /* says to readers that it still grows */
  tt_file_sync_name(recorder->path);
  return TT_OK;
}

static tt_status start_threads(tt_recorder *recorder, tt_error *error) {
  bool syncs = pthread_create(&recorder->syncer, NULL, sync_log, recorder) == 0;
  if (syncs && pthread_create(&recorder->writer, NULL, write_log, recorder) == 0) return TT_OK;
  if (syncs) end_thread(recorder, recorder->syncer, &recorder->ending);
  return tt_fail(error, TT_FAILED, "%s: can't start the recorder's threads", recorder->path);
}

static tt_status start(tt_recorder *recorder, const tt_recorder_options *options, tt_error *error) {
  if (!allocate(recorder, options))
    return tt_fail(error, TT_NOMEM, "%s: out of memory", options->path);
  TT_TRY(open_file(recorder, error));
  announce(recorder, options, &recorder->pending);
  if (recorder->pending.failed) return tt_fail(error, TT_NOMEM, "%s: out of memory", options->path);
  write_out(recorder, &recorder->pending); /* from the beginning the file is a log */
  recorder->pending.size = 0;
  if (recorder->broken) return tt_fail(error, TT_FAILED, "%s: can't be written", options->path);
  return start_threads(recorder, error);
}

tt_status tt_recorder_open(const tt_recorder_options *options, const tt_model *model,
                           const tt_names *names, tt_recorder **made, tt_error *error) {
  *made = NULL;
  tt_recorder *recorder = calloc(1, sizeof *recorder);
  if (!recorder) return tt_fail(error, TT_NOMEM, "%s: out of memory", options->path);
  recorder->observer = (tt_observer){.publish = publish};
  recorder->sink = (tt_journal_sink){.write = write_entry, .flush = flush};
  recorder->model = model;
  recorder->signals = tt_names_signals(names, &recorder->signal_count);
  recorder->period_steps = options->period_steps;
  recorder->field = options->field;
  recorder->size_cap = options->size_cap;
  recorder->realtime = options->realtime;
  recorder->statistics = options->statistics;
  recorder->statistics_context = options->statistics_context;
  recorder->file = -1;
  pthread_mutex_init(&recorder->lock, NULL);
  pthread_mutex_init(&recorder->writing, NULL);
  pthread_cond_init(&recorder->wanted, NULL);
  pthread_cond_init(&recorder->written, NULL);
  pthread_cond_init(&recorder->ending, NULL);
  tt_status status = start(recorder, options, error);
  if (status != TT_OK) {
    free_recorder(recorder);
    return status;
  }
  *made = recorder;
  return TT_OK;
}

tt_observer *tt_recorder_observer(tt_recorder *recorder) { return &recorder->observer; }

tt_journal_sink *tt_recorder_journal(tt_recorder *recorder) { return &recorder->sink; }

void tt_recorder_close(tt_recorder *recorder) {
  if (!recorder) return;
  end_thread(recorder, recorder->writer, &recorder->wanted);
  end_thread(recorder, recorder->syncer, &recorder->ending);
  sync_file(recorder);
  tt_log_info("%s: kept %.1f MB, %llu samples lost", recorder->path,
              (double)tt_recorder_bytes(recorder) * 1e-6,
              (unsigned long long)tt_recorder_lost(recorder));
  pthread_cond_destroy(&recorder->ending);
  pthread_cond_destroy(&recorder->written);
  pthread_cond_destroy(&recorder->wanted);
  pthread_mutex_destroy(&recorder->writing);
  pthread_mutex_destroy(&recorder->lock);
  free_recorder(recorder);
}

uint64_t tt_recorder_bytes(const tt_recorder *recorder) {
  return atomic_load(&((tt_recorder *)recorder)->bytes);
}

uint64_t tt_recorder_lost(const tt_recorder *recorder) {
  return tt_view_queue_lost(recorder->views) + atomic_load(&((tt_recorder *)recorder)->given_up);
}
