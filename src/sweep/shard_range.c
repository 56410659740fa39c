#include "sweep/shard.h"

#include <stdio.h>
#include <string.h>

/* scanf() would take blanks and signs as well. */
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

tt_status tt_sweep_shard_read(const char *text, tt_sweep_shard *shard, tt_error *error) {
  unsigned number, count;
  const char *slash = strchr(text, '/');
  int end = 0;
  if (slash && is_digit(text[0]) && is_digit(slash[1]) &&
      sscanf(text, "%9u/%9u%n", &number, &count, &end) == 2 && !text[end] && number &&
      number <= count) {
    *shard = (tt_sweep_shard){number, count};
    return TT_OK;
  }
  return tt_fail(error, TT_USAGE,
                 "--shard %s: write K/N: the shard's number, from 1, and how many there are, as in "
                 "3/10",
                 text);
}

void tt_sweep_shard_range(const tt_sweep_shard *shard, uint64_t runs, uint64_t *first,
                          uint64_t *end) {
  // Neither product overflows: a plan has at most 10⁹ runs, a shard's number nine digits.
  *first = runs * (shard->number - 1) / shard->count;
  *end = runs * shard->number / shard->count;
}
