/* settings.h: every key of a loaded scene that --set takes, with what is known of it.
 *
 * Nothing here is written down twice: which keys there are is what the schemas say, what stands there is the tree, and unit,
 * range and default are what the checks told while they were made (model/schema.h).
 */
#ifndef TT_SCENE_SETTINGS_H
#define TT_SCENE_SETTINGS_H

#include "scene/pool.h"
#include "scene/scene.h"

/** What may stand at a key. */
typedef enum tt_setting_kind {
  TT_SETTING_TEXT,
  TT_SETTING_QUANTITY, /**< a number with a unit of the dimension; without: SI */
  TT_SETTING_NUMBER,
  TT_SETTING_COUNT, /**< a whole number */
  TT_SETTING_FLAG,  /**< on or off */
  TT_SETTING_WORD,  /**< one of `words` */
  TT_SETTING_LIST   /**< [a, b] */
} tt_setting_kind;

/** A key. */
typedef struct tt_scene_setting {
  const char *path;  /**< as --set takes it: "robots.gripper.motors.swivel.max_torque" */
  const char *owner; /**< "" the scene itself, "robots.gripper", "wires.float-udp", "web" */
  const char *unit;  /**< SI; "" where none is known */
  const char *words; /**< "wait, hold, zero"; "" where others may stand there */
  /** what holds where the key is left out; "" where nothing does, or it follows from others */
  const char *initial;
  /** what holds now, as text; "" where nothing does, or it follows from others */
  const char *value;
  tt_setting_kind kind;
  double lower, upper; /**< SI; infinite where no bound is known */
  bool known;          /**< false: of a section that nobody here knows: kept, and not checked */
} tt_scene_setting;

/** All of a scene. */
typedef struct tt_scene_settings {
  tt_pool pool; /**< of the texts */
  tt_scene_setting *items;
  int count, capacity;
} tt_scene_settings;

/** The scene's own keys in the order of its schema, then each robot's, wire's and section's. The scene must outlive the list. Free
 *  it with tt_scene_settings_free(). TT_NOMEM: it is empty. */
tt_status tt_scene_settings_list(const tt_scene *scene, tt_scene_settings *settings);
void tt_scene_settings_free(tt_scene_settings *settings);

#endif
