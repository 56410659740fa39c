/* match.c: see its header. */
#include "game/match.h"

#include <string.h>

static const char *const alliances[] = {
    [TT_ALLIANCE_NONE] = "", [TT_ALLIANCE_RED] = "red", [TT_ALLIANCE_BLUE] = "blue"};

double tt_match_time(double elapsed) {
  return elapsed < TT_MATCH_LENGTH ? elapsed : TT_MATCH_LENGTH;
}

const tt_match_timing tt_practice_match = {.autonomous = 15, .pause = 3, .teleop = 135};

tt_match_period tt_match_period_at(const tt_match_timing *timing, double elapsed, double *left) {
  const double driven = timing->autonomous + timing->pause, end = driven + timing->teleop;
  *left = 0;
  if (elapsed < timing->autonomous) {
    *left = timing->autonomous - elapsed;
    return TT_PERIOD_AUTONOMOUS;
  }
  if (elapsed < driven) return TT_PERIOD_PAUSE;
  if (elapsed >= end) return TT_PERIOD_OVER;
  *left = end - elapsed;
  return TT_PERIOD_TELEOP;
}

const char *tt_match_period_name(tt_match_period period) {
  static const char *const names[] = {[TT_PERIOD_NONE] = "none",
                                      [TT_PERIOD_AUTONOMOUS] = "autonomous",
                                      [TT_PERIOD_PAUSE] = "pause",
                                      [TT_PERIOD_TELEOP] = "teleop",
                                      [TT_PERIOD_OVER] = "over"};
  return names[period];
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
