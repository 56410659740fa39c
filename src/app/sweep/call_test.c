/* call_test.c: a program is started as a shell would start it, and its answer is read. */
#include "app/sweep/call.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void an_answer_and_a_complaint(void **state) {
  (void)state;
  const char *words[] = {"sh", "-c", "echo one; echo two >&2; echo three >&2; exit 4", NULL};
  char text[100];
  tt_call call = {0};
  assert_int_equal(tt_call_start(words, NULL, &call, NULL), TT_OK);
  tt_call_wait(&call);
  assert_true(tt_call_is_over(&call));
  assert_int_equal(call.exit, 4);
  FILE *answer = tt_call_answer(&call);
  assert_non_null(answer);
  assert_non_null(fgets(text, sizeof text, answer));
  assert_string_equal(text, "one\n");
  fclose(answer);
  assert_string_equal(tt_call_complaint(&call, text, sizeof text), "two;three");
  tt_call_end(&call);
}

static void a_program_that_is_not_there(void **state) {
  (void)state;
  const char *words[] = {"no-such-program-of-tether", NULL};
  tt_call call = {0};
  assert_int_equal(tt_call_start(words, NULL, &call, NULL), TT_NOT_FOUND);
}

static unsigned long long read_set(FILE *answer) {
  char line[100];
  assert_non_null(fgets(line, sizeof line, answer));
  return strtoull(strchr(line, ':') + 1, NULL, 16);
}

static void signals_are_as_at_the_beginning(void **state) {
  (void)state;
  const char *words[] = {"grep", "-E", "Sig(Blk|Ign)", "/proc/self/status", NULL};
  sigset_t blocked, before;
  tt_call call = {0};
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  signal(SIGPIPE, SIG_IGN);
  assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
  assert_int_equal(tt_call_start(words, NULL, &call, NULL), TT_OK);
  assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
  signal(SIGPIPE, SIG_DFL);
  tt_call_wait(&call);
  FILE *answer = tt_call_answer(&call);
  assert_non_null(answer);
  assert_true(read_set(answer) == 0);
  assert_true((read_set(answer) & 1ull << (SIGPIPE - 1)) == 0);
  fclose(answer);
  tt_call_end(&call);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_answer_and_a_complaint),
      cmocka_unit_test(a_program_that_is_not_there),
      cmocka_unit_test(signals_are_as_at_the_beginning),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
