/* gripper.c: holds one game piece at a time, of the kind that a command asks for.
 *
 *   grippers:
 *     - name: grip          # default grip; command grip (0 lets go, 1…4 a kind of piece), channels grip.held
 *                           # (0 or 1) and grip.kind. Any other name: command <name>.grip, <name>.grip.held, …
 *       site: hand          # site or body of the model around which pieces are within reach
 *       reach: 0.3 m        # from there to the nearest point of the piece, default 0.2 m
 *
 * While a kind is commanded and nothing of it is held, every step tries again: a command is a state, and a
 * message that repeats it says nothing new. With physics off the arm is placed, and pieces follow the same way.
 */
#include "game/match.h"
#include "robot/common.h"

#include <math.h>
#include <string.h>

#define DEFAULT_NAME "grip"

typedef struct gripper_config {
  char *name, *site, *reach;
  double reach_si; /* filled by check() */
} gripper_config;

static const cyaml_schema_field_t gripper_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, gripper_config, name,
                           1, 64),
    CYAML_FIELD_STRING_PTR("site", CYAML_FLAG_POINTER, gripper_config, site, 1, 128),
    CYAML_FIELD_STRING_PTR("reach", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, gripper_config, reach,
                           0, 64),
    CYAML_FIELD_END,
};

static tt_status gripper_check(void *untyped, const char *where, tt_error *error) {
  gripper_config *config = untyped;
  TT_TRY(tt_default_string(&config->name, DEFAULT_NAME, error));
  TT_TRY(tt_robot_check_name(config->name, where, error));
  return tt_quantity_check(config->reach, "reach", where, TT_LENGTH, 0, 100, 0.2, &config->reach_si,
                           error);
}

const tt_schema tt_gripper_schema = {.key = "grippers",
                                     .fields = gripper_fields,
                                     .size = sizeof(gripper_config),
                                     .check = gripper_check};

void tt_robot_gripper(const void *untyped, tt_engine_gripper *gripper) {
  const gripper_config *config = untyped;
  *gripper =
      (tt_engine_gripper){.name = config->name, .site = config->site, .reach = config->reach_si};
}

typedef struct gripper {
  tt_robot_part head;
  int index; /* of the gripper in physics */
  int command, held_channel, kind_channel;
} gripper;

static tt_status find_gripper(gripper *self, const tt_declare *declare, tt_error *error) {
  const tt_mechanism *info = tt_space_mechanism(declare->space);
  for (self->index = 0; self->index < info->gripper_count; self->index++) {
    const tt_gripper *candidate = &info->grippers[self->index];
    if (candidate->robot == self->head.part.robot &&
        tt_robot_is_called(info, candidate->robot, candidate->name, self->head.part.name))
      return TT_OK;
  }
  return tt_fail(error, TT_INVALID, "%s: the model was composed without the gripper '%s'",
                 declare->where, self->head.part.name);
}

static tt_status gripper_declare(tt_part *part, tt_declare *declare, tt_error *error) {
  gripper *self = (gripper *)part;
  TT_TRY(find_gripper(self, declare, error));
  bool plain = strcmp(part->name, DEFAULT_NAME) == 0;
  tt_command command = {.name = DEFAULT_NAME,
                        .kind = TT_COMMAND_GRIP,
                        .robot = declare->robot,
                        .index = self->index,
                        .upper = TT_PIECE_KINDS,
                        .safe = NAN};
  TT_TRY(plain ? declare->add_command(declare, &command, &self->command, error)
               : tt_robot_add_command(declare, part, "grip", command, &self->command, error));
  TT_TRY(tt_robot_add_channel(declare, part, plain ? "held" : "grip.held", TT_DIMENSIONLESS,
                              &self->held_channel, error));
  return tt_robot_add_channel(declare, part, plain ? "kind" : "grip.kind", TT_DIMENSIONLESS,
                              &self->kind_channel, error);
}

static void gripper_actuate(tt_part *part, tt_actuation *actuation) {
  const gripper *self = (const gripper *)part;
  int kind = (int)lrint(actuation->commands[self->command]);
  if (kind > 0)
    tt_space_grip(actuation->space, self->index, kind);
  else if (tt_space_held(actuation->space, self->index))
    tt_space_release(actuation->space, self->index);
}

static void gripper_sense(tt_part *part, const tt_space *space, tt_view *view) {
  const gripper *self = (const gripper *)part;
  int body = tt_space_held(space, self->index);
  view->channels[self->held_channel] = body != 0;
  view->channels[self->kind_channel] = body ? view->model->bodies[body].piece : 0;
}

static const tt_part_ops gripper_ops = {
    .kind = "grippers",
    .declare = gripper_declare,
    .actuate = gripper_actuate,
    .sense = gripper_sense,
    .clone = tt_robot_part_clone,
    .free = tt_robot_part_free,
};

const tt_part_kind tt_gripper_kind = {.ops = &gripper_ops, .part_size = sizeof(gripper)};
