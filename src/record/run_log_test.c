/* A log written here, read back by name and by time, whole and cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/run_log.h"

#define SECONDS 65
#define RATE 10

static char path[] = "/tmp/tether_run_log_XXXXXX";

/* A ramp that is kept whenever it changes, a constant that is kept once, and events written a second ahead. */
static int write_log(void **state) {
  (void)state;
  tt_bytes out = {0};
  tt_wpilog_write_header(&out, "");
  tt_wpilog_write_start(&out, 5, "/signals/ramp", "double", "{\"unit\":\"m\"}", 0);
  tt_wpilog_write_start(&out, 6, "/signals/constant", "double", "", 0);
  tt_wpilog_write_start(&out, 7, "/events", "string", "", 0);
  tt_wpilog_write_double(&out, 6, 0, 7.5);
  for (uint64_t i = 0; i < SECONDS * RATE; i++) {
    uint64_t now = i * 1000000 / RATE;
    if (i % RATE == 0) tt_wpilog_write_string(&out, 7, now + 1000000, "tick");
    tt_wpilog_write_double(&out, 5, now, (double)i / RATE);
  }
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, out.data, out.size), (ssize_t)out.size);
  close(file);
  tt_bytes_free(&out);
  return 0;
}

static int remove_log(void **state) {
  (void)state;
  return unlink(path);
}

static tt_run_log *open_log(void) {
  tt_run_log *log;
  tt_error error = {.text = ""};
  if (tt_run_log_open(path, &log, &error) != TT_OK) fail_msg("%s", error.text);
  return log;
}

static double value_at(tt_run_cursor *cursor, const char *name) {
  tt_wpilog_record record;
  if (!tt_run_cursor_value(cursor, tt_run_log_find(cursor->log, name), &record)) return -1;
  return tt_wpilog_double(record.payload);
}

static void entries_are_found_by_name(void **state) {
  (void)state;
  tt_run_log *log = open_log();
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  uint32_t ramp = tt_run_log_find(log, "/signals/ramp");
  assert_int_equal(ramp, 5);
  assert_string_equal(entries[ramp].metadata, "{\"unit\":\"m\"}");
  assert_int_equal(entries[ramp].records, SECONDS * RATE);
  assert_int_equal(tt_run_log_find(log, "/signals/none"), 0);
  tt_run_log_close(log);
}

static void any_time_is_found_forwards_and_backwards(void **state) {
  (void)state;
  tt_run_log *log = open_log();
  tt_run_cursor cursor;
  assert_true(tt_run_cursor_open(&cursor, log));
  static const double times[] = {0, 64, 12.34, 12.3, 55.55, 3, 10, 9.9999, 20};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    tt_run_cursor_seek(&cursor, (uint64_t)(times[i] * 1e6 + 0.5));
    double expected = (double)(int)(times[i] * RATE + 1e-6) / RATE;
    assert_true(value_at(&cursor, "/signals/ramp") == expected);
    assert_true(value_at(&cursor, "/signals/constant") == 7.5);
  }
  tt_run_cursor_close(&cursor);
  tt_run_log_close(log);
}

static void advancing_is_seeking(void **state) {
  (void)state;
  tt_run_log *log = open_log();
  tt_run_cursor walking, jumping;
  assert_true(tt_run_cursor_open(&walking, log) && tt_run_cursor_open(&jumping, log));
  for (uint64_t time = 0; time < SECONDS * 1000000u; time += 333333) {
    tt_run_cursor_advance(&walking, time);
    tt_run_cursor_seek(&jumping, time);
    assert_true(value_at(&walking, "/signals/ramp") == value_at(&jumping, "/signals/ramp"));
  }
  tt_run_cursor_close(&walking);
  tt_run_cursor_close(&jumping);
  tt_run_log_close(log);
}

static void what_is_no_log_is_refused_by_name(void **state) {
  (void)state;
  tt_run_log *log;
  tt_error error;
  assert_int_equal(tt_run_log_open("/nowhere/at.all", &log, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "/nowhere/at.all"));
  assert_int_equal(tt_run_log_open("/dev/null", &log, &error), TT_INVALID);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(entries_are_found_by_name),
      cmocka_unit_test(any_time_is_found_forwards_and_backwards),
      cmocka_unit_test(advancing_is_seeking),
      cmocka_unit_test(what_is_no_log_is_refused_by_name),
  };
  return cmocka_run_group_tests(tests, write_log, remove_log);
}
