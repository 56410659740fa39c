/* line_protocol_test.c: points as clients write them, however they are split, and every kind of bad line. */
#include "telemetry/line_protocol.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "telemetry/message_testing.h"

static void on_message(void *context, const tt_message *message) {
  heard *to = context;
  to->messages++;
  to->points += (int)message->points;
  say(to, "message %s line %lu points %u\n", message->device, message->line, message->points);
  say_samples(to, message);
}

static tt_line_options options(void) {
  static const char *const device[] = {"device", "host", NULL}, *const ignored[] = {"fstype", NULL};
  return (tt_line_options){.limits = tt_message_limits_default(),
                           .device_tags = device,
                           .ignored_tags = ignored,
                           .unit = 1,
                           .time = TT_MESSAGE_NO_TIME};
}

/** Feeds pieces of `step` bytes, then the end. */
static void feed(heard *to, const tt_line_options *with, const char *bytes, size_t size,
                 size_t step) {
  static const tt_message_handler handler = {on_message, on_refused};
  tt_line_parser *parser = tt_line_parser_new(with, &handler, to);
  assert_non_null(parser);
  forget(to);
  for (size_t at = 0; at < size; at += step)
    tt_line_parser_feed(parser, bytes + at, size - at < step ? size - at : step);
  tt_line_parser_end(parser);
  tt_line_parser_free(parser);
}

static void check(const char *text, const char *expected) {
  static heard to;
  const tt_line_options with = options();
  feed(&to, &with, text, strlen(text), strlen(text) + 1);
  assert_string_equal(to.text, expected);
}

static void test_points_of_one_moment_in_every_split(void **state) {
  (void)state;
  static heard to;
  static const char text[] =
      "# what Telegraf sends\n"
      "cpu,cpu=cpu0,host=gate usage_idle=98.5,usage_user=1.5 1700000000000000999\n"
      "\r\n"
      "disk,device=sda1,fstype=ext4,host=gate,path=/ used=12i,free=34u 1700000000000000000\n"
      "mem,host=gate note=\"two\nlines, \\\"quoted\\\" \\\\ \\n\",ok=t,bad=False "
      "1700000001000000000";
  static const char expected[] =
      "message gate line 2 points 1\n at 1700000000000000\n"
      "  cpu.cpu0.usage_idle=98.5\n  cpu.cpu0.usage_user=1.5\n"
      "message sda1 line 4 points 1\n at 1700000000000000\n"
      "  disk.gate._.used=12\n  disk.gate._.free=34\n"
      "message gate line 5 points 1\n at 1700000001000000\n"
      "  mem.note=two\nlines, \"quoted\" \\ \\n\n  mem.ok=1\n  mem.bad=0\n";
  const tt_line_options with = options();
  for (size_t step = 1; step <= strlen(text); step++) {
    feed(&to, &with, text, strlen(text), step);
    assert_string_equal(to.text, expected);
  }
}

/* What stands behind the fields begins no text, and swallows no lines. */
static void test_a_quote_behind_the_fields_ends_with_its_line(void **state) {
  (void)state;
  static heard to;
  static const char text[] = "a,device=d x=1 =\" 1000\na,device=d  y=\"two\nlines\" 2000\n";
  const tt_line_options with = options();
  feed(&to, &with, text, strlen(text), 1);
  assert_non_null(strstr(to.text, "refused 1:"));
  assert_non_null(strstr(to.text, "a.y=two\nlines"));
}

/* Where a body may break off between any two bytes, a line without its end is none. */
static void test_a_torn_line_is_refused(void **state) {
  (void)state;
  static heard to;
  tt_line_options with = options();
  with.whole_lines = true;
  static const char text[] = "a,device=d x=1 1000\na,device=d x=1234.5";
  feed(&to, &with, text, strlen(text), strlen(text));
  assert_non_null(strstr(to.text, "refused 2:1 the body ends within this line"));
  assert_int_equal(to.points, 1);
  feed(&to, &with, text, sizeof "a,device=d x=1 1000", 1);
  assert_null(strstr(to.text, "refused"));
  assert_int_equal(to.points, 1);
}

static void test_points_make_messages(void **state) {
  (void)state;
  check(
      "a,device=d x=1 1000\na,device=d y=2 1000\na,device=d x=3 2000\na,device=e x=4 1000\n"
      "a,device=d x=5",
      "message d line 1 points 3\n at 1\n  a.x=1\n  a.y=2\n at 2\n  a.x=3\n"
      "message e line 4 points 1\n at 1\n  a.x=4\n"
      "message d line 5 points 1\n now\n  a.x=5\n");
}

/* It comes by the query, which may have any bytes; no store takes them, nor gets past them. */
static void test_a_boot_is_text(void **state) {
  (void)state;
  static heard to;
  static const char *const bad[] = {"\xff", "a\xc3", "\xed\xa0\x80", "\xef\xbf\xbf"};
  static const char text[] = "a,device=d x=1 1000\n";
  tt_line_options with = options();
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    with.boot = bad[i];
    feed(&to, &with, text, strlen(text), strlen(text));
    assert_string_equal(to.text, "refused 1:3 the boot is no text in UTF-8\n");
  }
  with.boot = "\xc3\xa9\xf0\x9f\xa4\x96";
  feed(&to, &with, text, strlen(text), strlen(text));
  assert_int_equal(to.refusals, 0);
  assert_int_equal(to.messages, 1);
}

static void test_names(void **state) {
  (void)state;
  // In order of the tags' keys; only what may stand in a name of XML.
  check(
      "w\\ t\\,h,zone=b,device=the\\ hall,area=a\\=1 air\\ temp=1,2nd=2 1000",
      "message the hall line 1 points 1\n at 1\n  w_t_h.a_1.b.air_temp=1\n  w_t_h.a_1.b._2nd=2\n");
  check("a.b,device=d,e=\xc3\xa4\xc3\x97\xe6\xb0\xb4 f\\\\=1 0",
        "message d line 1 points 1\n at 0\n  a_b.\xc3\xa4_\xe6\xb0\xb4.f__=1\n");
}

static void test_times(void **state) {
  (void)state;
  static heard to;
  static const struct {
    const char *unit, *time;
    long long us;
  } all[] = {{"ns", "1999", 1},    {"n", "-1", -1},        {"us", "5", 5},
             {"u", "-7", -7},      {"ms", "3", 3000},      {"s", "2", 2000000},
             {"m", "1", 60000000}, {"h", "1", 3600000000}, {"s", "9000000000", 9000000000000000}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    tt_line_options with = options();
    char text[100], expected[100];
    with.unit = tt_line_unit(all[i].unit);
    snprintf(text, sizeof text, "a,device=d x=1 %s", all[i].time);
    snprintf(expected, sizeof expected, "message d line 1 points 1\n at %lld\n  a.x=1\n",
             all[i].us);
    feed(&to, &with, text, strlen(text), 1000);
    assert_string_equal(to.text, expected);
  }
  assert_int_equal(tt_line_unit("µs"), 1000);
  assert_int_equal(tt_line_unit("d"), 0);
}

static void test_bad_lines_cost_themselves(void **state) {
  (void)state;
  static const struct {
    const char *line, *where;
  } all[] = {
      {",device=d x=1", "1:1 no measurement"},
      {"a,device=d", "1:11 a field is KEY=VALUE"},
      {"a,device x=1", "1:9 a tag is KEY=VALUE"},
      {"a,device= x=1", "1:10 a tag is KEY=VALUE"},
      {"a,device=d=e x=1", "1:11 a tag is KEY=VALUE"},
      {"a,device=d,device=e x=1", "1:12 the tag device stands twice"},
      {"a,device=d x", "1:13 a field is KEY=VALUE"},
      {"a,device=d =1", "1:12 a field is KEY=VALUE"},
      {"a,device=d x=1,", "1:16 a field is KEY=VALUE"},
      {"a,device=d x=1,y=\"b\"c", "1:21 something behind a value"},
      {"a,device=d x=1,y=\"b", "1:18 a text that does not end"},
      {"a,device=d x=1 yesterday",
       "1:16 a timestamp is a whole number that is none beyond the year 2255; see precision"},
      {"a,device=d x=1 99999999999999999999",
       "1:16 a timestamp is a whole number that is none beyond the year 2255; see precision"},
      {"a,device=d x=1 1 1", "1:18 something behind the timestamp"},
      {"a x=1", "1:1 no tag names the device; telemetry.device_tags says which may"},
      {"a,device=d \xff=1", "1:12 not UTF-8, or a control character"},
      {"a,device=d x=\"\x01\"", "1:14 a text that is no UTF-8, or has a control character"},
      {"a,device=d\tb x=1", "1:3 the id has a control character"},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    char text[200], expected[400];
    snprintf(text, sizeof text, "%s", all[i].line);
    snprintf(expected, sizeof expected, "refused %s\n", all[i].where);
    check(text, expected);
    if (strstr(all[i].where, "does not end") || strstr(all[i].where, "the id")) continue;
    snprintf(text, sizeof text, "a,device=d x=1 1000\n%s\na,device=d x=2 1000", all[i].line);
    snprintf(expected, sizeof expected,
             "refused 2%s\nmessage d line 1 points 2\n at 1\n  a.x=1\n  a.x=2\n", all[i].where + 1);
    check(text, expected);
  }
}

static void test_values(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "nan",
                                    "inf",
                                    "0x10",
                                    "1e999",
                                    "1i2",
                                    "-",
                                    "-1u",
                                    "9223372036854775808i",
                                    "1.5i",
                                    "i",
                                    "tru",
                                    "18446744073709551616u",
                                    "'a'"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char text[100];
    snprintf(text, sizeof text, "a,device=d x=%s 1000", bad[i]);
    check(text,
          "refused 1:14 a value is a number, a number of 64 bits with i or u behind it, "
          "true, false, or a text in double quotes\n");
  }
  check("a,device=d a=-9223372036854775808i,b=18446744073709551615u,c=-1.5e-3,d=.5,e=\"\" 1000",
        "message d line 1 points 1\n at 1\n  a.a=-9223372036854775808\n  a.b=18446744073709551615\n"
        "  a.c=-1.5e-3\n  a.d=.5\n  a.e=\n");
}

static void test_limits(void **state) {
  (void)state;
  static heard to;
  static char text[200000];
  tt_line_options with = options();
  with.limits.message_bytes = 1000;
  with.limits.attributes = 3;
  memset(text, 'x', 30000);
  memcpy(text, "a,device=d ", 11);
  strcpy(text + 30000, "=1\na,device=d x=1 1000\na,device=d x=1,y=2,z=3,w=4\n");
  feed(&to, &with, text, strlen(text), 100);
  assert_string_equal(
      to.text,
      "refused 1:1 the line is longer than a message may be\n"
      "refused 3:24 more than 3 fields\nmessage d line 2 points 1\n at 1\n  a.x=1\n");
  // Of a long document every message is of a good size, and nothing is left out.
  size_t size = 0;
  with = options();
  for (int i = 0; i < 6000; i++)
    size += (size_t)snprintf(text + size, 32, "a,device=d x=1 %d\n", i * 1000);
  feed(&to, &with, text, size, 7);
  assert_null(strstr(to.text, "refused"));
  assert_int_equal(to.points, 6000);
  assert_int_equal(to.messages, 2);
  with.limits.value_bytes = 3;
  with.limits.name_bytes = 5;
  strcpy(text, "abc,device=d x=\"1234\" 1\nabc,device=d y=1,xx=1 1\nabc,device=d x=\"123\" 1");
  feed(&to, &with, text, strlen(text), 7);
  assert_string_equal(to.text,
                      "refused 1:14 the value of x is longer than 3 bytes\n"
                      "refused 2:18 an attribute's identifier is longer than 5 bytes\n"
                      "message d line 3 points 1\n at 0\n  abc.x=123\n");
}

/** Appends a point of one moment with so many texts. */
static char *add_texts(char *to, int count) {
  to += sprintf(to, "a,device=d ");
  for (int i = 0; i < count; i++) to += sprintf(to, "%sx%d=\"%04000d\"", i ? "," : "", i, i);
  return to + sprintf(to, " 1000\n");
}

/* Points of one moment are one sample within a message, which may have so much and no more. */
static void test_a_point_is_not_refused_for_those_before_it(void **state) {
  (void)state;
  static heard to;
  static char text[3 << 20];
  const tt_line_options with = options();
  char *end = text;
  for (int i = 0; i < 60; i++) end = add_texts(end, 1);
  end = add_texts(end, 170);
  feed(&to, &with, text, (size_t)(end - text), 4096);
  assert_int_equal(to.refusals, 0);
  assert_int_equal(to.points, 61);
  assert_int_equal(to.messages, 2);
  // One that is too long alone costs itself.
  end = text;
  for (int i = 0; i < 60; i++) end = add_texts(end, 1);
  end = add_texts(add_texts(end, 240), 1);
  feed(&to, &with, text, (size_t)(end - text), 4096);
  assert_int_equal(to.refusals, 1);
  assert_int_equal(to.points, 61);
  // A value that is too long by itself ends no message.
  end = text + sprintf(text, "a,device=d x=1 1000\na,device=d x=\"%05000d\" 1000\n", 1);
  end += sprintf(end, "a,device=d x=2 1000\n");
  feed(&to, &with, text, (size_t)(end - text), 4096);
  assert_int_equal(to.refusals, 1);
  assert_int_equal(to.messages, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_points_of_one_moment_in_every_split),
      cmocka_unit_test(test_a_quote_behind_the_fields_ends_with_its_line),
      cmocka_unit_test(test_a_torn_line_is_refused),
      cmocka_unit_test(test_points_make_messages),
      cmocka_unit_test(test_a_boot_is_text),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_times),
      cmocka_unit_test(test_bad_lines_cost_themselves),
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_a_point_is_not_refused_for_those_before_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
