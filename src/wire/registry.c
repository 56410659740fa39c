/* registry.c: the one place that lists the protocols. Adding one is an include and a line in each of the two tables,
 * in the same order. */
#include "config/schema.h"
#include "wire/wire.h"

const tt_wire_ops *const tt_wire_protocols[] = {
    NULL,
};

const tt_schema *const tt_wire_schemas[] = {
    NULL,
};
