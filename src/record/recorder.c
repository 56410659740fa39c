/* recorder.c: two threads keep what the world's leaves them: a writer, which brings journal and samples into the order of
 * their time, and a syncer, since a disk that takes its time must not keep the writer from the world's views. */
#include "record/recorder.h"

#include "base/clock.h"
#include "base/endian.h"
#include "base/log.h"
#include "record/checksum.h"
#include "record/describe.h"
#include "record/journal_codec.h"
#include "record/log_file.h"
#include "record/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_VIEWS 256
#define WRITE_EVERY 50000   /* half of the 100 ms that a crash may cost */
#define STATISTICS_EVERY 20 /* writings: once a second */
#define SYNC_EVERY 1000000  /* what a failure of the power may cost */
#define LARGEST_BACKLOG                                                                            \
  (64u << 20) /* bytes of journal not yet written: then the run is unverifiable, or held */
#define MOST_SOURCES 1024 /* of journal entries: wires, "web", "world", …; and flags */

enum {
  ENTRY_RUN = 1,
  ENTRY_INITIAL_STATE,
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
  uint64_t period_steps, next_step, published;
  uint64_t size_cap;
  bool realtime;
  char *(*statistics)(void *context);
  void (*grew)(void *context, uint64_t bytes);
  void *statistics_context;
  char *path;
  tt_log_file *file;

  tt_view_queue *views;
  pthread_t writer, syncer;
  pthread_mutex_t lock;   /* guards what follows, up to closing; held for copies only */
  pthread_cond_t wanted;  /* the writer has something to do */
  pthread_cond_t written; /* the backlog shrank or views were taken, or never will be */
  pthread_cond_t ending;  /* the syncer need not wait any more */
  tt_bytes pending;       /* journal and events, encoded: whole records */
  /* place in `pending` of a state hash whose view is about to come; SIZE_MAX: none */
  size_t awaiting;
  bool gap; /* an entry was refused: none comes behind it, so what is kept is a run up to there */
  const char *gap_reason;
  uint64_t gap_step; /* total steps made then */
  bool closing;

  /* names of the entries of journal and flags, ids from first_source on; never change once there */
  char *sources[MOST_SOURCES];
  atomic_int source_count;
  uint32_t first_source;

  /* the writer's alone */
  tt_sampler *sampler;
  bool capped;
  uint64_t lost; /* samples, of which the log does not say yet */
  tt_journal_scratch scratch;
  char *last_statistics;
  int writings;
  uint64_t newest;        /* µs of the newest view */
  atomic_ullong given_up; /* samples that did not fit into memory */
};

/* ---- the world's thread ---- */

static uint64_t microseconds(const tt_recorder *recorder, uint64_t step) {
  return tt_model_microseconds(recorder->model, step);
}

/* Waits for the writer where the pace allows it. Call with the lock held. */
static void await_place(tt_recorder *recorder) {
  while (!recorder->realtime && tt_view_queue_waiting(recorder->views) >= QUEUE_VIEWS &&
         !tt_log_file_broken(recorder->file)) {
    pthread_cond_signal(&recorder->wanted);
    pthread_cond_wait(&recorder->written, &recorder->lock);
  }
}

/* The view and the leave to write its state hash, in one. */
static void push(tt_recorder *recorder, const tt_view *view) {
  pthread_mutex_lock(&recorder->lock);
  if (view) await_place(recorder);
  if (view) tt_view_queue_push(recorder->views, view);
  recorder->awaiting = SIZE_MAX;
  pthread_mutex_unlock(&recorder->lock);
}

static void publish(tt_observer *observer, const tt_view *view) {
  tt_recorder *recorder = (tt_recorder *)observer;
  bool wanted = view->total_step >= recorder->next_step;
  push(recorder, wanted ? view : NULL);
  if (!wanted) return;
  recorder->next_step = view->total_step + recorder->period_steps;
  /* A fast world would fill the queue before the writer wakes by itself. */
  if (++recorder->published % (QUEUE_VIEWS / 4) == 0) pthread_cond_signal(&recorder->wanted);
}

/* Waits for the disk where the pace allows it; false when the entry can't be kept. */
static bool room_for_more(tt_recorder *recorder) {
  while (recorder->pending.size > LARGEST_BACKLOG && !recorder->realtime &&
         !tt_log_file_broken(recorder->file))
    pthread_cond_wait(&recorder->written, &recorder->lock);
  uint64_t size = tt_log_file_bytes(recorder->file) + recorder->pending.size;
  if (recorder->size_cap && size > recorder->size_cap) {
    tt_log_error("%s: reached record.megabytes: nothing more of this run is kept", recorder->path);
    recorder->gap_reason = "it reached its limit";
    return false;
  }
  recorder->gap_reason = "the disk is too slow";
  return !tt_log_file_broken(recorder->file) && recorder->pending.size <= LARGEST_BACKLOG;
}

static bool is_named(const char *name, const char *prefix, const char *rest) {
  size_t size = strlen(prefix);
  return strncmp(name, prefix, size) == 0 && strcmp(name + size, rest) == 0;
}

/* The id of the entry called `prefix` and `rest`, announced when it is first heard of; 0 when it can't be. */
static uint32_t entry_of(tt_recorder *recorder, const char *prefix, const char *rest,
                         const char *type, uint64_t timestamp) {
  int count = atomic_load(&recorder->source_count);
  for (int i = 0; i < count; i++)
    if (is_named(recorder->sources[i], prefix, rest)) return recorder->first_source + (uint32_t)i;
  char *name = NULL;
  if (count == MOST_SOURCES || asprintf(&name, "%s%s", prefix, rest) < 0) return 0;
  uint32_t id = recorder->first_source + (uint32_t)count;
  tt_wpilog_write_start(&recorder->pending, id, name, type, "", timestamp);
  if (recorder->pending.failed) {
    free(name);
    return 0;
  }
  recorder->sources[count] = name;
  atomic_store(&recorder->source_count, count + 1);
  return id;
}

static void append_payload(tt_recorder *recorder, uint32_t id, uint64_t timestamp,
                           const tt_entry *entry) {
  if (entry->kind == TT_ENTRY_EVENT) {
    char text[320];
    snprintf(text, sizeof text, "%s: %s", entry->source, entry->text);
    tt_wpilog_write_string(&recorder->pending, id, timestamp, text);
  } else if (entry->kind == TT_ENTRY_FLAG) {
    tt_wpilog_write_boolean(&recorder->pending, id, timestamp, entry->holds);
  } else {
    tt_journal_encode(&recorder->pending, id, timestamp, entry);
  }
}

/* Whole or not at all; false when memory ran out. */
static bool append_entry(tt_recorder *recorder, const tt_entry *entry) {
  uint64_t timestamp = microseconds(recorder, entry->total_step);
  size_t before = recorder->pending.size;
  uint32_t id = ENTRY_EVENTS;
  if (entry->kind == TT_ENTRY_FLAG)
    id = entry_of(recorder, "", entry->text, "boolean", timestamp);
  else if (entry->kind != TT_ENTRY_EVENT)
    id = entry_of(recorder, TT_JOURNAL_PREFIX, entry->source, "raw", timestamp);
  if (id) before = recorder->pending.size; /* what was announced stays so */
  if (id) append_payload(recorder, id, timestamp, entry);
  bool whole = id && !recorder->pending.failed;
  if (!whole) tt_bytes_cut(&recorder->pending, before);
  return whole;
}

static tt_status write_entry(tt_journal_sink *sink, const tt_entry *entry) {
  tt_recorder *recorder = (tt_recorder *)((char *)sink - offsetof(tt_recorder, sink));
  pthread_mutex_lock(&recorder->lock);
  bool was_whole = !recorder->gap, room = was_whole && room_for_more(recorder);
  size_t before = recorder->pending.size;
  bool kept = room && append_entry(recorder, entry);
  recorder->awaiting = kept && entry->kind == TT_ENTRY_HASH ? before : SIZE_MAX;
  if (room && !kept) recorder->gap_reason = "memory ran out";
  if (was_whole && !kept) recorder->gap_step = entry->total_step;
  recorder->gap = !kept;
  pthread_mutex_unlock(&recorder->lock);
  return kept ? TT_OK : TT_FULL;
}

/* ---- the writer's thread ---- */

/* Appends whole records; where memory is short they go to the file without being copied. */
static void append(tt_recorder *recorder, tt_bytes *out, const uint8_t *records, size_t size) {
  size_t before = out->size;
  tt_bytes_append(out, records, size);
  if (!out->failed) return;
  tt_bytes_cut(out, before);
  tt_log_file_write(recorder->file, out->data, out->size, recorder->newest);
  tt_log_file_write(recorder->file, records, size, recorder->newest);
  tt_bytes_cut(out, 0);
}

/* What a reader will make of it; true for a state hash. */
static bool hear(tt_recorder *recorder, const tt_wpilog_record *record) {
  tt_entry entry;
  uint32_t index = record->entry - recorder->first_source;
  if (record->entry < recorder->first_source ||
      index >= (uint32_t)atomic_load(&recorder->source_count) ||
      !tt_journal_is_entry(recorder->sources[index]))
    return false;
  if (tt_journal_decode(recorder->sources[index], record->payload, record->size, &recorder->scratch,
                        &entry) != TT_OK)
    return false;
  tt_sampler_hear(recorder->sampler, &entry);
  return entry.kind == TT_ENTRY_HASH;
}

/* Appends the journal from `at` on, up to the state hash of `time`, or all that is not newer. Returns how far it came; `*mark`
 *  gets the place in `out` of that hash's first byte, SIZE_MAX if there is none. */
static size_t append_journal(tt_recorder *recorder, tt_bytes *out, const tt_bytes *journal,
                             size_t at, uint64_t time, size_t *mark) {
  tt_wpilog_record record;
  *mark = SIZE_MAX;
  for (size_t past = at; tt_wpilog_next(journal->data, journal->size, &past, &record) == TT_OK;
       at = past) {
    if (record.timestamp > time) return at;
    append(recorder, out, journal->data + at, past - at);
    if (!hear(recorder, &record) || record.timestamp != time) continue;
    if (out->size > 0) *mark = out->size - record.size;
    return past;
  }
  return at;
}

static void append_lost(tt_recorder *recorder, tt_bytes *out, uint64_t timestamp) {
  uint8_t count[8];
  if (recorder->lost == 0) return;
  tt_put_le(count, recorder->lost, sizeof count);
  tt_wpilog_write(out, ENTRY_LOST, timestamp, count, sizeof count);
  recorder->lost = 0;
}

/* A tenth of the room is for the journal of what goes on. */
static bool has_room(tt_recorder *recorder, const tt_bytes *out) {
  uint64_t size = tt_log_file_bytes(recorder->file) + out->size;
  if (recorder->size_cap == 0 || size <= recorder->size_cap / 10 * 9) return true;
  if (!recorder->capped)
    tt_log_warning(
        "%s: nearly at record.megabytes: signals and poses are no longer kept, inputs are",
        recorder->path);
  recorder->capped = true;
  return false;
}

/* A sample for which memory did not suffice is as lost as one for which the queue had no room. The state hash before it says
 * that it is there. */
static void append_sample(tt_recorder *recorder, tt_bytes *out, const tt_view *view, size_t mark) {
  uint64_t timestamp = microseconds(recorder, view->total_step), lost = recorder->lost;
  size_t before = out->size;
  if (!has_room(recorder, out)) return;
  append_lost(recorder, out, timestamp);
  tt_sampler_write(recorder->sampler, out, view, timestamp);
  if (out->failed) {
    tt_bytes_cut(out, before);
    tt_sampler_forget(recorder->sampler);
    recorder->lost = lost + 1;
    atomic_fetch_add(&recorder->given_up, 1);
  } else if (mark != SIZE_MAX) {
    out->data[mark] |= TT_JOURNAL_SAMPLED;
  }
}

/* Journal and samples in the order of their time. */
static void append_views(tt_recorder *recorder, tt_bytes *out, const tt_bytes *journal,
                         uint64_t views) {
  size_t at = 0, mark;
  uint64_t lost;
  for (; views > 0; views--) {
    const tt_view *view = tt_view_queue_front(recorder->views, &lost);
    recorder->newest = microseconds(recorder, view->total_step);
    recorder->lost += lost;
    at = append_journal(recorder, out, journal, at, recorder->newest, &mark);
    append_sample(recorder, out, view, mark);
    tt_view_queue_pop(recorder->views);
  }
  append_journal(recorder, out, journal, at, UINT64_MAX, &mark);
}

/* Whole or not at all. */
static void append_text(tt_bytes *out, uint32_t entry, uint64_t timestamp, const char *text) {
  size_t before = out->size;
  tt_wpilog_write_string(out, entry, timestamp, text);
  if (out->failed) tt_bytes_cut(out, before);
}

/* Once a second, and only when they changed. */
static void append_statistics(tt_recorder *recorder, tt_bytes *out, bool last) {
  if (!last && recorder->writings++ % STATISTICS_EVERY != 0) return;
  if (recorder->grew)
    recorder->grew(recorder->statistics_context, tt_log_file_bytes(recorder->file));
  if (!recorder->statistics) return;
  char *text = recorder->statistics(recorder->statistics_context);
  if (!text || (recorder->last_statistics && strcmp(recorder->last_statistics, text) == 0)) {
    free(text);
    return;
  }
  append_text(out, ENTRY_STATISTICS, recorder->newest, text);
  free(recorder->last_statistics);
  recorder->last_statistics = text;
}

/* Waits to be told, or for so long, unless the run has ended. Call with the lock held. */
static void wait_for(tt_recorder *recorder, pthread_cond_t *told, int64_t time) {
  if (!recorder->closing) tt_wait_until(told, &recorder->lock, tt_monotonic_us() + time);
}

/* What the world left. */
typedef struct portion {
  tt_bytes journal;
  uint64_t views; /* in the queue, of which the journal has everything */
  bool last;
} portion;

/* Gives back a state hash whose view the world is about to publish: it is to be written together with its sample, which it
 * announces. Who ends the run publishes no more. */
static void keep_back(tt_recorder *recorder, tt_bytes *journal) {
  size_t at = recorder->awaiting;
  if (at >= journal->size || recorder->closing) return;
  tt_bytes_append(&recorder->pending, journal->data + at, journal->size - at);
  if (recorder->pending.failed) {
    tt_bytes_cut(&recorder->pending, 0);
    return;
  }
  tt_bytes_cut(journal, at);
  recorder->awaiting = 0;
}

static void take_portion(tt_recorder *recorder, portion *taken) {
  pthread_mutex_lock(&recorder->lock);
  wait_for(recorder, &recorder->wanted, WRITE_EVERY);
  tt_bytes swapped = recorder->pending;
  tt_bytes_cut(&taken->journal, 0);
  recorder->pending = taken->journal;
  taken->journal = swapped;
  keep_back(recorder, &taken->journal);
  taken->views = tt_view_queue_waiting(recorder->views);
  taken->last = recorder->closing;
  pthread_cond_broadcast(&recorder->written);
  pthread_mutex_unlock(&recorder->lock);
}

/* Who waits for the disk hears of what became of it. */
static void tell(tt_recorder *recorder) {
  pthread_mutex_lock(&recorder->lock);
  pthread_cond_broadcast(&recorder->written);
  pthread_mutex_unlock(&recorder->lock);
}

static void *write_log(void *context) {
  tt_recorder *recorder = context;
  portion taken = {.views = 0};
  tt_bytes out = {0};
  do {
    take_portion(recorder, &taken);
    tt_bytes_cut(&out, 0);
    append_views(recorder, &out, &taken.journal, taken.views);
    append_statistics(recorder, &out, taken.last);
    if (taken.last) append_text(&out, ENTRY_END, recorder->newest, "ended");
    tt_log_file_write(recorder->file, out.data, out.size, recorder->newest);
    tell(recorder);
  } while (!taken.last);
  tt_bytes_free(&taken.journal);
  tt_bytes_free(&out);
  return NULL;
}

/* ---- the syncer's thread ---- */

static void *sync_log(void *context) {
  tt_recorder *recorder = context;
  for (;;) {
    pthread_mutex_lock(&recorder->lock);
    wait_for(recorder, &recorder->ending, SYNC_EVERY);
    bool ends = recorder->closing;
    pthread_mutex_unlock(&recorder->lock);
    if (ends) return NULL;
    if (!tt_log_file_sync(recorder->file)) tell(recorder);
  }
}

/* ---- opening and closing ---- */

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
  tt_wpilog_write_start(out, ENTRY_EVENTS, "/events", "string", "", 0);
  tt_wpilog_write_start(out, ENTRY_LOST, "/tether/samples_lost", "int64", "", 0);
  tt_wpilog_write_start(out, ENTRY_STATISTICS, "/tether/statistics", "json", "", 0);
  tt_wpilog_write_start(out, ENTRY_END, "/tether/end", "string", "", 0);
  tt_wpilog_write_start(out, ENTRY_CHECKSUM, TT_CHECKSUM_ENTRY, "raw", "", 0);
  tt_sampler_announce(recorder->sampler, out, &next);
  announce_model(options, out, &next);
  announce_files(options, out, &next);
  recorder->first_source = next;
}

/* Says that the run has ended, and waits for a thread to hear it. */
static void end_thread(tt_recorder *recorder, pthread_t thread, pthread_cond_t *waits) {
  pthread_mutex_lock(&recorder->lock);
  recorder->closing = true;
  pthread_cond_signal(waits);
  pthread_mutex_unlock(&recorder->lock);
  pthread_join(thread, NULL);
}

static void free_memory(tt_recorder *recorder) {
  tt_log_file_close(recorder->file);
  tt_sampler_free(recorder->sampler);
  tt_view_queue_free(recorder->views);
  tt_bytes_free(&recorder->pending);
  for (int i = 0; i < atomic_load(&recorder->source_count); i++) free(recorder->sources[i]);
  free(recorder->scratch.submissions);
  free(recorder->path);
  free(recorder->last_statistics);
  free(recorder);
}

static void free_recorder(tt_recorder *recorder) {
  pthread_cond_destroy(&recorder->ending);
  pthread_cond_destroy(&recorder->written);
  pthread_cond_destroy(&recorder->wanted);
  pthread_mutex_destroy(&recorder->lock);
  free_memory(recorder);
}

static bool allocate(tt_recorder *recorder, const tt_recorder_options *options,
                     const tt_names *names) {
  size_t commands = (size_t)recorder->model->command_count + 1;
  recorder->path = strdup(options->path);
  recorder->views = tt_view_queue_new(recorder->model, QUEUE_VIEWS);
  recorder->sampler = tt_sampler_new(recorder->model, names, options->placed, &options->field);
  recorder->scratch.submissions = calloc(commands, sizeof *recorder->scratch.submissions);
  recorder->scratch.capacity = (int)commands;
  return recorder->path && recorder->views && recorder->sampler && recorder->scratch.submissions;
}

/* They take no signals: those belong to the program's own threads. */
static tt_status start_threads(tt_recorder *recorder, tt_error *error) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool syncs = pthread_create(&recorder->syncer, NULL, sync_log, recorder) == 0;
  bool writes = syncs && pthread_create(&recorder->writer, NULL, write_log, recorder) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (writes) return TT_OK;
  if (syncs) end_thread(recorder, recorder->syncer, &recorder->ending);
  return tt_fail(error, TT_FAILED, "%s: can't start the recorder's threads", recorder->path);
}

static tt_status start(tt_recorder *recorder, const tt_recorder_options *options,
                       const tt_names *names, tt_error *error) {
  if (!allocate(recorder, options, names))
    return tt_fail(error, TT_NOMEM, "%s: out of memory", options->path);
  announce(recorder, options, &recorder->pending);
  if (recorder->pending.failed) return tt_fail(error, TT_NOMEM, "%s: out of memory", options->path);
  TT_TRY(tt_log_file_open(options->path, ENTRY_CHECKSUM, &recorder->file, error));
  /* From the beginning the file is a log. */
  bool written =
      tt_log_file_write(recorder->file, recorder->pending.data, recorder->pending.size, 0);
  int reason = errno;
  tt_bytes_cut(&recorder->pending, 0);
  if (written) return start_threads(recorder, error);
  tt_log_file_remove(recorder->file);
  return tt_fail(error, TT_FULL, "%s: can't write: %s", options->path, strerror(reason));
}

tt_status tt_recorder_open(const tt_recorder_options *options, const tt_model *model,
                           const tt_names *names, tt_recorder **made, tt_error *error) {
  *made = NULL;
  tt_recorder *recorder = calloc(1, sizeof *recorder);
  if (!recorder) return tt_fail(error, TT_NOMEM, "%s: out of memory", options->path);
  recorder->observer = (tt_observer){.publish = publish};
  recorder->sink = (tt_journal_sink){.write = write_entry};
  recorder->awaiting = SIZE_MAX;
  recorder->model = model;
  recorder->period_steps = options->period_steps;
  recorder->size_cap = options->size_cap;
  recorder->realtime = options->realtime;
  recorder->statistics = options->statistics;
  recorder->grew = options->grew;
  recorder->statistics_context = options->statistics_context;
  pthread_mutex_init(&recorder->lock, NULL);
  pthread_cond_init(&recorder->wanted, NULL);
  pthread_cond_init(&recorder->written, NULL);
  pthread_cond_init(&recorder->ending, NULL);
  tt_status status = start(recorder, options, names, error);
  if (status != TT_OK) {
    free_recorder(recorder);
    return status;
  }
  *made = recorder;
  return TT_OK;
}

uint64_t tt_recorder_sample_bytes(const tt_model *model, const tt_names *names, bool placed) {
  tt_sampler *sampler = tt_sampler_new(model, names, placed, &(tt_field){0});
  uint64_t bytes = sampler ? tt_sampler_most_bytes(sampler) : 0;
  tt_sampler_free(sampler);
  return bytes;
}

tt_observer *tt_recorder_observer(tt_recorder *recorder) { return &recorder->observer; }

tt_journal_sink *tt_recorder_journal(tt_recorder *recorder) { return &recorder->sink; }

tt_status tt_recorder_trouble(tt_recorder *recorder, tt_error *error) {
  double timestep = tt_model_timestep(recorder->model);
  pthread_mutex_lock(&recorder->lock);
  bool gap = recorder->gap;
  double from = (double)recorder->gap_step * timestep;
  const char *reason = recorder->gap_reason;
  pthread_mutex_unlock(&recorder->lock);
  TT_TRY(tt_log_file_check(recorder->file, error));
  if (gap)
    return tt_fail(error, TT_FAILED, "%s: nothing is kept from %.3f s on: %s", recorder->path, from,
                   reason);
  return TT_OK;
}

tt_status tt_recorder_end(tt_recorder *recorder, tt_error *error) {
  end_thread(recorder, recorder->writer, &recorder->wanted);
  end_thread(recorder, recorder->syncer, &recorder->ending);
  tt_log_file_sync(recorder->file);
  if (!tt_log_file_removed(recorder->file))
    tt_log_info("%s: kept %.1f MB, %llu samples lost", recorder->path,
                (double)tt_recorder_bytes(recorder) * 1e-6,
                (unsigned long long)tt_recorder_lost(recorder));
  tt_status status = tt_recorder_trouble(recorder, error);
  free_recorder(recorder);
  return status;
}

void tt_recorder_close(tt_recorder *recorder) {
  if (recorder) tt_recorder_end(recorder, NULL);
}

/* Its lock may be held, and its conditions waited for, by threads that are not here: they can't be destroyed. */
void tt_recorder_abandon(tt_recorder *recorder) { free_memory(recorder); }

bool tt_recorder_broken(const tt_recorder *recorder) { return tt_log_file_broken(recorder->file); }

uint64_t tt_recorder_bytes(const tt_recorder *recorder) {
  return tt_log_file_bytes(recorder->file);
}

uint64_t tt_recorder_lost(const tt_recorder *recorder) {
  return tt_view_queue_lost(recorder->views) + atomic_load(&((tt_recorder *)recorder)->given_up);
}
