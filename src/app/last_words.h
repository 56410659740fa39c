/* last_words.h: the end of what a program of somebody else's printed, for people to read. */
#ifndef TT_APP_LAST_WORDS_H
#define TT_APP_LAST_WORDS_H

#include <stddef.h>

/** Zero at first. */
typedef struct tt_last_words {
  char text[701];
  size_t size;    /**< bytes of it */
  double printed; /**< bytes, all told */
} tt_last_words;

/** Keeps the end of what there is and `bytes` [size]. */
void tt_last_words_add(tt_last_words *words, const char *bytes, size_t size);
/** `text` is safe to show, in one line, with " | " between those it was. Afterwards nothing is added. */
void tt_last_words_settle(tt_last_words *words);

#endif
