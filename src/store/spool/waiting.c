/* waiting.c: what is told of what waits, while the database can't be asked. */
#include "store/map.h"
#include "store/spool/internal.h"

#include <stdlib.h>

typedef struct telling {
  tt_spool *spool;
  const tt_store_loader *loader;
  tt_catalogue *catalogue;
  tt_store_batch *settings;
} telling;

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

/** 0: unknown. */
static int get_number(const tt_list *numbers, int index) {
  return index >= 0 && (uint32_t)index < numbers->len ? tt_list_at(numbers, int, index) : 0;
}

/** False: out of memory. */
static bool set_number(tt_list *numbers, int index, int number) {
  if (!tt_list_fill(numbers, (uint32_t)index + 1)) return false;
  tt_list_at(numbers, int, index) = number;
  return true;
}

/** What is gathered from the spool. */
typedef struct spooled {
  tt_list devices, attributes; /**< int: for each index of the batch's process, index + 1 here */
  tt_list boots;               /**< tt_store_boot: epochs of which samples wait */
  tt_map places;               /**< device, key → index in `boots` */
  tt_map keys;                 /**< device and number in the batch's process → key */
} spooled;

/** Tells names, and notes for each index of the batch's process what it is here. False: out of memory. */
static bool take_spooled_names(const telling *to, bool devices, const tt_list *names,
                               tt_list *indices) {
  const tt_store_loader *loader = to->loader;
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    if (get_number(indices, name->index) && !name->name && name->state == TT_NAME_KNOWN)
      continue;  // as before
    const char *human = name->name && *name->name ? name->name : NULL;
    bool removed = name->state == TT_NAME_REMOVED;
    int index = (devices ? loader->device : loader->attribute)(loader->context, name->identifier,
                                                               human, &removed);
    if (!tt_catalogue_add_name(to->catalogue, devices, index, removed ? NULL : name->identifier) ||
        !set_number(indices, name->index, index + 1))
      return false;
  }
  return true;
}

static bool take_spooled_epochs(const tt_store_batch *batch, spooled *all) {
  for (uint32_t i = 0; i < batch->epochs.len; i++) {
    tt_store_boot boot = {.epoch = tt_list_at(&batch->epochs, tt_store_epoch, i)};
    const tt_map_key number = {boot.epoch.device, boot.epoch.number};
    boot.epoch.device = get_number(&all->devices, boot.epoch.device) - 1;
    if (boot.epoch.device < 0) continue;
    const tt_map_key key = {boot.epoch.device, boot.epoch.key};
    if (!tt_map_put(&all->keys, number, boot.epoch.key)) return false;
    const int64_t *place = tt_map_get(&all->places, key);
    if (place) {
      tt_list_at(&all->boots, tt_store_boot, *place).epoch = boot.epoch;
    } else if (!tt_map_put(&all->places, key, all->boots.len) ||
               !tt_list_add(&all->boots, &boot, 1)) {
      return false;
    }
  }
  return true;
}

/** Tells a message of `count` samples whose attributes are ours. */
static void take_spooled_message(const telling *to, const tt_store_batch *batch, spooled *all,
                                 uint32_t first, uint32_t count) {
  const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, first);
  const int device = get_number(&all->devices, sample->device) - 1;
  const int64_t *key = tt_map_get(&all->keys, (tt_map_key){sample->device, sample->epoch});
  const int64_t *place = key ? tt_map_get(&all->places, (tt_map_key){device, *key}) : NULL;
  if (device < 0 || !place) return;
  tt_store_boot *boot = &tt_list_at(&all->boots, tt_store_boot, *place);
  int64_t last = INT64_MIN;
  for (uint32_t i = first; i < first + count; i++) {
    sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    if (sample->device_time > last) last = sample->device_time;
    if (boot->has_sample && boot->device_time > sample->device_time) continue;
    boot->has_sample = true;
    boot->device_time = sample->device_time;
    boot->time = sample->time;
  }
  to->loader->spooled(to->loader->context, device, *key, last,
                      tt_store_content(batch, first, count));
}

static void take_spooled_samples(const telling *to, tt_store_batch *batch, spooled *all) {
  for (uint32_t i = 0; i < batch->values.len; i++) {
    tt_store_value *value = &tt_list_at(&batch->values, tt_store_value, i);
    value->attribute = get_number(&all->attributes, value->attribute) - 1;
  }
  for (uint32_t i = 0, count; i < batch->samples.len; i += count) {
    count = tt_store_message_size(batch, i);
    take_spooled_message(to, batch, all, i, count);
  }
}

/** Everything that waits, batch by batch. */
static tt_status look_at_spool(const telling *to, tt_store_batch *batch, spooled *all,
                               tt_error *error) {
  uint64_t position = 0, writer = 0, previous = 0;
  tt_status status;
  while ((status = tt_spool_look(to->spool, &position, &writer, batch, error)) == TT_OK) {
    if (writer != previous) {
      tt_list_cut(&all->devices, 0);
      tt_list_cut(&all->attributes, 0);
      tt_map_clear(&all->keys);
    }
    previous = writer;
    if (!take_spooled_names(to, true, &batch->devices, &all->devices) ||
        !take_spooled_names(to, false, &batch->attributes, &all->attributes) ||
        !take_spooled_epochs(batch, all) || !tt_spool_note_settings(to->settings, batch))
      return no_memory(error);
    take_spooled_samples(to, batch, all);
  }
  return status == TT_END ? TT_OK : status;
}

static int by_number(const void *a, const void *b) {
  const tt_store_boot *left = a, *right = b;
  return left->epoch.number - right->epoch.number;
}

tt_status tt_spool_tell(tt_spool *spool, const tt_store_loader *loader, tt_catalogue *catalogue,
                        tt_store_batch *settings, tt_error *error) {
  const telling to = {spool, loader, catalogue, settings};
  spooled all = {.devices = TT_LIST(int, NULL),
                 .attributes = TT_LIST(int, NULL),
                 .boots = TT_LIST(tt_store_boot, NULL)};
  tt_store_batch *batch = tt_store_batch_new();
  tt_status status = batch ? look_at_spool(&to, batch, &all, error) : no_memory(error);
  if (all.boots.len) qsort(all.boots.data, all.boots.len, sizeof(tt_store_boot), by_number);
  for (uint32_t i = 0; i < all.boots.len; i++)
    loader->epoch(loader->context, &tt_list_at(&all.boots, tt_store_boot, i));
  tt_store_batch_free(batch);
  tt_list_free(&all.devices);
  tt_list_free(&all.attributes);
  tt_list_free(&all.boots);
  tt_map_clear(&all.places);
  tt_map_clear(&all.keys);
  return status;
}
