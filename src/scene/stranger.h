/* stranger.h: files that people give as a scene, a robot or a model, and that are something else. */
#ifndef TT_SCENE_STRANGER_H
#define TT_SCENE_STRANGER_H

#include "scene/tree.h"

/** TT_INVALID with what `path` is and what to do with it, since it was given as a `noun` ("scene"). TT_OK: there is no such
 *  file. For files whose ending is none of ours. `where` begins the message; `name` is the file as it was given. */
tt_status tt_stranger_refuse(const char *noun, const char *path, const char *name,
                             const char *where, tt_error *error);

/** tt_document_load() of what was given as a `noun` ("scene", "robot", "arena"). TT_INVALID also when the file is that of
 *  another kind: a robot's file as a scene, a scene as a robot. */
tt_status tt_stranger_load(const char *path, const char *noun, tt_document **document,
                           tt_error *error);
/** TT_INVALID: the document was given as a `noun` ("plan"), and is of another kind. */
tt_status tt_stranger_check(const char *noun, const tt_document *document, tt_error *error);

/** The document is a sweep's plan, and no scene. */
bool tt_stranger_is_plan(const tt_document *document);
/** The document is the one configuration file, config/robotConfig.yml, of the programs that spoke sharp-json first: its core
 *  has a joystickPort. */
bool tt_stranger_is_original(const tt_document *document);

#endif
