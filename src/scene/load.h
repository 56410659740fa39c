/* load.h: what the parts of loading a scene share: the tt_scene under construction, its memory, its files and the
 * checks of single values. scene.c names the stages; load_arena.c and load_robots.c are two of them.
 *
 * Each function says what is wrong in store->error, with file and key; what it allocates belongs to the scene.
 */
#ifndef TT_SCENE_LOAD_H
#define TT_SCENE_LOAD_H

#include "scene/data.h"
#include "scene/keys.h"
#include "scene/known_keys.h"
#include "scene/pool.h"
#include "scene/rational.h"
#include "scene/scene.h"
#include "scene/tree.h"

/** One YAML file of a scene with the struct that libcyaml made of it. */
typedef struct tt_loaded {
  tt_document *document;
  const cyaml_schema_value_t *schema;
  void *keys;
} tt_loaded;

/** A setting of a key in the file of a robot. */
typedef struct tt_robot_setting {
  int robot;              /**< index */
  const char *assignment; /**< PATH=VALUE, as given */
  size_t skip;            /**< bytes of PATH that lead to the robot */
} tt_robot_setting;

/** What stands behind a tt_scene, which is its first member. */
typedef struct tt_scene_store {
  tt_scene scene;
  tt_pool pool;
  /** Scene, arena, and a file for each robot, also where robots share one. */
  tt_loaded files[2 + TT_MAX_ROBOTS];
  int file_count;
  const tt_scene_guests *guests; /**< or NULL */
  tt_schemas schemas;
  tt_scene_keys *keys;
  bool *section_given;
  tt_robot_setting *robot_settings;
  int robot_setting_count;
  tt_known_keys known;
  tt_error *error;
} tt_scene_store;

/** Zeroed memory for `count` things in `target`, or a return with TT_NOMEM. */
#define NEW(store, target, count)                                                                  \
  do {                                                                                             \
    (target) = tt_pool_new(&(store)->pool, (size_t)(count), sizeof *(target));                     \
    if (!(target)) return tt_load_no_memory(store);                                                \
  } while (0)

/** Text as printf makes it in `target`, or a return with TT_NOMEM. */
#define PRINT(store, target, ...)                                                                  \
  do {                                                                                             \
    (target) = tt_pool_print(&(store)->pool, __VA_ARGS__);                                         \
    if (!(target)) return tt_load_no_memory(store);                                                \
  } while (0)

/** TT_NOMEM, and said so in the error of the load. */
tt_status tt_load_no_memory(const tt_scene_store *store);

/* Files */

/** The path of a file of this kind that the value at `where` names in the file `including`. */
tt_status tt_load_find(tt_scene_store *store, const tt_data_kind *kind, const char *name,
                       const char *including, const char *where, const char **path);
/** A model that a YAML file names: next to that file, or absolute. */
tt_status tt_load_find_model(tt_scene_store *store, const char *model, const char *including,
                             const char **path);
/** Checks a document against a schema and fills `*keys`; takes the document, also when it fails. */
tt_status tt_load_document(tt_scene_store *store, tt_document *document,
                           const cyaml_schema_value_t *schema, void **keys);
/** The same for the file at `path`, which is that of a `noun` ("robot"). */
tt_status tt_load_yaml(tt_scene_store *store, const char *path, const char *noun,
                       const cyaml_schema_value_t *schema, void **keys);
/** The folder that a path's file stands in; NULL when out of memory. */
const char *tt_load_folder(tt_scene_store *store, const char *path);
/** By its ending: .yaml or .yml. */
bool tt_load_is_yaml(const char *path);

/** Keeps `assignment` for the file of the robot whose key it sets, `*taken`; or leaves it to the scene's own keys. */
tt_status tt_load_robot_setting(tt_scene_store *store, const tt_document *document,
                                const char *assignment, bool *taken);

/* Single values */

/** An exact time above zero, in s. */
tt_status tt_load_time(tt_scene_store *store, const char *text, const char *where,
                       tt_rational *value);
/** Tells that an exact time stands at `where`: s, not finite: it follows from others. */
void tt_load_tell_time(const char *where, double fallback);
/** A time as a whole number of steps, or an error that names the nearest ones. After the timestep is known. */
tt_status tt_load_steps(tt_scene_store *store, const char *text, const char *where,
                        uint64_t *steps);
/** Letters, digits, '_' and '-', and those in `extra`: names become parts of signal names and paths. */
tt_status tt_load_check_name(const tt_scene_store *store, const char *name, const char *extra,
                             const char *where);
/** Refuses an entry of a list, called `name`, where the one at index `k` is called the same. */
tt_status tt_load_check_apart(const tt_scene_store *store, const char *where, const char *name,
                              unsigned k, const char *other);

/** The `bodies` of a robot's or an arena's file. */
tt_status tt_load_surfaces(tt_scene_store *store, const tt_body_keys *keys, unsigned count,
                           const char *file, const tt_engine_surface **surfaces);

/* Stages, in this order */

/** The scene's arena; it has none where none is named. */
tt_status tt_load_arena(tt_scene_store *store);
/** After the arena. */
tt_status tt_load_robots(tt_scene_store *store);
/** `models`, of the scene's own file. */
tt_status tt_load_values(tt_scene_store *store);
/** The interval between exchanges: the scene's key, else what tt_scene.io_steps is by now, else 10 ms. The wires' own
 *  stage comes here too (tt_scene_guests), after the robots, which they name, and the timestep. */
tt_status tt_load_io_period(tt_scene_store *store);

#endif
