/* tree_test.c: the YAML tree: parsing, settings by name, types, limits, and lines of errors. */
#include "scene/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A schema with one key of every type. */
typedef struct tt_thing {
  char *name;
  double number;
} tt_thing;

typedef struct tt_all {
  char *text;
  int8_t small;
  uint16_t count;
  int64_t large;
  uint64_t huge;
  double number;
  bool flag;
  int word;
  tt_thing *things;
  unsigned things_count;
  double pair[2];
  tt_thing inner;
} tt_all;

static const cyaml_strval_t words[] = {{"first", 0}, {"second", 1}};
static const cyaml_schema_field_t thing_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, tt_thing, name, 1, 16),
    CYAML_FIELD_FLOAT("number", CYAML_FLAG_OPTIONAL, tt_thing, number),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t thing = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_thing, thing_fields)};
static const cyaml_schema_value_t number = {CYAML_VALUE_FLOAT(CYAML_FLAG_DEFAULT, double)};
static const cyaml_schema_field_t all_fields[] = {
    CYAML_FIELD_STRING_PTR("text", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_all, text, 2, 8),
    CYAML_FIELD_INT("small", CYAML_FLAG_OPTIONAL, tt_all, small),
    CYAML_FIELD_UINT("count", CYAML_FLAG_OPTIONAL, tt_all, count),
    CYAML_FIELD_INT("large", CYAML_FLAG_OPTIONAL, tt_all, large),
    CYAML_FIELD_UINT("huge", CYAML_FLAG_OPTIONAL, tt_all, huge),
    CYAML_FIELD_FLOAT("number", CYAML_FLAG_OPTIONAL, tt_all, number),
    CYAML_FIELD_BOOL("flag", CYAML_FLAG_OPTIONAL, tt_all, flag),
    CYAML_FIELD_ENUM("word", CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT, tt_all, word, words, 2),
    CYAML_FIELD_SEQUENCE_COUNT("things", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_all, things,
                               things_count, &thing, 1, 3),
    CYAML_FIELD_SEQUENCE_FIXED("pair", CYAML_FLAG_OPTIONAL, tt_all, pair, &number, 2),
    CYAML_FIELD_MAPPING("inner", CYAML_FLAG_OPTIONAL, tt_all, inner, thing_fields),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t all = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, tt_all, all_fields)};

static tt_document *parse(const char *text) {
  tt_document *document;
  tt_error error = {""};
  if (tt_document_parse("a.yaml", text, strlen(text), &document, &error))
    fail_msg("%s", error.text);
  return document;
}

/** What reading `text` after `setting` (or NULL) ends with. */
static tt_status read_text(const char *text, const char *setting, tt_error *error) {
  tt_document *document;
  TT_TRY(tt_document_parse("a.yaml", text, strlen(text), &document, error));
  tt_status status = setting ? tt_document_set(document, setting, error) : TT_OK;
  void *data = NULL;
  if (status == TT_OK) status = tt_document_read(document, &all, &data, error);
  tt_document_release(&all, data);
  tt_document_free(document);
  return status;
}

static void refuses(const char *text, const char *expected) {
  tt_error error = {""};
  if (read_text(text, NULL, &error) != TT_INVALID) fail_msg("'%s' is taken", text);
  if (!strstr(error.text, expected)) fail_msg("'%s': %s", text, error.text);
}

static void takes(const char *text) {
  tt_error error = {""};
  if (read_text(text, NULL, &error) != TT_OK) fail_msg("'%s': %s", text, error.text);
}

static void test_reads_all_types(void **state) {
  (void)state;
  tt_document *document = parse(
      "text: \"on: x\"\nsmall: -128\ncount: 65535\nlarge: -9223372036854775808\nhuge: "
      "18446744073709551615\n"
      "number: -2.5e3\nflag: on\nword: second\nthings:\n  - plain\n  - {name: b, number: 3}\npair: "
      "[1, 2]\n"
      "inner: {name: c}\n");
  void *data;
  tt_error error = {""};
  if (tt_document_read(document, &all, &data, &error)) fail_msg("%s", error.text);
  tt_all *read = data;
  assert_string_equal(read->text, "on: x");
  assert_int_equal(read->small, -128);
  assert_int_equal(read->count, 65535);
  assert_true(read->large == INT64_MIN);
  assert_true(read->huge == UINT64_MAX);
  assert_true(read->number == -2500);
  assert_true(read->flag);
  assert_int_equal(read->word, 1);
  assert_int_equal(read->things_count, 2);
  assert_string_equal(read->things[0].name, "plain");
  assert_string_equal(read->things[1].name, "b");
  assert_true(read->pair[1] == 2);
  assert_string_equal(read->inner.name, "c");
  tt_document_release(&all, data);
  tt_document_free(document);
}

static void test_wrong_types(void **state) {
  (void)state;
  refuses("small: 128", "a.yaml:1: small: 128 is out of range");
  refuses("small: -129", "out of range");
  refuses("count: 65536", "out of range");
  refuses("count: -1", "out of range");
  refuses("large: 9223372036854775808", "out of range");
  refuses("huge: 18446744073709551616", "out of range");
  refuses("large: 1.5", "'1.5' is not a whole number");
  refuses("number: 1,5", "'1,5' is not a number");
  refuses("number: 1e400", "not a finite number");
  refuses("number: -inf", "not a finite number");
  refuses("pair: [1, nan]", "a.yaml:1: pair[1]: 'nan' is not a finite number");
  refuses("pair: [1]", "pair: 1 elements are too few (at least 2)");
  refuses("pair: [1, 2, 3]", "pair: 3 elements are too many (at most 2)");
  refuses("things: [a, b, c, d]", "too many");
  refuses("things: []", "too few");
  refuses("flag: 1", "'1' is neither on nor off");
  refuses("word: third", "'third' is not one of first, second");
  refuses("text: x", "the text is too short");
  refuses("text: \"\"", "the text is too short");
  refuses("text: 123456789", "the text is too long (9 bytes; at most 8)");
  refuses("inner: {number: 1}", "a.yaml:1: inner: the key 'name' is missing");
  refuses("things: {name: a}", "expected a list");
  refuses("inner: [a]", "expected keys with values, found a list");
}

/* What follows may be a secret. */
static void test_a_wrong_key_is_shown_without_its_value(void **state) {
  (void)state;
  refuses("number: 1\ntext:s3cret\nflag: yes\n",
          "a.yaml:2: in 'text:' a space is missing behind the ':'");
  refuses("number: 1\ntext s3cret\nflag: yes\n",
          "a.yaml:2: a ':' is missing behind the key of this line");
  refuses("inner:\n  text:\n  s3cret\n  name: a\n",
          "a.yaml:3: a ':' is missing behind the key of this line");
  refuses("things:\n- number: 1\n  text:s3cret\n  name: a\n",
          "a.yaml:3: in 'text:' a space is missing");
  refuses("{text:s3cret}", "a.yaml:1: in 'text:' a space is missing behind the ':'");
  refuses("number: 1\ntext of:s3cret\nflag: yes\n",
          "a.yaml:2: the key of this line needs a ':' with a space behind it");
  refuses("{'text:s3cret': 1}", "unknown key 'text …'; ");
  refuses("'a:b': [1]", "unknown key 'a …'; the keys here are: ");
  refuses("{text s3cret: 1}", "unknown key 'text …'; ");
  refuses("{number: 1,5}",
          "unknown key '5'; if it is the end of a number, write that with a point");
  refuses("{text=s3cret: 1}", "unknown key 'text …'; ");
  refuses("{text=s3cret: 1, text=s3cret: 2}", "the key 'text' stands here twice");
}

static void test_nothing_is_not_there(void **state) {
  (void)state;
  takes("text:\nsmall: ~\nflag: null\nthings:\npair:\n");
  refuses("inner:\n", "the key 'name' is missing");
  refuses("text: \"null\"\nlarge: \"\"", "'' is not a whole number"); /* quotes make it text */
}

static void test_a_byte_order_mark_says_nothing(void **state) {
  (void)state;
  takes("\xEF\xBB\xBFtext: abc\nnumber: 1\n");
  refuses("\xEF\xBB\xBFtext: abc\nnumbre: 1\n", "a.yaml:2: unknown key 'numbre'");
  refuses("\xEF\xBB\xBF", "the file is empty");
}

static void test_aliases(void **state) {
  (void)state;
  takes("things: [&a {name: a, number: 1}, *a, *a]");
  takes("text: &t abcd\nthings: [*t]");
  refuses("things: [&a {name: a, number: 1}, *b]", "names no anchor that stands before it");
  refuses("&a text: abc", "a key can't have an anchor");
  refuses("text: abc\n*a : b", "a key must be plain text");
}

static void test_settings(void **state) {
  (void)state;
  tt_error error = {""};
  static const char text[] = "things: [{name: a.b}, {name: c}]\nnumber: 1\n";
  assert_int_equal(read_text(text, "number=2", &error), TT_OK);
  assert_int_equal(read_text(text, "things.a.b.number=2", &error), TT_OK);
  assert_int_equal(read_text(text, "things[1].number=2", &error), TT_OK);
  assert_int_equal(read_text(text, "inner.name=x", &error), TT_OK);
  assert_int_equal(read_text(text, "inner={name: x, number: 4}", &error), TT_OK);
  assert_int_equal(read_text(text, "things=[x, y]", &error), TT_OK);
  assert_int_equal(read_text(text, "number=", &error), TT_OK);    /* as if it were not there */
  assert_int_equal(read_text(text, "text=a: [b", &error), TT_OK); /* text as it is */
  assert_int_equal(read_text(text, "text=[::]:0", &error), TT_OK);
  assert_int_equal(read_text(text, "text=[::]:", &error), TT_INVALID); /* no address */
  assert_non_null(strstr(error.text, "needs quotes"));
  assert_int_equal(read_text(text, "text=[::1]", &error), TT_INVALID);
  assert_non_null(strstr(error.text, "needs quotes"));
  assert_int_equal(read_text(text, "things=[a]:0", &error), TT_INVALID);
  assert_int_equal(read_text(text, "things.c.number=x", &error), TT_INVALID);
  assert_string_equal(error.text, "--set things.c.number: 'x' is not a number");
  assert_int_equal(read_text(text, "things=[x, {nam: y}]", &error), TT_INVALID);
  assert_string_equal(error.text, "--set things: unknown key 'nam'; did you mean 'name'?");
  assert_int_equal(read_text(text, "things[2].number=1", &error), TT_INVALID);
  assert_int_equal(read_text(text, "things[x].number=1", &error), TT_INVALID);
  assert_int_equal(read_text(text, "text=\xff", &error), TT_INVALID);
  static const char bare[] = "things: [a.b, c]\n";
  assert_int_equal(read_text(bare, "things.a.b.number=2", &error), TT_OK);
  assert_int_equal(read_text(bare, "things[1].number=2", &error), TT_OK);
  assert_int_equal(read_text(bare, "things.c=d", &error), TT_OK);
  assert_int_equal(read_text(bare, "things.c.nam=2", &error), TT_INVALID);
  assert_string_equal(error.text, "--set things.c.nam: unknown key 'nam'; did you mean 'name'?");
  assert_int_equal(read_text(bare, "things.d.number=2", &error), TT_INVALID);
  assert_string_equal(error.text, "--set things.d.number: there is no 'd' here; there are: a.b, c");
  assert_int_equal(read_text(bare, "things.0.number=2", &error), TT_INVALID);
  assert_string_equal(
      error.text,
      "--set things.0.number: there is no '0' here; there are: a.b, c; by number it is [0]");
  assert_int_equal(read_text("pair: [1, 2]\n", "pair[0].number=2", &error), TT_INVALID);
  assert_string_equal(error.text, "--set pair[0].number: expected a number, found a mapping");
  assert_int_equal(read_text(text, "number", &error), TT_USAGE);
  assert_int_equal(read_text(text, "=1", &error), TT_USAGE);
}

static void test_last_setting_wins(void **state) {
  (void)state;
  tt_document *document = parse("number: 1\n");
  tt_error error = {""};
  void *data;
  assert_int_equal(tt_document_set(document, "number=[2]", &error), TT_OK);
  assert_int_equal(tt_document_set(document, "number=3", &error), TT_OK);
  assert_int_equal(tt_document_read(document, &all, &data, &error), TT_OK);
  assert_true(((tt_all *)data)->number == 3);
  tt_document_release(&all, data);
  tt_document_free(document);
}

static void explains(const tt_document *document, const char *before, const char *after) {
  tt_error error;
  strcpy(error.text, before);
  tt_document_explain(document, &error);
  assert_string_equal(error.text, after);
}

static void test_explain(void **state) {
  (void)state;
  tt_document *document = parse("things:\n  - {name: a}\n  - name: b\n    number: 2\n");
  tt_error error = {""};
  assert_int_equal(tt_document_set(document, "inner.number=4", &error), TT_OK);
  explains(document, "a.yaml: things[1].number: too small",
           "a.yaml:4: things[1].number: too small");
  explains(document, "a.yaml: things.b.number: too small", "a.yaml:4: things.b.number: too small");
  explains(document, "a.yaml: things[1].gone: too small", "a.yaml:3: things[1].gone: too small");
  explains(document, "a.yaml: inner.number: too small", "--set inner.number: too small");
  explains(document, "a.yaml: elsewhere: too small", "a.yaml: elsewhere: too small");
  explains(document, "b.yaml: things: too small", "b.yaml: things: too small");
  explains(document, "a.yaml:4: things: too small", "a.yaml:4: things: too small");
  tt_document_free(document);
}

static void test_limits(void **state) {
  (void)state;
  tt_document *document;
  tt_error error = {""};
  char *text = malloc(TT_TREE_MAX_FILE + 2);
  assert_non_null(text);
  memset(text, '#', TT_TREE_MAX_FILE + 1);
  assert_int_equal(tt_document_parse("a", text, TT_TREE_MAX_FILE + 1, &document, &error),
                   TT_INVALID);
  assert_non_null(strstr(error.text, "larger than 256 KiB"));
  /* A text of 200 KiB, copied by aliases. */
  size_t size = (size_t)sprintf(text, "a: &a \"");
  memset(text + size, 'x', 200000);
  size += 200000;
  size += (size_t)sprintf(text + size, "\"\nb: [*a, *a, *a, *a, *a, *a]\n");
  assert_int_equal(tt_document_parse("a", text, size, &document, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "too much text"));
  /* Keys in one mapping. */
  size = 0;
  for (int i = 0; i <= TT_TREE_MAX_KEYS; i++) size += (size_t)sprintf(text + size, "k%d: 1\n", i);
  assert_int_equal(tt_document_parse("a", text, size, &document, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "a:1001: too many keys"));
  /* Anchors. */
  size = (size_t)sprintf(text, "a: [");
  for (int i = 0; i <= TT_TREE_MAX_ANCHORS; i++)
    size += (size_t)sprintf(text + size, "&a%d x, ", i);
  size += (size_t)sprintf(text + size, "]\n");
  assert_int_equal(tt_document_parse("a", text, size, &document, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "too many anchors"));
  free(text);
}

static void test_element_names(void **state) {
  (void)state;
  static const char *const names[][2] = {
      {"frc2011", "frc2011"},   {"robots/frc2011/robot.yaml", "frc2011"},
      {"/a/b/kr5.urdf", "kr5"}, {"my.robot.xml", "my.robot"},
      {"robot.yaml", "robot"},  {"./bot", "bot"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char name[64];
    tt_element_name(names[i][0], name, sizeof name);
    assert_string_equal(name, names[i][1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reads_all_types),
      cmocka_unit_test(test_wrong_types),
      cmocka_unit_test(test_a_wrong_key_is_shown_without_its_value),
      cmocka_unit_test(test_nothing_is_not_there),
      cmocka_unit_test(test_a_byte_order_mark_says_nothing),
      cmocka_unit_test(test_aliases),
      cmocka_unit_test(test_settings),
      cmocka_unit_test(test_last_setting_wins),
      cmocka_unit_test(test_explain),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_element_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
