/* moment.h: a kept run at one time of it: where its bodies are, what its signals say, what it was told before. */
#ifndef TT_RECORD_MOMENT_H
#define TT_RECORD_MOMENT_H

#include "game/field.h"
#include "base/status.h"
#include "record/run_log.h"

#include <stdint.h>

struct json_object;

/** The bodies of the run's model, in its order. */
typedef struct tt_run_bodies {
  uint32_t *entries; /**< of their poses; 0: it is not kept, as that of the world */
  int count;
  tt_field field; /**< in which they are kept */
} tt_run_bodies;
/** TT_INVALID: the run does not say what it consists of; TT_NOMEM. tt_run_bodies_clear() it. */
tt_status tt_run_bodies_read(const tt_run_log *log, tt_run_bodies *bodies, tt_error *error);
void tt_run_bodies_clear(tt_run_bodies *bodies);
/** x y z (m) w x y z of a body at the cursor, in the arena's frame; at its origin where that is not known yet. */
void tt_run_bodies_pose(const tt_run_bodies *bodies, const tt_run_cursor *cursor, int body,
                        double pose[7]);

/** {time, values {name: number}} of all signals at a time, s; of those that have no value yet none. The caller's to
 *  json_object_put(); NULL when out of memory. */
struct json_object *tt_run_values_json(const tt_run_log *log, double time);

/** The last `limit` accepted commands up to a time, s, the oldest first: [{time, step, source, values [{name, value, unit}]}]. The
 *  caller's to json_object_put(); NULL when out of memory. */
struct json_object *tt_run_messages_json(const tt_run_log *log, double before, unsigned limit);

/** µs: of the run's first sample. More than 0 where it went on from another; there is nothing before. */
uint64_t tt_run_begin(const tt_run_log *log);
/** A time in s as the log counts; below 0 is 0. */
uint64_t tt_run_microseconds(double seconds);

#endif
