/* physics_internal.h: what the files of this room share. Nobody outside includes it. */
#ifndef TT_ENGINE_MUJOCO_PHYSICS_INTERNAL_H
#define TT_ENGINE_MUJOCO_PHYSICS_INTERNAL_H

#include "base/scratch.h"
#include "engine/mujoco/physics.h"

#include <libxml/tree.h>
#include <mujoco/mujoco.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

/* Caps on what a model file may ask for: far above any robot, far below what hurts. */
#define TT_MAX_MODEL_BYTES (16 << 20)
#define TT_MAX_BODIES 5000
#define TT_MAX_GEOMS 20000
#define TT_MAX_MODEL_GIB 6 /* of memory, while it is compiled */
#define TT_PATH_SIZE 4096

/** Prefix of the names of the welds that grippers use; no model's own name begins so. */
#define TT_GRIP_PREFIX "tether:grip:"

/** Prefix of the names of the pairs of numbers under which the model keeps the limits that a URDF states. */
#define TT_LIMIT_PREFIX "tether:limit:"

/** A gripper as compiled. */
typedef struct physics_gripper {
  int equality; /**< index of its weld */
  int body;     /**< that carries it */
  int site;     /**< centre of its reach, or −1: the body's origin */
  double reach; /**< m */
} physics_gripper;

/** A piece of the arena that can be gripped and parked. */
typedef struct physics_piece {
  int body, kind;
  int dof, qpos;             /**< first of its free joint */
  int first_geom, last_geom; /**< its geoms that can collide are among these */
  double radius;             /**< m, of a sphere about the body's origin around all of them */
} physics_piece;

/** A body whose geoms may move among the pieces: of a robot, or of anything else that has joints. */
typedef struct physics_mover {
  int body;
  int first_geom, last_geom;
  int weld, weld_parent; /**< body that it is one with, and the body that carries that */
  double radius;         /**< m, of a sphere about its centre of mass around all that can collide */
} physics_mover;

/** Where a mover may be until the next look around. */
typedef struct physics_sphere {
  double centre[3];
  double coming; /**< m that it may go */
  double reach;  /**< m, with its own radius */
} physics_sphere;

/** What never changes after loading, shared by a world and its clones. */
typedef struct physics_fixed {
  atomic_int references;
  mjModel *model; /**< nobody writes to it once it is described: simulations read it side by side */
  struct physics_start *start;
  int surface_priority; /**< of geoms whose friction is given, over the model's own */
  tt_mechanism info;
  char **strings; /**< owner of every name in info and shapes */
  int string_count, string_capacity;

  double timestep;
  int look_steps; /* between looks around for what parks and wakes */
  int64_t timestep_num, timestep_den;
  bool want_feedback;
  bool limits_drives; /**< some joint has a torque_limit or velocity_limit */
  int contact_capacity;

  int *body_robot; /**< [nbody] */
  int *axis_dof;   /**< [axis_count] */
  int *axis_qpos;  /**< [axis_count]; −1 for axes of balls */
  int *tree_start; /**< [nv] first dof of the tree that a dof belongs to */
  int *tree_size;  /**< [nv] dofs in the tree that a dof belongs to */
  /** [nv + 1] where a dof's row of MuJoCo's mass matrix begins: from its diagonal to the tree's base */
  int *mass_row;
  int *mass_column; /**< [nM] column of each number, counted from its tree's first dof */
  int *geom_contype, *geom_conaffinity; /**< [ngeom] as compiled: parking masks them */
  double *initial_qpos;                 /**< [nq] */
  int *couplings; /**< [coupling_count] equalities that hold joints to others, leaders first */
  int coupling_count;
  double (*initial_root)[7]; /**< [robot_count] pose of each root body in its parent, as compiled */

  physics_gripper *grippers;
  physics_piece *pieces;
  int piece_count;
  int *body_piece;   /**< [nbody] index into pieces, or −1 */
  int *body_geomnum; /**< [nbody] colliding geoms; parking and culling set the model's to zero */
  int *statics;      /**< fixed bodies whose geoms all have bounds */
  int static_count;
  /** the other fixed bodies with geoms that collide: planes, height fields, the world's own */
  int *grounds;
  int ground_count;
  physics_mover *movers;
  int mover_count;
  /** what moves is left out of the search for contacts, too, while nothing is near it */
  bool culls_movers;
  double contact_margin; /**< m: at this distance there may be contacts already */

  tt_value *values;                    /**< what may be changed of the model, for everybody */
  struct physics_value *value_targets; /**< [value_count] where each stands */
  int value_count;
  struct physics_constants *constants; /**< kept, by the values that they follow from */
  pthread_mutex_t constants_lock;

  tt_shape *shapes;
  int shape_count;
  tt_mesh *meshes;
  int mesh_count;
  tt_material *materials;
  int material_count;
  tt_texture *textures;
  int texture_count;
  tt_ray *rays; /**< of the model's own range finders */
  int ray_count;
} physics_fixed;

struct tt_physics {
  /** first: what everybody else sees, with the operations of ops.c; zero before */
  tt_engine engine;
  physics_fixed *fixed;
  mjModel *model; /**< own.c: its mutable arrays are its own, the rest is that of `fixed` */
  mjData *data;
  int64_t step;
  double *qpos; /**< [nq] positions before MuJoCo normalised their quaternions: what decides */

  int *held;               /**< [gripper_count] body, or 0 */
  int32_t *parked;         /**< [piece_count] 1: pinned and without contacts */
  int32_t *rest;           /**< [piece_count] steps at rest so far */
  bool *ready;             /**< [piece_count] scratch of parking */
  physics_sphere *spheres; /**< [mover_count] scratch of culling */

  double *axis_velocity, *axis_position, *axis_torque, *axis_effort; /**< [axis_count] */
  tt_contact *contacts; /**< [contact_capacity] of the step that led here */
  int32_t contact_count, contacts_left_off;
  double *body_wrench;   /**< [nbody][6] force, torque; zeros unless wanted */
  tt_feedback *feedback; /**< [nbody]; zeros unless wanted */

  double *backup; /**< decisive numbers before the step, for a step that diverged */
  double *place;  /**< [nq] positions before placing began, for speeds in concept mode */
  struct physics_servo *servo;
  double *values; /**< [value_count] present */

  /** MuJoCo gave up in the middle of something: `data` is good for nothing until it is made anew */
  bool failed;
  char failure[400]; /**< why */
};

/* Composition (compose.c, options.c, prefix.c, submodel.c, urdf.c, mesh.c, workshop.c), all of it in a program of its own (compiler.h). */

/** What a URDF states for a joint. */
typedef struct physics_limit {
  char *joint;
  double values[2]; /**< torque and velocity; 0: none stated */
} physics_limit;

/** A joint of a URDF that follows another one: multiplier × its position + offset, rad or m. */
typedef struct physics_mimic {
  char *joint, *of;
  double multiplier, offset;
} physics_mimic;

/** One file compiled alone and turned into canonical MJCF. */
typedef struct physics_submodel {
  xmlDoc *document;
  char prefix[128]; /**< "" for the arena */
  const char *file; /**< as the user gave it */
  bool urdf;
  int unknowns; /**< degrees of freedom and equalities */
  mjOption option;
  physics_limit *limits;
  int limit_count;
  physics_mimic *mimics;
  int mimic_count;
} physics_submodel;

/** Work of one load: a temporary folder and what lies in it. */
typedef struct physics_workshop {
  tt_scratch scratch;
  int file_count;
  const char *const *search_path;
  char *at; /**< [TT_PATH_SIZE] the file that is being read, for who asks why the program died */
} physics_workshop;

/** The arena's submodel and one for each robot, with their names only; NULL when out of memory. free() is enough until one is
 *  loaded. */
physics_submodel *physics_submodels_new(const tt_engine_spec *spec);

/** A fresh path in the folder, ending in `suffix`. */
void physics_workshop_path(physics_workshop *shop, const char *suffix, char path[TT_PATH_SIZE]);

/** TT_INVALID with the remedy for XML that is no model. What is no XML is left to who reads it next. */
tt_status physics_check_kind(const char *file, tt_error *error);
/** Compiles a file alone, with the measures of `robot` (NULL: the arena, which has none); `document` becomes its
 *  canonical MJCF with exact inertias and poses. */
tt_status physics_submodel_load(physics_workshop *shop, const char *file,
                                const tt_engine_robot *robot, physics_submodel *submodel,
                                tt_error *error);
/** The text of the MJCF `file` with other measures (measures.c); NULL where none differs from its own. The caller frees. */
tt_status physics_measure(const char *file, const tt_engine_measure *measures, int count,
                          char **text, tt_error *error);
void physics_submodel_free(physics_submodel *submodel);
/** mj_loadXML with errors as a status; serialised, since MuJoCo keeps its last model globally. `text` is what the file
 *  counts to hold, NULL: what it holds. If `canonical` is not NULL the model is saved there as MJCF. `shown` is the
 *  file people know. */
tt_status physics_compile(const char *file, const char *text, const char *shown,
                          const char *canonical, mjModel **model, tt_error *error);
/** What the user's URDF keeps when it is rewritten for MuJoCo. */
typedef enum physics_urdf_care {
  URDF_AS_IT_IS,
  URDF_WITHOUT_VISUALS,   /**< meshes for the eye are often not closed, which MuJoCo refuses */
  URDF_WITH_LEAST_MASSES, /**< moving links without mass get a microgram's worth */
} physics_urdf_care;
/** Where the lines of what was written for MuJoCo come from. */
typedef struct physics_urdf_lines {
  long *of; /**< [count] by line there, from 1: line of the user's file, or 0; the owner frees it */
  long count;
} physics_urdf_lines;
/** Writes a URDF that MuJoCo can read into the workshop; collects the limits of its joints. */
tt_status physics_urdf_prepare(physics_workshop *shop, const char *file, physics_urdf_care care,
                               physics_submodel *submodel, char prepared[TT_PATH_SIZE],
                               physics_urdf_lines *lines, tt_error *error);
/** Makes the line that MuJoCo named, the last in the text, one of the user's file; without one it is cut off. */
void physics_urdf_tell_line(const physics_urdf_lines *lines, tt_error *error);
/** Adds to canonical MJCF that a fixed base does not touch the links joined to it: joined links of a
 *  URDF never do (as in Gazebo and Bullet), but MuJoCo leaves out only pairs of which both move. */
void physics_urdf_exclude_base(xmlNode *root, const mjModel *model);
/** Where the mesh lies that `reference` in the URDF `file` names, package:// or not. */
tt_status physics_mesh_find(const char *const *search_path, const char *file, const char *reference,
                            char path[TT_PATH_SIZE], tt_error *error);
/** Puts the mesh that `reference` names where MuJoCo can read it; `name` is its file name there. */
tt_status physics_mesh_import(physics_workshop *shop, const char *file, const char *reference,
                              char name[TT_PATH_SIZE], tt_error *error);
/** Names what has no name, then prefixes every name and reference of a submodel. */
void physics_prefix(physics_submodel *submodel);
/** Puts the <option> that holds for the world into `root`; says what it replaces of the other models' (options.c). */
void physics_choose_options(xmlNode *root, const tt_engine_spec *spec,
                            const physics_submodel *submodels);
/** Merges arena and robots, adds the grippers' welds and compiles. */
tt_status physics_compose(physics_workshop *shop, const tt_engine_spec *spec,
                          physics_submodel *submodels, mjModel **model, tt_error *error);

/** The attribute's text inside the document, or NULL; unlike xmlGetProp nothing to free. */
const char *physics_attribute(const xmlNode *node, const char *name);
xmlNode *physics_first_child(const xmlNode *node, const char *name);
bool physics_is(const xmlNode *node, const char *name);
void physics_set_numbers(xmlNode *node, const char *name, const double *numbers, int count);

/* Hooks (hooks.c). */

/** Where MuJoCo's errors in this thread lead between physics_jump_open() and physics_jump_close(); they may be nested.
 *
 *    physics_jump_open(&jump);
 *    if (setjmp(jump.back) == 0) work();
 *    physics_jump_close(&jump);
 *    if (jump.failed) …
 */
typedef struct physics_jump {
  jmp_buf back;
  struct physics_jump *outer;
  bool failed;
  char text[300]; /**< MuJoCo's own */
} physics_jump;
void physics_jump_open(physics_jump *jump);
void physics_jump_close(physics_jump *jump);
/** Runs `work(context)`; false with a text when MuJoCo called its error handler meanwhile. */
bool physics_guard(void (*work)(void *context), void *context, char *text, size_t size);
/** Whether memory for three such pieces is there. */
bool physics_is_there(size_t first, size_t second, size_t third);
/** Once a process, before anything of MuJoCo is called. */
void physics_hooks_install(void);

/** Files that MuJoCo reads from memory: none yet, as after mj_defaultVFS(); NULL: out of memory (vfs.c). */
mjVFS *physics_vfs_new(void);
/** With the files that are in it; NULL is allowed. */
void physics_vfs_free(mjVFS *files);

/* Description (describe.c, shapes.c, looks.c, torque.c). */
tt_status physics_describe(physics_fixed *fixed, const mjModel *model, const tt_engine_spec *spec,
                           const physics_submodel *submodels, tt_error *error);
/** The text, owned by `fixed`; NULL: out of memory (keep.c). */
const char *physics_keep(physics_fixed *fixed, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
tt_status physics_shapes_build(physics_fixed *fixed, const mjModel *model);
tt_status physics_looks_build(physics_fixed *fixed, const mjModel *model);
/** Sets the limits of every joint: max_torque from actuators, the URDF's effort, or an estimate. */
void physics_joint_limits(const mjModel *model, tt_joint *joints);

/* Joints held to others (couple.c). */

/** Notes what holds joints to others, and begins with them there. After the trees are described. */
tt_status physics_couple(physics_fixed *fixed, const mjModel *model);
/** Puts joints of `qpos` where those that they are held to have them. */
void physics_follow(const physics_fixed *fixed, const mjModel *model, double *qpos);

/* Limits of drives (limits.c). */

/** Notes whether any joint has limits of its own. */
void physics_note_limits(physics_fixed *fixed);
/** What the limits of an axis' joint leave of a drive at the present velocity. */
tt_drive physics_limit_drive(const tt_physics *p, int axis, const tt_drive *drive);

/* Surfaces (surface.c), advice (advice.c). */

/** Priority of geoms whose friction is given. Before any is. */
int physics_surface_priority(const mjModel *model);
/** Friction that the files of robots and arena give to bodies. TT_INVALID: no such body. */
tt_status physics_set_surfaces(mjModel *model, const tt_engine_spec *spec, int priority,
                               tt_error *error);
/** Friction of all geoms of a body. */
void physics_set_surface(mjModel *model, const tt_engine_surface *from, int body, int geoms,
                         int priority);
/** Tells people of a URDF that looks mobile and stands fixed. Logs. */
void physics_advise(const tt_physics *p, const tt_engine_spec *spec);

/* Stops (stops.c). */

/** Parameters of a constraint as stiff as MuJoCo allows: nearly the whole error of velocity is gone after one step, and
 *  1 / (4 × `damping`²) of an error of position; `damping` is the ratio to critical. */
void physics_stiff(const mjModel *model, double damping, double reference[mjNREF],
                   double impedance[mjNIMP]);
/** Makes the stops of joints and tendons as hard as the timestep allows where the model's file leaves them as MuJoCo's default. After
 *  the timestep is set. */
void physics_harden_stops(mjModel *model);

/* Values (values.c). */

/** Lists what may be changed. After bodies, joints and actuators are described. */
tt_status physics_values_describe(physics_fixed *fixed, const mjModel *model);
void physics_values_free(physics_fixed *fixed);

/* What a simulation has of its own (own.c). */

/** Arrays of a model that change while a simulation runs; X(array, count of its elements in the model `m`). */
#define PHYSICS_RUN_ARRAYS(X)                                                                      \
  X(body_pos, 3 * m->nbody)                                                                        \
  X(body_quat, 4 * m->nbody)                                                                       \
  X(body_geomnum, m->nbody)                                                                        \
  X(geom_contype, m->ngeom)                                                                        \
  X(geom_conaffinity, m->ngeom)                                                                    \
  X(eq_active, m->neq)                                                                             \
  X(eq_obj2id, m->neq)                                                                             \
  X(eq_data, mjNEQDATA * m->neq)                                                                   \
  X(dof_solref, mjNREF * m->nv)                                                                    \
  X(dof_solimp, mjNIMP * m->nv)
/** Those that values set (dof_frictionloss changes while servos are rows, too). */
#define PHYSICS_VALUE_ARRAYS(X)                                                                    \
  X(body_mass, m->nbody)                                                                           \
  X(body_inertia, 3 * m->nbody)                                                                    \
  X(geom_condim, m->ngeom)                                                                         \
  X(geom_priority, m->ngeom)                                                                       \
  X(geom_friction, 3 * m->ngeom)                                                                   \
  X(pair_dim, m->npair)                                                                            \
  X(pair_friction, 5 * m->npair)                                                                   \
  X(jnt_stiffness, m->njnt)                                                                        \
  X(dof_frictionloss, m->nv)                                                                       \
  X(dof_damping, m->nv)                                                                            \
  X(dof_armature, m->nv)                                                                           \
  X(actuator_gear, 6 * m->nu)
/** Those that MuJoCo's compiler makes of masses, armatures and gears. */
#define PHYSICS_CONSTANT_ARRAYS(X)                                                                 \
  X(body_subtreemass, m->nbody)                                                                    \
  X(body_invweight0, 2 * m->nbody)                                                                 \
  X(dof_M0, m->nv)                                                                                 \
  X(dof_invweight0, m->nv)                                                                         \
  X(tendon_invweight0, m->ntendon)                                                                 \
  X(actuator_length0, m->nu)                                                                       \
  X(actuator_acc0, m->nu)

/** Data as MuJoCo's reset leaves them, once for all simulations of a model. */
typedef struct physics_start physics_start;
tt_status physics_start_new(const mjModel *model, physics_start **start);
/** NULL-safe. */
void physics_start_free(physics_start *start);
/** A model that shares with `model`, which outlives it, all that no simulation changes. NULL: out of memory. */
mjModel *physics_own_model(const mjModel *model);
/** NULL-safe. */
void physics_own_model_free(mjModel *own);
/** Reset data, of which only what is touched takes memory. NULL: out of memory. */
mjData *physics_own_data(const physics_start *start);
/** NULL-safe. */
void physics_own_data_free(mjData *data, const physics_start *start);
/** What mj_resetData() does, at the cost of what was touched; also when MuJoCo gave up in the middle of something. */
void physics_reset_data(tt_physics *p);

/* Running. */
tt_status physics_new(physics_fixed *fixed, tt_physics **physics);

/* Kinematics (kinematics.c). */

/** Positions and velocities as they stand → kinematics, contacts and sensors. */
void physics_kinematics(tt_physics *p);
/** The time of the present step, s, exactly. */
void physics_set_time(tt_physics *p);
/** Positions, velocities, masks and welds as they stand → all of the above, with nothing left out of the search for
 *  contacts. */
void physics_refresh(tt_physics *p);
/** Positions and velocities of the axes. */
void physics_read_axes(tt_physics *p);

/* Drives (servo.c). */
tt_status physics_servo_new(tt_physics *p);
void physics_servo_free(tt_physics *p);
/** Before the constraints are solved: torques as they are; velocities solved and clamped, or made
 *  rows of the constraint solver. */
void physics_apply_drives(tt_physics *p, const tt_drive *drives);
/** After they are solved: reads the torques and takes the rows out of the model again. */
void physics_finish_drives(tt_physics *p);
bool physics_servos_are_rows(const tt_physics *p);
/** Takes the rows out of the model where a failure left them. */
void physics_servo_withdraw(tt_physics *p);

/* What is near, and what may come (reach.c). */

/** Distance (m) of a point from the surface of a geom; negative or zero inside. Exact for spheres,
 *  capsules, boxes and cylinders, a bound from below for the rest. */
double physics_point_distance(const tt_physics *p, int geom, const double point[3]);
/** How far (m) a point of a body within `radius` of its centre can go in `interval` s, with a reserve. */
double physics_coming(const tt_physics *p, int body, double radius, double interval);

/* The search for contacts (cull.c). */

/** Leaves bodies out of it that nothing can reach within `interval` s. */
void physics_cull(tt_physics *p, double interval);
/** All are in it again. */
void physics_cull_nothing(tt_physics *p);

/* Parking (park.c). */

/** How many steps pass between looks around. */
int physics_look_steps(double timestep);
/** After a step: pieces that rest are parked, and those wake that something comes near. */
void physics_park_step(tt_physics *p);
/** Before a step: whether a piece may be parked after it, which goes on showing what it touched then. */
bool physics_parks_soon(const tt_physics *p);
/** Before the forces are solved: parked pieces stay where they are. */
void physics_park_pin(tt_physics *p);
/** A piece that is to be moved wakes; nothing where it is awake. */
void physics_unpark(tt_physics *p, int piece);
/** The geoms of a piece collide, or don't, as `parked` says. */
void physics_park_masks(tt_physics *p, int piece);

/* Grips and views (grip.c, view.c). */

/** Pose of the gripped body in the gripper's frame, from its weld. */
void physics_held_pose(const tt_physics *p, int gripper, double position[3], double rotation[4]);
/** What a gripper holds is free; nothing where it holds nothing. */
void physics_let_go(tt_physics *p, int gripper);
/** Velocity of a point of a body, m/s: what mj_objectVelocity gives, to the bit, without its detours. */
void physics_velocity(const tt_physics *p, int body, const double at[3], double velocity[3]);
void physics_capture(tt_physics *p);
void physics_capture_clear(tt_physics *p);

#endif
