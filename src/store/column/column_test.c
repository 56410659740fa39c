/* column_test.c: what was packed is unpacked bit for bit, and how small it is. What strange bytes do is column_fuzz's. */
#include "store/column/column.h"
#include "store/column/signals_testing.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static tt_error error;

/** Packs and unpacks a column. The size it has packed. */
static size_t assert_survives(const tt_column *column, uint32_t rows) {
  tt_list bytes = TT_LIST(char, NULL);
  tt_list_print(&bytes, "before");
  tt_column back = tt_column_new();
  assert_int_equal(tt_column_pack(column, rows, &bytes, &error), TT_OK);
  assert_memory_equal(bytes.data, "before", 6);
  const size_t size = bytes.len - 6;
  if (tt_column_unpack((char *)bytes.data + 6, size, rows, &back, &error) != TT_OK)
    fail_msg("%s", error.text);
  assert_int_equal(back.values.len, column->values.len);
  for (uint32_t i = 0; i < back.values.len; i++) {
    const tt_column_value *put = &tt_list_at(&column->values, tt_column_value, i);
    const tt_column_value *got = &tt_list_at(&back.values, tt_column_value, i);
    assert_int_equal(got->row, put->row);
    if (put->text == TT_COLUMN_NUMBER) {
      assert_int_equal(got->text, TT_COLUMN_NUMBER);
      assert_memory_equal(&got->number, &put->number, sizeof put->number);
    } else {
      assert_true(got->text < back.text.len);
      assert_string_equal((char *)back.text.data + got->text,
                          (char *)column->text.data + put->text);
    }
  }
  tt_column_free(&back);
  tt_list_free(&bytes);
  return size;
}

static size_t assert_moments_survive(const tt_list *moments) {
  tt_list bytes = TT_LIST(char, NULL), back = TT_LIST(tt_column_moment, NULL);
  assert_int_equal(tt_column_pack_moments(moments, &bytes, &error), TT_OK);
  if (tt_column_unpack_moments(bytes.data, bytes.len, &back, &error) != TT_OK)
    fail_msg("%s", error.text);
  assert_int_equal(back.len, moments->len);
  assert_memory_equal(back.data, moments->data, moments->len * sizeof(tt_column_moment));
  const size_t size = bytes.len;
  tt_list_free(&bytes);
  tt_list_free(&back);
  return size;
}

static void add_number(tt_column *column, uint32_t row, double number) {
  const tt_column_value value = {row, TT_COLUMN_NUMBER, number};
  assert_true(tt_list_add(&column->values, &value, 1));
}

static void add_text(tt_column *column, uint32_t row, const char *text) {
  const tt_column_value value = {row, column->text.len, 0};
  assert_true(tt_list_add(&column->values, &value, 1));
  assert_true(tt_list_add(&column->text, text, strlen(text) + 1));
}

static void test_numbers_that_are_rare(void **state) {
  (void)state;
  static const double rare[] = {0.0,          -0.0,
                                DBL_MIN,      -DBL_MIN,
                                DBL_TRUE_MIN, -DBL_TRUE_MIN,
                                DBL_MAX,      -DBL_MAX,
                                0x1p51,       0x1p52,
                                0x1p53,       -0x1p53,
                                0x1p63,       -0x1p63,
                                0x1p64,       1e15,
                                1e16,         123456789012345.6,
                                0.1,          0.1 + 0.2,
                                1.0 / 3,      1e-15,
                                1e-16,        -1e-300,
                                DBL_MIN / 3,  4503599627370495.5,
                                99.99,        35 * 0.01};
  const uint32_t count = sizeof rare / sizeof *rare;
  tt_column column = tt_column_new();
  assert_survives(&column, 0);
  assert_survives(&column, 1);
  for (uint32_t i = 0; i < count; i++) {  // each alone, then one behind the other
    tt_column_clear(&column);
    add_number(&column, 0, rare[i]);
    assert_survives(&column, 1);
  }
  tt_column_clear(&column);
  for (uint32_t i = 0; i < count; i++) add_number(&column, i, rare[i]);
  assert_survives(&column, count);
  for (uint32_t i = 0; i < count; i++) {  // each among decimals
    tt_column_clear(&column);
    for (uint32_t row = 0; row < 100; row++)
      add_number(&column, row, row == 50 ? rare[i] : row / 4.0);
    assert_survives(&column, 100);
  }
  tt_column_free(&column);
}

static void test_minus_zero_among_decimals_stays_small(void **state) {
  (void)state;
  tt_column column = tt_column_new();
  for (uint32_t i = 0; i < 8000; i++) {
    const double number = tt_testing_signal(TT_TESTING_DECIMALS, 4, i);
    add_number(&column, i, i % 40 ? number : -0.0);
  }
  assert_in_range(assert_survives(&column, 8000), 1, 2 * 8000);
  tt_column_free(&column);
}

static void test_texts(void **state) {
  (void)state;
  char longest[4097];
  memset(longest, 'x', sizeof longest - 1);
  longest[sizeof longest - 1] = 0;
  tt_column column = tt_column_new();
  add_text(&column, 0, "");
  assert_survives(&column, 1);
  add_text(&column, 1, "Left & <\"ü\">");
  add_text(&column, 2, "");
  add_text(&column, 3, longest);
  assert_survives(&column, 4);
  add_number(&column, 4, -0.0);
  add_text(&column, 6, longest);
  assert_survives(&column, 8);
  tt_column_clear(&column);
  for (uint32_t i = 0; i < TT_COLUMN_ROWS; i++) {  // all different
    char text[32];
    snprintf(text, sizeof text, "state %u", i * 2654435761u);
    add_text(&column, i, text);
  }
  assert_survives(&column, TT_COLUMN_ROWS);
  tt_column_clear(&column);
  for (uint32_t i = 0; i < TT_COLUMN_ROWS; i++) add_text(&column, i, i / 100 % 2 ? "on" : "off");
  assert_in_range(assert_survives(&column, TT_COLUMN_ROWS), 1, 300);
  tt_column_free(&column);
}

static void test_rows_without_a_value(void **state) {
  (void)state;
  tt_column column = tt_column_new();
  for (uint32_t i = 0; i < TT_COLUMN_ROWS; i += 10) add_number(&column, i, 7);
  assert_in_range(assert_survives(&column, TT_COLUMN_ROWS), 1, 100);
  tt_column_clear(&column);
  add_number(&column, TT_COLUMN_ROWS - 1, 0.5);
  assert_survives(&column, TT_COLUMN_ROWS);
  tt_column_free(&column);
}

static void test_moments_of_any_time(void **state) {
  (void)state;
  static const tt_column_moment rare[] = {{INT64_MIN, INT64_MAX, 0, 0},
                                          {INT64_MIN, INT64_MIN, INT64_MAX, 1},
                                          {INT64_MIN, 0, INT64_MIN, INT64_MAX},
                                          {-1, 5, 7, INT64_MIN},
                                          {-1, 5, 7, 0},
                                          {0, INT64_MIN, 8, 0},
                                          {INT64_MAX, INT64_MIN, -1, 0},
                                          {INT64_MAX, INT64_MAX, 1, 99}};
  tt_list moments = TT_LIST(tt_column_moment, NULL);
  for (uint32_t i = 0; i < sizeof rare / sizeof *rare; i++) {
    assert_true(tt_list_add(&moments, &rare[i], 1));
    assert_moments_survive(&moments);
  }
  tt_list_cut(&moments, 1);
  assert_moments_survive(&moments);
  tt_list_free(&moments);
}

static void test_what_no_piece_can_hold_is_refused(void **state) {
  (void)state;
  tt_list moments = TT_LIST(tt_column_moment, NULL), bytes = TT_LIST(char, NULL);
  assert_int_equal(tt_column_pack_moments(&moments, &bytes, &error), TT_INVALID);
  assert_true(tt_testing_fill_moments(&moments, 0, TT_COLUMN_ROWS + 1));
  assert_int_equal(tt_column_pack_moments(&moments, &bytes, &error), TT_INVALID);
  tt_list_cut(&moments, 2);
  tt_list_at(&moments, tt_column_moment, 1) = tt_list_at(&moments, tt_column_moment, 0);
  assert_int_equal(tt_column_pack_moments(&moments, &bytes, &error), TT_INVALID);
  tt_column column = tt_column_new();
  add_number(&column, 5, 1);
  assert_int_equal(tt_column_pack(&column, 5, &bytes, &error), TT_INVALID);
  assert_int_equal(tt_column_pack(&column, TT_COLUMN_ROWS + 1, &bytes, &error), TT_INVALID);
  add_number(&column, 5, 2);
  assert_int_equal(tt_column_pack(&column, 6, &bytes, &error), TT_INVALID);
  tt_column_clear(&column);
  add_number(&column, 0, INFINITY);
  assert_int_equal(tt_column_pack(&column, 6, &bytes, &error), TT_INVALID);
  assert_int_equal(bytes.len, 0);
  tt_column_free(&column);
  tt_list_free(&moments);
  tt_list_free(&bytes);
}

/** One bit changed anywhere, or a byte less or more, is noticed: TT_INVALID. */
static void test_damage_is_noticed(void **state) {
  (void)state;
  tt_column column = tt_column_new(), back = tt_column_new();
  tt_list bytes = TT_LIST(char, NULL);
  for (uint32_t i = 0; i < 60; i++) {
    if (i % 7)
      add_number(&column, i, tt_testing_signal(TT_TESTING_DECIMALS, 1, i));
    else
      add_text(&column, i, i % 2 ? "on" : "off");
  }
  assert_int_equal(tt_column_pack(&column, 100, &bytes, &error), TT_OK);
  unsigned unnoticed = 0;
  for (uint32_t bit = 0; bit < bytes.len * 8; bit++) {
    uint8_t *byte = (uint8_t *)bytes.data + bit / 8;
    *byte ^= (uint8_t)(1 << bit % 8);
    tt_status status = tt_column_unpack(bytes.data, bytes.len, 100, &back, &error);
    // Some bits of a frame say nothing about its content.
    if (status == TT_OK) {
      unnoticed++;
      assert_int_equal(back.values.len, 60);
      for (uint32_t i = 0; i < 60; i++) {
        assert_memory_equal(&tt_list_at(&back.values, tt_column_value, i).number,
                            &tt_list_at(&column.values, tt_column_value, i).number, 8);
      }
    } else {
      assert_int_equal(status, TT_INVALID);
      assert_int_equal(back.values.len, 0);
    }
    *byte ^= (uint8_t)(1 << bit % 8);
  }
  assert_in_range(unnoticed, 0, 4);
  tt_list_add(&bytes, "", 1);
  for (uint32_t size = 0; size <= bytes.len; size++) {
    const tt_status status = tt_column_unpack(bytes.data, size, 100, &back, &error);
    assert_int_equal(status, size == bytes.len - 1 ? TT_OK : TT_INVALID);
  }
  assert_int_equal(tt_column_unpack(bytes.data, bytes.len - 1, 59, &back, &error), TT_INVALID);
  tt_list moments = TT_LIST(tt_column_moment, NULL);
  assert_int_equal(tt_column_unpack_moments(bytes.data, bytes.len - 1, &moments, &error),
                   TT_INVALID);
  tt_list_free(&moments);
  tt_list_free(&bytes);
  tt_column_free(&column);
  tt_column_free(&back);
}

/** Any numbers, of every kind that this packs in its own way. */
static void test_whatever_is_packed(void **state) {
  (void)state;
  uint64_t random = 42;
  tt_column column = tt_column_new();
  for (unsigned turn = 0; turn < 600; turn++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const uint32_t rows = (uint32_t)(random >> 40) % (turn % 10 ? 200 : TT_COLUMN_ROWS) + 1;
    const unsigned shape = (unsigned)(random >> 52);
    const unsigned kind = shape >> 8, gap = shape >> 4 & 3, digits = shape & 15;
    tt_column_clear(&column);
    for (uint32_t i = 0; i < rows; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      if (gap && !(random >> 32 & (7u >> gap))) continue;
      double number;
      memcpy(&number, &random, sizeof number);  // any bits
      const int64_t integer = (int64_t)random >> (60 - 4 * (digits % 12));
      if (kind % 4 == 1) number = (double)integer / pow(10, digits);
      if (kind % 4 == 2) number = (double)integer * 0.01;
      if (kind % 4 == 3 && random >> 59) number = (double)integer;
      if (!isfinite(number)) number = -0.0;
      char text[8] = {(char)(random >> 33 & 0x7f), (char)(random >> 45 & 1 ? 'a' : 0), 0};
      if (kind > 12 && random >> 63)
        add_text(&column, i, text);
      else
        add_number(&column, i, number);
    }
    assert_survives(&column, rows);
  }
  tt_column_free(&column);
}

/** Bytes a value of 12 signals with their moments, in pieces of a day at 10 Hz. */
static double bytes_a_value(tt_testing_signals kind) {
  const uint32_t rows = 864000 / 8;  // three hours are as good
  size_t bytes = 0;
  tt_list moments = TT_LIST(tt_column_moment, NULL);
  tt_column column = tt_column_new();
  for (uint32_t first = 0; first < rows; first += TT_COLUMN_ROWS) {
    const uint32_t count = rows - first < TT_COLUMN_ROWS ? rows - first : TT_COLUMN_ROWS;
    assert_true(tt_testing_fill_moments(&moments, first, count));
    bytes += assert_moments_survive(&moments);
    for (unsigned signal = 0; signal < TT_TESTING_SIGNALS; signal++) {
      assert_true(tt_testing_fill(&column, kind, signal, first, count));
      bytes += assert_survives(&column, count);
    }
  }
  tt_list_free(&moments);
  tt_column_free(&column);
  return (double)bytes / rows / TT_TESTING_SIGNALS;
}

static void test_how_small_it_is(void **state) {
  (void)state;
  const double decimals = bytes_a_value(TT_TESTING_DECIMALS);
  const double scaled = bytes_a_value(TT_TESTING_SCALED);
  const double counters = bytes_a_value(TT_TESTING_COUNTERS);
  const double doubles = bytes_a_value(TT_TESTING_DOUBLES);
  print_message("bytes a value: decimals %.2f, scaled %.2f, counters %.2f, doubles %.2f\n",
                decimals, scaled, counters, doubles);
  assert_true(decimals <= 4);
  assert_true(scaled <= 4);
  assert_true(counters <= 1.5);
  assert_true(doubles <= 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers_that_are_rare),
      cmocka_unit_test(test_minus_zero_among_decimals_stays_small),
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_rows_without_a_value),
      cmocka_unit_test(test_moments_of_any_time),
      cmocka_unit_test(test_what_no_piece_can_hold_is_refused),
      cmocka_unit_test(test_damage_is_noticed),
      cmocka_unit_test(test_whatever_is_packed),
      cmocka_unit_test(test_how_small_it_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
