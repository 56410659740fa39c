#include "foxglove/service.h"

#include "base/json.h"
#include "foxglove/scene.h"
#include "foxglove/server.h"
#include "host/wanted.h"
#include "host/watcher.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SOURCE "foxglove" /* in the journal */
#define NS 1e9

struct tt_foxglove_service {
  tt_world *world;
  const tt_model *model;
  const tt_signal_entry *signals;
  int signal_count;
  tt_field field;
  double begin, duration; /* s, where a kept run begins and ends; 0: there is none */
  tt_wanted *wanted;      /* what clients command */
  tt_watcher *watcher;
  tt_foxglove_server *server;
  int scene, transforms, events, first_signal; /* channels */
  bool commands;
  tt_bytes json; /* of the message at hand */
  bool seen;     /* the two below are known */
  uint64_t step; /* shown last, of all that were made */
  tt_foxglove_playing playing;
};

static uint64_t time_of(const tt_foxglove_service *service, uint64_t step) {
  return (uint64_t)llround(tt_model_time(service->model, step) * NS);
}

/* ---- what there is ---- */

/* What the world looks like is kept, a message an entity. */
static tt_status keep_scene(tt_foxglove_service *service) {
  const tt_scenery *scenery = tt_world_scenery(service->world);
  for (int body = 0; body < service->model->body_count; body++)
    for (int part = 0;; part++) {
      tt_bytes_cut(&service->json, 0);
      if (!tt_foxglove_put_entity(&service->json, service->model, scenery, body, part)) break;
      TT_TRY(tt_foxglove_keep(service->server, service->scene, &service->json));
    }
  return TT_OK;
}

static tt_status add_signals(tt_foxglove_service *service) {
  for (int i = 0; i < service->signal_count; i++) {
    char topic[1200], schema[256];
    snprintf(topic, sizeof topic, "/signals/%s", service->signals[i].name);
    snprintf(schema, sizeof schema,
             "{\"type\":\"object\",\"properties\":{\"value\":{\"type\":\"number\","
             "\"description\":\"%s\"}}}",
             tt_unit_si(service->signals[i].signal.dimension)->name);
    int channel = tt_foxglove_add_channel(service->server, topic, "tether.Signal", schema);
    if (channel < 0) return TT_NOMEM;
    if (i == 0) service->first_signal = channel;
  }
  return TT_OK;
}

static tt_status add_commands(tt_foxglove_service *service) {
  for (int i = 0; service->commands && i < service->model->command_count; i++) {
    const tt_command *command = &service->model->commands[i];
    if (tt_foxglove_add_parameter(service->server,
                                  tt_names_command(tt_world_names(service->world), i),
                                  command->lower, command->upper) < 0)
      return TT_NOMEM;
  }
  return TT_OK;
}

/* Of the world; of a number each, that JSON has under `key`. */
static const struct {
  const char *name;
  tt_mail_kind kind;
  const char *key; /* NULL: none, and the value is `fallback` */
  double fallback, lower, upper;
  bool kept, live;  /* where there is one */
  const char *done; /* NULL: where it is, then */
} controls[] = {
    {"/pause", TT_MAIL_PAUSE, NULL, 1, 0, 0, true, true, "paused"},
    {"/resume", TT_MAIL_PAUSE, NULL, 0, 0, 0, true, true, "resumed"},
    {"/step", TT_MAIL_STEP, "ticks", 1, 1, 1e6, true, true, "so many ticks are made while paused"},
    {"/speed", TT_MAIL_SPEED, "factor", 1, 0.001, 1000, true, true, "of real time"},
    {"/reset", TT_MAIL_RESET, NULL, 0, 0, 0, true, true, "back to the beginning"},
    {"/seek", TT_MAIL_SEEK, "time", 0, 0, 1e9, true, false, NULL},
    {"/stop", TT_MAIL_STOP_ALL, NULL, 1, 0, 0, false, true, "every command is safe"},
    {"/release", TT_MAIL_STOP_ALL, NULL, 0, 0, 0, false, true, "commands are taken again"},
};
#define CONTROLS ((int)(sizeof controls / sizeof *controls))

static bool is_offered(const tt_foxglove_service *service, int control) {
  return service->duration > 0 ? controls[control].kept : controls[control].live;
}

static tt_status add_controls(tt_foxglove_service *service) {
  for (int i = 0; i < CONTROLS; i++) {
    char schema[160] = "{\"type\":\"object\",\"properties\":{}}";
    if (!is_offered(service, i)) continue;
    if (controls[i].key)
      snprintf(schema, sizeof schema,
               "{\"type\":\"object\",\"properties\":{\"%s\":{\"type\":\"number\"}}}",
               controls[i].key);
    if (tt_foxglove_add_service(service->server, controls[i].name, schema) < 0) return TT_NOMEM;
  }
  return TT_OK;
}

static tt_status add_all(tt_foxglove_service *service, tt_error *error) {
  tt_foxglove_server *server = service->server;
  service->scene =
      tt_foxglove_add_channel(server, "/scene", "foxglove.SceneUpdate", tt_foxglove_scene_schema);
  service->transforms = tt_foxglove_add_channel(server, "/tf", "foxglove.FrameTransforms",
                                                tt_foxglove_transforms_schema);
  service->events =
      tt_foxglove_add_channel(server, "/events", "foxglove.Log", tt_foxglove_log_schema);
  bool made = service->scene >= 0 && service->transforms >= 0 && service->events >= 0;
  tt_status status = made ? add_signals(service) : TT_NOMEM;
  if (status == TT_OK) status = add_commands(service);
  if (status == TT_OK) status = add_controls(service);
  if (status == TT_OK) status = keep_scene(service);
  if (status == TT_OK) return TT_OK;
  return tt_fail(error, status, "foxglove: out of memory, or more than %d channels",
                 TT_FOXGLOVE_MOST_CHANNELS);
}

/* ---- what clients ask for ---- */

/* What was commanded before comes first. */
static bool post(tt_foxglove_service *service, tt_mail_kind kind, int index, double value) {
  tt_wanted_post(service->wanted);
  tt_mail mail = {.kind = kind, .index = index, .value = value, .source = SOURCE};
  return tt_world_post(service->world, &mail) == TT_OK;
}

static const char *why_not(void *context) {
  const tt_foxglove_service *service = context;
  tt_world_status status;
  tt_world_get_status(service->world, &status);
  return status.stopped ? "emergency stop: nothing is commanded until /release" : NULL;
}

static void on_parameter(void *context, int parameter, double value) {
  tt_foxglove_service *service = context;
  tt_wanted_set(service->wanted, parameter, value, 0);
}

static void on_released(void *context, int parameter) {
  tt_foxglove_service *service = context;
  tt_wanted_let_go(service->wanted, parameter);
}

/* The moment of a kept run to show, s: before its beginning and behind its end there is none. */
static double moment(const tt_foxglove_service *service, double time) {
  return fmax(service->begin, fmin(time, service->duration));
}

/* The number that a control takes, out of the request; nothing at all is as {}. False: `text` says what is wrong. */
static bool read_argument(int control, const char *json, size_t size, double *value, char *text,
                          size_t text_size) {
  struct json_object *request = NULL;
  tt_error why = {""};
  const char *wanted = controls[control].key;
  const double lower = controls[control].lower, upper = controls[control].upper;
  bool good = true;
  *value = controls[control].fallback;
  if (size == 0) return true;
  if (tt_json_read(json, size, TT_JSON_STRICT, &request, &why) != TT_OK) {
    snprintf(text, text_size, "%s", why.text);
    return false;
  }
  json_object_object_foreach(request, key, given) {
    good = wanted && strcmp(key, wanted) == 0 && tt_foxglove_number(given, value) &&
           *value >= lower && *value <= upper;
    if (!good) break;
  }
  json_object_put(request);
  if (!good && wanted)
    snprintf(text, text_size, "give %s, a number from %g to %g, and nothing else", wanted, lower,
             upper);
  else if (!good)
    snprintf(text, text_size, "give {}: there is nothing to choose");
  return good;
}

static bool on_call(void *context, int index, const char *json, size_t size, char *text,
                    size_t text_size) {
  tt_foxglove_service *service = context;
  int control = 0;
  double value;
  while (!is_offered(service, control) || index-- > 0)
    control++; /* the server knows its services */
  if (!read_argument(control, json, size, &value, text, text_size)) return false;
  const tt_mail_kind kind = controls[control].kind;
  if (kind == TT_MAIL_SEEK) value = moment(service, value);
  bool posted = post(service, kind, kind == TT_MAIL_RESET ? TT_NO_ROBOT : 0, value);
  if (!posted)
    snprintf(text, text_size, "the world is busy; try again");
  else if (kind == TT_MAIL_SEEK)
    snprintf(text, text_size, "at %g s", value);
  else
    snprintf(text, text_size, "%s", controls[control].done);
  return posted;
}

static void on_playback(void *context, const tt_foxglove_binary *request) {
  tt_foxglove_service *service = context;
  uint64_t time = time_of(service, service->step);
  double speed = request->speed;
  if (speed >= 0.001 && speed <= 1000)
    post(service, TT_MAIL_SPEED, 0, speed);
  else
    speed = 1;
  if (request->seeks) {
    const double to = moment(service, (double)request->time / NS);
    time = (uint64_t)llround(to * NS);
    post(service, TT_MAIL_SEEK, 0, to);
  }
  post(service, TT_MAIL_PAUSE, 0, request->pause);
  service->playing = request->pause ? TT_FOXGLOVE_PAUSED : TT_FOXGLOVE_PLAYING;
  tt_foxglove_server_playback(service->server, service->playing, time, speed, request->seeks,
                              request->id, request->id_size);
}

/* ---- what is shown ---- */

/* Of a kept run clients are told when it stands or goes on, whoever decided it. */
static void show_playing(tt_foxglove_service *service, uint64_t time) {
  tt_world_status status;
  tt_world_get_status(service->world, &status);
  bool ended = status.paused && (double)time / NS >= service->duration - 1e-6;
  tt_foxglove_playing playing = ended           ? TT_FOXGLOVE_ENDED
                                : status.paused ? TT_FOXGLOVE_PAUSED
                                                : TT_FOXGLOVE_PLAYING;
  if (playing == service->playing) return;
  service->playing = playing;
  tt_foxglove_server_playback(service->server, playing, time, status.speed, false, NULL, 0);
}

static void show_signals(tt_foxglove_service *service, const tt_view *view, bool news) {
  for (int i = 0; i < service->signal_count; i++) {
    int channel = service->first_signal + i;
    if (!tt_foxglove_is_wanted(service->server, channel, news)) continue;
    tt_bytes_cut(&service->json, 0);
    tt_foxglove_put_value(&service->json, tt_signal_read(&service->signals[i].signal, view));
    tt_foxglove_publish(service->server, channel, news, &service->json);
  }
}

static void show(void *context, const tt_view *view) {
  tt_foxglove_service *service = context;
  tt_foxglove_server *server = service->server;
  bool news = !service->seen || view->total_step != service->step;
  uint64_t time = time_of(service, view->total_step);
  if (tt_foxglove_client_count(server) > 0) {
    /* where time goes back, viewers begin anew */
    if (service->seen && view->total_step < service->step) tt_foxglove_repeat_kept(server);
    tt_foxglove_set_time(server, time);
    if (tt_foxglove_is_wanted(server, service->transforms, news)) {
      tt_bytes_cut(&service->json, 0);
      tt_foxglove_put_transforms(&service->json, view, &service->field, time);
      tt_foxglove_publish(server, service->transforms, news, &service->json);
    }
    show_signals(service, view, news);
    for (int i = 0; service->commands && i < service->model->command_count; i++)
      tt_foxglove_set_parameter(server, i, view->commands[i]);
  }
  service->step = view->total_step;
  service->seen = true;
  if (service->duration > 0) show_playing(service, time);
}

static void hear(void *context, const tt_told *told) {
  tt_foxglove_service *service = context;
  tt_bytes_cut(&service->json, 0);
  tt_foxglove_put_log(&service->json, time_of(service, service->step), told->source, told->text);
  tt_foxglove_publish(service->server, service->events, true, &service->json);
}

static void turn(void *context) {
  tt_foxglove_service *service = context;
  tt_wanted_post(service->wanted);
  tt_foxglove_flush(service->server);
}

/* ---- the beginning and the end ---- */

static void add_texts(struct json_object *to, const char *key, const char *const *texts) {
  struct json_object *list = tt_json_add_array(to, key);
  for (; list && *texts; texts++) json_object_array_add(list, json_object_new_string(*texts));
}

static void add_time(struct json_object *to, const char *key, double seconds) {
  struct json_object *time = json_object_new_object();
  int64_t ns = llround(seconds * NS);
  tt_json_add_int(time, "sec", ns / (int64_t)NS);
  tt_json_add_int(time, "nsec", ns % (int64_t)NS);
  tt_json_add(to, key, time);
}

/* SDKs call the controls of a kept run by two names. */
static struct json_object *describe(const tt_foxglove_service *service,
                                    const tt_foxglove_shown *shown) {
  const char *capabilities[8] = {"time", "services"};
  int count = 2;
  char text[64];
  uint64_t session = 0;
  if (service->commands) {
    capabilities[count++] = "parameters";
    capabilities[count++] = "parametersSubscribe";
    capabilities[count++] = "clientPublish";
  }
  if (shown->duration > 0) {
    capabilities[count++] = "playbackControl";
    capabilities[count++] = "rangedPlayback";
  }
  struct json_object *info = json_object_new_object();
  struct json_object *metadata = json_object_new_object();
  tt_json_add_text(info, "op", "serverInfo");
  snprintf(text, sizeof text, "Tether %s", TETHER_VERSION);
  tt_json_add_text(info, "name", text);
  add_texts(info, "capabilities", capabilities);
  add_texts(info, "supportedEncodings", (const char *const[]){"json", NULL});
  tt_json_add_text(metadata, "scene", shown->scene);
  tt_json_add(info, "metadata", metadata);
  if (getrandom(&session, sizeof session, 0) == (ssize_t)sizeof session) {
    snprintf(text, sizeof text, "%016llx", (unsigned long long)session);
    tt_json_add_text(info, "sessionId", text);
  }
  if (shown->duration > 0) {
    add_time(info, "dataStartTime", shown->begin);
    add_time(info, "dataEndTime", shown->duration);
  }
  return info;
}

static tt_status listen_on(tt_foxglove_service *service, const tt_foxglove_keys *keys,
                           const tt_foxglove_shown *shown, tt_error *error) {
  tt_error why;
  struct json_object *info = describe(service, shown);
  const char *text = info ? json_object_to_json_string_ext(info, JSON_C_TO_STRING_PLAIN) : NULL;
  tt_foxglove_options options = {
      .address = keys->listen,
      .allow = {.cidrs = (const char *const *)keys->allow, .count = (int)keys->allow_count},
      .info = text,
      .origins = (const char *const *)keys->origins,
      .origin_count = (int)keys->origin_count,
      .commands = service->commands,
      .playback = shown->duration > 0,
      .handler = {.why_not = why_not,
                  .on_parameter = on_parameter,
                  .on_released = on_released,
                  .on_call = on_call,
                  .on_playback = on_playback},
      .context = service};
  tt_status status = text ? tt_foxglove_server_open(tt_watcher_net(service->watcher), &options,
                                                    &service->server, &why)
                          : tt_fail(&why, TT_NOMEM, "out of memory");
  json_object_put(info);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "foxglove.listen: %s", why.text);
}

static tt_status start(tt_foxglove_service *service, const tt_foxglove_keys *keys,
                       const tt_foxglove_shown *shown, tt_error *error) {
  tt_watcher_options options = {.name = "foxglove",
                                .period = keys->period_seconds,
                                .show = show,
                                .hear = hear,
                                .turn = turn,
                                .context = service};
  service->watcher = tt_watcher_new(service->world, &options);
  if (!service->watcher) return tt_fail(error, TT_NOMEM, "out of memory");
  TT_TRY(listen_on(service, keys, shown, error));
  TT_TRY(add_all(service, error));
  return tt_watcher_start(service->watcher, error);
}

tt_status tt_foxglove_service_open(tt_world *world, const tt_foxglove_keys *keys,
                                   const tt_foxglove_shown *shown, tt_foxglove_service **out,
                                   tt_error *error) {
  *out = NULL;
  tt_foxglove_service *service = calloc(1, sizeof *service);
  if (!service) return tt_fail(error, TT_NOMEM, "out of memory");
  service->world = world;
  service->model = tt_world_model(world);
  service->signals = tt_names_signals(tt_world_names(world), &service->signal_count);
  service->field = shown->field;
  service->begin = shown->begin;
  service->duration = shown->duration;
  service->commands = keys->commands && shown->duration <= 0;
  service->wanted = tt_wanted_new(world, SOURCE);
  tt_status status = service->wanted ? start(service, keys, shown, error)
                                     : tt_fail(error, TT_NOMEM, "out of memory");
  if (status != TT_OK) {
    tt_foxglove_service_close(service);
    return status;
  }
  *out = service;
  return TT_OK;
}

const char *tt_foxglove_service_address(const tt_foxglove_service *service) {
  return tt_foxglove_server_address(service->server);
}

void tt_foxglove_service_close(tt_foxglove_service *service) {
  if (!service) return;
  tt_watcher_stop(service->watcher);
  tt_foxglove_server_close(service->server);
  tt_watcher_free(service->watcher);
  tt_wanted_free(service->wanted);
  tt_bytes_free(&service->json);
  free(service);
}
