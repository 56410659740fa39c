/* world.c: one world and its tick; tt_world_tick() at the end is the program's main path. */
#include "base/clock.h"
#include "base/log.h"
#include "host/world_internal.h"

#include <math.h>

#define UNDER_WAY_NS                                                                               \
  30000000u               /* in which a machine's own packets have come, that were sent before */
#define LONGEST_PAUSE 0.1 /* s between two looks at timeouts; more was a pause of the world */

/* ---- the stages of a tick ---- */

/* Lock-step: has this wire still to answer? */
static bool unanswered(const tt_world *world, const tt_wire_slot *slot) {
  return slot->wire.lockstep && tt_wire_due(world, slot) && slot->wire.ops->must_wait(&slot->wire);
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

/* Timeouts of the wires' own. */
static void poll_wires(tt_world *world, uint64_t now) {
  double seconds = (double)(now - world->polled_at) * 1e-9;
  world->polled_at = now;
  if (world->paused) return;
  for (int i = 0; i < world->wire_count; i++) {
    tt_wire *wire = &world->wires[i].wire;
    if (wire->ops->poll) wire->ops->poll(wire, fmin(seconds, LONGEST_PAUSE));
  }
}

/* A controller did not answer in time: what its wire's policy says. */
static void handle_late(tt_world *world, tt_wire_slot *slot) {
  tt_wire *wire = &slot->wire;
  if (wire->state == TT_WIRE_WAITING && wire->late == TT_LATE_WAIT)
    return; /* nobody is there to be late */
  wire->stats.late++;
  slot->given_up = wire->late != TT_LATE_WAIT;
  if (known_to_be_late(wire)) return;
  static const char *const policies[] = {"waiting for it", "going on with its last commands",
                                         "going on with safe commands", "closing it"};
  tt_world_event(world, wire->name, "no answer within %g s: %s", wire->deadline,
                 policies[wire->late]);
  if (wire->late == TT_LATE_ZERO)
    tt_sim_make_safe(world->sim, wire->name, wire->owned, wire->owned_count);
  if (wire->late == TT_LATE_EJECT) wire->ops->eject(wire);
  wire->state = TT_WIRE_LATE;
}

/* How much longer the world waits for this wire, ns. Who has been late once, with a policy to go on, costs the others
 * nothing more until it is heard again. */
static uint64_t patience_left(const tt_wire_slot *slot, uint64_t started) {
  if (slot->given_up && known_to_be_late(&slot->wire)) return 0;
  if (slot->answered_ns > started) started = slot->answered_ns;
  uint64_t waited = tt_monotonic_ns() - started;
  return waited < slot->deadline_ns ? slot->deadline_ns - waited : 0;
}

/* Nobody is there any more who could answer, and what was under way when they left has come. */
static bool waits_in_vain(const tt_world *world, uint64_t started) {
  uint64_t since = started > world->left_at ? started : world->left_at;
  return world->left_at > 0 && tt_monotonic_ns() - since >= UNDER_WAY_NS;
}

/* Where a peer has gone that is waited for, those that went from other wires are at the step at which they end: without it
 * no other one comes. */
static void end_left(tt_world *world, const tt_wire_slot *awaited) {
  const tt_wire_stats *stats = &awaited->wire.stats;
  if (stats->peer[0] || stats->received == 0) return;
  for (int i = 0; i < world->wire_count; i++) {
    tt_wire_slot *slot = &world->wires[i];
    if (slot->open && slot->wire.ops->end_left) slot->wire.ops->end_left(&slot->wire);
  }
}

/* Polls the network until every lock-step wire has answered, or its policy says to go on. */
static void await_answers(tt_world *world) {
  if (!any_unanswered(world)) return;
  uint64_t started = tt_monotonic_ns();
  for (int i = 0; i < world->wire_count; i++) {
    tt_wire_slot *slot = &world->wires[i];
    bool told = false;
    while (unanswered(world, slot) && !world->quit && !tt_sim_reset_asked(world->sim)) {
      uint64_t left = patience_left(slot, started);
      bool unlimited = world->paused || told || left > TT_SLICE_NS;
      bool in_vain = waits_in_vain(world, started); /* before a last look at what came */
      tt_net_poll(world->net, unlimited ? TT_SLICE_NS : left);
      if (unanswered(world, slot)) end_left(world, slot);
      tt_world_drain_mail(world);
      uint64_t now = tt_monotonic_ns();
      tt_world_show(world, now);
      if (world->has_timeouts) poll_wires(world, now);
      if (in_vain && unanswered(world, slot)) world->quit = true;
      if (world->paused || told || patience_left(slot, started) > 0 || !unanswered(world, slot))
        continue;
      handle_late(world, slot);
      if (slot->wire.late != TT_LATE_WAIT) break;
      told = true;
    }
  }
}

void tt_world_restart_wires(tt_world *world, int robot) {
  for (int i = 0; i < world->wire_count; i++) {
    tt_wire_slot *slot = &world->wires[i];
    if (robot != TT_NO_ROBOT && slot->wire.robot != robot) continue;
    slot->last_accept_step = TT_NEVER;
    slot->tripped = false;
    if (slot->open && slot->wire.ops->reset) slot->wire.ops->reset(&slot->wire);
  }
  tt_world_schedule_watchdogs(world);
}

/* Back to the initial state: the whole world, or one robot and nothing else. */
static void reset(tt_world *world, int robot) {
  robot = world->source->reset(world->source, robot);
  tt_world_sense(world);
  tt_world_send(world, robot);
  tt_world_publish(world);
}

bool tt_world_apply_resets(tt_world *world) {
  int robot;
  bool any = false;
  for (; tt_sim_take_reset(world->sim, &robot); any = true) reset(world, robot);
  return any;
}

/* ---- what the simulation tells its owner ---- */

static tt_world *world_of(tt_sim_owner *owner) {
  return (tt_world *)((char *)owner - offsetof(tt_world, owner));
}

/* A wire may say so with every message: that changes nothing, ends nobody else's pause, nor does it take the ticks that people
 * ask for one by one. */
static void on_paused(tt_sim_owner *owner, const char *source, bool paused) {
  tt_world *world = world_of(owner);
  tt_wire *by = NULL;
  for (int i = 0; i < world->wire_count; i++)
    if (source == world->wires[i].wire.name) by = &world->wires[i].wire;
  if (world->paused == paused || (by && !paused && by != world->paused_by)) return;
  tt_world_set_paused(world, source, paused);
  if (paused) world->paused_by = by;
}

static void on_recorded_reset(tt_sim_owner *owner, int robot) { reset(world_of(owner), robot); }

static void on_restored(tt_sim_owner *owner) { tt_world_publish(world_of(owner)); }

static void on_event(tt_sim_owner *owner, uint64_t step, const char *source, const char *text) {
  tt_world *world = world_of(owner);
  (void)step; /* the simulation's own, which stands still while a kept run is shown */
  tt_world_show_event(world, world->clock->step, source, text);
}

const tt_sim_owner tt_world_as_owner = {
    .paused = on_paused, .reset = on_recorded_reset, .restored = on_restored, .event = on_event};

/* ---- the tick ---- */

static void receive(tt_world *world) {
  do {
    await_answers(world);
    tt_net_poll(world->net, 0);
    tt_world_drain_mail(world);
    if (world->has_timeouts) poll_wires(world, tt_monotonic_ns());
    for (int i = 0; i < world->wire_count; i++)
      if (tt_wire_due(world, &world->wires[i]))
        world->wires[i].wire.ops->receive(&world->wires[i].wire);
  } while (tt_world_apply_resets(world) && !world->quit);
}

/* What nobody sent: watchdogs that are due, and recorded inputs. */
static void supervise(tt_world *world) {
  tt_world_supervise(world);
  world->source->feed(world->source);
}

/* The simulation diverged, or its engine failed: the clock is that before the step. With RESET the tick ends here, and the
 * next one begins anew; but an engine that fails at once again is not helped by that. */
static tt_status broke_off(tt_world *world, tt_status status, const tt_error *reason,
                           tt_error *error) {
  const unsigned long long step = world->clock->step;
  const bool diverged = status == TT_DIVERGED;
  tt_world_event(world, "physics", "%s at step %llu: %s", diverged ? "diverged" : "failed", step,
                 reason->text);
  if (world->spec.on_divergence == TT_DIVERGENCE_STOP || (!diverged && step == 0))
    return diverged ? tt_fail(error, status, "%s", reason->text) /* which names the step */
                    : tt_fail(error, status, "step %llu: %s", step, reason->text);
  tt_sim_ask_reset(world->sim, TT_NO_ROBOT);
  return TT_OK;
}

/* A source that ends here pauses the world. */
static void follow(tt_world *world) {
  if (!world->source->follow(world->source)) return;
  world->ticks_to_make = 0;
  if (world->paused) return;
  world->paused = true;
  tt_world_event(world, "world", "the kept run ends here");
}

tt_status tt_world_tick(tt_world *world, tt_error *error) {
  tt_error reason = {.text = ""};
  bool was_paused = world->paused;
  receive(world);
  if (world->quit) return TT_OK;
  /* Who pauses a kept run and goes to a place of it is to see that place, not the tick behind it. */
  if (world->paused && !was_paused && !world->source->is_live) return TT_OK;
  uint64_t left = world->spec.io_steps;
  for (bool last = false; !last; left--) {
    uint32_t epoch = world->clock->epoch;
    supervise(world);
    if (world->clock->epoch != epoch) left = world->spec.io_steps; /* fed: here the run diverged */
    last = world->source->ends_tick(world->source, left == 1);
    tt_status status = world->source->step(world->source, last, &reason);
    if (status != TT_OK) return broke_off(world, status, &reason, error);
  }
  world->tick++;
  tt_world_advance_match(world);
  tt_world_sense(world);
  tt_world_send(world, TT_NO_ROBOT);
  tt_world_publish(world);
  tt_world_follow_match(world);
  follow(world);
  return TT_OK;
}
