/* world_run.c: a world's run at one of three paces, and what other threads ask of it and see of it. */
#include "base/log.h"
#include "host/world_internal.h"

#include <math.h>
#include <time.h>

#define FINE_WAIT_NS 1500000u  /* the last stretch before a deadline is slept without the sockets */
#define SHOW_EVERY_NS 5000000u /* how often other threads get fresh stats */

/* ---- the mailbox ---- */

static void set_stopped(tt_world *world, const tt_mail *mail) {
  world->stopped = mail->value != 0;
  tt_world_event(world, mail->source,
                 world->stopped ? "emergency stop" : "emergency stop released");
  if (!world->stopped) return;
  for (int i = 0; i < world->model->command_count; i++)
    tt_sim_make_safe(world->sim, mail->source, &i, 1);
}

void tt_world_set_paused(tt_world *world, const char *source, bool paused) {
  if (world->paused == paused) return;
  if (world->paused && world->source->follow(world->source))
    tt_world_seek(world, 0); /* at its end: once more */
  world->paused = paused;
  tt_world_event(world, source, paused ? "paused" : "resumed");
}

static void open_mail(tt_world *world, tt_mail *mail) {
  mail->source[sizeof mail->source - 1] = 0;
  switch (mail->kind) {
    case TT_MAIL_PAUSE: tt_world_set_paused(world, mail->source, mail->value != 0); break;
    case TT_MAIL_STEP:
      world->ticks_to_make += mail->value > 0 && mail->value < 1e9 ? (uint64_t)mail->value : 0;
      break;
    case TT_MAIL_SPEED:
      if (!isfinite(mail->value) || mail->value <= 0) break;
      tt_pacer_restart(&world->pacer, mail->value, tt_net_now());
      tt_world_event(world, mail->source, "speed %g", mail->value);
      break;
    case TT_MAIL_SEEK: tt_world_seek(world, mail->value); break;
    case TT_MAIL_RESET:
      if (mail->index >= TT_NO_ROBOT && mail->index < world->model->robot_count)
        tt_sim_ask_reset(world->sim, mail->index);
      break;
    case TT_MAIL_STOP_ALL: set_stopped(world, mail); break;
    case TT_MAIL_COMMAND:
      if (mail->meant_for != 0 && mail->meant_for != (uint64_t)world->clock->epoch + 1) break;
      if (tt_world_apply(world, mail->source, &(tt_submission){mail->index, mail->value}, 1,
                         NULL) != TT_OK)
        tt_log_warning("%s: command %d refused: %g is out of its range", mail->source, mail->index,
                       mail->value);
      break;
    case TT_MAIL_TELL:
      mail->text[sizeof mail->text - 1] = 0;
      tt_world_event(world, mail->source, "%s", mail->text);
      break;
    case TT_MAIL_TAP: world->tap = mail->index < world->wire_count ? mail->index : -1; break;
    case TT_MAIL_QUIT: world->quit = true; break;
  }
}

void tt_world_drain_mail(tt_world *world) {
  tt_mail mail;
  while (tt_queue_pop(world->mail, &mail)) open_mail(world, &mail);
  if (atomic_load_explicit(&world->interrupted, memory_order_relaxed)) world->quit = true;
}

/* ---- the run ---- */

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
                                   .wire_count = world->wire_count};
  for (int i = 0; i < world->wire_count; i++) {
    world->shown_stats[i] = world->wires[i].wire.stats;
    world->shown_states[i] = world->wires[i].wire.state;
  }
  pthread_mutex_unlock(&world->shown_lock);
}

static void sleep_until(uint64_t deadline) {
  struct timespec at = {.tv_sec = (time_t)(deadline / 1000000000u),
                        .tv_nsec = (long)(deadline % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0) {
  }
}

/* Real time: waits until the next tick is due, serving the sockets for most of the time. */
static void await_due(tt_world *world) {
  for (;;) {
    uint64_t now = tt_net_now();
    uint64_t deadline = tt_pacer_due(&world->pacer);
    if (now >= deadline || world->quit || world->paused) return;
    uint64_t left = deadline - now;
    if (left <= FINE_WAIT_NS) {
      sleep_until(deadline);
      return;
    }
    left -= FINE_WAIT_NS;
    tt_net_poll(world->net, left < TT_SLICE_NS ? left : TT_SLICE_NS);
    tt_world_drain_mail(world);
  }
}

/* While paused commands are heard and resets done, but no step is made unless asked for; true then. */
static bool single_step(tt_world *world) {
  tt_net_poll(world->net, TT_SLICE_NS);
  tt_world_drain_mail(world);
  tt_world_apply_resets(world);
  tt_world_show(world, tt_net_now());
  tt_pacer_restart(&world->pacer, world->pacer.speed, tt_net_now());
  if (!world->paused || world->ticks_to_make == 0 || world->quit) return false;
  world->ticks_to_make--;
  return true;
}

/* Waits until the next tick may be made; false when something else is to be looked at first. */
static bool may_tick(tt_world *world, bool realtime) {
  if (world->paused) return single_step(world);
  if (realtime) await_due(world);
  return !world->quit && !world->paused;
}

static bool finished(const tt_world *world) {
  return world->source->is_live && world->spec.duration > 0 &&
         tt_model_time(world->model, world->clock->total_steps) >= world->spec.duration - 1e-9;
}

tt_status tt_world_run(tt_world *world, tt_error *error) {
  bool realtime = world->spec.pace == TT_PACE_REALTIME;
  double tick = (double)world->spec.io_steps * tt_model_timestep(world->model);
  tt_pacer_start(&world->pacer, tick, world->spec.speed, world->spec.late_tick == TT_TICK_CATCH_UP,
                 tt_net_now());
  tt_world_start(world);
  while (!world->quit && !finished(world)) {
    if (!may_tick(world, realtime)) continue;
    tt_pacer_tick(&world->pacer, tt_net_now(), realtime);
    TT_TRY(tt_world_tick(world, error));
    tt_world_show(world, tt_net_now());
  }
  world->shown_at = 0; /* the last figures are the run's */
  tt_world_show(world, tt_net_now());
  if (error && world->quit_status != TT_OK) *error = world->quit_reason;
  return world->quit_status;
}

/* ---- for other threads ---- */

tt_status tt_world_post(tt_world *world, const tt_mail *mail) {
  if (!tt_queue_push(world->mail, mail)) return TT_FULL;
  tt_net_wake(world->net);
  return TT_OK;
}

void tt_world_interrupt(tt_world *world) {
  atomic_store_explicit(&world->interrupted, true, memory_order_relaxed);
  tt_net_wake(world->net);
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
