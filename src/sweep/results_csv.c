/* results_csv.c: a table as CSV (RFC 4180). A file is written whole under another name first. */
#include "base/file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "sweep/results_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENOUGH (1 << 16) /* bytes that are written at once */

typedef struct csv {
  const tt_sweep_results *from;
  FILE *file;
  bool shown; /**< on a terminal, where text is made safe; a file or a pipe gets it as it is */
  const char *path;
  tt_bytes bytes;
} csv;

/** In quotes where it needs them; a spreadsheet shall not take it for a formula. */
static void put_quoted(tt_bytes *to, const char *text) {
  const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
  if (quoted) tt_results_put(to, "\"");
  if (tt_text_is_formula(text)) tt_results_put(to, "'");
  for (; *text; text++) tt_bytes_append(to, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
  if (quoted) tt_results_put(to, "\"");
}

static void put_text(csv *to, const char *text) {
  char *safe = to->shown ? strdup(text) : NULL;
  if (to->shown && !safe) to->bytes.failed = true;
  if (safe) tt_text_make_safe(safe);
  if (safe || !to->shown) put_quoted(&to->bytes, safe ? safe : text);
  free(safe);
}

static tt_status write_out(csv *to, tt_error *error) {
  if (to->bytes.failed) return tt_fail(error, TT_NOMEM, "out of memory");
  const bool done = fwrite(to->bytes.data, 1, to->bytes.size, to->file) == to->bytes.size;
  tt_bytes_cut(&to->bytes, 0);
  return done ? TT_OK : tt_fail(error, TT_FAILED, "%s: can't write: %s", to->path, strerror(errno));
}

static tt_status put_row(void *context, const tt_sweep_row *row, tt_error *error) {
  csv *to = context;
  const tt_results_columns *columns = &to->from->columns;
  tt_results_cell cell;
  char number[40];
  for (int i = 0; i < columns->count; i++) {
    tt_results_cell_of(to->from->plan, columns, i, row, &cell);
    if (i) tt_results_put(&to->bytes, ",");
    const char *text = tt_results_cell_text(&cell, number);
    if (cell.kind == TT_RESULTS_TEXT)
      put_text(to, text);
    else
      tt_results_put(&to->bytes, text);
  }
  tt_results_put(&to->bytes, "\r\n");
  return to->bytes.size < ENOUGH ? TT_OK : write_out(to, error);
}

static tt_status write_table(tt_sweep_results *results, csv *to, tt_error *error) {
  to->shown = isatty(fileno(to->file));
  for (int i = 0; i < results->columns.count; i++) {
    if (i) tt_results_put(&to->bytes, ",");
    put_text(to, results->columns.list[i].name);
  }
  tt_results_put(&to->bytes, "\r\n");
  TT_TRY(tt_sweep_results_each(results, put_row, to, error));
  TT_TRY(write_out(to, error));
  return fflush(to->file)
             ? tt_fail(error, TT_FAILED, "%s: can't write: %s", to->path, strerror(errno))
             : TT_OK;
}

static tt_status write_file(tt_sweep_results *results, csv *to, tt_error *error) {
  tt_output_file file;
  TT_TRY(tt_output_file_open(to->path, &file, error));
  to->file = file.stream;
  return tt_output_file_close(&file, write_table(results, to, error), error);
}

/** What a file of SQLite has beside it while it is written. */
static bool is_beside_table(const char *path, const char *table) {
  static const char *const ends[] = {"-lock", "-wal", "-shm"};
  char file[PATH_MAX];
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (snprintf(file, sizeof file, "%s%s", table, ends[i]) < (int)sizeof file &&
        tt_file_is_same(path, file))
      return true;
  return false;
}

tt_status tt_sweep_results_check_csv(const tt_sweep_results *results, const char *path,
                                     tt_error *error) {
  const char *table = results->options.output;
  const char *taken = tt_file_is_same(path, table)                 ? "the table itself"
                      : is_beside_table(path, table)               ? "a part of the table"
                      : tt_file_is_same(path, results->plan->path) ? "the plan"
                      : tt_sweep_plan_has_file(results->plan, path)
                          ? "a file that the plan's runs are made of"
                          : NULL;
  if (!taken) return strcmp(path, "-") ? tt_output_file_check(path, error) : TT_OK;
  return tt_fail(error, TT_USAGE, "--csv %s: is %s; give another file", path, taken);
}

tt_status tt_sweep_results_csv(tt_sweep_results *results, const char *path, tt_error *error) {
  csv to = {.from = results, .path = path, .file = stdout};
  tt_status status =
      strcmp(path, "-") ? write_file(results, &to, error) : write_table(results, &to, error);
  tt_bytes_free(&to.bytes);
  return status;
}
