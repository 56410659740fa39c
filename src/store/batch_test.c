/* batch_test.c: batches, the choice of a store, one that keeps nothing, and PostgreSQL while it is away. */
#include "base/log.h"
#include "store/store_testing.h"

#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_a_batch_is_empty_until_something_is_in_it(void **state) {
  (void)state;
  tt_store_batch *batch = tt_store_batch_new();
  assert_true(tt_store_batch_is_empty(batch));
  assert_int_equal(tt_store_batch_bytes(batch), 0);
  tt_testing_add_sample(batch, 0, 0, 1, 2);
  tt_testing_add_value(batch, 0, "abc", 0);
  assert_false(tt_store_batch_is_empty(batch));
  assert_int_equal(tt_store_batch_bytes(batch),
                   sizeof(tt_store_sample) + sizeof(tt_store_value) + 4);
  tt_store_batch_clear(batch);
  assert_true(tt_store_batch_is_empty(batch));
  tt_testing_add_name(&batch->devices, 0, "A", NULL);
  assert_false(tt_store_batch_is_empty(batch));
  assert_int_equal(tt_store_batch_bytes(batch), sizeof(tt_store_name));
  tt_testing_add_epoch(batch, 0, 0, 0, 0, 0, "");
  assert_int_equal(tt_store_batch_bytes(batch), sizeof(tt_store_name) + sizeof(tt_store_epoch));
  tt_store_batch_free(batch);
  tt_store_batch_free(NULL);
}

/** What was reserved can be added without anything new from the machine. */
static void test_what_is_reserved_does_not_move(void **state) {
  (void)state;
  tt_store_batch *batch = tt_store_batch_new();
  assert_true(tt_store_batch_reserve(batch, 100, 1000, 10000));
  const void *samples = batch->samples.data, *values = batch->values.data, *text = batch->text.data;
  for (int i = 0; i < 100; i++) {
    tt_testing_add_sample(batch, 0, 0, i, i);
    for (int v = 0; v < 10; v++) tt_testing_add_value(batch, v, "123456789", 0);
  }
  assert_ptr_equal(batch->samples.data, samples);
  assert_ptr_equal(batch->values.data, values);
  assert_ptr_equal(batch->text.data, text);
  assert_false(tt_store_batch_reserve(batch, UINT32_MAX, 0, 0));
  assert_false(tt_store_batch_has_failed(batch));
  tt_list_add(&batch->text, text, UINT32_MAX);
  assert_true(tt_store_batch_has_failed(batch));
  tt_store_batch_free(batch);
}

static void test_messages_are_told_apart_by_what_they_say(void **state) {
  (void)state;
  tt_store_batch *batch = tt_store_batch_new();
  for (int i = 0; i < 3; i++) {
    tt_testing_add_sample(batch, 0, 0, 100 + i / 2, 0)->flags = i == 1 ? TT_SAMPLE_CONTINUES : 0;
    tt_testing_add_value(batch, 0, NULL, 1);
    tt_testing_add_value(batch, 1, "text", 0);
  }
  assert_int_equal(tt_store_message_size(batch, 0), 2);
  assert_int_equal(tt_store_message_size(batch, 2), 1);
  const uint64_t said = tt_store_content(batch, 0, 1);
  tt_list_at(&batch->samples, tt_store_sample, 0).time = 5;  // when it came is not what it says
  assert_true(tt_store_content(batch, 0, 1) == said);
  assert_true(tt_store_content(batch, 2, 1) != said);
  tt_list_at(&batch->samples, tt_store_sample, 0).thinned = 1;
  assert_true(tt_store_content(batch, 0, 1) != said);
  tt_store_batch_free(batch);
}

static void test_handling_is_copied_whole(void **state) {
  (void)state;
  char pattern[] = "Input.*";
  tt_handling copy, handling = {.pattern = pattern, .type = TT_VALUE_FLAG, .scale = 2};
  assert_true(tt_handling_copy(&copy, &handling));
  pattern[0] = 'X';
  assert_string_equal(copy.pattern, "Input.*");
  assert_null(copy.unit);
  assert_true(copy.scale == 2 && copy.type == TT_VALUE_FLAG);
  tt_handling_clear(&copy);
  assert_null(copy.pattern);
}

static void test_a_store_that_is_none_is_refused(void **state) {
  (void)state;
  static const char *const urls[] = {"mysql://x", "", "sqlite", "postgres:x", "none"};
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    tt_store *store;
    tt_error error;
    assert_int_equal(tt_store_open(&(tt_store_options){.url = urls[i]}, &store, &error),
                     TT_INVALID);
    assert_non_null(strstr(error.text, "sqlite:FILE"));
  }
}

static void test_a_database_that_would_go_with_the_program_is_refused(void **state) {
  (void)state;
  static const char *const urls[] = {"sqlite:", "sqlite::memory:"};
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    tt_store *store;
    tt_error error;
    assert_int_equal(tt_store_open(&(tt_store_options){.url = urls[i]}, &store, &error),
                     TT_INVALID);
    assert_non_null(strstr(error.text, "is no name of a file"));
  }
}

static void test_a_url_is_read_without_opening(void **state) {
  (void)state;
  const char *const cases[][2] = {
      {"sqlite:", "'' is no name of a file; give sqlite:FILE"},
      {"nats://", "no server is named"},
      {"clickhouse://h/d?foo=1", "none of tls=yes"},
      {"postgresql://h/d?foo=1", "postgresql: invalid URI query parameter: \"foo\""},
      {"sqlite:/no/folder", NULL},
      {"nats://h", NULL},
      {"clickhouse://h/d", NULL},
      {"postgresql://h/d?connect_timeout=1", NULL},
      {"none:", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tt_store_backend *backend;
    tt_error error;
    const tt_status status = tt_store_backend_of(cases[i][0], &backend, &error);
    assert_int_equal(status, cases[i][1] ? TT_INVALID : TT_OK);
    if (cases[i][1] && !strstr(error.text, cases[i][1])) fail_msg("%s", error.text);
  }
}

static void test_nothing_is_kept_where_nobody_asks_for_it(void **state) {
  (void)state;
  tt_store *store;
  tt_error error;
  assert_int_equal(tt_store_open(&(tt_store_options){.url = "none:"}, &store, &error), TT_OK);
  tt_testing_assert_loads(store, "");
  tt_testing_write(store, tt_testing_batch());
  assert_false(store->tend(store));
  assert_int_equal(store->find(store, NULL, NULL, NULL), TT_NOT_FOUND);
  tt_store_state said = {.degraded = true};
  store->state(store, &said);
  assert_false(said.degraded);
  assert_int_equal(store->backend->abilities, 0);
  assert_null(store->purge);
  assert_null(store->seal);
  assert_null(store->open_reader);
  store->hurry(store);
  store->close(store);
}

static tt_store *open_away(const char *spool) {
  // Nobody listens at port 1.
  const tt_store_options options = {
      .url = "postgresql://127.0.0.1:1/tether", .spool = spool, .spool_limit = 1 << 20};
  return tt_testing_open_by(&options);
}

/** Names that a store tells while its database is away; the second of a kind has index 1. */
static int on_name(void *context, const char *identifier, const char *name, bool *removed) {
  (void)name, (void)removed;
  g_string_append_printf(context, "%s ", identifier);
  return !strcmp(identifier, "ROBO2") || strstr(identifier, "turn");
}
static void on_epoch(void *context, const tt_store_boot *boot) {
  g_string_append_printf(context, "epoch %d ", boot->epoch.number);
}
static void on_spooled(void *context, int device, int64_t key, int64_t last_sample,
                       uint64_t content) {
  (void)device, (void)content;
  g_string_append_printf(context, "%d@%d ", (int)key, (int)last_sample);
}

static void test_a_database_that_is_away_loses_nothing(void **state) {
  (void)state;
  tt_log_set_level(TT_LOG_ERROR);
  char *spool = g_strconcat(tt_testing_file(), "-spool", NULL);
  tt_store *store = open_away(spool);
  tt_store_state said;
  store->state(store, &said);
  assert_true(said.degraded);
  assert_int_equal(said.spooled_bytes, 0);
  tt_testing_write(store, tt_testing_batch());
  store->state(store, &said);
  assert_true(said.spooled_bytes > 0);
  assert_non_null(strstr(said.reason, "127.0.0.1"));
  store->hurry(store);
  assert_false(store->tend(store));
  store->close(store);
  // Another process finds it, and knows what waits.
  store = open_away(spool);
  GString *told = g_string_new(NULL);
  tt_error error;
  const tt_store_loader loader = {.context = told,
                                  .device = on_name,
                                  .attribute = on_name,
                                  .epoch = on_epoch,
                                  .spooled = on_spooled};
  assert_int_equal(store->load(store, &loader, &error), TT_AGAIN);
  assert_string_equal(told->str,
                      "ROBO1 ROBO2 ROBO1 ROBO2 "  // what the batch needs, then what it says itself
                      "Output.drive.velocity Output.turn.heading "
                      "Output.drive.velocity Output.turn.heading "
                      "0@80000 100@80050 epoch 0 epoch 0 ");
  g_string_free(told, TRUE);
  store->close(store);
  g_unlink(spool);
  g_free(spool);
}

static void test_without_a_spool_a_database_must_be_there(void **state) {
  (void)state;
  tt_store *store;
  tt_error error;
  const tt_store_options options = {.url = "postgresql://127.0.0.1:1/tether"};
  assert_int_equal(tt_store_open(&options, &store, &error), TT_FAILED);
  assert_non_null(strstr(error.text, "127.0.0.1"));
  const tt_store_options wrong = {.url = "postgresql://127.0.0.1:1/tether?no_such_option=1"};
  assert_int_not_equal(tt_store_open(&wrong, &store, &error), TT_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_batch_is_empty_until_something_is_in_it),
      cmocka_unit_test(test_what_is_reserved_does_not_move),
      cmocka_unit_test(test_messages_are_told_apart_by_what_they_say),
      cmocka_unit_test(test_handling_is_copied_whole),
      cmocka_unit_test(test_a_store_that_is_none_is_refused),
      cmocka_unit_test(test_a_database_that_would_go_with_the_program_is_refused),
      cmocka_unit_test(test_a_url_is_read_without_opening),
      cmocka_unit_test(test_nothing_is_kept_where_nobody_asks_for_it),
      cmocka_unit_test(test_a_database_that_is_away_loses_nothing),
      cmocka_unit_test(test_without_a_spool_a_database_must_be_there),
  };
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}
