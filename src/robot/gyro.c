/* gyro.c: the rate of turn about one of a body's own axes, and the angle that integrates it, with their faults.
 *
 *   gyros:
 *     - name: gyro         # channels gyro.rate (rad/s) and gyro.angle (rad, not wrapped, 0 after a reset)
 *       body: chassis      # default the robot's root body
 *       axis: z            # of the body: x, y, or z, the default
 *       bias: 0.05 deg/s   # added to the rate, default 0
 *       noise: 0.2 deg/s   # standard deviation of the rate, new every tick, default 0
 *
 * With a the axis, rate = ω·a + bias + noise. The angle adds (mean of ω·a now and a tick before + bias + noise) × the tick's length:
 * a real gyro drifts in the same way. Right-hand rule: about z, to the left is positive.
 */
#include "robot/common.h"

#include <string.h>

typedef struct gyro_config {
  char *name, *body, *axis, *bias, *noise;
  double direction[3]; /* of the axis in the body's frame; filled by check(), as what follows */
  double offset, deviation; /* rad/s */
} gyro_config;

static const cyaml_schema_field_t gyro_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, gyro_config, name, 1, 64),
    CYAML_FIELD_STRING_PTR("body", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, gyro_config, body, 0,
                           128),
    CYAML_FIELD_STRING_PTR("axis", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, gyro_config, axis, 0,
                           8),
    CYAML_FIELD_STRING_PTR("bias", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, gyro_config, bias, 0,
                           64),
    CYAML_FIELD_STRING_PTR("noise", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, gyro_config, noise, 0,
                           64),
    CYAML_FIELD_END,
};

static tt_status check_axis(gyro_config *config, const char *where, tt_error *error) {
  const char *axis = config->axis ? config->axis : "z";
  if (strlen(axis) != 1 || !strchr("xyz", axis[0]))
    return tt_fail(error, TT_INVALID, "%s.axis: '%s' is not one of x, y, z", where, axis);
  for (int i = 0; i < 3; i++) config->direction[i] = axis[0] == "xyz"[i];
  return TT_OK;
}

static tt_status gyro_check(void *untyped, const char *where, tt_error *error) {
  gyro_config *config = untyped;
  TT_TRY(tt_robot_check_name(config->name, where, error));
  TT_TRY(check_axis(config, where, error));
  TT_TRY(tt_quantity_check(config->bias, "bias", where, TT_ANGULAR_VELOCITY, -1e3, 1e3, 0,
                           &config->offset, error));
  return tt_quantity_check(config->noise, "noise", where, TT_ANGULAR_VELOCITY, 0, 1e3, 0,
                           &config->deviation, error);
}

const tt_schema tt_gyro_schema = {
    .key = "gyros", .fields = gyro_fields, .size = sizeof(gyro_config), .check = gyro_check};

/** What decides the future. */
typedef struct gyro_state {
  double angle; /* rad */
  double rate;  /* true rate at `step`, rad/s */
  uint64_t step;
  uint64_t begun; /* whether `rate` and `step` mean anything */
} gyro_state;

typedef struct gyro {
  tt_robot_part head;
  tt_noise noise;
  int body, rate, angle;
  double bias, deviation; /* rad/s */
  gyro_state state;
} gyro;

static void gyro_seed(tt_part *part, uint64_t seed) {
  gyro *self = (gyro *)part;
  self->head.env.seed = seed; /* of clones, too */
  self->noise = tt_noise_of(seed, self->head.part.robot, self->head.part.name);
}

static tt_status gyro_declare(tt_part *part, tt_declare *declare, tt_error *error) {
  gyro *self = (gyro *)part;
  const gyro_config *config = self->head.config;
  gyro_seed(part, self->head.env.seed);
  self->bias = config->offset;
  self->deviation = config->deviation;
  TT_TRY(tt_robot_find_body(declare, "body", config->body, &self->body, error));
  TT_TRY(tt_robot_add_channel(declare, part, "rate", TT_ANGULAR_VELOCITY, &self->rate, error));
  return tt_robot_add_channel(declare, part, "angle", TT_ANGLE, &self->angle, error);
}

static void gyro_sense(tt_part *part, const tt_space *space, tt_view *view) {
  (void)space;
  gyro *self = (gyro *)part;
  const gyro_config *config = self->head.config;
  double axis[3], rate = 0;
  tt_robot_rotate(view->body_rotation[self->body], config->direction, axis);
  for (int i = 0; i < 3; i++) rate += view->body_spin[self->body][i] * axis[i];
  double fault = self->bias + self->deviation * tt_noise_normal(self->noise, view->step, 0);
  gyro_state *state = &self->state;
  if (state->begun && view->step > state->step) {
    double span = (double)(view->step - state->step) * tt_model_timestep(view->model);
    state->angle += ((state->rate + rate) / 2 + fault) * span;
  }
  *state = (gyro_state){.angle = state->angle, .rate = rate, .step = view->step, .begun = 1};
  view->channels[self->rate] = rate + fault;
  view->channels[self->angle] = state->angle;
}

static bool gyro_value(const tt_part *part, int index, tt_value *value) {
  const gyro_config *config = ((const gyro *)part)->head.config;
  const tt_value values[] = {
      {.name = "bias", .own = config->offset, .lower = -1e3, .upper = 1e3},
      {.name = "noise", .own = config->deviation, .lower = 0, .upper = 1e3},
  };
  if (index >= (int)(sizeof values / sizeof *values)) return false;
  *value = values[index];
  value->dimension = TT_ANGULAR_VELOCITY;
  return true;
}

static void gyro_set_value(tt_part *part, int index, double value) {
  gyro *self = (gyro *)part;
  *(index == 0 ? &self->bias : &self->deviation) = value;
}

static void gyro_reset(tt_part *part) { ((gyro *)part)->state = (gyro_state){0}; }

static size_t gyro_state_size(const tt_part *part) {
  (void)part;
  return sizeof(gyro_state);
}

static void gyro_save(const tt_part *part, void *state) {
  memcpy(state, &((const gyro *)part)->state, sizeof(gyro_state));
}

static void gyro_restore(tt_part *part, const void *state) {
  memcpy(&((gyro *)part)->state, state, sizeof(gyro_state));
}

static const tt_part_ops gyro_ops = {
    .kind = "gyros",
    .declare = gyro_declare,
    .sense = gyro_sense,
    .seed = gyro_seed,
    .value = gyro_value,
    .set_value = gyro_set_value,
    .reset = gyro_reset,
    .state_size = gyro_state_size,
    .save = gyro_save,
    .restore = gyro_restore,
    .clone = tt_robot_part_clone,
    .free = tt_robot_part_free,
};

const tt_part_kind tt_gyro_kind = {.ops = &gyro_ops, .part_size = sizeof(gyro)};
