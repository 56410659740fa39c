#include "record/sample_check.h"

#include "game/field.h"
#include "base/json.h"
#include "record/export.h"
#include "record/journal_codec.h"
#include "record/linkage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tt_sample_check {
  tt_run_cursor cursor;
  const tt_signal_entry *signals;
  int signal_count;
  const tt_model *model;
  tt_field field;
  uint32_t *entries; /* of the log: of each signal, then of each body's pose; 0: not kept */
  uint32_t clock;
  /* the log keeps what nothing else says, to TT_RECORD_RESOLUTION; else every bit of everything */
  bool derives;
  uint64_t total;                  /* samples that the journal proves */
  uint64_t last;                   /* µs: time of the last of them */
  tt_sample_result result, before; /* before: the sample that was compared last */
  uint64_t compared;               /* µs: time of that */
  uint64_t seen;                   /* µs: of the last view */
  bool again;                      /* it had the time of the one before it */
};

/* ---- opening ---- */

/* A recorded value that the rerun can have: the wall clock's it can't. */
static uint32_t find_signal(const tt_run_log *log, const tt_signal_entry *signal) {
  char name[TT_WPILOG_MOST_NAME];
  if (signal->signal.source == TT_SIGNAL_REAL_TIME_FACTOR) return 0;
  tt_linkage_entry(&signal->signal, signal->name, name, sizeof name);
  return tt_run_log_find(log, name);
}

static uint32_t find_pose(const tt_run_log *log, const tt_body *body) {
  char name[TT_WPILOG_MOST_NAME];
  snprintf(name, sizeof name, "/poses/%s", body->name);
  return tt_run_log_find(log, name);
}

static void find_entries(tt_sample_check *check, const tt_run_log *log) {
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  for (int i = 0; i < check->signal_count; i++) {
    check->entries[i] = find_signal(log, &check->signals[i]);
    check->result.signals += check->entries[i] != 0;
  }
  for (int b = 1; b < check->model->body_count; b++)
    check->entries[check->signal_count + b] = find_pose(log, &check->model->bodies[b]);
  for (uint32_t i = 1; i < count; i++)
    check->result.kept += tt_entry_role_of(&entries[i]) == TT_ROLE_SIGNAL &&
                          strcmp(entries[i].name, "/signals/real_time_factor") != 0;
}

static void count_sample(tt_sample_check *check, uint64_t time, uint64_t proved) {
  if (time > proved) {
    check->result.behind++;
  } else {
    check->total++;
    check->last = time;
  }
}

/* Older logs keep the clock, which changes with every sample. */
static bool is_sample(const tt_sample_check *check, const tt_wpilog_record *record) {
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(check->cursor.log, &count);
  return check->derives ? tt_journal_marks_sample(entries[record->entry].name, record)
                        : record->entry == check->clock;
}

/* Where the run was cut off, so may the last sample have been. */
static void count_samples(tt_sample_check *check, uint64_t proved) {
  tt_wpilog_record record;
  uint64_t time = 0;
  bool any = false;
  while (tt_run_cursor_next_kept(&check->cursor, &record) == TT_OK) {
    if (!is_sample(check, &record) || (any && record.timestamp == time)) continue;
    if (any) count_sample(check, time, proved);
    any = true;
    time = record.timestamp;
  }
  if (any && tt_run_log_ended(check->cursor.log)) count_sample(check, time, proved);
  tt_run_cursor_rewind(&check->cursor);
}

static tt_status open_check(tt_sample_check *check, const tt_run_log *log, uint64_t proved,
                            tt_error *error) {
  size_t room = (size_t)check->signal_count + (size_t)check->model->body_count + 1;
  check->entries = calloc(room, sizeof *check->entries);
  if (!check->entries || !tt_run_cursor_open(&check->cursor, log))
    return tt_fail(error, TT_NOMEM, "out of memory");
  tt_run_cursor_seek(&check->cursor, 0);
  check->field = tt_run_cursor_field(&check->cursor);
  tt_run_cursor_rewind(&check->cursor);
  check->clock = tt_run_log_find(log, "/signals/time");
  check->derives = tt_run_log_find(log, TT_LINKAGE) != 0;
  find_entries(check, log);
  count_samples(check, proved);
  return TT_OK;
}

tt_status tt_sample_check_open(const tt_run_log *log, const tt_names *names, const tt_model *model,
                               uint64_t proved, tt_sample_check **made, tt_error *error) {
  *made = NULL;
  tt_sample_check *check = calloc(1, sizeof *check);
  if (!check) return tt_fail(error, TT_NOMEM, "out of memory");
  check->signals = tt_names_signals(names, &check->signal_count);
  check->model = model;
  check->compared = check->seen = UINT64_MAX;
  tt_status status = open_check(check, log, proved, error);
  if (status != TT_OK) {
    tt_sample_check_close(check);
    return status;
  }
  *made = check;
  return TT_OK;
}

void tt_sample_check_close(tt_sample_check *check) {
  if (!check) return;
  tt_run_cursor_close(&check->cursor);
  free(check->entries);
  free(check);
}

/* ---- comparing ---- */

static void differ(tt_sample_check *check, const char *name, double recorded, double repeated) {
  if (check->result.differing++ > 0) return;
  check->result.name = name;
  check->result.at = (double)check->cursor.time / 1e6;
  check->result.recorded = recorded;
  check->result.repeated = repeated;
}

/* How far a value made of others may be from the rerun's, which computes it otherwise; m, rad, m/s, rad/s. */
#define MADE_WITHIN 1e-6

/* What a record says of a number, and how exactly. */
typedef struct claim {
  double recorded, within; /* within 0: every bit; -0 is not 0 */
} claim;

static bool holds(const claim *of, double repeated) {
  if (of->within == 0) return memcmp(&of->recorded, &repeated, sizeof repeated) == 0;
  return fabs(of->recorded - repeated) <= of->within;
}

/* What is written at this time is exact; what was written before has not moved farther than the log resolves. Of two views of
 * one time the first is before the second. */
static double resolution(const tt_sample_check *check, const tt_wpilog_record *record, bool made) {
  if (made) return MADE_WITHIN;
  bool before = record->timestamp != check->cursor.time || check->again;
  return check->derives && before ? TT_RECORD_RESOLUTION : 0;
}

/* A full turn is none. */
static double nearest_turn(double angle, double to) {
  return angle + 2 * M_PI * round((to - angle) / (2 * M_PI));
}

/* How far a heading that was made may be off: a body whose x axis points almost straight up, as a wheel's does now and then, turns the
 * last bits of its pose into any heading at all. The pose is compared as well. */
static double heading_within(const double q[4]) {
  double x = 1 - 2 * (q[2] * q[2] + q[3] * q[3]), y = 2 * (q[1] * q[2] + q[0] * q[3]);
  return MADE_WITHIN / fmax(hypot(x, y), MADE_WITHIN / M_PI);
}

/* The recorded value and the view's; false: none is recorded. */
static bool claim_of(const tt_sample_check *check, int index, const tt_view *view, claim *claimed,
                     double *repeated) {
  const tt_signal *signal = &check->signals[index].signal;
  uint32_t entry = check->entries[index];
  tt_wpilog_record record;
  if (!tt_run_cursor_value(&check->cursor, entry, &record)) return false;
  bool body = signal->source >= TT_SIGNAL_BODY_POSITION && signal->source <= TT_SIGNAL_BODY_SPIN;
  bool made = body && tt_run_log_is_made(check->cursor.log, entry);
  *repeated = tt_signal_read(signal, view);
  claimed->recorded = record.size == sizeof(double) ? tt_wpilog_double(record.payload) : NAN;
  claimed->within = resolution(check, &record, made);
  if (made && signal->source == TT_SIGNAL_BODY_HEADING) {
    claimed->recorded = nearest_turn(claimed->recorded, *repeated);
    claimed->within = heading_within(view->body_rotation[signal->index]);
  }
  return true;
}

static void compare_signal(tt_sample_check *check, int index, const tt_view *view) {
  claim claimed;
  double repeated;
  if (!claim_of(check, index, view, &claimed, &repeated)) return;
  check->result.values++;
  if (!holds(&claimed, repeated))
    differ(check, check->signals[index].name, claimed.recorded, repeated);
}

static void compare_pose(tt_sample_check *check, int body, const tt_view *view) {
  const tt_run_log *log = check->cursor.log;
  uint32_t entry = check->entries[check->signal_count + body], count;
  tt_wpilog_record record;
  double repeated[7];
  if (!tt_run_cursor_value(&check->cursor, entry, &record)) return;
  memcpy(repeated, view->body_position[body], 3 * sizeof(double));
  memcpy(repeated + 3, view->body_rotation[body], 4 * sizeof(double));
  tt_field_from_arena(&check->field, repeated);
  check->result.poses++;
  claim claimed = {.within = resolution(check, &record, tt_run_log_is_made(log, entry))};
  for (size_t k = 0; k < 7; k++) {
    claimed.recorded =
        record.size == sizeof repeated ? tt_wpilog_double(record.payload + 8 * k) : NAN;
    if (holds(&claimed, repeated[k])) continue;
    differ(check, tt_run_log_entries(log, &count)[entry].name, claimed.recorded, repeated[k]);
    return;
  }
}

/* Goes to the view's time. Was it sampled? Its clock then stands in the log, there. */
static bool find_sample(tt_sample_check *check, const tt_view *view) {
  tt_wpilog_record record;
  uint64_t time = tt_model_microseconds(check->model, view->total_step);
  if (check->total == 0 || time > check->last) return false;
  tt_run_cursor_advance(&check->cursor, time);
  if (!tt_run_cursor_value(&check->cursor, check->clock, &record)) return false;
  return record.timestamp == time && record.size == sizeof view->time &&
         tt_wpilog_double(record.payload) == view->time;
}

/* Several views have one time where robots were reset: the recorder took the first or the last of them, and merged what it
 * took. The sample is right if it is one of them. */
static bool is_settled(tt_sample_check *check) {
  if (check->compared != check->cursor.time) check->before = check->result;
  bool settled =
      check->compared == check->cursor.time && check->result.differing == check->before.differing;
  check->compared = check->cursor.time;
  check->result = settled ? check->result : check->before;
  return settled;
}

void tt_sample_check_view(tt_sample_check *check, const tt_view *view) {
  uint64_t time = tt_model_microseconds(check->model, view->total_step);
  check->again = time == check->seen;
  check->seen = time;
  if (!find_sample(check, view) || is_settled(check)) return;
  check->result.samples++;
  for (int i = 0; i < check->signal_count; i++) compare_signal(check, i, view);
  for (int b = 1; b < check->model->body_count; b++) compare_pose(check, b, view);
}

tt_sample_result tt_sample_check_get(const tt_sample_check *check) {
  tt_sample_result result = check->result;
  result.missed = check->total > result.samples ? check->total - result.samples : 0;
  return result;
}

tt_sample_difference tt_sample_check_difference(tt_sample_check *check, const tt_view *view) {
  tt_sample_difference found = {.sampled = find_sample(check, view)};
  double most = -1, repeated;
  claim claimed;
  for (int i = 0; found.sampled && i < check->signal_count; i++) {
    if (check->signals[i].signal.source == TT_SIGNAL_COMMAND) continue;
    if (!claim_of(check, i, view, &claimed, &repeated) || holds(&claimed, repeated)) continue;
    double recorded = claimed.recorded;
    double size = fabs(repeated - recorded) / (1 + fabs(repeated) + fabs(recorded));
    found.count++;
    if (!(size > most)) continue;
    most = size;
    found.name = check->signals[i].name;
    found.recorded = recorded;
    found.repeated = repeated;
  }
  return found;
}
