#include "record/run_folder.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "record/overview.h"
#include "record/run_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ELSEWHERE ".elsewhere"
#define PINNED ".pinned"
#define INDEX ".index" /* of a large log that was opened */
#define MOST_ID 240    /* bytes: what lies beside it has a longer name */

static bool ends_with(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length > tail && strcmp(text + length - tail, ending) == 0;
}

/* FOLDER/ID and an ending; NULL when out of memory. */
static char *beside(const char *folder, const char *id, const char *ending) {
  char *path;
  return asprintf(&path, "%s/%s%s", folder, id, ending) < 0 ? NULL : path;
}

/* A plain file, not a link to one. */
static bool look_at_file(const char *path, struct stat *about) {
  return path && lstat(path, about) == 0 && S_ISREG(about->st_mode);
}

static bool is_file(const char *path) {
  struct stat about;
  return look_at_file(path, &about);
}

/* ---- which file a run is ---- */

/* What a marker says: the path of a plain file. Only its owner's word counts: others may write into a shared folder. */
static char *read_marker(const char *marker) {
  char path[PATH_MAX];
  struct stat about;
  int file = open(marker, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return NULL;
  bool ours = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid();
  ssize_t size = ours ? read(file, path, sizeof path - 1) : -1;
  close(file);
  if (size < 2 || path[0] != '/' || path[size - 1] != '\n') return NULL;
  path[size - 1] = 0;
  return strlen(path) == (size_t)size - 1 && is_file(path) ? strdup(path) : NULL;
}

/* People read it, and pages ask by it. */
static bool is_id(const char *id) {
  char safe[MOST_ID + 1];
  if (!ends_with(id, TT_RUN_ENDING) || id[0] == '.' || strlen(id) > MOST_ID) return false;
  snprintf(safe, sizeof safe, "%s", id);
  tt_text_make_safe(safe);
  return strcmp(safe, id) == 0 && !strpbrk(id, "/\\");
}

/* The run called `name`, or with an ending of this list. False: it is none; its path is NULL where its file is gone. */
static bool look_at(const char *folder, const char *name, tt_kept_run *run) {
  *run = (tt_kept_run){.id = strdup(name), .elsewhere = ends_with(name, ELSEWHERE)};
  char *path = beside(folder, name, "");
  struct stat about;
  if (run->id && run->elsewhere) run->id[strlen(name) - strlen(ELSEWHERE)] = 0;
  bool known = run->id && is_id(run->id) && look_at_file(path, &about);
  if (known) {
    char *pin = beside(folder, run->id, PINNED);
    run->pinned = is_file(pin);
    run->written_ns = (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec;
    free(pin);
    run->path = run->elsewhere ? read_marker(path) : strdup(path);
    run->beside = beside(folder, run->id, "");
    known = run->beside != NULL;
  }
  free(path);
  return known;
}

void tt_kept_run_clear(tt_kept_run *run) {
  free(run->id);
  free(run->path);
  free(run->beside);
  *run = (tt_kept_run){0};
}

bool tt_kept_run_find(const char *folder, const char *id, tt_kept_run *run) {
  char marker[NAME_MAX + 1];
  *run = (tt_kept_run){0};
  if (!folder || !is_id(id)) return false;
  if (look_at(folder, id, run)) return run->path != NULL;
  tt_kept_run_clear(run);
  snprintf(marker, sizeof marker, "%s" ELSEWHERE, id);
  return look_at(folder, marker, run) && run->path;
}

/* ---- the list ---- */

/* Without their ending, so that "…-2" follows "…". */
static int newest_first(const void *a, const void *b) {
  const tt_kept_run *runs[] = {a, b};
  char names[2][MOST_ID + 1];
  for (int i = 0; i < 2; i++)
    snprintf(names[i], sizeof names[i], "%.*s", (int)(strlen(runs[i]->id) - strlen(TT_RUN_ENDING)),
             runs[i]->id);
  return strverscmp(names[1], names[0]);
}

/* Names follow the clock and its zone, which may be set back. So what makes room goes by the time of the file; see
 * tt_kept_run_is_newest(). */
static int last_written_first(const void *a, const void *b) {
  const tt_kept_run *one = a, *other = b;
  if (one->written_ns != other->written_ns) return one->written_ns < other->written_ns ? 1 : -1;
  return newest_first(a, b);
}

static tt_status take_in(tt_kept_runs *runs, const char *folder, const char *name, bool missing) {
  tt_kept_run run;
  tt_status status = TT_OK;
  if (look_at(folder, name, &run) && (run.path || missing)) {
    tt_kept_run *grown = realloc(runs->runs, (runs->count + 1) * sizeof *grown);
    if (grown) {
      runs->runs = grown;
      runs->runs[runs->count++] = run;
      return TT_OK;
    }
    status = TT_NOMEM;
  }
  tt_kept_run_clear(&run);
  return status;
}

/* With those whose file is gone, where `missing`: their path is NULL. */
static tt_status list(const char *folder, bool missing, tt_kept_runs *runs) {
  *runs = (tt_kept_runs){0};
  tt_status status = TT_OK;
  DIR *directory = opendir(folder);
  if (!directory) return TT_OK;
  const struct dirent *entry;
  while (status == TT_OK && (entry = readdir(directory)))
    status = take_in(runs, folder, entry->d_name, missing);
  closedir(directory);
  if (runs->count) qsort(runs->runs, runs->count, sizeof *runs->runs, newest_first);
  return status;
}

tt_status tt_kept_runs_list(const char *folder, tt_kept_runs *runs) {
  return list(folder, false, runs);
}

void tt_kept_runs_free(tt_kept_runs *runs) {
  for (size_t i = 0; i < runs->count; i++) tt_kept_run_clear(&runs->runs[i]);
  free(runs->runs);
  *runs = (tt_kept_runs){0};
}

static bool is_same(const char *path, const struct stat *file) {
  struct stat about;
  return stat(path, &about) == 0 && about.st_dev == file->st_dev && about.st_ino == file->st_ino;
}

void tt_kept_run_name(const char *folder, const char *path, char id[TT_RUN_ID]) {
  tt_kept_runs runs;
  struct stat file;
  *id = 0;
  if (stat(path, &file) != 0) return;
  if (tt_kept_runs_list(folder, &runs) == TT_OK)
    for (size_t i = 0; i < runs.count && !*id; i++)
      if (is_same(runs.runs[i].path, &file)) snprintf(id, TT_RUN_ID, "%s", runs.runs[i].id);
  tt_kept_runs_free(&runs);
}

/* ---- changes ---- */

static void remove_beside(const char *folder, const char *id, const char *ending) {
  char *path = beside(folder, id, ending);
  if (path) unlink(path);
  free(path);
}

/* With what lies beside it. Of one recorded elsewhere only a marker lies here. */
static tt_status remove_run(const char *folder, const char *id, tt_error *error) {
  static const char *const others[] = {ELSEWHERE,       PINNED,       INDEX,
                                       TT_RUN_OVERVIEW, TT_RUN_ABOUT, TT_RUN_PICTURE};
  char *path = beside(folder, id, "");
  if (!path) return tt_fail(error, TT_NOMEM, "out of memory");
  bool gone = unlink(path) == 0 || errno == ENOENT;
  tt_status status =
      gone ? TT_OK : tt_fail(error, TT_FAILED, "%s: can't be removed: %s", path, strerror(errno));
  free(path);
  for (size_t i = 0; gone && i < sizeof others / sizeof *others; i++)
    remove_beside(folder, id, others[i]);
  return status;
}

static tt_status find(const char *folder, const char *id, tt_kept_run *run, tt_error *error) {
  return tt_kept_run_find(folder, id, run)
             ? TT_OK
             : tt_fail(error, TT_NOT_FOUND, "%s: there is no such run", id);
}

tt_status tt_kept_run_pin(const char *folder, const char *id, bool pinned, tt_error *error) {
  tt_kept_run run;
  tt_status status = find(folder, id, &run, error);
  char *pin = beside(folder, id, PINNED);
  if (!pin)
    status = tt_fail(error, TT_NOMEM, "out of memory");
  else if (status == TT_OK && pinned)
    status = tt_file_replace(pin, "", 0, false, error);
  else if (status == TT_OK && unlink(pin) != 0 && errno != ENOENT)
    status = tt_fail(error, TT_FAILED, "%s: can't be removed: %s", pin, strerror(errno));
  free(pin);
  tt_kept_run_clear(&run);
  return status;
}

tt_status tt_kept_run_remove(const char *folder, const char *id, tt_error *error) {
  tt_kept_run run;
  tt_status status = find(folder, id, &run, error);
  if (status == TT_OK && run.pinned)
    status = tt_fail(error, TT_INVALID, "%s: is pinned; unpin it first", id);
  else if (status == TT_OK && tt_run_log_is_growing(run.path))
    status = tt_fail(error, TT_INVALID, "%s: is still being recorded; end that run first", id);
  tt_kept_run_clear(&run);
  return status == TT_OK ? remove_run(folder, id, error) : status;
}

/* Of what lies in the folder: the log, or the marker of one elsewhere. */
static void set_time(const tt_kept_run *run, int64_t ns) {
  const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = ns % 1000000000};
  const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, time};
  char *path = NULL;
  if (asprintf(&path, "%s%s", run->beside, run->elsewhere ? ELSEWHERE : "") < 0) return;
  if (utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) != 0)
    tt_log_debug("record: %s: its time can't be set: %s", path, strerror(errno));
  free(path);
}

static uint64_t size_beside(const char *folder, const char *id, const char *ending) {
  struct stat about;
  char *path = beside(folder, id, ending);
  uint64_t size = path && stat(path, &about) == 0 ? (uint64_t)about.st_size : 0;
  free(path);
  return size;
}

static uint64_t size_of(const char *folder, const tt_kept_run *run) {
  struct stat about;
  uint64_t size = run->path && stat(run->path, &about) == 0 ? (uint64_t)about.st_size : 0;
  return size + size_beside(folder, run->id, INDEX) + size_beside(folder, run->id, TT_RUN_OVERVIEW);
}

void tt_kept_run_is_newest(const char *folder, const char *path) {
  tt_kept_runs runs;
  struct stat file;
  const tt_kept_run *newest = NULL;
  int64_t last = INT64_MIN;
  if (stat(path, &file) != 0) return;
  tt_status status = list(folder, true, &runs);
  for (size_t i = 0; status == TT_OK && i < runs.count; i++) {
    const tt_kept_run *run = &runs.runs[i];
    if (!newest && run->path && is_same(run->path, &file))
      newest = run;
    else if (run->written_ns > last)
      last = run->written_ns;
  }
  if (newest && newest->written_ns <= last) set_time(newest, last + 1000000000);
  tt_kept_runs_free(&runs);
}

static bool must_stay(const tt_kept_run *run) {
  return run->pinned || (run->path && tt_run_log_is_growing(run->path));
}

/* Bytes of those that can't make room. */
static uint64_t size_of_staying(const char *folder, const tt_kept_runs *runs) {
  uint64_t size = 0;
  for (size_t i = 0; i < runs->count; i++)
    if (!runs->runs[i].elsewhere && must_stay(&runs->runs[i]))
      size += size_of(folder, &runs->runs[i]);
  return size;
}

void tt_kept_runs_make_room(const char *folder, uint64_t keep, uint64_t bytes) {
  tt_kept_runs runs;
  uint64_t kept[2] = {0}; /* here, elsewhere */
  tt_status status = list(folder, true, &runs);
  uint64_t size = status == TT_OK ? size_of_staying(folder, &runs) : 0;
  if (status == TT_OK && runs.count)
    qsort(runs.runs, runs.count, sizeof *runs.runs, last_written_first);
  bool full = false; /* what is older than one that had to go goes, too */
  for (size_t i = 0; status == TT_OK && i < runs.count; i++) {
    const tt_kept_run *run = &runs.runs[i];
    bool counts = !run->pinned, room = counts ? kept[run->elsewhere]++ < keep : true;
    if (must_stay(run)) continue;
    if (!run->elsewhere) {
      size += size_of(folder, run);
      full |= size > bytes && kept[0] > 1;
    }
    if (room && (run->elsewhere || !full)) continue;
    if (remove_run(folder, run->id, NULL) == TT_OK) tt_log_debug("record: %s made room", run->id);
  }
  tt_kept_runs_free(&runs);
}

/* ---- new ones ---- */

/* Of the runs called `base`, `base`-2, …, the last's number; 0: there is none. Names are not used again, so that the newest
 * is never taken for the oldest. */
static int last_number(const tt_kept_runs *runs, const char *base) {
  int last = 0;
  for (size_t i = 0; i < runs->count; i++) {
    const char *rest = runs->runs[i].id;
    if (strncmp(rest, base, strlen(base)) != 0) continue;
    rest += strlen(base);
    int number = *rest == '-' ? atoi(rest + 1) : 1;
    if (number > last) last = number;
  }
  return last;
}

tt_status tt_kept_runs_new_path(const char *folder, const char *scene, char *path, size_t size,
                                tt_error *error) {
  char stamp[32], base[200], number[16] = "";
  tt_kept_runs runs;
  time_t now = time(NULL);
  struct tm local;
  localtime_r(&now, &local);
  strftime(stamp, sizeof stamp, "%Y-%m-%dT%H-%M-%S", &local);
  snprintf(base, sizeof base, "%s-%.128s", stamp, scene);
  tt_text_make_safe(base);
  for (char *at = base; *at; at++)
    if (*at == '/' || *at == '\\') *at = '?';
  tt_status status = list(folder, true, &runs);
  int last = last_number(&runs, base);
  tt_kept_runs_free(&runs);
  if (last) snprintf(number, sizeof number, "-%d", last + 1);
  int length = snprintf(path, size, "%s/%s%s" TT_RUN_ENDING, folder, base, number);
  if (status != TT_OK || length < 0 || (size_t)length >= size)
    return tt_fail(error, TT_FAILED, "%s: a run can't be named here", folder);
  return TT_OK;
}

tt_status tt_kept_runs_claim(const char *folder, const char *scene, char *path, size_t size,
                             tt_error *error) {
  int file;
  do { /* another program may have taken the name just now */
    TT_TRY(tt_kept_runs_new_path(folder, scene, path, size, error));
    file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  } while (file < 0 && errno == EEXIST);
  if (file < 0)
    return tt_fail(error, errno == ENOSPC || errno == EDQUOT ? TT_FULL : TT_FAILED,
                   "%s: can't write the run log: %s; its folder must exist and be yours", path,
                   strerror(errno));
  close(file);
  return TT_OK;
}

/* Markers of runs that were written to the same file before. */
static void forget_older(const tt_kept_runs *runs, const char *folder, const char *path) {
  for (size_t i = 0; i < runs->count; i++)
    if (runs->runs[i].elsewhere && strcmp(runs->runs[i].path, path) == 0)
      remove_run(folder, runs->runs[i].id, NULL);
}

static bool lies_in(const char *folder, const char *path) {
  char real[PATH_MAX];
  size_t length = realpath(folder, real) ? strlen(real) : 0;
  return length && strncmp(path, real, length) == 0 && path[length] == '/' &&
         is_id(path + length + 1);
}

tt_status tt_kept_runs_note(const char *folder, const char *scene, const char *path,
                            tt_error *error) {
  char real[PATH_MAX], made[PATH_MAX], marker[PATH_MAX + 16], line[PATH_MAX + 1];
  tt_kept_runs runs;
  if (!realpath(path, real) || !is_file(real))
    return tt_fail(error, TT_INVALID, "%s: is no plain file", path);
  if (lies_in(folder, real)) return TT_OK;
  if (tt_kept_runs_list(folder, &runs) == TT_OK) forget_older(&runs, folder, real);
  tt_kept_runs_free(&runs);
  TT_TRY(tt_kept_runs_claim(folder, scene, made, sizeof made, error));
  snprintf(marker, sizeof marker, "%s" ELSEWHERE, made);
  snprintf(line, sizeof line, "%s\n", real);
  tt_status status = tt_file_replace(marker, line, strlen(line), false, error);
  unlink(made); /* the marker has its name now */
  if (status == TT_OK) tt_kept_run_is_newest(folder, real);
  return status;
}
