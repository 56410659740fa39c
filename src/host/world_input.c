/* world_input.c: what comes into a world: commands of wires and pages, and the mailbox of other threads. */
#include "base/clock.h"
#include "base/log.h"
#include "host/world_internal.h"

#include <math.h>
#include <string.h>

/* How many from `from` on are of one kind: they pass, or they don't. */
static int same(const tt_world *world, const tt_submission *from, int count, bool tells_peers) {
  int end = 1;
  bool passes = tt_world_lets_pass(world, from, tells_peers);
  while (end < count && tt_world_lets_pass(world, &from[end], tells_peers) == passes) end++;
  return end;
}

static tt_status take(tt_world *world, const char *source, const tt_sender *sender,
                      const tt_submission *submissions, int count) {
  TT_TRY(tt_sim_apply(world->sim, source, submissions, count, NULL));
  for (int i = 0; i < count; i++) world->senders[submissions[i].command] = *sender;
  return TT_OK;
}

static tt_status apply(tt_world *world, const char *source, const tt_sender *sender,
                       bool tells_peers, const tt_submission *submissions, int count, int *bad) {
  TT_TRY(tt_sim_check(world->sim, submissions, count, bad));
  if (world->stopped || !world->source->is_live) return TT_OK;
  if (count == 0) return tt_sim_apply(world->sim, source, submissions, 0, NULL);
  for (int i = 0, length; i < count; i += length) {
    length = same(world, &submissions[i], count - i, tells_peers);
    if (tt_world_lets_pass(world, &submissions[i], tells_peers))
      TT_TRY(take(world, source, sender, &submissions[i], length));
  }
  return TT_OK;
}

tt_status tt_world_apply(tt_world *world, const char *source, bool tells_peers,
                         const tt_submission *submissions, int count, int *bad) {
  static const tt_sender nobody;
  return apply(world, source, &nobody, tells_peers, submissions, count, bad);
}

void tt_world_forget_senders(tt_world *world, int robot) {
  for (int i = 0; i < world->model->command_count; i++)
    if (robot == TT_NO_ROBOT || world->model->commands[i].robot == robot)
      world->senders[i].name[0] = 0;
}

/* ---- the mailbox ---- */

size_t tt_world_waiting_mail(const tt_world *world) { return tt_queue_waiting(world->mail); }

static void set_stopped(tt_world *world, const tt_mail *mail) {
  world->stopped = mail->value != 0;
  tt_world_event(world, mail->source,
                 world->stopped ? "emergency stop" : "emergency stop released");
  tt_world_stop_stations(world);
  if (!world->stopped) return;
  for (int i = 0; i < world->model->command_count; i++)
    tt_sim_make_safe(world->sim, mail->source, &i, 1);
}

/* A kept run is shown from `time` s on. */
static void seek(tt_world *world, double time) {
  if (world->source->seek(world->source, time)) tt_world_start(world);
}

void tt_world_set_paused(tt_world *world, const char *source, bool paused) {
  world->ticks_to_make = 0; /* who pauses means now, whatever was asked for before */
  world->paused_by = NULL;
  if (world->paused == paused) return;
  if (world->paused && world->source->follow(world->source))
    seek(world, 0); /* at its end: once more */
  world->paused = paused;
  tt_world_event(world, source, paused ? "paused" : "resumed");
}

static bool waits_for_anybody(const tt_world *world) {
  for (int i = 0; i < world->wire_count; i++)
    if (world->wires[i].wire.lockstep) return true;
  return false;
}

static void obey_command(tt_world *world, const tt_mail *mail) {
  if (mail->meant_for != 0 && mail->meant_for != (uint64_t)world->clock->epoch + 1) return;
  tt_submission wanted = {mail->index, mail->value};
  tt_sender sender;
  memcpy(sender.name, mail->source, sizeof sender.name);
  if (apply(world, mail->source, &sender, false, &wanted, 1, NULL) == TT_OK) return;
  bool unknown = mail->index < 0 || mail->index >= world->model->command_count;
  char more[TT_LOG_MORE];
  if (!tt_log_is_due(&world->refused[unknown], more)) return;
  if (unknown) {
    tt_log_warning("%s: there is no command %d%s", mail->source, mail->index, more);
    return;
  }
  const tt_command *command = &world->model->commands[mail->index];
  tt_log_warning("%s: %s: %g is out of its range; in SI it is %g to %g%s", mail->source,
                 tt_names_command(tt_sim_names(world->sim), mail->index), mail->value,
                 command->lower, command->upper, more);
}

/* What somebody else commanded since is his. A value that is made safe is not accepted anew: a joint stays with the kind of
 * command that holds it. */
static void let_go(tt_world *world, const tt_mail *mail) {
  if (mail->index < 0 || mail->index >= world->model->command_count) return;
  tt_sender *of = &world->senders[mail->index];
  if (!of->name[0] || strcmp(of->name, mail->source) != 0) return;
  of->name[0] = 0;
  if (!isnan(world->model->commands[mail->index].safe))
    tt_sim_make_safe(world->sim, mail->source, &mail->index, 1);
}

static void open_mail(tt_world *world, tt_mail *mail) {
  mail->source[sizeof mail->source - 1] = 0;
  switch (mail->kind) {
    case TT_MAIL_PAUSE: tt_world_set_paused(world, mail->source, mail->value != 0); break;
    case TT_MAIL_STEP:
      if (world->paused && mail->value > 0 && mail->value < 1e9)
        world->ticks_to_make += (uint64_t)mail->value;
      break;
    case TT_MAIL_SPEED:
      if (!isfinite(mail->value) || mail->value <= 0) break;
      tt_pacer_restart(&world->pacer, mail->value, tt_monotonic_ns());
      tt_world_event(world, mail->source, "speed %g", mail->value);
      break;
    case TT_MAIL_SEEK: seek(world, mail->value); break;
    case TT_MAIL_RESET:
      if (mail->index >= TT_NO_ROBOT && mail->index < world->model->robot_count)
        tt_sim_ask_reset(world->sim, mail->index);
      break;
    case TT_MAIL_STOP_ALL: set_stopped(world, mail); break;
    case TT_MAIL_COMMAND: obey_command(world, mail); break;
    case TT_MAIL_LET_GO: let_go(world, mail); break;
    case TT_MAIL_TELL:
      mail->text[sizeof mail->text - 1] = 0;
      tt_world_event(world, mail->source, "%s", mail->text);
      break;
    case TT_MAIL_STATION: tt_world_order_station(world, &mail->station); break;
    case TT_MAIL_TAP:
      if (mail->index >= 0 && mail->index < world->wire_count)
        world->wires[mail->index].tapped = mail->value != 0;
      break;
    case TT_MAIL_SHOW: tt_world_show_view(world); break;
    case TT_MAIL_QUIT: world->quit = true; break;
    case TT_MAIL_LEFT:
      world->left_at = tt_monotonic_ns();
      world->quit |= !waits_for_anybody(world);
      break;
  }
}

void tt_world_drain_mail(tt_world *world) {
  tt_mail mail;
  /* Whoever posts faster than this reads holds nobody up. */
  for (int i = 0; i < TT_MAIL_CAPACITY && tt_queue_pop(world->mail, &mail); i++)
    open_mail(world, &mail);
  if (atomic_load_explicit(&world->interrupted, memory_order_relaxed)) world->quit = true;
}

/* What comes without end, where others come once. */
static bool is_stream(const tt_mail *mail) {
  return mail->kind == TT_MAIL_COMMAND || mail->kind == TT_MAIL_LET_GO ||
         (mail->kind == TT_MAIL_STATION && mail->station.kind == TT_DS_JOYSTICK);
}

tt_status tt_world_post(tt_world *world, const tt_mail *mail) {
  if (is_stream(mail) && tt_queue_waiting(world->mail) >= TT_MAIL_CAPACITY / 2) return TT_FULL;
  if (!tt_queue_push(world->mail, mail)) return TT_FULL;
  tt_net_wake(world->net);
  return TT_OK;
}

void tt_world_interrupt(tt_world *world) {
  atomic_store_explicit(&world->interrupted, true, memory_order_relaxed);
  tt_net_wake(world->net);
}
