#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 128

static bool same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

static size_t smallest(size_t a, size_t b, size_t c) {
  size_t least = a < b ? a : b;
  return least < c ? least : c;
}

/* Levenshtein's distance, one row at a time; names longer than LONGEST are compared up to there. */
static size_t edit_distance(const char *a, const char *b) {
  size_t row[LONGEST + 1];
  size_t a_length = strnlen(a, LONGEST);
  size_t b_length = strnlen(b, LONGEST);
  for (size_t j = 0; j <= b_length; j++) row[j] = j;
  for (size_t i = 1; i <= a_length; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      size_t above = row[j];
      row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (same(a[i - 1], b[j - 1]) ? 0 : 1));
      diagonal = above;
    }
  }
  return row[b_length];
}

tt_nearest tt_nearest_start(const char *wanted) {
  /* A suggestion more than about a third away would confuse rather than help. */
  return (tt_nearest){.wanted = wanted, .distance = strlen(wanted) / 3 + 2};
}

static void note(tt_nearest *nearest, const char *candidate) {
  size_t used = strlen(nearest->all), length = strlen(candidate);
  if (nearest->left_off || used + length + 3 > sizeof nearest->all) {
    nearest->left_off++;
    return;
  }
  snprintf(nearest->all + used, sizeof nearest->all - used, "%s%s", used ? ", " : "", candidate);
}

void tt_nearest_offer(tt_nearest *nearest, const char *candidate) {
  note(nearest, candidate);
  const size_t wanted = strnlen(nearest->wanted, LONGEST), length = strnlen(candidate, LONGEST);
  /* As many letters are put in or left out, at least. */
  if ((wanted > length ? wanted - length : length - wanted) >= nearest->distance) return;
  size_t distance = edit_distance(nearest->wanted, candidate);
  if (distance >= nearest->distance) return;
  nearest->distance = distance;
  nearest->best = candidate;
}

const char *tt_nearest_hint(tt_nearest *nearest) {
  char *hint = nearest->hint;
  const size_t size = sizeof nearest->hint;
  *hint = '\0';
  if (nearest->best)
    snprintf(hint, size, "; did you mean '%s'?", nearest->best);
  else if (nearest->left_off && *nearest->all)
    snprintf(hint, size, "; there are: %s and %d more", nearest->all, nearest->left_off);
  else if (*nearest->all)
    snprintf(hint, size, "; there are: %s", nearest->all);
  return hint;
}
