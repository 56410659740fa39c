/* registry.c: the one place that lists the protocols. Adding one is an include and a line in each of the two tables,
 * in the same order. */
#include "scene/schema.h"
#include "wire/ezphysics/ezphysics.h"
#include "wire/float_udp/float_udp.h"
#include "wire/lockstep_tcp/lockstep_tcp.h"
#include "wire/sharp_json/sharp_json.h"
#include "host/wire.h"

const tt_wire_ops *const tt_wire_protocols[] = {
    &tt_ezphysics_ops, &tt_float_udp_ops, &tt_lockstep_tcp_ops, &tt_sharp_json_ops, NULL,
};

const tt_schema *const tt_wire_schemas[] = {
    &tt_ezphysics_schema,
    &tt_float_udp_schema,
    &tt_lockstep_tcp_schema,
    &tt_sharp_json_schema,
    NULL,
};
