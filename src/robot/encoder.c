/* encoder.c: counts ticks of an angle or a length, as a shaft encoder or a potentiometer does.
 *
 *   encoders:
 *     - name: left_encoder            # channel left_encoder.ticks; of an angle also left_encoder.angle,
 *                                     # wrapped into (−π, π] rad
 *       signal: left_wheel.position   # any signal of this robot that is an angle or a length
 *       ticks_per_turn: 1024          # of an angle; a negative number counts backwards
 *       ticks_per_meter: 2000         # of a length
 *       from: 0 m                     # or instead of ticks per anything: the travel on which minimum … maximum
 *       to: 24 in                     # are spread
 *       offset: 0                     # ticks at zero (with from and to: added to them), default 0
 *       minimum: 0                    # least and greatest reading; default: no bounds
 *       maximum: 1023
 *       overflow: wrap                # beyond them: wrap around (default) or saturate
 *
 * ticks = round(signal × ticks per unit + offset), then wrapped or saturated. It counts from the signal's zero,
 * not from where the robot stood when it was switched on.
 */
#include "robot/common.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define TICKS_LIMIT 1e12

typedef struct encoder_config {
  char *name, *signal;
  double *ticks_per_turn, *ticks_per_meter;
  char *from, *to;
  double *offset, *minimum, *maximum;
  char *overflow;
  /* Filled by check(): */
  tt_dimension dimension; /* of the signal */
  double scale, zero;     /* ticks = signal × scale + zero */
  double least, greatest;
  bool bounded, saturate;
} encoder_config;

#define NUMBER(key)                                                                                \
  CYAML_FIELD_FLOAT_PTR(#key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, encoder_config, key)
#define TEXT(key)                                                                                  \
  CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, encoder_config, key, 0, 64)
static const cyaml_schema_field_t encoder_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, encoder_config, name, 1, 64),
    CYAML_FIELD_STRING_PTR("signal", CYAML_FLAG_POINTER, encoder_config, signal, 1, 128),
    NUMBER(ticks_per_turn),
    NUMBER(ticks_per_meter),
    TEXT(from),
    TEXT(to),
    NUMBER(offset),
    NUMBER(minimum),
    NUMBER(maximum),
    TEXT(overflow),
    CYAML_FIELD_END,
};
#undef NUMBER
#undef TEXT

static tt_status check_bounds(encoder_config *config, const char *where, tt_error *error) {
  if (!config->minimum != !config->maximum)
    return tt_fail(error, TT_INVALID, "%s: give both minimum and maximum, or neither", where);
  config->bounded = config->minimum != NULL;
  TT_TRY(tt_number_check(config->minimum, "minimum", where, -TICKS_LIMIT, TICKS_LIMIT, 0,
                         &config->least, error));
  TT_TRY(tt_number_check(config->maximum, "maximum", where, -TICKS_LIMIT, TICKS_LIMIT, 0,
                         &config->greatest, error));
  if (config->bounded && config->greatest <= config->least)
    return tt_fail(error, TT_INVALID, "%s.maximum: must be above minimum", where);
  if (config->least != rint(config->least) || config->greatest != rint(config->greatest))
    return tt_fail(error, TT_INVALID, "%s: minimum and maximum must be whole numbers", where);
  static const char *const words[] = {"wrap", "saturate", NULL};
  int chosen;
  TT_TRY(tt_word_check(config->overflow, "overflow", where, words, 0, &chosen, error));
  config->saturate = chosen == 1;
  return tt_default_string(&config->overflow, words[chosen], error);
}

/* The travel between `from` and `to`, of an angle or a length as their units say. */
static tt_status check_travel(encoder_config *config, const char *where, tt_error *error) {
  if (!config->bounded)
    return tt_fail(error, TT_INVALID, "%s: from and to need minimum and maximum", where);
  double from, to;
  bool angle = tt_quantity_parse(config->from, TT_ANGLE, &from) &&
               tt_quantity_parse(config->to, TT_ANGLE, &to);
  bool length = tt_quantity_parse(config->from, TT_LENGTH, &from) &&
                tt_quantity_parse(config->to, TT_LENGTH, &to);
  if (angle == length)
    return tt_fail(error, TT_INVALID,
                   "%s: from '%s' to '%s' are neither two angles nor two lengths; give a unit",
                   where, config->from, config->to);
  config->dimension = angle ? TT_ANGLE : TT_LENGTH;
  tt_quantity_parse(config->from, config->dimension, &from);
  tt_quantity_parse(config->to, config->dimension, &to);
  if (from == to) return tt_fail(error, TT_INVALID, "%s.to: must differ from `from`", where);
  config->scale = (config->greatest - config->least) / (to - from);
  config->zero += config->least - from * config->scale;
  return TT_OK;
}

static tt_status check_scale(encoder_config *config, const char *where, tt_error *error) {
  int ways = (config->ticks_per_turn != NULL) + (config->ticks_per_meter != NULL) +
             (config->from && config->to);
  if (ways != 1 || !config->from != !config->to)
    return tt_fail(error, TT_INVALID,
                   "%s: give one of ticks_per_turn, ticks_per_meter, or from and to", where);
  if (config->from) return check_travel(config, where, error);
  config->dimension = config->ticks_per_turn ? TT_ANGLE : TT_LENGTH;
  const bool turns = config->ticks_per_turn != NULL;
  const char *key = turns ? "ticks_per_turn" : "ticks_per_meter";
  TT_TRY(tt_number_check(turns ? config->ticks_per_turn : config->ticks_per_meter, key, where, -1e9,
                         1e9, 0, &config->scale, error));
  if (config->scale == 0)
    return tt_fail(error, TT_INVALID, "%s.%s: 0 would never count; give another number", where,
                   key);
  if (turns) config->scale /= 2 * PI;
  return TT_OK;
}

static tt_status encoder_check(void *untyped, const char *where, tt_error *error) {
  encoder_config *config = untyped;
  TT_TRY(tt_robot_check_name(config->name, where, error));
  TT_TRY(check_bounds(config, where, error));
  TT_TRY(tt_number_check(config->offset, "offset", where, -TICKS_LIMIT, TICKS_LIMIT, 0,
                         &config->zero, error));
  return check_scale(config, where, error);
}

const tt_schema tt_encoder_schema = {.key = "encoders",
                                     .fields = encoder_fields,
                                     .size = sizeof(encoder_config),
                                     .check = encoder_check};

typedef struct encoder {
  tt_robot_part head;
  tt_signal signal;
  int ticks_channel, angle_channel;
} encoder;

static tt_status encoder_declare(tt_part *part, tt_declare *declare, tt_error *error) {
  encoder *self = (encoder *)part;
  const encoder_config *config = self->head.config;
  TT_TRY(
      tt_robot_add_channel(declare, part, "ticks", TT_DIMENSIONLESS, &self->ticks_channel, error));
  if (config->dimension != TT_ANGLE) return TT_OK;
  return tt_robot_add_channel(declare, part, "angle", TT_ANGLE, &self->angle_channel, error);
}

static tt_status encoder_resolve(tt_part *part, const tt_names *names, tt_error *error) {
  encoder *self = (encoder *)part;
  const encoder_config *config = self->head.config;
  TT_TRY(tt_robot_find_signal(&self->head, names, "signal", config->signal, self->ticks_channel,
                              &self->signal, error));
  if (self->signal.dimension == config->dimension) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s.signal: '%s' is in %s, but the encoder counts %s",
                 self->head.where, config->signal, tt_unit_si(self->signal.dimension)->name,
                 tt_unit_si(config->dimension)->name);
}

static double into_bounds(const encoder_config *config, double ticks) {
  if (!config->bounded) return ticks;
  if (config->saturate) return fmax(config->least, fmin(ticks, config->greatest));
  double readings = config->greatest - config->least + 1;
  double above = fmod(ticks - config->least, readings);
  return config->least + (above < 0 ? above + readings : above);
}

static void encoder_sense(tt_part *part, const tt_space *space, tt_view *view) {
  (void)space;
  const encoder *self = (const encoder *)part;
  const encoder_config *config = self->head.config;
  double value = tt_signal_read(&self->signal, view);
  view->channels[self->ticks_channel] =
      into_bounds(config, rint(value * config->scale + config->zero));
  if (config->dimension == TT_ANGLE) {
    double angle = remainder(value, 2 * PI);
    view->channels[self->angle_channel] = angle <= -PI ? PI : angle;
  }
}

static const tt_part_ops encoder_ops = {
    .kind = "encoders",
    .declare = encoder_declare,
    .resolve = encoder_resolve,
    .sense = encoder_sense,
    .clone = tt_robot_part_clone,
    .free = tt_robot_part_free,
};

const tt_part_kind tt_encoder_kind = {.ops = &encoder_ops, .part_size = sizeof(encoder)};
