#include "record/replay.h"

#include "base/json.h"
#include "record/journal_codec.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SUBMISSIONS 65536

struct tt_replay {
  tt_feed feed; /* first: the world calls back with it */
  tt_journal_sink sink;
  tt_observer observer;
  tt_sample_check *samples;
  tt_sim *sim;
  const tt_run_log *log;
  tt_run_cursor cursor;
  tt_journal_scratch scratch;
  tt_entry next;      /* the journal's next entry; its pointers lead into scratch */
  uint64_t next_time; /* µs of it */
  bool more;
  uint64_t total_hashes, hashes;
  uint64_t begin, steps; /* in all, at the first hash; from there to the last equal one */
  uint64_t proved;       /* µs: time of the last hash */
  bool differs;
  uint64_t first_step;
  char reason[160];
  bool own_ticks; /* the run ended its ticks where it liked: each has a hash */
};

/* Moves to the journal's next entry. */
static void take_next(tt_replay *replay) {
  uint32_t count;
  tt_wpilog_record record;
  replay->more = false;
  const tt_run_entry *entries = tt_run_log_entries(replay->log, &count);
  while (tt_run_cursor_next_kept(&replay->cursor, &record) == TT_OK) {
    if (!entries[record.entry].journal) continue;
    if (tt_journal_decode(entries[record.entry].name, record.payload, record.size, &replay->scratch,
                          &replay->next) != TT_OK)
      return; /* damaged: the run ends here */
    replay->more = true;
    replay->next_time = record.timestamp;
    return;
  }
}

static void differ(tt_replay *replay, uint64_t step, const char *reason) {
  if (replay->differs) return;
  replay->differs = true;
  replay->first_step = step;
  snprintf(replay->reason, sizeof replay->reason, "%s", reason);
}

/* Its own pointers lead into the scratch: it must be applied before the next is taken. */
static void apply_inputs(tt_replay *replay, tt_sim *sim) {
  tt_entry entry = replay->next;
  if (tt_sim_apply_entry(sim, &entry) != TT_OK)
    differ(replay, entry.step, "a recorded command is not one of this scene");
  take_next(replay);
}

/* It journals a hash, which is compared at once with the next entry: that one must be taken before. */
static void apply_reset(tt_replay *replay, tt_sim *sim) {
  tt_entry entry = replay->next;
  take_next(replay);
  if (tt_sim_apply_entry(sim, &entry) != TT_OK)
    differ(replay, entry.step, "a recorded reset is of a robot that this scene does not have");
}

/* The same. */
static void apply_state(tt_replay *replay, tt_sim *sim) {
  tt_entry entry = replay->next;
  void *state;
  size_t size;
  tt_status status = tt_journal_unpack_state(&entry, &state, &size);
  entry.state = state;
  entry.state_size = size;
  take_next(replay);
  if (status == TT_OK) status = tt_sim_apply_entry(sim, &entry);
  free(state);
  if (status != TT_OK)
    differ(replay, entry.step, "a recorded state is not one of this scene, or of another version");
}

static void apply(tt_feed *feed, tt_sim *sim) {
  tt_replay *replay = (tt_replay *)feed;
  while (replay->more && !replay->differs && replay->next.kind != TT_ENTRY_HASH &&
         replay->next.step == tt_sim_clock(sim)->step) {
    switch (replay->next.kind) {
      case TT_ENTRY_RESET: apply_reset(replay, sim); break;
      case TT_ENTRY_STATE: apply_state(replay, sim); break;
      default: apply_inputs(replay, sim); break;
    }
  }
}

/* A state was hashed, and its view sensed, where the caller's own steps ended. An entry that can't become due any more ends
 * the tick, too: its hash then shows that the run takes another course. */
static bool ends_tick(tt_feed *feed, tt_sim *sim, bool usual) {
  tt_replay *replay = (tt_replay *)feed;
  if (!replay->own_ticks || !replay->more || replay->differs) return usual;
  uint64_t after = tt_sim_clock(sim)->step + 1;
  return replay->next.kind == TT_ENTRY_HASH ? replay->next.step <= after
                                            : replay->next.step < after;
}

static tt_status compare(tt_journal_sink *sink, const tt_entry *entry) {
  tt_replay *replay = (tt_replay *)((char *)sink - offsetof(tt_replay, sink));
  if (entry->kind != TT_ENTRY_HASH || replay->differs || !replay->more) return TT_OK;
  if (replay->next.kind != TT_ENTRY_HASH || replay->next.step != entry->step) {
    differ(replay, entry->step, "the recorded run took another course of resets or ticks");
  } else if (replay->next.hash != entry->hash) {
    char reason[80];
    snprintf(reason, sizeof reason, "state hash %016" PRIx64 ", recorded %016" PRIx64, entry->hash,
             replay->next.hash);
    differ(replay, entry->step, reason);
  } else {
    if (replay->hashes++ == 0) replay->begin = entry->total_step;
    replay->steps = entry->total_step - replay->begin;
    take_next(replay);
  }
  return TT_OK;
}

static void compare_view(tt_observer *observer, const tt_view *view) {
  tt_replay *replay = (tt_replay *)((char *)observer - offsetof(tt_replay, observer));
  if (!replay->differs) tt_sample_check_view(replay->samples, view);
}

static void count_hashes(tt_replay *replay) {
  for (take_next(replay); replay->more; take_next(replay)) {
    if (replay->next.kind != TT_ENTRY_HASH) continue;
    replay->total_hashes++;
    replay->proved = replay->next_time;
  }
}

/* Who steps as he likes says so: "io_steps" 0. */
static bool has_own_ticks(tt_run_cursor *cursor) {
  struct json_object *io_steps;
  tt_run_cursor_seek(cursor, 0);
  struct json_object *run = tt_run_cursor_json(cursor, "/tether/run");
  bool own = run && json_object_object_get_ex(run, "io_steps", &io_steps) &&
             json_object_get_int64(io_steps) == 0;
  json_object_put(run);
  tt_run_cursor_rewind(cursor);
  return own;
}

static bool has_journal(const tt_run_log *log) {
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  for (uint32_t i = 1; i < count; i++)
    if (entries[i].journal) return true;
  return false;
}

static tt_status open_replay(tt_replay *replay, tt_error *error) {
  if (!has_journal(replay->log))
    return tt_fail(error, TT_INVALID, "the log keeps no journal, so it can't be run again");
  replay->scratch.submissions = calloc(MOST_SUBMISSIONS, sizeof *replay->scratch.submissions);
  replay->scratch.capacity = MOST_SUBMISSIONS;
  if (!replay->scratch.submissions || !tt_run_cursor_open(&replay->cursor, replay->log))
    return tt_fail(error, TT_NOMEM, "out of memory while opening a replay");
  replay->own_ticks = has_own_ticks(&replay->cursor);
  count_hashes(replay);
  if (replay->total_hashes == 0)
    return tt_fail(error, TT_INVALID, "the log keeps no state hashes to compare with");
  tt_run_cursor_rewind(&replay->cursor);
  take_next(replay);
  return TT_OK;
}

tt_status tt_replay_open(const tt_run_log *log, tt_replay **made, tt_error *error) {
  *made = NULL;
  tt_replay *replay = calloc(1, sizeof *replay);
  if (!replay) return tt_fail(error, TT_NOMEM, "out of memory while opening a replay");
  replay->feed = (tt_feed){.apply = apply, .ends_tick = ends_tick};
  replay->sink.write = compare;
  replay->observer.publish = compare_view;
  replay->log = log;
  tt_status status = open_replay(replay, error);
  if (status != TT_OK) {
    tt_replay_close(replay);
    return status;
  }
  *made = replay;
  return TT_OK;
}

void tt_replay_close(tt_replay *replay) {
  if (!replay) return;
  tt_sample_check_close(replay->samples);
  tt_run_cursor_close(&replay->cursor);
  free(replay->scratch.submissions);
  free(replay);
}

bool tt_replay_find_tick(tt_replay *replay, uint64_t time, uint64_t *found) {
  if (!replay->own_ticks) return false;
  *found = 0;
  for (; replay->more && replay->next_time <= time; take_next(replay))
    if (replay->next.kind == TT_ENTRY_HASH) *found = replay->next_time;
  tt_run_cursor_rewind(&replay->cursor);
  take_next(replay);
  return true;
}

tt_status tt_replay_attach(tt_replay *replay, tt_sim *sim, tt_feed **feed, tt_observer **observer,
                           tt_error *error) {
  TT_TRY(tt_sample_check_open(replay->log, tt_sim_names(sim), tt_sim_model(sim), replay->proved,
                              &replay->samples, error));
  replay->sim = sim;
  *feed = &replay->feed;
  *observer = &replay->observer;
  /* The state that the run began with may ask for resets: the journal has those that were made. */
  for (int robot; tt_sim_take_reset(sim, &robot);) {
  }
  if (tt_sim_add_journal(sim, &replay->sink) == TT_OK) return TT_OK;
  return tt_fail(error, TT_FULL, "too many keep a journal of this simulation");
}

bool tt_replay_goes_on(tt_replay *replay) {
  if (!tt_replay_done(replay)) apply(&replay->feed, replay->sim);
  return !tt_replay_done(replay);
}

bool tt_replay_done(const tt_replay *replay) {
  return replay->differs || replay->hashes == replay->total_hashes;
}

tt_replay_result tt_replay_get_result(const tt_replay *replay) {
  return (tt_replay_result){.identical = !replay->differs && replay->hashes == replay->total_hashes,
                            .hashes = replay->hashes,
                            .total_hashes = replay->total_hashes,
                            .steps = replay->steps,
                            .first_step = replay->first_step,
                            .reason = replay->reason,
                            .samples = tt_sample_check_get(replay->samples)};
}

tt_sample_difference tt_replay_find_difference(const tt_replay *replay, const tt_view *view) {
  return tt_sample_check_difference(replay->samples, view);
}
