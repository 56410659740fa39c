#include "app/versions.h"

#include "base/json.h"
#include "engine/mujoco/version.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The rules themselves are others: nothing but the program of that time can prove such a run. */
static bool physics_differs(struct json_object *run, char *text, size_t size) {
  struct json_object *kept;
  bool counted = json_object_object_get_ex(run, "physics", &kept);
  int64_t version = counted ? json_object_get_int64(kept) : 0;
  if (version == TT_PHYSICS_VERSION) return false;
  const char *program = tt_json_text(run, "tether");
  if (counted)
    snprintf(text, size,
             "it was made by physics version %" PRId64
             " (tether %.40s), and this program has %d; a "
             "program of that version can prove it",
             version, program, TT_PHYSICS_VERSION);
  else
    snprintf(text, size,
             "it was made before physics versions were counted (tether %.40s), and this program "
             "has %d; a program of its time can prove it",
             program, TT_PHYSICS_VERSION);
  return true;
}

/* The same rules, other last bits. */
static bool platform_differs(struct json_object *run, char *text, size_t size) {
  tt_platform here = tt_platform_get();
  const struct {
    const char *key, *name, *present;
  } parts[] = {
      {"mujoco", "MuJoCo", here.mujoco}, {"libc", "libc", here.libc}, {"cpu", "CPU", here.cpu}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const char *kept = tt_json_text(run, parts[i].key);
    if (strcmp(kept, parts[i].present) == 0) continue;
    snprintf(text, size,
             "it was made with %s %.40s, and here is %s; on a machine with the same its bits can "
             "be compared",
             parts[i].name, kept, parts[i].present);
    return true;
  }
  return false;
}

bool tt_versions_differ(const tt_run_log *log, char *text, size_t size) {
  tt_run_cursor cursor;
  text[0] = 0;
  if (!tt_run_cursor_open(&cursor, log)) return false;
  tt_run_cursor_seek(&cursor, 0);
  struct json_object *run = tt_run_cursor_json(&cursor, "/tether/run");
  bool differs = physics_differs(run, text, size) || platform_differs(run, text, size);
  json_object_put(run);
  tt_run_cursor_close(&cursor);
  return differs;
}
