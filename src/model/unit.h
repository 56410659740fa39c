/* unit.h: units, which exist only at the wire. Everything inside is SI. */
#ifndef TT_MODEL_UNIT_H
#define TT_MODEL_UNIT_H

#include <stdbool.h>

/** The dimension of a scalar; only units of the same dimension convert. */
typedef enum tt_dimension {
  TT_DIMENSIONLESS, /**< counts, flags, ratios, kinds */
  TT_ANGLE,         /**< rad */
  TT_ANGULAR_VELOCITY,
  TT_ANGULAR_ACCELERATION,
  TT_LENGTH, /**< m */
  TT_VELOCITY,
  TT_ACCELERATION,
  TT_FORCE,             /**< N */
  TT_TORQUE,            /**< N·m */
  TT_TIME,              /**< s */
  TT_VOLTAGE,           /**< V */
  TT_CURRENT,           /**< A */
  TT_MASS,              /**< kg */
  TT_POWER,             /**< W */
  TT_INERTIA,           /**< kg·m² */
  TT_ANGULAR_DAMPING,   /**< N·m·s/rad */
  TT_DAMPING,           /**< N·s/m */
  TT_ANGULAR_STIFFNESS, /**< N·m/rad */
  TT_STIFFNESS,         /**< N/m */
  TT_RESISTANCE,        /**< Ω */
  TT_CHARGE,            /**< C */
  TT_DIMENSION_COUNT
} tt_dimension;

/** A unit: value_in_SI = value_in_unit × scale. */
typedef struct tt_unit {
  const char *name;       /**< as written in YAML and shown to people: "in·lbf" */
  const char *ascii;      /**< the same for plain keyboards: "in-lbf"; may equal name */
  tt_dimension dimension; /**< what it measures */
  double scale;           /**< SI per unit, exact where the definition is */
} tt_unit;

/** The unit called `name` (either spelling; also "1" and "" for dimensionless), or NULL. Static. */
const tt_unit *tt_unit_find(const char *name);
/** The unit that was perhaps meant by one that there is not: in words ("degrees"), or misspelt. NULL: none is near. */
const char *tt_unit_nearest(const char *name);

/** The SI unit of a dimension, for example "rad/s". Static; never NULL. */
const tt_unit *tt_unit_si(tt_dimension dimension);

/** As it stands behind a number in a sentence: " rad/s", and "" of what has no unit. Returns `text`. */
#define TT_UNIT_BEHIND 24
const char *tt_unit_behind(tt_dimension dimension, char text[static TT_UNIT_BEHIND]);

/** Reads the quantity without a sign that `*text` begins with, "45 deg" of "45 deg and more", and moves on behind it. `*unit`
 *  is NULL where none follows: `*si` is the bare number then. False: there is no number there; nothing is changed. */
bool tt_quantity_scan(const char **text, const tt_unit **unit, double *si);

/** What was perhaps meant by a quantity of `dimension` that could not be read, since it has a unit that there is not: "90 degrees" gives
 *  "deg". NULL: its unit is not what is wrong, or none of the dimension (TT_DIMENSION_COUNT: of any) is near. */
const char *tt_quantity_meant_unit(const char *text, tt_dimension dimension);

/** All unit names of a dimension, comma separated, for error messages. Static; never NULL. */
const char *tt_unit_names(tt_dimension dimension);

/** Reads "10 ms", "0.5", "1/3000 s", "250 in·lbf" as a finite SI value of the wanted dimension; a
 *  bare number is taken as SI. False when the text is malformed, not finite, or of another dimension. */
bool tt_quantity_parse(const char *text, tt_dimension dimension, double *si);

#endif
