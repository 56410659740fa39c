/* state_folder.h: where files go that nobody placed: runs, databases. */
#ifndef TT_APP_STATE_FOLDER_H
#define TT_APP_STATE_FOLDER_H

#include "base/status.h"

#include <stddef.h>

/** The path of a folder: `placed` where the user gave one, else $XDG_STATE_HOME/tether/NAME, else
 *  ~/.local/state/tether/NAME. It may not exist. TT_FAILED: there is no home folder. */
tt_status tt_state_path(const char *placed, const char *name, char *path, size_t size,
                        tt_error *error);

/** Makes sure that a folder exists and writes its path, as above. What is made here is its owner's alone (0700).
 *  TT_FULL: there is no room for it; TT_FAILED. */
tt_status tt_state_folder(const char *placed, const char *name, char *path, size_t size,
                          tt_error *error);

/** Where what people made lies: $XDG_DATA_HOME/tether, else ~/.local/share/tether. It may not exist.
 *  TT_FAILED: there is no home folder. */
tt_status tt_own_root(char *path, size_t size, tt_error *error);

/** Makes an empty file in such a folder, its owner's alone (0600), unless it is there: for libraries that would make it
 *  readable for all. TT_FULL and TT_FAILED as above. */
tt_status tt_state_file(const char *path, tt_error *error);

#endif
