/* inputs.c */
#include "inputs.h"

#include "base/json.h"
#include "hal.h"
#include "wire/halsim_step/frame.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STICKS 6
#define MOST_AXES 12
#define MOST_BUTTONS 64
#define MOST_STEP 1000000000 /* µs */

typedef enum sort { FLAG, WHOLE, NUMBER } sort;

/* What has channels, so many that a program has; 0: there is one of it, without a channel. The HAL's own functions write past
 * their arrays if they are given another. */
static struct input {
  const char *type, *key;
  int channels;
  sort sort;
  const char *function;
  void *set;
} inputs[] = {
    {"DIO", "value", 31, FLAG, "HALSIM_SetDIOValue", NULL},
    {"AI", "voltage", 8, NUMBER, "HALSIM_SetAnalogInVoltage", NULL},
    {"Encoder", "count", 8, WHOLE, "HALSIM_SetEncoderCount", NULL},
    {"Encoder", "period", 8, NUMBER, "HALSIM_SetEncoderPeriod", NULL},
    {"CTREPCM", "on", 63, FLAG, "HALSIM_SetCTREPCMCompressorOn", NULL},
    {"CTREPCM", "pressure_switch", 63, FLAG, "HALSIM_SetCTREPCMPressureSwitch", NULL},
    {"CTREPCM", "current", 63, NUMBER, "HALSIM_SetCTREPCMCompressorCurrent", NULL},
    {"RoboRIO", "fpga_button", 0, FLAG, "HALSIM_SetRoboRioFPGAButton", NULL},
    {"RoboRIO", "vin_voltage", 0, NUMBER, "HALSIM_SetRoboRioVInVoltage", NULL},
    {"RoboRIO", "vin_current", 0, NUMBER, "HALSIM_SetRoboRioVInCurrent", NULL},
    {"RoboRIO", "6v_voltage", 0, NUMBER, "HALSIM_SetRoboRioUserVoltage6V", NULL},
    {"RoboRIO", "6v_current", 0, NUMBER, "HALSIM_SetRoboRioUserCurrent6V", NULL},
    {"RoboRIO", "5v_voltage", 0, NUMBER, "HALSIM_SetRoboRioUserVoltage5V", NULL},
    {"RoboRIO", "5v_current", 0, NUMBER, "HALSIM_SetRoboRioUserCurrent5V", NULL},
    {"RoboRIO", "3v3_voltage", 0, NUMBER, "HALSIM_SetRoboRioUserVoltage3V3", NULL},
    {"RoboRIO", "3v3_current", 0, NUMBER, "HALSIM_SetRoboRioUserCurrent3V3", NULL},
    {"DriverStation", "enabled", 0, FLAG, "HALSIM_SetDriverStationEnabled", NULL},
    {"DriverStation", "autonomous", 0, FLAG, "HALSIM_SetDriverStationAutonomous", NULL},
    {"DriverStation", "test", 0, FLAG, "HALSIM_SetDriverStationTest", NULL},
    {"DriverStation", "robotMode", 0, WHOLE, "HALSIM_SetDriverStationRobotMode", NULL},
    {"DriverStation", "estop", 0, FLAG, "HALSIM_SetDriverStationEStop", NULL},
    {"DriverStation", "fms", 0, FLAG, "HALSIM_SetDriverStationFmsAttached", NULL},
    {"DriverStation", "ds", 0, FLAG, "HALSIM_SetDriverStationDsAttached", NULL},
    {"DriverStation", "match_time", 0, NUMBER, "HALSIM_SetDriverStationMatchTime", NULL},
    {"BuiltInAccel", "x", 1, NUMBER, "HALSIM_SetAccelerometerX", NULL},
    {"BuiltInAccel", "y", 1, NUMBER, "HALSIM_SetAccelerometerY", NULL},
    {"BuiltInAccel", "z", 1, NUMBER, "HALSIM_SetAccelerometerZ", NULL},
};
#define INPUTS (sizeof inputs / sizeof *inputs)

void inputs_find(void) {
  for (size_t i = 0; i < INPUTS; i++) inputs[i].set = hal_symbol(inputs[i].function);
}

/* --- numbers --- */

static bool number_of(struct json_object *value, double *number) {
  bool good = json_object_is_type(value, json_type_int) ||
              json_object_is_type(value, json_type_double) ||
              json_object_is_type(value, json_type_boolean);
  *number = good ? json_object_get_double(value) : 0;
  return good && isfinite(*number);
}

static int32_t whole_of(double number) {
  return number <= INT32_MIN ? INT32_MIN : number >= INT32_MAX ? INT32_MAX : (int32_t)number;
}

static void set_whole(const struct input *input, int32_t channel, int32_t value) {
  if (input->channels == 0) {
    void (*set)(int32_t);
    *(void **)&set = input->set;
    set(value);
  } else {
    void (*set)(int32_t, int32_t);
    *(void **)&set = input->set;
    set(channel, value);
  }
}

static void set_number(const struct input *input, int32_t channel, double value) {
  if (input->channels == 0) {
    void (*set)(double);
    *(void **)&set = input->set;
    set(value);
  } else {
    void (*set)(int32_t, double);
    *(void **)&set = input->set;
    set(channel, value);
  }
}

static void set(const char *type, int32_t channel, const char *key, struct json_object *value) {
  double number;
  if (!number_of(value, &number)) return;
  for (size_t i = 0; i < INPUTS; i++) {
    const struct input *input = &inputs[i];
    if (!input->set || strcmp(input->type, type) != 0 || strcmp(input->key, key) != 0) continue;
    if (input->channels > 0 && (channel < 0 || channel >= input->channels)) continue;
    if (input->sort == NUMBER)
      set_number(input, channel, number);
    else
      set_whole(input, channel, input->sort == FLAG ? number != 0 : whole_of(number));
  }
}

/* --- the driver station: texts, sticks --- */

static void set_station(struct json_object *value) {
  static const char *const stations[] = {"unknown", "red1",  "red2", "red3",
                                         "blue1",   "blue2", "blue3"};
  const char *name = json_object_get_string(value);
  for (int i = 0; name && hal.HALSIM_SetDriverStationAllianceStationId && i < 7; i++)
    if (strcmp(name, stations[i]) == 0) hal.HALSIM_SetDriverStationAllianceStationId(i);
}

static void set_game_data(struct json_object *value) {
  if (!hal.HALSIM_SetGameSpecificMessage || !json_object_is_type(value, json_type_string)) return;
  hal_string text = {json_object_get_string(value), (uintptr_t)json_object_get_string_len(value)};
  hal.HALSIM_SetGameSpecificMessage(&text);
}

static int list(struct json_object *data, const char *key, int most, double *values) {
  struct json_object *array;
  if (!json_object_object_get_ex(data, key, &array) || !json_object_is_type(array, json_type_array))
    return -1;
  size_t length = json_object_array_length(array);
  int count = length < (size_t)most ? (int)length : most;
  for (int i = 0; i < count; i++)
    if (!number_of(json_object_array_get_idx(array, (size_t)i), &values[i])) values[i] = 0;
  return count;
}

static void set_axes(int32_t stick, struct json_object *data) {
  double axes[MOST_AXES];
  int count = list(data, ">axes", MOST_AXES, axes);
  if (count < 0 || !hal.HALSIM_SetJoystickAxis) return;
  if (hal.HALSIM_SetJoystickAxisCount) hal.HALSIM_SetJoystickAxisCount(stick, count);
  if (hal.HALSIM_SetJoystickAxesAvailable)
    hal.HALSIM_SetJoystickAxesAvailable(stick, (1 << count) - 1);
  for (int i = 0; i < count; i++) hal.HALSIM_SetJoystickAxis(stick, i, axes[i]);
}

static void set_buttons(int32_t stick, struct json_object *data) {
  double buttons[MOST_BUTTONS];
  int count = list(data, ">buttons", MOST_BUTTONS, buttons);
  if (count < 0 || !hal.HALSIM_SetJoystickButtonsValue) return;
  uint64_t pressed = 0;
  for (int i = 0; i < count; i++)
    if (buttons[i] != 0) pressed |= (uint64_t)1 << i;
  if (hal.HALSIM_SetJoystickButtonCount) hal.HALSIM_SetJoystickButtonCount(stick, count);
  if (hal.HALSIM_SetJoystickButtonsAvailable)
    hal.HALSIM_SetJoystickButtonsAvailable(stick,
                                           count < 64 ? ((uint64_t)1 << count) - 1 : UINT64_MAX);
  hal.HALSIM_SetJoystickButtonsValue(stick, pressed);
}

/* From 2027 on a direction is a sum of 1 up, 2 right, 4 down, 8 left. */
static int32_t direction_of(double degrees) {
  static const int32_t sums[] = {1, 3, 2, 6, 4, 12, 8, 9};
  if (!hal.HALSIM_SetJoystickPOVsAvailable) return whole_of(degrees);
  if (degrees < 0) return 0;
  return sums[(int)fmod(degrees + 22.5, 360) / 45];
}

static void set_povs(int32_t stick, struct json_object *data) {
  double povs[MOST_AXES];
  int count = list(data, ">povs", MOST_AXES, povs);
  if (count < 0 || !hal.HALSIM_SetJoystickPOV) return;
  if (hal.HALSIM_SetJoystickPOVCount) hal.HALSIM_SetJoystickPOVCount(stick, count);
  if (hal.HALSIM_SetJoystickPOVsAvailable)
    hal.HALSIM_SetJoystickPOVsAvailable(stick, (1 << count) - 1);
  for (int i = 0; i < count; i++) hal.HALSIM_SetJoystickPOV(stick, i, direction_of(povs[i]));
}

/* --- simulated devices --- */

static void set_sim_value(int32_t device, const char *key, const char *stripped,
                          struct json_object *json) {
  int32_t handle = hal.HALSIM_GetSimValueHandle(device, stripped);
  if (!handle)
    handle = hal.HALSIM_GetSimValueHandle(device, key); /* a value's own name may begin so */
  double number;
  if (!handle || !number_of(json, &number)) return;
  hal_value value = {.type = 0};
  hal.HAL_GetSimValue(handle, &value);
  switch (value.type) {
    case HAL_BOOLEAN: value.data.v_boolean = number != 0; break;
    case HAL_DOUBLE: value.data.v_double = number; break;
    case HAL_LONG: value.data.v_long = json_object_get_int64(json); break;
    case HAL_ENUM:
    case HAL_INT: value.data.v_int = whole_of(number); break;
    default: return;
  }
  hal.HAL_SetSimValue(handle, &value);
}

/* 0: none of this name, or a library without such devices. */
static int32_t sim_device(const char *type, const char *name) {
  char whole[256];
  if (!hal.HALSIM_GetSimDeviceHandle || !hal.HALSIM_GetSimValueHandle || !hal.HAL_GetSimValue ||
      !hal.HAL_SetSimValue)
    return 0;
  bool plain = strcmp(type, "SimDevice") == 0;
  int size = snprintf(whole, sizeof whole, "%s%s%s", plain ? "" : type, plain ? "" : ":", name);
  return size < (int)sizeof whole ? hal.HALSIM_GetSimDeviceHandle(whole) : 0;
}

/* --- a message --- */

static void apply_data(const char *type, const char *name, struct json_object *data) {
  int32_t device = sim_device(type, name);
  char *end;
  long channel = strtol(name, &end, 10);
  bool built_in = strcmp(name, "BuiltInAccel") == 0;
  if (end == name || *end || channel > 255) channel = built_in ? 0 : -1;
  json_object_object_foreach(data, key, value) {
    const char *stripped = key + strspn(key, "<>");
    if (device)
      set_sim_value(device, key, stripped, value);
    else
      set(built_in ? name : type, (int32_t)channel, stripped, value);
  }
}

static void apply(struct json_object *message) {
  struct json_object *data;
  const char *type = tt_json_text(message, "type"), *name = tt_json_text(message, "device");
  if (!json_object_object_get_ex(message, "data", &data) ||
      !json_object_is_type(data, json_type_object))
    return;
  if (strcmp(type, "Joystick") == 0) {
    long stick = strtol(name, NULL, 10);
    if (stick < 0 || stick >= MOST_STICKS) return;
    set_axes((int32_t)stick, data);
    set_buttons((int32_t)stick, data);
    set_povs((int32_t)stick, data);
    return;
  }
  apply_data(type, name, data);
  if (strcmp(type, "DriverStation") != 0) return;
  struct json_object *value;
  if (json_object_object_get_ex(data, ">station", &value)) set_station(value);
  if (json_object_object_get_ex(data, ">game_data", &value)) set_game_data(value);
  if (json_object_object_get_ex(data, ">new_data", &value)) hal.HALSIM_NotifyDriverStationNewData();
}

/* The head of a frame; −1: none. */
static int64_t step_of(struct json_object *message) {
  struct json_object *data, *value;
  if (strcmp(tt_json_text(message, "type"), TT_STEP_TYPE) != 0 ||
      !json_object_object_get_ex(message, "data", &data) ||
      !json_object_object_get_ex(data, TT_STEP_KEY_STEP, &value) ||
      !json_object_is_type(value, json_type_int))
    return -1;
  int64_t microseconds = json_object_get_int64(value);
  return microseconds >= 0 && microseconds <= MOST_STEP ? microseconds : -1;
}

int64_t inputs_take(const uint8_t *body, size_t size) {
  struct json_tokener *tokener = json_tokener_new();
  int64_t microseconds = -1;
  for (size_t at = 0; tokener && at < size;) {
    const uint8_t *end = memchr(body + at, '\n', size - at);
    if (!end) break;
    size_t length = (size_t)(end - body) - at;
    json_tokener_reset(tokener);
    struct json_object *message =
        json_tokener_parse_ex(tokener, (const char *)body + at, (int)length);
    if (at == 0)
      microseconds = step_of(message);
    else if (microseconds < 0)
      size = 0; /* no more of this */
    else if (json_object_is_type(message, json_type_object))
      apply(message);
    json_object_put(message);
    at += length + 1;
  }
  json_tokener_free(tokener);
  return microseconds;
}
