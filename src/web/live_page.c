/* live_page.c: what waits for a page: texts, and samples of what it plots. */
#include "web/live_internal.h"

#include <string.h>

#define MOST_TEXTS 256
#define MOST_LEFT                                                                                  \
  4 /* messages of subscriptions that are over; no page changes its mind more often */
#define MOST_SAMPLE_DOUBLES                                                                        \
  65536 /* waiting for a slow page; then the oldest are lost, and counted */

/* ---- little-endian binary ---- */

void tt_live_put_u16(GString *to, unsigned value) {
  uint16_t little = GUINT16_TO_LE((uint16_t)value);
  g_string_append_len(to, (const char *)&little, sizeof little);
}

void tt_live_put_u32(GString *to, uint32_t value) {
  uint32_t little = GUINT32_TO_LE(value);
  g_string_append_len(to, (const char *)&little, sizeof little);
}

void tt_live_put_f32(GString *to, double value) {
  float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  tt_live_put_u32(to, bits);
}

void tt_live_put_f64(GString *to, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits = GUINT64_TO_LE(bits);
  g_string_append_len(to, (const char *)&bits, sizeof bits);
}

/* ---- samples ---- */

double tt_live_run_time(const tt_view *view) {
  return tt_model_time(view->model, view->total_step);
}

static void drop_oldest_samples(tt_live_subscription *plot, guint row) {
  guint rows = plot->samples->len / row / 2 + 1;
  plot->lost += rows;
  g_array_remove_range(plot->samples, 0, rows * row);
}

void tt_live_page_sample(tt_live_page *page, const tt_view *view, uint64_t lost) {
  tt_live_subscription *plot = &page->plot;
  if (plot->count == 0) return;
  plot->lost += (uint32_t)lost;
  double time = tt_live_run_time(view);
  /* Somebody looks back in a replay, or a reset changed what stands still. */
  bool jumped = time <= plot->seen;
  plot->seen = time;
  if (!jumped && time < plot->next - 1e-9) return;
  plot->next = jumped ? time + plot->period : plot->next + plot->period;
  if (plot->next <= time) plot->next = time + plot->period;
  guint row = (guint)plot->count + 1;
  if (plot->samples->len + row > MOST_SAMPLE_DOUBLES) drop_oldest_samples(plot, row);
  g_array_append_val(plot->samples, time);
  for (int i = 0; i < plot->count; i++) {
    double value = tt_signal_read(&plot->signals[i], view);
    g_array_append_val(plot->samples, value);
  }
}

void tt_live_page_sample_standing(tt_live_page *page) {
  tt_world_status now;
  tt_world_get_status(page->live->world, &now);
  if (now.paused && !page->live->awaits_view) tt_live_page_sample(page, page->live->latest, 0);
}

void tt_live_page_put_samples(tt_live_subscription *plot, GString *frame) {
  g_string_append_c(frame, 2);
  g_string_append_c(frame, 0);
  tt_live_put_u16(frame, (unsigned)plot->count);
  tt_live_put_u32(frame, plot->number);
  tt_live_put_u32(frame, plot->samples->len / ((guint)plot->count + 1));
  tt_live_put_u32(frame, plot->lost);
  for (guint i = 0; i < plot->samples->len; i++)
    tt_live_put_f64(frame, g_array_index(plot->samples, double, i));
  g_array_set_size(plot->samples, 0);
  plot->lost = 0;
}

void tt_live_page_end_plot(tt_live_page *page) {
  tt_live_subscription *plot = &page->plot;
  if (plot->samples->len && page->left.length < MOST_LEFT) {
    GString *message = g_string_new(NULL);
    tt_live_page_put_samples(plot, message);
    g_queue_push_tail(&page->left, message);
  }
  plot->lost += plot->samples->len / ((guint)plot->count + 1); /* told with the next samples */
  g_array_set_size(plot->samples, 0);
}

/* ---- texts ---- */

void tt_live_page_say(tt_live_page *page, GString *text) {
  tt_web_make_valid(text);
  if (page->texts.length >= MOST_TEXTS) {
    g_string_free(g_queue_pop_nth(&page->texts, 2), TRUE); /* hello and model stay */
    page->frames_dropped++;
  }
  g_queue_push_tail(&page->texts, text);
}

void tt_live_say_to_all(tt_live *live, GString *text) {
  for (guint i = 0; i < live->pages->len; i++)
    tt_live_page_say(live->pages->pdata[i], g_string_new_len(text->str, (gssize)text->len));
  g_string_free(text, TRUE);
}
