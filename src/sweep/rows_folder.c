#include "sweep/rows_folder.h"

#include "base/file.h"
#include "base/log.h"
#include "sweep/rows_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* --- reading --- */

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/** A name of ours that was not read before. Those that begin with a point are not whole yet. */
static bool is_new(const tt_rows_folder *folder, const char *name) {
  const size_t size = strlen(name), ending = strlen(TT_SWEEP_ROWS);
  return name[0] != '.' && size > ending && !strcmp(name + size - ending, TT_SWEEP_ROWS) &&
         !tfind(name, &folder->seen, by_name);
}

/** Whether a file may have rows of the runs that count. A folder of many shards has so many files that none should read all. */
static bool is_wanted(const tt_rows_folder *folder, const char *name) {
  tt_sweep_shard shard;
  uint64_t first, end;
  if (!folder->end || sscanf(name, "%9u-of-%9u-", &shard.number, &shard.count) != 2 ||
      shard.number < 1 || shard.number > shard.count)
    return true;
  tt_sweep_shard_range(&shard, tt_sweep_plan_runs(folder->plan), &first, &end);
  return first < folder->end && folder->first < end;
}

typedef struct reading {
  tt_status (*visit)(void *context, const tt_sweep_row *row, tt_error *error);
  void *context;
  bool stopped; /**< by what is visited, not by the file */
} reading;

static tt_status on_row(void *context, const tt_sweep_row *row, tt_error *error) {
  reading *to = context;
  tt_status status = to->visit(to->context, row, error);
  to->stopped = status != TT_OK;
  return status;
}

static tt_status read_file(tt_rows_folder *folder, const char *name, reading *to, tt_error *error) {
  char path[4096];
  tt_bytes bytes;
  tt_error why;
  snprintf(path, sizeof path, "%s/%s", folder->path, name);
  tt_status status = tt_file_read(path, TT_ROWS_MOST, &bytes, &why);
  if (status == TT_OK)
    status = tt_rows_decode(folder->plan, bytes.data, bytes.size, on_row, to, &why);
  tt_bytes_free(&bytes);
  if (status == TT_NOMEM || to->stopped) return tt_fail(error, status, "%s", why.text);
  if (status == TT_OK) {
    folder->said.files++;
    return TT_OK;
  }
  *(status == TT_VERSION ? &folder->said.others : &folder->said.torn) += 1;
  tt_log_warning("%s: left out: %s", path, why.text);
  return TT_OK;
}

static int by_entry(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

tt_status tt_rows_folder_read(tt_rows_folder *folder,
                              tt_status (*visit)(void *context, const tt_sweep_row *row,
                                                 tt_error *error),
                              void *context, tt_error *error) {
  struct dirent **entries;
  reading to = {visit, context, false};
  tt_status status = TT_OK;
  const int count = scandir(folder->path, &entries, NULL, by_entry);
  if (count < 0)
    return tt_fail(error, TT_FAILED, "%s: can't read this folder: %s", folder->path,
                   strerror(errno));
  for (int i = 0; i < count; i++) {
    char *name = status == TT_OK && is_new(folder, entries[i]->d_name) &&
                         is_wanted(folder, entries[i]->d_name)
                     ? strdup(entries[i]->d_name)
                     : NULL;
    if (name && tsearch(name, &folder->seen, by_name)) status = read_file(folder, name, &to, error);
    free(entries[i]);
  }
  free(entries);
  return status;
}

void tt_rows_folder_clear(tt_rows_folder *folder) {
  tdestroy(folder->seen, free);
  folder->seen = NULL;
}

/* --- writing --- */

tt_status tt_rows_folder_write(const char *path, const char *stem, const void *bytes, size_t size,
                               tt_error *error) {
  char whole[4096], torn[4096];
  uint64_t drawn;
  if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
    return tt_fail(error, TT_FAILED, "%s: no random number for a name", path);
  /* Not by tt_file_replace(): who merges a folder need not be who wrote it, and may read it. */
  snprintf(whole, sizeof whole, "%s/%s-%016" PRIx64 TT_SWEEP_ROWS, path, stem, drawn);
  snprintf(torn, sizeof torn, "%s/.%s-%016" PRIx64 TT_SWEEP_ROWS, path, stem, drawn);
  const int file = open(torn, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  bool done = file >= 0 && tt_file_write_all(file, bytes, size) && fsync(file) == 0;
  int trouble = done ? 0 : errno;
  if (file >= 0 && close(file) && done) trouble = errno;  // a network's file system may say it here
  if (!trouble && rename(torn, whole)) trouble = errno;
  if (trouble) {
    unlink(torn);
    return tt_fail(error, TT_FAILED, "%s: can't write: %s", whole, strerror(trouble));
  }
  tt_file_sync_name(whole);
  return TT_OK;
}
