/* conformance_stream.c: what every lock-step wire over TCP has to withstand.
 *
 * The world runs in a thread of its own, as in the program. Once, undisturbed, a client drives it and keeps every byte
 * it is sent. After each attack a new client sends the same again, and must get the same bytes: then nothing of the
 * attack is left in the world.
 */
#include "base/endian.h"
#include "net/socket_testing.h"
#include "wire/conformance_world.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define FRAMES 40        /* messages of the undisturbed run */
#define CHECKED_FRAMES 8 /* of those sent again after every single attack */
#define NAN_BITS 0x7fc00000u
#define INFINITY_BITS 0x7f800000u
#define SIGN_BIT 0x80000000u

static const tt_conformance *tested;
static uint8_t *reference; /* FRAMES + 1 answers */

typedef struct running {
  tt_under_test under;
  pthread_t thread;
  tt_status status;
  tt_error error;
} running;

static void *run_world(void *context) {
  running *r = context;
  r->status = tt_world_run(r->under.world, &r->error);
  return NULL;
}

static void open_world(running *r, const tt_conformance *wire, tt_silence *silence) {
  *r = (running){0};
  tt_under_test_open(&r->under, wire);
  if (silence) tt_silence_watch(silence, &r->under);
  assert_int_equal(pthread_create(&r->thread, NULL, run_world, r), 0);
}

/* Ends the world's thread, so that its stats may be read. */
static void stop(running *r) {
  tt_world_post(r->under.world, &(tt_mail){.kind = TT_MAIL_QUIT, .source = "test"});
  pthread_join(r->thread, NULL);
  if (r->status != TT_OK) fail_msg("%s", r->error.text);
}

static void close_world(running *r) {
  stop(r);
  tt_under_test_close(&r->under);
}

static int setup(void **state) {
  static running r;
  open_world(&r, tested, NULL);
  *state = &r;
  return 0;
}

static int teardown(void **state) {
  close_world(*state);
  return 0;
}

static int join(const running *r) {
  int s = tt_under_test_connect(&r->under, SOCK_STREAM), on = 1;
  assert_true(s >= 0);
  setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  uint8_t greeting[TT_CONFORMANCE_MESSAGE];
  if (tested->greeting) send(s, greeting, tested->greeting(greeting), MSG_NOSIGNAL);
  return s;
}

/* One answer, and zeros behind one that is shorter than others. */
static ssize_t receive_answer(int s, uint8_t answer[TT_CONFORMANCE_MESSAGE]) {
  memset(answer, 0, tested->answer_size);
  if (!tested->answer) return receive_whole(s, answer, tested->answer_size);
  ssize_t got = tested->answer(s, answer);
  return got > 0 ? (ssize_t)tested->answer_size : got;
}

/* A client at its frame 0. One that knocks while the end of the client before is still under way in the kernel is
 * refused, and knocks again. `early` is said before frame 0 can have come. */
static int join_saying(const running *r, const uint8_t *early, size_t size) {
  for (;;) {
    int s = join(r);
    send(s, early, size, MSG_NOSIGNAL); /* in vain where it is refused */
    uint8_t answer[TT_CONFORMANCE_MESSAGE];
    ssize_t got = receive_answer(s, answer);
    if (got > 0) {
      assert_int_equal(got, (ssize_t)tested->answer_size);
      assert_memory_equal(answer, reference, tested->answer_size);
      return s;
    }
    assert_true(got == 0 || errno == ECONNRESET);
    close(s);
  }
}

static int join_at_frame_0(const running *r) { return join_saying(r, NULL, 0); }

static void send_bytes(int s, const uint8_t *bytes, size_t size) {
  assert_int_equal(send(s, bytes, size, MSG_NOSIGNAL), (ssize_t)size);
}

static void send_message(int s, uint64_t n) {
  uint8_t message[TT_CONFORMANCE_MESSAGE];
  send_bytes(s, message, tested->message(n, message));
}

/* Receives answer `n` and compares it with that of the undisturbed run. */
static void expect_answer(int s, uint64_t n) {
  uint8_t answer[TT_CONFORMANCE_MESSAGE];
  assert_int_equal(receive_answer(s, answer), (ssize_t)tested->answer_size);
  assert_memory_equal(answer, reference + n * tested->answer_size, tested->answer_size);
}

/* The simulator closes the connection and says nothing more. */
static void expect_closed(int s) {
  uint8_t byte;
  ssize_t got = receive_part(s, &byte, 1);
  assert_true(got == 0 || (got < 0 && errno == ECONNRESET));
}

/* A new client gets what the undisturbed one got. */
static void expect_unharmed(const running *r, uint64_t frames) {
  int s = join_at_frame_0(r);
  for (uint64_t n = 1; n <= frames; n++) {
    send_message(s, n);
    expect_answer(s, n);
  }
  close(s);
}

static void pause_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

/* --- the undisturbed run --- */

static void the_undisturbed_run_repeats(void **state) {
  running *r = *state;
  int s = join(r);
  for (uint64_t n = 0; n <= FRAMES; n++) {
    uint8_t *answer = reference + n * tested->answer_size;
    if (n) send_message(s, n);
    assert_int_equal(receive_answer(s, answer), (ssize_t)tested->answer_size);
    if (n) assert_memory_not_equal(answer, answer - tested->answer_size, tested->answer_size);
  }
  close(s);
  expect_unharmed(r, FRAMES);
}

/* --- signals --- */

typedef struct storm {
  pthread_t here, world;
  atomic_bool over;
} storm;

static void ignore(int number) { (void)number; }

static void *send_signals(void *context) {
  storm *of = context;
  while (!atomic_load(&of->over)) {
    pthread_kill(of->here, SIGUSR1);
    pthread_kill(of->world, SIGUSR1);
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
  }
  return NULL;
}

/* Interrupted wherever it waits, which a terminal that changes its size does, and a debugger. */
static void signals_harm_nobody(void **state) {
  running *r = *state;
  struct sigaction interrupting = {.sa_handler = ignore};
  assert_int_equal(sigaction(SIGUSR1, &interrupting, NULL), 0);
  storm storm = {.here = pthread_self(), .world = r->thread};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, send_signals, &storm), 0);
  for (int i = 0; i < 5; i++) expect_unharmed(r, FRAMES);
  atomic_store(&storm.over, true);
  pthread_join(thread, NULL); /* the handler stays: a signal may still be on its way */
}

/* --- attacks --- */

static void every_truncation(void **state) {
  running *r = *state;
  uint8_t message[TT_CONFORMANCE_MESSAGE];
  size_t size = tested->message(1, message);
  for (size_t cut = 0; cut < size; cut++) {
    int s = join_at_frame_0(r);
    send_bytes(s, message, cut);
    close(s);
  }
  expect_unharmed(r, FRAMES);
  stop(r);
  assert_true(tt_under_test_wire(&r->under)->stats.accepted == FRAMES);
  tt_under_test_close(&r->under);
  open_world(r, tested, NULL);
}

static void every_split(void **state) {
  running *r = *state;
  uint8_t message[TT_CONFORMANCE_MESSAGE];
  size_t size = tested->message(1, message);
  for (size_t split = 1; split < size; split++) {
    int s = join_at_frame_0(r);
    send_bytes(s, message, split);
    pause_ms(1);
    send_bytes(s, message + split, size - split);
    expect_answer(s, 1);
    close(s);
  }
}

static void byte_by_byte(void **state) {
  int s = join_at_frame_0(*state);
  for (uint64_t n = 1; n <= CHECKED_FRAMES; n++) {
    uint8_t message[TT_CONFORMANCE_MESSAGE];
    size_t size = tested->message(n, message);
    for (size_t i = 0; i < size; i++) send_bytes(s, message + i, 1);
    expect_answer(s, n);
  }
  close(s);
}

/* The last bad message's reason names this; then begins anew. */
static void expect_named(running *r, const char *name) {
  stop(r);
  const tt_wire_stats *stats = &tt_under_test_wire(&r->under)->stats;
  if (!strstr(stats->bad_text, name)) fail_msg("'%s' does not name '%s'", stats->bad_text, name);
  tt_under_test_close(&r->under);
  open_world(r, tested, NULL);
}

/* Sends a message with one field spoilt: it must cost the connection, or only be refused, and nothing else. */
static void spoil(const running *r, const tt_conformance_field *field, uint32_t bits) {
  uint8_t message[TT_CONFORMANCE_MESSAGE];
  size_t size = tested->message(1, message);
  tt_put_field(field, message, bits);
  int s = join_at_frame_0(r);
  send_bytes(s, message, size);
  if (tested->bad_numbers_answered) {
    uint8_t answer[TT_CONFORMANCE_MESSAGE];
    assert_int_equal(receive_answer(s, answer), (ssize_t)tested->answer_size);
  } else {
    expect_closed(s);
  }
  close(s);
}

static void numbers_that_are_not_finite(void **state) {
  running *r = *state;
  const uint32_t bad[] = {NAN_BITS, NAN_BITS | SIGN_BIT, INFINITY_BITS, INFINITY_BITS | SIGN_BIT};
  for (int f = 0; f < tested->field_count; f++) {
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) spoil(r, &tested->fields[f], bad[b]);
    expect_unharmed(r, CHECKED_FRAMES);
    expect_named(r, tested->fields[f].name);
  }
}

static void numbers_far_out_of_range(void **state) {
  running *r = *state;
  for (int f = 0; f < tested->field_count; f++) {
    if (!tested->fields[f].limited) continue;
    spoil(r, &tested->fields[f], tt_bits_of_float(1e30f));
    spoil(r, &tested->fields[f], tt_bits_of_float(-1e30f));
    expect_unharmed(r, CHECKED_FRAMES);
    expect_named(r, tested->fields[f].name);
  }
}

static void byte_swapped(void **state) {
  running *r = *state;
  uint8_t message[TT_CONFORMANCE_MESSAGE], answer[TT_CONFORMANCE_MESSAGE];
  size_t size = tested->message(1, message);
  tt_swap_fields(tested, message);
  int s = join_at_frame_0(r);
  send_bytes(s, message, size);
  receive_answer(s, answer); /* it may be valid by chance, or cost the connection */
  close(s);
  expect_unharmed(r, CHECKED_FRAMES);
}

/* All at once, the second time before the first answer can have come: one step for each message, none skipped. */
static void many_messages_at_once(void **state) {
  running *r = *state;
  uint8_t *all = malloc(FRAMES * TT_CONFORMANCE_MESSAGE);
  size_t size = 0;
  for (uint64_t n = 1; n <= FRAMES; n++) size += tested->message(n, all + size);
  for (int client = 0; client < 10; client++) {
    int s = join_saying(r, all, size);
    for (uint64_t n = 1; n <= FRAMES; n++) expect_answer(s, n);
    close(s);
  }
  free(all);
}

static void a_silent_client(void **state) {
  running *r = *state;
  int s = join_at_frame_0(r);
  pause_ms(200);
  uint8_t byte;
  assert_int_equal(recv(s, &byte, 1, MSG_DONTWAIT), -1); /* never a step without an answer */
  assert_int_equal(errno, EAGAIN);
  send_message(s, 1);
  expect_answer(s, 1);
  close(s);
}

/* The wire with `hold_settings`, too; `settings` is room for them. */
static tt_conformance going_on(const char *settings[8]) {
  tt_conformance wire = *tested;
  memcpy(settings, tested->settings, sizeof *settings * (size_t)tested->setting_count);
  memcpy(settings + tested->setting_count, tested->hold_settings, 3 * sizeof *settings);
  wire.settings = settings;
  wire.setting_count += 3;
  return wire;
}

static void silence_makes_it_safe_on_its_step(void **state) {
  (void)state;
  const char *settings[8];
  const tt_conformance wire = going_on(settings);
  running r;
  tt_silence silence;
  open_world(&r, &wire, &silence);
  int s = join(&r);
  send_message(s, 1);
  for (int i = 0; i < 20000 && !atomic_load(&silence.ended); i++) pause_ms(1);
  pause_ms(100); /* it goes on, and is late again */
  stop(&r);
  assert_true(atomic_load(&silence.ended));
  tt_silence_check(&silence, &r.under);
  close(s);
  tt_under_test_close(&r.under);
}

static void tick_until(running *r, bool (*is)(const tt_wire *wire)) {
  for (int i = 0; i < 1000 && !is(tt_under_test_wire(&r->under)); i++)
    if (tt_world_tick(r->under.world, &r->error) != TT_OK) fail_msg("%s", r->error.text);
  assert_true(is(tt_under_test_wire(&r->under)));
}

static bool is_met_and_late(const tt_wire *wire) {
  return wire->stats.peer[0] && wire->state == TT_WIRE_LATE;
}

static bool is_driving(const tt_wire *wire) { return wire->state == TT_WIRE_DRIVING; }

/* What answers a frame that the world has left behind is obeyed, and the next frame waited for again. */
static void a_late_answer_is_obeyed(void **state) {
  (void)state;
  const char *settings[8];
  const tt_conformance wire = going_on(settings);
  running r = {0}; /* in this thread: between two ticks nothing happens */
  tt_under_test_open(&r.under, &wire);
  tt_world_start(r.under.world);
  int s = join(&r);
  for (uint64_t n = 1; n <= 3; n++) {
    tick_until(&r, is_met_and_late);
    assert_true(tt_under_test_wire(&r.under)->stats.accepted == n - 1);
    send_message(s, n);
    tick_until(&r, is_driving);
    assert_true(tt_under_test_wire(&r.under)->stats.accepted == n);
  }
  close(s);
  tt_under_test_close(&r.under);
}

static void a_client_that_never_reads(void **state) {
  running *r = *state;
  int s = join_at_frame_0(r), small = 4096;
  setsockopt(s, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  uint8_t message[TT_CONFORMANCE_MESSAGE];
  size_t size = tested->message(1, message);
  for (int i = 0; i < 20000; i++)
    if (send(s, message, size, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)size) break;
  close(s); /* with bytes unread: a reset */
  expect_unharmed(r, CHECKED_FRAMES);
}

static void a_client_that_is_torn_away(void **state) {
  running *r = *state;
  for (int i = 0; i < 5; i++) {
    int s = join_at_frame_0(r);
    send_message(s, 1);
    struct linger hard = {.l_onoff = 1};
    setsockopt(s, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(s);
  }
  expect_unharmed(r, CHECKED_FRAMES);
}

static void a_second_client(void **state) {
  running *r = *state;
  int first = join_at_frame_0(r);
  for (int i = 0; i < 5; i++) {
    int second = join(r);
    expect_closed(second);
    close(second);
  }
  for (uint64_t n = 1; n <= CHECKED_FRAMES; n++) {
    send_message(first, n);
    expect_answer(first, n);
  }
  close(first);
  expect_unharmed(r, CHECKED_FRAMES);
}

static void many_clients_one_after_another(void **state) {
  for (int i = 0; i < 50; i++) expect_unharmed(*state, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int tt_conformance_stream(const tt_conformance *wire) {
  const struct CMUnitTest tests[] = {
      TEST(the_undisturbed_run_repeats), /* first: the others compare with it */
      TEST(signals_harm_nobody),
      TEST(every_truncation),
      TEST(every_split),
      TEST(byte_by_byte),
      TEST(numbers_that_are_not_finite),
      TEST(numbers_far_out_of_range),
      TEST(byte_swapped),
      TEST(many_messages_at_once),
      TEST(a_silent_client),
      cmocka_unit_test(silence_makes_it_safe_on_its_step),
      cmocka_unit_test(a_late_answer_is_obeyed),
      TEST(a_client_that_never_reads),
      TEST(a_client_that_is_torn_away),
      TEST(a_second_client),
      TEST(many_clients_one_after_another),
  };
  tested = wire;
  reference = calloc(FRAMES + 1, wire->answer_size);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(reference);
  return failed;
}
