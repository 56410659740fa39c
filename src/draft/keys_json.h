/* keys_json.h: all keys that may stand in the files of a scene, for editors: from the schemas that loading uses, what the checks of scenes
 * tell of them, and the documents. */
#ifndef TT_DRAFT_KEYS_JSON_H
#define TT_DRAFT_KEYS_JSON_H

#include "scene/scene.h"

/** GET /api/schema of docs/web.md; free() it. Loads all scenes that come with the program, for what their checks tell: some tenths of a
 *  second. NULL when out of memory. */
char *tt_draft_keys_json(const tt_scene_guests *guests);

#endif
