/* Fuzz target: any bytes as a spool file, and as the inside of a frame, whose digest would keep them out. */
#include "core/log.h"
#include "store/spool.h"

#include <assert.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

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
    while (tt_spool_front(spool, batch, &error) == TT_OK) tt_spool_pop(spool);
    assert(tt_spool_bytes(spool) == 0);
    tt_store_batch_free(batch);
    tt_spool_close(spool);
  }
  close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tt_log_set_level(TT_LOG_ERROR);
  read_file(data, size);
  tt_store_batch *batch = tt_store_batch_new();
  if (tt_spool_decode(data, size, batch)) tt_spool_decode(data, size, batch);
  tt_store_batch_free(batch);
  return 0;
}
