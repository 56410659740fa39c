/* mount.h: where on the robot a sensor sits: a body and a point of its frame. */
#ifndef TT_ROBOT_MOUNT_H
#define TT_ROBOT_MOUNT_H

#include "robot/common.h"

/** Keys that mounted sensors share; put it into the sensor's config. */
typedef struct tt_mount {
  char *body;      /**< default: the robot's root body */
  char *x, *y, *z; /**< in its frame, default 0 m */
  double point[3]; /**< m; filled by tt_mount_check() */
} tt_mount;

#define TT_MOUNT_TEXT(type, key)                                                                   \
  CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, mount.key, 0, 128)
#define TT_MOUNT_FIELDS(type)                                                                      \
  TT_MOUNT_TEXT(type, body), TT_MOUNT_TEXT(type, x), TT_MOUNT_TEXT(type, y), TT_MOUNT_TEXT(type, z)

/** Fills `point`. TT_INVALID: a coordinate is no length; begins with `where`. */
tt_status tt_mount_check(tt_mount *mount, const char *where, tt_error *error);

#endif
