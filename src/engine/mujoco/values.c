/* values.c: numbers of a model that may be changed after it was compiled.
 *
 * What MuJoCo reads as it stands (friction, damping, stiffness) is written into the simulation's own arrays. From masses,
 * armatures and gears MuJoCo's compiler makes constants (inverse weights, masses of subtrees): other values of these make
 * them anew in a model of their own, whose constants are kept by the values that they follow from, for all simulations of
 * the model. A friction that is set has priority over the other body's, even where it is the model's own number: so none
 * set is a value of its own, TT_AS_MODELLED. The scale of the solver's tolerance (stat.meaninertia) stays that of the compiled model.
 */
#include "engine/mujoco/physics_internal.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CONSTANTS 64 /* kept; then the oldest go */

typedef enum kind { MASS, FRICTION, LOSS, DAMPING, ARMATURE, STIFFNESS, GEAR } kind;

typedef struct physics_value {
  kind kind;
  int index; /* of the body, joint or actuator */
} physics_value;

/* --- what there is --- */

typedef struct lister {
  physics_fixed *fixed;
  const mjModel *model;
  int capacity;
} lister;

/* Degrees of freedom of a joint that can be damped: none of a free one. */
static int dofs_of(const mjModel *m, int joint) {
  if (m->jnt_type[joint] == mjJNT_FREE) return 0;
  return m->jnt_type[joint] == mjJNT_BALL ? 3 : 1;
}

/* The name that the file of robot or arena gives. */
static const char *own_name(const physics_fixed *f, int robot, const char *whole) {
  return robot == TT_NO_ROBOT ? whole : whole + strlen(f->info.robots[robot].name) + 1;
}

static tt_status list(lister *to, int robot, const char *whole, const char *section,
                      const char *field, physics_value target, tt_value value) {
  physics_fixed *f = to->fixed;
  if (f->value_count == to->capacity) {
    const int capacity = to->capacity ? 2 * to->capacity : 64;
    tt_value *values = reallocarray(f->values, (size_t)capacity, sizeof *values);
    if (!values) return TT_NOMEM;
    f->values = values;
    physics_value *targets = reallocarray(f->value_targets, (size_t)capacity, sizeof *targets);
    if (!targets) return TT_NOMEM;
    f->value_targets = targets;
    to->capacity = capacity;
  }
  value.robot = robot;
  value.name = physics_keep(f, "models.%s.%s.%s.%s",
                            robot == TT_NO_ROBOT ? "arena" : f->info.robots[robot].name, section,
                            own_name(f, robot, whole), field);
  if (!value.name) return TT_NOMEM;
  f->values[f->value_count] = value;
  f->value_targets[f->value_count++] = target;
  return TT_OK;
}

/* The first geom of a body that collides, or −1. */
static int colliding_geom(const mjModel *m, const physics_fixed *f, int body) {
  for (int g = m->body_geomadr[body]; g >= 0 && g < m->body_geomadr[body] + f->body_geomnum[body];
       g++)
    if (m->geom_contype[g] || m->geom_conaffinity[g]) return g;
  return -1;
}

static tt_status list_bodies(lister *to) {
  const mjModel *m = to->model;
  for (int b = 0; b < m->nbody; b++) {
    const char *name = mj_id2name(m, mjOBJ_BODY, b);
    const int robot = to->fixed->body_robot[b], geom = colliding_geom(m, to->fixed, b);
    if (!name) continue;
    if (m->body_weldid[b] != 0 && m->body_mass[b] > 0)
      TT_TRY(list(
          to, robot, name, "bodies", "mass", (physics_value){MASS, b},
          (tt_value){.dimension = TT_MASS, .own = m->body_mass[b], .lower = 1e-6, .upper = 1e6}));
    if (geom >= 0)
      TT_TRY(list(to, robot, name, "bodies", "friction", (physics_value){FRICTION, b},
                  (tt_value){.own = TT_AS_MODELLED,
                             .modelled = m->geom_friction[3 * geom],
                             .lower = 0,
                             .upper = 100}));
  }
  return TT_OK;
}

static tt_status list_joints(lister *to) {
  const mjModel *m = to->model;
  for (int j = 0; j < m->njnt; j++) {
    const char *name = mj_id2name(m, mjOBJ_JOINT, j);
    const int robot = to->fixed->info.joints[j].robot, dof = m->jnt_dofadr[j];
    const bool slide = m->jnt_type[j] == mjJNT_SLIDE;
    if (!name || dofs_of(m, j) == 0) continue;
    const struct {
      const char *field;
      kind kind;
      tt_dimension dimension;
      double own;
    } fields[] = {
        {"friction", LOSS, slide ? TT_FORCE : TT_TORQUE, m->dof_frictionloss[dof]},
        {"damping", DAMPING, slide ? TT_DAMPING : TT_ANGULAR_DAMPING, m->dof_damping[dof]},
        {"armature", ARMATURE, slide ? TT_MASS : TT_INERTIA, m->dof_armature[dof]},
        {"stiffness", STIFFNESS, slide ? TT_STIFFNESS : TT_ANGULAR_STIFFNESS, m->jnt_stiffness[j]},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
      TT_TRY(list(to, robot, name, "joints", fields[i].field, (physics_value){fields[i].kind, j},
                  (tt_value){.dimension = fields[i].dimension,
                             .own = fields[i].own,
                             .lower = 0,
                             .upper = TT_COMMAND_LIMIT}));
  }
  return TT_OK;
}

/* A gear is one number but for actuators of sites and bodies. */
static tt_status list_actuators(lister *to) {
  const mjModel *m = to->model;
  for (int a = 0; a < m->nu; a++) {
    const char *name = mj_id2name(m, mjOBJ_ACTUATOR, a);
    const int type = m->actuator_trntype[a];
    const bool one =
        type == mjTRN_TENDON || ((type == mjTRN_JOINT || type == mjTRN_JOINTINPARENT) &&
                                 dofs_of(m, m->actuator_trnid[2 * a]) == 1);
    if (!name || !one) continue;
    TT_TRY(list(to, to->fixed->info.actuators[a].robot, name, "actuators", "gear",
                (physics_value){GEAR, a},
                (tt_value){.own = m->actuator_gear[6 * a],
                           .lower = -TT_COMMAND_LIMIT,
                           .upper = TT_COMMAND_LIMIT}));
  }
  return TT_OK;
}

tt_status physics_values_describe(physics_fixed *fixed, const mjModel *model) {
  lister to = {fixed, model, 0};
  TT_TRY(list_bodies(&to));
  TT_TRY(list_joints(&to));
  return list_actuators(&to);
}

/* --- setting them --- */

static bool makes_constants(kind kind) { return kind == MASS || kind == ARMATURE || kind == GEAR; }

static void set_dofs(const mjModel *m, mjtNum *array, int joint, double value) {
  for (int k = 0; k < dofs_of(m, joint); k++) array[m->jnt_dofadr[joint] + k] = value;
}

/* A body of another mass is as if it were of another density. */
static void set_mass(mjModel *m, int body, double mass) {
  mju_scl3(m->body_inertia + 3 * body, m->body_inertia + 3 * body, mass / m->body_mass[body]);
  m->body_mass[body] = mass;
}

static void set_value(mjModel *m, const physics_fixed *f, int index, double value) {
  const physics_value *target = &f->value_targets[index];
  const tt_engine_surface surface = {
      .friction = value, .torsional_friction = -1, .rolling_friction = -1};
  switch (target->kind) {
    case MASS: set_mass(m, target->index, value); break;
    case FRICTION: /* also of a body that is culled or parked now, whose geoms the model does not count */
      physics_set_surface(m, &surface, target->index, f->body_geomnum[target->index],
                          f->surface_priority);
      break;
    case LOSS: set_dofs(m, m->dof_frictionloss, target->index, value); break;
    case DAMPING: set_dofs(m, m->dof_damping, target->index, value); break;
    case ARMATURE: set_dofs(m, m->dof_armature, target->index, value); break;
    case STIFFNESS: m->jnt_stiffness[target->index] = value; break;
    case GEAR: m->actuator_gear[6 * target->index] = value; break;
  }
}

/* Those of `values` that are not the model's own. */
static void set_all(mjModel *m, const physics_fixed *f, const double *values, bool constants_only) {
  for (int i = 0; i < f->value_count; i++)
    if (values[i] != f->values[i].own &&
        (!constants_only || makes_constants(f->value_targets[i].kind)))
      set_value(m, f, i, values[i]);
}

/* --- constants --- */

typedef struct physics_constants {
  struct physics_constants *next; /* newest first */
  double *values;  /* [value_count] that they follow from; others are the model's own */
  mjtNum *numbers; /* all arrays, one behind the other */
} physics_constants;

static size_t constant_count(const mjModel *m) {
  size_t total = 0;
#define ADD(array, count) total += (size_t)(count);
  PHYSICS_CONSTANT_ARRAYS(ADD)
#undef ADD
  return total;
}

static void constants_free(physics_constants *constants) {
  if (!constants) return;
  free(constants->values);
  free(constants->numbers);
  free(constants);
}

static physics_constants *constants_new(const physics_fixed *f) {
  physics_constants *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->values = calloc((size_t)f->value_count + 1, sizeof(double));
  made->numbers = calloc(constant_count(f->model) + 1, sizeof(mjtNum));
  if (made->values && made->numbers) return made;
  constants_free(made);
  return NULL;
}

void physics_values_free(physics_fixed *fixed) {
  while (fixed->constants) {
    physics_constants *first = fixed->constants;
    fixed->constants = first->next;
    constants_free(first);
  }
  free(fixed->values);
  free(fixed->value_targets);
}

static void keep_constants(const mjModel *m, mjtNum *to) {
#define KEEP(array, count)                                                                         \
  if ((count) > 0) memcpy(to, m->array, sizeof(mjtNum) * (size_t)(count));                         \
  to += (count);
  PHYSICS_CONSTANT_ARRAYS(KEEP)
#undef KEEP
}

static void take_constants(mjModel *m, const mjtNum *from) {
#define TAKE(array, count)                                                                         \
  if ((count) > 0) memcpy(m->array, from, sizeof(mjtNum) * (size_t)(count));                       \
  from += (count);
  PHYSICS_CONSTANT_ARRAYS(TAKE)
#undef TAKE
}

typedef struct compiling {
  const physics_fixed *fixed;
  const double *values;
  mjModel *model;
  mjData *data;
} compiling;

static void compile(void *context) {
  compiling *c = context;
  c->model = mj_copyModel(NULL, c->fixed->model);
  set_all(c->model, c->fixed, c->values, true);
  mj_setConst(c->model, c->data);
}

static tt_status compile_constants(const physics_fixed *f, physics_constants *made,
                                   tt_error *error) {
  compiling c = {.fixed = f, .values = made->values, .data = physics_own_data(f->start)};
  char why[300];
  tt_status status = TT_NOMEM;
  if (c.data && physics_is_there(sizeof *f->model, (size_t)f->model->nbuffer, 1)) {
    const bool done = physics_guard(compile, &c, why, sizeof why);
    if (done) keep_constants(c.model, made->numbers);
    status =
        done ? TT_OK : tt_fail(error, TT_INVALID, "the model can't have these values: %s", why);
  }
  if (c.model) mj_deleteModel(c.model);
  physics_own_data_free(c.data, f->start);
  return status;
}

static bool are_of(const physics_fixed *f, const physics_constants *kept, const double *values) {
  for (int i = 0; i < f->value_count; i++)
    if (makes_constants(f->value_targets[i].kind) && kept->values[i] != values[i]) return false;
  return true;
}

/* The kept ones, which come to the front, or new ones; under the lock. */
static tt_status find_constants(physics_fixed *f, const double *values, tt_error *error) {
  int count = 0;
  physics_constants **last = NULL;
  for (physics_constants **at = &f->constants; *at; at = &(*at)->next, count++) {
    last = at;
    if (!are_of(f, *at, values)) continue;
    physics_constants *found = *at;
    *at = found->next;
    found->next = f->constants;
    f->constants = found;
    return TT_OK;
  }
  physics_constants *made = constants_new(f);
  if (!made) return TT_NOMEM;
  for (int i = 0; i < f->value_count; i++)
    made->values[i] = makes_constants(f->value_targets[i].kind) ? values[i] : f->values[i].own;
  tt_status status = compile_constants(f, made, error);
  if (status != TT_OK) {
    constants_free(made);
    return status;
  }
  if (last && count >= MOST_CONSTANTS) {
    constants_free(*last);
    *last = NULL;
  }
  made->next = f->constants;
  f->constants = made;
  return TT_OK;
}

static bool constants_differ(const physics_fixed *f, const double *values) {
  for (int i = 0; i < f->value_count; i++)
    if (makes_constants(f->value_targets[i].kind) && values[i] != f->values[i].own) return true;
  return false;
}

static void take_own_values(mjModel *m, const mjModel *shared) {
#define TAKE(array, count)                                                                         \
  if ((count) > 0) memcpy(m->array, shared->array, sizeof *m->array *(size_t)(count));
  PHYSICS_VALUE_ARRAYS(TAKE);
  PHYSICS_CONSTANT_ARRAYS(TAKE);
#undef TAKE
}

tt_status tt_physics_set_values(tt_physics *p, const double *values, tt_error *error) {
  physics_fixed *f = p->fixed;
  const size_t size = sizeof(double) * (size_t)f->value_count;
  const bool constants = constants_differ(f, values);
  if (memcmp(p->values, values, size) == 0) return TT_OK;
  if (constants) {
    pthread_mutex_lock(&f->constants_lock);
    tt_status status = find_constants(f, values, error);
    if (status == TT_OK) {
      take_own_values(p->model, f->model);
      take_constants(p->model, f->constants->numbers);
    }
    pthread_mutex_unlock(&f->constants_lock);
    TT_TRY(status);
  } else {
    take_own_values(p->model, f->model);
  }
  set_all(p->model, f, values, false);
  memcpy(p->values, values, size);
  if (!p->failed) physics_refresh(p); /* else a reset or restore follows */
  return TT_OK;
}
