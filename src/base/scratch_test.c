/* scratch_test.c: a temporary folder goes with who made it, also with one that was killed, and no other does. */
#include "base/scratch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

/* Another program of ours may be the one that removes it, and not have done so yet. */
static bool goes(const char *path) {
  for (int ms = 0; is_there(path) && ms < 30000; ms += 10) usleep(10000);
  return !is_there(path);
}

/* With something in it that a careless removal would follow. */
static void fill(const char *folder) {
  char path[200];
  snprintf(path, sizeof path, "%s/deep", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(path, sizeof path, "%s/deep/link", folder);
  assert_int_equal(symlink("/", path), 0);
}

static void it_goes_when_closed(void **state) {
  (void)state;
  tt_scratch made = {.folder = ""};
  char folder[sizeof made.folder];
  tt_scratch_close(&made);
  assert_int_equal(tt_scratch_open(&made, NULL), TT_OK);
  memcpy(folder, made.folder, sizeof folder);
  struct stat about;
  assert_int_equal(stat(folder, &about), 0);
  assert_int_equal(about.st_mode & 0777, 0700);
  fill(folder);
  tt_scratch_close(&made);
  assert_false(is_there(folder));
  assert_true(is_there("/tmp"));
}

static void one_of_the_killed_goes_next_time(void **state) {
  (void)state;
  int ends[2];
  tt_scratch first, second;
  char left[sizeof first.folder] = "";
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(tt_scratch_open(&first, NULL), TT_OK);
  pid_t child = fork();
  if (child == 0) {
    tt_scratch made;
    if (tt_scratch_open(&made, NULL) != TT_OK) _exit(1);
    fill(made.folder);
    if (write(ends[1], made.folder, sizeof made.folder) < 0) _exit(1);
    for (;;) pause();
  }
  assert_int_equal(read(ends[0], left, sizeof left), sizeof left);

  assert_int_equal(tt_scratch_open(&second, NULL), TT_OK);
  assert_true(is_there(left)); /* its owner lives */
  tt_scratch_close(&second);

  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, NULL, 0), child);
  assert_int_equal(tt_scratch_open(&second, NULL), TT_OK);
  assert_true(goes(left));
  assert_true(is_there(first.folder));
  assert_true(is_there(second.folder));
  tt_scratch_close(&second);
  tt_scratch_close(&first);
  close(ends[0]);
  close(ends[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_goes_when_closed),
      cmocka_unit_test(one_of_the_killed_goes_next_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
