/* input.c: the connection, the stream before it, who takes, and answers once all is durable. */
#include "telemetry/nats/input.h"

#include "base/clock.h"
#include "base/log.h"
#include "telemetry/nats/lease.h"
#include "telemetry/nats/take.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SECOND INT64_C(1000000)
#define RETRY_INTERVAL SECOND
/** µs between two looks at the lease, and longest time without an answer being sent. */
#define LEASE_INTERVAL SECOND
#define LOOK_INTERVAL (SECOND / 20)
/** ms for an answer of JetStream; for a stream that is made. */
#define REQUEST_PATIENCE 2000
#define MAKING_PATIENCE 5000
/** Messages of the stream that are taken and not stored yet. */
#define MOST_IN_HAND 4096
/** ns after which one of them comes again. */
#define HAND_BACK (30 * INT64_C(1000000000))
/** Bytes that wait to be taken: what comes beyond them from the stream comes again, what was asked beyond them gets no answer. */
#define MOST_WAITING (32 << 20)
/** Answers that wait for the store; what is asked beyond them is not taken, and told so at once. */
#define MOST_ANSWERS 20000
/** The durable consumer of the stream. */
#define CONSUMER "collector"
#define LONGEST_SUBJECT 128
/** Of subjects for answers. */
#define INBOX "_INBOX"

/** Where messages come in. */
typedef struct ear {
  tt_nats_input *input;
  tt_nats_ear heard;
  tt_nats_taking *taking;
  bool asks; /**< a text is the answer; else a message is the stream's, and is acknowledged there */
} ear;

typedef struct pending_answer {
  uint64_t ticket;
  char *reply, *text; /**< where to, and what */
} pending_answer;

struct tt_nats_input {
  tt_nats_address address;
  tt_collector *collector;
  GThread *thread;
  atomic_bool stopping;
  atomic_bool misled; /**< it was said that an answer is asked for elsewhere than in an inbox */
  natsConnection *connection; /**< NULL: there is none */
  jsCtx *js;
  tt_nats_lease lease;
  ear published, asked;
  int64_t next_try, next_lease;
  bool complained;
  pthread_mutex_t mutex; /**< guards the rest */
  pthread_cond_t work;
  bool woken;
  GQueue answers; /**< pending_answer, about in the order of tickets */
};

/* --- answers --- */

static void free_answer(gpointer data) {
  pending_answer *answer = data;
  g_free(answer->reply);
  g_free(answer->text);
  g_free(answer);
}

static void promise(tt_nats_input *input, uint64_t ticket, const char *reply, char *text) {
  pending_answer *answer = g_new(pending_answer, 1);
  *answer = (pending_answer){ticket, g_strdup(reply), text};
  pthread_mutex_lock(&input->mutex);
  g_queue_push_tail(&input->answers, answer);
  input->woken = true;
  pthread_cond_signal(&input->work);
  pthread_mutex_unlock(&input->mutex);
}

static bool has_room(tt_nats_input *input) {
  pthread_mutex_lock(&input->mutex);
  const bool room = input->answers.length < MOST_ANSWERS;
  pthread_mutex_unlock(&input->mutex);
  return room;
}

static void say_full(const tt_nats_input *input, const char *reply) {
  GString *text = g_string_new(NULL);
  tt_answer answer;
  tt_answer_begin(&answer);
  answer.full = true;
  tt_answer_append(&answer, text);
  tt_answer_clear(&answer);
  natsConnection_PublishString(input->connection, reply, text->str);
  g_string_free(text, TRUE);
}

/** Sends those whose messages are durable. */
static void send_answers(tt_nats_input *input) {
  const uint64_t durable = tt_collector_durable(input->collector);
  for (;;) {
    pthread_mutex_lock(&input->mutex);
    pending_answer *answer = g_queue_peek_head(&input->answers);
    if (answer && answer->ticket <= durable)
      g_queue_pop_head(&input->answers);
    else
      answer = NULL;
    pthread_mutex_unlock(&input->mutex);
    if (!answer) return;
    natsConnection_PublishString(input->connection, answer->reply, answer->text);
    free_answer(answer);
  }
}

/** Store's thread. */
static void on_durable(void *context) {
  tt_nats_input *input = context;
  pthread_mutex_lock(&input->mutex);
  input->woken = true;
  pthread_cond_signal(&input->work);
  pthread_mutex_unlock(&input->mutex);
}

/* --- messages, in the subscriptions' threads --- */

/** When the server got it: it may have waited in the stream. */
static int64_t receipt_of(natsMsg *message, int64_t now) {
  jsMsgMetaData *about = NULL;
  int64_t received = now;
  if (natsMsg_GetMetaData(&about, message) == NATS_OK && about->Timestamp / 1000 < now)
    received = about->Timestamp / 1000;
  jsMsgMetaData_Destroy(about);
  return received;
}

static const char *token_of(const tt_nats_input *input, const ear *at, natsMsg *message) {
  const char *subject = natsMsg_GetSubject(message);
  const size_t begun = strlen(input->address.name) + (at->asks ? strlen(".ask.") : strlen(".in."));
  const char *token = strlen(subject) > begun ? subject + begun : "";
  return strchr(token, '.') ? "" : token;  // a dot in an identifier is %2E
}

/** Whether it is an inbox, or stands for one: the server makes other subjects of those of other accounts, and of other clusters, where
 *  they are "_GR_.CLUSTER.SERVER.INBOX". */
static bool is_inbox(const char *reply) {
  if (g_str_has_prefix(reply, "_GR_."))
    for (int dots = 0; dots < 3 && *reply; reply++) dots += *reply == '.';
  return g_str_has_prefix(reply, INBOX) || g_str_has_prefix(reply, "_R_.");
}

/** Where its answer is asked for; NULL: nowhere. The collector may publish where the device may not, so that an answer goes to an inbox
 *  alone, as clients have them. */
static const char *reply_of(const ear *at, natsMsg *message) {
  tt_nats_input *input = at->input;
  const char *reply = natsMsg_GetReply(message);
  if (!at->asks || !reply || is_inbox(reply)) return reply;
  if (!atomic_exchange(&input->misled, true))
    tt_log_warning(
        "nats: %.64s is asked with answers to %.64s; only subjects that begin with " INBOX
        " are answered",
        natsMsg_GetSubject(message), reply);
  return NULL;
}

static void take(ear *at, natsMsg *message) {
  tt_nats_input *input = at->input;
  const char *reply = reply_of(at, message);
  const int64_t now = tt_collector_now();
  const tt_nats_published published = {.token = token_of(input, at, message),
                                       .bytes = natsMsg_GetData(message),
                                       .size = (size_t)natsMsg_GetDataLength(message),
                                       .received = at->asks ? now : receipt_of(message, now)};
  uint64_t ticket;
  if (at->asks && reply && !has_room(input)) {
    say_full(input, reply);
    return;
  }
  if (!tt_nats_take(at->taking, &published, &ticket) || !reply) return;
  GString *text = g_string_new(at->asks ? NULL : "+ACK");
  if (at->asks) tt_answer_append(tt_nats_taking_answer(at->taking), text);
  promise(input, ticket, reply, g_string_free(text, FALSE));
}

static void on_message(natsConnection *connection, natsSubscription *subscription, natsMsg *message,
                       void *context) {
  (void)connection, (void)subscription;
  ear *at = context;
  if (!atomic_load(&at->input->stopping)) take(at, message);
  natsMsg_Destroy(message);
}

/* --- connecting --- */

static tt_status need_stream(tt_nats_input *input, const char *name, tt_error *error) {
  char subject[LONGEST_SUBJECT];
  jsStreamInfo *info = NULL;
  jsErrCode code = 0;
  natsStatus status = js_GetStreamInfo(&info, input->js, name, NULL, &code);
  const bool ours = status == NATS_OK && info->Config->Retention == js_WorkQueuePolicy;
  jsStreamInfo_Destroy(info);
  if (ours) return TT_OK;
  if (status == NATS_OK)
    return tt_fail(error, TT_INVALID,
                   "nats: the stream %s is there and no work queue: remove it (nats stream rm), "
                   "or give another NAME",
                   name);
  if (status == NATS_NOT_FOUND) {
    snprintf(subject, sizeof subject, "%s.in.>", input->address.name);
    const char *subjects[] = {subject};
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = MAKING_PATIENCE;
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = name;
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.Retention = js_WorkQueuePolicy;
    config.Storage = js_FileStorage;
    config.Discard = js_DiscardNew;
    config.Replicas = input->address.replicas;
    status = js_AddStream(NULL, input->js, &config, &options, &code);
  }
  return status == NATS_OK ? TT_OK
                           : tt_nats_fail_request(input->connection, status,
                                                  "the stream of what devices publish", error);
}

static void stream_name(const tt_nats_input *input, char name[LONGEST_SUBJECT]) {
  snprintf(name, LONGEST_SUBJECT, "%s-in", input->address.name);
}

static void disconnect(tt_nats_input *input) {
  tt_collector_note_taker(input->collector, false, "");
  tt_nats_ear_close(&input->asked.heard);
  tt_nats_ear_close(&input->published.heard);
  tt_nats_lease_close(&input->lease);
  jsCtx_Destroy(input->js);
  natsConnection_Destroy(input->connection);
  input->js = NULL;
  input->connection = NULL;
  pthread_mutex_lock(&input->mutex);
  g_queue_clear_full(&input->answers, free_answer);  // what they were of comes again
  g_queue_init(&input->answers);
  pthread_mutex_unlock(&input->mutex);
}

static tt_status connect_all(tt_nats_input *input, tt_error *error) {
  char name[LONGEST_SUBJECT];
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = REQUEST_PATIENCE;
  stream_name(input, name);
  TT_TRY(tt_nats_connect(&input->address, &input->connection, error));
  natsStatus status = natsConnection_JetStream(&input->js, input->connection, &options);
  if (status != NATS_OK) return tt_nats_fail(status, "JetStream", error);
  TT_TRY(need_stream(input, name, error));
  return tt_nats_lease_open(&input->lease, input->js, name, input->address.replicas, error);
}

/** Connects, or says once that it can't. */
static tt_status need_connection(tt_nats_input *input, tt_error *error) {
  if (input->connection && natsConnection_Status(input->connection) == NATS_CONN_STATUS_CONNECTED)
    return TT_OK;
  if (input->connection) disconnect(input);
  if (tt_monotonic_us() < input->next_try) return TT_AGAIN;
  tt_status status = connect_all(input, error);
  if (status != TT_OK) {
    disconnect(input);
    if (!input->complained) tt_log_warning("telemetry.nats: %s; trying again", error->text);
  } else if (input->complained) {
    tt_log_info("telemetry.nats: connected");
  }
  input->complained = status != TT_OK;
  input->next_try = tt_monotonic_us() + RETRY_INTERVAL;
  return status;
}

/* --- taking --- */

/** The consumer begins anew with what is not stored, in its order: whoever held the lease before has it no more. */
static natsStatus make_consumer(tt_nats_input *input, const char *stream, const char *subject) {
  jsErrCode code = 0;
  jsConsumerConfig config;
  natsInbox *inbox = NULL;
  natsStatus status = natsInbox_Create(&inbox);
  if (status != NATS_OK) return status;
  js_DeleteConsumer(input->js, stream, CONSUMER, NULL, &code);
  jsConsumerConfig_Init(&config);
  config.Durable = CONSUMER;
  config.DeliverSubject = inbox;
  config.FilterSubject = subject;
  config.AckPolicy = js_AckExplicit;
  config.AckWait = HAND_BACK;
  config.MaxAckPending = MOST_IN_HAND;
  status = js_AddConsumer(NULL, input->js, stream, &config, NULL, &code);
  natsInbox_Destroy(inbox);
  return status;
}

/** Made before, the consumer is not the library's to delete: by then it may be another collector's. */
static natsStatus begin_published(tt_nats_input *input) {
  char name[LONGEST_SUBJECT], subject[LONGEST_SUBJECT];
  jsErrCode code = 0;
  jsSubOptions options;
  jsSubOptions_Init(&options);
  stream_name(input, name);
  snprintf(subject, sizeof subject, "%s.in.>", input->address.name);
  options.Stream = name;
  options.Consumer = CONSUMER;
  options.ManualAck = true;
  ear *at = &input->published;
  natsStatus status = make_consumer(input, name, subject);
  if (status == NATS_OK)
    status = js_Subscribe(&at->heard.subscription, input->js, subject, on_message, at, NULL,
                          &options, &code);
  return tt_nats_ear_open(&at->heard, status, MOST_WAITING);
}

/** Whether somebody has removed the consumer or the stream. */
static bool is_consumer_gone(tt_nats_input *input) {
  char name[LONGEST_SUBJECT];
  jsConsumerInfo *info = NULL;
  jsErrCode code = 0;
  stream_name(input, name);
  natsStatus status = js_GetConsumerInfo(&info, input->js, name, CONSUMER, NULL, &code);
  jsConsumerInfo_Destroy(info);
  return tt_nats_is_missing(status, code);
}

static natsStatus begin_asked(tt_nats_input *input) {
  char subject[LONGEST_SUBJECT];
  ear *at = &input->asked;
  snprintf(subject, sizeof subject, "%s.ask.>", input->address.name);
  natsStatus status =
      natsConnection_Subscribe(&at->heard.subscription, input->connection, subject, on_message, at);
  return tt_nats_ear_open(&at->heard, status, MOST_WAITING);
}

/** Takes while it holds the lease. */
static void tend(tt_nats_input *input) {
  tt_error error;
  if (tt_monotonic_us() < input->next_lease) return;
  input->next_lease = tt_monotonic_us() + LEASE_INTERVAL;
  const bool taking = input->asked.heard.subscription;
  const tt_status held = tt_nats_lease_hold(&input->lease);
  tt_collector_note_taker(input->collector, held == TT_OK, input->lease.known);
  if (held == TT_AGAIN && taking)
    tt_log_warning("telemetry.nats: another collector takes; this one stands by");
  if (held == TT_FAILED || (held == TT_AGAIN && taking)) disconnect(input);
  if (held != TT_OK) return;
  if (taking && is_consumer_gone(input)) disconnect(input);
  if (taking) return;
  natsStatus status = begin_published(input);
  if (status == NATS_OK) status = begin_asked(input);
  if (status == NATS_OK) {
    tt_log_info("telemetry.nats: takes what is published to %s.in.ID and %s.ask.ID",
                input->address.name, input->address.name);
    return;
  }
  tt_nats_fail(status, "taking what devices publish", &error);
  tt_log_warning("telemetry.nats: %s; trying again", error.text);
  disconnect(input);
}

static void pause_until_work(tt_nats_input *input) {
  pthread_mutex_lock(&input->mutex);
  if (!input->woken) tt_wait_until(&input->work, &input->mutex, tt_monotonic_us() + LOOK_INTERVAL);
  input->woken = false;
  pthread_mutex_unlock(&input->mutex);
}

static gpointer run(gpointer data) {
  tt_nats_input *input = data;
  tt_error error;
  while (!atomic_load(&input->stopping)) {
    if (need_connection(input, &error) == TT_OK) {
      tend(input);
      if (input->connection) send_answers(input);
    }
    pause_until_work(input);
  }
  if (input->connection) send_answers(input);
  disconnect(input);
  return NULL;
}

/* --- beginning and end --- */

static bool open_ear(tt_nats_input *input, ear *at, bool asks) {
  at->input = input;
  at->asks = asks;
  at->taking = tt_nats_taking_new(input->collector, &input->stopping, !asks);
  return at->taking;
}

tt_status tt_nats_input_open(const char *url, tt_collector *collector, tt_nats_input **out,
                             tt_error *error) {
  tt_nats_input *input = g_new0(tt_nats_input, 1);
  input->collector = collector;
  pthread_mutex_init(&input->mutex, NULL);
  pthread_cond_init(&input->work, NULL);
  g_queue_init(&input->answers);
  tt_status status = tt_nats_address_parse(url, &input->address, error);
  if (status == TT_OK &&
      !(open_ear(input, &input->published, false) && open_ear(input, &input->asked, true)))
    status = tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_OK && need_connection(input, error) == TT_INVALID) status = TT_INVALID;
  if (status != TT_OK) {
    tt_nats_input_close(input);
    return status;
  }
  tt_collector_on_durable(collector, on_durable, input);
  input->thread = g_thread_new("nats", run, input);
  *out = input;
  return TT_OK;
}

void tt_nats_input_close(tt_nats_input *input) {
  if (!input) return;
  atomic_store(&input->stopping, true);
  if (input->thread) {
    on_durable(input);
    g_thread_join(input->thread);
    tt_collector_off_durable(input->collector, on_durable, input);
  }
  tt_nats_taking_free(input->asked.taking);
  tt_nats_taking_free(input->published.taking);
  g_queue_clear_full(&input->answers, free_answer);
  tt_nats_address_clear(&input->address);
  pthread_mutex_destroy(&input->mutex);
  pthread_cond_destroy(&input->work);
  g_free(input);
}
