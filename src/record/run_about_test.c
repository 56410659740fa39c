/* What people write of a kept run: nothing is lost where several write at once. */
#include "record/run_about.h"

#include "base/json.h"
#include "base/scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ROUNDS 300
#define RUN "2026-01-01T10-00-00-a.wpilog"

/* Writes `key` again and again. 0: each time what it wrote stayed, though others wrote other keys. */
static int write_key(const char *folder, const char *key) {
  tt_kept_run run;
  int lost = !tt_kept_run_find(folder, RUN, &run);
  for (int i = 0; i < ROUNDS && !lost; i++) {
    char text[16];
    snprintf(text, sizeof text, "%d", i);
    struct json_object *changes = json_object_new_object();
    tt_json_add_text(changes, key, text);
    lost = tt_run_about_write(&run, changes, TT_ABOUT_MOST_WAIT, NULL) != TT_OK;
    json_object_put(changes);
    usleep(100); /* others write */
    struct json_object *about = tt_run_about_read(&run);
    lost = lost || strcmp(tt_json_text(about, key), text) != 0;
    json_object_put(about);
  }
  tt_kept_run_clear(&run);
  return lost;
}

/* The folder of runs, with one. */
static void make_run(const tt_scratch *scratch, char folder[64]) {
  char path[200];
  snprintf(folder, 64, "%s/runs", scratch->folder); /* the other one is locked */
  assert_int_equal(mkdir(folder, 0700), 0);
  snprintf(path, sizeof path, "%s/" RUN, folder);
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  fclose(file);
}

static void test_programs_that_write_at_once(void **state) {
  (void)state;
  static const char *const keys[] = {"name", "note"};
  tt_scratch scratch;
  char folder[64];
  assert_int_equal(tt_scratch_open(&scratch, NULL), TT_OK);
  make_run(&scratch, folder);
  for (int i = 0; i < 2; i++)
    if (fork() == 0) _exit(write_key(folder, keys[i]));
  for (int i = 0; i < 2; i++) {
    int how;
    assert_true(wait(&how) > 0);
    assert_int_equal(how, 0);
  }
  tt_scratch_close(&scratch);
}

static void test_a_program_that_holds_the_folder(void **state) {
  (void)state;
  tt_scratch scratch;
  tt_kept_run run;
  tt_error error = {""};
  char folder[64];
  assert_int_equal(tt_scratch_open(&scratch, NULL), TT_OK);
  make_run(&scratch, folder);
  assert_true(tt_kept_run_find(folder, RUN, &run));
  struct json_object *changes = json_object_new_object();
  tt_json_add_text(changes, "name", "x");
  int other = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  assert_int_equal(flock(other, LOCK_EX), 0);
  alarm(60); /* where it waits without end */
  assert_int_equal(tt_run_about_write(&run, changes, 20, &error), TT_FAILED);
  alarm(0);
  assert_non_null(strstr(error.text, "/runs; try again"));
  close(other);
  assert_int_equal(tt_run_about_write(&run, changes, 20, &error), TT_OK);
  json_object_put(changes);
  tt_kept_run_clear(&run);
  tt_scratch_close(&scratch);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs_that_write_at_once),
                                     cmocka_unit_test(test_a_program_that_holds_the_folder)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
