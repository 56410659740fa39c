/* passed.c: a batch has thousands of samples of one device, so devices are looked up in a map. */
#include "store/passed.h"

static bool says_so(const tt_store_sample *sample) { return sample->flags & TT_SAMPLE_UNSURE; }

static tt_map_key key_of(int32_t device) { return (tt_map_key){device, 0}; }

static bool is_of_log(const tt_store_batch *batch) {
  for (uint32_t i = 0; i < batch->samples.len; i++)
    if (tt_list_at(&batch->samples, tt_store_sample, i).place) return true;
  return false;
}

bool tt_store_passed_devices(const tt_store_batch *batch, tt_list *devices) {
  tt_map seen = {0};
  bool noted = true;
  const uint32_t count = is_of_log(batch) ? batch->samples.len : 0;
  for (uint32_t i = 0; i < count && noted; i++) {
    const int32_t device = tt_list_at(&batch->samples, tt_store_sample, i).device;
    if (!tt_map_get(&seen, key_of(device)))
      noted = tt_map_put(&seen, key_of(device), 1) && tt_list_add(devices, &device, 1);
  }
  tt_map_clear(&seen);
  return noted;
}

bool tt_store_find_unsure(const tt_store_batch *batch, tt_map *passed, tt_list *unsure, bool *any) {
  char *found = tt_list_add_room(unsure, batch->samples.len);
  bool noted = !unsure->failed;
  *any = false;
  for (uint32_t i = 0; i < batch->samples.len && noted; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    const int64_t *before = tt_map_get(passed, key_of(sample->device));
    const bool overtaken = sample->place && before && *before > sample->after;
    found[i] = says_so(sample) || overtaken;
    *any |= found[i];
    if (says_so(sample) && sample->place > (before ? *before : 0))
      noted = tt_map_put(passed, key_of(sample->device), sample->place);
  }
  return noted;
}

bool tt_store_find_passed(const tt_store_batch *batch, tt_list *passed) {
  tt_map at = {0};
  bool noted = true;
  for (uint32_t i = 0; i < batch->samples.len && noted; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    if (!says_so(sample) || !sample->place) continue;
    const tt_store_passed added = {sample->device, sample->place};
    const int64_t *index = tt_map_get(&at, key_of(sample->device));
    tt_store_passed *there = index ? &tt_list_at(passed, tt_store_passed, *index) : NULL;
    if (there && there->place < sample->place) there->place = sample->place;
    if (!there)
      noted =
          tt_map_put(&at, key_of(sample->device), passed->len) && tt_list_add(passed, &added, 1);
  }
  tt_map_clear(&at);
  return noted;
}
