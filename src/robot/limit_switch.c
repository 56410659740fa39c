/* limit_switch.c: a switch that a joint closes beyond a position.
 *
 *   limit_switches:
 *     - name: lift_top     # channel lift_top.pressed (0 or 1)
 *       joint: lift        # hinge or slide
 *       above: 0.6 m       # pressed at or above this position …
 *       below: 1 cm        # … or at or below this one; give one or both
 */
#include "robot/common.h"

#include <math.h>

typedef struct limit_switch_config {
  char *name, *joint, *above, *below;
} limit_switch_config;

static const cyaml_schema_field_t limit_switch_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, limit_switch_config, name, 1, 64),
    CYAML_FIELD_STRING_PTR("joint", CYAML_FLAG_POINTER, limit_switch_config, joint, 1, 128),
    CYAML_FIELD_STRING_PTR("above", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, limit_switch_config,
                           above, 0, 64),
    CYAML_FIELD_STRING_PTR("below", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, limit_switch_config,
                           below, 0, 64),
    CYAML_FIELD_END,
};

static tt_status limit_switch_check(void *untyped, const char *where, tt_error *error) {
  limit_switch_config *config = untyped;
  TT_TRY(tt_robot_check_name(config->name, where, error));
  tt_key_tell_quantity(where, "above", -INFINITY);
  tt_key_tell_quantity(where, "below", -INFINITY);
  if (config->above || config->below) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s: give `above`, `below`, or both", where);
}

const tt_schema tt_limit_switch_schema = {.key = "limit_switches",
                                          .fields = limit_switch_fields,
                                          .size = sizeof(limit_switch_config),
                                          .check = limit_switch_check};

typedef struct limit_switch {
  tt_robot_part head;
  int axis, pressed;
  double above, below; /* rad or m; infinite where not given */
} limit_switch;

static tt_status limit_switch_declare(tt_part *part, tt_declare *declare, tt_error *error) {
  limit_switch *self = (limit_switch *)part;
  const limit_switch_config *config = self->head.config;
  int joint;
  TT_TRY(tt_robot_find_joint(declare, "joint", config->joint, &joint, error));
  const tt_joint *found = &tt_space_mechanism(declare->space)->joints[joint];
  self->axis = found->axis;
  tt_dimension dimension = found->kind == TT_SLIDE ? TT_LENGTH : TT_ANGLE;
  TT_TRY(tt_quantity_check(config->above, "above", declare->where, dimension, -1e6, 1e6, INFINITY,
                           &self->above, error));
  TT_TRY(tt_quantity_check(config->below, "below", declare->where, dimension, -1e6, 1e6, -INFINITY,
                           &self->below, error));
  return tt_robot_add_channel(declare, part, "pressed", TT_DIMENSIONLESS, &self->pressed, error);
}

static void limit_switch_sense(tt_part *part, const tt_space *space, tt_view *view) {
  (void)space;
  const limit_switch *self = (const limit_switch *)part;
  double position = view->joint_position[self->axis];
  view->channels[self->pressed] = position >= self->above || position <= self->below;
}

static const tt_part_ops limit_switch_ops = {
    .kind = "limit_switches",
    .declare = limit_switch_declare,
    .sense = limit_switch_sense,
    .clone = tt_robot_part_clone,
    .free = tt_robot_part_free,
};

const tt_part_kind tt_limit_switch_kind = {.ops = &limit_switch_ops,
                                           .part_size = sizeof(limit_switch)};
