/* live_drive.c: what pages command, and which joysticks of driver stations they move. When a page is gone, whatever became of
 * it, its commands are safe and its joysticks unplugged, even if the world has no room for that now. */
#include "web/live_internal.h"

/* The world will drop it: who went by a picture from before a reset, or of another world, takes nothing from who goes by a newer
 * one. Pictures are made of `latest`: nobody has seen a newer one of this world. */
static bool is_void(const tt_live *live, uint64_t meant_for) {
  return meant_for != 0 && meant_for != (uint64_t)live->latest->epoch + 1;
}

void tt_live_page_commands(tt_live_page *page, const tt_live_order *order) {
  tt_live *live = page->live;
  if (is_void(live, order->command.meant_for)) return;
  for (int i = 0; i < order->command.count; i++) {
    const int command = order->command.values[i].command;
    for (guint other = 0; other < live->pages->len; other++) /* who commanded last commands */
      ((tt_live_page *)live->pages->pdata[other])->commands[command] = false;
    page->commands[command] = true;
    tt_wanted_set(live->wanted, command, order->command.values[i].value, order->command.meant_for);
  }
  tt_wanted_post(live->wanted);
}

/* A world without robots has one, too. */
static int station_count(const tt_live *live) { return MAX(live->model->robot_count, 1); }

void tt_live_page_moves(tt_live_page *page, const tt_ds_order *order) {
  tt_live *live = page->live;
  const tt_ds_joystick *stick = &order->joystick;
  bool plugged = stick->axis_count || stick->button_count || stick->pov_count;
  uint8_t bit = (uint8_t)(1u << order->value);
  for (int robot = 0; robot < station_count(live); robot++) {
    if (order->robot >= 0 && order->robot != robot) continue;
    for (guint other = 0; other < live->pages->len; other++) /* who moved it last moves it */
      ((tt_live_page *)live->pages->pdata[other])->held[robot] &= (uint8_t)~bit;
    if (plugged) page->held[robot] |= bit;
  }
  tt_wanted_stick(live->wanted, order);
  tt_wanted_post(live->wanted);
}

static void unplug(tt_live *live, int robot, uint8_t sticks) {
  for (int i = 0; i < TT_DS_JOYSTICKS; i++)
    if (sticks >> i & 1)
      tt_wanted_stick(live->wanted,
                      &(tt_ds_order){.kind = TT_DS_JOYSTICK, .robot = robot, .value = i});
}

void tt_live_page_lets_go(tt_live_page *page) {
  tt_live *live = page->live;
  for (int i = 0; i < live->model->command_count; i++)
    if (page->commands[i]) tt_wanted_let_go(live->wanted, i);
  for (int robot = 0; robot < station_count(live); robot++) unplug(live, robot, page->held[robot]);
}
