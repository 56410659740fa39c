/* shapes.c: geometry for viewers, and rays. */
#include "engine/mujoco/physics_internal.h"

#include <stdlib.h>
#include <string.h>

static tt_shape_kind kind_of(int geom_type) {
  switch (geom_type) {
    case mjGEOM_PLANE: return TT_PLANE;
    case mjGEOM_HFIELD: return TT_HEIGHTFIELD;
    case mjGEOM_SPHERE: return TT_SPHERE;
    case mjGEOM_CAPSULE: return TT_CAPSULE;
    case mjGEOM_ELLIPSOID: return TT_ELLIPSOID;
    case mjGEOM_CYLINDER: return TT_CYLINDER;
    case mjGEOM_MESH: return TT_MESH;
    default: return TT_BOX;
  }
}

static tt_status copy_mesh(tt_mesh *mesh, const mjModel *m, int id) {
  size_t vertices = (size_t)m->mesh_vertnum[id], faces = (size_t)m->mesh_facenum[id];
  float *points = malloc(sizeof(float) * (3 * vertices + 1));
  int *triangles = malloc(sizeof(int) * (3 * faces + 1));
  bool textured = m->mesh_texcoordadr[id] >= 0;
  float *coordinates = textured ? malloc(sizeof(float) * (2 * vertices + 1)) : NULL;
  *mesh = (tt_mesh){points, coordinates, triangles, (int)vertices, (int)faces};
  if (!points || !triangles || (textured && !coordinates)) return TT_NOMEM;
  if (textured)
    memcpy(coordinates, m->mesh_texcoord + 2 * m->mesh_texcoordadr[id],
           sizeof(float) * 2 * vertices);
  memcpy(points, m->mesh_vert + 3 * m->mesh_vertadr[id], sizeof(float) * 3 * vertices);
  memcpy(triangles, m->mesh_face + 3 * m->mesh_faceadr[id], sizeof(int) * 3 * faces);
  return TT_OK;
}

/* A height field's surface as triangles, in the geom frame: x grows with columns, y with rows. */
static tt_status copy_heightfield(tt_mesh *mesh, const mjModel *m, int id) {
  int rows = m->hfield_nrow[id], columns = m->hfield_ncol[id];
  const double *size = m->hfield_size + 4 * id;
  const float *height = m->hfield_data + m->hfield_adr[id];
  int faces = 2 * (rows - 1) * (columns - 1);
  float *points = malloc(sizeof(float) * 3 * (size_t)(rows * columns));
  int *triangles = malloc(sizeof(int) * 3 * (size_t)faces);
  *mesh = (tt_mesh){points, NULL, triangles, rows * columns, faces};
  if (!points || !triangles) return TT_NOMEM;
  for (int r = 0; r < rows; r++) {
    for (int c = 0; c < columns; c++) {
      float *point = points + 3 * (r * columns + c);
      point[0] = (float)(size[0] * (2.0 * c / (columns - 1) - 1));
      point[1] = (float)(size[1] * (2.0 * r / (rows - 1) - 1));
      point[2] = (float)(size[2] * height[r * columns + c]);
    }
  }
  int *next = triangles;
  for (int r = 0; r + 1 < rows; r++) {
    for (int c = 0; c + 1 < columns; c++) {
      int a = r * columns + c, b = a + columns;
      const int two[6] = {a, a + 1, b, a + 1, b + 1, b};
      memcpy(next, two, sizeof two);
      next += 6;
    }
  }
  return TT_OK;
}

static tt_shape describe_geom(physics_fixed *fixed, const mjModel *m, int g) {
  tt_shape shape = {.body = m->geom_bodyid[g], .mesh = -1};
  shape.kind = kind_of(m->geom_type[g]);
  if (m->geom_type[g] == mjGEOM_MESH) shape.mesh = m->geom_dataid[g];
  if (m->geom_type[g] == mjGEOM_HFIELD) shape.mesh = m->nmesh + m->geom_dataid[g];
  mju_copy(shape.size, m->geom_size + 3 * g, 3);
  mju_copy(shape.position, m->geom_pos + 3 * g, 3);
  mju_copy(shape.rotation, m->geom_quat + 4 * g, 4);
  int material = shape.material = m->geom_matid[g];
  memcpy(shape.rgba, material >= 0 ? m->mat_rgba + 4 * material : m->geom_rgba + 4 * g,
         sizeof shape.rgba);
  const char *name = mj_id2name(m, mjOBJ_GEOM, g);
  shape.name = physics_keep(fixed, "%s", name ? name : "");
  shape.hidden = m->geom_group[g] > 2;
  shape.decoration = !m->geom_contype[g] && !m->geom_conaffinity[g];
  return shape;
}

tt_status physics_shapes_build(physics_fixed *fixed, const mjModel *m) {
  fixed->shapes = calloc((size_t)m->ngeom + 1, sizeof *fixed->shapes);
  fixed->meshes = calloc((size_t)m->nmesh + (size_t)m->nhfield + 1, sizeof *fixed->meshes);
  if (!fixed->shapes || !fixed->meshes) return TT_NOMEM;
  fixed->shape_count = m->ngeom;
  fixed->mesh_count = m->nmesh + m->nhfield;
  for (int i = 0; i < m->nmesh; i++) TT_TRY(copy_mesh(&fixed->meshes[i], m, i));
  for (int i = 0; i < m->nhfield; i++) {
    TT_TRY(copy_heightfield(&fixed->meshes[m->nmesh + i], m, i));
  }
  for (int g = 0; g < m->ngeom; g++) {
    fixed->shapes[g] = describe_geom(fixed, m, g);
    if (!fixed->shapes[g].name) return TT_NOMEM;
  }
  return physics_looks_build(fixed, m);
}

const tt_shape *tt_physics_shapes(const tt_physics *physics, int *count) {
  *count = physics->fixed->shape_count;
  return physics->fixed->shapes;
}

const tt_mesh *tt_physics_meshes(const tt_physics *physics, int *count) {
  *count = physics->fixed->mesh_count;
  return physics->fixed->meshes;
}

/* Whether a ray can come nearer than `radius` to `centre` before `limit`. */
static bool may_hit(const double origin[3], const double direction[3], const double centre[3],
                    double radius, double limit) {
  double to[3];
  mju_sub3(to, centre, origin);
  double along = mju_dot3(to, direction);
  if (along < -radius || along > limit + radius) return false;
  return mju_dot3(to, to) - along * along <= radius * radius;
}

static double hit(const tt_physics *p, int g, const double origin[3], const double direction[3]) {
  const mjModel *m = p->model;
  const mjData *d = p->data;
  if (m->geom_type[g] == mjGEOM_MESH) return mj_rayMesh(m, d, g, origin, direction);
  if (m->geom_type[g] == mjGEOM_HFIELD) return mj_rayHfield(m, d, g, origin, direction);
  return mju_rayGeom(d->geom_xpos + 3 * g, d->geom_xmat + 9 * g, m->geom_size + 3 * g, origin,
                     direction, m->geom_type[g]);
}

double tt_physics_ray(const tt_physics *p, const double origin[3], const double direction[3],
                      int except_robot, double limit) {
  const mjModel *m = p->model;
  double nearest = -1;
  for (int g = 0; g < m->ngeom; g++) {
    int robot = p->fixed->body_robot[m->geom_bodyid[g]];
    if (except_robot != TT_NO_ROBOT && robot == except_robot) continue;
    /* The masks as compiled: a parked piece is still seen. */
    if (!p->fixed->geom_contype[g] && !p->fixed->geom_conaffinity[g]) continue;
    double within = nearest >= 0 ? nearest : limit;
    double radius = m->geom_rbound[g];
    if (radius > 0 && !may_hit(origin, direction, p->data->geom_xpos + 3 * g, radius, within)) {
      continue;
    }
    double distance = hit(p, g, origin, direction);
    if (distance >= 0 && distance <= within) nearest = distance;
  }
  return nearest;
}
