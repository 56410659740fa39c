/* world.c: one world and its tick; tt_world_tick() at the end is the program's main path. */
#include "base/log.h"
#include "host/world_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MATCH_LENGTH 135.0 /* s: the FIRST match of 2011 and of the SHARP vehicle */

/* ---- journal, events, observers ---- */

static void show_event(tt_world *world, uint64_t step, const char *source, const char *text) {
  for (int i = 0; i < world->observer_count; i++)
    if (world->observers[i]->event)
      world->observers[i]->event(world->observers[i], step, source, text);
}

/* A sink takes no more: said once, loudly, wherever people look. */
static void lose_proof(tt_world *world) {
  char text[120];
  if (world->unverifiable) return;
  world->unverifiable = true;
  snprintf(text, sizeof text, "not kept any more: this run can't be verified from step %llu on",
           (unsigned long long)world->step);
  show_event(world, world->step, "journal", text);
  tt_log_error("journal: %s", text);
}

void tt_world_journal(tt_world *world, const tt_entry *entry) {
  tt_entry stamped = *entry;
  stamped.step = world->step;
  stamped.total_step = world->total_steps;
  for (int i = 0; i < world->sink_count; i++)
    if (world->sinks[i]->write(world->sinks[i], &stamped) != TT_OK) lose_proof(world);
}

void tt_world_event_va(tt_world *world, const char *source, const char *format, va_list arguments) {
  char text[256];
  vsnprintf(text, sizeof text, format, arguments);
  tt_world_journal(world, &(tt_entry){.kind = TT_ENTRY_EVENT, .source = source, .text = text});
  show_event(world, world->step, source, text);
  tt_log_info("%s: %s", source, text);
}

void tt_world_event(tt_world *world, const char *source, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tt_world_event_va(world, source, format, arguments);
  va_end(arguments);
}

/* ---- the stages of a tick ---- */

static bool due(const tt_world *world, const tt_wire_slot *slot) {
  return slot->open && world->step % slot->wire.period_steps == 0;
}

/* Lock-step: has this wire still to answer? */
static bool unanswered(const tt_world *world, const tt_wire_slot *slot) {
  return slot->wire.lockstep && due(world, slot) && slot->wire.ops->must_wait(&slot->wire);
}

static bool any_unanswered(const tt_world *world) {
  for (int i = 0; i < world->wire_count; i++)
    if (unanswered(world, &world->wires[i])) return true;
  return false;
}

/* Its policy has been followed already; the watchdog's word stays the last. */
static bool known_to_be_late(const tt_wire *wire) {
  return wire->state == TT_WIRE_LATE || wire->state == TT_WIRE_SILENT;
}

/* A controller did not answer in time: what its wire's policy says. */
static void handle_late(tt_world *world, tt_wire_slot *slot) {
  tt_wire *wire = &slot->wire;
  if (wire->state == TT_WIRE_WAITING && slot->late == TT_LATE_WAIT)
    return; /* nobody is there to be late */
  wire->stats.late++;
  if (known_to_be_late(wire)) return;
  static const char *const policies[] = {"waiting for it", "going on with its last commands",
                                         "going on with safe commands", "closing it"};
  tt_world_event(world, wire->name, "no answer within %g s: %s", (double)slot->deadline_ns * 1e-9,
                 policies[slot->late]);
  if (slot->late == TT_LATE_ZERO)
    tt_world_make_safe(world, wire->name, wire->owned, wire->owned_count);
  if (slot->late == TT_LATE_EJECT) wire->ops->eject(wire);
  wire->state = TT_WIRE_LATE;
}

/* How much longer the world waits for this wire, ns. Who has been late once, with a policy to go on, costs the others
 * nothing more until it is heard again. */
static uint64_t patience_left(const tt_wire_slot *slot, uint64_t started) {
  if (slot->late != TT_LATE_WAIT && known_to_be_late(&slot->wire)) return 0;
  uint64_t waited = tt_net_now() - started;
  return waited < slot->deadline_ns ? slot->deadline_ns - waited : 0;
}

static bool reset_asked(const tt_world *world) {
  if (world->reset_world) return true;
  for (int r = 0; r < world->model->robot_count; r++)
    if (world->reset_robot[r]) return true;
  return false;
}

/* Polls the network until every lock-step wire has answered, or its policy says to go on. */
static void await_answers(tt_world *world) {
  if (!any_unanswered(world)) return;
  uint64_t started = tt_net_now();
  for (int i = 0; i < world->wire_count; i++) {
    tt_wire_slot *slot = &world->wires[i];
    bool told = false;
    while (unanswered(world, slot) && !world->quit && !reset_asked(world)) {
      uint64_t left = patience_left(slot, started);
      bool unlimited = world->paused || told || left > TT_SLICE_NS;
      tt_net_poll(world->net, unlimited ? TT_SLICE_NS : left);
      tt_world_drain_mail(world);
      tt_world_show(world, tt_net_now());
      if (world->paused || told || patience_left(slot, started) > 0 || !unanswered(world, slot))
        continue;
      handle_late(world, slot);
      if (slot->late != TT_LATE_WAIT) break;
      told = true;
    }
  }
}

static void send_to(tt_world *world, int robot) {
  for (int i = 0; i < world->wire_count; i++) {
    tt_wire_slot *slot = &world->wires[i];
    bool concerned = robot == TT_NO_ROBOT || slot->wire.robot == robot;
    if (concerned && due(world, slot)) slot->wire.ops->send(&slot->wire, world->view);
  }
}

static void journal_hash(tt_world *world) {
  if (!world->spec.hash_every_tick || world->sink_count == 0) return;
  tt_world_journal(
      world, &(tt_entry){.kind = TT_ENTRY_HASH, .source = "world", .hash = tt_world_hash(world)});
}

static void publish(tt_world *world) {
  journal_hash(world);
  for (int i = 0; i < world->observer_count; i++)
    world->observers[i]->publish(world->observers[i], world->view);
}

static void restart_wires(tt_world *world, int robot) {
  for (int i = 0; i < world->wire_count; i++) {
    tt_wire_slot *slot = &world->wires[i];
    if (robot != TT_NO_ROBOT && slot->wire.robot != robot) continue;
    slot->last_accept_step = TT_NEVER;
    slot->tripped = false;
    if (slot->open && slot->wire.ops->reset) slot->wire.ops->reset(&slot->wire);
  }
  tt_world_schedule_watchdogs(world);
}

static void reset_parts(tt_world *world, int robot) {
  for (int i = 0; i < world->spec.part_count; i++) {
    tt_part *part = world->parts[i];
    if ((robot == TT_NO_ROBOT || part->robot == robot) && part->ops->reset) part->ops->reset(part);
  }
}

/* A kept run goes on from a step: what happened from there on is yet to be told. */
static void seek_event(tt_world *world, uint64_t step) {
  const tt_player *player = world->player;
  world->next_kept = 0;
  while (world->next_kept < player->event_count && player->events[world->next_kept].step < step)
    world->next_kept++;
}

/* Tells what happened in a kept run up to the step that is shown. */
static void show_kept_events(tt_world *world) {
  const tt_player *player = world->player;
  for (; world->next_kept < player->event_count; world->next_kept++) {
    const tt_kept_event *event = &player->events[world->next_kept];
    if (event->step > world->total_steps) return;
    show_event(world, event->step, event->source, event->text);
  }
}

void tt_world_seek(tt_world *world, double time) {
  if (!world->player || !(time >= 0)) return;
  double wanted = time / tt_model_timestep(world->model) + 1e-6;
  uint64_t last = world->player->steps;
  uint64_t step = wanted < (double)last ? (uint64_t)wanted : last;
  world->step = world->total_steps = step - step % world->spec.io_steps;
  world->epoch++; /* for those who watch: what follows does not go on from before */
  seek_event(world, world->step);
  tt_world_sense(world);
  send_to(world, TT_NO_ROBOT);
  publish(world);
}

/* Back to the initial state: the whole world, or one robot and nothing else. */
static void reset(tt_world *world, int robot) {
  if (world->player) {
    tt_world_seek(world, 0);
    return;
  }
  tt_world_journal(world, &(tt_entry){.kind = TT_ENTRY_RESET, .source = "world", .robot = robot});
  if (robot == TT_NO_ROBOT) {
    tt_physics_reset(world->physics);
    world->step = 0;
    world->epoch++;
    world->match_start = TT_NEVER;
  } else {
    tt_physics_reset_robot(world->physics, robot);
  }
  tt_world_forget_commands(world, robot);
  reset_parts(world, robot);
  restart_wires(world, robot);
  tt_world_event(world, "world", "reset%s%s", robot == TT_NO_ROBOT ? "" : " ",
                 robot == TT_NO_ROBOT ? "" : world->model->robots[robot].name);
  tt_world_sense(world);
  send_to(world, robot);
  publish(world);
}

/* A reset, and with it whatever was asked of the same kind. */
static void answer_reset(tt_world *world, int robot) {
  if (robot == TT_NO_ROBOT) {
    world->reset_world = false;
    memset(world->reset_robot, 0, (size_t)world->model->robot_count * sizeof(bool));
  } else {
    world->reset_robot[robot] = false;
  }
  reset(world, robot);
}

/* Does the resets that were asked for; true if there was one, since its frame 0 wants an answer. */
bool tt_world_apply_resets(tt_world *world) {
  bool any = world->reset_world;
  if (world->reset_world) answer_reset(world, TT_NO_ROBOT);
  for (int r = 0; r < world->model->robot_count; r++) {
    if (!world->reset_robot[r]) continue;
    answer_reset(world, r);
    any = true;
  }
  return any;
}

/* Recorded inputs, in a replay. */
static void feed(tt_world *world) {
  if (world->feed) world->feed->apply(world->feed, world);
}

static void receive(tt_world *world) {
  do {
    await_answers(world);
    tt_net_poll(world->net, 0);
    tt_world_drain_mail(world);
    for (int i = 0; i < world->wire_count; i++)
      if (due(world, &world->wires[i])) world->wires[i].wire.ops->receive(&world->wires[i].wire);
  } while (tt_world_apply_resets(world) && !world->quit);
}

/* What nobody sent: watchdogs that are due, and in a replay the recorded inputs. */
static void supervise(tt_world *world) {
  tt_world_supervise(world);
  feed(world);
}

static void actuate(tt_world *world) {
  if (world->player) return;
  tt_world_refresh_drives(world);
  if (!world->parts_actuate) return;
  memcpy(world->drives, world->command_drives,
         (size_t)world->model->axis_count * sizeof *world->drives);
  tt_actuation actuation = {.physics = world->physics,
                            .commands = world->commands,
                            .accepted = world->accepted,
                            .axis_accepted = world->axis_accepted,
                            .drives = world->drives,
                            .controls = world->controls,
                            .timestep = tt_model_timestep(world->model),
                            .step = world->step};
  for (int i = 0; i < world->spec.part_count; i++)
    if (world->parts[i]->ops->actuate) world->parts[i]->ops->actuate(world->parts[i], &actuation);
}

/* Concept mode: no dynamics; time passes and things stand where they were placed. */
static tt_status place(tt_world *world, bool last) {
  if (last)
    tt_physics_place_done(world->physics,
                          (double)world->spec.io_steps * tt_model_timestep(world->model));
  return TT_OK;
}

static tt_status step(tt_world *world, bool last, tt_error *reason) {
  if (!world->player)
    TT_TRY(world->spec.dynamics
               ? tt_physics_step(world->physics, world->drives, world->controls, last, reason)
               : place(world, last));
  world->step++;
  world->total_steps++;
  return TT_OK;
}

/* The state is that before the step that failed. With RESET the tick ends here, and the next one begins anew. */
static tt_status diverged(tt_world *world, const tt_error *reason, tt_error *error) {
  tt_world_event(world, "physics", "diverged at step %llu: %s", (unsigned long long)world->step,
                 reason->text);
  if (world->spec.on_divergence == TT_DIVERGENCE_STOP)
    return tt_fail(error, TT_DIVERGED, "step %llu: %s", (unsigned long long)world->step,
                   reason->text);
  world->reset_world = true;
  return TT_OK;
}

static double match_time(const tt_world *world) {
  if (world->match_start == TT_NEVER) return 0;
  double elapsed = tt_model_time(world->model, world->step - world->match_start);
  return elapsed < MATCH_LENGTH ? elapsed : MATCH_LENGTH;
}

/* What parts compute must be as finite as what physics computes. */
static void check_channels(tt_world *world) {
  for (int i = 0; i < world->model->channel_count; i++) {
    if (isfinite(world->view->channels[i])) continue;
    world->view->channels[i] = 0;
    tt_log_warning("%s: not a finite number; 0 is shown instead", world->model->channels[i].name);
  }
}

void tt_world_sense(tt_world *world) {
  tt_view *view = world->view;
  view->step = world->step;
  view->total_step = world->total_steps;
  view->epoch = world->epoch;
  view->time = tt_model_time(world->model, world->step);
  view->match_time = match_time(world);
  view->late_ticks = world->pacer.late_ticks;
  if (world->player) {
    world->player->show(world->player, world->total_steps, view);
    return;
  }
  tt_physics_view(world->physics, view);
  memcpy(view->commands, world->commands, (size_t)world->model->command_count * sizeof(double));
  for (int i = 0; i < world->spec.part_count; i++)
    if (world->parts[i]->ops->sense)
      world->parts[i]->ops->sense(world->parts[i], world->physics, view);
  check_channels(world);
}

tt_status tt_world_apply_entry(tt_world *world, const tt_entry *entry) {
  switch (entry->kind) {
    case TT_ENTRY_COMMANDS:
      return tt_world_apply(world, entry->source, entry->submissions, entry->count, NULL);
    case TT_ENTRY_SAFE:
      for (int i = 0; i < entry->count; i++)
        if (entry->submissions[i].command < 0 ||
            entry->submissions[i].command >= world->model->command_count)
          return TT_BAD_MESSAGE;
      tt_world_set_safe(world, entry->submissions, entry->count);
      return TT_OK;
    case TT_ENTRY_RESET:
      if (entry->robot < TT_NO_ROBOT || entry->robot >= world->model->robot_count)
        return TT_BAD_MESSAGE;
      answer_reset(world, entry->robot); /* that one: what else was asked has its own entry */
      return TT_OK;
    case TT_ENTRY_EVENT:
    case TT_ENTRY_HASH: return TT_OK;
  }
  return TT_OK;
}

/* A kept run: tells what was told at this time, and pauses at the end. */
static void follow_player(tt_world *world) {
  show_kept_events(world);
  if (world->total_steps < world->player->steps || world->paused) return;
  world->paused = true;
  tt_world_event(world, "world", "the kept run ends here");
}

tt_status tt_world_tick(tt_world *world, tt_error *error) {
  tt_error reason = {.text = ""};
  receive(world);
  if (world->quit) return TT_OK;
  for (uint64_t left = world->spec.io_steps; left > 0; left--) {
    uint32_t epoch = world->epoch;
    supervise(world);
    if (world->epoch != epoch) left = world->spec.io_steps; /* a replay: here the run diverged */
    actuate(world);
    if (step(world, left == 1, &reason) != TT_OK) return diverged(world, &reason, error);
  }
  world->tick++;
  tt_world_sense(world);
  send_to(world, TT_NO_ROBOT);
  publish(world);
  if (world->player) follow_player(world);
  return TT_OK;
}

void tt_world_start(tt_world *world) {
  tt_world_sense(world);
  send_to(world, TT_NO_ROBOT);
  publish(world);
}
