/* program_config.h: the command line and YAML file of commands that take a CONFIG instead of a scene. */
#ifndef TT_APP_PROGRAM_CONFIG_H
#define TT_APP_PROGRAM_CONFIG_H

#include "scene/tree.h"

/** An option of one command besides --set: its value goes to `target`. */
typedef struct tt_program_option {
  const char *name; /**< "--script" */
  const char **target;
} tt_program_option;

/** A loaded file. */
typedef struct tt_program_config {
  const char *path; /**< as errors show it; "defaults" without a file */
  const cyaml_schema_value_t *schema;
  tt_document *document;
  void *keys; /**< the schema's struct, filled by libcyaml */
} tt_program_config;

/** Reads `argv` ([CONFIG] [--set PATH=VALUE]… and `options`, NULL-terminated), loads CONFIG (none: an empty one)
 *  and applies the settings. TT_USAGE when the command line is wrong, TT_INVALID when the file is. */
tt_status tt_program_config_load(int argc, char **argv, const tt_program_option *options,
                                 const cyaml_schema_value_t *schema, tt_program_config *config,
                                 tt_error *error);
/** Adds the line to an error of a check that began with `config->path`. */
void tt_program_config_explain(const tt_program_config *config, tt_error *error);
void tt_program_config_free(tt_program_config *config);

#endif
