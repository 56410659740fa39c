/* spooled_test.c: a store with a spool whose disk has trouble, around a database made up here. */
#include "store/spool/spooled.h"

#include "base/clock.h"
#include "store/spool/spool.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE 60000000 /* µs */
#define BLOCK 4096

static char folder[64], path[80];
static off_t bad_from, bad_to; /**< bytes of the spool that pread() can't read */
static int unwritable;         /**< what pwrite() says */

ssize_t __real_pread(int file, void *bytes, size_t size, off_t position);
ssize_t __wrap_pread(int file, void *bytes, size_t size, off_t position);
ssize_t __wrap_pread(int file, void *bytes, size_t size, off_t position) {
  if (position < bad_to && position >= bad_from) {
    errno = EIO;
    return -1;
  }
  if (position < bad_from && bad_from < bad_to && position + (off_t)size > bad_from)
    size = (size_t)(bad_from - position);
  return __real_pread(file, bytes, size, position);
}

ssize_t __real_pwrite(int file, const void *bytes, size_t size, off_t position);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t size, off_t position);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t size, off_t position) {
  if (!unwritable) return __real_pwrite(file, bytes, size, position);
  errno = unwritable;
  return -1;
}

/* --- the database --- */

/** It has ROBO1, whose numbers it scales. */
static struct {
  bool away;
  int64_t takes; /**< µs, until it says that it is away */
  int tries;     /**< in which it said so */
  bool news;     /**< to be told by tend() */
  double scale;
  char name[8];  /**< of ROBO1, for people */
  bool known[8]; /**< devices, by the index they have here */
  tt_store_loader loader;
  int loads, tends, asked;
  uint32_t straight, foreign; /**< samples, by the way they came */
} database;

static tt_status tell(tt_error *error) {
  const tt_store_loader *loader = &database.loader;
  const tt_handling handling = {.pattern = (char[]){"S.*"}, .scale = database.scale};
  bool removed = false;
  if (database.away) return tt_fail(error, TT_AGAIN, "away");
  database.loads++;
  database.known[loader->device(loader->context, "ROBO1", database.name, &removed)] = true;
  tt_list handlings = tt_handling_list();
  tt_store_add_handling(&handlings, &handling);
  database.news = !loader->handlings(loader->context, &handlings);
  tt_list_free(&handlings);
  return TT_OK;
}

static tt_status load(tt_store *store, const tt_store_loader *loader, tt_error *error) {
  (void)store;
  database.loader = *loader;
  return tell(error);
}

static void take_settings(const tt_store_batch *batch) {
  for (uint32_t i = 0; i < batch->handlings.len; i++)
    database.scale = tt_list_at(&batch->handlings, tt_handling, i).scale;
  for (uint32_t i = 0; i < batch->devices.len; i++) {
    const char *name = tt_list_at(&batch->devices, tt_store_name, i).name;
    if (name) snprintf(database.name, sizeof database.name, "%s", name);
  }
}

static tt_status be_away(tt_error *error) {
  database.tries++;
  usleep((useconds_t)database.takes);
  return tt_fail(error, TT_FAILED, "away");
}

static tt_status write_straight(tt_store *store, const tt_store_batch *batch, tt_error *error) {
  (void)store;
  if (database.away) return be_away(error);
  for (uint32_t i = 0; i < batch->devices.len; i++)
    database.known[tt_list_at(&batch->devices, tt_store_name, i).index] = true;
  for (uint32_t i = 0; i < batch->samples.len; i++) {
    if (!database.known[tt_list_at(&batch->samples, tt_store_sample, i).device])
      return tt_fail(error, TT_INVALID, "a sample of nobody");
  }
  take_settings(batch);
  database.straight += batch->samples.len;
  return TT_OK;
}

static tt_status write_foreign(tt_store *store, const tt_store_batch *batch, tt_error *error) {
  (void)store;
  database.asked++;
  if (database.away) return be_away(error);
  take_settings(batch);
  database.foreign += batch->samples.len;
  return TT_OK;
}

/** It goes away meanwhile. */
static tt_status fail_purge(tt_store *store, const tt_store_purge *purge, int *removed,
                            tt_error *error) {
  (void)store, (void)purge;
  *removed = 0;
  database.away = true;
  return tt_fail(error, TT_FAILED, "away");
}

static bool tend(tt_store *store) {
  tt_error error;
  (void)store;
  database.tends++;
  if (database.loader.device && (database.news || !database.loads)) tell(&error);
  return false;
}

static void state_of(tt_store *store, tt_store_state *state) {
  (void)store;
  *state = (tt_store_state){.degraded = database.away, .reason = "away"};
}

static void hurry(tt_store *store) { (void)store; }
static void close_database(tt_store *store) { free(store); }

static tt_status open_database(const tt_store_options *options, tt_store **store, tt_error *error) {
  (void)options, (void)error;
  *store = malloc(sizeof **store);
  assert_non_null(*store);
  **store = (tt_store){.load = load,
                       .write = write_straight,
                       .write_foreign = write_foreign,
                       .tend = tend,
                       .purge = fail_purge,
                       .state = state_of,
                       .hurry = hurry,
                       .close = close_database};
  return TT_OK;
}

/* --- who uses it --- */

static struct {
  char devices[8][8];
  char names[8][8]; /**< for people */
  int count;
  double scale;
} told;

static int take_device(void *context, const char *identifier, const char *name, bool *removed) {
  (void)context, (void)removed;
  int i = 0;
  while (i < told.count && strcmp(told.devices[i], identifier)) i++;
  if (i == told.count) snprintf(told.devices[told.count++], sizeof *told.devices, "%s", identifier);
  snprintf(told.names[i], sizeof *told.names, "%s", name ? name : "");
  return i;
}

static int take_attribute(void *context, const char *identifier, const char *name, bool *removed) {
  (void)context, (void)identifier, (void)name, (void)removed;
  return 0;
}

static void take_pair(void *context, int device, int attribute) {
  (void)context, (void)device, (void)attribute;
}

static bool take_handlings(void *context, const tt_list *handlings) {
  (void)context;
  told.scale = handlings->len ? tt_list_at(handlings, tt_handling, 0).scale : 1;
  return true;
}

static void take_epoch(void *context, const tt_store_boot *boot) { (void)context, (void)boot; }

static void take_spooled(void *context, int device, int64_t key, int64_t last, uint64_t content) {
  (void)context, (void)device, (void)key, (void)last, (void)content;
}

/** As a program that starts. */
static tt_store *start(tt_status expected) {
  static const tt_store_backend backend = {.kind = "test", .open = open_database};
  const tt_store_options options = {.spool = path, .spool_limit = 1 << 20};
  const tt_store_loader loader = {.device = take_device,
                                  .attribute = take_attribute,
                                  .pair = take_pair,
                                  .handlings = take_handlings,
                                  .epoch = take_epoch,
                                  .spooled = take_spooled};
  tt_store *store;
  tt_error error;
  memset(&told, 0, sizeof told);
  database.loader = (tt_store_loader){0};
  memset(database.known, 0, sizeof database.known);
  if (tt_spool_around(&backend, &options, &store, &error) != TT_OK) fail_msg("%s", error.text);
  assert_int_equal(store->load(store, &loader, &error), expected);
  return store;
}

/** A sample of a device; `defines`: with all it needs. */
static void put(tt_store *store, int device, const char *defines) {
  tt_error error;
  tt_store_batch *batch = tt_store_batch_new();
  const tt_store_epoch epoch = {.device = device, .key = 7};
  const tt_store_sample sample = {.device = device, .count = 1};
  const tt_store_value value = {0, TT_STORE_NUMBER, 1};
  if (defines) tt_store_add_name(&batch->devices, device, defines, NULL, TT_NAME_USED);
  if (defines) tt_store_add_name(&batch->attributes, 0, "S.d.n", NULL, TT_NAME_USED);
  tt_list_add(&batch->epochs, &epoch, 1);
  tt_list_add(&batch->samples, &sample, 1);
  tt_list_add(&batch->values, &value, 1);
  if (store->write(store, batch, &error) != TT_OK) fail_msg("%s", error.text);
  tt_store_batch_free(batch);
}

/** Puts samples of ROBO2 into a spool, of which the database has never heard; how many. */
static uint32_t put_samples(tt_store *store) {
  tt_store_state state = {0};
  uint32_t samples = 0;
  for (; state.spooled_bytes < 3 * BLOCK; samples++) {
    put(store, 0, samples ? NULL : "ROBO2");
    store->state(store, &state);
  }
  return samples;
}

/** Leaves such a spool. */
static uint32_t leave_samples(void) {
  database.away = true;
  tt_store *store = start(TT_AGAIN);
  const uint32_t samples = put_samples(store);
  store->close(store);
  return samples;
}

static void catch_up(tt_store *store) {
  const int64_t end = tt_monotonic_us() + PATIENCE;
  tt_store_state state = {.degraded = true};
  while (state.degraded && tt_monotonic_us() < end) {
    if (!store->tend(store)) usleep(10000);
    store->state(store, &state);
  }
  if (state.degraded) fail_msg("%s", state.reason);
  assert_int_equal(state.spooled_bytes, 0);
}

/* --- */

static int clean(void **state) {
  (void)state;
  g_unlink(path);
  memset(&database, 0, sizeof database);
  database.scale = 10;
  strcpy(database.name, "old");
  bad_from = bad_to = 0;
  unwritable = 0;
  tt_spool_patience = INT64_MAX;
  return 0;
}

/** The database is there, or back a moment later: what it has is known, and what comes reaches it. */
static void test_a_spool_that_cannot_be_read_at_the_start(void **state) {
  for (int late = 0; late < 2; late++) {
    clean(state);
    const uint32_t samples = leave_samples();
    bad_to = BLOCK;
    database.away = late;
    tt_store *store = start(TT_AGAIN);
    database.away = false;
    const int64_t end = tt_monotonic_us() + PATIENCE;
    while (late && !database.loads && tt_monotonic_us() < end)
      if (!store->tend(store)) usleep(10000);
    assert_int_equal(database.loads, 1);
    assert_true(told.scale == 10);
    assert_int_equal(told.count, 2);
    put(store, take_device(NULL, "ROBO1", NULL, NULL), NULL);
    put(store, take_device(NULL, "ROBO2", NULL, NULL), NULL);
    assert_int_equal(database.straight, 2);
    bad_to = 0;
    catch_up(store);
    assert_int_equal(database.foreign, samples);
    store->tend(store);
    assert_int_equal(database.loads, 2);  // with what waited
    store->close(store);
  }
}

/** A device that only the spool knows goes on before what waits is written: the database hears of it first. */
static void test_a_database_that_is_back_before_anything_comes(void **state) {
  (void)state;
  const uint32_t samples = leave_samples();
  tt_store *store = start(TT_AGAIN);
  database.away = false;
  put(store, 0, NULL);
  assert_int_equal(database.straight, 1);
  catch_up(store);
  assert_int_equal(database.foreign, samples);
  store->close(store);
}

/** It is said at once, so that nobody asks again and again. */
static void test_a_database_that_goes_away_with_what_is_old(void **state) {
  (void)state;
  const tt_store_purge purge = {.before = 1, .limit = 1};
  tt_store_state said;
  tt_error error;
  int removed;
  tt_store *store = start(TT_OK);
  store->state(store, &said);
  assert_false(said.degraded);
  assert_int_equal(store->purge(store, &purge, &removed, &error), TT_FAILED);
  store->state(store, &said);
  assert_true(said.degraded);
  assert_string_equal(said.reason, "away");
  database.away = false;
  catch_up(store);
  store->close(store);
}

/** As the collector does: what it set itself it knows. */
static void set_scale_and_name(tt_store *store, double scale, const char *name) {
  tt_error error;
  tt_store_batch *batch = tt_store_batch_new();
  const tt_handling handling = {.pattern = (char[]){"S.*"}, .scale = scale};
  const int robot = take_device(NULL, "ROBO1", name, NULL);
  tt_store_add_name(&batch->devices, robot, "ROBO1", name, TT_NAME_USED);
  tt_store_add_handling(&batch->handlings, &handling);
  told.scale = scale;
  if (store->write(store, batch, &error) != TT_OK) fail_msg("%s", error.text);
  tt_store_batch_free(batch);
}

static void assert_set(double scale, const char *name) {
  assert_true(told.scale == scale);
  int robot = 0;
  while (strcmp(told.devices[robot], "ROBO1")) robot++;
  assert_string_equal(told.names[robot], name);
}

static void tend_until_told(tt_store *store, int loads) {
  const int64_t end = tt_monotonic_us() + PATIENCE;
  while (database.loads < loads && tt_monotonic_us() < end)
    if (!store->tend(store)) usleep(10000);
  assert_true(database.loads >= loads);
}

/** The database tells what it has, which is older: in the program that was set in, or in one that is started then. */
static void test_what_people_set_while_the_spool_cannot_be_read(void **state) {
  for (int anew = 0; anew < 2; anew++) {
    clean(state);
    leave_samples();
    bad_to = anew ? 0 : BLOCK;
    database.away = anew;
    tt_store *store = start(TT_AGAIN);
    database.away = true;
    set_scale_and_name(store, 3, "other");
    set_scale_and_name(store, 4, "new");
    bad_to = BLOCK;
    database.away = false;
    if (anew) store->close(store);
    if (anew) store = start(TT_AGAIN);
    assert_set(4, "new");
    database.news = true;
    tend_until_told(store, database.loads + 1);
    assert_set(4, "new");
    bad_to = 0;
    catch_up(store);
    assert_true(database.scale == 4);
    assert_string_equal(database.name, "new");
    assert_set(4, "new");
    database.scale = 5;  // by somebody else
    strcpy(database.name, "newer");
    tend_until_told(store, database.loads + 1);
    assert_set(5, "newer");
    store->close(store);
  }
}

/** Nothing else waits: it is dropped only when the database is there, and may be read before that. */
static void test_a_place_that_is_given_up_while_the_database_is_away(void **state) {
  (void)state;
  tt_store_state now;
  const uint32_t samples = leave_samples();
  tt_store *store = start(TT_AGAIN);
  tt_spool_patience = 0;
  bad_to = 100 * BLOCK;
  const int64_t end = tt_monotonic_us() + PATIENCE;
  for (const int asked = database.asked; database.asked < asked + 2 && tt_monotonic_us() < end;)
    if (!store->tend(store)) usleep(10000);
  store->state(store, &now);
  assert_true(now.spooled_bytes > 0);
  assert_int_equal(now.spool_lost_bytes, 0);
  bad_to = 0;
  database.away = false;
  catch_up(store);
  assert_int_equal(database.foreign, samples);
  store->close(store);
}

/** It takes connections and says nothing: who sends is not held up by each try. */
static void test_a_database_that_takes_long_to_be_away(void **state) {
  (void)state;
  tt_store_state now;
  tt_store *store = start(TT_OK);
  put(store, 0, "ROBO2");
  database.away = true;
  database.takes = 150000;
  put(store, 0, NULL);
  const int64_t begun = tt_monotonic_us();
  int64_t passed;
  do {
    put(store, 0, NULL);
    if (!store->tend(store)) usleep(1000);
    passed = tt_monotonic_us() - begun;
  } while (passed < 8 * database.takes);
  assert_true(database.tries <= 1 + passed / (3 * database.takes));
  store->state(store, &now);
  assert_string_equal(now.reason, "away");
  database.away = false;
  catch_up(store);
  store->close(store);
}

/** The database is there, and what waits in the spool, samples and what people set, can be neither read to its end nor written. */
static tt_store *start_with_a_dead_spool(bool sets, uint32_t *samples) {
  tt_store *store = start(TT_OK);
  database.away = true;
  *samples = put_samples(store);
  if (sets) set_scale_and_name(store, 2, "older");
  bad_from = 2 * BLOCK;
  bad_to = 100 * BLOCK;
  unwritable = EROFS;
  database.away = false;
  return store;
}

/** Its file system has become read-only: what waits and can't be read holds nothing up, and does not undo what people set meanwhile,
 *  nor what others set once it is there. */
static void test_a_spool_that_can_be_neither_read_nor_written(void **state) {
  for (int sets = 0; sets < 2; sets++) {
    clean(state);
    uint32_t samples;
    tt_store *store = start_with_a_dead_spool(sets, &samples);
    tt_spool_patience = 0;
    put(store, 2, "ROBO3");
    assert_int_equal(database.straight, 1);
    assert_in_range(database.foreign, 1, samples - 1);
    set_scale_and_name(store, 3, "newer");
    assert_true(database.scale == 3);
    assert_string_equal(database.name, "newer");
    put(store, 3, "ROBO4");
    assert_int_equal(database.straight, 2);
    bad_to = unwritable = 0;
    catch_up(store);
    assert_int_equal(database.foreign, samples);
    assert_true(database.scale == 3);
    assert_string_equal(database.name, "newer");
    database.scale = 5;  // by somebody else
    if (sets) tend_until_told(store, database.loads + 1);
    assert_set(sets ? 5 : 3, "newer");
    assert_true(database.scale == 5);
    store->close(store);
  }
}

/** The same at a start, where nobody knows what waits. */
static void test_a_spool_that_can_be_neither_read_nor_written_at_the_start(void **state) {
  (void)state;
  const uint32_t samples = leave_samples();
  tt_store *store = start(TT_AGAIN);
  set_scale_and_name(store, 2, "older");
  store->close(store);
  bad_from = 2 * BLOCK;
  bad_to = 100 * BLOCK;
  store = start(TT_AGAIN);
  tt_spool_patience = 0;
  unwritable = EROFS;
  database.away = false;
  set_scale_and_name(store, 3, "newer");
  assert_true(database.scale == 3);
  put(store, 3, "ROBO4");
  bad_to = unwritable = 0;
  catch_up(store);
  assert_int_equal(database.foreign, samples);
  assert_true(database.scale == 3);
  tend_until_told(store, database.loads + 1);
  assert_set(3, "newer");
  store->close(store);
}

static uint64_t spooled_bytes(tt_store *store) {
  tt_store_state now;
  store->state(store, &now);
  return now.spooled_bytes;
}

/** Until it was tried again, which the tending of the database tells. */
static void tend_again(tt_store *store) {
  const int64_t end = tt_monotonic_us() + PATIENCE;
  const int tends = database.tends;
  while (database.tends == tends && tt_monotonic_us() < end)
    if (!store->tend(store)) usleep(10000);
  assert_int_equal(database.tends, tends + 1);
}

/** What passed a spool that could not be written stands in it behind what waits, once it can be: a program that is started then would
 *  else set what was set before. Of samples that passed nothing is put there. */
static void test_what_people_set_past_a_spool_and_a_restart(void **state) {
  (void)state;
  uint32_t samples;
  tt_store *store = start_with_a_dead_spool(true, &samples);
  put(store, 2, "ROBO3");
  assert_int_equal(database.straight, 1);
  const uint64_t waiting = spooled_bytes(store);
  unwritable = 0;
  tend_again(store);
  assert_int_equal(spooled_bytes(store), waiting);
  unwritable = EROFS;
  set_scale_and_name(store, 3, "newer");
  assert_true(database.scale == 3);
  tend_again(store);
  assert_int_equal(spooled_bytes(store), waiting);
  unwritable = 0;
  tend_again(store);
  const uint64_t more = spooled_bytes(store);
  assert_true(more > waiting);
  tend_again(store);
  assert_int_equal(spooled_bytes(store), more);  // once
  store->close(store);
  bad_to = 0;
  database.foreign = 0;
  store = start(TT_OK);
  assert_int_equal(database.foreign, samples);  // those that were written before, too
  assert_true(database.scale == 3);
  assert_string_equal(database.name, "newer");
  store->close(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_a_database_that_is_back_before_anything_comes, clean),
      cmocka_unit_test_setup(test_a_spool_that_cannot_be_read_at_the_start, clean),
      cmocka_unit_test_setup(test_a_database_that_goes_away_with_what_is_old, clean),
      cmocka_unit_test_setup(test_what_people_set_while_the_spool_cannot_be_read, clean),
      cmocka_unit_test_setup(test_a_place_that_is_given_up_while_the_database_is_away, clean),
      cmocka_unit_test_setup(test_a_database_that_takes_long_to_be_away, clean),
      cmocka_unit_test_setup(test_a_spool_that_can_be_neither_read_nor_written, clean),
      cmocka_unit_test_setup(test_a_spool_that_can_be_neither_read_nor_written_at_the_start, clean),
      cmocka_unit_test_setup(test_what_people_set_past_a_spool_and_a_restart, clean),
  };
  const char *where = g_access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf(folder, sizeof folder, "%s/tether-spooled-XXXXXX", where);
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/spool", folder);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  clean(NULL);
  g_rmdir(folder);
  return failed;
}
