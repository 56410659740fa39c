/* writer_test.c: retention beside what comes in: what is stored is asked for, and all of one device, a batch that waits goes first, and a round
 * comes to its end whatever is told meanwhile.
 */
#include "base/log.h"
#include "telemetry/collector.h"

#include <glib.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DEVICES 300
/** What is asked for in a round: each device for what is its own, and one of them for the others', too. */
#define ROUND (2 * DEVICES - 1)
#define PATIENCE INT64_C(60000000) /* µs */

static tt_collector *collector;
static tt_store_loader loader;
static atomic_int purged, before_write;
static bool seen[DEVICES + 1];
static atomic_int seen_count;
static atomic_int
    whole; /* the device that was asked for more than there is of it; −1: none, −2: several */
static bool whole_before[DEVICES + 1];
static atomic_int whole_count;

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

static void wait_durable(uint64_t ticket) {
  while (tt_collector_durable(collector) < ticket) g_usleep(1000);
}

static void wait_for(atomic_int *count, int least) {
  const int64_t end = g_get_monotonic_time() + PATIENCE;
  while (atomic_load(count) < least && g_get_monotonic_time() < end) g_usleep(1000);
}

static tt_status keep_loader(tt_store *store, const tt_store_loader *told, tt_error *error) {
  (void)store, (void)error;
  loader = *told;
  return TT_OK;
}

/** A collector that keeps values of each device, and what purges them. */
static void begin(tt_status (*purge)(tt_store *, const tt_store_purge *, int *, tt_error *),
                  tt_status (*write)(tt_store *, const tt_store_batch *, tt_error *)) {
  tt_collector_options options = tt_collector_options_default();
  tt_error error;
  if (tt_store_open(&(tt_store_options){.url = "none:"}, &options.store, &error) != TT_OK)
    fail_msg("%s", error.text);
  options.store->load = keep_loader;
  options.store->purge = purge;
  if (write) options.store->write = write;
  atomic_store(&purged, 0);
  atomic_store(&before_write, 0);
  atomic_store(&seen_count, 0);
  atomic_store(&whole, -1);
  memset(seen, 0, sizeof seen);
  if (tt_collector_new(&options, &collector, &error) != TT_OK) fail_msg("%s", error.text);
  uint64_t ticket = 0;
  for (int i = 0; i < DEVICES; i++) ticket = send(i);
  wait_durable(ticket);
}

static void note_seen(int device) {
  if (!seen[device]) atomic_fetch_add(&seen_count, 1);
  seen[device] = true;
}

static void note_whole(int device) {
  const int before = atomic_load(&whole);
  atomic_store(&whole, before == -1 || before == device ? device : -2);
}

/** As a store does that others have told. */
static void tell_retention(double retention) {
  tt_list all = tt_handling_list();
  tt_handling handling = tt_handling_default();
  handling.pattern = "*";
  handling.retention = retention;
  g_assert(tt_store_add_handling(&all, &handling));
  loader.handlings(loader.context, &all);
  tt_list_free(&all);
}

/* --- what is stored, and what waits --- */

static tt_status count_purge(tt_store *store, const tt_store_purge *purge, int *removed,
                             tt_error *error) {
  (void)store, (void)error;
  *removed = 0;
  if (purge->device == purge->attribute)
    note_seen(purge->device);
  else
    note_whole(purge->device);
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
  tt_error error;
  begin(count_purge, note_write);
  tt_handling handling = tt_handling_default();
  handling.pattern = "*";
  handling.retention = 60;
  if (tt_collector_set_handling(collector, &handling, &error) != TT_OK) fail_msg("%s", error.text);
  wait_for(&purged, ROUND);
  tt_collector_free(collector);
  assert_in_range(atomic_load(&whole), 0, DEVICES);
  assert_in_range(atomic_load(&purged), ROUND, ROUND + 2);
  assert_int_equal(atomic_load(&before_write), 1);
}

/** Each device has more than one step removes. */
static tt_status purge_in_steps(tt_store *store, const tt_store_purge *purge, int *removed,
                                tt_error *error) {
  static int device, steps;  // of the one in hand
  (void)store, (void)error;
  *removed = 0;
  if (purge->device != device) steps = 0;
  device = purge->device;
  if (++steps < 3) return TT_AGAIN;
  note_seen(device);
  return TT_OK;
}

static void test_a_round_removes_all_that_is_old(void **state) {
  (void)state;
  begin(purge_in_steps, NULL);
  tell_retention(60);
  wait_for(&seen_count, DEVICES);
  tt_collector_free(collector);
  assert_int_equal(atomic_load(&seen_count), DEVICES);
}

/** With each round begins the next. */
static tt_status purge_again(tt_store *store, const tt_store_purge *purge, int *removed,
                             tt_error *error) {
  (void)store, (void)error;
  *removed = 0;
  const int count = atomic_fetch_add(&purged, 1);
  if (count % ROUND == 0) tell_retention(61 + count % 2);
  if (purge->device == purge->attribute || whole_before[purge->device]) return TT_OK;
  whole_before[purge->device] = true;
  atomic_fetch_add(&whole_count, 1);
  return TT_OK;
}

static void test_each_device_is_asked_for_all_in_turn(void **state) {
  enum { ROUNDS = 12 };
  (void)state;
  begin(purge_again, NULL);
  tell_retention(60);
  wait_for(&purged, ROUNDS * ROUND);
  tt_collector_free(collector);
  const int rounds = atomic_load(&purged) / ROUND;
  assert_in_range(rounds, ROUNDS, ROUNDS + 1);
  assert_in_range(atomic_load(&whole_count), rounds, rounds + 1);  // the last may have begun
}

/* --- what is told meanwhile --- */

/** With each step others change something, and a batch comes, so that the rest is left to the next turn. */
static tt_status tell_and_purge(tt_store *store, const tt_store_purge *purge, int *removed,
                                tt_error *error) {
  (void)store, (void)error;
  *removed = 0;
  note_seen(purge->device);
  tell_retention(61 + atomic_fetch_add(&purged, 1) % 2);
  send(0);
  return TT_OK;
}

static void test_a_round_comes_to_its_end(void **state) {
  (void)state;
  begin(tell_and_purge, NULL);
  tell_retention(60);
  wait_for(&seen_count, DEVICES);
  wait_for(&purged, 2 * ROUND);  // what was told is done, too
  tt_collector_free(collector);
  assert_int_equal(atomic_load(&seen_count), DEVICES);
  assert_in_range(atomic_load(&purged), 2 * ROUND, INT_MAX);
}

static tt_status only_purge(tt_store *store, const tt_store_purge *purge, int *removed,
                            tt_error *error) {
  (void)store, (void)error;
  *removed = 0;
  note_seen(purge->device);
  atomic_fetch_add(&purged, 1);
  return TT_OK;
}

static void test_what_was_told_before_begins_no_round(void **state) {
  (void)state;
  begin(only_purge, NULL);
  tell_retention(60);
  wait_for(&purged, ROUND);
  tell_retention(60);
  wait_durable(send(0));
  wait_durable(send(0));  // so the turn of the one before is over
  const int in_all = atomic_load(&purged);
  tt_collector_free(collector);
  assert_int_equal(in_all, ROUND);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_old_is_removed_between_batches),
      cmocka_unit_test(test_a_round_removes_all_that_is_old),
      cmocka_unit_test(test_each_device_is_asked_for_all_in_turn),
      cmocka_unit_test(test_a_round_comes_to_its_end),
      cmocka_unit_test(test_what_was_told_before_begins_no_round),
  };
  tt_log_set_level(TT_LOG_WARNING);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
