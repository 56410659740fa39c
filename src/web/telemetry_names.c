/* telemetry_names.c: /telemetry/devices, /telemetry/attributes and /telemetry/handling: what things are called, and
 * what becomes of values.
 */
#include "base/json.h"
#include "telemetry/text.h"
#include "web/body.h"
#include "web/telemetry_routes_internal.h"

#include <math.h>
#include <string.h>

void tt_telemetry_names_respond(const tt_web_request *request, struct json_object *object) {
  const char *text = json_object_to_json_string_ext(
      object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
  tt_web_respond(request, 200, "application/json", text, strlen(text));
  json_object_put(object);
}

/* --- what was set, answered once it is stored --- */

/** µs that an answer waits for the store. */
#define STORED_PATIENCE 5000000

typedef struct set_job {
  tt_collector *collector;
  char *body;
} set_job;

static void free_job(void *context) {
  set_job *job = context;
  tt_collector_release(job->collector);
  g_free(job->body);
  g_free(job);
}

static void answer_stored(void *context, tt_web_answer *answer) {
  const set_job *job = context;
  answer->status = tt_collector_wait_stored(job->collector, STORED_PATIENCE, &answer->error);
  if (answer->status == TT_OK) g_string_append(answer->body, job->body);
}

/** As a message is acknowledged: whoever was told that it is set finds it so after a kill, too. */
static void respond_stored(tt_telemetry_routes *routes, const tt_web_request *request,
                           struct json_object *object) {
  set_job *job = g_new(set_job, 1);
  *job = (set_job){.collector = routes->collector,
                   .body = g_strdup(json_object_to_json_string_ext(
                       object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE))};
  json_object_put(object);
  tt_collector_hold(job->collector);  // the thread that waits may outlive us
  tt_web_respond_later(request, answer_stored, job, free_job);
}

/** The body as a JSON object, or NULL after an error was answered. */
static struct json_object *read_body(const tt_web_request *request) {
  GBytes *bytes = soup_message_body_flatten(soup_server_message_get_request_body(request->message));
  struct json_object *object;
  tt_error error;
  tt_status status = tt_web_read_json(bytes, &object, &error);
  if (status != TT_OK) tt_web_respond_error(request, status, error.text);
  g_bytes_unref(bytes);
  return object;
}

static struct json_object *device_json(const tt_device_info *info) {
  struct json_object *object = json_object_new_object();
  tt_json_add_text(object, "device", info->identifier);
  tt_json_add_text(object, "name", info->name);
  tt_json_add_int(object, "attributes", info->attributes);
  tt_json_add_int(object, "epoch", info->epoch);
  char time[TT_ISO_SIZE];
  tt_iso_format(time, info->last_time);
  tt_json_add_text(object, "last_sample", info->last_time ? time : NULL);
  if (info->silence < 0)
    tt_json_add(object, "silence", NULL);
  else
    tt_json_add_double(object, "silence", (double)info->silence / 1e6);
  tt_json_add_int(object, "clock_offset_us", info->offset);
  tt_json_add_double(object, "clock_drift_ppm", round(info->drift * 1e9) / 1e3);
  tt_json_add_uint(object, "messages", info->messages);
  tt_json_add_uint(object, "values", info->values);
  return object;
}

static void add_handling(struct json_object *object, const tt_handling *handling) {
  tt_json_add_text(object, "type", tt_value_type_names[handling->type]);
  tt_json_add_text(object, "mode", tt_value_mode_names[handling->mode]);
  tt_json_add_text(object, "unit", handling->unit);
  tt_json_add_double(object, "scale", handling->scale);
  tt_json_add_double(object, "offset", handling->offset);
  tt_json_add_double(object, "min_interval", handling->min_interval);
  tt_json_add_double(object, "retention", handling->retention);
}

static struct json_object *attribute_json(const tt_attribute_info *info) {
  struct json_object *object = json_object_new_object();
  tt_json_add_text(object, "attribute", info->identifier);
  tt_json_add_text(object, "name", info->name);
  tt_json_add_int(object, "devices", info->devices);
  add_handling(object, &info->handling);
  return object;
}

/** True: `rest` names no single thing, and the list was answered. */
static bool respond_list(tt_telemetry_routes *routes, const tt_web_request *request, bool devices) {
  if (*request->rest) return false;
  struct json_object *list = json_object_new_array();
  int count = devices ? tt_collector_device_count(routes->collector)
                      : tt_collector_attribute_count(routes->collector);
  for (int i = 0; i < count; i++) {
    tt_device_info device;
    tt_attribute_info attribute;
    if (devices && tt_collector_get_device(routes->collector, i, &device)) {
      json_object_array_add(list, device_json(&device));
      tt_device_info_clear(&device);
    } else if (!devices && tt_collector_get_attribute(routes->collector, i, &attribute)) {
      json_object_array_add(list, attribute_json(&attribute));
      tt_attribute_info_clear(&attribute);
    }
  }
  tt_telemetry_names_respond(request, list);
  return true;
}

/** The identifier of what the path names by it or by its human name; of what there is not, that is to become its identifier. The
 *  caller's to free. */
static char *identifier_of(tt_telemetry_routes *routes, const tt_web_request *request,
                           bool is_device) {
  tt_collector *collector = routes->collector;
  const char *named = request->rest;
  char *identifier = NULL;
  tt_device_info device;
  tt_attribute_info attribute;
  if (is_device &&
      tt_collector_get_device(collector, tt_collector_find_device(collector, named), &device)) {
    identifier = g_strdup(device.identifier);
    tt_device_info_clear(&device);
  } else if (!is_device &&
             tt_collector_get_attribute(collector, tt_collector_find_attribute(collector, named),
                                        &attribute)) {
    identifier = g_strdup(attribute.identifier);
    tt_attribute_info_clear(&attribute);
  }
  return identifier ? identifier : g_strdup(named);
}

/** `*text` becomes NULL where it is null or left out. */
static tt_status read_text(struct json_object *object, const char *key, const char **text,
                           tt_error *error) {
  struct json_object *value = NULL;
  json_object_object_get_ex(object, key, &value);
  bool given = json_object_is_type(value, json_type_string);
  *text = given ? json_object_get_string(value) : NULL;
  if (given && strlen(*text) != (size_t)json_object_get_string_len(value))
    return tt_fail(error, TT_INVALID, "%s has control characters", key);
  return !value || given ? TT_OK : tt_fail(error, TT_INVALID, "%s is to be a text or null", key);
}

static tt_status check_keys(struct json_object *object, const char *const *allowed,
                            tt_error *error) {
  json_object_object_foreach(object, key, value) {
    (void)value;
    bool known = false;
    for (int i = 0; allowed[i]; i++) known = known || !strcmp(key, allowed[i]);
    if (!known) return tt_fail(error, TT_INVALID, "'%.32s' is no key here", key);
  }
  return TT_OK;
}

static tt_status put_device(tt_telemetry_routes *routes, const char *identifier,
                            struct json_object *object, tt_error *error) {
  static const char *const keys[] = {"name", NULL};
  const char *name;
  TT_TRY(check_keys(object, keys, error));
  TT_TRY(read_text(object, "name", &name, error));
  return tt_collector_name_device(routes->collector, identifier, name, error);
}

static struct json_object *show_device(tt_telemetry_routes *routes, const char *identifier) {
  tt_device_info info;
  const int index = tt_collector_find_device(routes->collector, identifier);
  if (!tt_collector_get_device(routes->collector, index, &info)) return NULL;
  struct json_object *object = device_json(&info);
  tt_device_info_clear(&info);
  return object;
}

/** What a name or a handling is given to, by its identifier. */
typedef tt_status put_item(tt_telemetry_routes *routes, const char *identifier,
                           struct json_object *object, tt_error *error);
/** NULL: there is none. */
typedef struct json_object *show_item(tt_telemetry_routes *routes, const char *identifier);

static void handle_item(tt_telemetry_routes *routes, const tt_web_request *request, bool is_device,
                        put_item *put, show_item *show) {
  if (tt_removal_answer_delete(routes, request, is_device)) return;
  const bool changes = !strcmp(request->method, "PUT");
  if (!changes && respond_list(routes, request, is_device)) return;
  struct json_object *object = changes ? read_body(request) : NULL;
  if (changes && !object) return;
  tt_error error = {""};
  char *identifier = identifier_of(routes, request, is_device);  // its name may be another then
  tt_status status = changes ? put(routes, identifier, object, &error) : TT_OK;
  struct json_object *shown = status == TT_OK ? show(routes, identifier) : NULL;
  if (status != TT_OK)
    tt_web_respond_error(request, status, error.text);
  else if (!shown)
    tt_web_respond_error(request, TT_NOT_FOUND,
                         is_device ? "there is no such device" : "there is no such attribute");
  else if (changes)
    respond_stored(routes, request, shown);
  else
    tt_telemetry_names_respond(request, shown);
  g_free(identifier);
  json_object_put(object);
}

void tt_telemetry_names_handle_devices(void *context, const tt_web_request *request) {
  handle_item(context, request, true, put_device, show_device);
}

static tt_status read_choice(struct json_object *object, const char *key, const char *const *names,
                             int *choice, tt_error *error) {
  struct json_object *value;
  if (!json_object_object_get_ex(object, key, &value)) return TT_OK;
  const char *text = tt_json_text(object, key);
  for (int i = 0; names[i]; i++) {
    if (strcmp(text, names[i])) continue;
    *choice = i;
    return TT_OK;
  }
  char *list = g_strjoinv(", ", (char **)names);
  tt_status status = tt_fail(error, TT_INVALID, "%s is one of %s", key, list);
  g_free(list);
  return status;
}

static tt_status read_number(struct json_object *object, const char *key, double *number,
                             tt_error *error) {
  struct json_object *value;
  if (!json_object_object_get_ex(object, key, &value)) return TT_OK;
  if (!json_object_is_type(value, json_type_double) && !json_object_is_type(value, json_type_int)) {
    return tt_fail(error, TT_INVALID, "%s is to be a number", key);
  }
  *number = json_object_get_double(value);
  return TT_OK;
}

/** Sets the keys that the object has, and leaves the others. */
static tt_status read_handling(struct json_object *object, tt_handling *handling, tt_error *error) {
  static const char *const keys[] = {"name",   "type",         "mode",      "unit", "scale",
                                     "offset", "min_interval", "retention", NULL};
  int type = (int)handling->type, mode = (int)handling->mode;
  TT_TRY(check_keys(object, keys, error));
  TT_TRY(read_choice(object, "type", tt_value_type_names, &type, error));
  TT_TRY(read_choice(object, "mode", tt_value_mode_names, &mode, error));
  TT_TRY(read_number(object, "scale", &handling->scale, error));
  TT_TRY(read_number(object, "offset", &handling->offset, error));
  TT_TRY(read_number(object, "min_interval", &handling->min_interval, error));
  TT_TRY(read_number(object, "retention", &handling->retention, error));
  handling->type = (tt_value_type)type;
  handling->mode = (tt_value_mode)mode;
  if (json_object_object_get_ex(object, "unit", NULL)) {
    const char *unit;
    TT_TRY(read_text(object, "unit", &unit, error));
    g_free(handling->unit);
    handling->unit = g_strdup(unit);
  }
  return TT_OK;
}

/** What the object makes of a handling, fit to be set for the pattern; its strings become the handling's. */
static tt_status read_fit_handling(const char *pattern, struct json_object *object,
                                   tt_handling *handling, tt_error *error) {
  g_free(handling->pattern);
  handling->pattern = g_strdup(pattern);
  TT_TRY(read_handling(object, handling, error));
  return tt_handling_check(handling, error);
}

/** A name, a handling for just this attribute, or both. Where one is refused, nothing is changed. */
static tt_status put_attribute(tt_telemetry_routes *routes, const char *identifier,
                               struct json_object *object, tt_error *error) {
  bool named = json_object_object_get_ex(object, "name", NULL);
  int index = tt_collector_find_attribute(routes->collector, identifier);
  tt_attribute_info info = {.handling = tt_handling_default()};
  tt_collector_get_attribute(routes->collector, index, &info);
  const char *name;
  tt_status status = read_text(object, "name", &name, error);
  if (status == TT_OK) status = read_fit_handling(identifier, object, &info.handling, error);
  if (status == TT_OK && !named && index < 0 && tt_handling_is_pattern(identifier))
    status = tt_fail(error, TT_INVALID,
                     "'%s' is a pattern, and no attribute's identifier: PUT /telemetry/handling/%s",
                     identifier, identifier);
  if (status == TT_OK && (named || index < 0))
    status = tt_collector_name_attribute(routes->collector, identifier, name, error);
  if (status == TT_OK && json_object_object_length(object) > named)
    status = tt_collector_set_handling(routes->collector, &info.handling, error);
  tt_attribute_info_clear(&info);
  return status;
}

static struct json_object *show_attribute(tt_telemetry_routes *routes, const char *identifier) {
  tt_attribute_info info;
  const int index = tt_collector_find_attribute(routes->collector, identifier);
  if (!tt_collector_get_attribute(routes->collector, index, &info)) return NULL;
  struct json_object *object = attribute_json(&info);
  tt_attribute_info_clear(&info);
  return object;
}

void tt_telemetry_names_handle_attributes(void *context, const tt_web_request *request) {
  handle_item(context, request, false, put_attribute, show_attribute);
}

static struct json_object *handling_json(const tt_handling *handling) {
  struct json_object *object = json_object_new_object();
  tt_json_add_text(object, "pattern", handling->pattern);
  add_handling(object, handling);
  return object;
}

static tt_status change_handling(tt_telemetry_routes *routes, const tt_web_request *request,
                                 bool *answered, tt_error *error) {
  if (!strcmp(request->method, "DELETE")) {
    return tt_collector_remove_handling(routes->collector, request->rest, error);
  }
  struct json_object *object = read_body(request);
  *answered = !object;
  if (!object) return TT_OK;
  tt_handling handling = tt_handling_default();
  tt_status status =
      json_object_object_get_ex(object, "name", NULL)
          ? tt_fail(error, TT_INVALID,
                    "name: what is set for a pattern has none; PUT /telemetry/attributes/"
                    "IDENTIFIER names an attribute")
          : read_fit_handling(request->rest, object, &handling, error);
  if (status == TT_OK) status = tt_collector_set_handling(routes->collector, &handling, error);
  tt_handling_clear(&handling);
  json_object_put(object);
  return status;
}

void tt_telemetry_names_handle_handling(void *context, const tt_web_request *request) {
  tt_telemetry_routes *routes = context;
  const bool changes = strcmp(request->method, "GET") && strcmp(request->method, "HEAD");
  if (changes) {
    tt_error error = {""};
    bool answered = false;
    tt_status status = change_handling(routes, request, &answered, &error);
    if (answered) return;
    if (status != TT_OK) {
      tt_web_respond_error(request, status, error.text);
      return;
    }
  }
  struct json_object *list = json_object_new_array();
  tt_list handlings = tt_collector_handlings(routes->collector);
  for (guint i = 0; i < handlings.len; i++) {
    json_object_array_add(list, handling_json(&tt_list_at(&handlings, tt_handling, i)));
  }
  tt_list_free(&handlings);
  if (changes)
    respond_stored(routes, request, list);
  else
    tt_telemetry_names_respond(request, list);
}
