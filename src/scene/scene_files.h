/* scene_files.h: every file that a scene was made of, so that a run can be made again elsewhere or later. */
#ifndef TT_SCENE_SCENE_FILES_H
#define TT_SCENE_SCENE_FILES_H

#include "scene/scene.h"
#include "base/file.h"

/** Zero at first; names and bytes are its own. */
typedef struct tt_scene_files {
  tt_file *files;
  int count, capacity;
} tt_scene_files;

/** Reads the YAML files, the models and what these name (includes, meshes, textures, height fields), and the Lua files
 *  beside the scene and the robots. What can't be found is left out: the models loaded without it. At most 256 MB in all. */
tt_status tt_scene_files_read(const tt_scene *scene, tt_scene_files *files, tt_error *error);
/** Takes the value of web.token out of the scene's own file, for what others may read than who administers, and what comments say where one
 *  has the word token, or a key is called so. The file stays as long, its lines stay where they are. Whether it had the value. */
bool tt_scene_files_hide(tt_scene_files *files, const tt_scene *scene);
/** The same of the bytes of such a file. */
bool tt_scene_text_hide(char *bytes, size_t size);
/** Empty afterwards. */
void tt_scene_files_free(tt_scene_files *files);

#endif
