/* model_file.h: the little that a scene must know of a model before physics reads it. */
#ifndef TT_SCENE_MODEL_FILE_H
#define TT_SCENE_MODEL_FILE_H

#include "scene/rational.h"

/** The timestep that a model's file states: the `<option timestep>` of an MJCF or of a URDF's `<mujoco>`, its own or of a
 *  file that it includes, whichever is last. False when it states none. A file that can't be read states none: physics,
 *  which reads it later with all care, will say why. May block (files). */
bool tt_model_file_timestep(const char *path, tt_rational *timestep);

#endif
