/* scene.c: a scene's files → checked structs. tt_scene_load() at the end names the stages. */
#include "scene/scene.h"

#include "scene/load.h"
#include "scene/machine.h"
#include "scene/model_file.h"
#include "scene/stranger.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TIMESTEP "1/1000 s"

/* --- the scene file --- */

/** A section that the scene leaves out stands there empty, so that its defaults come about in one way. */
static tt_status add_missing_sections(tt_scene_store *store, tt_document *document) {
  if (!store->guests) return TT_OK;
  int count = tt_schema_count(store->guests->sections);
  NEW(store, store->section_given, count);
  for (int i = 0; i < count; i++) {
    const char *key = store->guests->sections[i]->key;
    store->section_given[i] = tt_node_child(document->root, key) != NULL;
    if (store->section_given[i]) continue;
    tt_node *empty = tt_document_node(document, TT_NODE_MAPPING, key, strlen(key), NULL, 0, 0);
    if (!empty || !tt_node_append(document->root, empty)) {
      tt_node_free(empty);
      return tt_load_no_memory(store);
    }
  }
  return TT_OK;
}

/** libcyaml can't say that a wire has exactly one protocol. */
static tt_status check_wire_shape(const tt_scene_store *store, const tt_document *document) {
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): read when the status is TT_OK
  const tt_node *wires = tt_node_child(document->root, "wires");
  for (int i = 0; wires && wires->kind == TT_NODE_SEQUENCE && i < wires->child_count; i++) {
    const tt_node *wire = wires->children[i];
    if (wire->kind == TT_NODE_MAPPING && wire->child_count != 1) {
      return tt_fail(store->error, TT_INVALID,
                     "%s: wires[%d]: a wire has exactly one key, its protocol; indent its other "
                     "keys under that",
                     document->path, i);
    }
  }
  return TT_OK;
}

static bool put_text(tt_node *node, const char *text) {
  free(node->text);
  return (node->text = strdup(text));
}

/** A model given as a scene is one of it alone, called after its file, on an empty floor, on no wire, at its own
 *  timestep. */
static tt_status scene_of_model(tt_scene_store *store, tt_document **document) {
  const char *path = store->scene.path, *slash = strrchr(path, '/');
  char called[256], text[128] = "robots: [{robot: model, name: model}]";
  tt_rational own;
  if (tt_model_file_timestep(path, &own))
    snprintf(text + strlen(text), sizeof text - strlen(text), "\ntimestep: %lld/%lld s",
             (long long)own.num, (long long)own.den);
  TT_TRY(tt_document_parse(path, text, strlen(text), document, store->error));
  tt_element_name(path, called, sizeof called);
  for (char *c = called; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '-') *c = '_';
  tt_node **keys = tt_node_child((*document)->root, "robots")->children[0]->children;
  bool done = put_text(keys[0], slash ? slash + 1 : path) && put_text(keys[1], called);
  return done ? TT_OK : tt_load_no_memory(store);
}

/** Finds the scene's file; the caller frees `*document` also on failure. */
static tt_status find_scene(tt_scene_store *store, const char *name, tt_document **document) {
  tt_scene *scene = &store->scene;
  *document = NULL;
  TT_TRY(tt_load_find(store, &tt_data_scene, name, NULL, name, &scene->path));
  if (!tt_load_is_yaml(scene->path)) return scene_of_model(store, document);
  return tt_stranger_load(scene->path, "scene", document, store->error);
}

static tt_status apply_settings(tt_scene_store *store, tt_document *document,
                                const char *const *settings, int setting_count) {
  NEW(store, store->robot_settings, setting_count);
  for (int i = 0; i < setting_count; i++) {
    bool taken;
    TT_TRY(tt_load_robot_setting(store, document, settings[i], &taken));
    if (!taken) TT_TRY(tt_document_set(document, settings[i], store->error));
  }
  return TT_OK;
}

/** Before settings come to what the file says. */
static tt_status note_machine(tt_scene_store *store, const tt_document *document) {
  store->scene.machine = tt_machine_list(document, &store->pool);
  return store->scene.machine ? TT_OK : tt_load_no_memory(store);
}

/** Takes the document, also when it fails. */
static tt_status read_scene(tt_scene_store *store, tt_document *document,
                            const char *const *settings, int setting_count) {
  tt_status status = note_machine(store, document);
  if (status == TT_OK) status = apply_settings(store, document, settings, setting_count);
  if (status == TT_OK) status = check_wire_shape(store, document);
  if (status == TT_OK) status = add_missing_sections(store, document);
  if (status != TT_OK) {
    tt_document_explain(document, store->error);
    tt_document_free(document);
    return status;
  }
  return tt_load_document(store, document, store->schemas.scene, (void **)&store->keys);
}

/* --- keys of the scene itself --- */

static tt_status load_timing(tt_scene_store *store) {
  tt_scene *scene = &store->scene;
  const tt_scene_keys *keys = store->keys;
  const char *where;
  PRINT(store, where, "%s: timestep", scene->path);
  tt_rational step;
  tt_key_tell(&(tt_key_note){.where = where,
                             .key = "",
                             .is_quantity = true,
                             .dimension = TT_TIME,
                             .upper = 1,
                             .fallback = NAN,
                             .word = DEFAULT_TIMESTEP});
  TT_TRY(tt_load_time(store, keys->timestep ? keys->timestep : DEFAULT_TIMESTEP, where, &step));
  if (step.num > step.den) {
    return tt_fail(store->error, TT_INVALID, "%s: %s is too long for a step; take at most 1 s",
                   where, keys->timestep);
  }
  scene->timestep_num = step.num;
  scene->timestep_den = step.den;
  return TT_OK;
}

static tt_status load_running(tt_scene_store *store) {
  tt_scene *scene = &store->scene;
  const tt_scene_keys *keys = store->keys;
  scene->description = keys->description ? keys->description : "";
  scene->pace = (tt_pace)keys->pace;
  scene->late_tick = (tt_late_tick)keys->late_ticks;
  scene->on_divergence = (tt_on_divergence)keys->on_divergence;
  scene->dynamics = keys->physics ? *keys->physics : true;
  scene->seed = keys->seed;
  scene->speed = keys->speed ? *keys->speed : 1;
  const char *where;
  tt_key_tell(&(tt_key_note){
      .where = scene->path, .key = "speed", .lower = 0.001, .upper = 1000, .fallback = 1});
  tt_key_tell(
      &(tt_key_note){.where = scene->path, .key = "physics", .word = "on", .fallback = NAN});
  tt_key_tell(&(tt_key_note){
      .where = scene->path, .key = "seed", .upper = (double)UINT64_MAX, .fallback = 0});
  if (scene->speed < 0.001 || scene->speed > 1000) {
    return tt_fail(store->error, TT_INVALID,
                   "%s: speed: %g is out of range; give a factor of 0.001 to 1000", scene->path,
                   scene->speed);
  }
  PRINT(store, where, "%s: duration", scene->path);
  return tt_quantity_check(keys->duration, "", where, TT_TIME, 0, 1e9, 0, &scene->duration,
                           store->error);
}

static tt_status check_sections(tt_scene_store *store) {
  for (int i = 0; store->guests && store->guests->sections[i]; i++) {
    const tt_schema *schema = store->guests->sections[i];
    const char *where;
    PRINT(store, where, "%s: %s", store->scene.path, schema->key);
    if (schema->check) TT_TRY(schema->check(store->keys->sections[i], where, store->error));
  }
  return TT_OK;
}

/** Says of a model's file that its own timestep is another than the scene's, where there is physics to step. */
static tt_status compare_timestep(tt_scene_store *store, const char *file, const char ***next) {
  const tt_scene *scene = &store->scene;
  tt_rational own;
  if (!file || !scene->dynamics || !tt_model_file_timestep(file, &own)) return TT_OK;
  const double theirs = (double)own.num / (double)own.den,
               ours = (double)scene->timestep_num / (double)scene->timestep_den;
  if (fabs(theirs - ours) <= 1e-5 * ours) return TT_OK;
  const char *line;
  PRINT(store, line, "%s: its own timestep of %.9g s is replaced by the scene's %lld/%lld s", file,
        theirs, (long long)scene->timestep_num, (long long)scene->timestep_den);
  for (const char *const *said = scene->replaced; *said; said++)
    if (strcmp(*said, line) == 0) return TT_OK;
  *(*next)++ = line;
  return TT_OK;
}

static tt_status load_replaced(tt_scene_store *store) {
  tt_scene *scene = &store->scene;
  const char **next;
  NEW(store, next, scene->robot_count + 2);
  scene->replaced = next;
  TT_TRY(compare_timestep(store, scene->arena_file, &next));
  for (int i = 0; i < scene->robot_count; i++)
    TT_TRY(compare_timestep(store, scene->robots[i].model_file, &next));
  return TT_OK;
}

/* --- the whole --- */

static tt_status load_all(tt_scene_store *store, tt_document *document, const char *const *settings,
                          int setting_count) {
  if (tt_schemas_new(store->guests, &store->pool, &store->schemas) != TT_OK) {
    tt_document_free(document);
    return tt_load_no_memory(store);
  }
  TT_TRY(read_scene(store, document, settings, setting_count));
  TT_TRY(load_timing(store));
  TT_TRY(load_running(store));
  TT_TRY(tt_load_arena(store));
  TT_TRY(tt_load_robots(store));
  TT_TRY(tt_load_values(store));
  TT_TRY(load_replaced(store));
  TT_TRY(store->guests ? store->guests->load_wires(store) : tt_load_io_period(store));
  return check_sections(store);
}

static tt_status load(tt_scene_store *store, tt_document *document, const char *const *settings,
                      int setting_count) {
  tt_known_keys_begin(&store->known);
  tt_status status = load_all(store, document, settings, setting_count);
  tt_known_keys_end(&store->known);
  return status;
}

static tt_scene_store *new_store(const tt_scene_guests *guests, tt_error *error) {
  tt_scene_store *store = calloc(1, sizeof *store);
  if (!store) return NULL;
  store->error = error;
  store->guests = guests;
  store->known.pool = &store->pool;
  store->known.file = &store->file_count;
  return store;
}

/** Hands the scene over, or explains and cleans up. */
static tt_status finish(tt_scene_store *store, tt_status status, tt_scene **scene) {
  if (status != TT_OK) {
    tt_scene_explain(&store->scene, store->error);
    tt_scene_free(&store->scene);
    return status;
  }
  *scene = &store->scene;
  return TT_OK;
}

tt_status tt_scene_load(const tt_scene_guests *guests, const char *name,
                        const char *const *settings, int setting_count, tt_scene **scene,
                        tt_error *error) {
  *scene = NULL;
  tt_scene_store *store = new_store(guests, error);
  if (!store) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_document *document;
  tt_status status = find_scene(store, name, &document);
  if (status == TT_OK)
    status = load(store, document, settings, setting_count);
  else
    tt_document_free(document);
  return finish(store, status, scene);
}

tt_status tt_scene_parse(const tt_scene_guests *guests, const char *path, const char *text,
                         size_t size, const char *const *settings, int setting_count,
                         tt_scene **scene, tt_error *error) {
  *scene = NULL;
  tt_scene_store *store = new_store(guests, error);
  if (!store) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_document *document = NULL;
  store->scene.path = tt_pool_print(&store->pool, "%s", path);
  tt_status status = store->scene.path ? tt_document_parse(path, text, size, &document, error)
                                       : tt_load_no_memory(store);
  if (status == TT_OK) status = load(store, document, settings, setting_count);
  return finish(store, status, scene);
}

void tt_scene_free(tt_scene *scene) {
  if (!scene) return;
  tt_scene_store *store = (tt_scene_store *)scene;
  for (int i = 0; i < store->file_count; i++) {
    tt_document_release(store->files[i].schema, store->files[i].keys);
    tt_document_free(store->files[i].document);
  }
  tt_known_keys_free(&store->known);
  tt_pool_free(&store->pool);
  free(store);
}

const char *tt_scene_yaml_file(const tt_scene *scene, int index) {
  const tt_scene_store *store = (const tt_scene_store *)scene;
  return index >= 0 && index < store->file_count ? store->files[index].document->path : NULL;
}

const void *tt_scene_section(const tt_scene *scene, const char *key, bool *given) {
  const tt_scene_store *store = (const tt_scene_store *)scene;
  for (int i = 0; store->guests && store->guests->sections[i]; i++) {
    if (strcmp(store->guests->sections[i]->key, key)) continue;
    if (given) *given = store->section_given[i];
    return store->keys->sections[i];
  }
  return NULL;
}

void tt_scene_explain(const tt_scene *scene, tt_error *error) {
  const tt_scene_store *store = (const tt_scene_store *)scene;
  for (int i = 0; i < store->file_count; i++) tt_document_explain(store->files[i].document, error);
}
