#include "record/summary.h"

#include "sim/journal.h"
#include "record/export.h"
#include "record/extent.h"
#include "record/run_robots.h"

#include <json-c/json.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EVENTS_SHOWN 1000

/* The newest record of an entry in the whole log, as JSON; NULL where there is none. */
static struct json_object *last_json(const tt_run_cursor *end, const char *name) {
  struct json_object *object = tt_run_cursor_json(end, name);
  if (json_object_is_type(object, json_type_object)) return object;
  json_object_put(object);
  return NULL;
}

/* Where it is too long it is cut between two characters. */
static void copy_text(struct json_object *from, const char *key, char *to, size_t size) {
  struct json_object *value;
  if (!json_object_object_get_ex(from, key, &value) || !value) return;
  const char *text = json_object_get_string(value);
  size_t end = strnlen(text, size - 1);
  while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80) end--;
  memcpy(to, text, end);
  to[end] = 0;
}

static void read_parent(struct json_object *run, tt_run_facts *facts) {
  struct json_object *from, *time;
  if (!json_object_object_get_ex(run, "from", &from)) return;
  copy_text(from, "run", facts->from.run, sizeof facts->from.run);
  copy_text(from, "name", facts->from.name, sizeof facts->from.name);
  if (json_object_object_get_ex(from, "time", &time))
    facts->from.time = json_object_get_double(time);
}

static uint64_t count_of(struct json_object *from, const char *key) {
  struct json_object *value;
  if (!json_object_object_get_ex(from, key, &value)) return 0;
  int64_t count = json_object_get_int64(value);
  return count > 0 ? (uint64_t)count : 0;
}

/* ---- facts ---- */

static void add_drops(struct json_object *wire, tt_run_facts *facts) {
  struct json_object *dropped;
  if (!json_object_object_get_ex(wire, "dropped", &dropped) ||
      !json_object_is_type(dropped, json_type_object))
    return;
  json_object_object_foreach(dropped, reason, count) {
    size_t used = strlen(facts->drops);
    facts->dropped += (uint64_t)json_object_get_int64(count);
    snprintf(facts->drops + used, sizeof facts->drops - used, "%s%s %lld", used ? ", " : "", reason,
             (long long)json_object_get_int64(count));
  }
}

static void read_statistics(const tt_run_cursor *end, tt_run_facts *facts) {
  struct json_object *statistics = last_json(end, "/tether/statistics");
  struct json_object *wires;
  if (!statistics) return;
  facts->late_ticks = count_of(statistics, "late_ticks");
  if (json_object_object_get_ex(statistics, "wires", &wires) &&
      json_object_is_type(wires, json_type_array))
    for (size_t i = 0; i < json_object_array_length(wires); i++) {
      struct json_object *wire = json_object_array_get_idx(wires, i);
      facts->received += count_of(wire, "received");
      facts->accepted += count_of(wire, "accepted");
      facts->repeated += count_of(wire, "repeated");
      add_drops(wire, facts);
    }
  json_object_put(statistics);
}

static uint64_t sum_lost(const tt_run_log *log) {
  tt_run_cursor cursor;
  tt_wpilog_record record;
  uint32_t id = tt_run_log_find(log, "/tether/samples_lost");
  uint32_t count;
  uint64_t lost = 0;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  if (!id || entries[id].records == 0 || !tt_run_cursor_open(&cursor, log)) return 0;
  while (tt_run_cursor_next_kept(&cursor, &record) == TT_OK)
    if (record.entry == id && record.size == 8) lost += tt_wpilog_uint(record.payload, 8);
  tt_run_cursor_close(&cursor);
  return lost;
}

/* A run that diverged says so in its last events; one without its end was cut off. */
static void find_outcome(const tt_run_cursor *end, tt_run_facts *facts) {
  tt_wpilog_record record;
  snprintf(facts->outcome, sizeof facts->outcome, "%s",
           tt_run_log_ended(end->log) ? "ended" : "cut off");
  if (!tt_run_cursor_value(end, tt_run_log_find(end->log, "/events"), &record)) return;
  tt_run_event last = tt_run_read_event(&record);
  if (last.source_size == 7 && memcmp(last.source, "physics", 7) == 0)
    snprintf(facts->outcome, sizeof facts->outcome, "%.*s", last.text_size, last.text);
}

tt_status tt_run_get_facts(const tt_run_log *log, tt_run_facts *facts) {
  tt_run_cursor end;
  *facts = (tt_run_facts){.duration = (double)tt_run_log_duration(log) / 1e6,
                          .size = tt_run_log_size(log)};
  if (!tt_run_cursor_open(&end, log)) return TT_NOMEM;
  tt_run_cursor_seek(&end, UINT64_MAX);
  struct json_object *run = last_json(&end, "/tether/run");
  if (run) {
    copy_text(run, "scene", facts->scene, sizeof facts->scene);
    copy_text(run, "started", facts->started, sizeof facts->started);
    copy_text(run, "run", facts->run, sizeof facts->run);
    copy_text(run, "telemetry", facts->telemetry, sizeof facts->telemetry);
    read_parent(run, facts);
    copy_text(run, "program", facts->program, sizeof facts->program);
    copy_text(run, "left_out_types", facts->left_types, sizeof facts->left_types);
    facts->left_out = count_of(run, "left_out");
  }
  json_object_put(run);
  read_statistics(&end, facts);
  find_outcome(&end, facts);
  facts->samples_lost = sum_lost(log);
  tt_run_cursor_close(&end);
  return TT_OK;
}

/* ---- robots ---- */

typedef struct track {
  uint32_t pose; /* entry of the root body's pose */
  bool known;
  uint64_t time;
  double x, y;
} track;

static void follow(track *from, tt_robot_summary *robot, const tt_wpilog_record *record,
                   uint64_t last_reset) {
  double x = tt_wpilog_double(record->payload);
  double y = tt_wpilog_double(record->payload + 8);
  bool moved = from->known && record->timestamp > from->time;
  bool reset = last_reset >= from->time && last_reset <= record->timestamp;
  if (moved && !reset) {
    double distance = hypot(x - from->x, y - from->y);
    double speed = distance / ((double)(record->timestamp - from->time) * 1e-6);
    robot->distance += distance;
    if (speed > robot->top_speed) robot->top_speed = speed;
  }
  *from = (track){from->pose, true, record->timestamp, x, y};
}

/* Resets stand in the journal, which runs a little ahead of the samples: the times of the last few are kept. */
typedef struct resets {
  uint64_t times[256];
  unsigned count;
} resets;

static uint64_t reset_between(const resets *seen, uint64_t from, uint64_t to) {
  unsigned kept = seen->count < 256 ? seen->count : 256;
  for (unsigned i = 0; i < kept; i++)
    if (seen->times[i] >= from && seen->times[i] <= to) return seen->times[i];
  return UINT64_MAX;
}

static bool begins_elsewhere(const tt_wpilog_record *record) {
  return record->size > 0 &&
         (record->payload[0] == TT_ENTRY_RESET || record->payload[0] == TT_ENTRY_STATE);
}

/* Poses that stand in the log are read without making all others. */
static bool needs_made(const tt_run_log *log, const track *tracks, int count) {
  for (int i = 0; i < count; i++)
    if (tracks[i].pose && tt_run_log_is_made(log, tracks[i].pose)) return true;
  return false;
}

static void walk(const tt_run_log *log, tt_run_cursor *cursor, tt_robot_summary *robots,
                 track *tracks, int count) {
  uint32_t entry_count;
  const tt_run_entry *entries = tt_run_log_entries(log, &entry_count);
  tt_wpilog_record record;
  resets seen = {.count = 0};
  tt_status (*next)(tt_run_cursor *, tt_wpilog_record *) =
      needs_made(log, tracks, count) ? tt_run_cursor_next : tt_run_cursor_next_kept;
  while (next(cursor, &record) == TT_OK) {
    if (entries[record.entry].journal && begins_elsewhere(&record))
      seen.times[seen.count++ % 256] = record.timestamp;
    for (int i = 0; i < count; i++)
      if (record.entry == tracks[i].pose && tt_record_fits(TT_ROLE_POSE, &record))
        follow(&tracks[i], &robots[i], &record,
               reset_between(&seen, tracks[i].time, record.timestamp));
  }
}

tt_status tt_run_summarize_robots(const tt_run_log *log, tt_robot_summary **robots, int *count) {
  tt_run_cursor cursor;
  tt_run_robots list;
  tt_status status = tt_run_robots_read(log, &list);
  tt_robot_summary *made = calloc((size_t)list.count + 1, sizeof *made);
  track *tracks = calloc((size_t)list.count + 1, sizeof *tracks);
  *robots = NULL;
  *count = 0;
  if (status == TT_OK && (!made || !tracks || !tt_run_cursor_open(&cursor, log))) status = TT_NOMEM;
  if (status == TT_OK) {
    for (int i = 0; i < list.count; i++) {
      snprintf(made[i].name, sizeof made[i].name, "%s", list.robots[i].name);
      tracks[i].pose = list.robots[i].root;
    }
    walk(log, &cursor, made, tracks, list.count);
    tt_run_cursor_close(&cursor);
    *count = list.count;
    *robots = made;
    made = NULL;
  }
  free(made);
  free(tracks);
  tt_run_robots_free(&list);
  return status;
}

/* ---- the first motion ---- */

#define TURNED 0.035 /* rad: 2° */

/* Where a body was first: x y z, w x y z. */
typedef struct first_place {
  double pose[7];
  bool known;
} first_place;

static bool has_left(first_place *from, const tt_wpilog_record *record) {
  double now[7], way = 0, dot = 0;
  for (int i = 0; i < 7; i++) now[i] = tt_wpilog_double(record->payload + 8 * i);
  if (!from->known) {
    memcpy(from->pose, now, sizeof now);
    from->known = true;
    return false;
  }
  for (int i = 0; i < 3; i++) way += (now[i] - from->pose[i]) * (now[i] - from->pose[i]);
  for (int i = 3; i < 7; i++) dot += now[i] * from->pose[i];
  return sqrt(way) > TT_STAYED || 2 * acos(fmin(1, fabs(dot))) > TURNED;
}

static double find_motion(const tt_run_log *log, const tt_run_robots *robots, first_place *places) {
  tt_run_cursor cursor;
  tt_wpilog_record record;
  double found = -1;
  if (!tt_run_cursor_open(&cursor, log)) return found;
  while (found < 0 && tt_run_cursor_next(&cursor, &record) == TT_OK)
    if (robots->robot_of[record.entry] >= 0 && tt_record_fits(TT_ROLE_POSE, &record) &&
        has_left(&places[record.entry], &record))
      found = (double)record.timestamp * 1e-6;
  tt_run_cursor_close(&cursor);
  return found;
}

double tt_run_first_motion(const tt_run_log *log) {
  uint32_t entries;
  tt_run_robots robots;
  double found = -1;
  tt_run_log_entries(log, &entries);
  first_place *places = calloc((size_t)entries + 1, sizeof *places);
  if (tt_run_robots_read(log, &robots) == TT_OK && places)
    found = find_motion(log, &robots, places);
  tt_run_robots_free(&robots);
  free(places);
  return found;
}

/* ---- events ---- */

tt_run_event tt_run_read_event(const tt_wpilog_record *record) {
  const char *text = (const char *)record->payload;
  int size = record->size < 4096 ? (int)record->size : 4096;
  const char *colon = memchr(text, ':', (size_t)size);
  int source = colon ? (int)(colon - text) : 0;
  int skip = colon ? source + 1 : 0;
  if (skip < size && text[skip] == ' ') skip++;
  return (tt_run_event){(double)record->timestamp / 1e6, text, text + skip, source, size - skip};
}

/* ---- for people ---- */

static void put_json_text(tt_export_buffer *out, const char *text, size_t size) {
  tt_bytes_append_json(&out->bytes, text, size); /* a JSON string is one of YAML too */
  tt_export_put(out, "\n", 1);
}

static void put_fact(tt_export_buffer *out, const char *key, const char *text) {
  if (!*text) return;
  tt_export_text(out, "%s: ", key);
  put_json_text(out, text, strlen(text));
}

static void put_parent(tt_export_buffer *out, const tt_run_facts *facts) {
  if (!*facts->from.name) return;
  tt_export_text(out, "from: {time: %.3f s, run: ", facts->from.time);
  tt_bytes_append_json(&out->bytes, facts->from.name, strlen(facts->from.name));
  tt_export_text(out, "}\n");
}

static void put_facts(tt_export_buffer *out, const tt_run_facts *facts) {
  put_fact(out, "scene", facts->scene);
  put_fact(out, "started", facts->started);
  put_fact(out, "run", facts->run);
  put_fact(out, "telemetry", facts->telemetry);
  put_parent(out, facts);
  put_fact(out, "program", facts->program);
  tt_export_text(out, "duration: %.3f s\n", facts->duration);
  put_fact(out, "outcome", facts->outcome);
  tt_export_text(out, "size: %.2f MB\n", (double)facts->size * 1e-6);
  tt_export_text(out, "messages: {received: %llu, accepted: %llu, dropped: %llu}\n",
                 (unsigned long long)facts->received, (unsigned long long)facts->accepted,
                 (unsigned long long)facts->dropped);
  put_fact(out, "drops", facts->drops);
  if (facts->repeated)
    tt_export_text(out, "repeatable: no, %llu messages were sent again in lock-step\n",
                   (unsigned long long)facts->repeated);
  tt_export_text(out, "late ticks: %llu\n", (unsigned long long)facts->late_ticks);
  tt_export_text(out, "samples lost: %llu\n", (unsigned long long)facts->samples_lost);
}

static tt_status put_robots(tt_export_buffer *out, const tt_run_log *log) {
  tt_robot_summary *robots;
  int count;
  TT_TRY(tt_run_summarize_robots(log, &robots, &count));
  tt_export_text(out, count ? "robots:\n" : "robots: []\n");
  for (int i = 0; i < count; i++) {
    tt_export_text(out, "  - name: ");
    put_json_text(out, robots[i].name, strlen(robots[i].name));
    tt_export_text(out, "    distance: %.3f m\n    top speed: %.3f m/s\n", robots[i].distance,
                   robots[i].top_speed);
  }
  free(robots);
  return TT_OK;
}

static void put_events(tt_export_buffer *out, const tt_run_log *log, tt_run_cursor *cursor) {
  uint32_t events = tt_run_log_find(log, "/events");
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  uint64_t total = events ? entries[events].records : 0, shown = 0;
  tt_wpilog_record record;
  tt_export_text(out, total ? "events:\n" : "events: []\n");
  while (shown < total && shown < MOST_EVENTS_SHOWN &&
         tt_run_cursor_next_kept(cursor, &record) == TT_OK) {
    if (record.entry != events) continue;
    tt_export_text(out, "  - [%.3f s, ", (double)record.timestamp * 1e-6);
    tt_bytes_append_json(&out->bytes, (const char *)record.payload, record.size);
    tt_export_text(out, "]\n");
    shown++;
  }
  if (total > shown)
    tt_export_text(out, "events left out: %llu\n", (unsigned long long)(total - shown));
}

tt_status tt_export_summary(const tt_run_log *log, const tt_export_sink *sink) {
  tt_run_facts facts;
  tt_run_cursor cursor;
  tt_export_buffer out;
  TT_TRY(tt_run_get_facts(log, &facts));
  if (!tt_run_cursor_open(&cursor, log)) return TT_NOMEM;
  tt_export_begin(&out, sink);
  put_facts(&out, &facts);
  tt_status status = put_robots(&out, log);
  put_events(&out, log, &cursor);
  tt_run_cursor_close(&cursor);
  tt_status written = tt_export_end(&out);
  return status == TT_OK ? written : status;
}
