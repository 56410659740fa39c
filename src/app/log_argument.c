#include "app/log_argument.h"

#include "app/state_folder.h"
#include "base/nearest.h"
#include "scene/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static tt_status refuse(const char *folder, const char *given, tt_error *error) {
  tt_kept_runs runs;
  tt_nearest nearest = tt_nearest_start(given);
  tt_status status = tt_kept_runs_list(folder, &runs);
  for (size_t i = 0; status == TT_OK && i < runs.count; i++)
    tt_nearest_offer(&nearest, runs.runs[i].id);
  tt_fail(error, TT_NOT_FOUND,
          nearest.best ? "%s: there is no such run; did you mean '%s'?"
                       : "%s: there is no such run; tether runs lists them",
          given, nearest.best);
  tt_kept_runs_free(&runs);
  return TT_NOT_FOUND;
}

tt_status tt_log_argument_find(const char *folder, const char *given, tt_kept_run *run,
                               tt_error *error) {
  char id[300];
  if (tt_kept_run_find(folder, given, run)) return TT_OK;
  tt_kept_run_clear(run);
  snprintf(id, sizeof id, "%s" TT_RUN_ENDING, given);
  return tt_kept_run_find(folder, id, run) ? TT_OK : refuse(folder, given, error);
}

static bool is_log(const char *path) {
  char first[6] = "";
  FILE *file = fopen(path, "rbe");
  const bool is = file && fread(first, 1, sizeof first, file) == sizeof first &&
                  memcmp(first, "WPILOG", sizeof first) == 0;
  if (file) fclose(file);
  return is;
}

static bool is_scene_file(const char *path) {
  static const char *const endings[] = {".yaml", ".yml", ".xml", ".mjcf", ".urdf"};
  const char *ending = strrchr(path, '.');
  struct stat about;
  if (!ending || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (strcasecmp(ending, endings[i]) == 0) return !is_log(path);
  return false;
}

static bool is_scene_name(const char *given) {
  char **names = tt_data_list(&tt_data_scene);
  bool found = false;
  for (char **name = names; name && *name; name++) {
    found = found || strcmp(*name, given) == 0;
    free(*name);
  }
  free(names);
  return found;
}

static tt_status refuse_scene(const char *given, tt_error *error) {
  return tt_fail(error, TT_INVALID,
                 "%s: this is a scene, not the log of a run, which tether run keeps; of what "
                 "reads logs, only export --format advantagescope takes a scene",
                 given);
}

tt_status tt_log_argument_path(const char *given, char *path, size_t size, tt_error *error) {
  char folder[1024];
  tt_kept_run run;
  snprintf(path, size, "%s", given);
  if (is_scene_file(given)) return refuse_scene(given, error);
  if (strchr(given, '/') || access(given, F_OK) == 0) return TT_OK;
  TT_TRY(tt_state_folder(NULL, "runs", folder, sizeof folder, error));
  bool found = tt_log_argument_find(folder, given, &run, NULL) == TT_OK;
  if (found) snprintf(path, size, "%s", run.path);
  tt_kept_run_clear(&run);
  if (!found && is_scene_name(given)) return refuse_scene(given, error);
  return found ? TT_OK
               : tt_fail(error, TT_INVALID,
                         "%s: there is no such file, and no kept run of that name; tether runs "
                         "lists those there are",
                         given);
}

/* web.token=x, web.tokens=FILE, web={token: x}; also web.token= for none. */
static bool says_token(const char *setting) {
  const bool section = strncmp(setting, "web=", 4) == 0;
  return strncmp(setting, "web.token=", 10) == 0 || strncmp(setting, "web.tokens=", 11) == 0 ||
         (section && strstr(setting, "token"));
}

tt_status tt_log_argument_check_token(bool lacks_token, const char *const *settings, int count,
                                      tt_error *error) {
  for (int i = 0; i < count; i++)
    if (says_token(settings[i])) return TT_OK;
  if (!lacks_token) return TT_OK;
  return tt_fail(error, TT_USAGE,
                 "the log's scene had a token (web.token), which no log keeps: give --set "
                 "web.token=TOKEN, or --set web.token= for none");
}
