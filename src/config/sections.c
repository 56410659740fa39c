/* sections.c: the table of a scene's sections, each one a mapping with a schema of its own. A room that has a
 * section keeps its schema in its own folder and adds a line here; `record` stands here until then. */
#include "config/sections.h"

static const cyaml_schema_field_t record_fields[] = {
    CYAML_FIELD_STRING_PTR("file", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_record_keys, file,
                           0, 1024),
    CYAML_FIELD_BOOL("hash", CYAML_FLAG_OPTIONAL, tt_record_keys, hash),
    CYAML_FIELD_END,
};

const tt_schema tt_record_schema = {"record", record_fields, sizeof(tt_record_keys),
                                    NULL,     NULL,          false};

const tt_schema *const tt_section_schemas[] = {
    &tt_record_schema,
    NULL,
};
