/* scene_run.h: what a kept run says of itself first, and what makes its scene again. */
#ifndef TT_SCENE_SCENE_RUN_H
#define TT_SCENE_SCENE_RUN_H

#include "base/json.h"
#include "scene/scene.h"

/** The scene's file without folder and ending, "gripper". Returns `name`. */
const char *tt_scene_name(const tt_scene *scene, char *name, size_t size);

/** 128 random bits in hexadecimal: a log may be moved, this stays. TT_FAILED: the machine has none. */
tt_status tt_run_id_new(char id[33], tt_error *error);

/** The JSON object `/tether/run` of docs/runs.md, the caller's to add to and to json_object_put(): versions, scene, settings
 *  (but those of who only looks at the run, which may hold a token or a password), the time of day, timestep, seed.
 *  NULL when out of memory. */
struct json_object *tt_scene_describe_run(const tt_scene *scene, const char *const *settings,
                                          int setting_count, const char *id);

/** The run had a token that its log does not keep (tt_scene_files_hide()), and says so. */
void tt_scene_run_lacks_token(struct json_object *run);

#endif
