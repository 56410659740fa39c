/* conformance_datagrams.c: what every wire over UDP has to withstand.
 *
 * Two worlds of the same scene run side by side, tick by tick. Both get the valid messages; only the first is
 * attacked. Their state hashes must never differ.
 */
#include "base/endian.h"
#include "wire/conformance_world.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define NAN_BITS 0x7fc00000u
#define SIGNALLING_BITS 0x7fa00000u
#define INFINITY_BITS 0x7f800000u
#define SIGN_BIT 0x80000000u
#define LARGEST_DATAGRAM 65507
#define FLOOD 1000

static const tt_conformance *tested;

typedef struct twins {
  tt_under_test attacked, reference;
  int attacked_socket, reference_socket;
  uint64_t n; /* of the latest valid message */
} twins;

static void tick(twins *t) {
  tt_error error = {""};
  if (tt_world_tick(t->attacked.world, &error) != TT_OK) fail_msg("%s", error.text);
  if (tt_world_tick(t->reference.world, &error) != TT_OK) fail_msg("%s", error.text);
  assert_true(tt_world_hash(t->attacked.world) == tt_world_hash(t->reference.world));
}

static void send_to_one(int s, uint64_t n) {
  uint8_t message[TT_CONFORMANCE_MESSAGE];
  size_t size = tested->message(n, message);
  assert_int_equal(send(s, message, size, 0), (ssize_t)size);
}

/* The next valid message, to both. */
static void drive(twins *t) {
  t->n++;
  send_to_one(t->attacked_socket, t->n);
  send_to_one(t->reference_socket, t->n);
  tick(t);
}

static int setup(void **state) {
  static twins t;
  t = (twins){0};
  tt_under_test_open(&t.attacked, tested);
  tt_under_test_open(&t.reference, tested);
  t.attacked_socket = tt_under_test_connect(&t.attacked, SOCK_DGRAM);
  t.reference_socket = tt_under_test_connect(&t.reference, SOCK_DGRAM);
  tt_world_start(t.attacked.world);
  tt_world_start(t.reference.world);
  for (int i = 0; i < 3; i++) drive(&t); /* so that something moves and somebody drives */
  *state = &t;
  return 0;
}

static int teardown(void **state) {
  twins *t = *state;
  close(t->attacked_socket);
  close(t->reference_socket);
  tt_under_test_close(&t->attacked);
  tt_under_test_close(&t->reference);
  return 0;
}

/* Sends bytes that must change nothing, be counted, and be explained with `named`. */
static void attack(twins *t, const uint8_t *bytes, size_t size, const char *named) {
  const tt_wire_stats *stats = &tt_under_test_wire(&t->attacked)->stats;
  uint64_t before = tt_dropped(stats), accepted = stats->accepted;
  assert_int_equal(send(t->attacked_socket, bytes, size, 0), (ssize_t)size);
  tick(t);
  assert_true(tt_dropped(stats) == before + 1);
  assert_true(stats->accepted == accepted);
  if (!strstr(stats->bad_text, named)) fail_msg("'%s' does not name '%s'", stats->bad_text, named);
}

static void every_truncation(void **state) {
  twins *t = *state;
  uint8_t message[TT_CONFORMANCE_MESSAGE];
  size_t size = tested->message(t->n + 1, message);
  for (size_t cut = 0; cut < size; cut++)
    attack(t, message, cut, tested->fixed_size ? "bytes" : "");
  drive(t);
}

static void every_excess(void **state) {
  if (!tested->fixed_size) skip();
  twins *t = *state;
  static uint8_t message[LARGEST_DATAGRAM];
  size_t size = tested->message(t->n + 1, message);
  for (size_t more = 1; more < size; more++) attack(t, message, size + more, "bytes");
  attack(t, message, sizeof message, "bytes");
  drive(t);
}

static void numbers_that_are_not_finite(void **state) {
  twins *t = *state;
  const uint32_t bad[] = {NAN_BITS, NAN_BITS | SIGN_BIT, SIGNALLING_BITS, INFINITY_BITS,
                          INFINITY_BITS | SIGN_BIT};
  for (int f = 0; f < tested->field_count; f++) {
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
      uint8_t message[TT_CONFORMANCE_MESSAGE];
      size_t size = tested->message(t->n + 1, message);
      tt_put_field(&tested->fields[f], message, bad[b]);
      attack(t, message, size, tested->fields[f].name);
    }
  }
  drive(t);
}

static void numbers_far_out_of_range(void **state) {
  twins *t = *state;
  for (int f = 0; f < tested->field_count; f++) {
    for (int sign = -1; sign <= 1; sign += 2) {
      if (!tested->fields[f].limited) continue;
      uint8_t message[TT_CONFORMANCE_MESSAGE];
      size_t size = tested->message(t->n + 1, message);
      tt_put_field(&tested->fields[f], message, tt_bits_of_float((float)sign * 1e30f));
      attack(t, message, size, tested->fields[f].name);
    }
  }
  drive(t);
}

/* Whether a byte-swapped message can be told from a valid one depends on its numbers; it must never do harm. */
static void byte_swapped(void **state) {
  twins *t = *state;
  uint8_t message[TT_CONFORMANCE_MESSAGE];
  size_t size = tested->message(t->n + 1, message);
  tt_swap_fields(tested, message);
  assert_int_equal(send(t->attacked_socket, message, size, 0), (ssize_t)size);
  tt_error error = {""};
  assert_int_equal(tt_world_tick(t->attacked.world, &error), TT_OK);
  const tt_view *view = tt_world_view(t->attacked.world);
  for (int i = 0; i < view->model->axis_count; i++) assert_true(isfinite(view->joint_velocity[i]));
}

static void replayed_and_reordered(void **state) {
  if (!tested->ordered) skip();
  twins *t = *state;
  uint8_t message[TT_CONFORMANCE_MESSAGE];
  for (uint64_t old = 1; old <= t->n; old++) {
    size_t size = tested->message(old, message);
    attack(t, message, size, "stamp");
  }
  /* In one period: the newest of those that arrived counts, whatever their order; the others are superseded. */
  const tt_wire_stats *stats = &tt_under_test_wire(&t->attacked)->stats;
  uint64_t superseded = stats->dropped[TT_DROP_SUPERSEDED], accepted = stats->accepted;
  send_to_one(t->attacked_socket, t->n + 2);
  send_to_one(t->attacked_socket, t->n + 3);
  send_to_one(t->attacked_socket, t->n + 1);
  send_to_one(t->reference_socket, t->n + 3);
  tick(t);
  assert_true(stats->dropped[TT_DROP_SUPERSEDED] == superseded + 2);
  assert_true(stats->accepted == accepted + 1);
}

static void flooded(void **state) {
  twins *t = *state;
  const tt_wire_stats *stats = &tt_under_test_wire(&t->attacked)->stats;
  uint64_t accepted = stats->accepted;
  for (int period = 0; period < 3; period++) {
    for (int i = 0; i < FLOOD;
         i++) { /* the kernel may drop some, but never those that came first */
      uint8_t message[TT_CONFORMANCE_MESSAGE];
      size_t size = tested->message(t->n + 1, message);
      send(t->attacked_socket, message, i % 2 ? size : size / 2, MSG_DONTWAIT);
    }
    t->n++;
    send_to_one(t->reference_socket, t->n);
    tick(t);
  }
  assert_true(stats->accepted == accepted + 3);
  drive(t);
}

static void a_second_controller(void **state) {
  if (!tested->ordered) skip();
  twins *t = *state;
  int stranger = tt_under_test_connect(&t->attacked, SOCK_DGRAM), own = t->attacked_socket;
  uint8_t message[TT_CONFORMANCE_MESSAGE];
  size_t size = tested->message(t->n + 1, message);
  t->attacked_socket = stranger;
  attack(t, message, size, "of simulated time");
  t->attacked_socket = own;
  close(stranger);
  drive(t);
}

static void a_restarted_controller(void **state) {
  twins *t = *state;
  const tt_view *view = tt_world_view(t->attacked.world);
  const tt_wire_stats *stats = &tt_under_test_wire(&t->attacked)->stats;
  double silent_until = view->time + 1.0;
  while (view->time < silent_until) tick(t);
  close(t->attacked_socket);
  close(t->reference_socket);
  t->attacked_socket = tt_under_test_connect(&t->attacked, SOCK_DGRAM);
  t->reference_socket = tt_under_test_connect(&t->reference, SOCK_DGRAM);
  uint64_t accepted = stats->accepted;
  t->n = 0; /* its timestamps begin anew */
  drive(t);
  drive(t);
  assert_true(stats->accepted == accepted + 2);
}

static void silence_makes_it_safe_on_its_step(void **state) {
  twins *t = *state;
  tt_silence silence;
  tt_silence_watch(&silence, &t->attacked);
  drive(t);
  for (int i = 0; i < 1000 && !silence.ended; i++) tick(t);
  tt_silence_check(&silence, &t->attacked);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int tt_conformance_datagrams(const tt_conformance *wire) {
  const struct CMUnitTest tests[] = {
      TEST(every_truncation),
      TEST(every_excess),
      TEST(numbers_that_are_not_finite),
      TEST(numbers_far_out_of_range),
      TEST(byte_swapped),
      TEST(replayed_and_reordered),
      TEST(flooded),
      TEST(a_second_controller),
      TEST(a_restarted_controller),
      TEST(silence_makes_it_safe_on_its_step),
  };
  tested = wire;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
