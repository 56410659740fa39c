/* registry.c: the one place that lists the protocols. Adding one is an include and a line in each of the two tables,
 * in the same order. */
#include "config/schema.h"
#include "wire/float_udp/float_udp.h"
#include "wire/lockstep_tcp/lockstep_tcp.h"
#include "wire/wire.h"

const tt_wire_ops *const tt_wire_protocols[] = {
    &tt_float_udp_ops,
    &tt_lockstep_tcp_ops,
    NULL,
};

const tt_schema *const tt_wire_schemas[] = {
    &tt_float_udp_schema,
    &tt_lockstep_tcp_schema,
    NULL,
};
