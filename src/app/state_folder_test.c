/* state_folder_test.c: where files go that nobody placed, whatever the environment says. */
#include "app/state_folder.h"

#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define NOBODY 54321 /* a user that no system has */

static void expect(const char *base, const char *state_below, const char *data_below) {
  char path[4096], wanted[4200];
  tt_error error;
  assert_int_equal(tt_state_path(NULL, "runs", path, sizeof path, &error), TT_OK);
  snprintf(wanted, sizeof wanted, "%s%s/tether/runs", base, state_below);
  assert_string_equal(path, wanted);
  assert_int_equal(tt_own_root(path, sizeof path, &error), TT_OK);
  snprintf(wanted, sizeof wanted, "%s%s/tether", base, data_below);
  assert_string_equal(path, wanted);
}

static void set_folders(const char *home, const char *xdg) {
  const struct {
    const char *name, *value;
  } all[] = {{"HOME", home}, {"XDG_STATE_HOME", xdg}, {"XDG_DATA_HOME", xdg}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].value)
      setenv(all[i].name, all[i].value, 1);
    else
      unsetenv(all[i].name);
}

static void folders_are_those_of_the_environment(void **state) {
  (void)state;
  set_folders("/home/ann", "/srv/x");
  expect("/srv/x", "", "");
  set_folders("/home/ann", NULL);
  expect("/home/ann", "/.local/state", "/.local/share");
  set_folders("/home/ann", "");
  expect("/home/ann", "/.local/state", "/.local/share");
}

static void relative_folders_are_ignored(void **state) {
  (void)state;
  set_folders("/home/ann", "rel");
  expect("/home/ann", "/.local/state", "/.local/share");
}

static void without_home_it_is_that_of_the_user(void **state) {
  (void)state;
  const struct passwd *entry = getpwuid(getuid());
  if (!entry || strcmp(entry->pw_dir, "/") == 0) skip();
  set_folders(NULL, NULL);
  expect(entry->pw_dir, "/.local/state", "/.local/share");
  set_folders("", NULL);
  expect(entry->pw_dir, "/.local/state", "/.local/share");
}

/* In a child, which becomes another user. */
static int tell_as_nobody(void) {
  char path[4096];
  tt_error error = {""};
  set_folders(NULL, NULL);
  if (setuid(NOBODY) != 0) return 1;
  if (tt_state_path(NULL, "runs", path, sizeof path, &error) != TT_FAILED) return 2;
  if (!strstr(error.text, "set HOME, or XDG_STATE_HOME, to a whole path")) return 3;
  if (tt_own_root(path, sizeof path, &error) != TT_FAILED) return 4;
  return strstr(error.text, "XDG_DATA_HOME") ? 0 : 5;
}

static void a_user_without_home_is_told(void **state) {
  (void)state;
  int status;
  if (getuid() != 0 || getpwuid(NOBODY)) skip();
  const pid_t child = fork();
  if (child == 0) _exit(tell_as_nobody());
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(folders_are_those_of_the_environment),
      cmocka_unit_test(relative_folders_are_ignored),
      cmocka_unit_test(without_home_it_is_that_of_the_user),
      cmocka_unit_test(a_user_without_home_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
