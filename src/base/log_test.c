/* log_test.c: lines come out whole, in order, safe for a terminal; and a full pipe holds nobody. */
#include "base/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define THREADS 4
#define LINES 500

static int saved_stderr;
static FILE *captured;

/* Standard error goes to a file until release(). */
static void capture(void) {
  fflush(stderr);
  saved_stderr = dup(STDERR_FILENO);
  captured = tmpfile();
  assert_non_null(captured);
  assert_true(dup2(fileno(captured), STDERR_FILENO) >= 0);
}

static char *release(void) {
  assert_true(dup2(saved_stderr, STDERR_FILENO) >= 0);
  close(saved_stderr);
  long size = lseek(fileno(captured), 0, SEEK_END);
  char *text = calloc(1, (size_t)size + 1);
  assert_non_null(text);
  assert_int_equal(pread(fileno(captured), text, (size_t)size, 0), size);
  fclose(captured);
  return text;
}

static void lines_begin_with_their_level(void **state) {
  (void)state;
  capture();
  tt_log_error("one %d", 1);
  tt_log_start();
  tt_log_warning("two");
  tt_log_info("ready three=%s", "3");
  tt_log_debug("not said");
  tt_log_set_level(TT_LOG_DEBUG);
  tt_log_debug("four");
  tt_log_set_level(TT_LOG_INFO);
  tt_log_stop();
  tt_log_info("five");
  char *text = release();
  assert_string_equal(text, "error: one 1\nwarning: two\nready three=3\ndebug: four\nfive\n");
  free(text);
}

static void nothing_said_can_move_a_cursor(void **state) {
  (void)state;
  capture();
  tt_log_info("%s",
              "a\033[2Jb\nc\x7f\xc2\x9b"
              "d\x9b\xff in·lbf µ 漢 \xf0\x9f\xa4\x96 \xe2\x82");
  char *text = release();
  assert_string_equal(text, "a?[2Jb?c??d?? in·lbf µ 漢 \xf0\x9f\xa4\x96 ??\n");
  free(text);
}

static void long_lines_are_cut_between_characters(void **state) {
  (void)state;
  char long_text[3000];
  memset(long_text, 'x', sizeof long_text);
  memcpy(long_text + 999, "µ", 2); /* would straddle the limit */
  long_text[sizeof long_text - 1] = '\0';
  capture();
  tt_log_info("%s", long_text);
  char *text = release();
  assert_int_equal(strlen(text), 1000);
  assert_int_equal(text[998], 'x');
  assert_int_equal(text[999], '\n');
  free(text);
}

static void *say_lines(void *argument) {
  int thread = (int)(intptr_t)argument;
  for (int i = 0; i < LINES; i++) tt_log_info("thread %d line %d", thread, i);
  return NULL;
}

/* Starts THREADS speakers and waits until all have said everything. */
static void speak_from_many_threads(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, say_lines, (void *)(intptr_t)i), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* Every line said is either there, in its thread's order, or counted as lost. */
static void check_lines(char *text, bool expect_loss) {
  int last[THREADS] = {-1, -1, -1, -1};
  unsigned long seen = 0, lost = 0;
  char *rest = NULL;
  for (char *at = strtok_r(text, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest)) {
    int thread, number;
    unsigned long count;
    /* NOLINTBEGIN(cert-err34-c): lines of a few digits, said here */
    if (sscanf(at, "warning: log: %lu lines lost", &count) == 1) {
      lost += count;
      continue;
    }
    assert_int_equal(sscanf(at, "thread %d line %d", &thread, &number), 2);
    /* NOLINTEND(cert-err34-c) */
    assert_in_range(thread, 0, THREADS - 1);
    assert_true(number > last[thread]);
    last[thread] = number;
    seen++;
  }
  assert_int_equal(seen + lost, THREADS * LINES);
  assert_int_equal(lost > 0, expect_loss);
}

static void every_line_is_written_or_counted(void **state) {
  (void)state;
  capture();
  tt_log_start();
  speak_from_many_threads();
  tt_log_stop();
  char *text = release();
  check_lines(text, strstr(text, "lines lost") != NULL);
  free(text);
}

static void *read_all(void *argument) {
  int fd = *(int *)argument;
  size_t used = 0, size = 1 << 20;
  char *text = calloc(1, size);
  for (ssize_t got; used < size - 1 && (got = read(fd, text + used, size - 1 - used)) > 0;)
    used += (size_t)got;
  return text;
}

static void a_full_pipe_holds_nobody(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 0); /* far smaller than what is said */
  fflush(stderr);
  int saved = dup(STDERR_FILENO);
  assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
  close(ends[1]);
  tt_log_start();
  speak_from_many_threads(); /* returns although nobody reads */
  pthread_t reader;
  assert_int_equal(pthread_create(&reader, NULL, read_all, &ends[0]), 0);
  tt_log_stop();
  assert_true(dup2(saved, STDERR_FILENO) >= 0); /* closes the pipe's last writing end */
  close(saved);
  void *text;
  pthread_join(reader, &text);
  close(ends[0]);
  check_lines(text, true);
  free(text);
}

static void what_comes_without_end_is_said_once_a_second(void **state) {
  (void)state;
  tt_log_hold hold = {.said_at = 0};
  char more[TT_LOG_MORE] = "?";
  assert_true(tt_log_is_due(&hold, more));
  assert_string_equal(more, "");
  for (int i = 0; i < 900; i++) assert_false(tt_log_is_due(&hold, more));
  hold.said_at -= 1000000; /* a second later */
  assert_true(tt_log_is_due(&hold, more));
  assert_string_equal(more, " (and 900 more like it)");
  hold.said_at -= 1000000;
  assert_true(tt_log_is_due(&hold, more));
  assert_string_equal(more, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_begin_with_their_level),
      cmocka_unit_test(nothing_said_can_move_a_cursor),
      cmocka_unit_test(long_lines_are_cut_between_characters),
      cmocka_unit_test(every_line_is_written_or_counted),
      cmocka_unit_test(a_full_pipe_holds_nobody),
      cmocka_unit_test(what_comes_without_end_is_said_once_a_second),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
