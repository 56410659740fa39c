/* sharp_original.c: config/robotConfig.yml as settings of ours. See sharp_original.h.
 *
 * The file changed its shape over the years, so a thing may stand in several places. TABLE below lists them; what it doesn't
 * list is shape, looks and sensors of later vehicles, and means nothing here.
 */
#include "control/sharp_original.h"

#include "game/match.h"

#include "control/sharp_core.h"
#include "host/wire_keys.h"
#include "net/address.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PLACES 4
#define PATH_BYTES 160
#define PI 3.14159265358979323846
#define INCH 0.0254

typedef enum item {
  JOYSTICK_IP,
  JOYSTICK_PORT,
  CORE_IP,
  CORE_JOYSTICK_PORT,
  CORE_VEHICLE_PORT,
  VEHICLE_IP,
  VEHICLE_PORT,
  WIDTH,
  DEPTH,
  WIDTH_CHANNEL,
  WHEEL_WIDTH,
  WHEEL_TRACK,
  WHEEL_RADIUS,
  LEFT_SPEED,
  RIGHT_SPEED,
  WEIGHT,
  BELT_LENGTH,
  DRUM_RADIUS,
  LIFT_SPEED,
  START_X,
  START_Y,
  START_THETA,
  ALLIANCE,
  ITEM_COUNT
} item;

#define DRIVETRAIN(rest)                                                                           \
  "sim.constants.drivetrain." rest, "vehicle.constants.drivetrain." rest,                          \
      "sim.vehicle.drivetrain." rest
#define ELEVATOR(rest) "sim.constants.elevator." rest, "vehicle.constants.elevator." rest
#define START(rest)                                                                                \
  "sim.initialState.drivetrain." rest, "vehicle.initialState.drivetrain." rest,                    \
      "players[].initialPosition." rest

/** Where each stands; "players[]" is the player's own element. */
static const char *const TABLE[ITEM_COUNT][MOST_PLACES] = {
    [JOYSTICK_IP] = {"joystick.ip"},
    [JOYSTICK_PORT] = {"joystick.port"},
    [CORE_IP] = {"core.ip"},
    [CORE_JOYSTICK_PORT] = {"core.joystickPort"},
    [CORE_VEHICLE_PORT] = {"core.vehiclePort", "core.simPort"},
    [VEHICLE_IP] = {"sim.ip", "sim.comms.ip", "vehicle.ip"},
    [VEHICLE_PORT] = {"sim.port", "sim.comms.corePort", "vehicle.port"},
    [WIDTH] = {DRIVETRAIN("width")},
    [DEPTH] = {DRIVETRAIN("depth")},
    [WIDTH_CHANNEL] = {DRIVETRAIN("widthChannel")},
    [WHEEL_WIDTH] = {DRIVETRAIN("wheelWidth")},
    [WHEEL_TRACK] = {DRIVETRAIN("wheelTrack")},
    [WHEEL_RADIUS] = {DRIVETRAIN("wheelRadius")},
    [LEFT_SPEED] = {DRIVETRAIN("motor.maxSpeed"), "sim.vehicle.drivetrain.leftMotorMaxSpeed"},
    [RIGHT_SPEED] = {DRIVETRAIN("motor.maxSpeed"), "sim.vehicle.drivetrain.rightMotorMaxSpeed"},
    [WEIGHT] = {"sim.vehicle.weight", DRIVETRAIN("weight")},
    [BELT_LENGTH] = {ELEVATOR("belt.length")},
    [DRUM_RADIUS] = {ELEVATOR("motor.radius")},
    [LIFT_SPEED] = {ELEVATOR("motor.maxSpeed")},
    [START_X] = {START("x")},
    [START_Y] = {START("y")},
    [START_THETA] = {START("theta")},
    [ALLIANCE] = {"players[].alliance"},
};

#define DISTANCE 0.1, 1e4, "length in inches; give 0.1 to 10000"
#define PART_OF_WIDTH 0, 1e4, "width in inches; give 0 to 10000"
#define DRIVE_SPEED 1, 1e5, "speed in turns a minute; give 1 to 100000"
#define POSITION -1e6, 1e6, "number"

/** What numbers make sense; a file that serves all three programs is refused by all that read the number. */
static const struct {
  double lower, upper;
  const char *wanted;
} RANGES[ITEM_COUNT] = {
    [JOYSTICK_PORT] = {1, 65535, "port"},
    [CORE_JOYSTICK_PORT] = {1, 65535, "port"},
    [CORE_VEHICLE_PORT] = {1, 65535, "port"},
    [VEHICLE_PORT] = {1, 65535, "port"},
    [WIDTH] = {DISTANCE},
    [DEPTH] = {DISTANCE},
    [WIDTH_CHANNEL] = {PART_OF_WIDTH},
    [WHEEL_WIDTH] = {PART_OF_WIDTH},
    [WHEEL_TRACK] = {DISTANCE},
    [WHEEL_RADIUS] = {0.1, 100, "radius in inches; give 0.1 to 100"},
    [LEFT_SPEED] = {DRIVE_SPEED},
    [RIGHT_SPEED] = {DRIVE_SPEED},
    [WEIGHT] = {1, 1e5, "weight in pounds; give 1 to 100000"},
    [BELT_LENGTH] = {DISTANCE},
    [DRUM_RADIUS] = {0.01, 100, "radius in inches; give 0.01 to 100"},
    [LIFT_SPEED] = {0.01, 1e5, "speed in turns a minute; give 0.01 to 100000"},
    [START_X] = {POSITION},
    [START_Y] = {POSITION},
    [START_THETA] = {POSITION},
};

typedef struct reader {
  const tt_document *document;
  const tt_sharp_reader *by;
  const tt_node *nodes[ITEM_COUNT]; /**< NULL: the file doesn't say */
  const char *places[ITEM_COUNT];   /**< where each was found */
  tt_sharp_original *to;
  tt_error *error;
} reader;

/* --- finding --- */

static const tt_node *player_of(const tt_node *players, int player) {
  bool there = players->kind == TT_NODE_SEQUENCE && player <= players->child_count;
  return there ? players->children[player - 1] : NULL;
}

static const tt_node *find(const tt_node *node, const char *path, int player) {
  while (node != NULL && *path != '\0') {
    char key[64];
    size_t size = strcspn(path, ".[");
    snprintf(key, sizeof key, "%.*s", (int)size, path);
    path += size;
    node = node->kind == TT_NODE_MAPPING ? tt_node_child(node, key) : NULL;
    if (node != NULL && *path == '[') {
      node = player_of(node, player);
      path += 2;
    }
    if (*path == '.') path++;
  }
  return node != NULL && node->kind == TT_NODE_SCALAR && !tt_node_empty(node) ? node : NULL;
}

static void find_all(reader *of) {
  for (int i = 0; i < ITEM_COUNT; i++)
    for (int k = 0; k < MOST_PLACES && TABLE[i][k] != NULL && of->nodes[i] == NULL; k++) {
      of->nodes[i] = find(of->document->root, TABLE[i][k], of->by->player);
      of->places[i] = TABLE[i][k];
    }
}

/* --- what means nothing --- */

/** Whether one of the places in TABLE is `path` or below it. */
static bool leads_somewhere(const char *path) {
  size_t size = strlen(path);
  for (int i = 0; i < ITEM_COUNT; i++)
    for (int k = 0; k < MOST_PLACES && TABLE[i][k] != NULL; k++)
      if (strncmp(TABLE[i][k], path, size) == 0 && strchr(".[", TABLE[i][k][size]) != NULL)
        return true; /* strchr also finds the end */
  return false;
}

/** Elements of a list have the same keys. */
static bool is_listed(const char *list, const char *path) {
  size_t size = strlen(path);
  if (size == 0) return true; /* an empty key: there is no name to say */
  for (const char *at = list; (at = strstr(at, path)) != NULL; at += size)
    if ((at == list || at[-1] == ' ') && strchr(",", at[size]) != NULL) return true;
  return false;
}

static void name_unused(tt_sharp_original *to, const char *path) {
  static const char more[] = ", and more";
  size_t used = strlen(to->unused);
  if (used > sizeof more && strcmp(to->unused + used - sizeof more + 1, more) == 0) return;
  bool fits = used + strlen(path) + 2 + sizeof more < sizeof to->unused;
  if (!fits) path = "and more";
  snprintf(to->unused + used, sizeof to->unused - used, "%s%s", used > 0 ? ", " : "", path);
}

static void list_unused(const tt_node *node, const char *path, tt_sharp_original *to) {
  for (int i = 0; i < node->child_count; i++) {
    const tt_node *child = node->children[i];
    char below[PATH_BYTES];
    if (node->kind == TT_NODE_SEQUENCE)
      snprintf(below, sizeof below, "%s[]", path);
    else
      snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "", child->key);
    if (leads_somewhere(below)) {
      list_unused(child, below, to);
    } else if (!is_listed(to->unused, below)) {
      name_unused(to, below);
    }
  }
}

/* --- reading --- */

static tt_status fail_item(const reader *of, item which, const char *wanted) {
  const tt_node *node = of->nodes[which];
  return tt_fail(of->error, TT_INVALID, "%s:%d: %s: '%.60s' is no %s", of->document->path,
                 node->line, of->places[which], node->text, wanted);
}

/** The number that the file gives; `*number` stays as it is where it doesn't. */
static tt_status read_number(const reader *of, item which, double *number) {
  if (of->nodes[which] == NULL) return TT_OK;
  char *end;
  const char *text = of->nodes[which]->text;
  double value = strtod(text, &end);
  if (end == text || *end != '\0' ||
      !(value >= RANGES[which].lower && value <= RANGES[which].upper))
    return fail_item(of, which, RANGES[which].wanted);
  *number = value;
  return TT_OK;
}

static tt_status add(const reader *of, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static tt_status add(const reader *of, const char *format, ...) {
  tt_sharp_original *to = of->to;
  char **grown = reallocarray(to->settings, (size_t)to->count + 1, sizeof *grown);
  if (grown == NULL) return tt_fail(of->error, TT_NOMEM, "out of memory");
  to->settings = grown;
  va_list arguments;
  va_start(arguments, format);
  int size = vasprintf(&grown[to->count], format, arguments);
  va_end(arguments);
  if (size < 0) return tt_fail(of->error, TT_NOMEM, "out of memory");
  to->count++;
  return TT_OK;
}

/** A setting of a number that the file gives; nothing where it doesn't. */
static tt_status add_number(const reader *of, item which, const char *path, const char *unit) {
  double number;
  if (of->nodes[which] == NULL) return TT_OK;
  TT_TRY(read_number(of, which, &number));
  return add(of, "%s=%.9g %s", path, number, unit);
}

static tt_status address(const reader *of, item ip, item port, int fallback,
                         char text[TT_ADDRESS_TEXT]) {
  double number = fallback;
  TT_TRY(read_number(of, port, &number));
  snprintf(text, TT_ADDRESS_TEXT, "%s:%d", of->nodes[ip] ? of->nodes[ip]->text : "127.0.0.1",
           (int)number + TT_PORTS_A_PLAYER * (of->by->player - 1));
  tt_address parsed;
  if (tt_address_parse(text, &parsed, NULL) == TT_OK) return TT_OK;
  return of->nodes[ip] != NULL ? fail_item(of, ip, "address, such as 127.0.0.1")
                               : fail_item(of, port, "port");
}

/** As a network has it, which knows no name. */
static const char *host_of(const reader *of, item ip) {
  const char *given = of->nodes[ip] ? of->nodes[ip]->text : "localhost";
  return strcmp(given, "localhost") == 0 ? "127.0.0.1" : given;
}

/** Who binds a public address names those that may speak. */
static tt_status add_allow(const reader *of, const char *key, const char *bound, item one,
                           item other) {
  tt_address parsed;
  if (tt_address_parse(bound, &parsed, NULL) != TT_OK || tt_address_is_loopback(&parsed))
    return TT_OK;
  return add(of, "%s=[%s/32, %s/32]", key, host_of(of, one), host_of(of, other));
}

/* --- the three programs --- */

typedef struct addresses {
  char joystick[TT_ADDRESS_TEXT], core_joystick[TT_ADDRESS_TEXT], core_vehicle[TT_ADDRESS_TEXT],
      vehicle[TT_ADDRESS_TEXT];
} addresses;

static tt_status read_addresses(const reader *of, addresses *to) {
  TT_TRY(address(of, JOYSTICK_IP, JOYSTICK_PORT, 2000, to->joystick));
  TT_TRY(address(of, CORE_IP, CORE_JOYSTICK_PORT, 4000, to->core_joystick));
  TT_TRY(address(of, CORE_IP, CORE_VEHICLE_PORT, 6000, to->core_vehicle));
  return address(of, VEHICLE_IP, VEHICLE_PORT, 8000, to->vehicle);
}

/** What traction control has to know of another vehicle: how fast its wheels turn, what the ground can do in terms of that,
 *  and what part of its motors' torque that takes. */
static tt_status add_traction(const reader *of) {
  const tt_sharp_core_settings own = tt_sharp_core_settings_default();
  const double own_rpm = own.full_speed * 60 / TT_SHARP_TICKS, own_radius = 3, own_weight = 106.483;
  double left = own_rpm, right = own_rpm, radius = own_radius, weight = own_weight;
  TT_TRY(read_number(of, LEFT_SPEED, &left));
  TT_TRY(read_number(of, RIGHT_SPEED, &right));
  TT_TRY(read_number(of, WHEEL_RADIUS, &radius));
  TT_TRY(read_number(of, WEIGHT, &weight));
  double rpm = fmax(left, right), speed = rpm * radius / (own_rpm * own_radius);
  double load = weight * radius / (own_weight * own_radius);
  TT_TRY(add(of, "traction.full_speed=%.9g", rpm / 60 * TT_SHARP_TICKS));
  if (left != right) { /* else one key is for both, also for who sets another */
    TT_TRY(add(of, "traction.left_full_speed=%.9g", left / 60 * TT_SHARP_TICKS));
    TT_TRY(add(of, "traction.right_full_speed=%.9g", right / 60 * TT_SHARP_TICKS));
  }
  TT_TRY(add(of, "traction.acceleration=%.9g", own.acceleration / speed));
  return add(of, "traction.headroom=%.9g", fmin(2 * TT_SHARP_FULL, own.headroom * load));
}

static tt_status add_core(const reader *of, const addresses *at) {
  TT_TRY(add(of, "joystick.bind=%s", at->core_joystick));
  TT_TRY(add(of, "joystick.peer=%s", at->joystick));
  TT_TRY(add(of, "vehicle.bind=%s", at->core_vehicle));
  TT_TRY(add(of, "vehicle.peer=%s", at->vehicle));
  TT_TRY(add_allow(of, "allow", at->core_joystick, JOYSTICK_IP, VEHICLE_IP));
  return add_traction(of);
}

static tt_status add_joystick(const reader *of, const addresses *at) {
  TT_TRY(add(of, "bind=%s", at->joystick));
  TT_TRY(add(of, "peer=%s", at->core_joystick));
  return add_allow(of, "allow", at->joystick, CORE_IP, CORE_IP);
}

/** The track is given, or what the frame's channels and the wheels leave of the width. */
static tt_status add_track(const reader *of) {
  if (of->nodes[WHEEL_TRACK] != NULL)
    return add_number(of, WHEEL_TRACK, "robots[0].measures.track.value", "in");
  if (of->nodes[WIDTH] == NULL || of->nodes[WIDTH_CHANNEL] == NULL ||
      of->nodes[WHEEL_WIDTH] == NULL)
    return TT_OK;
  double width = 0, channel = 0, wheel = 0;
  TT_TRY(read_number(of, WIDTH, &width));
  TT_TRY(read_number(of, WIDTH_CHANNEL, &channel));
  TT_TRY(read_number(of, WHEEL_WIDTH, &wheel));
  const double track = width - 2 * channel - wheel;
  if (track <= 0)
    return tt_fail(of->error, TT_INVALID,
                   "%s:%d: %s: '%.60s' leaves no track between channels of %.9g in and wheels of "
                   "%.9g in; give more",
                   of->document->path, of->nodes[WIDTH]->line, of->places[WIDTH],
                   of->nodes[WIDTH]->text, channel, wheel);
  return add(of, "robots[0].measures.track.value=%.9g in", track);
}

static tt_status add_alliance(const reader *of) {
  if (of->nodes[ALLIANCE] == NULL) return TT_OK;
  const char *text = of->nodes[ALLIANCE]->text;
  bool red = strcmp(text, "Red") == 0 || strcmp(text, "red") == 0;
  if (!red && strcmp(text, "Blue") != 0 && strcmp(text, "blue") != 0)
    return fail_item(of, ALLIANCE, "alliance; there are Red and Blue");
  return add(of, "robots[0].alliance=%s",
             tt_alliance_name(red ? TT_ALLIANCE_RED : TT_ALLIANCE_BLUE));
}

static tt_status add_wire(const reader *of, const addresses *at) {
  char allow[PATH_BYTES];
  snprintf(allow, sizeof allow, "%s.allow", of->by->wire);
  TT_TRY(add(of, "%s.bind=%s", of->by->wire, at->vehicle));
  TT_TRY(add(of, "%s.peer=%s", of->by->wire, at->core_vehicle));
  return add_allow(of, allow, at->vehicle, CORE_IP, CORE_IP);
}

static tt_status add_vehicle(const reader *of, const addresses *at) {
  static const struct {
    item which;
    const char *path, *unit;
  } numbers[] = {
      {WIDTH, "robots[0].measures.width.value", "in"},
      {DEPTH, "robots[0].measures.depth.value", "in"},
      {WHEEL_RADIUS, "robots[0].measures.wheel_radius.value", "in"},
      {WEIGHT, "robots[0].measures.mass.value", "lb"},
      {BELT_LENGTH, "robots[0].measures.lift_travel.value", "in"},
      {BELT_LENGTH, "robots[0].encoders.elevator_encoder.to", "in"},
      {LEFT_SPEED, "robots[0].motors.left_drive.free_speed", "rpm"},
      {RIGHT_SPEED, "robots[0].motors.right_drive.free_speed", "rpm"},
      {LIFT_SPEED, "robots[0].motors.elevator.free_speed", "rpm"},
      {DRUM_RADIUS, "robots[0].motors.elevator.drum_radius", "in"},
      {START_X, "robots[0].x", "in"},
      {START_Y, "robots[0].y", "in"},
      {START_THETA, "robots[0].heading", "deg"},
  };
  TT_TRY(add_wire(of, at));
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    TT_TRY(add_number(of, numbers[i].which, numbers[i].path, numbers[i].unit));
  TT_TRY(add_track(of));
  return add_alliance(of);
}

tt_status tt_sharp_original_read(const tt_document *document, const tt_sharp_reader *by,
                                 tt_sharp_original *original, tt_error *error) {
  *original = (tt_sharp_original){.count = 0};
  reader of = {.document = document, .by = by, .to = original, .error = error};
  addresses at;
  find_all(&of);
  list_unused(document->root, "", original);
  TT_TRY(read_addresses(&of, &at));
  switch (by->program) {
    case TT_SHARP_PROGRAM_CORE: return add_core(&of, &at);
    case TT_SHARP_PROGRAM_JOYSTICK: return add_joystick(&of, &at);
    case TT_SHARP_PROGRAM_VEHICLE: return add_vehicle(&of, &at);
  }
  return TT_OK;
}

void tt_sharp_original_free(tt_sharp_original *original) {
  for (int i = 0; i < original->count; i++) free(original->settings[i]);
  free(original->settings);
  *original = (tt_sharp_original){.count = 0};
}
