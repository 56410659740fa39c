/* store.c: the batch, and the choice of a store by its URL. */
#include "store/store.h"

#include <string.h>

static void clear_name(gpointer item) {
  tt_store_name *name = item;
  g_free(name->identifier);
  g_free(name->name);
}

static void clear_handling(gpointer item) { tt_handling_clear(item); }

void tt_handling_clear(tt_handling *handling) {
  g_free(handling->pattern);
  g_free(handling->unit);
  handling->pattern = handling->unit = NULL;
}

void tt_handling_copy(tt_handling *target, const tt_handling *source) {
  *target = *source;
  target->pattern = g_strdup(source->pattern);
  target->unit = g_strdup(source->unit);
}

tt_store_batch *tt_store_batch_new(void) {
  tt_store_batch *batch = g_new0(tt_store_batch, 1);
  batch->devices = g_array_new(FALSE, FALSE, sizeof(tt_store_name));
  batch->attributes = g_array_new(FALSE, FALSE, sizeof(tt_store_name));
  batch->handlings = g_array_new(FALSE, FALSE, sizeof(tt_handling));
  batch->epochs = g_array_new(FALSE, FALSE, sizeof(tt_store_epoch));
  batch->samples = g_array_new(FALSE, FALSE, sizeof(tt_store_sample));
  batch->values = g_array_new(FALSE, FALSE, sizeof(tt_store_value));
  batch->text = g_string_new(NULL);
  g_array_set_clear_func(batch->devices, clear_name);
  g_array_set_clear_func(batch->attributes, clear_name);
  g_array_set_clear_func(batch->handlings, clear_handling);
  return batch;
}

void tt_store_batch_clear(tt_store_batch *batch) {
  g_array_set_size(batch->devices, 0);
  g_array_set_size(batch->attributes, 0);
  g_array_set_size(batch->handlings, 0);
  g_array_set_size(batch->epochs, 0);
  g_array_set_size(batch->samples, 0);
  g_array_set_size(batch->values, 0);
  g_string_truncate(batch->text, 0);
}

void tt_store_batch_free(tt_store_batch *batch) {
  if (!batch) return;
  g_array_unref(batch->devices);
  g_array_unref(batch->attributes);
  g_array_unref(batch->handlings);
  g_array_unref(batch->epochs);
  g_array_unref(batch->samples);
  g_array_unref(batch->values);
  g_string_free(batch->text, TRUE);
  g_free(batch);
}

bool tt_store_batch_is_empty(const tt_store_batch *batch) {
  return !batch->devices->len && !batch->attributes->len && !batch->handlings->len &&
         !batch->epochs->len && !batch->samples->len;
}

size_t tt_store_batch_bytes(const tt_store_batch *batch) {
  return batch->samples->len * sizeof(tt_store_sample) +
         batch->values->len * sizeof(tt_store_value) + batch->text->len;
}

tt_status tt_store_open(const tt_store_options *options, tt_store **store, tt_error *error) {
  if (!strncmp(options->url, "sqlite:", 7)) return tt_sqlite_open(options->url + 7, store, error);
  if (!strcmp(options->url, "none:")) return tt_none_open(store);
  if (g_str_has_prefix(options->url, "postgresql://") ||
      g_str_has_prefix(options->url, "postgres://")) {
    return tt_postgres_open(options, store, error);
  }
  return tt_fail(error, TT_INVALID,
                 "store '%s' is not understood; give sqlite:FILE or postgresql://HOST/DATABASE",
                 options->url);
}
