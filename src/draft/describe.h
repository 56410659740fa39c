/* describe.h: a scene that loads, as docs/web.md tells of a draft. */
#ifndef TT_DRAFT_DESCRIBE_H
#define TT_DRAFT_DESCRIBE_H

#include "draft/look.h"
#include "host/world.h"
#include "scene/scene.h"

/** Fills in what a look has beside problems. `folder` is the draft's. TT_NOMEM. */
tt_status tt_draft_describe(const tt_scene *scene, tt_world *world, const char *folder,
                            tt_draft_look *look, tt_error *error);

#endif
