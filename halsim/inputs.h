/* inputs.h: what Tether gives: sensors, battery, driver station. */
#ifndef TT_EXTENSION_INPUTS_H
#define TT_EXTENSION_INPUTS_H

#include <stddef.h>
#include <stdint.h>

/** Finds the functions of this season. Before the other; once. */
void inputs_find(void);

/** Takes in the body of a frame of Tether's: gives the values of its messages to the robot program's devices. What a message says that
 *  no device has, or of another sort than it has, is left out.
 *  @return how far to step, µs; −1: this is no frame of Tether's, and nothing was given */
int64_t inputs_take(const uint8_t *body, size_t size);

#endif
