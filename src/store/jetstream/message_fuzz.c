/* message_fuzz.c: any bytes as a message. What is taken of them is whole in itself: as messages again it says the same. */
#include "store/jetstream/message.h"

#include <assert.h>
#include <string.h>

/** Gathers a batch's messages. */
static void gather_again(const tt_store_batch *batch, tt_nats_gather *again) {
  tt_nats_split split;
  tt_list bytes = TT_LIST(char, NULL);
  const char *device;
  tt_error error;
  tt_status status;
  assert(tt_nats_split_begin(&split, batch) && tt_nats_gather_begin(again));
  while ((status = tt_nats_split_next(&split, &bytes, &device, &error)) == TT_OK) {
    assert(tt_nats_gather_add(again, bytes.data, bytes.len, &error) == TT_OK);
    tt_list_cut(&bytes, 0);
  }
  assert(status == TT_END);
  tt_list_free(&bytes);
  tt_nats_split_end(&split);
}

static void check(const tt_store_batch *batch, const tt_store_batch *again) {
  assert(batch->samples.len == again->samples.len && batch->values.len == again->values.len);
  for (uint32_t i = 0; i < again->samples.len; i++) {
    const tt_store_sample *sample = &tt_list_at(&again->samples, tt_store_sample, i);
    assert((uint32_t)sample->device < again->devices.len && sample->count);
    assert(sample->first + sample->count <= again->values.len && sample->thinned <= sample->count);
  }
  for (uint32_t i = 0; i < again->values.len; i++) {
    const tt_store_value *value = &tt_list_at(&again->values, tt_store_value, i);
    assert((uint32_t)value->attribute < again->attributes.len);
    assert(value->text == TT_STORE_NUMBER || value->text < again->text.len);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tt_nats_gather gather, again;
  tt_error error;
  assert(tt_nats_gather_begin(&gather));
  const tt_status status = tt_nats_gather_add(&gather, data, size, &error);
  assert(status == TT_OK || status == TT_BAD_MESSAGE);
  if (status == TT_OK) {
    gather_again(gather.batch, &again);
    check(gather.batch, again.batch);
    tt_nats_gather_end(&again);
  } else {
    assert(!gather.batch->samples.len && *error.text);
  }
  tt_nats_gather_end(&gather);
  return 0;
}
