/* conformance_world.h: a world under test, shared by the two halves of the conformance suite. */
#ifndef TT_WIRE_CONFORMANCE_WORLD_H
#define TT_WIRE_CONFORMANCE_WORLD_H

#include "app/assemble.h"
#include "wire/conformance.h"

#include <stdatomic.h>

/** Remembers when a controller was last obeyed, and when what it drives was made safe. */
typedef struct tt_silence {
  tt_journal_sink sink;
  uint64_t obeyed, safe; /**< steps; read them once `ended` is true */
  atomic_bool ended;
} tt_silence;

/** Owned; opened and closed by the functions below. The thread of the test. */
typedef struct tt_under_test {
  tt_scene *scene;
  tt_world *world;
  tt_net *net;
} tt_under_test;

/** Assembles the wire's scene and takes the first view; fails the test when that is not possible. */
void tt_under_test_open(tt_under_test *under, const tt_conformance *wire);
void tt_under_test_close(tt_under_test *under);
const tt_wire *tt_under_test_wire(const tt_under_test *under);
/** A socket of `type` connected to the wire, or −1. */
int tt_under_test_connect(const tt_under_test *under, int type);
/** From now on. Before the world runs in a thread. */
void tt_silence_watch(tt_silence *silence, const tt_under_test *under);
/** It ended as long after the last command as the wire's watchdog says, within a step. After the world has stopped. */
void tt_silence_check(const tt_silence *silence, const tt_under_test *under);
/** Messages dropped for any reason but being superseded. */
uint64_t tt_dropped(const tt_wire_stats *stats);
/** Puts the float32 with these bits into a message. */
void tt_put_field(const tt_conformance_field *field, uint8_t *message, uint32_t bits);
/** Turns every field's bytes around. */
void tt_swap_fields(const tt_conformance *wire, uint8_t *message);

#endif
