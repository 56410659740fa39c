/* results_there.c: which rows are there: a bit a run. */
#include "sweep/results_internal.h"

#include <inttypes.h>
#include <stdio.h>

bool tt_sweep_results_has(const tt_sweep_results *results, uint64_t number) {
  return number < results->runs && (results->there[number / 8] >> number % 8 & 1);
}

uint64_t tt_sweep_results_count(const tt_sweep_results *results) { return results->count; }

uint64_t tt_sweep_results_durable(const tt_sweep_results *results) { return results->durable; }

tt_status tt_results_mark(tt_sweep_results *results, uint64_t number, tt_error *error) {
  if (number >= results->runs) {
    return tt_fail(error, TT_INVALID,
                   "%s: has a row of run %" PRIu64 ", but the plan has only %" PRIu64
                   " runs: it was changed by something else than a sweep; give another --output",
                   results->name, number, results->runs);
  }
  if (tt_sweep_results_has(results, number)) return TT_OK;
  results->there[number / 8] |= (uint8_t)(1u << number % 8);
  results->count++;
  return TT_OK;
}

/** The first number from `from` on whose row is there, or is missing; `runs` if there is none. */
static uint64_t find(const tt_sweep_results *results, uint64_t from, bool there) {
  const uint8_t skipped = there ? 0 : 0xff;
  while (from < results->runs) {
    if (from % 8 == 0 && results->there[from / 8] == skipped)
      from += 8;
    else if (tt_sweep_results_has(results, from) == there)
      return from;
    else
      from++;
  }
  return results->runs;
}

#define NAMED_RANGES 5

const char *tt_sweep_results_missing(const tt_sweep_results *results, char *text, size_t size) {
  const uint64_t all = results->runs - results->count;
  uint64_t left = all, end = 0;
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; left && i < NAMED_RANGES && used + 64 < size; i++) {
    const uint64_t first = find(results, end, false);
    end = find(results, first, true);
    left -= end - first;
    const char *before = i ? left ? ", " : " and " : all == 1 ? "run " : "runs ";
    used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64, before, first);
    if (end - first > 1)
      used += (size_t)snprintf(text + used, size - used, " to %" PRIu64, end - 1);
  }
  if (left) snprintf(text + used, size - used, " and %" PRIu64 " more", left);
  return text;
}
