/* load.c: finds, reads and keeps a scene's files, and checks single values. */
#include "scene/load.h"

#include "scene/stranger.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS_PER_TICK 1000000

/** s, rounded to whole steps, where no wire has a period of its own */
#define DEFAULT_IO_PERIOD 0.010

tt_status tt_load_no_memory(const tt_scene_store *store) {
  return tt_fail(store->error, TT_NOMEM, "out of memory");
}

/* --- files --- */

tt_status tt_load_find(tt_scene_store *store, const tt_data_kind *kind, const char *name,
                       const char *including, const char *where, const char **path) {
  char *found;
  TT_TRY(tt_data_find(kind, name, including, where, &found, store->error));
  *path = tt_pool_print(&store->pool, "%s", found);
  free(found);
  return *path ? TT_OK : tt_load_no_memory(store);
}

tt_status tt_load_find_model(tt_scene_store *store, const char *model, const char *including,
                             const char **path) {
  static const tt_data_kind file = {"model", "models", NULL};
  const char *where;
  PRINT(store, where, "%s: model", including);
  return tt_load_find(store, &file, model, including, where, path);
}

tt_status tt_load_document(tt_scene_store *store, tt_document *document,
                           const cyaml_schema_value_t *schema, void **keys) {
  assert(store->file_count < (int)(sizeof store->files / sizeof *store->files));
  tt_loaded *loaded = &store->files[store->file_count++];
  *loaded = (tt_loaded){document, schema, NULL};
  TT_TRY(tt_document_read(document, schema, &loaded->keys, store->error));
  *keys = loaded->keys;
  return TT_OK;
}

tt_status tt_load_yaml(tt_scene_store *store, const char *path, const char *noun,
                       const cyaml_schema_value_t *schema, void **keys) {
  tt_document *document;
  TT_TRY(tt_stranger_load(path, noun, &document, store->error));
  return tt_load_document(store, document, schema, keys);
}

const char *tt_load_folder(tt_scene_store *store, const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return ".";
  return tt_pool_print(&store->pool, "%.*s", (int)(slash > path ? slash - path : 1), path);
}

bool tt_load_is_yaml(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

/* --- single values --- */

tt_status tt_load_time(tt_scene_store *store, const char *text, const char *where,
                       tt_rational *value) {
  if (tt_rational_parse(text, value)) return TT_OK;
  return tt_fail(store->error, TT_INVALID,
                 "%s: '%s' is no exact time above zero; write it like 1/3000 s, 0.002 s or 10 ms",
                 where, text);
}

void tt_load_tell_time(const char *where, double fallback) {
  tt_key_tell(&(tt_key_note){.where = where,
                             .key = "",
                             .is_quantity = true,
                             .dimension = TT_TIME,
                             .upper = INFINITY,
                             .fallback = fallback});
}

static tt_rational timestep_of(const tt_scene *scene) {
  return (tt_rational){scene->timestep_num, scene->timestep_den};
}

tt_status tt_load_steps(tt_scene_store *store, const char *text, const char *where,
                        uint64_t *steps) {
  tt_rational time, step = timestep_of(&store->scene);
  TT_TRY(tt_load_time(store, text, where, &time));
  *steps = tt_rational_steps(time, step);
  if (*steps > MAX_STEPS_PER_TICK) {
    return tt_fail(store->error, TT_INVALID, "%s: %s is too long (at most %d steps)", where, text,
                   MAX_STEPS_PER_TICK);
  }
  if (*steps) return TT_OK;
  double length = (double)step.num / (double)step.den;
  double below = floor((double)time.num / (double)time.den / length);
  if (below < 1) below = 1;
  return tt_fail(store->error, TT_INVALID,
                 "%s: %s is no whole number of steps of %lld/%lld s; take %.0f (%.9g ms) or %.0f "
                 "(%.9g ms), or "
                 "another timestep",
                 where, text, (long long)step.num, (long long)step.den, below, below * length * 1e3,
                 below + 1, (below + 1) * length * 1e3);
}

tt_status tt_load_check_name(const tt_scene_store *store, const char *name, const char *extra,
                             const char *where) {
  for (const char *c = name; *c; c++) {
    if (isalnum((unsigned char)*c) || strchr("_-", *c) || strchr(extra, *c)) continue;
    return tt_fail(store->error, TT_INVALID,
                   "%s: '%s' can't be a name; use letters, digits, _ and - only", where, name);
  }
  if (*name) return TT_OK;
  return tt_fail(store->error, TT_INVALID,
                 "%s: an empty name; give it one of letters, digits, _ and -", where);
}

tt_status tt_load_check_apart(const tt_scene_store *store, const char *where, const char *name,
                              unsigned k, const char *other) {
  if (strcmp(name, other) != 0) return TT_OK;
  return tt_fail(store->error, TT_INVALID,
                 "%s: '%s' has an entry already, the one with index %u; put all of it into one",
                 where, name, k);
}

static tt_status load_surface(tt_scene_store *store, const tt_body_keys *from,
                              tt_engine_surface *to) {
  to->body = from->name;
  TT_TRY(tt_number_check(&from->friction, "friction", to->where, 0, 100, NAN, &to->friction,
                         store->error));
  TT_TRY(tt_quantity_check(from->torsional_friction, "torsional_friction", to->where, TT_LENGTH, 0,
                           10, -1, &to->torsional_friction, store->error));
  return tt_quantity_check(from->rolling_friction, "rolling_friction", to->where, TT_LENGTH, 0, 10,
                           -1, &to->rolling_friction, store->error);
}

tt_status tt_load_surfaces(tt_scene_store *store, const tt_body_keys *keys, unsigned count,
                           const char *file, const tt_engine_surface **surfaces) {
  tt_engine_surface *made;
  NEW(store, made, count);
  for (unsigned i = 0; i < count; i++) {
    PRINT(store, made[i].where, "%s: bodies[%u]", file, i);
    for (unsigned k = 0; k < i; k++)
      TT_TRY(tt_load_check_apart(store, made[i].where, keys[i].name, k, keys[k].name));
    TT_TRY(load_surface(store, &keys[i], &made[i]));
  }
  *surfaces = made;
  return TT_OK;
}

tt_status tt_load_io_period(tt_scene_store *store) {
  tt_scene *scene = &store->scene;
  const char *where;
  PRINT(store, where, "%s: io_period", scene->path);
  tt_load_tell_time(where, NAN);
  if (store->keys->io_period) {
    return tt_load_steps(store, store->keys->io_period, where, &scene->io_steps);
  }
  if (scene->io_steps) return TT_OK;
  double steps =
      round(DEFAULT_IO_PERIOD * (double)scene->timestep_den / (double)scene->timestep_num);
  scene->io_steps = steps < 1 ? 1 : (uint64_t)steps;
  return TT_OK;
}
