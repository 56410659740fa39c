/* telemetry_routes.c: POST /telemetry and WebSocket /telemetry/in take messages; GET /telemetry.xml|.csv|.json gives
 * tables; WebSocket /telemetry/live gives samples as they come; /telemetry/devices, …/attributes and …/handling hold
 * names and handling. docs/telemetry.md and /openapi.json describe each.
 */
#include "web/telemetry_routes.h"

#include "core/log.h"
#include "telemetry/table.h"
#include "telemetry/text.h"
#include "web/pages.h"

#include <json-c/json.h>
#include <math.h>
#include <string.h>

#define SECOND 1000000
/** Of one POST, which may hold many messages. */
#define MAX_POST (16u << 20)
#define MAX_REFUSALS 100
/** Answers that a WebSocket's client may leave unread before it is cut. */
#define MAX_UNREAD 100000
/** Samples waiting for one live reader. */
#define LIVE_QUEUE 10000
/** A frame to a live reader is closed at this size. */
#define LIVE_FRAME 16384

struct tt_telemetry_routes {
  tt_web *web;
  tt_collector *collector;
  GPtrArray *waiting; /**< upload: answers that wait for the store. Web's thread */
  GPtrArray *inputs;  /**< input: open WebSockets. Web's thread */
  gint told;          /**< atomic: a look at what became durable is scheduled */
};

/* --- messages in --- */

/** A message source over HTTP: one POST or one WebSocket. */
typedef struct upload {
  tt_telemetry_routes *routes;
  SoupServerMessage *message;          /**< POST */
  SoupWebsocketConnection *connection; /**< WebSocket */
  tt_message_parser *parser;
  tt_origin origin;
  int64_t received;
  uint64_t ticket; /**< highest of its messages */
  uint64_t taken, refused;
  bool full;             /**< the store was behind: the rest was not taken */
  GString *refusals;     /**< JSON objects */
  GQueue answers;        /**< pending_ack, WebSocket: in order */
  tt_web_stream *stream; /**< WebSocket: what sends them */
} upload;

typedef struct pending_ack {
  uint64_t ticket;
  char *text;
} pending_ack;

static void free_ack(gpointer data) {
  pending_ack *ack = data;
  g_free(ack->text);
  g_free(ack);
}

/** A WebSocket's answers wait in order: each until its messages are durable and the client takes it. */
static void promise(upload *from, uint64_t ticket, char *text) {
  pending_ack *ack = g_new(pending_ack, 1);
  *ack = (pending_ack){ticket, text};
  g_queue_push_tail(&from->answers, ack);
  if (from->answers.length > MAX_UNREAD) tt_web_stream_close(from->stream, "answers are not read");
}

static void refuse_message(upload *from, const tt_message_refusal *refusal) {
  from->refused++;
  tt_collector_refused(from->routes->collector, from->connection ? "WebSocket" : "HTTP", refusal);
  if (from->refused > MAX_REFUSALS) return;
  if (from->refusals->len) g_string_append_c(from->refusals, ',');
  g_string_append_printf(from->refusals, "{\"line\":%lu,\"column\":%lu,\"reason\":", refusal->line,
                         refusal->column);
  tt_append_json(from->refusals, refusal->reason);
  g_string_append_c(from->refusals, '}');
}

static void on_refused(void *context, const tt_message_refusal *refusal) {
  refuse_message(context, refusal);
}

static void promise_ack(upload *from, const tt_message *message, uint64_t ticket) {
  char time[TT_MS_SIZE];
  GString *text = g_string_new("<ACK id=\"");
  tt_ms_format(time, message->time);
  tt_append_xml(text, message->device);
  g_string_append_printf(text, "\" time=\"%s\"/>\n", time);
  promise(from, ticket, g_string_free(text, FALSE));
}

static void on_message(void *context, const tt_message *message) {
  upload *from = context;
  tt_message wanted = *message;
  // A POST always waits for its answer.
  if (from->message) wanted.acknowledge = true;
  uint64_t ticket = 0;
  tt_error error;
  tt_status status = from->full ? TT_FULL
                                : tt_collector_take(from->routes->collector, &wanted, &from->origin,
                                                    from->received, &ticket, &error);
  if (status == TT_FULL) {
    from->full = true;
  } else if (status != TT_OK) {
    refuse_message(from, &(tt_message_refusal){.line = 1, .column = 1, .reason = error.text});
  } else {
    from->taken++;
    from->ticket = MAX(from->ticket, ticket);
    if (from->connection && message->acknowledge) promise_ack(from, message, ticket);
  }
}

static upload *upload_new(tt_telemetry_routes *routes) {
  static const tt_message_handler handler = {on_message, on_refused};
  tt_message_limits limits = tt_message_limits_default();
  upload *made = g_new0(upload, 1);
  made->routes = routes;
  made->parser = tt_message_parser_new(&limits, &handler, made);
  made->refusals = g_string_new(NULL);
  g_queue_init(&made->answers);
  return made;
}

static void upload_free(gpointer data) {
  upload *freed = data;
  tt_message_parser_free(freed->parser);
  g_string_free(freed->refusals, TRUE);
  g_queue_clear_full(&freed->answers, free_ack);
  if (freed->stream) tt_web_stream_unref(freed->stream);
  g_free(freed);
}

static void feed(upload *from, const void *bytes, size_t size) {
  from->received = tt_collector_now();
  tt_message_parser_feed(from->parser, bytes, size);
}

static void on_post_chunk(SoupServerMessage *message, GBytes *chunk, gpointer data) {
  (void)message;
  gsize size;
  const void *bytes = g_bytes_get_data(chunk, &size);
  feed(data, bytes, size);
}

/** The client went away before its answer. */
static void on_post_finished(SoupServerMessage *message, gpointer data) {
  upload *from = data;
  (void)message;
  g_ptr_array_remove_fast(from->routes->waiting, from);
}

static void begin_post(void *context, const tt_web_request *request) {
  if (strcmp(request->method, "POST")) return;
  upload *from = upload_new(context);
  from->message = request->message;
  soup_message_body_set_accumulate(soup_server_message_get_request_body(request->message), FALSE);
  g_object_set_data_full(G_OBJECT(request->message), "tether-upload", from, upload_free);
  g_signal_connect(request->message, "got-chunk", G_CALLBACK(on_post_chunk), from);
  g_signal_connect(request->message, "finished", G_CALLBACK(on_post_finished), from);
}

static void answer_post(upload *from) {
  unsigned status = from->full ? 503 : from->refused ? 400 : 200;
  GString *body = g_string_new(NULL);
  g_string_append_printf(
      body,
      "{\"stored\":%" G_GUINT64_FORMAT ",\"refused\":%" G_GUINT64_FORMAT ",\"reasons\":[%s]%s}\n",
      from->taken, from->refused, from->refusals->str,
      from->full ? ",\"error\":\"the store is behind; send the rest again\"" : "");
  if (from->full) {
    soup_message_headers_replace(soup_server_message_get_response_headers(from->message),
                                 "Retry-After", "1");
  }
  soup_server_message_set_status(from->message, status, NULL);
  soup_server_message_set_response(from->message, "application/json", SOUP_MEMORY_COPY, body->str,
                                   body->len);
  g_string_free(body, TRUE);
}

static void serve_page(const tt_web_request *request, const char *name) {
  size_t size;
  const char *type, *bytes = tt_page(name, &size, &type);
  if (bytes) {
    tt_web_respond(request, 200, type, bytes, size);
  } else {
    tt_web_respond_error(request, TT_NOT_FOUND, "there is nothing at this path");
  }
}

static void handle_telemetry(void *context, const tt_web_request *request) {
  tt_telemetry_routes *routes = context;
  upload *from = g_object_get_data(G_OBJECT(request->message), "tether-upload");
  if (!from) {
    serve_page(request, "telemetry.html");
    return;
  }
  tt_message_parser_end(from->parser);
  if (from->ticket <= tt_collector_durable(routes->collector)) {
    answer_post(from);
    return;
  }
  // A status says to libsoup that this is no WebSocket handshake gone wrong.
  soup_server_message_set_status(request->message, 200, NULL);
  soup_server_message_pause(request->message);
  g_ptr_array_add(routes->waiting, from);
}

/** Web's thread: answers everybody whose messages are durable now. */
static gboolean answer_waiting(gpointer data) {
  tt_telemetry_routes *routes = data;
  g_atomic_int_set(&routes->told, 0);
  uint64_t durable = tt_collector_durable(routes->collector);
  for (guint i = routes->waiting->len; i-- > 0;) {
    upload *from = g_ptr_array_index(routes->waiting, i);
    if (from->ticket > durable) continue;
    g_ptr_array_remove_index_fast(routes->waiting, i);
    answer_post(from);
    soup_server_message_unpause(from->message);
  }
  for (guint i = 0; i < routes->inputs->len; i++) {
    tt_web_stream_wake(((upload *)g_ptr_array_index(routes->inputs, i))->stream);
  }
  return G_SOURCE_REMOVE;
}

/** Store's thread. */
static void on_durable(void *context) {
  tt_telemetry_routes *routes = context;
  if (!g_atomic_int_compare_and_exchange(&routes->told, 0, 1)) return;
  GSource *source = g_idle_source_new();
  g_source_set_priority(source, G_PRIORITY_DEFAULT);
  g_source_set_callback(source, answer_waiting, routes, NULL);
  g_source_attach(source, tt_web_context(routes->web));
  g_source_unref(source);
}

static void on_input_message(SoupWebsocketConnection *connection, gint type, GBytes *bytes,
                             gpointer data) {
  (void)type;
  upload *from = data;
  gsize size;
  const void *text = g_bytes_get_data(bytes, &size);
  uint64_t refused = from->refused;
  feed(from, text, size);
  // Every frame is a document of its own or the next part of one; what was refused is said at once.
  if (from->refused != refused) {
    promise(from, 0, g_strdup_printf("{\"refused\":[%s]}", from->refusals->str));
    g_string_truncate(from->refusals, 0);
  }
  tt_web_stream_wake(from->stream);
  if (from->full && soup_websocket_connection_get_state(connection) == SOUP_WEBSOCKET_STATE_OPEN) {
    soup_websocket_connection_close(connection, 1013,
                                    "the store is behind; send again what was not acknowledged");
  }
}

static bool next_answer(void *context, GString *frame, bool *binary) {
  upload *from = context;
  pending_ack *ack = g_queue_peek_head(&from->answers);
  if (!ack || ack->ticket > tt_collector_durable(from->routes->collector)) return false;
  *binary = false;
  g_string_append(frame, ack->text);
  free_ack(g_queue_pop_head(&from->answers));
  return true;
}

static void input_closed(void *context) {
  upload *from = context;
  g_ptr_array_remove_fast(from->routes->inputs, from);
  g_signal_handlers_disconnect_by_data(from->connection, from);
  g_object_unref(from->connection);
  upload_free(from);
}

static void open_input(void *context, const tt_web_request *request,
                       SoupWebsocketConnection *connection) {
  static const tt_web_stream_source source = {next_answer, input_closed};
  tt_telemetry_routes *routes = context;
  upload *from = upload_new(routes);
  from->connection = g_object_ref(connection);
  from->stream = tt_web_stream_new(request, connection, &source, from);
  g_ptr_array_add(routes->inputs, from);
  g_signal_connect(connection, "message", G_CALLBACK(on_input_message), from);
}

/* --- tables out --- */

typedef struct table_job {
  tt_collector *collector;
  tt_table_query query;
} table_job;

static void free_job(void *context) {
  table_job *job = context;
  tt_table_query_clear(&job->query);
  g_free(job);
}

static tt_status produce_table(void *context, const tt_web_sink *sink) {
  table_job *job = context;
  tt_table_sink out = {sink->write, sink->sink};
  tt_error error = {""};
  tt_status status = tt_table_write(job->collector, &job->query, &out, &error);
  if (status != TT_OK && status != TT_CLOSED)
    tt_log_warning("telemetry: a table was cut off: %s", error.text);
  return status;
}

/** The query without the token, which is nobody's key but the server's. */
static char *without_token(const char *query) {
  GString *kept = g_string_new(NULL);
  char **pairs = g_strsplit(query ? query : "", "&", -1);
  for (char **pair = pairs; *pair; pair++) {
    if (!g_str_has_prefix(*pair, "token="))
      g_string_append_printf(kept, "%s%s", kept->len ? "&" : "", *pair);
  }
  g_strfreev(pairs);
  return g_string_free(kept, FALSE);
}

static void handle_table(void *context, const tt_web_request *request) {
  tt_telemetry_routes *routes = context;
  table_job *job = g_new0(table_job, 1);
  job->collector = routes->collector;
  tt_error error = {""};
  char *query = without_token(request->query);
  tt_status status = tt_table_query_parse(query, tt_collector_now(), &job->query, &error);
  g_free(query);
  if (status == TT_OK) status = tt_table_check(routes->collector, &job->query, &error);
  if (status != TT_OK) {
    tt_web_respond_error(request, status, error.text);
    free_job(job);
    return;
  }
  job->query.format = g_str_has_suffix(request->path, ".xml")   ? TT_TABLE_XML
                      : g_str_has_suffix(request->path, ".csv") ? TT_TABLE_CSV
                                                                : TT_TABLE_JSON;
  tt_web_respond_streaming(request, tt_table_content_type(job->query.format), produce_table, job,
                           free_job);
}

/* --- live --- */

typedef struct live_client {
  tt_telemetry_routes *routes;
  tt_live_reader *reader;
  tt_web_stream *stream;
  bool xml;
} live_client;

/** One sample a line, until the frame is full: {"lost":N} before what follows a gap. */
static bool next_live_frame(void *context, GString *frame, bool *binary) {
  live_client *client = context;
  *binary = false;
  while (frame->len < LIVE_FRAME) {
    uint64_t lost;
    tt_live_sample *sample = tt_live_next(client->reader, &lost);
    if (!sample) break;
    if (lost && client->xml)
      g_string_append_printf(frame, "<LOST samples=\"%" G_GUINT64_FORMAT "\"/>\n", lost);
    if (lost && !client->xml)
      g_string_append_printf(frame, "{\"lost\":%" G_GUINT64_FORMAT "}\n", lost);
    if (client->xml) {
      tt_live_append_xml(frame, sample);
    } else {
      tt_live_append_json(frame, sample);
    }
    g_string_append_c(frame, '\n');
    tt_live_sample_unref(sample);
  }
  return frame->len > 0;
}

static void live_closed(void *context) {
  live_client *client = context;
  if (client->reader) tt_collector_unsubscribe(client->routes->collector, client->reader);
  tt_web_stream_unref(client->stream);
  g_free(client);
}

static void wake_live(void *context) {
  live_client *client = context;
  tt_web_stream_wake(client->stream);
}

static void close_socket(SoupWebsocketConnection *connection, const char *reason) {
  char text[124];
  g_strlcpy(text, reason, sizeof text);
  soup_websocket_connection_close(connection, SOUP_WEBSOCKET_CLOSE_POLICY_VIOLATION, text);
}

/** /telemetry/live?device=…&fields=…&format=json (or xml) */
static void open_live(void *context, const tt_web_request *request,
                      SoupWebsocketConnection *connection) {
  tt_telemetry_routes *routes = context;
  tt_error error = {""};
  tt_table_query query;
  char *text = without_token(request->query);
  tt_status status = tt_table_query_parse(text, tt_collector_now(), &query, &error);
  g_free(text);
  if (status != TT_OK) {
    close_socket(connection, error.text);
    return;
  }
  live_client *client = g_new0(live_client, 1);
  client->routes = routes;
  client->xml = query.format == TT_TABLE_XML;
  static const tt_web_stream_source source = {next_live_frame, live_closed};
  client->stream = tt_web_stream_new(request, connection, &source, client);
  tt_live_filter filter = {(const char *const *)query.devices, (const char *const *)query.fields};
  client->reader =
      tt_collector_subscribe(routes->collector, &filter, LIVE_QUEUE, wake_live, client);
  tt_table_query_clear(&query);
  if (!client->reader) close_socket(connection, "too many live readers");
}

/* --- names and handling --- */

static void add_text(struct json_object *object, const char *key, const char *text) {
  json_object_object_add(object, key, text ? json_object_new_string(text) : NULL);
}

static void respond_json(const tt_web_request *request, struct json_object *object) {
  const char *text = json_object_to_json_string_ext(
      object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
  tt_web_respond(request, 200, "application/json", text, strlen(text));
  json_object_put(object);
}

/** The body as a JSON object, or NULL after an error was answered. */
static struct json_object *read_json(const tt_web_request *request) {
  GBytes *bytes = soup_message_body_flatten(soup_server_message_get_request_body(request->message));
  struct json_tokener *tokener = json_tokener_new_ex(8);
  json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
  gsize size;
  const char *text = g_bytes_get_data(bytes, &size);
  struct json_object *object = size ? json_tokener_parse_ex(tokener, text, (int)size) : NULL;
  enum json_tokener_error error = json_tokener_get_error(tokener);
  if (!json_object_is_type(object, json_type_object)) {
    tt_web_respond_error(request, TT_INVALID,
                         error == json_tokener_success || error == json_tokener_continue
                             ? "the body is to be one JSON object"
                             : json_tokener_error_desc(error));
    json_object_put(object);
    object = NULL;
  }
  json_tokener_free(tokener);
  g_bytes_unref(bytes);
  return object;
}

static struct json_object *device_json(const tt_device_info *info) {
  struct json_object *object = json_object_new_object();
  add_text(object, "device", info->identifier);
  add_text(object, "name", info->name);
  json_object_object_add(object, "epoch", json_object_new_int(info->epoch));
  char time[TT_ISO_SIZE];
  tt_iso_format(time, info->last_time);
  add_text(object, "last_sample", info->last_time ? time : NULL);
  json_object_object_add(object, "clock_offset_us", json_object_new_int64(info->offset));
  json_object_object_add(object, "clock_drift_ppm",
                         json_object_new_double(round(info->drift * 1e9) / 1e3));
  json_object_object_add(object, "messages", json_object_new_uint64(info->messages));
  json_object_object_add(object, "values", json_object_new_uint64(info->values));
  return object;
}

static void add_handling(struct json_object *object, const tt_handling *handling) {
  add_text(object, "type", tt_value_type_names[handling->type]);
  add_text(object, "mode", tt_value_mode_names[handling->mode]);
  add_text(object, "unit", handling->unit);
  json_object_object_add(object, "scale", json_object_new_double(handling->scale));
  json_object_object_add(object, "offset", json_object_new_double(handling->offset));
  json_object_object_add(object, "min_interval", json_object_new_double(handling->min_interval));
  json_object_object_add(object, "retention", json_object_new_double(handling->retention));
}

static struct json_object *attribute_json(const tt_attribute_info *info) {
  struct json_object *object = json_object_new_object();
  add_text(object, "attribute", info->identifier);
  add_text(object, "name", info->name);
  add_handling(object, &info->handling);
  return object;
}

/** True: `rest` names no single thing, and the list was answered. */
static bool respond_list(tt_telemetry_routes *routes, const tt_web_request *request, bool devices) {
  if (*request->rest) return false;
  struct json_object *list = json_object_new_array();
  tt_device_info device;
  tt_attribute_info attribute;
  for (int i = 0; devices && tt_collector_get_device(routes->collector, i, &device); i++) {
    json_object_array_add(list, device_json(&device));
    tt_device_info_clear(&device);
  }
  for (int i = 0; !devices && tt_collector_get_attribute(routes->collector, i, &attribute); i++) {
    json_object_array_add(list, attribute_json(&attribute));
    tt_attribute_info_clear(&attribute);
  }
  respond_json(request, list);
  return true;
}

static const char *text_of(struct json_object *object, const char *key) {
  struct json_object *value = NULL;
  json_object_object_get_ex(object, key, &value);
  return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
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

static void handle_devices(void *context, const tt_web_request *request) {
  tt_telemetry_routes *routes = context;
  tt_error error = {""};
  if (!strcmp(request->method, "PUT")) {
    static const char *const keys[] = {"name", NULL};
    struct json_object *object = read_json(request);
    if (!object) return;
    tt_status status = check_keys(object, keys, &error);
    if (status == TT_OK) {
      status = tt_collector_name_device(routes->collector, request->rest, text_of(object, "name"),
                                        &error);
    }
    json_object_put(object);
    if (status != TT_OK) {
      tt_web_respond_error(request, status, error.text);
      return;
    }
  } else if (respond_list(routes, request, true)) {
    return;
  }
  tt_device_info info;
  if (!tt_collector_get_device(routes->collector,
                               tt_collector_find_device(routes->collector, request->rest), &info)) {
    tt_web_respond_error(request, TT_NOT_FOUND, "there is no such device");
    return;
  }
  respond_json(request, device_json(&info));
  tt_device_info_clear(&info);
}

static tt_status read_choice(struct json_object *object, const char *key, const char *const *names,
                             int *choice, tt_error *error) {
  struct json_object *value;
  if (!json_object_object_get_ex(object, key, &value)) return TT_OK;
  const char *text = text_of(object, key);
  for (int i = 0; text && names[i]; i++) {
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
    g_free(handling->unit);
    handling->unit = g_strdup(text_of(object, "unit"));
  }
  return TT_OK;
}

static tt_status put_handling(tt_telemetry_routes *routes, const char *pattern,
                              struct json_object *object, tt_handling *handling, tt_error *error) {
  tt_status status = read_handling(object, handling, error);
  g_free(handling->pattern);
  handling->pattern = g_strdup(pattern);
  if (status == TT_OK) status = tt_collector_set_handling(routes->collector, handling, error);
  return status;
}

/** A name, a handling for just this attribute, or both. */
static tt_status put_attribute(tt_telemetry_routes *routes, const char *identifier,
                               struct json_object *object, tt_error *error) {
  bool named = json_object_object_get_ex(object, "name", NULL);
  bool known = tt_collector_find_attribute(routes->collector, identifier) >= 0;
  if (named || !known) {
    const char *name = named ? text_of(object, "name") : NULL;
    TT_TRY(tt_collector_name_attribute(routes->collector, identifier, name, error));
  }
  if (json_object_object_length(object) == named) return TT_OK;
  tt_attribute_info info = {.handling = tt_handling_default()};
  tt_collector_get_attribute(routes->collector,
                             tt_collector_find_attribute(routes->collector, identifier), &info);
  tt_status status = put_handling(routes, identifier, object, &info.handling, error);
  tt_attribute_info_clear(&info);
  return status;
}

static void handle_attributes(void *context, const tt_web_request *request) {
  tt_telemetry_routes *routes = context;
  tt_error error = {""};
  if (!strcmp(request->method, "PUT")) {
    struct json_object *object = read_json(request);
    if (!object) return;
    tt_status status = put_attribute(routes, request->rest, object, &error);
    json_object_put(object);
    if (status != TT_OK) {
      tt_web_respond_error(request, status, error.text);
      return;
    }
  } else if (respond_list(routes, request, false)) {
    return;
  }
  tt_attribute_info info;
  int index = tt_collector_find_attribute(routes->collector, request->rest);
  if (!tt_collector_get_attribute(routes->collector, index, &info)) {
    tt_web_respond_error(request, TT_NOT_FOUND, "there is no such attribute");
    return;
  }
  respond_json(request, attribute_json(&info));
  tt_attribute_info_clear(&info);
}

static struct json_object *handling_json(const tt_handling *handling) {
  struct json_object *object = json_object_new_object();
  add_text(object, "pattern", handling->pattern);
  add_handling(object, handling);
  return object;
}

static tt_status change_handling(tt_telemetry_routes *routes, const tt_web_request *request,
                                 bool *answered, tt_error *error) {
  if (!strcmp(request->method, "DELETE")) {
    return tt_collector_remove_handling(routes->collector, request->rest, error);
  }
  struct json_object *object = read_json(request);
  *answered = !object;
  if (!object) return TT_OK;
  tt_handling handling = tt_handling_default();
  tt_status status = put_handling(routes, request->rest, object, &handling, error);
  tt_handling_clear(&handling);
  json_object_put(object);
  return status;
}

static void handle_handling(void *context, const tt_web_request *request) {
  tt_telemetry_routes *routes = context;
  if (strcmp(request->method, "GET") && strcmp(request->method, "HEAD")) {
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
  GArray *handlings = tt_collector_handlings(routes->collector);
  for (guint i = 0; i < handlings->len; i++) {
    json_object_array_add(list, handling_json(&g_array_index(handlings, tt_handling, i)));
  }
  g_array_unref(handlings);
  respond_json(request, list);
}

static void handle_status(void *context, const tt_web_request *request) {
  tt_telemetry_routes *routes = context;
  tt_collector_stats stats;
  tt_web_stats web;
  tt_collector_get_stats(routes->collector, &stats);
  tt_web_get_stats(routes->web, &web);
  struct json_object *object = json_object_new_object();
  const struct {
    const char *key;
    uint64_t value;
  } counters[] = {
      {"messages", stats.messages},
      {"refused", stats.refused},
      {"values", stats.values},
      {"stored_values", stats.stored_values},
      {"skipped_values", stats.skipped_values},
      {"bad_values", stats.bad_values},
      {"lost_values", stats.lost_values},
      {"batches", stats.batches},
      {"queued_bytes", stats.queued_bytes},
      {"devices", (uint64_t)stats.devices},
      {"attributes", (uint64_t)stats.attributes},
      {"live_readers", (uint64_t)stats.readers},
      {"spooled_bytes", stats.store_state.spooled_bytes},
      {"web_connections", (uint64_t)web.connections},
      {"web_refused_connections", web.refused_connections},
      {"web_cut_connections", web.cut},
  };
  add_text(object, "store", stats.store);
  json_object_object_add(object, "degraded", json_object_new_boolean(stats.store_state.degraded));
  add_text(object, "reason", stats.store_state.degraded ? stats.store_state.reason : NULL);
  for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
    json_object_object_add(object, counters[i].key, json_object_new_uint64(counters[i].value));
  }
  respond_json(request, object);
}

static void handle_page(void *context, const tt_web_request *request) {
  (void)context;
  serve_page(request, request->path + 1);
}

/* --- beginning and end --- */

tt_telemetry_routes *tt_telemetry_routes_new(tt_web *web, tt_collector *collector) {
  tt_telemetry_routes *routes = g_new0(tt_telemetry_routes, 1);
  routes->web = web;
  routes->collector = collector;
  routes->waiting = g_ptr_array_new();
  routes->inputs = g_ptr_array_new();
  const tt_web_route all[] = {
      {.path = "/telemetry",
       .methods = "GET POST",
       .handle = handle_telemetry,
       .begin = begin_post,
       .max_body = MAX_POST},
      {.path = "/telemetry.xml", .methods = "GET", .handle = handle_table},
      {.path = "/telemetry.csv", .methods = "GET", .handle = handle_table},
      {.path = "/telemetry.json", .methods = "GET", .handle = handle_table},
      {.path = "/telemetry/devices", .methods = "GET", .handle = handle_devices},
      {.path = "/telemetry/devices/", .methods = "GET PUT", .handle = handle_devices},
      {.path = "/telemetry/attributes", .methods = "GET", .handle = handle_attributes},
      {.path = "/telemetry/attributes/", .methods = "GET PUT", .handle = handle_attributes},
      {.path = "/telemetry/handling", .methods = "GET", .handle = handle_handling},
      {.path = "/telemetry/handling/", .methods = "PUT DELETE", .handle = handle_handling},
      {.path = "/telemetry/status", .methods = "GET", .handle = handle_status},
      {.path = "/telemetry.js", .methods = "GET", .handle = handle_page},
      {.path = "/telemetry.css", .methods = "GET", .handle = handle_page},
      {.path = "/telemetry.dtd", .methods = "GET", .handle = handle_page},
      {.path = "/message.dtd", .methods = "GET", .handle = handle_page},
      {.path = "/openapi.json", .methods = "GET", .handle = handle_page},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    tt_web_route route = all[i];
    route.context = routes;
    tt_web_add_route(web, &route);
  }
  tt_web_add_socket(web, &(tt_web_socket_route){"/telemetry/in", open_input, MAX_POST, routes});
  tt_web_add_socket(web, &(tt_web_socket_route){"/telemetry/live", open_live, 1024, routes});
  tt_collector_on_durable(collector, on_durable, routes);
  return routes;
}

void tt_telemetry_routes_stop(tt_telemetry_routes *routes) {
  if (routes) tt_collector_off_durable(routes->collector, on_durable, routes);
}

void tt_telemetry_routes_free(tt_telemetry_routes *routes) {
  if (!routes) return;
  g_ptr_array_unref(routes->waiting);
  g_ptr_array_unref(routes->inputs);
  g_free(routes);
}
