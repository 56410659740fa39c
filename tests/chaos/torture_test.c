/* torture_test.c: memory that runs out. Every scenario is done again and again, with its n-th allocation failing once,
 * and with all from its n-th on; it must end in order each time, with success or an error that says something, and leave
 * nothing behind (the leak sanitizer looks).
 *
 * The linker puts the functions below in place of malloc and its kin for Tether's own calls; SQLite takes them by its own
 * configuration. What other libraries allocate doesn't fail here: GLib ends the program when memory is short, by its own
 * rule, and MuJoCo's memory has a test beside the physics.
 * A long scenario has only every k-th allocation fail, but every one where TETHER_LONG=1.
 */
#include "app/guests.h"
#include "app/assemble.h"
#include "scene/scene.h"
#include "host/world.h"
#include "record/export.h"
#include "record/journal_codec.h"
#include "record/recorder.h"
#include "record/run_log.h"
#include "store/catalogue.h"
#include "store/spool/spool.h"
#include "store/store.h"
#include "telemetry/collector.h"
#include "telemetry/message.h"

#include <limits.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SCENES TETHER_SOURCE_DIR "/tests/scenes/good/"
#define MOST_POINTS                                                                                \
  60 /* failing allocations tried a scenario, each in both ways; all where TETHER_LONG=1 */

/* --- allocations that fail --- */

static atomic_long until = LONG_MAX; /* allocations before the one that fails */
static atomic_bool forever;
static atomic_long made;

static bool fails(void) {
  atomic_fetch_add(&made, 1);
  long left = atomic_fetch_sub(&until, 1);
  return atomic_load(&forever) ? left <= 0 : left == 0;
}

/* NOLINTBEGIN(bugprone-reserved-identifier): names that the linker makes up */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t most);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t most);

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) {
  return fails() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size) { return fails() ? NULL : __real_realloc(old, size); }
char *__wrap_strdup(const char *text) { return fails() ? NULL : __real_strdup(text); }
char *__wrap_strndup(const char *text, size_t most) {
  return fails() ? NULL : __real_strndup(text, most);
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* A scenario: TT_OK, or an error. `error` is its to fill. */
typedef tt_status scenario(tt_error *error);

static tt_status with_failure(scenario *run, long after, bool all, tt_error *error) {
  error->text[0] = '\0';
  atomic_store(&made, 0);
  atomic_store(&forever, all);
  atomic_store(&until, after);
  tt_status status = run(error);
  atomic_store(&until, LONG_MAX);
  return status;
}

static void torture(scenario *run) {
  tt_error error;
  tt_status well = with_failure(run, LONG_MAX, false, &error);
  if (well != TT_OK) fail_msg("undisturbed: %s", error.text);
  const long count = atomic_load(&made);
  assert_true(count > 0);
  const char *all = getenv("TETHER_LONG");
  const long step = all && strcmp(all, "1") == 0 ? 1 : 1 + count / MOST_POINTS;
  for (int way = 0; way < 2; way++) {
    for (long n = 0; n < count; n += step) {
      tt_status status = with_failure(run, n, way == 1, &error);
      if (status != TT_OK && !error.text[0])
        fail_msg("allocation %ld of %ld%s: status %d says nothing", n, count, way ? " and on" : "",
                 (int)status);
    }
  }
  if (with_failure(run, LONG_MAX, false, &error) != TT_OK) fail_msg("afterwards: %s", error.text);
}

/* --- configuration --- */

static tt_status load_scene(const char *name, tt_error *error) {
  static const char *const SETTINGS[] = {"seed=3", "duration=2 s"};
  tt_scene *scene = NULL;
  tt_status status = tt_scene_load(&tt_program_guests, name, SETTINGS, 2, &scene, error);
  tt_scene_free(scene);
  return status;
}

static tt_status load_one(tt_error *error) { return load_scene(SCENES "one.yaml", error); }
static tt_status load_frc2011(tt_error *error) { return load_scene("frc2011", error); }
static void a_scene(void **state) {
  (void)state;
  torture(load_one);
  torture(load_frc2011);
}

/* --- codecs --- */

static void on_message(void *context, const tt_message *message) {
  (void)message;
  ++*(int *)context;
}
static void on_refused(void *context, const tt_message_refusal *refusal) {
  assert_non_null(refusal->reason);
  ++*(int *)context;
}

static tt_status read_messages(tt_error *error) {
  static const char TEXT[] =
      "<MESSAGE id='A' time='1000' ack='yes'><Input time='0'><arm angle='1.5' text='a&lt;b'/>"
      "</Input><Output time='5'><drive velocity='-3'/></Output></MESSAGE>";
  const tt_message_handler handler = {on_message, on_refused};
  const tt_message_limits limits = tt_message_limits_default();
  int heard = 0;
  tt_message_parser *parser = tt_message_parser_new(&limits, &handler, &heard);
  if (!parser) return tt_fail(error, TT_NOMEM, "out of memory");
  for (int i = 0; i < 3; i++) tt_message_parser_feed(parser, TEXT, sizeof TEXT - 1);
  tt_message_parser_end(parser);
  tt_message_parser_free(parser);
  return heard > 0 ? TT_OK : tt_fail(error, TT_NOMEM, "nothing was heard");
}
static void telemetry_messages(void **state) {
  (void)state;
  torture(read_messages);
}

/* A message of a thousand values, all of new attributes, is taken whole or refused. */
static tt_status take_large(tt_collector *collector, tt_error *error) {
  static tt_message_value values[1000];
  static char text[16 * 1000];
  uint32_t used = 1; /* at 0 stands the value of all, which is empty */
  for (int i = 0; i < 1000; i++) {
    values[i] = (tt_message_value){.identifier = used};
    used += (uint32_t)snprintf(text + used, 16, "S.d.v%d", i) + 1;
  }
  const tt_message_sample sample = {.time = 1000, .first = 0, .count = 1000};
  const tt_message message = {.device = "A",
                              .boot = "",
                              .time = 1000,
                              .seq = TT_MESSAGE_NO_SEQ,
                              .text = text,
                              .samples = &sample,
                              .sample_count = 1,
                              .values = values,
                              .value_count = 1000};
  uint64_t ticket;
  return tt_collector_take(collector, &message, NULL, tt_collector_now(), &ticket, error);
}

static tt_status collect(tt_error *error) {
  tt_collector_options options = tt_collector_options_default();
  tt_collector *collector;
  TT_TRY(tt_store_open(&(tt_store_options){.url = "none:"}, &options.store, error));
  tt_status status = tt_collector_new(&options, &collector, error);
  if (status != TT_OK) return status;
  status = take_large(collector, error);
  tt_collector_free(collector);
  return status;
}
static void a_collector(void **state) {
  (void)state;
  torture(collect);
}

/* --- stores --- */

static char folder[64];

static tt_store_batch *new_batch(void) {
  tt_store_batch *batch = tt_store_batch_new();
  if (!batch) return NULL;
  tt_store_add_name(&batch->devices, 0, "ROBO1", NULL, TT_NAME_USED);
  tt_store_add_name(&batch->attributes, 0, "Output.drive.velocity", NULL, TT_NAME_USED);
  const tt_store_epoch epoch = {.anchor = 1000, .offset_low = 900, .offset_high = 1100};
  const tt_store_sample sample = {.device_time = 80000, .time = 81000, .count = 1};
  const tt_store_value value = {0, TT_STORE_NUMBER, 50.25};
  const tt_store_pair pair = {0, 0};
  tt_list_add(&batch->pairs, &pair, 1);
  tt_list_add(&batch->epochs, &epoch, 1);
  tt_list_add(&batch->samples, &sample, 1);
  tt_list_add(&batch->values, &value, 1);
  return batch;
}

static int on_name(void *context, const char *identifier, const char *name, bool *removed) {
  (void)context, (void)name, (void)removed;
  assert_non_null(identifier);
  return 0;
}
static void on_pair(void *context, int device, int attribute) {
  (void)context;
  assert_true(device == 0 && attribute == 0);
}
static bool on_handlings(void *context, const tt_list *handlings) {
  (void)context, (void)handlings;
  return true;
}
static void on_epoch(void *context, const tt_store_boot *boot) { (void)context, (void)boot; }
static void on_spooled(void *context, int device, int64_t key, int64_t last_sample,
                       uint64_t content) {
  (void)context, (void)device, (void)key, (void)last_sample, (void)content;
}

/** What was written is found, or nobody can be asked. */
static tt_status look_for(tt_store *store, const tt_store_batch *batch, tt_error *error) {
  const tt_store_question question = {0, "", batch};
  tt_list boots = TT_LIST(tt_store_boot, NULL);
  int64_t key = -1;
  tt_status status = store->find(store, &question, &boots, &key);
  if (status == TT_OK) assert_true(key == 0 && boots.len == 1);
  tt_list_free(&boots);
  assert_true(status == TT_OK || status == TT_AGAIN);
  return status == TT_AGAIN ? tt_fail(error, TT_NOMEM, "nobody can be asked") : TT_OK;
}

/** What is there must be read as it was written, or not without an error. */
static tt_status read_store(tt_store *store, tt_error *error) {
  tt_store_reader *reader;
  tt_store_cursor *cursor = NULL;
  tt_store_record record;
  const int only[] = {0};
  const tt_store_range range = {0, 0, INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX, only, 1, false};
  TT_TRY(store->open_reader(store, &reader, error));
  tt_list epochs = TT_LIST(tt_store_epoch, NULL);
  tt_status status = reader->epochs(reader, 0, &epochs, error);
  if (status == TT_OK) assert_int_equal(epochs.len, 1);
  if (status == TT_OK) status = reader->open(reader, &range, &cursor, error);
  if (status == TT_OK) {
    status = reader->next(cursor, &record, error);
    if (status == TT_OK) assert_true(record.count == 1 && record.cells[0].number == 50.25);
    if (status == TT_OK && reader->next(cursor, &record, error) != TT_END) status = TT_FAILED;
    reader->close_cursor(cursor);
  }
  tt_list_free(&epochs);
  reader->close(reader);
  return status;
}

static tt_status use_store(tt_store *store, const tt_store_batch *batch, tt_error *error) {
  const tt_store_loader loader = {NULL,         on_name,  on_name,    on_pair,
                                  on_handlings, on_epoch, on_spooled, NULL};
  tt_store_purge purge = {.before = 50000, .limit = 10};
  int removed;
  TT_TRY(store->load(store, &loader, error));
  TT_TRY(store->write(store, batch, error));
  TT_TRY(look_for(store, batch, error));
  TT_TRY(store->purge(store, &purge, &removed, error));
  return read_store(store, error);
}

static tt_status write_to_store(tt_error *error) {
  char url[128];
  snprintf(url, sizeof url, "sqlite:%s/t.sqlite", folder);
  const tt_store_options options = {.url = url, .spool_limit = 1 << 20};
  tt_store *store = NULL;
  TT_TRY(tt_store_open(&options, &store, error));
  tt_store_batch *batch = new_batch();
  bool whole = batch && !tt_store_batch_has_failed(batch);
  tt_status status = whole ? use_store(store, batch, error)
                           : tt_fail(error, TT_NOMEM, "a batch that is not whole says so");
  tt_store_batch_free(batch);
  store->close(store);
  return status;
}

/** What a spool takes it gives back whole, also after memory was short. */
static tt_status use_spool(tt_spool *spool, tt_store_batch *batch, tt_error *error) {
  int taken = 0;
  for (int i = 0; i < 3; i++) {
    tt_status status = tt_spool_append(spool, batch, error);
    if (status != TT_OK) return status;
    taken++;
  }
  uint64_t position = 0, writer;
  tt_status status;
  while ((status = tt_spool_look(spool, &position, &writer, batch, error)) == TT_OK) taken--;
  if (status != TT_END) return status;
  assert_int_equal(taken, 0);
  TT_TRY(tt_spool_front(spool, batch, error));
  assert_int_equal(batch->samples.len, 3);
  assert_true(batch->devices.len >= 1); /* what could not be noted is said again */
  tt_spool_pop(spool);
  return TT_OK;
}

static tt_status write_to_spool(tt_error *error) {
  char path[128];
  snprintf(path, sizeof path, "%s/spool", folder);
  tt_spool *spool = NULL;
  unlink(path);
  TT_TRY(tt_spool_open(path, 1 << 20, &spool, error));
  tt_store_batch *batch = new_batch();
  bool whole = batch && !tt_store_batch_has_failed(batch);
  tt_status status = whole ? use_spool(spool, batch, error)
                           : tt_fail(error, TT_NOMEM, "a batch that is not whole says so");
  tt_store_batch_free(batch);
  tt_spool_close(spool);
  return status;
}

/** What a spool needs to be complete in itself, and a database that is told everything again. */
static tt_status use_catalogue(tt_catalogue *catalogue, tt_store_batch *batch, tt_error *error) {
  if (!tt_catalogue_add_batch(catalogue, batch))
    return tt_fail(error, TT_NOMEM, "not noted, and said");
  tt_list_cut(&batch->devices, 0);
  tt_list_cut(&batch->epochs, 0);
  tt_store_batch *whole = tt_catalogue_complete(catalogue, batch);
  tt_store_batch *all = whole ? tt_catalogue_all(catalogue) : NULL;
  if (all) {
    assert_true(whole->devices.len == 1 && whole->epochs.len == 1 && whole->samples.len == 1);
    assert_true(all->devices.len == 1 && all->epochs.len == 1 && !all->samples.len);
  }
  tt_store_batch_free(whole);
  tt_store_batch_free(all);
  return all ? TT_OK : tt_fail(error, TT_NOMEM, "not whole, and said");
}

static tt_status keep_catalogue(tt_error *error) {
  tt_catalogue *catalogue = tt_catalogue_new();
  tt_store_batch *batch = catalogue ? new_batch() : NULL;
  bool whole = batch && !tt_store_batch_has_failed(batch);
  tt_status status = whole ? use_catalogue(catalogue, batch, error)
                           : tt_fail(error, TT_NOMEM, "a batch that is not whole says so");
  tt_store_batch_free(batch);
  tt_catalogue_free(catalogue);
  return status;
}

/* SQLite's own memory is made to fail, too. */
static sqlite3_mem_methods sqlite_memory;
static void *sqlite_malloc(int size) { return fails() ? NULL : sqlite_memory.xMalloc(size); }
static void *sqlite_realloc(void *old, int size) {
  return fails() ? NULL : sqlite_memory.xRealloc(old, size);
}
static void let_sqlite_fail(void) {
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory);
  sqlite3_mem_methods failing = sqlite_memory;
  failing.xMalloc = sqlite_malloc;
  failing.xRealloc = sqlite_realloc;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
}
static void a_store(void **state) {
  (void)state;
  torture(write_to_store);
}
static void a_spool(void **state) {
  (void)state;
  torture(write_to_spool);
  torture(keep_catalogue);
}

/* --- the run log --- */

static tt_world *world;

static tt_status record(tt_error *error) {
  char path[128];
  snprintf(path, sizeof path, "%s/run.wpilog", folder);
  unlink(path);
  const tt_file files[] = {{"scene.yaml", "a: 1\n", 5}};
  const tt_recorder_options options = {
      .path = path, .run = "{}", .model = "{}", .files = files, .file_count = 1};
  const tt_model *model = tt_world_view(world)->model;
  tt_recorder *recorder = NULL;
  TT_TRY(tt_recorder_open(&options, model, tt_world_names(world), &recorder, error));
  tt_observer *observer = tt_recorder_observer(recorder);
  for (int i = 0; i < 20; i++) observer->publish(observer, tt_world_view(world));
  tt_recorder_close(recorder);
  return TT_OK;
}

#define ENTRIES 20000 /* of a journal: its memory grows many times */

/* The state hashes of a log, which must be 0, 1, 2, …: how many there are. */
static uint64_t count_kept(const char *path) {
  tt_error error = {""};
  tt_run_log *log;
  uint64_t count = 0;
  tt_run_cursor cursor;
  tt_wpilog_record entry;
  tt_journal_scratch scratch = {.capacity = 0};
  tt_entry decoded;
  if (tt_run_log_open(path, &log, &error) != TT_OK) fail_msg("%s", error.text);
  uint32_t entries;
  assert_true(tt_run_cursor_open(&cursor, log));
  while (tt_run_cursor_next(&cursor, &entry) == TT_OK) {
    const tt_run_entry *of = &tt_run_log_entries(log, &entries)[entry.entry];
    if (!of->journal) continue;
    assert_int_equal(tt_journal_decode(of->name, entry.payload, entry.size, &scratch, &decoded),
                     TT_OK);
    assert_int_equal(decoded.hash, count++);
  }
  tt_run_cursor_close(&cursor);
  tt_run_log_close(log);
  return count;
}

/* Allocation `after` from here on fails, and all behind it if asked: what the journal took is in the log, and once it
 * refused an entry it takes none, so that there is no gap. */
static void keep_journal(long after, bool all) {
  char path[128];
  tt_error error;
  snprintf(path, sizeof path, "%s/journal.wpilog", folder);
  unlink(path);
  const tt_recorder_options options = {.path = path, .run = "{}", .model = "{}"};
  tt_recorder *recorder;
  if (tt_recorder_open(&options, tt_world_view(world)->model, tt_world_names(world), &recorder,
                       &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_journal_sink *sink = tt_recorder_journal(recorder);
  uint64_t taken = 0;
  bool refused = false;
  atomic_store(&forever, all);
  atomic_store(&until, after);
  for (uint64_t i = 0; i < ENTRIES; i++) {
    const tt_entry entry = {.kind = TT_ENTRY_HASH, .source = "world", .step = i, .hash = i};
    bool took = sink->write(sink, &entry) == TT_OK;
    assert_false(took && refused);
    refused = !took;
    taken += took;
  }
  atomic_store(&until, LONG_MAX);
  tt_recorder_close(recorder);
  assert_int_equal(count_kept(path), taken);
}

static void a_journal(void **state) {
  (void)state;
  for (long after = 0; after < 8; after++) {
    keep_journal(after, false);
    keep_journal(after, true);
  }
}

static tt_status forget(void *context, const void *bytes, size_t size) {
  (void)context, (void)bytes, (void)size;
  return TT_OK;
}
static tt_status read_log(tt_error *error) {
  char path[128];
  snprintf(path, sizeof path, "%s/run.wpilog", folder);
  tt_run_log *log = NULL;
  TT_TRY(tt_run_log_open(path, &log, error));
  tt_run_cursor cursor;
  tt_status status = TT_OK;
  if (tt_run_cursor_open(&cursor, log)) {
    tt_run_cursor_seek(&cursor, tt_run_log_duration(log) / 2);
    tt_run_cursor_close(&cursor);
  } else {
    status = tt_fail(error, TT_NOMEM, "out of memory");
  }
  const tt_export_sink sink = {.write = forget};
#define EXPORT(name, function)                                                                     \
  if (status == TT_OK) status = function(log, &sink);
  TT_EXPORT_FORMATS(EXPORT)
#undef EXPORT
  if (status != TT_OK && error && !error->text[0]) tt_fail(error, status, "not exported");
  tt_run_log_close(log);
  return status;
}
static void a_run_log(void **state) {
  (void)state;
  torture(record);
  torture(read_log);
}

static int setup(void **state) {
  static const char *const SETTINGS[] = {"robots=[]", "wires=[]"};
  tt_scene *scene = NULL;
  tt_error error = {""};
  snprintf(folder, sizeof folder, "/tmp/tether-torture-XXXXXX");
  if (!mkdtemp(folder) ||
      tt_scene_load(&tt_program_guests, SCENES "one.yaml", SETTINGS, 2, &scene, &error) != TT_OK)
    return -1;
  *state = scene;
  return tt_assemble(scene, &(tt_assembly){.no_wires = true}, &world, &error) == TT_OK ? 0 : -1;
}
static int teardown(void **state) {
  char command[100];
  tt_world_free(world);
  tt_scene_free(*state);
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

int main(void) {
  let_sqlite_fail();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_scene),   cmocka_unit_test(telemetry_messages),
      cmocka_unit_test(a_store),   cmocka_unit_test(a_collector),
      cmocka_unit_test(a_spool),   cmocka_unit_test(a_run_log),
      cmocka_unit_test(a_journal),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
