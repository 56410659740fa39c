#include "scene/stranger.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* By its ending: what it is, and the remedy. */
static const struct {
  const char *ending, *text;
} kinds[] = {
    {".sdf", "SDF, which is not read; give the model as URDF or MJCF"},
    {".world", "SDF, which is not read; give the model as URDF or MJCF"},
    {".mjb",
     "a binary model, which cannot be checked; give the MJCF or URDF that it was made "
     "from"},
    {".stl", "a mesh; give a model (MJCF or URDF) that names it"},
    {".obj", "a mesh; give a model (MJCF or URDF) that names it"},
    {".dae", "a mesh; give a model (MJCF or URDF) that names it"},
    {".wpilog", "the log of a run: 'tether replay' shows it, 'tether verify' runs it again"},
    {".lua", "a script; a robot's file names it under lua_sensors"},
};

#define PROGRAM "a program; run a scene here, and the program beside it, in another terminal"

static bool ends_with(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length > tail && strcasecmp(text + length - tail, ending) == 0;
}

/* Of a scene, robot or model, but for capitals; or NULL. */
static const char *capital_ending(const char *path) {
  static const char *const endings[] = {".yaml", ".yml", ".xml", ".mjcf", ".urdf"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (ends_with(path, endings[i]) && !strstr(path, endings[i])) return endings[i];
  return NULL;
}

static bool is_program(const char *path) {
  static const char *const endings[] = {".py", ".c", ".cpp", ".java", ".jar", ".m", ".sh"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (ends_with(path, endings[i])) return true;
  return access(path, X_OK) == 0;
}

static int is_ours(const struct dirent *entry) {
  return ends_with(entry->d_name, ".yaml") || ends_with(entry->d_name, ".urdf") ||
         ends_with(entry->d_name, ".xml");
}

/* "this" where the place is the name itself, on the command line. */
static tt_status refuse(const char *where, const char *name, tt_error *error, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));
static tt_status refuse(const char *where, const char *name, tt_error *error, const char *format,
                        ...) {
  char what[PATH_MAX];
  bool same = strcmp(where, name) == 0;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return tt_fail(error, TT_INVALID, "%s: %s%s%s is %s", where, same ? "this" : "'",
                 same ? "" : name, same ? "" : "'", what);
}

/* Which of them is most likely meant. */
static const char *choose(struct dirent *const *entries, int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(entries[i]->d_name, "robot.yaml") == 0 ||
        strcmp(entries[i]->d_name, "arena.yaml") == 0)
      return entries[i]->d_name;
  return entries[0]->d_name;
}

static tt_status refuse_folder(const char *path, const char *name, const char *where,
                               tt_error *error) {
  struct dirent **entries;
  size_t length = strlen(name);
  bool slash = length > 0 && name[length - 1] == '/';
  int count = scandir(path, &entries, is_ours, alphasort);
  if (count > 0)
    refuse(where, name, error, "a folder; give a file in it, as %s%s%s", name, slash ? "" : "/",
           choose(entries, count));
  else
    refuse(where, name, error, "a folder; give a file");
  for (int i = 0; i < count; i++) free(entries[i]);
  if (count >= 0) free(entries);
  return TT_INVALID;
}

/* "bot.urdf.xacro" and "bot.xacro" are made into bot.urdf. */
static tt_status refuse_xacro(const char *name, const char *where, tt_error *error) {
  int stem = (int)(strlen(name) - strlen(".xacro"));
  char made[PATH_MAX];
  snprintf(made, sizeof made, "%.*s", stem, name);
  return refuse(where, name, error, "a xacro, which has to be expanded first: xacro %s > %s%s",
                name, made, ends_with(made, ".urdf") ? "" : ".urdf");
}

tt_status tt_stranger_refuse(const char *noun, const char *path, const char *name,
                             const char *where, tt_error *error) {
  struct stat about;
  if (stat(path, &about) != 0) return TT_OK;
  if (S_ISDIR(about.st_mode)) return refuse_folder(path, name, where, error);
  if (!S_ISREG(about.st_mode)) return refuse(where, name, error, "a pipe or a device, not a file");
  if (ends_with(path, ".xacro")) return refuse_xacro(name, where, error);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (ends_with(path, kinds[i].ending)) return refuse(where, name, error, "%s", kinds[i].text);
  const char *ending = capital_ending(path);
  if (ending)
    return refuse(where, name, error,
                  "no %s, since endings are in small letters: rename it, so that it ends with %s",
                  noun, ending);
  if (is_program(path)) return refuse(where, name, error, PROGRAM);
  return refuse(where, name, error,
                "no %s: scenes and robots are YAML (.yaml), models MJCF (.xml) or URDF (.urdf)",
                noun);
}

static bool has_any(const tt_document *document, const char *const *keys) {
  for (; *keys; keys++)
    if (tt_node_child(document->root, *keys)) return true;
  return false;
}

static const char *const of_scenes[] = {"robots", "wires", "arena", "pace", "record", NULL};

bool tt_stranger_is_plan(const tt_document *document) {
  static const char *const of_plans[] = {"scene", "axes", "metrics", "repeat", NULL};
  return has_any(document, of_plans) && !has_any(document, of_scenes);
}

bool tt_stranger_is_original(const tt_document *document) {
  const tt_node *core = tt_node_child(document->root, "core");
  if (!core || core->kind != TT_NODE_MAPPING) return false;
  const tt_node *port = tt_node_child(core, "joystickPort");
  return port && port->kind == TT_NODE_SCALAR && !tt_node_empty(port);
}

static tt_status refuse_original(const char *noun, const char *path, tt_error *error) {
  return tt_fail(error, TT_INVALID,
                 "%s: this is an original's robotConfig.yml, not a%s %s: tether run sharp "
                 "--robot-config %s",
                 path, strcmp(noun, "arena") == 0 ? "n" : "", noun, path);
}

static tt_status refuse_settings(const char *noun, const char *path, const char *command,
                                 tt_error *error) {
  return tt_fail(error, TT_INVALID,
                 "%s: these are settings of a controller, not a%s %s: tether %s %s", path,
                 strcmp(noun, "arena") == 0 ? "n" : "", noun, command, path);
}

/* `instead`: ", not …" of what was wanted, or "". */
static tt_status refuse_part(const char *path, bool arena, const char *instead, tt_error *error) {
  return tt_fail(error, TT_INVALID,
                 arena ? "%s: this is an arena's file%s; a scene names it: arena: %s"
                       : "%s: this is a robot's file%s; a scene names it: robots: [{robot: %s}]",
                 path, instead, path);
}

tt_status tt_stranger_check(const char *noun, const tt_document *document, tt_error *error) {
  static const char *const of_arenas[] = {"field", "pieces", "lines", "stations", NULL};
  static const char *const of_robots[] = {"floating", "joints",   "measures",
                                          "motors",   "encoders", NULL};
  static const char *const of_core[] = {"vehicle", "elevator", NULL};
  static const char *const of_joystick[] = {"gamepad", "heartbeat_timeout", NULL};
  const char *path = document->path;
  bool scene = has_any(document, of_scenes), model = tt_node_child(document->root, "model");
  bool arena = has_any(document, of_arenas), plan = tt_stranger_is_plan(document);
  const bool part = model && !scene;
  if (plan && strcmp(noun, "plan") != 0)
    return tt_fail(error, TT_INVALID, "%s: this is the plan of a sweep, not a %s: tether sweep %s",
                   path, noun, path);
  if (!scene && !model && tt_stranger_is_original(document))
    return refuse_original(noun, path, error);
  if (!scene && !model && has_any(document, of_core))
    return refuse_settings(noun, path, "core", error);
  if (!scene && !model && has_any(document, of_joystick))
    return refuse_settings(noun, path, "joystick", error);
  if (strcmp(noun, "scene") == 0) return part ? refuse_part(path, arena, "", error) : TT_OK;
  if (strcmp(noun, "robot") == 0 && part && arena)
    return refuse_part(path, true, ", not a robot's file", error);
  if (strcmp(noun, "arena") == 0 && part && !arena && has_any(document, of_robots))
    return refuse_part(path, false, ", not an arena's file", error);
  if (model || !scene) return TT_OK;
  const char *wanted = strcmp(noun, "arena") == 0 ? "an arena's file" : "a robot's file";
  if (strcmp(noun, "plan") == 0) wanted = "the plan of a sweep";
  return tt_fail(error, TT_INVALID, "%s: this is a scene, not %s%s", path, wanted,
                 strcmp(noun, "plan") == 0 ? "; a plan names it: scene: FILE" : "");
}

tt_status tt_stranger_load(const char *path, const char *noun, tt_document **document,
                           tt_error *error) {
  TT_TRY(tt_document_load(path, document, error));
  tt_status status = tt_stranger_check(noun, *document, error);
  if (status == TT_OK) return TT_OK;
  tt_document_free(*document);
  *document = NULL;
  return status;
}
