/* log_open: how long a log takes to open and to seek in, and what memory that takes.
 *
 * usage: log_open LOG          one JSON object: opening with its index (or by scanning, if it has none yet), seeks, memory
 */
#include "record/run_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define SEEKS 200

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  tt_run_log *log;
  tt_run_cursor cursor;
  tt_error error;
  struct rusage used;
  double worst = 0, started = now();
  if (argc != 2 || tt_run_log_open(argv[1], &log, &error) != TT_OK) {
    fprintf(stderr, "%s\n", argc == 2 ? error.text : "usage: log_open LOG");
    return 1;
  }
  double opened = now() - started;
  if (!tt_run_cursor_open(&cursor, log)) return 1;
  uint64_t random = 1;
  for (int i = 0; i < SEEKS; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    double before = now();
    tt_run_cursor_seek(&cursor, (random >> 11) % (tt_run_log_duration(log) + 1));
    if (now() - before > worst) worst = now() - before;
  }
  getrusage(RUSAGE_SELF, &used);
  printf("{\"open_s\": %.6f, \"seek_s\": %.6f, \"bytes\": %zu, \"peak_bytes\": %ld}\n", opened,
         worst, tt_run_log_size(log), used.ru_maxrss * 1024);
  tt_run_cursor_close(&cursor);
  tt_run_log_close(log);
  return 0;
}
