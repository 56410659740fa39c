#include "record/unpack.h"

#include "base/json.h"
#include "record/checksum.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES "/tether/files"

static bool make_parents(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    int made = mkdir(path, 0700);
    *slash = '/';
    if (made != 0 && errno != EEXIST) return false;
  }
  return true;
}

/* A recorded path is absolute and stays below the folder. */
static bool is_safe(const char *path) {
  return path[0] == '/' && !strstr(path, "/../") && strlen(path) < PATH_MAX / 2;
}

static tt_status write_file(const char *folder, const char *path, const tt_wpilog_record *record,
                            tt_error *error) {
  char target[PATH_MAX];
  snprintf(target, sizeof target, "%s%s", folder, path);
  FILE *file = is_safe(path) && make_parents(target) ? fopen(target, "wbxe") : NULL;
  if (!file) return tt_fail(error, TT_FAILED, "%s: can't unpack: %s", path, strerror(errno));
  size_t wrote = fwrite(record->payload, 1, record->size, file);
  if (fclose(file) != 0 || wrote != record->size)
    return tt_fail(error, TT_FAILED, "%s: can't unpack: %s", target, strerror(errno));
  return TT_OK;
}

/* What stands before "/robots/" or "/arenas/" in a recorded path is the data folder that names were found in. */
static void find_data(tt_unpacked *unpacked, const char *path) {
  const char *found = strstr(path, "/robots/");
  if (!found) found = strstr(path, "/arenas/");
  if (!found || unpacked->data) return;
  if (asprintf(&unpacked->data, "%s%.*s", unpacked->scratch.folder, (int)(found - path), path) < 0)
    unpacked->data = NULL;
}

static bool is_file(const tt_run_entry *entry) {
  return entry->name && strncmp(entry->name, FILES, strlen(FILES)) == 0;
}

bool tt_unpack_finds_files(const tt_run_log *log) {
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  for (uint32_t i = 1; i < count; i++)
    if (is_file(&entries[i])) return true;
  return false;
}

static tt_status unpack_files(const tt_run_cursor *cursor, tt_unpacked *unpacked, tt_error *error) {
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(cursor->log, &count);
  for (uint32_t i = 1; i < count; i++) {
    tt_wpilog_record record;
    if (!is_file(&entries[i])) continue;
    if (!tt_run_cursor_value(cursor, i, &record)) continue;
    const char *path = entries[i].name + strlen(FILES);
    TT_TRY(write_file(unpacked->scratch.folder, path, &record, error));
    find_data(unpacked, path);
  }
  return TT_OK;
}

static tt_status copy_settings(struct json_object *run, tt_unpacked *unpacked) {
  size_t count;
  struct json_object *list = tt_json_list(run, "settings", &count);
  unpacked->settings = calloc(count + 1, sizeof *unpacked->settings);
  if (!unpacked->settings) return TT_NOMEM;
  for (size_t i = 0; i < count; i++) {
    const char *text = json_object_get_string(json_object_array_get_idx(list, i));
    unpacked->settings[i] = strdup(text ? text : "");
    if (!unpacked->settings[i]) return TT_NOMEM;
    unpacked->setting_count++;
  }
  return TT_OK;
}

static tt_status read_run(const tt_run_cursor *cursor, tt_unpacked *unpacked, tt_error *error) {
  struct json_object *run = tt_run_cursor_json(cursor, "/tether/run");
  if (!run)
    return tt_fail(error, TT_INVALID,
                   "the log does not say what was run: it was cut off within its first bytes, or "
                   "another program wrote it");
  const char *scene = tt_json_text(run, "scene_file");
  struct json_object *left_out;
  unpacked->lacks_token = json_object_object_get_ex(run, "token_left_out", &left_out) &&
                          json_object_get_boolean(left_out);
  tt_status status = is_safe(scene) ? copy_settings(run, unpacked) : TT_INVALID;
  if (status == TT_OK && asprintf(&unpacked->scene, "%s%s", unpacked->scratch.folder, scene) < 0) {
    unpacked->scene = NULL;
    status = TT_NOMEM;
  }
  json_object_put(run);
  if (status == TT_OK) return TT_OK;
  return tt_fail(error, status, "the log does not say which scene was run");
}

/* The files are the end of the first piece of a log, behind which the first hash stands. */
static bool ends_within_files(const tt_run_log *log) {
  uint32_t count, hashes = tt_run_log_find(log, TT_CHECKSUM_ENTRY);
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  return hashes && entries[hashes].records == 0;
}

static tt_status unpack(const tt_run_cursor *cursor, tt_unpacked *unpacked, tt_error *error) {
  TT_TRY(tt_scratch_open(&unpacked->scratch, error));
  TT_TRY(read_run(cursor, unpacked, error));
  TT_TRY(unpack_files(cursor, unpacked, error));
  if (!unpacked->data) unpacked->data = strdup("");
  if (access(unpacked->scene, R_OK) != 0 || ends_within_files(cursor->log))
    return tt_fail(error, TT_INVALID,
                   "the log does not keep all files of its scene: it was cut off, or another "
                   "program wrote it");
  return unpacked->data ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

tt_status tt_unpack(const tt_run_log *log, tt_unpacked *unpacked, tt_error *error) {
  tt_run_cursor cursor;
  *unpacked = (tt_unpacked){.scene = NULL};
  if (!tt_run_cursor_open(&cursor, log)) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_run_cursor_seek(&cursor, 0); /* what describes the run stands at time 0 */
  tt_status status = unpack(&cursor, unpacked, error);
  tt_run_cursor_close(&cursor);
  if (status != TT_OK) tt_unpacked_remove(unpacked);
  return status;
}

void tt_unpacked_remove(tt_unpacked *unpacked) {
  tt_scratch_close(&unpacked->scratch);
  for (int i = 0; i < unpacked->setting_count; i++) free(unpacked->settings[i]);
  free(unpacked->settings);
  free(unpacked->scene);
  free(unpacked->data);
  *unpacked = (tt_unpacked){.scene = NULL};
}
