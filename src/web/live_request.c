/* live_request.c: what a page asks: decoded, checked, and put into the world's mailbox. */
#include "web/live_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_DEPTH 8

static void complain(tt_live_page *page, const char *text) {
  tt_live_page_say(page, tt_live_error(text));
}

/* ---- reading ---- */

static const char *text_of(struct json_object *from, const char *key) {
  struct json_object *value;
  if (!json_object_object_get_ex(from, key, &value) ||
      !json_object_is_type(value, json_type_string))
    return "";
  return json_object_get_string(value);
}

static bool is_number(struct json_object *value) {
  return json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double);
}

static double number_of(struct json_object *from, const char *key, double fallback) {
  struct json_object *value;
  if (!json_object_object_get_ex(from, key, &value) || !is_number(value)) return fallback;
  double number = json_object_get_double(value);
  return isfinite(number) ? number : fallback;
}

static int index_of(struct json_object *from, const char *key) {
  double number = number_of(from, key, -1);
  return number >= -1 && number < 1e6 ? (int)number : -1;
}

static bool flag_of(struct json_object *from, const char *key) {
  struct json_object *value;
  return json_object_object_get_ex(from, key, &value) && json_object_get_boolean(value);
}

/* ---- requests ---- */

static void post(tt_live_page *page, tt_mail_kind kind, int index, double value) {
  tt_mail mail = {.kind = kind, .index = index, .value = value, .source = "web"};
  if (tt_world_post(page->live->world, &mail) != TT_OK)
    complain(page, "the world is busy; try again");
}

static void acknowledge(tt_live_page *page, struct json_object *request) {
  double sequence = number_of(request, "sequence", -1);
  if (sequence > page->acknowledged && sequence <= page->sequence)
    page->acknowledged = (uint32_t)sequence;
}

static void subscribe(tt_live_page *page, struct json_object *request) {
  tt_live_subscription *plot = &page->plot;
  struct json_object *list;
  int known;
  const tt_signal_entry *entries = tt_names_signals(tt_world_names(page->live->world), &known);
  double rate = number_of(request, "rate", 10);
  plot->number = (uint32_t)number_of(request, "number", 0);
  plot->period = rate > 0 ? 1 / rate : 0.1;
  plot->next = 0;
  plot->count = 0;
  plot->lost = 0;
  g_array_set_size(plot->samples, 0);
  if (!json_object_object_get_ex(request, "signals", &list) ||
      !json_object_is_type(list, json_type_array))
    return;
  for (size_t i = 0; i < json_object_array_length(list); i++) {
    int id = json_object_get_int(json_object_array_get_idx(list, i));
    if (id < 0 || id >= known || plot->count == TT_LIVE_MOST_SIGNALS) {
      plot->count = 0;
      complain(page, "subscribe: an unknown signal, or more than 256");
      return;
    }
    plot->signals[plot->count++] = entries[id].signal;
  }
}

static void control(tt_live_page *page, struct json_object *request) {
  static const struct {
    const char *action;
    tt_mail_kind kind;
    double value; /* NAN: the request's own */
  } actions[] = {
      {"pause", TT_MAIL_PAUSE, 1},      {"resume", TT_MAIL_PAUSE, 0}, {"step", TT_MAIL_STEP, NAN},
      {"speed", TT_MAIL_SPEED, NAN},    {"reset", TT_MAIL_RESET, 0},  {"stop", TT_MAIL_STOP_ALL, 1},
      {"release", TT_MAIL_STOP_ALL, 0}, {"seek", TT_MAIL_SEEK, NAN},
  };
  const char *action = text_of(request, "action");
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
    if (strcmp(actions[i].action, action) != 0) continue;
    double value = isnan(actions[i].value) ? number_of(request, "value", 1) : actions[i].value;
    post(page, actions[i].kind, index_of(request, "robot"), value);
    return;
  }
  complain(page, "control: an unknown action");
}

static void command(tt_live_page *page, struct json_object *request) {
  struct json_object *list;
  if (!json_object_object_get_ex(request, "values", &list) ||
      !json_object_is_type(list, json_type_array))
    return;
  for (size_t i = 0; i < json_object_array_length(list); i++) {
    struct json_object *pair = json_object_array_get_idx(list, i);
    if (!json_object_is_type(pair, json_type_array) || json_object_array_length(pair) != 2 ||
        !is_number(json_object_array_get_idx(pair, 1))) {
      complain(page, "command: values are [id, number] pairs");
      return;
    }
    int id = json_object_get_int(json_object_array_get_idx(pair, 0));
    if (id < 0 || id >= page->live->model->command_count) {
      complain(page, "command: there is no such command");
      return;
    }
    post(page, TT_MAIL_COMMAND, id, json_object_get_double(json_object_array_get_idx(pair, 1)));
  }
}

static void monitor(tt_live_page *page, struct json_object *request) {
  page->monitor = index_of(request, "wire");
  post(page, TT_MAIL_TAP, page->monitor, 0);
}

static void show_contacts(tt_live_page *page, struct json_object *request) {
  page->contacts = flag_of(request, "on");
}

static void obey(tt_live_page *page, struct json_object *request) {
  static const struct {
    const char *type;
    void (*handle)(tt_live_page *page, struct json_object *request);
  } types[] = {
      {"ack", acknowledge},
      {"subscribe", subscribe},
      {"control", control},
      {"command", command},
      {"monitor", monitor},
      {"contacts", show_contacts},
      {"joystick", tt_live_joystick_set},
      {"phantom", tt_live_phantom_request},
  };
  const char *type = text_of(request, "type");
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (strcmp(types[i].type, type) != 0) continue;
    types[i].handle(page, request);
    return;
  }
  complain(page, "this program does not know such a request");
}

void tt_live_request(tt_live_page *page, const char *text, size_t size) {
  struct json_tokener *tokener = json_tokener_new_ex(MOST_DEPTH);
  struct json_object *request = tokener ? json_tokener_parse_ex(tokener, text, (int)size) : NULL;
  if (request && json_object_is_type(request, json_type_object))
    obey(page, request);
  else
    complain(page, "a request is a JSON object");
  json_object_put(request);
  if (tokener) json_tokener_free(tokener);
}
