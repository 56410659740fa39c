/* drive.c: a world that stands is run until it ends, a signal comes, or something fails. */
#include "app/drive.h"

#include "app/end_signals.h"
#include "app/status_line.h"
#include "base/log.h"
#include "base/text.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* What the signal handler, which may run in any thread, touches: the world, once there is one; when the first signal
 * came; and how many handlers are at it. */
static _Atomic(tt_world *) running;
static atomic_llong first_signal; /* ns, monotonic; 0: none yet */
static atomic_int handlers;

#define PATIENCE_NS 1000000000LL

/** The first signal ends the run in order; one that comes a second later, at once. Those between are the same wish
 *  told twice (a terminal and a script, for example). */
static void on_signal(int number) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  long long now = time.tv_sec * 1000000000LL + time.tv_nsec, first = 0;
  if (!atomic_compare_exchange_strong(&first_signal, &first, now) && now - first > PATIENCE_NS) {
    _exit(128 + number);
  }
  atomic_fetch_add(&handlers, 1);
  tt_world *world = atomic_load(&running);
  if (world) tt_world_interrupt(world);
  atomic_fetch_sub(&handlers, 1);
}

/** From here on no handler touches the world. */
static void forget_world(void) {
  atomic_store(&running, NULL);
  while (atomic_load(&handlers) > 0) sched_yield();
}

bool tt_stop_asked(void) { return atomic_load(&first_signal) != 0; }

void tt_catch_signals(void) {
  tt_end_signals_catch(on_signal, 0);
  signal(SIGPIPE, SIG_IGN);
}

/** One line, when every socket is bound: "ready NAME=ADDRESS …". */
static void say_ready(const tt_world *world, const tt_attached *attached) {
  char line[8192] = "";
  size_t used = 0;
  for (int i = 0; i < tt_world_wire_count(world) && used < sizeof line; i++) {
    const tt_wire *wire = tt_world_wire_at(world, i);
    used += (size_t)snprintf(line + used, sizeof line - used, " %s=%s", wire->name,
                             wire->ops->address(wire));
  }
  if (used < sizeof line) tt_attached_addresses(attached, line + used, sizeof line - used);
  tt_print(stderr, "ready%s\n", line);
}

/** What a real-time run is judged by. */
static void say_how_it_went(tt_world *world) {
  const tt_view *view = tt_world_view(world);
  tt_world_status status;
  tt_world_get_status(world, &status);
  tt_log_info("%.3f s simulated, %llu of %llu ticks late",
              tt_model_time(view->model, view->total_step), (unsigned long long)view->late_ticks,
              (unsigned long long)status.tick);
}

/** The world stands: says so, runs it, and says why it ended. */
tt_status tt_drive_world(tt_world *world, const tt_attached *attached, tt_error *error) {
  say_ready(world, attached);
  tt_status_line *line = tt_status_line_start(world, attached);
  atomic_store(&running, world);
  if (atomic_load(&first_signal)) tt_world_interrupt(world);
  tt_status status = tt_world_run(world, error);
  forget_world();
  tt_status_line_stop(line);
  say_how_it_went(world);
  return status;
}
