/* match.h: facts of a competition that scenes, logs and controllers share: the match, alliances, kinds of game pieces. */
#ifndef TT_GAME_MATCH_H
#define TT_GAME_MATCH_H

#include <stdbool.h>

/** s: the FIRST match of 2011 and of the SHARP vehicle, 15 on its own and 120 driven. */
#define TT_MATCH_LENGTH 135.0

/** What a match's clock shows so many s after its start: it stops at the end. */
double tt_match_time(double elapsed);

/** How long the periods of a match take, s. */
typedef struct tt_match_timing {
  double autonomous, pause, teleop;
} tt_match_timing;
/** A practice match: 15 s, 3 s while points are counted and nobody drives, 135 s. */
extern const tt_match_timing tt_practice_match;

/** Where a match stands. */
typedef enum tt_match_period {
  TT_PERIOD_NONE, /**< there is no match */
  TT_PERIOD_AUTONOMOUS,
  TT_PERIOD_PAUSE,
  TT_PERIOD_TELEOP,
  TT_PERIOD_OVER,
} tt_match_period;

/** The period of a match that began `elapsed` s ago. `left` gets how long it goes on, s; 0 in the pause and at the end. */
tt_match_period tt_match_period_at(const tt_match_timing *timing, double elapsed, double *left);
/** "autonomous", "pause", …; "none". Static. */
const char *tt_match_period_name(tt_match_period period);

/** The side that a robot plays for. */
typedef enum tt_alliance { TT_ALLIANCE_NONE, TT_ALLIANCE_RED, TT_ALLIANCE_BLUE } tt_alliance;

/** Reads "red", "blue" or "" (none). False: it is neither. */
bool tt_alliance_read(const char *name, tt_alliance *alliance);
/** As tt_alliance_read() takes it. Static. */
const char *tt_alliance_name(tt_alliance alliance);

/** Kinds of game pieces are numbers from 1 to this; 0 is nothing. */
#define TT_PIECE_KINDS 4

/** Whether a kind of game piece has this number. */
bool tt_is_piece_kind(int kind);

#endif
