/* conformance_copies.c: copies: of a store by its backend, and of what is in it into another store. */
#include "store/conformance.h"
#include "store/copy.h"

/** A file in the folder of the tests, which goes with them; to be freed. */
static char *other_url(const tt_store_backend *kind) {
  return g_strdup_printf("%s%s/copy", kind->schemes[0], tt_testing_folder());
}

static bool go_on(void *context, double done) {
  if (!context) return true;
  *(double *)context = done;
  return false;
}

static void test_a_copy_is_of_one_moment(void **state) {
  (void)state;
  const tt_store_options options = {.url = tt_testing_url()};
  const tt_store_backend *kind;
  tt_error error;
  double done = -1;
  assert_int_equal(tt_store_backend_of(options.url, &kind, &error), TT_OK);
  char *url = other_url(kind), *path = url + strlen(kind->schemes[0]);
  tt_store *store = tt_conformance_begin();
  tt_conformance_write(store, 2, 0);
  if (store->seal) tt_conformance_seal(store, false);
  char *expected = tt_conformance_read(store);
  // Ended in its middle, where there is one, it leaves nothing behind.
  if (kind->back_up(&options, path, go_on, &done, &error) == TT_INTERRUPTED) {
    assert_true(done >= 0 && done <= 1);
    assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    assert_int_equal(kind->back_up(&options, path, go_on, NULL, &error), TT_OK);
  }
  tt_conformance_write(store, 2, 1);  // which the copy has not
  store->close(store);
  store = tt_testing_open_url(url);
  tt_conformance_assert_reads(store, expected);
  tt_conformance_write(store, 2, 0);  // a store as any other
  tt_conformance_assert_reads(store, expected);
  store->close(store);
  g_free(expected);
  g_free(url);
}

static void copy_all(tt_store *to) {
  const tt_copy_options options = {.from = INT64_MIN, .to = INT64_MAX};
  tt_copied copied;
  tt_error error;
  char *told;
  tt_store_reader *reader = tt_testing_open_alone(&told);
  g_free(told);
  if (tt_store_copy(reader, to, &options, &copied, &error) != TT_OK) fail_msg("%s", error.text);
  assert_int_equal(copied.devices, 2);
  reader->close(reader);
}

static void test_another_store_takes_all_of_it(void **state) {
  (void)state;
  tt_store *store = tt_conformance_begin();
  tt_conformance_write(store, 1, 0);
  char *expected = tt_conformance_read(store);
  store->close(store);
  const tt_store_backend *kind = tt_store_default_backend();
  char *url = other_url(kind);
  for (int turn = 0; turn < 2; turn++) {  // what is there already is not doubled
    store = tt_testing_open_by(&(tt_store_options){.url = url});
    copy_all(store);
    store->close(store);
    store = tt_testing_open_url(url);
    tt_conformance_assert_reads(store, expected);
    store->close(store);
  }
  g_free(expected);
  g_free(url);
}

static bool has_default(const tt_store_place *place) {
  (void)place;
  return tt_store_default_backend();
}

const tt_store_case tt_store_copies_cases[] = {
    {"a copy is of one moment", test_a_copy_is_of_one_moment, TT_STORE_READS | TT_STORE_COPIES,
     NULL},
    {"another store takes all of it", test_another_store_takes_all_of_it, TT_STORE_READS,
     has_default},
    {0},
};
