/* mujoco_engine.h: MuJoCo as an engine. The only room that includes MuJoCo; who steps simulations sees model/engine.h.
 *
 * It owns its mjModel as well as its mjData, since welds live there.
 */
#ifndef TT_ENGINE_MUJOCO_MUJOCO_ENGINE_H
#define TT_ENGINE_MUJOCO_MUJOCO_ENGINE_H

#include "model/engine.h"

/** Loads, composes and compiles. On failure `*engine` is NULL and `error` names file and reason.
 *  May block (files); writes nothing anywhere but to a temporary folder that it removes. */
tt_status tt_mujoco_load(const tt_engine_spec *spec, tt_engine **engine, tt_error *error);

/** The program that compiles models, by its absolute path; NULL: the one that is installed with this code. Process-wide,
 *  before anything is loaded. TT_INVALID: not absolute, or too long. */
tt_status tt_mujoco_set_compiler(const char *program);

/** The limit that benches compare a step with: calls mj_step `steps` times from the present state, with `torques`
 *  ([steps][axis_count], N·m or N) acting on the axes and nothing of ours around it. The state is good for nothing
 *  afterwards: restore a saved one. `engine` is one of tt_mujoco_load() or a clone of it. */
void tt_mujoco_bare_steps(tt_engine *engine, const double *torques, int steps);

#endif
