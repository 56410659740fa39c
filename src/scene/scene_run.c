#include "scene/scene_run.h"

#include "engine/mujoco/version.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

const char *tt_scene_name(const tt_scene *scene, char *name, size_t size) {
  const char *slash = strrchr(scene->path, '/');
  snprintf(name, size, "%s", slash ? slash + 1 : scene->path);
  char *dot = strrchr(name, '.');
  if (dot) *dot = 0;
  return name;
}

tt_status tt_run_id_new(char id[33], tt_error *error) {
  uint8_t bits[16];
  if (getrandom(bits, sizeof bits, 0) != sizeof bits)
    return tt_fail(error, TT_FAILED, "record: no random number for the run: %s", strerror(errno));
  for (size_t i = 0; i < sizeof bits; i++) snprintf(id + 2 * i, 3, "%02x", bits[i]);
  return TT_OK;
}

/* What decides the last bits in this process. */
static void add_versions(struct json_object *run) {
  tt_platform platform = tt_platform_get();
  tt_json_add_int(run, "physics", TT_PHYSICS_VERSION);
  tt_json_add_text(run, "mujoco", platform.mujoco);
  tt_json_add_text(run, "libc", platform.libc);
  tt_json_add_text(run, "cpu", platform.cpu);
}

/* Who looks at the run changes nothing of it, and may know a token or a password. */
static bool makes_the_run(const char *setting) {
  const size_t size = strcspn(setting, ".[="); /* web.token=x, web={token: x} */
  return !(size == 3 && strncmp(setting, "web", size) == 0) &&
         !(size == 9 && strncmp(setting, "telemetry", size) == 0);
}

static struct json_object *describe_settings(const char *const *settings, int count) {
  struct json_object *made = json_object_new_array();
  for (int i = 0; i < count; i++)
    if (makes_the_run(settings[i]))
      json_object_array_add(made, json_object_new_string(settings[i]));
  return made;
}

static struct json_object *describe_field(const tt_field *field) {
  struct json_object *made = json_object_new_object();
  tt_json_add_double(made, "x", field->x);
  tt_json_add_double(made, "y", field->y);
  tt_json_add_double(made, "heading", field->heading);
  return made;
}

static void add_start(struct json_object *run) {
  time_t now = time(NULL);
  struct tm utc;
  char stamp[32];
  gmtime_r(&now, &utc);
  strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
  tt_json_add_text(run, "started", stamp);
}

struct json_object *tt_scene_describe_run(const tt_scene *scene, const char *const *settings,
                                          int setting_count, const char *id) {
  struct json_object *run = json_object_new_object();
  char name[128], file[PATH_MAX];
  if (!run) return NULL;
  tt_json_add_text(run, "tether", TETHER_VERSION);
  add_versions(run);
  tt_json_add_text(run, "scene", tt_scene_name(scene, name, sizeof name));
  tt_json_add_text(run, "scene_file", realpath(scene->path, file) ? file : scene->path);
  tt_json_add(run, "settings", describe_settings(settings, setting_count));
  add_start(run);
  tt_json_add_uint(run, "seed", scene->seed);
  tt_json_add_double(run, "timestep", (double)scene->timestep_num / (double)scene->timestep_den);
  tt_json_add_uint(run, "io_steps", scene->io_steps);
  tt_json_add_text(run, "run", id);
  tt_json_add(run, "telemetry", NULL);
  tt_json_add(run, "field", describe_field(&scene->field));
  return run;
}

void tt_scene_run_lacks_token(struct json_object *run) {
  tt_json_add_bool(run, "token_left_out", true);
}
