/* catalogue_test.c: what was said is told again, whole; and the lock that keeps a file to one process. */
#include "store/catalogue.h"
#include "database/lock.h"

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
  snprintf(path, sizeof path, "%s/none/file", folder);
  assert_int_equal(tt_lock_take(&lock, path, &error), TT_FAILED);
  assert_non_null(strstr(error.text, "can't open"));
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_everything_is_told_again),
      cmocka_unit_test(test_a_batch_gets_what_it_needs_and_no_more),
      cmocka_unit_test(test_one_process_has_the_lock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
