#include "record/run_about.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* bytes of a file: every byte of its texts may be written as \u00xx */
#define MOST_FILE                                                                                  \
  (6 * (TT_ABOUT_MOST_NAME + TT_ABOUT_MOST_NOTE + 2 * TT_ABOUT_MOST_TAG * TT_ABOUT_MOST_TAGS) +    \
   1000)

#define LOCK_STEP 2000 /* µs between two tries */

/* ---- checking: of a request and of the file alike ---- */

static bool is_line(const char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < 0x20 || *text == 0x7f) return false;
  return true;
}

/* A text of at most `most` bytes, of one line where `line`. */
static bool is_text(struct json_object *value, int most, bool line) {
  if (!json_object_is_type(value, json_type_string)) return false;
  const char *text = json_object_get_string(value);
  int size = json_object_get_string_len(value);
  return size <= most && (int)strlen(text) == size && (!line || is_line(text));
}

static bool are_tags(struct json_object *value) {
  if (!json_object_is_type(value, json_type_array)) return false;
  size_t count = json_object_array_length(value);
  for (size_t i = 0; i < count; i++) {
    struct json_object *tag = json_object_array_get_idx(value, i);
    if (!is_text(tag, TT_ABOUT_MOST_TAG, true) || !json_object_get_string_len(tag)) return false;
    for (size_t k = 0; k < i; k++)
      if (json_object_equal(json_object_array_get_idx(value, k), tag)) return false;
  }
  return count <= TT_ABOUT_MOST_TAGS;
}

static tt_status check(const char *key, struct json_object *value, tt_error *error) {
  if (strcmp(key, "name") == 0)
    return is_text(value, TT_ABOUT_MOST_NAME, true)
               ? TT_OK
               : tt_fail(error, TT_INVALID, "name: give a line of at most %d bytes",
                         TT_ABOUT_MOST_NAME);
  if (strcmp(key, "note") == 0)
    return is_text(value, TT_ABOUT_MOST_NOTE, false)
               ? TT_OK
               : tt_fail(error, TT_INVALID, "note: give a text of at most %d bytes",
                         TT_ABOUT_MOST_NOTE);
  if (strcmp(key, "tags") == 0)
    return are_tags(value) ? TT_OK
                           : tt_fail(error, TT_INVALID,
                                     "tags: give at most %d texts of 1 to %d bytes, each once",
                                     TT_ABOUT_MOST_TAGS, TT_ABOUT_MOST_TAG);
  return tt_fail(error, TT_INVALID, "%.100s: there is no such key", key);
}

/* ---- the file ---- */

static char *name_file(const tt_kept_run *run) {
  char *path;
  return asprintf(&path, "%s" TT_RUN_ABOUT, run->beside) < 0 ? NULL : path;
}

static struct json_object *read_file(const tt_kept_run *run) {
  struct json_object *made = NULL;
  char *path = name_file(run), *text = malloc(MOST_FILE);
  int file = path ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
  ssize_t size = file >= 0 && text ? read(file, text, MOST_FILE) : -1;
  if (size > 0) tt_json_read(text, (size_t)size, TT_JSON_STRICT, &made, NULL);
  if (file >= 0) close(file);
  free(path);
  free(text);
  return made;
}

struct json_object *tt_run_about_read(const tt_kept_run *run) {
  static const char *const keys[] = {"name", "tags", "note"};
  struct json_object *file = read_file(run), *made = json_object_new_object();
  for (size_t i = 0; made && i < sizeof keys / sizeof *keys; i++) {
    struct json_object *value = NULL;
    bool good =
        json_object_object_get_ex(file, keys[i], &value) && check(keys[i], value, NULL) == TT_OK;
    bool tags = strcmp(keys[i], "tags") == 0;
    tt_json_add(made, keys[i],
                good   ? json_object_get(value)
                : tags ? json_object_new_array()
                       : json_object_new_string(""));
  }
  json_object_put(file);
  return made;
}

static tt_status wait_for_lock(int lock, const char *folder, int most_wait, tt_error *error) {
  const int64_t end = tt_monotonic_us() + (int64_t)most_wait * 1000;
  while (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return TT_OK; /* there are no locks here */
    if (tt_monotonic_us() >= end)
      return tt_fail(error, TT_FAILED, "another program holds %s; try again", folder);
    usleep(LOCK_STEP);
  }
  return TT_OK;
}

/* One at a time, whatever program: the folder is locked until the descriptor is closed, for which nobody waits without end. Where the file
 * system knows no locks there is none; −1: no folder. */
static tt_status lock_folder(const tt_kept_run *run, int most_wait, int *lock, tt_error *error) {
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s", run->beside);
  *strrchr(folder, '/') = 0;
  *lock = open(*folder ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return *lock < 0 ? TT_OK : wait_for_lock(*lock, folder, most_wait, error);
}

static tt_status change(const tt_kept_run *run, struct json_object *changes, tt_error *error) {
  struct json_object *about = tt_run_about_read(run);
  if (!about) return tt_fail(error, TT_NOMEM, "out of memory");
  json_object_object_foreach(changes, changed, to) tt_json_add(about, changed, json_object_get(to));
  const char *text = json_object_to_json_string_ext(about, JSON_C_TO_STRING_PLAIN);
  char *path = name_file(run);
  tt_status status = text && path ? tt_file_replace(path, text, strlen(text), false, error)
                                  : tt_fail(error, TT_NOMEM, "out of memory");
  free(path);
  json_object_put(about);
  return status;
}

tt_status tt_run_about_write(const tt_kept_run *run, struct json_object *changes, int most_wait,
                             tt_error *error) {
  int lock;
  json_object_object_foreach(changes, key, value) TT_TRY(check(key, value, error));
  tt_status status = lock_folder(run, most_wait, &lock, error);
  if (status == TT_OK) status = change(run, changes, error);
  if (lock >= 0) close(lock);
  return status;
}
