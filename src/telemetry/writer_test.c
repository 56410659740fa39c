/* writer_test.c: retention beside what comes in: only what is stored is asked for, and a batch that waits goes first. */
#include "base/log.h"
#include "telemetry/collector.h"

#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DEVICES 300
#define PATIENCE INT64_C(60000000) /* µs */

static tt_collector *collector;
static atomic_int purged, needless, before_write;
static bool seen[DEVICES];

static void on_message(void *context, const tt_message *message) {
  tt_origin origin = {.request = true};
  tt_error error;
  // Runs in the writer's thread, too, where cmocka can't fail.
  g_assert(tt_collector_take(collector, message, &origin, tt_collector_now(), context, &error) ==
           TT_OK);
}

static void on_refused(void *context, const tt_message_refusal *refusal) {
  (void)context;
  g_error("%s", refusal->reason);
}

/** A message of a device has an attribute that no other has. Returns its ticket. */
static uint64_t send(int device) {
  static const tt_message_handler handler = {on_message, on_refused};
  const tt_message_limits limits = tt_message_limits_default();
  uint64_t ticket = 0;
  char text[200];
  tt_message_parser *parser = tt_message_parser_new(&limits, &handler, &ticket);
  snprintf(text, sizeof text,
           "<MESSAGE id='%d' time='1' ack='yes'><S time='1'><d a%d='1'/></S></MESSAGE>", device,
           device);
  tt_message_parser_feed(parser, text, strlen(text));
  tt_message_parser_free(parser);
  return ticket;
}

static tt_status count_purge(tt_store *store, const tt_store_purge *purge, int *removed,
                             tt_error *error) {
  (void)store, (void)error;
  *removed = 0;
  if (purge->device != purge->attribute || seen[purge->device]) atomic_fetch_add(&needless, 1);
  seen[purge->device] = true;
  if (atomic_fetch_add(&purged, 1) == 0) send(DEVICES);  // which somebody waits for
  return TT_OK;
}

static tt_status note_write(tt_store *store, const tt_store_batch *batch, tt_error *error) {
  (void)store, (void)batch, (void)error;
  if (atomic_load(&purged) && !atomic_load(&before_write))
    atomic_store(&before_write, atomic_load(&purged));
  return TT_OK;
}

static void test_what_is_old_is_removed_between_batches(void **state) {
  (void)state;
  tt_collector_options options = tt_collector_options_default();
  tt_error error;
  if (tt_store_open(&(tt_store_options){.url = "none:"}, &options.store, &error) != TT_OK)
    fail_msg("%s", error.text);
  options.store->write = note_write;
  options.store->purge = count_purge;
  if (tt_collector_new(&options, &collector, &error) != TT_OK) fail_msg("%s", error.text);
  uint64_t ticket = 0;
  for (int i = 0; i < DEVICES; i++) ticket = send(i);
  while (tt_collector_durable(collector) < ticket) g_usleep(1000);
  tt_handling handling = tt_handling_default();
  handling.pattern = "*";
  handling.retention = 60;
  if (tt_collector_set_handling(collector, &handling, &error) != TT_OK) fail_msg("%s", error.text);
  const int64_t end = g_get_monotonic_time() + PATIENCE;
  while (atomic_load(&purged) < DEVICES && g_get_monotonic_time() < end) g_usleep(1000);
  tt_collector_free(collector);
  assert_int_equal(atomic_load(&needless), 0);
  assert_in_range(atomic_load(&purged), DEVICES, DEVICES + 1);
  assert_int_equal(atomic_load(&before_write), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_old_is_removed_between_batches),
  };
  tt_log_set_level(TT_LOG_WARNING);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
