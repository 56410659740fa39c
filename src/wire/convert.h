/* convert.h: between SI inside and what stands on a wire: unit, scale, offset, wrap of a list entry. */
#ifndef TT_WIRE_CONVERT_H
#define TT_WIRE_CONVERT_H

#include "model/schema.h"

/** The largest float32 that is not greater than π; the nearest one is greater. */
#define TT_PI_FLOAT 0x1.921fb4p+1f

/** Angles as they are, into [−π, π], or into [0, 1) of a turn. */
typedef enum tt_wrap { TT_WRAP_NONE, TT_WRAP_PI, TT_WRAP_TURN } tt_wrap;

/** wire = wrapped(SI) ÷ unit × scale + offset, and back. */
typedef struct tt_conversion {
  double unit; /**< SI per unit */
  double scale, offset;
  tt_wrap wrap;
} tt_conversion;

/** Prepares the conversion of `entry` (checked by tt_name_entry_check) for a scalar of `dimension`. TT_INVALID when
 *  its unit measures something else, or an angle's wrap is asked of something that is none. */
tt_status tt_conversion_prepare(const tt_name_entry *entry, tt_dimension dimension,
                                const char *where, tt_conversion *conversion, tt_error *error);

/** As float32 on the wire: never infinite, and never outside the wrap's interval by rounding. */
float tt_convert_out(const tt_conversion *conversion, double si);
/** SI of a finite number from the wire. */
double tt_convert_in(const tt_conversion *conversion, double wire);

/** `angle` (rad) turned into [−π, π], as float32 no larger than TT_PI_FLOAT. */
float tt_wrap_angle(double angle);

#endif
