/* asset_export.h: a scene's robots and arena as asset folders that viewers read. */
#ifndef TT_APP_ASSET_EXPORT_H
#define TT_APP_ASSET_EXPORT_H

#include "base/status.h"

/** Writes Robot_NAME for each robot of the scene, and Field3d_NAME where it has an arena, into `folder`, which is made where it is missing;
 *  files of these names are replaced. Says on standard output what it made. Errors name the file. */
tt_status tt_asset_export(const char *scene, const char *folder, tt_error *error);

#endif
