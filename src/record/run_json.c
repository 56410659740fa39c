#include "record/run_json.h"

#include "base/json.h"
#include "record/export.h"
#include "record/run_about.h"
#include "record/run_modes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EVENTS 10000

static void add_about(const tt_kept_run *kept, struct json_object *run) {
  struct json_object *about = tt_run_about_read(kept);
  if (!about) return;
  json_object_object_foreach(about, key, value) tt_json_add(run, key, json_object_get(value));
  json_object_put(about);
}

static struct json_object *parent_json(const tt_run_facts *facts) {
  if (!*facts->from.name) return NULL;
  struct json_object *made = json_object_new_object();
  tt_json_add_text(made, "run", facts->from.run);
  tt_json_add_text(made, "name", facts->from.name);
  tt_json_add_double(made, "time", facts->from.time);
  return made;
}

struct json_object *tt_run_facts_json(const tt_kept_run *kept, const tt_run_facts *facts) {
  struct json_object *run = json_object_new_object();
  bool recording = tt_run_log_is_growing(kept->path);
  tt_json_add_text(run, "id", kept->id);
  tt_json_add_text(run, "file", kept->path);
  tt_json_add_bool(run, "pinned", kept->pinned);
  add_about(kept, run);
  tt_json_add_text(run, "scene", facts->scene);
  tt_json_add_text(run, "started", facts->started);
  tt_json_add_text(run, "run", facts->run);
  tt_json_add_text(run, "telemetry", facts->telemetry);
  tt_json_add(run, "from", parent_json(facts));
  tt_json_add_text(run, "program", *facts->program ? facts->program : NULL);
  tt_json_add_uint(run, "leftOut", facts->left_out);
  tt_json_add_text(run, "leftOutTypes", facts->left_types);
  tt_json_add_double(run, "duration", facts->duration);
  tt_json_add_uint(run, "size", facts->size);
  tt_json_add_text(run, "outcome", recording ? "recording" : facts->outcome);
  tt_json_add_bool(run, "recording", recording);
  tt_json_add_uint(run, "received", facts->received);
  tt_json_add_uint(run, "dropped", facts->dropped);
  tt_json_add_text(run, "drops", facts->drops);
  tt_json_add_uint(run, "repeated", facts->repeated);
  tt_json_add_uint(run, "lateTicks", facts->late_ticks);
  tt_json_add_uint(run, "samplesLost", facts->samples_lost);
  return run;
}

/* ---- contents ---- */

void tt_run_signal_name(const tt_run_entry *entry, char *name, size_t size) {
  bool command = strncmp(entry->name, "/commands/", 10) == 0;
  snprintf(name, size, "%s%s", command ? "command:" : "", strchr(entry->name + 1, '/') + 1);
}

static void add_signals(const tt_run_log *log, struct json_object *run) {
  struct json_object *list = json_object_new_array();
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  for (uint32_t i = 1; i < count; i++) {
    char name[TT_WPILOG_MOST_NAME];
    struct json_object *unit;
    if (tt_entry_role_of(&entries[i]) != TT_ROLE_SIGNAL) continue;
    struct json_object *signal = json_object_new_object();
    struct json_object *metadata = json_tokener_parse(entries[i].metadata);
    tt_run_signal_name(&entries[i], name, sizeof name);
    tt_json_add_text(signal, "name", name);
    tt_json_add_text(
        signal, "unit",
        json_object_object_get_ex(metadata, "unit", &unit) ? json_object_get_string(unit) : "1");
    json_object_put(metadata);
    json_object_array_add(list, signal);
  }
  tt_json_add(run, "signals", list);
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
  tt_json_add_double(made, "time", event.time);
  tt_json_add_int(made, "step", timestep > 0 ? llround(event.time / timestep) : 0);
  tt_json_add(made, "source", json_object_new_string_len(event.source, event.source_size));
  tt_json_add(made, "text", json_object_new_string_len(event.text, event.text_size));
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
  tt_json_add(run, "events", list);
}

void tt_run_add_contents(const tt_run_log *log, struct json_object *run) {
  add_signals(log, run);
  add_events(log, run);
  double moved = tt_run_first_motion(log);
  tt_json_add(run, "moved", moved >= 0 ? json_object_new_double(moved) : NULL);
  tt_json_add(run, "modes", tt_run_modes_json(log));
}

/* ---- plots ---- */

static struct json_object *number_or_null(double value) {
  return isfinite(value) ? json_object_new_double(value) : NULL;
}

struct json_object *tt_traces_json(const tt_traces *traces) {
  struct json_object *made = json_object_new_object();
  struct json_object *times = tt_json_add_array(made, "time");
  struct json_object *values = tt_json_add_array(made, "values");
  for (size_t row = 0; row < traces->rows; row++)
    json_object_array_add(times, json_object_new_double(traces->times[row]));
  for (int i = 0; i < traces->count; i++) {
    struct json_object *list = json_object_new_array();
    for (size_t row = 0; row < traces->rows; row++)
      json_object_array_add(
          list, number_or_null(traces->values[row * (size_t)traces->count + (size_t)i]));
    json_object_array_add(values, list);
  }
  return made;
}
