/* player.h: a kept run as the view of a world, so that everything that watches a world watches a run: pages, wires. */
#ifndef TT_RECORD_PLAYER_H
#define TT_RECORD_PLAYER_H

#include "sim/player.h"
#include "record/run_log.h"

typedef struct tt_run_player tt_run_player;

/** Plays `log`, which must outlive it, over `sim` (of the same scene), which is not stepped: see tt_run_player_contract(). Signals are found by
 *  name; one that the log lacks stays as it was. Contacts and forces between bodies are not kept, so there are none. What people were
 *  told during the run, observers hear again at its time. */
tt_status tt_run_player_open(const tt_run_log *log, const tt_sim *sim, tt_run_player **player,
                             tt_error *error);
/** For tt_world_set_player(). */
tt_player *tt_run_player_contract(tt_run_player *player);
/** After the world is freed. NULL-safe. */
void tt_run_player_close(tt_run_player *player);

#endif
