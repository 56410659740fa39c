/* epochs_test.c: what collectors remember of devices that begin epochs again and again. Needs TETHER_TEST_NATS, as
 * conformance_test.c; without it all is skipped. */
#include "base/clock.h"
#include "store/jetstream/link.h"
#include "store/store_testing.h"

#include <malloc.h>
#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PATIENCE INT64_C(60000000) /* µs */
#define BATCHES 28
#define EPOCHS 500 /* that a batch begins */
/** Bytes by which memory may have grown behind a quarter of the batches. */
#define MOST_GROWN (1 << 20)

static const char *url(void) { return g_getenv("TETHER_TEST_NATS"); }

static int clean(void **state) {
  (void)state;
  tt_nats_link *link;
  tt_error error;
  jsErrCode code = 0;
  if (tt_nats_link_open(url(), &link, &error) != TT_OK) fail_msg("%s", error.text);
  const char *name = tt_nats_link_name(link);
  assert_int_equal(js_DeleteStream(tt_nats_link_js(link), name, NULL, &code), NATS_OK);
  assert_int_equal(js_DeleteKeyValue(tt_nats_link_js(link), name), NATS_OK);
  tt_nats_link_close(link);
  return 0;
}

/* --- a collector that hears of epochs --- */

static int on_name(void *context, const char *identifier, const char *name, bool *removed) {
  (void)context, (void)identifier, (void)name, (void)removed;
  return 0;
}
static void on_pair(void *context, int device, int attribute) {
  (void)context, (void)device, (void)attribute;
}
static bool on_handlings(void *context, const tt_list *handlings) {
  for (uint32_t i = 0; i < handlings->len; i++)
    *(int *)context = (int)tt_list_at(handlings, tt_handling, i).retention;
  return true;
}
static void on_epoch(void *context, const tt_store_boot *boot) { (void)context, (void)boot; }
static void on_spooled(void *context, int device, int64_t key, int64_t last, uint64_t content) {
  (void)context, (void)device, (void)key, (void)last, (void)content;
}

/** `*said`: the last handling that it was told. */
static tt_store *open_loaded(int *said) {
  tt_store *store = tt_testing_open_by(&(tt_store_options){.url = url()});
  const tt_store_loader loader = {.context = said,
                                  .device = on_name,
                                  .attribute = on_name,
                                  .pair = on_pair,
                                  .handlings = on_handlings,
                                  .epoch = on_epoch,
                                  .spooled = on_spooled};
  tt_error error;
  if (store->load(store, &loader, &error) != TT_OK) fail_msg("%s", error.text);
  return store;
}

/** What a busy server takes no part of in time is written again, as a collector does. */
static void put(tt_store *store, tt_store_batch *batch) {
  const int64_t end = tt_monotonic_us() + PATIENCE;
  tt_error error;
  while (store->write(store, batch, &error) != TT_OK)
    if (tt_monotonic_us() > end) fail_msg("%s", error.text);
  tt_store_batch_free(batch);
}

static void say(tt_store *store, int number) {
  tt_handling handling = {.pattern = "S.*", .scale = 1, .retention = number};
  tt_store_batch *batch = tt_store_batch_new();
  tt_store_add_handling(&batch->handlings, &handling);
  put(store, batch);
}

/** Until both have heard of all that was written. While keys are removed nats-server may keep some that come from who watches. */
static void settle(tt_store *store, const int *own, tt_store *other, const int *heard) {
  static int number;
  const int first = number + 1;
  const int64_t end = tt_monotonic_us() + PATIENCE;
  while (*own < first || *heard < first) {
    if (tt_monotonic_us() > end) fail_msg("it is not heard of");
    say(store, ++number);
    for (int i = 0; i < 300 && (*own < number || *heard < number); i++) {
      store->tend(store);
      other->tend(other);
      g_usleep(1000);
    }
  }
}

/* --- */

/** Epochs of a batch, each with a sample, and one of the first of all, which goes on. */
static tt_store_batch *batch_of(int number) {
  tt_store_batch *batch = tt_store_batch_new();
  const int last = EPOCHS * (number + 1);
  tt_testing_add_name(&batch->devices, 0, "ROBO1", NULL);
  tt_testing_add_name(&batch->attributes, 0, "S.d.a", NULL);
  for (int epoch = last - EPOCHS + 1; epoch <= last; epoch++) {
    tt_testing_add_epoch(batch, 0, epoch, 1000, 1000, 1000, "");
    tt_testing_add_sample(batch, 0, epoch, 1, 1001);
    tt_testing_add_value(batch, 0, NULL, epoch);
  }
  tt_testing_add_epoch(batch, 0, 0, 1000, 1000, 1000, "");
  tt_testing_add_sample(batch, 0, 0, number, number + 1000);
  tt_testing_add_value(batch, 0, NULL, number);
  return batch;
}

/** The bucket has the latest, and the one that goes on. */
static void assert_bucket(void) {
  const int64_t end = tt_monotonic_us() + PATIENCE;
  tt_nats_link *link;
  tt_error error;
  kvEntry *entry = NULL;
  int count = 0;
  if (tt_nats_link_open(url(), &link, &error) != TT_OK) fail_msg("%s", error.text);
  do {
    kvKeysList keys;
    if (tt_monotonic_us() > end) fail_msg("%d epochs are in the bucket", count);
    assert_int_equal(kvStore_Keys(&keys, tt_nats_link_keys(link), NULL), NATS_OK);
    count = 0;
    for (int i = 0; i < keys.Count; i++) count += *keys.Keys[i] == 'e';
    kvKeysList_Destroy(&keys);
  } while (count != TT_STORE_EPOCHS);
  assert_int_equal(kvStore_Get(&entry, tt_nats_link_keys(link), "e.ROBO1.0"), NATS_OK);
  kvEntry_Destroy(entry);
  tt_nats_link_close(link);
}

static size_t memory_used(void) {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

static void test_epochs_that_are_over_are_forgotten(void **state) {
  (void)state;
  int own = 0, heard = 0;
  tt_store *store = open_loaded(&own), *other = open_loaded(&heard);
  size_t before = 0;
  for (int i = 0; i < BATCHES; i++) {
    put(store, batch_of(i));
    settle(store, &own, other, &heard);
    if (i == BATCHES / 4) before = memory_used();
  }
  const size_t after = memory_used();
  if (after > before + MOST_GROWN) fail_msg("%zu bytes more", after - before);
  assert_bucket();
  other->close(other);
  store->close(store);
}

int main(void) {
  if (!url()) {
    puts("skipped: needs TETHER_TEST_NATS");
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_epochs_that_are_over_are_forgotten, clean)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
