#include "nt4/client.h"

#include "base/json.h"
#include "base/log.h"
#include "nt4/control.h"
#include "nt4/topic_internal.h"
#include "websocket/handshake.h"
#include "websocket/websocket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define URL_BYTES (2 * TT_HANDSHAKE_TEXT + 16)
#define MOST_MESSAGE ((size_t)2 << 20) /* bytes, as ntcore */
#define MOST_QUEUED ((size_t)4 << 20)
#define ASK_CLOCK 1000000 /* µs between questions for the server's time */
#define ASK_AGAIN 20000   /* µs, while its clock is not known to go as ours does */
#define STEADY 50         /* answers one after another that agree: then it does */
/* µs by which a topic's time doesn't go back; by more it does: the server's clock was set back */
#define HELD 2000000
#define SILENCE 3000000 /* µs after which a server of 4.0, which does not ping, is taken for gone */
#define LISTEN_PERIODIC 0.02 /* s, of what others write */
#define NOBODY INT64_MIN     /* as an id: the server announced none */

/* A topic of ours at another's server. */
typedef struct outgoing {
  nt4_topic topic;
  uint64_t sent;  /* version */
  int64_t time;   /* µs of the server's clock: what was sent last had it; 0: nothing was */
  int64_t id;     /* the server's */
  bool wrote;     /* others have written it since we connected */
  double written; /* by them last; the world may not show it yet */
} outgoing;

struct tt_nt4_client {
  tt_nt4_sink sink; /* first: found by it */
  tt_websocket_client *client;
  tt_websocket *websocket; /* while connected */
  char url[URL_BYTES];
  char refused[160]; /* why it was refused the last time, which is said once */
  outgoing *topics;
  int count, capacity;
  bool pings;                      /* 4.1 */
  int64_t asked, heard;            /* µs: when we asked for the time, and when anything came */
  bool synchronised, answered;     /* the question asked last was */
  int agreed;                      /* answers that agree, since the last one that did not */
  int64_t least_round_trip, ahead; /* µs: of the server's clock, before ours */
  int64_t since;                   /* µs of the server's clock: when we knew it */
  tt_bytes values;
};

/* --- what we say --- */

static void send_frame(tt_nt4_client *self, struct json_object **frame) {
  size_t size;
  const char *text =
      *frame ? json_object_to_json_string_length(*frame, JSON_C_TO_STRING_PLAIN, &size) : NULL;
  if (text) tt_websocket_send(self->websocket, true, text, size);
  json_object_put(*frame);
  *frame = NULL;
}

static void publish_all(tt_nt4_client *self) {
  struct json_object *frame = NULL;
  for (int i = 0; i < self->count; i++) {
    outgoing *topic = &self->topics[i];
    topic->sent = 0;
    topic->time = 0;
    topic->id = NOBODY;
    topic->wrote = false;
    struct json_object *params = json_object_new_object();
    tt_json_add_text(params, "name", topic->topic.name);
    tt_json_add_int(params, "pubuid", i);
    tt_json_add_text(params, "type", topic->topic.type);
    tt_json_add(params, "properties", json_object_get(topic->topic.properties));
    nt4_say(&frame, "publish", params);
    if (frame && json_object_array_length(frame) == NT4_MESSAGES_A_FRAME) send_frame(self, &frame);
  }
  send_frame(self, &frame);
}

/* One subscription for all that others may write. */
static void listen_to_others(tt_nt4_client *self) {
  struct json_object *frame = NULL, *params = json_object_new_object();
  struct json_object *names = tt_json_add_array(params, "topics");
  for (int i = 0; i < self->count; i++)
    if (names && self->topics[i].topic.writable)
      json_object_array_add(names, json_object_new_string(self->topics[i].topic.name));
  if (!names || json_object_array_length(names) == 0) {
    json_object_put(params);
    return;
  }
  struct json_object *options = json_object_new_object();
  tt_json_add_double(options, "periodic", LISTEN_PERIODIC);
  tt_json_add_int(params, "subuid", 0);
  tt_json_add(params, "options", options);
  nt4_say(&frame, "subscribe", params);
  send_frame(self, &frame);
}

static void ask_clock(tt_nt4_client *self) {
  tt_bytes value = {.size = 0}, question = {.size = 0};
  self->asked = nt4_now();
  self->answered = false;
  tt_nt4_put_int(&value, self->asked);
  tt_nt4_put_message(
      &question, &(tt_nt4_message){
                     .id = -1, .type = TT_NT4_INT, .value = value.data, .value_size = value.size});
  if (!value.failed && !question.failed)
    tt_websocket_send(self->websocket, false, question.data, question.size);
  tt_bytes_free(&value);
  tt_bytes_free(&question);
}

static void send_values(tt_nt4_client *self) {
  if (self->values.size > 0)
    tt_websocket_send(self->websocket, false, self->values.data, self->values.size);
  tt_bytes_cut(&self->values, 0);
}

static bool is_slow(const tt_nt4_client *self) {
  return tt_websocket_queued(self->websocket) > NT4_SLOW_AT;
}

static bool is_to_ask(const tt_nt4_client *self, int64_t now) {
  bool steady = self->agreed >= STEADY;
  return now - self->asked > (steady || !self->answered ? ASK_CLOCK : ASK_AGAIN);
}

/* What is known of the server's clock is corrected ahead and back; a value has no time before that of the one before it. */
static int64_t time_for(const outgoing *topic, int64_t now) {
  return now < topic->time && topic->time - now < HELD ? topic->time : now;
}

void tt_nt4_client_flush(tt_nt4_client *self) {
  int64_t now = nt4_now();
  if (!self->websocket) return;
  if (!self->pings && now - self->heard > SILENCE) {
    tt_websocket_close(self->websocket, 1001, "nothing was heard for 3 s");
    return;
  }
  if (is_to_ask(self, now)) ask_clock(self);
  for (int i = 0; i < self->count && self->synchronised && !is_slow(self); i++) {
    outgoing *topic = &self->topics[i];
    const int64_t time = time_for(topic, now + self->ahead);
    if (topic->sent == topic->topic.version ||
        !nt4_topic_put(&topic->topic, i, time, &self->values))
      continue;
    topic->sent = topic->topic.version;
    topic->time = time;
    if (self->values.size >= NT4_FRAME_AT) send_values(self);
  }
  send_values(self);
}

/* --- what the server says --- */

static void on_announcement(tt_nt4_client *self, const tt_nt4_announcement *said) {
  for (int i = 0; i < self->count; i++) {
    outgoing *topic = &self->topics[i];
    if (said->gone && topic->id == said->id) topic->id = NOBODY;
    if (!said->gone && strcmp(topic->topic.name, said->name) == 0) topic->id = said->id;
  }
}

static void on_text(tt_nt4_client *self, const uint8_t *bytes, size_t size) {
  struct json_object *frame;
  tt_nt4_announcement said;
  if (tt_nt4_read_frame((const char *)bytes, size, &frame, NULL) != TT_OK) return;
  for (size_t i = 0; i < json_object_array_length(frame); i++)
    if (tt_nt4_read_announcement(frame, i, &said) == TT_OK) on_announcement(self, &said);
  json_object_put(frame);
}

/* The answer that was quickest is the most exact: the server read its clock half of the way back. One that contradicts it is
 * of a clock that does not go as ours does, as that of a robot program whose time is stepped; then the newest counts, and is
 * asked for again and again. */
static void on_clock(tt_nt4_client *self, const tt_nt4_message *answer) {
  double asked;
  int64_t now = nt4_now();
  if (!tt_nt4_read_number(answer, &asked) || asked != (double)self->asked) return;
  int64_t round_trip = now - self->asked;
  int64_t ahead = answer->time + round_trip / 2 - now;
  bool agrees = llabs(ahead - self->ahead) <= (round_trip + self->least_round_trip) / 2 + 1;
  self->answered = true;
  if (!self->synchronised || !agrees)
    self->agreed = 0;
  else if (self->agreed < STEADY)
    self->agreed++;
  if (self->synchronised && agrees && round_trip >= self->least_round_trip) return;
  self->least_round_trip = round_trip;
  self->ahead = ahead;
  if (!self->synchronised) self->since = answer->time;
  self->synchronised = true;
}

static bool is_ours(const outgoing *topic, const tt_nt4_message *value) {
  const tt_bytes *ours = &topic->topic.value;
  return ours->size == value->value_size && memcmp(ours->data, value->value, ours->size) == 0;
}

/* What was written before we came is not meant for us, nor is what we wrote. But who goes back to what the world still shows
 * means it. */
static void on_value(tt_nt4_client *self, const tt_nt4_message *value) {
  double number;
  if (!self->synchronised || value->time < self->since || !self->sink.on_written ||
      !tt_nt4_read_number(value, &number))
    return;
  for (int i = 0; i < self->count; i++) {
    outgoing *topic = &self->topics[i];
    if (topic->id != value->id || !topic->topic.writable) continue;
    if (is_ours(topic, value) && (!topic->wrote || number == topic->written)) continue;
    if (!self->sink.on_written(self->sink.context, i, number, "the server")) continue;
    topic->wrote = true;
    topic->written = number;
  }
}

static void on_message(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                       size_t size) {
  tt_nt4_client *self = context;
  const uint8_t *at = bytes;
  tt_nt4_message message;
  (void)websocket;
  self->heard = nt4_now();
  if (text) on_text(self, bytes, size);
  while (!text && tt_nt4_read_message(&at, bytes + size, &message) == TT_OK) {
    if (message.id == -1)
      on_clock(self, &message);
    else
      on_value(self, &message);
  }
}

/* --- coming and going --- */

static void on_open(void *context, tt_websocket *websocket) {
  tt_nt4_client *self = context;
  self->websocket = websocket;
  self->heard = nt4_now();
  self->synchronised = false;
  self->agreed = 0;
  self->refused[0] = '\0';
  self->pings = strcmp(tt_websocket_protocol(websocket), NT4_PROTOCOL_4_1) == 0;
  if (self->pings) tt_websocket_ping(websocket, NT4_PING_PERIOD, NT4_PING_TIMEOUT);
  tt_log_info("nt4: connected to %s", self->url);
  ask_clock(self);
  publish_all(self);
  listen_to_others(self);
}

static void on_close(void *context, tt_websocket *websocket, int code, const char *reason) {
  tt_nt4_client *self = context;
  (void)code;
  if (!websocket) { /* it never opened */
    if (strncmp(self->refused, reason, sizeof self->refused - 1) != 0)
      tt_log_warning("nt4: %s: %s; trying again", self->url, reason);
    snprintf(self->refused, sizeof self->refused, "%s", reason);
    return;
  }
  tt_log_warning("nt4: %s is gone: %s; trying again", self->url, reason);
  self->websocket = NULL;
  self->synchronised = false;
  tt_bytes_cut(&self->values, 0);
  for (int i = 0; i < self->count; i++)
    if (self->topics[i].wrote) self->sink.on_released(self->sink.context, i);
}

/* --- topics --- */

static int add(tt_nt4_sink *sink, const tt_nt4_spec *spec) {
  tt_nt4_client *self = (tt_nt4_client *)sink;
  if (self->count == self->capacity) {
    int capacity = self->capacity ? 2 * self->capacity : 64;
    outgoing *moved = realloc(self->topics, (size_t)capacity * sizeof *moved);
    if (!moved) return -1;
    self->topics = moved;
    self->capacity = capacity;
  }
  outgoing made = {.id = NOBODY};
  if (!nt4_topic_init(&made.topic, spec->name, spec->type, spec->unit)) return -1;
  made.topic.writable = spec->writable;
  self->topics[self->count] = made;
  return self->count++;
}

static bool is_wanted(const tt_nt4_sink *sink, int topic) {
  (void)topic;
  return tt_nt4_client_is_ready((const tt_nt4_client *)sink);
}

static void set(tt_nt4_sink *sink, int index, const tt_bytes *value) {
  nt4_topic *topic = &((tt_nt4_client *)sink)->topics[index].topic;
  if (!value->failed && !nt4_topic_has(topic, value))
    nt4_topic_keep(topic, value->data, value->size, 0);
}

bool tt_nt4_client_is_ready(const tt_nt4_client *self) {
  return self->websocket && self->synchronised;
}

tt_nt4_sink *tt_nt4_client_sink(tt_nt4_client *self) { return &self->sink; }

/* --- the beginning and the end --- */

tt_status tt_nt4_client_check(const char *url, tt_error *error) {
  tt_handshake_url parts;
  TT_TRY(tt_handshake_url_read(url, &parts, error));
  TT_TRY(tt_address_check(parts.address, NULL, error));
  bool named = strncmp(parts.path, "/nt/", 4) == 0 && parts.path[4] && !strchr(parts.path, '@');
  if (named || strcmp(parts.path, "/") == 0) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s: the path is /nt/NAME, with our name there", url);
}

tt_status tt_nt4_client_open(tt_net *net, const char *url, tt_nt4_client **out, tt_error *error) {
  static const char *const protocols[] = {NT4_PROTOCOL_4_1, NT4_PROTOCOL_4_0};
  tt_handshake_url parts;
  *out = NULL;
  TT_TRY(tt_nt4_client_check(url, error));
  TT_TRY(tt_handshake_url_read(url, &parts, error));
  tt_nt4_client *self = calloc(1, sizeof *self);
  if (!self) return tt_fail(error, TT_NOMEM, "out of memory");
  self->sink = (tt_nt4_sink){.add = add, .is_wanted = is_wanted, .set = set};
  snprintf(self->url, sizeof self->url, "ws://%s%s", parts.address,
           parts.path[1] ? parts.path : TT_NT4_DEFAULT_PATH);
  tt_websocket_options options = tt_websocket_options_default();
  options.url = self->url;
  options.protocols = protocols;
  options.protocol_count = sizeof protocols / sizeof *protocols;
  options.max_message = MOST_MESSAGE;
  options.max_queued = MOST_QUEUED;
  options.handler =
      (tt_websocket_handler){.on_open = on_open, .on_message = on_message, .on_close = on_close};
  options.context = self;
  tt_status status = tt_websocket_connect(net, &options, &self->client, error);
  if (status != TT_OK) {
    free(self);
    return status;
  }
  tt_log_info("nt4: looks for a robot program's server at %s, for as long as it takes", self->url);
  *out = self;
  return TT_OK;
}

void tt_nt4_client_close(tt_nt4_client *self) {
  if (!self) return;
  tt_websocket_client_close(self->client);
  for (int i = 0; i < self->count; i++) nt4_topic_clear(&self->topics[i].topic);
  free(self->topics);
  tt_bytes_free(&self->values);
  free(self);
}
