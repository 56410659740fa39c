/* references.h: which files a model is made of, as far as its XML tells, for whoever checks, keeps or copies them. */
#ifndef TT_ENGINE_MUJOCO_REFERENCES_H
#define TT_ENGINE_MUJOCO_REFERENCES_H

#include "base/status.h"

/** Told of a file; anything but TT_OK ends the walk with that status. */
typedef tt_status tt_reference_visit(void *context, const char *path, tt_error *error);

/** Calls `visit` for the model's file, those it includes, and those these name (meshes and their materials, textures, height
 *  fields) which are there, in an order that depends on the files alone; perhaps for one several times. `search_path` as in
 *  a scene: folders, NULL-terminated, or NULL. A model that is no XML names no files. Reads regular files only and never
 *  waits for others. */
tt_status tt_model_references(const char *model, const char *const *search_path,
                              tt_reference_visit *visit, void *context, tt_error *error);

#endif
