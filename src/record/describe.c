#include "record/describe.h"

#include "base/endian.h"
#include "base/json.h"

#include <string.h>

static void add_doubles(struct json_object *to, const char *key, const double *values, int count) {
  struct json_object *array = tt_json_add_array(to, key);
  for (int i = 0; i < count; i++) json_object_array_add(array, json_object_new_double(values[i]));
}

static void add_bodies(struct json_object *to, const tt_model *model) {
  struct json_object *list = tt_json_add_array(to, "bodies");
  for (int i = 0; i < model->body_count; i++) {
    struct json_object *body = json_object_new_object();
    tt_json_add_text(body, "name", model->bodies[i].name);
    tt_json_add_int(body, "parent", model->bodies[i].parent);
    tt_json_add_int(body, "robot", model->bodies[i].robot);
    tt_json_add_int(body, "piece", model->bodies[i].piece);
    json_object_array_add(list, body);
  }
}

static void add_joints(struct json_object *to, const tt_model *model) {
  static const char *const kinds[] = {"hinge", "slide", "ball", "free"};
  struct json_object *list = tt_json_add_array(to, "joints");
  for (int i = 0; i < model->joint_count; i++) {
    const tt_joint *from = &model->joints[i];
    struct json_object *joint = json_object_new_object();
    tt_json_add_text(joint, "name", from->name);
    tt_json_add_text(joint, "kind", kinds[from->kind]);
    tt_json_add_int(joint, "body", from->body);
    tt_json_add_int(joint, "robot", from->robot);
    tt_json_add(joint, "lower", from->limited ? json_object_new_double(from->lower) : NULL);
    tt_json_add(joint, "upper", from->limited ? json_object_new_double(from->upper) : NULL);
    json_object_array_add(list, joint);
  }
}

static void add_robots(struct json_object *to, const tt_model *model) {
  struct json_object *list = tt_json_add_array(to, "robots");
  for (int i = 0; i < model->robot_count; i++) {
    struct json_object *robot = json_object_new_object();
    tt_json_add_text(robot, "name", model->robots[i].name);
    tt_json_add_text(robot, "alliance", model->robots[i].alliance);
    tt_json_add_int(robot, "root", model->robots[i].root_body);
    json_object_array_add(list, robot);
  }
}

static void add_signals(struct json_object *to, const tt_names *names) {
  struct json_object *list = tt_json_add_array(to, "signals");
  int count;
  const tt_signal_entry *entries = tt_names_signals(names, &count);
  for (int i = 0; i < count; i++) {
    struct json_object *signal = json_object_new_object();
    tt_json_add_text(signal, "name", entries[i].name);
    tt_json_add_text(signal, "unit", tt_unit_si(entries[i].signal.dimension)->name);
    tt_json_add_int(signal, "robot", entries[i].robot);
    tt_json_add_bool(signal, "command", entries[i].signal.source == TT_SIGNAL_COMMAND);
    json_object_array_add(list, signal);
  }
}

static void add_commands(struct json_object *to, const tt_model *model, const tt_names *names) {
  struct json_object *list = tt_json_add_array(to, "commands");
  for (int i = 0; i < model->command_count; i++) {
    const tt_command *from = &model->commands[i];
    struct json_object *command = json_object_new_object();
    tt_json_add_text(command, "name", tt_names_command(names, i));
    tt_json_add_text(command, "unit", tt_unit_si(from->dimension)->name);
    tt_json_add_int(command, "robot", from->robot);
    tt_json_add_double(command, "lower", from->lower);
    tt_json_add_double(command, "upper", from->upper);
    json_object_array_add(list, command);
  }
}

static void add_shapes(struct json_object *to, const tt_sim *sim) {
  static const char *const kinds[] = {"plane",    "sphere", "capsule", "ellipsoid",
                                      "cylinder", "box",    "mesh",    "heightfield"};
  struct json_object *list = tt_json_add_array(to, "shapes");
  const tt_scenery *scenery = tt_sim_scenery(sim);
  for (int i = 0; i < scenery->shape_count; i++) {
    const tt_shape *from = &scenery->shapes[i];
    struct json_object *shape = json_object_new_object();
    double rgba[4] = {from->rgba[0], from->rgba[1], from->rgba[2], from->rgba[3]};
    tt_json_add_text(shape, "kind", kinds[from->kind]);
    tt_json_add_int(shape, "body", from->body);
    add_doubles(shape, "size", from->size, 3);
    add_doubles(shape, "position", from->position, 3);
    add_doubles(shape, "rotation", from->rotation, 4);
    add_doubles(shape, "rgba", rgba, 4);
    tt_json_add_int(shape, "mesh", from->mesh);
    tt_json_add_int(shape, "material", from->material);
    tt_json_add_text(shape, "name", from->name);
    tt_json_add_bool(shape, "decoration", from->decoration);
    tt_json_add_bool(shape, "hidden", from->hidden);
    json_object_array_add(list, shape);
  }
  tt_json_add_int(to, "meshes", scenery->mesh_count);
}

static void add_materials(struct json_object *to, const tt_sim *sim) {
  struct json_object *list = tt_json_add_array(to, "materials");
  const tt_scenery *scenery = tt_sim_scenery(sim);
  for (int i = 0; i < scenery->material_count; i++) {
    const tt_material *from = &scenery->materials[i];
    struct json_object *material = json_object_new_object();
    tt_json_add_text(material, "name", from->name);
    tt_json_add_int(material, "texture", from->texture);
    add_doubles(material, "repeat", from->repeat, 2);
    tt_json_add_bool(material, "uniform", from->uniform);
    tt_json_add_double(material, "specular", from->specular);
    tt_json_add_double(material, "shininess", from->shininess);
    tt_json_add_double(material, "emission", from->emission);
    json_object_array_add(list, material);
  }
}

static void add_textures(struct json_object *to, const tt_sim *sim) {
  struct json_object *list = tt_json_add_array(to, "textures");
  const tt_scenery *scenery = tt_sim_scenery(sim);
  for (int i = 0; i < scenery->texture_count; i++) {
    struct json_object *texture = json_object_new_object();
    tt_json_add_bool(texture, "cube", scenery->textures[i].cube);
    tt_json_add_int(texture, "width", scenery->textures[i].width);
    tt_json_add_int(texture, "height", scenery->textures[i].height);
    json_object_array_add(list, texture);
  }
}

static int signal_of_channel(const tt_names *names, int channel) {
  int count;
  const tt_signal_entry *entries = tt_names_signals(names, &count);
  for (int i = 0; i < count; i++)
    if (entries[i].signal.source == TT_SIGNAL_CHANNEL && entries[i].signal.index == channel)
      return i;
  return -1;
}

static void add_rays(struct json_object *to, const tt_sim *sim) {
  struct json_object *list = tt_json_add_array(to, "rays");
  tt_ray from;
  for (int i = 0; tt_sim_ray(sim, i, &from); i++) {
    struct json_object *ray = json_object_new_object();
    tt_json_add_text(ray, "name", from.name);
    tt_json_add_int(ray, "body", from.body);
    add_doubles(ray, "position", from.position, 3);
    add_doubles(ray, "direction", from.direction, 3);
    tt_json_add_int(ray, "signal", signal_of_channel(tt_sim_names(sim), from.channel));
    json_object_array_add(list, ray);
  }
}

static void add_lines(struct json_object *to, const tt_floor *floor) {
  struct json_object *list = tt_json_add_array(to, "lines");
  for (int i = 0; i < floor->line_count; i++) {
    const tt_floor_line *from = &floor->lines[i];
    struct json_object *line = json_object_new_object();
    tt_json_add_double(line, "x1", from->x1);
    tt_json_add_double(line, "y1", from->y1);
    tt_json_add_double(line, "x2", from->x2);
    tt_json_add_double(line, "y2", from->y2);
    tt_json_add_double(line, "width", from->width);
    tt_json_add_double(line, "darkness", from->darkness);
    tt_json_add_bool(line, "black", from->black);
    json_object_array_add(list, line);
  }
}

static void add_stations(struct json_object *to, const tt_floor *floor) {
  struct json_object *list = tt_json_add_array(to, "stations");
  for (int i = 0; i < floor->place_count; i++) {
    const tt_driver_place *from = &floor->places[i];
    struct json_object *place = json_object_new_object();
    tt_json_add_text(place, "place", tt_station_name(from->station));
    tt_json_add_double(place, "x", from->x);
    tt_json_add_double(place, "y", from->y);
    tt_json_add_double(place, "heading", from->heading);
    json_object_array_add(list, place);
  }
}

char *tt_describe_sim(const tt_sim *sim, const tt_floor *floor) {
  struct json_object *made = json_object_new_object();
  if (!made) return NULL;
  const tt_model *model = tt_sim_model(sim);
  const tt_names *names = tt_sim_names(sim);
  tt_json_add_text(made, "type", "model");
  tt_json_add_bool(made, "dynamics", tt_sim_dynamics(sim));
  add_bodies(made, model);
  add_joints(made, model);
  add_robots(made, model);
  add_signals(made, names);
  add_commands(made, model, names);
  add_shapes(made, sim);
  add_materials(made, sim);
  add_textures(made, sim);
  add_rays(made, sim);
  const tt_floor bare = {0};
  add_lines(made, floor ? floor : &bare);
  add_stations(made, floor ? floor : &bare);
  char *text = strdup(json_object_to_json_string_ext(made, JSON_C_TO_STRING_PLAIN));
  json_object_put(made);
  return text;
}

/* ---- meshes and textures ---- */

static void append_f32(tt_bytes *out, float value) {
  tt_bytes_append_le(out, tt_bits_of_float(value), 4);
}

void tt_describe_mesh(const tt_mesh *mesh, tt_bytes *out) {
  tt_bytes_append_le(out, (uint32_t)mesh->vertex_count, 4);
  tt_bytes_append_le(out, (uint32_t)mesh->triangle_count, 4);
  for (int i = 0; i < 3 * mesh->vertex_count; i++) append_f32(out, mesh->vertices[i]);
  for (int i = 0; i < 3 * mesh->triangle_count; i++)
    tt_bytes_append_le(out, (uint32_t)mesh->triangles[i], 4);
  for (int i = 0; mesh->coordinates && i < 2 * mesh->vertex_count; i++)
    append_f32(out, mesh->coordinates[i]);
}

void tt_describe_texture(const tt_texture *texture, tt_bytes *out) {
  size_t faces = texture->cube ? 6 : 1;
  tt_bytes_append_le(out, (uint32_t)texture->width, 4);
  tt_bytes_append_le(out, (uint32_t)texture->height, 4);
  tt_bytes_append_le(out, (uint32_t)faces, 4);
  tt_bytes_append(out, texture->pixels,
                  faces * 3 * (size_t)texture->width * (size_t)texture->height);
}
