/* game_keys.h: the scene's section `game`: how driver stations begin, and how long a practice match takes. */
#ifndef TT_HOST_GAME_KEYS_H
#define TT_HOST_GAME_KEYS_H

#include "game/driver_station.h"
#include "model/schema.h"

/** Checked by tt_game_schema; the last two follow from the texts before. */
typedef struct tt_game_keys {
  char *start;                       /**< teleop | autonomous | disabled */
  char *autonomous, *pause, *teleop; /**< quantities, s */
  tt_game_start begins;
  tt_match_timing match;
} tt_game_keys;

/** Its keys, their defaults and checks. */
extern const tt_schema tt_game_schema;

#endif
