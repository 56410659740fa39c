/* live_joystick.c: a page as the joystick of sharp-json: its sticks to a core over UDP, the core's heartbeat back. */
#include "base/clock.h"
#include "control/joystick_pace.h"
#include "control/sharp_link.h"
#include "web/live_internal.h"

#include <string.h>

#define LOOK_US 5000         /* how often it is looked for a heartbeat */
#define HEARTBEAT_WITHIN 0.1 /* s */

struct tt_live_joystick {
  tt_live_page *page;
  char *core, *bind;
  int port;
  tt_net *net;
  tt_sharp_link link;
  int values[TT_JOYSTICK_VALUES];
  GSource *timer;
  tt_joystick_pace pace;
  bool connected;
};

static void say_connected(const tt_live_joystick *joystick) {
  GString *text = g_string_new(NULL);
  g_string_printf(text, "{\"type\":\"joystick\",\"connected\":%s}",
                  joystick->connected ? "true" : "false");
  tt_live_page_say(joystick->page, text);
}

static void hear(tt_live_joystick *joystick) {
  tt_net_poll(joystick->net, 0);
  if (joystick->link.heard) tt_joystick_pace_heard(&joystick->pace, joystick->link.heard_ns);
  joystick->link.heard = false;
  bool connected = tt_joystick_pace_connected(&joystick->pace, tt_monotonic_ns(), HEARTBEAT_WITHIN);
  if (connected == joystick->connected) return;
  joystick->connected = connected;
  say_connected(joystick);
}

/* Looks for a heartbeat, sends if a message may leave, and looks again when the next one may, or soon. */
static gboolean on_time(gpointer data) {
  tt_live_joystick *joystick = data;
  hear(joystick);
  uint64_t now = tt_monotonic_ns();
  if (now >= tt_joystick_pace_next(&joystick->pace)) {
    tt_sharp_link_send(&joystick->link, &tt_sharp_joystick_format, joystick->values);
    tt_joystick_pace_sent(&joystick->pace, now);
  }
  uint64_t next = tt_joystick_pace_next(&joystick->pace);
  int64_t left = next > now ? (int64_t)((next - now + 999) / 1000) : 0;
  g_source_set_ready_time(joystick->timer,
                          g_get_monotonic_time() + (left < LOOK_US ? left : LOOK_US));
  return G_SOURCE_CONTINUE;
}

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer data) {
  (void)source;
  return callback(data);
}

void tt_live_joystick_free(tt_live_joystick *joystick) {
  if (!joystick) return;
  if (joystick->timer) {
    g_source_destroy(joystick->timer);
    g_source_unref(joystick->timer);
    /* who leaves lets go of the sticks */
    memset(joystick->values, 0, sizeof joystick->values);
    tt_sharp_link_send(&joystick->link, &tt_sharp_joystick_format, joystick->values);
  }
  if (joystick->net) tt_net_free(joystick->net);
  g_free(joystick->core);
  g_free(joystick->bind);
  g_free(joystick);
}

static tt_live_joystick *open_joystick(tt_live_page *page, const char *core, int port,
                                       tt_error *error) {
  tt_live_joystick *joystick = g_new0(tt_live_joystick, 1);
  joystick->page = page;
  joystick->core = g_strdup(core);
  joystick->port = port;
  joystick->bind = g_strdup_printf("127.0.0.1:%d", port);
  joystick->net = tt_net_new();
  joystick->link = (tt_sharp_link){.name = "core",
                                   .bind = joystick->bind,
                                   .peer = joystick->core,
                                   .hears = &tt_sharp_heartbeat_format};
  joystick->pace.period = TT_SHARP_PERIOD;
  if (!joystick->net || tt_sharp_link_open(&joystick->link, joystick->net, error) != TT_OK) {
    tt_live_joystick_free(joystick);
    return NULL;
  }
  static GSourceFuncs by_time = {.dispatch = dispatch};
  joystick->timer = g_source_new(&by_time, sizeof(GSource));
  g_source_set_callback(joystick->timer, on_time, joystick, NULL);
  g_source_set_ready_time(joystick->timer, 0);
  g_source_attach(joystick->timer, tt_web_context(page->live->web));
  say_connected(joystick);
  return joystick;
}

void tt_live_joystick_set(tt_live_page *page, const char *core, int port, const int *values) {
  tt_error error = {.text = ""};
  if (page->joystick && (strcmp(page->joystick->core, core) != 0 || page->joystick->port != port)) {
    tt_live_joystick_free(page->joystick);
    page->joystick = NULL;
  }
  if (!*core) return;
  if (!page->joystick) page->joystick = open_joystick(page, core, port, &error);
  if (page->joystick)
    memcpy(page->joystick->values, values, sizeof page->joystick->values);
  else
    tt_live_page_say(page, tt_live_error(error.text));
}
