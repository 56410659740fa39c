#include "record/phantom.h"

#include "game/field.h"
#include "base/json.h"
#include "record/export.h"
#include "record/extent.h"
#include "record/run_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BODIES 10000
#define TRACK_EVERY 50000u /* µs between two points of the track */
#define WINDOW 30.0        /* s: a place may be passed several times */

typedef struct place {
  double time; /* s */
  double at[3];
} place;

struct tt_phantom {
  tt_run_log *log;
  tt_run_cursor cursor;
  struct json_object *model;
  tt_field field;
  int *bodies;       /* index in the log's model */
  uint32_t *entries; /* of their poses */
  double (*poses)[7];
  int body_count;
  double (*centers)[3]; /* of each body's shapes, in its frame */
  int root;             /* index into bodies of the first robot's root */
  int followed;         /* index into bodies: whose places are compared with the live robot's */
  bool drives;          /* the root is followed, over the floor */
  double time;
  place *track; /* of the followed */
  size_t track_count;
};

static int64_t int_of(struct json_object *from, const char *key, int64_t fallback) {
  struct json_object *value;
  return json_object_object_get_ex(from, key, &value) ? json_object_get_int64(value) : fallback;
}

/* 0 where it is no number that can be used. */
static double finite_of(struct json_object *value) {
  double number = json_object_get_double(value);
  return isfinite(number) ? number : 0;
}

/* ---- opening ---- */

static void read_pose(const tt_phantom *phantom, const tt_wpilog_record *record, double pose[7]) {
  for (int k = 0; k < 7; k++) pose[k] = tt_wpilog_double(record->payload + 8 * k);
  tt_field_to_arena(&phantom->field, pose);
}

static tt_status read_model(tt_phantom *phantom, tt_error *error) {
  phantom->model = tt_run_cursor_json(&phantom->cursor, "/tether/model");
  if (!phantom->model)
    return tt_fail(error, TT_INVALID, "the run does not keep what its robots look like");
  if (json_object_is_type(phantom->model, json_type_object)) return TT_OK;
  return tt_fail(error, TT_INVALID, "what the run keeps of its robots can't be read");
}

/* Bodies of robots; the arena stands still or is the live one's. */
static tt_status find_bodies(tt_phantom *phantom, tt_error *error) {
  size_t count, robots;
  struct json_object *bodies = tt_json_list(phantom->model, "bodies", &count);
  struct json_object *list = tt_json_list(phantom->model, "robots", &robots);
  if (count > MOST_BODIES) count = MOST_BODIES;
  phantom->bodies = calloc(count + 1, sizeof *phantom->bodies);
  phantom->entries = calloc(count + 1, sizeof *phantom->entries);
  phantom->poses = calloc(count + 1, sizeof *phantom->poses);
  phantom->centers = calloc(count + 1, sizeof *phantom->centers);
  if (!phantom->bodies || !phantom->entries || !phantom->poses || !phantom->centers)
    return tt_fail(error, TT_NOMEM, "out of memory");
  int64_t root = robots ? int_of(json_object_array_get_idx(list, 0), "root", -1) : -1;
  for (size_t i = 0; i < count; i++) {
    struct json_object *body = json_object_array_get_idx(bodies, i);
    char name[TT_WPILOG_MOST_NAME];
    if (int_of(body, "robot", -1) < 0) continue;
    snprintf(name, sizeof name, "/poses/%s", tt_json_text(body, "name"));
    if ((int64_t)i == root) phantom->root = phantom->body_count;
    phantom->bodies[phantom->body_count] = (int)i;
    phantom->poses[phantom->body_count][3] = 1;
    phantom->entries[phantom->body_count++] = tt_run_log_find(phantom->log, name);
  }
  return phantom->body_count ? TT_OK : tt_fail(error, TT_INVALID, "the run has no robot");
}

static bool is_of_first_robot(const tt_phantom *phantom, int index) {
  size_t count;
  struct json_object *bodies = tt_json_list(phantom->model, "bodies", &count);
  size_t body = (size_t)phantom->bodies[index];
  return int_of(json_object_array_get_idx(bodies, body), "robot", -1) == 0;
}

/* A body that turns about its own origin moves all the same: its shapes do. */
static void find_center(tt_phantom *phantom, int index) {
  size_t count, length;
  struct json_object *shapes = tt_json_list(phantom->model, "shapes", &count);
  double *center = phantom->centers[index];
  int found = 0;
  for (size_t i = 0; i < count; i++) {
    struct json_object *shape = json_object_array_get_idx(shapes, i);
    if (int_of(shape, "body", -1) != phantom->bodies[index]) continue;
    struct json_object *position = tt_json_list(shape, "position", &length);
    found++;
    for (size_t k = 0; k < 3 && k < length; k++)
      center[k] += (finite_of(json_object_array_get_idx(position, k)) - center[k]) / found;
  }
}

/* Where the center of a body's shapes is; of a robot that drives, where its root is. */
static void locate(const tt_phantom *phantom, int index, const double pose[7], double at[3]) {
  const double *v = phantom->centers[index], w = pose[3], *u = pose + 4;
  double t[3]; /* v + 2 u × (u × v + w v) */
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    t[i] = u[j] * v[k] - u[k] * v[j] + w * v[i];
  }
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    at[i] = pose[i] + v[i] + 2 * (u[j] * t[k] - u[k] * t[j]);
  }
}

/* Index of the body whose pose stands in each entry, −1 for others than the first robot's; free() it. */
static int *index_bodies(const tt_phantom *phantom) {
  uint32_t count;
  tt_run_log_entries(phantom->log, &count);
  int *body_of = malloc((count + 1) * sizeof *body_of);
  if (!body_of) return NULL;
  for (uint32_t i = 0; i <= count; i++) body_of[i] = -1;
  for (int i = 0; i < phantom->body_count; i++)
    if (is_of_first_robot(phantom, i)) body_of[phantom->entries[i]] = i;
  body_of[0] = -1;
  return body_of;
}

/* Can the root leave its place? */
static bool can_drive(const tt_phantom *phantom) {
  size_t count;
  struct json_object *joints = tt_json_list(phantom->model, "joints", &count);
  for (size_t i = 0; i < count; i++) {
    struct json_object *joint = json_object_array_get_idx(joints, i);
    const char *kind = tt_json_text(joint, "kind");
    if (int_of(joint, "body", -1) == phantom->bodies[phantom->root] &&
        (!strcmp(kind, "free") || !strcmp(kind, "slide")))
      return true;
  }
  return false;
}

/* Follows the body that moves most, if any moves. */
static tt_status follow_most_moved(tt_phantom *phantom, tt_error *error) {
  tt_wpilog_record record;
  tt_extent *extents = calloc((size_t)phantom->body_count, sizeof *extents);
  int *body_of = index_bodies(phantom);
  bool opened = extents && body_of;
  double pose[7], at[3];
  for (int i = 0; i < phantom->body_count; i++) find_center(phantom, i);
  tt_run_cursor_rewind(&phantom->cursor);
  while (opened && tt_run_cursor_next(&phantom->cursor, &record) == TT_OK) {
    int body = body_of[record.entry];
    if (body < 0 || !tt_record_fits(TT_ROLE_POSE, &record)) continue;
    read_pose(phantom, &record, pose);
    locate(phantom, body, pose, at);
    tt_extent_take_in(&extents[body], at);
  }
  for (int i = 0; opened && i < phantom->body_count; i++)
    if (tt_extent_size(&extents[i]) > tt_extent_size(&extents[phantom->followed]))
      phantom->followed = i;
  free(extents);
  free(body_of);
  return opened ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

static tt_status read_track(tt_phantom *phantom, tt_error *error) {
  tt_wpilog_record record;
  size_t capacity = (size_t)(tt_run_log_duration(phantom->log) / TRACK_EVERY) + 2;
  uint64_t next = 0;
  double pose[7];
  place passed;
  phantom->track = calloc(capacity, sizeof *phantom->track);
  if (!phantom->track) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_run_cursor_rewind(&phantom->cursor);
  while (tt_run_cursor_next(&phantom->cursor, &record) == TT_OK) {
    if (record.entry != phantom->entries[phantom->followed] || record.timestamp < next) continue;
    if (!tt_record_fits(TT_ROLE_POSE, &record) || phantom->track_count == capacity) continue;
    read_pose(phantom, &record, pose);
    locate(phantom, phantom->followed, pose, passed.at);
    passed.time = (double)record.timestamp / 1e6;
    phantom->track[phantom->track_count++] = passed;
    next = record.timestamp + TRACK_EVERY;
  }
  return TT_OK;
}

static tt_status open_phantom(tt_phantom *phantom, const char *path, tt_error *error) {
  TT_TRY(tt_run_log_open(path, &phantom->log, error));
  if (!tt_run_cursor_open(&phantom->cursor, phantom->log))
    return tt_fail(error, TT_NOMEM, "out of memory");
  tt_run_cursor_seek(&phantom->cursor, 0);
  phantom->field = tt_run_cursor_field(&phantom->cursor);
  TT_TRY(read_model(phantom, error));
  TT_TRY(find_bodies(phantom, error));
  phantom->followed = phantom->root;
  phantom->drives = can_drive(phantom);
  if (!phantom->drives) TT_TRY(follow_most_moved(phantom, error));
  return read_track(phantom, error);
}

tt_status tt_phantom_open(const char *path, tt_phantom **made, tt_error *error) {
  *made = NULL;
  tt_phantom *phantom = calloc(1, sizeof *phantom);
  if (!phantom) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = open_phantom(phantom, path, error);
  if (status != TT_OK) {
    tt_phantom_close(phantom);
    return status;
  }
  *made = phantom;
  return TT_OK;
}

void tt_phantom_close(tt_phantom *phantom) {
  if (!phantom) return;
  tt_run_cursor_close(&phantom->cursor);
  tt_run_log_close(phantom->log);
  json_object_put(phantom->model);
  free(phantom->bodies);
  free(phantom->entries);
  free(phantom->poses);
  free(phantom->centers);
  free(phantom->track);
  free(phantom);
}

/* ---- what it looks like ---- */

static int place_of(const tt_phantom *phantom, int64_t body) {
  for (int i = 0; i < phantom->body_count; i++)
    if (phantom->bodies[i] == body) return i;
  return -1;
}

static struct json_object *copy_of(struct json_object *from) {
  struct json_object *made = NULL;
  json_object_deep_copy(from, &made, NULL);
  return made;
}

static struct json_object *describe_bodies(const tt_phantom *phantom) {
  size_t count;
  struct json_object *bodies = tt_json_list(phantom->model, "bodies", &count);
  struct json_object *made = json_object_new_array();
  for (int i = 0; i < phantom->body_count; i++) {
    struct json_object *body =
        copy_of(json_object_array_get_idx(bodies, (size_t)phantom->bodies[i]));
    tt_json_add_int(body, "parent", place_of(phantom, int_of(body, "parent", -1)));
    json_object_array_add(made, body);
  }
  return made;
}

static struct json_object *describe_shapes(const tt_phantom *phantom, int mesh_base) {
  size_t count;
  struct json_object *shapes = tt_json_list(phantom->model, "shapes", &count);
  struct json_object *made = json_object_new_array();
  for (size_t i = 0; i < count; i++) {
    struct json_object *from = json_object_array_get_idx(shapes, i);
    int body = place_of(phantom, int_of(from, "body", -1));
    int64_t mesh = int_of(from, "mesh", -1);
    if (body < 0) continue;
    struct json_object *shape = copy_of(from);
    tt_json_add_int(shape, "body", body);
    tt_json_add_int(shape, "mesh", mesh < 0 ? -1 : mesh + mesh_base);
    json_object_array_add(made, shape);
  }
  return made;
}

struct json_object *tt_phantom_describe(const tt_phantom *phantom, int id, const char *run,
                                        int mesh_base) {
  struct json_object *made = json_object_new_object();
  tt_json_add_int(made, "id", id);
  tt_json_add_text(made, "run", run);
  tt_json_add_text(made, "name", tt_phantom_robot(phantom));
  tt_json_add(made, "shapes", describe_shapes(phantom, mesh_base));
  tt_json_add(made, "bodies", describe_bodies(phantom));
  return made;
}

bool tt_phantom_mesh(const tt_phantom *phantom, int mesh, const uint8_t **bytes, size_t *size) {
  char name[64];
  tt_wpilog_record record;
  snprintf(name, sizeof name, "/tether/meshes/%d", mesh);
  if (!tt_run_cursor_value(&phantom->cursor, tt_run_log_find(phantom->log, name), &record))
    return false;
  *bytes = record.payload;
  *size = record.size;
  return true;
}

const char *tt_phantom_robot(const tt_phantom *phantom) {
  size_t count;
  struct json_object *robots = tt_json_list(phantom->model, "robots", &count);
  return count ? tt_json_text(json_object_array_get_idx(robots, 0), "name") : "";
}

/* ---- where it is ---- */

/* µs: a run that went on from another has no place before. */
static uint64_t first_time(const tt_phantom *phantom) {
  return phantom->track_count ? (uint64_t)(phantom->track[0].time * 1e6 + 0.5) : 0;
}

const double (*tt_phantom_poses(tt_phantom *phantom, double time, int *count))[7] {
  uint64_t at = time > 0 ? (uint64_t)(time * 1e6 + 0.5) : 0;
  tt_wpilog_record record;
  phantom->time = time;
  if (at < first_time(phantom)) at = first_time(phantom);
  if (at >= phantom->cursor.time)
    tt_run_cursor_advance(&phantom->cursor, at);
  else
    tt_run_cursor_seek(&phantom->cursor, at);
  for (int i = 0; i < phantom->body_count; i++) {
    if (!tt_run_cursor_value(&phantom->cursor, phantom->entries[i], &record)) continue;
    if (!tt_record_fits(TT_ROLE_POSE, &record)) continue;
    read_pose(phantom, &record, phantom->poses[i]);
  }
  *count = phantom->body_count;
  return (const double(*)[7])phantom->poses;
}

/* The point of the track that holds at `time`: the last up to then. */
static size_t track_at(const tt_phantom *phantom, double time) {
  size_t low = 0, high = phantom->track_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (phantom->track[middle].time <= time)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? low - 1 : 0;
}

const char *tt_phantom_followed(const tt_phantom *phantom) {
  size_t count;
  struct json_object *bodies = tt_json_list(phantom->model, "bodies", &count);
  if (phantom->drives) return NULL;
  return tt_json_text(json_object_array_get_idx(bodies, (size_t)phantom->bodies[phantom->followed]),
                      "name");
}

static double distance(const tt_phantom *phantom, const double a[3], const double b[3]) {
  double floor = hypot(a[0] - b[0], a[1] - b[1]);
  return phantom->drives ? floor : hypot(floor, a[2] - b[2]);
}

void tt_phantom_gap(const tt_phantom *phantom, const double pose[7], double *seconds,
                    double *metres) {
  double own[3], live[3], nearest = INFINITY;
  locate(phantom, phantom->followed, phantom->poses[phantom->followed], own);
  locate(phantom, phantom->followed, pose, live);
  *metres = distance(phantom, own, live);
  *seconds = 0;
  for (size_t i = track_at(phantom, phantom->time - WINDOW); i < phantom->track_count; i++) {
    const place *passed = &phantom->track[i];
    /* It stayed there until the next point. */
    double until = i + 1 < phantom->track_count ? passed[1].time : INFINITY;
    double gap = phantom->time - fmin(fmax(phantom->time, passed->time), until);
    if (gap < -WINDOW) break;
    /* Of places about as near, the one passed closest to now. */
    double far = distance(phantom, passed->at, live) + 1e-3 * fabs(gap);
    if (far >= nearest) continue;
    nearest = far;
    *seconds = gap;
  }
}
