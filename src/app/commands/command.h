/* command.h: the commands of the program, one file each. Adding one is a line in TT_APP_COMMANDS. */
#ifndef TT_APP_COMMANDS_COMMAND_H
#define TT_APP_COMMANDS_COMMAND_H

#include "base/status.h"

/** In the order of --help. X(name): `tether name`, whose tt_app_command is tt_app_name. */
#define TT_APP_COMMANDS(X)                                                                         \
  X(run)                                                                                           \
  X(check)                                                                                         \
  X(new)                                                                                           \
  X(client)                                                                                        \
  X(collect)                                                                                       \
  X(store)                                                                                         \
  X(telemetry)                                                                                     \
  X(token)                                                                                         \
  X(core)                                                                                          \
  X(joystick)                                                                                      \
  X(bench)                                                                                         \
  X(sweep)                                                                                         \
  X(verify)                                                                                        \
  X(runs)                                                                                          \
  X(compare)                                                                                       \
  X(export)                                                                                        \
  X(replay)

typedef struct tt_app_command {
  const char *name;    /**< "run" */
  const char *usage;   /**< "SCENE [options]" */
  const char *summary; /**< one line */
  const char *help;    /**< what --help adds: the options, a line each */
  /** `argv[0]` is the command's name. Fills `error` unless it returns TT_OK. */
  tt_status (*run)(int argc, char **argv, tt_error *error);
} tt_app_command;

/** Each stands in the file of its name. */
#define TT_APP_DECLARE(name) extern const tt_app_command tt_app_##name;
TT_APP_COMMANDS(TT_APP_DECLARE)
#undef TT_APP_DECLARE

/** 0 done, 1 a file is wrong (or runs differ), 2 the command line is wrong, 3 something failed while running, 130 a signal
 *  ended a sweep. */
int tt_app_exit_status(tt_status status);

#endif
