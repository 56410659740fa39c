/* explain.h: a message taken apart number by number, as docs/wires/ezphysics.md lists them. For monitors. */
#ifndef TT_WIRE_EZPHYSICS_EXPLAIN_H
#define TT_WIRE_EZPHYSICS_EXPLAIN_H

#include "wire/ezphysics/objects.h"

/** Header and packets, each with its own header, as far as they can be told apart. */
void tt_ez_explain(const tt_ez_objects *objects, bool incoming, tt_explanation *to);

#endif
