/* compiler_request.c: what is to be compiled, as bytes and back. One walk serves both, so that they can't disagree. */
#include "engine/mujoco/compiler.h"
#include "engine/mujoco/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_TEXT(number) VERSION_OF(number)
#define VERSION_OF(number) #number

const char *compiler_version(void) {
  return "tether " TETHER_VERSION " physics " VERSION_TEXT(TT_PHYSICS_VERSION) " compiler 2";
}

typedef struct walk {
  unsigned char *bytes;
  size_t size, at; /* of all of them; of those done */
  bool reading, failed;
} walk;

static void move(walk *w, void *value, size_t size) {
  if (w->reading) {
    w->failed |= size > w->size - w->at;
    if (w->failed)
      memset(value, 0, size);
    else
      memcpy(value, w->bytes + w->at, size);
  } else if (w->bytes) {
    memcpy(w->bytes + w->at, value, size);
  }
  if (!w->failed) w->at += size; /* without bytes their number is found */
}

/* A text with its end; NULL is one of length −1. */
static void text(walk *w, const char **value) {
  int32_t length = *value ? (int32_t)strlen(*value) : -1;
  move(w, &length, sizeof length);
  if (!w->reading && length >= 0) move(w, (void *)*value, (size_t)length + 1);
  if (!w->reading) return;
  *value = NULL;
  if (length < 0 || w->failed) return;
  w->failed |= (size_t)length >= w->size - w->at || w->bytes[w->at + (size_t)length] != 0;
  if (w->failed) return;
  *value = (const char *)w->bytes + w->at;
  w->at += (size_t)length + 1;
}

/* Room for a list that is read; one that is written stays as it is. */
static void *list(walk *w, const void *old, int *count, size_t size) {
  move(w, count, sizeof *count);
  if (!w->reading) return (void *)old;
  w->failed |= *count < 0 || (size_t)*count > w->size; /* each takes a byte at least */
  void *made = w->failed ? NULL : calloc((size_t)*count + 1, size);
  w->failed |= !made;
  if (w->failed) *count = 0;
  return made;
}

static void gripper(walk *w, tt_engine_gripper *it) {
  text(w, &it->name);
  text(w, &it->site);
  text(w, &it->where);
  move(w, &it->reach, sizeof it->reach);
}

static void measure(walk *w, tt_engine_measure *it) {
  text(w, &it->name);
  text(w, &it->where);
  move(w, &it->value, sizeof it->value);
  move(w, &it->dimension, sizeof it->dimension);
}

static void robot(walk *w, tt_engine_robot *it) {
  text(w, &it->name);
  text(w, &it->model_file);
  move(w, &it->x, sizeof it->x);
  move(w, &it->y, sizeof it->y);
  move(w, &it->z, sizeof it->z);
  move(w, &it->heading, sizeof it->heading);
  move(w, &it->floating, sizeof it->floating);
  tt_engine_gripper *grippers = list(w, it->grippers, &it->gripper_count, sizeof *grippers);
  for (int i = 0; i < it->gripper_count; i++) gripper(w, &grippers[i]);
  if (w->reading) it->grippers = grippers; /* what is written may be constant */
  tt_engine_measure *measures = list(w, it->measures, &it->measure_count, sizeof *measures);
  for (int i = 0; i < it->measure_count; i++) measure(w, &measures[i]);
  if (w->reading) it->measures = measures;
}

static void search_path(walk *w, tt_engine_spec *spec) {
  int count = 0;
  while (!w->reading && spec->search_path && spec->search_path[count]) count++;
  const char **folders = list(w, spec->search_path, &count, sizeof *folders);
  for (int i = 0; i < count; i++) text(w, &folders[i]);
  spec->search_path = folders;
}

/* What the compiler needs of a spec: the rest is done with the compiled model. */
static void walk_all(walk *w, tt_engine_spec *spec, const char **folder) {
  const char *version = compiler_version();
  text(w, &version);
  w->failed |= !version || strcmp(version, compiler_version()) != 0;
  text(w, folder);
  text(w, &spec->arena_file);
  tt_engine_robot *robots = list(w, spec->robots, &spec->robot_count, sizeof *robots);
  for (int i = 0; i < spec->robot_count; i++) robot(w, &robots[i]);
  spec->robots = robots;
  search_path(w, spec);
}

void *compiler_request(const tt_engine_spec *spec, const char *folder, size_t *size) {
  tt_engine_spec same = *spec;
  walk w = {.reading = false};
  walk_all(&w, &same, &folder);
  *size = w.at;
  w = (walk){.bytes = malloc(w.at), .size = w.at};
  if (w.bytes) walk_all(&w, &same, &folder);
  return w.bytes;
}

tt_status compiler_read_request(void *bytes, size_t size, tt_engine_spec *spec,
                                const char **folder) {
  walk w = {.bytes = bytes, .size = size, .reading = true};
  *spec = (tt_engine_spec){0};
  *folder = NULL;
  walk_all(&w, spec, folder);
  return w.failed || w.at != size || !*folder ? TT_INVALID : TT_OK;
}

physics_submodel *physics_submodels_new(const tt_engine_spec *spec) {
  physics_submodel *submodels = calloc((size_t)spec->robot_count + 1, sizeof *submodels);
  if (!submodels) return NULL;
  submodels[0].file = spec->arena_file ? spec->arena_file : "an empty floor";
  for (int i = 0; i < spec->robot_count; i++) {
    snprintf(submodels[i + 1].prefix, sizeof submodels->prefix, "%s/", spec->robots[i].name);
    submodels[i + 1].file = spec->robots[i].model_file;
  }
  return submodels;
}
