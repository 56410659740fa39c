/* Any words as the overview of a log: refused, or one that can be looked at and goes on with the log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/overview_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tt_run_log *make_log(void) {
  tt_bytes made = {0};
  tt_run_log *log;
  char path[64];
  int file = memfd_create("log", 0);
  tt_wpilog_write_header(&made, "");
  tt_wpilog_write_start(&made, 1, "/signals/a", "double", "", 0);
  tt_wpilog_write_start(&made, 2, "/signals/b", "double", "", 0);
  for (uint64_t i = 0; i < 8; i++) tt_wpilog_write_double(&made, 1 + i % 2, i * 10000, (double)i);
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (file < 0 || write(file, made.data, made.size) != (ssize_t)made.size ||
      tt_run_log_open(path, &log, NULL) != TT_OK)
    abort();
  tt_bytes_free(&made);
  return log;
}

static void look(tt_overview *overview) {
  uint64_t first, last;
  while (tt_overview_take(overview, 100) == TT_OK) {
  }
  for (size_t part = 0; part < tt_overview_complete(overview); part++)
    for (uint32_t entry = 0; entry < 4; entry++)
      if (tt_overview_times(overview, part, &first, &last)) tt_overview_part(overview, entry, part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static tt_run_log *log;
  if (!log) log = make_log();
  tt_overview *overview = tt_overview_new(log);
  size_t count = TT_OVERVIEW_IDENTITY + size / 8 + 1;
  uint64_t *words = calloc(count, sizeof *words);
  if (!words || !overview) abort();
  tt_overview_identify(overview, words); /* which only a forger would get right */
  if (size >= 8) memcpy(words + TT_OVERVIEW_IDENTITY, data, size / 8 * 8);
  words[count - 1] = tt_overview_checksum(words, count);
  tt_overview_take_words(overview, words, count);
  look(overview);
  tt_overview_unpack(overview, data, size);
  tt_overview_free(overview);
  free(words);
  return 0;
}
