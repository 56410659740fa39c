#include "store/jetstream/places.h"

static void clear_device(void *item) { tt_list_free(item); }

tt_nats_places tt_nats_places_of_none(void) {
  return (tt_nats_places){.devices = TT_LIST(tt_list, clear_device)};
}

void tt_nats_places_clear(tt_nats_places *places) {
  tt_list_free(&places->devices);
  tt_map_clear(&places->at);
}

void tt_nats_places_doubt(tt_nats_places *places) {
  for (uint32_t d = 0; d < places->devices.len; d++) {
    const tt_list *of_device = &tt_list_at(&places->devices, tt_list, d);
    for (uint32_t i = 0; i < of_device->len; i++)
      tt_list_at(of_device, tt_nats_place, i).content = 0;
  }
}

tt_list *tt_nats_places_need(tt_nats_places *places, const char *key) {
  const char *end = strrchr(key, '.');
  const tt_map_key device = tt_map_key_of(key, end ? (size_t)(end - key) : strlen(key));
  const int64_t *at = tt_map_get(&places->at, device);
  if (at) return &tt_list_at(&places->devices, tt_list, *at);
  const tt_list added = TT_LIST(tt_nats_place, NULL);
  if (!tt_list_reserve(&places->devices, 1) ||
      !tt_map_put(&places->at, device, places->devices.len))
    return NULL;
  tt_list_add(&places->devices, &added, 1);
  return &tt_list_at(&places->devices, tt_list, places->devices.len - 1);
}

tt_nats_place *tt_nats_place_find(const tt_list *of_device, int64_t key) {
  for (uint32_t i = 0; i < of_device->len; i++) {
    tt_nats_place *place = &tt_list_at(of_device, tt_nats_place, i);
    if (place->key == key) return place;
  }
  return NULL;
}

tt_nats_place *tt_nats_place_oldest(const tt_list *of_device) {
  tt_nats_place *oldest = of_device->data;
  for (uint32_t i = 1; i < of_device->len; i++) {
    tt_nats_place *place = &tt_list_at(of_device, tt_nats_place, i);
    if (place->used < oldest->used) oldest = place;
  }
  return oldest;
}

void tt_nats_place_forget(tt_list *of_device, const tt_nats_place *place) {
  tt_list_remove(of_device, (uint32_t)(place - (tt_nats_place *)of_device->data));
}

bool tt_nats_place_add(tt_nats_places *places, tt_list *of_device, const tt_store_epoch *epoch,
                       int64_t content) {
  const tt_nats_place place = {epoch->number, epoch->key, ++places->uses, content};
  return tt_list_add(of_device, &place, 1);
}

void tt_nats_place_use(tt_nats_places *places, tt_nats_place *place) {
  place->used = ++places->uses;
}
