/* bumper.c: a switch that a push against a body closes.
 *
 *   bumpers:
 *     - name: front        # channels front.pressed (0 or 1) and front.force (N)
 *       body: chassis      # default the robot's root body
 *       direction: 0 deg   # middle of the sector it guards, from the body's x axis to the left, default 0
 *       width: 180 deg     # of the sector, default 360 deg
 *       force: 5 N         # least push that closes it, default 1 N
 *
 * force = the sum, over contacts of the body with anything that is not the same robot, of the contact force pressing
 * along the normal, where the normal is within 45° of the body's own horizontal plane and the push comes from within
 * the sector. So the floor does not count, and a wall does. A body's children have contacts of their own.
 */
#include "robot/common.h"

#include <math.h>

#define PI 3.14159265358979323846

typedef struct bumper_config {
  char *name, *body, *direction, *width, *force;
  double middle, half_width, least; /* filled by check(): rad, rad, N */
} bumper_config;

#define TEXT(key)                                                                                  \
  CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, bumper_config, key, 0, 128)
static const cyaml_schema_field_t bumper_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, bumper_config, name, 1, 64),
    TEXT(body),
    TEXT(direction),
    TEXT(width),
    TEXT(force),
    CYAML_FIELD_END,
};
#undef TEXT

static tt_status bumper_check(void *untyped, const char *where, tt_error *error) {
  bumper_config *config = untyped;
  double width;
  TT_TRY(tt_robot_check_name(config->name, where, error));
  TT_TRY(tt_quantity_check(config->direction, "direction", where, TT_ANGLE, -10, 10, 0,
                           &config->middle, error));
  TT_TRY(
      tt_quantity_check(config->width, "width", where, TT_ANGLE, 0, 2 * PI, 2 * PI, &width, error));
  config->half_width = width / 2;
  return tt_quantity_check(config->force, "force", where, TT_FORCE, 0, TT_COMMAND_LIMIT, 1,
                           &config->least, error);
}

const tt_schema tt_bumper_schema = {.key = "bumpers",
                                    .fields = bumper_fields,
                                    .size = sizeof(bumper_config),
                                    .check = bumper_check};

typedef struct bumper {
  tt_robot_part head;
  int body, pressed, force;
} bumper;

static tt_status bumper_declare(tt_part *part, tt_declare *declare, tt_error *error) {
  bumper *self = (bumper *)part;
  const bumper_config *config = self->head.config;
  TT_TRY(tt_robot_find_body(declare, "body", config->body, &self->body, error));
  TT_TRY(tt_robot_add_channel(declare, part, "pressed", TT_DIMENSIONLESS, &self->pressed, error));
  return tt_robot_add_channel(declare, part, "force", TT_FORCE, &self->force, error);
}

/* Push (N) of a contact on the bumper; 0 when it is none of its business. */
static double push_of(const bumper *self, const tt_view *view, const tt_contact *contact) {
  const bumper_config *config = self->head.config;
  bool first = contact->body1 == self->body;
  if (!first && contact->body2 != self->body) return 0;
  int other = first ? contact->body2 : contact->body1;
  if (view->model->bodies[other].robot == self->head.part.robot) return 0;
  /* the normal points from body1 to body2: make it point out of the bumper */
  double sign = first ? 1 : -1;
  const double *rotation = view->body_rotation[self->body];
  double back[4] = {rotation[0], -rotation[1], -rotation[2], -rotation[3]};
  double out[3] = {sign * contact->normal[0], sign * contact->normal[1], sign * contact->normal[2]},
         local[3];
  tt_robot_rotate(back, out, local);
  if (fabs(local[2]) > hypot(local[0], local[1])) return 0;
  double aside = remainder(atan2(local[1], local[0]) - config->middle, 2 * PI);
  if (fabs(aside) > config->half_width) return 0;
  double push = 0; /* of the force on body2, which is along the normal when it presses */
  for (int i = 0; i < 3; i++) push += contact->force[i] * contact->normal[i];
  return fmax(push, 0);
}

static void bumper_sense(tt_part *part, const tt_space *space, tt_view *view) {
  (void)space;
  const bumper *self = (const bumper *)part;
  const bumper_config *config = self->head.config;
  double force = 0;
  for (int i = 0; i < view->contact_count; i++) force += push_of(self, view, &view->contacts[i]);
  view->channels[self->force] = force;
  view->channels[self->pressed] = force > 0 && force >= config->least;
}

static const tt_part_ops bumper_ops = {
    .kind = "bumpers",
    .declare = bumper_declare,
    .sense = bumper_sense,
    .clone = tt_robot_part_clone,
    .free = tt_robot_part_free,
};

const tt_part_kind tt_bumper_kind = {.ops = &bumper_ops, .part_size = sizeof(bumper)};
