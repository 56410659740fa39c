/* ids.h: the numbers of bodies and joints on the ezphysics wire; one function for wire, lists and names.
 *
 * Bodies and joints are numbered from 1, each kind for itself, in the order of the model; body 0 is the
 * world. A Joint is a moving body's link to its parent with up to three axes (one ball, or several hinges
 * and slides); bodies that move freely have none.
 */
#ifndef TT_WIRE_EZPHYSICS_IDS_H
#define TT_WIRE_EZPHYSICS_IDS_H

#include "model/model.h"
#include "wire/ezphysics/codec.h"

#include <stdio.h>

/** A Joint as the wire numbers it. */
typedef struct tt_ez_joint {
  const char *name;     /**< of the model's first joint of the body; owned by the model */
  int body;             /**< the child, body 1 of its feedback; body 2 is its parent */
  int robot;            /**< as in tt_body */
  int axes[TT_EZ_AXES]; /**< the model's axis behind each, in order */
  int axis_count;       /**< 1…3 */
  int axes_left_off;    /**< beyond the third, which this wire can't speak of */
} tt_ez_joint;

/** Lists the joints of a model; joint id is index + 1, body id is the index in model->bodies. The caller frees
 *  the list with free(); NULL when out of memory (never for a model without joints). */
tt_ez_joint *tt_ez_number_joints(const tt_model *model, int *count);

/** Writes both lists for people: `tether check`. */
void tt_ez_list_ids(const tt_model *model, FILE *to);

#endif
