/* What people write of a kept run: nothing is lost where several write at once. */
#include "record/run_about.h"

#include "base/json.h"
#include "base/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
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
    lost = tt_run_about_write(&run, changes, NULL) != TT_OK;
    json_object_put(changes);
    usleep(100); /* others write */
    struct json_object *about = tt_run_about_read(&run);
    lost = lost || strcmp(tt_json_text(about, key), text) != 0;
    json_object_put(about);
  }
  tt_kept_run_clear(&run);
  return lost;
}

static void test_programs_that_write_at_once(void **state) {
  (void)state;
  static const char *const keys[] = {"name", "note"};
  tt_scratch scratch;
  char folder[64], path[200];
  assert_int_equal(tt_scratch_open(&scratch, NULL), TT_OK);
  snprintf(folder, sizeof folder, "%s/runs", scratch.folder); /* the other one is locked */
  assert_int_equal(mkdir(folder, 0700), 0);
  snprintf(path, sizeof path, "%s/" RUN, folder);
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  fclose(file);
  for (int i = 0; i < 2; i++)
    if (fork() == 0) _exit(write_key(folder, keys[i]));
  for (int i = 0; i < 2; i++) {
    int how;
    assert_true(wait(&how) > 0);
    assert_int_equal(how, 0);
  }
  tt_scratch_close(&scratch);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs_that_write_at_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
