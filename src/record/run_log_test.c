/* A log written here, read back by name and by time, whole and cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/journal_codec.h"
#include "record/log_file.h"
#include "record/run_log_internal.h"

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

/* Where the power failed, a disk may have kept room for what it never got. */
static void a_log_reads_up_to_a_hole(void **state) {
  (void)state;
  static const char nothing[4096];
  tt_run_log *log = open_log();
  off_t half = (off_t)tt_run_log_size(log) / 2;
  uint64_t whole = tt_run_log_duration(log);
  tt_run_log_close(log);
  char there[sizeof nothing];
  int file = open(path, O_RDWR);
  assert_int_equal(pread(file, there, sizeof there, half), (ssize_t)sizeof there);
  assert_int_equal(pwrite(file, nothing, sizeof nothing, half), (ssize_t)sizeof nothing);
  log = open_log();
  assert_in_range(tt_run_log_duration(log), whole * 4 / 10, whole * 6 / 10);
  tt_run_cursor cursor;
  tt_wpilog_record record;
  double last = 0;
  assert_true(tt_run_cursor_open(&cursor, log));
  while (tt_run_cursor_next(&cursor, &record) == TT_OK)
    if (record.entry == 5) last = tt_wpilog_double(record.payload);
  assert_true(last * 1e6 <= (double)whole * 6 / 10);
  tt_run_cursor_close(&cursor);
  tt_run_log_close(log);
  assert_int_equal(pwrite(file, there, sizeof there, half), (ssize_t)sizeof there);
  close(file);
}

/* ---- the index beside a large log ---- */

static char large[] = "/tmp/tether_large_log_XXXXXX";
static char index_path[64];

/* The world (-1) or a robot was reset. */
static void write_reset(tt_bytes *out, uint32_t id, uint64_t time, int robot) {
  tt_journal_encode(out, id, time, &(tt_entry){.kind = TT_ENTRY_RESET, .robot = robot});
}

/* A ramp around one record of 40 MB; the world is reset at 2 s, at 5 s and again, a robot at 3 s. */
static void write_large(void) {
  static const uint8_t nothing[4096];
  tt_bytes out = {0};
  tt_wpilog_write_header(&out, "");
  tt_wpilog_write_start(&out, 3, "/signals/ramp", "double", "", 0);
  tt_wpilog_write_start(&out, 4, "/tether/files/blob", "raw", "", 0);
  tt_wpilog_write_start(&out, 5, "/tether/journal/world", "raw", "", 0);
  for (uint64_t i = 0; i < SECONDS * RATE; i++) {
    tt_wpilog_write_double(&out, 3, i * 1000000 / RATE, (double)i / RATE);
    if (i == 3 * RATE) write_reset(&out, 5, 3000000, 0);
    if (i == 2 * RATE || i == 5 * RATE) write_reset(&out, 5, i * 1000000 / RATE, TT_NO_ROBOT);
    if (i == 5 * RATE) write_reset(&out, 5, 5000000, TT_NO_ROBOT);
  }
  tt_wpilog_write_head(&out, 4, 0, 10000 * sizeof nothing);
  for (int i = 0; i < 10000; i++) tt_bytes_append(&out, nothing, sizeof nothing);
  int file = mkstemp(large);
  assert_int_equal(write(file, out.data, out.size), (ssize_t)out.size);
  close(file);
  tt_bytes_free(&out);
  snprintf(index_path, sizeof index_path, "%s.index", large);
}

static tt_run_log *open_large(void) {
  tt_run_log *log;
  tt_error error = {.text = ""};
  if (tt_run_log_open(large, &log, &error) != TT_OK) fail_msg("%s", error.text);
  return log;
}

/* Changes one word of the index, and the checksum if asked. */
static void forge(size_t word, uint64_t value, bool sum) {
  static uint64_t words[10000];
  FILE *file = fopen(index_path, "r+b");
  size_t count = fread(words, 8, 10000, file);
  words[word] = value;
  if (sum) words[count - 1] = tt_run_index_checksum(words, count);
  rewind(file);
  assert_int_equal(fwrite(words, 8, count, file), count);
  fclose(file);
}

static uint64_t duration_of_large(void) {
  tt_run_log *log = open_large();
  uint64_t duration = tt_run_log_duration(log);
  tt_run_log_close(log);
  return duration;
}

static void an_index_says_what_the_scan_says(void **state) {
  (void)state;
  write_large();
  tt_run_log *scanned = open_large();
  assert_int_equal(access(index_path, R_OK), 0);
  tt_run_log *indexed = open_large();
  tt_run_cursor a, b;
  assert_true(tt_run_cursor_open(&a, scanned) && tt_run_cursor_open(&b, indexed));
  for (uint64_t time = 0; time < SECONDS * 1000000u; time += 3333333) {
    tt_run_cursor_seek(&a, time);
    tt_run_cursor_seek(&b, time);
    assert_true(value_at(&a, "/signals/ramp") == value_at(&b, "/signals/ramp"));
  }
  assert_int_equal(tt_run_log_find(indexed, "/tether/files/blob"), 4);
  assert_int_equal(tt_run_log_entries(indexed, &(uint32_t){0})[3].records, SECONDS * RATE);
  tt_run_cursor_close(&a);
  tt_run_cursor_close(&b);
  tt_run_log_close(scanned);
  tt_run_log_close(indexed);
}

/* What a program that opens the same log has under a name of its own. */
static void an_index_is_written_beside_another_that_is(void **state) {
  char other[sizeof index_path + 4];
  (void)state;
  assert_int_equal(unlink(index_path), 0);
  snprintf(other, sizeof other, "%s.new", index_path);
  assert_int_equal(mkdir(other, 0700), 0); /* which nobody can take away as a file */
  duration_of_large();
  assert_int_equal(rmdir(other), 0);
  assert_int_equal(access(index_path, R_OK), 0);
}

static void resets_of_the_world_are_counted(void **state) {
  static const struct {
    uint64_t time;
    uint32_t epoch;
  } known[] = {{0, 0}, {2000000, 0}, {2000001, 1}, {4000000, 1}, {5000001, 3}, {UINT64_MAX, 3}};
  (void)state;
  for (int indexed = 1; indexed >= 0; indexed--) {
    tt_run_log *log = open_large();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
      assert_int_equal(tt_run_log_epoch(log, known[i].time), known[i].epoch);
    tt_run_log_close(log);
    if (indexed) unlink(index_path);
  }
}

static void only_a_whole_index_of_this_file_is_used(void **state) {
  (void)state;
  uint64_t duration = duration_of_large();
  forge(3, 7, true);
  assert_int_equal(duration_of_large(), 7); /* it is used, then */
  forge(3, 8, false);
  assert_int_equal(duration_of_large(), duration); /* damaged: scanned, and written anew */
  forge(5, UINT64_MAX / 16, true);
  assert_int_equal(duration_of_large(), duration); /* more keyframes than there are */
  forge(3, 7, true);
  assert_int_equal(utimensat(AT_FDCWD, large, (struct timespec[2]){{1, 0}, {1, 0}}, 0), 0);
  assert_int_equal(duration_of_large(), duration); /* of another file */
  unlink(index_path);
  unlink(large);
}

static void a_log_is_written_by_one(void **state) {
  (void)state;
  char made[64];
  tt_log_file *first, *second;
  snprintf(made, sizeof made, "/tmp/tether_written_%d.wpilog", getpid());
  unlink(made);
  assert_int_equal(tt_log_file_open(made, 9, &first, NULL), TT_OK);
  assert_int_equal(tt_log_file_open(made, 9, &second, NULL), TT_FAILED); /* empty as it is */
  tt_log_file_close(first);
  assert_int_equal(tt_log_file_open(made, 9, &second, NULL), TT_OK);
  tt_log_file_close(second);
  unlink(made);
}

static tt_log_file *begin_log(char name[64]) {
  tt_log_file *begun;
  snprintf(name, 64, "/tmp/tether_named_%d.wpilog", getpid());
  unlink(name);
  assert_int_equal(tt_log_file_open(name, 9, &begun, NULL), TT_OK);
  assert_true(tt_log_file_write(begun, "a", 1, 0));
  assert_true(tt_log_file_sync(begun));
  return begun;
}

static void assert_lost(tt_log_file *lost, const char *name) {
  tt_error error = {.text = ""};
  assert_false(tt_log_file_sync(lost));
  assert_true(tt_log_file_broken(lost));
  assert_false(tt_log_file_write(lost, "b", 1, 1));
  assert_int_equal(tt_log_file_check(lost, &error), TT_FAILED);
  assert_non_null(strstr(error.text, name));
  assert_non_null(strstr(error.text, "removed or replaced"));
  tt_log_file_close(lost);
}

static void a_log_that_is_removed_or_replaced_is_not_kept(void **state) {
  (void)state;
  char name[64], other[80];
  tt_log_file *removed = begin_log(name);
  assert_int_equal(tt_log_file_check(removed, NULL), TT_OK);
  assert_int_equal(unlink(name), 0);
  assert_lost(removed, name);

  tt_log_file *replaced = begin_log(name);
  snprintf(other, sizeof other, "%s.other", name);
  assert_int_equal(close(open(other, O_WRONLY | O_CREAT, 0600)), 0);
  assert_int_equal(rename(other, name), 0);
  assert_lost(replaced, name);
  unlink(name);
}

static void a_log_that_got_another_name_goes_on(void **state) {
  (void)state;
  char name[64], other[80];
  tt_log_file *moved = begin_log(name);
  snprintf(other, sizeof other, "%s.other", name);
  assert_int_equal(rename(name, other), 0);
  assert_true(tt_log_file_sync(moved));
  assert_int_equal(tt_log_file_check(moved, NULL), TT_OK);
  tt_log_file_close(moved);
  unlink(other);
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
      cmocka_unit_test(a_log_reads_up_to_a_hole),
      cmocka_unit_test(an_index_says_what_the_scan_says),
      cmocka_unit_test(an_index_is_written_beside_another_that_is),
      cmocka_unit_test(resets_of_the_world_are_counted),
      cmocka_unit_test(only_a_whole_index_of_this_file_is_used),
      cmocka_unit_test(a_log_is_written_by_one),
      cmocka_unit_test(a_log_that_is_removed_or_replaced_is_not_kept),
      cmocka_unit_test(a_log_that_got_another_name_goes_on),
      cmocka_unit_test(what_is_no_log_is_refused_by_name),
  };
  return cmocka_run_group_tests(tests, write_log, remove_log);
}
