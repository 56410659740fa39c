/* words.h: 64-bit words of a file that is not trusted, taken one behind the other.
 */
#ifndef TT_RECORD_WORDS_H
#define TT_RECORD_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Words that are left to take. */
typedef struct tt_words_left {
  const uint64_t *next;
  size_t count;
} tt_words_left;

/* So many of them, which stay the file's. NULL: there are fewer, and nothing is taken. */
static inline const uint64_t *tt_take_words(tt_words_left *from, uint64_t count) {
  if (count > from->count) return NULL;
  const uint64_t *taken = from->next;
  from->next += count;
  from->count -= (size_t)count;
  return taken;
}

#endif
