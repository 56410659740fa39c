/* ops.c: this room as an engine: each operation of the contract, handed to the function that does it. */
#include "engine/mujoco/physics_internal.h"

#include <stdio.h>

/* The space is the engine's first member, the engine that of tt_physics. */
#define OF(thing) ((tt_physics *)(thing))
#define OF_CONST(thing) ((const tt_physics *)(thing))

static const tt_mechanism *mechanism(const tt_space *space) {
  return tt_physics_describe(OF_CONST(space));
}

static const double *axis_velocity(const tt_space *space) {
  return tt_physics_axis_velocity(OF_CONST(space));
}

static const double *axis_position(const tt_space *space) {
  return tt_physics_axis_position(OF_CONST(space));
}

static const double *axis_torque(const tt_space *space) {
  return tt_physics_axis_torque(OF_CONST(space));
}

/* Whatever lets MuJoCo compute stands between physics_jump_open() and ended(): what fails is this engine alone, which
 * does nothing more until it is reset or restored. */
static bool ended(tt_physics *p, physics_jump *jump) {
  physics_jump_close(jump);
  if (!jump->failed) return true;
  physics_servo_withdraw(p);
  p->failed = true;
  snprintf(p->failure, sizeof p->failure, "MuJoCo failed: %s", jump->text);
  return false;
}

static tt_status failure_of(const tt_physics *p, tt_error *error) {
  return tt_fail(error, TT_FAILED, "%s", p->failure);
}

static int grip(tt_space *space, int gripper, int kind) {
  tt_physics *p = OF(space);
  physics_jump jump;
  volatile int body = 0;
  if (p->failed) return 0;
  physics_jump_open(&jump);
  if (setjmp(jump.back) == 0) body = tt_physics_grip(p, gripper, kind);
  return ended(p, &jump) ? body : 0;
}

static void release(tt_space *space, int gripper) {
  tt_physics *p = OF(space);
  physics_jump jump;
  if (p->failed) return;
  physics_jump_open(&jump);
  if (setjmp(jump.back) == 0) tt_physics_release(p, gripper);
  ended(p, &jump);
}

static int held(const tt_space *space, int gripper) {
  return tt_physics_held(OF_CONST(space), gripper);
}

static double ray(const tt_space *space, const double origin[3], const double direction[3],
                  int except_robot, double limit) {
  tt_physics *p = (tt_physics *)OF_CONST(space);
  physics_jump jump;
  volatile double distance = -1;
  if (p->failed) return -1;
  physics_jump_open(&jump);
  if (setjmp(jump.back) == 0) distance = tt_physics_ray(p, origin, direction, except_robot, limit);
  return ended(p, &jump) ? distance : -1;
}

static tt_status step(tt_engine *engine, const tt_drive *drives, const double *controls, bool last,
                      tt_error *error) {
  tt_physics *p = OF(engine);
  physics_jump jump;
  volatile tt_status status = TT_FAILED;
  if (p->failed) return failure_of(p, error);
  physics_jump_open(&jump);
  if (setjmp(jump.back) == 0) status = tt_physics_step(p, drives, controls, last, error);
  return ended(p, &jump) ? status : failure_of(p, error);
}

static void view(const tt_engine *engine, tt_view *to) {
  const tt_physics *p = OF_CONST(engine);
  if (!p->failed) tt_physics_view(p, to);
}

static void reset(tt_engine *engine) {
  tt_physics *p = OF(engine);
  physics_jump jump;
  p->failed = false; /* a reset makes all data anew */
  physics_jump_open(&jump);
  if (setjmp(jump.back) == 0) tt_physics_reset(p);
  ended(p, &jump);
}

static void reset_robot(tt_engine *engine, int robot) {
  tt_physics *p = OF(engine);
  physics_jump jump;
  if (p->failed) return;
  physics_jump_open(&jump);
  if (setjmp(jump.back) == 0) tt_physics_reset_robot(p, robot);
  ended(p, &jump);
}

static void place_robot(tt_engine *engine, int robot, double x, double y, double heading) {
  tt_physics_place_robot(OF(engine), robot, x, y, heading);
}

static void place_axis(tt_engine *engine, int axis, double position) {
  tt_physics_place_axis(OF(engine), axis, position);
}

static void place_body(tt_engine *engine, int body, const double pose[7]) {
  tt_physics_place_body(OF(engine), body, pose);
}

static tt_status place_done(tt_engine *engine, double dt, tt_error *error) {
  tt_physics *p = OF(engine);
  physics_jump jump;
  if (p->failed) return failure_of(p, error);
  physics_jump_open(&jump);
  if (setjmp(jump.back) == 0) tt_physics_place_done(p, dt);
  return ended(p, &jump) ? TT_OK : failure_of(p, error);
}

static size_t state_size(const tt_engine *engine, bool feedback) {
  return tt_physics_state_size(OF_CONST(engine), feedback);
}

static bool feeds_back(const tt_engine *engine) { return tt_physics_feeds_back(OF_CONST(engine)); }

static void save(const tt_engine *engine, void *state) { tt_physics_save(OF_CONST(engine), state); }

static tt_status restore(tt_engine *engine, const void *state, size_t size) {
  tt_physics *p = OF(engine);
  physics_jump jump;
  volatile tt_status status = TT_FAILED;
  const volatile bool failed = p->failed; /* looked at behind the jump */
  physics_jump_open(&jump);
  if (setjmp(jump.back) == 0) status = tt_physics_restore(p, state, size);
  if (!ended(p, &jump)) return TT_FAILED;
  p->failed = failed && status != TT_OK;
  return status;
}

static uint64_t hash(const tt_engine *engine) { return tt_physics_hash(OF_CONST(engine)); }

static tt_status limit_joint(tt_engine *engine, int robot, const tt_engine_joint *joint,
                             tt_error *error) {
  return tt_physics_limit_joint(OF(engine), robot, joint, error);
}

static void scenery(const tt_engine *engine, tt_scenery *to) {
  const tt_physics *physics = OF_CONST(engine);
  to->shapes = tt_physics_shapes(physics, &to->shape_count);
  to->meshes = tt_physics_meshes(physics, &to->mesh_count);
  to->materials = tt_physics_materials(physics, &to->material_count);
  to->textures = tt_physics_textures(physics, &to->texture_count);
  to->rays = tt_physics_rays(physics, &to->ray_count);
}

static const tt_value *values(const tt_engine *engine, int *count) {
  const physics_fixed *fixed = OF_CONST(engine)->fixed;
  *count = fixed->value_count;
  return fixed->values;
}

static tt_status set_values(tt_engine *engine, const double *to, tt_error *error) {
  tt_physics *p = OF(engine);
  physics_jump jump;
  volatile tt_status status = TT_FAILED;
  physics_jump_open(&jump);
  if (setjmp(jump.back) == 0) status = tt_physics_set_values(p, to, error);
  return ended(p, &jump) ? status : failure_of(p, error);
}

static tt_engine *as_engine(tt_physics *physics);

static tt_engine *clone_engine(const tt_engine *engine) {
  tt_physics *made = tt_physics_clone(OF_CONST(engine));
  return made ? as_engine(made) : NULL;
}

static void free_engine(tt_engine *engine) { tt_physics_free(OF(engine)); }

static const tt_space_ops space_ops = {
    .mechanism = mechanism,
    .axis_velocity = axis_velocity,
    .axis_position = axis_position,
    .axis_torque = axis_torque,
    .grip = grip,
    .release = release,
    .held = held,
    .ray = ray,
};

static const tt_engine_ops engine_ops = {
    .name = "mujoco",
    .step = step,
    .view = view,
    .reset = reset,
    .reset_robot = reset_robot,
    .place_robot = place_robot,
    .place_axis = place_axis,
    .place_body = place_body,
    .place_done = place_done,
    .state_size = state_size,
    .feeds_back = feeds_back,
    .save = save,
    .restore = restore,
    .hash = hash,
    .limit_joint = limit_joint,
    .scenery = scenery,
    .values = values,
    .set_values = set_values,
    .clone = clone_engine,
    .free = free_engine,
};

static tt_engine *as_engine(tt_physics *physics) {
  physics->engine = (tt_engine){.space = {&space_ops}, .ops = &engine_ops};
  return &physics->engine;
}

tt_status tt_mujoco_load(const tt_engine_spec *spec, tt_engine **engine, tt_error *error) {
  tt_physics *physics;
  *engine = NULL;
  TT_TRY(tt_physics_load(spec, &physics, error));
  *engine = as_engine(physics);
  return TT_OK;
}

void tt_mujoco_bare_steps(tt_engine *engine, const double *torques, int steps) {
  tt_physics *p = OF(engine);
  const physics_fixed *fixed = p->fixed;
  for (int k = 0; k < steps; k++) {
    for (int i = 0; i < fixed->info.axis_count; i++)
      p->data->qfrc_applied[fixed->axis_dof[i]] = *torques++;
    mj_step(p->model, p->data);
  }
}
