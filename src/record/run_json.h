/* run_json.h: kept runs as the JSON objects of docs/web.md. */
#ifndef TT_RECORD_RUN_JSON_H
#define TT_RECORD_RUN_JSON_H

#include "record/run_folder.h"
#include "record/run_log.h"
#include "record/summary.h"
#include "record/trace.h"

#include <json-c/json.h>

/** {id, file, pinned, name, tags, note, scene, started, duration, size, outcome, recording, …}; the caller's to json_object_put(). Times s, size
 *  bytes. */
struct json_object *tt_run_facts_json(const tt_kept_run *run, const tt_run_facts *facts);
/** Adds `signals`, `events` and `moved`, the time of the first motion, of the log to its object. */
void tt_run_add_contents(const tt_run_log *log, struct json_object *run);
/** "/signals/x" is called x, "/commands/x" command:x, as in the live stream; of an entry whose role is TT_ROLE_SIGNAL. */
void tt_run_signal_name(const tt_run_entry *entry, char *name, size_t size);
/** {time, values} as GET /api/runs/ID/signals answers; the caller's to json_object_put(). */
struct json_object *tt_traces_json(const tt_traces *traces);

#endif
