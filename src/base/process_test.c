/* process_test.c: a child is waited for until it ends, whatever signals come. */
#include "base/process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <unistd.h>
#include <cmocka.h>

static int go[2];
static volatile sig_atomic_t alarms;

/* A child that ends with `status` once it is let go. */
static pid_t start(int status) {
  char byte;
  assert_int_equal(pipe(go), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child > 0) return child;
  close(go[1]);
  _exit(read(go[0], &byte, 1) == 1 ? status : 1);
}

static void let_go(void) { assert_int_equal(write(go[1], "", 1), 1); }

static void close_both(void) {
  close(go[0]);
  close(go[1]);
}

static void a_child_is_asked_for_or_waited_for(void **state) {
  (void)state;
  int how;
  pid_t child = start(7);
  assert_int_equal(tt_process_reap(child, WNOHANG, &how), 0);
  let_go();
  assert_int_equal(tt_process_reap(child, 0, &how), child);
  assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 7);
  assert_int_equal(tt_process_reap(child, 0, NULL), -1);
  assert_int_equal(errno, ECHILD);
  close_both();
}

/* Not before the wait was interrupted, perhaps several times, does the child end. */
static void on_alarm(int number) {
  (void)number;
  if (++alarms == 5 && write(go[1], "", 1) != 1) _exit(1);
}

static void signals_do_not_end_the_wait(void **state) {
  (void)state;
  int how;
  const struct itimerval every = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
  pid_t child = start(3);
  const struct sigaction act = {.sa_handler = on_alarm}; /* without SA_RESTART */
  assert_int_equal(sigaction(SIGALRM, &act, NULL), 0);
  assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
  pid_t reaped = tt_process_reap(child, 0, &how);
  assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
  assert_int_equal(reaped, child);
  assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 3);
  assert_true(alarms >= 5);
  close_both();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_child_is_asked_for_or_waited_for),
      cmocka_unit_test(signals_do_not_end_the_wait),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
