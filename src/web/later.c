/* later.c: answers that take a while (a file to read, a database to ask), made in a thread of their own. */
#include "web/internal.h"

#include <sys/resource.h>

#define POLITE 5 /* below the world's thread, which has a time to keep */

typedef struct later {
  tt_web *web;
  tt_web_slot_kind kind;
  GMainContext *context;
  SoupServerMessage *message; /* NULL: the server is gone */
  tt_web_work *work;
  void *work_context;
  void (*release)(void *context);
  tt_web_answer answer;
  gboolean gone; /* web's thread: the client is no longer there */
} later;

static void on_finished(SoupServerMessage *message, gpointer data) {
  (void)message;
  ((later *)data)->gone = TRUE;
}

/* Written, or the client is gone. Web's thread. */
static void on_settled(SoupServerMessage *message, gpointer data) {
  (void)message;
  ((tt_web *)data)->answers_due--;
}

static void free_later(gpointer data) {
  later *held = data;
  g_clear_object(&held->message);
  g_string_free(held->answer.body, TRUE);
  held->release(held->work_context);
  g_free(held);
}

static void begin_waiting(tt_web *web, tt_web_slot_kind kind);

/* Web's thread. */
static gboolean answer(gpointer data) {
  later *held = data;
  tt_web_request request = {.web = held->web, .message = held->message};
  g_queue_remove(&held->web->working, held);
  g_signal_handlers_disconnect_by_data(held->message, held);
  if (!held->gone) {
    if (held->answer.status == TT_OK)
      tt_web_respond(&request, held->answer.code ? held->answer.code : 200,
                     held->answer.type ? held->answer.type : "application/json",
                     held->answer.body->str, held->answer.body->len);
    else
      tt_web_respond_error(&request, held->answer.status, held->answer.error.text);
    soup_server_message_unpause(held->message);
  }
  tt_web_give_slot(held->web, held->kind);
  begin_waiting(held->web, held->kind);
  return G_SOURCE_REMOVE;
}

/* The answer goes back through the web's loop; where that has ended meanwhile, nobody waits for it any more. */
static gpointer run(gpointer data) {
  later *held = data;
  GMainContext *context = held->context;
  setpriority(PRIO_PROCESS, 0, POLITE); /* this thread's alone */
  held->work(held->work_context, &held->answer);
  if (!held->answer.type) tt_web_make_valid(held->answer.body);
  tt_web_hand(context, answer, held, free_later);
  g_main_context_unref(context);
  return NULL;
}

/* Who came first begins first, as long as there are free slots. */
static void begin_waiting(tt_web *web, tt_web_slot_kind kind) {
  later *held;
  while ((held = g_queue_peek_head(&web->waiting[kind])) &&
         (held->gone || tt_web_take_slot(web, kind))) {
    g_queue_pop_head(&web->waiting[kind]);
    if (held->gone) {
      free_later(held);
      continue;
    }
    g_queue_push_tail(&web->working, held);
    held->context = g_main_context_ref(web->context);
    g_thread_unref(g_thread_new("later", run, held));
  }
}

static void leave(gpointer data, gpointer user) {
  (void)user;
  ((later *)data)->gone = TRUE;
}

void tt_web_leave_later(tt_web *web) {
  for (int kind = 0; kind < TT_WEB_SLOT_KINDS; kind++)
    g_queue_foreach(&web->waiting[kind], leave, NULL);
  g_queue_foreach(&web->working, leave, NULL);
}

void tt_web_forget_later(tt_web *web) {
  later *held;
  for (int kind = 0; kind < TT_WEB_SLOT_KINDS; kind++)
    while ((held = g_queue_pop_head(&web->waiting[kind]))) {
      g_signal_handlers_disconnect_by_data(held->message, held);
      free_later(held);
    }
  while ((held = g_queue_pop_head(&web->working))) {
    g_signal_handlers_disconnect_by_data(held->message, held);
    g_clear_object(&held->message);
  }
}

static void respond(const tt_web_request *request, tt_web_slot_kind kind, tt_web_work *work,
                    void *context, void (*release)(void *context)) {
  later *held = g_new0(later, 1);
  held->web = request->web;
  held->kind = kind;
  held->message = g_object_ref(request->message);
  held->work = work;
  held->work_context = context;
  held->release = release;
  held->answer.body = g_string_new(NULL);
  soup_server_message_set_status(held->message, 200, NULL); /* or libsoup takes it for unhandled */
  soup_server_message_pause(held->message);
  g_signal_connect(held->message, "finished", G_CALLBACK(on_finished), held);
  request->web->answers_due++;
  g_signal_connect(held->message, "finished", G_CALLBACK(on_settled), request->web);
  g_queue_push_tail(&request->web->waiting[kind], held);
  begin_waiting(request->web, kind);
}

void tt_web_respond_later(const tt_web_request *request, tt_web_work *work, void *context,
                          void (*release)(void *context)) {
  respond(request, TT_WEB_JOBS, work, context, release);
}

void tt_web_respond_at_leisure(const tt_web_request *request, tt_web_work *work, void *context,
                               void (*release)(void *context)) {
  respond(request, TT_WEB_CHORES, work, context, release);
}
