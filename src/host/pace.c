#include "host/pace.h"

#define SECOND 1000000000.0
#define MARK_EVERY 250000000u
/* A debt larger than this is not worked off: a machine that slept must not race for minutes. */
#define LARGEST_DEBT 100000000u

void tt_pacer_start(tt_pacer *pacer, double tick, double speed, bool catch_up, uint64_t now) {
  *pacer = (tt_pacer){.tick = tick, .catch_up = catch_up};
  for (unsigned i = 0; i < TT_PACE_MARKS; i++) pacer->marks[i].wall = now;
  tt_pacer_restart(pacer, speed, now);
}

void tt_pacer_restart(tt_pacer *pacer, double speed, uint64_t now) {
  pacer->speed = speed;
  pacer->origin = now;
  pacer->done = 0;
}

/* When the schedule's tick of this number is due. */
static uint64_t due(const tt_pacer *pacer, uint64_t number) {
  return pacer->origin + (uint64_t)((double)number * pacer->tick / pacer->speed * SECOND);
}

uint64_t tt_pacer_due(const tt_pacer *pacer) { return due(pacer, pacer->done); }

bool tt_pacer_is_behind(const tt_pacer *pacer, uint64_t ticks, uint64_t now) {
  return pacer->speed > 0 && now >= due(pacer, pacer->done + ticks - 1);
}

static void count_late(tt_pacer *pacer, uint64_t now) {
  uint64_t due_at = tt_pacer_due(pacer);
  double tolerance = 0.1 * pacer->tick / pacer->speed * SECOND;
  if (now <= due_at || (double)(now - due_at) <= tolerance) return;
  pacer->late_ticks++;
  if (!pacer->catch_up || now - due_at > LARGEST_DEBT) tt_pacer_restart(pacer, pacer->speed, now);
}

void tt_pacer_tick(tt_pacer *pacer, uint64_t now, bool realtime) {
  if (realtime) count_late(pacer, now);
  pacer->done++;
  pacer->simulated += pacer->tick;
  if (now - pacer->marks[pacer->mark].wall < MARK_EVERY) return;
  pacer->mark = (pacer->mark + 1) % TT_PACE_MARKS;
  pacer->marks[pacer->mark] = (struct tt_pace_mark){now, pacer->simulated};
}

double tt_pacer_factor(const tt_pacer *pacer, uint64_t now) {
  const struct tt_pace_mark *oldest = &pacer->marks[(pacer->mark + 1) % TT_PACE_MARKS];
  if (now <= oldest->wall) return 0;
  return (pacer->simulated - oldest->simulated) / ((double)(now - oldest->wall) / SECOND);
}
