/* match.c: see its header. */
#include "game/match.h"

#include <string.h>

static const char *const alliances[] = {
    [TT_ALLIANCE_NONE] = "", [TT_ALLIANCE_RED] = "red", [TT_ALLIANCE_BLUE] = "blue"};

double tt_match_time(double elapsed) {
  return elapsed < TT_MATCH_LENGTH ? elapsed : TT_MATCH_LENGTH;
}

bool tt_alliance_read(const char *name, tt_alliance *alliance) {
  for (int i = TT_ALLIANCE_NONE; i <= TT_ALLIANCE_BLUE; i++) {
    if (strcmp(name, alliances[i])) continue;
    *alliance = (tt_alliance)i;
    return true;
  }
  return false;
}

const char *tt_alliance_name(tt_alliance alliance) { return alliances[alliance]; }

bool tt_is_piece_kind(int kind) { return kind >= 1 && kind <= TT_PIECE_KINDS; }
