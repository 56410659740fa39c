/* live_joystick.c: a page as the joystick of sharp-json: its sticks to a core over UDP, the core's heartbeat back. */
#include "control/sharp_link.h"
#include "web/live_internal.h"

#include <string.h>

#define EVERY_MS 10
#define HEARTBEAT_WITHIN 100000 /* µs */

struct tt_live_joystick {
  tt_live_page *page;
  char *core, *bind;
  int port;
  tt_net *net;
  tt_sharp_link link;
  int values[TT_JOYSTICK_VALUES];
  GSource *timer;
  int64_t heard; /* µs monotonic */
  bool connected;
};

static void say_connected(const tt_live_joystick *joystick) {
  GString *text = g_string_new(NULL);
  g_string_printf(text, "{\"type\":\"joystick\",\"connected\":%s}",
                  joystick->connected ? "true" : "false");
  tt_live_page_say(joystick->page, text);
}

static gboolean on_timer(gpointer data) {
  tt_live_joystick *joystick = data;
  int64_t now = g_get_monotonic_time();
  tt_net_poll(joystick->net, 0);
  if (joystick->link.heard) joystick->heard = now;
  joystick->link.heard = false;
  bool connected = joystick->heard && now - joystick->heard < HEARTBEAT_WITHIN;
  if (connected != joystick->connected) {
    joystick->connected = connected;
    say_connected(joystick);
  }
  tt_sharp_link_send(&joystick->link, &tt_sharp_joystick_format, joystick->values);
  return G_SOURCE_CONTINUE;
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
  if (!joystick->net || tt_sharp_link_open(&joystick->link, joystick->net, error) != TT_OK) {
    tt_live_joystick_free(joystick);
    return NULL;
  }
  joystick->timer = g_timeout_source_new(EVERY_MS);
  g_source_set_callback(joystick->timer, on_timer, joystick, NULL);
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
