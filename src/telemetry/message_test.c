/* message_test.c: good messages however they are split, and every kind of bad one. */
#include "telemetry/message.h"

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
  say(to, "message %s %lld%s\n", message->device, (long long)message->time,
      message->acknowledge ? " ack" : "");
  say_samples(to, message);
}

static const tt_message_handler handler = {on_message, on_refused};

static tt_message_limits small_limits(void) {
  tt_message_limits limits = tt_message_limits_default();
  limits.message_bytes = 20000;
  limits.values = 500;
  limits.attributes = 200;
  return limits;
}

/** Feeds pieces of `step` bytes, then the end. */
static void feed(heard *to, const char *bytes, size_t size, size_t step) {
  tt_message_limits limits = small_limits();
  tt_message_parser *parser = tt_message_parser_new(&limits, &handler, to);
  assert_non_null(parser);
  forget(to);
  for (size_t at = 0; at < size; at += step) {
    tt_message_parser_feed(parser, bytes + at, size - at < step ? size - at : step);
  }
  tt_message_parser_end(parser);
  tt_message_parser_free(parser);
}

static const char example[] =
    "<?xml version=\"1.0\"?>\n<!-- From Device 1 -->\n<MESSAGE id='1' time='123456'>\n"
    "  <Output time='-60'> <drive velocity='50'/> <turn heading='12'/> </Output>\n"
    "  <Output time='-40'> <drive velocity='40'/> <turn heading='10'/> </Output>\n"
    "  <Input time='-10'>\n    <bumper front='0' rear='1'/> <battery level='11.8' charge='0.5'/>\n"
    "    <locator x='1.5' y='2.25'/> <pir on='1'/>\n  </Input>\n</MESSAGE>\n";
static const char example_heard[] =
    "message 1 123456000\n at 123396000\n  Output.drive.velocity=50\n  Output.turn.heading=12\n"
    " at 123416000\n  Output.drive.velocity=40\n  Output.turn.heading=10\n"
    " at 123446000\n  Input.bumper.front=0\n  Input.bumper.rear=1\n  Input.battery.level=11.8\n"
    "  Input.battery.charge=0.5\n  Input.locator.x=1.5\n  Input.locator.y=2.25\n  Input.pir.on=1\n";
static const char good[] = "<MESSAGE id='G' time='1'/>";

static void test_every_split(void **state) {
  (void)state;
  static heard to;
  static char twice[2 * sizeof example], expected[2 * sizeof example_heard];
  snprintf(twice, sizeof twice, "%s%s", example, example);
  snprintf(expected, sizeof expected, "%s%s", example_heard, example_heard);
  for (size_t step = 1; step <= strlen(twice); step++) {
    feed(&to, twice, strlen(twice), step);
    assert_string_equal(to.text, expected);
  }
}

/** A message is there with its last byte, however long it is: nobody waits for what comes behind it. */
static void test_nothing_is_waited_for(void **state) {
  (void)state;
  static heard to;
  static char message[9000];
  const tt_message_limits limits = small_limits();
  tt_message_parser *parser = tt_message_parser_new(&limits, &handler, &to);
  assert_non_null(parser);
  for (int size = 0; size < 8000; size += 7) {
    forget(&to);
    const int length = snprintf(
        message, sizeof message,
        "<MESSAGE id='G' time='1'><S time='0'><d a='%0*d' b='%0*d' c='%0*d'/></S></MESSAGE>",
        size / 3 + 1, 1, size / 3 + 1, 2, size / 3 + 1, 3);
    tt_message_parser_feed(parser, message, (size_t)length);
    assert_int_equal(to.messages, 1);
  }
  tt_message_parser_free(parser);
}

static void test_times(void **state) {
  (void)state;
  static heard to;
  const char *text =
      "<MESSAGE id='a' time='1000.5' ack='yes'><S time='0'><d v='x'/></S><S time='-0.25'><d "
      "v='y'/></S>"
      "<S time='400'><d v='z'/></S></MESSAGE>";
  feed(&to, text, strlen(text), 1000);
  assert_string_equal(to.text,
                      "message a 1000500 ack\n at 1000500\n  S.d.v=x\n at 1000250\n  S.d.v=y\n"
                      " at 400000\n  S.d.v=z\n");
}

static void test_truncated_at_every_byte(void **state) {
  (void)state;
  static heard to;
  size_t whole = strlen(example) - 1;  // without the line end
  for (size_t size = 1; size < whole; size++) {
    // The end of the stream, and another document behind it: the good one is kept in both cases.
    static char text[2 * sizeof example + sizeof good];
    feed(&to, example, size, 7);
    assert_int_equal(to.messages, 0);
    assert_true(to.refusals == 1 || size < strlen("<?xml version=\"1.0\"?>\n"));
    int used = snprintf(text, sizeof text, "%s%.*s", good, (int)size, example);
    feed(&to, text, (size_t)used, 11);
    assert_int_equal(to.messages, 1);
    used = snprintf(text, sizeof text, "%.*s%s", (int)size, example, example);
    feed(&to, text, (size_t)used, 13);
    // What stands before in a comment is swallowed by it; everything else is recognized.
    bool comment = size > strlen("<?xml version=\"1.0\"?>\n") &&
                   size < strlen("<?xml version=\"1.0\"?>\n<!-- From Device 1 -->");
    if (!comment) assert_int_equal(to.messages, 1);
  }
}

typedef struct bad {
  const char *what, *text, *reason; /**< part of the reason */
} bad;

static const bad bads[] = {
    {"no id", "<MESSAGE time='1'/>", "no id"},
    {"empty id", "<MESSAGE id='' time='1'/>", "no id"},
    {"long id",
     "<MESSAGE id='a2345678b2345678c2345678d2345678e2345678f2345678g2345678h2345678i' time='1'/>",
     "the id is longer than 64 bytes"},
    {"control character in the id", "<MESSAGE id='a&#9;b' time='1'/>", "control character"},
    {"no time", "<MESSAGE id='1'/>", "no time"},
    {"time of letters", "<MESSAGE id='1' time='soon'/>", "no number"},
    {"time out of range", "<MESSAGE id='1' time='99999999999999999999'/>", "no number"},
    {"time not finite", "<MESSAGE id='1' time='nan'/>", "no number"},
    {"time with exponent", "<MESSAGE id='1' time='1e300'/>", "no number"},
    {"empty time", "<MESSAGE id='1' time=''/>", "no number"},
    {"empty boot", "<MESSAGE id='1' time='1' boot=''/>", "boot is empty"},
    {"control character in the boot", "<MESSAGE id='1' time='1' boot='&#13;'/>",
     "the boot has a control character"},
    {"empty seq", "<MESSAGE id='1' time='1' seq=''/>", "seq '' is no whole number"},
    {"negative seq", "<MESSAGE id='1' time='1' seq='-1'/>", "no whole number"},
    {"fraction as seq", "<MESSAGE id='1' time='1' seq='1.5'/>", "no whole number"},
    {"seq out of range", "<MESSAGE id='1' time='1' seq='9007199254740993'/>", "no whole number"},
    {"sample set without time", "<MESSAGE id='1' time='1'><S><d v='1'/></S></MESSAGE>",
     "has no time"},
    {"sample set with a bad time", "<MESSAGE id='1' time='1'><S time='x'/></MESSAGE>", "no number"},
    {"another root", "<TELEMETRY id='1' time='1'/>", "not a <MESSAGE>"},
    {"text", "<MESSAGE id='1' time='1'>hello</MESSAGE>", "text between elements"},
    {"CDATA", "<MESSAGE id='1' time='1'><![CDATA[x]]></MESSAGE>", "text between elements"},
    {"too deep", "<MESSAGE id='1' time='1'><S time='1'><d><e v='1'/></d></S></MESSAGE>",
     "too deep"},
    {"MESSAGE inside", "<MESSAGE id='1' time='1'><MESSAGE id='G' time='1'/>",
     "before the last one"},
    {"attribute twice", "<MESSAGE id='1' id='2' time='1'/>", "duplicate attribute"},
    {"data attribute twice", "<MESSAGE id='1' time='1'><S time='1'><d v='1' v='2'/></S></MESSAGE>",
     "duplicate"},
    {"mismatched tags", "<MESSAGE id='1' time='1'><S time='1'></T></MESSAGE>", "mismatched"},
    {"no quotes", "<MESSAGE id=1 time='1'/>", "not well-formed"},
    {"less-than in a value", "<MESSAGE id='1' time='<'/>", "not well-formed"},
    {"unknown entity", "<MESSAGE id='&who;' time='1'/>", "undefined entity"},
    {"unknown entity with a DOCTYPE",
     "<!DOCTYPE MESSAGE SYSTEM 'x.dtd'><MESSAGE id='a&who;' time='1'/>",
     "entities are not allowed"},
    {"entity as content with a DOCTYPE",
     "<!DOCTYPE MESSAGE SYSTEM 'x.dtd'><MESSAGE id='1' time='1'>&who;</MESSAGE>",
     "entities are not allowed"},
    {"internal subset", "<!DOCTYPE MESSAGE [<!ELEMENT MESSAGE ANY>]><MESSAGE id='1' time='1'/>",
     "internal DTD subset"},
    {"billion laughs",
     "<!DOCTYPE MESSAGE [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'>]><MESSAGE id='&b;' time='1'/>",
     "internal DTD subset"},
    {"external entity",
     "<!DOCTYPE m [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><MESSAGE id='&x;' time='1'/>",
     "internal DTD subset"},
    {"unknown encoding", "<?xml version='1.0' encoding='EBCDIC'?><MESSAGE id='1' time='1'/>",
     "encoding"},
    {"UTF-8 that is none", "<MESSAGE id='\xff\xfe' time='1'/>", "not well-formed"},
    {"an encoding that lies", "<?xml version='1.0' encoding='UTF-16'?><MESSAGE id='1' time='1'/>",
     "encoding"},
    {"a null byte's reference", "<MESSAGE id='&#0;' time='1'/>", "invalid character"},
    {"junk", "hello world", "syntax error"},
    {"a second XML declaration", "<MESSAGE id='1' time='1'><?xml version='1.0'?></MESSAGE>",
     "declaration"},
    {"an unclosed comment", "<MESSAGE id='1' time='1'><!-- ", "ends before"},
    {"an unclosed processing instruction", "<MESSAGE id='1' time='1'><?a ", "ends before"},
};

static void test_bad_messages(void **state) {
  (void)state;
  static heard to;
  for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
    for (size_t step = 1; step <= 4096; step *= 16) {
      char text[1024];
      snprintf(text, sizeof text, "%s\n%s", good, bads[i].text);
      feed(&to, text, strlen(text), step);
      int expected = strstr(bads[i].text, "<MESSAGE id='G'") ? 2 : 1;
      if (to.messages != expected || to.refusals < 1 || !strstr(to.text, bads[i].reason)) {
        fail_msg("%s, in pieces of %zu: %s", bads[i].what, step, to.text);
      }
      // The next document is found again.
      snprintf(text, sizeof text, "%s\n<?xml version='1.0'?>%s", bads[i].text, example);
      feed(&to, text, strlen(text), step);
      bool swallows = strstr(bads[i].what, "unclosed") || strstr(bads[i].what, "UTF-8");
      if (!swallows && to.messages < 1)
        fail_msg("%s: the next one is lost: %s", bads[i].what, to.text);
    }
  }
}

static char *repeat(const char *head, const char *body, int count, const char *tail) {
  char *text = malloc(strlen(head) + strlen(body) * (size_t)count + strlen(tail) + 64);
  assert_non_null(text);
  char *at = text + sprintf(text, "%s", head);
  for (int i = 0; i < count; i++) at += sprintf(at, "%s", body);
  strcpy(at, tail);
  return text;
}

/** A message is heard as it is alone, and refused at the same place: behind few others, and behind many. */
static void test_behind_others(void **state) {
  (void)state;
  static const char other[] = "<MESSAGE id='W' time='1'><S time='0'>\n</S></MESSAGE>";
  static heard alone, behind;
  for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
    for (int count = 1; count <= 2000; count *= 40) {
      char *text = repeat("", other, count, bads[i].text);
      feed(&alone, bads[i].text, strlen(bads[i].text), 4096);
      feed(&behind, text, strlen(text), 4096);
      free(text);
      assert_int_equal(behind.messages, count + alone.messages);
      const char *refusal = strstr(behind.text, "refused");
      if (count < 100 && (!refusal || strcmp(refusal, strstr(alone.text, "refused")) != 0))
        fail_msg("%s, behind %d others: %s", bads[i].what, count, refusal);
    }
  }
}

/** What looks like the end of a message stands in its comment. */
static void test_ends_that_are_none(void **state) {
  (void)state;
  static heard to;
  char *text = repeat("<MESSAGE id='C' time='1'><!-- ", "</MESSAGE>", 1500,
                      " --><S time='0'><d v='1'/></S></MESSAGE>\n<MESSAGE id='D' time='2'/>");
  feed(&to, text, strlen(text), strlen(text));
  assert_string_equal(to.text, "message C 1000\n at 1000\n  S.d.v=1\nmessage D 2000\n");
  free(text);
}

static void refuse_big(const char *text, const char *reason) {
  static heard to;
  feed(&to, text, strlen(text), 512);
  if (to.messages != 0 || to.refusals != 1 || !strstr(to.text, reason))
    fail_msg("%s: %.500s", reason, to.text);
}

static void test_limits(void **state) {
  (void)state;
  const struct {
    const char *head, *body, *tail, *reason;
    int count;
  } cases[] = {
      {"<MESSAGE id='1' time='1'>", "<S time='1'/>", "</MESSAGE>", "longer than 20000 bytes", 3000},
      {"<MESSAGE id='1' time='1'><S time='1'>", "<d v='1'/>", "</S></MESSAGE>",
       "more than 500 values", 501},
      {"<MESSAGE id='1' time='1'><S time='1'><d v='", "0123456789", "'/></S></MESSAGE>",
       "longer than 4096", 410},
      {"<MESSAGE id='", "0123456789", "' time='1'/>", "the id is longer", 7},
      {"<MESSAGE id='1' time='1' boot='", "0123456789", "'/>", "the boot is longer", 7},
      {"<MESSAGE id='1' time='1'><S time='1'><", "abcdefghij", " v='1'/></S></MESSAGE>",
       "identifier is longer", 21},
      {"<MESSAGE id='1' time='1'><", "abcdefghij", " time='1'/></MESSAGE>", "sample set is longer",
       30},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text = repeat(cases[i].head, cases[i].body, cases[i].count, cases[i].tail);
    refuse_big(text, cases[i].reason);
    free(text);
  }
  char wide[16384] = "<MESSAGE id='1' time='1'><S time='1'><d ";
  for (int i = 0; i < 201; i++) sprintf(wide + strlen(wide), "a%d='1' ", i);
  strcat(wide, "/></S></MESSAGE>");
  refuse_big(wide, "more than 200 attributes");
  char *deep = repeat("<MESSAGE id='1' time='1'>", "<S time='1'>", 1000, "");
  refuse_big(deep, "too deep");
  free(deep);
}

/** Names of a set and of data stand in each identifier: a sample may be longer than its message, and than one of a log. */
static void test_a_sample_too_long(void **state) {
  (void)state;
  static heard to;
  tt_message_limits limits = tt_message_limits_default();
  char set[91], *text = malloc(1 << 20), *at = text;
  assert_non_null(text);
  memset(set, 's', sizeof set - 1);
  set[sizeof set - 1] = 0;
  at += sprintf(at, "<MESSAGE id='1' time='1'><%s time='0'>", set);
  for (int i = 0; i < 9000; i++) at += sprintf(at, "<%s a%d='1'/>", set, i);
  sprintf(at, "</%s></MESSAGE>", set);
  tt_message_parser *parser = tt_message_parser_new(&limits, &handler, &to);
  assert_non_null(parser);
  forget(&to);
  tt_message_parser_feed(parser, text, strlen(text));
  assert_non_null(strstr(to.text, "the names and values of a sample are too long altogether"));
  tt_message_parser_free(parser);
  free(text);
}

/** Two sets of one time become one sample, whatever stands before them; of two times they are two. */
static void test_sets_of_one_time_are_one_sample(void **state) {
  (void)state;
  static const struct {
    const char *times[3];
    bool fits;
  } cases[] = {{{"-1", "0", "0"}, false},  {{"0", "0", "5"}, false},
               {{"0", "1", "1"}, false},   {{"-1", "0", "1"}, true},
               {{"0", "5", "0"}, true},    {{"1000", "0", "-1"}, false},
               {{"999", "0", "-1"}, true}, {{"2000", "0", "2000"}, true}};
  const tt_message_limits limits = tt_message_limits_default();
  char name[91], *text = malloc(1 << 20);
  assert_non_null(text);
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    static heard to;
    char *at = text + sprintf(text, "%s<MESSAGE id='1' time='1000'>", good);
    for (int s = 0; s < 3; s++) {
      at += sprintf(at, "<%s time='%s'>", name, cases[i].times[s]);
      for (int d = 0; d < 3; d++) {
        at += sprintf(at, "<%s", name);
        for (int a = 0; a < 800; a++) at += sprintf(at, " s%dd%da%d='1'", s, d, a);
        at += sprintf(at, "/>");
      }
      at += sprintf(at, "</%s>", name);
    }
    sprintf(at, "</MESSAGE>%s", good);
    tt_message_parser *parser = tt_message_parser_new(&limits, &handler, &to);
    assert_non_null(parser);
    forget(&to);
    tt_message_parser_feed(parser, text, strlen(text));
    tt_message_parser_free(parser);
    assert_int_equal(to.messages, cases[i].fits ? 3 : 2);
    assert_int_equal(to.refusals, !cases[i].fits);
    if (!cases[i].fits) assert_non_null(strstr(to.text, "of a sample are too long altogether"));
  }
  free(text);
}

static void test_line_and_column(void **state) {
  (void)state;
  static heard to;
  const char *text =
      "<MESSAGE id='1' time='1'>\n  <S time='1'>\n    <d v='1' v='2'/>\n  </S>\n</MESSAGE>";
  feed(&to, text, strlen(text), 5);
  assert_string_equal(to.text, "refused 3:14 duplicate attribute\n");
}

static void keep_hash(void *context, const tt_message *message) {
  *(uint64_t *)context = message->hash;
}

static void test_a_message_sent_again_is_known(void **state) {
  (void)state;
  // The first two are one message.
  static const char *const texts[] = {
      "<MESSAGE id='1' time='5'><S time='1'><d v='1'/></S></MESSAGE>",
      "<MESSAGE time='5' id='1'>  <S time='1'>\n<d v='1'/></S></MESSAGE>",
      "<MESSAGE id='1' time='5'><S time='1'><d v='2'/></S></MESSAGE>",
      "<MESSAGE id='1' time='5'><S time='2'><d v='1'/></S></MESSAGE>",
      "<MESSAGE id='1' time='5' boot='1'><S time='1'><d v='1'/></S></MESSAGE>",
      "<MESSAGE id='1' time='5' boot='2'><S time='1'><d v='1'/></S></MESSAGE>",
      "<MESSAGE id='1' time='5' seq='0'><S time='1'><d v='1'/></S></MESSAGE>",
      "<MESSAGE id='1' time='5' seq='1'><S time='1'><d v='1'/></S></MESSAGE>"};
  enum { COUNT = sizeof texts / sizeof *texts };
  uint64_t hashes[COUNT];
  const tt_message_handler keeper = {keep_hash, on_refused};
  tt_message_limits limits = small_limits();
  for (int i = 0; i < COUNT; i++) {
    tt_message_parser *parser = tt_message_parser_new(&limits, &keeper, &hashes[i]);
    tt_message_parser_feed(parser, texts[i], strlen(texts[i]));
    tt_message_parser_free(parser);
  }
  assert_true(hashes[0] == hashes[1]);
  for (int i = 1; i < COUNT; i++) {
    for (int other = i + 1; other < COUNT; other++) assert_true(hashes[i] != hashes[other]);
  }
}

static void keep_identity(void *context, const tt_message *message) {
  snprintf(context, 128, "'%s' %lld", message->boot, (long long)message->seq);
}

static void test_boot_and_seq(void **state) {
  (void)state;
  static const struct {
    const char *text, *expected;
  } cases[] = {
      {"<MESSAGE id='1' time='1'/>", "'' -1"},
      {"<MESSAGE id='1' time='1' boot='a b' seq='0'/>", "'a b' 0"},
      {"<MESSAGE seq='9007199254740992' boot='&#252;' id='1' time='1'/>",
       "'\u00fc' 9007199254740992"},
      // Nothing of the message before is left.
      {"<MESSAGE id='1' time='1' boot='x' seq='7'/><MESSAGE id='1' time='1'/>", "'' -1"},
  };
  const tt_message_handler keeper = {keep_identity, on_refused};
  tt_message_limits limits = small_limits();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char heard[128] = "";
    tt_message_parser *parser = tt_message_parser_new(&limits, &keeper, heard);
    tt_message_parser_feed(parser, cases[i].text, strlen(cases[i].text));
    tt_message_parser_free(parser);
    assert_string_equal(heard, cases[i].expected);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_split),
      cmocka_unit_test(test_nothing_is_waited_for),
      cmocka_unit_test(test_times),
      cmocka_unit_test(test_truncated_at_every_byte),
      cmocka_unit_test(test_bad_messages),
      cmocka_unit_test(test_behind_others),
      cmocka_unit_test(test_ends_that_are_none),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_a_sample_too_long),
      cmocka_unit_test(test_sets_of_one_time_are_one_sample),
      cmocka_unit_test(test_line_and_column),
      cmocka_unit_test(test_a_message_sent_again_is_known),
      cmocka_unit_test(test_boot_and_seq),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
