#include "web/live_order.h"

#include "base/json.h"

#include <glib.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEARTBEAT_PORT 2000 /* where the original's core expects its joystick */
#define DEFAULT_RATE 10     /* Hz */
#define LONGEST_LINE 90     /* bytes of each text of a trial */
#define LONGEST_TRIAL 1e9   /* s */

/* An order on its way from JSON. */
typedef struct reading {
  struct json_object *from;
  const char *type; /* of the order */
  const tt_live_counts *counts;
  tt_live_order *to;
  tt_error *error;
} reading;

static tt_status refuse(const reading *of, const char *key, const char *wanted) {
  return tt_fail(of->error, TT_INVALID, "%s: %s is to be %s", of->type, key, wanted);
}

/* ---- values ---- */

static bool finite_number(struct json_object *value, double *number) {
  if (!json_object_is_type(value, json_type_int) && !json_object_is_type(value, json_type_double))
    return false;
  *number = json_object_get_double(value);
  return isfinite(*number);
}

static bool index_below(struct json_object *value, int least, int count, int *index) {
  if (!json_object_is_type(value, json_type_int)) return false;
  int64_t number = json_object_get_int64(value);
  *index = number >= least && number < count ? (int)number : -1;
  return number >= least && number < count;
}

static tt_status read_number(const reading *of, const char *key, double fallback, double *number) {
  struct json_object *value;
  *number = fallback;
  if (!json_object_object_get_ex(of->from, key, &value) || finite_number(value, number))
    return TT_OK;
  return refuse(of, key, "a finite number");
}

static tt_status read_u32(const reading *of, const char *key, uint32_t *number) {
  double value;
  TT_TRY(read_number(of, key, 0, &value));
  if (value < 0 || value > UINT32_MAX) return refuse(of, key, "0 to 4294967295");
  *number = (uint32_t)value;
  return TT_OK;
}

/* −1 also where it is left out. */
static tt_status read_index(const reading *of, const char *key, int count, int *index) {
  struct json_object *value;
  *index = -1;
  if (!json_object_object_get_ex(of->from, key, &value) || index_below(value, -1, count, index))
    return TT_OK;
  return tt_fail(of->error, TT_INVALID, "%s: there is no such %s", of->type, key);
}

/* Terminated; false where it is no text or does not fit. */
static bool copy_text(struct json_object *value, char *text, size_t size) {
  if (!json_object_is_type(value, json_type_string)) return false;
  size_t length = (size_t)json_object_get_string_len(value);
  if (length >= size || strlen(json_object_get_string(value)) != length) return false;
  memcpy(text, json_object_get_string(value), length + 1);
  return true;
}

/* ---- orders ---- */

static tt_status read_acknowledge(const reading *of) {
  of->to->kind = TT_ORDER_ACKNOWLEDGE;
  return read_u32(of, "sequence", &of->to->sequence);
}

static tt_status read_subscribe(const reading *of) {
  size_t length;
  struct json_object *list = tt_json_list(of->from, "signals", &length);
  of->to->kind = TT_ORDER_SUBSCRIBE;
  TT_TRY(read_u32(of, "number", &of->to->subscribe.number));
  TT_TRY(read_number(of, "rate", DEFAULT_RATE, &of->to->subscribe.rate));
  if (of->to->subscribe.rate <= 0) return refuse(of, "rate", "more than 0 Hz");
  if (length > TT_LIVE_MOST_SIGNALS) return refuse(of, "signals", "at most 256 ids");
  for (size_t i = 0; i < length; i++) {
    int *signal = &of->to->subscribe.signals[of->to->subscribe.count++];
    if (!index_below(json_object_array_get_idx(list, i), 0, of->counts->signals, signal))
      return tt_fail(of->error, TT_INVALID, "subscribe: there is no such signal");
  }
  return TT_OK;
}

static tt_status read_control(const reading *of) {
  static const struct {
    const char *action;
    tt_mail_kind kind;
    double value; /* NAN: the order's own */
  } actions[] = {
      {"pause", TT_MAIL_PAUSE, 1},      {"resume", TT_MAIL_PAUSE, 0}, {"step", TT_MAIL_STEP, NAN},
      {"speed", TT_MAIL_SPEED, NAN},    {"reset", TT_MAIL_RESET, 0},  {"stop", TT_MAIL_STOP_ALL, 1},
      {"release", TT_MAIL_STOP_ALL, 0}, {"seek", TT_MAIL_SEEK, NAN},
  };
  struct json_object *named;
  char action[16];
  of->to->kind = TT_ORDER_CONTROL;
  TT_TRY(read_index(of, "robot", of->counts->robots, &of->to->control.robot));
  TT_TRY(read_number(of, "value", 1, &of->to->control.value));
  bool given = json_object_object_get_ex(of->from, "action", &named) &&
               copy_text(named, action, sizeof action);
  for (size_t i = 0; given && i < sizeof actions / sizeof *actions; i++) {
    if (strcmp(actions[i].action, action) != 0) continue;
    of->to->control.kind = actions[i].kind;
    if (!isnan(actions[i].value)) of->to->control.value = actions[i].value;
    double value = of->to->control.value;
    if (actions[i].kind == TT_MAIL_SPEED && (value < 0.001 || value > 1000))
      return refuse(of, "value", "a factor of 0.001 to 1000");
    if (actions[i].kind == TT_MAIL_STEP && (value < 1 || value > 1e6))
      return refuse(of, "value", "1 to 1,000,000 ticks");
    return TT_OK;
  }
  return refuse(of, "action", "pause, resume, step, speed, reset, stop, release or seek");
}

static tt_status read_command(const reading *of) {
  size_t length;
  struct json_object *list = tt_json_list(of->from, "values", &length);
  of->to->kind = TT_ORDER_COMMAND;
  if (!list || length > TT_LIVE_MOST_COMMANDS)
    return refuse(of, "values", "a list of at most 512 [id, number]");
  for (size_t i = 0; i < length; i++) {
    struct json_object *pair = json_object_array_get_idx(list, i);
    int *command = &of->to->command.values[i].command;
    if (!json_object_is_type(pair, json_type_array) || json_object_array_length(pair) != 2 ||
        !finite_number(json_object_array_get_idx(pair, 1), &of->to->command.values[i].value))
      return refuse(of, "each of values", "[id, finite number]");
    if (!index_below(json_object_array_get_idx(pair, 0), 0, of->counts->commands, command))
      return tt_fail(of->error, TT_INVALID, "command: there is no such command");
  }
  of->to->command.count = (int)length;
  uint32_t epoch;
  TT_TRY(read_u32(of, "epoch", &epoch));
  bool given = json_object_object_get_ex(of->from, "epoch", NULL);
  of->to->command.meant_for = given ? (uint64_t)epoch + 1 : 0;
  return TT_OK;
}

static tt_status read_monitor(const reading *of) {
  of->to->kind = TT_ORDER_MONITOR;
  return read_index(of, "wire", of->counts->wires, &of->to->wire);
}

static tt_status read_contacts(const reading *of) {
  struct json_object *value;
  of->to->kind = TT_ORDER_CONTACTS;
  of->to->on = json_object_object_get_ex(of->from, "on", &value) && json_object_get_boolean(value);
  return TT_OK;
}

/* −1…1 as the wire has it. */
static int stick(struct json_object *value) {
  double deflection;
  if (!finite_number(value, &deflection)) return 0;
  return (int)lround(TT_SHARP_FULL * fmax(-1, fmin(1, deflection)));
}

static void read_controls(const reading *of, const char *key, int first, int count, bool sticks) {
  size_t length;
  struct json_object *list = tt_json_list(of->from, key, &length);
  for (int i = 0; i < count && (size_t)i < length; i++) {
    struct json_object *value = json_object_array_get_idx(list, (size_t)i);
    of->to->joystick.values[first + i] = sticks ? stick(value) : json_object_get_boolean(value);
  }
}

static void read_button(const reading *of, const char *key, int control) {
  struct json_object *pressed;
  if (json_object_object_get_ex(of->from, key, &pressed))
    of->to->joystick.values[control] = json_object_get_boolean(pressed);
}

/* A control that is left out is let go of. */
static tt_status read_joystick(const reading *of) {
  struct json_object *core;
  of->to->kind = TT_ORDER_JOYSTICK;
  if (json_object_object_get_ex(of->from, "core", &core) && core &&
      !copy_text(core, of->to->joystick.core, sizeof of->to->joystick.core))
    return refuse(of, "core", "an address as 127.0.0.1:4000, or null");
  double port;
  TT_TRY(read_number(of, "port", HEARTBEAT_PORT, &port));
  if (port < 1 || port > 65535) return refuse(of, "port", "1 to 65535");
  of->to->joystick.port = (int)port;
  read_controls(of, "axes", TT_JOYSTICK_LEFT_X, 4, true);
  read_controls(of, "dpad", TT_JOYSTICK_UP, 4, false);
  read_controls(of, "buttons", TT_JOYSTICK_A, 4, false);
  read_button(of, "back", TT_JOYSTICK_BACK);
  read_button(of, "select", TT_JOYSTICK_SELECT);
  read_button(of, "start", TT_JOYSTICK_START);
  return TT_OK;
}

/* ---- driver stations ---- */

static tt_status name_station(const reading *of, tt_ds_order_kind kind, const char *text) {
  tt_ds_order *to = &of->to->station;
  tt_robot_mode mode = TT_MODE_TELEOP;
  tt_station station = TT_STATION_RED1;
  if (kind == TT_DS_MODE && !tt_robot_mode_read(text, &mode))
    return refuse(of, "value", "autonomous, teleop or test");
  if (kind == TT_DS_STATION && !tt_station_read(text, &station))
    return refuse(of, "value", "red1, red2, red3, blue1, blue2 or blue3");
  if (kind == TT_DS_MODE) to->value = (int)mode;
  if (kind == TT_DS_STATION) to->value = (int)station;
  if (kind == TT_DS_GAME_DATA) snprintf(to->text, sizeof to->text, "%s", text);
  return TT_OK;
}

static tt_status read_station(const reading *of) {
  enum { NAMED = -1 }; /* the order's own value, a text */
  static const struct {
    const char *action;
    tt_ds_order_kind kind;
    int value;
  } actions[] = {
      {"enable", TT_DS_ENABLE, 1}, {"disable", TT_DS_ENABLE, 0}, {"mode", TT_DS_MODE, NAMED},
      {"estop", TT_DS_ESTOP, 1},   {"release", TT_DS_ESTOP, 0},  {"place", TT_DS_STATION, NAMED},
      {"match", TT_DS_MATCH, 1},   {"end", TT_DS_MATCH, 0},      {"data", TT_DS_GAME_DATA, NAMED},
  };
  tt_ds_order *to = &of->to->station;
  struct json_object *value;
  char action[16], text[TT_DS_TEXT] = "";
  of->to->kind = TT_ORDER_STATION;
  TT_TRY(read_index(of, "robot", of->counts->robots, &to->robot));
  if (json_object_object_get_ex(of->from, "value", &value) && !copy_text(value, text, sizeof text))
    return refuse(of, "value", "a text of at most 63 bytes");
  bool given = json_object_object_get_ex(of->from, "action", &value) &&
               copy_text(value, action, sizeof action);
  for (size_t i = 0; given && i < sizeof actions / sizeof *actions; i++) {
    if (strcmp(actions[i].action, action) != 0) continue;
    to->kind = actions[i].kind;
    if (actions[i].value == NAMED) return name_station(of, to->kind, text);
    to->value = actions[i].value;
    return TT_OK;
  }
  return refuse(of, "action", "enable, disable, mode, estop, release, place, data, match or end");
}

static tt_status read_stick(const reading *of) {
  size_t axes, buttons, povs;
  struct json_object *list;
  tt_ds_order *to = &of->to->station;
  tt_ds_joystick *stick = &to->joystick;
  *to = (tt_ds_order){.kind = TT_DS_JOYSTICK};
  of->to->kind = TT_ORDER_STATION;
  TT_TRY(read_index(of, "robot", of->counts->robots, &to->robot));
  if (!json_object_object_get_ex(of->from, "stick", &list) ||
      !index_below(list, 0, TT_DS_JOYSTICKS, &to->value))
    return refuse(of, "stick", "0 to 5");
  list = tt_json_list(of->from, "axes", &axes);
  if (axes > TT_DS_AXES) return refuse(of, "axes", "at most 12 numbers");
  for (size_t i = 0; i < axes; i++)
    if (!finite_number(json_object_array_get_idx(list, i), &stick->axes[i]) ||
        fabs(stick->axes[i]) > 1)
      return refuse(of, "each of axes", "−1 to 1");
  list = tt_json_list(of->from, "buttons", &buttons);
  if (buttons > TT_DS_BUTTONS) return refuse(of, "buttons", "at most 32 switches");
  for (size_t i = 0; i < buttons; i++)
    if (json_object_get_boolean(json_object_array_get_idx(list, i))) stick->buttons |= 1u << i;
  list = tt_json_list(of->from, "povs", &povs);
  if (povs > TT_DS_POVS) return refuse(of, "povs", "at most 12 angles");
  for (size_t i = 0; i < povs; i++) {
    int degrees;
    if (!index_below(json_object_array_get_idx(list, i), -1, 360, &degrees))
      return refuse(of, "each of povs", "whole degrees, 0 to 359, or −1");
    stick->povs[i] = (int16_t)degrees;
  }
  stick->axis_count = (uint8_t)axes;
  stick->button_count = (uint8_t)buttons;
  stick->pov_count = (uint8_t)povs;
  return TT_OK;
}

/* ---- trials and phantoms ---- */

/* What people wrote, on one line and not too long; "" where it is left out. The caller's to g_free(). */
static char *read_line(const reading *of, const char *key) {
  struct json_object *value;
  const char *text = "";
  if (json_object_object_get_ex(of->from, key, &value) &&
      json_object_is_type(value, json_type_string))
    text = json_object_get_string(value);
  size_t length = strlen(text);
  if (length > LONGEST_LINE)
    for (length = LONGEST_LINE; (text[length] & 0xc0) == 0x80;) length--; /* whole characters */
  char *line = g_strndup(text, length);
  for (char *c = line; *c; c++)
    if ((unsigned char)*c < ' ') *c = ' ';
  return line;
}

/* The trial is the page's: who drives, and what starts and stops it. The run only notes it. */
static tt_status read_trial(const reading *of) {
  double time;
  TT_TRY(read_number(of, "time", 0, &time));
  char *action = read_line(of, "action");
  char *why = read_line(of, "why"), *driver = read_line(of, "driver");
  char *text = of->to->trial;
  size_t size = sizeof of->to->trial;
  of->to->kind = TT_ORDER_TRIAL;
  if (!strcmp(action, "start"))
    snprintf(text, size, "started by %s, driver %s", why, driver);
  else if (!strcmp(action, "stop"))
    snprintf(text, size, "stopped by %s after %.3f s, driver %s", why,
             fmax(0, fmin(time, LONGEST_TRIAL)), driver);
  else if (!strcmp(action, "void"))
    snprintf(text, size, "void: %s", why);
  g_free(action);
  g_free(why);
  g_free(driver);
  return *text ? TT_OK : refuse(of, "action", "start, stop or void");
}

static tt_status read_phantom(const reading *of) {
  struct json_object *value;
  of->to->kind = TT_ORDER_ADD_PHANTOM;
  if (json_object_object_get_ex(of->from, "add", &value) &&
      copy_text(value, of->to->run, sizeof of->to->run))
    return TT_OK;
  of->to->kind = TT_ORDER_REMOVE_PHANTOM;
  if (json_object_object_get_ex(of->from, "remove", &value) &&
      index_below(value, 0, INT32_MAX, &of->to->phantom))
    return TT_OK;
  return tt_fail(of->error, TT_INVALID, "phantom: add a run, or remove an id");
}

/* ---- the text ---- */

static tt_status read_order(reading *of) {
  static const struct {
    const char *type;
    tt_status (*read)(const reading *of);
  } types[] = {
      {"ack", read_acknowledge},   {"subscribe", read_subscribe}, {"control", read_control},
      {"command", read_command},   {"monitor", read_monitor},     {"contacts", read_contacts},
      {"joystick", read_joystick}, {"phantom", read_phantom},     {"trial", read_trial},
      {"station", read_station},   {"stick", read_stick},
  };
  struct json_object *named;
  char type[16];
  if (json_object_object_get_ex(of->from, "type", &named) && copy_text(named, type, sizeof type))
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
      if (strcmp(types[i].type, type) != 0) continue;
      of->type = types[i].type;
      return types[i].read(of);
    }
  return tt_fail(of->error, TT_INVALID, "this program knows no such order");
}

tt_status tt_live_order_read(const char *text, size_t size, const tt_live_counts *counts,
                             tt_live_order *order, tt_error *error) {
  reading of = {.counts = counts, .to = order, .error = error};
  tt_error reason;
  memset(order, 0, sizeof *order);
  tt_status status = tt_json_read(text, size, TT_JSON_STRICT, &of.from, &reason);
  if (status != TT_OK)
    return tt_fail(error, status, "an order is one JSON object: %s", reason.text);
  status = read_order(&of);
  json_object_put(of.from);
  return status;
}
