/* keys.h: the simulation's own keys of scene, robot and arena files, and the schemas assembled from them and from every
 * adapter's. The structs are what libcyaml fills; load*.c check them and make a tt_scene of them. */
#ifndef TT_SCENE_KEYS_H
#define TT_SCENE_KEYS_H

#include "scene/guests.h"
#include "scene/pool.h"

/** One of `robots`. */
typedef struct tt_robot_entry_keys {
  char *robot, *name, *alliance, *x, *y, *z, *heading;
  bool *floating;
} tt_robot_entry_keys;

/** The fixed part of a scene; behind it stands a pointer for each section. */
typedef struct tt_scene_keys {
  char *description, *arena, *timestep, *io_period, *duration;
  int pace, late_ticks, on_divergence;
  double *speed;
  bool *physics;
  uint64_t seed;
  char **search_path;
  tt_robot_entry_keys *robots;
  void **wires; /**< count × protocols pointers, one of each row set */
  unsigned search_path_count, robots_count, wires_count;
  void *sections[];
} tt_scene_keys;

/** The elements of one kind of part, as libcyaml makes them: one array. */
typedef struct tt_part_list {
  void *items;
  unsigned count;
} tt_part_list;

/** The limits of a joint. */
typedef struct tt_joint_keys {
  char *name, *max_torque, *max_velocity;
} tt_joint_keys;

/** The surface of a body. */
typedef struct tt_body_keys {
  char *name, *torsional_friction, *rolling_friction;
  double friction;
} tt_body_keys;

/** A measure that the robot's model declares. */
typedef struct tt_measure_keys {
  char *name, *value;
} tt_measure_keys;

/** The fixed part of a robot's file; behind it stands a list for each kind of part. */
typedef struct tt_robot_keys {
  char *description, *model;
  bool *floating;
  tt_joint_keys *joints;
  tt_body_keys *bodies;
  tt_measure_keys *measures;
  unsigned joints_count, bodies_count, measures_count;
  tt_part_list parts[];
} tt_robot_keys;

/** A game piece of an arena. */
typedef struct tt_piece_keys {
  char *body;
  int kind;
} tt_piece_keys;

/** A line on the floor. */
typedef struct tt_line_keys {
  char *x1, *y1, *x2, *y2, *width, *color;
  double darkness;
} tt_line_keys;

/** Where the field's frame lies in the arena's. */
typedef struct tt_field_keys {
  char *x, *y, *heading;
} tt_field_keys;

/** Where a driver stands. */
typedef struct tt_station_keys {
  char *place, *x, *y, *heading;
} tt_station_keys;

/** An arena's file. */
typedef struct tt_arena_keys {
  char *description, *model;
  tt_field_keys *field;
  tt_piece_keys *pieces;
  tt_line_keys *lines;
  tt_station_keys *stations;
  tt_body_keys *bodies;
  unsigned pieces_count, lines_count, stations_count, bodies_count;
} tt_arena_keys;

/** The schemas of the three kinds of file. */
typedef struct tt_schemas {
  const cyaml_schema_value_t *scene, *robot, *arena;
} tt_schemas;

/** Sections that may stand in a scene although nobody here knows more of them. NULL-terminated. */
extern const char *const tt_guest_keys[];

/** Assembles them from the simulation's own keys and those of parts and `guests` (NULL: none), in the pool. TT_NOMEM. */
tt_status tt_schemas_new(const tt_scene_guests *guests, tt_pool *pool, tt_schemas *schemas);

/** Calls `visit` with every key of all three kinds of file, for documentation and tests: `file` is "scene",
 *  "robot" or "arena", `path` the key with its parents ("wires.float-udp.bind"). */
void tt_keys_visit(const tt_schemas *schemas,
                   void (*visit)(void *context, const char *file, const char *path,
                                 const cyaml_schema_value_t *value),
                   void *context);
/** The same with every key of one schema. */
void tt_keys_visit_schema(const char *file, const cyaml_schema_value_t *schema,
                          void (*visit)(void *context, const char *file, const char *path,
                                        const cyaml_schema_value_t *value),
                          void *context);

#endif
