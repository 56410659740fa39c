/* choice.h: another scene, chosen in the pages, with which the program goes on once the present world has ended. */
#ifndef TT_APP_CHOICE_H
#define TT_APP_CHOICE_H

#include "app/options.h"
#include "scene/scene.h"
#include "host/world.h"

#include <pthread.h>

#define TT_SCENE_NAME 128 /**< bytes of a chosen scene's name, its end included */

/** Lives as long as the program; the world and the address change with each scene. */
typedef struct tt_scene_choice {
  const tt_scene_options *options;
  double time_before;          /**< s simulated by the scenes before; world's thread */
  pthread_mutex_t mutex;       /**< guards what follows */
  tt_world *world;             /**< that a choice ends; NULL: none runs */
  char web[300];               /**< "web.listen=…": the next scene's pages stay where they are */
  char chosen[TT_SCENE_NAME];  /**< "": none */
  char refused[TT_SCENE_NAME]; /**< the last one chosen that could not be opened; "": none */
  tt_error refusal;            /**< and why */
} tt_scene_choice;

/** Nothing is chosen yet. `options` must outlive it. */
void tt_scene_choice_init(tt_scene_choice *choice, const tt_scene_options *options);
/** From here on a choice ends `world`; NULL: no choice is taken any more. */
void tt_scene_choice_watch(tt_scene_choice *choice, tt_world *world);
/** The pages are at "http://…". */
void tt_scene_choice_stay_at(tt_scene_choice *choice, const char *address);
/** Loads scene `name`, one of those in the data folders, to see that it can be run with this run's settings; if so, ends the
 *  world. Any thread; takes as long as loading. TT_NOT_FOUND, or why it can't be run; TT_FULL between two worlds. `context`
 *  is a tt_scene_choice. */
tt_status tt_scene_choice_make(void *context, const char *name, tt_error *error);
/** Whether a scene was chosen, and which; it is forgotten then. */
bool tt_scene_choice_take(tt_scene_choice *choice, char name[TT_SCENE_NAME]);
/** Loads scene `name` (or a file) with this run's settings, its pages where they are now. */
tt_status tt_scene_choice_load(tt_scene_choice *choice, const char *name, tt_scene **scene,
                               tt_error *error);
/** `name` was chosen but could not be opened: kept for the pages until the next choice. */
void tt_scene_choice_refuse(tt_scene_choice *choice, const char *name, const tt_error *why);
/** Whether `name` was refused last, and why. Any thread. */
bool tt_scene_choice_refused(tt_scene_choice *choice, const char *name, tt_error *why);

#endif
