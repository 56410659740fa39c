/* plan_scene.c: what only the scene can tell of a plan: which keys and values its axes may set, which signals there are, how
 * long a tick is. tt_plan_load_scene() at the end names the stages. */
#include "sweep/plan_internal.h"

#include "base/nearest.h"
#include "scene/data.h"
#include "scene/scene_sim.h"
#include "sweep/plan_hash.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SETTINGS (TT_TREE_MAX_KEYS + TT_SWEEP_MAX_AXES)
#define MAX_TRIED 1000 /* numbers of an axis that are tried one by one */
#define MAX_MODELS 64  /* of a list of texts, of which so many are compiled beforehand */

/** What is there while a plan is loaded, and no longer. */
typedef struct tt_surroundings {
  tt_scene *scene; /**< with the plan's settings, without those of axes */
  tt_scene_settings settings;
  tt_sim *sim;
  tt_plan_hash *hash;
} tt_surroundings;

/* --- what a sweep decides itself --- */

static const struct {
  const char *key, *remedy;
} decided[] = {
    {"seed", "give the plan's own key: seed: 3; an axis over seeds has set: seed"},
    {"duration", "give the plan's own key: duration: 2 s"},
    {"pace", "a sweep computes as fast as it can; remove it"},
    {"speed", "a sweep computes as fast as it can; remove it"},
    {"late_ticks", "a sweep has no clock to be late by; remove it"},
    {"web", "a sweep opens no pages; remove it"},
    {"telemetry", "a sweep sends no telemetry; remove it"},
    {"record", "the plan's own key keep says which runs are recorded; remove it"},
    {"nt4", "a sweep has no viewers; remove it"},
    {"foxglove", "a sweep has no viewers; remove it"},
};

/** `path` sets `key`, or one below it. */
static bool is_below(const char *path, const char *key) {
  size_t size = strlen(key);
  return strncmp(path, key, size) == 0 && (!path[size] || strchr(".[", path[size]));
}

static tt_status refuse_decided(const tt_plan_store *store, const char *path, const char *where) {
  for (size_t i = 0; i < sizeof decided / sizeof *decided; i++)
    if (is_below(path, decided[i].key))
      return tt_fail(store->error, TT_INVALID, "%s: a scene's %s has no meaning here: %s", where,
                     decided[i].key, decided[i].remedy);
  return TT_OK;
}

/** What only a program meets: nobody else has wires, which the driver stations of a game let through or not. */
static tt_status refuse_without_program(const tt_plan_store *store, const char *path,
                                        const char *where) {
  static const char *const keys[] = {"wires", "game"};
  for (size_t i = 0; i < 2 && store->plan.controller.kind != TT_SWEEP_PROGRAM; i++)
    if (is_below(path, keys[i]))
      return tt_fail(store->error, TT_INVALID,
                     "%s: a scene's %s has no meaning without a program: no wire is opened; give "
                     "controller: {command: …}, or remove this",
                     where, keys[i]);
  return TT_OK;
}

/* --- `set` --- */

static int count_scalars(const tt_node *node) {
  int count = node->kind == TT_NODE_SCALAR;
  for (int i = 0; i < node->child_count; i++) count += count_scalars(node->children[i]);
  return count;
}

static tt_status gather(tt_plan_store *store, const tt_node *node, const char *path,
                        const char **settings) {
  const char *where;
  PRINT(store, where, "%s: set%s%s", store->document->path, *path ? "." : "", path);
  if (node->kind == TT_NODE_SEQUENCE || (node->kind == TT_NODE_SCALAR && !*path))
    return tt_fail(store->error, TT_INVALID,
                   *path ? "%s: give a list in quotes, as \"[a, b]\""
                         : "%s: give paths with values, as set: {robots.sharp.x: 1 m}",
                   where);
  if (node->kind == TT_NODE_SCALAR) {
    TT_TRY(refuse_decided(store, path, where));
    TT_TRY(refuse_without_program(store, path, where));
    if (strchr(path, '='))
      return tt_fail(store->error, TT_INVALID, "%s: write a ':' behind the path, not a '='", where);
    PRINT(store, settings[store->setting_count], "%s=%s", path, node->text);
    store->setting_count++;
    return TT_OK;
  }
  for (int i = 0; i < node->child_count; i++) {
    const char *deeper;
    PRINT(store, deeper, "%s%s%s", path, *path ? "." : "", node->children[i]->key);
    TT_TRY(gather(store, node->children[i], deeper, settings));
  }
  return TT_OK;
}

static tt_status load_set(tt_plan_store *store) {
  const tt_node *set = tt_node_child(store->document->root, "set");
  const char **settings;
  NEW(store, settings, set ? count_scalars(set) : 0);
  store->plan.settings = settings;
  if (!set || (set->kind == TT_NODE_SCALAR && tt_node_empty(set))) return TT_OK;
  TT_TRY(gather(store, set, "", settings));
  if (store->setting_count <= TT_TREE_MAX_KEYS) return TT_OK;
  return tt_fail(store->error, TT_INVALID, "%s: set: %d settings are too many (at most %d)",
                 store->document->path, store->setting_count, TT_TREE_MAX_KEYS);
}

/* --- the scene --- */

static tt_status find_scene(tt_plan_store *store) {
  char *found, here[PATH_MAX];
  const char *where, *name = store->keys->scene;
  PRINT(store, where, "%s: scene", store->document->path);
  TT_TRY(tt_data_find(&tt_data_scene, name, store->plan.path, where, &found, store->error));
  store->plan.scene = *found == '/' || !getcwd(here, sizeof here)
                          ? tt_pool_print(&store->pool, "%s", found)
                          : tt_pool_print(&store->pool, "%s/%s", here, found);
  free(found);
  return store->plan.scene ? TT_OK : tt_plan_no_memory(store);
}

/** Where in the plan a setting of the scene comes from. */
static const char *place_of(tt_plan_store *store, const char *path, size_t size) {
  const tt_sweep_plan *plan = &store->plan;
  for (int i = 0; i < plan->axis_count; i++) {
    const tt_sweep_axis *axis = &plan->axes[i];
    if (axis->set && strlen(axis->set) == size && strncmp(axis->set, path, size) == 0)
      return axis->where;
  }
  return tt_pool_print(&store->pool, "%s: set.%.*s", store->document->path, (int)size, path);
}

/** An error of the scene that one of our settings made stands in the plan. */
static tt_status blame(tt_plan_store *store, tt_status status, const tt_error *reason) {
  static const char begin[] = "--set ";
  const char *text = reason->text;
  if (strncmp(text, begin, sizeof begin - 1) != 0) return tt_fail(store->error, status, "%s", text);
  const char *path = text + sizeof begin - 1, *end = strstr(path, ": ");
  if (!end) return tt_fail(store->error, status, "%s", text);
  const char *place = place_of(store, path, (size_t)(end - path));
  if (!place) return tt_plan_no_memory(store);
  if (!strstr(place, ": axes[")) return tt_fail(store->error, status, "%s: %s", place, end + 2);
  return tt_fail(store->error, status, "%s: %.*s: %s", place, (int)(end - path), path, end + 2);
}

/** The scene with `settings`, its files hashed where `hash` is given. */
static tt_status try_scene(tt_plan_store *store, const char *const *settings, int count,
                           tt_plan_hash *hash, tt_scene **scene) {
  tt_error reason;
  tt_status status =
      tt_scene_load(store->guests, store->plan.scene, settings, count, scene, &reason);
  if (status != TT_OK) return blame(store, status, &reason);
  if (hash) status = tt_plan_hash_scene(store, hash, *scene);
  if (status == TT_OK) return TT_OK;
  tt_scene_free(*scene);
  *scene = NULL;
  return status;
}

static tt_status open_scene(tt_plan_store *store, tt_surroundings *around) {
  tt_error reason;
  TT_TRY(find_scene(store));
  TT_TRY(
      try_scene(store, store->plan.settings, store->setting_count, around->hash, &around->scene));
  if (tt_scene_settings_list(around->scene, &around->settings) != TT_OK)
    return tt_plan_no_memory(store);
  tt_status status = tt_scene_sim(around->scene, &(tt_scene_sim_options){0}, &around->sim, &reason);
  return status == TT_OK ? TT_OK : blame(store, status, &reason);
}

/* --- what axes may set --- */

static tt_plan_target anything(void) {
  return (tt_plan_target){.kind = TT_PLAN_FREE, .lower = -INFINITY, .upper = INFINITY};
}

static tt_plan_target target_of_setting(const tt_scene_setting *setting) {
  tt_plan_target target = {.kind = TT_PLAN_TEXT, .lower = setting->lower, .upper = setting->upper};
  const tt_unit *unit = tt_unit_find(setting->unit);
  switch (setting->kind) {
    case TT_SETTING_QUANTITY:
      target.kind = *setting->unit && unit ? TT_PLAN_QUANTITY : TT_PLAN_FREE;
      if (unit) target.dimension = unit->dimension;
      break;
    case TT_SETTING_NUMBER: target.kind = TT_PLAN_NUMBER; break;
    case TT_SETTING_COUNT: target.kind = TT_PLAN_WHOLE; break;
    case TT_SETTING_FLAG:
      target.kind = TT_PLAN_FLAG;
      target.words = "on, off, true, false, yes, no";
      break;
    case TT_SETTING_WORD:
      target.kind = TT_PLAN_WORD;
      target.words = setting->words;
      break;
    case TT_SETTING_TEXT:
    case TT_SETTING_LIST: break;
  }
  if (!setting->known) target.kind = TT_PLAN_FREE;
  return target;
}

static bool sets_value(const tt_sweep_axis *axis) {
  return axis->set && strncmp(axis->set, TT_PLAN_VALUES, strlen(TT_PLAN_VALUES)) == 0;
}

static tt_status find_value(tt_plan_store *store, const tt_surroundings *around,
                            const tt_sweep_axis *axis, tt_plan_target *target) {
  int index, count;
  const char *where;
  PRINT(store, where, "%s.set", axis->where);
  TT_TRY(tt_sim_find_value(around->sim, axis->set, where, &index, store->error));
  const tt_value *value = &tt_sim_values(around->sim, &count)[index];
  *target = (tt_plan_target){.kind = TT_PLAN_QUANTITY,
                             .dimension = value->dimension,
                             .lower = value->lower,
                             .upper = value->upper};
  return TT_OK;
}

/** A path that is not listed: another spelling of one that is, which the scene will take; or a mistake, which it will tell. */
static tt_status find_unlisted(tt_plan_store *store, const tt_surroundings *around, int index) {
  const tt_sweep_axis *axis = &store->plan.axes[index];
  const tt_plan_axis_keys *keys = &store->keys->axes[index];
  const char *settings[MAX_SETTINGS + 1];
  tt_error reason;
  tt_scene *scene;
  int count = 0;
  for (; count < store->setting_count; count++) settings[count] = store->plan.settings[count];
  PRINT(store, settings[count], "%s=%s", axis->set, keys->value ? keys->value[0] : keys->range[0]);
  tt_status status =
      tt_scene_load(store->guests, store->plan.scene, settings, count + 1, &scene, &reason);
  if (status == TT_OK) {
    tt_scene_free(scene);
    return TT_OK;
  }
  tt_nearest nearest = tt_nearest_start(axis->set);
  for (int i = 0; i < around->settings.count; i++)
    tt_nearest_offer(&nearest, around->settings.items[i].path);
  if (!nearest.best) return blame(store, status, &reason);
  return tt_fail(store->error, TT_INVALID,
                 "%s.set: the scene has no key '%s'; did you mean '%s'? 'tether check %s "
                 "--settings' lists them",
                 axis->where, axis->set, nearest.best, store->keys->scene);
}

static tt_status find_target(tt_plan_store *store, const tt_surroundings *around, int index) {
  const tt_sweep_axis *axis = &store->plan.axes[index];
  tt_plan_axis *to = &store->axes[index];
  const char *where;
  to->target = anything();
  if (!axis->set) return TT_OK;
  PRINT(store, where, "%s.set", axis->where);
  if (strcmp(axis->set, TT_PLAN_SEED) == 0) {
    to->target =
        (tt_plan_target){.kind = TT_PLAN_WHOLE, .lower = 0, .upper = TT_PLAN_GREATEST_SEED};
    return TT_OK;
  }
  if (!*axis->set || strchr(axis->set, '='))
    return tt_fail(store->error, TT_INVALID,
                   "%s: '%s' is no path; write it as --set takes it, without a value, as "
                   "robots.sharp.heading",
                   where, axis->set);
  TT_TRY(refuse_decided(store, axis->set, where));
  TT_TRY(refuse_without_program(store, axis->set, where));
  if (sets_value(axis)) return find_value(store, around, axis, &to->target);
  to->is_setting = true;
  for (int i = 0; i < around->settings.count; i++) {
    const tt_scene_setting *setting = &around->settings.items[i];
    if (strcmp(setting->path, axis->set) != 0) continue;
    to->target = target_of_setting(setting);
    return TT_OK;
  }
  return find_unlisted(store, around, index);
}

/* --- the scene at the ends of its axes --- */

static tt_status check_values(tt_plan_store *store, const tt_sim *sim) {
  const char *where;
  int index;
  for (int i = 0; i < store->plan.axis_count; i++) {
    const tt_sweep_axis *axis = &store->plan.axes[i];
    if (!sets_value(axis)) continue;
    PRINT(store, where, "%s.set", axis->where);
    TT_TRY(tt_sim_find_value(sim, axis->set, where, &index, store->error));
  }
  return TT_OK;
}

/** Another file may have another model, without the signals that are measured or the values that are set. `setting` is what
 *  the scene has of an axis. */
static tt_status try_sim(tt_plan_store *store, const tt_scene *scene, const char *setting) {
  tt_error reason;
  tt_sim *sim;
  tt_status status = tt_scene_sim(scene, &(tt_scene_sim_options){0}, &sim, &reason);
  if (status != TT_OK) return blame(store, status, &reason);
  status = tt_plan_check_names(store, scene, sim);
  if (status == TT_OK) status = check_values(store, sim);
  tt_sim_free(sim);
  if (status == TT_OK) return TT_OK;
  reason = *store->error;
  return tt_fail(store->error, status, "%s (where %s)", reason.text, setting);
}

/** How an axis is set at its `index`-th value; of bounds: at the lower one, the upper one, and within. */
static const char *text_at(const tt_plan_store *store, int axis_index, int index, char number[64]) {
  const tt_sweep_axis *axis = &store->plan.axes[axis_index];
  const int at = axis->count > 0 && index >= axis->count ? axis->count - 1 : index;
  const double shares[] = {0, 1, 0.3819660112501051};
  if (store->axes[axis_index].texts) return store->axes[axis_index].texts[at];
  if (axis->values) return tt_sweep_value_text(&axis->values[at], number, 64);
  const bool whole = store->axes[axis_index].target.kind == TT_PLAN_WHOLE;
  const double value = tt_plan_between(axis, shares[index < 3 ? index : 2]);
  return tt_sweep_value_text(
      &(tt_sweep_value){.kind = TT_SWEEP_NUMBER, .number = whole ? round(value) : value}, number,
      64);
}

/** Loads the scene with the settings of one group's axes, each at its `index`-th value. */
static tt_status try_point(tt_plan_store *store, const tt_surroundings *around, int group,
                           int index, bool files) {
  const char *settings[MAX_SETTINGS + 1];
  char number[64];
  int count = 0;
  for (; count < store->setting_count; count++) settings[count] = store->plan.settings[count];
  for (int i = 0; i < store->plan.axis_count; i++) {
    if (store->plan.axes[i].group != group || !store->axes[i].is_setting) continue;
    PRINT(store, settings[count], "%s=%s", store->plan.axes[i].set,
          text_at(store, i, index, number));
    count++;
  }
  tt_scene *scene;
  TT_TRY(try_scene(store, settings, count, files ? around->hash : NULL, &scene));
  tt_status status =
      files && index < MAX_MODELS ? try_sim(store, scene, settings[count - 1]) : TT_OK;
  tt_scene_free(scene);
  return status;
}

/** Values are tried one by one, since a scene may refuse any: a time that is no whole number of steps, a file that is not there. Of very
 *  many numbers the ends and one more. */
static tt_status try_group(tt_plan_store *store, const tt_surroundings *around, int group) {
  bool set = false, texts = false;
  int count = store->group_counts[group];
  for (int i = 0; i < store->plan.axis_count; i++) {
    const tt_sweep_axis *axis = &store->plan.axes[i];
    if (axis->group != group || !store->axes[i].is_setting) continue;
    set = true;
    texts = texts || (axis->values && axis->values[0].kind == TT_SWEEP_TEXT);
    if (!axis->values && count < 3) count = 3;
  }
  const int step = texts || count <= MAX_TRIED ? 1 : count / 2;
  for (int i = 0; set && i < count; i += step) TT_TRY(try_point(store, around, group, i, texts));
  return set && step > 1 ? try_point(store, around, group, count - 1, false) : TT_OK;
}

/* --- all --- */

static tt_status load_scene(tt_plan_store *store, tt_surroundings *around) {
  TT_TRY(load_set(store));
  TT_TRY(open_scene(store, around));
  for (int i = 0; i < store->plan.axis_count; i++) TT_TRY(find_target(store, around, i));
  TT_TRY(tt_plan_load_values(store));
  TT_TRY(tt_plan_check_names(store, around->scene, around->sim));
  for (int i = 0; i < store->group_count; i++) TT_TRY(try_group(store, around, i));
  return tt_plan_identify(store, around->hash);
}

tt_status tt_plan_load_scene(tt_plan_store *store) {
  tt_surroundings around = {.hash = tt_plan_hash_new()};
  if (!around.hash) return tt_plan_no_memory(store);
  tt_status status = load_scene(store, &around);
  tt_sim_free(around.sim);
  tt_scene_settings_free(&around.settings);
  tt_scene_free(around.scene);
  tt_plan_hash_free(around.hash);
  return status;
}
