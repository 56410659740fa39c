/* couple.c: joints that the model holds to others, as those that mimic them: where they stand before any step, and without
 * dynamics. While steps are made MuJoCo's constraints hold them. */
#include "engine/mujoco/physics_internal.h"

#include <math.h>
#include <stdlib.h>

static bool couples(const mjModel *m, int equality) {
  return m->eq_type[equality] == mjEQ_JOINT && m->eq_active[equality];
}

/* In an order in which every joint is placed before those that follow it. Those that are held to each other in a circle, and
 * what follows them, are left out. `holds` counts for each joint what still holds it. */
static int put_in_order(const mjModel *m, int *holds, bool *taken, int *order) {
  int count = 0, before = -1;
  for (int e = 0; e < m->neq; e++)
    if (couples(m, e)) holds[m->eq_obj1id[e]]++;
  while (count > before) {
    before = count;
    for (int e = 0; e < m->neq; e++) {
      const int leader = m->eq_obj2id[e];
      if (!couples(m, e) || taken[e] || (leader >= 0 && holds[leader] > 0)) continue;
      taken[e] = true;
      holds[m->eq_obj1id[e]]--;
      order[count++] = e;
    }
  }
  return count;
}

tt_status physics_couple(physics_fixed *fixed, const mjModel *model) {
  int *holds = calloc((size_t)model->njnt + 1, sizeof *holds);
  bool *taken = calloc((size_t)model->neq + 1, sizeof *taken);
  fixed->couplings = calloc((size_t)model->neq + 1, sizeof *fixed->couplings);
  const bool enough = holds && taken && fixed->couplings;
  if (enough) fixed->coupling_count = put_in_order(model, holds, taken, fixed->couplings);
  free(holds);
  free(taken);
  if (!enough) return TT_NOMEM;
  physics_follow(fixed, model, fixed->initial_qpos);
  return TT_OK;
}

/* As MuJoCo's constraint has it: by a polynomial of how far the other one is from where the model has it. */
static double position_of(const mjModel *m, int equality, const double *qpos) {
  const double *factors = m->eq_data + mjNEQDATA * equality;
  const int leader = m->eq_obj2id[equality], at = leader >= 0 ? m->jnt_qposadr[leader] : -1;
  const double moved = at >= 0 ? qpos[at] - m->qpos0[at] : 0;
  double sum = factors[4];
  for (int k = 3; k >= 0; k--) sum = sum * moved + factors[k];
  return m->qpos0[m->jnt_qposadr[m->eq_obj1id[equality]]] + sum;
}

void physics_follow(const physics_fixed *fixed, const mjModel *model, double *qpos) {
  for (int i = 0; i < fixed->coupling_count; i++) {
    const int equality = fixed->couplings[i];
    const double position = position_of(model, equality, qpos);
    if (isfinite(position)) qpos[model->jnt_qposadr[model->eq_obj1id[equality]]] = position;
  }
}
