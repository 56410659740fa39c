/* Fuzz target: any bytes as a spool file, and as the inside of a frame of both formats, whose sums would keep them out. */
#include "base/log.h"
#include "store/spool/spool.h"
#include "store/spool/spool_frame.h"

#include <assert.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/** Every sample's values and every value's text lie in the batch. */
static void check(const tt_store_batch *batch) {
  for (uint32_t i = 0; i < batch->samples.len; i++) {
    const tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    assert((uint64_t)sample->first + sample->count <= batch->values.len);
  }
  for (uint32_t i = 0; i < batch->values.len; i++) {
    const tt_store_value *value = &tt_list_at(&batch->values, tt_store_value, i);
    assert(value->text == TT_STORE_NUMBER || value->text < batch->text.len);
  }
  assert(!batch->text.len || !tt_list_at(&batch->text, char, batch->text.len - 1));
}

static void read_file(const uint8_t *data, size_t size) {
  char path[64];
  tt_spool *spool = NULL;
  tt_error error;
  int file = memfd_create("spool", 0);
  if (file < 0) return;
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (write(file, data, size) == (ssize_t)size &&
      tt_spool_open(path, 1 << 20, &spool, &error) == TT_OK) {
    tt_store_batch *batch = tt_store_batch_new();
    uint64_t position = 0, writer;
    while (tt_spool_look(spool, &position, &writer, batch, &error) == TT_OK)
      assert(position <= size);
    while (tt_spool_front(spool, batch, &error) == TT_OK) {
      check(batch);
      tt_spool_pop(spool);
    }
    assert(tt_spool_bytes(spool) == 0);
    assert(tt_spool_lost(spool).bytes <= size);
    tt_store_batch_free(batch);
    tt_spool_close(spool);
  }
  close(file);
}

static void read_batch(const uint8_t *data, size_t size, bool old) {
  const tt_frame frame = {.old = old, .size = (uint32_t)size};
  tt_store_batch *batch = tt_store_batch_new();
  tt_frame_known known = {0};
  if (tt_frame_decode(&frame, data, &known, batch) == TT_OK)
    tt_frame_decode(&frame, data, &known, batch);
  check(batch);
  tt_frame_known_clear(&known);
  tt_store_batch_free(batch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tt_log_set_level(TT_LOG_ERROR);
  read_file(data, size);
  read_batch(data, size, false);
  read_batch(data, size, true);
  return 0;
}
