/* results_folder.c: a shard's rows, as files in the folder that all shards share. */
#include "base/clock.h"
#include "sweep/results_internal.h"
#include "sweep/rows_file.h"
#include "sweep/rows_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** µs: nothing is written sooner than that after the last file. */
#define LEAST_INTERVAL 1000000
/** Of the time since the beginning: what a node that dies takes along. */
#define INTERVALS 10

typedef struct folder {
  tt_rows_folder files;
  char stem[48];
  tt_bytes bytes;       /**< the next file, as far as it is */
  int64_t began, wrote; /**< µs */
} folder;

static tt_status on_there(void *context, const tt_sweep_row *row, tt_error *error) {
  return tt_results_mark(context, row->run.number, error);
}

static tt_status folder_open(tt_sweep_results *results, tt_error *error) {
  const tt_sweep_results_options *options = &results->options;
  if (mkdir(options->output, 0777) && errno != EEXIST)
    return tt_fail(error, TT_FAILED, "%s: can't make this folder: %s", options->output,
                   strerror(errno));
  folder *to = calloc(1, sizeof *to);
  if (!to) return tt_fail(error, TT_NOMEM, "out of memory");
  results->self = to;
  to->files = (tt_rows_folder){.plan = results->plan, .path = options->output};
  const tt_sweep_shard shard = {options->shard, options->shard_count};
  if (shard.count)
    tt_sweep_shard_range(&shard, tt_sweep_plan_runs(results->plan), &to->files.first,
                         &to->files.end);
  if (shard.count)
    snprintf(to->stem, sizeof to->stem, "%u-of-%u", options->shard, options->shard_count);
  else
    snprintf(to->stem, sizeof to->stem, "rows");
  to->began = to->wrote = tt_monotonic_us();
  return tt_rows_folder_read(&to->files, on_there, results, error);
}

static void folder_close(void *self) {
  folder *to = self;
  tt_rows_folder_clear(&to->files);
  tt_bytes_free(&to->bytes);
  free(to);
}

static tt_status write_file(folder *to, tt_error *error) {
  if (!to->bytes.size) return TT_OK;
  tt_rows_end(&to->bytes);
  if (to->bytes.failed) return tt_fail(error, TT_NOMEM, "out of memory");
  TT_TRY(tt_rows_folder_write(to->files.path, to->stem, to->bytes.data, to->bytes.size, error));
  tt_bytes_cut(&to->bytes, 0);
  to->wrote = tt_monotonic_us();
  return TT_OK;
}

static tt_status folder_add(void *self, const tt_sweep_row *row, tt_error *error) {
  folder *to = self;
  if (!to->bytes.size) tt_rows_begin(&to->bytes, to->files.plan);
  tt_rows_add(&to->bytes, to->files.plan, row);
  if (to->bytes.failed) return tt_fail(error, TT_NOMEM, "out of memory");
  return to->bytes.size < TT_ROWS_MOST / 8 ? TT_OK : write_file(to, error);
}

static tt_status folder_commit(void *self, tt_error *error) {
  folder *to = self;
  const int64_t now = tt_monotonic_us(), part = (now - to->began) / INTERVALS;
  const int64_t interval = part > LEAST_INTERVAL ? part : LEAST_INTERVAL;
  return now - to->wrote < interval ? TT_OK : write_file(to, error);
}

static tt_status folder_finish(void *self, tt_error *error) { return write_file(self, error); }

const tt_results_backend tt_results_folder = {folder_open,   folder_close,  folder_add,
                                              folder_commit, folder_finish, NULL};
