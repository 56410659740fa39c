/* surface.c: friction that a robot's or an arena's file gives to a body of its model. */
#include "base/nearest.h"
#include "engine/mujoco/physics_internal.h"

#include <stdio.h>
#include <string.h>

/* Whose bodies are meant: those of the robot with this prefix, or of the arena, whose names have no robot's. */
typedef struct owner {
  const tt_engine_spec *spec;
  const char *prefix; /* "" for the arena */
} owner;

static const char *own_name(const owner *of, const char *name) {
  const size_t n = strlen(of->prefix);
  if (n > 0) return strncmp(name, of->prefix, n) == 0 ? name + n : NULL;
  for (int i = 0; i < of->spec->robot_count; i++) {
    const size_t length = strlen(of->spec->robots[i].name);
    if (strncmp(name, of->spec->robots[i].name, length) == 0 && name[length] == '/') return NULL;
  }
  return name;
}

static tt_status find_body(const mjModel *m, const owner *of, const tt_engine_surface *surface,
                           int *body, tt_error *error) {
  tt_nearest nearest = tt_nearest_start(surface->body);
  for (*body = 0; *body < m->nbody; ++*body) {
    const char *name = own_name(of, mj_id2name(m, mjOBJ_BODY, *body));
    if (!name) continue;
    if (strcmp(name, surface->body) == 0) return TT_OK;
    tt_nearest_offer(&nearest, name);
  }
  return tt_fail(error, TT_INVALID, "%s.name: the model has no body '%s'%s", surface->where,
                 surface->body, tt_nearest_hint(&nearest));
}

/* Sliding, torsional, rolling; a contact has as many of them as its dimension says. */
static int set_friction(const tt_engine_surface *from, mjtNum friction[3], int dimension) {
  friction[0] = from->friction;
  if (from->torsional_friction >= 0) friction[1] = from->torsional_friction;
  if (from->rolling_friction >= 0) friction[2] = from->rolling_friction;
  if (from->rolling_friction > 0) return 6;
  const int least = from->torsional_friction > 0 ? 4 : 3;
  return dimension > least ? dimension : least;
}

static void set_pairs(mjModel *m, const tt_engine_surface *from, int geom) {
  for (int i = 0; i < m->npair; i++) {
    if (m->pair_geom1[i] != geom && m->pair_geom2[i] != geom) continue;
    mjtNum *f = m->pair_friction + 5 * i, three[3] = {f[0], f[2], f[3]};
    m->pair_dim[i] = set_friction(from, three, m->pair_dim[i]);
    f[0] = f[1] = three[0];
    f[2] = three[1];
    f[3] = f[4] = three[2];
  }
}

void physics_set_surface(mjModel *m, const tt_engine_surface *from, int body, int geoms,
                         int priority) {
  const int first = m->body_geomadr[body];
  for (int g = first; g >= 0 && g < first + geoms; g++) {
    m->geom_condim[g] = set_friction(from, m->geom_friction + 3 * g, m->geom_condim[g]);
    m->geom_priority[g] = priority;
    set_pairs(m, from, g);
  }
}

static tt_status set_all(mjModel *m, const owner *of, const tt_engine_surface *surfaces, int count,
                         int priority, tt_error *error) {
  for (int i = 0; i < count; i++) {
    int body;
    TT_TRY(find_body(m, of, &surfaces[i], &body, error));
    physics_set_surface(m, &surfaces[i], body, m->body_geomnum[body], priority);
  }
  return TT_OK;
}

/* Of two geoms MuJoCo takes the greater friction unless one has priority: what is given has it over all else. */
int physics_surface_priority(const mjModel *m) {
  int priority = 0;
  for (int g = 0; g < m->ngeom; g++)
    if (m->geom_priority[g] >= priority) priority = m->geom_priority[g] + 1;
  return priority;
}

tt_status physics_set_surfaces(mjModel *m, const tt_engine_spec *spec, int priority,
                               tt_error *error) {
  owner of = {spec, ""};
  TT_TRY(set_all(m, &of, spec->surfaces, spec->surface_count, priority, error));
  for (int i = 0; i < spec->robot_count; i++) {
    char prefix[128];
    snprintf(prefix, sizeof prefix, "%s/", spec->robots[i].name);
    of.prefix = prefix;
    TT_TRY(
        set_all(m, &of, spec->robots[i].surfaces, spec->robots[i].surface_count, priority, error));
  }
  return TT_OK;
}
