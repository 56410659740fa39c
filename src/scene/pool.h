/* pool.h: memory that lives as long as one loaded scene and is freed in one go. */
#ifndef TT_SCENE_POOL_H
#define TT_SCENE_POOL_H

#include <stddef.h>

/** Zero at first. One thread. */
typedef struct tt_pool {
  void **blocks;
  size_t count, capacity;
} tt_pool;

/** Zeroed memory for `count` things; NULL when out of memory, never for a count of 0. */
void *tt_pool_new(tt_pool *pool, size_t count, size_t size);
/** Text as printf makes it; NULL when out of memory. */
char *tt_pool_print(tt_pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Frees all that was made from it; it is empty afterwards. */
void tt_pool_free(tt_pool *pool);

#endif
