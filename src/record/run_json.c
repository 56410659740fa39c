#include "record/run_json.h"

#include "base/json.h"
#include "record/export.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EVENTS 10000

static void add_count(struct json_object *to, const char *key, uint64_t value) {
  json_object_object_add(to, key, json_object_new_int64((int64_t)value));
}

struct json_object *tt_run_facts_json(const tt_kept_run *kept, const tt_run_facts *facts) {
  struct json_object *run = json_object_new_object();
  bool recording = tt_run_log_is_growing(kept->path);
  tt_json_add_text(run, "id", kept->id);
  tt_json_add_text(run, "file", kept->path);
  json_object_object_add(run, "pinned", json_object_new_boolean(kept->pinned));
  tt_json_add_text(run, "scene", facts->scene);
  tt_json_add_text(run, "started", facts->started);
  tt_json_add_text(run, "run", facts->run);
  tt_json_add_text(run, "telemetry", facts->telemetry);
  json_object_object_add(run, "duration", json_object_new_double(facts->duration));
  add_count(run, "size", facts->size);
  tt_json_add_text(run, "outcome", recording ? "recording" : facts->outcome);
  json_object_object_add(run, "recording", json_object_new_boolean(recording));
  add_count(run, "received", facts->received);
  add_count(run, "dropped", facts->dropped);
  tt_json_add_text(run, "drops", facts->drops);
  add_count(run, "repeated", facts->repeated);
  add_count(run, "lateTicks", facts->late_ticks);
  add_count(run, "samplesLost", facts->samples_lost);
  return run;
}

/* ---- contents ---- */

/* "/signals/x" is called x, "/commands/x" command:x, as in the live stream. */
static void signal_name(const tt_run_entry *entry, char *name, size_t size) {
  bool command = strncmp(entry->name, "/commands/", 10) == 0;
  snprintf(name, size, "%s%s", command ? "command:" : "", strchr(entry->name + 1, '/') + 1);
}

static void add_signals(const tt_run_log *log, struct json_object *run) {
  struct json_object *list = json_object_new_array();
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  for (uint32_t i = 1; i < count; i++) {
    char name[400];
    struct json_object *unit;
    if (tt_entry_role_of(&entries[i]) != TT_ROLE_SIGNAL) continue;
    struct json_object *signal = json_object_new_object();
    struct json_object *metadata = json_tokener_parse(entries[i].metadata);
    signal_name(&entries[i], name, sizeof name);
    tt_json_add_text(signal, "name", name);
    tt_json_add_text(
        signal, "unit",
        json_object_object_get_ex(metadata, "unit", &unit) ? json_object_get_string(unit) : "1");
    json_object_put(metadata);
    json_object_array_add(list, signal);
  }
  json_object_object_add(run, "signals", list);
}

static double timestep_of(const tt_run_log *log) {
  tt_run_cursor cursor;
  struct json_object *value;
  if (!tt_run_cursor_open(&cursor, log)) return 0;
  tt_run_cursor_seek(&cursor, 0);
  struct json_object *run = tt_run_cursor_json(&cursor, "/tether/run");
  double timestep =
      json_object_object_get_ex(run, "timestep", &value) ? json_object_get_double(value) : 0;
  json_object_put(run);
  tt_run_cursor_close(&cursor);
  return timestep;
}

static struct json_object *event_json(const tt_wpilog_record *record, double timestep) {
  tt_run_event event = tt_run_read_event(record);
  struct json_object *made = json_object_new_object();
  json_object_object_add(made, "time", json_object_new_double(event.time));
  json_object_object_add(made, "step",
                         json_object_new_int64(timestep > 0 ? llround(event.time / timestep) : 0));
  json_object_object_add(made, "source",
                         json_object_new_string_len(event.source, event.source_size));
  json_object_object_add(made, "text", json_object_new_string_len(event.text, event.text_size));
  return made;
}

static void add_events(const tt_run_log *log, struct json_object *run) {
  struct json_object *list = json_object_new_array();
  uint32_t id = tt_run_log_find(log, "/events");
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  uint64_t left = id ? entries[id].records : 0;
  double timestep = timestep_of(log);
  tt_run_cursor cursor;
  tt_wpilog_record record;
  if (left > MOST_EVENTS) left = MOST_EVENTS;
  if (left && tt_run_cursor_open(&cursor, log)) {
    while (left && tt_run_cursor_next_kept(&cursor, &record) == TT_OK) {
      if (record.entry != id) continue;
      json_object_array_add(list, event_json(&record, timestep));
      left--;
    }
    tt_run_cursor_close(&cursor);
  }
  json_object_object_add(run, "events", list);
}

static void add_robots(const tt_run_log *log, struct json_object *run) {
  struct json_object *list = json_object_new_array();
  tt_robot_summary *robots = NULL;
  int count = 0;
  if (tt_run_summarize_robots(log, &robots, &count) == TT_OK)
    for (int i = 0; i < count; i++) {
      struct json_object *robot = json_object_new_object();
      tt_json_add_text(robot, "name", robots[i].name);
      json_object_object_add(robot, "distance", json_object_new_double(robots[i].distance));
      json_object_object_add(robot, "topSpeed", json_object_new_double(robots[i].top_speed));
      json_object_array_add(list, robot);
    }
  free(robots);
  json_object_object_add(run, "robots", list);
}

void tt_run_add_contents(const tt_run_log *log, struct json_object *run) {
  add_signals(log, run);
  add_events(log, run);
  add_robots(log, run);
}

/* ---- plots ---- */

/* One signal: its value now, and what happened to it in the present stretch. */
typedef struct trace {
  uint32_t entry;
  double value; /* NAN: none yet */
  double least, greatest;
  bool least_first;
  struct json_object *values;
} trace;

typedef struct plot {
  trace *traces;
  int count;
  bool *sampled;   /* of each entry of the log: a signal or command */
  bool thin;       /* more samples than points */
  double stretch;  /* µs of one */
  uint64_t number; /* of the present stretch */
  uint64_t first, last;
  uint64_t rows; /* in the present stretch */
  struct json_object *times;
} plot;

static struct json_object *number_or_null(double value) {
  return isfinite(value) ? json_object_new_double(value) : NULL;
}

static void add_time(plot *to, uint64_t time) {
  json_object_array_add(to->times, json_object_new_double((double)time / 1e6));
}

/* Two rows a stretch: where it begins and where it ends. */
static void close_stretch(plot *to) {
  if (to->rows == 0) return;
  bool two = to->last > to->first;
  add_time(to, to->first);
  if (two) add_time(to, to->last);
  for (int i = 0; i < to->count; i++) {
    trace *of = &to->traces[i];
    double first = of->least_first ? of->least : of->greatest;
    json_object_array_add(of->values, number_or_null(two ? first : of->value));
    if (two)
      json_object_array_add(of->values, number_or_null(of->least_first ? of->greatest : of->least));
    of->least = of->greatest = NAN;
  }
  to->rows = 0;
}

static void take_row(plot *to, uint64_t time) {
  uint64_t number = to->thin ? (uint64_t)((double)time / to->stretch) : 0;
  if (to->thin && number != to->number) close_stretch(to);
  to->number = number;
  if (to->rows == 0) to->first = time;
  to->last = time;
  to->rows++;
  for (int i = 0; i < to->count; i++) {
    trace *of = &to->traces[i];
    if (!(of->value >= of->least)) of->least = of->value, of->least_first = false;
    if (!(of->value <= of->greatest)) of->greatest = of->value, of->least_first = true;
  }
  if (!to->thin) close_stretch(to);
}

static void walk(plot *to, tt_run_cursor *cursor) {
  tt_wpilog_record record;
  uint64_t time = 0;
  bool pending = false;
  while (tt_run_cursor_next(cursor, &record) == TT_OK) {
    if (!to->sampled[record.entry]) continue;
    if (pending && record.timestamp != time) take_row(to, time);
    pending = true;
    time = record.timestamp;
    for (int i = 0; i < to->count; i++)
      if (to->traces[i].entry == record.entry && tt_record_fits(TT_ROLE_SIGNAL, &record))
        to->traces[i].value = tt_wpilog_double(record.payload);
  }
  if (pending) take_row(to, time);
  close_stretch(to);
}

static uint32_t find_signal(const tt_run_log *log, const char *name) {
  static const char prefix[] = "command:";
  char entry[400];
  bool command = strncmp(name, prefix, strlen(prefix)) == 0;
  snprintf(entry, sizeof entry, "/%s/%s", command ? "commands" : "signals",
           command ? name + strlen(prefix) : name);
  return tt_run_log_find(log, entry);
}

/* A signal changes at most once a sample, and `time` at each. */
static uint64_t count_samples(const tt_run_log *log, bool *sampled) {
  uint32_t count;
  uint64_t most = 0;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  for (uint32_t i = 1; i < count; i++) {
    sampled[i] = tt_entry_role_of(&entries[i]) == TT_ROLE_SIGNAL;
    if (sampled[i] && entries[i].records > most) most = entries[i].records;
  }
  return most;
}

static tt_status find_signals(plot *to, const tt_run_log *log, const char *const *names,
                              tt_error *error) {
  for (int i = 0; i < to->count; i++) {
    uint32_t entry = find_signal(log, names[i]);
    if (!entry) return tt_fail(error, TT_NOT_FOUND, "the run has no signal '%.200s'", names[i]);
    to->traces[i] = (trace){.entry = entry, .value = NAN, .least = NAN, .greatest = NAN};
  }
  return TT_OK;
}

static struct json_object *plot_json(plot *from) {
  struct json_object *made = json_object_new_object();
  struct json_object *values = json_object_new_array();
  json_object_object_add(made, "time", from->times);
  for (int i = 0; i < from->count; i++) json_object_array_add(values, from->traces[i].values);
  json_object_object_add(made, "values", values);
  return made;
}

tt_status tt_run_plot(const tt_run_log *log, const char *const *names, int count, unsigned points,
                      struct json_object **made, tt_error *error) {
  uint32_t entries;
  tt_run_log_entries(log, &entries);
  plot of = {.count = count,
             .traces = calloc((size_t)count + 1, sizeof *of.traces),
             .sampled = calloc((size_t)entries + 1, sizeof *of.sampled)};
  tt_run_cursor cursor;
  *made = NULL;
  tt_status status = of.traces && of.sampled ? find_signals(&of, log, names, error)
                                             : tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_OK && !tt_run_cursor_open(&cursor, log))
    status = tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_OK) {
    of.thin = count_samples(log, of.sampled) > points;
    of.stretch = ((double)tt_run_log_duration(log) + 1) / (points / 2.0);
    of.times = json_object_new_array();
    for (int i = 0; i < count; i++) of.traces[i].values = json_object_new_array();
    walk(&of, &cursor);
    *made = plot_json(&of);
    tt_run_cursor_close(&cursor);
  }
  free(of.traces);
  free(of.sampled);
  return status;
}
