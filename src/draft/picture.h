/* picture.h: a simulation as it stands, drawn from above one corner, as SVG. */
#ifndef TT_DRAFT_PICTURE_H
#define TT_DRAFT_PICTURE_H

#include "sim/sim.h"

/** The picture of what a simulation shows now; free() it. Robots fill the middle; planes are the ground. At most some hundred kilobytes.
 *  NULL when out of memory. */
char *tt_draft_picture(const tt_sim *sim);

#endif
