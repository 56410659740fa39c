/* take.c: the decoders of the other ways in, and whose message it may be. */
#include "telemetry/nats/take.h"

#include "broker/broker.h"
#include "telemetry/json_message.h"

#include <string.h>

#define SECOND 1000000
/** Of an identifier, and its 0. */
#define LONGEST_ID 65

struct tt_nats_taking {
  tt_collector *collector;
  const atomic_bool *stopping;
  bool may_wait; /**< for room in the store; else the answer says that there is none */
  tt_message_parser *xml;
  tt_json_parser *json;
  char device[LONGEST_ID]; /**< whose subject it is */
  int64_t received;
  tt_origin origin;
  uint64_t ticket;
  tt_answer answer;
  bool ended;
};

static void refuse(tt_nats_taking *taking, const tt_message_refusal *refusal) {
  tt_answer_refuse(&taking->answer, refusal, 1);
  tt_collector_refused(taking->collector, "NATS", refusal);
}

static void on_refused(void *context, const tt_message_refusal *refusal) {
  refuse(context, refusal);
}

static tt_status take(tt_nats_taking *taking, const tt_message *message, uint64_t *ticket,
                      tt_error *error) {
  tt_status status;
  while ((status = tt_collector_take(taking->collector, message, &taking->origin, taking->received,
                                     ticket, error)) == TT_FULL &&
         taking->may_wait && !atomic_load(taking->stopping))
    tt_collector_wait_room(taking->collector, SECOND / 10);
  return status;
}

static void on_message(void *context, const tt_message *message) {
  tt_nats_taking *taking = context;
  tt_answer *answer = &taking->answer;
  tt_message wanted = *message;
  tt_error error;
  uint64_t ticket = 0;
  wanted.acknowledge = !taking->may_wait;  // somebody waits for the answer
  tt_status status = TT_FULL;
  if (strcmp(message->device, taking->device) != 0)
    status = tt_fail(&error, TT_BAD_MESSAGE, "its id is '%s', and its subject of '%s'",
                     message->device, taking->device);
  else if (!answer->full && !taking->ended)
    status = take(taking, &wanted, &ticket, &error);
  if (status == TT_FULL) {
    answer->full = !taking->may_wait;
    taking->ended = taking->may_wait;
  } else if (status != TT_OK) {
    refuse(taking, &(tt_message_refusal){.line = message->line, .column = 1, .reason = error.text});
  } else {
    answer->taken++;
    tt_answer_drop(answer, &taking->origin);
    taking->ticket = MAX(taking->ticket, ticket);
  }
}

tt_nats_taking *tt_nats_taking_new(tt_collector *collector, const atomic_bool *stopping,
                                   bool may_wait) {
  static const tt_message_handler handler = {on_message, on_refused};
  const tt_message_limits limits = tt_message_limits_default();
  tt_nats_taking *taking = g_new0(tt_nats_taking, 1);
  taking->collector = collector;
  taking->stopping = stopping;
  taking->may_wait = may_wait;
  taking->xml = tt_message_parser_new(&limits, &handler, taking);
  taking->json = tt_json_parser_new(&limits, &handler, taking);
  tt_answer_begin(&taking->answer);
  if (taking->xml && taking->json) return taking;
  tt_nats_taking_free(taking);
  return NULL;
}

void tt_nats_taking_free(tt_nats_taking *taking) {
  if (!taking) return;
  tt_message_parser_free(taking->xml);
  tt_json_parser_free(taking->json);
  tt_answer_clear(&taking->answer);
  g_free(taking);
}

static bool is_json(const tt_nats_published *published) {
  size_t at = 0;
  while (at < published->size && strchr(" \t\r\n", published->bytes[at]) && published->bytes[at])
    at++;
  return at < published->size && (published->bytes[at] == '{' || published->bytes[at] == '[');
}

static void decode(tt_nats_taking *taking, const tt_nats_published *published) {
  if (is_json(published)) {
    tt_json_parser_feed(taking->json, published->bytes, published->size);
    tt_json_parser_end(taking->json);
  } else {
    tt_message_parser_feed(taking->xml, published->bytes, published->size);
    tt_message_parser_end(taking->xml);
  }
}

bool tt_nats_take(tt_nats_taking *taking, const tt_nats_published *published, uint64_t *ticket) {
  const tt_message_refusal nobody = {
      .line = 1,
      .column = 1,
      .reason =
          "the subject names no device; its last part is the id, in which what is neither "
          "letter, digit, - nor _ is %XX"};
  const tt_message_refusal nothing = {.line = 1, .column = 1, .reason = "there is no message"};
  tt_answer_clear(&taking->answer);
  tt_answer_begin(&taking->answer);
  taking->origin = (tt_origin){.request = true};
  taking->received = published->received;
  taking->ticket = 0;
  taking->ended = false;
  if (!tt_nats_read_token(published->token, strlen(published->token), taking->device,
                          sizeof taking->device))
    refuse(taking, &nobody);
  else
    decode(taking, published);
  if (!taking->answer.taken && !taking->answer.refused && !taking->answer.full && !taking->ended)
    refuse(taking, &nothing);
  *ticket = taking->ticket;
  return !taking->ended;
}

const tt_answer *tt_nats_taking_answer(const tt_nats_taking *taking) { return &taking->answer; }
