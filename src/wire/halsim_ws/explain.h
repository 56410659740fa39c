/* explain.h: the values of a HALSim message, for monitors. */
#ifndef TT_WIRE_HALSIM_WS_EXPLAIN_H
#define TT_WIRE_HALSIM_WS_EXPLAIN_H

#include "host/wire.h"

/** Lists device and values; a message that can't be read is one wrong field. Any thread. */
void tt_halsim_explain(tt_explanation *to);

#endif
