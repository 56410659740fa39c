/* describe.c: what was compiled, as the lists that the rest of Tether knows. */
#include "base/nearest.h"
#include "engine/mujoco/physics_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAME 1000 /* bytes, with the robot's before it, which has at most 127 */
#define MOST_MOVERS 64 /* left out of the search for contacts: of more, pairs are too many */

static void *zeros(int count, size_t size) { return calloc((size_t)(count > 0 ? count : 1), size); }

/* Index of the robot whose prefix `name` bears, or TT_NO_ROBOT; `*rest` is the name without it. */
static int robot_of_name(const physics_submodel *submodels, int robot_count, const char *name,
                         const char **rest) {
  for (int i = 0; i < robot_count; i++) {
    size_t n = strlen(submodels[i + 1].prefix);
    if (strncmp(name, submodels[i + 1].prefix, n) == 0) {
      *rest = name + n;
      return i;
    }
  }
  *rest = name;
  return TT_NO_ROBOT;
}

typedef struct describer {
  physics_fixed *fixed;
  const mjModel *model;
  const tt_engine_spec *spec;
  const physics_submodel *submodels;
  tt_error *error;
} describer;

/* The public name of element `id`: a single robot's names lose their prefix, unless the arena has
 * the same name already. */
static const char *public_name(const describer *d, int type, int id) {
  const char *name = mj_id2name(d->model, type, id);
  const char *rest;
  if (!name) return physics_keep(d->fixed, "%s_%d", mju_type2Str(type), id);
  int robot = robot_of_name(d->submodels, d->spec->robot_count, name, &rest);
  bool strip =
      robot != TT_NO_ROBOT && d->spec->robot_count == 1 && mj_name2id(d->model, type, rest) < 0;
  return physics_keep(d->fixed, "%s", strip ? rest : name);
}

static tt_status describe_bodies(const describer *d) {
  const mjModel *m = d->model;
  physics_fixed *f = d->fixed;
  tt_body *bodies = zeros(m->nbody, sizeof *bodies);
  f->info.bodies = bodies;
  f->info.body_count = m->nbody;
  f->body_robot = zeros(m->nbody, sizeof(int));
  f->body_piece = zeros(m->nbody, sizeof(int));
  if (!bodies || !f->body_robot || !f->body_piece) return TT_NOMEM;
  for (int i = 0; i < m->nbody; i++) {
    const char *rest, *name = mj_id2name(m, mjOBJ_BODY, i);
    int parent = m->body_parentid[i];
    f->body_robot[i] = parent ? f->body_robot[parent]
                              : robot_of_name(d->submodels, d->spec->robot_count, name, &rest);
    f->body_piece[i] = -1;
    bodies[i] = (tt_body){.name = public_name(d, mjOBJ_BODY, i),
                          .parent = parent,
                          .robot = f->body_robot[i],
                          .mass = m->body_mass[i],
                          .own = m->body_mocapid[i] >= 0};
    memcpy(bodies[i].position, m->body_pos + 3 * i, sizeof bodies[i].position);
    memcpy(bodies[i].rotation, m->body_quat + 4 * i, sizeof bodies[i].rotation);
    for (int j = 0; j < m->body_jntnum[i]; j++)
      bodies[i].own |= m->jnt_type[m->body_jntadr[i] + j] <= mjJNT_BALL;
    if (!bodies[i].name) return TT_NOMEM;
  }
  return TT_OK;
}

static int axes_of(int joint_type) {
  if (joint_type == mjJNT_BALL) return 3;
  return joint_type == mjJNT_FREE ? 0 : 1;
}

static tt_status describe_joints(const describer *d) {
  static const tt_joint_kind KINDS[] = {[mjJNT_FREE] = TT_FREE,
                                        [mjJNT_BALL] = TT_BALL,
                                        [mjJNT_SLIDE] = TT_SLIDE,
                                        [mjJNT_HINGE] = TT_HINGE};
  const mjModel *m = d->model;
  physics_fixed *f = d->fixed;
  tt_joint *joints = zeros(m->njnt, sizeof *joints);
  int *axis_joint = zeros(m->nv, sizeof(int));
  f->info.joints = joints;
  f->info.axis_joint = axis_joint;
  f->info.joint_count = m->njnt;
  f->axis_dof = zeros(m->nv, sizeof(int));
  f->axis_qpos = zeros(m->nv, sizeof(int));
  if (!joints || !axis_joint || !f->axis_dof || !f->axis_qpos) return TT_NOMEM;
  int axis = 0;
  for (int i = 0; i < m->njnt; i++) {
    int type = m->jnt_type[i], count = axes_of(type);
    joints[i] = (tt_joint){.name = public_name(d, mjOBJ_JOINT, i),
                           .kind = KINDS[type],
                           .body = m->jnt_bodyid[i],
                           .robot = f->body_robot[m->jnt_bodyid[i]],
                           .axis = count ? axis : -1,
                           .axis_count = count,
                           .limited = m->jnt_limited[i],
                           .lower = m->jnt_range[2 * i],
                           .upper = m->jnt_range[2 * i + 1],
                           .reference = m->qpos0[m->jnt_qposadr[i]]};
    memcpy(joints[i].anchor, m->jnt_pos + 3 * i, sizeof joints[i].anchor);
    memcpy(joints[i].direction, m->jnt_axis + 3 * i, sizeof joints[i].direction);
    if (!joints[i].name) return TT_NOMEM;
    for (int k = 0; k < count; k++, axis++) {
      axis_joint[axis] = i;
      f->axis_dof[axis] = m->jnt_dofadr[i] + k;
      f->axis_qpos[axis] = count == 1 ? m->jnt_qposadr[i] : -1;
    }
  }
  f->info.axis_count = axis;
  physics_joint_limits(m, joints);
  return TT_OK;
}

static tt_dimension sensor_dimension(int type, int element) {
  switch (type) {
    case mjSENS_ACCELEROMETER:
    case mjSENS_FRAMELINACC: return TT_ACCELERATION;
    case mjSENS_VELOCIMETER:
    case mjSENS_FRAMELINVEL:
    case mjSENS_SUBTREELINVEL: return TT_VELOCITY;
    case mjSENS_GYRO:
    case mjSENS_FRAMEANGVEL:
    case mjSENS_BALLANGVEL: return TT_ANGULAR_VELOCITY;
    case mjSENS_FRAMEANGACC: return TT_ANGULAR_ACCELERATION;
    case mjSENS_FORCE:
    case mjSENS_TOUCH: return TT_FORCE;
    case mjSENS_TORQUE: return TT_TORQUE;
    case mjSENS_RANGEFINDER:
    case mjSENS_FRAMEPOS:
    case mjSENS_SUBTREECOM:
    case mjSENS_TENDONPOS: return TT_LENGTH;
    case mjSENS_TENDONVEL: return TT_VELOCITY;
    case mjSENS_CLOCK: return TT_TIME;
    default: (void)element; return TT_DIMENSIONLESS;
  }
}

static tt_dimension joint_sensor_dimension(const mjModel *m, int sensor) {
  int type = m->sensor_type[sensor];
  if (type != mjSENS_JOINTPOS && type != mjSENS_JOINTVEL) return sensor_dimension(type, 0);
  bool hinge = m->jnt_type[m->sensor_objid[sensor]] == mjJNT_HINGE;
  if (type == mjSENS_JOINTPOS) return hinge ? TT_ANGLE : TT_LENGTH;
  return hinge ? TT_ANGULAR_VELOCITY : TT_VELOCITY;
}

static tt_status describe_sensors(const describer *d) {
  const mjModel *m = d->model;
  physics_fixed *f = d->fixed;
  tt_channel *channels = zeros(m->nsensordata, sizeof *channels);
  f->info.sensors = channels;
  f->info.sensor_count = m->nsensordata;
  if (!channels) return TT_NOMEM;
  for (int i = 0; i < m->nsensor; i++) {
    const char *rest, *name = public_name(d, mjOBJ_SENSOR, i);
    const char *whole = mj_id2name(m, mjOBJ_SENSOR, i);
    if (!name) return TT_NOMEM;
    int robot =
        whole ? robot_of_name(d->submodels, d->spec->robot_count, whole, &rest) : TT_NO_ROBOT;
    int size = m->sensor_dim[i];
    for (int k = 0; k < size; k++) {
      tt_channel *channel = &channels[m->sensor_adr[i] + k];
      channel->dimension = joint_sensor_dimension(m, i);
      channel->robot = robot;
      if (size == 1) {
        channel->name = name;
      } else if (size == 3) {
        channel->name = physics_keep(f, "%s.%c", name, "xyz"[k]);
      } else {
        channel->name = physics_keep(f, "%s.%d", name, k);
      }
      if (!channel->name) return TT_NOMEM;
    }
  }
  return TT_OK;
}

static tt_status describe_actuators(const describer *d) {
  const mjModel *m = d->model;
  physics_fixed *f = d->fixed;
  tt_actuator *actuators = zeros(m->nu, sizeof *actuators);
  f->info.actuators = actuators;
  f->info.actuator_count = m->nu;
  if (!actuators) return TT_NOMEM;
  for (int i = 0; i < m->nu; i++) {
    const char *rest, *whole = mj_id2name(m, mjOBJ_ACTUATOR, i);
    bool limited = m->actuator_ctrllimited[i];
    actuators[i] = (tt_actuator){
        .name = public_name(d, mjOBJ_ACTUATOR, i),
        .robot =
            whole ? robot_of_name(d->submodels, d->spec->robot_count, whole, &rest) : TT_NO_ROBOT,
        .lower = limited ? m->actuator_ctrlrange[2 * i] : -TT_COMMAND_LIMIT,
        .upper = limited ? m->actuator_ctrlrange[2 * i + 1] : TT_COMMAND_LIMIT};
    if (!actuators[i].name) return TT_NOMEM;
  }
  return TT_OK;
}

/* A robot without a body of its own in the world's children can't be placed or reset. */
static tt_status describe_robots(const describer *d) {
  physics_fixed *f = d->fixed;
  tt_robot *robots = zeros(d->spec->robot_count, sizeof *robots);
  f->info.robots = robots;
  f->info.robot_count = d->spec->robot_count;
  f->initial_root = zeros(d->spec->robot_count, sizeof *f->initial_root);
  if (!robots || !f->initial_root) return TT_NOMEM;
  for (int i = 0; i < d->spec->robot_count; i++) {
    const tt_engine_robot *from = &d->spec->robots[i];
    robots[i].name = physics_keep(f, "%s", from->name ? from->name : "robot");
    robots[i].alliance = physics_keep(f, "%s", from->alliance ? from->alliance : "");
    if (!robots[i].name || !robots[i].alliance) return TT_NOMEM;
    for (int b = d->model->nbody - 1; b > 0; b--) {
      bool root = d->model->body_parentid[b] == 0 && f->body_robot[b] == i;
      bool better = robots[i].root_body == 0 || d->model->body_dofnum[b] > 0 ||
                    d->model->body_dofnum[robots[i].root_body] == 0;
      if (root && better) robots[i].root_body = b;
    }
    if (robots[i].root_body == 0) {
      return tt_fail(d->error, TT_INVALID, "%s: has no body", from->model_file);
    }
    memcpy(f->initial_root[i], d->model->body_pos + 3 * robots[i].root_body, 3 * sizeof(double));
    memcpy(f->initial_root[i] + 3, d->model->body_quat + 4 * robots[i].root_body,
           4 * sizeof(double));
  }
  return TT_OK;
}

static tt_status describe_grippers(const describer *d) {
  physics_fixed *f = d->fixed;
  int count = 0;
  for (int i = 0; i < d->spec->robot_count; i++) count += d->spec->robots[i].gripper_count;
  tt_gripper *grippers = zeros(count, sizeof *grippers);
  f->info.grippers = grippers;
  f->info.gripper_count = count;
  f->grippers = zeros(count, sizeof *f->grippers);
  if (!grippers || !f->grippers) return TT_NOMEM;
  int n = 0;
  for (int i = 0; i < d->spec->robot_count; i++) {
    for (int k = 0; k < d->spec->robots[i].gripper_count; k++, n++) {
      const tt_engine_gripper *from = &d->spec->robots[i].grippers[k];
      const char *prefix = d->submodels[i + 1].prefix;
      grippers[n].robot = i;
      grippers[n].name =
          physics_keep(f, "%s%s", d->spec->robot_count > 1 ? prefix : "", from->name);
      const char *weld = physics_keep(f, TT_GRIP_PREFIX "%s%s", prefix, from->name);
      const char *site = physics_keep(f, "%s%s", prefix, from->site);
      if (!grippers[n].name || !weld || !site) return TT_NOMEM;
      int equality = mj_name2id(d->model, mjOBJ_EQUALITY, weld);
      f->grippers[n] = (physics_gripper){.equality = equality,
                                         .body = d->model->eq_obj1id[equality],
                                         .site = mj_name2id(d->model, mjOBJ_SITE, site),
                                         .reach = from->reach};
    }
  }
  return TT_OK;
}

/* Radius of a sphere around a geom about a point of its body, in the body's frame. */
static double reach_of_geom(const mjModel *m, int geom, const double point[3]) {
  double r[3];
  mju_sub3(r, m->geom_pos + 3 * geom, point);
  return mju_norm3(r) + m->geom_rbound[geom];
}

static bool collides(const mjModel *m, int geom) {
  return m->geom_contype[geom] || m->geom_conaffinity[geom];
}

/* Bodies of the arena that could be pieces. */
static tt_status no_piece(const describer *d, const char *where, const char *name) {
  const mjModel *m = d->model;
  tt_nearest nearest = tt_nearest_start(name);
  for (int b = 1; b < m->nbody; b++) {
    const int joint = m->body_jntadr[b];
    const bool free = m->body_jntnum[b] == 1 && m->jnt_type[joint] == mjJNT_FREE;
    if (free && d->fixed->body_robot[b] == TT_NO_ROBOT)
      tt_nearest_offer(&nearest, mj_id2name(m, mjOBJ_BODY, b));
  }
  return tt_fail(d->error, TT_INVALID, "%s.body: the arena has no body '%s'%s", where, name,
                 tt_nearest_hint(&nearest));
}

static tt_status describe_pieces(const describer *d) {
  const mjModel *m = d->model;
  physics_fixed *f = d->fixed;
  f->pieces = zeros(d->spec->piece_count, sizeof *f->pieces);
  f->piece_count = d->spec->piece_count;
  if (!f->pieces) return TT_NOMEM;
  const char *arena = d->spec->arena_file ? d->spec->arena_file : "the arena";
  for (int i = 0; i < f->piece_count; i++) {
    const tt_engine_piece *from = &d->spec->pieces[i];
    const char *where = from->where ? from->where : arena;
    int body = mj_name2id(m, mjOBJ_BODY, from->body);
    if (body <= 0) return no_piece(d, where, from->body);
    int joint = m->body_jntadr[body];
    if (m->body_jntnum[body] != 1 || m->jnt_type[joint] != mjJNT_FREE) {
      return tt_fail(d->error, TT_INVALID,
                     "%s.body: '%s' needs a free joint to be gripped; add <freejoint/>", where,
                     from->body);
    }
    if (from->kind < 1 || from->kind > 4 || f->body_piece[body] >= 0) {
      return tt_fail(d->error, TT_INVALID, "%s: '%s' %s", where, from->body,
                     f->body_piece[body] >= 0 ? "is listed twice" : "must have a kind of 1 to 4");
    }
    f->body_piece[body] = i;
    ((tt_body *)f->info.bodies)[body].piece = from->kind;
    physics_piece *piece = &f->pieces[i];
    *piece = (physics_piece){.body = body,
                             .kind = from->kind,
                             .dof = m->body_dofadr[body],
                             .qpos = m->jnt_qposadr[joint],
                             .first_geom = m->body_geomadr[body],
                             .last_geom = m->body_geomadr[body] + m->body_geomnum[body]};
    const double origin[3] = {0};
    for (int g = piece->first_geom; g < piece->last_geom; g++) {
      if (collides(m, g)) piece->radius = fmax(piece->radius, reach_of_geom(m, g, origin));
    }
  }
  return TT_OK;
}

/* Bodies that can move and collide, other than pieces. In a fluid MuJoCo needs their geoms for more than contacts. */
static tt_status describe_movers(const describer *d) {
  const mjModel *m = d->model;
  physics_fixed *f = d->fixed;
  f->movers = zeros(m->nbody, sizeof *f->movers);
  if (!f->movers) return TT_NOMEM;
  for (int b = 1; b < m->nbody; b++) {
    bool fixed_body = m->body_weldid[b] == 0 && m->body_mocapid[b] < 0;
    if (fixed_body || f->body_piece[m->body_weldid[b]] >= 0) continue;
    const int weld = m->body_weldid[b];
    physics_mover mover = {.body = b,
                           .first_geom = m->body_geomadr[b],
                           .weld = weld,
                           .weld_parent = m->body_weldid[m->body_parentid[weld]]};
    mover.last_geom = mover.first_geom + m->body_geomnum[b];
    bool any = false;
    for (int g = mover.first_geom; g < mover.last_geom; g++) {
      if (!collides(m, g)) continue;
      any = true;
      mover.radius = fmax(mover.radius, reach_of_geom(m, g, m->body_ipos + 3 * b));
    }
    if (any) f->movers[f->mover_count++] = mover;
  }
  const bool in_fluid = m->opt.density > 0 || m->opt.viscosity > 0;
  f->culls_movers = !in_fluid && f->mover_count <= MOST_MOVERS;
  for (int g = 0; g < m->ngeom; g++) f->contact_margin = fmax(f->contact_margin, m->geom_margin[g]);
  return TT_OK;
}

/* Geoms of a body that the search for contacts must look at: those that collide, which composing put
 * first. In a fluid all geoms matter. */
static int colliding_geoms(const mjModel *m, int body) {
  int first = m->body_geomadr[body], count = m->body_geomnum[body];
  if (m->opt.density > 0 || m->opt.viscosity > 0) return count;
  while (count > 0 && !collides(m, first + count - 1)) count--;
  return count;
}

/* Fixed bodies that may be left out of that search while nothing is near them. Planes and height
 * fields are near everything. */
static tt_status describe_statics(const describer *d) {
  const mjModel *m = d->model;
  physics_fixed *f = d->fixed;
  f->statics = zeros(m->nbody, sizeof(int));
  f->grounds = zeros(m->nbody, sizeof(int));
  f->body_geomnum = zeros(m->nbody, sizeof(int));
  if (!f->statics || !f->grounds || !f->body_geomnum) return TT_NOMEM;
  for (int b = 0; b < m->nbody; b++) {
    f->body_geomnum[b] = colliding_geoms(m, b);
    bool bounded = b > 0;
    for (int g = m->body_geomadr[b]; bounded && g < m->body_geomadr[b] + m->body_geomnum[b]; g++) {
      bounded = m->geom_rbound[g] > 0 && m->geom_type[g] != mjGEOM_HFIELD;
    }
    if (f->body_geomnum[b] == 0 || m->body_weldid[b] != 0 || m->body_mocapid[b] >= 0) continue;
    if (bounded)
      f->statics[f->static_count++] = b;
    else
      f->grounds[f->ground_count++] = b;
  }
  return TT_OK;
}

static tt_status describe_trees(const describer *d) {
  const mjModel *m = d->model;
  physics_fixed *f = d->fixed;
  f->tree_start = zeros(m->nv, sizeof(int));
  f->tree_size = zeros(m->nv, sizeof(int));
  f->geom_contype = zeros(m->ngeom, sizeof(int));
  f->geom_conaffinity = zeros(m->ngeom, sizeof(int));
  f->initial_qpos = zeros(m->nq, sizeof(double));
  f->mass_row = zeros(m->nv + 1, sizeof(int));
  f->mass_column = zeros(m->nM, sizeof(int));
  if (!f->tree_start || !f->tree_size || !f->mass_row || !f->mass_column || !f->geom_contype ||
      !f->geom_conaffinity || !f->initial_qpos) {
    return TT_NOMEM;
  }
  for (int i = 0; i < m->nv; i++) {
    int parent = m->dof_parentid[i];
    f->tree_start[i] = parent >= 0 ? f->tree_start[parent] : i;
    f->tree_size[f->tree_start[i]]++;
  }
  for (int i = 0; i < m->nv; i++) {
    f->tree_size[i] = f->tree_size[f->tree_start[i]];
    int *column = f->mass_column + (f->mass_row[i] = m->dof_Madr[i]);
    for (int j = i; j >= 0; j = m->dof_parentid[j]) *column++ = j - f->tree_start[i];
  }
  f->mass_row[m->nv] = m->nM;
  memcpy(f->geom_contype, m->geom_contype, sizeof(int) * (size_t)m->ngeom);
  memcpy(f->geom_conaffinity, m->geom_conaffinity, sizeof(int) * (size_t)m->ngeom);
  memcpy(f->initial_qpos, m->qpos0, sizeof(double) * (size_t)m->nq);
  return TT_OK;
}

/* Whatever is made of a name has room for it: entries of logs, topics. */
static tt_status check_names(const describer *d) {
  static const int types[] = {mjOBJ_BODY, mjOBJ_JOINT, mjOBJ_ACTUATOR, mjOBJ_SENSOR};
  const mjModel *m = d->model;
  const int counts[] = {m->nbody, m->njnt, m->nu, m->nsensor};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (int i = 0; i < counts[t]; i++) {
      const char *name = mj_id2name(m, types[t], i), *own;
      if (!name || strlen(name) <= MOST_NAME) continue;
      const int robot = robot_of_name(d->submodels, d->spec->robot_count, name, &own);
      const char *file = d->submodels[robot + 1].file; /* the arena's is the first */
      return tt_fail(d->error, TT_INVALID,
                     "%s: the name of the %s '%.60s…' is too long; give it one of at most %d bytes",
                     file ? file : "the model", mju_type2Str(types[t]), own, MOST_NAME - 128);
    }
  return TT_OK;
}

tt_status physics_describe(physics_fixed *fixed, const mjModel *model, const tt_engine_spec *spec,
                           const physics_submodel *submodels, tt_error *error) {
  describer d = {fixed, model, spec, submodels, error};
  TT_TRY(check_names(&d));
  TT_TRY(describe_bodies(&d));
  TT_TRY(describe_joints(&d));
  TT_TRY(describe_sensors(&d));
  TT_TRY(describe_actuators(&d));
  TT_TRY(describe_robots(&d));
  TT_TRY(describe_grippers(&d));
  TT_TRY(describe_pieces(&d));
  TT_TRY(describe_movers(&d));
  TT_TRY(describe_statics(&d));
  TT_TRY(describe_trees(&d));
  TT_TRY(physics_couple(fixed, model));
  physics_note_limits(fixed);
  return physics_shapes_build(fixed, model);
}
