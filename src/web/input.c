#include "web/input.h"

/** Bytes a turn: of a request, and of a WebSocket, whose smallest frames have six bytes and take ten µs (a pong is a
 *  system call of its own). */
#define REQUEST_TURN 16384
#define FRAMES_TURN 1024
/** Bytes read while nothing can be sent, since answers to pings would queue up in libsoup. */
#define UNANSWERED 65536
/** A message may come in fragments, each with a head. */
#define HEADS 4

struct _TtWebInput {
  GFilterInputStream parent;
  GSocket *socket;
  tt_web_turns *turns;
  guint64 lap;       /**< in which it last had a turn that it had to wait for */
  gsize turn, spent; /**< bytes of a turn, and of the last one used up */
  gsize unanswered;  /**< bytes read since the socket took something */
  gsize limit;       /**< of `unfinished`; 0: none */
  guint64 unfinished;
  gboolean rests; /**< see tt_web_input_rest() */
  gboolean body;  /**< see tt_web_input_body() */
};

static void implement_pollable(GPollableInputStreamInterface *pollable);

G_DEFINE_FINAL_TYPE_WITH_CODE(TtWebInput, tt_web_input, G_TYPE_FILTER_INPUT_STREAM,
                              G_IMPLEMENT_INTERFACE(G_TYPE_POLLABLE_INPUT_STREAM,
                                                    implement_pollable))

static GPollableInputStream *base_of(TtWebInput *input) {
  return G_POLLABLE_INPUT_STREAM(
      g_filter_input_stream_get_base_stream(G_FILTER_INPUT_STREAM(input)));
}

static gboolean is_readable(GPollableInputStream *stream) {
  return g_pollable_input_stream_is_readable(base_of(TT_WEB_INPUT(stream)));
}

/* Nobody takes our answers. */
static gboolean is_stuck(TtWebInput *input) {
  if (!input->limit || input->unanswered < UNANSWERED) return FALSE;
  if (!(g_socket_condition_check(input->socket, G_IO_OUT) & G_IO_OUT)) return TRUE;
  input->unanswered = 0;
  return FALSE;
}

static gssize read_now(GPollableInputStream *stream, void *buffer, gsize count, GError **error) {
  TtWebInput *input = TT_WEB_INPUT(stream);
  if (input->limit && input->unfinished > input->limit) {
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_FAILED, "a message is too long");
    return -1;
  }
  if (input->spent >= input->turn || is_stuck(input)) {
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK, "others come first");
    return -1;
  }
  gssize got = g_pollable_input_stream_read_nonblocking(
      base_of(input), buffer, MIN(count, input->turn - input->spent), NULL, error);
  if (got < 0) return got;
  if (got == 0 && input->rests) {
    *(char *)buffer = ' '; /* no request begins so */
    got = 1;
  }
  input->rests = FALSE;
  if (got == 0 && input->body) {
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED, "the body breaks off");
    return -1;
  }
  if (got == 0) return 0;
  input->spent += (gsize)got;
  input->unanswered += (gsize)got;
  input->unfinished += (guint64)got;
  return got;
}

/* --- waiting for the next turn --- */

typedef struct turn_source {
  GSource parent;
  TtWebInput *input;
  gpointer tag;
  GIOCondition waits; /**< for bytes, or for room for what we answer */
} turn_source;

static gboolean prepare(GSource *source, gint *timeout) {
  turn_source *turn = (turn_source *)source;
  GIOCondition waits = is_stuck(turn->input) ? G_IO_OUT : G_IO_IN;
  *timeout = -1;
  if (waits == turn->waits) return FALSE;
  turn->waits = waits;
  g_source_modify_unix_fd(source, turn->tag, waits | G_IO_HUP | G_IO_ERR);
  return FALSE;
}

/* One greedy input a round of the main loop, each once a lap. A round in which none was served ends the lap. */
static gboolean takes_turn(TtWebInput *input, gint64 now) {
  tt_web_turns *turns = input->turns;
  if (turns->round != now) {
    if (!turns->served) turns->lap++;
    turns->round = now;
    turns->served = FALSE;
  }
  if (turns->served || input->lap == turns->lap) return FALSE;
  input->lap = turns->lap;
  return turns->served = TRUE;
}

static gboolean check(GSource *source) {
  turn_source *turn = (turn_source *)source;
  TtWebInput *input = turn->input;
  if (!g_source_query_unix_fd(source, turn->tag)) return FALSE;
  /* the time is the same for all in one round */
  if (input->spent >= input->turn && !takes_turn(input, g_source_get_time(source))) return FALSE;
  input->spent = 0;
  return TRUE;
}

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer data) {
  (void)source, (void)callback, (void)data; /* what it is a child of calls back */
  return G_SOURCE_CONTINUE;
}

static void finalize_source(GSource *source) { g_object_unref(((turn_source *)source)->input); }

static GSourceFuncs turn_functions = {
    .prepare = prepare, .check = check, .dispatch = dispatch, .finalize = finalize_source};

static GSource *create_source(GPollableInputStream *stream, GCancellable *cancellable) {
  TtWebInput *input = TT_WEB_INPUT(stream);
  GSource *made = g_pollable_source_new_full(stream, NULL, cancellable);
  GSource *source = g_source_new(&turn_functions, sizeof(turn_source));
  turn_source *turn = (turn_source *)source;
  turn->input = g_object_ref(input);
  turn->waits = G_IO_IN;
  turn->tag =
      g_source_add_unix_fd(source, g_socket_get_fd(input->socket), G_IO_IN | G_IO_HUP | G_IO_ERR);
  g_source_add_child_source(made, source);
  g_source_unref(source);
  return made;
}

/* --- the object --- */

static void implement_pollable(GPollableInputStreamInterface *pollable) {
  pollable->is_readable = is_readable;
  pollable->create_source = create_source;
  pollable->read_nonblocking = read_now;
}

static void finalize(GObject *object) {
  g_object_unref(TT_WEB_INPUT(object)->socket);
  G_OBJECT_CLASS(tt_web_input_parent_class)->finalize(object);
}

static void tt_web_input_class_init(TtWebInputClass *class) {
  G_OBJECT_CLASS(class)->finalize = finalize;
}

static void tt_web_input_init(TtWebInput *input) { input->turn = REQUEST_TURN; }

TtWebInput *tt_web_input_new(GSocketConnection *accepted, tt_web_turns *turns) {
  GInputStream *base = g_io_stream_get_input_stream(G_IO_STREAM(accepted));
  TtWebInput *input = g_object_new(TT_TYPE_WEB_INPUT, "base-stream", base, NULL);
  input->socket = g_object_ref(g_socket_connection_get_socket(accepted));
  input->turns = turns;
  return input;
}

void tt_web_input_expect_frames(TtWebInput *input, size_t message) {
  input->turn = FRAMES_TURN;
  input->rests = input->body = FALSE;
  input->limit = HEADS * message;
  tt_web_input_whole(input);
}

void tt_web_input_whole(TtWebInput *input) { input->unfinished = 0; }

void tt_web_input_rest(TtWebInput *input, gboolean rests) { input->rests = rests; }

void tt_web_input_body(TtWebInput *input, gboolean comes) { input->body = comes; }

guint64 tt_web_input_unfinished(const TtWebInput *input) { return input->unfinished; }
