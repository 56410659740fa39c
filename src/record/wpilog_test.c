/* The container and the journal's payloads: what is written is read back, and a cut log reads up to the cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "record/journal_codec.h"
#include "record/wpilog.h"

/* The example of the specification: a start record of entry 1, "test", "int64", then 3 at 1,000,000 µs. */
static void bytes_are_those_of_the_specification(void **state) {
  (void)state;
  static const uint8_t start[] = {0x20, 0x00, 0x1a, 0x40, 0x42, 0x0f, 0x00, 0x01, 0x00, 0x00, 0x00,
                                  0x04, 0x00, 0x00, 0x00, 't',  'e',  's',  't',  0x05, 0x00, 0x00,
                                  0x00, 'i',  'n',  't',  '6',  '4',  0x00, 0x00, 0x00, 0x00};
  static const uint8_t value[] = {0x20, 0x01, 0x08, 0x40, 0x42, 0x0f, 0x03, 0, 0, 0, 0, 0, 0, 0};
  static const uint8_t header[] = {'W', 'P', 'I', 'L', 'O', 'G', 0, 1, 0, 0, 0, 0};
  static const uint8_t three[8] = {3};
  tt_bytes out = {0};
  tt_wpilog_write_header(&out, "");
  assert_int_equal(out.size, sizeof header);
  assert_memory_equal(out.data, header, sizeof header);
  out.size = 0;
  tt_wpilog_write_start(&out, 1, "test", "int64", "", 1000000);
  assert_int_equal(out.size, sizeof start);
  assert_memory_equal(out.data, start, sizeof start);
  out.size = 0;
  tt_wpilog_write(&out, 1, 1000000, three, sizeof three);
  assert_int_equal(out.size, sizeof value);
  assert_memory_equal(out.data, value, sizeof value);
  tt_bytes_free(&out);
}

static void write_example(tt_bytes *out) {
  tt_wpilog_write_header(out, "extra");
  tt_wpilog_write_start(out, 300, "/signals/arm.position", "double", "{\"unit\":\"rad\"}", 0);
  for (uint64_t i = 0; i < 20; i++) tt_wpilog_write_double(out, 300, i << (2 * i), 0.5 * (double)i);
}

static void a_log_cut_anywhere_reads_up_to_the_cut(void **state) {
  (void)state;
  tt_bytes out = {0};
  write_example(&out);
  size_t seen_before = 0;
  for (size_t size = 0; size <= out.size; size++) {
    size_t offset;
    tt_error error;
    if (tt_wpilog_check(out.data, size, &offset, &error) != TT_OK) {
      assert_true(size < 17);
      continue;
    }
    tt_wpilog_record record;
    size_t seen = 0;
    while (tt_wpilog_next(out.data, size, &offset, &record) == TT_OK) {
      if (seen++ == 0) continue;
      assert_int_equal(record.entry, 300);
      assert_int_equal(record.timestamp, (uint64_t)(seen - 2) << (2 * (seen - 2)));
      assert_true(tt_wpilog_double(record.payload) == 0.5 * (double)(seen - 2));
    }
    assert_true(seen >= seen_before);
    seen_before = seen;
  }
  assert_int_equal(seen_before, 21);
  tt_bytes_free(&out);
}

static void what_is_no_wpilog_is_refused(void **state) {
  (void)state;
  size_t offset;
  tt_error error;
  assert_int_equal(tt_wpilog_check((const uint8_t *)"WPILOX\0\1\0\0\0\0", 12, &offset, &error),
                   TT_INVALID);
  assert_int_equal(tt_wpilog_check((const uint8_t *)"WPILOG\0\2\0\0\0\0", 12, &offset, &error),
                   TT_VERSION);
  assert_int_equal(tt_wpilog_check((const uint8_t *)"WPILOG\0\1\5\0\0\0", 12, &offset, &error),
                   TT_INVALID);
}

static void round_trip(const tt_entry *entry) {
  char name[64];
  tt_bytes out = {0};
  snprintf(name, sizeof name, TT_JOURNAL_PREFIX "%s", entry->source);
  tt_journal_encode(&out, 3, 77, entry);
  size_t offset = 0;
  tt_wpilog_record record;
  assert_int_equal(tt_wpilog_next(out.data, out.size, &offset, &record), TT_OK);
  assert_int_equal(offset, out.size);
  tt_submission submissions[4];
  tt_journal_scratch scratch = {.submissions = submissions, .capacity = 4};
  tt_entry back;
  assert_int_equal(tt_journal_decode(name, record.payload, record.size, &scratch, &back), TT_OK);
  assert_int_equal(back.kind, entry->kind);
  assert_int_equal(back.step, entry->step);
  assert_string_equal(back.source, entry->source);
  assert_int_equal(back.count, entry->count);
  assert_int_equal(back.robot, entry->robot);
  assert_true(back.hash == entry->hash);
  assert_true(back.seed == entry->seed);
  for (int i = 0; i < back.count; i++)
    assert_memory_equal(&back.submissions[i].value, &entry->submissions[i].value, sizeof(double));
  for (size_t size = 0; size < record.size; size++)
    assert_int_not_equal(tt_journal_decode(name, record.payload, size, &scratch, &back), TT_OK);
  tt_bytes_free(&out);
}

static void journal_entries_come_back(void **state) {
  (void)state;
  static const tt_submission submissions[] = {{0, -0.0}, {7, 1e-300}, {9, 5.649241451380835}};
  round_trip(&(tt_entry){.kind = TT_ENTRY_COMMANDS,
                         .step = 1ull << 40,
                         .source = "float-udp",
                         .submissions = submissions,
                         .count = 3});
  round_trip(&(tt_entry){.kind = TT_ENTRY_SAFE,
                         .step = 3,
                         .source = "supervisor",
                         .submissions = submissions,
                         .count = 0});
  round_trip(&(tt_entry){.kind = TT_ENTRY_VALUES,
                         .step = 5,
                         .source = "library",
                         .submissions = submissions,
                         .count = 3});
  round_trip(
      &(tt_entry){.kind = TT_ENTRY_RESET, .step = 30, .source = "world", .robot = TT_NO_ROBOT});
  round_trip(&(tt_entry){
      .kind = TT_ENTRY_HASH, .step = 30, .source = "world", .hash = 0x0123456789abcdefu});
  round_trip(&(tt_entry){
      .kind = TT_ENTRY_SEED, .step = 30, .source = "world", .seed = 0xfedcba9876543210u});
}

/* Stays packed until it is asked for; what is no state is refused then. */
static void a_state_comes_back(void **state) {
  (void)state;
  uint8_t saved[5000], room[6000];
  for (size_t i = 0; i < sizeof saved; i++) saved[i] = i < 900 ? (uint8_t)(i * i) : 0;
  tt_entry back, entry = {.kind = TT_ENTRY_STATE,
                          .step = 12,
                          .source = "world",
                          .state = saved,
                          .state_size = sizeof saved};
  tt_bytes out = {0};
  tt_journal_encode(&out, 3, 77, &entry);
  assert_true(out.size < 2000);
  size_t offset = 0, size;
  tt_wpilog_record record;
  assert_int_equal(tt_wpilog_next(out.data, out.size, &offset, &record), TT_OK);
  tt_journal_scratch scratch = {.capacity = 0};
  static const char name[] = TT_JOURNAL_PREFIX "world";
  void *unpacked;
  for (size_t cut = 2; cut < record.size; cut++) {
    assert_int_equal(tt_journal_decode(name, record.payload, cut, &scratch, &back), TT_OK);
    assert_int_equal(tt_journal_unpack_state(&back, &unpacked, &size), TT_BAD_MESSAGE);
  }
  memcpy(room, record.payload, record.size);
  assert_int_equal(tt_journal_decode(name, room, record.size, &scratch, &back), TT_OK);
  assert_int_equal(back.kind, TT_ENTRY_STATE);
  assert_int_equal(back.step, 12);
  assert_int_equal(tt_journal_unpack_state(&back, &unpacked, &size), TT_OK);
  assert_int_equal(size, sizeof saved);
  assert_memory_equal(unpacked, saved, size);
  free(unpacked);
  tt_bytes_free(&out);
}

static void more_commands_than_fit_are_refused(void **state) {
  (void)state;
  static const tt_submission submissions[3] = {{0, 1}, {1, 2}, {2, 3}};
  tt_bytes out = {0};
  tt_journal_encode(
      &out, 3, 0,
      &(tt_entry){
          .kind = TT_ENTRY_COMMANDS, .source = "w", .submissions = submissions, .count = 3});
  size_t offset = 0;
  tt_wpilog_record record;
  tt_wpilog_next(out.data, out.size, &offset, &record);
  static const char name[] = TT_JOURNAL_PREFIX "w";
  tt_submission room[2];
  tt_journal_scratch scratch = {.submissions = room, .capacity = 2};
  tt_entry back;
  assert_int_equal(tt_journal_decode(name, record.payload, record.size, &scratch, &back), TT_FULL);
  tt_bytes_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_are_those_of_the_specification),
      cmocka_unit_test(a_log_cut_anywhere_reads_up_to_the_cut),
      cmocka_unit_test(what_is_no_wpilog_is_refused),
      cmocka_unit_test(journal_entries_come_back),
      cmocka_unit_test(a_state_comes_back),
      cmocka_unit_test(more_commands_than_fit_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
