/* scene_copy.h: a scene as files of one's own, with all that they name, to be edited. */
#ifndef TT_SCENE_SCENE_COPY_H
#define TT_SCENE_SCENE_COPY_H

#include "scene/scene.h"

/** Copies the scene's file to `target`, and what it names beside it: what lies below the scene's folder as it lies there, robots, arenas and
 *  models of data folders into `robots/`, `arenas/` and `models/`, where the copy then names them. Nothing that is there is written over,
 *  but `target` where it is the scene itself; a file that another copy made there is shared. `told` (may be NULL) hears of each that was
 *  written. TT_FAILED: another file has its place, or one can't be written; none is left then. */
tt_status tt_scene_copy(const tt_scene *scene, const char *target,
                        void (*told)(void *context, const char *path), void *context,
                        tt_error *error);

/** Makes a file, and the folders that its path names. TT_FAILED: it is there already, or can't be written. */
tt_status tt_scene_file_write(const char *path, const void *bytes, size_t size, tt_error *error);

#endif
