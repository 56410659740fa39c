/* advantagescope.c: what config.json says, and which bodies stand in which model.
 *
 * Models have y up, as glTF asks; a turn of 90 degrees about x makes it z again. The viewer's world begins in the middle of the
 * field, its x axis from the red wall to the blue one. "wall-blue" is WPILib's frame until 2026 in it, and needs the field's size:
 * arenas are drawn around their origin, so that it is twice as far from the field's corner as that. An arena without a field's
 * frame is "center-red", where poses are the viewer's own.
 */
#include "gltf/advantagescope.h"

#include "base/json.h"
#include "game/match.h"
#include "gltf/glb.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846
#define INCH 0.0254
#define FREE_FIELD 20.0 /* m: size of an arena that says none and ends nowhere */
#define NAME_SIZE 256

static tt_place place_of(const tt_view *view, int body) {
  tt_place place;
  memcpy(place.position, view->body_position[body], sizeof place.position);
  memcpy(place.rotation, view->body_rotation[body], sizeof place.rotation);
  return place;
}

/* --- writing --- */

typedef struct folder {
  char name[NAME_SIZE];
  const tt_asset_sink *sink;
  tt_bytes bytes; /* of the file being written */
} folder;

static void open_folder(folder *in, const char *kind, const char *name, const tt_asset_sink *sink) {
  *in = (folder){.sink = sink};
  snprintf(in->name, sizeof in->name, "%s_%.200s", kind, name);
  for (char *c = in->name; *c; c++)
    if (*c == '/') *c = '_';
}

static tt_status write_glb(folder *to, const tt_glb *glb, const char *name, tt_error *error) {
  if (tt_glb_write(glb, &to->bytes) != TT_OK) return tt_fail(error, TT_NOMEM, "out of memory");
  return to->sink->write(to->sink->context, to->name, name, to->bytes.data, to->bytes.size, error);
}

static tt_status write_config(const folder *to, struct json_object *config, tt_error *error) {
  size_t size;
  const char *text = json_object_to_json_string_length(
      config, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE, &size);
  if (!text) return tt_fail(error, TT_NOMEM, "out of memory");
  return to->sink->write(to->sink->context, to->name, "config.json", text, size, error);
}

/* model.glb for −1, else model_INDEX.glb, of one body at a place. */
static tt_status write_body(folder *to, const tt_assets *assets, int index, int body,
                            const tt_place *place, tt_error *error) {
  char name[32] = "model.glb";
  if (index >= 0) snprintf(name, sizeof name, "model_%d.glb", index);
  tt_glb *glb = tt_glb_new(assets->scenery);
  tt_status status = glb ? tt_glb_begin(glb, assets->model->bodies[body].name) : TT_NOMEM;
  if (status == TT_OK) status = tt_glb_add_body(glb, body, place, FREE_FIELD / 2);
  if (status != TT_OK)
    tt_fail(error, status, "out of memory");
  else
    status = write_glb(to, glb, name, error);
  tt_glb_free(glb);
  return status;
}

/* --- config.json --- */

static void add_turn(struct json_object *list, char axis, double angle) {
  struct json_object *turn = json_object_new_object();
  const char name[] = {axis, 0};
  tt_json_add_text(turn, "axis", name);
  tt_json_add_double(turn, "degrees", angle * 180 / PI);
  json_object_array_add(list, turn);
}

static void add_position(struct json_object *to, const char *key, double x, double y, double z) {
  struct json_object *list = tt_json_add_array(to, key);
  json_object_array_add(list, json_object_new_double(x));
  json_object_array_add(list, json_object_new_double(y));
  json_object_array_add(list, json_object_new_double(z));
}

/* From the file's axes to ours. */
static void add_upright(struct json_object *to) {
  add_turn(tt_json_add_array(to, "rotations"), 'x', PI / 2);
  add_position(to, "position", 0, 0, 0);
}

/* Brings a component from where it is drawn to the robot's origin: its pose then carries it to where it is. */
static void add_component(struct json_object *list, const tt_place *drawn) {
  struct json_object *component = json_object_new_object();
  struct json_object *rotations = tt_json_add_array(component, "zeroedRotations");
  tt_place zeroed = tt_place_inverse(drawn);
  double turns[3];
  tt_place_turns(zeroed.rotation, turns);
  add_turn(rotations, 'x', PI / 2);
  for (int i = 0; i < 3; i++)
    if (fabs(turns[i]) > 1e-9) add_turn(rotations, "xyz"[i], turns[i]);
  add_position(component, "zeroedPosition", zeroed.position[0], zeroed.position[1],
               zeroed.position[2]);
  json_object_array_add(list, component);
}

/* --- robots --- */

static tt_status write_robot(const tt_assets *assets, int robot, folder *to,
                             struct json_object *config, tt_error *error) {
  const tt_model *model = assets->model;
  const int root = model->robots[robot].root_body;
  const tt_place here = {.rotation = {1, 0, 0, 0}};
  tt_place base = place_of(assets->view, root), back = tt_place_inverse(&base);
  struct json_object *components;
  char name[NAME_SIZE];
  int count = 0;
  snprintf(name, sizeof name, "Tether %.200s", model->robots[robot].name);
  tt_json_add_text(config, "name", name);
  tt_json_add_bool(config, "isFTC", false);
  tt_json_add_bool(config, "disableSimplification", true);
  add_upright(config);
  tt_json_add_array(config, "cameras");
  components = tt_json_add_array(config, "components");
  TT_TRY(write_body(to, assets, -1, root, &here, error));
  for (int i = 1; i < model->body_count; i++) {
    if (model->bodies[i].robot != robot || i == root) continue;
    tt_place place = place_of(assets->view, i);
    tt_place drawn = tt_place_in(&back, &place);
    add_component(components, &drawn);
    TT_TRY(write_body(to, assets, count++, i, &drawn, error));
  }
  return write_config(to, config, error);
}

tt_status tt_assets_write_robot(const tt_assets *assets, int robot, const tt_asset_sink *sink,
                                tt_error *error) {
  folder to;
  struct json_object *config = json_object_new_object();
  open_folder(&to, "Robot", assets->model->robots[robot].name, sink);
  tt_status status = write_robot(assets, robot, &to, config, error);
  json_object_put(config);
  tt_bytes_free(&to.bytes);
  return status;
}

/* --- fields --- */

/* How the arena lies in the viewer's world. */
typedef struct frame {
  bool has_corner;      /* "wall-blue", not "center-red" */
  double length, width; /* m, along the field's x and y */
  tt_place arena;       /* of the arena's frame in the viewer's */
} frame;

static bool is_set(const tt_field *field) {
  return field->x != 0 || field->y != 0 || field->heading != 0;
}

/* Twice as far as the farthest thing of the arena that is seen. */
static double extent(const tt_assets *assets, int axis) {
  double most = 0;
  for (int i = 0; i < assets->scenery->shape_count; i++) {
    const tt_shape *shape = &assets->scenery->shapes[i];
    if (assets->model->bodies[shape->body].robot != TT_NO_ROBOT || shape->hidden) continue;
    tt_place body = place_of(assets->view, shape->body);
    double at[3];
    tt_place_point(&body, shape->position, at);
    most = fmax(most, fabs(at[axis]) + (shape->kind == TT_PLANE ? shape->size[axis] : 0));
  }
  return most > 0 ? 2 * most : FREE_FIELD;
}

static frame frame_of(const tt_assets *assets) {
  static const tt_place half_a_turn = {{0, 0, 0}, {0, 0, 0, 1}};
  double pose[7] = {0, 0, 0, 1, 0, 0, 0}; /* of the arena's origin in the field's frame */
  frame made = {.length = 0};
  tt_field_from_arena(&assets->field, pose);
  memcpy(made.arena.rotation, pose + 3, sizeof made.arena.rotation);
  made.has_corner = is_set(&assets->field) && pose[0] > 0 && pose[1] > 0;
  if (made.has_corner) {
    made.arena = tt_place_in(&half_a_turn, &made.arena);
    made.length = 2 * pose[0];
    made.width = 2 * pose[1];
  } else {
    memcpy(made.arena.position, pose, sizeof made.arena.position);
    made.length = extent(assets, 0);
    made.width = extent(assets, 1);
  }
  return made;
}

/* Of the drivers, blue first, each from their left: what the viewer's cameras stand behind. */
static void add_stations(struct json_object *config, const frame *in) {
  struct json_object *stations = tt_json_add_array(config, "driverStations");
  for (int side = 1; side >= -1; side -= 2) {
    for (int i = -1; i <= 1; i++) {
      struct json_object *station = json_object_new_array();
      json_object_array_add(station, json_object_new_double(side * (in->length / 2 + 0.5)));
      json_object_array_add(station, json_object_new_double(side * i * in->width / 4));
      json_object_array_add(stations, station);
    }
  }
}

/* The arena's bodies where they stand; a piece is a thing of its own, so that a viewer can hide it. */
static tt_status add_arena(const tt_assets *assets, const frame *in, tt_glb *glb) {
  for (int i = 0; i < assets->model->body_count; i++) {
    const tt_body *body = &assets->model->bodies[i];
    if (body->robot != TT_NO_ROBOT) continue;
    tt_place stands = place_of(assets->view, i);
    tt_place drawn = tt_place_in(&in->arena, &stands);
    TT_TRY(tt_glb_begin(glb, i == 0 ? "floor" : body->name));
    TT_TRY(tt_glb_add_body(glb, i, &drawn, FREE_FIELD / 2));
  }
  return TT_OK;
}

static tt_status write_arena(const tt_assets *assets, const frame *in, folder *to,
                             tt_error *error) {
  tt_glb *glb = tt_glb_new(assets->scenery);
  tt_status status = glb ? add_arena(assets, in, glb) : TT_NOMEM;
  if (status != TT_OK)
    tt_fail(error, status, "out of memory");
  else
    status = write_glb(to, glb, "model.glb", error);
  tt_glb_free(glb);
  return status;
}

/* "circle1" is one of "circle". */
static void name_kind(const char *body, char name[NAME_SIZE]) {
  snprintf(name, NAME_SIZE, "%.200s", body);
  size_t length = strlen(name);
  while (length > 1 && name[length - 1] >= '0' && name[length - 1] <= '9') name[--length] = 0;
}

/* A kind of pieces, as the first of them looks, where there are any. */
static tt_status write_kind(const tt_assets *assets, int kind, int index, folder *to,
                            struct json_object *pieces, bool *there, tt_error *error) {
  const tt_place here = {.rotation = {1, 0, 0, 0}};
  struct json_object *piece = NULL, *staged = NULL;
  char name[NAME_SIZE];
  *there = false;
  for (int i = 1; i < assets->model->body_count; i++) {
    const tt_body *body = &assets->model->bodies[i];
    if (body->piece != kind) continue;
    if (!*there) {
      *there = true;
      piece = json_object_new_object();
      name_kind(body->name, name);
      tt_json_add_text(piece, "name", name);
      add_upright(piece);
      staged = tt_json_add_array(piece, "stagedObjects");
      json_object_array_add(pieces, piece);
      TT_TRY(write_body(to, assets, index, i, &here, error));
    }
    json_object_array_add(staged, json_object_new_string(body->name));
  }
  return TT_OK;
}

static tt_status write_field(const tt_assets *assets, folder *to, struct json_object *config,
                             tt_error *error) {
  frame in = frame_of(assets);
  char name[NAME_SIZE];
  int count = 0;
  snprintf(name, sizeof name, "Tether %.200s", assets->arena);
  tt_json_add_text(config, "name", name);
  tt_json_add_bool(config, "isFTC", false);
  tt_json_add_text(config, "coordinateSystem", in.has_corner ? "wall-blue" : "center-red");
  add_turn(tt_json_add_array(config, "rotations"), 'x', PI / 2);
  tt_json_add_double(config, "widthInches", in.length / INCH);
  tt_json_add_double(config, "heightInches", in.width / INCH);
  tt_json_add_text(config, "defaultOrigin", "auto");
  add_stations(config, &in);
  struct json_object *pieces = tt_json_add_array(config, "gamePieces");
  TT_TRY(write_arena(assets, &in, to, error));
  for (int kind = 1; kind <= TT_PIECE_KINDS; kind++) {
    bool there;
    TT_TRY(write_kind(assets, kind, count, to, pieces, &there, error));
    count += there;
  }
  return write_config(to, config, error);
}

tt_status tt_assets_write_field(const tt_assets *assets, const tt_asset_sink *sink,
                                tt_error *error) {
  folder to;
  struct json_object *config = json_object_new_object();
  open_folder(&to, "Field3d", assets->arena, sink);
  tt_status status = write_field(assets, &to, config, error);
  json_object_put(config);
  tt_bytes_free(&to.bytes);
  return status;
}
