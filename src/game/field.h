/* field.h: WPILib's field frame, in which logs give poses, against the arena's, in which everything else is.
 *
 * Source: WPILib, "Coordinate System": the origin is the right corner of the blue alliance's wall as its drivers see it,
 * X points away from them, Y to their left, Z up.
 */
#ifndef TT_GAME_FIELD_H
#define TT_GAME_FIELD_H

/** Where the field's origin lies in the arena. All 0: the two are one. */
typedef struct tt_field {
  double x, y;    /**< m */
  double heading; /**< rad, of its X axis */
} tt_field;

/** Poses are x y z (m) w x y z (rotation). */
void tt_field_from_arena(const tt_field *field, double pose[7]);
void tt_field_to_arena(const tt_field *field, double pose[7]);

#endif
