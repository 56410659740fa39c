/* library.h: what stands behind the handles of include/tether/tether.h, shared by the files of this room. */
#ifndef TT_LIBRARY_LIBRARY_H
#define TT_LIBRARY_LIBRARY_H

#include "record/recorder.h"
#include "library/floats.h"
#include "scene/scene_files.h"
#include "scene/scene_sim.h"
#include "scene/settings.h"
#include "tether/tether.h"

#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/** The caller's floating-point environment and locale of this thread, while ours are the default: what he set must reach
 *  neither the bits nor how numbers are read. */
typedef struct library_surroundings {
  library_floats floats;
  locale_t locale;
} library_surroundings;
library_surroundings library_surroundings_begin(void);
void library_surroundings_end(const library_surroundings *saved);

/** A file of a scene, as it was when the scene was loaded. */
typedef struct library_origin {
  char *path;
  uint64_t hash;
} library_origin;

struct tether_scene {
  tt_scene *scene;
  char **settings; /**< [setting_count] as given */
  int setting_count;
  library_origin *origin; /**< [origin_count] */
  int origin_count;
  atomic_int references;  /**< itself, and each simulation */
  pthread_mutex_t lock;   /**< of the pattern and the keys */
  tt_scene_settings keys; /**< of the first who asked; empty before */
  tt_sim *pattern;        /**< never stepped: simulations are clones of it; NULL before the first */
  uint32_t handles;       /**< the mark of its handles, once there is the pattern */
};

/** Who may end a call early. */
typedef struct library_watch {
  tether_interrupt *callback; /**< NULL: nobody is asked */
  void *context;
  int64_t due;       /**< when it is asked next, ns of the coarse clock */
  atomic_bool *stop; /**< said so to others; NULL: there are none */
} library_watch;

struct tether_sim {
  tether_scene *scene;
  tt_sim *sim;
  library_watch watch;
  atomic_flag busy;
  /** TETHER_DIVERGED or TETHER_FAILED: it allows only to be reset, restored or freed */
  tether_status failed;
  /** its places in a batch, which go by `failed`, too; NULL: it is in none */
  uint8_t *batch_failed;
  tether_status *batch_failure;
  tether_error *batch_reason;
  uint64_t seed;              /**< all chance follows it */
  tt_submission *submissions; /**< [room] for a call's commands */
  size_t room;
  tt_recorder *recorder; /**< NULL: it is not being recorded */
  pid_t recorded_by;     /**< the process that has the recorder's threads */
  library_surroundings surroundings;
};

/** What a tether_handle is of: the lowest bits of its kind. The others are the mark of its scene. */
enum { LIBRARY_SIGNAL = 1, LIBRARY_COMMAND, LIBRARY_VALUE, LIBRARY_KINDS = 3 };

/** The mark of a scene's handles, by any simulation of it. */
uint32_t library_mark_of(const tt_sim *sim);
/** A handle of this scene's. */
tether_handle library_handle(const tether_sim *sim, int kind, int index);
/** TETHER_INVALID: it isn't the handle of one of these `count`, and why; it is ARGUMENT[number]. */
tether_status library_check_handle(const tether_sim *sim, const tether_handle *handle, int kind,
                                   int count, const char *argument, int number,
                                   tether_error *error);

/** The same for all `count` handles of signals. */
tether_status library_check_signals(const tether_sim *sim, const tether_handle *signals, int count,
                                    tether_error *error);

/** "" for the arena's and the world's. */
const char *library_robot_name(const tt_sim *sim, int robot);
/** Arguments of a function that finds a handle. Clears `error`. */
tether_status library_check_find(const tether_sim *sim, const char *name,
                                 const tether_handle *handle, tether_error *error);
/** SI per `unit` (NULL: SI) of something of this dimension, called `name`. */
tether_status library_find_unit(const char *name, const char *unit, tt_dimension dimension,
                                double *scale, tether_error *error);

/** Remembers what the scene's files are. False: out of memory. */
bool library_note_origin(tether_scene *scene);
/** TT_INVALID: one of them is another by now, which is named. `files`: read a moment ago. */
tt_status library_check_origin(const tether_scene *scene, const tt_scene_files *files,
                               tt_error *why);
void library_free_origin(tether_scene *scene);

/** A call begins: nothing was wrong yet. `error` may be NULL. */
void library_begin(tether_error *error);
/** The public code of a status of ours. */
tether_status library_status(tt_status status);
/** The status outside, and in `error` (may be NULL) what `from` says. */
tether_status library_finish(tt_status status, const tt_error *from, tether_error *error);
/** Fills `error` (may be NULL) as printf does, and returns `status`. */
tether_status library_fail(tether_error *error, tether_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Makes the simulation the caller's until library_leave(), which hands `status` on. */
tether_status library_enter(tether_sim *sim, tether_error *error);
tether_status library_leave(tether_sim *sim, tether_status status);
/** Of a simulation that was entered: its state is another. Whoever keeps its run gets hash and view. */
void library_tell(tether_sim *sim);
/** In a child of fork() its recording is the parent's. */
void library_mind_fork(tether_sim *sim);
/** TT_FAILED: not all was kept, and why. TT_OK where it was not being recorded. */
tt_status library_end_record(tether_sim *sim, tt_error *why);
/** Of a simulation that was entered. `state` has library_state_size() bytes. */
size_t library_state_size(const tether_sim *sim);
tether_status library_save(const tether_sim *sim, void *state, tether_error *error);
tether_status library_restore(tether_sim *sim, const void *state, size_t size, tether_error *error);
/** Of a simulation that was entered. */
tt_status library_reset(tether_sim *sim, uint64_t seed);
/** It was reset or restored: whatever failed before. */
void library_revive(tether_sim *sim);
tether_status library_step(tether_sim *sim, int64_t steps, library_watch *watch,
                           tether_error *error);
/** Applies the commands of all of `ios`, or none. */
tether_status library_apply(tether_sim *sim, const tether_io *ios, int io_count,
                            tether_error *error);
/** A call begins: nobody is asked about it for a while. */
void library_watch_begin(library_watch *watch);
/** Whether the call is to end now. */
bool library_watch_ends(library_watch *watch);
tether_status library_read(const tether_sim *sim, const tether_handle *signals, double *values,
                           int count, tether_error *error);

#endif
