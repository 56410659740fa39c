/* store_testing.c: see its header. */
#include "store/store_testing.h"

#include <glib/gstdio.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const tt_store_backend *backend; /* NULL: the default one */
static const tt_store_place *place;     /* NULL: a file */
static char *url;                       /* of the store under test */
static char *folder;                    /* of everything in it */
static char *spool;                     /* NULL: none */
static GPtrArray *all_loaded;           /* loaded: stores go on telling until they are closed */

tt_store *tt_testing_open_by(const tt_store_options *options) {
  tt_store *store;
  tt_error error;
  if (tt_store_open(options, &store, &error) != TT_OK) fail_msg("%s", error.text);
  return store;
}

static tt_store *open_with(const char *own_spool) {
  return tt_testing_open_by(
      &(tt_store_options){.url = url, .spool = own_spool, .spool_limit = 1 << 20});
}

tt_store *tt_testing_open(void) { return open_with(spool); }

tt_store *tt_testing_open_beside(void) {
  char *own = spool ? g_strconcat(spool, "-beside", NULL) : NULL;
  tt_store *store = open_with(own);
  g_free(own);
  return store;
}

tt_store *tt_testing_open_url(const char *other) {
  tt_store *store = tt_testing_open_by(&(tt_store_options){.url = other});
  g_free(tt_testing_load(store));
  return store;
}

/* --- what is told --- */

typedef struct loaded {
  GString *text;
  GPtrArray *devices, *attributes; /**< identifiers */
} loaded;

static void free_loaded(void *freed) {
  loaded *to = freed;
  g_string_free(to->text, TRUE);
  g_ptr_array_unref(to->devices);
  g_ptr_array_unref(to->attributes);
  g_free(to);
}

static loaded *new_loaded(void) {
  if (!all_loaded) all_loaded = g_ptr_array_new_with_free_func(free_loaded);
  loaded *to = g_new(loaded, 1);
  *to = (loaded){g_string_new(NULL), g_ptr_array_new_with_free_func(g_free),
                 g_ptr_array_new_with_free_func(g_free)};
  g_ptr_array_add(all_loaded, to);
  return to;
}

const char *tt_testing_told(void) {
  return ((loaded *)g_ptr_array_index(all_loaded, all_loaded->len - 1))->text->str;
}

static int on_name(loaded *to, const char *what, GPtrArray *names, const char *identifier,
                   const char *name, bool removed) {
  guint index;
  if (!g_ptr_array_find_with_equal_func(names, identifier, g_str_equal, &index)) {
    index = names->len;
    g_ptr_array_add(names, g_strdup(identifier));
  }
  g_string_append_printf(to->text, "%s %u %s %s%s\n", what, index, identifier, name ? name : "-",
                         removed ? " removed" : "");
  return (int)index;
}

static int on_device(void *context, const char *identifier, const char *name, bool *removed) {
  return on_name(context, "device", ((loaded *)context)->devices, identifier, name, *removed);
}
static int on_attribute(void *context, const char *identifier, const char *name, bool *removed) {
  return on_name(context, "attribute", ((loaded *)context)->attributes, identifier, name, *removed);
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

static void (*others)(void *context, const tt_store_batch *batch);

void tt_testing_tell_others(void (*told)(void *context, const tt_store_batch *batch)) {
  others = told;
}

static tt_store_loader loader_of(loaded *to) {
  return (tt_store_loader){to,           on_device, on_attribute, on_pair,
                           on_handlings, on_epoch,  on_spooled,   others};
}

static char *load(tt_store *store, tt_status expected) {
  loaded *to = new_loaded();
  const tt_store_loader loader = loader_of(to);
  tt_error error;
  tt_status status = store->load(store, &loader, &error);
  if (status != expected) fail_msg("%d: %s", status, status == TT_AGAIN ? "" : error.text);
  return g_strdup(to->text->str);
}

/** Everything a store tells at its start. */
char *tt_testing_load(tt_store *store) { return load(store, TT_OK); }

char *tt_testing_load_away(tt_store *store) { return load(store, TT_AGAIN); }

tt_store_reader *tt_testing_open_alone(char **told) {
  loaded *to = new_loaded();
  const tt_store_loader loader = loader_of(to);
  const tt_store_options options = {.url = url};
  const tt_store_backend *found;
  tt_store_reader *reader = NULL;
  tt_error error;
  if (tt_store_backend_of(url, &found, &error) != TT_OK ||
      found->open_reader(&options, &reader, &error) != TT_OK ||
      reader->load(reader, &loader, &error) != TT_OK)
    fail_msg("%s", error.text);
  *told = g_strdup(to->text->str);
  return reader;
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

int tt_testing_purge(tt_store *store, const tt_store_purge *purge) {
  int all = 0, removed;
  tt_error error;
  for (;; g_usleep(1000)) {
    const tt_status status = store->purge(store, purge, &removed, &error);
    if (status != TT_OK && status != TT_AGAIN) fail_msg("%s", error.text);
    all += removed;
    if (status == TT_OK) return all;
  }
}

/** All records of a range, a line each. */
char *tt_testing_read_range(tt_store_reader *reader, const tt_store_range *range) {
  tt_store_cursor *cursor;
  tt_store_record record;
  tt_error error;
  GString *text = g_string_new(NULL);
  if (reader->open(reader, range, &cursor, &error) != TT_OK) fail_msg("%s", error.text);
  tt_status status;
  while ((status = reader->next(cursor, &record, &error)) == TT_OK) {
    g_string_append_printf(text, "%d %d", (int)record.device_time, (int)record.time);
    if (record.seq) g_string_append_printf(text, " #%d", (int)record.seq);
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
  return g_string_free(text, FALSE);
}

char *tt_testing_read(tt_store *store, int device, int epoch, int64_t from, int64_t to,
                      const int *attributes, int count) {
  tt_store_reader *reader;
  tt_error error;
  tt_store_range range = {device, epoch, INT64_MIN, INT64_MAX, from, to, attributes, count, false};
  if (store->open_reader(store, &reader, &error) != TT_OK) fail_msg("%s", error.text);
  char *text = tt_testing_read_range(reader, &range);
  reader->close(reader);
  return text;
}

void tt_testing_assert_reads(tt_store *store, int device, int epoch, const char *expected) {
  char *text = tt_testing_read(store, device, epoch, INT64_MIN, INT64_MAX, NULL, 0);
  assert_string_equal(text, expected);
  g_free(text);
}

/* --- beginning and end --- */

void tt_testing_at(const tt_store_backend *tested, const tt_store_place *where) {
  backend = tested;
  place = where;
}

const tt_store_place *tt_testing_place(void) { return place; }

static bool remove_files(void) {
  GDir *files = g_dir_open(folder, 0, NULL);
  if (!files) return false;
  const char *name;
  while ((name = g_dir_read_name(files))) {
    char *path = g_build_filename(folder, name, NULL);
    g_unlink(path);
    g_free(path);
  }
  g_dir_close(files);
  return true;
}

int tt_testing_clean(void **state) {
  (void)state;
  if (all_loaded) g_ptr_array_set_size(all_loaded, 0);
  return remove_files() && (!place || !place->clean || place->clean(url)) ? 0 : 1;
}

int tt_testing_begin(void **state) {
  (void)state;
  if (!backend) backend = tt_store_default_backend();
  folder = g_dir_make_tmp("tether-store-XXXXXX", NULL);
  if (!folder) return 1;
  if (place && place->url)
    url = g_strdup(place->url());
  else
    url = g_strdup_printf("%s%s/t.%s", backend->schemes[0], folder, backend->file);
  if (backend->abilities & TT_STORE_REMOTE) spool = g_build_filename(folder, "spool", NULL);
  return 0;
}

int tt_testing_end(void **state) {
  int failed = tt_testing_clean(state);
  g_rmdir(folder);
  g_free(folder);
  g_free(url);
  g_free(spool);
  if (all_loaded) g_ptr_array_unref(all_loaded);
  all_loaded = NULL;
  return failed;
}

const char *tt_testing_folder(void) { return folder; }
const char *tt_testing_url(void) { return url; }
const char *tt_testing_spool(void) { return spool; }
const char *tt_testing_file(void) { return url + strlen(backend->schemes[0]); }
