/* compose.h: makes the model of a world, the lists of everything in it by name, from what the engine compiled and
 * what robot parts declare. */
#ifndef TT_SIM_COMPOSE_H
#define TT_SIM_COMPOSE_H

#include "model/engine.h"
#include "model/model.h"
#include "model/part.h"
#include "base/status.h"

#include <stdbool.h>

typedef struct tt_composition tt_composition;

/** Describes `engine`, lets every part declare, and adds the commands that the simulation itself obeys. With `dynamics`
 *  false (concept mode) commands place things instead of driving joints. Calls declare() and resolve() of each part. */
tt_status tt_compose(tt_engine *engine, tt_part *const *parts, int part_count, bool dynamics,
                     tt_composition **composition, tt_error *error);
void tt_composition_free(tt_composition *composition);

/** Owned by the composition. */
const tt_model *tt_composition_model(const tt_composition *composition);
const tt_names *tt_composition_names(const tt_composition *composition);
/** What of the model may be changed: the engine's, then the parts'. */
const tt_value *tt_composition_values(const tt_composition *composition, int *count);
/** The part, and which of its own, that value `index` is, when it is not the engine's. */
int tt_composition_value_part(const tt_composition *composition, int index, int *own);

#endif
