/* log_argument.h: the kept runs that a command line names. */
#ifndef TT_APP_LOG_ARGUMENT_H
#define TT_APP_LOG_ARGUMENT_H

#include "record/run_folder.h"

/** The path of LOG on a command line, which is a file, or a run of the folder of kept runs by its name. TT_INVALID: it is
 *  neither. */
tt_status tt_log_argument_path(const char *given, char *path, size_t size, tt_error *error);
/** The run of `folder` that is called `given`, with or without ".wpilog". TT_NOT_FOUND: the message names the nearest. Free it
 *  with tt_kept_run_clear(), also after failure. */
tt_status tt_log_argument_find(const char *folder, const char *given, tt_kept_run *run,
                               tt_error *error);
/** Has a log whose scene had a token pages again, which everybody on the machine could reach? Where it lacks it, the settings of this call
 *  say what of web.token or web.tokens holds; TT_USAGE. */
tt_status tt_log_argument_check_token(bool lacks_token, const char *const *settings, int count,
                                      tt_error *error);

#endif
