/* sections.h: the keys of the scene's sections that belong to no other room. */
#ifndef TT_CONFIG_SECTIONS_H
#define TT_CONFIG_SECTIONS_H

#include "config/schema.h"

#include <stdbool.h>

/** `record`: inputs and events of a run, as a file. */
typedef struct tt_record_keys {
  char *file; /**< NULL: none; relative to the working directory */
  bool hash;  /**< a state hash every tick; default off */
} tt_record_keys;

extern const tt_schema tt_record_schema;

#endif
