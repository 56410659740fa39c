/* choice.h: another scene, chosen in the pages, with which the program goes on once the present world has ended. */
#ifndef TT_APP_CHOICE_H
#define TT_APP_CHOICE_H

#include "app/fork.h"
#include "app/options.h"
#include "scene/scene.h"
#include "host/world.h"

#include <pthread.h>

#define TT_SCENE_ADDRESS 300
#define TT_SCENE_NAME 4096 /**< bytes of a chosen scene's name or path, its end included */

/** Lives as long as the program, since an answer under way may outlive the last world; the world and the address change with each scene. */
typedef struct tt_scene_choice {
  const tt_scene_options *options;
  struct tt_forks *forks;      /**< NULL: kept runs do not go on here */
  char *first_web;             /**< "web={…}" of the first scene; set before there are pages */
  double time_before;          /**< s simulated by the scenes before; world's thread */
  pthread_mutex_t mutex;       /**< guards what follows */
  tt_world *world;             /**< that a choice ends; NULL: none runs */
  char present[TT_SCENE_NAME]; /**< the file of the scene that runs, absolute */
  char drafts[TT_SCENE_NAME]; /**< folder of scenes that whoever drives writes; "": there is none */
  char address[TT_SCENE_ADDRESS]; /**< of the pages; "": there were none yet */
  char chosen[TT_SCENE_NAME];     /**< "": none */
  bool administers;               /**< who chose it */
  tt_fork *fork;                  /**< it is that of a run that goes on; owned; NULL: it is not */
  char refused[TT_SCENE_NAME];    /**< the last one chosen that could not be opened; "": none */
  tt_error refusal;               /**< and why */
} tt_scene_choice;

/** Nothing is chosen yet. `options` must outlive it. */
void tt_scene_choice_init(tt_scene_choice *choice, const tt_scene_options *options);
/** Who may ask is up to whoever started the program: `scene`, with which it began, has the section `web` of all that follow. Once, before any
 *  is chosen. TT_NOMEM. */
tt_status tt_scene_choice_keep_web(tt_scene_choice *choice, const tt_scene *scene, tt_error *error);
/** Scenes below this folder are written by whoever drives: what they say of the machine takes who administers. Any thread. */
void tt_scene_choice_drafts_at(tt_scene_choice *choice, const char *folder);
/** From here on a choice ends `world`, which is of the scene in that file; NULL: no choice is taken any more. */
void tt_scene_choice_watch(tt_scene_choice *choice, tt_world *world, const char *path);
/** The pages are at "http://…", and those of all scenes that follow, too. */
void tt_scene_choice_stay_at(tt_scene_choice *choice, const char *address);
/** There, "HOST:PORT"; false: nowhere yet. */
bool tt_scene_choice_address(tt_scene_choice *choice, char address[TT_SCENE_ADDRESS]);
/** Loads scene `name`, one that tt_scene_choice_find() finds, to see that it can be run with this run's settings; if so, ends the
 *  world. Any thread; takes as long as loading. TT_NOT_FOUND, or why it can't be run, with `*denied` where only who administers may;
 *  TT_FULL between two worlds. `context` is a tt_scene_choice. */
tt_status tt_scene_choice_make(void *context, const char *name, bool administers, bool *denied,
                               tt_error *error);
/** The file of a scene that may be chosen: one of the data folders by its name, or by its path the one that runs or one beside the file
 *  that the program was started with; free() it. Any thread. TT_NOT_FOUND. */
tt_status tt_scene_choice_find(tt_scene_choice *choice, const char *name, char **path,
                               tt_error *error);
/** tt_scene_choice_make() with a file that the caller vouches for. */
tt_status tt_scene_choice_make_file(tt_scene_choice *choice, const char *path, bool administers,
                                    bool *denied, tt_error *error);
/** Could the program go on with another scene? TT_USAGE: this run has a file of its own. */
tt_status tt_scene_choice_may_go(const tt_scene_choice *choice, tt_error *error);
/** May who only drives have the fork run? TT_INVALID: it sets what concerns the machine, or its scene, which may, is not the one that runs.
 *  Any thread. */
tt_status tt_scene_choice_may_run(tt_scene_choice *choice, const tt_fork *fork, tt_error *error);
/** Goes on with a fork, whose state is computed, and takes it over. TT_FULL between two worlds; TT_USAGE: this run has a file of its
 *  own. */
tt_status tt_scene_choice_fork(tt_scene_choice *choice, tt_fork *fork, tt_error *error);
/** Is the scene in that file the one that runs? Any thread. */
bool tt_scene_choice_runs(tt_scene_choice *choice, const char *path);
/** The folder of the file that the program was started with, absolute; false: that was a name. Any thread. */
bool tt_scene_choice_folder(const tt_scene_choice *choice, char folder[TT_SCENE_NAME]);
/** Whether a scene was chosen, and which, and whether by someone who administers; it is forgotten then. `*fork` is the caller's; NULL: it
 *  begins at its beginning. */
bool tt_scene_choice_take(tt_scene_choice *choice, char name[TT_SCENE_NAME], bool *administers,
                          tt_fork **fork);
/** Loads scene `name` (or a file) with this run's settings. TT_INVALID with `*denied`: it is a draft that
 *  says what concerns the machine, and takes who administers. */
tt_status tt_scene_choice_load(tt_scene_choice *choice, const char *name, bool administers,
                               bool *denied, tt_scene **scene, tt_error *error);
/** The same of a fork: with its settings, and those of this run that concern the machine. */
tt_status tt_scene_choice_load_fork(tt_scene_choice *choice, const tt_fork *fork, tt_scene **scene,
                                    tt_error *error);
/** `name` was chosen but could not be opened: kept for the pages until the next choice. */
void tt_scene_choice_refuse(tt_scene_choice *choice, const char *name, const tt_error *why);
/** Whether `name` was refused last, and why. Any thread. */
bool tt_scene_choice_refused(tt_scene_choice *choice, const char *name, tt_error *why);
/** Which scene was chosen last and could not be opened, and why; false: none, or another was chosen since. Any thread. */
bool tt_scene_choice_last_refused(tt_scene_choice *choice, char name[TT_SCENE_NAME], tt_error *why);

#endif
