/* explain.h: the messages of a frame, for monitors. */
#ifndef TT_WIRE_HALSIM_STEP_EXPLAIN_H
#define TT_WIRE_HALSIM_STEP_EXPLAIN_H

#include "host/wire.h"

/** Lists the length of a frame and each value of its messages; what can't be read is a wrong field. Any thread. */
void tt_halsim_step_explain(tt_explanation *to);

#endif
