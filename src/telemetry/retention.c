/* retention.c */
#include "telemetry/retention.h"

#include "base/log.h"

#include <stdlib.h>

#define SECOND INT64_C(1000000)
/** More than clocks are set by in half a minute that are merely kept right. */
#define JUMP (60 * SECOND)
/** A clock that stays for so long is right, whatever it was before. */
#define SETTLED (86400 * SECOND)

static void follow(tt_retention *retention, int64_t wall) {
  if (retention->ahead) tt_log_info("telemetry: retention goes by the clock again");
  retention->now = wall;
  retention->ahead = 0;
}

static void wait_for_it(tt_retention *retention, int64_t ahead) {
  tt_log_warning(
      "telemetry: the clock is %.0f s ahead of %s; nothing is removed by it until it has "
      "stayed so for a day",
      (double)ahead / SECOND, retention->begun ? "the time that passed" : "the newest sample");
  retention->ahead = ahead;
  retention->since = retention->last;
}

/** Nothing was stored from a time that had not come yet. */
static void compare(tt_retention *retention, int64_t newest) {
  const int64_t since = newest + (retention->last - retention->first);
  if (since < retention->now) retention->now = since;
  retention->compared = true;
}

void tt_retention_look(tt_retention *retention, int64_t wall, int64_t passed, int64_t newest) {
  if (!retention->begun) {
    retention->now = wall;
    retention->first = retention->last = passed;
  }
  retention->now += passed - retention->last;
  retention->last = passed;
  if (newest != TT_RETENTION_NOTHING && !retention->compared) compare(retention, newest);
  const int64_t ahead = wall - retention->now;
  if (ahead <= JUMP)
    follow(retention, wall);
  else if (!retention->ahead || llabs(ahead - retention->ahead) > JUMP)
    wait_for_it(retention, ahead);
  else if (passed - retention->since >= SETTLED)
    follow(retention, wall);
  retention->begun = true;
}
