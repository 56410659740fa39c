/* world_output.c: what leaves a world: its view, to wires and observers, and its status, to other threads. */
#include "host/world_internal.h"

#include <string.h>

#define SHOW_EVERY_NS 5000000u /* how often other threads get fresh stats */

bool tt_wire_due(const tt_world *world, const tt_wire_slot *slot) {
  return slot->open && world->clock->step % slot->wire.period_steps == 0;
}

void tt_world_sense(tt_world *world) {
  tt_sim_own_view(world->sim)->late_ticks = world->pacer.late_ticks;
  world->source->sense(world->source);
}

void tt_world_send(tt_world *world, int robot) {
  for (int i = 0; i < world->wire_count; i++) {
    tt_wire_slot *slot = &world->wires[i];
    bool concerned = robot == TT_NO_ROBOT || slot->wire.robot == robot;
    if (concerned && tt_wire_due(world, slot)) slot->wire.ops->send(&slot->wire, world->view);
  }
}

void tt_world_publish(tt_world *world) {
  tt_sim_mark(world->sim);
  for (int i = 0; i < world->observer_count; i++)
    world->observers[i]->publish(world->observers[i], world->view);
}

void tt_world_show_view(tt_world *world) {
  for (int i = 0; i < world->observer_count; i++) {
    tt_observer *observer = world->observers[i];
    if (observer->show) observer->show(observer, world->view);
  }
}

void tt_world_start(tt_world *world) {
  tt_world_sense(world);
  tt_world_send(world, TT_NO_ROBOT);
  tt_world_publish(world);
}

/* ---- for other threads ---- */

static int count_enabled(const tt_world *world) {
  int count = 0;
  for (int i = 0; i < world->model->robot_count; i++) count += world->stations.of[i].enabled;
  return count;
}

void tt_world_show(tt_world *world, uint64_t now) {
  if (now - world->shown_at < SHOW_EVERY_NS) return;
  world->shown_at = now;
  tt_sim_own_view(world->sim)->real_time_factor =
      world->paused ? 0 : tt_pacer_factor(&world->pacer, now);
  if (pthread_mutex_trylock(&world->shown_lock) != 0) return;
  world->shown = (tt_world_status){.time = world->view->time,
                                   .real_time_factor = world->view->real_time_factor,
                                   .speed = world->pacer.speed,
                                   .step = world->clock->step,
                                   .tick = world->tick,
                                   .late_ticks = world->pacer.late_ticks,
                                   .paused = world->paused,
                                   .stopped = world->stopped,
                                   .period = world->stations.period,
                                   .robots = world->model->robot_count,
                                   .enabled = count_enabled(world),
                                   .wire_count = world->wire_count};
  for (int i = 0; i < world->wire_count; i++) {
    world->shown_stats[i] = world->wires[i].wire.stats;
    world->shown_states[i] = world->wires[i].wire.state;
  }
  memcpy(world->shown_stations, world->stations.of,
         (size_t)world->stations.count * sizeof *world->shown_stations);
  pthread_mutex_unlock(&world->shown_lock);
}

void tt_world_get_status(tt_world *world, tt_world_status *status) {
  pthread_mutex_lock(&world->shown_lock);
  *status = world->shown;
  pthread_mutex_unlock(&world->shown_lock);
}

void tt_world_get_wire(tt_world *world, int index, tt_wire_stats *stats, tt_wire_state *state) {
  pthread_mutex_lock(&world->shown_lock);
  *stats = world->shown_stats[index];
  *state = world->shown_states[index];
  pthread_mutex_unlock(&world->shown_lock);
}

bool tt_world_take_tapped(tt_world *world, tt_tapped *message) {
  return tt_queue_pop(world->tapped, message);
}
