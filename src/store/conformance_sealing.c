/* conformance_sealing.c: days that are packed say what they said before, whatever comes for them late or again, and whenever
 * the program is killed.
 */
#include "store/conformance.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_sealed_days_say_the_same(void **state) {
  (void)state;
  tt_store *store = tt_conformance_begin();
  tt_conformance_write(store, 1, 0);
  char *expected = tt_conformance_read(store);
  assert_true(tt_conformance_seal(store, false) > TT_CONFORMANCE_SAMPLES);
  tt_conformance_assert_reads(store, expected);
  tt_conformance_write(store, 1, 0);  // all of it once more
  tt_conformance_assert_reads(store, expected);
  store->close(store);
  store = tt_conformance_begin();
  tt_conformance_assert_reads(store, expected);
  tt_conformance_seal(store, false);
  tt_conformance_assert_reads(store, expected);
  assert_true(tt_conformance_seal(store, true) > TT_CONFORMANCE_SAMPLES);
  tt_conformance_assert_reads(store, expected);
  store->close(store);
  g_free(expected);
}

static void test_late_samples_of_sealed_days(void **state) {
  (void)state;
  tt_store *store = tt_conformance_begin();
  for (int rest = 0; rest < 3; rest++) tt_conformance_write(store, 3, rest);
  char *expected = tt_conformance_read(store);
  store->close(store);
  assert_int_equal(tt_testing_clean(state), 0);
  store = tt_conformance_begin();
  for (int rest = 0; rest < 3; rest++) {
    tt_conformance_write(store, 3, rest);
    tt_conformance_seal(store, rest == 1);
  }
  tt_conformance_assert_reads(store, expected);
  store->close(store);
  g_free(expected);
}

static void test_killed_while_it_seals(void **state) {
  (void)state;
  tt_store *store = tt_conformance_begin();
  tt_conformance_write(store, 1, 0);
  char *expected = tt_conformance_read(store);
  store->close(store);
  const int kills = g_getenv("TETHER_LONG") ? 300 : 8;
  srand(11);
  for (int kill_number = 0; kill_number < kills; kill_number++) {
    int pipes[2];
    char ready;
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
      store = tt_conformance_begin();
      if (write(pipes[1], "", 1) != 1) _exit(1);
      for (;;) {
        tt_conformance_seal(store, false);
        tt_conformance_seal(store, true);
      }
    }
    assert_int_equal(read(pipes[0], &ready, 1), 1);
    usleep((useconds_t)(rand() % 40000));
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    close(pipes[0]);
    close(pipes[1]);
    store = tt_conformance_begin();
    tt_conformance_assert_reads(store, expected);
    store->close(store);
  }
  g_free(expected);
}

const tt_store_case tt_store_sealing_cases[] = {
    {"sealed days say the same", test_sealed_days_say_the_same, TT_STORE_READS | TT_STORE_SEALS,
     NULL},
    {"late samples of sealed days", test_late_samples_of_sealed_days,
     TT_STORE_READS | TT_STORE_SEALS, NULL},
    {"killed while it seals", test_killed_while_it_seals, TT_STORE_READS | TT_STORE_SEALS, NULL},
    {0},
};
