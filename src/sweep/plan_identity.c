/* plan_identity.c: what decides a run, as a number: of the plan once, of each run by its seed and axes. */
#include "sweep/plan_internal.h"

#include "base/file.h"
#include "engine/mujoco/version.h"
#include "scene/scene_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define RULES 1 /* of this file; another number makes other ids */

/** Hashes one thing after the other; false once memory ran out. */
struct tt_plan_hash {
  XXH3_state_t *state;
};

tt_plan_hash *tt_plan_hash_new(void) {
  tt_plan_hash *hash = calloc(1, sizeof *hash);
  if (!hash) return NULL;
  hash->state = XXH3_createState();
  if (hash->state && XXH3_128bits_reset(hash->state) == XXH_OK) return hash;
  tt_plan_hash_free(hash);
  return NULL;
}

void tt_plan_hash_free(tt_plan_hash *hash) {
  if (!hash) return;
  XXH3_freeState(hash->state);
  free(hash);
}

static void add_bytes(tt_plan_hash *to, const void *bytes, size_t size) {
  XXH3_128bits_update(to->state, bytes, size);
}

static void add_number(tt_plan_hash *to, uint64_t number) { add_bytes(to, &number, sizeof number); }

static void add_double(tt_plan_hash *to, double number) { add_bytes(to, &number, sizeof number); }

/** With its length before it, so that two texts in a row are not two others. */
static void add_text(tt_plan_hash *to, const char *text) {
  size_t size = text ? strlen(text) : 0;
  add_number(to, text ? size + 1 : 0);
  add_bytes(to, text ? text : "", size);
}

static void add_value(tt_plan_hash *to, const tt_sweep_value *value) {
  add_number(to, value->kind);
  if (value->kind == TT_SWEEP_TEXT)
    add_text(to, value->text);
  else
    add_double(to, value->number);
}

static void write_hexadecimal(const tt_plan_hash *from, char text[33]) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(from->state));
  for (size_t i = 0; i < sizeof canonical.digest; i++)
    snprintf(text + 2 * i, 3, "%02x", canonical.digest[i]);
}

/* --- files --- */

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/** Where a folder stands decides nothing; what its files are called does. */
static void add_file(tt_plan_hash *to, const tt_file *file) {
  add_text(to, base_name(file->path));
  add_number(to, file->size);
  add_bytes(to, file->bytes, file->size);
}

tt_status tt_plan_hash_scene(tt_plan_hash *hash, const tt_scene *scene, tt_error *error) {
  tt_scene_files files;
  TT_TRY(tt_scene_files_read(scene, &files, error));
  for (int i = 0; i < files.count; i++) add_file(hash, &files.files[i]);
  add_number(hash, (uint64_t)files.count);
  tt_scene_files_free(&files);
  return TT_OK;
}

/** A file of the plan's, in pieces. */
static tt_status add_path(tt_plan_hash *to, const char *path, tt_error *error) {
  FILE *file;
  char piece[1 << 14];
  uint64_t size = 0;
  TT_TRY(tt_file_open(path, &file, error));
  add_text(to, base_name(path));
  for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0; size += got)
    add_bytes(to, piece, got);
  bool failed = ferror(file);
  fclose(file);
  add_number(to, size);
  return failed ? tt_fail(error, TT_FAILED, "%s: can't be read", path) : TT_OK;
}

static tt_status add_controller(tt_plan_store *store, tt_plan_hash *to) {
  const tt_sweep_controller *controller = &store->plan.controller;
  add_number(to, controller->kind);
  if (controller->kind != TT_SWEEP_LUA) add_text(to, controller->text);
  add_number(to, controller->fixed_ports);
  add_double(to, controller->memory);
  add_double(to, controller->output);
  for (const char *const *path = controller->files; *path; path++)
    TT_TRY(add_path(to, *path, store->error));
  return TT_OK;
}

/* --- what all runs share --- */

/** A part of the plan as it was written. */
static void add_node(tt_plan_hash *to, const tt_node *node) {
  add_number(to, node ? (uint64_t)node->kind + 1 : 0);
  if (!node) return;
  add_text(to, node->key);
  add_text(to, node->text);
  add_number(to, (uint64_t)node->child_count);
  for (int i = 0; i < node->child_count; i++) add_node(to, node->children[i]);
}

static const tt_node *key_of(const tt_plan_store *store, const char *key) {
  return tt_node_child(store->document->root, key);
}

static void add_versions(tt_plan_hash *to) {
  tt_platform platform = tt_platform_get();
  add_number(to, RULES);
  add_number(to, TT_PHYSICS_VERSION);
  add_text(to, TETHER_VERSION);
  add_text(to, platform.mujoco);
  add_text(to, platform.libc);
  add_text(to, platform.cpu);
}

/** What an axis is, but for its values, which are each run's own. */
static void add_axes(tt_plan_hash *to, const tt_sweep_plan *plan) {
  add_number(to, (uint64_t)plan->axis_count);
  for (int i = 0; i < plan->axis_count; i++) {
    add_text(to, plan->axes[i].name);
    add_text(to, plan->axes[i].set);
  }
}

static tt_status add_metrics(tt_plan_store *store, tt_plan_hash *to) {
  const tt_sweep_plan *plan = &store->plan;
  add_node(to, key_of(store, "metrics"));
  add_node(to, key_of(store, "success"));
  add_node(to, key_of(store, "stop_when"));
  for (int i = 0; i < plan->metric_count; i++) {
    const char *file = tt_metric_file(plan->metrics[i].keys);
    if (file) TT_TRY(add_path(to, file, store->error));
  }
  return TT_OK;
}

static tt_status identify_shared(tt_plan_store *store, tt_plan_hash *hash) {
  const tt_sweep_plan *plan = &store->plan;
  add_versions(hash);
  add_double(hash, plan->duration);
  for (const char *const *setting = plan->settings; *setting; setting++) add_text(hash, *setting);
  add_axes(hash, plan);
  TT_TRY(add_controller(store, hash));
  TT_TRY(add_metrics(store, hash));
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hash->state));
  memcpy(store->identity, canonical.digest, sizeof store->identity);
  return TT_OK;
}

/** Goes on from what is shared with what makes the runs out of it. */
static void identify_runs(tt_plan_store *store, tt_plan_hash *hash) {
  tt_sweep_plan *plan = &store->plan;
  add_number(hash, plan->seed);
  add_number(hash, (uint64_t)plan->repeat);
  add_number(hash, plan->sampling);
  add_number(hash, plan->point_count);
  for (int i = 0; i < plan->axis_count; i++) {
    const tt_sweep_axis *axis = &plan->axes[i];
    add_number(hash, (uint64_t)axis->group);
    add_number(hash, (uint64_t)axis->count);
    add_number(hash, axis->logarithmic);
    add_double(hash, axis->lower);
    add_double(hash, axis->upper);
    for (int k = 0; axis->values && k < axis->count; k++) add_value(hash, &axis->values[k]);
  }
  write_hexadecimal(hash, plan->runs_identity);
}

static void identify_columns(tt_plan_store *store, tt_plan_hash *hash) {
  tt_sweep_plan *plan = &store->plan;
  XXH3_128bits_reset(hash->state);
  add_axes(hash, plan);
  for (int i = 0; i < plan->axis_count; i++) add_text(hash, plan->axes[i].unit);
  for (int i = 0; i < plan->metric_count; i++) {
    add_text(hash, plan->metrics[i].name);
    add_text(hash, plan->metrics[i].unit);
  }
  add_node(hash, key_of(store, "metrics"));
  add_node(hash, key_of(store, "success"));
  write_hexadecimal(hash, plan->columns_identity);
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
