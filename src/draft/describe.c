#include "draft/describe.h"

#include "base/json.h"
#include "client/client.h"
#include "host/scene_wires.h"
#include "record/describe.h"
#include "scene/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- wires --- */

static bool is_command_list(const tt_wire *wire, const char *key) {
  for (const char *const *list = wire->ops->command_lists; list && *list; list++)
    if (strcmp(*list, key) == 0) return true;
  return false;
}

/* The unit that a name has in a message: its own, or SI. */
static const char *unit_of(const tt_wire *wire, const tt_name_entry *entry, bool command) {
  tt_signal signal;
  int index;
  if (entry->unit) return entry->unit;
  if (command &&
      tt_names_find_command(wire->names, entry->name, wire->robot, "", &index, NULL) == TT_OK)
    return tt_unit_si(wire->model->commands[index].dimension)->name;
  if (!command &&
      tt_names_find_signal(wire->names, entry->name, wire->robot, "", &signal, NULL) == TT_OK)
    return tt_unit_si(signal.dimension)->name;
  return "";
}

static void add_entry(struct json_object *list, const tt_wire *wire, const char *key, int index,
                      const tt_name_entry *entry, bool command) {
  struct json_object *made = json_object_new_object();
  tt_json_add_text(made, "key", key);
  tt_json_add_int(made, "index", index);
  tt_json_add_text(made, "name", entry->name);
  tt_json_add_text(made, "unit", unit_of(wire, entry, command));
  tt_json_add_double(made, "scale", entry->scale);
  tt_json_add_double(made, "offset", entry->offset);
  tt_json_add_text(made, "wrap", entry->wrap ? entry->wrap : "none");
  json_object_array_add(list, made);
}

/* The lists of a wire's configuration, which are what its schema says they are. */
static void add_lists(struct json_object *to, const tt_wire *wire, const tt_scene_wire *from) {
  struct json_object *inputs = tt_json_add_array(to, "inputs"),
                     *outputs = tt_json_add_array(to, "outputs");
  const char *config = from->config;
  for (const cyaml_schema_field_t *field = from->schema->fields; field->key; field++) {
    const cyaml_schema_value_t *entry = field->value.sequence.entry;
    if (field->value.type != CYAML_SEQUENCE || field->count_size != sizeof(unsigned) ||
        strcmp(field->key, "allow") == 0 ||
        (entry != &tt_name_entry_schema && entry != &tt_string_schema))
      continue;
    const void *items = *(void *const *)(config + field->data_offset);
    const unsigned count = *(const unsigned *)(config + field->count_offset);
    const bool command = is_command_list(wire, field->key);
    for (unsigned i = 0; i < count; i++) {
      const tt_name_entry text = {
          .name = entry == &tt_string_schema ? ((char *const *)items)[i] : "", .scale = 1};
      add_entry(command ? inputs : outputs, wire, field->key, (int)i,
                entry == &tt_string_schema ? &text : (const tt_name_entry *)items + i, command);
    }
  }
}

static void add_wires(struct json_object *to, const tt_scene *scene, const tt_world *world) {
  struct json_object *list = tt_json_add_array(to, "wires");
  for (int i = 0; i < tt_world_wire_count(world); i++) {
    const tt_wire *wire = tt_world_wire_at(world, i);
    struct json_object *made = json_object_new_object();
    tt_json_add_text(made, "name", wire->name);
    tt_json_add_text(made, "protocol", wire->ops->protocol);
    tt_json_add_text(made, "robot",
                     wire->robot == TT_NO_ROBOT ? NULL : scene->robots[wire->robot].name);
    struct json_object *languages = tt_json_add_array(made, "languages");
    for (const tt_wire_client *client = wire->ops->clients; client && client->language; client++)
      json_object_array_add(languages, json_object_new_string(client->language));
    add_lists(made, wire, &scene->wires[i]);
    json_object_array_add(list, made);
  }
}

/* --- robots --- */

/* A path as it stands below the draft's folder, where it lies there. */
static const char *shown(const char *path, const char *folder) {
  const size_t size = strlen(folder);
  return path && strncmp(path, folder, size) == 0 && path[size] == '/' ? path + size + 1 : path;
}

static void add_robots(struct json_object *to, const tt_scene *scene, const char *folder) {
  struct json_object *list = tt_json_add_array(to, "robots");
  for (int i = 0; i < scene->robot_count; i++) {
    const tt_scene_robot *robot = &scene->robots[i];
    struct json_object *made = json_object_new_object();
    tt_json_add_text(made, "name", robot->name);
    tt_json_add_text(made, "file", shown(robot->file ? robot->file : robot->model_file, folder));
    tt_json_add_text(made, "model", shown(robot->model_file, folder));
    json_object_array_add(list, made);
  }
}

/* --- what it looks like --- */

static void add_poses(struct json_object *to, const tt_view *view) {
  struct json_object *list = tt_json_add_array(to, "poses");
  for (int i = 0; i < view->model->body_count; i++) {
    struct json_object *pose = json_object_new_array();
    for (int k = 0; k < 3; k++)
      json_object_array_add(pose, json_object_new_double(view->body_position[i][k]));
    for (int k = 0; k < 4; k++)
      json_object_array_add(pose, json_object_new_double(view->body_rotation[i][k]));
    json_object_array_add(list, pose);
  }
}

static struct json_object *read_model(const tt_scene *scene, const tt_sim *sim) {
  tt_floor_line *lines = calloc((size_t)scene->line_count + 1, sizeof *lines);
  for (int i = 0; lines && i < scene->line_count; i++) {
    const tt_painted_line *from = &scene->lines[i];
    lines[i] = (tt_floor_line){from->x1,    from->y1,       from->x2,   from->y2,
                               from->width, from->darkness, from->black};
  }
  tt_floor floor = {.lines = lines,
                    .line_count = scene->line_count,
                    .places = scene->places,
                    .place_count = scene->place_count};
  char *text = lines ? tt_describe_sim(sim, &floor) : NULL;
  struct json_object *model = text ? json_tokener_parse(text) : NULL;
  free(text);
  free(lines);
  return model;
}

/* Meshes and textures as bytes, as a page fetches them. */
static bool keep_scenery(const tt_sim *sim, tt_draft_look *look) {
  const tt_scenery *scenery = tt_sim_scenery(sim);
  look->meshes = calloc((size_t)scenery->mesh_count + 1, sizeof *look->meshes);
  look->textures = calloc((size_t)scenery->texture_count + 1, sizeof *look->textures);
  if (!look->meshes || !look->textures) return false;
  look->mesh_count = scenery->mesh_count;
  look->texture_count = scenery->texture_count;
  bool good = true;
  for (int i = 0; i < scenery->mesh_count; i++) {
    tt_describe_mesh(&scenery->meshes[i], &look->meshes[i]);
    good = good && !look->meshes[i].failed;
  }
  for (int i = 0; i < scenery->texture_count; i++) {
    tt_describe_texture(&scenery->textures[i], &look->textures[i]);
    good = good && !look->textures[i].failed;
  }
  return good;
}

/* One for each wire and language that has a pattern. */
static tt_status add_clients(const tt_scene *scene, const tt_world *world, tt_draft_look *look,
                             tt_error *error) {
  char name[256];
  int most = 0;
  tt_element_name(scene->path, name, sizeof name);
  while (tt_client_languages[most]) most++;
  look->clients = calloc((size_t)(most * scene->wire_count) + 1, sizeof *look->clients);
  if (!look->clients) return tt_fail(error, TT_NOMEM, "out of memory");
  for (int i = 0; i < tt_world_wire_count(world); i++) {
    const tt_wire *wire = tt_world_wire_at(world, i);
    for (int k = 0; k < most; k++) {
      tt_client made;
      tt_status status =
          tt_client_make(scene, name, wire, &scene->wires[i], tt_client_languages[k], &made, error);
      if (status == TT_NOT_FOUND) continue;
      TT_TRY(status);
      look->clients[look->client_count++] = (tt_draft_client){.language = tt_client_languages[k],
                                                              .file = made.file,
                                                              .text = made.text,
                                                              .start = made.start};
      snprintf(look->clients[look->client_count - 1].wire, TT_DRAFT_MOST_WIRE, "%s", wire->name);
    }
  }
  return TT_OK;
}

tt_status tt_draft_describe(const tt_scene *scene, tt_world *world, const char *folder,
                            tt_draft_look *look, tt_error *error) {
  const tt_sim *sim = tt_world_sim(world);
  struct json_object *model = read_model(scene, sim), *parts = json_object_new_object();
  bool good = model && parts && keep_scenery(sim, look);
  if (good) {
    static const char *const both[] = {"signals", "commands"};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
      tt_json_add(parts, both[i], json_object_get(json_object_object_get(model, both[i])));
    add_robots(parts, scene, folder);
    add_wires(parts, scene, world);
    add_poses(model, tt_world_view(world));
    tt_json_add_uint(model, "revision", look->revision);
    look->model = strdup(json_object_to_json_string_ext(model, JSON_C_TO_STRING_PLAIN));
    look->parts = json_object_get(parts);
  }
  json_object_put(model);
  json_object_put(parts);
  if (!good || !look->model) return tt_fail(error, TT_NOMEM, "out of memory");
  return add_clients(scene, world, look, error);
}
