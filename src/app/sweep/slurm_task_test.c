/* What Slurm's commands say of tasks, and the lists of tasks that are asked for. */
#include "app/sweep/slurm_task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* As squeue of 22.05 says it. */
static void a_line_is_a_task(void **state) {
  (void)state;
  tt_slurm_task task;
  assert_true(tt_slurm_task_read(
      "1               9               FAILED          1               node2                       "
      " "
      "                                   JobLaunchFailure                                         "
      "       \n",
      &task));
  assert_int_equal(task.array, 1);
  assert_int_equal(task.number, 9);
  assert_int_equal(task.restarts, 1);
  assert_string_equal(task.state, "FAILED");
  assert_string_equal(task.node, "node2");
  assert_string_equal(task.reason, "JobLaunchFailure");
  assert_true(tt_slurm_task_is_over(&task));
  strcpy(task.state, "PENDING");
  assert_false(tt_slurm_task_is_over(&task));
}

/* A column that is full leaves no space before the next; a reason may have spaces. */
static void columns_may_be_full(void **state) {
  (void)state;
  tt_slurm_task task;
  char line[300];
  snprintf(line, sizeof line, "%-16s%-16s%-16s%-16s%-64.64s%-64s", "4294967295", "4000000",
           "OUT_OF_MEMORY", "0",
           "a-node-whose-name-is-as-long-as-its-column-is-wide-so-that-it-is-c",
           "Nodes required are DOWN");
  assert_true(tt_slurm_task_read(line, &task));
  assert_int_equal(task.array, UINT32_MAX);
  assert_int_equal(strlen(task.node), 64);
  assert_string_equal(task.reason, "Nodes required are DOWN");
}

static void what_is_no_task_is_refused(void **state) {
  (void)state;
  static const char *const lines[] = {
      "",
      "\n",
      "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n",
      "1               N/A             RUNNING         0               node2                       "
      "  "
      "                                  None\n", /* no array */
      "4294967296      9               RUNNING         0               node2                       "
      "  "
      "                                  None\n",
      "-1              9               RUNNING         0               node2                       "
      "  "
      "                                  None\n",
      "1               9               RUNNING         0               node2\n"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    tt_slurm_task task;
    assert_false(tt_slurm_task_read(lines[i], &task));
  }
}

static bool is_in(const void *context, uint32_t number) {
  return strchr(context, (int)('a' + number)) != NULL;
}

static void numbers_are_ranges(void **state) {
  (void)state;
  char text[20];
  assert_true(tt_slurm_array_text(is_in, "bcdh", 20, text, sizeof text));
  assert_string_equal(text, "1-3,7");
  assert_true(tt_slurm_array_text(is_in, "c", 20, text, sizeof text));
  assert_string_equal(text, "2");
  assert_true(tt_slurm_array_text(is_in, "ab", 1, text, sizeof text));
  assert_string_equal(text, "1");
  assert_false(tt_slurm_array_text(is_in, "bdfhjlnprt", 20, text, sizeof text)); /* too long */
}

static void a_setting_is_found(void **state) {
  (void)state;
  uint32_t value = 7;
  assert_false(tt_slurm_setting_read("MaxArraySizes           = 5\n", "MaxArraySize", &value));
  assert_false(tt_slurm_setting_read("MaxArraySize            = many\n", "MaxArraySize", &value));
  assert_int_equal(value, 7);
  assert_true(tt_slurm_setting_read("MaxArraySize            = 1001\n", "MaxArraySize", &value));
  assert_int_equal(value, 1001);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_is_a_task),           cmocka_unit_test(columns_may_be_full),
      cmocka_unit_test(what_is_no_task_is_refused), cmocka_unit_test(numbers_are_ranges),
      cmocka_unit_test(a_setting_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
