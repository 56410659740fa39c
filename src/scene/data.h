/* data.h: finding the files that a scene names. */
#ifndef TT_SCENE_DATA_H
#define TT_SCENE_DATA_H

#include "base/status.h"

#include <stdbool.h>

/** What is looked for: the folder that holds such files, and the file inside a folder of its own. */
typedef struct tt_data_kind {
  const char *noun;   /**< "scene" */
  const char *folder; /**< "scenes" */
  const char *file;   /**< "robot.yaml" in robots/NAME/, or NULL for scenes/NAME.yaml */
} tt_data_kind;

/** The four kinds there are. Static. */
extern const tt_data_kind tt_data_scene, tt_data_robot, tt_data_arena, tt_data_plan;

/** A data folder that is looked into first (the program: $TETHER_DATA); NULL: none. Process-wide; before any other thread
 *  looks. TT_INVALID: too long. */
tt_status tt_data_set_root(const char *folder);

/** Whether this code is installed in a prefix, with its data; false: it stands where it was built. */
bool tt_data_is_installed(void);

/** From here on found paths are absolute, for who may change the working directory before the files are read. Otherwise those
 *  below it are relative to it, as people write them. Process-wide; before any other thread looks. */
void tt_data_keep_whole_paths(void);

/** A second one, behind it: what people made themselves (the program: $XDG_DATA_HOME/tether); NULL: none. As above. */
tt_status tt_data_set_own(const char *folder);

/** From here on this thread finds for files below `folder`, an absolute path that outlives it, only what lies below it or in the data
 *  folders, and found paths are absolute; NULL: everything again. For files of strangers, who are to see no others. */
void tt_data_confine(const char *folder);
/** Whether an absolute path without links, as realpath() gives it, lies in a data folder. */
bool tt_data_holds(const char *path);

/** Whether the file comes with Tether: it lies in the last of the data folders. */
bool tt_data_comes_along(const char *path);

/** The file that `name` means. A name with a slash or an ending (.yaml .yml .xml .urdf) is a path: absolute, or
 *  relative to the folder of `including` (NULL: the working directory), or inside a data folder. A bare name is
 *  looked up in the data folders: tt_data_set_root(), then <prefix>/share/tether of the installed program, or the source tree
 *  of one that isn't installed. `*path` is the caller's to free. `where` begins the error; unknown names are told with
 *  the nearest one. */
tt_status tt_data_find(const tt_data_kind *kind, const char *name, const char *including,
                       const char *where, char **path, tt_error *error);

/** Names of all that can be found by a bare name, sorted within each data folder. `*names` is NULL-terminated; free each
 *  and the list. NULL when out of memory. */
char **tt_data_list(const tt_data_kind *kind);

#endif
