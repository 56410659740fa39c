/* catalogue.c: names by index, epochs in order of their coming. */
#include "store/catalogue.h"

#include "store/map.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

/** Epochs that may go are looked for behind so many, and behind as many as there were: it costs more than to keep some. */
#define MOST_UNSETTLED 4096

/** What was said of an index. */
typedef struct named {
  char *identifier; /**< NULL: nothing was */
  bool removed;     /**< its epochs stay, and batches that were begun before may still need it */
} named;

struct tt_catalogue {
  tt_list devices, attributes; /**< named, by index */
  tt_list epochs;              /**< tt_store_epoch */
  tt_list told; /**< int64_t, of each of them: when it was said last, in this order */
  int64_t tellings;
  int64_t settled; /**< how many tellings are of batches that are stored */
  uint32_t looked; /**< epochs that there were when it was last looked which may go */
  tt_map places;   /**< device, number → index in `epochs` */
};

static void clear_named(void *item) { free(((named *)item)->identifier); }

tt_catalogue *tt_catalogue_new(void) {
  tt_catalogue *catalogue = malloc(sizeof *catalogue);
  if (!catalogue) return NULL;
  *catalogue = (tt_catalogue){.devices = TT_LIST(named, clear_named),
                              .attributes = TT_LIST(named, clear_named),
                              .epochs = TT_LIST(tt_store_epoch, NULL),
                              .told = TT_LIST(int64_t, NULL)};
  return catalogue;
}

void tt_catalogue_free(tt_catalogue *catalogue) {
  if (!catalogue) return;
  tt_list_free(&catalogue->devices);
  tt_list_free(&catalogue->attributes);
  tt_list_free(&catalogue->epochs);
  tt_list_free(&catalogue->told);
  tt_map_clear(&catalogue->places);
  free(catalogue);
}

/* --- what is said --- */

bool tt_catalogue_add_name(tt_catalogue *catalogue, bool device, int index,
                           const char *identifier) {
  tt_list *names = device ? &catalogue->devices : &catalogue->attributes;
  if (!tt_list_fill(names, (uint32_t)index + 1)) return false;
  named *known = &tt_list_at(names, named, index);
  if (identifier && (known->removed || !known->identifier)) {
    char *said = strdup(identifier);
    if (!said) return false;
    free(known->identifier);
    known->identifier = said;
  }
  known->removed = !identifier;
  return true;
}

const char *tt_catalogue_device(const tt_catalogue *catalogue, int index) {
  const tt_list *names = &catalogue->devices;
  if (index < 0 || (uint32_t)index >= names->len) return NULL;
  const named *known = &tt_list_at(names, named, index);
  return known->removed ? NULL : known->identifier;
}

bool tt_catalogue_add_epoch(tt_catalogue *catalogue, const tt_store_epoch *epoch) {
  tt_map_key key = {epoch->device, epoch->number};
  const int64_t *place = tt_map_get(&catalogue->places, key);
  const int64_t now = ++catalogue->tellings;
  if (place) {
    tt_list_at(&catalogue->epochs, tt_store_epoch, *place) = *epoch;
    tt_list_at(&catalogue->told, int64_t, *place) = now;
    return true;
  }
  if (!tt_list_reserve(&catalogue->epochs, 1) || !tt_list_reserve(&catalogue->told, 1) ||
      !tt_map_put(&catalogue->places, key, catalogue->epochs.len))
    return false;
  return tt_list_add(&catalogue->epochs, epoch, 1) && tt_list_add(&catalogue->told, &now, 1);
}

static int in_order(const void *a, const void *b) {
  const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
  return one < other ? -1 : one > other;
}

/** Puts those that were said last at the front, those of a device together. */
static int latest_first(const void *a, const void *b, void *context) {
  const tt_catalogue *catalogue = context;
  const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
  const int32_t first = tt_list_at(&catalogue->epochs, tt_store_epoch, one).device;
  const int32_t second = tt_list_at(&catalogue->epochs, tt_store_epoch, other).device;
  if (first != second) return first < second ? -1 : 1;
  return in_order(&tt_list_at(&catalogue->told, int64_t, other),
                  &tt_list_at(&catalogue->told, int64_t, one));
}

/** Where the latest of each device are (int64_t), in the order in which they came; those of the batch in hand come on top, since its samples
 *  may need others as well. False: out of memory. */
static bool list_latest(const tt_catalogue *catalogue, tt_list *places) {
  if (!tt_list_reserve(places, catalogue->epochs.len)) return false;
  for (int64_t i = 0; i < catalogue->epochs.len; i++) tt_list_add(places, &i, 1);
  if (places->len)
    qsort_r(places->data, places->len, sizeof(int64_t), latest_first, (void *)catalogue);
  int device = -1;
  uint32_t kept = 0, of_device = 0;
  for (uint32_t i = 0; i < places->len; i++) {
    const int64_t place = tt_list_at(places, int64_t, i);
    const int other = tt_list_at(&catalogue->epochs, tt_store_epoch, place).device;
    if (other != device) of_device = 0;
    device = other;
    of_device += tt_list_at(&catalogue->told, int64_t, place) <= catalogue->settled;
    if (of_device <= TT_STORE_EPOCHS) tt_list_at(places, int64_t, kept++) = place;
  }
  tt_list_cut(places, kept);
  if (kept) qsort(places->data, kept, sizeof(int64_t), in_order);
  return true;
}

static void copy_places(tt_list *target, const tt_catalogue *catalogue, const tt_list *places) {
  for (uint32_t i = 0; i < places->len; i++) {
    const int64_t place = tt_list_at(places, int64_t, i);
    tt_list_add(target, &tt_list_at(&catalogue->epochs, tt_store_epoch, place), 1);
  }
}

/** Leaves the rest. Out of memory nothing is left, and the next time it is tried again. */
static void forget_others(tt_catalogue *catalogue, const tt_list *places) {
  tt_map places_of = {0};
  for (uint32_t i = 0; i < places->len; i++) {
    const int64_t place = tt_list_at(places, int64_t, i);
    const tt_store_epoch *epoch = &tt_list_at(&catalogue->epochs, tt_store_epoch, place);
    if (tt_map_put(&places_of, (tt_map_key){epoch->device, epoch->number}, i)) continue;
    tt_map_clear(&places_of);
    return;
  }
  for (uint32_t i = 0; i < places->len;
       i++) {  // in order: none is overwritten that is still to come
    const int64_t place = tt_list_at(places, int64_t, i);
    tt_list_at(&catalogue->epochs, tt_store_epoch, i) =
        tt_list_at(&catalogue->epochs, tt_store_epoch, place);
    tt_list_at(&catalogue->told, int64_t, i) = tt_list_at(&catalogue->told, int64_t, place);
  }
  tt_list_cut(&catalogue->epochs, places->len);
  tt_list_cut(&catalogue->told, places->len);
  tt_map_clear(&catalogue->places);
  catalogue->places = places_of;
}

bool tt_catalogue_settle(tt_catalogue *catalogue) {
  catalogue->settled = catalogue->tellings;
  if (catalogue->epochs.len < 2 * catalogue->looked + MOST_UNSETTLED) return false;
  tt_list places = TT_LIST(int64_t, NULL);
  if (list_latest(catalogue, &places)) forget_others(catalogue, &places);
  catalogue->looked = catalogue->epochs.len;
  tt_list_free(&places);
  return true;
}

bool tt_catalogue_has_epoch(const tt_catalogue *catalogue, int device, int number) {
  return tt_map_get(&catalogue->places, (tt_map_key){device, number});
}

static bool add_names(tt_catalogue *catalogue, bool device, const tt_list *names) {
  for (uint32_t i = 0; i < names->len; i++) {
    const tt_store_name *name = &tt_list_at(names, tt_store_name, i);
    const char *identifier = name->state == TT_NAME_REMOVED ? NULL : name->identifier;
    if (!tt_catalogue_add_name(catalogue, device, name->index, identifier)) return false;
  }
  return true;
}

bool tt_catalogue_add_batch(tt_catalogue *catalogue, const tt_store_batch *batch) {
  if (!add_names(catalogue, true, &batch->devices) ||
      !add_names(catalogue, false, &batch->attributes))
    return false;
  for (uint32_t i = 0; i < batch->epochs.len; i++) {
    if (!tt_catalogue_add_epoch(catalogue, &tt_list_at(&batch->epochs, tt_store_epoch, i)))
      return false;
  }
  return true;
}

/* --- what is told again --- */

/** Names of the indices in `used`, also removed ones, which are not used again by that; and all that are not removed where `all` is said. */
static void copy_names(tt_list *target, const tt_list *names, const tt_map *used, bool all) {
  for (uint32_t i = 0; i < names->len; i++) {
    const named *name = &tt_list_at(names, named, i);
    const bool wanted = (all && !name->removed) || tt_map_get(used, (tt_map_key){i, 0});
    if (name->identifier && wanted)
      tt_store_add_name(target, (int)i, name->identifier, NULL, TT_NAME_KNOWN);
  }
}

/** Notes devices of epochs. False: out of memory. */
static bool note_devices(tt_map *used, const tt_list *epochs) {
  bool ok = true;
  for (uint32_t i = 0; i < epochs->len; i++)
    ok &= tt_map_put(used, (tt_map_key){tt_list_at(epochs, tt_store_epoch, i).device, 0}, 1);
  return ok;
}

/** What the batch says itself, human names too. */
static void copy_own(tt_list *target, const tt_list *own) {
  for (uint32_t i = 0; i < own->len; i++) {
    const tt_store_name *name = &tt_list_at(own, tt_store_name, i);
    tt_store_add_name(target, name->index, name->identifier, name->name, name->state);
  }
}

static tt_store_batch *whole_or_nothing(tt_store_batch *batch, bool whole) {
  if (batch && whole && !tt_store_batch_has_failed(batch)) return batch;
  tt_store_batch_free(batch);
  return NULL;
}

static int by_telling(const void *a, const void *b, void *context) {
  const tt_catalogue *catalogue = context;
  return in_order(&tt_list_at(&catalogue->told, int64_t, *(const int64_t *)a),
                  &tt_list_at(&catalogue->told, int64_t, *(const int64_t *)b));
}

tt_store_batch *tt_catalogue_all(const tt_catalogue *catalogue) {
  tt_store_batch *all = tt_store_batch_new();
  tt_list places = TT_LIST(int64_t, NULL);
  tt_map with_epochs = {0};
  if (!all) return NULL;
  bool ok = list_latest(catalogue, &places);
  if (places.len) qsort_r(places.data, places.len, sizeof(int64_t), by_telling, (void *)catalogue);
  copy_places(&all->epochs, catalogue, &places);
  ok &= note_devices(&with_epochs, &all->epochs);
  copy_names(&all->devices, &catalogue->devices, &with_epochs, true);
  copy_names(&all->attributes, &catalogue->attributes, &(tt_map){0}, true);
  tt_map_clear(&with_epochs);
  tt_list_free(&places);
  return whole_or_nothing(all, ok);
}

static bool copy_devices(tt_store_batch *whole, const tt_catalogue *catalogue,
                         const tt_store_batch *batch) {
  tt_map used = {0};
  bool ok = note_devices(&used, &batch->epochs);
  for (uint32_t i = 0; i < batch->samples.len; i++) {
    int device = tt_list_at(&batch->samples, tt_store_sample, i).device;
    ok &= tt_map_put(&used, (tt_map_key){device, 0}, 1);
  }
  for (uint32_t i = 0; i < batch->pairs.len; i++) {
    int device = tt_list_at(&batch->pairs, tt_store_pair, i).device;
    ok &= tt_map_put(&used, (tt_map_key){device, 0}, 1);
  }
  copy_names(&whole->devices, &catalogue->devices, &used, false);
  copy_own(&whole->devices, &batch->devices);
  tt_map_clear(&used);
  return ok;
}

static bool copy_attributes(tt_store_batch *whole, const tt_catalogue *catalogue,
                            const tt_store_batch *batch) {
  tt_map used = {0};
  bool ok = true;
  for (uint32_t i = 0; i < batch->values.len; i++) {
    int attribute = tt_list_at(&batch->values, tt_store_value, i).attribute;
    ok &= tt_map_put(&used, (tt_map_key){attribute, 0}, 1);
  }
  for (uint32_t i = 0; i < batch->pairs.len; i++) {
    int attribute = tt_list_at(&batch->pairs, tt_store_pair, i).attribute;
    ok &= tt_map_put(&used, (tt_map_key){attribute, 0}, 1);
  }
  copy_names(&whole->attributes, &catalogue->attributes, &used, false);
  copy_own(&whole->attributes, &batch->attributes);
  tt_map_clear(&used);
  return ok;
}

/** Those of its samples, however many others there are; in the order in which they came. */
static bool copy_epochs(tt_store_batch *whole, const tt_catalogue *catalogue,
                        const tt_store_batch *batch) {
  tt_map used = {0};
  tt_list places = TT_LIST(int64_t, NULL);
  bool ok = true;
  for (uint32_t i = 0; i < batch->samples.len; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    const tt_map_key key = {sample->device, sample->epoch};
    const int64_t *place = tt_map_get(&catalogue->places, key);
    if (!place || tt_map_get(&used, key)) continue;
    ok &= tt_map_put(&used, key, 1) && tt_list_add(&places, place, 1);
  }
  if (places.len) qsort(places.data, places.len, sizeof(int64_t), in_order);
  copy_places(&whole->epochs, catalogue, &places);
  tt_list_add(&whole->epochs, batch->epochs.data, batch->epochs.len);
  tt_list_free(&places);
  tt_map_clear(&used);
  return ok;
}

tt_store_batch *tt_catalogue_complete(const tt_catalogue *catalogue, const tt_store_batch *batch) {
  tt_store_batch *whole = tt_store_batch_new();
  if (!whole) return NULL;
  bool ok = copy_devices(whole, catalogue, batch);
  ok &= copy_attributes(whole, catalogue, batch);
  ok &= copy_epochs(whole, catalogue, batch);
  for (uint32_t i = 0; i < batch->handlings.len; i++)
    tt_store_add_handling(&whole->handlings, &tt_list_at(&batch->handlings, tt_handling, i));
  tt_list_add(&whole->samples, batch->samples.data, batch->samples.len);
  tt_list_add(&whole->values, batch->values.data, batch->values.len);
  tt_list_add(&whole->text, batch->text.data, batch->text.len);
  tt_list_add(&whole->pairs, batch->pairs.data, batch->pairs.len);
  return whole_or_nothing(whole, ok);
}
