/* plan_controller.c: who drives the robots. */
#include "sweep/plan_internal.h"

#include "base/nearest.h"
#include "sweep/control.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_MEMORY (4.0 * 1024 * 1024 * 1024) /* bytes */
#define DEFAULT_OUTPUT (16.0 * 1024 * 1024)       /* bytes */

/** Files in the order found, each once. */
typedef struct tt_found_files {
  const char **paths;
  int count, capacity;
} tt_found_files;

static void add_file(tt_found_files *files, const char *path) {
  for (int i = 0; i < files->count; i++)
    if (strcmp(files->paths[i], path) == 0) return;
  if (files->count < files->capacity) files->paths[files->count++] = path;
}

static bool is_file(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/** `text` [length], if it is the name of a file beside the plan. */
static tt_status add_word(tt_plan_store *store, tt_found_files *files, const char *text,
                          size_t length) {
  const char *word, *path;
  if (length == 0 || length >= PATH_MAX) return TT_OK;
  PRINT(store, word, "%.*s", (int)length, text);
  TT_TRY(tt_plan_path(store, word, &path));
  if (is_file(path)) add_file(files, path);
  return TT_OK;
}

/** The files beside the plan that a command names, as "arm.py" in "python3 arm.py". */
static tt_status add_words(tt_plan_store *store, tt_found_files *files, const char *command) {
  static const char ends[] = " \t\n;|&<>()'\"=";
  for (const char *at = command; *at;) {
    size_t length = strcspn(at, ends);
    TT_TRY(add_word(store, files, at, length));
    at += length;
    at += strspn(at, ends);
  }
  return TT_OK;
}

/** What Python runs to import "folder.module": folder/__init__.py, and folder/module.py or folder/module/__init__.py, of
 *  which those count that lie beside the plan. */
static tt_status add_module(tt_plan_store *store, tt_found_files *files, const char *policy) {
  const size_t length = strcspn(policy, ":");
  char *file, *path;
  PRINT(store, path, "%.*s", (int)length, policy);
  for (size_t end = 1; end <= length; end++) {
    if (end < length && path[end] != '.') continue;
    PRINT(store, file, "%.*s/__init__.py", (int)end, path);
    TT_TRY(add_word(store, files, file, strlen(file)));
    if (end < length) path[end] = '/';
  }
  PRINT(store, file, "%s.py", path);
  return add_word(store, files, file, strlen(file));
}

static tt_status check_policy(const tt_plan_store *store, const char *where, const char *policy) {
  const char *colon = strchr(policy, ':');
  bool good = colon && colon > policy && colon[1] && !strchr(colon + 1, ':');
  for (const char *at = policy; good && *at; at++)
    good = isalnum((unsigned char)*at) || strchr("._:", *at) || (unsigned char)*at >= 0x80;
  if (good) return TT_OK;
  return tt_fail(store->error, TT_INVALID,
                 "%s.policy: '%s' names no function; write module:function, as arm:control for "
                 "control() of arm.py",
                 where, policy);
}

static tt_status check_lua(tt_plan_store *store, const char *where, const char *name,
                           const char **path) {
  tt_error reason;
  tt_control *control;
  const char *place;
  PRINT(store, place, "%s.lua", where);
  TT_TRY(tt_plan_path(store, name, path));
  TT_TRY(tt_plan_check_file(store, *path, place));
  tt_status status = tt_control_new(*path, &control, &reason);
  if (status == TT_OK) {
    if (tt_control_check(control, &reason) != TT_OK) status = TT_INVALID;
    tt_control_free(control);
  }
  return status == TT_OK ? TT_OK : tt_fail(store->error, status, "%s: %s", place, reason.text);
}

/** What only a program has. */
static tt_status refuse_limits(const tt_plan_store *store, const char *where) {
  const tt_plan_controller_keys *keys = store->keys->controller;
  const char *key = keys->fixed_ports ? "fixed_ports"
                    : keys->memory    ? "memory"
                    : keys->output    ? "output"
                                      : NULL;
  if (!key) return TT_OK;
  return tt_fail(store->error, TT_INVALID, "%s.%s: only a program (command) has that; remove it",
                 where, key);
}

static tt_status load_limits(tt_plan_store *store, const char *where) {
  const tt_plan_controller_keys *keys = store->keys->controller;
  tt_sweep_controller *controller = &store->plan.controller;
  TT_TRY(tt_number_check(keys->memory, "memory", where, 1 << 20, 1e15, DEFAULT_MEMORY,
                         &controller->memory, store->error));
  controller->fixed_ports = keys->fixed_ports;
  return tt_number_check(keys->output, "output", where, 1024, 1e15, DEFAULT_OUTPUT,
                         &controller->output, store->error);
}

static tt_status load_files(tt_plan_store *store, const char *where) {
  const tt_plan_controller_keys *keys = store->keys->controller;
  tt_sweep_controller *controller = &store->plan.controller;
  tt_found_files files = {.capacity = (int)keys->files_count + 4096};
  NEW(store, files.paths, files.capacity);
  controller->files = files.paths;
  for (unsigned i = 0; i < keys->files_count; i++) {
    const char *path, *place;
    PRINT(store, place, "%s.files[%u]", where, i);
    TT_TRY(tt_plan_path(store, keys->files[i], &path));
    TT_TRY(tt_plan_check_file(store, path, place));
    add_file(&files, path);
  }
  if (keys->lua) add_file(&files, controller->text);
  if (keys->command) TT_TRY(add_words(store, &files, keys->command));
  if (keys->policy) TT_TRY(add_module(store, &files, keys->policy));
  return TT_OK;
}

tt_status tt_plan_load_controller(tt_plan_store *store) {
  const tt_plan_controller_keys *keys = store->keys->controller;
  tt_sweep_controller *controller = &store->plan.controller;
  static const char *const none[] = {NULL};
  PRINT(store, controller->where, "%s: controller", store->document->path);
  controller->files = none;
  if (!keys) return TT_OK;
  const char *where = controller->where;
  int given = (keys->lua != NULL) + (keys->command != NULL) + (keys->policy != NULL);
  if (given == 0 && (keys->files_count > 0 || keys->memory || keys->output || keys->fixed_ports))
    return tt_fail(store->error, TT_INVALID, "%s: give one of lua, command, policy as well", where);
  if (given > 1)
    return tt_fail(store->error, TT_INVALID,
                   "%s: one controller drives a run; give one of lua, command, policy", where);
  if (given == 0) return TT_OK;
  if (!keys->command) TT_TRY(refuse_limits(store, where));
  if (keys->lua) {
    controller->kind = TT_SWEEP_LUA;
    TT_TRY(check_lua(store, where, keys->lua, &controller->text));
  } else if (keys->policy) {
    controller->kind = TT_SWEEP_POLICY;
    TT_TRY(check_policy(store, where, keys->policy));
    controller->text = keys->policy;
  } else {
    controller->kind = TT_SWEEP_PROGRAM;
    controller->text = keys->command;
    if (!keys->command[strspn(keys->command, " \t\n")])
      return tt_fail(store->error, TT_INVALID, "%s.command: give the program to start", where);
    TT_TRY(load_limits(store, where));
  }
  return load_files(store, where);
}
