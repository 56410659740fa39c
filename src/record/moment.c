#include "record/moment.h"

#include "base/json.h"
#include "record/export.h"
#include "record/journal_codec.h"
#include "record/run_json.h"
#include "record/run_log_internal.h"
#include "record/derive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BODIES 65535 /* that a message of poses can count */
#define MOST_SUBMISSIONS 65536

uint64_t tt_run_microseconds(double seconds) {
  return seconds > 0 ? seconds < 1e12 ? (uint64_t)(seconds * 1e6 + 0.5) : (uint64_t)1e18 : 0;
}

uint64_t tt_run_begin(const tt_run_log *log) {
  tt_run_cursor cursor;
  tt_wpilog_record record;
  uint32_t count;
  uint64_t begin = 0;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  if (!tt_run_cursor_open(&cursor, log)) return 0;
  while (tt_run_cursor_next_kept(&cursor, &record) == TT_OK) {
    if (record.entry >= count || tt_entry_role_of(&entries[record.entry]) != TT_ROLE_SIGNAL)
      continue;
    begin = record.timestamp;
    break;
  }
  tt_run_cursor_close(&cursor);
  return begin;
}

/* ---- bodies ---- */

static tt_status find_bodies(tt_run_bodies *bodies, const tt_run_log *log,
                             struct json_object *model, tt_error *error) {
  size_t count;
  struct json_object *list = tt_json_list(model, "bodies", &count);
  if (count == 0 || count > MOST_BODIES)
    return tt_fail(error, TT_INVALID, "the run does not say what it consists of");
  bodies->entries = calloc(count, sizeof *bodies->entries);
  if (!bodies->entries) return tt_fail(error, TT_NOMEM, "out of memory");
  bodies->count = (int)count;
  for (size_t i = 0; i < count; i++) {
    char name[TT_WPILOG_MOST_NAME];
    snprintf(name, sizeof name, "/poses/%s",
             tt_json_text(json_object_array_get_idx(list, i), "name"));
    bodies->entries[i] = tt_run_log_find(log, name);
  }
  return TT_OK;
}

tt_status tt_run_bodies_read(const tt_run_log *log, tt_run_bodies *bodies, tt_error *error) {
  tt_run_cursor cursor;
  *bodies = (tt_run_bodies){0};
  if (!tt_run_cursor_open(&cursor, log)) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_run_cursor_seek(&cursor, 0);
  bodies->field = tt_run_cursor_field(&cursor);
  struct json_object *model = tt_run_cursor_json(&cursor, "/tether/model");
  tt_run_cursor_close(&cursor);
  tt_status status = find_bodies(bodies, log, model, error);
  json_object_put(model);
  return status;
}

void tt_run_bodies_clear(tt_run_bodies *bodies) {
  free(bodies->entries);
  *bodies = (tt_run_bodies){0};
}

void tt_run_bodies_pose(const tt_run_bodies *bodies, const tt_run_cursor *cursor, int body,
                        double pose[7]) {
  tt_wpilog_record record;
  uint32_t entry = bodies->entries[body];
  memcpy(pose, (const double[7]){0, 0, 0, 1}, 7 * sizeof *pose);
  if (!entry || !tt_run_cursor_value(cursor, entry, &record) ||
      !tt_record_fits(TT_ROLE_POSE, &record))
    return;
  for (int k = 0; k < 7; k++) pose[k] = tt_wpilog_double(record.payload + 8 * k);
  tt_field_to_arena(&bodies->field, pose);
}

/* ---- values ---- */

struct json_object *tt_run_values_json(const tt_run_log *log, double time) {
  tt_run_cursor cursor;
  tt_wpilog_record record;
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  if (!tt_run_cursor_open(&cursor, log)) return NULL;
  tt_run_cursor_seek(&cursor, tt_run_microseconds(time));
  struct json_object *made = json_object_new_object(), *values = json_object_new_object();
  tt_json_add_double(made, "time", time);
  tt_json_add(made, "values", values);
  for (uint32_t i = 1; i < count; i++) {
    char name[TT_WPILOG_MOST_NAME];
    if (tt_entry_role_of(&entries[i]) != TT_ROLE_SIGNAL ||
        !tt_run_cursor_value(&cursor, i, &record) || !tt_record_fits(TT_ROLE_SIGNAL, &record))
      continue;
    tt_run_signal_name(&entries[i], name, sizeof name);
    tt_json_add_double(values, name, tt_wpilog_double(record.payload));
  }
  tt_run_cursor_close(&cursor);
  return made;
}

/* ---- messages ---- */

/* A command of the run. Texts are the linkage's. */
typedef struct command {
  const char *name, *unit;
} command;

typedef struct search {
  const tt_run_log *log;
  command *commands;
  int command_count;
  tt_journal_scratch scratch;
  uint64_t until;             /* µs */
  size_t *offsets;            /* [limit] ring of the last accepted commands of a portion */
  size_t limit, found, wrote; /* wrote: how many there were in all */
} search;

static bool is_message(search *of, const tt_wpilog_record *record, tt_entry *entry) {
  const tt_run_entry *about = &of->log->entries[record->entry];
  return about->journal && record->timestamp <= of->until &&
         tt_journal_decode(about->name, record->payload, record->size, &of->scratch, entry) ==
             TT_OK &&
         entry->kind == TT_ENTRY_COMMANDS;
}

/* The last messages between two places of the file, into the ring. */
static void search_portion(search *of, size_t from, size_t until) {
  const tt_run_log *log = of->log;
  tt_wpilog_record record;
  tt_entry entry;
  of->wrote = 0;
  for (size_t at = from, past = from;
       at < until && tt_wpilog_next(log->data, log->size, &past, &record) == TT_OK; at = past) {
    if (record.entry == 0 || record.entry >= log->kept_count) continue;
    if (is_message(of, &record, &entry)) of->offsets[of->wrote++ % of->limit] = at;
  }
}

static struct json_object *value_json(const search *of, const tt_submission *from) {
  struct json_object *made = json_object_new_object();
  bool known =
      from->command >= 0 && from->command < of->command_count && of->commands[from->command].name;
  tt_json_add_text(made, "name", known ? of->commands[from->command].name : "");
  tt_json_add_double(made, "value", from->value);
  tt_json_add_text(made, "unit", known ? of->commands[from->command].unit : "");
  return made;
}

static struct json_object *message_json(search *of, size_t at) {
  tt_wpilog_record record;
  tt_entry entry;
  if (tt_wpilog_next(of->log->data, of->log->size, &at, &record) != TT_OK ||
      !is_message(of, &record, &entry))
    return NULL;
  struct json_object *made = json_object_new_object();
  tt_json_add_double(made, "time", (double)record.timestamp / 1e6);
  tt_json_add_uint(made, "step", entry.step);
  tt_json_add_text(made, "source", entry.source);
  struct json_object *values = tt_json_add_array(made, "values");
  for (int i = 0; i < entry.count; i++)
    json_object_array_add(values, value_json(of, &entry.submissions[i]));
  return made;
}

/* The newest first. */
static void take_found(search *of, struct json_object *list) {
  size_t count = of->wrote < of->limit ? of->wrote : of->limit;
  for (size_t i = 0; i < count && of->found < of->limit; i++, of->found++)
    json_object_array_add(list, message_json(of, of->offsets[(of->wrote - 1 - i) % of->limit]));
}

/* Backwards from place to place of the index, until there are enough. */
static void search_back(search *of, struct json_object *list) {
  const tt_run_log *log = of->log;
  size_t key = log->keyframe_count, until = log->size;
  /* The journal is written a little apart from the samples: the place behind the time is looked at, too. */
  while (key > 1 && log->keyframes[key - 2].time > of->until) until = log->keyframes[--key].offset;
  for (;; until = log->keyframes[--key].offset) {
    search_portion(of, key ? log->keyframes[key - 1].offset : log->first, until);
    take_found(of, list);
    if (key == 0 || of->found == of->limit) return;
  }
}

/* Commands by their numbers; of older logs, without linkage, only the numbers are known. */
static bool name_commands(search *of) {
  const tt_derivation *from = of->log->derivation;
  of->command_count = from ? from->linkage.model.command_count : 0;
  of->commands = calloc((size_t)of->command_count + 1, sizeof *of->commands);
  for (int i = 0; from && of->commands && i < from->linkage.signal_count; i++) {
    static const char prefix[] = "command:";
    const tt_linked_signal *signal = &from->linkage.signals[i];
    const char *name = signal->name;
    if (signal->signal.source != TT_SIGNAL_COMMAND) continue;
    if (strncmp(name, prefix, strlen(prefix)) == 0) name += strlen(prefix);
    of->commands[signal->signal.index] = (command){name, signal->unit};
  }
  of->scratch.submissions = calloc(MOST_SUBMISSIONS, sizeof *of->scratch.submissions);
  of->scratch.capacity = MOST_SUBMISSIONS;
  of->offsets = calloc(of->limit + 1, sizeof *of->offsets);
  return of->commands && of->scratch.submissions && of->offsets;
}

static struct json_object *oldest_first(struct json_object *list) {
  struct json_object *made = json_object_new_array();
  for (size_t i = json_object_array_length(list); i-- > 0;) {
    struct json_object *one = json_object_array_get_idx(list, i);
    if (one) json_object_array_add(made, json_object_get(one));
  }
  json_object_put(list);
  return made;
}

struct json_object *tt_run_messages_json(const tt_run_log *log, double before, unsigned limit) {
  search of = {.log = log, .until = tt_run_microseconds(before), .limit = limit};
  struct json_object *list = NULL;
  if (name_commands(&of)) {
    list = json_object_new_array();
    search_back(&of, list);
    list = oldest_first(list);
  }
  free(of.commands);
  free(of.scratch.submissions);
  free(of.offsets);
  return list;
}
