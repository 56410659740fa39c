/* intake_test.c: a store that answers slowly what it is asked, while devices come. */
#include "base/log.h"
#include "telemetry/collector.h"

#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DEVICES 20
#define ANSWER 200000 /* µs */

static int asked;

static tt_status find_slowly(tt_store *store, const tt_store_question *question, tt_list *boots,
                             int64_t *key) {
  (void)store, (void)question, (void)boots, (void)key;
  asked++;
  g_usleep(ANSWER);
  return TT_NOT_FOUND;
}

static void on_message(void *context, const tt_message *message) {
  tt_origin origin = {.request = true};
  uint64_t ticket;
  tt_error error;
  if (tt_collector_take(context, message, &origin, tt_collector_now(), &ticket, &error) != TT_OK)
    fail_msg("%s", error.text);
}

static void on_refused(void *context, const tt_message_refusal *refusal) {
  (void)context;
  fail_msg("%s", refusal->reason);
}

/** The first messages of devices that have moved here, of each of which the store is asked. Returns how long they took, µs. */
static int64_t take_all(void) {
  static const tt_message_handler handler = {on_message, on_refused};
  const tt_message_limits limits = tt_message_limits_default();
  tt_collector_options options = tt_collector_options_default();
  tt_collector *collector;
  tt_error error;
  char text[200];
  if (tt_store_open(&(tt_store_options){.url = "none:"}, &options.store, &error) != TT_OK)
    fail_msg("%s", error.text);
  options.store->find = find_slowly;
  if (tt_collector_new(&options, &collector, &error) != TT_OK) fail_msg("%s", error.text);
  tt_message_parser *parser = tt_message_parser_new(&limits, &handler, collector);
  asked = 0;
  const int64_t begun = g_get_monotonic_time();
  for (int i = 0; i < DEVICES; i++) {
    snprintf(text, sizeof text, "<MESSAGE id='%d' time='1'><S time='1'><d v='1'/></S></MESSAGE>",
             i);
    tt_message_parser_feed(parser, text, strlen(text));
  }
  const int64_t took = g_get_monotonic_time() - begun;
  tt_message_parser_free(parser);
  tt_collector_free(collector);
  return took;
}

static void test_a_slow_answer_is_not_waited_for_each_time(void **state) {
  (void)state;
  const int64_t took = take_all();
  assert_in_range(asked, 1, 1 + took / (10 * ANSWER));  // however slow this machine is
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_slow_answer_is_not_waited_for_each_time),
  };
  tt_log_set_level(TT_LOG_WARNING);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
