/* load_robots.c: the robots: where each stands, its model, parts and limits, and the folders that their files are looked up in. */
#include "game/match.h"
#include "base/nearest.h"
#include "scene/load.h"
#include "scene/stranger.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    if (schema->is_single && keys->parts[kind].count > 1)
      return tt_fail(store->error, TT_INVALID, "%s: %s: a robot has one at most", robot->file,
                     schema->key);
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

/** A limit of a joint: of one dimension for hinges, of another for slides; its kind is known only to the model, which compares. */
static tt_status load_limit(tt_scene_store *store, const char *where, const char *key,
                            const char *text, const tt_dimension dimensions[2],
                            const char *examples, double *value, tt_dimension *dimension) {
  tt_key_tell_quantity(where, key, 0);
  if (!text) return TT_OK;
  const bool first = tt_quantity_parse(text, dimensions[0], value);
  const bool second = tt_quantity_parse(text, dimensions[1], value);
  *dimension = first && second ? TT_DIMENSIONLESS : dimensions[second];
  if (!first && !second)
    return tt_fail(store->error, TT_INVALID, "%s.%s: '%s' is not understood; give %s", where, key,
                   text, examples);
  if (*value > 0) return TT_OK;
  return tt_fail(store->error, TT_INVALID, "%s.%s: '%s' is out of range; give more than 0", where,
                 key, text);
}

static tt_status load_joint(tt_scene_store *store, const tt_joint_keys *keys,
                            tt_engine_joint *joint) {
  static const tt_dimension torques[] = {TT_TORQUE, TT_FORCE},
                            velocities[] = {TT_ANGULAR_VELOCITY, TT_VELOCITY};
  joint->name = keys->name;
  TT_TRY(load_limit(store, joint->where, "max_torque", keys->max_torque, torques,
                    "a torque (N·m, in·lbf, …) or, for a slide, a force (N, lbf)",
                    &joint->max_torque, &joint->torque_dimension));
  TT_TRY(load_limit(store, joint->where, "max_velocity", keys->max_velocity, velocities,
                    "an angular velocity (rad/s, rpm, …) or, for a slide, a velocity (m/s, ft/s)",
                    &joint->max_velocity, &joint->velocity_dimension));
  if (keys->max_torque || keys->max_velocity) return TT_OK;
  return tt_fail(store->error, TT_INVALID, "%s: give max_torque, max_velocity or both",
                 joint->where);
}

static tt_status load_joints(tt_scene_store *store, const tt_robot_keys *keys,
                             tt_scene_robot *robot) {
  tt_engine_joint *joints;
  NEW(store, joints, keys->joints_count);
  for (unsigned i = 0; i < keys->joints_count; i++) {
    PRINT(store, joints[i].where, "%s: joints[%u]", robot->file, i);
    for (unsigned k = 0; k < i; k++)
      TT_TRY(tt_load_check_apart(store, joints[i].where, keys->joints[i].name, k, joints[k].name));
    TT_TRY(load_joint(store, &keys->joints[i], &joints[i]));
  }
  robot->joints = joints;
  robot->joint_count = (int)keys->joints_count;
  return TT_OK;
}

static void decide_base(tt_scene_robot *robot, const bool *floating) {
  if (!floating) return;
  robot->floating = *floating;
  robot->base_decided = true;
}

/** A quantity of any dimension: only the model knows what it measures. */
static bool read_measure(const char *text, tt_engine_measure *measure) {
  int found = 0;
  for (int dimension = 0; dimension < TT_DIMENSION_COUNT; dimension++) {
    if (!tt_quantity_parse(text, (tt_dimension)dimension, &measure->value)) continue;
    measure->dimension = (tt_dimension)dimension;
    found++;
  }
  if (found > 1) measure->dimension = TT_DIMENSION_COUNT; /* a bare number fits all */
  return found > 0;
}

static tt_status load_measures(tt_scene_store *store, const tt_robot_keys *keys,
                               tt_scene_robot *robot) {
  tt_engine_measure *measures;
  NEW(store, measures, keys->measures_count);
  for (unsigned i = 0; i < keys->measures_count; i++) {
    const tt_measure_keys *from = &keys->measures[i];
    measures[i].name = from->name;
    PRINT(store, measures[i].where, "%s: measures[%u]", robot->file, i);
    for (unsigned k = 0; k < i; k++)
      TT_TRY(tt_load_check_apart(store, measures[i].where, from->name, k, measures[k].name));
    tt_key_tell_quantity(measures[i].where, "value", -INFINITY);
    if (!read_measure(from->value, &measures[i]))
      return tt_fail(
          store->error, TT_INVALID,
          "%s.value: '%s' is not understood; give a number, with its unit if it isn't SI",
          measures[i].where, from->value);
  }
  robot->measures = measures;
  robot->measure_count = (int)keys->measures_count;
  return TT_OK;
}

/** The file's document with the settings that are meant for it. */
static tt_status load_robot_document(tt_scene_store *store, const char *file, int index,
                                     tt_document **document) {
  TT_TRY(tt_stranger_load(file, "robot", document, store->error));
  for (int i = 0; i < store->robot_setting_count; i++) {
    const tt_robot_setting *setting = &store->robot_settings[i];
    if (setting->robot != index) continue;
    tt_status status =
        tt_document_set_below(*document, setting->assignment, setting->skip, store->error);
    if (status == TT_OK) continue;
    tt_document_free(*document);
    return status;
  }
  return TT_OK;
}

/** A model has no keys that a setting could reach. */
static tt_status refuse_settings(const tt_scene_store *store, const char *file, int index) {
  for (int i = 0; i < store->robot_setting_count; i++) {
    const tt_robot_setting *setting = &store->robot_settings[i];
    if (setting->robot != index) continue;
    return tt_fail(
        store->error, TT_INVALID,
        "--set %.*s: %s is a model; write a robot's file (.yaml) for it, which has this key",
        (int)strcspn(setting->assignment, "="), setting->assignment, file);
  }
  return TT_OK;
}

static tt_status load_robot_file(tt_scene_store *store, const char *file, int index,
                                 tt_scene_robot *robot) {
  robot->folder = tt_load_folder(store, file);
  if (!robot->folder) return tt_load_no_memory(store);
  if (!tt_load_is_yaml(file)) {
    robot->model_file = file;
    return refuse_settings(store, file, index);
  }
  tt_robot_keys *keys;
  tt_document *document;
  robot->file = file;
  TT_TRY(load_robot_document(store, file, index, &document));
  TT_TRY(tt_load_document(store, document, store->schemas.robot, (void **)&keys));
  TT_TRY(tt_load_find_model(store, keys->model, file, &robot->model_file));
  decide_base(robot, keys->floating);
  TT_TRY(load_joints(store, keys, robot));
  TT_TRY(load_measures(store, keys, robot));
  robot->surface_count = (int)keys->bodies_count;
  TT_TRY(tt_load_surfaces(store, keys->bodies, keys->bodies_count, file, &robot->surfaces));
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
  static const char *const alliances[] = {"red", "blue", NULL};
  tt_key_tell(&(tt_key_note){
      .where = robot->where, .key = "alliance", .words = alliances, .fallback = NAN});
  robot->alliance = keys->alliance ? keys->alliance : "";
  tt_alliance alliance;
  if (tt_alliance_read(robot->alliance, &alliance)) return TT_OK;
  return tt_fail(store->error, TT_INVALID, "%s.alliance: '%s' is neither red nor blue",
                 robot->where, robot->alliance);
}

/* --- settings --- */

static const cyaml_schema_field_t *find_field(const cyaml_schema_value_t *mapping, const char *key,
                                              size_t size) {
  for (const cyaml_schema_field_t *field = mapping->mapping.fields; field->key; field++)
    if (!strncmp(field->key, key, size) && !field->key[size]) return field;
  return NULL;
}

static void offer_fields(const cyaml_schema_value_t *mapping, tt_nearest *nearest) {
  for (const cyaml_schema_field_t *field = mapping->mapping.fields; field->key; field++)
    tt_nearest_offer(nearest, field->key);
}

/** The key behind a robot in `path`, and which robot; NULL where the path leads elsewhere. */
static const char *key_of_robot(const tt_document *document, const char *path, int *robot) {
  static const char section[] = "robots";
  const size_t size = sizeof section - 1;
  const tt_node *robots = tt_node_child(document->root, section);
  if (strncmp(path, section, size) != 0 || !robots || robots->kind != TT_NODE_SEQUENCE) return NULL;
  if (path[size] != '.' && path[size] != '[') return NULL;
  path += size + (path[size] == '.');
  size_t used;
  bool ambiguous;
  const tt_node *element = tt_node_element(robots, path, &used, &ambiguous);
  if (!element || path[used] != '.') return NULL;
  for (*robot = 0; *robot < robots->child_count; ++*robot)
    if (robots->children[*robot] == element) return path + used + 1;
  return NULL;
}

tt_status tt_load_robot_setting(tt_scene_store *store, const tt_document *document,
                                const char *assignment, bool *taken) {
  const cyaml_schema_value_t *entry =
      find_field(store->schemas.scene, "robots", strlen("robots"))->value.sequence.entry;
  char path[512];
  int robot;
  snprintf(path, sizeof path, "%.*s", (int)strcspn(assignment, "="), assignment);
  const char *key = key_of_robot(document, path, &robot);
  size_t size = key ? strcspn(key, ".[") : 0;
  *taken = false;
  if (!key || find_field(entry, key, size)) return TT_OK;
  if (!find_field(store->schemas.robot, key, size)) {
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)size, key);
    tt_nearest nearest = tt_nearest_start(word);
    offer_fields(store->schemas.robot, &nearest);
    offer_fields(entry, &nearest);
    if (!nearest.best) return TT_OK;
    return tt_fail(store->error, TT_INVALID, "--set %s: unknown key '%s'; did you mean '%s'?", path,
                   word, nearest.best);
  }
  store->robot_settings[store->robot_setting_count++] =
      (tt_robot_setting){robot, assignment, (size_t)(key - path)};
  *taken = true;
  return TT_OK;
}

/* --- the whole --- */

static tt_status load_robot(tt_scene_store *store, const tt_robot_entry_keys *keys, int index,
                            tt_scene_robot *robots) {
  tt_scene *scene = &store->scene;
  tt_scene_robot *robot = &robots[index];
  const char *where, *file;
  PRINT(store, robot->where, "%s: robots[%d]", scene->path, index);
  PRINT(store, where, "%s.robot", robot->where);
  TT_TRY(tt_load_find(store, &tt_data_robot, keys->robot, scene->path, where, &file));
  char name[256];
  tt_element_name(keys->robot, name, sizeof name);
  PRINT(store, robot->name, "%s", keys->name ? keys->name : name);
  PRINT(store, where, "%s.%s", robot->where, keys->name ? "name" : "robot");
  if (tt_load_check_name(store, robot->name, "", where) != TT_OK) {
    const tt_error why = *store->error;
    return tt_fail(store->error, TT_INVALID, "%s%s", why.text,
                   keys->name ? "" : "; give it another one with name:, the file may stay");
  }
  for (int i = 0; i < index; i++) {
    if (strcmp(robots[i].name, robot->name)) continue;
    return tt_fail(store->error, TT_INVALID,
                   "%s: two robots are called '%s'; give each a name of its own (name: …)", where,
                   robot->name);
  }
  TT_TRY(load_pose(store, keys, robot));
  TT_TRY(load_robot_file(store, file, index, robot));
  decide_base(robot, keys->floating);
  return TT_OK;
}

/** The scene's own folders, relative to its file, then those around each robot's model. */
static tt_status load_search_path(tt_scene_store *store) {
  const tt_scene_keys *keys = store->keys;
  const char **folders;
  NEW(store, folders, keys->search_path_count + 2 * keys->robots_count + 1);
  store->scene.search_path = folders;
  const char *here = tt_load_folder(store, store->scene.path);
  if (!here) return tt_load_no_memory(store);
  store->scene.folder = here;
  for (unsigned i = 0; i < keys->search_path_count; i++) {
    const char *folder = keys->search_path[i];
    PRINT(store, *folders, "%s%s%s", *folder == '/' ? "" : here, *folder == '/' ? "" : "/", folder);
    folders++;
  }
  for (int i = 0; i < store->scene.robot_count; i++) {
    const char *model = tt_load_folder(store, store->scene.robots[i].model_file);
    if (!model) return tt_load_no_memory(store);
    *folders++ = model;
    PRINT(store, *folders, "%s/..", model);
    folders++;
  }
  return TT_OK;
}

tt_status tt_load_robots(tt_scene_store *store) {
  tt_scene_robot *robots;
  NEW(store, robots, store->keys->robots_count);
  store->scene.robots = robots;
  for (unsigned i = 0; i < store->keys->robots_count; i++) {
    TT_TRY(load_robot(store, &store->keys->robots[i], (int)i, robots));
    store->scene.robot_count++;
  }
  return load_search_path(store);
}
