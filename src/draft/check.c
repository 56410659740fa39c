#include "draft/check.h"

#include "base/log.h"
#include "draft/describe.h"
#include "draft/model_notes.h"
#include "engine/mujoco/references.h"
#include "scene/data.h"
#include "scene/load.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mistakes of the loading stages, which end at the first: each one's key is set aside for the next try. */
#define MOST_TRIES 20

typedef struct checking {
  tt_problem_listener listener; /* first, since it is what is told */
  const tt_draft_maker *maker;
  const char *folder, *main;
  char path[PATH_MAX]; /* of the scene */
  const tt_draft_files *files;
  tt_draft_look *look;
  char *aside[MOST_TRIES]; /* settings that take out what is wrong */
  int aside_count;
} checking;

/* --- problems --- */

/* Where the file is one of the draft. */
static void place(const checking *in, tt_problem *problem) {
  char *text;
  size_t size;
  tt_error ignored;
  if (!*problem->file ||
      tt_draft_file_read(in->folder, problem->file, &text, &size, &ignored) != TT_OK)
    return;
  tt_problem_place(problem, text, size);
  free(text);
}

/* False: it is known already. */
static bool report(checking *in, const char *message, tt_severity severity, tt_problem *problem) {
  tt_problem_read(in->folder, message, severity, problem);
  if (!*problem->file && severity == TT_SEVERITY_ERROR)
    snprintf(problem->file, sizeof problem->file, "%s", in->main);
  place(in, problem);
  return tt_draft_look_add(in->look, problem);
}

static void hear_problem(tt_problem_listener *self, const char *text) {
  tt_problem problem;
  report((checking *)self, text, TT_SEVERITY_ERROR, &problem);
}

/* What the engine says of a model. A fixed base is told by the model's notes, with its line. */
static void hear_line(void *context, tt_log_level level, const char *text) {
  tt_problem problem;
  if (level > TT_LOG_WARNING || strstr(text, "its base is fixed")) return;
  report(context, text, TT_SEVERITY_WARNING, &problem);
}

static void hear_note(void *context, const char *path, int line, const char *text) {
  char message[PATH_MAX + 600];
  tt_problem problem;
  snprintf(message, sizeof message, "%s:%d: %s", path, line, text);
  report(context, message, TT_SEVERITY_WARNING, &problem);
}

/* --- each file by itself --- */

static bool has_ending(const char *path, const char *ending) {
  size_t size = strlen(path), length = strlen(ending);
  return size > length && strcmp(path + size - length, ending) == 0;
}

/* By what stands in it. */
static const cyaml_schema_value_t *schema_of(const tt_schemas *schemas, const tt_node *root) {
  static const char *const of_arenas[] = {"field", "pieces", "lines"};
  if (tt_node_child(root, "robots") || tt_node_child(root, "wires")) return schemas->scene;
  for (size_t i = 0; i < sizeof of_arenas / sizeof *of_arenas; i++)
    if (tt_node_child(root, of_arenas[i])) return schemas->arena;
  return tt_node_child(root, "model") ? schemas->robot : NULL;
}

static void check_file(checking *in, const tt_schemas *schemas, const char *name) {
  char path[PATH_MAX];
  tt_document *document;
  tt_error error = {""};
  tt_problem problem;
  snprintf(path, sizeof path, "%s/%s", in->folder, name);
  if (tt_document_load(path, &document, &error) != TT_OK) {
    report(in, error.text, TT_SEVERITY_ERROR, &problem);
    return;
  }
  const cyaml_schema_value_t *schema =
      strcmp(name, in->main) == 0 ? schemas->scene : schema_of(schemas, document->root);
  if (schema) tt_document_validate(document, schema, &error);
  tt_document_free(document);
}

static tt_status check_files(checking *in, tt_error *error) {
  tt_pool pool = {0};
  tt_schemas schemas;
  tt_status status = tt_schemas_new(in->maker->guests, &pool, &schemas);
  if (status != TT_OK) tt_fail(error, status, "out of memory");
  tt_problems_listen(&in->listener);
  for (int i = 0; status == TT_OK && i < in->files->count; i++) {
    const char *name = in->files->items[i].path;
    if (has_ending(name, ".yaml") || has_ending(name, ".yml")) check_file(in, &schemas, name);
  }
  tt_problems_listen(NULL);
  tt_pool_free(&pool);
  return status;
}

/* --- all of them together --- */

/* The next try leaves out the key of the scene that is wrong. False: that can't be. */
static bool set_aside(checking *in, const tt_problem *problem) {
  const size_t size = strlen(problem->key);
  /* of a list of names, most likely */
  const bool element = size > 0 && problem->key[size - 1] == ']';
  if (!size || strcmp(problem->file, in->main) != 0 || in->aside_count == MOST_TRIES) return false;
  char *setting;
  if (asprintf(&setting, "%s=%s", problem->key, element ? "none" : "") < 0) return false;
  in->aside[in->aside_count++] = setting;
  return true;
}

/* A model of the draft must not name files that lie elsewhere: what is wrong with them would tell what stands in them. */
static tt_status check_reference(void *context, const char *path, tt_error *error) {
  const checking *in = context;
  char real[PATH_MAX], folder[PATH_MAX];
  const size_t size = realpath(in->folder, folder) ? strlen(folder) : 0;
  if (!realpath(path, real) || (size && strncmp(real, folder, size) == 0 && real[size] == '/') ||
      tt_data_holds(real))
    return TT_OK;
  return tt_fail(error, TT_INVALID, "it names '%s', which lies elsewhere; add the file here", path);
}

static tt_status check_references(checking *in, const tt_scene *scene, tt_error *error) {
  tt_error reason;
  for (int i = -1; i < scene->robot_count; i++) {
    const char *model = i < 0 ? scene->arena_file : scene->robots[i].model_file;
    if (model &&
        tt_model_references(model, scene->search_path, check_reference, in, &reason) == TT_INVALID)
      return tt_fail(error, TT_INVALID, "%s: %s", model, reason.text);
  }
  return TT_OK;
}

static tt_status describe(checking *in, const tt_scene *scene, tt_error *error) {
  tt_world *world;
  TT_TRY(check_references(in, scene, error));
  TT_TRY(in->maker->assemble(scene, &world, error));
  tt_draft_look *look = in->look;
  tt_status status = TT_OK;
  if (!in->aside_count) { /* else it is another scene than the one that was meant */
    snprintf(look->machine, sizeof look->machine, "%s", scene->machine);
    status = tt_draft_describe(scene, world, in->folder, look, error);
  }
  tt_world_free(world);
  return status;
}

/* One try; TT_INVALID: with what is wrong. */
static tt_status load(checking *in, bool notes, tt_error *error) {
  tt_scene *scene;
  TT_TRY(tt_scene_load(in->maker->guests, in->path, (const char *const *)in->aside, in->aside_count,
                       &scene, error));
  for (int i = 0; notes && i < scene->robot_count; i++)
    tt_model_notes(&scene->robots[i], hear_note, in);
  tt_status status = describe(in, scene, error);
  tt_scene_free(scene);
  return status;
}

static tt_status check_whole(checking *in, tt_error *error) {
  tt_problem problem;
  for (;;) {
    tt_error reason = {""};
    tt_status status = load(in, true, &reason);
    if (status == TT_OK) return TT_OK;
    if (status == TT_NOMEM) return tt_fail(error, TT_NOMEM, "out of memory");
    if (in->aside_count && strncmp(reason.text, "--set ", 6) == 0) return TT_OK; /* of our own */
    if (!report(in, reason.text, TT_SEVERITY_ERROR, &problem) || !set_aside(in, &problem))
      return TT_OK;
  }
}

static int by_place(const void *one, const void *other) {
  const tt_problem *a = one, *b = other;
  int order = strcmp(a->file, b->file);
  return order ? order : a->line - b->line;
}

tt_status tt_draft_check(const tt_draft_maker *maker, const char *folder, const char *main,
                         const tt_draft_files *files, tt_draft_look *look, tt_error *error) {
  checking in = {.listener = {hear_problem},
                 .maker = maker,
                 .folder = folder,
                 .main = main,
                 .files = files,
                 .look = look};
  snprintf(in.path, sizeof in.path, "%s/%s", folder, main);
  look->revision = files->revision;
  tt_data_confine(folder);
  tt_log_divert(hear_line, &in);
  tt_status status = check_files(&in, error);
  if (status == TT_OK) status = check_whole(&in, error);
  tt_log_divert(NULL, NULL);
  tt_data_confine(NULL);
  for (int i = 0; i < in.aside_count; i++) free(in.aside[i]);
  if (look->problem_count)
    qsort(look->problems, (size_t)look->problem_count, sizeof *look->problems, by_place);
  look->runs = status == TT_OK && !tt_draft_look_error(look);
  return status;
}
