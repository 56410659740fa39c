/* live_json.c: the texts of docs/web.md. json-c writes them, so that whatever a name holds is escaped. */
#include "base/json.h"
#include "record/describe.h"
#include "web/live_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct json_object *message(const char *type) {
  struct json_object *made = json_object_new_object();
  tt_json_add_text(made, "type", type);
  return made;
}

static GString *finish(struct json_object *object) {
  GString *text = g_string_new(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
  json_object_put(object);
  return text;
}

/* A text that was cut, came over a wire, or is of a kept run, need not be UTF-8; a page takes nothing else. */
static void add_valid_text(struct json_object *to, const char *key, const char *text) {
  char *valid = g_utf8_make_valid(text, -1);
  tt_json_add_text(to, key, valid);
  g_free(valid);
}

/* ---- hello and model ---- */

GString *tt_live_hello(const tt_live *live, tt_role role) {
  const tt_live_options *options = &live->options;
  struct json_object *hello = message("hello");
  tt_json_add_int(hello, "protocol", TT_LIVE_PROTOCOL);
  tt_json_add_text(hello, "version", TETHER_VERSION);
  tt_json_add_text(hello, "scene", options->scene);
  tt_json_add_text(hello, "description", options->description);
  tt_json_add_double(hello, "timestep", options->timestep);
  tt_json_add_double(hello, "tick", options->tick);
  tt_json_add_text(hello, "pace", options->pace);
  tt_json_add_bool(hello, "dynamics", options->dynamics);
  tt_json_add_text(hello, "token", live->token);
  tt_json_add_text(hello, "role", tt_role_names[role]);
  tt_json_add_text(hello, "recording", options->recording ? options->recording : "");
  struct json_object *replay = options->kept ? json_object_new_object() : NULL;
  if (replay) {
    tt_json_add_text(replay, "run", options->kept);
    tt_json_add_double(replay, "duration", options->kept_duration);
  }
  tt_json_add(hello, "replay", replay);
  const bool failed = options->refused && *options->refused;
  struct json_object *refused = failed ? json_object_new_object() : NULL;
  if (refused) {
    tt_json_add_text(refused, "scene", options->refused);
    tt_json_add_text(refused, "reason", options->refusal);
  }
  tt_json_add(hello, "refused", refused);
  return finish(hello);
}

GString *tt_live_model(const tt_live *live) {
  char *text = tt_describe_sim(tt_world_sim(live->world), &live->options.floor);
  GString *made = g_string_new(text);
  free(text);
  return made;
}

/* ---- wires ---- */

static void add_hex(struct json_object *to, const uint8_t *bytes, int size) {
  char *hex = g_malloc((gsize)size * 2 + 1);
  hex[0] = 0;
  for (int i = 0; i < size; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
  tt_json_add_text(to, "hex", hex);
  g_free(hex);
}

static void add_fields(struct json_object *to, const tt_wire *wire, bool incoming,
                       const uint8_t *bytes, int size, int whole) {
  enum { MOST = 512 };
  struct json_object *list = tt_json_add_array(to, "fields");
  tt_wire_field *fields = g_new0(tt_wire_field, MOST);
  tt_explanation found = {bytes, size, whole, fields, MOST, 0};
  wire->ops->explain(wire, incoming, &found);
  for (int i = 0; i < found.count; i++) {
    struct json_object *field = json_object_new_object();
    add_valid_text(field, "name", fields[i].name);
    add_valid_text(field, "value", fields[i].value);
    tt_json_add_text(field, "unit", fields[i].unit);
    tt_json_add_int(field, "offset", fields[i].offset);
    tt_json_add_int(field, "size", fields[i].size);
    tt_json_add_bool(field, "wrong", fields[i].wrong);
    json_object_array_add(list, field);
  }
  g_free(fields);
}

static struct json_object *bad_message(const tt_wire *wire, const tt_wire_stats *stats) {
  if (stats->bad_text[0] == 0) return NULL;
  struct json_object *bad = json_object_new_object();
  tt_json_add_text(bad, "peer", stats->bad_peer);
  tt_json_add_text(bad, "text", stats->bad_text);
  add_hex(bad, stats->bad_bytes, stats->bad_size);
  tt_json_add_int(bad, "size", stats->bad_whole);
  add_fields(bad, wire, true, stats->bad_bytes, stats->bad_size, stats->bad_whole);
  return bad;
}

static struct json_object *round_trip(const tt_wire_stats *stats) {
  if (stats->round_trips == 0) return NULL;
  struct json_object *figures = json_object_new_object();
  tt_json_add_double(figures, "last", 1e3 * stats->round_trip_last);
  tt_json_add_double(figures, "min", 1e3 * stats->round_trip_min);
  tt_json_add_double(figures, "mean", 1e3 * stats->round_trip_sum / (double)stats->round_trips);
  tt_json_add_double(figures, "max", 1e3 * stats->round_trip_max);
  return figures;
}

static struct json_object *describe_wire(tt_live *live, int index) {
  static const char *const states[] = {"waiting", "driving", "late", "silent"};
  const tt_wire *wire = tt_world_wire_at(live->world, index);
  tt_wire_stats stats;
  tt_wire_state state;
  tt_world_get_wire(live->world, index, &stats, &state);
  struct json_object *made = json_object_new_object();
  struct json_object *dropped = json_object_new_object();
  tt_json_add_text(made, "name", wire->name);
  tt_json_add_text(made, "protocol", wire->ops->protocol);
  tt_json_add_int(made, "robot", wire->robot);
  tt_json_add_text(made, "address", wire->ops->address(wire));
  tt_json_add_text(made, "state", states[state]);
  tt_json_add_text(made, "peer", stats.peer);
  tt_json_add_uint(made, "received", stats.received);
  tt_json_add_uint(made, "accepted", stats.accepted);
  tt_json_add_uint(made, "sent", stats.sent);
  tt_json_add_uint(made, "sendFailed", stats.send_failed);
  tt_json_add_uint(made, "late", stats.late);
  tt_json_add_uint(made, "repeated", stats.repeated);
  tt_json_add_uint(made, "watchdogTrips", stats.watchdog_trips);
  for (int i = 0; i < TT_DROP_COUNT; i++)
    if (stats.dropped[i]) tt_json_add_uint(dropped, tt_drop_text((tt_drop)i), stats.dropped[i]);
  tt_json_add(made, "dropped", dropped);
  tt_json_add(made, "bad", bad_message(wire, &stats));
  tt_json_add(made, "roundTrip", round_trip(&stats));
  return made;
}

/* ---- driver stations ---- */

static void add_sticks(struct json_object *to, const tt_driver_station *station) {
  struct json_object *list = tt_json_add_array(to, "sticks");
  for (int i = 0; i < TT_DS_JOYSTICKS; i++) {
    const tt_ds_joystick *stick = &station->joysticks[i];
    if (stick->axis_count || stick->button_count || stick->pov_count)
      json_object_array_add(list, json_object_new_int(i));
  }
}

static struct json_object *describe_station(tt_live *live, int robot) {
  tt_driver_station station;
  tt_world_get_driver_station(live->world, robot, &station);
  struct json_object *made = json_object_new_object();
  tt_json_add_bool(made, "enabled", station.enabled);
  tt_json_add_bool(made, "estop", station.estop);
  tt_json_add_text(made, "mode", tt_robot_mode_name(station.mode));
  tt_json_add_text(made, "place", tt_station_name(station.station));
  tt_json_add_double(made, "matchTime", station.match_time);
  add_valid_text(made, "data", station.game_data);
  add_sticks(made, &station);
  return made;
}

/* ---- status, events, messages ---- */

GString *tt_live_status(tt_live *live, const tt_live_page *page) {
  tt_world_status now;
  tt_world_get_status(live->world, &now);
  struct json_object *status = message("status");
  tt_json_add_double(status, "time", now.time);
  tt_json_add_uint(status, "step", now.step);
  tt_json_add_double(status, "factor", now.real_time_factor);
  tt_json_add_double(status, "speed", now.speed);
  tt_json_add_bool(status, "paused", now.paused);
  tt_json_add_bool(status, "stopped", now.stopped);
  tt_json_add_uint(status, "lateTicks", now.late_ticks);
  struct json_object *wires = tt_json_add_array(status, "wires");
  for (int i = 0; i < tt_world_wire_count(live->world); i++)
    json_object_array_add(wires, describe_wire(live, i));
  tt_json_add_text(status, "match", tt_match_period_name(now.period));
  struct json_object *stations = tt_json_add_array(status, "stations");
  for (int i = 0; i < live->model->robot_count; i++)
    json_object_array_add(stations, describe_station(live, i));
  tt_json_add_uint(status, "framesDropped", page->frames_dropped);
  tt_json_add_int(status, "pages", live->pages->len);
  return finish(status);
}

GString *tt_live_message(const tt_live *live, const tt_tapped *tapped) {
  int kept = tapped->size < TT_TAPPED_BYTES ? tapped->size : TT_TAPPED_BYTES;
  struct json_object *made = message("message");
  tt_json_add_int(made, "wire", tapped->wire);
  tt_json_add_bool(made, "incoming", tapped->incoming);
  tt_json_add_uint(made, "step", tapped->step);
  tt_json_add_int(made, "size", tapped->size);
  add_hex(made, tapped->bytes, kept);
  add_fields(made, tt_world_wire_at(live->world, tapped->wire), tapped->incoming, tapped->bytes,
             kept, tapped->size);
  return finish(made);
}

GString *tt_live_event_text(const tt_live_event *event) {
  struct json_object *made = message("event");
  tt_json_add_uint(made, "step", event->step);
  add_valid_text(made, "source", event->source);
  add_valid_text(made, "text", event->text);
  return finish(made);
}

GString *tt_live_error(const char *text) {
  struct json_object *made = message("error");
  tt_json_add_text(made, "text", text);
  return finish(made);
}
