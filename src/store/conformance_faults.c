/* conformance_faults.c: killed at any moment, and without room: what was acknowledged is there, once. */
#include "store/conformance.h"

#include "base/clock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/** A message of two samples, by its number. */
static tt_store_batch *message(int number) {
  tt_store_batch *batch = number ? tt_store_batch_new() : tt_testing_batch();
  const int64_t time = 100000 + 10 * (int64_t)number;
  if (number) tt_testing_add_epoch(batch, 0, 0, 1000, 900, 1100, "");
  tt_testing_add_sample(batch, 0, 0, time, time + 1000);
  tt_testing_add_value(batch, 0, NULL, number);
  tt_testing_add_sample(batch, 0, 0, time + 5, time + 1005)->flags = TT_SAMPLE_CONTINUES;
  tt_testing_add_value(batch, 1, "second", 0);
  return batch;
}

/** What is read where so many messages are stored. */
static char *stored(int count) {
  GString *text = g_string_new(TT_TESTING_ROBO1);
  for (int i = 0; i < count; i++) {
    const int time = 100000 + 10 * i;
    g_string_append_printf(text, "%d %d 0=%d\n%d %d 1='second'\n", time, time + 1000, i, time + 5,
                           time + 1005);
  }
  return g_string_free(text, FALSE);
}

/** Messages that are stored: each whole, once, none missing before the last. */
static int count_stored(void) {
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  char *text = tt_testing_read(store, 0, 0, INT64_MIN, INT64_MAX, NULL, 0);
  store->close(store);
  int lines = 0;
  for (const char *at = text; (at = strchr(at, '\n')); at++) lines++;
  char *expected = lines ? stored((lines - 1) / 2) : g_strdup("");
  assert_string_equal(text, expected);
  g_free(expected);
  g_free(text);
  return lines ? (lines - 1) / 2 : 0;
}

/* --- killed --- */

/** The process that is killed: writes messages from a number on, and says the number of each that is stored. */
static void write_until_killed(int said, int number) {
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  for (;; number++) {
    tt_store_batch *batch = message(number);
    tt_error error;
    if (store->write(store, batch, &error) != TT_OK) _exit(1);
    tt_store_batch_free(batch);
    if (write(said, &number, sizeof number) != sizeof number) _exit(1);
    while (store->tend(store)) continue;
  }
}

static void test_killed_at_any_moment(void **state) {
  (void)state;
  const int kills = g_getenv("TETHER_LONG") ? 300 : 12;
  int next = 0;
  srand(7);
  for (int kill_number = 0; kill_number < kills; kill_number++) {
    int pipes[2], number, acknowledged = next - 1;
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
      close(pipes[0]);
      write_until_killed(pipes[1], next ? next - 1 : 0);  // the last one once more
    }
    close(pipes[1]);
    if (read(pipes[0], &number, sizeof number) == sizeof number)
      acknowledged = MAX(acknowledged, number);
    usleep((useconds_t)(rand() % 20000));
    kill(child, SIGKILL);
    while (read(pipes[0], &number, sizeof number) == sizeof number)
      acknowledged = MAX(acknowledged, number);
    close(pipes[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    next = count_stored();
    assert_true(next > acknowledged);
  }
  assert_true(next > 0);
}

/* --- no room --- */

/** Many samples, as one batch, by its number. */
static tt_store_batch *large_batch(int number) {
  tt_store_batch *batch = number ? tt_store_batch_new() : tt_testing_batch();
  for (int i = 0; i < 5000; i++) {
    const int64_t time = 100000 + 5000 * (int64_t)number + i;
    tt_testing_add_sample(batch, 0, 0, time, time + 1000);
    tt_testing_add_value(batch, 0, NULL, (double)time);
    tt_testing_add_value(batch, 1, "a text that takes room", 0);
  }
  return batch;
}

static bool is_degraded(tt_store *store) {
  tt_store_state now;
  store->state(store, &now);
  if (now.degraded) assert_true(*now.reason);
  return now.degraded;
}

static tt_status try_write(tt_store *store, int number) {
  tt_error error;
  tt_store_batch *batch = large_batch(number);
  tt_status status = store->write(store, batch, &error);
  tt_store_batch_free(batch);
  return status;
}

static void test_a_full_disk(void **state) {
  (void)state;
  const tt_store_place *place = tt_testing_place();
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  assert_true(place->fill_disk(tt_testing_url(), true));
  int count = 0;
  bool refused = false;
  for (; count < 200 && !refused && !is_degraded(store); count += !refused)
    refused = try_write(store, count) != TT_OK;
  assert_true(is_degraded(store));
  assert_true(place->fill_disk(tt_testing_url(), false));
  const int64_t end = tt_monotonic_us() + 30000000;
  while (refused && try_write(store, count) != TT_OK && tt_monotonic_us() < end) usleep(20000);
  count += refused;
  while (is_degraded(store) && tt_monotonic_us() < end) {
    store->tend(store);
    usleep(20000);
  }
  assert_false(is_degraded(store));
  const tt_store_range range = {
      .device_from = 100000, .device_to = INT64_MAX, .from = INT64_MIN, .to = INT64_MAX};
  tt_store_reader *reader;
  tt_error error;
  assert_int_equal(store->open_reader(store, &reader, &error), TT_OK);
  char *text = tt_testing_read_range(reader, &range);
  reader->close(reader);
  int lines = 0;
  for (const char *at = text; *at; at = strchr(at, '\n') + 1) {
    char *expected = g_strdup_printf("%d %d 0=%d 1='a text that takes room'\n", 100000 + lines,
                                     101000 + lines, 100000 + lines);
    if (!g_str_has_prefix(at, expected)) fail_msg("no %s", expected);
    g_free(expected);
    lines++;
  }
  assert_int_equal(lines, 5000 * count);
  g_free(text);
  store->close(store);
}

static bool has_a_disk(const tt_store_place *place) { return place->fill_disk; }

const tt_store_case tt_store_faults_cases[] = {
    {"killed at any moment", test_killed_at_any_moment, TT_STORE_READS, NULL},
    {"a full disk", test_a_full_disk, TT_STORE_READS, has_a_disk},
    {0},
};
