/* pool.c: memory that is freed in one go. */
#include "scene/pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/** Takes `block` into the pool, or frees it and returns NULL. */
static void *keep(tt_pool *pool, void *block) {
  if (block && pool->count == pool->capacity) {
    size_t capacity = pool->capacity ? 2 * pool->capacity : 32;
    void **blocks = reallocarray(pool->blocks, capacity, sizeof *blocks);
    if (!blocks) {
      free(block);
      return NULL;
    }
    pool->blocks = blocks;
    pool->capacity = capacity;
  }
  if (block) pool->blocks[pool->count++] = block;
  return block;
}

void *tt_pool_new(tt_pool *pool, size_t count, size_t size) {
  return keep(pool, calloc(count ? count : 1, size));
}

char *tt_pool_print(tt_pool *pool, const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  int size = vasprintf(&text, format, arguments);
  va_end(arguments);
  return size < 0 ? NULL : keep(pool, text);
}

void tt_pool_free(tt_pool *pool) {
  for (size_t i = 0; i < pool->count; i++) free(pool->blocks[i]);
  free(pool->blocks);
  *pool = (tt_pool){0};
}
