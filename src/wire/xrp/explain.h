/* explain.h: an xrp message taken apart for monitors. */
#ifndef TT_WIRE_XRP_EXPLAIN_H
#define TT_WIRE_XRP_EXPLAIN_H

#include "host/wire.h"

/** See tt_wire_ops.explain. */
void tt_xrp_explain(bool incoming, tt_explanation *to);

#endif
