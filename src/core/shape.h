/* shape.h: what a world looks like: its drawables, as static descriptions in their bodies' frames. Pure data. */
#ifndef TT_CORE_SHAPE_H
#define TT_CORE_SHAPE_H

#include <stdbool.h>

/** What a drawable is. */
typedef enum tt_shape_kind {
  TT_PLANE,
  TT_SPHERE,
  TT_CAPSULE,
  TT_ELLIPSOID,
  TT_CYLINDER,
  TT_BOX,
  TT_MESH,
  TT_HEIGHTFIELD
} tt_shape_kind;

/** Geometry for viewers: static description of one drawable. Vertices of meshes are in the geom frame. */
typedef struct tt_shape {
  tt_shape_kind kind;
  int body;
  double size[3];     /**< MuJoCo's meaning: half sizes; capsule and cylinder radius, half length */
  double position[3]; /**< in the body frame */
  double rotation[4]; /**< w x y z, in the body frame */
  float rgba[4];
  int mesh;         /**< index into meshes, or −1 */
  const char *name; /**< "" when unnamed */
  bool decoration;  /**< does not collide (floor paint, visuals) */
} tt_shape;
typedef struct tt_mesh {
  const float *vertices; /**< [vertex_count][3] */
  const int *triangles;  /**< [triangle_count][3] */
  int vertex_count, triangle_count;
} tt_mesh;

#endif
