/* explain.h: where each number of a message stands, whatever its style, also in one that is no JSON. For monitors. */
#ifndef TT_WIRE_SHARP_JSON_EXPLAIN_H
#define TT_WIRE_SHARP_JSON_EXPLAIN_H

#include "sharp/codec.h"
#include "host/wire.h"

/** Lists every number of `format` in its order; a key that the message leaves out is listed as kept. */
void tt_sharp_explain(const tt_sharp_format *format, tt_explanation *to);

#endif
