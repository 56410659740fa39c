/* scene.h: what a world looks like, and where its bodies are, as messages of Foxglove's schemas in JSON. Pure: no I/O.
 *
 * Source: foxglove/schemas, schemas/jsonschema: SceneUpdate, FrameTransforms, Log. The schemas here (scene.schema.json,
 * transforms.schema.json and log.schema.json) are theirs, with the members that are used.
 */
#ifndef TT_FOXGLOVE_SCENE_H
#define TT_FOXGLOVE_SCENE_H

#include "base/bytes.h"
#include "game/field.h"
#include "model/engine.h"
#include "model/view.h"

/* JSON Schemas. Static. */
extern const char tt_foxglove_scene_schema[];
extern const char tt_foxglove_transforms_schema[];
extern const char tt_foxglove_log_schema[];

#define TT_FOXGLOVE_MOST_TRIANGLES 4000 /**< of one entity */

/** Appends a SceneUpdate with one entity: part `part`, from 0, of what body `body` shows, in its frame, which has its name. A
 *  mesh of many triangles has several parts. False: there is no such part, and nothing was appended. */
bool tt_foxglove_put_entity(tt_bytes *to, const tt_model *model, const tt_scenery *scenery,
                            int body, int part);
/** Appends a FrameTransforms: each body in the frame of the world, and "field" where that is another. */
void tt_foxglove_put_transforms(tt_bytes *to, const tt_view *view, const tt_field *field,
                                uint64_t time_ns);
/** Appends a Log of the level of information. */
void tt_foxglove_put_log(tt_bytes *to, uint64_t time_ns, const char *source, const char *text);
/** Appends {"value": number}. */
void tt_foxglove_put_value(tt_bytes *to, double value);

#endif
