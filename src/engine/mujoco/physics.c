/* physics.c: making a world from its files, its clones, and their end. */
#include "base/hash.h"
#include "engine/mujoco/compiled.h"
#include "engine/mujoco/compiler.h"
#include "engine/mujoco/physics_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST_MODEL (1 << 30) /* bytes, compiled */

static tt_status check_spec(const tt_engine_spec *spec, tt_error *error) {
  if (spec->timestep_num <= 0 || spec->timestep_den <= 0) {
    return tt_fail(error, TT_INVALID, "timestep: must be positive");
  }
  if (spec->robot_count > TT_MAX_ROBOTS) {
    return tt_fail(error, TT_INVALID, "robots: %d; at most %d are allowed", spec->robot_count,
                   TT_MAX_ROBOTS);
  }
  for (int i = 0; i < spec->robot_count; i++) {
    const tt_engine_robot *robot = &spec->robots[i];
    const char *name = robot->name ? robot->name : "";
    if (!name[0] || strchr(name, '/') || strlen(name) > 100) {
      return tt_fail(error, TT_INVALID,
                     "robots: '%s': a name must have 1 to 100 characters and no '/'", name);
    }
    if (!isfinite(robot->x) || !isfinite(robot->y) || !isfinite(robot->z) ||
        !isfinite(robot->heading)) {
      return tt_fail(error, TT_INVALID, "robots: '%s': its pose is not finite", name);
    }
    for (int k = 0; k < i; k++) {
      if (strcmp(name, spec->robots[k].name) == 0) {
        return tt_fail(error, TT_INVALID, "robots: two are named '%s'; give each its own name",
                       name);
      }
    }
  }
  return TT_OK;
}

/* What is loaded, and the file without a name that the compiler leaves the model in. */
typedef struct loading {
  const tt_engine_spec *spec;
  tt_scratch scratch;
  physics_submodel *submodels; /* the arena, then the robots */
  int made;
  physics_recipe recipe;
} loading;

static tt_status loading_open(loading *l, tt_error *error) {
  TT_TRY(tt_scratch_open(&l->scratch, error));
  l->made = memfd_create("tether-model", MFD_CLOEXEC);
  if (l->made < 0) return tt_fail(error, TT_FAILED, "no memory file: %s", strerror(errno));
  l->submodels = physics_submodels_new(l->spec);
  return l->submodels ? TT_OK : TT_NOMEM;
}

static void loading_close(loading *l) {
  physics_recipe_free(&l->recipe);
  free(l->submodels);
  if (l->made >= 0) close(l->made);
  tt_scratch_close(&l->scratch);
}

/* What the compiler left, and MuJoCo's way of reading it from memory: it leaves a file open that it finds wrong. */
typedef struct reading {
  int made;
  mjVFS *files;
  mjModel *model;
} reading;

static void read_files(void *context) {
  static const char name[] = "made.mjb";
  reading *r = context;
  struct stat about;
  if (fstat(r->made, &about) != 0 || about.st_size <= 0 || about.st_size > LARGEST_MODEL) return;
  if (mj_makeEmptyFileVFS(r->files, name, (int)about.st_size) != 0) return;
  if (pread(r->made, r->files->filedata[0], (size_t)about.st_size, 0) != about.st_size) return;
  if (physics_is_there(sizeof(mjModel), (size_t)about.st_size, 1))
    r->model = mj_loadModel(name, r->files);
}

/* NULL when it is none, or memory is short. */
static mjModel *read_made(int made) {
  char fatal[512];
  reading r = {.made = made, .files = physics_vfs_new()};
  if (!r.files) return NULL;
  if (!physics_guard(read_files, &r, fatal, sizeof fatal)) r.model = NULL;
  physics_vfs_free(r.files);
  return r.model;
}

/* What an alliance colours: materials and geoms whose own names begin with "alliance". */
static void paint_alliances(mjModel *m, const tt_engine_spec *spec) {
  static const float RED[4] = {0.85f, 0.1f, 0.1f, 1}, BLUE[4] = {0.1f, 0.25f, 0.85f, 1};
  for (int i = 0; i < spec->robot_count; i++) {
    const char *alliance = spec->robots[i].alliance;
    const float *colour = NULL;
    if (alliance && strcmp(alliance, "red") == 0) colour = RED;
    if (alliance && strcmp(alliance, "blue") == 0) colour = BLUE;
    if (!colour) continue;
    char begin[128];
    snprintf(begin, sizeof begin, "%s/alliance", spec->robots[i].name);
    for (int k = 0; k < m->nmat; k++) {
      const char *name = mj_id2name(m, mjOBJ_MATERIAL, k);
      if (name && strncmp(name, begin, strlen(begin)) == 0) {
        memcpy(m->mat_rgba + 4 * k, colour, sizeof RED);
      }
    }
    for (int g = 0; g < m->ngeom; g++) {
      const char *name = mj_id2name(m, mjOBJ_GEOM, g);
      if (name && strncmp(name, begin, strlen(begin)) == 0) {
        memcpy(m->geom_rgba + 4 * g, colour, sizeof RED);
      }
    }
  }
}

/* The last that refers to it ends it. */
static void fixed_free(physics_fixed *fixed) {
  if (!fixed || atomic_fetch_sub(&fixed->references, 1) > 1) return;
  for (int i = 0; i < fixed->string_count; i++) free(fixed->strings[i]);
  for (int i = 0; i < fixed->mesh_count; i++) {
    free((void *)fixed->meshes[i].vertices);
    free((void *)fixed->meshes[i].coordinates);
    free((void *)fixed->meshes[i].triangles);
  }
  for (int i = 0; i < fixed->texture_count; i++) free((void *)fixed->textures[i].pixels);
  if (fixed->model) mj_deleteModel(fixed->model);
  physics_start_free(fixed->start);
  physics_values_free(fixed);
  pthread_mutex_destroy(&fixed->constants_lock);
  void *owned[] = {fixed->strings,
                   (void *)fixed->info.bodies,
                   (void *)fixed->info.joints,
                   (void *)fixed->info.axis_joint,
                   (void *)fixed->info.sensors,
                   (void *)fixed->info.robots,
                   (void *)fixed->info.actuators,
                   (void *)fixed->info.grippers,
                   fixed->body_robot,
                   fixed->axis_dof,
                   fixed->axis_qpos,
                   fixed->tree_start,
                   fixed->couplings,
                   fixed->tree_size,
                   fixed->mass_row,
                   fixed->mass_column,
                   fixed->geom_contype,
                   fixed->geom_conaffinity,
                   fixed->initial_qpos,
                   fixed->initial_root,
                   fixed->grippers,
                   fixed->pieces,
                   fixed->body_piece,
                   fixed->body_geomnum,
                   fixed->statics,
                   fixed->grounds,
                   fixed->movers,
                   fixed->shapes,
                   fixed->meshes,
                   fixed->materials,
                   fixed->textures,
                   fixed->rays,
                   fixed};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

static uint64_t hash_model(const mjModel *m) {
  int size = mj_sizeModel(m);
  unsigned char *bytes = calloc(1, (size_t)size);
  if (!bytes) return 0;
  mj_saveModel(m, NULL, bytes, size);
  uint64_t hash = tt_hash_bytes(TT_HASH_START, bytes, (size_t)size);
  free(bytes);
  return hash;
}

static tt_status build(const tt_engine_spec *spec, mjModel *model,
                       const physics_submodel *submodels, tt_physics **physics, tt_error *error) {
  model->opt.timestep = (double)spec->timestep_num / (double)spec->timestep_den;
  physics_harden_stops(model);
  paint_alliances(model, spec);
  const int priority = physics_surface_priority(model);
  tt_status status = physics_set_surfaces(model, spec, priority, error);
  physics_fixed *fixed = status == TT_OK ? calloc(1, sizeof *fixed) : NULL;
  if (!fixed) {
    mj_deleteModel(model);
    return status == TT_OK ? TT_NOMEM : status;
  }
  atomic_init(&fixed->references, 1);
  fixed->model = model;
  fixed->surface_priority = priority;
  pthread_mutex_init(&fixed->constants_lock, NULL);
  fixed->timestep = model->opt.timestep;
  fixed->look_steps = physics_look_steps(fixed->timestep);
  fixed->timestep_num = spec->timestep_num;
  fixed->timestep_den = spec->timestep_den;
  fixed->want_feedback = spec->want_feedback;
  fixed->contact_capacity = spec->contact_capacity > 0 ? spec->contact_capacity : 128;
  status = physics_describe(fixed, model, spec, submodels, error);
  if (status == TT_OK) status = physics_values_describe(fixed, model);
  fixed->info.model_hash = hash_model(model);
  fixed->info.timestep_num = spec->timestep_num;
  fixed->info.timestep_den = spec->timestep_den;
  fixed->info.contact_capacity = fixed->contact_capacity;
  if (status == TT_OK) {
    memcpy(model->body_geomnum, fixed->body_geomnum, sizeof(int) * (size_t)model->nbody);
    status = physics_start_new(model, &fixed->start);
  }
  if (status != TT_OK) {
    fixed_free(fixed);
    return status;
  }
  TT_TRY(physics_new(fixed, physics));
  physics_advise(*physics, spec);
  return TT_OK;
}

static tt_status load(loading *l, tt_physics **physics, tt_error *error) {
  TT_TRY(loading_open(l, error));
  const bool known = physics_compiled_find(l->spec, l->made, &l->recipe);
  if (!known)
    TT_TRY(physics_compile_apart(l->spec, l->scratch.folder, l->made, &l->recipe.said, error));
  mjModel *model = read_made(l->made);
  if (model && !known) physics_compiled_keep(l->spec, l->made, &l->recipe);
  if (!model)
    return tt_fail(
        error, TT_FAILED,
        "the compiled model cannot be read back; is memory short, or %s another program?",
        physics_compiler());
  return build(l->spec, model, l->submodels, physics, error);
}

tt_status tt_physics_load(const tt_engine_spec *spec, tt_physics **physics, tt_error *error) {
  *physics = NULL;
  TT_TRY(check_spec(spec, error));
  physics_hooks_install();
  loading l = {.spec = spec, .made = -1};
  tt_status status = load(&l, physics, error);
  loading_close(&l);
  if (status == TT_NOMEM) tt_fail(error, status, "out of memory while loading the models");
  return status;
}

static size_t backup_count(const mjModel *m) {
  return (size_t)m->nq + 2 * (size_t)m->nv + (size_t)m->na + 7 * (size_t)m->nmocap + 1;
}

/* Takes over one reference to `fixed`, also when it fails. */
tt_status physics_new(physics_fixed *fixed, tt_physics **physics) {
  tt_physics *p = calloc(1, sizeof *p);
  if (!p) {
    fixed_free(fixed);
    return TT_NOMEM;
  }
  const mjModel *model = fixed->model;
  p->fixed = fixed;
  p->model = physics_own_model(model);
  p->data = physics_own_data(fixed->start);
  const size_t axes = (size_t)fixed->info.axis_count + 1, bodies = (size_t)model->nbody;
  const size_t nq = (size_t)model->nq, pieces = (size_t)fixed->piece_count;
  p->qpos = calloc(nq + 1, sizeof(double));
  p->held = calloc((size_t)fixed->info.gripper_count + 1, sizeof(int));
  p->parked = calloc(pieces + 1, sizeof(int32_t));
  p->rest = calloc(pieces + 1, sizeof(int32_t));
  p->ready = calloc(pieces + 1, sizeof(bool));
  p->spheres = calloc((size_t)fixed->mover_count + 1, sizeof *p->spheres);
  p->axis_velocity = calloc(axes, sizeof(double));
  p->axis_position = calloc(axes, sizeof(double));
  p->axis_torque = calloc(axes, sizeof(double));
  p->axis_effort = calloc(axes, sizeof(double));
  p->contacts = calloc((size_t)fixed->contact_capacity, sizeof *p->contacts);
  p->body_wrench = calloc(bodies, 6 * sizeof(double));
  p->feedback = calloc(bodies, sizeof *p->feedback);
  p->backup = calloc(backup_count(model), sizeof(double));
  p->place = calloc(nq + 1, sizeof(double));
  p->values = calloc((size_t)fixed->value_count + 1, sizeof(double));
  bool complete = p->model && p->data && p->qpos && p->held && p->parked && p->rest && p->ready &&
                  p->spheres && p->axis_velocity && p->axis_position && p->axis_torque &&
                  p->axis_effort && p->contacts && p->body_wrench && p->feedback && p->backup &&
                  p->place && p->values && physics_servo_new(p) == TT_OK;
  if (!complete) {
    tt_physics_free(p);
    return TT_NOMEM;
  }
  for (int i = 0; i < fixed->value_count; i++) p->values[i] = fixed->values[i].own;
  tt_physics_reset(p);
  *physics = p;
  return TT_OK;
}

tt_physics *tt_physics_clone(const tt_physics *physics) {
  tt_physics *clone = NULL;
  if (physics->failed) return NULL;
  atomic_fetch_add(&physics->fixed->references, 1);
  physics_new(physics->fixed, &clone);
  return clone;
}

void tt_physics_free(tt_physics *p) {
  if (!p) return;
  physics_servo_free(p);
  void *owned[] = {p->qpos,        p->held,          p->parked,        p->rest,
                   p->axis_effort, p->axis_velocity, p->axis_position, p->axis_torque,
                   p->contacts,    p->body_wrench,   p->feedback,      p->backup,
                   p->place,       p->ready,         p->values,        p->spheres};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  physics_own_data_free(p->data, p->fixed->start);
  physics_own_model_free(p->model);
  fixed_free(p->fixed);
  free(p);
}

const tt_mechanism *tt_physics_describe(const tt_physics *physics) { return &physics->fixed->info; }
