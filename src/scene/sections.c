/* sections.c: the table of a scene's sections, each one a mapping with a schema of its own in its room's folder.
 * Rooms are named here and nowhere else in config; their headers stay unknown to it. */
#include "scene/schema.h"

extern const tt_schema tt_record_schema;    /* src/record/section.c */
extern const tt_schema tt_telemetry_schema; /* src/telemetry/service.c */
extern const tt_schema tt_web_schema;       /* src/web/section.c */

const tt_schema *const tt_section_schemas[] = {
    &tt_record_schema,
    &tt_telemetry_schema,
    &tt_web_schema,
    NULL,
};
