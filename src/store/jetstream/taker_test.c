/* taker_test.c: what a writer has in hand for so long that others are given it. Needs TETHER_TEST_NATS, as conformance_test.c;
 * without it all is skipped. */
#include "store/jetstream/internal.h"
#include "store/store_testing.h"

#include <nats/nats.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define PATIENCE INT64_C(60000000) /* µs */
/** More than one batch takes. */
#define SAMPLES 150000
/** Bytes that a server takes whose max_payload is greater than usual, and no piece has room for. */
#define LONG (2 << 20)

static const char *url(void) { return g_getenv("TETHER_TEST_NATS"); }

static tt_store_log *open_log(void) {
  tt_store_log *log = NULL;
  tt_error error;
  if (tt_jetstream_open_log(
          &(tt_store_log_options){.url = url(), .name = "late", .replay = INT64_MAX}, &log,
          &error) != TT_OK)
    fail_msg("%s", error.text);
  return log;
}

static void put_samples(int samples) {
  tt_store *store;
  tt_error error;
  tt_store_batch *batch = tt_testing_batch();
  if (tt_store_open(&(tt_store_options){.url = url()}, &store, &error) != TT_OK)
    fail_msg("%s", error.text);
  g_free(tt_testing_load(store));
  for (int i = 0; i < samples; i++) {
    tt_testing_add_sample(batch, 0, 0, 90000 + i, 91000 + i);
    tt_testing_add_value(batch, 0, NULL, i);
  }
  tt_testing_write(store, batch);
  store->close(store);
}

/** The server's answer; to be freed. */
static char *ask_api(const char *subject) {
  natsConnection *connection = NULL;
  natsMsg *answer = NULL;
  assert_int_equal(natsConnection_ConnectTo(&connection, url()), NATS_OK);
  assert_int_equal(natsConnection_RequestString(&answer, connection, subject, "", PATIENCE / 1000),
                   NATS_OK);
  char *text = strdup(natsMsg_GetData(answer));
  natsMsg_Destroy(answer);
  natsConnection_Destroy(connection);
  return text;
}

static void remove_by_hand(const char *subject) {
  char *answer = ask_api(subject);
  assert_non_null(strstr(answer, "\"success\":true"));
  free(answer);
}

/** Whether the server has nothing to give any more, and waits for nobody. */
static bool is_all_done(void) {
  char *answer = ask_api("$JS.API.CONSUMER.INFO.tether.late");
  const bool done = strstr(answer, "\"num_ack_pending\":0") && strstr(answer, "\"num_pending\":0");
  free(answer);
  return done;
}

static uint32_t take_some(tt_store_log *log) {
  const tt_store_batch *batch;
  tt_error error;
  tt_status status = log->take(log, PATIENCE, &batch, &error);
  if (status != TT_OK) fail_msg("%s", status == TT_AGAIN ? "nothing came" : error.text);
  return batch->samples.len;
}

/** A writer that has a batch in hand, and the next one waiting, which is all there is: its thread has asked for that once, and waited a
 *  moment. */
static bool has_next(tt_store_log *log) {
  const gint64 end = g_get_monotonic_time() + G_USEC_PER_SEC;
  assert_in_range(take_some(log), 1, SAMPLES - 1);
  while (log->state.waiting && g_get_monotonic_time() < end) log->look(log);
  return !log->state.waiting;
}

static tt_store_log *open_log_with_next(void) {
  const gint64 end = g_get_monotonic_time() + PATIENCE;
  for (;;) {
    put_samples(SAMPLES);
    tt_store_log *log = open_log();
    if (has_next(log)) return log;
    if (g_get_monotonic_time() > end) fail_msg("the next batch is not taken");
    log->close(log);
    remove_by_hand("$JS.API.STREAM.DELETE.tether");
  }
}

/** A writer whose store stands still has a batch in hand and the next one waiting. Both are given to another one, who stores them; what
 *  waited is not what comes next of the first one then. */
static void test_what_waited_until_others_had_it_is_let_go(void **state) {
  (void)state;
  tt_nats_hand_back = 3 * INT64_C(1000000000);
  tt_store_log *slow = open_log_with_next();
  const gint64 end = g_get_monotonic_time() + PATIENCE;
  tt_store_log *other = open_log();
  const tt_store_batch *batch;
  tt_error error;
  while (!is_all_done()) {  // some comes twice, where it takes longer than it is waited for
    if (g_get_monotonic_time() > end) fail_msg("not all is given to the other one");
    if (other->take(other, 100000, &batch, &error) == TT_OK)
      assert_int_equal(other->done(other, &error), TT_OK);
  }
  assert_int_equal(slow->done(slow, &error), TT_OK);
  assert_int_equal(slow->take(slow, 300000, &batch, &error), TT_AGAIN);
  other->close(other);
  slow->close(slow);
}

static void *put_later(void *context) {
  g_usleep((gulong)(tt_nats_hand_back / 1000 * 3 / 2));
  put_samples(1);
  return context;
}

/** What comes when it has been waited for for long has only just been given. */
static void test_what_comes_late_is_taken_at_once(void **state) {
  (void)state;
  tt_nats_hand_back = 3 * INT64_C(1000000000);
  tt_store_log *log = open_log();
  GThread *thread = g_thread_new("put", put_later, NULL);
  take_some(log);
  g_thread_join(thread);
  log->close(log);
  remove_by_hand("$JS.API.STREAM.DELETE.tether");
}

/** Takes until so many samples came, and says that they are done; returns how often it was told that something is wrong. */
static int take_all(tt_store_log *log, uint32_t samples) {
  const gint64 end = g_get_monotonic_time() + PATIENCE;
  const tt_store_batch *batch;
  tt_error error;
  int failures = 0;
  for (uint32_t came = 0; came < samples;) {
    const tt_status status = log->take(log, 100000, &batch, &error);
    if (g_get_monotonic_time() > end) fail_msg("%u of %u samples came", came, samples);
    failures += status != TT_OK && status != TT_AGAIN;
    if (status != TT_OK) continue;
    came += batch->samples.len;
    assert_int_equal(log->done(log, &error), TT_OK);
  }
  return failures;
}

/** Who waits for messages is not told by the server that there will be none. */
static void test_who_takes_notices_that_its_consumer_is_removed(void **state) {
  (void)state;
  tt_store_log *log = open_log();
  remove_by_hand("$JS.API.CONSUMER.DELETE.tether.late");
  assert_true(take_all(log, SAMPLES + 2) > 0);
  remove_by_hand("$JS.API.STREAM.DELETE.tether");
  const tt_store_batch *batch;
  tt_error error;
  while (log->take(log, 100000, &batch, &error) == TT_AGAIN) continue;
  put_samples(SAMPLES);
  take_all(log, SAMPLES + 2);
  log->close(log);
}

static void publish_long(void) {
  natsConnection *connection = NULL;
  jsCtx *js = NULL;
  jsErrCode code = 0;
  char *bytes = calloc(1, LONG);
  assert_int_equal(natsConnection_ConnectTo(&connection, url()), NATS_OK);
  assert_int_equal(natsConnection_JetStream(&js, connection, NULL), NATS_OK);
  assert_int_equal(js_Publish(NULL, js, "tether.log.X", bytes, LONG, NULL, &code), NATS_OK);
  jsCtx_Destroy(js);
  natsConnection_Destroy(connection);
  free(bytes);
}

/** Whoever may publish there can put what is longer than any message of a collector. */
static void test_what_is_too_long_is_passed_over(void **state) {
  (void)state;
  remove_by_hand("$JS.API.STREAM.DELETE.tether");  // it would know a message that it has
  tt_store_log *log = open_log();
  publish_long();
  publish_long();
  put_samples(1);
  assert_int_equal(take_all(log, 1 + 2), 0);
  log->close(log);
  remove_by_hand("$JS.API.STREAM.DELETE.tether");
}

int main(void) {
  if (!url()) {
    puts("skipped: needs TETHER_TEST_NATS");
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_comes_late_is_taken_at_once),
      cmocka_unit_test(test_what_waited_until_others_had_it_is_let_go),
      cmocka_unit_test(test_who_takes_notices_that_its_consumer_is_removed),
      cmocka_unit_test(test_what_is_too_long_is_passed_over)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
