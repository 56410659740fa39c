/* output_file_test.c: a result has its name once it is whole; what was there stays until then. */
#include "base/output_file.h"
#include "base/scratch.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static tt_scratch scratch;
static char path[200], part[210], link_path[200];

static int open_scratch(void **state) {
  (void)state;
  if (tt_scratch_open(&scratch, NULL) != TT_OK) return -1;
  snprintf(path, sizeof path, "%s/run.csv", scratch.folder);
  snprintf(part, sizeof part, "%s.part", path);
  snprintf(link_path, sizeof link_path, "%s/link", scratch.folder);
  return 0;
}

static int close_scratch(void **state) {
  (void)state;
  tt_scratch_close(&scratch);
  return 0;
}

static void write_text(const char *name, const char *text) {
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void expect(const char *name, const char *text) {
  char read[100] = "";
  FILE *file = fopen(name, "r");
  assert_non_null(file);
  assert_int_equal(fread(read, 1, sizeof read - 1, file), strlen(text));
  fclose(file);
  assert_string_equal(read, text);
}

static void what_is_there_stays_until_the_end(void **state) {
  (void)state;
  tt_output_file to;
  struct stat about;
  write_text(path, "old");
  assert_int_equal(chmod(path, 0640), 0);
  assert_int_equal(tt_output_file_open(path, &to, NULL), TT_OK);
  assert_true(fputs("new", to.stream) >= 0 && fflush(to.stream) == 0);
  expect(path, "old");
  assert_int_equal(tt_output_file_close(&to, TT_OK, NULL), TT_OK);
  expect(path, "new");
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_mode & 0777, 0640);
  assert_int_not_equal(access(part, F_OK), 0);
}

static void what_failed_leaves_nothing(void **state) {
  (void)state;
  tt_output_file to;
  write_text(path, "old");
  write_text(part, "of another one");
  assert_int_equal(tt_output_file_open(path, &to, NULL), TT_OK);
  assert_true(fputs("half", to.stream) >= 0);
  assert_int_equal(tt_output_file_close(&to, TT_DIFFERS, NULL), TT_DIFFERS);
  expect(path, "old");
  expect(part, "of another one");
  assert_int_equal(unlink(part), 0);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(tt_output_file_open(path, &to, NULL), TT_OK);
  assert_int_equal(tt_output_file_close(&to, TT_FAILED, NULL), TT_FAILED);
  assert_int_not_equal(access(path, F_OK), 0);
}

static void links_and_devices_stay(void **state) {
  (void)state;
  tt_output_file to;
  tt_error error = {""};
  struct stat about;
  write_text(path, "old");
  assert_int_equal(symlink(path, link_path), 0);
  assert_int_equal(tt_output_file_open(link_path, &to, NULL), TT_OK);
  assert_true(fputs("new", to.stream) >= 0);
  assert_int_equal(tt_output_file_close(&to, TT_OK, NULL), TT_OK);
  assert_int_equal(lstat(link_path, &about), 0);
  assert_true(S_ISLNK(about.st_mode));
  expect(path, "new");
  assert_int_equal(tt_output_file_open("/dev/full", &to, NULL), TT_OK);
  assert_true(fputs("new", to.stream) >= 0);
  assert_int_equal(tt_output_file_close(&to, TT_OK, &error), TT_FAILED);
  assert_string_equal(error.text, "/dev/full: can't write: No space left on device");
}

static void two_at_once_are_both_whole(void **state) {
  (void)state;
  tt_output_file one, two;
  assert_int_equal(tt_output_file_open(path, &one, NULL), TT_OK);
  assert_int_equal(tt_output_file_open(path, &two, NULL), TT_OK);
  assert_true(fputs("one", one.stream) >= 0 && fputs("two", two.stream) >= 0);
  assert_int_equal(tt_output_file_close(&one, TT_OK, NULL), TT_OK);
  expect(path, "one");
  assert_int_equal(tt_output_file_close(&two, TT_OK, NULL), TT_OK);
  expect(path, "two");
}

/* As of a container, or of another user in a folder like /tmp. */
static void what_can_not_be_replaced_is_written(void **state) {
  (void)state;
  tt_output_file to;
  write_text(path, "the older one");
  if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
      mount(path, path, NULL, MS_BIND, NULL)) {
    print_message("skipped: no right to mount\n");
    return;
  }
  assert_int_equal(tt_output_file_open(path, &to, NULL), TT_OK);
  assert_true(fputs("new", to.stream) >= 0);
  assert_int_equal(tt_output_file_close(&to, TT_OK, NULL), TT_OK);
  assert_int_equal(umount(path), 0);
  expect(path, "new");
  assert_int_not_equal(access(part, F_OK), 0);
}

static void no_folder_is_said(void **state) {
  (void)state;
  tt_output_file to;
  tt_error error = {""};
  assert_int_equal(tt_output_file_open("/nowhere/run.csv", &to, &error), TT_FAILED);
  assert_string_equal(error.text, "/nowhere/run.csv: can't write: No such file or directory");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_is_there_stays_until_the_end, open_scratch,
                                      close_scratch),
      cmocka_unit_test_setup_teardown(what_failed_leaves_nothing, open_scratch, close_scratch),
      cmocka_unit_test_setup_teardown(links_and_devices_stay, open_scratch, close_scratch),
      cmocka_unit_test_setup_teardown(two_at_once_are_both_whole, open_scratch, close_scratch),
      cmocka_unit_test_setup_teardown(what_can_not_be_replaced_is_written, open_scratch,
                                      close_scratch),
      cmocka_unit_test(no_folder_is_said),
  };
  return cmocka_run_group_tests_name("output_file", tests, NULL, NULL);
}
