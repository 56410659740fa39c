/* shape.h: what a world looks like: its drawables, as static descriptions in their bodies' frames. Pure data. */
#ifndef TT_MODEL_SHAPE_H
#define TT_MODEL_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

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
  int material;     /**< index into materials, or −1 */
  const char *name; /**< "" when unnamed */
  bool decoration;  /**< does not collide (floor paint, visuals) */
  bool hidden; /**< nobody is meant to see it: MuJoCo's groups from 3 on, for collisions alone */
} tt_shape;
typedef struct tt_mesh {
  const float *vertices;    /**< [vertex_count][3] */
  const float *coordinates; /**< [vertex_count][2] in a texture; NULL: none */
  const int *triangles;     /**< [triangle_count][3] */
  int vertex_count, triangle_count;
} tt_mesh;

/** How the surface of shapes looks, beside their colour. All in MuJoCo's meaning. */
typedef struct tt_material {
  const char *name;
  int texture;      /**< index into textures, or −1 */
  double repeat[2]; /**< how often a flat texture is repeated, … */
  bool uniform;     /**< … over each 2 m rather than over the shape; a cube's is not stretched */
  double specular, shininess, emission; /**< 0…1 */
} tt_material;

/** A picture, or the six faces of a cube (+x −x +y −y +z −z) one under another. */
typedef struct tt_texture {
  bool cube;
  int width, height; /**< of one face */
  /** [height][width][3] red green blue, the first row at v = 0; six times for a cube */
  const uint8_t *pixels;
} tt_texture;

/** Where a range finder looks, for viewers. */
typedef struct tt_ray {
  const char *name;
  int body;
  double position[3], direction[3]; /**< m and unit vector, in the body's frame */
  int channel;                      /**< of the view: the length, m; negative: nothing in reach */
} tt_ray;

#endif
