/* live_request.c: what a page asks for is done, most of it by the world's mailbox. */
#include "web/live_internal.h"

#include <stdio.h>

static void say_busy(tt_live_page *page) {
  tt_live_page_say(page, tt_live_error("the world is busy; try again"));
}

static void post_mail(tt_live_page *page, const tt_mail *mail) {
  if (tt_world_post(page->live->world, mail) != TT_OK) say_busy(page);
}

static void post(tt_live_page *page, tt_mail_kind kind, int index, double value) {
  post_mail(page, &(tt_mail){.kind = kind, .index = index, .value = value, .source = "web"});
}

/* A page monitors another wire, or none: −1. The world shows messages of wires that some page monitors. */
bool tt_live_monitor(tt_live_page *page, int wire) {
  tt_live *live = page->live;
  const int before = page->monitor;
  bool others = false;
  page->monitor = wire;
  for (guint i = 0; i < live->pages->len; i++)
    others |= ((tt_live_page *)live->pages->pdata[i])->monitor == before;
  tt_mail mail = {.kind = TT_MAIL_TAP, .index = before, .source = "web"};
  if (before >= 0 && !others) tt_world_post(live->world, &mail);
  mail.index = wire;
  mail.value = 1;
  return wire < 0 || tt_world_post(live->world, &mail) == TT_OK;
}

/* The first of a page's commands that is out of its range; NULL: none is. */
static GString *find_out_of_range(const tt_live *live, const tt_live_order *order) {
  for (int i = 0; i < order->command.count; i++) {
    const int index = order->command.values[i].command;
    const double value = order->command.values[i].value;
    const tt_command *of = &live->model->commands[index];
    if (value >= of->lower && value <= of->upper) continue;
    char text[400];
    snprintf(text, sizeof text, "command: %s: %g is out of its range; in SI it is %g to %g",
             tt_names_command(tt_world_names(live->world), index), value, of->lower, of->upper);
    return tt_live_error(text);
  }
  return NULL;
}

/* All of them, or none. */
static void command(tt_live_page *page, const tt_live_order *order) {
  GString *wrong = find_out_of_range(page->live, order);
  if (wrong) {
    tt_live_page_say(page, wrong);
    return;
  }
  tt_live_page_commands(page, order);
}

static void acknowledge(tt_live_page *page, const tt_live_order *order) {
  if (order->sequence > page->acknowledged && order->sequence <= page->sequence)
    page->acknowledged = order->sequence;
}

static void subscribe(tt_live_page *page, const tt_live_order *order) {
  tt_live_subscription *plot = &page->plot;
  int known;
  const tt_signal_entry *entries = tt_names_signals(tt_world_names(page->live->world), &known);
  double period = 1 / order->subscribe.rate;
  tt_live_page_end_plot(page);
  if (period != plot->period) plot->next = 0;
  plot->number = order->subscribe.number;
  plot->period = period;
  plot->count = order->subscribe.count;
  for (int i = 0; i < plot->count; i++)
    plot->signals[i] = entries[order->subscribe.signals[i]].signal;
  tt_live_page_sample_standing(page);
}

static void note(tt_live_page *page, const char *source, const char *text) {
  tt_mail mail = {.kind = TT_MAIL_TELL};
  g_strlcpy(mail.source, source, sizeof mail.source);
  g_strlcpy(mail.text, text, sizeof mail.text);
  post_mail(page, &mail);
}

static void order_station(tt_live_page *page, const tt_ds_order *order) {
  if (order->kind == TT_DS_JOYSTICK)
    tt_live_page_moves(page, order);
  else
    post_mail(page, &(tt_mail){.kind = TT_MAIL_STATION, .source = "web", .station = *order});
}

/* What changes nothing but what this page is shown, anybody may ask for who may look. */
static tt_role role_needed(tt_live_order_kind kind) {
  switch (kind) {
    case TT_ORDER_ACKNOWLEDGE:
    case TT_ORDER_SUBSCRIBE:
    case TT_ORDER_MONITOR:
    case TT_ORDER_CONTACTS: return TT_ROLE_WATCH;
    case TT_ORDER_CONTROL:
    case TT_ORDER_COMMAND:
    case TT_ORDER_JOYSTICK:
    case TT_ORDER_STATION:
    case TT_ORDER_TRIAL:
    case TT_ORDER_ADD_PHANTOM:
    case TT_ORDER_REMOVE_PHANTOM: break;
  }
  return TT_ROLE_DRIVE;
}

static void obey(tt_live_page *page, const tt_live_order *order) {
  switch (order->kind) {
    case TT_ORDER_ACKNOWLEDGE: acknowledge(page, order); break;
    case TT_ORDER_SUBSCRIBE: subscribe(page, order); break;
    case TT_ORDER_CONTROL:
      post(page, order->control.kind, order->control.robot, order->control.value);
      break;
    case TT_ORDER_COMMAND: command(page, order); break;
    case TT_ORDER_MONITOR:
      if (!tt_live_monitor(page, order->wire)) say_busy(page);
      break;
    case TT_ORDER_CONTACTS: page->contacts = order->on; break;
    case TT_ORDER_JOYSTICK:
      tt_live_joystick_set(page, order->joystick.core, order->joystick.port,
                           order->joystick.values);
      break;
    case TT_ORDER_STATION: order_station(page, &order->station); break;
    case TT_ORDER_TRIAL: note(page, "trial", order->trial); break;
    case TT_ORDER_ADD_PHANTOM: tt_live_phantom_add(page, order->run); break;
    case TT_ORDER_REMOVE_PHANTOM: tt_live_phantom_remove(page, order->phantom); break;
  }
}

static tt_live_counts count_what_is(const tt_live *live) {
  tt_live_counts counts = {.commands = live->model->command_count,
                           .robots = live->model->robot_count,
                           .wires = tt_world_wire_count(live->world)};
  tt_names_signals(tt_world_names(live->world), &counts.signals);
  return counts;
}

void tt_live_request(tt_live_page *page, const char *text, size_t size) {
  tt_live_order order;
  tt_error error;
  tt_live_counts counts = count_what_is(page->live);
  if (tt_live_order_read(text, size, &counts, &order, &error) != TT_OK)
    tt_live_page_say(page, tt_live_error(error.text));
  else if (page->role < role_needed(order.kind))
    tt_live_page_say(page, tt_live_error("this needs a token of the role drive; yours may watch"));
  else
    obey(page, &order);
}
