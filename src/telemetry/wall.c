/* wall.c */
#include "telemetry/wall.h"

#include <stdlib.h>
#include <time.h>

#define SECOND INT64_C(1000000)
/** Nothing is looked at longer after its receipt. */
#define IN_HAND (5 * SECOND)
/** Both clocks are read within so much, or once more: in between others may have had the processor. */
#define AT_ONCE 1000
#define MOST_TRIES 10

int64_t tt_wall_look(tt_wall *wall, int64_t now, int64_t passed, int64_t late) {
  const int64_t begin = now - passed, step = wall->begun ? begin - wall->begin : 0;
  wall->begun = true;
  wall->begin = begin;
  if (llabs(step) <= late) return 0;
  wall->step = step;
  wall->since = passed;
  return step;
}

int64_t tt_wall_receipt(const tt_wall *wall, int64_t now, int64_t passed, int64_t received) {
  if (!wall->step || passed - wall->since >= IN_HAND) return received;
  return llabs(now - received - wall->step) < llabs(now - received) ? received + wall->step
                                                                    : received;
}

static int64_t read_clock(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * SECOND + time.tv_nsec / 1000;
}

int64_t tt_wall_read(int64_t *now) {
  int64_t passed = read_clock(CLOCK_BOOTTIME);
  for (int i = 0; i < MOST_TRIES; i++) {
    *now = read_clock(CLOCK_REALTIME);
    const int64_t after = read_clock(CLOCK_BOOTTIME);
    if (after - passed <= AT_ONCE) break;
    passed = after;
  }
  return passed;
}
