/* advice.c: what people should hear of a model that does as it says, and not what they meant. */
#include "base/log.h"
#include "engine/mujoco/physics_internal.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static bool is_urdf(const char *file) {
  const char *dot = strrchr(file, '.');
  return dot && strcasecmp(dot, ".urdf") == 0;
}

/* Unlimited hinges right on the fixed base, as wheels are; an arm has one at most. */
static int wheels(const tt_physics *p, int robot) {
  const mjModel *m = p->model;
  int count = 0;
  for (int j = 0; j < m->njnt; j++) {
    const int body = m->jnt_bodyid[j];
    if (p->fixed->body_robot[body] != robot || m->jnt_type[j] != mjJNT_HINGE) continue;
    count += !m->jnt_limited[j] && m->body_weldid[m->body_parentid[body]] == 0;
  }
  return count;
}

/* How deep a moving body of the robot stands in what is not of it, m; negative: nowhere. */
static double depth_in_floor(const tt_physics *p, int robot) {
  const mjModel *m = p->model;
  double deepest = -1;
  for (int i = 0; i < p->data->ncon; i++) {
    const mjContact *contact = &p->data->contact[i];
    const int one = p->fixed->body_robot[m->geom_bodyid[contact->geom1]],
              other = p->fixed->body_robot[m->geom_bodyid[contact->geom2]];
    if ((one == robot) != (other == robot)) deepest = fmax(deepest, -contact->dist);
  }
  return deepest;
}

void physics_advise(const tt_physics *p, const tt_engine_spec *spec) {
  for (int i = 0; i < spec->robot_count; i++) {
    const tt_engine_robot *robot = &spec->robots[i];
    if (!is_urdf(robot->model_file) || robot->floating || robot->base_decided) continue;
    const double depth = depth_in_floor(p, i);
    if (depth < 0 && wheels(p, i) < 2) continue;
    tt_log_warning("%s: its base is fixed; `floating: on` lets it move (off: this is as it should)",
                   robot->model_file);
    if (depth > 1e-3)
      tt_log_warning("%s: it stands %.3g m in the floor; `z` raises it", robot->model_file, depth);
  }
}
