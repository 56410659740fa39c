/* answer.c: documents of any size, produced in a thread of their own at the pace of the client. */
#include "base/log.h"
#include "web/internal.h"

#define SECOND 1000000
/** Bytes that wait for the client. */
#define MAX_PENDING (256 * 1024)

typedef struct answer {
  gatomicrefcount references;
  tt_web *web;
  GMainContext *context;
  SoupServerMessage *message; /**< until it is gone */
  tt_web_producer *produce;
  void *produce_context;
  void (*release)(void *context);
  const char *content_type; /**< static */
  bool begun;               /**< its head is on its way; web's thread */

  pthread_mutex_t mutex; /**< guards the rest */
  pthread_cond_t room;
  GString *pending;
  bool scheduled, finished, gone, in_flight;
  tt_status status; /**< once finished */
  tt_error error;
} answer;

static answer *ref(answer *held) {
  g_atomic_ref_count_inc(&held->references);
  return held;
}

static void unref(gpointer data) {
  answer *held = data;
  if (!g_atomic_ref_count_dec(&held->references)) return;
  held->release(held->produce_context);
  g_string_free(held->pending, TRUE);
  pthread_mutex_destroy(&held->mutex);
  pthread_cond_destroy(&held->room);
  g_main_context_unref(held->context);
  g_free(held);
}

/** The head of a document whose length nobody knows yet. */
static void begin(answer *held) {
  if (held->begun) return;
  held->begun = true;
  SoupMessageHeaders *headers = soup_server_message_get_response_headers(held->message);
  soup_message_headers_set_content_type(headers, held->content_type, NULL);
  bool chunked = soup_server_message_get_http_version(held->message) != SOUP_HTTP_1_0;
  soup_message_headers_set_encoding(headers, chunked ? SOUP_ENCODING_CHUNKED : SOUP_ENCODING_EOF);
  soup_message_body_set_accumulate(soup_server_message_get_response_body(held->message), FALSE);
}

/** Says why there is no document; a part of one must not look like the whole. */
static void fail(answer *held) {
  if (held->begun) {
    g_socket_shutdown(tt_web_socket_of(held->message), TRUE, TRUE, NULL);
  } else {
    tt_web_request request = {.web = held->web, .message = held->message};
    tt_web_respond_error(&request, held->status, held->error.text);
  }
}

/** A client has to take what is on its way to it. How long the next piece takes to be made is not its doing. */
static void set_deadline(const answer *held) {
  tt_web_set_deadline(tt_web_connection_of(held->web, held->message),
                      held->in_flight ? held->web->options.answer_deadline : 0);
}

/** Hands what is pending to libsoup once it has written what it got before. Web's thread. */
static gboolean pump(gpointer data) {
  answer *held = data;
  pthread_mutex_lock(&held->mutex);
  held->scheduled = false;
  if (!held->gone && !held->in_flight) {
    SoupMessageBody *body = soup_server_message_get_response_body(held->message);
    if (held->pending->len) {
      begin(held);
      soup_message_body_append(body, SOUP_MEMORY_COPY, held->pending->str, held->pending->len);
      g_string_truncate(held->pending, 0);
      held->in_flight = true;
      soup_server_message_unpause(held->message);
      pthread_cond_signal(&held->room);
    } else if (held->finished && held->status != TT_OK) {
      held->gone = true;  // nothing follows
      fail(held);
      soup_server_message_unpause(held->message);
    } else if (held->finished) {
      held->in_flight = true;
      begin(held);
      soup_message_body_complete(body);
      soup_server_message_unpause(held->message);
    }
    if (!held->gone) set_deadline(held);
  }
  pthread_mutex_unlock(&held->mutex);
  return G_SOURCE_REMOVE;
}

/** With the lock held. */
static void schedule(answer *held) {
  if (held->scheduled || held->gone) return;
  held->scheduled = true;
  tt_web_hand(held->context, pump, ref(held), unref);
}

static void on_wrote_chunk(SoupServerMessage *message, gpointer data) {
  (void)message;
  answer *held = data;
  pthread_mutex_lock(&held->mutex);
  held->in_flight = false;
  pthread_mutex_unlock(&held->mutex);
  pump(held);
}

/** Nobody takes it any more. Web's thread. */
static void leave(answer *held) {
  pthread_mutex_lock(&held->mutex);
  held->gone = true;
  pthread_cond_signal(&held->room);
  pthread_mutex_unlock(&held->mutex);
}

static void on_finished(SoupServerMessage *message, gpointer data) {
  (void)message;
  leave(data);
}

static tt_status write_piece(void *sink, const char *bytes, size_t size) {
  answer *held = sink;
  pthread_mutex_lock(&held->mutex);
  while (held->pending->len >= MAX_PENDING && !held->gone)
    pthread_cond_wait(&held->room, &held->mutex);
  bool gone = held->gone;
  if (!gone) {
    g_string_append_len(held->pending, bytes, (gssize)size);
    if (!held->in_flight) schedule(held);
  }
  pthread_mutex_unlock(&held->mutex);
  return gone ? TT_CLOSED : TT_OK;
}

/* The client may have the whole answer before this thread lets go of it: tt_web_free() waits for that, but not for long. */
static gpointer run(gpointer data) {
  answer *held = data;
  tt_web *web = held->web;
  tt_web_sink sink = {write_piece, held};
  tt_error error = {""};
  tt_status status = held->produce(held->produce_context, &sink, &error);
  tt_web_give_slot(web, TT_WEB_STREAMS);
  pthread_mutex_lock(&held->mutex);
  held->finished = true;
  held->status = status;
  held->error = error;
  if (!held->in_flight) schedule(held);
  pthread_mutex_unlock(&held->mutex);
  unref(held);
  tt_web_unref(web);
  return NULL;
}

/** The message goes, also without having finished: so it does where the server ends before its answer has begun. */
static void forget(gpointer data, GClosure *closure) {
  (void)closure;
  leave(data);
  unref(data);
}

void tt_web_respond_streaming(const tt_web_request *request, const char *content_type,
                              tt_web_producer *produce, void *context,
                              void (*release)(void *context)) {
  SoupServerMessage *message = request->message;
  if (!tt_web_take_slot(request->web, TT_WEB_STREAMS)) {
    tt_web_respond_error(request, TT_FULL, "too many long answers at the same time; try again");
    release(context);
    return;
  }
  answer *held = g_new0(answer, 1);
  g_atomic_ref_count_init(&held->references);
  held->web = request->web;
  held->context = g_main_context_ref(tt_web_context(request->web));
  held->message = message;
  held->produce = produce;
  held->produce_context = context;
  held->release = release;
  held->content_type = content_type;
  held->pending = g_string_new(NULL);
  pthread_mutex_init(&held->mutex, NULL);
  pthread_cond_init(&held->room, NULL);
  // A status says to libsoup that this is no WebSocket handshake gone wrong.
  soup_server_message_set_status(message, 200, NULL);
  soup_server_message_pause(message);
  g_signal_connect_data(message, "wrote-chunk", G_CALLBACK(on_wrote_chunk), ref(held), forget, 0);
  g_signal_connect_data(message, "finished", G_CALLBACK(on_finished), ref(held), forget, 0);
  tt_web_ref(request->web);
  g_thread_unref(g_thread_new("answer", run, held));
}
