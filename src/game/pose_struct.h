/* pose_struct.h: a pose as WPILib's programs and viewers exchange it: struct:Pose3d.
 *
 * Source: WPILib, "Struct serialization" (wpiutil/doc/struct.adoc): members one behind the other, little-endian, packed.
 */
#ifndef TT_GAME_POSE_STRUCT_H
#define TT_GAME_POSE_STRUCT_H

#include <stdint.h>

#define TT_POSE_STRUCT_BYTES 56 /**< seven doubles */

/** What a reader needs of a schema, before the first value of its type. */
typedef struct tt_pose_schema {
  const char *name; /**< of the entry or topic, of type structschema */
  const char *text;
} tt_pose_schema;

#define TT_POSE_SCHEMAS 4
/** Of struct:Pose3d and what it is made of, the innermost first. */
extern const tt_pose_schema tt_pose_schemas[TT_POSE_SCHEMAS];

/** Writes x y z (m) w x y z (rotation). */
void tt_pose_struct_write(const double pose[7], uint8_t bytes[TT_POSE_STRUCT_BYTES]);

#endif
