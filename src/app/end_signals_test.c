/* end_signals_test.c: what asks a program to end, once and again. */
#include "app/end_signals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static volatile sig_atomic_t came;

static void note(int number) { came = came * 100 + number; }

static bool has_default(int number) {
  struct sigaction now;
  assert_int_equal(sigaction(number, NULL, &now), 0);
  return now.sa_handler == SIG_DFL;
}

static void a_closed_terminal_may_say_so_twice(void **state) {
  (void)state;
  came = 0;
  tt_end_signals_catch(note, (int)SA_RESETHAND | SA_RESTART);
  raise(SIGHUP);
  raise(SIGHUP);
  assert_int_equal(came, 100 * SIGHUP + SIGHUP);
  raise(SIGTERM);
  assert_true(has_default(SIGTERM));
  assert_false(has_default(SIGINT));
}

static void what_nohup_ignores_stays_ignored(void **state) {
  (void)state;
  sigset_t signals;
  came = 0;
  signal(SIGHUP, SIG_IGN);
  tt_end_signals_get(&signals);
  assert_int_equal(sigismember(&signals, SIGHUP), 0);
  tt_end_signals_catch(note, 0);
  raise(SIGHUP);
  raise(SIGTERM);
  assert_int_equal(came, SIGTERM);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_closed_terminal_may_say_so_twice),
      cmocka_unit_test(what_nohup_ignores_stays_ignored),
  };
  return cmocka_run_group_tests_name("end_signals", tests, NULL, NULL);
}
