/* sections.c: the table of a scene's sections, each one a mapping with a schema of its own in its room's folder. */
#include "record/section.h"

const tt_schema *const tt_section_schemas[] = {
    &tt_record_schema,
    NULL,
};
