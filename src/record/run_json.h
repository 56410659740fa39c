/* run_json.h: kept runs as the JSON objects of docs/web.md. */
#ifndef TT_RECORD_RUN_JSON_H
#define TT_RECORD_RUN_JSON_H

#include "record/run_folder.h"
#include "record/run_log.h"
#include "record/summary.h"

#include <json-c/json.h>

/** {id, file, pinned, scene, started, duration, size, outcome, recording, …}; the caller's to json_object_put(). Times s, size
 *  bytes. */
struct json_object *tt_run_facts_json(const tt_kept_run *run, const tt_run_facts *facts);
/** Adds `signals`, `events` and `robots` (distance, top speed) of the log to its object. */
void tt_run_add_contents(const tt_run_log *log, struct json_object *run);
/** {time, values} of the signals called `names`, as GET /api/runs/ID/signals answers: every sample, or where they are
 *  more than `points` (≥ 2), the least and the greatest of each stretch in the order in which they came. TT_NOT_FOUND
 *  names a signal that the log does not hold; TT_NOMEM. `*plot` is the caller's to json_object_put(). */
tt_status tt_run_plot(const tt_run_log *log, const char *const *names, int count, unsigned points,
                      struct json_object **plot, tt_error *error);

#endif
