/* topics.h: the topics that show a world, and their values from a view. */
#ifndef TT_NT4_TOPICS_H
#define TT_NT4_TOPICS_H

#include "game/field.h"
#include "model/signal.h"
#include "nt4/server.h"

typedef struct tt_nt4_topics tt_nt4_topics;

/** Announces them all. `model` and `names` outlive it. */
tt_status tt_nt4_topics_new(tt_nt4_server *server, const tt_model *model, const tt_names *names,
                            const tt_field *field, tt_nt4_topics **topics, tt_error *error);
/** NULL-safe. */
void tt_nt4_topics_free(tt_nt4_topics *topics);
/** Gives those that somebody wants their values of `view`. */
void tt_nt4_topics_set(tt_nt4_topics *topics, const tt_view *view);

#endif
