/* plan.c: a plan's file → checked structs. load_all() names the stages. */
#include "sweep/plan_internal.h"

#include "base/file.h"
#include "scene/data.h"
#include "scene/stranger.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST 1e9       /* s simulated, of a run */
#define LEAST_TIMEOUT 600 /* s, by default */
#define TIMEOUT_FACTOR 10 /* times the duration, by default */
#define MOST_RETRIES 100

const char *tt_sweep_status_name(tt_sweep_status status) {
  static const char *const names[] = {[TT_SWEEP_OK] = "ok",
                                      [TT_SWEEP_DIVERGED] = "diverged",
                                      [TT_SWEEP_CONTROLLER_FAILED] = "controller_failed",
                                      [TT_SWEEP_TIMEOUT] = "timeout",
                                      [TT_SWEEP_LIMIT] = "limit"};
  return names[status];
}

/* --- files --- */

/** Where the file of a plan lies, without looking at what links lead to. */
static tt_status place(tt_plan_store *store, const char *file) {
  char here[PATH_MAX];
  tt_sweep_plan *plan = &store->plan;
  if (*file == '/') {
    PRINT(store, plan->path, "%s", file);
  } else {
    if (!getcwd(here, sizeof here))
      return tt_fail(store->error, TT_FAILED, "%s: the working directory is gone", file);
    PRINT(store, plan->path, "%s/%s", here[1] ? here : "", file);
  }
  const char *slash = strrchr(plan->path, '/');
  PRINT(store, plan->folder, "%.*s", slash == plan->path ? 1 : (int)(slash - plan->path),
        plan->path);
  return TT_OK;
}

static bool is_address(const char *output) { return strstr(output, "://") != NULL; }

static tt_status check_output(tt_plan_store *store, const char *where) {
  static const char *const others[] = {".yaml", ".yml", ".lua", ".csv", ".xml", ".wpilog", NULL};
  const char *output = store->plan.output, *dot = strrchr(output, '.'), *slash;
  if (is_address(output)) {
    if (strncmp(output, "postgresql://", 13) == 0) return TT_OK;
    return tt_fail(store->error, TT_INVALID,
                   "%s: '%s' is no address of a database; give a file or postgresql://…", where,
                   output);
  }
  for (const char *const *other = others; dot && *other; other++)
    if (strcmp(dot, *other) == 0)
      return tt_fail(store->error, TT_INVALID,
                     "%s: the table is an SQLite file; give a name as %.*s.sqlite%s", where,
                     (int)(dot - output), output,
                     strcmp(dot, ".csv") == 0 ? ", and ask for CSV with --csv FILE" : "");
  struct stat about;
  const char *folder;
  slash = strrchr(output, '/');
  PRINT(store, folder, "%.*s", slash == output ? 1 : (int)(slash - output), output);
  if (stat(output, &about) == 0 && S_ISDIR(about.st_mode))
    return tt_fail(store->error, TT_INVALID, "%s: %s is a folder; give a file in it", where,
                   output);
  if (stat(folder, &about) == 0 && S_ISDIR(about.st_mode)) return TT_OK;
  return tt_fail(store->error, TT_INVALID, "%s: there is no folder %s; make it, or give another",
                 where, folder);
}

/** By default the plan's name, beside it; of a plan that comes with the program, where one works. `named`: it was given by its name. */
static tt_status load_output(tt_plan_store *store, bool named) {
  tt_sweep_plan *plan = &store->plan;
  char here[PATH_MAX];
  const char *where, *given = store->keys->output;
  if (given) {
    if (is_address(given))
      plan->output = given;
    else
      TT_TRY(tt_plan_path(store, given, &plan->output));
    PRINT(store, where, "%s: output", store->document->path);
    return check_output(store, where);
  }
  const char *name = strrchr(plan->path, '/') + 1, *dot = strrchr(name, '.');
  const char *folder = named && getcwd(here, sizeof here) ? here : plan->folder;
  PRINT(store, plan->output, "%s/%.*s.sqlite", folder,
        dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
  return TT_OK;
}

/* --- single keys --- */

/** A whole number within limits. */
static tt_status load_count(const tt_plan_store *store, const uint64_t *given, const char *key,
                            uint64_t lower, uint64_t upper, uint64_t fallback, uint64_t *value) {
  *value = given ? *given : fallback;
  if (*value >= lower && *value <= upper) return TT_OK;
  return tt_fail(store->error, TT_INVALID, "%s: %s: %llu is out of range; give %llu to %llu",
                 store->document->path, key, (unsigned long long)*value, (unsigned long long)lower,
                 (unsigned long long)upper);
}

static tt_status load_times(tt_plan_store *store) {
  tt_sweep_plan *plan = &store->plan;
  const char *path = store->document->path, *where;
  PRINT(store, where, "%s: duration", path);
  TT_TRY(tt_quantity_check(store->keys->duration, "", where, TT_TIME, 0, LONGEST, 0,
                           &plan->duration, store->error));
  if (plan->duration == 0)
    return tt_fail(store->error, TT_INVALID,
                   "%s: a run of no time measures nothing; give its simulated time, as 2 s", where);
  PRINT(store, where, "%s: timeout", path);
  TT_TRY(tt_quantity_check(store->keys->timeout, "", where, TT_TIME, 0, LONGEST,
                           fmax(LEAST_TIMEOUT, TIMEOUT_FACTOR * plan->duration), &plan->timeout,
                           store->error));
  if (plan->timeout > 0) return TT_OK;
  return tt_fail(store->error, TT_INVALID,
                 "%s: every run would end before it begins; give wall-clock time, as 10 min, or "
                 "leave the key out",
                 where);
}

static tt_status load_sampling(tt_plan_store *store) {
  static const char *const words[] = {"grid", "random", "latin-hypercube", "sobol", NULL};
  tt_sweep_plan *plan = &store->plan;
  const uint64_t *samples = store->keys->samples;
  const char *path = store->document->path, *where;
  int index;
  PRINT(store, where, "%s: sampling", path);
  if (store->keys->sampling) {
    for (index = 0; words[index] && strcmp(words[index], store->keys->sampling) != 0;) index++;
    if (!words[index])
      return tt_fail(store->error, TT_INVALID,
                     "%s: '%s' is not one of grid, random, latin-hypercube, sobol", where,
                     store->keys->sampling);
    plan->sampling = (tt_sweep_sampling)index;
  }
  if (plan->sampling == TT_SWEEP_GRID && samples)
    return tt_fail(store->error, TT_INVALID,
                   "%s: samples: a grid has as many points as its axes make; remove samples, or "
                   "give sampling: random, latin-hypercube or sobol",
                   path);
  if (plan->sampling != TT_SWEEP_GRID && !samples)
    return tt_fail(store->error, TT_INVALID, "%s: how many points? give samples as well", where);
  if (plan->sampling != TT_SWEEP_GRID && store->keys->axes_count == 0)
    return tt_fail(store->error, TT_INVALID,
                   "%s: there are no axes to take points from; give axes, or repeat alone", where);
  return load_count(store, samples, "samples", 1, TT_SWEEP_MAX_RUNS, 1, &plan->point_count);
}

static tt_status load_counts(tt_plan_store *store) {
  const tt_plan_keys *keys = store->keys;
  uint64_t repeat, retries;
  TT_TRY(load_count(store, keys->seed, "seed", 0, TT_PLAN_GREATEST_SEED, 0, &store->plan.seed));
  TT_TRY(load_count(store, keys->repeat, "repeat", 1, TT_SWEEP_MAX_RUNS, 1, &repeat));
  TT_TRY(load_count(store, keys->retries, "retries", 0, MOST_RETRIES, 0, &retries));
  store->plan.repeat = (int)repeat;
  store->plan.retries = (int)retries;
  return TT_OK;
}

/** Points of a grid are known with its axes. */
static tt_status count_runs(tt_plan_store *store) {
  tt_sweep_plan *plan = &store->plan;
  const char *path = store->document->path;
  if (plan->sampling == TT_SWEEP_GRID) {
    plan->point_count = 1;
    for (int i = 0; i < store->group_count; i++) {
      plan->point_count *= (uint64_t)store->group_counts[i];
      if (plan->point_count > TT_SWEEP_MAX_RUNS) break;
    }
  }
  if (plan->point_count <= TT_SWEEP_MAX_RUNS / (uint64_t)plan->repeat) return TT_OK;
  return tt_fail(store->error, TT_INVALID,
                 "%s: %s: that makes more than %u runs; give fewer values, or sampling: sobol "
                 "with samples",
                 path, plan->axis_count > 0 ? "axes" : "repeat", TT_SWEEP_MAX_RUNS);
}

/* --- the whole --- */

/** A word in place of a mapping; NULL: there is none. */
static tt_node *word_at(const tt_document *document, const char *key) {
  tt_node *node = tt_node_child(document->root, key);
  return node && node->kind == TT_NODE_SCALAR && !tt_node_empty(node) ? node : NULL;
}

/** `controller: none` says the same as no such key. */
static tt_status read_none(const tt_plan_store *store) {
  tt_node *node = word_at(store->document, "controller");
  if (!node) return TT_OK;
  if (strcmp(node->text, "none") != 0)
    return tt_fail(
        store->error, TT_INVALID,
        "%s: controller: give {lua: FILE}, {command: TEXT}, {policy: MODULE:FUNCTION} or "
        "none",
        store->document->path);
  node->text[0] = 0;
  node->quoted = false;
  return TT_OK;
}

/** `keep: failures` is short for `keep: {failures: on}`. */
static tt_status read_kept(const tt_plan_store *store) {
  tt_node *node = word_at(store->document, "keep"), *on;
  if (!node) return TT_OK;
  if (strcmp(node->text, "nothing") == 0) {
    node->text[0] = 0;
    node->quoted = false;
    return TT_OK;
  }
  if (strcmp(node->text, "all") != 0 && strcmp(node->text, "failures") != 0)
    return tt_fail(store->error, TT_INVALID,
                   "%s: keep: give nothing, failures, all, or a mapping as {best: 3, metric: y, "
                   "order: least}",
                   store->document->path);
  on = tt_document_node(store->document, TT_NODE_SCALAR, node->text, strlen(node->text), "on", 2,
                        node->line);
  if (!on || !tt_node_append(node, on)) {
    tt_node_free(on);
    return tt_plan_no_memory(store);
  }
  free(node->text);
  node->text = NULL;
  node->kind = TT_NODE_MAPPING;
  return TT_OK;
}

static tt_status read_keys(tt_plan_store *store, const char *const *settings, int setting_count) {
  for (int i = 0; i < setting_count; i++)
    TT_TRY(tt_document_set(store->document, settings[i], store->error));
  TT_TRY(read_none(store));
  TT_TRY(read_kept(store));
  store->schema = tt_plan_schema(&store->pool);
  if (!store->schema) return tt_plan_no_memory(store);
  return tt_document_read(store->document, store->schema, (void **)&store->keys, store->error);
}

/** Where a plan comes from. */
typedef struct tt_source {
  const tt_scene_guests *guests;
  const char *path;
  bool named; /**< given by its name, not by its path */
} tt_source;

/** What the table keeps of the plan: its text, and what the command line changed. */
static tt_status keep_text(tt_plan_store *store, const char *text, size_t size,
                           const char *const *settings, int setting_count) {
  const char *all;
  PRINT(store, all, "%.*s", (int)size, text);
  for (int i = 0; i < setting_count; i++) PRINT(store, all, "%s# --set %s\n", all, settings[i]);
  store->plan.text = all;
  return TT_OK;
}

static tt_status load_all(tt_plan_store *store, const char *const *settings, int setting_count,
                          bool named) {
  TT_TRY(tt_stranger_check("plan", store->document, store->error));
  TT_TRY(place(store, store->document->path));
  TT_TRY(read_keys(store, settings, setting_count));
  store->plan.description = store->keys->description ? store->keys->description : "";
  TT_TRY(load_times(store));
  TT_TRY(load_counts(store));
  TT_TRY(load_sampling(store));
  TT_TRY(tt_plan_load_controller(store));
  TT_TRY(tt_plan_load_axes(store));
  TT_TRY(load_output(store, named));
  TT_TRY(tt_plan_load_metrics(store));
  TT_TRY(count_runs(store));
  return tt_plan_load_scene(store);
}

static tt_status load(const tt_source *source, const char *text, size_t size,
                      const char *const *settings, int setting_count, tt_sweep_plan **plan,
                      tt_error *error) {
  tt_document *document;
  TT_TRY(tt_document_parse(source->path, text, size, &document, error));
  tt_plan_store *store = calloc(1, sizeof *store);
  if (!store) {
    tt_document_free(document);
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  store->document = document;
  store->guests = source->guests;
  store->error = error;
  tt_status status = keep_text(store, text, size, settings, setting_count);
  if (status == TT_OK) status = load_all(store, settings, setting_count, source->named);
  if (status != TT_OK) {
    tt_document_explain(document, error);
    tt_sweep_plan_free(&store->plan);
    return status;
  }
  store->error = NULL;
  *plan = &store->plan;
  return TT_OK;
}

static bool is_found(const tt_data_kind *kind, const char *name) {
  char *path;
  tt_error ignored;
  bool found = tt_data_find(kind, name, NULL, name, &path, &ignored) == TT_OK;
  if (found) free(path);
  return found;
}

static bool is_name(const char *path) { return !strchr(path, '/') && !strchr(path, '.'); }

bool tt_sweep_is_plan(const char *path) {
  tt_document *document;
  tt_error ignored;
  if (is_name(path)) return !is_found(&tt_data_scene, path) && is_found(&tt_data_plan, path);
  if (tt_document_load(path, &document, &ignored) != TT_OK) return false;
  bool plan = tt_stranger_is_plan(document);
  tt_document_free(document);
  return plan;
}

tt_status tt_sweep_plan_load(const tt_scene_guests *guests, const char *path,
                             const char *const *settings, int setting_count, tt_sweep_plan **plan,
                             tt_error *error) {
  char *found;
  tt_bytes text;
  *plan = NULL;
  TT_TRY(tt_data_find(&tt_data_plan, path, NULL, path, &found, error));
  const tt_source source = {guests, found, is_name(path)};
  tt_status status = tt_file_read(found, TT_TREE_MAX_FILE, &text, error);
  if (status == TT_OK)
    status =
        load(&source, (const char *)text.data, text.size, settings, setting_count, plan, error);
  tt_bytes_free(&text);
  free(found);
  return status;
}

tt_status tt_sweep_plan_parse(const tt_scene_guests *guests, const char *path, const char *text,
                              size_t size, const char *const *settings, int setting_count,
                              tt_sweep_plan **plan, tt_error *error) {
  *plan = NULL;
  return load(&(tt_source){guests, path, false}, text, size, settings, setting_count, plan, error);
}

void tt_sweep_plan_free(tt_sweep_plan *plan) {
  if (!plan) return;
  tt_plan_store *store = (tt_plan_store *)plan;
  tt_document_release(store->schema, store->keys);
  tt_document_free(store->document);
  free(store->files);
  tt_pool_free(&store->pool);
  free(store);
}
