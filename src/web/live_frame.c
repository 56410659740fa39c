/* live_frame.c: what a page gets next: a text, samples, or the newest poses. */
#include "web/live_internal.h"

#define POSE_EVERY 15000    /* µs: 60 a second, with a little slack for the timer */
#define SAMPLES_EVERY 50000 /* µs */

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
  tt_live_put_u32(to, page->sequence);
  tt_live_put_f64(to, tt_live_run_time(view));
  tt_live_put_u32(to, view->epoch);
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

static bool samples_are_due(const tt_live_page *page, int64_t now) {
  return page->plot.samples->len > 0 && now - page->plot.sent >= SAMPLES_EVERY;
}

bool tt_live_next_frame(void *context, GString *frame, bool *binary) {
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
    tt_live_page_put_samples(&page->plot, frame);
    page->plot.sent = now;
    return true;
  }
  if (pose_is_due(page, now)) {
    next_pose(page, frame, now);
    return true;
  }
  return false;
}
