/* physics.c: making a world from its files, its clones, and their end. */
#include "base/hash.h"
#include "engine/mujoco/compiler.h"
#include "engine/mujoco/physics_internal.h"

#include <errno.h>
#include <math.h>
#include <mujoco/mjxmacro.h>
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
  physics_part *parts; /* the arena, then the robots */
  int made;
} loading;

static tt_status loading_open(loading *l, tt_error *error) {
  TT_TRY(tt_scratch_open(&l->scratch, error));
  l->made = memfd_create("tether-model", MFD_CLOEXEC);
  if (l->made < 0) return tt_fail(error, TT_FAILED, "no memory file: %s", strerror(errno));
  l->parts = physics_parts_new(l->spec);
  return l->parts ? TT_OK : TT_NOMEM;
}

static void loading_close(loading *l) {
  free(l->parts);
  if (l->made >= 0) close(l->made);
  tt_scratch_close(&l->scratch);
}

/* MuJoCo that finds no memory can't give back what it has taken until there: so all of it is asked for before. */
typedef struct probe {
  size_t sizes[3];
  void *got[3];
} probe;

static void ask(void *context) {
  probe *p = context;
  for (int i = 0; i < 3; i++) p->got[i] = mju_malloc(p->sizes[i]);
}

static bool is_there(size_t first, size_t second, size_t third) {
  probe p = {.sizes = {first, second, third}};
  char fatal[512];
  bool all = physics_guard(ask, &p, fatal, sizeof fatal);
  for (int i = 0; i < 3; i++)
    if (p.got[i]) mju_free(p.got[i]);
  return all;
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
  if (is_there(sizeof(mjModel), (size_t)about.st_size, 1)) r->model = mj_loadModel(name, r->files);
}

/* NULL when it is none, or memory is short. */
static mjModel *read_made(int made) {
  char fatal[512];
  reading r = {.made = made, .files = malloc(sizeof(mjVFS))};
  if (!r.files) return NULL;
  mj_defaultVFS(r.files);
  if (!physics_guard(read_files, &r, fatal, sizeof fatal)) r.model = NULL;
  mj_deleteVFS(r.files);
  free(r.files);
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

static uint64_t hash_model(const mjModel *m) {
  int size = mj_sizeModel(m);
  unsigned char *bytes = calloc(1, (size_t)size);
  if (!bytes) return 0;
  mj_saveModel(m, NULL, bytes, size);
  uint64_t hash = tt_hash_bytes(TT_HASH_START, bytes, (size_t)size);
  free(bytes);
  return hash;
}

static tt_status build(const tt_engine_spec *spec, mjModel *model, const physics_part *parts,
                       tt_physics **physics, tt_error *error) {
  model->opt.timestep = (double)spec->timestep_num / (double)spec->timestep_den;
  physics_harden_stops(model);
  paint_alliances(model, spec);
  tt_status status = physics_set_surfaces(model, spec, error);
  physics_fixed *fixed = status == TT_OK ? calloc(1, sizeof *fixed) : NULL;
  if (!fixed) {
    mj_deleteModel(model);
    return status == TT_OK ? TT_NOMEM : status;
  }
  atomic_init(&fixed->references, 1);
  fixed->timestep = model->opt.timestep;
  fixed->look_steps = physics_look_steps(fixed->timestep);
  fixed->timestep_num = spec->timestep_num;
  fixed->timestep_den = spec->timestep_den;
  fixed->want_feedback = spec->want_feedback;
  fixed->contact_capacity = spec->contact_capacity > 0 ? spec->contact_capacity : 128;
  status = physics_describe(fixed, model, spec, parts, error);
  fixed->info.model_hash = hash_model(model);
  fixed->info.timestep_num = spec->timestep_num;
  fixed->info.timestep_den = spec->timestep_den;
  fixed->info.contact_capacity = fixed->contact_capacity;
  if (status != TT_OK) {
    physics_fixed_free(fixed);
    mj_deleteModel(model);
    return status;
  }
  TT_TRY(physics_new(fixed, model, physics));
  physics_advise(*physics, spec);
  return TT_OK;
}

static tt_status load(loading *l, tt_physics **physics, tt_error *error) {
  TT_TRY(loading_open(l, error));
  TT_TRY(physics_compile_apart(l->spec, l->scratch.folder, l->made, error));
  mjModel *model = read_made(l->made);
  if (!model)
    return tt_fail(
        error, TT_FAILED,
        "the compiled model cannot be read back; is memory short, or %s another program?",
        physics_compiler());
  return build(l->spec, model, l->parts, physics, error);
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

/* Bytes that mj_makeData() allocates in one piece for what is computed. */
static size_t data_size(const mjModel *m) {
  size_t size = 0;
  MJDATA_POINTERS_PREAMBLE(m)
#define X(type, name, rows, columns) size += sizeof(type) * (size_t)m->rows * (size_t)(columns);
  MJDATA_POINTERS
#undef X
  return size;
}

static void make_data(void *context) {
  tt_physics *p = context;
  p->data = mj_makeData(p->model);
}

static bool try_make_data(tt_physics *p) {
  char fatal[512];
  if (!is_there(sizeof(mjData), data_size(p->model), (size_t)p->model->nstack * sizeof(mjtNum)))
    return false;
  return physics_guard(make_data, p, fatal, sizeof fatal) && p->data;
}

bool physics_renew(tt_physics *p) {
  mjData *old = p->data;
  p->data = NULL;
  if (!try_make_data(p)) {
    p->data = old;
    snprintf(p->failure, sizeof p->failure, "out of memory while beginning anew after a failure");
    return false;
  }
  mj_deleteData(old);
  p->failed = false;
  return true;
}

/* Takes over `model` and one reference to `fixed`, also when it fails. */
tt_status physics_new(physics_fixed *fixed, mjModel *model, tt_physics **physics) {
  tt_physics *p = calloc(1, sizeof *p);
  if (!p) {
    physics_fixed_free(fixed);
    mj_deleteModel(model);
    return TT_NOMEM;
  }
  p->engine = physics_engine;
  p->fixed = fixed;
  p->model = model;
  memcpy(model->body_geomnum, fixed->body_geomnum, sizeof(int) * (size_t)model->nbody);
  try_make_data(p);
  const size_t axes = (size_t)fixed->info.axis_count + 1, bodies = (size_t)model->nbody;
  const size_t nq = (size_t)model->nq, pieces = (size_t)fixed->piece_count;
  p->qpos = calloc(nq + 1, sizeof(double));
  p->held = calloc((size_t)fixed->info.gripper_count + 1, sizeof(int));
  p->parked = calloc(pieces + 1, sizeof(int32_t));
  p->rest = calloc(pieces + 1, sizeof(int32_t));
  p->ready = calloc(pieces + 1, sizeof(bool));
  p->axis_velocity = calloc(axes, sizeof(double));
  p->axis_position = calloc(axes, sizeof(double));
  p->axis_torque = calloc(axes, sizeof(double));
  p->axis_effort = calloc(axes, sizeof(double));
  p->contacts = calloc((size_t)fixed->contact_capacity, sizeof *p->contacts);
  p->body_wrench = calloc(bodies, 6 * sizeof(double));
  p->feedback = calloc(bodies, sizeof *p->feedback);
  p->backup = calloc(backup_count(model), sizeof(double));
  p->place = calloc(nq + 1, sizeof(double));
  bool complete = p->data && p->qpos && p->held && p->parked && p->rest && p->ready &&
                  p->axis_velocity && p->axis_position && p->axis_torque && p->axis_effort &&
                  p->contacts && p->body_wrench && p->feedback && p->backup && p->place &&
                  physics_servo_new(p) == TT_OK;
  if (!complete) {
    tt_physics_free(p);
    return TT_NOMEM;
  }
  tt_physics_reset(p);
  *physics = p;
  return TT_OK;
}

typedef struct copying {
  const mjModel *from;
  mjModel *to;
} copying;

static void copy_model(void *context) {
  copying *c = context;
  c->to = mj_copyModel(NULL, c->from);
}

tt_physics *tt_physics_clone(const tt_physics *physics) {
  copying c = {.from = physics->model};
  char fatal[512];
  if (physics->failed || !is_there(sizeof(mjModel), (size_t)physics->model->nbuffer, 1))
    return NULL;
  if (!physics_guard(copy_model, &c, fatal, sizeof fatal) || !c.to) return NULL;
  atomic_fetch_add(&physics->fixed->references, 1);
  tt_physics *clone = NULL;
  physics_new(physics->fixed, c.to, &clone);
  return clone;
}

void tt_physics_free(tt_physics *p) {
  if (!p) return;
  physics_servo_free(p);
  void *owned[] = {p->qpos,          p->held,          p->parked,      p->rest,     p->axis_effort,
                   p->axis_velocity, p->axis_position, p->axis_torque, p->contacts, p->body_wrench,
                   p->feedback,      p->backup,        p->place,       p->ready};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  if (p->data) mj_deleteData(p->data);
  mj_deleteModel(p->model);
  physics_fixed_free(p->fixed);
  free(p);
}

const tt_mechanism *tt_physics_describe(const tt_physics *physics) { return &physics->fixed->info; }
