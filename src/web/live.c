/* live.c: the hub of live pages: what the world publishes goes to each; pages come and go. */
#include "base/clock.h"
#include "web/live_internal.h"
#include "web/metrics.h"

#include <stdio.h>

#define VIEWS 1024
#define EVENTS 256
#define TIMER_MS 16 /* 60 frames a second */
#define SMALLEST_GAP_NS                                                                            \
  1000000u /* wall: a free-running world is shown a thousand times a second at most */
#define BURST_NS 100000000u /* wall: what a late world makes up for at once is shown all the same */
#define SMALLEST_GAP 0.0005 /* s simulated */
#define STATUS_EVERY 200000 /* µs */
#define MESSAGE_EVERY 50000 /* µs: 20 monitored messages a second are as many as anybody reads */

/* ---- the world's thread ---- */

static bool is_of_moment_seen(const tt_live *live, const tt_view *view) {
  return view->epoch == live->seen_epoch && view->total_step == live->seen_step;
}

static void see(tt_live *live, const tt_view *view) {
  live->seen_epoch = view->epoch;
  live->seen_step = view->total_step;
}

static void push(tt_live *live, const tt_view *view) {
  live->pushed_for = atomic_load_explicit(&live->openings, memory_order_relaxed);
  tt_view_queue_push(live->views, view);
}

/* The world was reset, or went to a place of a kept run; or nothing passed since the view before, and yet there is another: a robot
 * was reset. A world that is paused shows no later one. */
static bool has_jumped(const tt_live *live, const tt_view *view) {
  return view->epoch != live->seen_epoch || is_of_moment_seen(live, view);
}

static void publish(tt_observer *observer, const tt_view *view) {
  tt_live *live = (tt_live *)observer;
  live->pushed_for = 0;
  if (atomic_load_explicit(&live->watchers, memory_order_relaxed) == 0) return;
  const bool jumped = has_jumped(live, view);
  see(live, view);
  if (!jumped && view->time < live->next_push_time) return;
  uint64_t now = tt_monotonic_ns();
  if (!jumped && now < live->next_push_ns) return;
  if (now - live->next_push_ns > BURST_NS) live->next_push_ns = now - BURST_NS;
  live->next_push_ns += SMALLEST_GAP_NS;
  live->next_push_time = view->time + SMALLEST_GAP;
  push(live, view);
}

/* What stands still was published while nobody looked; what was pushed, since it was published just then, is not pushed twice. */
static void show(tt_observer *observer, const tt_view *view) {
  tt_live *live = (tt_live *)observer;
  const unsigned opening = atomic_load_explicit(&live->openings, memory_order_relaxed);
  if (live->pushed_for == opening && is_of_moment_seen(live, view)) return;
  see(live, view);
  push(live, view);
}

static void note_event(tt_observer *observer, uint64_t step, const char *source, const char *text) {
  tt_live *live = (tt_live *)observer;
  if (atomic_load_explicit(&live->watchers, memory_order_relaxed) == 0) return;
  tt_live_event event = {.step = step};
  snprintf(event.source, sizeof event.source, "%s", source);
  snprintf(event.text, sizeof event.text, "%s", text);
  tt_queue_push(live->events, &event);
}

/* ---- the web's thread ---- */

static void take_views(tt_live *live) {
  uint64_t lost;
  for (const tt_view *view; (view = tt_view_queue_front(live->views, &lost));) {
    for (guint i = 0; i < live->pages->len; i++)
      tt_live_page_sample(live->pages->pdata[i], view, lost);
    tt_view_copy(live->latest, view);
    live->awaits_view = false;
    live->pose_number++;
    tt_view_queue_pop(live->views);
  }
}

static void take_events(tt_live *live) {
  tt_live_event event;
  while (tt_queue_pop(live->events, &event)) tt_live_say_to_all(live, tt_live_event_text(&event));
}

static void show_status(tt_live *live, int64_t now) {
  if (now - live->status_at < STATUS_EVERY) return;
  live->status_at = now;
  for (guint i = 0; i < live->pages->len; i++) {
    tt_live_page *page = live->pages->pdata[i];
    tt_live_page_say(page, tt_live_status(live, page));
  }
}

static void show_message(tt_live *live, const tt_tapped *message) {
  for (guint i = 0; i < live->pages->len; i++) {
    tt_live_page *page = live->pages->pdata[i];
    if (page->monitor == message->wire) tt_live_page_say(page, tt_live_message(live, message));
  }
}

/* The newest message of each wire and direction; what came between is not shown. */
static void take_messages(tt_live *live, int64_t now) {
  tt_tapped message;
  if (now - live->message_at < MESSAGE_EVERY) return;
  live->message_at = now;
  while (tt_world_take_tapped(live->world, &message)) {
    guint at = 0;
    for (; at < live->messages->len; at++) {
      const tt_tapped *other = &g_array_index(live->messages, tt_tapped, at);
      if (other->wire == message.wire && other->incoming == message.incoming) break;
    }
    if (at == live->messages->len) g_array_set_size(live->messages, at + 1);
    g_array_index(live->messages, tt_tapped, at) = message;
  }
  for (guint i = 0; i < live->messages->len; i++)
    show_message(live, &g_array_index(live->messages, tt_tapped, i));
  g_array_set_size(live->messages, 0);
}

static void stop_timer(tt_live *live) {
  if (!live->timer) return;
  g_source_destroy(live->timer);
  g_clear_pointer(&live->timer, g_source_unref);
}

/* It goes on without pages as long as the world does not know that they let go. */
static void stop_timer_if_idle(tt_live *live) {
  if (tt_wanted_post(live->wanted) && live->pages->len == 0) stop_timer(live);
}

static gboolean on_timer(gpointer data) {
  tt_live *live = data;
  int64_t now = g_get_monotonic_time();
  take_views(live);
  take_events(live);
  take_messages(live, now);
  show_status(live, now);
  for (guint i = 0; i < live->pages->len; i++)
    tt_web_stream_wake(((tt_live_page *)live->pages->pdata[i])->stream);
  stop_timer_if_idle(live);
  return G_SOURCE_CONTINUE;
}

static void start_timer(tt_live *live) {
  if (live->timer) return;
  live->timer = g_timeout_source_new(TIMER_MS);
  g_source_set_callback(live->timer, on_timer, live, NULL);
  g_source_attach(live->timer, tt_web_context(live->web));
}

/* ---- a page comes and goes ---- */

static void forget_page(tt_live *live, tt_live_page *page) {
  tt_live_monitor(page, -1);
  g_ptr_array_remove(live->pages, page);
  atomic_fetch_sub(&live->watchers, 1);
}

static void free_text(gpointer text) { g_string_free(text, TRUE); }

static void on_closed(void *context) {
  tt_live_page *page = context;
  forget_page(page->live, page);
  tt_live_joystick_free(page->joystick);
  tt_live_page_lets_go(page);
  stop_timer_if_idle(page->live);
  g_queue_clear_full(&page->texts, free_text);
  g_queue_clear_full(&page->left, free_text);
  g_array_free(page->plot.samples, TRUE);
  tt_web_stream_unref(page->stream);
  g_free(page->commands);
  g_free(page);
}

static void on_message(SoupWebsocketConnection *connection, SoupWebsocketDataType type,
                       GBytes *message, gpointer data) {
  (void)connection;
  gsize size;
  const char *bytes = g_bytes_get_data(message, &size);
  if (type == SOUP_WEBSOCKET_DATA_TEXT) tt_live_request(data, bytes, size);
}

static tt_live_page *new_page(tt_live *live, const tt_web_request *request,
                              SoupWebsocketConnection *connection) {
  static const tt_web_stream_source source = {.next = tt_live_next_frame, .closed = on_closed};
  tt_live_page *page = g_new0(tt_live_page, 1);
  page->live = live;
  page->connection = connection;
  page->role = request->role;
  page->monitor = -1;
  page->commands = g_new0(bool, live->model->command_count + 1);
  page->plot.samples = g_array_new(FALSE, FALSE, sizeof(double));
  g_queue_init(&page->texts);
  g_queue_init(&page->left);
  page->stream = tt_web_stream_new(request, connection, &source, page);
  g_signal_connect(connection, "message", G_CALLBACK(on_message), page);
  return page;
}

/* Where nobody looked before, what was shown last may be old, and nothing new comes of a world that is paused. */
static void add_watcher(tt_live *live) {
  const bool first = atomic_load(&live->watchers) == 0;
  live->awaits_view |= first;
  if (first) atomic_fetch_add(&live->openings, 1);
  atomic_fetch_add(&live->watchers, 1);
  if (first) tt_world_post(live->world, &(tt_mail){.kind = TT_MAIL_SHOW, .source = "web"});
}

static void on_open(void *context, const tt_web_request *request,
                    SoupWebsocketConnection *connection) {
  tt_live *live = context;
  tt_live_page *page = new_page(live, request, connection);
  tt_live_page_say(page, tt_live_hello(live, page->role));
  tt_live_page_say(page, g_string_new_len(live->model_text->str, (gssize)live->model_text->len));
  tt_live_phantoms_greet(page);
  g_ptr_array_add(live->pages, page);
  add_watcher(live);
  start_timer(live);
  tt_web_stream_wake(page->stream);
}

/* ---- opening and closing ---- */

tt_status tt_live_open(tt_web *web, const tt_live_options *options, tt_live **made,
                       tt_error *error) {
  static const char live_path[] = "/live";
  tt_live *live = g_new0(tt_live, 1);
  live->observer = (tt_observer){.publish = publish, .event = note_event, .show = show};
  live->options = *options;
  live->web = web;
  live->world = options->world;
  live->model = tt_world_model(options->world);
  live->views = tt_view_queue_new(live->model, VIEWS);
  live->events = tt_queue_new(EVENTS, sizeof(tt_live_event));
  live->latest = tt_view_new(live->model);
  live->pages = g_ptr_array_new();
  live->wanted = tt_wanted_new(options->world, "web");
  live->messages = g_array_new(FALSE, FALSE, sizeof(tt_tapped));
  tt_live_phantoms_new(live);
  *made = live;
  if (!live->views || !live->events || !live->latest || !live->wanted) {
    tt_live_close(live);
    *made = NULL;
    return tt_fail(error, TT_NOMEM, "out of memory for the pages' stream");
  }
  tt_view_copy(live->latest, tt_world_view(options->world));
  snprintf(live->token, sizeof live->token, "%llx", (unsigned long long)g_get_real_time());
  live->model_text = tt_live_model(live);
  tt_live_add_scenery(live);
  tt_web_add_metrics(web, tt_live_write_metrics, live);
  tt_web_add_socket(web, &(tt_web_socket_route){.path = live_path,
                                                .role = TT_ROLE_WATCH,
                                                .open = on_open,
                                                .max_message = 65536,
                                                .context = live});
  return TT_OK;
}

tt_observer *tt_live_observer(tt_live *live) { return &live->observer; }

void tt_live_close(tt_live *live) {
  if (!live) return;
  stop_timer(live);
  tt_view_queue_free(live->views);
  tt_queue_free(live->events);
  tt_view_free(live->latest);
  tt_wanted_free(live->wanted);
  if (live->model_text) g_string_free(live->model_text, TRUE);
  g_ptr_array_free(live->pages, TRUE);
  g_array_free(live->messages, TRUE);
  tt_live_phantoms_free(live);
  g_free(live);
}
