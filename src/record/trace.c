/* trace.c: samples become rows; once they are too many, the rows become parts of the stretch, two rows each. */
#include "record/trace.h"

#include "record/extremes.h"
#include "record/moment.h"
#include "record/run_log_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_READ (32u << 20) /* bytes that are read in a tenth of a second */

typedef struct builder {
  const tt_trace_wish *wish;
  tt_traces *made;
  size_t capacity; /* rows */
  uint32_t *entries;
  double *values; /* [count] now */
  bool thin;
  double begin, part; /* µs: where the stretch begins, length of a part */
  tt_extremes *present;
  uint64_t number, first, last; /* of the present part; µs of its first and last sample */
  bool open;                    /* it has samples */
  bool failed;                  /* out of memory */
} builder;

/* ---- rows ---- */

static bool grow(builder *to) {
  size_t capacity = to->capacity ? 2 * to->capacity : 256, count = (size_t)to->wish->count;
  double *times = realloc(to->made->times, capacity * sizeof *times);
  if (times) to->made->times = times;
  double *values = realloc(to->made->values, capacity * count * sizeof *values);
  if (values) to->made->values = values;
  to->failed = !times || !values;
  if (!to->failed) to->capacity = capacity;
  return !to->failed;
}

/* Room for the values of another row; NULL when out of memory. */
static double *add_row(builder *to, uint64_t time) {
  if (to->made->rows == to->capacity && !grow(to)) return NULL;
  to->made->times[to->made->rows] = (double)time / 1e6;
  return to->made->values + to->made->rows++ * (size_t)to->wish->count;
}

/* ---- parts ---- */

static void close_part(builder *to) {
  bool two = to->last > to->first;
  double *one = to->open ? add_row(to, to->first) : NULL;
  if (one && two && add_row(to, to->last))
    one = to->made->values + (to->made->rows - 2) * (size_t)to->wish->count;
  double *other = one ? one + (two ? to->wish->count : 0) : NULL;
  for (int i = 0; other && !to->failed && i < to->wish->count; i++) {
    one[i] = to->present[i].one;
    other[i] = to->present[i].other;
  }
  for (int i = 0; i < to->wish->count; i++) to->present[i] = (tt_extremes){NAN, NAN};
  to->open = false;
}

/* What lies between two times belongs to the part in which it begins. */
static void enter_part(builder *to, uint64_t first, uint64_t last) {
  double offset = (double)first - to->begin;
  uint64_t number = offset > 0 ? (uint64_t)(offset / to->part) : 0;
  if (number != to->number) close_part(to);
  to->number = number;
  if (!to->open) to->first = first;
  to->last = last;
  to->open = true;
}

static void take_part(builder *to, uint64_t time, const double *values) {
  enter_part(to, time, time);
  for (int i = 0; i < to->wish->count; i++)
    to->present[i] = tt_extremes_join(to->present[i], (tt_extremes){values[i], values[i]});
}

/* There are more samples than rows are wanted: those so far become parts. */
static void make_thin(builder *to) {
  tt_traces rows = *to->made;
  *to->made = (tt_traces){.count = rows.count};
  to->capacity = 0;
  to->thin = true;
  for (size_t i = 0; i < rows.rows; i++)
    take_part(to, (uint64_t)(rows.times[i] * 1e6 + 0.5), rows.values + i * (size_t)rows.count);
  tt_traces_clear(&rows);
}

/* A signal without any value says nothing. */
static bool says_anything(const builder *from) {
  for (int i = 0; i < from->wish->count; i++)
    if (!isnan(from->values[i])) return true;
  return false;
}

static void take_row(builder *to, uint64_t time) {
  if (!says_anything(to)) return;
  if (!to->thin && to->made->rows == to->wish->points) make_thin(to);
  if (to->thin) {
    take_part(to, time, to->values);
    return;
  }
  double *row = add_row(to, time);
  if (row) memcpy(row, to->values, (size_t)to->wish->count * sizeof *row);
}

/* ---- the walk ---- */

static void take_values(builder *to, const tt_run_cursor *cursor) {
  for (int i = 0; i < to->wish->count; i++)
    if (!tt_run_cursor_number(cursor, to->entries[i], &to->values[i])) to->values[i] = NAN;
}

/* A row for each time at which the run was sampled, and one at each end of the stretch. */
static void walk(builder *to, tt_run_cursor *cursor, uint64_t from, uint64_t until) {
  uint64_t time = from;
  tt_run_cursor_seek(cursor, from);
  take_values(to, cursor);
  take_row(to, from);
  while (!to->failed && time < until && tt_run_cursor_next_sample(cursor) == TT_OK) {
    if (cursor->time > until) { /* until there what was before holds */
      take_row(to, until);
      return;
    }
    if (cursor->time <= time) continue;
    time = cursor->time;
    take_values(to, cursor);
    take_row(to, time);
  }
}

uint32_t tt_run_log_find_signal(const tt_run_log *log, const char *name) {
  static const char prefix[] = "command:";
  char entry[TT_WPILOG_MOST_NAME];
  bool command = strncmp(name, prefix, strlen(prefix)) == 0;
  snprintf(entry, sizeof entry, "/%s/%s", command ? "commands" : "signals",
           command ? name + strlen(prefix) : name);
  uint32_t found = tt_run_log_find(log, entry);
  if (found || !command) return found;
  snprintf(entry, sizeof entry, "/signals/%s", name); /* a signal of another program is called so */
  return tt_run_log_find(log, entry);
}

static tt_status prepare(builder *to, const tt_run_log *log, tt_error *error) {
  size_t count = (size_t)to->wish->count;
  to->entries = calloc(count + 1, sizeof *to->entries);
  to->values = calloc(count + 1, sizeof *to->values);
  to->present = calloc(count + 1, sizeof *to->present);
  if (!to->entries || !to->values || !to->present) return tt_fail(error, TT_NOMEM, "out of memory");
  for (size_t i = 0; i < count; i++) {
    const char *name = to->wish->names[i];
    to->entries[i] = tt_run_log_find_signal(log, name);
    to->values[i] = NAN;
    to->present[i] = (tt_extremes){NAN, NAN};
    if (!to->entries[i])
      return tt_fail(error, TT_NOT_FOUND, "the run has no signal '%.200s'", name);
  }
  return TT_OK;
}

/* ---- from the overview ---- */

/* Bytes of the log between two times, about. */
static size_t bytes_between(const tt_run_log *log, uint64_t from, uint64_t until) {
  size_t begin = log->first, end = log->size;
  for (size_t i = 0; i < log->keyframe_count; i++) {
    if (log->keyframes[i].time <= from) begin = log->keyframes[i].offset;
    if (log->keyframes[i].time > until) {
      end = log->keyframes[i].offset;
      break;
    }
  }
  return end - begin;
}

static void take_overview(builder *to, const tt_overview *overview, size_t part, size_t until) {
  uint64_t first, last;
  for (; part < until; part++) {
    if (!tt_overview_times(overview, part, &first, &last)) continue;
    enter_part(to, first, last);
    for (int i = 0; i < to->wish->count; i++)
      to->present[i] =
          tt_extremes_join(to->present[i], tt_overview_part(overview, to->entries[i], part));
  }
}

/* Too long a stretch to be read: its beginning and its end are, and what lies between is known. */
static void walk_around(builder *to, tt_run_cursor *cursor, const tt_overview *overview,
                        uint64_t from, uint64_t until) {
  uint64_t every = tt_overview_every(overview);
  size_t begin = (size_t)((from + every - 1) / every), end = tt_overview_complete(overview);
  if (end > (until + 1) / every) end = (size_t)((until + 1) / every);
  if (begin >= end) {
    walk(to, cursor, from, until);
    return;
  }
  make_thin(to);
  if (begin * every > from) walk(to, cursor, from, begin * every - 1);
  take_overview(to, overview, begin, end);
  if (end * every <= until) walk(to, cursor, end * every, until);
}

static tt_status build(builder *to, const tt_run_log *log, const tt_overview *overview,
                       tt_error *error) {
  tt_run_cursor cursor;
  uint64_t from = tt_run_microseconds(to->wish->from), until = tt_run_microseconds(to->wish->to);
  if (until > tt_run_log_duration(log)) until = tt_run_log_duration(log);
  if (from > until) return TT_OK;
  if (!tt_run_cursor_open(&cursor, log)) return tt_fail(error, TT_NOMEM, "out of memory");
  to->begin = (double)from;
  to->part = ((double)(until - from) + 1) / (to->wish->points / 2.0);
  if (overview && bytes_between(log, from, until) > MOST_READ)
    walk_around(to, &cursor, overview, from, until);
  else
    walk(to, &cursor, from, until);
  if (to->thin) close_part(to);
  to->made->thin = to->thin;
  tt_run_cursor_close(&cursor);
  return to->failed ? tt_fail(error, TT_NOMEM, "out of memory") : TT_OK;
}

tt_status tt_traces_read(const tt_run_log *log, const tt_overview *overview,
                         const tt_trace_wish *wish, tt_traces *traces, tt_error *error) {
  *traces = (tt_traces){.count = wish->count};
  builder of = {.wish = wish, .made = traces};
  tt_status status = prepare(&of, log, error);
  if (status == TT_OK) status = build(&of, log, overview, error);
  free(of.entries);
  free(of.values);
  free(of.present);
  if (status != TT_OK) tt_traces_clear(traces);
  return status;
}

void tt_traces_clear(tt_traces *traces) {
  free(traces->times);
  free(traces->values);
  *traces = (tt_traces){0};
}

/* ---- as bytes ---- */

static void put_double(tt_bytes *out, double value) {
  uint8_t bytes[8];
  tt_wpilog_put_double(bytes, value);
  tt_bytes_append(out, bytes, sizeof bytes);
}

void tt_traces_put(const tt_traces *traces, tt_bytes *out) {
  for (int i = 0; i < traces->count; i++) {
    tt_bytes_append_le(out, (uint32_t)traces->rows, 4);
    tt_bytes_append_le(out, traces->thin, 4);
    for (size_t row = 0; row < traces->rows; row++) put_double(out, traces->times[row]);
    for (size_t row = 0; row < traces->rows; row++)
      put_double(out, traces->values[row * (size_t)traces->count + (size_t)i]);
  }
}
