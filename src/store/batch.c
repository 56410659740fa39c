/* batch.c: a batch and what it is made of. */
#include "store/batch.h"

#include "base/hash.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* --- what a batch is made of --- */

static void clear_name(void *item) {
  tt_store_name *name = item;
  free(name->identifier);
  free(name->name);
}

/** A copy, of NULL too. False: out of memory. */
static bool copy_text(char **target, const char *source) {
  *target = source ? strdup(source) : NULL;
  return *target || !source;
}

bool tt_store_add_name(tt_list *names, int index, const char *identifier, const char *name,
                       tt_name_state state) {
  tt_store_name added = {.index = index, .state = state};
  if (copy_text(&added.identifier, identifier) && copy_text(&added.name, name) &&
      tt_list_add(names, &added, 1))
    return true;
  clear_name(&added);
  names->failed = true;
  return false;
}

void tt_handling_clear(tt_handling *handling) {
  free(handling->pattern);
  free(handling->unit);
  handling->pattern = handling->unit = NULL;
}

bool tt_handling_copy(tt_handling *target, const tt_handling *source) {
  *target = *source;
  target->pattern = target->unit = NULL;
  if (copy_text(&target->pattern, source->pattern) && copy_text(&target->unit, source->unit))
    return true;
  tt_handling_clear(target);
  return false;
}

static void clear_handling(void *item) { tt_handling_clear(item); }

tt_list tt_handling_list(void) { return TT_LIST(tt_handling, clear_handling); }

/** Whether a pattern goes before another one. Of equally long ones it is not the one that stands first in the list: a
 *  restart reads them in another order. */
static bool goes_before(const char *pattern, const char *other) {
  const size_t length = strlen(pattern), other_length = strlen(other);
  return length != other_length ? length > other_length : strcmp(pattern, other) < 0;
}

const tt_handling *tt_handling_of(const tt_list *handlings, const char *identifier) {
  const tt_handling *best = NULL;
  for (uint32_t i = 0; i < handlings->len; i++) {
    const tt_handling *handling = &tt_list_at(handlings, tt_handling, i);
    if (!strcmp(handling->pattern, identifier)) return handling;
    if ((!best || goes_before(handling->pattern, best->pattern)) &&
        tt_text_matches(identifier, handling->pattern))
      best = handling;
  }
  return best;
}

bool tt_store_add_handling(tt_list *handlings, const tt_handling *handling) {
  tt_handling added;
  if (tt_handling_copy(&added, handling)) {
    if (tt_list_add(handlings, &added, 1)) return true;
    tt_handling_clear(&added);
  }
  handlings->failed = true;
  return false;
}

/* --- the batch --- */

tt_store_batch *tt_store_batch_new(void) {
  tt_store_batch *batch = malloc(sizeof *batch);
  if (!batch) return NULL;
  *batch = (tt_store_batch){.devices = TT_LIST(tt_store_name, clear_name),
                            .attributes = TT_LIST(tt_store_name, clear_name),
                            .handlings = tt_handling_list(),
                            .epochs = TT_LIST(tt_store_epoch, NULL),
                            .samples = TT_LIST(tt_store_sample, NULL),
                            .values = TT_LIST(tt_store_value, NULL),
                            .text = TT_LIST(char, NULL),
                            .pairs = TT_LIST(tt_store_pair, NULL)};
  return batch;
}

void tt_store_batch_clear(tt_store_batch *batch) {
  tt_list_cut(&batch->devices, 0);
  tt_list_cut(&batch->attributes, 0);
  tt_list_cut(&batch->handlings, 0);
  tt_list_cut(&batch->epochs, 0);
  tt_list_cut(&batch->samples, 0);
  tt_list_cut(&batch->values, 0);
  tt_list_cut(&batch->text, 0);
  tt_list_cut(&batch->pairs, 0);
  batch->log = 0;
}

void tt_store_batch_free(tt_store_batch *batch) {
  if (!batch) return;
  tt_list_free(&batch->devices);
  tt_list_free(&batch->attributes);
  tt_list_free(&batch->handlings);
  tt_list_free(&batch->epochs);
  tt_list_free(&batch->samples);
  tt_list_free(&batch->values);
  tt_list_free(&batch->text);
  tt_list_free(&batch->pairs);
  free(batch);
}

bool tt_store_batch_is_empty(const tt_store_batch *batch) {
  return !batch->devices.len && !batch->attributes.len && !batch->handlings.len &&
         !batch->epochs.len && !batch->samples.len && !batch->pairs.len;
}

bool tt_store_batch_has_failed(const tt_store_batch *batch) {
  return batch->devices.failed || batch->attributes.failed || batch->handlings.failed ||
         batch->epochs.failed || batch->samples.failed || batch->values.failed ||
         batch->text.failed || batch->pairs.failed;
}

bool tt_store_batch_reserve(tt_store_batch *batch, size_t samples, size_t values,
                            size_t text_bytes) {
  return tt_list_reserve(&batch->epochs, 1) && tt_list_reserve(&batch->samples, samples) &&
         tt_list_reserve(&batch->values, values) && tt_list_reserve(&batch->text, text_bytes);
}

size_t tt_store_batch_bytes(const tt_store_batch *batch) {
  const tt_list *const lists[] = {&batch->devices, &batch->attributes, &batch->handlings,
                                  &batch->epochs,  &batch->samples,    &batch->values,
                                  &batch->text,    &batch->pairs};
  size_t bytes = 0;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    bytes += (size_t)lists[i]->len * lists[i]->item_size;
  return bytes;
}

/* --- messages --- */

uint32_t tt_store_message_size(const tt_store_batch *batch, uint32_t first) {
  uint32_t end = first + 1;
  while (end < batch->samples.len &&
         tt_list_at(&batch->samples, tt_store_sample, end).flags & TT_SAMPLE_CONTINUES)
    end++;
  return end - first;
}

bool tt_store_next_firm(const tt_store_batch *batch, uint32_t first, uint32_t count,
                        tt_store_firm *firm) {
  for (; firm->at < count; firm->at++, firm->within = 0) {
    firm->sample = &tt_list_at(&batch->samples, tt_store_sample, first + firm->at);
    if (firm->within + firm->sample->thinned >= firm->sample->count) continue;
    firm->value = &tt_list_at(&batch->values, tt_store_value, firm->sample->first + firm->within++);
    return true;
  }
  return false;
}

uint64_t tt_store_content(const tt_store_batch *batch, uint32_t first, uint32_t count) {
  uint64_t hash = TT_HASH_START;
  tt_store_firm firm = {0};
  while (tt_store_next_firm(batch, first, count, &firm)) {
    const int64_t head[] = {firm.sample->device_time, firm.sample->seq, firm.value->attribute};
    hash = tt_hash_bytes(hash, head, sizeof head);
    if (firm.value->text == TT_STORE_NUMBER) {
      hash = tt_hash_bytes(hash, &firm.value->number, sizeof firm.value->number);
    } else {
      const char *text = (const char *)batch->text.data + firm.value->text;
      hash = tt_hash_bytes(hash, text, strlen(text) + 1);
    }
  }
  return hash;
}
