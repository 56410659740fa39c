/* conformance_lockstep.c: what every wire over UDP has to do at pace lockstep: one message, one answer, whatever is lost, comes
 * twice, or comes too late.
 *
 * As in conformance_datagrams.c two worlds run side by side, and only the first has trouble; their state hashes must never
 * differ. A world that waits would wait for ever in the thread that is to answer it: answers lie in its socket before it
 * ticks, or come from a thread.
 */
#include "wire/conformance_world.h"

#include "net/socket_testing.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define FLOOD 200 /* datagrams that a socket holds for sure */

static const tt_conformance *tested;

typedef struct pair {
  tt_under_test troubled, reference;
  int socket, reference_socket;
  uint64_t n;                            /* of the latest answer */
  uint8_t heard[TT_CONFORMANCE_MESSAGE]; /* by the troubled one's controller, last */
} pair;

static void say(int s, uint64_t n) {
  uint8_t message[TT_CONFORMANCE_MESSAGE];
  size_t size = tested->message(n, message);
  assert_int_equal(send(s, message, size, 0), (ssize_t)size);
}

static void tick_one(tt_under_test *under) {
  tt_error error = {""};
  if (tt_world_tick(under->world, &error) != TT_OK) fail_msg("%s", error.text);
}

static const tt_wire *wire_of(const pair *p) { return tt_under_test_wire(&p->troubled); }

/* The reference answers the same, once. */
static void tick(pair *p) {
  say(p->reference_socket, p->n);
  tick_one(&p->reference);
  tick_one(&p->troubled);
  assert_true(tt_world_hash(p->troubled.world) == tt_world_hash(p->reference.world));
}

/* The next answer. */
static void drive(pair *p) {
  say(p->socket, ++p->n);
  tick(p);
}

/* How many messages have come. */
static int hear_all(pair *p) {
  int count = 0;
  while (recv(p->socket, p->heard, sizeof p->heard, MSG_DONTWAIT) > 0) count++;
  return count;
}

/* A world at frame 0, to which a controller has said `hello`. Returns its socket. */
static int begin(tt_under_test *under, const char *late, uint64_t hello) {
  const char *settings[8];
  char policy[96], deadline[96], watchdog[96];
  tt_conformance waiting = *tested;
  snprintf(policy, sizeof policy, "wires.%s.late=%s", tested->wire, late);
  snprintf(deadline, sizeof deadline, "wires.%s.deadline=50 ms", tested->wire);
  snprintf(watchdog, sizeof watchdog, "wires.%s.watchdog=0 s", tested->wire);
  memcpy(settings, tested->settings, sizeof *settings * (size_t)tested->setting_count);
  settings[waiting.setting_count++] = "pace=lockstep";
  settings[waiting.setting_count++] = policy;
  settings[waiting.setting_count++] = deadline;
  settings[waiting.setting_count++] = watchdog;
  waiting.settings = settings;
  tt_under_test_open(under, &waiting);
  tt_world_start(under->world);
  int s = tt_under_test_connect(under, SOCK_DGRAM);
  say(s, hello);
  return s;
}

static void begin_both(pair *p, const char *late) {
  *p = (pair){.n = 1};
  p->socket = begin(&p->troubled, late, 1);
  p->reference_socket = begin(&p->reference, "wait", 7); /* what is said first drives nothing */
  for (int i = 0; i < 3; i++) drive(p);                  /* so that something moves */
  assert_true(wire_of(p)->stats.accepted == 3);
  assert_int_equal(hear_all(p), 4);
}

static int setup(void **state) {
  static pair p;
  begin_both(&p, "wait");
  *state = &p;
  return 0;
}

static int teardown(void **state) {
  pair *p = *state;
  close(p->socket);
  close(p->reference_socket);
  tt_under_test_close(&p->troubled);
  tt_under_test_close(&p->reference);
  return 0;
}

/* --- too much --- */

static void surplus_answers_are_counted_and_dropped(void **state) {
  pair *p = *state;
  for (int i = 0; i < 5; i++) {
    say(p->socket, ++p->n);
    say(p->socket, p->n + 100);
    say(p->socket, p->n + 101);
    tick(p);
    assert_int_equal(hear_all(p), 1);
  }
  assert_true(wire_of(p)->stats.dropped[TT_DROP_SURPLUS] == 10);
  assert_true(wire_of(p)->stats.accepted == 8);
  assert_true(wire_of(p)->stats.repeated == 0);
}

static void bad_datagrams_are_no_answers(void **state) {
  pair *p = *state;
  uint8_t message[TT_CONFORMANCE_MESSAGE];
  size_t size = tested->message(p->n + 1, message);
  for (size_t i = 0; i < FLOOD; i++) send(p->socket, message, i % size, 0);
  drive(p);
  assert_true(tt_dropped(&wire_of(p)->stats) == FLOOD);
  assert_int_equal(hear_all(p), 1);
}

static void a_flood_of_one_answer_is_one_answer(void **state) {
  pair *p = *state;
  p->n++;
  for (int i = 0; i < FLOOD; i++) say(p->socket, p->n);
  tick(p);
  drive(p);
  assert_true(wire_of(p)->stats.accepted == 5);
  assert_int_equal(hear_all(p), 2);
}

static void another_controller_is_refused(void **state) {
  pair *p = *state;
  int stranger = tt_under_test_connect(&p->troubled, SOCK_DGRAM);
  say(stranger, p->n + 5);
  drive(p);
  assert_true(wire_of(p)->stats.dropped[TT_DROP_REFUSED] == 1);
  assert_int_equal(hear_all(p), 1);
  close(stranger);
}

/* --- too little --- */

/* Answers `n` when the next message comes; until then it says `hello` again and again, if that is not 0. */
typedef struct controller {
  pthread_t thread;
  int socket;
  uint64_t n, hello;
  uint8_t heard[TT_CONFORMANCE_MESSAGE];
} controller;

static void *answer_next(void *context) {
  controller *of = context;
  struct timeval patience = {.tv_usec = of->hello ? 10000 : 0};
  setsockopt(of->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  do {
    if (of->hello) say(of->socket, of->hello);
  } while (receive_part(of->socket, of->heard, sizeof of->heard) < 0);
  say(of->socket, of->n);
  return NULL;
}

static void tick_with(pair *p, controller *of) {
  assert_int_equal(pthread_create(&of->thread, NULL, answer_next, of), 0);
  tick(p);
  pthread_join(of->thread, NULL);
}

/* It was lost, or its answer was: sent again anew, the answer counts, and the next message has one answer again. */
static void what_is_not_answered_is_sent_again(void **state) {
  pair *p = *state;
  for (int i = 0; i < 3; i++) {
    controller late = {.socket = p->socket, .n = ++p->n};
    tick_with(p, &late); /* its last message has been heard, and came to nothing */
    if (tested->is_newer) assert_true(tested->is_newer(late.heard, p->heard));
    assert_true(wire_of(p)->stats.repeated > (uint64_t)i);
    hear_all(p);
    drive(p);
    hear_all(p);
  }
  assert_true(wire_of(p)->stats.accepted == 9);
}

/* Its port is closed, which the kernel tells: the next one need not wait until it would have been silent for long enough. */
static void a_controller_that_died_comes_back(void **state) {
  pair *p = *state;
  close(p->socket);
  p->socket = tt_under_test_connect(&p->troubled, SOCK_DGRAM);
  controller next = {.socket = p->socket, .n = ++p->n, .hello = p->n};
  tick_with(p, &next);
  assert_true(wire_of(p)->stats.accepted == 4);
}

/* Nobody takes its place as long as it may only be slow. */
static void a_controller_that_hangs_is_replaced(void **state) {
  pair *p = *state;
  int hanging = p->socket;
  p->socket = tt_under_test_connect(&p->troubled, SOCK_DGRAM);
  controller next = {.socket = p->socket, .n = ++p->n, .hello = p->n};
  tick_with(p, &next);
  assert_true(wire_of(p)->stats.dropped[TT_DROP_REFUSED] > 0);
  close(hanging);
}

/* --- what `late` says --- */

static bool is_safe(const tt_wire *wire) {
  const tt_view *view = tt_wire_view(wire);
  for (int i = 0; i < wire->owned_count; i++) {
    const tt_command *command = &wire->model->commands[wire->owned[i]];
    if (!isnan(command->safe) && view->commands[wire->owned[i]] != command->safe) return false;
  }
  return true;
}

/* Nobody answers: the world goes on, and waits only once. */
static void go_on_alone(const char *late, bool safe) {
  pair p;
  begin_both(&p, late);
  assert_false(is_safe(wire_of(&p)));
  for (int i = 0; i < 50; i++) tick_one(&p.troubled);
  assert_int_equal(wire_of(&p)->state, TT_WIRE_LATE);
  assert_true(is_safe(wire_of(&p)) == safe);
  assert_true(wire_of(&p)->stats.late == 50);
  assert_true(wire_of(&p)->stats.repeated == 0);
  say(p.socket, p.n + 1);
  say(p.socket, p.n + 2); /* where the first was only a hello */
  tick_one(&p.troubled);
  assert_int_equal(wire_of(&p)->state, TT_WIRE_DRIVING);
  assert_true(wire_of(&p)->stats.accepted >= 4);
  void *state = &p;
  teardown(&state);
}

static void late_hold_goes_on_with_the_last_commands(void **state) {
  (void)state;
  go_on_alone("hold", false);
}

static void late_zero_goes_on_with_safe_commands(void **state) {
  (void)state;
  go_on_alone("zero", true);
}

static void late_eject_hears_whoever_speaks_next(void **state) {
  (void)state;
  go_on_alone("eject", false);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int tt_conformance_in_lockstep(const tt_conformance *wire) {
  const struct CMUnitTest tests[] = {
      TEST(surplus_answers_are_counted_and_dropped),
      TEST(bad_datagrams_are_no_answers),
      TEST(a_flood_of_one_answer_is_one_answer),
      TEST(another_controller_is_refused),
      TEST(what_is_not_answered_is_sent_again),
      TEST(a_controller_that_died_comes_back),
      TEST(a_controller_that_hangs_is_replaced),
      cmocka_unit_test(late_hold_goes_on_with_the_last_commands),
      cmocka_unit_test(late_zero_goes_on_with_safe_commands),
      cmocka_unit_test(late_eject_hears_whoever_speaks_next),
  };
  tested = wire;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
