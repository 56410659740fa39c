/* column_speed: how quickly columns are packed and unpacked, and how small they are.
 *
 * usage: column_speed          one JSON object: of each kind of signals values a second and bytes a value, moments included
 */
#include "store/column/signals_testing.h"

#include <stdio.h>
#include <time.h>

#define TURNS 20

static const char *const names[TT_TESTING_KINDS] = {"decimals", "scaled", "counters", "doubles"};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(void) {
  tt_list moments = TT_LIST(tt_column_moment, NULL), bytes = TT_LIST(char, NULL);
  tt_column columns[TT_TESTING_SIGNALS];
  tt_error error;
  bool good = tt_testing_fill_moments(&moments, 0, TT_COLUMN_ROWS);
  for (unsigned i = 0; i < TT_TESTING_SIGNALS; i++) columns[i] = tt_column_new();
  for (tt_testing_signals kind = 0; kind < TT_TESTING_KINDS && good; kind++) {
    for (unsigned i = 0; i < TT_TESTING_SIGNALS; i++)
      good = good && tt_testing_fill(&columns[i], kind, i, 0, TT_COLUMN_ROWS);
    double packing = 0, unpacking = 0;
    size_t size = 0;
    for (unsigned turn = 0; turn < TURNS && good; turn++) {
      uint32_t ends[TT_TESTING_SIGNALS + 1];
      tt_list_cut(&bytes, 0);
      const double started = now();
      good = tt_column_pack_moments(&moments, &bytes, &error) == TT_OK;
      ends[0] = bytes.len;
      for (unsigned i = 0; i < TT_TESTING_SIGNALS && good; i++) {
        good = tt_column_pack(&columns[i], TT_COLUMN_ROWS, &bytes, &error) == TT_OK;
        ends[i + 1] = bytes.len;
      }
      const double packed = now();
      good = good && tt_column_unpack_moments(bytes.data, ends[0], &moments, &error) == TT_OK;
      for (unsigned i = 0; i < TT_TESTING_SIGNALS && good; i++) {
        good = tt_column_unpack((char *)bytes.data + ends[i], ends[i + 1] - ends[i], TT_COLUMN_ROWS,
                                &columns[i], &error) == TT_OK;
      }
      packing += packed - started;
      unpacking += now() - packed;
      size += bytes.len;
    }
    const double values = (double)TURNS * TT_TESTING_SIGNALS * TT_COLUMN_ROWS;
    printf("%s\"%s\": {\"pack\": %.0f, \"unpack\": %.0f, \"bytes\": %.3f}%s", kind ? ", " : "{",
           names[kind], values / packing, values / unpacking, (double)size / values,
           kind + 1 < TT_TESTING_KINDS ? "" : "}\n");
  }
  if (!good) fprintf(stderr, "column_speed: %s\n", error.text);
  for (unsigned i = 0; i < TT_TESTING_SIGNALS; i++) tt_column_free(&columns[i]);
  tt_list_free(&moments);
  tt_list_free(&bytes);
  return !good;
}
