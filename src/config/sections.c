/* sections.c: the table of a scene's sections, each one a mapping with a schema of its own. */
#include "config/schema.h"

const tt_schema *const tt_section_schemas[] = {
    NULL,
};
