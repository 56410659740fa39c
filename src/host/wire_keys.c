#include "host/wire_keys.h"

#include <stdio.h>

const cyaml_schema_field_t tt_fault_fields[] = {
    CYAML_FIELD_FLOAT("loss", CYAML_FLAG_OPTIONAL, tt_wire_fault_keys, loss),
    CYAML_FIELD_FLOAT("duplicate", CYAML_FLAG_OPTIONAL, tt_wire_fault_keys, duplicate),
    CYAML_FIELD_FLOAT("reorder", CYAML_FLAG_OPTIONAL, tt_wire_fault_keys, reorder),
    CYAML_FIELD_STRING_PTR("delay", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_wire_fault_keys,
                           delay, 0, 64),
    CYAML_FIELD_STRING_PTR("jitter", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_wire_fault_keys,
                           jitter, 0, 64),
    CYAML_FIELD_UINT("seed", CYAML_FLAG_OPTIONAL, tt_wire_fault_keys, seed),
    CYAML_FIELD_END,
};

tt_status tt_default_address(const tt_wire_common *common, int port, char **address,
                             const char *where, tt_error *error) {
  char text[32];
  int player = common->player ? *common->player : 1;
  tt_key_tell(&(tt_key_note){
      .where = where, .key = "player", .lower = 1, .upper = TT_MOST_PLAYERS, .fallback = 1});
  if (player < 1 || player > TT_MOST_PLAYERS) {
    return tt_fail(error, TT_INVALID, "%s.player: %d is no player; give 1 to %d", where, player,
                   TT_MOST_PLAYERS);
  }
  snprintf(text, sizeof text, "127.0.0.1:%d", port + TT_PORTS_A_PLAYER * (player - 1));
  return tt_default_string(address, text, error);
}

static tt_status check_probability(double value, const char *key, const char *where,
                                   tt_error *error) {
  char path[32];
  snprintf(path, sizeof path, "faults.%s", key);
  tt_key_tell(&(tt_key_note){.where = where, .key = path, .lower = 0, .upper = 1});
  if (value >= 0 && value <= 1) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s.faults.%s: %g is no probability; give 0 to 1", where, key,
                 value);
}

tt_status tt_wire_faults_check(const tt_wire_common *common, const char *where, tt_faults *faults,
                               tt_error *error) {
  *faults = (tt_faults){0};
  static const tt_wire_fault_keys none;
  const tt_wire_fault_keys *keys = common->faults ? common->faults : &none;
  TT_TRY(check_probability(keys->loss, "loss", where, error));
  TT_TRY(check_probability(keys->duplicate, "duplicate", where, error));
  TT_TRY(check_probability(keys->reorder, "reorder", where, error));
  tt_key_tell(&(tt_key_note){
      .where = where, .key = "faults.seed", .upper = (double)UINT64_MAX, .fallback = 0});
  faults->loss = keys->loss;
  faults->duplicate = keys->duplicate;
  faults->reorder = keys->reorder;
  faults->seed = keys->seed;
  TT_TRY(tt_quantity_check(keys->delay, "faults.delay", where, TT_TIME, 0, 10, 0, &faults->delay,
                           error));
  return tt_quantity_check(keys->jitter, "faults.jitter", where, TT_TIME, 0, 10, 0, &faults->jitter,
                           error);
}
