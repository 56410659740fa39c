/* guests.h: the sections of a scene that the program's rooms have, beside the simulation's own. */
#ifndef TT_APP_GUESTS_H
#define TT_APP_GUESTS_H

#include "scene/guests.h"

/** Sections and wires of this program, for tt_scene_load(). Static. */
extern const tt_scene_guests tt_program_guests;

#endif
