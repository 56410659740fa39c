/* text_test.c: what comes from outside cannot move a cursor, end a line or turn the direction of writing. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void assert_shown_as(const char *given, const char *expected) {
  char *text = strdup(given);
  assert_non_null(text);
  tt_text_make_safe(text);
  assert_string_equal(text, expected);
  free(text);
}

static void plain_text_stays(void **state) {
  (void)state;
  assert_shown_as("", "");
  assert_shown_as("left.angle 3.5 in·lbf", "left.angle 3.5 in·lbf");
  assert_shown_as("Müller, 漢字, עברית, \xf0\x9f\xa4\x96", "Müller, 漢字, עברית, \xf0\x9f\xa4\x96");
}

static void controls_become_question_marks(void **state) {
  (void)state;
  assert_shown_as("a\033[31mb\r\n\tc\x7f", "a?[31mb???c?");
  assert_shown_as("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "???\xc2\xa0"); /* CSI in one character */
}

static void nothing_turns_the_direction_or_ends_a_line(void **state) {
  (void)state;
  assert_shown_as("a\u202eb\u2028c\u2029d", "a?b?c?d");
  assert_shown_as("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u2066\u2067\u2068\u2069",
                  "???????????");
  assert_shown_as("\u2027\u202f\u2065\u206a", "\u2027\u202f\u2065\u206a"); /* their neighbours */
}

static void what_is_no_character_is_shown_a_byte_each(void **state) {
  (void)state;
  assert_shown_as("\x9b\xff\xe2\x80", "????");
  assert_shown_as("\xc0\xaf|\xe0\x80\xae|\xf0\x82\x80\xae",
                  "??|???|????"); /* longer than need be */
  assert_shown_as("\xed\xa0\x80|\xf4\x90\x80\x80|\xf8\x88\x80\x80\x80", "???|????|?????");
}

static void utf8_is_told_from_other_bytes(void **state) {
  (void)state;
  static const char *const others[] = {
      "a\x80",     "\xff",         "\xc0\xaf",         "\xe2\x80",
      "\xe2\x80z", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x9f\xa4"};
  assert_true(tt_text_is_utf8("", 0));
  assert_true(tt_text_is_utf8("aµ漢\xf0\x9f\xa4\x96\0z", 12));
  assert_false(tt_text_is_utf8("aµ漢", 5)); /* what follows doesn't count */
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(tt_text_is_utf8(others[i], strlen(others[i])));
}

static void cutting_keeps_characters_whole(void **state) {
  (void)state;
  char text[16] = "aµ漢b";
  assert_int_equal(tt_text_cut(text, 7), 7);
  assert_int_equal(tt_text_cut(text, 5), 3);
  assert_string_equal(text, "aµ");
  assert_int_equal(tt_text_cut(text, 2), 1);
  char garbage[8] = "\x80\x80\x80\x80\x80\x80";
  assert_in_range(tt_text_cut(garbage, 5), 2, 5);
  char columns[32] = "1.00× real 漢字";
  assert_int_equal(tt_text_cut_columns(columns, 99), strlen("1.00× real 漢字"));
  tt_text_cut_columns(columns, 12);
  assert_string_equal(columns, "1.00× real 漢");
  tt_text_cut_columns(columns, 5);
  assert_string_equal(columns, "1.00×");
}

static char *taken(FILE *from) {
  static char text[200];
  rewind(from);
  text[fread(text, 1, sizeof text - 1, from)] = 0;
  fclose(from);
  return text;
}

static void printing_keeps_only_the_line_ends_of_its_format(void **state) {
  (void)state;
  FILE *file = tmpfile();
  assert_non_null(file);
  tt_print(file, "\nname %s, %d\n\n", "a\033[2J\n\u2028b\n", 7);
  tt_print(file, "\n");
  tt_print(file, "%s", "half\n");
  assert_string_equal(taken(file), "\nname a?[2J??b?, 7\n\n\nhalf?");
}

static void a_text_of_lines_is_printed_line_by_line(void **state) {
  (void)state;
  FILE *file = tmpfile();
  assert_non_null(file);
  tt_print_lines(file, "  ", "first\n\033second\n\nlast");
  tt_print_lines(file, "  ", "");
  assert_string_equal(taken(file), "  first\n  ?second\n  \n  last\n");
}

static void what_a_spreadsheet_would_run_is_known(void **state) {
  (void)state;
  static const char *const formulas[] = {"=1+1", "+1", "-a", "@SUM(A1)", "\t=1", "\r=1"};
  static const char *const texts[] = {"", "a=b", "1-2", " =1", "'=1"};
  for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
    assert_true(tt_text_is_formula(formulas[i]));
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    assert_false(tt_text_is_formula(texts[i]));
}

static void patterns_have_stars_and_question_marks(void **state) {
  (void)state;
  static const char *const fits[][2] = {{"", ""},         {"", "*"},          {"a", "?"},
                                        {"ä", "?"},       {"xäy", "*?y"},     {"arm[1]", "arm[1]"},
                                        {"a\\b", "a\\b"}, {"abcabd", "*abd"}, {"a.b.c", "a*c"},
                                        {"aXbXc", "*X?"}};
  static const char *const others[][2] = {{"a", ""},   {"", "?"},        {"ä", "??"},
                                          {"ab", "a"}, {"a1", "a[1]"},   {"abc", "*d"},
                                          {"A", "a"},  {"abcab", "*abd"}};
  for (size_t i = 0; i < sizeof fits / sizeof *fits; i++)
    assert_true(tt_text_matches(fits[i][0], fits[i][1]));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(tt_text_matches(others[i][0], others[i][1]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_text_stays),
      cmocka_unit_test(controls_become_question_marks),
      cmocka_unit_test(nothing_turns_the_direction_or_ends_a_line),
      cmocka_unit_test(what_is_no_character_is_shown_a_byte_each),
      cmocka_unit_test(utf8_is_told_from_other_bytes),
      cmocka_unit_test(cutting_keeps_characters_whole),
      cmocka_unit_test(printing_keeps_only_the_line_ends_of_its_format),
      cmocka_unit_test(a_text_of_lines_is_printed_line_by_line),
      cmocka_unit_test(what_a_spreadsheet_would_run_is_known),
      cmocka_unit_test(patterns_have_stars_and_question_marks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
