#include "record/linkage.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BODIES 100000

/* X(source, name, components, what its index counts) */
#define SOURCES(X)                                                                                 \
  X(TT_SIGNAL_TIME, "time", 1, NOTHING)                                                            \
  X(TT_SIGNAL_STEP, "step", 1, NOTHING)                                                            \
  X(TT_SIGNAL_MATCH_TIME, "match_time", 1, NOTHING)                                                \
  X(TT_SIGNAL_REAL_TIME_FACTOR, "real_time_factor", 1, NOTHING)                                    \
  X(TT_SIGNAL_BODY_POSITION, "position", 3, BODIES)                                                \
  X(TT_SIGNAL_BODY_ROTATION, "rotation", 4, BODIES)                                                \
  X(TT_SIGNAL_BODY_HEADING, "heading", 1, BODIES)                                                  \
  X(TT_SIGNAL_BODY_YAW_RATE, "yaw_rate", 1, BODIES)                                                \
  X(TT_SIGNAL_BODY_VELOCITY, "velocity", 3, BODIES)                                                \
  X(TT_SIGNAL_BODY_SPIN, "spin", 3, BODIES)                                                        \
  X(TT_SIGNAL_JOINT_POSITION, "joint_position", 1, AXES)                                           \
  X(TT_SIGNAL_JOINT_VELOCITY, "joint_velocity", 1, AXES)                                           \
  X(TT_SIGNAL_JOINT_TORQUE, "joint_torque", 1, AXES)                                               \
  X(TT_SIGNAL_CHANNEL, "channel", 1, CHANNELS)                                                     \
  X(TT_SIGNAL_COMMAND, "command", 1, COMMANDS)

enum counted { NOTHING, BODIES, AXES, CHANNELS, COMMANDS };

typedef struct source {
  const char *name;
  int components;
  enum counted counted;
} source;

static const source sources[] = {
#define SOURCE(id, name, components, counted) [id] = {name, components, counted},
    SOURCES(SOURCE)
#undef SOURCE
};
#define SOURCE_COUNT ((int)(sizeof sources / sizeof *sources))

static const char *const kinds[] = {
    [TT_HINGE] = "hinge", [TT_SLIDE] = "slide", [TT_BALL] = "ball", [TT_FREE] = "free"};
#define KIND_COUNT ((int)(sizeof kinds / sizeof *kinds))

/* ---- what is kept ---- */

static bool is_root(const tt_model *model, int body) {
  for (int r = 0; r < model->robot_count; r++)
    if (model->robots[r].root_body == body) return true;
  return false;
}

bool *tt_linkage_keeps(const tt_model *model, bool placed) {
  bool *keeps = calloc((size_t)model->body_count + 1, sizeof *keeps);
  for (int b = 1; keeps && b < model->body_count; b++)
    keeps[b] = model->bodies[b].own || (placed && is_root(model, b));
  return keeps;
}

bool tt_linkage_follows(const tt_model *model, const bool *keeps, const tt_signal *signal) {
  switch (signal->source) {
    case TT_SIGNAL_TIME:
    case TT_SIGNAL_STEP:
    case TT_SIGNAL_COMMAND: return true;
    case TT_SIGNAL_BODY_POSITION:
    case TT_SIGNAL_BODY_ROTATION:
    case TT_SIGNAL_BODY_VELOCITY:
    case TT_SIGNAL_BODY_SPIN: return !keeps[signal->index];
    case TT_SIGNAL_BODY_HEADING:
    case TT_SIGNAL_BODY_YAW_RATE: return !tt_linkage_shows(model, keeps, signal->index);
    default: return false;
  }
}

bool tt_linkage_shows(const tt_model *model, const bool *keeps, int body) {
  return keeps[body] && is_root(model, body);
}

void tt_linkage_entry(const tt_signal *signal, const char *name, char *entry, size_t size) {
  static const char command[] = "command:";
  const char *place = "signals";
  if (signal->source == TT_SIGNAL_COMMAND) place = "commands";
  if (signal->source == TT_SIGNAL_REAL_TIME_FACTOR) place = "tether";
  if (strncmp(name, command, strlen(command)) == 0) name += strlen(command);
  snprintf(entry, size, "/%s/%s", place, name);
}

/* ---- writing ---- */

static struct json_object *list_of(const double *values, int count) {
  struct json_object *list = json_object_new_array();
  for (int i = 0; i < count; i++)
    json_object_array_add(list, json_object_new_double(values[i])); /* with 17 digits */
  return list;
}

static void add_bodies(struct json_object *to, const tt_model *model, const bool *keeps) {
  struct json_object *list = tt_json_add_array(to, "bodies");
  for (int b = 0; b < model->body_count; b++) {
    const tt_body *from = &model->bodies[b];
    struct json_object *body = json_object_new_object();
    tt_json_add_text(body, "name", from->name);
    tt_json_add_int(body, "parent", from->parent);
    tt_json_add_bool(body, "kept", keeps[b]);
    tt_json_add(body, "position", list_of(from->position, 3));
    tt_json_add(body, "rotation", list_of(from->rotation, 4));
    json_object_array_add(list, body);
  }
}

static void add_joints(struct json_object *to, const tt_model *model) {
  struct json_object *list = tt_json_add_array(to, "joints");
  for (int j = 0; j < model->joint_count; j++) {
    const tt_joint *from = &model->joints[j];
    struct json_object *joint = json_object_new_object();
    tt_json_add_text(joint, "kind", kinds[from->kind]);
    tt_json_add_int(joint, "body", from->body);
    tt_json_add_int(joint, "axis", from->axis);
    tt_json_add(joint, "anchor", list_of(from->anchor, 3));
    tt_json_add(joint, "direction", list_of(from->direction, 3));
    tt_json_add_double(joint, "reference", from->reference);
    json_object_array_add(list, joint);
  }
}

/* [name, unit, source, index, component] */
static void add_signals(struct json_object *to, const tt_names *names) {
  struct json_object *list = tt_json_add_array(to, "signals");
  int count;
  const tt_signal_entry *entries = tt_names_signals(names, &count);
  for (int i = 0; i < count; i++) {
    struct json_object *signal = json_object_new_array();
    const tt_signal *from = &entries[i].signal;
    json_object_array_add(signal, json_object_new_string(entries[i].name));
    json_object_array_add(signal, json_object_new_string(tt_unit_si(from->dimension)->name));
    json_object_array_add(signal, json_object_new_string(sources[from->source].name));
    json_object_array_add(signal, json_object_new_int(from->index));
    json_object_array_add(signal, json_object_new_int(from->component));
    json_object_array_add(list, signal);
  }
}

char *tt_linkage_describe(const tt_model *model, const tt_names *names, const bool *keeps) {
  struct json_object *made = json_object_new_object();
  struct json_object *timestep = tt_json_add_array(made, "timestep");
  json_object_array_add(timestep, json_object_new_int64(model->timestep_num));
  json_object_array_add(timestep, json_object_new_int64(model->timestep_den));
  add_bodies(made, model, keeps);
  add_joints(made, model);
  add_signals(made, names);
  const char *text =
      json_object_to_json_string_ext(made, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
  char *copy = text ? strdup(text) : NULL;
  json_object_put(made);
  return copy;
}

/* ---- reading ---- */

static bool number_at(struct json_object *list, size_t index, double *number) {
  struct json_object *value = list ? json_object_array_get_idx(list, index) : NULL;
  *number = json_object_get_double(value);
  return value && isfinite(*number);
}

static bool take_numbers(struct json_object *from, const char *key, double *into, size_t count) {
  size_t length;
  struct json_object *list = tt_json_list(from, key, &length);
  bool good = length == count;
  for (size_t i = 0; i < count && good; i++) good = number_at(list, i, &into[i]);
  return good;
}

static int64_t int_of(struct json_object *from, const char *key) {
  struct json_object *value;
  return json_object_object_get_ex(from, key, &value) ? json_object_get_int64(value) : INT64_MIN;
}

static bool is_true(struct json_object *from, const char *key) {
  struct json_object *value;
  return json_object_object_get_ex(from, key, &value) && json_object_get_boolean(value);
}

static bool read_body(struct json_object *from, int index, tt_body *body) {
  int64_t parent = int_of(from, "parent");
  const char *name = tt_json_text(from, "name");
  *body = (tt_body){.name = strdup(name), .parent = (int)parent, .own = is_true(from, "kept")};
  bool above = parent >= 0 && (parent < index || (parent == 0 && index == 0));
  return body->name && *name && above && take_numbers(from, "position", body->position, 3) &&
         take_numbers(from, "rotation", body->rotation, 4);
}

static bool read_bodies(struct json_object *from, tt_linkage *to) {
  size_t count;
  struct json_object *list = tt_json_list(from, "bodies", &count);
  if (count == 0 || count > MOST_BODIES) return false;
  tt_body *bodies = calloc(count, sizeof *bodies);
  to->model.bodies = bodies;
  if (!bodies) return false;
  for (size_t i = 0; i < count; i++) {
    to->model.body_count = (int)i + 1;
    if (!read_body(json_object_array_get_idx(list, i), (int)i, &bodies[i])) return false;
  }
  return true;
}

static bool read_joint(struct json_object *from, const tt_model *model, int64_t least_body,
                       tt_joint *joint) {
  int64_t body = int_of(from, "body"), axis = int_of(from, "axis");
  double reference = 0;
  const char *kind = tt_json_text(from, "kind");
  int k = 0;
  while (k < KIND_COUNT && strcmp(kinds[k], kind) != 0) k++;
  int axes = k == TT_FREE ? 0 : k == TT_BALL ? 3 : 1;
  if (k == KIND_COUNT || body < least_body || body < 1 || body >= model->body_count) return false;
  if (axes && axis != model->axis_count) return false;
  struct json_object *value;
  if (json_object_object_get_ex(from, "reference", &value))
    reference = json_object_get_double(value);
  *joint = (tt_joint){.kind = (tt_joint_kind)k,
                      .body = (int)body,
                      .axis = axes ? (int)axis : -1,
                      .axis_count = axes,
                      .reference = reference};
  bool rigid = axes == 1 || model->bodies[body].own; /* of others nothing is computed */
  return rigid && isfinite(reference) && take_numbers(from, "anchor", joint->anchor, 3) &&
         take_numbers(from, "direction", joint->direction, 3);
}

static bool read_joints(struct json_object *from, tt_linkage *to) {
  size_t count;
  struct json_object *list = tt_json_list(from, "joints", &count);
  if (count > MOST_BODIES) return false;
  tt_joint *joints = calloc(count + 1, sizeof *joints);
  to->model.joints = joints;
  if (!joints) return false;
  for (size_t i = 0; i < count; i++) {
    int64_t least = i ? joints[i - 1].body : 1;
    if (!read_joint(json_object_array_get_idx(list, i), &to->model, least, &joints[i]))
      return false;
    to->model.axis_count += joints[i].axis_count;
    to->model.joint_count++;
  }
  return true;
}

static bool index_fits(const tt_linkage *of, enum counted counted, int64_t index, int64_t most) {
  switch (counted) {
    case NOTHING: return true;
    case BODIES: return index >= 0 && index < of->model.body_count;
    case AXES: return index >= 0 && index < of->model.axis_count;
    default: return index >= 0 && index < most; /* no more than there are signals */
  }
}

static bool read_signal(struct json_object *from, tt_linkage *to, int64_t most) {
  tt_linked_signal *made = &to->signals[to->signal_count++];
  if (!json_object_is_type(from, json_type_array) || json_object_array_length(from) != 5)
    return false;
  const char *texts[3];
  for (size_t i = 0; i < 3; i++)
    texts[i] = json_object_get_string(json_object_array_get_idx(from, i));
  if (!texts[0] || !texts[1] || !texts[2]) return false;
  int64_t index = json_object_get_int64(json_object_array_get_idx(from, 3));
  int64_t component = json_object_get_int64(json_object_array_get_idx(from, 4));
  int s = 0;
  while (s < SOURCE_COUNT && strcmp(sources[s].name, texts[2]) != 0) s++;
  if (s == SOURCE_COUNT || component < 0 || component >= sources[s].components ||
      !index_fits(to, sources[s].counted, index, most))
    return false;
  made->name = strdup(texts[0]);
  made->unit = strdup(texts[1]);
  made->signal =
      (tt_signal){.source = (tt_signal_source)s, .index = (int)index, .component = (int)component};
  int *counter = sources[s].counted == CHANNELS   ? &to->model.channel_count
                 : sources[s].counted == COMMANDS ? &to->model.command_count
                                                  : NULL;
  if (counter && *counter <= index) *counter = (int)index + 1;
  return made->name && made->unit;
}

static bool read_signals(struct json_object *from, tt_linkage *to) {
  size_t count;
  struct json_object *list = tt_json_list(from, "signals", &count);
  to->signals = calloc(count + 1, sizeof *to->signals);
  if (!to->signals) return false;
  for (size_t i = 0; i < count; i++)
    if (!read_signal(json_object_array_get_idx(list, i), to, (int64_t)count)) return false;
  return true;
}

static bool read_timestep(struct json_object *from, tt_linkage *to) {
  size_t count;
  struct json_object *list = tt_json_list(from, "timestep", &count);
  if (count != 2) return false;
  to->model.timestep_num = json_object_get_int64(json_object_array_get_idx(list, 0));
  to->model.timestep_den = json_object_get_int64(json_object_array_get_idx(list, 1));
  return to->model.timestep_num > 0 && to->model.timestep_den > 0;
}

tt_status tt_linkage_read(struct json_object *from, tt_linkage *linkage) {
  *linkage = (tt_linkage){0};
  bool good = json_object_is_type(from, json_type_object) && read_timestep(from, linkage) &&
              read_bodies(from, linkage) && read_joints(from, linkage) &&
              read_signals(from, linkage);
  return good ? TT_OK : TT_INVALID;
}

void tt_linkage_free(tt_linkage *linkage) {
  for (int b = 0; b < linkage->model.body_count; b++) free((char *)linkage->model.bodies[b].name);
  for (int i = 0; i < linkage->signal_count; i++) {
    free(linkage->signals[i].name);
    free(linkage->signals[i].unit);
  }
  free((tt_body *)linkage->model.bodies);
  free((tt_joint *)linkage->model.joints);
  free(linkage->signals);
  *linkage = (tt_linkage){0};
}
