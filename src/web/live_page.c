/* live_page.c: one page: what waits for it, and what it gets next. */
#include "web/live_internal.h"

#include <string.h>

#define MOST_TEXTS 256
#define MOST_LEFT                                                                                  \
  4 /* messages of subscriptions that are over; no page changes its mind more often */
#define POSE_EVERY 15000    /* µs: 60 a second, with a little slack for the timer */
#define SAMPLES_EVERY 50000 /* µs */
#define MOST_SAMPLE_DOUBLES                                                                        \
  65536 /* waiting for a slow page; then the oldest are lost, and counted */

/* ---- little-endian binary ---- */

void tt_live_put_u16(GString *to, unsigned value) {
  uint16_t little = GUINT16_TO_LE((uint16_t)value);
  g_string_append_len(to, (const char *)&little, sizeof little);
}

static void put_u32(GString *to, uint32_t value) {
  uint32_t little = GUINT32_TO_LE(value);
  g_string_append_len(to, (const char *)&little, sizeof little);
}

void tt_live_put_f32(GString *to, double value) {
  float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  put_u32(to, bits);
}

static void put_f64(GString *to, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits = GUINT64_TO_LE(bits);
  g_string_append_len(to, (const char *)&bits, sizeof bits);
}

/* ---- pose frames ---- */

static void put_contacts(GString *to, const tt_view *view) {
  for (int i = 0; i < view->contact_count; i++) {
    const tt_contact *contact = &view->contacts[i];
    for (int k = 0; k < 3; k++) tt_live_put_f32(to, contact->position[k]);
    for (int k = 0; k < 3; k++) tt_live_put_f32(to, contact->force[k]);
    tt_live_put_u16(to, (unsigned)contact->body1);
    tt_live_put_u16(to, (unsigned)contact->body2);
  }
}

static void put_pose_frame(GString *to, const tt_live_page *page, const tt_view *view) {
  g_string_append_c(to, 1);
  g_string_append_c(to, page->contacts ? 1 : 0);
  tt_live_put_u16(to, tt_live_phantom_count(page->live));
  put_u32(to, page->sequence);
  put_f64(to, view->time);
  put_u32(to, view->epoch);
  tt_live_put_u16(to, (unsigned)view->model->body_count);
  tt_live_put_u16(to, page->contacts ? (unsigned)view->contact_count : 0);
  for (int b = 0; b < view->model->body_count; b++) {
    for (int k = 0; k < 3; k++) tt_live_put_f32(to, view->body_position[b][k]);
    for (int k = 0; k < 4; k++) tt_live_put_f32(to, view->body_rotation[b][k]);
  }
  if (page->contacts) put_contacts(to, view);
  tt_live_put_phantoms(to, page->live);
}

/* At most so many under way: a slow page gets fewer frames, never old ones. */
static bool pose_is_due(tt_live_page *page, int64_t now) {
  const tt_live *live = page->live;
  bool first = page->sequence == 0;
  if (!first && page->pose_shown == live->pose_number) return false;
  if (page->sequence - page->acknowledged >= TT_LIVE_FRAMES_UNDER_WAY) return false;
  return first || now - page->pose_sent >= POSE_EVERY;
}

static void next_pose(tt_live_page *page, GString *frame, int64_t now) {
  const tt_live *live = page->live;
  page->sequence++;
  page->pose_shown = live->pose_number;
  page->pose_sent = now;
  put_pose_frame(frame, page, live->latest);
}

/* ---- samples ---- */

static void drop_oldest_samples(tt_live_subscription *plot, guint row) {
  guint rows = plot->samples->len / row / 2 + 1;
  plot->lost += rows;
  g_array_remove_range(plot->samples, 0, rows * row);
}

void tt_live_page_sample(tt_live_page *page, const tt_view *view, uint64_t lost) {
  tt_live_subscription *plot = &page->plot;
  if (plot->count == 0) return;
  plot->lost += (uint32_t)lost;
  bool turned_back = view->time < plot->next - 2 * plot->period;
  if (!turned_back && view->time < plot->next - 1e-9) return;
  plot->next = turned_back ? view->time + plot->period : plot->next + plot->period;
  if (plot->next <= view->time) plot->next = view->time + plot->period;
  guint row = (guint)plot->count + 1;
  if (plot->samples->len + row > MOST_SAMPLE_DOUBLES) drop_oldest_samples(plot, row);
  g_array_append_val(plot->samples, view->time);
  for (int i = 0; i < plot->count; i++) {
    double value = tt_signal_read(&plot->signals[i], view);
    g_array_append_val(plot->samples, value);
  }
}

static bool samples_are_due(const tt_live_page *page, int64_t now) {
  return page->plot.samples->len > 0 && now - page->plot.sent >= SAMPLES_EVERY;
}

static void put_samples(tt_live_subscription *plot, GString *frame) {
  g_string_append_c(frame, 2);
  g_string_append_c(frame, 0);
  tt_live_put_u16(frame, (unsigned)plot->count);
  put_u32(frame, plot->number);
  put_u32(frame, plot->samples->len / ((guint)plot->count + 1));
  put_u32(frame, plot->lost);
  for (guint i = 0; i < plot->samples->len; i++)
    put_f64(frame, g_array_index(plot->samples, double, i));
  g_array_set_size(plot->samples, 0);
  plot->lost = 0;
}

void tt_live_page_end_plot(tt_live_page *page) {
  tt_live_subscription *plot = &page->plot;
  if (plot->samples->len && page->left.length < MOST_LEFT) {
    GString *message = g_string_new(NULL);
    put_samples(plot, message);
    g_queue_push_tail(&page->left, message);
  }
  plot->lost += plot->samples->len / ((guint)plot->count + 1); /* told with the next samples */
  g_array_set_size(plot->samples, 0);
}

/* ---- what comes next ---- */

static bool next_frame(void *context, GString *frame, bool *binary) {
  tt_live_page *page = context;
  int64_t now = g_get_monotonic_time();
  GString *message = g_queue_pop_head(&page->texts);
  *binary = message == NULL;
  if (!message) message = g_queue_pop_head(&page->left);
  if (message) {
    g_string_append_len(frame, message->str, (gssize)message->len);
    g_string_free(message, TRUE);
    return true;
  }
  if (samples_are_due(page, now)) {
    put_samples(&page->plot, frame);
    page->plot.sent = now;
    return true;
  }
  if (pose_is_due(page, now)) {
    next_pose(page, frame, now);
    return true;
  }
  return false;
}

static void free_text(gpointer text) { g_string_free(text, TRUE); }

static void on_closed(void *context) {
  tt_live_page *page = context;
  tt_live_page_free(page->live, page);
  tt_live_joystick_free(page->joystick);
  g_queue_clear_full(&page->texts, free_text);
  g_queue_clear_full(&page->left, free_text);
  g_array_free(page->plot.samples, TRUE);
  tt_web_stream_unref(page->stream);
  g_free(page);
}

static void on_message(SoupWebsocketConnection *connection, SoupWebsocketDataType type,
                       GBytes *message, gpointer data) {
  (void)connection;
  gsize size;
  const char *bytes = g_bytes_get_data(message, &size);
  if (type == SOUP_WEBSOCKET_DATA_TEXT) tt_live_request(data, bytes, size);
}

void tt_live_page_say(tt_live_page *page, GString *text) {
  if (page->texts.length >= MOST_TEXTS) {
    free_text(g_queue_pop_nth(&page->texts, 2)); /* hello and model stay */
    page->frames_dropped++;
  }
  g_queue_push_tail(&page->texts, text);
}

tt_live_page *tt_live_page_new(tt_live *live, const tt_web_request *request,
                               SoupWebsocketConnection *connection) {
  static const tt_web_stream_source source = {.next = next_frame, .closed = on_closed};
  tt_live_page *page = g_new0(tt_live_page, 1);
  page->live = live;
  page->connection = connection;
  page->monitor = -1;
  page->plot.samples = g_array_new(FALSE, FALSE, sizeof(double));
  g_queue_init(&page->texts);
  g_queue_init(&page->left);
  page->stream = tt_web_stream_new(request, connection, &source, page);
  g_signal_connect(connection, "message", G_CALLBACK(on_message), page);
  return page;
}
