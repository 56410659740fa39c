/* place.h: where things stand to each other: a rotation, then a translation. */
#ifndef TT_GLTF_PLACE_H
#define TT_GLTF_PLACE_H

/** m; w x y z, of unit length. */
typedef struct tt_place {
  double position[3], rotation[4];
} tt_place;

/** Where `inner`, given in the frame of `outer`, stands in outer's own frame. */
tt_place tt_place_in(const tt_place *outer, const tt_place *inner);
tt_place tt_place_inverse(const tt_place *place);
/** Turns a direction. */
void tt_place_turn(const double rotation[4], const double from[3], double to[3]);
/** A point of the place's frame. */
void tt_place_point(const tt_place *place, const double from[3], double to[3]);
/** Turns about the fixed axes x, y, z, rad, that give the rotation one after the other. */
void tt_place_turns(const double rotation[4], double turns[3]);

#endif
