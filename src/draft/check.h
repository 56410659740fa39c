/* check.h: looks through a draft: everything that is wrong, and what it is where nothing is. */
#ifndef TT_DRAFT_CHECK_H
#define TT_DRAFT_CHECK_H

#include "draft/look.h"
#include "host/world.h"
#include "scene/scene.h"

/** What a program makes worlds of. */
typedef struct tt_draft_maker {
  const tt_scene_guests *guests;
  /** A world of a scene, whose names are resolved and which opens no socket. */
  tt_status (*assemble)(const tt_scene *scene, tt_world **world, tt_error *error);
} tt_draft_maker;

/** Checks the scene `main` of the folder, an absolute path, and all its YAML files. Blocks for as long as its models take to compile; any
 *  thread. TT_NOMEM; otherwise TT_OK, whatever is wrong with the draft. `look` is new. */
tt_status tt_draft_check(const tt_draft_maker *maker, const char *folder, const char *main,
                         const tt_draft_files *files, tt_draft_look *look, tt_error *error);

#endif
