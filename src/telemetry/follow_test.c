/* follow_test.c: a collector that follows a log, whose store always has more to tend. */
#include "telemetry/collector.h"

#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <cmocka.h>

#define PATIENCE INT64_C(20000000) /* µs */
#define BATCHES 3

/** A log that always has another batch, of nothing. */
typedef struct endless {
  tt_store_log base;
  tt_store_batch *batch;
  atomic_int *done;
} endless;

static tt_status take(tt_store_log *log, int64_t patience, const tt_store_batch **batch,
                      tt_error *error) {
  (void)patience, (void)error;
  *batch = ((endless *)log)->batch;
  return TT_OK;
}

static tt_status note_done(tt_store_log *log, tt_error *error) {
  (void)error;
  atomic_fetch_add(((endless *)log)->done, 1);
  return TT_OK;
}

static void look(tt_store_log *log) { (void)log; }

static bool is_there(tt_store_log *log) {
  (void)log;
  return true;
}

static void close_log(tt_store_log *log) {
  tt_store_batch_free(((endless *)log)->batch);
  free(log);
}

static tt_store_log *open_log(atomic_int *done) {
  endless *log = g_new0(endless, 1);
  log->base = (tt_store_log){
      .take = take, .done = note_done, .look = look, .is_there = is_there, .close = close_log};
  log->batch = tt_store_batch_new();
  log->done = done;
  return &log->base;
}

static bool tend_for_ever(tt_store *store) {
  (void)store;
  return true;
}

static void test_what_is_tended_does_not_hold_up_what_comes(void **state) {
  (void)state;
  tt_collector_options options = tt_collector_options_default();
  char *folder = g_dir_make_tmp("tether-follow-XXXXXX", NULL);
  char *url = g_strdup_printf("sqlite:%s/t.sqlite", folder);
  atomic_int done = 0;
  tt_collector *collector;
  tt_error error;
  if (tt_store_open(&(tt_store_options){.url = url}, &options.store, &error) != TT_OK)
    fail_msg("%s", error.text);
  options.store->tend = tend_for_ever;
  options.log = open_log(&done);
  if (tt_collector_new(&options, &collector, &error) != TT_OK) fail_msg("%s", error.text);
  const int64_t end = g_get_monotonic_time() + PATIENCE;
  while (atomic_load(&done) < BATCHES && g_get_monotonic_time() < end) g_usleep(1000);
  tt_collector_free(collector);
  assert_true(atomic_load(&done) >= BATCHES);
  g_unlink(url + sizeof "sqlite:" - 1);
  g_rmdir(folder);
  g_free(url);
  g_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_tended_does_not_hold_up_what_comes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
