/* store_testing.c: see its header. */
#include "store/store_testing.h"

#include <glib/gstdio.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *url;    /* of the store under test */
static char *folder; /* of everything in it */
static char *spool;  /* PostgreSQL */

tt_store *tt_testing_open(void) {
  tt_store *store;
  tt_error error;
  tt_store_options options = {.url = url, .spool = spool, .spool_limit = 1 << 20};
  if (tt_store_open(&options, &store, &error) != TT_OK) fail_msg("%s", error.text);
  return store;
}

typedef struct loaded {
  GString *text;
  int devices, attributes;
} loaded;

static int on_device(void *context, const char *identifier, const char *name, bool *removed) {
  loaded *to = context;
  g_string_append_printf(to->text, "device %d %s %s%s\n", to->devices, identifier,
                         name ? name : "-", *removed ? " removed" : "");
  return to->devices++;
}
static int on_attribute(void *context, const char *identifier, const char *name, bool *removed) {
  loaded *to = context;
  g_string_append_printf(to->text, "attribute %d %s %s%s\n", to->attributes, identifier,
                         name ? name : "-", *removed ? " removed" : "");
  return to->attributes++;
}
static void on_pair(void *context, int device, int attribute) {
  g_string_append_printf(((loaded *)context)->text, "pair %d %d\n", device, attribute);
}
static bool on_handlings(void *context, const tt_list *handlings) {
  for (guint i = 0; i < handlings->len; i++) {
    const tt_handling *handling = &tt_list_at(handlings, tt_handling, i);
    g_string_append_printf(((loaded *)context)->text, "handling %s %d %d %s %g %g %g %g\n",
                           handling->pattern, handling->type, handling->mode,
                           handling->unit ? handling->unit : "-", handling->scale, handling->offset,
                           handling->min_interval, handling->retention);
  }
  return true;
}
void tt_testing_append_boot(GString *text, const tt_store_boot *boot) {
  const tt_store_epoch *epoch = &boot->epoch;
  g_string_append_printf(text, "epoch %d %d %d %d %d %d '%s' | %d %d %d\n", epoch->device,
                         epoch->number, (int)epoch->anchor, (int)epoch->offset_low,
                         (int)epoch->offset_high, (int)epoch->key, epoch->boot, boot->has_sample,
                         (int)boot->device_time, (int)boot->time);
}
static void on_epoch(void *context, const tt_store_boot *boot) {
  tt_testing_append_boot(((loaded *)context)->text, boot);
}
static void on_spooled(void *context, int device, int64_t key, int64_t last_sample,
                       uint64_t content) {
  (void)content;
  g_string_append_printf(((loaded *)context)->text, "spooled %d %d %d\n", device, (int)key,
                         (int)last_sample);
}

/** Everything a store tells at its start. */
char *tt_testing_load(tt_store *store) {
  loaded to = {g_string_new(NULL), 0, 0};
  tt_store_loader loader = {&to,          on_device, on_attribute, on_pair,
                            on_handlings, on_epoch,  on_spooled};
  tt_error error;
  if (store->load(store, &loader, &error) != TT_OK) fail_msg("%s", error.text);
  return g_string_free(to.text, FALSE);
}

void tt_testing_assert_loads(tt_store *store, const char *expected) {
  char *text = tt_testing_load(store);
  assert_string_equal(text, expected);
  g_free(text);
}

void tt_testing_add_name(tt_list *names, int index, const char *identifier, const char *name) {
  assert_true(tt_store_add_name(names, index, identifier, name, TT_NAME_USED));
}

/** Its key is 100 × device + number. */
void tt_testing_add_epoch(tt_store_batch *batch, int device, int number, int64_t anchor,
                          int64_t low, int64_t high, const char *boot) {
  tt_store_epoch epoch = {.device = device,
                          .number = number,
                          .anchor = anchor,
                          .offset_low = low,
                          .offset_high = high,
                          .key = 100 * device + number};
  strcpy(epoch.boot, boot);
  tt_list_add(&batch->epochs, &epoch, 1);
}

tt_store_sample *tt_testing_add_sample(tt_store_batch *batch, int device, int epoch,
                                       int64_t device_time, int64_t time) {
  tt_store_sample sample = {.device = device,
                            .epoch = epoch,
                            .device_time = device_time,
                            .time = time,
                            .first = batch->values.len};
  tt_list_add(&batch->samples, &sample, 1);
  return &tt_list_at(&batch->samples, tt_store_sample, batch->samples.len - 1);
}

void tt_testing_add_value(tt_store_batch *batch, int attribute, const char *text, double number) {
  tt_store_value value = {attribute, TT_STORE_NUMBER, number};
  if (text) {
    value.text = batch->text.len;
    tt_list_add(&batch->text, text, strlen(text) + 1);
  }
  tt_list_add(&batch->values, &value, 1);
  tt_list_at(&batch->samples, tt_store_sample, batch->samples.len - 1).count++;
}

tt_store_batch *tt_testing_batch(void) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 0, "ROBO1", NULL);
  tt_testing_add_name(&batch->devices, 1, "ROBO2", "Red");
  tt_testing_add_name(&batch->attributes, 0, "Output.drive.velocity", "Speed");
  tt_testing_add_name(&batch->attributes, 1, "Output.turn.heading", NULL);
  tt_testing_add_epoch(batch, 0, 0, 1000, 900, 1100, "");
  tt_testing_add_epoch(batch, 1, 0, 0, -50, 50, "start 7");
  tt_testing_add_sample(batch, 0, 0, 80000, 81000);
  tt_testing_add_value(batch, 0, NULL, 50.25);
  tt_testing_add_value(batch, 1, "Left & <\"ü\">", 0);
  tt_testing_add_sample(batch, 1, 0, 80050, 80050);
  tt_testing_add_value(batch, 0, NULL, -0.1);
  return batch;
}

void tt_testing_write(tt_store *store, tt_store_batch *batch) {
  tt_error error;
  if (store->write(store, batch, &error) != TT_OK) fail_msg("%s", error.text);
  tt_store_batch_free(batch);
}

/** All records of a device and epoch, a line each. */
char *tt_testing_read(tt_store *store, int device, int epoch, int64_t from, int64_t to,
                      const int *attributes, int count) {
  tt_store_reader *reader;
  tt_store_cursor *cursor;
  tt_store_record record;
  tt_error error;
  GString *text = g_string_new(NULL);
  tt_store_range range = {device, epoch, INT64_MIN, INT64_MAX, from, to, attributes, count};
  if (store->open_reader(store, &reader, &error) != TT_OK) fail_msg("%s", error.text);
  if (reader->open(reader, &range, &cursor, &error) != TT_OK) fail_msg("%s", error.text);
  tt_status status;
  while ((status = reader->next(cursor, &record, &error)) == TT_OK) {
    g_string_append_printf(text, "%d %d", (int)record.device_time, (int)record.time);
    for (int i = 0; i < record.count; i++) {
      const tt_store_cell *cell = &record.cells[i];
      if (cell->text) {
        g_string_append_printf(text, " %d='%s'", cell->attribute, cell->text);
      } else {
        g_string_append_printf(text, " %d=%.17g", cell->attribute, cell->number);
      }
    }
    g_string_append_c(text, '\n');
  }
  assert_int_equal(status, TT_END);
  reader->close_cursor(cursor);
  reader->close(reader);
  return g_string_free(text, FALSE);
}

void tt_testing_assert_reads(tt_store *store, int device, int epoch, const char *expected) {
  char *text = tt_testing_read(store, device, epoch, INT64_MIN, INT64_MAX, NULL, 0);
  assert_string_equal(text, expected);
  g_free(text);
}

/* --- beginning and end --- */

int tt_testing_clean(void **state) {
  (void)state;
  static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; !spool && i < sizeof endings / sizeof *endings; i++) {
    char *path = g_strconcat(url + 7, endings[i], NULL);
    g_unlink(path);
    g_free(path);
  }
  if (spool) {
    char *command = g_strdup_printf(
        "psql -X -q '%s' -c 'DROP SCHEMA IF EXISTS tether CASCADE' 2>/dev/null", url);
    int status = system(command);
    g_free(command);
    if (status) return 1;
    g_unlink(spool);
  }
  return 0;
}

int tt_testing_begin(void **state) {
  (void)state;
  folder = g_dir_make_tmp("tether-store-XXXXXX", NULL);
  const char *postgres = g_getenv("TETHER_TEST_POSTGRES");
  if (postgres) spool = g_build_filename(folder, "spool", NULL);
  url = postgres ? g_strdup(postgres) : g_strdup_printf("sqlite:%s/t.sqlite", folder);
  return !folder;
}

int tt_testing_end(void **state) {
  int failed = tt_testing_clean(state);
  g_rmdir(folder);
  g_free(folder);
  g_free(url);
  g_free(spool);
  return failed;
}

const char *tt_testing_url(void) { return url; }
const char *tt_testing_file(void) { return url + strlen("sqlite:"); }
