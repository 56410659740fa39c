/* surface.h: the triangles of a shape. */
#ifndef TT_GLTF_SURFACE_H
#define TT_GLTF_SURFACE_H

#include "base/bytes.h"
#include "gltf/place.h"
#include "model/shape.h"

/** Triangles of one colour, grown shape by shape. Zero-initialise; tt_surface_free(). */
typedef struct tt_surface {
  tt_bytes positions, normals; /**< float32 x y z each, glTF's axes: y up, m */
  tt_bytes indices;            /**< uint32 */
  uint32_t points;
  double lower[3], upper[3]; /**< of the positions as they stand there */
} tt_surface;

/** Adds a shape of a frame with z up that stands at `place`. A plane without an end gets `endless`, m from its middle. Out
 *  of memory: a `failed` of its bytes. */
void tt_surface_add(tt_surface *surface, const tt_shape *shape, const tt_mesh *meshes,
                    const tt_place *place, double endless);
void tt_surface_free(tt_surface *surface);

#endif
