/* looks.c: materials, textures and rays of range finders, for viewers. */
#include "engine/mujoco/physics_internal.h"

#include <stdlib.h>
#include <string.h>

static tt_status copy_material(physics_fixed *fixed, const mjModel *m, int id) {
  const char *name = mj_id2name(m, mjOBJ_MATERIAL, id);
  fixed->materials[id] =
      (tt_material){.name = physics_keep(fixed, "%s", name ? name : ""),
                    .texture = m->mat_texid[id],
                    .repeat = {m->mat_texrepeat[2 * id], m->mat_texrepeat[2 * id + 1]},
                    .uniform = m->mat_texuniform[id],
                    .specular = m->mat_specular[id],
                    .shininess = m->mat_shininess[id],
                    .emission = m->mat_emission[id]};
  return fixed->materials[id].name ? TT_OK : TT_NOMEM;
}

/* MuJoCo keeps a cube's faces one under another; a single one stands for all. */
static tt_status copy_texture(physics_fixed *fixed, const mjModel *m, int id) {
  bool cube = m->tex_type[id] != mjTEXTURE_2D;
  int width = m->tex_width[id], height = cube ? width : m->tex_height[id];
  size_t face = 3 * (size_t)width * (size_t)height;
  size_t kept = 3 * (size_t)m->tex_width[id] * (size_t)m->tex_height[id];
  uint8_t *pixels = malloc(cube ? 6 * face : face);
  fixed->textures[id] = (tt_texture){cube, width, height, pixels};
  if (!pixels) return TT_NOMEM;
  for (size_t i = 0; i < (cube ? 6U : 1U); i++)
    memcpy(pixels + i * face, m->tex_rgb + m->tex_adr[id] + i * face % kept, face);
  return TT_OK;
}

/* A range finder looks along its site's z axis. */
static void describe_ray(physics_fixed *fixed, const mjModel *m, int sensor) {
  int site = m->sensor_objid[sensor];
  tt_ray *ray = &fixed->rays[fixed->ray_count++];
  double along[3] = {0, 0, 1};
  *ray = (tt_ray){.name = fixed->info.sensors[m->sensor_adr[sensor]].name,
                  .body = m->site_bodyid[site],
                  .channel = m->sensor_adr[sensor]};
  mju_copy3(ray->position, m->site_pos + 3 * site);
  mju_rotVecQuat(ray->direction, along, m->site_quat + 4 * site);
}

tt_status physics_looks_build(physics_fixed *fixed, const mjModel *m) {
  fixed->materials = calloc((size_t)m->nmat + 1, sizeof *fixed->materials);
  fixed->textures = calloc((size_t)m->ntex + 1, sizeof *fixed->textures);
  fixed->rays = calloc((size_t)m->nsensor + 1, sizeof *fixed->rays);
  if (!fixed->materials || !fixed->textures || !fixed->rays) return TT_NOMEM;
  fixed->material_count = m->nmat;
  fixed->texture_count = m->ntex;
  for (int i = 0; i < m->nmat; i++) TT_TRY(copy_material(fixed, m, i));
  for (int i = 0; i < m->ntex; i++) TT_TRY(copy_texture(fixed, m, i));
  for (int i = 0; i < m->nsensor; i++)
    if (m->sensor_type[i] == mjSENS_RANGEFINDER) describe_ray(fixed, m, i);
  return TT_OK;
}

const tt_material *tt_physics_materials(const tt_physics *physics, int *count) {
  *count = physics->fixed->material_count;
  return physics->fixed->materials;
}

const tt_texture *tt_physics_textures(const tt_physics *physics, int *count) {
  *count = physics->fixed->texture_count;
  return physics->fixed->textures;
}

const tt_ray *tt_physics_rays(const tt_physics *physics, int *count) {
  *count = physics->fixed->ray_count;
  return physics->fixed->rays;
}
