#include "record/section.h"

#include <math.h>
#include <stdlib.h>

#define DEFAULT_PERIOD 0.01 /* s */
#define DEFAULT_MEGABYTES 1000
#define DEFAULT_KEEP 50
#define DEFAULT_FOLDER_MEGABYTES 5000

static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_BOOL_PTR("on", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_record_keys, on),
    CYAML_FIELD_STRING_PTR("file", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_record_keys, file,
                           0, 1024),
    CYAML_FIELD_STRING_PTR("folder", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_record_keys,
                           folder, 0, 1024),
    CYAML_FIELD_STRING_PTR("period", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_record_keys,
                           period, 0, 64),
    CYAML_FIELD_UINT("megabytes", CYAML_FLAG_OPTIONAL, tt_record_keys, megabytes),
    CYAML_FIELD_UINT("keep", CYAML_FLAG_OPTIONAL, tt_record_keys, keep),
    CYAML_FIELD_UINT("folder_megabytes", CYAML_FLAG_OPTIONAL, tt_record_keys, folder_megabytes),
    CYAML_FIELD_END,
};

static tt_status check(void *config, const char *where, tt_error *error) {
  tt_record_keys *keys = config;
  tt_key_tell(&(tt_key_note){.where = where, .key = "on", .word = "on", .fallback = NAN});
  if (!keys->on) {
    keys->on = malloc(sizeof *keys->on);
    if (!keys->on) return tt_fail(error, TT_NOMEM, "%s: out of memory", where);
    *keys->on = true;
  }
  TT_TRY(
      tt_count_check(keys->keep, "keep", where, 1, UINT64_MAX, DEFAULT_KEEP, &keys->keep, error));
  TT_TRY(tt_count_check(keys->folder_megabytes, "folder_megabytes", where, 1, UINT64_MAX,
                        DEFAULT_FOLDER_MEGABYTES, &keys->folder_megabytes, error));
  TT_TRY(tt_count_check(
      keys->megabytes, "megabytes", where, 1, UINT64_MAX,
      keys->folder_megabytes < DEFAULT_MEGABYTES ? keys->folder_megabytes : DEFAULT_MEGABYTES,
      &keys->megabytes, error));
  if (!keys->file && keys->megabytes > keys->folder_megabytes)
    return tt_fail(
        error, TT_INVALID,
        "%s.megabytes: one run may take more than all together: raise folder_megabytes, or "
        "lower this",
        where);
  return tt_quantity_check(keys->period, "period", where, TT_TIME, 0, 3600, DEFAULT_PERIOD,
                           &keys->period_seconds, error);
}

const tt_schema tt_record_schema = {
    .key = "record", .fields = fields, .size = sizeof(tt_record_keys), .check = check};
