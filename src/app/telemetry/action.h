/* action.h: what `tether telemetry` does, a file each or one with its counterpart. Adding one is a line here, and one in the
 * table of commands/telemetry.c. */
#ifndef TT_APP_TELEMETRY_ACTION_H
#define TT_APP_TELEMETRY_ACTION_H

#include "base/status.h"

typedef struct tt_telemetry_action {
  const char *name; /**< "seal" */
  /** `argv[0]` is the action's name. TT_USAGE: the command line is wrong. */
  tt_status (*run)(int argc, char **argv, tt_error *error);
} tt_telemetry_action;

/** Packs a store's days that are over, and unpacks them. */
extern const tt_telemetry_action tt_telemetry_seal, tt_telemetry_unseal;
/** Removes values of a device. */
extern const tt_telemetry_action tt_telemetry_remove;
/** A copy of a store while a collector writes; records of one store into another. */
extern const tt_telemetry_action tt_telemetry_backup, tt_telemetry_copy;

#endif
