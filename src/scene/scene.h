/* scene.h: a loaded scene: plain, checked structs, in SI, with every default filled in and every path resolved.
 *
 * Everything belongs to the tt_scene and lives as long as it does. Keys, types, units and defaults are
 * documented in docs/scene.md.
 */
#ifndef TT_SCENE_SCENE_H
#define TT_SCENE_SCENE_H

#include "scene/guests.h"
#include "game/driver_station.h"
#include "game/field.h"
#include "base/status.h"
#include "model/timing.h"
#include "model/engine.h"
#include "robot/robot.h"

#include <stdbool.h>
#include <stdint.h>

/** A part of a robot: one element of `motors`, `encoders`, … of its file. */
typedef struct tt_scene_part {
  const tt_schema *schema; /**< tt_part_schemas[kind] */
  int kind;
  const char *where;  /**< "robots/frc2011/robot.yaml: motors[0]" */
  const void *config; /**< the part's own struct, checked */
} tt_scene_part;

typedef struct tt_scene_robot {
  const char *name;
  const char *where;      /**< "scenes/a.yaml: robots[0]" */
  const char *file;       /**< its robot.yaml, or NULL where the scene names a model itself */
  const char *folder;     /**< where the files that its parts name are looked up */
  const char *model_file; /**< MJCF or URDF */
  const char *alliance;   /**< "red", "blue" or "" */
  double x, y, z;         /**< m */
  double heading;         /**< rad */
  bool floating;          /**< URDF: give the base a free joint */
  bool base_decided;      /**< `floating` was given */
  /** by kind in the order of tt_part_schemas, then in the order of the file */
  const tt_scene_part *parts;
  int part_count;
  const tt_engine_joint *joints;
  const tt_engine_surface *surfaces;
  const tt_engine_measure *measures;
  int joint_count, surface_count, measure_count;
} tt_scene_robot;

/** A value of a model that the scene sets (`models`); only the compiled model knows what it means. */
typedef struct tt_scene_value {
  const char *name;  /**< "models.gripper.joints.swivel.damping" */
  const char *text;  /**< a quantity */
  const char *where; /**< "scenes/a.yaml: models.gripper.joints.swivel.damping" */
} tt_scene_value;

typedef struct tt_scene {
  const char *path;                   /**< the scene's file */
  const char *folder;                 /**< that it stands in */
  const char *description;            /**< one line; "" when absent */
  int64_t timestep_num, timestep_den; /**< s, lowest terms */
  const char *const *replaced;        /**< what models say that the scene replaces: lines for
                                           people, NULL-terminated */
  /** sections of machine.h that its own file has, "record, web"; "" where it has
   *  none. What settings alone give does not count */
  const char *machine;
  uint64_t io_steps; /**< steps a tick */
  tt_pace pace;
  double speed;
  tt_late_tick late_tick;
  tt_on_divergence on_divergence;
  bool dynamics; /**< physics: on */
  uint64_t seed;
  double duration;                /**< s simulated; 0: no end */
  const char *arena_file;         /**< MJCF, or NULL: an empty floor */
  tt_field field;                 /**< of the arena, as run logs give poses */
  bool reads_forces;              /**< some wire reads contact and joint forces */
  const char *const *search_path; /**< folders for package:// and meshes, NULL-terminated */
  const tt_engine_piece *pieces;
  const tt_engine_surface *surfaces; /**< of the arena's bodies */
  const tt_painted_line *lines;
  const tt_driver_place *places; /**< of drivers, each station at most once */
  const tt_scene_value *values;  /**< in the order given: the last of a name holds */
  int value_count;
  const tt_scene_robot *robots;
  /** of src/host, where the scene was loaded with it; or NULL */
  const struct tt_scene_wire *wires;
  int piece_count, surface_count, line_count, place_count, robot_count, wire_count;
} tt_scene;

/** Loads and checks a scene: `guests` has the sections of others, or is NULL; it outlives the scene. `name` is a file or the name of one in scenes/, `settings` are PATH=VALUE texts of
 *  --set, applied in order. On failure `*scene` is NULL and `error` (not NULL) says place, reason and remedy (TT_INVALID;
 *  TT_USAGE where a setting has no '='). */
tt_status tt_scene_load(const tt_scene_guests *guests, const char *name,
                        const char *const *settings, int setting_count, tt_scene **scene,
                        tt_error *error);
/** The same from text in memory; what it names is looked up as if it stood in the file `path`. */
tt_status tt_scene_parse(const tt_scene_guests *guests, const char *path, const char *text,
                         size_t size, const char *const *settings, int setting_count,
                         tt_scene **scene, tt_error *error);
void tt_scene_free(tt_scene *scene);

/** The scene's own file, its arena's and its robots', in the order they were read; NULL past the last. */
const char *tt_scene_yaml_file(const tt_scene *scene, int index);

/** The struct of a guest's section, checked and with its defaults even where the scene leaves it
 *  out; `given` (may be NULL) tells which. NULL when there is no such section. */
const void *tt_scene_section(const tt_scene *scene, const char *key, bool *given);

/** Adds the line (or the --set) to an error that begins with a `where` of this scene, for errors that come
 *  later than loading, as those of names. */
void tt_scene_explain(const tt_scene *scene, tt_error *error);

#endif
