/* catalogue_test.c: what was said is told again, whole; and the lock that keeps a file to one process. */
#include "store/catalogue.h"
#include "database/lock.h"
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void add_epoch(tt_store_batch *batch, int device, int number, int64_t anchor) {
  const tt_store_epoch epoch = {.device = device, .number = number, .anchor = anchor};
  tt_list_add(&batch->epochs, &epoch, 1);
}

/** Names and epochs of a batch, as text; to be freed. */
static char *said(tt_store_batch *batch) {
  tt_list text = TT_LIST(char, NULL);
  assert_non_null(batch);
  tt_list_print(&text, "devices");
  for (uint32_t i = 0; i < batch->devices.len; i++) {
    const tt_store_name *name = &tt_list_at(&batch->devices, tt_store_name, i);
    tt_list_print(&text, " %d=%s%s", name->index, name->identifier, name->name ? "*" : "");
  }
  tt_list_print(&text, " attributes");
  for (uint32_t i = 0; i < batch->attributes.len; i++) {
    const tt_store_name *name = &tt_list_at(&batch->attributes, tt_store_name, i);
    tt_list_print(&text, " %d=%s", name->index, name->identifier);
  }
  tt_list_print(&text, " epochs");
  for (uint32_t i = 0; i < batch->epochs.len; i++) {
    const tt_store_epoch *epoch = &tt_list_at(&batch->epochs, tt_store_epoch, i);
    tt_list_print(&text, " %d.%d@%d", epoch->device, epoch->number, (int)epoch->anchor);
  }
  tt_store_batch_free(batch);
  return text.data;
}

static void assert_says(tt_store_batch *batch, const char *expected) {
  char *text = said(batch);
  assert_string_equal(text, expected);
  free(text);
}

static tt_catalogue *make(void) {
  tt_catalogue *catalogue = tt_catalogue_new();
  tt_store_batch *batch = tt_store_batch_new();
  tt_store_add_name(&batch->devices, 0, "A", "for people", TT_NAME_USED);
  tt_store_add_name(&batch->devices, 1, "B", NULL, TT_NAME_USED);
  tt_store_add_name(&batch->attributes, 0, "x", NULL, TT_NAME_USED);
  tt_store_add_name(&batch->attributes, 2, "z", NULL, TT_NAME_USED);
  add_epoch(batch, 0, 0, 10);
  add_epoch(batch, 1, 0, 20);
  assert_true(tt_catalogue_add_batch(catalogue, batch));
  tt_store_batch_free(batch);
  return catalogue;
}

static void test_everything_is_told_again(void **state) {
  (void)state;
  tt_catalogue *catalogue = make();
  assert_says(tt_catalogue_all(catalogue),
              "devices 0=A 1=B attributes 0=x 2=z epochs 0.0@10 1.0@20");
  assert_true(tt_catalogue_add_name(catalogue, true, 0, "another"));  // the first one said stays
  assert_true(tt_catalogue_add_name(catalogue, false, 2, NULL));
  assert_true(
      tt_catalogue_add_epoch(catalogue, &(tt_store_epoch){.device = 1, .number = 0, .anchor = 21}));
  assert_says(tt_catalogue_all(catalogue), "devices 0=A 1=B attributes 0=x epochs 0.0@10 1.0@21");
  assert_true(tt_catalogue_add_name(catalogue, false, 2, "new"));
  assert_says(tt_catalogue_all(catalogue),
              "devices 0=A 1=B attributes 0=x 2=new epochs 0.0@10 1.0@21");
  tt_catalogue_free(catalogue);
  tt_catalogue_free(NULL);
}

/** What was begun before a name was removed, and its epochs, are whole in themselves still. */
static void test_what_is_removed_is_named_where_it_is_needed(void **state) {
  (void)state;
  tt_catalogue *catalogue = make();
  tt_store_batch *batch = tt_store_batch_new();
  const tt_store_sample sample = {.device = 1, .epoch = 0, .first = 0, .count = 1};
  const tt_store_value value = {.attribute = 2, .text = TT_STORE_NUMBER, .number = 5};
  tt_list_add(&batch->samples, &sample, 1);
  tt_list_add(&batch->values, &value, 1);
  assert_true(tt_catalogue_add_name(catalogue, true, 1, NULL));
  assert_true(tt_catalogue_add_name(catalogue, false, 2, NULL));
  assert_null(tt_catalogue_device(catalogue, 1));
  assert_says(tt_catalogue_complete(catalogue, batch), "devices 1=B attributes 2=z epochs 1.0@20");
  assert_says(tt_catalogue_all(catalogue), "devices 0=A 1=B attributes 0=x epochs 0.0@10 1.0@20");
  tt_store_batch_free(batch);
  tt_catalogue_free(catalogue);
}

static void test_a_batch_gets_what_it_needs_and_no_more(void **state) {
  (void)state;
  tt_catalogue *catalogue = make();
  tt_store_batch *batch = tt_store_batch_new();
  const tt_store_sample sample = {.device = 1, .epoch = 0, .first = 0, .count = 1};
  const tt_store_value value = {.attribute = 2, .text = TT_STORE_NUMBER, .number = 5};
  tt_list_add(&batch->samples, &sample, 1);
  tt_list_add(&batch->values, &value, 1);
  assert_says(tt_catalogue_complete(catalogue, batch), "devices 1=B attributes 2=z epochs 1.0@20");
  tt_store_add_name(&batch->devices, 0, "A", "named", TT_NAME_USED);  // its own comes along
  tt_store_batch *whole = tt_catalogue_complete(catalogue, batch);
  assert_int_equal(whole->samples.len, 1);
  assert_int_equal(whole->values.len, 1);
  assert_says(whole, "devices 1=B 0=A* attributes 2=z epochs 1.0@20");
  tt_store_batch_free(batch);
  tt_catalogue_free(catalogue);
}

/** A device whose clock says anything begins one with each message; nobody tells a database all of them whenever it connects. */
static void test_of_epochs_the_latest_are_told_again(void **state) {
  (void)state;
  tt_catalogue *catalogue = make();
  for (int number = 1; number < 100000; number++) {
    const tt_store_epoch epoch = {.device = 1, .number = number},
                         used = {.device = 1, .anchor = 20};
    assert_true(tt_catalogue_add_epoch(catalogue, &epoch));
    // One with which it goes on is said again.
    if (number % (TT_STORE_EPOCHS / 2) == 0) assert_true(tt_catalogue_add_epoch(catalogue, &used));
  }
  tt_store_batch *all = tt_catalogue_all(catalogue);
  assert_non_null(all);
  assert_int_equal(all->epochs.len, 1 + 100000);  // they may be of one batch
  tt_store_batch_free(all);
  tt_catalogue_settle(catalogue);
  all = tt_catalogue_all(catalogue);
  assert_non_null(all);
  assert_int_equal(all->epochs.len, 1 + TT_STORE_EPOCHS);
  const tt_store_epoch *epochs = all->epochs.data;
  assert_int_equal(epochs[0].device, 0);  // another device's stays
  // In the order in which they were said: of 99999 the last multiple of 32 is 99968.
  int64_t told = 99999 - TT_STORE_EPOCHS + 2;
  for (int i = 1; i <= TT_STORE_EPOCHS; i++) {
    const bool used = epochs[i].number == 0;
    assert_int_equal(epochs[i].number, used ? 0 : told);
    assert_true(!used || told == 99969);
    told += !used;
  }
  assert_int_equal(told, 100000);
  tt_store_batch_free(all);
  tt_catalogue_free(catalogue);
}

/** What batches need that are still to come is never forgotten: the latest, and those that are said now and then. */
static void test_what_nobody_goes_on_with_is_forgotten(void **state) {
  (void)state;
  tt_catalogue *catalogue = make();
  int forgotten = 0;
  for (int number = 1; number < 100000; number++) {
    const tt_store_epoch epoch = {.device = 1, .number = number},
                         used = {.device = 1, .anchor = 20};
    assert_true(tt_catalogue_add_epoch(catalogue, &epoch));
    if (number % (TT_STORE_EPOCHS / 2) == 0) assert_true(tt_catalogue_add_epoch(catalogue, &used));
    forgotten += tt_catalogue_settle(catalogue);
    assert_true(tt_catalogue_has_epoch(catalogue, 0, 0));
    assert_true(tt_catalogue_has_epoch(catalogue, 1, 0));
    for (int before = number < 32 ? number : 32; before >= 0; before--)
      assert_true(tt_catalogue_has_epoch(catalogue, 1, number - before));
  }
  assert_in_range(forgotten, 10, 30);
  assert_false(tt_catalogue_has_epoch(catalogue, 1, 1));
  assert_false(tt_catalogue_has_epoch(catalogue, 1, 50000));
  tt_store_batch *batch = tt_store_batch_new();
  const tt_store_sample samples[] = {{.device = 1, .epoch = 99998}, {.device = 1, .epoch = 0}};
  tt_list_add(&batch->samples, samples, 2);
  assert_says(tt_catalogue_complete(catalogue, batch),
              "devices 1=B attributes epochs 1.0@20 1.99998@0");
  tt_store_batch_free(batch);
  tt_catalogue_free(catalogue);
}

static void test_one_process_has_the_lock(void **state) {
  (void)state;
  char folder[] = "/tmp/tether-lock-XXXXXX", path[64], beside[80];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/file", folder);
  snprintf(beside, sizeof beside, "%s-lock", path);
  tt_lock lock, second;
  tt_error error;
  assert_int_equal(tt_lock_take(&lock, path, &error), TT_OK);
  assert_int_equal(access(beside, F_OK), 0);
  assert_int_equal(tt_lock_take(&second, path, &error), TT_FAILED);
  char number[32];
  snprintf(number, sizeof number, "process %ld", (long)getpid());
  assert_non_null(strstr(error.text, number));
  assert_int_equal(second.file, -1);
  tt_lock_release(&second);
  tt_lock_release(&lock);
  tt_lock_release(&lock);
  assert_int_equal(access(beside, F_OK), -1);
  // A file that somebody's end left behind says nothing.
  FILE *left = fopen(beside, "w");
  fputs("1\n", left);
  fclose(left);
  assert_int_equal(tt_lock_take(&lock, path, &error), TT_OK);
  tt_lock_release(&lock);
  char other[80];
  snprintf(other, sizeof other, "%s/other", folder);
  fclose(fopen(path, "w"));
  assert_int_equal(link(path, other), 0);
  assert_int_equal(tt_lock_take(&lock, path, &error), TT_FAILED);
  assert_non_null(strstr(error.text, "has 2 names"));
  tt_lock_release(&lock);
  unlink(other);
  assert_int_equal(tt_lock_take(&lock, path, &error), TT_OK);
  tt_lock_release(&lock);
  unlink(path);
  snprintf(path, sizeof path, "%s/none/file", folder);
  assert_int_equal(tt_lock_take(&lock, path, &error), TT_FAILED);
  assert_non_null(strstr(error.text, "can't open"));
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_everything_is_told_again),
      cmocka_unit_test(test_what_is_removed_is_named_where_it_is_needed),
      cmocka_unit_test(test_a_batch_gets_what_it_needs_and_no_more),
      cmocka_unit_test(test_of_epochs_the_latest_are_told_again),
      cmocka_unit_test(test_what_nobody_goes_on_with_is_forgotten),
      cmocka_unit_test(test_one_process_has_the_lock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
