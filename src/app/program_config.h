/* program_config.h: the command line and YAML file of commands that take a CONFIG instead of a scene. */
#ifndef TT_APP_PROGRAM_CONFIG_H
#define TT_APP_PROGRAM_CONFIG_H

#include "control/sharp_original.h"
#include "scene/tree.h"

/** An option of one command besides --set: its value goes to `target`. */
typedef struct tt_program_option {
  const char *name; /**< "--script" */
  const char **target;
} tt_program_option;

/** Says what a file that others wrote for their programs means to ours, for player 1, 2, …; leaves `meaning` as it is where
 *  the file is not one of those. TT_INVALID names the file, the line and the key. */
typedef tt_status tt_program_translate(const tt_document *document, int player,
                                       tt_sharp_original *meaning, tt_error *error);

/** A loaded file. */
typedef struct tt_program_config {
  const char *path; /**< as errors show it; "defaults" without a file */
  char unused[300]; /**< keys of another's file that mean nothing to us; "" */
  const cyaml_schema_value_t *schema;
  tt_document *document;
  void *keys; /**< the schema's struct, filled by libcyaml */
} tt_program_config;

/** Reads `argv` ([CONFIG] [--set PATH=VALUE]… and `options`, NULL-terminated), loads CONFIG (none: an empty one; one of
 *  another's: what `translate`, which may be NULL, makes of it) and applies the settings. TT_USAGE when the command line is wrong, TT_INVALID when the file is. */
tt_status tt_program_config_load(int argc, char **argv, const tt_program_option *options,
                                 const cyaml_schema_value_t *schema,
                                 tt_program_translate *translate, tt_program_config *config,
                                 tt_error *error);
/** Says in the log which keys of another's file mean nothing to us, if any. */
void tt_program_config_say_unused(const tt_program_config *config);
/** Adds the line to an error of a check that began with `config->path`. */
void tt_program_config_explain(const tt_program_config *config, tt_error *error);
void tt_program_config_free(tt_program_config *config);

#endif
