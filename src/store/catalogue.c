/* catalogue.c: names by index, epochs in order of their coming. */
#include "store/catalogue.h"

struct tt_catalogue {
  GPtrArray *devices, *attributes; /**< identifiers by index, NULL: none was said */
  GArray *epochs;                  /**< tt_store_epoch */
  GArray *newest;                  /**< by device: number of its latest epoch + 1 */
};

tt_catalogue *tt_catalogue_new(void) {
  tt_catalogue *catalogue = g_new(tt_catalogue, 1);
  catalogue->devices = g_ptr_array_new_with_free_func(g_free);
  catalogue->attributes = g_ptr_array_new_with_free_func(g_free);
  catalogue->epochs = g_array_new(FALSE, FALSE, sizeof(tt_store_epoch));
  catalogue->newest = g_array_new(FALSE, TRUE, sizeof(int));
  return catalogue;
}

void tt_catalogue_free(tt_catalogue *catalogue) {
  g_ptr_array_unref(catalogue->devices);
  g_ptr_array_unref(catalogue->attributes);
  g_array_unref(catalogue->epochs);
  g_array_unref(catalogue->newest);
  g_free(catalogue);
}

/* --- what is said --- */

void tt_catalogue_add_name(tt_catalogue *catalogue, bool device, int index,
                           const char *identifier) {
  GPtrArray *names = device ? catalogue->devices : catalogue->attributes;
  if (names->len <= (guint)index) g_ptr_array_set_size(names, index + 1);
  if (!names->pdata[index]) names->pdata[index] = g_strdup(identifier);
}

int tt_catalogue_newest_epoch(const tt_catalogue *catalogue, int device) {
  return (guint)device < catalogue->newest->len ? g_array_index(catalogue->newest, int, device) - 1
                                                : -1;
}

static void add_newest(tt_catalogue *catalogue, const tt_store_epoch *epoch) {
  guint device = (guint)epoch->device;
  if (catalogue->newest->len <= device) g_array_set_size(catalogue->newest, device + 1);
  int *newest = &g_array_index(catalogue->newest, int, device);
  *newest = MAX(*newest, epoch->number + 1);
}

void tt_catalogue_add_epoch(tt_catalogue *catalogue, const tt_store_epoch *epoch) {
  add_newest(catalogue, epoch);
  for (guint i = catalogue->epochs->len; i-- > 0;) {
    tt_store_epoch *known = &g_array_index(catalogue->epochs, tt_store_epoch, i);
    if (known->device != epoch->device || known->number != epoch->number) continue;
    *known = *epoch;
    return;
  }
  g_array_append_val(catalogue->epochs, *epoch);
}

static void add_names(tt_catalogue *catalogue, bool device, const GArray *names) {
  for (guint i = 0; i < names->len; i++) {
    const tt_store_name *name = &g_array_index(names, tt_store_name, i);
    tt_catalogue_add_name(catalogue, device, name->index, name->identifier);
  }
}

void tt_catalogue_add_batch(tt_catalogue *catalogue, const tt_store_batch *batch) {
  add_names(catalogue, true, batch->devices);
  add_names(catalogue, false, batch->attributes);
  for (guint i = 0; i < batch->epochs->len; i++) {
    tt_catalogue_add_epoch(catalogue, &g_array_index(batch->epochs, tt_store_epoch, i));
  }
}

/* --- what is told again --- */

/** Names of the indices in `used`; of all where that is NULL. */
static void copy_names(GArray *target, const GPtrArray *names, GHashTable *used) {
  for (guint i = 0; i < names->len; i++) {
    if (!names->pdata[i] || (used && !g_hash_table_contains(used, GINT_TO_POINTER((int)i))))
      continue;
    tt_store_name copy = {(int)i, g_strdup(names->pdata[i]), NULL};
    g_array_append_val(target, copy);
  }
}

tt_store_batch *tt_catalogue_all(const tt_catalogue *catalogue) {
  tt_store_batch *all = tt_store_batch_new();
  copy_names(all->devices, catalogue->devices, NULL);
  copy_names(all->attributes, catalogue->attributes, NULL);
  g_array_append_vals(all->epochs, catalogue->epochs->data, catalogue->epochs->len);
  return all;
}

/** What the batch says itself, human names too. */
static void copy_own(GArray *target, const GArray *own) {
  for (guint i = 0; i < own->len; i++) {
    const tt_store_name *name = &g_array_index(own, tt_store_name, i);
    tt_store_name copy = {name->index, g_strdup(name->identifier), g_strdup(name->name)};
    g_array_append_val(target, copy);
  }
}

static void copy_devices(tt_store_batch *whole, const tt_catalogue *catalogue,
                         const tt_store_batch *batch) {
  GHashTable *used = g_hash_table_new(g_direct_hash, g_direct_equal);
  for (guint i = 0; i < batch->samples->len; i++) {
    g_hash_table_add(used,
                     GINT_TO_POINTER(g_array_index(batch->samples, tt_store_sample, i).device));
  }
  for (guint i = 0; i < batch->epochs->len; i++) {
    g_hash_table_add(used, GINT_TO_POINTER(g_array_index(batch->epochs, tt_store_epoch, i).device));
  }
  copy_names(whole->devices, catalogue->devices, used);
  copy_own(whole->devices, batch->devices);
  g_hash_table_unref(used);
}

static void copy_attributes(tt_store_batch *whole, const tt_catalogue *catalogue,
                            const tt_store_batch *batch) {
  GHashTable *used = g_hash_table_new(g_direct_hash, g_direct_equal);
  for (guint i = 0; i < batch->values->len; i++) {
    g_hash_table_add(used,
                     GINT_TO_POINTER(g_array_index(batch->values, tt_store_value, i).attribute));
  }
  copy_names(whole->attributes, catalogue->attributes, used);
  copy_own(whole->attributes, batch->attributes);
  g_hash_table_unref(used);
}

static int64_t epoch_key(int device, int epoch) { return (int64_t)device << 32 | (uint32_t)epoch; }

static void copy_epochs(tt_store_batch *whole, const tt_catalogue *catalogue,
                        const tt_store_batch *batch) {
  GHashTable *used = g_hash_table_new(g_int64_hash, g_int64_equal);
  gint64 *keys = g_new(gint64, batch->samples->len + 1);
  for (guint i = 0; i < batch->samples->len; i++) {
    const tt_store_sample *sample = &g_array_index(batch->samples, tt_store_sample, i);
    keys[i] = epoch_key(sample->device, sample->epoch);
    g_hash_table_add(used, &keys[i]);
  }
  for (guint i = 0; i < catalogue->epochs->len; i++) {
    const tt_store_epoch *epoch = &g_array_index(catalogue->epochs, tt_store_epoch, i);
    gint64 key = epoch_key(epoch->device, epoch->number);
    if (g_hash_table_contains(used, &key)) g_array_append_val(whole->epochs, *epoch);
  }
  g_array_append_vals(whole->epochs, batch->epochs->data, batch->epochs->len);
  g_hash_table_unref(used);
  g_free(keys);
}

tt_store_batch *tt_catalogue_complete(const tt_catalogue *catalogue, const tt_store_batch *batch) {
  tt_store_batch *whole = tt_store_batch_new();
  copy_devices(whole, catalogue, batch);
  copy_attributes(whole, catalogue, batch);
  copy_epochs(whole, catalogue, batch);
  for (guint i = 0; i < batch->handlings->len; i++) {
    tt_handling copy;
    tt_handling_copy(&copy, &g_array_index(batch->handlings, tt_handling, i));
    g_array_append_val(whole->handlings, copy);
  }
  g_array_append_vals(whole->samples, batch->samples->data, batch->samples->len);
  g_array_append_vals(whole->values, batch->values->data, batch->values->len);
  g_string_append_len(whole->text, batch->text->str, (gssize)batch->text->len);
  return whole;
}
