/* match.h: facts of a competition that scenes, logs and controllers share: the match, alliances, kinds of game pieces. */
#ifndef TT_GAME_MATCH_H
#define TT_GAME_MATCH_H

#include <stdbool.h>

/** s: the FIRST match of 2011 and of the SHARP vehicle, 15 on its own and 120 driven. */
#define TT_MATCH_LENGTH 135.0

/** What a match's clock shows so many s after its start: it stops at the end. */
double tt_match_time(double elapsed);

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
