/* device_testing.c */
#include "telemetry/device_testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

double next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 9007199254740992.0;
}

bool find_stored(void *context, int64_t *key) {
  world *world = context;
  world->asked++;
  *key = world->stored_in;
  tt_device_time_learn_all(&world->time, world->stored, world->stored_count,
                           world->stored_in ? key : NULL);
  return world->stored_in;
}

int64_t device_clock_at(const world *world, int64_t now) {
  int64_t device = now + world->offset + (int64_t)(world->drift * (double)(now - START));
  return device / 1000 * 1000;  // devices say milliseconds
}

tt_boot *send_at(world *world, int64_t now, int64_t delay, bool *again) {
  int64_t device = device_clock_at(world, now);
  tt_timed_message message = {.transmitted = device,
                              .last_sample = device,
                              .hash = (uint64_t)now * 2654435761u + 1,
                              .received = now + delay,
                              .boot = "",
                              .connected = world->connected && !world->has_previous,
                              .after_previous = world->connected && world->has_previous,
                              .previous = world->previous,
                              .previous_key = world->previous_key,
                              .context = world,
                              .find = find_stored};
  tt_place place = tt_device_time_place(&world->time, &message, LATE);
  world->has_previous = true;
  world->previous = device;
  world->previous_key = place.boot->stored.key;
  world->jumps += place.placement == TT_PLACED_JUMP;
  world->unsure = place.unsure;
  int64_t error = llabs(device + place.offset - now);
  if (error > world->worst) world->worst = error;
  const tt_store_epoch *epoch = &place.boot->stored;
  assert_true(epoch->offset_low <= place.offset && place.offset <= epoch->offset_high);
  *again = place.again;
  return place.boot;
}

void send_many(world *world, int64_t start, double seconds, double rate, double max_delay,
               double settle) {
  bool again;
  world->worst = 0;
  for (int i = 0; i < (int)(seconds * rate); i++) {
    int64_t now = start + (int64_t)(i / rate * 1e6);
    if (i == (int)(settle * rate)) world->worst = 0;
    send_at(world, now, (int64_t)(next_random(&world->random) * max_delay * 1e6), &again);
  }
}

world *new_world(int64_t offset, double drift) {
  world *made = calloc(1, sizeof *made);
  assert_non_null(made);
  made->offset = offset;
  made->drift = drift;
  made->random = 42;
  return made;
}
