/* station.c: a driver station as JSON. */
#include "halsim/station.h"

#include "base/json.h"
#include "halsim/message.h"

#include <stdio.h>
#include <string.h>

size_t tt_halsim_write_station(const tt_driver_station *station, char *text, size_t capacity) {
  struct json_object *data = json_object_new_object();
  if (!data) return 0;
  tt_json_add_bool(data, ">enabled", station->enabled);
  tt_json_add_bool(data, ">autonomous", station->mode == TT_MODE_AUTONOMOUS);
  tt_json_add_bool(data, ">test", station->mode == TT_MODE_TEST);
  tt_json_add_int(data, ">robotMode", station->mode); /* season 2027 instead of the two */
  tt_json_add_bool(data, ">estop", station->estop);
  tt_json_add_bool(data, ">fms", false);
  tt_json_add_bool(data, ">ds", true);
  tt_json_add_text(data, ">station", tt_station_name(station->station));
  tt_json_add_double(data, ">match_time", station->match_time);
  tt_json_add_text(data, ">game_data", station->game_data);
  tt_json_add_bool(data, ">new_data", true);
  return tt_halsim_write_data("DriverStation", "", data, text, capacity);
}

size_t tt_halsim_write_joystick(int index, const tt_ds_joystick *joystick, char *text,
                                size_t capacity) {
  char device[12];
  struct json_object *data = json_object_new_object();
  if (!data) return 0;
  struct json_object *axes = tt_json_add_array(data, ">axes");
  for (int i = 0; i < joystick->axis_count; i++)
    json_object_array_add(axes, json_object_new_double(joystick->axes[i]));
  struct json_object *buttons = tt_json_add_array(data, ">buttons");
  for (int i = 0; i < joystick->button_count; i++)
    json_object_array_add(buttons, json_object_new_boolean((joystick->buttons >> i) & 1));
  struct json_object *povs = tt_json_add_array(data, ">povs");
  for (int i = 0; i < joystick->pov_count; i++)
    json_object_array_add(povs, json_object_new_int(joystick->povs[i]));
  snprintf(device, sizeof device, "%d", index);
  return tt_halsim_write_data("Joystick", device, data, text, capacity);
}

bool tt_halsim_same_joystick(const tt_ds_joystick *a, const tt_ds_joystick *b) {
  if (a->axis_count != b->axis_count || a->pov_count != b->pov_count ||
      a->button_count != b->button_count || a->buttons != b->buttons)
    return false;
  for (int i = 0; i < a->axis_count; i++)
    if (a->axes[i] != b->axes[i]) return false;
  return memcmp(a->povs, b->povs, a->pov_count * sizeof *a->povs) == 0;
}

bool tt_halsim_is_let_go(const tt_driver_station *station, bool *held) {
  bool was_held = *held;
  *held = station->estop || !station->enabled;
  return was_held && !*held;
}
