/* A bit of a log that is not as it was written is found, wherever it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "record/checksum.h"
#include "record/wpilog.h"

#define ENTRY 9

/* A log of a few segments, some empty, some with bytes that look like a checksum's. */
static tt_bytes make_log(void) {
  static const uint8_t alike[24] = "TTHASHED";
  tt_bytes log = {0};
  size_t start = 0;
  tt_wpilog_write_header(&log, "test");
  tt_wpilog_write_start(&log, ENTRY, "/tether/checksum", "raw", "", 0);
  tt_wpilog_write_start(&log, 10, "/signals/x", "double", "", 0);
  for (uint64_t segment = 0; segment < 6; segment++) {
    uint8_t record[TT_CHECKSUM_SIZE];
    for (uint64_t i = 0; i < 7 * segment; i++)
      tt_wpilog_write_double(&log, 10, 1000 * segment + i, (double)i);
    if (segment == 3) tt_wpilog_write(&log, 11, 3000, alike, sizeof alike);
    tt_checksum_make(record, ENTRY, 1000 * segment, start, log.data + start, log.size - start);
    tt_bytes_append(&log, record, sizeof record);
    start = log.size;
  }
  assert_false(log.failed);
  return log;
}

static void a_checksum_is_a_record(void **state) {
  (void)state;
  tt_bytes log = make_log();
  size_t offset;
  tt_error error;
  tt_wpilog_record record;
  int found = 0;
  assert_int_equal(tt_wpilog_check(log.data, log.size, &offset, &error), TT_OK);
  while (tt_wpilog_next(log.data, log.size, &offset, &record) == TT_OK)
    if (record.entry == ENTRY) found++;
  assert_int_equal(offset, log.size);
  assert_int_equal(found, 6);
  tt_checksum_result whole = tt_checksum_verify(log.data, log.size);
  assert_true(whole.any && !whole.damaged);
  assert_int_equal(whole.covered, log.size);
  tt_bytes_free(&log);
}

/* Damage, or at the very end a tail that is no longer covered. */
static void every_flipped_bit_is_found(void **state) {
  (void)state;
  tt_bytes log = make_log();
  for (size_t at = 0; at < log.size; at++)
    for (int bit = 0; bit < 8; bit++) {
      log.data[at] ^= (uint8_t)(1 << bit);
      tt_checksum_result found = tt_checksum_verify(log.data, log.size);
      assert_true(found.damaged || found.covered < log.size);
      if (found.damaged) assert_true(found.from <= at && at < found.to);
      if (!found.damaged) assert_true(at >= found.covered);
      log.data[at] ^= (uint8_t)(1 << bit);
    }
  tt_bytes_free(&log);
}

static void bytes_that_come_or_go_are_found(void **state) {
  (void)state;
  tt_bytes log = make_log();
  uint8_t *other = malloc(log.size + 1);
  for (size_t at = 0; at + TT_CHECKSUM_SIZE < log.size; at++) {
    memcpy(other, log.data, at);
    other[at] = 0;
    memcpy(other + at + 1, log.data + at, log.size - at);
    tt_checksum_result found = tt_checksum_verify(other, log.size + 1);
    assert_true(found.damaged || found.covered < log.size);
    memcpy(other + at, log.data + at + 1, log.size - at - 1);
    found = tt_checksum_verify(other, log.size - 1);
    assert_true(found.damaged || found.covered < log.size - 1);
  }
  free(other);
  tt_bytes_free(&log);
}

static void a_cut_log_is_covered_up_to_its_last_checksum(void **state) {
  (void)state;
  tt_bytes log = make_log();
  uint64_t covered = 0;
  for (size_t size = 0; size <= log.size; size++) {
    uint8_t *cut = malloc(size + 1); /* so that a sanitizer sees what is read behind its end */
    memcpy(cut, log.data, size);
    tt_checksum_result found = tt_checksum_verify(cut, size);
    assert_false(found.damaged);
    assert_true(found.covered >= covered && found.covered <= size);
    covered = found.covered;
    free(cut);
  }
  assert_int_equal(covered, log.size);
  tt_bytes_free(&log);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_checksum_is_a_record),
      cmocka_unit_test(every_flipped_bit_is_found),
      cmocka_unit_test(bytes_that_come_or_go_are_found),
      cmocka_unit_test(a_cut_log_is_covered_up_to_its_last_checksum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
