/* stops.c: the stops of joints and tendons are as hard as the timestep allows.
 *
 * MuJoCo's own default is a spring that gives way for 20 ms: a joint that comes at 3 rad/s goes 0.03 rad past its stop, and
 * a strong motor pushes it further. A real stop is steel. Here the step after a joint passed its stop takes all its
 * velocity, whatever drives it: it goes past it by the way of one step and no more. From there it is brought back slowly
 * (1/64 of the way a step), since a stop can't pull: what is brought back fast flies off again.
 * What a model's file says of its stops itself (solreflimit, solimplimit) holds.
 */
#include "engine/mujoco/physics_internal.h"

#include <string.h>

#define STOP_DAMPING 4 /* ratio to critical; a bounce keeps 1 / (4 × its square) of the velocity */

void physics_stiff(const mjModel *m, double damping, double reference[mjNREF],
                   double impedance[mjNIMP]) {
  static const double STIFF[mjNIMP] = {0.9999, 0.9999, 0.001, 0.5, 2};
  reference[0] = 2 * m->opt.timestep;
  reference[1] = damping;
  memcpy(impedance, STIFF, sizeof STIFF);
}

static void harden(const mjModel *m, double *reference, double *impedance) {
  double soft_reference[mjNREF], soft_impedance[mjNIMP];
  mj_defaultSolRefImp(soft_reference, soft_impedance);
  const bool as_default = !memcmp(reference, soft_reference, sizeof soft_reference) &&
                          !memcmp(impedance, soft_impedance, sizeof soft_impedance);
  if (as_default) physics_stiff(m, STOP_DAMPING, reference, impedance);
}

void physics_harden_stops(mjModel *m) {
  for (int j = 0; j < m->njnt; j++)
    if (m->jnt_limited[j]) harden(m, m->jnt_solref + mjNREF * j, m->jnt_solimp + mjNIMP * j);
  for (int t = 0; t < m->ntendon; t++)
    if (m->tendon_limited[t])
      harden(m, m->tendon_solref_lim + mjNREF * t, m->tendon_solimp_lim + mjNIMP * t);
}
