/* topics.c: names and types are those that viewers of the field look for: AdvantageScope, Elastic, Glass.
 *
 * /Tether/ROBOT/Pose         struct:Pose3d    of its root body, in the field's frame
 * /Tether/ROBOT/Components   struct:Pose3d[]  of its other bodies, relative to the root body
 * /Tether/Pieces/KIND        struct:Pose3d[]  of the game pieces of a kind, in the field's frame
 * /Tether/signals/NAME       double           SI, with the property "unit"
 * /Tether/time               double           s, simulated
 * /Tether/commands/NAME      double           what was accepted last, SI; who may write it commands
 * /FMSInfo/…                 what the first robot's driver station says, as WPILib's programs publish it
 * /SmartDashboard/Field/…    a Field2d: x and y in m, heading in degrees; "Robot" is the first. At another's server, where
 *                            the robot program may have one of that name, /Tether/Field/…
 */
#include "nt4/topics.h"

#include "base/log.h"
#include "game/match.h"
#include "game/pose_struct.h"
#include "host/wanted.h"
#include "nt4/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREES (180 / 3.14159265358979323846)

typedef struct robot_topics {
  int pose, components, on_field;
} robot_topics;

struct tt_nt4_topics {
  tt_nt4_sink *sink;
  tt_world *world;
  const tt_model *model;
  tt_wanted *wanted;    /* what others write */
  tt_log_hold refusals; /* of that */
  const tt_signal_entry *signals;
  int signal_count;
  tt_nt4_topics_options options;
  robot_topics *robots;
  int *signal_topics,
      *command_topics; /* by signal, by command; of commands NULL: none is a topic */
  int control, is_red, number, game_data; /* of FMSInfo */
  int time, pieces[TT_PIECE_KINDS + 1];   /* by kind; −1: there are none */
  tt_bytes value, raw;                    /* of the topic at hand */
};

static void set(tt_nt4_topics *topics, int topic, const tt_bytes *value) {
  topics->sink->set(topics->sink, topic, value);
}

/* --- names --- */

static int add(tt_nt4_topics *topics, const char *type, const char *unit, const char *before,
               const char *name, const char *behind) {
  char whole[1200];
  snprintf(whole, sizeof whole, "%s%s%s", before, name, behind);
  tt_nt4_spec spec = {.name = whole, .type = type, .unit = unit};
  return topics->sink->add(topics->sink, &spec);
}

static tt_status add_schemas(tt_nt4_topics *topics) {
  for (size_t i = 0; i < TT_POSE_SCHEMAS; i++) {
    const tt_pose_schema *schema = &tt_pose_schemas[i];
    int topic = add(topics, "structschema", NULL, schema->name, "", "");
    if (topic < 0) return TT_NOMEM;
    tt_bytes_cut(&topics->value, 0);
    tt_nt4_put_raw(&topics->value, schema->text, strlen(schema->text));
    set(topics, topic, &topics->value);
  }
  return TT_OK;
}

static bool has_components(const tt_model *model, int robot) {
  for (int i = 1; i < model->body_count; i++)
    if (model->bodies[i].robot == robot && i != model->robots[robot].root_body) return true;
  return false;
}

static tt_status add_robots(tt_nt4_topics *topics) {
  const tt_model *model = topics->model;
  for (int i = 0; i < model->robot_count; i++) {
    robot_topics *made = &topics->robots[i];
    const char *name = model->robots[i].name;
    made->pose = add(topics, "struct:Pose3d", NULL, "/Tether/", name, "/Pose");
    made->components = has_components(model, i)
                           ? add(topics, "struct:Pose3d[]", NULL, "/Tether/", name, "/Components")
                           : -1;
    made->on_field =
        add(topics, "double[]", NULL, topics->options.field_table, "/", i == 0 ? "Robot" : name);
    if (made->pose < 0 || made->on_field < 0) return TT_NOMEM;
  }
  int kind = add(topics, "string", NULL, topics->options.field_table, "/.type", "");
  if (kind < 0) return TT_NOMEM;
  tt_bytes_cut(&topics->value, 0);
  tt_nt4_put_text(&topics->value, "Field2d");
  set(topics, kind, &topics->value);
  return TT_OK;
}

static tt_status add_pieces(tt_nt4_topics *topics) {
  char name[16];
  for (int kind = 1; kind <= TT_PIECE_KINDS; kind++) {
    topics->pieces[kind] = -1;
    for (int i = 1; i < topics->model->body_count && topics->pieces[kind] < 0; i++) {
      if (topics->model->bodies[i].piece != kind) continue;
      snprintf(name, sizeof name, "%d", kind);
      topics->pieces[kind] = add(topics, "struct:Pose3d[]", NULL, "/Tether/Pieces/", name, "");
      if (topics->pieces[kind] < 0) return TT_NOMEM;
    }
  }
  return TT_OK;
}

static tt_status add_signals(tt_nt4_topics *topics) {
  for (int i = 0; i < topics->signal_count; i++) {
    const tt_signal_entry *entry = &topics->signals[i];
    topics->signal_topics[i] = add(topics, "double", tt_unit_si(entry->signal.dimension)->name,
                                   "/Tether/signals/", entry->name, "");
    if (topics->signal_topics[i] < 0) return TT_NOMEM;
  }
  topics->time = add(topics, "double", "s", "/Tether/time", "", "");
  return topics->time < 0 ? TT_NOMEM : TT_OK;
}

static tt_status add_commands(tt_nt4_topics *topics) {
  if (!topics->options.commands) return TT_OK;
  const tt_model *model = topics->model;
  topics->command_topics = calloc((size_t)model->command_count + 1, sizeof(int));
  if (!topics->command_topics) return TT_NOMEM;
  for (int i = 0; i < model->command_count; i++) {
    char whole[1200];
    snprintf(whole, sizeof whole, "/Tether/commands/%s",
             tt_names_command(tt_world_names(topics->world), i));
    tt_nt4_spec spec = {.name = whole,
                        .type = "double",
                        .unit = tt_unit_si(model->commands[i].dimension)->name,
                        .writable = true};
    topics->command_topics[i] = topics->sink->add(topics->sink, &spec);
    if (topics->command_topics[i] < 0) return TT_NOMEM;
  }
  return TT_OK;
}

/* --- the driver station --- */

/* FMSControlData has the bits of WPILib's HAL_ControlWord. */
enum { ENABLED = 1, AUTONOMOUS = 2, TEST = 4, ESTOP = 8, STATION_ATTACHED = 32 };

static tt_status add_station(tt_nt4_topics *topics) {
  if (!topics->options.station) return TT_OK;
  int kind = add(topics, "string", NULL, "/FMSInfo/.type", "", "");
  topics->control = add(topics, "int", NULL, "/FMSInfo/FMSControlData", "", "");
  topics->is_red = add(topics, "boolean", NULL, "/FMSInfo/IsRedAlliance", "", "");
  topics->number = add(topics, "int", NULL, "/FMSInfo/StationNumber", "", "");
  topics->game_data = add(topics, "string", NULL, "/FMSInfo/GameSpecificMessage", "", "");
  if (kind < 0 || topics->control < 0 || topics->is_red < 0 || topics->number < 0 ||
      topics->game_data < 0)
    return TT_NOMEM;
  tt_bytes_cut(&topics->value, 0);
  tt_nt4_put_text(&topics->value, "FMSInfo");
  set(topics, kind, &topics->value);
  return TT_OK;
}

static int control_word(const tt_driver_station *station) {
  return (station->enabled ? ENABLED : 0) | (station->mode == TT_MODE_AUTONOMOUS ? AUTONOMOUS : 0) |
         (station->mode == TT_MODE_TEST ? TEST : 0) | (station->estop ? ESTOP : 0) |
         STATION_ATTACHED;
}

static void set_station(tt_nt4_topics *topics) {
  tt_driver_station station;
  tt_bytes *value = &topics->value;
  tt_world_get_driver_station(topics->world, 0, &station);
  tt_bytes_cut(value, 0);
  tt_nt4_put_int(value, control_word(&station));
  set(topics, topics->control, value);
  tt_bytes_cut(value, 0);
  tt_nt4_put_boolean(value, tt_station_alliance(station.station) == TT_ALLIANCE_RED);
  set(topics, topics->is_red, value);
  tt_bytes_cut(value, 0);
  tt_nt4_put_int(value, tt_station_number(station.station));
  set(topics, topics->number, value);
  tt_bytes_cut(value, 0);
  tt_nt4_put_text(value, station.game_data);
  set(topics, topics->game_data, value);
}

/* --- what others write --- */

/* −1: none. */
static int command_of(const tt_nt4_topics *topics, int topic) {
  for (int i = 0; i < topics->model->command_count; i++)
    if (topics->command_topics[i] == topic) return i;
  return -1;
}

static bool on_written(void *context, int topic, double value, const char *who) {
  tt_nt4_topics *topics = context;
  int command = command_of(topics, topic);
  if (command < 0) return false;
  const tt_command *of = &topics->model->commands[command];
  char more[TT_LOG_MORE];
  if (value >= of->lower && value <= of->upper) {
    tt_wanted_set(topics->wanted, command, value, 0);
    return true;
  }
  if (tt_log_is_due(&topics->refusals, more))
    tt_log_warning("nt4: %s of %s: %g is out of its range; in SI it is %g to %g%s",
                   tt_names_command(tt_world_names(topics->world), command), who, value, of->lower,
                   of->upper, more);
  return false;
}

static void on_released(void *context, int topic) {
  tt_nt4_topics *topics = context;
  int command = command_of(topics, topic);
  if (command >= 0) tt_wanted_let_go(topics->wanted, command);
}

void tt_nt4_topics_post(tt_nt4_topics *topics) { tt_wanted_post(topics->wanted); }

/* --- the beginning and the end --- */

tt_status tt_nt4_topics_new(tt_nt4_sink *sink, tt_world *world,
                            const tt_nt4_topics_options *options, tt_nt4_topics **out,
                            tt_error *error) {
  *out = NULL;
  tt_nt4_topics *made = calloc(1, sizeof *made);
  if (!made) return tt_fail(error, TT_NOMEM, "out of memory");
  made->sink = sink;
  made->world = world;
  made->model = tt_world_model(world);
  made->options = *options;
  made->signals = tt_names_signals(tt_world_names(world), &made->signal_count);
  made->robots = calloc((size_t)made->model->robot_count + 1, sizeof *made->robots);
  made->signal_topics = calloc((size_t)made->signal_count + 1, sizeof *made->signal_topics);
  made->wanted = tt_wanted_new(world, options->source);
  tt_status status = made->robots && made->signal_topics && made->wanted ? TT_OK : TT_NOMEM;
  if (status == TT_OK) status = add_schemas(made); /* before what they describe */
  if (status == TT_OK) status = add_robots(made);
  if (status == TT_OK) status = add_pieces(made);
  if (status == TT_OK) status = add_signals(made);
  if (status == TT_OK) status = add_commands(made);
  if (status == TT_OK) status = add_station(made);
  if (status != TT_OK) {
    tt_nt4_topics_free(made);
    return tt_fail(error, status, "nt4: out of memory, or more than %d topics", TT_NT4_MOST_TOPICS);
  }
  sink->on_written = on_written;
  sink->on_released = on_released;
  sink->context = made;
  *out = made;
  return TT_OK;
}

void tt_nt4_topics_free(tt_nt4_topics *topics) {
  if (!topics) return;
  tt_bytes_free(&topics->value);
  tt_bytes_free(&topics->raw);
  tt_wanted_free(topics->wanted);
  free(topics->robots);
  free(topics->signal_topics);
  free(topics->command_topics);
  free(topics);
}

/* --- values --- */

/* a conjugated, times b: a rotation of b seen from a. */
static void relative_rotation(const double a[4], const double b[4], double out[4]) {
  out[0] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  out[1] = a[0] * b[1] - a[1] * b[0] - a[2] * b[3] + a[3] * b[2];
  out[2] = a[0] * b[2] + a[1] * b[3] - a[2] * b[0] - a[3] * b[1];
  out[3] = a[0] * b[3] - a[1] * b[2] + a[2] * b[1] - a[3] * b[0];
}

/* `v` of the world in the axes of a frame with rotation `q` (w x y z). */
static void into_frame(const double q[4], const double v[3], double out[3]) {
  double w = q[0], x = -q[1], y = -q[2], z = -q[3];
  double tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]),
         tz = 2 * (x * v[1] - y * v[0]);
  out[0] = v[0] + w * tx + y * tz - z * ty;
  out[1] = v[1] + w * ty + z * tx - x * tz;
  out[2] = v[2] + w * tz + x * ty - y * tx;
}

static void put_pose(tt_bytes *to, const double pose[7]) {
  uint8_t bytes[TT_POSE_STRUCT_BYTES];
  tt_pose_struct_write(pose, bytes);
  tt_bytes_append(to, bytes, sizeof bytes);
}

static void pose_of(const tt_nt4_topics *topics, const tt_view *view, int body, double pose[7]) {
  memcpy(pose, view->body_position[body], 3 * sizeof *pose);
  memcpy(pose + 3, view->body_rotation[body], 4 * sizeof *pose);
  tt_field_from_arena(&topics->options.field, pose);
}

static void relative_pose(const tt_view *view, int root, int body, double pose[7]) {
  double offset[3];
  for (int i = 0; i < 3; i++)
    offset[i] = view->body_position[body][i] - view->body_position[root][i];
  into_frame(view->body_rotation[root], offset, pose);
  relative_rotation(view->body_rotation[root], view->body_rotation[body], pose + 3);
}

static void set_raw(tt_nt4_topics *topics, int topic) {
  tt_bytes_cut(&topics->value, 0);
  if (topics->raw.failed) return; /* the value before stands */
  tt_nt4_put_raw(&topics->value, topics->raw.data, topics->raw.size);
  set(topics, topic, &topics->value);
}

static bool wanted(const tt_nt4_topics *topics, int topic) {
  return topic >= 0 && topics->sink->is_wanted(topics->sink, topic);
}

static void set_double(tt_nt4_topics *topics, int topic, double value) {
  tt_bytes_cut(&topics->value, 0);
  tt_nt4_put_double(&topics->value, value);
  set(topics, topic, &topics->value);
}

static void set_on_field(tt_nt4_topics *topics, int topic, const double pose[7]) {
  double w = pose[3], x = pose[4], y = pose[5], z = pose[6];
  double heading = atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
  tt_bytes_cut(&topics->value, 0);
  tt_nt4_put_array(&topics->value, 3);
  tt_nt4_put_double(&topics->value, pose[0]);
  tt_nt4_put_double(&topics->value, pose[1]);
  tt_nt4_put_double(&topics->value, heading * DEGREES);
  set(topics, topic, &topics->value);
}

static void set_robot(tt_nt4_topics *topics, const tt_view *view, int index) {
  const tt_model *model = topics->model;
  const robot_topics *robot = &topics->robots[index];
  int root = model->robots[index].root_body;
  double pose[7];
  pose_of(topics, view, root, pose);
  if (wanted(topics, robot->on_field)) set_on_field(topics, robot->on_field, pose);
  if (wanted(topics, robot->pose)) {
    tt_bytes_cut(&topics->raw, 0);
    put_pose(&topics->raw, pose);
    set_raw(topics, robot->pose);
  }
  if (!wanted(topics, robot->components)) return;
  tt_bytes_cut(&topics->raw, 0);
  for (int i = 1; i < model->body_count; i++) {
    if (model->bodies[i].robot != index || i == root) continue;
    relative_pose(view, root, i, pose);
    put_pose(&topics->raw, pose);
  }
  set_raw(topics, robot->components);
}

static void set_pieces(tt_nt4_topics *topics, const tt_view *view, int kind) {
  double pose[7];
  if (!wanted(topics, topics->pieces[kind])) return;
  tt_bytes_cut(&topics->raw, 0);
  for (int i = 1; i < topics->model->body_count; i++) {
    if (topics->model->bodies[i].piece != kind) continue;
    pose_of(topics, view, i, pose);
    put_pose(&topics->raw, pose);
  }
  set_raw(topics, topics->pieces[kind]);
}

void tt_nt4_topics_set(tt_nt4_topics *topics, const tt_view *view) {
  for (int i = 0; i < topics->model->robot_count; i++) set_robot(topics, view, i);
  for (int kind = 1; kind <= TT_PIECE_KINDS; kind++) set_pieces(topics, view, kind);
  for (int i = 0; i < topics->signal_count; i++)
    if (wanted(topics, topics->signal_topics[i]))
      set_double(topics, topics->signal_topics[i],
                 tt_signal_read(&topics->signals[i].signal, view));
  for (int i = 0; topics->command_topics && i < topics->model->command_count; i++)
    if (wanted(topics, topics->command_topics[i]))
      set_double(topics, topics->command_topics[i], view->commands[i]);
  if (topics->options.station) set_station(topics);
  if (wanted(topics, topics->time)) set_double(topics, topics->time, view->time);
}
