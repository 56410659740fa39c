#include "record/log_map.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST 1024 /* that are known; further ones are mapped all the same */

/* A signal handler looks at it: neither a lock nor an allocation. */
static struct {
  atomic_uintptr_t begin; /* 0: free */
  atomic_uintptr_t end;
} known[MOST];

static void note(const void *data, size_t size) {
  for (int i = 0; i < MOST; i++) {
    uintptr_t none = 0;
    if (!atomic_compare_exchange_strong(&known[i].begin, &none, (uintptr_t)data)) continue;
    atomic_store(&known[i].end, (uintptr_t)data + size);
    return;
  }
}

static void forget(const void *data) {
  for (int i = 0; i < MOST; i++) {
    if (atomic_load(&known[i].begin) != (uintptr_t)data) continue;
    atomic_store(&known[i].end, 0);
    atomic_store(&known[i].begin, 0);
    return;
  }
}

const uint8_t *tt_log_map(int file, size_t size) {
  void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (data == MAP_FAILED) return NULL;
  note(data, size);
  return data;
}

const uint8_t *tt_log_map_more(const uint8_t *data, size_t size, size_t more) {
  void *moved = mremap((void *)(uintptr_t)data, size, more, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) return NULL;
  forget(data);
  note(moved, more);
  return moved;
}

void tt_log_unmap(const uint8_t *data, size_t size) {
  if (!data) return;
  forget(data);
  munmap((void *)(uintptr_t)data, size);
}

bool tt_log_map_mend(const void *address) {
  const uintptr_t at = (uintptr_t)address, page = at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
  for (int i = 0; i < MOST; i++) {
    const uintptr_t begin = atomic_load(&known[i].begin), end = atomic_load(&known[i].end);
    /* The file ends before this page, so all behind it is gone, too. */
    if (begin && begin <= at && at < end)
      return mmap((void *)page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                  0) != MAP_FAILED;
  }
  return false;
}
