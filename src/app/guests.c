/* guests.c: the table of a scene's sections, each one a mapping with a schema of its own in its room's folder. */
#include "app/guests.h"

#include "host/scene_wires.h"
#include "host/wire_keys.h"

extern const tt_schema tt_foxglove_schema;  /* src/foxglove/section.c */
extern const tt_schema tt_game_schema;      /* src/host/game_keys.c */
extern const tt_schema tt_nt4_schema;       /* src/nt4/section.c */
extern const tt_schema tt_record_schema;    /* src/record/section.c */
extern const tt_schema tt_telemetry_schema; /* src/telemetry/service.c */
extern const tt_schema tt_web_schema;       /* src/web/section.c */

static const tt_schema *const sections[] = {
    &tt_foxglove_schema,  &tt_game_schema, &tt_nt4_schema, &tt_record_schema,
    &tt_telemetry_schema, &tt_web_schema,  NULL,
};

const tt_scene_guests tt_program_guests = {
    .sections = sections, .wires = tt_wire_schemas, .load_wires = tt_load_wires};
