/* glb.h: a binary glTF 2.0 file: named things, each with surfaces by colour. */
#ifndef TT_GLTF_GLB_H
#define TT_GLTF_GLB_H

#include "base/status.h"
#include "gltf/surface.h"
#include "model/engine.h"

/** A file in the making. */
typedef struct tt_glb tt_glb;

/** NULL: out of memory. `scenery` outlives it. */
tt_glb *tt_glb_new(const tt_scenery *scenery);
void tt_glb_free(tt_glb *glb);
/** Begins a thing: what is added from here on is its own. */
tt_status tt_glb_begin(tt_glb *glb, const char *name);
/** Adds what is seen of a body, which stands at `place`, z up; see tt_surface_add() for `endless`. TT_NOMEM. */
tt_status tt_glb_add_body(tt_glb *glb, int body, const tt_place *place, double endless);
/** The whole file into `to`, which is emptied before. Things of which nothing is seen are left out; a file has at least a node. */
tt_status tt_glb_write(const tt_glb *glb, tt_bytes *to);

#endif
