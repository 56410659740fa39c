#include "game/pose_struct.h"

#include <string.h>

const tt_pose_schema tt_pose_schemas[TT_POSE_SCHEMAS] = {
    {"/.schema/struct:Translation3d", "double x;double y;double z"},
    {"/.schema/struct:Quaternion", "double w;double x;double y;double z"},
    {"/.schema/struct:Rotation3d", "Quaternion q"},
    {"/.schema/struct:Pose3d", "Translation3d translation;Rotation3d rotation"},
};

void tt_pose_struct_write(const double pose[7], uint8_t bytes[TT_POSE_STRUCT_BYTES]) {
  for (int i = 0; i < 7; i++) {
    uint64_t bits;
    memcpy(&bits, &pose[i], sizeof bits);
    for (int b = 0; b < 8; b++) bytes[8 * i + b] = (uint8_t)(bits >> 8 * b);
  }
}
