#include "host/game_keys.h"

#include <string.h>

#define LONGEST 86400 /* s of a period */

static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_STRING_PTR("start", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_game_keys, start,
                           0, 16),
    CYAML_FIELD_STRING_PTR("autonomous", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_game_keys,
                           autonomous, 0, 64),
    CYAML_FIELD_STRING_PTR("pause", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_game_keys, pause,
                           0, 64),
    CYAML_FIELD_STRING_PTR("teleop", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_game_keys, teleop,
                           0, 64),
    CYAML_FIELD_END,
};

static tt_status check_start(tt_game_keys *keys, const char *where, tt_error *error) {
  static const char *const starts[] = {[TT_START_TELEOP] = "teleop",
                                       [TT_START_AUTONOMOUS] = "autonomous",
                                       [TT_START_DISABLED] = "disabled",
                                       NULL};
  int index;
  TT_TRY(tt_word_check(keys->start, "start", where, starts, TT_START_TELEOP, &index, error));
  keys->begins = (tt_game_start)index;
  return TT_OK;
}

static tt_status check(void *config, const char *where, tt_error *error) {
  tt_game_keys *keys = config;
  const tt_match_timing *usual = &tt_practice_match;
  tt_match_timing *match = &keys->match;
  TT_TRY(tt_default_string(&keys->start, "teleop", error));
  TT_TRY(check_start(keys, where, error));
  TT_TRY(tt_quantity_check(keys->autonomous, "autonomous", where, TT_TIME, 0, LONGEST,
                           usual->autonomous, &match->autonomous, error));
  TT_TRY(tt_quantity_check(keys->pause, "pause", where, TT_TIME, 0, LONGEST, usual->pause,
                           &match->pause, error));
  TT_TRY(tt_quantity_check(keys->teleop, "teleop", where, TT_TIME, 0, LONGEST, usual->teleop,
                           &match->teleop, error));
  if (match->autonomous + match->pause + match->teleop > 0) return TT_OK;
  return tt_fail(error, TT_INVALID,
                 "%s: a practice match of 0 s; give autonomous, pause or teleop some time", where);
}

const tt_schema tt_game_schema = {
    .key = "game", .fields = fields, .size = sizeof(tt_game_keys), .check = check};
