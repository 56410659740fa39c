/* told_state.h: how a store is: its writer tells it, whoever wants to know asks. */
#ifndef TT_STORE_TOLD_STATE_H
#define TT_STORE_TOLD_STATE_H

#include "store/store.h"

#include <pthread.h>

/** Begin with tt_told_state_init(), end with tt_told_state_clear(). */
typedef struct tt_told_state {
  pthread_mutex_t mutex; /**< guards it; who tells it may read it without */
  tt_store_state now;
} tt_told_state;

/** All is well. */
void tt_told_state_init(tt_told_state *told);
void tt_told_state_clear(tt_told_state *told);
/** `trouble`: why it can't write, cut at its size; NULL: it can. What else is told stays. The writer's thread. */
void tt_told_state_set(tt_told_state *told, const char *trouble);
/** The same, with what waits in a spool, of which `state` says the numbers. The writer's thread. */
void tt_told_state_set_spooled(tt_told_state *told, const char *trouble,
                               const tt_store_state *state);
/** Any thread. */
void tt_told_state_get(tt_told_state *told, tt_store_state *state);

#endif
