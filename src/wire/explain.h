/* explain.h: what the wires' monitors are made of: fields of a message that may be cut, too short, too long, or wrong. */
#ifndef TT_WIRE_EXPLAIN_H
#define TT_WIRE_EXPLAIN_H

#include "host/wire.h"

/** Adds the field at bytes offset…offset + size, whose value the caller fills in. NULL when there is nothing to fill in:
 *  the message ends before it or in it (it is listed as missing, and wrong), its bytes were not kept, or the list is full. */
tt_wire_field *tt_explain_field(tt_explanation *to, const char *name, const char *unit, int offset,
                                int size);
/** Fills in a number; one that is not finite is wrong. `field` may be NULL. */
void tt_explain_number(tt_wire_field *field, double value);
/** What follows the last field, if anything, is listed as surplus, and wrong. */
void tt_explain_rest(tt_explanation *to, int offset);

#endif
