/* writer_test.c: retention beside what comes in: only what is stored is asked for, and behind a log of one device what was removed, a batch
 * that waits goes first, and a round comes to its end whatever is told meanwhile, also where the database is away for a while.
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

#define DEVICES (300 / TETHER_FEWER)
#define PATIENCE INT64_C(60000000) /* µs */

static tt_collector *collector;
static tt_store_loader loader;
static atomic_int purged, before_write;
static bool seen[DEVICES + 1];
static atomic_int seen_count;
static atomic_int needless; /* asked for though nothing says that there are any */

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

static atomic_bool away; /* the database */

static tt_status keep_loader(tt_store *store, const tt_store_loader *told, tt_error *error) {
  (void)store, (void)error;
  loader = *told;
  return atomic_load(&away) ? TT_AGAIN : TT_OK;
}

#define AWAY_TIME 500000 /* µs */

static int64_t away_until;
static atomic_int tends, asked_away, tended_away, hurried_away;

static bool tend_link(tt_store *store) {
  (void)store;
  atomic_fetch_add(&tends, 1);
  if (!atomic_load(&away)) return false;
  atomic_fetch_add(&tended_away, 1);
  if (g_get_monotonic_time() >= away_until) atomic_store(&away, false);
  return false;
}

static bool (*tend)(tt_store *) = tend_link;

static void tell_away(tt_store *store, tt_store_state *state) {
  (void)store;
  *state = (tt_store_state){.degraded = atomic_load(&away)};
}

static atomic_int takes; /* of a log */

static _Atomic(const tt_store_batch *) in_log;

/** A log in which hardly anything comes. */
static tt_status take_one(tt_store_log *log, int64_t patience, const tt_store_batch **batch,
                          tt_error *error) {
  (void)log, (void)error;
  *batch = atomic_exchange(&in_log, NULL);
  if (*batch) return TT_OK;
  atomic_fetch_add(&takes, 1);
  if (!patience && atomic_load(&away)) atomic_fetch_add(&hurried_away, 1);
  g_usleep((gulong)MIN(patience, 1000));
  return TT_AGAIN;
}

static tt_status note_done(tt_store_log *log, tt_error *error) {
  (void)log, (void)error;
  return TT_OK;
}

static void look(tt_store_log *log) { (void)log; }

static bool is_there(tt_store_log *log) {
  (void)log;
  return true;
}

static void close_log(tt_store_log *log) { (void)log; }

static tt_store_log silent = {
    .take = take_one, .done = note_done, .look = look, .is_there = is_there, .close = close_log};

/** A collector whose store is purged so. */
static void open_collector(tt_store_log *log,
                           tt_status (*purge)(tt_store *, const tt_store_purge *, int *,
                                              tt_error *),
                           tt_status (*write)(tt_store *, const tt_store_batch *, tt_error *)) {
  tt_collector_options options = tt_collector_options_default();
  tt_error error;
  if (tt_store_open(&(tt_store_options){.url = "none:"}, &options.store, &error) != TT_OK)
    fail_msg("%s", error.text);
  options.log = log;
  options.store->load = keep_loader;
  options.store->purge = purge;
  options.store->tend = tend;
  options.store->state = tell_away;
  if (write) options.store->write = write;
  atomic_store(&purged, 0);
  atomic_store(&before_write, 0);
  atomic_store(&seen_count, 0);
  atomic_store(&needless, 0);
  memset(seen, 0, sizeof seen);
  if (tt_collector_new(&options, &collector, &error) != TT_OK) fail_msg("%s", error.text);
}

/** One that keeps values of each device. */
static void begin(tt_status (*purge)(tt_store *, const tt_store_purge *, int *, tt_error *),
                  tt_status (*write)(tt_store *, const tt_store_batch *, tt_error *)) {
  open_collector(NULL, purge, write);
  uint64_t ticket = 0;
  for (int i = 0; i < DEVICES; i++) ticket = send(i);
  wait_durable(ticket);
}

static void note_seen(int device) {
  if (!seen[device]) atomic_fetch_add(&seen_count, 1);
  seen[device] = true;
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

static void tell_name(bool is_device, int index, bool removed) {
  char identifier[16];
  snprintf(identifier, sizeof identifier, is_device ? "%d" : "S.d.a%d", index);
  (is_device ? loader.device : loader.attribute)(loader.context, identifier, NULL, &removed);
}

/* --- what is stored, and what waits --- */

static tt_status count_purge(tt_store *store, const tt_store_purge *purge, int *removed,
                             tt_error *error) {
  (void)store, (void)error;
  *removed = 0;
  if (purge->device != purge->attribute) atomic_fetch_add(&needless, 1);
  note_seen(purge->device);
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
  wait_for(&purged, DEVICES);
  tt_collector_free(collector);
  assert_int_equal(atomic_load(&needless), 0);
  assert_in_range(atomic_load(&purged), DEVICES, DEVICES + 1);
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

/** Of one attribute something can't be removed of one device. */
static tt_status fail_once(tt_store *store, const tt_store_purge *purge, int *removed,
                           tt_error *error) {
  (void)store;
  *removed = 0;
  if (purge->attribute != 1) return TT_OK;
  note_seen(purge->device);
  return purge->device == 1 ? tt_fail(error, TT_FAILED, "it takes too long") : TT_OK;
}

static void keep_line(void *context, tt_log_level level, const char *text) {
  char *line = context;
  if (level == TT_LOG_WARNING && !*line) g_strlcpy(line, text, 200);
}

static void test_devices_behind_one_that_fails_are_asked(void **state) {
  (void)state;
  char line[200] = "";
  tt_log_set_sink(keep_line, line);
  begin(fail_once, NULL);
  for (int i = 0; i < DEVICES; i++) loader.pair(loader.context, i, 1);
  tell_retention(60);
  wait_for(&seen_count, DEVICES);
  tt_collector_free(collector);
  tt_log_set_sink(NULL, NULL);
  assert_non_null(strstr(line, "old values of S.d.a1 of device 1: it takes too long"));
  assert_int_equal(atomic_load(&seen_count), DEVICES);
}

/* --- a database that goes away --- */

/** It takes too long with one device, and then nobody can be asked for a while. */
static tt_status lose_link(tt_store *store, const tt_store_purge *purge, int *removed,
                           tt_error *error) {
  (void)store;
  *removed = 0;
  if (atomic_load(&away)) {
    atomic_fetch_add(&asked_away, 1);
    return TT_AGAIN;
  }
  note_seen(purge->device);
  if (purge->device != 1 || away_until) return TT_OK;
  atomic_store(&away, true);
  away_until = g_get_monotonic_time() + AWAY_TIME;
  return tt_fail(error, TT_FAILED, "it takes too long");
}

/** Of each device there are values of an attribute that no other has. */
static void tell_pairs(void) {
  for (int i = 0; i < DEVICES; i++) {
    tell_name(true, i, false);
    tell_name(false, i, false);
    loader.pair(loader.context, i, i);
  }
}

static void lose_it_with(tt_store_log *log) {
  away_until = 0;
  atomic_store(&takes, 0);
  atomic_store(&tends, 0);
  atomic_store(&asked_away, 0);
  atomic_store(&tended_away, 0);
  open_collector(log, lose_link, NULL);
  wait_for(&tends, 1);
  tell_pairs();
  tell_retention(60);
  wait_for(&seen_count, DEVICES);
  tt_collector_free(collector);
  assert_int_equal(atomic_load(&seen_count), DEVICES);
  assert_in_range(atomic_load(&asked_away), 1, atomic_load(&tended_away) + 1);
}

static void test_what_is_old_waits_for_a_database_that_is_away(void **state) {
  (void)state;
  lose_it_with(NULL);
  assert_in_range(atomic_load(&tended_away), 1, 20);  // at leisure
  lose_it_with(&silent);
  assert_int_equal(atomic_load(&hurried_away), 0);
}

/* --- names that were removed behind a log --- */

#define REMOVED 7 /* an attribute */
#define ALL_OF 8  /* a device that was removed, and is used again */

static atomic_bool asked_of_removed[DEVICES], asked_of_all[DEVICES];
static atomic_int of_removed, of_all, rounds, in_all;
static double kept;               /* s */
static int failing_once = -1;     /* a device of which what was removed can't be asked for once */
static int failing[2] = {-1, -1}; /* …whose own values can't be removed */

static void note_asked(atomic_bool *asked, atomic_int *count) {
  if (!atomic_exchange(asked, true)) atomic_fetch_add(count, 1);
  atomic_fetch_add(&in_all, 1);
}

/** With each round begins the next, in which values are kept longer. */
static tt_status purge_again(tt_store *store, const tt_store_purge *purge, int *removed,
                             tt_error *error) {
  (void)store, (void)error;
  *removed = 0;
  if (purge->device == 0 && purge->attribute == 0)
    tell_retention(kept + 0.001 * (1 + atomic_fetch_add(&rounds, 1)));
  if (purge->attribute == REMOVED) note_asked(&asked_of_removed[purge->device], &of_removed);
  if (purge->device == ALL_OF) note_asked(&asked_of_all[purge->attribute], &of_all);
  if (purge->attribute != REMOVED && purge->device != ALL_OF)
    atomic_fetch_add(&needless, purge->device != purge->attribute);
  const bool own = purge->device == purge->attribute;
  const bool once = purge->attribute == REMOVED && purge->device == failing_once;
  if (once) failing_once = -1;
  if (once || (own && (purge->device == failing[0] || purge->device == failing[1])))
    return tt_fail(error, TT_FAILED, "the connection is lost");
  return TT_OK;
}

/** Behind a log there are values of each device, but of one attribute, and of one device, nothing says so. */
static void remove_behind_a_log(double retention) {
  kept = retention;
  atomic_store(&of_removed, 0);
  atomic_store(&of_all, 0);
  atomic_store(&rounds, 0);
  atomic_store(&in_all, 0);
  memset(asked_of_removed, 0, sizeof asked_of_removed);
  memset(asked_of_all, 0, sizeof asked_of_all);
  atomic_store(&tends, 0);
  open_collector(&silent, purge_again, NULL);
  wait_for(&tends, 1);  // what is told before its thread begins waits half a minute
  tell_pairs();
  tell_name(false, REMOVED, true);
  tell_name(true, ALL_OF, true);
  tell_name(true, ALL_OF, false);
  tell_retention(retention);
}

/** What is asked: of each device for the one, which is one of all of the other. */
#define ONCE (2 * DEVICES)

static void wait_rounds(int more) { wait_for(&rounds, atomic_load(&rounds) + more); }

static void test_what_was_removed_behind_a_log_is_asked_for(void **state) {
  (void)state;
  remove_behind_a_log(1e6);
  wait_for(&of_removed, DEVICES);
  wait_for(&of_all, DEVICES);
  wait_rounds(2 * DEVICES);  // in which nobody is asked again
  assert_int_equal(atomic_load(&in_all), ONCE);
  tell_name(false, REMOVED, false);
  tell_name(false, REMOVED, true);
  wait_rounds(2 * DEVICES);
  assert_int_equal(atomic_load(&in_all), 2 * ONCE);
  tell_retention(1e5);  // what was not old is now
  wait_rounds(2 * DEVICES);
  assert_int_equal(atomic_load(&in_all), 3 * ONCE);
  tt_collector_free(collector);
  assert_int_equal(atomic_load(&of_removed), DEVICES);
  assert_int_equal(atomic_load(&of_all), DEVICES);
  assert_int_equal(atomic_load(&needless), 0);
  assert_in_range(atomic_load(&rounds), DEVICES, INT_MAX);  // one device in each
}

/** Somebody who hasn't heard that it was removed has said it. */
static void say_late(int device, int attribute) {
  char identifier[2][16];
  snprintf(identifier[0], sizeof identifier[0], "%d", device);
  snprintf(identifier[1], sizeof identifier[1], "S.d.a%d", attribute);
  tt_store_batch *batch = tt_store_batch_new();
  tt_store_add_name(&batch->devices, 0, identifier[0], NULL, TT_NAME_KNOWN);
  tt_store_add_name(&batch->attributes, 0, identifier[1], NULL, TT_NAME_KNOWN);
  tt_list_add(&batch->samples, &(tt_store_sample){.count = 1}, 1);
  tt_list_add(&batch->values, &(tt_store_value){.text = TT_STORE_NUMBER, .number = 1}, 1);
  atomic_store(&in_log, batch);
  wait_rounds(3 * DEVICES);
  assert_null(atomic_load(&in_log));
  tt_store_batch_free(batch);
}

static void test_what_comes_behind_its_removal_is_asked_for(void **state) {
  (void)state;
  remove_behind_a_log(1e6);
  wait_rounds(2 * DEVICES);
  assert_int_equal(atomic_load(&in_all), ONCE);
  say_late(3, REMOVED);
  assert_int_equal(atomic_load(&in_all), 2 * ONCE);
  say_late(ALL_OF, 3);
  assert_int_equal(atomic_load(&in_all), 3 * ONCE);
  say_late(3, 3);  // of which it is known
  assert_int_equal(atomic_load(&in_all), 3 * ONCE);
  tt_collector_free(collector);
}

/** It becomes old while we run. */
static void test_what_was_removed_is_asked_for_again(void **state) {
  (void)state;
  remove_behind_a_log(0.5);
  wait_for(&in_all, 3 * ONCE);
  tt_collector_free(collector);
  assert_in_range(atomic_load(&in_all), 3 * ONCE, INT_MAX);
}

static void test_what_failed_is_asked_for_again(void **state) {
  (void)state;
  failing_once = 3;
  remove_behind_a_log(1e6);
  wait_rounds(3 * DEVICES);
  tt_collector_free(collector);
  assert_int_equal(failing_once, -1);
  assert_int_equal(atomic_load(&in_all), ONCE + 1);
}

/** Of them each second round asks only for what is behind that. The turn of one of both comes in such a round. */
static void test_what_was_removed_is_asked_for_of_who_fails(void **state) {
  (void)state;
  failing[0] = 20;
  failing[1] = 22;
  remove_behind_a_log(1e6);
  wait_rounds(3 * DEVICES);
  tt_collector_free(collector);
  failing[0] = failing[1] = -1;
  assert_int_equal(atomic_load(&of_removed), DEVICES);
}

/* --- a device that is too much for the database --- */

#define SLOW 1           /* a device… */
#define ATTRIBUTES 20    /* …of so many, behind its own */
#define SLOW_TIME 600000 /* µs */

static atomic_int slow_asked, hurried;

/** Fails with each attribute. With each round begins the next. */
static tt_status fail_always(tt_store *store, const tt_store_purge *purge, int *removed,
                             tt_error *error) {
  (void)store;
  *removed = 0;
  if (purge->device == DEVICES - 1)
    tell_retention(1e6 + 0.001 * (1 + atomic_fetch_add(&rounds, 1)));
  if (purge->device != SLOW) return TT_OK;
  atomic_fetch_add(&slow_asked, 1);
  if (!atomic_exchange(&asked_of_all[purge->attribute], true)) atomic_fetch_add(&of_all, 1);
  return tt_fail(error, TT_FAILED, "it takes too long");
}

static void test_a_device_that_fails_does_so_once_in_a_round(void **state) {
  (void)state;
  atomic_store(&of_all, 0);
  atomic_store(&rounds, 0);
  atomic_store(&tends, 0);
  atomic_store(&slow_asked, 0);
  memset(asked_of_all, 0, sizeof asked_of_all);
  open_collector(&silent, fail_always, NULL);
  wait_for(&tends, 1);
  tell_pairs();
  for (int i = 0; i < ATTRIBUTES; i++) loader.pair(loader.context, SLOW, SLOW + i);
  tell_retention(1e6);
  wait_for(&of_all, ATTRIBUTES);
  tt_collector_free(collector);
  assert_int_equal(atomic_load(&of_all), ATTRIBUTES);
  assert_in_range(atomic_load(&slow_asked), ATTRIBUTES, atomic_load(&rounds) + 1);
}

/** Says this one after the other, and takes its time for each. */
static const tt_status slow_says[] = {TT_AGAIN, TT_OK, TT_FAILED};

#define SLOW_STEPS (int)(sizeof slow_says / sizeof *slow_says)

static tt_status take_long(tt_store *store, const tt_store_purge *purge, int *removed,
                           tt_error *error) {
  static int64_t since; /* 0: the last one was quick */
  (void)store;
  *removed = 0;
  if (since && g_get_monotonic_time() - since < 4 * SLOW_TIME) atomic_fetch_add(&hurried, 1);
  since = 0;
  const bool over = atomic_load(&slow_asked) == SLOW_STEPS;
  if (over) note_seen(purge->device);
  if (over || purge->device != SLOW) return TT_OK;
  const tt_status says = slow_says[atomic_fetch_add(&slow_asked, 1)];
  since = g_get_monotonic_time();
  g_usleep(SLOW_TIME);
  return says == TT_FAILED ? tt_fail(error, says, "it takes too long") : says;
}

static void test_what_takes_long_leaves_time_for_the_rest(void **state) {
  (void)state;
  atomic_store(&tends, 0);
  atomic_store(&slow_asked, 0);
  atomic_store(&hurried, 0);
  open_collector(NULL, take_long, NULL);
  wait_for(&tends, 1);
  tell_pairs();
  for (int i = 0; i < SLOW_STEPS; i++) loader.pair(loader.context, SLOW, SLOW + i);
  tell_retention(1e6);
  wait_for(&slow_asked, SLOW_STEPS);
  wait_for(&seen_count, 1);
  tt_collector_free(collector);
  assert_int_equal(atomic_load(&slow_asked), SLOW_STEPS);
  assert_in_range(atomic_load(&seen_count), 1, DEVICES);
  assert_int_equal(atomic_load(&hurried), 0);
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
  wait_for(&purged, 2 * DEVICES);  // what was told is done, too
  tt_collector_free(collector);
  assert_int_equal(atomic_load(&seen_count), DEVICES);
  assert_in_range(atomic_load(&purged), 2 * DEVICES, INT_MAX);
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
  wait_for(&purged, DEVICES);
  tell_retention(60);
  wait_durable(send(0));
  wait_durable(send(0));  // so the turn of the one before is over
  const int in_all = atomic_load(&purged);
  tt_collector_free(collector);
  assert_int_equal(in_all, DEVICES);
}

static atomic_int by_old; /* what is asked for by what was told before the database went away */

/** As soon as it is away others tell that values are kept for longer. */
static tt_status change_while_away(tt_store *store, const tt_store_purge *purge, int *removed,
                                   tt_error *error) {
  const int64_t new_least = g_get_real_time() - 1000 * INT64_C(1000000);
  const bool told = away_until, asked = !atomic_load(&away);
  const tt_status status = lose_link(store, purge, removed, error);
  if (status == TT_FAILED) tell_retention(kept);
  if (told && asked && purge->before > new_least) atomic_fetch_add(&by_old, 1);
  if (status == TT_OK && purge->device == DEVICES - 1) atomic_fetch_add(&rounds, 1);
  return status;
}

/** 0: for ever. */
static void keep_longer(double retention) {
  kept = retention;
  away_until = 0;
  atomic_store(&tends, 0);
  atomic_store(&by_old, 0);
  atomic_store(&rounds, 0);
  atomic_store(&tended_away, 0);
  open_collector(NULL, change_while_away, NULL);
  wait_for(&tends, 1);
  tell_pairs();
  tell_retention(60);
  wait_for(&tended_away, 1);
  while (atomic_load(&away)) g_usleep(1000);
}

static void test_a_round_keeps_what_is_kept_longer_meanwhile(void **state) {
  (void)state;
  keep_longer(1e5);
  wait_for(&rounds, 1);
  tt_collector_free(collector);
  assert_int_equal(atomic_load(&by_old), 0);
  assert_int_equal(atomic_load(&seen_count), DEVICES);
  keep_longer(0);
  wait_for(&tends, atomic_load(&tends) + 3);  // in which nothing is asked for
  tell_retention(1e5);
  wait_for(&rounds, 1);
  tt_collector_free(collector);
  assert_int_equal(atomic_load(&by_old), 0);
}

/* --- a clock that is ahead when the database is away at the start --- */

#define RETENTION (30 * 86400)                /* s */
#define AHEAD (35 * 86400 * INT64_C(1000000)) /* µs */

static int64_t newest;             /* µs UTC, of what is stored */
static atomic_int removing_newest; /* how often that was too old */

/** When it is back it says what is stored, as one does that is loaded then. */
static tt_status remove_when_back(tt_store *store, const tt_store_purge *purge, int *removed,
                                  tt_error *error) {
  (void)store, (void)error;
  *removed = 0;
  if (atomic_load(&away)) {
    atomic_fetch_add(&asked_away, 1);
    return TT_AGAIN;
  }
  if (purge->before > newest) atomic_fetch_add(&removing_newest, 1);
  note_seen(purge->device);
  return TT_OK;
}

static bool tell_newest_when_back(tt_store *store) {
  (void)store;
  atomic_fetch_add(&tends, 1);
  if (!atomic_load(&asked_away) || !atomic_exchange(&away, false)) return false;
  const tt_store_boot boot = {
      .epoch = {.key = 99, .anchor = newest}, .has_sample = true, .time = newest};
  loader.epoch(loader.context, &boot);
  return false;
}

static void test_a_round_that_waited_goes_by_what_is_stored(void **state) {
  (void)state;
  newest = g_get_real_time() - AHEAD;
  atomic_store(&removing_newest, 0);
  atomic_store(&asked_away, 0);
  atomic_store(&tends, 0);
  atomic_store(&away, true);
  tend = tell_newest_when_back;
  open_collector(NULL, remove_when_back, NULL);
  wait_for(&tends, 1);
  tell_pairs();
  tell_retention(RETENTION);
  wait_for(&seen_count, DEVICES);
  tt_collector_free(collector);
  tend = tend_link;
  assert_in_range(atomic_load(&asked_away), 1, INT_MAX);
  assert_int_equal(atomic_load(&seen_count), DEVICES);
  assert_int_equal(atomic_load(&removing_newest), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_old_is_removed_between_batches),
      cmocka_unit_test(test_a_round_removes_all_that_is_old),
      cmocka_unit_test(test_devices_behind_one_that_fails_are_asked),
      cmocka_unit_test(test_what_is_old_waits_for_a_database_that_is_away),
      cmocka_unit_test(test_what_was_removed_behind_a_log_is_asked_for),
      cmocka_unit_test(test_what_comes_behind_its_removal_is_asked_for),
      cmocka_unit_test(test_what_was_removed_is_asked_for_again),
      cmocka_unit_test(test_what_failed_is_asked_for_again),
      cmocka_unit_test(test_what_was_removed_is_asked_for_of_who_fails),
      cmocka_unit_test(test_a_device_that_fails_does_so_once_in_a_round),
      cmocka_unit_test(test_what_takes_long_leaves_time_for_the_rest),
      cmocka_unit_test(test_a_round_comes_to_its_end),
      cmocka_unit_test(test_what_was_told_before_begins_no_round),
      cmocka_unit_test(test_a_round_keeps_what_is_kept_longer_meanwhile),
      cmocka_unit_test(test_a_round_that_waited_goes_by_what_is_stored),
  };
  tt_log_set_level(TT_LOG_WARNING);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
