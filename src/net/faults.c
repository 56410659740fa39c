/* faults.c: loss, duplication, delay, jitter and reordering. The same datagrams with the same seed meet the same fate:
 * every datagram draws the same number of random numbers, whatever is switched on. */
#include "net/faults.h"

#include <stdlib.h>
#include <string.h>

/* A reordered datagram that nothing overtakes goes on after so long, s simulated. */
#define HELD_AT_MOST 1.0

bool tt_faults_any(const tt_faults *faults) {
  return faults->loss > 0 || faults->duplicate > 0 || faults->reorder > 0 || faults->delay > 0 ||
         faults->jitter > 0;
}

/* splitmix64 (Steele, Lea, Flood 2014): spreads a seed over the state below. */
static uint64_t split_mix(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

/* xoshiro256+ (Blackman, Vigna 2018), upper 53 bits: uniform in [0, 1). */
static double uniform(uint64_t s[4]) {
  uint64_t result = s[0] + s[3], t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return (double)(result >> 11) * 0x1p-53;
}

tt_status tt_fault_line_open(tt_fault_line *line, const tt_faults *faults, uint64_t direction,
                             tt_error *error) {
  *line = (tt_fault_line){.faults = *faults};
  uint64_t seed = faults->seed * 2 + direction;
  for (int i = 0; i < 4; i++) line->random[i] = split_mix(&seed);
  line->flights = calloc(TT_FAULT_QUEUE, sizeof *line->flights);
  return line->flights ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

void tt_fault_line_close(tt_fault_line *line) {
  for (int i = 0; i < line->count; i++) free(line->flights[i].bytes);
  free(line->held.bytes);
  free(line->flights);
  *line = (tt_fault_line){0};
}

static bool sooner(const tt_flight *a, const tt_flight *b) {
  return a->due != b->due ? a->due < b->due : a->sequence < b->sequence;
}

static void push(tt_fault_line *line, tt_flight flight) {
  if (line->count == TT_FAULT_QUEUE) {
    free(flight.bytes);
    return;
  }
  int at = line->count++;
  for (int above = (at - 1) / 2; at > 0 && sooner(&flight, &line->flights[above]);
       above = (at - 1) / 2) {
    line->flights[at] = line->flights[above];
    at = above;
  }
  line->flights[at] = flight;
}

static void pop(tt_fault_line *line) {
  tt_flight last = line->flights[--line->count];
  int at = 0;
  for (int below = 1; below < line->count; below = 2 * at + 1) {
    if (below + 1 < line->count && sooner(&line->flights[below + 1], &line->flights[below]))
      below++;
    if (!sooner(&line->flights[below], &last)) break;
    line->flights[at] = line->flights[below];
    at = below;
  }
  line->flights[at] = last;
}

static tt_flight copy_of(tt_fault_line *line, double due, const uint8_t *bytes, size_t size,
                         bool truncated, const tt_address *peer) {
  uint8_t *copy = malloc(size ? size : 1);
  if (copy && size) memcpy(copy, bytes, size);
  return (tt_flight){.due = due,
                     .sequence = line->sequence++,
                     .peer = *peer,
                     .size = size,
                     .truncated = truncated,
                     .bytes = copy};
}

/* What was held back goes on its way right behind the datagram that overtook it. */
static void release_held(tt_fault_line *line, double due) {
  if (!line->held.bytes) return;
  if (line->held.due < due) line->held.due = due;
  line->held.sequence = line->sequence++;
  push(line, line->held);
  line->held.bytes = NULL;
}

void tt_fault_line_put(tt_fault_line *line, double time, const uint8_t *bytes, size_t size,
                       bool truncated, const tt_address *peer) {
  const tt_faults *faults = &line->faults;
  bool lost = uniform(line->random) < faults->loss;
  bool doubled = uniform(line->random) < faults->duplicate;
  bool overtaken = uniform(line->random) < faults->reorder;
  double due = time + faults->delay + uniform(line->random) * faults->jitter;
  double due_again = time + faults->delay + uniform(line->random) * faults->jitter;
  if (lost) return;
  tt_flight flight = copy_of(line, due, bytes, size, truncated, peer);
  if (!flight.bytes) return; /* out of memory: one more way of losing a datagram */
  if (overtaken && !line->held.bytes) {
    line->held = flight;
  } else {
    push(line, flight);
    release_held(line, due);
  }
  if (!doubled) return;
  flight = copy_of(line, due_again, bytes, size, truncated, peer);
  if (flight.bytes) push(line, flight);
}

bool tt_fault_line_take(tt_fault_line *line, double time, tt_flight *flight) {
  if (line->held.bytes && time - line->held.due > HELD_AT_MOST) release_held(line, line->held.due);
  if (line->count == 0 || line->flights[0].due > time) return false;
  *flight = line->flights[0];
  pop(line);
  return true;
}
