/* scene.c: a scene's files → checked structs. tt_scene_load() at the end names the stages. */
#include "config/scene.h"

#include "config/data.h"
#include "config/keys.h"
#include "config/pool.h"
#include "config/rational.h"
#include "config/tree.h"
#include "core/nearest.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TIMESTEP "1/1000 s"
#define DEFAULT_IO_PERIOD                                                                          \
  0.010 /* s, rounded to whole steps, where no wire has a period of its own */
#define DEFAULT_LINE_WIDTH 0.05 /* m */
#define MAX_STEPS_PER_TICK 1000000

/** One YAML file of a scene with the struct that libcyaml made of it. */
typedef struct tt_loaded {
  tt_document *document;
  const cyaml_schema_value_t *schema;
  void *keys;
} tt_loaded;

/** What stands behind a tt_scene, which is its first member. */
typedef struct tt_scene_store {
  tt_scene scene;
  tt_pool pool;
  tt_loaded
      files[66]; /**< scene, arena, at most 64 robots; a robot's file is loaded for each robot */
  int file_count;
  tt_scene_keys *keys;
  bool *section_given;
  tt_error *error;
} tt_scene_store;

static tt_status no_memory(const tt_scene_store *store) {
  return tt_fail(store->error, TT_NOMEM, "out of memory");
}

#define NEW(store, target, count)                                                                  \
  do {                                                                                             \
    (target) = tt_pool_new(&(store)->pool, (size_t)(count), sizeof *(target));                     \
    if (!(target)) return no_memory(store);                                                        \
  } while (0)

#define PRINT(store, target, ...)                                                                  \
  do {                                                                                             \
    (target) = tt_pool_print(&(store)->pool, __VA_ARGS__);                                         \
    if (!(target)) return no_memory(store);                                                        \
  } while (0)

/* --- files --- */

static tt_status find_file(tt_scene_store *store, const tt_data_kind *kind, const char *name,
                           const char *including, const char *where, const char **path) {
  char *found;
  TT_TRY(tt_data_find(kind, name, including, where, &found, store->error));
  *path = tt_pool_print(&store->pool, "%s", found);
  free(found);
  return *path ? TT_OK : no_memory(store);
}

/** A model that a YAML file names: next to that file, or absolute. */
static tt_status find_model(tt_scene_store *store, const char *model, const char *including,
                            const char **path) {
  static const tt_data_kind file = {"model", "models", NULL};
  const char *where;
  PRINT(store, where, "%s: model", including);
  return find_file(store, &file, model, including, where, path);
}

static tt_status read_file(tt_scene_store *store, tt_document *document,
                           const cyaml_schema_value_t *schema, void **keys) {
  assert(store->file_count < (int)(sizeof store->files / sizeof *store->files));
  tt_loaded *loaded = &store->files[store->file_count++];
  *loaded = (tt_loaded){document, schema, NULL};
  TT_TRY(tt_document_read(document, schema, &loaded->keys, store->error));
  *keys = loaded->keys;
  return TT_OK;
}

static tt_status load_file(tt_scene_store *store, const char *path,
                           const cyaml_schema_value_t *schema, void **keys) {
  tt_document *document;
  TT_TRY(tt_document_load(path, &document, store->error));
  return read_file(store, document, schema, keys);
}

/** NULL when out of memory. */
static const char *folder_of(tt_scene_store *store, const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return ".";
  return tt_pool_print(&store->pool, "%.*s", (int)(slash > path ? slash - path : 1), path);
}

static bool is_yaml(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

/* --- the scene file --- */

/** A section that the scene leaves out stands there empty, so that its defaults come about in one way. */
static tt_status add_missing_sections(tt_scene_store *store, tt_document *document) {
  int count = tt_schema_count(tt_section_schemas);
  NEW(store, store->section_given, count);
  for (int i = 0; i < count; i++) {
    const char *key = tt_section_schemas[i]->key;
    store->section_given[i] = tt_node_child(document->root, key) != NULL;
    if (store->section_given[i]) continue;
    tt_node *empty = tt_document_node(document, TT_NODE_MAPPING, key, strlen(key), NULL, 0, 0);
    if (!empty || !tt_node_append(document->root, empty)) {
      tt_node_free(empty);
      return no_memory(store);
    }
  }
  return TT_OK;
}

/** libcyaml can't say that a wire has exactly one protocol. */
static tt_status check_wire_shape(const tt_scene_store *store, const tt_document *document) {
  const tt_node *wires = tt_node_child(document->root, "wires");
  for (int i = 0; wires && wires->kind == TT_NODE_SEQUENCE && i < wires->child_count; i++) {
    const tt_node *wire = wires->children[i];
    if (wire->kind == TT_NODE_MAPPING && wire->child_count != 1) {
      return tt_fail(store->error, TT_INVALID,
                     "%s: wires[%d]: a wire has exactly one key, its protocol; indent its other "
                     "keys under that",
                     document->path, i);
    }
  }
  return TT_OK;
}

/** Finds the scene's file; `*document` is NULL on failure. */
static tt_status find_scene(tt_scene_store *store, const char *name, tt_document **document) {
  tt_scene *scene = &store->scene;
  *document = NULL;
  TT_TRY(find_file(store, &tt_data_scene, name, NULL, name, &scene->path));
  if (!is_yaml(scene->path)) {
    return tt_fail(store->error, TT_INVALID,
                   "%s: a scene is a .yaml file; name the model as a robot in one", name);
  }
  return tt_document_load(scene->path, document, store->error);
}

/** Takes the document, also when it fails. */
static tt_status read_scene(tt_scene_store *store, tt_document *document,
                            const char *const *settings, int setting_count) {
  tt_status status = TT_OK;
  for (int i = 0; status == TT_OK && i < setting_count; i++) {
    status = tt_document_set(document, settings[i], store->error);
  }
  if (status == TT_OK) status = check_wire_shape(store, document);
  if (status == TT_OK) status = add_missing_sections(store, document);
  if (status != TT_OK) {
    tt_document_explain(document, store->error);
    tt_document_free(document);
    return status;
  }
  return read_file(store, document, tt_scene_schema(), (void **)&store->keys);
}

/* --- single values --- */

static tt_status read_rational(tt_scene_store *store, const char *text, const char *where,
                               tt_rational *value) {
  if (tt_rational_parse(text, value)) return TT_OK;
  return tt_fail(store->error, TT_INVALID,
                 "%s: '%s' is no exact time above zero; write it like 1/3000 s, 0.002 s or 10 ms",
                 where, text);
}

static tt_rational timestep_of(const tt_scene *scene) {
  return (tt_rational){scene->timestep_num, scene->timestep_den};
}

/** A time as a whole number of steps, or an error that names the nearest ones. */
static tt_status read_steps(tt_scene_store *store, const char *text, const char *where,
                            uint64_t *steps) {
  tt_rational time, step = timestep_of(&store->scene);
  TT_TRY(read_rational(store, text, where, &time));
  *steps = tt_rational_steps(time, step);
  if (*steps > MAX_STEPS_PER_TICK) {
    return tt_fail(store->error, TT_INVALID, "%s: %s is too long (at most %d steps)", where, text,
                   MAX_STEPS_PER_TICK);
  }
  if (*steps) return TT_OK;
  double length = (double)step.num / (double)step.den;
  double below = floor((double)time.num / (double)time.den / length);
  if (below < 1) below = 1;
  return tt_fail(store->error, TT_INVALID,
                 "%s: %s is no whole number of steps of %lld/%lld s; take %.0f (%.9g ms) or %.0f "
                 "(%.9g ms), or "
                 "another timestep",
                 where, text, (long long)step.num, (long long)step.den, below, below * length * 1e3,
                 below + 1, (below + 1) * length * 1e3);
}

/** Letters, digits, '_' and '-': names become parts of signal names and paths. */
static tt_status check_name(const tt_scene_store *store, const char *name, const char *extra,
                            const char *where) {
  for (const char *c = name; *c; c++) {
    if (isalnum((unsigned char)*c) || strchr("_-", *c) || strchr(extra, *c)) continue;
    return tt_fail(store->error, TT_INVALID,
                   "%s: '%s' can't be a name; use letters, digits, _ and - only", where, name);
  }
  if (*name) return TT_OK;
  return tt_fail(store->error, TT_INVALID,
                 "%s: an empty name; give it one of letters, digits, _ and -", where);
}

static tt_status load_timing(tt_scene_store *store) {
  tt_scene *scene = &store->scene;
  const tt_scene_keys *keys = store->keys;
  const char *where;
  PRINT(store, where, "%s: timestep", scene->path);
  tt_rational step;
  TT_TRY(read_rational(store, keys->timestep ? keys->timestep : DEFAULT_TIMESTEP, where, &step));
  if (step.num > step.den) {
    return tt_fail(store->error, TT_INVALID, "%s: %s is too long for a step; take at most 1 s",
                   where, keys->timestep);
  }
  scene->timestep_num = step.num;
  scene->timestep_den = step.den;
  return TT_OK;
}

static tt_status load_running(tt_scene_store *store) {
  tt_scene *scene = &store->scene;
  const tt_scene_keys *keys = store->keys;
  scene->description = keys->description ? keys->description : "";
  scene->pace = (tt_pace)keys->pace;
  scene->late_tick = (tt_late_tick)keys->late_ticks;
  scene->on_divergence = (tt_on_divergence)keys->on_divergence;
  scene->dynamics = keys->physics ? *keys->physics : true;
  scene->seed = keys->seed;
  scene->speed = keys->speed ? *keys->speed : 1;
  if (scene->speed < 0.001 || scene->speed > 1000) {
    return tt_fail(store->error, TT_INVALID,
                   "%s: speed: %g is out of range; give a factor of 0.001 to 1000", scene->path,
                   scene->speed);
  }
  return tt_quantity_check(keys->duration, "duration", scene->path, TT_TIME, 0, 1e9, 0,
                           &scene->duration, store->error);
}

/* --- the arena --- */

static tt_status load_pieces(tt_scene_store *store, const tt_arena_keys *keys, const char *file) {
  tt_physics_piece *pieces;
  NEW(store, pieces, keys->pieces_count);
  for (unsigned i = 0; i < keys->pieces_count; i++) {
    pieces[i] = (tt_physics_piece){keys->pieces[i].body, keys->pieces[i].kind};
    if (pieces[i].kind < 1 || pieces[i].kind > 4) {
      return tt_fail(store->error, TT_INVALID,
                     "%s: pieces[%u].kind: %d is no kind of game piece; give 1 to 4", file, i,
                     pieces[i].kind);
    }
    for (unsigned k = 0; k < i; k++) {
      if (strcmp(pieces[k].body, pieces[i].body)) continue;
      return tt_fail(store->error, TT_INVALID,
                     "%s: pieces[%u].body: '%s' is listed already; remove one", file, i,
                     pieces[i].body);
    }
  }
  store->scene.pieces = pieces;
  store->scene.piece_count = (int)keys->pieces_count;
  return TT_OK;
}

static tt_status load_lines(tt_scene_store *store, const tt_arena_keys *keys, const char *file) {
  tt_painted_line *lines;
  NEW(store, lines, keys->lines_count);
  for (unsigned i = 0; i < keys->lines_count; i++) {
    const tt_line_keys *from = &keys->lines[i];
    tt_painted_line *to = &lines[i];
    char where[PATH_MAX + 32];
    snprintf(where, sizeof where, "%s: lines[%u]", file, i);
    const struct {
      const char *text, *key;
      double *value;
    } ends[] = {{from->x1, "x1", &to->x1},
                {from->y1, "y1", &to->y1},
                {from->x2, "x2", &to->x2},
                {from->y2, "y2", &to->y2}};
    for (int k = 0; k < 4; k++) {
      TT_TRY(tt_quantity_check(ends[k].text, ends[k].key, where, TT_LENGTH, -1e4, 1e4, 0,
                               ends[k].value, store->error));
    }
    TT_TRY(tt_quantity_check(from->width, "width", where, TT_LENGTH, 0.001, 10, DEFAULT_LINE_WIDTH,
                             &to->width, store->error));
    to->darkness = from->darkness;
    if (to->darkness < 0 || to->darkness > 1) {
      return tt_fail(store->error, TT_INVALID, "%s.darkness: %g is out of range; give 0 to 1",
                     where, to->darkness);
    }
  }
  store->scene.lines = lines;
  store->scene.line_count = (int)keys->lines_count;
  return TT_OK;
}

static tt_status load_arena(tt_scene_store *store) {
  tt_scene *scene = &store->scene;
  if (!store->keys->arena) return TT_OK;
  const char *where, *file;
  PRINT(store, where, "%s: arena", scene->path);
  TT_TRY(find_file(store, &tt_data_arena, store->keys->arena, scene->path, where, &file));
  if (!is_yaml(file)) {
    scene->arena_file = file;
    return TT_OK;
  }
  tt_arena_keys *keys;
  TT_TRY(load_file(store, file, tt_arena_schema(), (void **)&keys));
  TT_TRY(find_model(store, keys->model, file, &scene->arena_file));
  TT_TRY(load_pieces(store, keys, file));
  return load_lines(store, keys, file);
}

/* --- robots --- */

static tt_status load_parts(tt_scene_store *store, const tt_robot_keys *keys,
                            tt_scene_robot *robot) {
  int kinds = tt_schema_count(tt_part_schemas);
  unsigned total = 0;
  for (int kind = 0; kind < kinds; kind++) total += keys->parts[kind].count;
  tt_scene_part *parts;
  NEW(store, parts, total);
  robot->parts = parts;
  for (int kind = 0; kind < kinds; kind++) {
    const tt_schema *schema = tt_part_schemas[kind];
    for (unsigned i = 0; i < keys->parts[kind].count; i++) {
      tt_scene_part *part = &parts[robot->part_count++];
      void *config = (char *)keys->parts[kind].items + i * schema->size;
      PRINT(store, part->where, "%s: %s[%u]", robot->file, schema->key, i);
      part->schema = schema;
      part->kind = kind;
      part->config = config;
      if (schema->check) TT_TRY(schema->check(config, part->where, store->error));
    }
  }
  return TT_OK;
}

/** A torque, or a force for slides: the joint's kind is known only to the model. */
static tt_status load_joints(tt_scene_store *store, const tt_robot_keys *keys,
                             tt_scene_robot *robot) {
  tt_scene_joint *joints;
  NEW(store, joints, keys->joints_count);
  for (unsigned i = 0; i < keys->joints_count; i++) {
    tt_scene_joint *joint = &joints[i];
    const char *text = keys->joints[i].max_torque;
    joint->name = keys->joints[i].name;
    PRINT(store, joint->where, "%s: joints[%u]", robot->file, i);
    if (!tt_quantity_parse(text, TT_TORQUE, &joint->max_torque) &&
        !tt_quantity_parse(text, TT_FORCE, &joint->max_torque)) {
      return tt_fail(
          store->error, TT_INVALID,
          "%s.max_torque: '%s' is not understood; give a torque (N·m, in·lbf, …) or, for a "
          "slide, a force (N, lbf)",
          joint->where, text);
    }
    if (joint->max_torque <= 0) {
      return tt_fail(store->error, TT_INVALID,
                     "%s.max_torque: '%s' is out of range; give more than 0", joint->where, text);
    }
  }
  robot->joints = joints;
  robot->joint_count = (int)keys->joints_count;
  return TT_OK;
}

static tt_status load_robot_file(tt_scene_store *store, const char *file, tt_scene_robot *robot) {
  robot->folder = folder_of(store, file);
  if (!robot->folder) return no_memory(store);
  if (!is_yaml(file)) {
    robot->model_file = file;
    return TT_OK;
  }
  tt_robot_keys *keys;
  robot->file = file;
  TT_TRY(load_file(store, file, tt_robot_schema(), (void **)&keys));
  TT_TRY(find_model(store, keys->model, file, &robot->model_file));
  if (keys->floating) robot->floating = *keys->floating;
  TT_TRY(load_joints(store, keys, robot));
  return load_parts(store, keys, robot);
}

static tt_status load_pose(tt_scene_store *store, const tt_robot_entry_keys *keys,
                           tt_scene_robot *robot) {
  const struct {
    const char *text, *key;
    tt_dimension dimension;
    double *value;
  } values[] = {
      {keys->x, "x", TT_LENGTH, &robot->x},
      {keys->y, "y", TT_LENGTH, &robot->y},
      {keys->z, "z", TT_LENGTH, &robot->z},
      {keys->heading, "heading", TT_ANGLE, &robot->heading},
  };
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    TT_TRY(tt_quantity_check(values[i].text, values[i].key, robot->where, values[i].dimension, -1e4,
                             1e4, 0, values[i].value, store->error));
  }
  robot->alliance = keys->alliance ? keys->alliance : "";
  if (!*robot->alliance || !strcmp(robot->alliance, "red") || !strcmp(robot->alliance, "blue"))
    return TT_OK;
  return tt_fail(store->error, TT_INVALID, "%s.alliance: '%s' is neither red nor blue",
                 robot->where, robot->alliance);
}

static tt_status load_robot(tt_scene_store *store, const tt_robot_entry_keys *keys, int index,
                            tt_scene_robot *robots) {
  tt_scene *scene = &store->scene;
  tt_scene_robot *robot = &robots[index];
  const char *where, *file;
  PRINT(store, robot->where, "%s: robots[%d]", scene->path, index);
  PRINT(store, where, "%s.robot", robot->where);
  char name[256];
  tt_element_name(keys->robot, name, sizeof name);
  PRINT(store, robot->name, "%s", keys->name ? keys->name : name);
  PRINT(store, where, "%s.%s", robot->where, keys->name ? "name" : "robot");
  TT_TRY(check_name(store, robot->name, "", where));
  for (int i = 0; i < index; i++) {
    if (strcmp(robots[i].name, robot->name)) continue;
    return tt_fail(store->error, TT_INVALID,
                   "%s: two robots are called '%s'; give each a name of its own (name: …)", where,
                   robot->name);
  }
  PRINT(store, where, "%s.robot", robot->where);
  TT_TRY(find_file(store, &tt_data_robot, keys->robot, scene->path, where, &file));
  TT_TRY(load_pose(store, keys, robot));
  TT_TRY(load_robot_file(store, file, robot));
  if (keys->floating) robot->floating = *keys->floating;
  return TT_OK;
}

/** The scene's own folders, relative to its file, then those around each robot's model. */
static tt_status load_search_path(tt_scene_store *store) {
  const tt_scene_keys *keys = store->keys;
  const char **folders;
  NEW(store, folders, keys->search_path_count + 2 * keys->robots_count + 1);
  store->scene.search_path = folders;
  const char *here = folder_of(store, store->scene.path);
  if (!here) return no_memory(store);
  store->scene.folder = here;
  for (unsigned i = 0; i < keys->search_path_count; i++) {
    const char *folder = keys->search_path[i];
    PRINT(store, *folders, "%s%s%s", *folder == '/' ? "" : here, *folder == '/' ? "" : "/", folder);
    folders++;
  }
  for (int i = 0; i < store->scene.robot_count; i++) {
    const char *model = folder_of(store, store->scene.robots[i].model_file);
    if (!model) return no_memory(store);
    *folders++ = model;
    PRINT(store, *folders, "%s/..", model);
    folders++;
  }
  return TT_OK;
}

static tt_status load_robots(tt_scene_store *store) {
  tt_scene_robot *robots;
  NEW(store, robots, store->keys->robots_count);
  store->scene.robots = robots;
  for (unsigned i = 0; i < store->keys->robots_count; i++) {
    TT_TRY(load_robot(store, &store->keys->robots[i], (int)i, robots));
    store->scene.robot_count++;
  }
  return load_search_path(store);
}

/* --- wires --- */

/** The robot that a wire drives: named, the only one, or the whole world. */
static tt_status find_robot(tt_scene_store *store, const tt_wire_common *common,
                            tt_scene_wire *wire) {
  const tt_scene *scene = &store->scene;
  wire->robot = scene->robot_count == 1 ? 0 : TT_NO_ROBOT;
  if (!common->robot) return TT_OK;
  tt_nearest nearest = tt_nearest_start(common->robot);
  for (int i = 0; i < scene->robot_count; i++) {
    wire->robot = i;
    if (!strcmp(scene->robots[i].name, common->robot)) return TT_OK;
    tt_nearest_offer(&nearest, scene->robots[i].name);
  }
  wire->robot = TT_NO_ROBOT;
  if (!strcmp(common->robot, "world")) return TT_OK;
  return tt_fail(store->error, TT_INVALID, "%s.robot: there is no robot '%s' in this scene%s%s%s",
                 wire->where, common->robot,
                 nearest.best ? "; did you mean '" : "; name one of its robots, or world",
                 nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
}

static int wires_of_protocol(const tt_scene_store *store, int protocol) {
  int count = 0, protocols = tt_schema_count(tt_wire_schemas);
  for (unsigned i = 0; i < store->keys->wires_count; i++) {
    if (store->keys->wires[i * (unsigned)protocols + (unsigned)protocol]) count++;
  }
  return count;
}

/** Its own name, the protocol, or "<robot>.<protocol>" where several have the same. */
static tt_status name_wire(tt_scene_store *store, const tt_wire_common *common,
                           tt_scene_wire *wires, int index) {
  tt_scene_wire *wire = &wires[index];
  bool alone = wires_of_protocol(store, wire->protocol) == 1;
  if (common->name) {
    wire->name = common->name;
  } else if (alone || !common->robot) {
    wire->name = wire->schema->key;
  } else {
    PRINT(store, wire->name, "%s.%s", common->robot, wire->schema->key);
  }
  TT_TRY(check_name(store, wire->name, ".", wire->where));
  for (int i = 0; i < index; i++) {
    if (strcmp(wires[i].name, wire->name)) continue;
    return tt_fail(store->error, TT_INVALID,
                   "%s: two wires are called '%s'; give each a robot or a name of its own",
                   wire->where, wire->name);
  }
  PRINT(store, wire->where, "%s: wires.%s", store->scene.path, wire->name);
  return TT_OK;
}

static tt_status load_policy(tt_scene_store *store, const tt_wire_common *common,
                             tt_scene_wire *wire) {
  static const char *const words[] = {"wait", "hold", "zero", "eject"};
  TT_TRY(tt_quantity_check(common->watchdog, "watchdog", wire->where, TT_TIME, 0, 3600, 0,
                           &wire->watchdog, store->error));
  TT_TRY(tt_quantity_check(common->deadline, "deadline", wire->where, TT_TIME, 0.001, 3600, 1,
                           &wire->deadline, store->error));
  tt_faults faults;
  TT_TRY(tt_wire_faults_check(common, wire->where, &faults, store->error));
  wire->late = TT_LATE_WAIT;
  for (int i = 0; common->late && i < 4; i++) {
    wire->late = (tt_late_policy)i;
    if (!strcmp(common->late, words[i])) return TT_OK;
  }
  if (!common->late) return TT_OK;
  return tt_fail(store->error, TT_INVALID, "%s.late: '%s' is not one of wait, hold, zero, eject",
                 wire->where, common->late);
}

/** 0: it has no period of its own. */
static tt_status load_period(tt_scene_store *store, const tt_wire_common *common,
                             tt_scene_wire *wire) {
  if (common->period) {
    const char *where;
    PRINT(store, where, "%s.period", wire->where);
    return read_steps(store, common->period, where, &wire->period_steps);
  }
  if (wire->schema->period_steps) wire->period_steps = wire->schema->period_steps(wire->config);
  return TT_OK;
}

static tt_status load_wire(tt_scene_store *store, unsigned index, tt_scene_wire *wires) {
  int protocols = tt_schema_count(tt_wire_schemas);
  tt_scene_wire *wire = &wires[index];
  void **slots = store->keys->wires + index * (unsigned)protocols;
  while (wire->protocol < protocols - 1 && !slots[wire->protocol]) wire->protocol++;
  void *config = slots[wire->protocol];
  const tt_wire_common *common = config;
  if (!config)
    return tt_fail(store->error, TT_INVALID,
                   "%s: wires[%u] names no protocol; write it as a key, such as `- float-udp:`",
                   store->scene.path, index);
  wire->schema = tt_wire_schemas[wire->protocol];
  wire->config = config;
  store->scene.reads_forces |= wire->schema->reads_forces;
  PRINT(store, wire->where, "%s: wires[%u]", store->scene.path, index);
  TT_TRY(name_wire(store, common, wires, (int)index));
  if (wire->schema->check) TT_TRY(wire->schema->check(config, wire->where, store->error));
  TT_TRY(find_robot(store, common, wire));
  TT_TRY(load_policy(store, common, wire));
  return load_period(store, common, wire);
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/** The scene's interval, and that of every wire, which is a multiple of it. */
static tt_status settle_periods(tt_scene_store *store, tt_scene_wire *wires) {
  tt_scene *scene = &store->scene;
  for (int i = 0; i < scene->wire_count; i++)
    scene->io_steps = common_divisor(scene->io_steps, wires[i].period_steps);
  if (store->keys->io_period) {
    const char *where;
    PRINT(store, where, "%s: io_period", scene->path);
    TT_TRY(read_steps(store, store->keys->io_period, where, &scene->io_steps));
  } else if (!scene->io_steps) {
    double steps =
        round(DEFAULT_IO_PERIOD * (double)scene->timestep_den / (double)scene->timestep_num);
    scene->io_steps = steps < 1 ? 1 : (uint64_t)steps;
  }
  for (int i = 0; i < scene->wire_count; i++) {
    if (!wires[i].period_steps) wires[i].period_steps = scene->io_steps;
    if (wires[i].period_steps % scene->io_steps == 0) continue;
    return tt_fail(store->error, TT_INVALID,
                   "%s.period: %llu steps are no multiple of the scene's io_period of %llu; leave "
                   "io_period out and it "
                   "follows from the wires",
                   wires[i].where, (unsigned long long)wires[i].period_steps,
                   (unsigned long long)scene->io_steps);
  }
  return TT_OK;
}

static tt_status load_wires(tt_scene_store *store) {
  tt_scene_wire *wires;
  NEW(store, wires, store->keys->wires_count);
  store->scene.wires = wires;
  for (unsigned i = 0; i < store->keys->wires_count; i++) {
    TT_TRY(load_wire(store, i, wires));
    store->scene.wire_count++;
  }
  return settle_periods(store, wires);
}

static tt_status check_sections(tt_scene_store *store) {
  for (int i = 0; tt_section_schemas[i]; i++) {
    const tt_schema *schema = tt_section_schemas[i];
    const char *where;
    PRINT(store, where, "%s: %s", store->scene.path, schema->key);
    if (schema->check) TT_TRY(schema->check(store->keys->sections[i], where, store->error));
  }
  return TT_OK;
}

/* --- the whole --- */

static tt_status load(tt_scene_store *store, tt_document *document, const char *const *settings,
                      int setting_count) {
  TT_TRY(read_scene(store, document, settings, setting_count));
  TT_TRY(load_timing(store));
  TT_TRY(load_running(store));
  TT_TRY(load_arena(store));
  TT_TRY(load_robots(store));
  TT_TRY(load_wires(store));
  return check_sections(store);
}

static tt_scene_store *new_store(tt_error *error) {
  tt_scene_store *store = calloc(1, sizeof *store);
  if (store) store->error = error;
  return store;
}

/** Hands the scene over, or explains and cleans up. */
static tt_status finish(tt_scene_store *store, tt_status status, tt_scene **scene) {
  if (status != TT_OK) {
    tt_scene_explain(&store->scene, store->error);
    tt_scene_free(&store->scene);
    return status;
  }
  *scene = &store->scene;
  return TT_OK;
}

tt_status tt_scene_load(const char *name, const char *const *settings, int setting_count,
                        tt_scene **scene, tt_error *error) {
  *scene = NULL;
  tt_scene_store *store = new_store(error);
  if (!store) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_document *document;
  tt_status status = find_scene(store, name, &document);
  if (status == TT_OK) status = load(store, document, settings, setting_count);
  return finish(store, status, scene);
}

tt_status tt_scene_parse(const char *path, const char *text, size_t size,
                         const char *const *settings, int setting_count, tt_scene **scene,
                         tt_error *error) {
  *scene = NULL;
  tt_scene_store *store = new_store(error);
  if (!store) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_document *document = NULL;
  store->scene.path = tt_pool_print(&store->pool, "%s", path);
  tt_status status =
      store->scene.path ? tt_document_parse(path, text, size, &document, error) : no_memory(store);
  if (status == TT_OK) status = load(store, document, settings, setting_count);
  return finish(store, status, scene);
}

void tt_scene_free(tt_scene *scene) {
  if (!scene) return;
  tt_scene_store *store = (tt_scene_store *)scene;
  for (int i = 0; i < store->file_count; i++) {
    tt_document_release(store->files[i].schema, store->files[i].keys);
    tt_document_free(store->files[i].document);
  }
  tt_pool_free(&store->pool);
  free(store);
}

const char *tt_scene_yaml_file(const tt_scene *scene, int index) {
  const tt_scene_store *store = (const tt_scene_store *)scene;
  return index >= 0 && index < store->file_count ? store->files[index].document->path : NULL;
}

const void *tt_scene_section(const tt_scene *scene, const char *key, bool *given) {
  const tt_scene_store *store = (const tt_scene_store *)scene;
  for (int i = 0; tt_section_schemas[i]; i++) {
    if (strcmp(tt_section_schemas[i]->key, key)) continue;
    if (given) *given = store->section_given[i];
    return store->keys->sections[i];
  }
  return NULL;
}

void tt_scene_explain(const tt_scene *scene, tt_error *error) {
  const tt_scene_store *store = (const tt_scene_store *)scene;
  for (int i = 0; i < store->file_count; i++) tt_document_explain(store->files[i].document, error);
}
