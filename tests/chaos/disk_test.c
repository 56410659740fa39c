/* disk_test.c: disks that fail, and power that does. Each call by which a store, the spool, a run log or a saved state changes a file
 * fails in its turn, once and from then on: what was promised stays, the rest says what is wrong, and everything opens again.
 * Then the power fails at each of these calls: what was promised is there, whichever part of the rest is lost.
 * Every k-th call, but each where TETHER_LONG=1.
 */
#include "app/guests.h"
#include "app/assemble.h"
#include "app/saved_world.h"
#include "scene/scene.h"
#include "base/log.h"
#include "host/world.h"
#include "disk.h"
#include "record/recorder.h"
#include "record/run_log.h"
#include "store/spool/spool.h"
#include "store/store.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST_POINTS (40 / TETHER_FEWER) /* calls tried a scenario and kind of failure */
#define BATCHES 8

static char disk[64], after[64]; /* the folder that is watched; what the power left of it */
static tt_world *world;

/* What is done on the disk. Returns TT_OK, or an error that says something. What becomes durable it acknowledges, as
 * numbers that rise. */
typedef tt_status scenario(tt_error *error);
/* What a folder holds: the greatest n such that 1 … n are there, whole and in order. Fails the test when anything else is. */
typedef int reading(const char *folder);

static int acknowledged;
static void acknowledge(int number) {
  acknowledged = number;
  disk_acknowledge(number);
}

static long step_of(long count) {
  const char *all = getenv("TETHER_LONG");
  return all && strcmp(all, "1") == 0 ? 1 : 1 + count / MOST_POINTS;
}

static void start_anew(void) {
  disk_watch(NULL);
  GDir *listing = g_dir_open(disk, 0, NULL);
  for (const char *name; (name = g_dir_read_name(listing));) {
    char *path = g_build_filename(disk, name, NULL);
    g_unlink(path);
    g_free(path);
  }
  g_dir_close(listing);
  disk_watch(disk);
  acknowledged = 0;
}

/* Returns how many calls it made, or moments it had. */
static long undisturbed(scenario *run, reading *read, long (*count)(void)) {
  tt_error error = {""};
  start_anew();
  if (run(&error) != TT_OK) fail_msg("undisturbed: %s", error.text);
  long counted = count();
  assert_true(counted > 5);
  assert_int_equal(acknowledged, BATCHES);
  assert_int_equal(read(disk), BATCHES);
  return counted;
}

static void fail_at(scenario *run, reading *read, long call, int kind, bool forever) {
  tt_error error = {""};
  start_anew();
  disk_fail(call, kind, forever);
  tt_status status = run(&error);
  disk_fail(-1, 0, false);
  const char *what = kind == DISK_SHORT ? "short" : strerror(kind);
  if (status != TT_OK && !error.text[0]) fail_msg("call %ld, %s: says nothing", call, what);
  if (status != TT_OK && !forever && (kind == DISK_SHORT || kind == EINTR))
    fail_msg("call %ld, %s: %s", call, what, error.text);
  int there = read(disk);
  if (there < acknowledged)
    fail_msg("call %ld, %s%s: %d acknowledged, %d there", call, what,
             forever ? " from then on" : "", acknowledged, there);
}

/* Each call fails: the disk is broken or full, once or for good; a call is interrupted, or does half of its work. */
static void torture(scenario *run, reading *read) {
  static const int kinds[] = {EIO, ENOSPC, EINTR, DISK_SHORT};
  const long count = undisturbed(run, read, disk_calls);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (int forever = 0; forever < (k < 2 ? 2 : 1); forever++)
      for (long call = 0; call < count; call += step_of(count))
        fail_at(run, read, call, kinds[k], forever);
}

/* The power fails at each moment. */
static void cut_power(scenario *run, reading *read, disk_loss worst) {
  const long count = undisturbed(run, read, disk_moments);
  for (long moment = 0; moment <= count; moment += step_of(count)) {
    for (unsigned seed = 0; seed <= worst + 3; seed++) {
      disk_loss loss = MIN((disk_loss)seed, worst);
      int promised = disk_after_power(moment, loss, seed, after);
      int there = read(after);
      if (there < promised)
        fail_msg("power lost at %ld of %ld (%d, seed %u): %d promised, %d there", moment, count,
                 (int)loss, seed, promised, there);
    }
  }
}

/* ---- batches ---- */

static tt_store_batch *batch_of(int number) {
  tt_store_batch *batch = tt_store_batch_new();
  if (number == 1) {
    tt_store_epoch epoch = {.anchor = 1000, .offset_low = 900, .offset_high = 1100};
    tt_store_add_name(&batch->devices, 0, "ROBO1", NULL, TT_NAME_USED);
    tt_store_add_name(&batch->attributes, 0, "S.d.n", NULL, TT_NAME_USED);
    tt_list_add(&batch->epochs, &epoch, 1);
  }
  for (uint32_t i = 0; i < 2; i++) {
    tt_store_sample sample = {.device_time = 2 * number + (int)i,
                              .time = 1000 + 2 * number + (int)i,
                              .first = i,
                              .count = 1};
    tt_store_value value = {0, TT_STORE_NUMBER, number};
    tt_list_add(&batch->samples, &sample, 1);
    tt_list_add(&batch->values, &value, 1);
  }
  return batch;
}

/* ---- SQLite ---- */

static tt_store *open_sqlite(const char *folder, tt_error *error) {
  char *url = g_strdup_printf("sqlite:%s/t.sqlite", folder);
  const tt_store_options options = {.url = url, .spool_limit = 1 << 20};
  tt_store *store = NULL;
  if (tt_store_open(&options, &store, error) != TT_OK) store = NULL;
  g_free(url);
  return store;
}

/** Packs all there is, or unpacks it. */
static tt_status seal_sqlite(tt_store *store, bool undo, tt_error *error) {
  const tt_store_sealing sealing = {.undo = undo, .before = INT64_MAX, .budget = 1000000};
  tt_store_sealed sealed;
  tt_status status = store->seal(store, &sealing, &sealed, error);
  return status == TT_AGAIN ? TT_OK : status;
}

static tt_status write_batches(bool seals, tt_error *error) {
  tt_store *store = open_sqlite(disk, error);
  tt_status status = store ? TT_OK : TT_FAILED;
  for (int n = 1; n <= BATCHES && status == TT_OK; n++) {
    tt_store_batch *batch = batch_of(n);
    status = store->write(store, batch, error);
    if (status != TT_OK) status = store->write(store, batch, error); /* as the collector does */
    if (status == TT_OK) acknowledge(n);
    tt_store_batch_free(batch);
    if (seals && status == TT_OK) status = seal_sqlite(store, n % 4 == 3, error);
  }
  if (seals && status == TT_OK) status = store->shrink(store, error);
  if (store) store->close(store);
  return status;
}

static tt_status write_sqlite(tt_error *error) { return write_batches(false, error); }
static tt_status write_and_seal_sqlite(tt_error *error) { return write_batches(true, error); }

static int count_records(tt_store *store) {
  const tt_store_range range = {
      .device_from = INT64_MIN, .device_to = INT64_MAX, .from = INT64_MIN, .to = INT64_MAX};
  tt_store_reader *reader;
  tt_store_cursor *cursor;
  tt_store_record record;
  tt_error error;
  int next = 2;
  if (store->open_reader(store, &reader, &error) != TT_OK) fail_msg("%s", error.text);
  if (reader->open(reader, &range, &cursor, &error) != TT_OK) fail_msg("%s", error.text);
  for (; reader->next(cursor, &record, &error) == TT_OK; next++) {
    assert_int_equal(record.device_time, next);
    assert_int_equal(record.count, 1);
    assert_int_equal(record.cells[0].number, next / 2);
  }
  reader->close_cursor(cursor);
  reader->close(reader);
  assert_int_equal(next % 2, 0); /* a batch is there whole or not at all */
  return next / 2 - 1;
}

static int read_sqlite(const char *folder) {
  tt_error error;
  sqlite3 *db;
  sqlite3_stmt *check;
  tt_store *store = open_sqlite(folder, &error);
  if (!store) fail_msg("%s", error.text);
  int there = count_records(store);
  store->close(store);
  char *path = g_build_filename(folder, "t.sqlite", NULL);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  g_free(path);
  assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &check, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(check), SQLITE_ROW);
  assert_string_equal((const char *)sqlite3_column_text(check, 0), "ok");
  sqlite3_finalize(check);
  sqlite3_close(db);
  return there;
}

static void sqlite_on_a_disk_that_fails(void **state) {
  (void)state;
  torture(write_sqlite, read_sqlite);
}
static void sqlite_without_power(void **state) {
  (void)state;
  cut_power(write_sqlite, read_sqlite, DISK_LOSES_ANY);
}
static void sealing_on_a_disk_that_fails(void **state) {
  (void)state;
  torture(write_and_seal_sqlite, read_sqlite);
}
static void sealing_without_power(void **state) {
  (void)state;
  cut_power(write_and_seal_sqlite, read_sqlite, DISK_LOSES_ANY);
}

/* ---- the spool ---- */

static tt_spool *open_spool(const char *folder, tt_error *error) {
  char *path = g_build_filename(folder, "spool", NULL);
  tt_spool *spool = NULL;
  if (tt_spool_open(path, 1 << 20, &spool, error) != TT_OK) spool = NULL;
  g_free(path);
  return spool;
}

static tt_status append(tt_spool *spool, int number, tt_error *error) {
  tt_store_batch *batch = batch_of(number);
  tt_status status = tt_spool_append(spool, batch, error);
  if (status != TT_OK) status = tt_spool_append(spool, batch, error); /* as the collector does */
  tt_store_batch_free(batch);
  return status;
}

/* Batches 0 are taken out again before the others come. */
static tt_status spool_and_drain(tt_spool *spool, tt_error *error) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_status status = TT_OK;
  for (int i = 0; i < 4 && status == TT_OK; i++) status = append(spool, 0, error);
  if (status == TT_OK) status = tt_spool_front(spool, batch, error);
  if (status == TT_OK) tt_spool_pop(spool);
  tt_store_batch_free(batch);
  return status;
}

static tt_status write_spool(tt_error *error) {
  tt_spool *spool = open_spool(disk, error);
  tt_status status = spool ? spool_and_drain(spool, error) : TT_FAILED;
  for (int n = 1; n <= BATCHES && status == TT_OK; n++) {
    status = append(spool, n, error);
    if (status == TT_OK) acknowledge(n);
  }
  tt_spool_close(spool);
  return status;
}

static int read_spool(const char *folder) {
  tt_error error;
  tt_spool *spool = open_spool(folder, &error);
  if (!spool) fail_msg("%s", error.text);
  tt_store_batch *batch = tt_store_batch_new();
  int there = 0;
  while (tt_spool_front(spool, batch, &error) == TT_OK) {
    for (uint32_t i = 0; i < batch->values.len; i++) {
      int number = (int)tt_list_at(&batch->values, tt_store_value, i).number;
      if (number == there + 1) there = number;
      assert_int_equal(number, there);
    }
    tt_spool_pop(spool);
  }
  tt_store_batch_free(batch);
  tt_spool_close(spool);
  return there;
}

static void a_spool_on_a_disk_that_fails(void **state) {
  (void)state;
  torture(write_spool, read_spool);
}
static void a_spool_without_power(void **state) {
  (void)state;
  cut_power(write_spool, read_spool, DISK_LOSES_ANY);
}

/* ---- the run log ---- */

static tt_status write_event(tt_journal_sink *sink, int number) {
  char text[20];
  snprintf(text, sizeof text, "%d", number);
  const tt_entry entry = {.kind = TT_ENTRY_EVENT, .source = "test", .text = text};
  return sink->write(sink, &entry);
}

/* What the recorder was given is promised once it is closed, unless the disk refused something, which the log says. */
static tt_status write_log(tt_error *error) {
  char path[100];
  snprintf(path, sizeof path, "%s/run.wpilog", disk);
  const tt_file files[] = {{"/scene.yaml", "a: 1\n", 5}};
  const tt_recorder_options options = {
      .path = path, .run = "{}", .model = "{}", .files = files, .file_count = 1};
  tt_recorder *recorder = NULL;
  TT_TRY(tt_recorder_open(&options, tt_world_view(world)->model, tt_world_names(world), &recorder,
                          error));
  tt_observer *observer = tt_recorder_observer(recorder);
  tt_status status = TT_OK;
  for (int n = 1; n <= BATCHES && status == TT_OK; n++) {
    status = write_event(tt_recorder_journal(recorder), n);
    for (int i = 0; i < 64; i++) /* so many wake the writer */
      observer->publish(observer, tt_world_view(world));
  }
  tt_recorder_close(recorder);
  if (status != TT_OK) return tt_fail(error, status, "not kept");
  if (!disk_refused()) acknowledge(BATCHES);
  return TT_OK;
}

static int read_events(const tt_run_log *log, bool *ended) {
  tt_run_cursor cursor;
  tt_wpilog_record record;
  const uint32_t events = tt_run_log_find(log, "/events"),
                 end = tt_run_log_find(log, "/tether/end");
  int there = 0;
  assert_true(tt_run_cursor_open(&cursor, log));
  while (tt_run_cursor_next(&cursor, &record) == TT_OK) {
    char expected[30];
    if (record.entry == end) *ended = true;
    if (record.entry != events) continue;
    int size = snprintf(expected, sizeof expected, "test: %d", ++there);
    assert_int_equal(record.size, size);
    assert_memory_equal(record.payload, expected, record.size);
  }
  tt_run_cursor_close(&cursor);
  return there;
}

static int read_log(const char *folder) {
  char path[100];
  tt_error error = {""};
  tt_run_log *log;
  bool ended = false;
  snprintf(path, sizeof path, "%s/run.wpilog", folder);
  if (tt_run_log_open(path, &log, &error) != TT_OK) {
    assert_string_not_equal(error.text, "");
    return 0;
  }
  int there = read_events(log, &ended);
  tt_run_log_close(log);
  if (ended) assert_int_equal(there, BATCHES); /* nothing comes behind what is missing */
  return there;
}

static void a_run_log_on_a_disk_that_fails(void **state) {
  (void)state;
  torture(write_log, read_log);
}
/* Nothing in a log tells a sector that was never written; file systems let files grow in order. */
static void a_run_log_without_power(void **state) {
  (void)state;
  cut_power(write_log, read_log, DISK_LOSES_END);
}

/* ---- a saved state ---- */

static void a_saved_state_stays_until_the_new_one_is_whole(void **state) {
  (void)state;
  char path[100];
  tt_error error;
  start_anew();
  snprintf(path, sizeof path, "%s/state", disk);
  assert_int_equal(tt_saved_world_write(path, world, &error), TT_OK);
  for (long call = disk_calls(); call-- > 0;) {
    void *bytes;
    size_t size;
    error.text[0] = '\0';
    disk_fail(call, EIO, false);
    tt_status status = tt_saved_world_write(path, world, &error);
    disk_fail(-1, 0, false);
    assert_true(status == TT_OK || strstr(error.text, strerror(EIO)));
    if (tt_saved_world_read(path, world, &bytes, &size, &error) != TT_OK)
      fail_msg("%s", error.text);
    free(bytes);
  }
}

/* ---- all ---- */

static int setup(void **state) {
  (void)state;
  const char *where = g_access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  static const char *const settings[] = {"robots=[]", "wires=[]"};
  tt_scene *scene = NULL;
  tt_error error = {""};
  snprintf(disk, sizeof disk, "%s/tether-disk-XXXXXX", where);
  snprintf(after, sizeof after, "%s/tether-disk-XXXXXX", where);
  tt_log_set_level(TT_LOG_ERROR);
  if (!mkdtemp(disk) || !mkdtemp(after)) return -1;
  const char *file = TETHER_SOURCE_DIR "/tests/scenes/good/one.yaml";
  if (tt_scene_load(&tt_program_guests, file, settings, 2, &scene, &error) != TT_OK) return -1;
  *state = scene;
  return tt_assemble(scene, &(tt_assembly){.no_wires = true}, &world, &error) == TT_OK ? 0 : -1;
}

static int teardown(void **state) {
  char command[200];
  tt_world_free(world);
  tt_scene_free(*state);
  snprintf(command, sizeof command, "rm -r %s %s", disk, after);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sqlite_on_a_disk_that_fails),
      cmocka_unit_test(sqlite_without_power),
      cmocka_unit_test(sealing_on_a_disk_that_fails),
      cmocka_unit_test(sealing_without_power),
      cmocka_unit_test(a_spool_on_a_disk_that_fails),
      cmocka_unit_test(a_spool_without_power),
      cmocka_unit_test(a_run_log_on_a_disk_that_fails),
      cmocka_unit_test(a_run_log_without_power),
      cmocka_unit_test(a_saved_state_stays_until_the_new_one_is_whole),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
