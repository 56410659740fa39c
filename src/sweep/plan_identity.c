/* plan_identity.c: what decides a run, as a number: of the plan once, of each run by its seed and axes. */
#include "sweep/plan_internal.h"

#include "engine/mujoco/version.h"
#include "sweep/plan_hash.h"

#include <string.h>
#include <xxhash.h>

#define RULES 1 /* of this file and plan_hash.c; another number makes other ids */

static void add_value(tt_plan_hash *to, const tt_sweep_value *value) {
  tt_plan_hash_number(to, value->kind);
  if (value->kind == TT_SWEEP_TEXT)
    tt_plan_hash_text(to, value->text);
  else
    tt_plan_hash_double(to, value->number);
}

static tt_status add_controller(tt_plan_store *store, tt_plan_hash *to) {
  const tt_sweep_controller *controller = &store->plan.controller;
  tt_plan_hash_number(to, controller->kind);
  if (controller->kind != TT_SWEEP_LUA) tt_plan_hash_text(to, controller->text);
  tt_plan_hash_number(to, controller->fixed_ports);
  tt_plan_hash_double(to, controller->memory);
  tt_plan_hash_double(to, controller->output);
  for (const char *const *path = controller->files; *path; path++)
    TT_TRY(tt_plan_hash_file(store, to, *path));
  return TT_OK;
}

/* --- what all runs share --- */

/** A part of the plan as it was written. */
static void add_node(tt_plan_hash *to, const tt_node *node) {
  tt_plan_hash_number(to, node ? (uint64_t)node->kind + 1 : 0);
  if (!node) return;
  tt_plan_hash_text(to, node->key);
  tt_plan_hash_text(to, node->text);
  tt_plan_hash_number(to, (uint64_t)node->child_count);
  for (int i = 0; i < node->child_count; i++) add_node(to, node->children[i]);
}

static const tt_node *key_of(const tt_plan_store *store, const char *key) {
  return tt_node_child(store->document->root, key);
}

static void add_versions(tt_plan_hash *to) {
  tt_platform platform = tt_platform_get();
  tt_plan_hash_number(to, RULES);
  tt_plan_hash_number(to, TT_PHYSICS_VERSION);
  tt_plan_hash_text(to, TETHER_VERSION);
  tt_plan_hash_text(to, platform.mujoco);
  tt_plan_hash_text(to, platform.libc);
  tt_plan_hash_text(to, platform.cpu);
}

/** What an axis is, but for its values, which are each run's own. */
static void add_axes(tt_plan_hash *to, const tt_sweep_plan *plan) {
  tt_plan_hash_number(to, (uint64_t)plan->axis_count);
  for (int i = 0; i < plan->axis_count; i++) {
    tt_plan_hash_text(to, plan->axes[i].name);
    tt_plan_hash_text(to, plan->axes[i].set);
  }
}

static tt_status add_metrics(tt_plan_store *store, tt_plan_hash *to) {
  const tt_sweep_plan *plan = &store->plan;
  add_node(to, key_of(store, "metrics"));
  add_node(to, key_of(store, "success"));
  add_node(to, key_of(store, "stop_when"));
  for (int i = 0; i < plan->metric_count; i++) {
    const char *file = tt_metric_file(plan->metrics[i].keys);
    if (file) TT_TRY(tt_plan_hash_file(store, to, file));
  }
  return TT_OK;
}

static tt_status identify_shared(tt_plan_store *store, tt_plan_hash *hash) {
  const tt_sweep_plan *plan = &store->plan;
  add_versions(hash);
  tt_plan_hash_double(hash, plan->duration);
  for (const char *const *setting = plan->settings; *setting; setting++)
    tt_plan_hash_text(hash, *setting);
  add_axes(hash, plan);
  TT_TRY(add_controller(store, hash));
  TT_TRY(add_metrics(store, hash));
  tt_plan_hash_digest(hash, store->identity);
  return TT_OK;
}

/** Goes on from what is shared with what makes the runs out of it. */
static void identify_runs(tt_plan_store *store, tt_plan_hash *hash) {
  tt_sweep_plan *plan = &store->plan;
  tt_plan_hash_number(hash, plan->seed);
  tt_plan_hash_number(hash, (uint64_t)plan->repeat);
  tt_plan_hash_number(hash, plan->sampling);
  tt_plan_hash_number(hash, plan->point_count);
  for (int i = 0; i < plan->axis_count; i++) {
    const tt_sweep_axis *axis = &plan->axes[i];
    tt_plan_hash_number(hash, (uint64_t)axis->group);
    tt_plan_hash_number(hash, (uint64_t)axis->count);
    tt_plan_hash_number(hash, axis->logarithmic);
    tt_plan_hash_double(hash, axis->lower);
    tt_plan_hash_double(hash, axis->upper);
    for (int k = 0; axis->values && k < axis->count; k++) add_value(hash, &axis->values[k]);
  }
  tt_plan_hash_write(hash, plan->runs_identity);
}

static void identify_columns(tt_plan_store *store, tt_plan_hash *hash) {
  tt_sweep_plan *plan = &store->plan;
  tt_plan_hash_restart(hash);
  add_axes(hash, plan);
  for (int i = 0; i < plan->axis_count; i++) tt_plan_hash_text(hash, plan->axes[i].unit);
  for (int i = 0; i < plan->metric_count; i++) {
    tt_plan_hash_text(hash, plan->metrics[i].name);
    tt_plan_hash_text(hash, plan->metrics[i].unit);
  }
  add_node(hash, key_of(store, "metrics"));
  add_node(hash, key_of(store, "success"));
  tt_plan_hash_write(hash, plan->columns_identity);
}

static tt_status describe_version(tt_plan_store *store) {
  tt_platform platform = tt_platform_get();
  PRINT(store, store->plan.version, "tether %s, physics %d, MuJoCo %s, libc %s, %s", TETHER_VERSION,
        TT_PHYSICS_VERSION, platform.mujoco, platform.libc, platform.cpu);
  return TT_OK;
}

tt_status tt_plan_identify(tt_plan_store *store, tt_plan_hash *hash) {
  TT_TRY(describe_version(store));
  TT_TRY(identify_shared(store, hash));
  identify_runs(store, hash);
  identify_columns(store, hash);
  return TT_OK;
}

/* --- one run --- */

/** Of a fixed size: a text stands there as its hash. */
typedef struct tt_run_key {
  unsigned char plan[16];
  uint64_t seed, point; /**< point: of sampled ones, of which two may be equal */
  struct {
    uint64_t kind, bits[2];
  } axes[TT_SWEEP_MAX_AXES];
} tt_run_key;

void tt_plan_run_id(const tt_plan_store *store, tt_sweep_run *run) {
  const tt_sweep_plan *plan = &store->plan;
  tt_run_key key;
  memcpy(key.plan, store->identity, sizeof key.plan);
  key.seed = run->seed;
  key.point = plan->sampling == TT_SWEEP_GRID ? 0 : run->point + 1;
  for (int i = 0; i < plan->axis_count; i++) {
    const tt_sweep_value *value = &run->axes[i];
    key.axes[i].kind = value->kind;
    key.axes[i].bits[1] = 0;
    if (value->kind == TT_SWEEP_TEXT) {
      XXH128_hash_t text = XXH3_128bits(value->text, strlen(value->text));
      key.axes[i].bits[0] = text.low64;
      key.axes[i].bits[1] = text.high64;
    } else {
      memcpy(key.axes[i].bits, &value->number, sizeof value->number);
    }
  }
  XXH128_canonical_t canonical;
  size_t size = offsetof(tt_run_key, axes) + (size_t)plan->axis_count * sizeof key.axes[0];
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(&key, size));
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < sizeof canonical.digest; i++) {
    run->id[2 * i] = digits[canonical.digest[i] >> 4];
    run->id[2 * i + 1] = digits[canonical.digest[i] & 15];
  }
  run->id[32] = 0;
}
