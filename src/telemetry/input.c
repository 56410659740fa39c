/* input.c: connections of devices, and clients that live samples are forwarded to. */
#include "telemetry/input.h"

#include "base/log.h"
#include "telemetry/reply.h"

#include <stdatomic.h>
#include <string.h>

#define SECOND 1000000
/** Samples waiting for a forward client, and bytes given to the kernel ahead of it. */
#define FORWARD_QUEUE 10000
#define FORWARD_AHEAD 65536
/** Bytes of acknowledgements that a device may leave unread… */
#define MAX_UNREAD (256 * 1024)
/** …and of memory for those that wait for the store, beyond which nothing more is read from it. */
#define MAX_PENDING (256 * 1024)
/** Bytes that one takes beside its text. */
#define PENDING_SIZE (sizeof(pending_ack) + sizeof(GList))
/** µs between looks for messages that take too long. */
#define LOOK_INTERVAL (SECOND / 4)

typedef struct pending_ack {
  uint64_t ticket;
  char *text;
} pending_ack;

/** A device's connection. */
typedef struct client {
  tt_input *input;
  tt_tcp *tcp;
  tt_message_parser *parser;
  tt_origin origin;
  int64_t received;
  bool reads_answers; /**< it asked for an acknowledgement before */
  GQueue pending;     /**< pending_ack, in order of tickets */
  size_t waiting;     /**< bytes of them */
  bool paused;
  int64_t resumed; /**< µs, monotonic: when it was read again, as tt_input.resumed */
} client;

typedef struct forward {
  tt_input *input;
  const tt_forward *options;
  tt_tcp_client *connector;
  tt_tcp *tcp; /**< NULL while not connected */
  tt_feed_reader *reader;
  GString *line;
} forward;

struct tt_input {
  tt_input_options options;
  tt_collector *collector;
  tt_net *net;
  tt_tcp_server *server;
  GThread *thread;
  atomic_bool stopping;
  GPtrArray *clients; /**< client */
  forward *forwards;
  int64_t next_look;
  /** µs, monotonic: since when all are read again; the store had no room before */
  int64_t resumed;
};

/* --- messages in --- */

/** Sent by send_acks() once the ticket is durable, never from within the parser: sending may end the connection. */
static void promise(client *from, uint64_t ticket, char *text) {
  pending_ack *ack = g_new(pending_ack, 1);
  *ack = (pending_ack){ticket, text};
  g_queue_push_tail(&from->pending, ack);
  from->waiting += PENDING_SIZE + strlen(text);
  if (from->paused || from->waiting < MAX_PENDING || !from->tcp) return;
  from->paused = true;
  tt_tcp_pause(from->tcp, true);
}

/** Few enough wait again. */
static void resume(client *from) {
  if (!from->paused || from->waiting > MAX_PENDING / 2 || !from->tcp) return;
  from->paused = false;
  from->resumed = g_get_monotonic_time();
  tt_tcp_pause(from->tcp, false);
}

static void on_refused(void *context, const tt_message_refusal *refusal) {
  client *from = context;
  tt_collector_refused(from->input->collector, from->tcp ? tt_tcp_peer(from->tcp) : "TCP", refusal);
  if (!from->reads_answers || !from->tcp) return;
  promise(from, 0, tt_reply_refused(refusal));
}

static void promise_ack(client *from, const tt_message *message, uint64_t ticket) {
  promise(from, ticket, tt_reply_ack(message, &from->origin));
  from->reads_answers = true;
}

static void free_ack(gpointer data) {
  pending_ack *ack = data;
  g_free(ack->text);
  g_free(ack);
}

/** While the store is behind nothing more is read: the kernel then slows the senders down. */
static void on_message(void *context, const tt_message *message) {
  client *from = context;
  tt_input *input = from->input;
  uint64_t ticket;
  tt_error error;
  tt_status status;
  while ((status = tt_collector_take(input->collector, message, &from->origin, from->received,
                                     &ticket, &error)) == TT_FULL) {
    if (atomic_load(&input->stopping)) return;
    tt_collector_wait_room(input->collector, SECOND / 10);
    input->resumed = g_get_monotonic_time();
  }
  if (status != TT_OK) {
    on_refused(from, &(tt_message_refusal){.line = 1, .column = 1, .reason = error.text});
  } else if (message->acknowledge) {
    promise_ack(from, message, ticket);
  }
}

static void on_open(void *context, tt_tcp *tcp) {
  static const tt_message_handler handler = {on_message, on_refused};
  tt_input *input = context;
  client *from = g_new0(client, 1);
  from->input = input;
  from->tcp = tcp;
  from->parser = tt_message_parser_new(&input->options.limits, &handler, from);
  g_queue_init(&from->pending);
  g_ptr_array_add(input->clients, from);
  tt_tcp_set_context(tcp, from);
  if (!from->parser) tt_tcp_close(tcp, "out of memory");
}

static void on_data(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size) {
  (void)tcp;
  client *from = context;
  if (!from->parser) return;
  from->received = tt_collector_now();
  tt_message_parser_feed(from->parser, bytes, size);
}

static void free_client(client *from) {
  tt_message_parser_free(from->parser);
  g_queue_clear_full(&from->pending, free_ack);
  g_ptr_array_remove_fast(from->input->clients, from);
  g_free(from);
}

static void on_close(void *context, tt_tcp *tcp, const char *reason) {
  (void)tcp, (void)reason;
  client *from = context;
  from->tcp = NULL;
  if (from->parser) tt_message_parser_end(from->parser);
  free_client(from);
}

static void send_acks(tt_input *input) {
  uint64_t durable = tt_collector_durable(input->collector);
  for (guint i = input->clients->len; i-- > 0;) {  // sending may end a connection, and take it out
    client *from = g_ptr_array_index(input->clients, i);
    GString *text = NULL;
    pending_ack *ack;
    while ((ack = g_queue_peek_head(&from->pending)) && ack->ticket <= durable) {
      if (!text) text = g_string_new(NULL);
      g_string_append(text, ack->text);
      from->waiting -= PENDING_SIZE + strlen(ack->text);
      free_ack(g_queue_pop_head(&from->pending));
    }
    resume(from);
    if (text && from->tcp) tt_tcp_send(from->tcp, text->str, text->len);
    if (text) g_string_free(text, TRUE);
  }
}

/** Ends connections whose message has begun and does not end, though they were read all the time. */
static void cut_slow_clients(tt_input *input) {
  int64_t now = g_get_monotonic_time(), allowed = input->options.limits.duration;
  if (now < input->next_look) return;
  input->next_look = now + LOOK_INTERVAL;
  for (guint i = input->clients->len; i-- > 0;) {
    client *from = g_ptr_array_index(input->clients, i);
    int64_t begun =
        from->tcp && from->parser && !from->paused ? tt_message_parser_begun(from->parser) : 0;
    if (begun && now - MAX(begun, MAX(from->resumed, input->resumed)) > allowed)
      tt_tcp_close(from->tcp, "a message took too long");
  }
}

/* --- live samples out --- */

static void on_forward_open(void *context, tt_tcp *tcp) {
  forward *to = context;
  to->tcp = tcp;
  tt_log_info("telemetry: forwarding to %s", to->options->to);
}

static void on_forward_data(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size) {
  (void)context, (void)tcp, (void)bytes, (void)size;  // nothing is expected, and anything ignored
}

static void on_forward_close(void *context, tt_tcp *tcp, const char *reason) {
  (void)tcp;
  forward *to = context;
  if (to->tcp && !atomic_load(&to->input->stopping)) {
    tt_log_warning("telemetry: forwarding to %s stopped: %s; trying again", to->options->to,
                   reason);
  }
  to->tcp = NULL;
}

static void append_sample(const forward *to, const tt_feed_sample *sample, uint64_t lost) {
  if (to->options->xml) {
    if (lost) g_string_append_printf(to->line, "<LOST samples=\"%" G_GUINT64_FORMAT "\"/>\n", lost);
    tt_feed_append_xml(to->line, sample);
  } else {
    if (lost) g_string_append_printf(to->line, "{\"lost\":%" G_GUINT64_FORMAT "}\n", lost);
    tt_feed_append_json(to->line, sample);
  }
  g_string_append_c(to->line, '\n');
}

static void pump_forward(forward *to) {
  while (to->tcp && tt_tcp_queued(to->tcp) < FORWARD_AHEAD) {
    uint64_t lost;
    tt_feed_sample *sample;
    g_string_truncate(to->line, 0);
    while (to->line->len < FORWARD_AHEAD / 4 && (sample = tt_feed_next(to->reader, &lost))) {
      append_sample(to, sample, lost);
      tt_feed_sample_unref(sample);
    }
    if (!to->line->len || tt_tcp_send(to->tcp, to->line->str, to->line->len) != TT_OK) return;
  }
}

/* --- the thread --- */

static void wake(void *context) { tt_net_wake(((tt_input *)context)->net); }

static gpointer run(gpointer data) {
  tt_input *input = data;
  while (!atomic_load(&input->stopping)) {
    tt_net_poll(input->net, 50 * 1000000);
    send_acks(input);
    cut_slow_clients(input);
    for (int i = 0; i < input->options.forward_count; i++) pump_forward(&input->forwards[i]);
  }
  return NULL;
}

static tt_status open_forward(tt_input *input, forward *to, const tt_forward *options,
                              tt_error *error) {
  *to = (forward){.input = input, .options = options, .line = g_string_new(NULL)};
  tt_feed_filter filter = {options->devices, options->fields};
  to->reader = tt_collector_subscribe(input->collector, &filter, FORWARD_QUEUE, wake, input);
  if (!to->reader) return tt_fail(error, TT_FULL, "telemetry.forward: too many live readers");
  tt_tcp_options tcp = tt_tcp_options_default();
  tcp.address = options->to;
  tcp.handler = (tt_tcp_handler){on_forward_open, on_forward_data, on_forward_close};
  tcp.context = to;
  tt_error reason;
  const tt_status status = tt_tcp_connect(input->net, &tcp, &to->connector, &reason);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "telemetry.forward: to: %s", reason.text);
}

static tt_status open_all(tt_input *input, tt_error *error) {
  if (input->options.listen) {
    tt_tcp_options tcp = tt_tcp_options_default();
    tcp.address = input->options.listen;
    tcp.max_connections = input->options.max_connections;
    tcp.max_queued = MAX_UNREAD;
    tcp.allow = input->options.allow;
    tcp.handler = (tt_tcp_handler){on_open, on_data, on_close};
    tcp.context = input;
    tt_error reason;
    tt_status status = tt_tcp_listen(input->net, &tcp, &input->server, &reason);
    if (status != TT_OK) return tt_fail(error, status, "telemetry.listen: %s", reason.text);
  }
  for (int i = 0; i < input->options.forward_count; i++) {
    TT_TRY(open_forward(input, &input->forwards[i], &input->options.forwards[i], error));
  }
  return TT_OK;
}

tt_status tt_input_open(const tt_input_options *options, tt_collector *collector, tt_input **out,
                        tt_error *error) {
  tt_input *input = g_new0(tt_input, 1);
  input->options = *options;
  input->collector = collector;
  input->clients = g_ptr_array_new();
  input->forwards = g_new0(forward, options->forward_count + 1);
  input->net = tt_net_new();
  tt_status status = input->net ? open_all(input, error)
                                : tt_fail(error, TT_NOMEM, "out of memory or descriptors");
  if (status != TT_OK) {
    tt_input_close(input);
    return status;
  }
  tt_net_set_spin(input->net, 0);
  tt_collector_on_durable(collector, wake, input);
  input->thread = g_thread_new("telemetry", run, input);
  *out = input;
  return TT_OK;
}

const char *tt_input_address(const tt_input *input) {
  return input->server ? tt_tcp_server_address(input->server) : NULL;
}

void tt_input_close(tt_input *input) {
  if (!input) return;
  atomic_store(&input->stopping, true);
  if (input->thread) {
    tt_net_wake(input->net);
    g_thread_join(input->thread);
    tt_collector_off_durable(input->collector, wake, input);
  }
  for (int i = 0; i < input->options.forward_count; i++) {
    if (input->forwards[i].reader)
      tt_collector_unsubscribe(input->collector, input->forwards[i].reader);
  }
  tt_net_free(input->net);  // closes every connection, without a word
  // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it takes itself out of the array
  while (input->clients->len) free_client(g_ptr_array_index(input->clients, 0));
  for (int i = 0; i < input->options.forward_count; i++) {
    if (input->forwards[i].line) g_string_free(input->forwards[i].line, TRUE);
  }
  g_ptr_array_unref(input->clients);
  g_free(input->forwards);
  g_free(input);
}
