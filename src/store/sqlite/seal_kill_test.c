/* seal_kill_test.c: a process that writes, seals and unseals is killed again and again, mostly within sealing. What was
 * acknowledged is there, and nothing is there twice. TETHER_KILLS=N kills N times; 1,000 in the long form.
 */
#include "store/store_testing.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define DAY (86400 * SECOND)
#define MOST 2000000
#define TOGETHER 30 /* records of a batch */

/** What outlives a process that is killed. */
typedef struct ledger {
  volatile int sent;     /**< numbers of records that were given to write() */
  volatile bool sealing; /**< it is within seal() */
  volatile int refused;  /**< it got an error */
  uint8_t acknowledged[MOST];
} ledger;

/** Records of some thousand moments in three days that are over, in no order; the number says which. */
static void add_record(tt_store_batch *batch, int number) {
  char text[32];
  const uint32_t hash = (uint32_t)number * 2654435761u;
  const int64_t time = hash % 3000 * (3 * DAY / 3000);
  snprintf(text, sizeof text, "text %d", number);
  tt_testing_add_sample(batch, number % 2, 0, time, time + 10 * DAY);
  tt_testing_add_value(batch, 0, NULL, number);
  tt_testing_add_value(batch, 1, text, 0);
}

/** New ones, some of those that were sent before, and once more some of this batch. */
static bool write_some(tt_store *store, ledger *shared, GRand *random) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_error error;
  const int first = shared->sent, count = g_rand_int_range(random, 1, TOGETHER);
  for (int i = 0; i < count && first + i < MOST; i++) add_record(batch, first + i);
  for (int i = 0; i < count; i++) add_record(batch, g_rand_int_range(random, 0, first + count));
  shared->sent = first + count;
  const bool stored = store->write(store, batch, &error) == TT_OK;
  // What was sent again is acknowledged as well, but was so before, or may be lost.
  for (int i = 0; stored && i < count; i++) shared->acknowledged[first + i] = 1;
  tt_store_batch_free(batch);
  return stored;
}

static bool seal_some(tt_store *store, ledger *shared, GRand *random) {
  const tt_store_sealing sealing = {.undo = g_rand_int_range(random, 0, 5) == 0,
                                    .before = g_rand_boolean(random) ? INT64_MAX : 11 * DAY,
                                    .budget = g_rand_int_range(random, 0, 20000)};
  tt_store_sealed sealed;
  tt_error error;
  shared->sealing = true;
  tt_status status = store->seal(store, &sealing, &sealed, &error);
  shared->sealing = false;
  return status == TT_OK || status == TT_AGAIN;
}

/** Until it is killed. */
static void work(ledger *shared, guint32 seed) {
  GRand *random = g_rand_new_with_seed(seed);
  tt_store *store;
  tt_error error;
  const tt_store_options options = {.url = tt_testing_url()};
  bool well = tt_store_open(&options, &store, &error) == TT_OK;
  while (well && shared->sent < MOST - 2 * TOGETHER)
    well = (g_rand_boolean(random) ? write_some : seal_some)(store, shared, random);
  if (!well) shared->refused = 1;
  _exit(1);
}

static void kill_one(ledger *shared, GRand *random, int *within) {
  const guint32 seed = g_rand_int(random);
  shared->sealing = false;
  pid_t child = fork();
  if (!child) work(shared, seed);
  for (int i = 0; i < 20000 && !shared->sealing && !shared->refused; i++) usleep(100);
  usleep((useconds_t)g_rand_int_range(random, 0, 20000));
  for (int i = 0; i < 200 && !shared->sealing; i++) usleep(50);
  *within += shared->sealing;
  kill(child, SIGKILL);
  int status;
  waitpid(child, &status, 0);
  if (shared->refused || !WIFSIGNALED(status)) fail_msg("the store refused something");
}

/** Reads all of a device, and counts how often each number is there. */
static void count_records(tt_store_reader *reader, int device, uint8_t *counts, int sent) {
  const tt_store_range range = {device,    0,    INT64_MIN, INT64_MAX, INT64_MIN,
                                INT64_MAX, NULL, 0,         false};
  tt_store_cursor *cursor;
  tt_store_record record;
  tt_error error;
  if (reader->open(reader, &range, &cursor, &error) != TT_OK) fail_msg("%s", error.text);
  tt_status status;
  while ((status = reader->next(cursor, &record, &error)) == TT_OK) {
    char text[32];
    assert_int_equal(record.count, 2);
    const int number = (int)record.cells[0].number;
    assert_in_range(number, 0, sent - 1);
    snprintf(text, sizeof text, "text %d", number);
    assert_string_equal(record.cells[1].text, text);
    assert_int_equal(number % 2, device);
    if (counts[number]++) fail_msg("record %d is there twice", number);
  }
  if (status != TT_END) fail_msg("%s", error.text);
  reader->close_cursor(cursor);
}

static void check(const ledger *shared) {
  tt_store *store = tt_testing_open();
  tt_store_reader *reader;
  tt_error error;
  uint8_t *counts = g_malloc0(MOST);
  if (store->open_reader(store, &reader, &error) != TT_OK) fail_msg("%s", error.text);
  for (int device = 0; device < 2; device++) count_records(reader, device, counts, shared->sent);
  for (int i = 0; i < shared->sent; i++)
    if (shared->acknowledged[i] && !counts[i]) fail_msg("record %d is lost", i);
  g_free(counts);
  reader->close(reader);
  store->close(store);
}

static void test_kills(void **state) {
  (void)state;
  const char *asked = g_getenv("TETHER_KILLS");
  const bool is_long = !g_strcmp0(g_getenv("TETHER_LONG"), "1");
  const int kills = asked ? atoi(asked) : is_long ? 1000 : 15;
  ledger *shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(shared, MAP_FAILED);
  tt_store *store = tt_testing_open();
  tt_store_batch *batch = tt_testing_batch();  // names and epochs
  tt_list_cut(&batch->samples, 0);
  tt_testing_write(store, batch);
  store->close(store);
  GRand *random = g_rand_new_with_seed(11);
  int within = 0;
  for (int i = 0; i < kills; i++) {
    kill_one(shared, random, &within);
    if (i % 5 == 4 || i + 1 == kills) check(shared);
  }
  print_message("%d kills, %d of them within sealing; %d records sent\n", kills, within,
                shared->sent);
  assert_true(within >= kills / 2);
  g_rand_free(random);
  munmap(shared, sizeof *shared);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_kills, tt_testing_clean),
  };
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}
