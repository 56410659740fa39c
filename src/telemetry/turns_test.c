/* turns_test.c: tables of many devices that are asked for at once are read one behind the other, whole, in the memory of one;
 * who waits too long is told so, and small ones don't wait.
 */
#include "telemetry/turns.h"

#include "store/store_testing.h"

#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#define DEVICES TT_TURNS_WEIGHT
#define RECORDS 16
#define ATTRIBUTES 12
#define TABLES 4
#define MIB (1024.0 * 1024.0)

/* --- turns --- */

static tt_status write_nothing(void *context, const char *bytes, size_t size) {
  (void)bytes, (void)size;
  return *(tt_status *)context;
}

static void test_turns(void **state) {
  (void)state;
  tt_status says = TT_OK;
  const tt_table_sink sink = {write_nothing, &says};
  tt_error error = {""};
  assert_int_equal(tt_turn_take(600, 0, &sink, &error), TT_OK);
  assert_int_equal(tt_turn_take(400, 0, &sink, &error), TT_OK);
  assert_int_equal(tt_turn_take(TT_TURNS_LIGHT + 1, 0, &sink, &error), TT_FULL);
  assert_non_null(strstr(error.text, "other wide tables"));
  assert_int_equal(tt_turn_take(TT_TURNS_LIGHT, 0, &sink, &error), TT_OK);
  tt_turn_give(TT_TURNS_LIGHT);
  says = TT_CLOSED;
  assert_int_equal(tt_turn_take(65, INT64_MAX / 2, &sink, &error), TT_CLOSED);
  tt_turn_give(400);
  assert_int_equal(tt_turn_take(401, 0, &sink, &error), TT_FULL);
  tt_turn_give(600);
  // More than there are turns for: alone.
  assert_int_equal(tt_turn_take(5000, 0, &sink, &error), TT_OK);
  assert_int_equal(tt_turn_take(65, 0, &sink, &error), TT_FULL);
  tt_turn_give(5000);
  assert_int_equal(tt_turn_take(65, 0, &sink, &error), TT_OK);
  assert_int_equal(tt_turn_take(5000, 0, &sink, &error), TT_FULL);
  tt_turn_give(65);
}

static void test_weights(void **state) {
  (void)state;
  assert_int_equal(tt_turns_weight(12, 100), 12);
  assert_int_equal(tt_turns_weight(12, 9900), 309);
  assert_int_equal(tt_turns_weight(0, 2048), TT_TURNS_LIGHT);
}

/* --- tables --- */

static void write_all(tt_store *store) {
  tt_store_batch *batch = tt_store_batch_new();
  char name[16];
  for (int i = 0; i < ATTRIBUTES; i++) {
    g_snprintf(name, sizeof name, "S.d.a%d", i);
    tt_testing_add_name(&batch->attributes, i, name, NULL);
  }
  for (int i = 0; i < DEVICES; i++) {
    g_snprintf(name, sizeof name, "D%d", i);
    tt_testing_add_name(&batch->devices, i, name, NULL);
    tt_testing_add_epoch(batch, i, 0, 0, 0, 0, "");
    for (int k = 0; k < RECORDS; k++) {
      tt_testing_add_sample(batch, i, 0, k * INT64_C(1000000), k * INT64_C(1000000));
      for (int a = 0; a < ATTRIBUTES; a++) tt_testing_add_value(batch, a, NULL, a + k / 4.0);
    }
  }
  tt_testing_write(store, batch);
  const tt_store_sealing sealing = {.before = INT64_MAX, .budget = INT64_MAX};
  tt_store_sealed sealed;
  tt_error error;
  if (store->seal(store, &sealing, &sealed, &error) != TT_OK) fail_msg("%s", error.text);
}

static tt_collector *collector;
static atomic_int at_once, most_at_once;
static _Atomic size_t most_memory;

/** A table that is being written. */
typedef struct written {
  int lines;
} written;

static tt_status count_lines(void *context, const char *bytes, size_t size) {
  written *to = context;
  if (!size) return TT_OK;
  if (!to->lines) {
    const int now = atomic_fetch_add(&at_once, 1) + 1;
    int most = atomic_load(&most_at_once);
    while (now > most && !atomic_compare_exchange_weak(&most_at_once, &most, now)) continue;
  }
  for (size_t i = 0; i < size; i++) to->lines += bytes[i] == '\n';
  if (to->lines == 1 + DEVICES * RECORDS) atomic_fetch_sub(&at_once, 1);
  const size_t memory = mallinfo2().uordblks;
  size_t most = atomic_load(&most_memory);
  while (memory > most && !atomic_compare_exchange_weak(&most_memory, &most, memory)) continue;
  return TT_OK;
}

/** The lines of a table of all, asked for again where others took too long. */
static void *write_table(void *data) {
  (void)data;
  tt_table_query query;
  tt_error error = {""};
  written to = {0};
  const tt_table_sink sink = {count_lines, &to};
  // cmocka can fail in its own thread alone.
  g_assert(tt_table_query_parse("fields=S.d.a0,S.d.a1,S.d.a2,S.d.a3,S.d.a4,S.d.a5,S.d.a6,S.d.a7,"
                                "S.d.a8,S.d.a9,S.d.a10,S.d.a11",
                                tt_collector_now(), &query, &error) == TT_OK);
  query.format = TT_TABLE_CSV;
  tt_status status;
  while ((status = tt_table_write(collector, &query, &sink, &error)) == TT_FULL) continue;
  tt_table_query_clear(&query);
  if (status != TT_OK) g_error("%s", error.text);
  return GINT_TO_POINTER(to.lines);
}

/** MiB that the program has in memory. */
static double resident(void) {
  long size, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%ld %ld", &size, &pages), 2);
  fclose(file);
  return (double)pages * (double)sysconf(_SC_PAGESIZE) / MIB;
}

static void test_tables(void **state) {
  (void)state;
  tt_collector_options options = tt_collector_options_default();
  tt_error error;
  pthread_t threads[TABLES];
  options.store = tt_testing_open();
  write_all(options.store);
  if (tt_collector_new(&options, &collector, &error) != TT_OK) fail_msg("%s", error.text);
  malloc_trim(0);
  const size_t before = mallinfo2().uordblks;
  const double resident_before = resident();
  atomic_store(&most_memory, before);
  for (int i = 0; i < TABLES; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, write_table, NULL), 0);
  for (int i = 0; i < TABLES; i++) {
    void *lines;
    pthread_join(threads[i], &lines);
    assert_int_equal(GPOINTER_TO_INT(lines), 1 + DEVICES * RECORDS);
  }
  const double memory = (double)(atomic_load(&most_memory) - before) / MIB;
  const double kept = resident() - resident_before;
  tt_collector_free(collector);
  print_message("%d at once, %.1f MiB, %.1f MiB kept\n", atomic_load(&most_at_once), memory, kept);
  assert_int_equal(atomic_load(&most_at_once), 1);
#ifndef TETHER_SANITIZED /* which counts otherwise */
  assert_true(memory < 20);
  assert_true(kept < 10);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_turns),
      cmocka_unit_test(test_weights),
      cmocka_unit_test_setup(test_tables, tt_testing_clean),
  };
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}
