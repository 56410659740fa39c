/* tether.h: the simulation as a library: scenes, simulations of them, batches of simulations.
 *
 *   tether_error error;
 *   tether_scene *scene;
 *   tether_sim *sim;
 *   tether_handle swivel, angle;
 *   if (tether_scene_load("gripper", NULL, 0, &scene, &error) ||
 *       tether_sim_new(scene, &sim, &error) ||
 *       tether_command_find(sim, "swivel.velocity", NULL, &swivel, &error) ||
 *       tether_signal_find(sim, "swivel.position", "deg", &angle, &error)) …
 *
 * A function that can fail returns a tether_status, 0 for success; one that takes a tether_error (which may be NULL) fills it with
 * the place, the reason and the remedy. Nothing here prints, exits, aborts, installs a signal handler, reads the environment,
 * or changes the current folder, the locale, or the floating-point environment of the caller.
 *
 * Threads: a scene may be used by any number of threads. A simulation or batch belongs to one thread at a time; a call that
 * changes or saves it while another thread is in one returns TETHER_BUSY and changes nothing. Reading is not guarded: what is
 * read meanwhile may be half of a step. Freeing is not guarded either: nobody may be in what is freed. A batch that works uses
 * all its simulations. Calls block only where it is said.
 *
 * Values are SI (m, rad, s, kg, N, N·m) unless a handle was resolved with a unit. Frames are right-handed, Z up; poses are
 * in the arena's frame, quaternions w x y z. Arrays are the caller's, of doubles, without gaps.
 *
 * Same scene, seed and inputs give the same bits, on any number of threads, on machines of one kind of processor with the
 * same libraries.
 */
#ifndef TETHER_TETHER_H
#define TETHER_TETHER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TETHER_API __attribute__((visibility("default")))
#else
#define TETHER_API
#endif

/** Of this header. The library's own: tether_version(). Semantic: another major number is another interface. */
#define TETHER_VERSION_MAJOR 0
#define TETHER_VERSION_MINOR 1

typedef enum tether_status {
  TETHER_OK = 0,
  TETHER_INVALID = 1, /**< an argument, a file or a value in it is wrong */
  /** the machine failed, or the engine in a simulation: reset or restore that one, or free it */
  TETHER_FAILED = 3,
  TETHER_NO_MEMORY = 4, /**< the call changed nothing */
  TETHER_NOT_FOUND = 5, /**< no such name; the error has the nearest one */
  /** the simulation stands before the step that diverged: reset or restore it, or free it */
  TETHER_DIVERGED = 11,
  TETHER_OTHER_VERSION = 12, /**< a saved state of another version */
  TETHER_BUSY = 14,          /**< another thread is using it */
  /** the caller's tether_interrupt ended the call: fewer steps were made */
  TETHER_INTERRUPTED = 15,
} tether_status;

/** What went wrong, for the person who can mend it. Always terminated; empty after success. */
typedef struct tether_error {
  char text[1024];
} tether_error;

typedef struct tether_scene tether_scene;
typedef struct tether_sim tether_sim;
typedef struct tether_batch tether_batch;

/** A signal or command of one simulation's scene, resolved once: plain data, valid in every simulation of that scene. Scenes
 *  whose signals, commands and values have the same names share their handles; those of another scene are refused. */
typedef struct tether_handle {
  uint32_t kind, index;
  double scale; /**< SI per unit */
} tether_handle;

/** "0.1.0". Static. */
TETHER_API const char *tether_version(void);
/** What a status means, in one sentence without a period. Static; never NULL. */
TETHER_API const char *tether_status_text(tether_status status);

/** Warnings go here, one line each; `callback` NULL: nowhere (the default). Process-wide; set it before
 *  the first scene. It may be called from any thread that is in a function of this library, and from a recording's own. `level`: 0 error, 1 warning, 2 information. */
typedef void tether_log(void *context, int level, const char *line);
TETHER_API void tether_set_log(tether_log *callback, void *context);

/* --- scenes --- */

/** A folder with scenes/, robots/ and arenas/, in which bare names are looked up before share/tether beside the library.
 *  Process-wide, before the first scene; NULL: none. TETHER_INVALID: the path is too long. */
TETHER_API tether_status tether_set_data(const char *folder);

/** The program that compiles models, by its absolute path; NULL: libexec/tether/compile-model of the prefix that the library
 *  is installed in. Process-wide, before the first simulation. TETHER_INVALID: not absolute, or too long. */
TETHER_API tether_status tether_set_compiler(const char *program);

/** Name of the `index`-th scene, from 0, that tether_scene_load() finds by a bare name: those of tether_set_data(), then the
 *  shipped ones, each once. Copied into `name` [size], cut where it is longer. Reads folders. TETHER_NOT_FOUND: no more. */
TETHER_API tether_status tether_scene_name(int index, char *name, size_t size);
/** Loads and checks a scene: `name` is a file (.yaml, or a model .xml or .urdf), or the name of a shipped one
 *  (tether_set_data()). `settings` are [setting_count] texts PATH=VALUE, as
 *  `tether run --set` takes them. Sections of others (wires, web, telemetry, record) are not looked into. Reads files; models
 *  are compiled by tether_sim_new(). TETHER_INVALID: with file, line and remedy. */
TETHER_API tether_status tether_scene_load(const char *name, const char *const *settings,
                                           int setting_count, tether_scene **scene,
                                           tether_error *error);
/** The scene goes when its last simulation is freed. NULL-safe. */
TETHER_API void tether_scene_free(tether_scene *scene);
/** One line; "" where the scene has none. The scene's. */
TETHER_API const char *tether_scene_description(const tether_scene *scene);
/** s. */
TETHER_API double tether_scene_timestep(const tether_scene *scene);

/** The line that a scene found by `name` describes itself with; "" where it has none. Copied into `title` [size], cut where it
 *  is longer. Loads the scene for that; status and error are those of tether_scene_load(). */
TETHER_API tether_status tether_scene_title(const char *name, char *title, size_t size,
                                            tether_error *error);

/** What may stand at a key of a scene. */
typedef enum tether_setting_kind {
  TETHER_SETTING_TEXT = 0,
  TETHER_SETTING_QUANTITY = 1, /**< a number with a unit, as "10 ms"; without one it is SI */
  TETHER_SETTING_NUMBER = 2,
  TETHER_SETTING_COUNT = 3, /**< a whole number */
  TETHER_SETTING_FLAG = 4,  /**< on or off */
  TETHER_SETTING_WORD = 5,  /**< one of `words` */
  TETHER_SETTING_LIST = 6   /**< [a, b] */
} tether_setting_kind;

/** A key that the `settings` of tether_scene_load() may set. Its texts are the scene's. */
typedef struct tether_setting {
  const char *path; /**< before the '=': "robots.gripper.x" */
  /** "" the scene itself; "robots.gripper", "wires.float-udp", "web": what the key is of */
  const char *owner;
  const char *unit;  /**< SI; "" where there is none, or only the model tells it */
  const char *words; /**< "realtime, lockstep, fast"; "" where others may stand there */
  /** what holds where the key is left out; "" where nothing does, or it follows from others */
  const char *initial;
  const char *value; /**< what holds now, as text; "" likewise */
  tether_setting_kind kind;
  int is_known; /**< 0: of a section of a program (wires, web, telemetry, record, nt4, foxglove, game), which is kept, and not checked */
  double lower, upper; /**< outside is refused; infinite where no bound is told */
} tether_setting;

/** The `index`-th key, from 0: all that the scene and its robots' files may have, and of sections of programs those that stand
 *  there. Values of the models are not among them (tether_sim_value_item()): only the compiled models know those.
 *  TETHER_NOT_FOUND: no more. TETHER_NO_MEMORY, with the first call for a scene. */
TETHER_API tether_status tether_scene_setting(tether_scene *scene, int index,
                                              tether_setting *setting);

/* --- simulations --- */

/** A simulation in its initial state, with the scene's own seed. The first of a scene compiles its models (blocks, up to
 *  seconds); the others are clones of that. Models that were compiled in this process before, of the same files and settings,
 *  are not compiled again: the bits are the same. Up to 64 MiB of them are kept. */
TETHER_API tether_status tether_sim_new(tether_scene *scene, tether_sim **sim, tether_error *error);
/** A second one in the same state, with the same seed; what happens to one does not touch the other. */
TETHER_API tether_status tether_sim_clone(tether_sim *sim, tether_sim **clone, tether_error *error);
/** NULL-safe. */
TETHER_API void tether_sim_free(tether_sim *sim);

/** Back to the initial state. `seed` decides all chance from here on (sensor noise); the scene's own: NULL. */
TETHER_API tether_status tether_sim_reset(tether_sim *sim, const uint64_t *seed,
                                          tether_error *error);
/** Makes `steps` > 0 timesteps under the commands in force, then senses. TETHER_DIVERGED, TETHER_FAILED: so does every
 *  further call until a reset or a restore; signals are as they were after the call before. */
TETHER_API tether_status tether_sim_step(tether_sim *sim, int64_t steps, tether_error *error);

/** Whether a call that makes many steps is to end early: not 0 ends it. Asked about every 50 ms, on the thread that made
 *  the call; what it is asked about is in use meanwhile (TETHER_BUSY). */
typedef int tether_interrupt(void *context);
/** From now on tether_sim_step() and tether_sim_exchange() ask `callback`; NULL (the default): nobody. An interrupted call
 *  returns TETHER_INTERRUPTED; the simulation stands after fewer steps (tether_sim_steps()), is sensed, and can go on. */
TETHER_API tether_status tether_sim_set_interrupt(tether_sim *sim, tether_interrupt *callback,
                                                  void *context, tether_error *error);

/** Simulated time since the last reset, s, and in steps. */
TETHER_API double tether_sim_time(const tether_sim *sim);
TETHER_API uint64_t tether_sim_steps(const tether_sim *sim);
/** Of what decides the future but counters and the seed: equal states, equal hashes. */
TETHER_API uint64_t tether_sim_hash(const tether_sim *sim);

/** Bytes of a saved state: the same for all simulations of a scene. */
TETHER_API size_t tether_sim_state_size(const tether_sim *sim);
/** Writes the whole state into `state`, [tether_sim_state_size()]. */
TETHER_API tether_status tether_sim_save(const tether_sim *sim, void *state, size_t size,
                                         tether_error *error);
/** Goes on from a saved state of the same scene, bit for bit: with the seed of the simulation that was saved.
 *  TETHER_INVALID (also: its bytes were changed) or TETHER_OTHER_VERSION: nothing changed. */
TETHER_API tether_status tether_sim_restore(tether_sim *sim, const void *state, size_t size,
                                            tether_error *error);

/* --- commands and signals --- */

/** Something that can be listed: a signal, a command, or a value of a model. Its texts are the simulation's. */
typedef struct tether_item {
  const char *name;    /**< as handles are found by */
  const char *unit;    /**< SI; "1" for counts, flags and ratios */
  const char *robot;   /**< that it belongs to; "" for the arena's and the world's */
  double lower, upper; /**< of a command or value: outside is refused; ±infinity for signals */
} tether_item;

/** How many there are: the same for every simulation of a scene. */
TETHER_API int tether_sim_signal_count(const tether_sim *sim);
TETHER_API int tether_sim_command_count(const tether_sim *sim);
/** The `index`-th, from 0, in an order that is the same for every simulation of the scene. TETHER_NOT_FOUND: no more. */
TETHER_API tether_status tether_sim_signal_item(const tether_sim *sim, int index,
                                                tether_item *item);
TETHER_API tether_status tether_sim_command_item(const tether_sim *sim, int index,
                                                 tether_item *item);

/** Resolves a name. `unit`: of the values to come, one of the signal's dimension; NULL: SI. With one robot its name may be
 *  left out. */
TETHER_API tether_status tether_signal_find(const tether_sim *sim, const char *name,
                                            const char *unit, tether_handle *handle,
                                            tether_error *error);
TETHER_API tether_status tether_command_find(const tether_sim *sim, const char *name,
                                             const char *unit, tether_handle *handle,
                                             tether_error *error);

/** Sets [count] commands, all or none: a value that is not finite or out of its range refuses all, and the error names it.
 *  They hold until changed, or until a reset. */
TETHER_API tether_status tether_sim_apply(tether_sim *sim, const tether_handle *commands,
                                          const double *values, int count, tether_error *error);
/** Reads [count] signals as they were after the last step, reset or restore. */
TETHER_API tether_status tether_sim_read(const tether_sim *sim, const tether_handle *signals,
                                         double *values, int count, tether_error *error);

/** The values in force of [count] commands: what was applied last, 0 before anything was. */
TETHER_API tether_status tether_sim_read_commands(const tether_sim *sim,
                                                  const tether_handle *commands, double *values,
                                                  int count, tether_error *error);

/** What goes in and what comes out with each call: handles that were resolved once, and the caller's arrays. */
typedef struct tether_io {
  const tether_handle *commands; /**< [command_count]; may be NULL if there are none */
  const double *command_values;  /**< [command_count] */
  int command_count;
  int signal_count;
  const tether_handle *signals; /**< [signal_count]; may be NULL if there are none */
  double *signal_values;        /**< [signal_count]; written */
} tether_io;

/** tether_sim_apply() of the commands of all [io_count] `ios`, all or none, tether_sim_step(), and tether_sim_read() of their
 *  signals, in one call, which is the fastest. Handles and values are checked before anything changes. After
 *  TETHER_DIVERGED and TETHER_FAILED no signal is read; after TETHER_INTERRUPTED all are. */
TETHER_API tether_status tether_sim_exchange(tether_sim *sim, const tether_io *ios, int io_count,
                                             int64_t steps, tether_error *error);

/* --- values of the models: masses, frictions, dampings, gears, noises --- */

/* Their names are settings, "models.<robot>.<kind>.<name>.<field>" (kind: bodies, joints, actuators, or a kind of part as its
 * robot's file calls it; robot "arena": the arena's), which tether_scene_load() takes, too: then a simulation begins with
 * them. They are each simulation's own, also in a batch. A reset leaves them as they are. A saved state has them, and so has
 * a clone: restoring one puts back the values of when it was saved. They count for tether_sim_hash() where they differ from
 * what the models' files say. A recorder keeps each change.
 *
 * The friction of a body is -1 until it is set: what its model says holds, which may be another number for each geometry, and
 * of two bodies MuJoCo takes the greater. A number that is set, also the model's own, is that of all the body's geometry and
 * holds whatever it touches; -1 sets it back. */

/** How many there are. */
TETHER_API int tether_sim_value_count(const tether_sim *sim);
/** The `index`-th, from 0, in an order that is the same for every simulation of the scene. TETHER_NOT_FOUND: no more. */
TETHER_API tether_status tether_sim_value_item(const tether_sim *sim, int index, tether_item *item);
/** Resolves a name as the list has it. `unit`: of the values to come; NULL: SI. */
TETHER_API tether_status tether_value_find(const tether_sim *sim, const char *name,
                                           const char *unit, tether_handle *handle,
                                           tether_error *error);
/** Sets [count] values, all or none: one that is not finite or out of its range refuses all, and the error names it. They
 *  take effect with the next step. Other masses, armatures and gears of actuators take some milliseconds the first time, when what follows
 *  from them is computed anew and kept; others are written as they are. May be called before and between steps. */
TETHER_API tether_status tether_sim_set_values(tether_sim *sim, const tether_handle *handles,
                                               const double *values, int count,
                                               tether_error *error);
/** The present ones. */
TETHER_API tether_status tether_sim_get_values(const tether_sim *sim, const tether_handle *handles,
                                               double *values, int count, tether_error *error);

/* --- bodies, joints, contacts: views of the simulation's own memory. It stays in its place as long as the simulation lives;
 *     what stands there changes with each call that steps, resets or restores. --- */

typedef struct tether_body {
  const char *name;
  int parent;             /**< index; 0 is the world */
  double mass;            /**< kg, of this body alone, as its file says (tether_sim_get_values) */
  const double *position; /**< [3] m, of the body frame */
  const double *rotation; /**< [4] w x y z */
  const double *velocity; /**< [3] m/s */
  const double *spin;     /**< [3] rad/s, world frame */
} tether_body;

typedef struct tether_joint {
  const char *name;
  int body;                                   /**< that it moves */
  int axis_count;                             /**< hinge and slide 1, ball 3, free 0 */
  const double *position, *velocity, *torque; /**< [axis_count] rad or m, rad/s or m/s, N·m or N */
  int is_limited;
  double lower, upper; /**< rad or m; meaningful only if limited */
} tether_joint;

typedef struct tether_contact {
  int body_a, body_b;
  double position[3]; /**< m, world frame */
  double normal[3];   /**< unit vector from a to b, world frame */
  double force[3];    /**< N on b, world frame; a feels its opposite */
  double depth;       /**< m, positive where they overlap */
} tether_contact;

/** How many there are, the world among the bodies: the same for every simulation of a scene. */
TETHER_API int tether_sim_body_count(const tether_sim *sim);
TETHER_API int tether_sim_joint_count(const tether_sim *sim);
/** Those of the last step; at most as many as a scene keeps (1,024). */
TETHER_API int tether_sim_contact_count(const tether_sim *sim);
TETHER_API tether_status tether_sim_body(const tether_sim *sim, int index, tether_body *body);
TETHER_API tether_status tether_sim_joint(const tether_sim *sim, int index, tether_joint *joint);
TETHER_API tether_status tether_sim_contact(const tether_sim *sim, int index,
                                            tether_contact *contact);

/* --- recordings: a simulation's run in a file, as `tether run` keeps it --- */

/** How a run is kept. */
typedef struct tether_record_options {
  size_t size; /**< sizeof(tether_record_options) */
  /** s: signals and poses are kept at most this often; 0: after every call. Inputs, resets, restored states
   *  and state hashes are kept always */
  double period;
  /** of the file: from nine tenths of it on no more signals are kept, beyond it nothing; 0: no limit */
  uint64_t most_bytes;
  int never_wait; /**< not 0: a disk that is slow for long costs the rest of the recording, and never time. 0: calls wait
                        *   for it once 64 MiB of inputs are not yet written */
} tether_record_options;

/** Keeps the run from here on in a new file, which begins with the simulation's state: `tether verify` proves it, and `replay`,
 *  `export`, `compare` and `runs` take it, like those of `tether run`. `options` NULL: a period of 10 ms, no limit, and it
 *  waits. Times in it count from here on. The scene's files are read once more, and must be those that it was loaded
 *  from. Two threads of the recording's own write the file; they take no signals. A clone is not recorded; it may have a recording of its own.
 *  TETHER_INVALID: it is being recorded already, or a file of the scene has changed since it was loaded. TETHER_FAILED: the file can't be made, or is not empty. */
TETHER_API tether_status tether_sim_record(tether_sim *sim, const char *path,
                                           const tether_record_options *options,
                                           tether_error *error);
/** Writes what is left and closes the file; blocks until the disk has it. tether_sim_free() does the same. TETHER_FAILED: not
 *  all of the run is in the file (the disk was full); the error says why, and what is kept. TETHER_NOT_FOUND: it is not being
 *  recorded. */
TETHER_API tether_status tether_sim_record_end(tether_sim *sim, tether_error *error);
/** TETHER_OK: it is being recorded. TETHER_FAILED: the file has not taken all of it, and takes no more; the simulation goes on,
 *  the log callback heard of it. TETHER_NOT_FOUND: it is not being recorded, or the recording is a parent's before fork(). */
TETHER_API tether_status tether_sim_recording(const tether_sim *sim, tether_error *error);

/* --- batches: many simulations of one scene, one call for all --- */

/** Makes `count` simulations on `threads` threads of the batch's own (0: as many as processors). Simulation i begins with
 *  the scene's seed + i. `commands` and `signals` are what a step takes in and gives out. The bits of a simulation depend
 *  neither on `count` nor on `threads`. A batch does not survive fork(): calls in the child return TETHER_FAILED. */
TETHER_API tether_status tether_batch_new(tether_scene *scene, int count, int threads,
                                          const char *const *commands, int command_count,
                                          const char *const *signals, int signal_count,
                                          tether_batch **batch, tether_error *error);
/** From now on the batch takes commands in `command_units` [command_count] and gives signals in `signal_units` [signal_count], as
 *  given to tether_batch_new(); one that is NULL, and an array that is NULL: SI. Costs nothing in a step. TETHER_NOT_FOUND, where a
 *  unit is not one of its dimension: nothing changed. Signals that were read before stay as they are. */
TETHER_API tether_status tether_batch_set_units(tether_batch *batch,
                                                const char *const *command_units,
                                                const char *const *signal_units,
                                                tether_error *error);
/** NULL-safe. */
TETHER_API void tether_batch_free(tether_batch *batch);
/** Sets commands [count][command_count], SI or as tether_batch_set_units() said, makes `steps` timesteps in every simulation that has not failed, and reads signals
 *  [count][signal_count]. A row of commands with a value that is not finite or out of range fails its simulation alone.
 *  Allocates nothing, but what a scene's own Lua sensors do. Blocks until all are done. */
TETHER_API tether_status tether_batch_step(tether_batch *batch, const double *commands,
                                           int64_t steps, double *signals, tether_error *error);
/** Resets the simulations whose byte in `mask` [count] is not 0 (NULL: all), failed ones too, with `seeds` [count] (NULL:
 *  the scene's seed + i), and reads their rows of `signals` (may be NULL). */
TETHER_API tether_status tether_batch_reset(tether_batch *batch, const uint8_t *mask,
                                            const uint64_t *seeds, double *signals,
                                            tether_error *error);
/** Writes the states of all simulations into `states` [count][tether_sim_state_size()], `size` bytes in all. The row of one that
 *  failed with TETHER_FAILED is 0, and no state. Blocks until all are done. */
TETHER_API tether_status tether_batch_save(tether_batch *batch, void *states, size_t size,
                                           tether_error *error);
/** The simulations whose byte in `mask` [count] is not 0 (NULL: all), failed ones too, go on from their row of `states`, of
 *  `size` bytes in all; then reads their rows of `signals` (may be NULL). A row that is no state of this scene fails its
 *  simulation alone. Rows may be copies of one: all then go on from there. Blocks until all are done. */
TETHER_API tether_status tether_batch_restore(tether_batch *batch, const uint8_t *mask,
                                              const void *states, size_t size, double *signals,
                                              tether_error *error);
TETHER_API int tether_batch_count(const tether_batch *batch);
/** As tether_sim_set_interrupt(), for tether_batch_step(): simulations that had not made all steps then have failed with
 *  TETHER_INTERRUPTED, until they are reset. */
TETHER_API tether_status tether_batch_set_interrupt(tether_batch *batch, tether_interrupt *callback,
                                                    void *context, tether_error *error);
/** [tether_batch_count()] one byte each, not 0 where the simulation has failed. The batch's own memory, as long as it lives. */
TETHER_API const uint8_t *tether_batch_failed(const tether_batch *batch);
/** Why simulation `index` failed; TETHER_OK while it goes on. */
TETHER_API tether_status tether_batch_failure(const tether_batch *batch, int index,
                                              tether_error *error);
/** The batch's own, to save, restore, record or look at; not to be freed, and not to be used while the batch steps. NULL: there is none of that index. */
TETHER_API tether_sim *tether_batch_sim(tether_batch *batch, int index);

#ifdef __cplusplus
}
#endif

#endif
