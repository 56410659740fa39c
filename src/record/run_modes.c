#include "record/run_modes.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CHANGES 10000

/* As the journal names a station's flags, behind "ROBOT/" but for the first robot. */
enum { ENABLED, AUTONOMOUS, TEST, ESTOP, FLAGS };
static const char *const flag_names[FLAGS] = {"DS:enabled", "DS:autonomous", "DS:test", "DS:estop"};

typedef struct station {
  const char *name; /* of one of its entries; the robot's are the first `size` bytes */
  int size;
  bool flags[FLAGS];
  const char *mode; /* told last; NULL: none */
} station;

/* Which flag an entry keeps; FLAGS: none. `size`: bytes of the robot's name before it. */
static int read_flag(const tt_run_entry *entry, int *size) {
  if (!entry->name || !entry->type || strcmp(entry->type, "boolean") != 0) return FLAGS;
  const char *slash = strrchr(entry->name, '/');
  const char *name = slash ? slash + 1 : entry->name;
  *size = slash ? (int)(slash - entry->name) : 0;
  for (int i = 0; i < FLAGS; i++)
    if (strcmp(name, flag_names[i]) == 0) return i;
  return FLAGS;
}

static station *find(station *stations, int *count, const char *name, int size) {
  for (int i = 0; i < *count; i++)
    if (stations[i].size == size && memcmp(stations[i].name, name, (size_t)size) == 0)
      return &stations[i];
  stations[*count] = (station){.name = name, .size = size};
  return &stations[(*count)++];
}

static const char *mode_of(const station *of) {
  if (of->flags[ESTOP]) return "estop";
  if (!of->flags[ENABLED]) return "disabled";
  if (of->flags[TEST]) return "test";
  return of->flags[AUTONOMOUS] ? "autonomous" : "teleop";
}

static void add_change(struct json_object *list, const station *of, uint64_t time) {
  struct json_object *change = json_object_new_object();
  tt_json_add(change, "robot", json_object_new_string_len(of->name, of->size));
  tt_json_add_double(change, "time", (double)time / 1e6);
  tt_json_add_text(change, "mode", of->mode);
  json_object_array_add(list, change);
}

static void walk(tt_run_cursor *cursor, const tt_run_entry *entries, station *stations,
                 uint64_t left, struct json_object *list) {
  tt_wpilog_record record;
  int count = 0;
  while (left && tt_run_cursor_next_kept(cursor, &record) == TT_OK) {
    int size = 0, flag = read_flag(&entries[record.entry], &size);
    if (flag == FLAGS || record.size != 1) continue;
    left--;
    station *of = find(stations, &count, entries[record.entry].name, size);
    of->flags[flag] = *record.payload != 0;
    const char *mode = mode_of(of);
    if (mode == of->mode) continue;
    of->mode = mode;
    add_change(list, of, record.timestamp);
  }
}

struct json_object *tt_run_modes_json(const tt_run_log *log) {
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  uint64_t changes = 0;
  for (uint32_t i = 1; i < count; i++) {
    int size;
    if (read_flag(&entries[i], &size) != FLAGS) changes += entries[i].records;
  }
  struct json_object *list = json_object_new_array();
  station *stations = calloc((size_t)count + 1, sizeof *stations);
  tt_run_cursor cursor;
  if (changes > MOST_CHANGES) changes = MOST_CHANGES;
  if (list && stations && changes && tt_run_cursor_open(&cursor, log)) {
    walk(&cursor, entries, stations, changes, list);
    tt_run_cursor_close(&cursor);
  }
  free(stations);
  return list;
}
