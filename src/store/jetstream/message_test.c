/* message_test.c: batches into messages and back, names that are told twice, and what is no message. */
#include "store/jetstream/message.h"

#include "store/jetstream/internal.h"
#include "store/jetstream/link.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/store_testing.h"

/** What a batch says, a line each, names by identifier; to be freed. */
static char *say(const tt_store_batch *batch) {
  GString *text = g_string_new(NULL);
  const tt_store_name *devices = batch->devices.data, *attributes = batch->attributes.data;
  for (uint32_t i = 0; i < batch->devices.len; i++)
    g_string_append_printf(text, "device %s %s %d\n", devices[i].identifier,
                           devices[i].name ? devices[i].name : "-", devices[i].state);
  for (uint32_t i = 0; i < batch->epochs.len; i++) {
    const tt_store_epoch *epoch = &tt_list_at(&batch->epochs, tt_store_epoch, i);
    g_string_append_printf(text, "epoch %s %d %d %d %d %d '%s'\n",
                           devices[epoch->device].identifier, epoch->number, (int)epoch->key,
                           (int)epoch->anchor, (int)epoch->offset_low, (int)epoch->offset_high,
                           epoch->boot);
  }
  for (uint32_t i = 0; i < batch->samples.len; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    g_string_append_printf(text, "%s %d %d %d #%d %u %u", devices[sample->device].identifier,
                           sample->epoch, (int)sample->device_time, (int)sample->time,
                           (int)sample->seq, sample->flags, sample->thinned);
    for (uint32_t v = sample->first; v < sample->first + sample->count; v++) {
      const tt_store_value *value = &tt_list_at(&batch->values, tt_store_value, v);
      g_string_append_printf(text, " %s=", attributes[value->attribute].identifier);
      if (value->text == TT_STORE_NUMBER)
        g_string_append_printf(text, "%.17g", value->number);
      else
        g_string_append_printf(text, "'%s'", (const char *)batch->text.data + value->text);
    }
    g_string_append_c(text, '\n');
  }
  return g_string_free(text, FALSE);
}

/** Adds a batch's messages; how many there were. */
static int pass(const tt_store_batch *batch, tt_nats_gather *gather) {
  tt_nats_split split;
  tt_list bytes = TT_LIST(char, NULL);
  const char *device;
  tt_error error;
  tt_status status;
  int messages = 0;
  assert_true(tt_nats_split_begin(&split, batch));
  while ((status = tt_nats_split_next(&split, &bytes, &device, &error)) == TT_OK) {
    assert_true(bytes.len <= TT_NATS_MESSAGE_MOST);
    if (tt_nats_gather_add(gather, bytes.data, bytes.len, &error) != TT_OK)
      fail_msg("%s", error.text);
    tt_list_cut(&bytes, 0);
    messages++;
  }
  assert_int_equal(status, TT_END);
  tt_list_free(&bytes);
  tt_nats_split_end(&split);
  return messages;
}

/** Says no more of its names than that they are there, as a collector does from its second batch on. */
static void say_known(tt_store_batch *batch) {
  const tt_list *names[] = {&batch->devices, &batch->attributes};
  for (int kind = 0; kind < 2; kind++)
    for (uint32_t i = 0; i < names[kind]->len; i++)
      tt_list_at(names[kind], tt_store_name, i).state = TT_NAME_KNOWN;
}

static void test_what_is_sent_comes(void **state) {
  (void)state;
  tt_store_batch *batch = tt_testing_batch();
  tt_testing_add_sample(batch, 0, 0, 80001, 81001)->seq = 7;
  tt_testing_add_value(batch, 0, NULL, -1e300);
  tt_store_sample *last = tt_testing_add_sample(batch, 0, 0, 80002, 81002);
  last->flags = TT_SAMPLE_CONTINUES | TT_SAMPLE_UNSURE;
  last->thinned = 1;
  tt_testing_add_value(batch, 1, "", 0);
  tt_nats_gather gather;
  assert_true(tt_nats_gather_begin(&gather));
  assert_int_equal(pass(batch, &gather), 3);  // names, ROBO1, ROBO2
  char *said = say(gather.batch);
  assert_string_equal(said,
                      "device ROBO2 Red 1\ndevice ROBO1 - 1\nepoch ROBO1 0 0 1000 900 1100 ''\n"
                      "epoch ROBO2 0 100 0 -50 50 'start 7'\n"
                      "ROBO1 0 80000 81000 #0 0 0 Output.drive.velocity=50.25 "
                      "Output.turn.heading='Left & <\"ü\">'\n"
                      "ROBO1 0 80001 81001 #7 0 0 Output.drive.velocity=-1.0000000000000001e+300\n"
                      "ROBO1 0 80002 81002 #0 3 1 Output.turn.heading=''\n"
                      "ROBO2 0 80050 80050 #0 0 0 Output.drive.velocity=-0.10000000000000001\n");
  g_free(said);
  assert_int_equal(gather.batch->pairs.len, 3);
  // The next batch of the same says no pair again, and has indices of its own.
  tt_nats_gather_clear(&gather);
  say_known(batch);
  pass(batch, &gather);
  assert_int_equal(gather.batch->pairs.len, 0);
  assert_int_equal(gather.batch->samples.len, 4);
  tt_nats_gather_end(&gather);
  tt_store_batch_free(batch);
}

/** Numbers come as they were, whatever they take. */
static void test_numbers(void **state) {
  (void)state;
  static const double numbers[] = {0,
                                   -0.0,
                                   0.5,
                                   -3,
                                   16777216,
                                   16777217,
                                   0.1,
                                   (double)0.1f,
                                   (double)FLT_MAX,
                                   2.0 * (double)FLT_MAX,
                                   (double)FLT_MIN / 8,
                                   DBL_MAX,
                                   -DBL_MAX,
                                   DBL_MIN,
                                   DBL_TRUE_MIN,
                                   1 + DBL_EPSILON};
  enum { COUNT = sizeof numbers / sizeof *numbers };
  tt_store_batch *batch = tt_testing_batch();
  const uint32_t before = batch->samples.len;
  for (int i = 0; i < COUNT; i++) {
    tt_testing_add_sample(batch, 0, 0, 90000 + i, 91000 + i);
    tt_testing_add_value(batch, 0, NULL, numbers[i]);
  }
  tt_nats_gather gather;
  assert_true(tt_nats_gather_begin(&gather));
  pass(batch, &gather);
  assert_int_equal(gather.batch->samples.len, before + COUNT);
  for (uint32_t i = 0; i < gather.batch->samples.len; i++) {
    const tt_store_sample *sample = &tt_list_at(&gather.batch->samples, tt_store_sample, i);
    if (sample->device_time < 90000) continue;
    const double came = tt_list_at(&gather.batch->values, tt_store_value, sample->first).number;
    assert_memory_equal(&came, &numbers[sample->device_time - 90000], sizeof came);
  }
  tt_nats_gather_end(&gather);
  tt_store_batch_free(batch);
}

/** Who removes a name removes its pairs, so they are said once more when it is used again. */
static void test_what_is_used_again_has_its_pairs(void **state) {
  (void)state;
  tt_store_batch *first = tt_testing_batch(), *removed = tt_store_batch_new();
  tt_store_batch *again = tt_testing_batch();
  tt_store_add_name(&removed->devices, 0, "ROBO1", NULL, TT_NAME_REMOVED);
  say_known(again);
  tt_nats_gather gather;
  assert_true(tt_nats_gather_begin(&gather));
  pass(first, &gather);
  assert_int_equal(gather.batch->pairs.len, 3);
  tt_nats_gather_clear(&gather);
  pass(again, &gather);
  assert_int_equal(gather.batch->pairs.len, 0);
  tt_nats_gather_clear(&gather);
  pass(removed, &gather);
  pass(again, &gather);
  assert_int_equal(gather.batch->pairs.len, 2);  // of ROBO1
  tt_nats_gather_clear(&gather);
  pass(again, &gather);
  assert_int_equal(gather.batch->pairs.len, 0);
  // Another writer may have taken the message that removed it.
  tt_list_at(&again->attributes, tt_store_name, 0).state = TT_NAME_USED;
  tt_nats_gather_clear(&gather);
  pass(again, &gather);
  assert_int_equal(gather.batch->pairs.len, 2);  // of both devices
  tt_nats_gather_end(&gather);
  tt_store_batch_free(first);
  tt_store_batch_free(removed);
  tt_store_batch_free(again);
}

/** Two collectors have given one number to two epochs, and other indices to the same names. */
static void test_of_two_collectors(void **state) {
  (void)state;
  tt_store_batch *one = tt_testing_batch(), *other = tt_store_batch_new();
  tt_testing_add_name(&other->devices, 0, "ROBO1", NULL);
  tt_testing_add_name(&other->attributes, 0, "Output.turn.heading", NULL);
  tt_testing_add_epoch(other, 0, 0, 5, 5, 5, "");
  tt_list_at(&other->epochs, tt_store_epoch, 0).key = 9;
  tt_testing_add_sample(other, 0, 0, 1, 6);
  tt_testing_add_value(other, 0, NULL, 2);
  tt_nats_gather gather;
  assert_true(tt_nats_gather_begin(&gather));
  pass(one, &gather);
  pass(other, &gather);
  char *said = say(gather.batch);
  assert_non_null(strstr(said, "epoch ROBO1 1 9 5 5 5 ''\n"));
  assert_non_null(strstr(said, "ROBO1 1 1 6 #0 0 0 Output.turn.heading=2\n"));
  g_free(said);
  assert_int_equal(gather.batch->attributes.len, 2);
  tt_nats_gather_end(&gather);
  tt_store_batch_free(one);
  tt_store_batch_free(other);
}

static void test_many_samples_make_several_messages(void **state) {
  (void)state;
  tt_store_batch *batch = tt_testing_batch();
  for (int i = 0; i < 30000; i++) {
    tt_testing_add_sample(batch, 0, 0, 90000 + i, 91000 + i)->flags =
        i % 2 ? TT_SAMPLE_CONTINUES : 0;
    tt_testing_add_value(batch, 0, NULL, i);
  }
  tt_nats_gather gather;
  assert_true(tt_nats_gather_begin(&gather));
  assert_true(pass(batch, &gather) > 4);
  assert_int_equal(gather.batch->samples.len, 30002);
  tt_nats_gather_end(&gather);
  tt_store_batch_free(batch);
}

/** One message of a device may be longer than one of the log. */
static void test_a_long_message_has_parts(void **state) {
  (void)state;
  tt_store_batch *batch = tt_testing_batch();
  for (int i = 0; i < 40000; i++) {
    tt_testing_add_sample(batch, 0, 0, 90000 + i, 91000 + i)->flags = TT_SAMPLE_CONTINUES;
    tt_testing_add_value(batch, 0, NULL, i + 0.1);
  }
  tt_nats_gather gather;
  assert_true(tt_nats_gather_begin(&gather));
  const int messages = pass(batch, &gather);
  assert_in_range(messages, 4, 8);
  assert_int_equal(gather.batch->samples.len, batch->samples.len);
  tt_nats_gather_end(&gather);
  tt_store_batch_free(batch);
}

/** All that was set while the log was away is said at once. */
static void test_many_names_make_several_messages(void **state) {
  (void)state;
  tt_store_batch *batch = tt_testing_batch();
  for (int i = 0; i < 6000; i++) {
    char text[2][201];
    snprintf(text[0], sizeof text[0], "A.d.%0*d", 196, i);
    snprintf(text[1], sizeof text[1], "%0*d", 200, i);
    const tt_store_name name = {2 + i, strdup(text[0]), strdup(text[1]), TT_NAME_USED};
    assert_true(tt_list_add(&batch->attributes, &name, 1));
  }
  tt_nats_gather gather;
  assert_true(tt_nats_gather_begin(&gather));
  assert_in_range(pass(batch, &gather), 6000 / TT_NATS_SETTINGS_MOST,
                  6000 / TT_NATS_SETTINGS_MOST + 5);
  assert_int_equal(gather.batch->attributes.len, batch->attributes.len);
  tt_nats_gather_end(&gather);
  tt_store_batch_free(batch);
}

static void test_a_batch_that_is_not_whole_is_refused(void **state) {
  (void)state;
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 0, "D", NULL);
  tt_testing_add_sample(batch, 0, 0, 1, 1);
  tt_testing_add_value(batch, 0, NULL, 1);
  tt_nats_split split;
  tt_list bytes = TT_LIST(char, NULL);
  const char *device;
  tt_error error;
  assert_true(tt_nats_split_begin(&split, batch));
  assert_int_equal(tt_nats_split_next(&split, &bytes, &device, &error), TT_INVALID);
  tt_nats_split_end(&split);
  tt_list_free(&bytes);
  tt_store_batch_free(batch);
}

static void test_what_is_no_message_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t size;
    const char *reason;
  } cases[] = {{"", 0, "no MessagePack"},
               {"\x81", 1, "no MessagePack"},
               {"\x93\x01\x02\x03", 4, "no map"},
               {"\x80\x80", 2, "no MessagePack"},
               {"\x81\xa7"
                "devices\x01",
                10, "no list"},
               {"\x81\xa7"
                "samples\x91\x01",
                11, "of one device"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tt_nats_gather gather;
    tt_error error;
    assert_true(tt_nats_gather_begin(&gather));
    assert_int_equal(tt_nats_gather_add(&gather, cases[i].bytes, cases[i].size, &error),
                     TT_BAD_MESSAGE);
    if (!strstr(error.text, cases[i].reason)) fail_msg("%zu: %s", i, error.text);
    tt_nats_gather_end(&gather);
  }
}

/** Messages of a batch that are refused; it is freed. */
static int count_refused(tt_store_batch *batch) {
  tt_nats_split split;
  tt_nats_gather gather;
  tt_list bytes = TT_LIST(char, NULL);
  const char *device;
  tt_error error;
  int refused = 0;
  assert_true(tt_nats_split_begin(&split, batch));
  assert_true(tt_nats_gather_begin(&gather));
  while (tt_nats_split_next(&split, &bytes, &device, &error) == TT_OK) {
    refused += tt_nats_gather_add(&gather, bytes.data, bytes.len, &error) == TT_BAD_MESSAGE;
    tt_list_cut(&bytes, 0);
  }
  tt_nats_gather_end(&gather);
  tt_nats_split_end(&split);
  tt_list_free(&bytes);
  tt_store_batch_free(batch);
  return refused;
}

/** A writer would try for ever to store it: databases refuse what is no UTF-8, and what is too long for an index. */
static void test_what_no_database_takes_is_refused(void **state) {
  (void)state;
  char *longest = g_strnfill(1000, 'x'), *longer = g_strnfill(1001, 'x');
  const char *const bad[] = {"R\xff", "\xe2\x80", "\xed\xa0\x80", longer};
  assert_int_equal(count_refused(tt_testing_batch()), 0);
  for (int i = 0; i < 4; i++) {
    tt_store_batch *batch = tt_testing_batch();
    tt_testing_add_name(&batch->devices, 2, bad[i], "");
    assert_int_equal(count_refused(batch), 1);
    batch = tt_testing_batch();
    tt_testing_add_name(&batch->devices, 2, "ROBO3", bad[i]);
    assert_int_equal(count_refused(batch), 1);
    batch = tt_testing_batch();
    tt_testing_add_name(&batch->attributes, 2, bad[i], "");
    assert_int_equal(count_refused(batch), 1);
    batch = tt_testing_batch();
    char *pattern = g_strdup(bad[i]);
    const tt_handling handling = {.pattern = pattern, .scale = 1};
    tt_store_add_handling(&batch->handlings, &handling);
    g_free(pattern);
    assert_int_equal(count_refused(batch), 1);
    batch = tt_testing_batch();
    tt_testing_add_sample(batch, 0, 0, 80001, 81001);
    tt_testing_add_value(batch, 1, bad[i], 0);
    assert_int_equal(count_refused(batch), bad[i] != longer);  // values may be as long
  }
  tt_store_batch *batch = tt_testing_batch();
  tt_testing_add_epoch(batch, 0, 1, 0, 0, 0, "\xff");
  tt_testing_add_sample(batch, 0, 1, 80001, 81001);
  tt_testing_add_value(batch, 0, NULL, 1);
  assert_int_equal(count_refused(batch), 1);
  batch = tt_testing_batch();
  tt_testing_add_name(&batch->devices, 2, longest, "µ漢");
  assert_int_equal(count_refused(batch), 0);
  g_free(longest);
  g_free(longer);
}

/** The same of times: PostgreSQL has no day before 4713 BC, and sums are to stay what they are. */
static void test_times_that_no_database_has_are_refused(void **state) {
  (void)state;
  static const int64_t most = 40000000000000000,
                       bad[] = {INT64_MIN, -300000000000000000, -40000000000000001,
                                40000000000000001, INT64_MAX};
  for (int i = 0; i < 5; i++) {
    const int64_t low = bad[i] < 0 ? bad[i] : 0, high = bad[i] < 0 ? 0 : bad[i];
    const int64_t epochs[][3] = {{bad[i], 0, 0}, {0, low, high}};
    for (int e = 0; e < 2; e++) {
      tt_store_batch *batch = tt_testing_batch();
      tt_testing_add_epoch(batch, 0, 1, epochs[e][0], epochs[e][1], epochs[e][2], "");
      tt_testing_add_sample(batch, 0, 1, 80001, 81001);
      tt_testing_add_value(batch, 0, NULL, 1);
      assert_int_equal(count_refused(batch), 1);  // the others, behind it, are not
    }
    for (int utc = 0; utc < 2; utc++) {
      tt_store_batch *batch = tt_testing_batch();
      tt_testing_add_sample(batch, 0, 0, utc ? 80001 : bad[i], utc ? bad[i] : 81001);
      tt_testing_add_value(batch, 0, NULL, 1);
      assert_int_equal(count_refused(batch), 1);
    }
  }
  tt_store_batch *batch = tt_testing_batch();
  tt_testing_add_epoch(batch, 0, 1, most, -most, most, "");
  tt_testing_add_sample(batch, 0, 1, -most, most);
  tt_testing_add_value(batch, 0, NULL, 1);
  assert_int_equal(count_refused(batch), 0);
  static const double seconds[][2] = {{-1, 0}, {0, -1}, {1.1e9, 0}, {0, 1e300}};
  for (int i = 0; i < 4; i++) {
    const tt_handling handling = {
        .pattern = "*", .scale = 1, .min_interval = seconds[i][0], .retention = seconds[i][1]};
    batch = tt_testing_batch();
    tt_store_add_handling(&batch->handlings, &handling);
    assert_int_equal(count_refused(batch), 1);
  }
}

/** What is committed of a version, read by this one. */
static char *say_file(const char *path) {
  char *bytes;
  gsize size;
  tt_nats_gather gather;
  tt_error error;
  assert_true(g_file_get_contents(path, &bytes, &size, NULL));
  assert_true(tt_nats_gather_begin(&gather));
  if (tt_nats_gather_add(&gather, bytes, size, &error) != TT_OK) fail_msg("%s", error.text);
  char *said = say(gather.batch);
  tt_nats_gather_end(&gather);
  g_free(bytes);
  return said;
}

/** While programs are replaced one after another, the log has messages of both versions. */
static void test_messages_of_other_versions(void **state) {
  (void)state;
  static const char *const expected =
      "device ROBO1 - 0\nepoch ROBO1 0 -5 1000 900 1100 'b'\n"
      "ROBO1 0 80000 81000 #0 0 0 S.d.a=1.5 S.d.b='x'\nROBO1 0 80001 81001 #3 1 1 S.d.a=2\n";
  // The first version; and one to come, with keys, items and a flag of which nothing is known here.
  char *first = say_file(TETHER_SOURCE_DIR "/tests/telemetry/log_message_1.msgpack");
  char *newer = say_file(TETHER_SOURCE_DIR "/tests/telemetry/log_message_newer.msgpack");
  assert_string_equal(first, expected);
  assert_string_equal(newer, expected);
  g_free(first);
  g_free(newer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_sent_comes),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_what_is_used_again_has_its_pairs),
      cmocka_unit_test(test_of_two_collectors),
      cmocka_unit_test(test_many_samples_make_several_messages),
      cmocka_unit_test(test_a_long_message_has_parts),
      cmocka_unit_test(test_many_names_make_several_messages),
      cmocka_unit_test(test_a_batch_that_is_not_whole_is_refused),
      cmocka_unit_test(test_what_is_no_message_is_refused),
      cmocka_unit_test(test_what_no_database_takes_is_refused),
      cmocka_unit_test(test_times_that_no_database_has_are_refused),
      cmocka_unit_test(test_messages_of_other_versions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
