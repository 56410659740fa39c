/* Who is in a run, from a model that somebody else wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/run_robots.h"

static tt_run_log *log_with(const char *model) {
  char path[] = "/tmp/tether_run_robots_XXXXXX";
  tt_bytes out = {0};
  tt_run_log *log;
  tt_error error = {.text = ""};
  tt_wpilog_write_header(&out, "");
  tt_wpilog_write_start(&out, 1, "/tether/model", "json", "", 0);
  tt_wpilog_write_start(&out, 2, "/poses/body", "struct:Pose3d", "", 0);
  tt_wpilog_write_string(&out, 1, 0, model);
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, out.data, out.size), (ssize_t)out.size);
  close(file);
  tt_status status = tt_run_log_open(path, &log, &error);
  unlink(path);
  tt_bytes_free(&out);
  if (status != TT_OK) fail_msg("%s", error.text);
  return log;
}

static tt_run_robots read_robots(const char *model) {
  tt_run_robots robots;
  tt_run_log *log = log_with(model);
  assert_int_equal(tt_run_robots_read(log, &robots), TT_OK);
  tt_run_log_close(log);
  return robots;
}

static void robots_have_their_poses(void **state) {
  (void)state;
  tt_run_robots robots = read_robots(
      "{\"robots\":[{\"name\":\"a\",\"alliance\":\"red\",\"root\":0}],"
      "\"bodies\":[{\"name\":\"body\",\"robot\":0}]}");
  assert_int_equal(robots.count, 1);
  assert_string_equal(robots.robots[0].name, "a");
  assert_string_equal(robots.robots[0].alliance, "red");
  assert_int_equal(robots.robots[0].root, 2);
  assert_int_equal(robots.robot_of[2], 0);
  tt_run_robots_free(&robots);
}

static void what_is_left_out_is_empty(void **state) {
  (void)state;
  tt_run_robots robots =
      read_robots("{\"robots\":[{\"name\":null,\"root\":7},null],\"bodies\":[null,{\"name\":1}]}");
  assert_int_equal(robots.count, 2);
  assert_string_equal(robots.robots[0].name, "");
  assert_int_equal(robots.robots[0].root, 0);
  assert_int_equal(robots.robot_of[2], -1);
  tt_run_robots_free(&robots);
}

static void a_crowd_is_cut(void **state) {
  (void)state;
  enum { CLAIMED = 100000 };
  char *model = calloc(CLAIMED, 3);
  assert_non_null(model);
  char *end = stpcpy(model, "{\"robots\":[0");
  for (int i = 1; i < CLAIMED; i++) end = stpcpy(end, ",0");
  stpcpy(end, "]}");
  tt_run_robots robots = read_robots(model);
  assert_int_equal(robots.count, 256);
  tt_run_robots_free(&robots);
  free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(robots_have_their_poses),
      cmocka_unit_test(what_is_left_out_is_empty),
      cmocka_unit_test(a_crowd_is_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
