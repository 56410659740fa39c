/* battery.c: what a robot's motors are fed from: its voltage sags with their current, and below a limit all of them are off until
 * it has recovered.
 *
 *   batteries:
 *     - name: battery            # channels battery.voltage, .current, .brownout, and .charge where it has a capacity
 *       open_circuit: 12.7 V     # full, without a load; default 12 V
 *       resistance: 15 mΩ        # of the battery and its wires; default 20 mΩ
 *       capacity: 18 A·h         # default: never empty
 *       empty: 11.8 V            # open circuit when the capacity is used up; default: as full
 *       brownout: 6.75 V         # default 6.3 V, below 12 V as much less; 0: never
 *       recovery: 7.5 V          # default 7.5 V, below 12 V as much less
 *
 * At its terminals V = open_circuit − resistance × I (WPILib, class BatterySim; its defaults are those of that class). I is what
 * the motors drew in the step before, so V follows with a time constant of 5 ms, as with the capacitors of controllers: it
 * settles where both hold, and does so even where a motor's current falls faster with V than V with the current.
 * A controller is a chopper: what it draws times V is what its motor has at its own voltage; a motor that brakes against its
 * voltage gives back. The charge falls by the current, the open circuit's voltage with the charge, linearly as that of a lead-acid
 * battery does (12.7 V full, 11.8 V empty); one that is empty gives nothing.
 * Brown-out: WPILib, "roboRIO Brownout and Understanding Current Draw": outputs are disabled below 6.3 V (roboRIO 2: 6.75 V),
 * until the voltage is above 7.5 V.
 */
#include "robot/common.h"

#include <math.h>
#include <string.h>

#define LAG 0.005 /* s */

typedef struct battery_config {
  char *name, *open_circuit, *resistance, *capacity, *empty, *brownout, *recovery;
  /* filled by check(), SI */
  double full_voltage, empty_voltage, ohms, charge; /* charge: C; 0: never empty */
  double limit, enough;
} battery_config;

#define QUANTITY(key)                                                                              \
  CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, battery_config, key, 0, 64)

static const cyaml_schema_field_t battery_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, battery_config, name,
                           1, 64),
    QUANTITY(open_circuit),
    QUANTITY(resistance),
    QUANTITY(capacity),
    QUANTITY(empty),
    QUANTITY(brownout),
    QUANTITY(recovery),
    CYAML_FIELD_END,
};

static tt_status battery_check(void *untyped, const char *where, tt_error *error) {
  battery_config *config = untyped;
  TT_TRY(tt_default_string(&config->name, "battery", error));
  TT_TRY(tt_robot_check_name(config->name, where, error));
  TT_TRY(tt_quantity_check(config->open_circuit, "open_circuit", where, TT_VOLTAGE, 0.1, 1000, 12,
                           &config->full_voltage, error));
  TT_TRY(tt_quantity_check(config->resistance, "resistance", where, TT_RESISTANCE, 0, 100, 0.02,
                           &config->ohms, error));
  TT_TRY(tt_quantity_check(config->capacity, "capacity", where, TT_CHARGE, 1e-3, 1e9, 0,
                           &config->charge, error));
  TT_TRY(tt_quantity_check(config->empty, "empty", where, TT_VOLTAGE, 0, config->full_voltage,
                           config->full_voltage, &config->empty_voltage, error));
  TT_TRY(tt_quantity_check(config->brownout, "brownout", where, TT_VOLTAGE, 0, config->full_voltage,
                           fmin(6.3, 0.525 * config->full_voltage), &config->limit, error));
  if (config->empty && !config->capacity)
    return tt_fail(error, TT_INVALID, "%s.empty: needs a capacity", where);
  return tt_quantity_check(
      config->recovery, "recovery", where, TT_VOLTAGE, config->limit, config->full_voltage,
      fmax(config->limit, fmin(7.5, 0.625 * config->full_voltage)), &config->enough, error);
}

const tt_schema tt_battery_schema = {.key = "batteries",
                                     .fields = battery_fields,
                                     .size = sizeof(battery_config),
                                     .is_single = true,
                                     .check = battery_check};

/* All of it is saved. */
typedef struct battery_state {
  double voltage; /* V at the terminals */
  double current; /* A, positive: drawn */
  double used;    /* C since the last reset */
  double off;     /* 1 in a brown-out */
} battery_state;

typedef struct battery {
  tt_robot_part head;
  battery_state now;
  int voltage_channel, current_channel, charge_channel, brownout_channel;
} battery;

static const battery_config *config_of(const battery *self) { return self->head.config; }

static double left(const battery *self) {
  const battery_config *config = config_of(self);
  return config->charge > 0 ? fmax(0, 1 - self->now.used / config->charge) : 1;
}

static double open_circuit(const battery *self) {
  const battery_config *config = config_of(self);
  double part = left(self);
  if (part <= 0) return 0;
  return config->empty_voltage + (config->full_voltage - config->empty_voltage) * part;
}

static void battery_reset(tt_part *part) {
  battery *self = (battery *)part;
  self->now = (battery_state){.voltage = config_of(self)->full_voltage};
}

static tt_status battery_declare(tt_part *part, tt_declare *declare, tt_error *error) {
  battery *self = (battery *)part;
  TT_TRY(tt_robot_add_channel(declare, part, "voltage", TT_VOLTAGE, &self->voltage_channel, error));
  TT_TRY(tt_robot_add_channel(declare, part, "current", TT_CURRENT, &self->current_channel, error));
  TT_TRY(tt_robot_add_channel(declare, part, "brownout", TT_DIMENSIONLESS, &self->brownout_channel,
                              error));
  *declare->supply = (tt_supply_channels){self->voltage_channel, self->brownout_channel};
  battery_reset(part);
  self->charge_channel = -1;
  if (config_of(self)->charge <= 0) return TT_OK;
  return tt_robot_add_channel(declare, part, "charge", TT_DIMENSIONLESS, &self->charge_channel,
                              error);
}

static void battery_actuate(tt_part *part, tt_actuation *actuation) {
  battery *self = (battery *)part;
  const battery_config *config = config_of(self);
  battery_state *now = &self->now;
  tt_supply *supply = &actuation->supplies[part->robot];
  supply->off = now->off != 0; /* as in the last step, by which motors draw */
  now->current = now->voltage > 0 ? actuation->draw(actuation, part->robot, now->voltage) : 0;
  now->used = fmax(0, now->used + now->current * actuation->timestep);
  double settled = fmax(0, open_circuit(self) - config->ohms * now->current);
  now->voltage += (settled - now->voltage) * actuation->timestep / (LAG + actuation->timestep);
  if (now->voltage < config->limit) now->off = 1;
  if (now->voltage > config->enough) now->off = 0;
  *supply = (tt_supply){.voltage = now->voltage, .is_there = true, .off = now->off != 0};
}

static void battery_sense(tt_part *part, const tt_space *space, tt_view *view) {
  const battery *self = (const battery *)part;
  (void)space;
  view->channels[self->voltage_channel] = self->now.voltage;
  view->channels[self->current_channel] = self->now.current;
  view->channels[self->brownout_channel] = self->now.off;
  if (self->charge_channel >= 0) view->channels[self->charge_channel] = left(self);
}

static size_t battery_state_size(const tt_part *part) {
  (void)part;
  return sizeof(battery_state);
}

static void battery_save(const tt_part *part, void *state) {
  memcpy(state, &((const battery *)part)->now, sizeof(battery_state));
}

static void battery_restore(tt_part *part, const void *state) {
  memcpy(&((battery *)part)->now, state, sizeof(battery_state));
}

static const tt_part_ops battery_ops = {
    .kind = "batteries",
    .declare = battery_declare,
    .actuate = battery_actuate,
    .sense = battery_sense,
    .reset = battery_reset,
    .state_size = battery_state_size,
    .save = battery_save,
    .restore = battery_restore,
    .clone = tt_robot_part_clone,
    .free = tt_robot_part_free,
};

const tt_part_kind tt_battery_kind = {.ops = &battery_ops, .part_size = sizeof(battery)};
