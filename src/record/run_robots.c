#include "record/run_robots.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROBOTS 256 /* no world has as many; a log that says so was made to be large */

/* The log's first description of the world. */
static struct json_object *read_model(const tt_run_log *log) {
  tt_run_cursor cursor;
  if (!tt_run_cursor_open(&cursor, log)) return NULL;
  tt_run_cursor_seek(&cursor, 0);
  struct json_object *model = tt_run_cursor_json(&cursor, "/tether/model");
  tt_run_cursor_close(&cursor);
  return model;
}

static int int_in(struct json_object *object, const char *key) {
  struct json_object *value;
  return json_object_object_get_ex(object, key, &value) ? json_object_get_int(value) : -1;
}

static uint32_t pose_of(const tt_run_log *log, struct json_object *body) {
  char entry[TT_WPILOG_MOST_NAME];
  snprintf(entry, sizeof entry, "/poses/%s", tt_json_text(body, "name"));
  return tt_run_log_find(log, entry);
}

static void list_robots(const tt_run_log *log, struct json_object *model, tt_run_robots *to) {
  size_t robots, bodies;
  struct json_object *list = tt_json_list(model, "robots", &robots);
  struct json_object *body_list = tt_json_list(model, "bodies", &bodies);
  for (size_t i = 0; i < robots && i < MOST_ROBOTS; i++) {
    struct json_object *from = json_object_array_get_idx(list, i);
    tt_run_robot *robot = &to->robots[to->count++];
    int root = int_in(from, "root");
    snprintf(robot->name, sizeof robot->name, "%s", tt_json_text(from, "name"));
    snprintf(robot->alliance, sizeof robot->alliance, "%s", tt_json_text(from, "alliance"));
    if (root >= 0 && (size_t)root < bodies)
      robot->root = pose_of(log, json_object_array_get_idx(body_list, (size_t)root));
  }
}

static void list_bodies(const tt_run_log *log, struct json_object *model, tt_run_robots *to) {
  size_t bodies;
  struct json_object *list = tt_json_list(model, "bodies", &bodies);
  for (size_t i = 0; i < bodies; i++) {
    struct json_object *body = json_object_array_get_idx(list, i);
    uint32_t pose = pose_of(log, body);
    int robot = int_in(body, "robot");
    if (pose && robot >= 0 && robot < to->count) to->robot_of[pose] = robot;
  }
}

tt_status tt_run_robots_read(const tt_run_log *log, tt_run_robots *robots) {
  uint32_t entries;
  struct json_object *model = read_model(log);
  tt_run_log_entries(log, &entries);
  *robots = (tt_run_robots){.robots = calloc(MOST_ROBOTS, sizeof *robots->robots),
                            .robot_of = malloc((entries + 1) * sizeof *robots->robot_of)};
  tt_status status = robots->robots && robots->robot_of ? TT_OK : TT_NOMEM;
  if (status == TT_OK) {
    for (uint32_t i = 0; i <= entries; i++) robots->robot_of[i] = -1;
    list_robots(log, model, robots);
    list_bodies(log, model, robots);
  }
  json_object_put(model);
  return status;
}

void tt_run_robots_free(tt_run_robots *robots) {
  free(robots->robots);
  free(robots->robot_of);
}
