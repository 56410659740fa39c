/* trials.h: timed trials of people and concepts, kept in an SQLite file. Objects are those of docs/web.md. */
#ifndef TT_WEB_TRIALS_H
#define TT_WEB_TRIALS_H

#include "base/status.h"

#include <json-c/json.h>

typedef struct tt_trials tt_trials;

/** Opens the file, making it where it is missing. Cheap: several programs may use it at the same time. */
tt_status tt_trials_open(const char *path, tt_trials **trials, tt_error *error);
void tt_trials_close(tt_trials *trials);

/* `*made` is the caller's: the answer. TT_INVALID: the object is wrong; TT_NOT_FOUND: there is no such id. */
tt_status tt_trials_list(tt_trials *trials, struct json_object **made, tt_error *error);
tt_status tt_trials_add(tt_trials *trials, struct json_object *trial, struct json_object **made,
                        tt_error *error);
/** Changes `note` and `discarded`; others in `changes` are refused. */
tt_status tt_trials_change(tt_trials *trials, const char *id, struct json_object *changes,
                           struct json_object **made, tt_error *error);
/** Answers the trial as it was. */
tt_status tt_trials_remove(tt_trials *trials, const char *id, struct json_object **made,
                           tt_error *error);

#endif
