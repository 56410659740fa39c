/* robot_config.h: --robot-config: an original's config/robotConfig.yml as settings of a scene's first robot and its wire. */
#ifndef TT_APP_ROBOT_CONFIG_H
#define TT_APP_ROBOT_CONFIG_H

#include "app/options.h"
#include "control/sharp_original.h"

/** What the file means to the scene of `options`: its wire is the first robot's sharp-json, else the first sharp-json that there
 *  is, and its player is that wire's, as the settings of `options` leave it. A scene that can't be read has neither; who loads it
 *  says why. TT_INVALID names what is wrong in the file. The caller frees with tt_sharp_original_free(), also on failure. */
tt_status tt_robot_config_read(const tt_scene_options *options, tt_sharp_original *meaning,
                               tt_error *error);

#endif
