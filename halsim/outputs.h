/* outputs.h: what the robot program gives: every value of a device that it has initialised, as messages of HALSim. */
#ifndef TT_EXTENSION_OUTPUTS_H
#define TT_EXTENSION_OUTPUTS_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>

/** Finds the functions of this season. Before all others; once. */
void outputs_find(void);

/** Appends a message, ended by a line feed, for each device of which something has changed since the last call; of all
 *  devices where `whole`. They come in one order, whichever thread of the program gave first. */
void outputs_collect(tt_bytes *to, bool whole);

/** Whether a value is another than outputs_collect() told last: its device and key stand in `which`, as "PWM 3 <speed". */
bool outputs_changed(char *which, size_t size);

#endif
