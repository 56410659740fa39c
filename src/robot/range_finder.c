/* range_finder.c: distance along a ray to the first thing that is not the robot itself.
 *
 *   range_finders:
 *     - name: front        # channel front.distance
 *       body: chassis      # default the robot's root body
 *       x: 0.4 m           # where the ray begins, in the body's frame, default 0
 *       z: 0.2 m
 *       yaw: 0 deg         # its direction: from the body's x axis to the left …
 *       pitch: 0 deg       # … and up
 *       minimum: 0 m       # what is nearer reads this, default 0
 *       maximum: 4 m       # what is farther, or nothing, reads this; default 10 m
 *       noise: 5 mm        # standard deviation, default 0
 */
#include "robot/mount.h"

#include <math.h>
#include <string.h>

typedef struct range_finder_config {
  char *name;
  tt_mount mount;
  char *yaw, *pitch, *minimum, *maximum, *noise;
  double direction[3], nearest, farthest, deviation; /* filled by check() */
} range_finder_config;

#define TEXT(key)                                                                                  \
  CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, range_finder_config, key, \
                         0, 64)
static const cyaml_schema_field_t range_finder_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, range_finder_config, name, 1, 64),
    TT_MOUNT_FIELDS(range_finder_config),
    TEXT(yaw),
    TEXT(pitch),
    TEXT(minimum),
    TEXT(maximum),
    TEXT(noise),
    CYAML_FIELD_END,
};
#undef TEXT

static tt_status range_finder_check(void *untyped, const char *where, tt_error *error) {
  range_finder_config *config = untyped;
  double yaw, pitch;
  TT_TRY(tt_robot_check_name(config->name, where, error));
  TT_TRY(tt_mount_check(&config->mount, where, error));
  TT_TRY(tt_quantity_check(config->yaw, "yaw", where, TT_ANGLE, -10, 10, 0, &yaw, error));
  TT_TRY(tt_quantity_check(config->pitch, "pitch", where, TT_ANGLE, -10, 10, 0, &pitch, error));
  TT_TRY(tt_quantity_check(config->minimum, "minimum", where, TT_LENGTH, 0, 1e4, 0,
                           &config->nearest, error));
  TT_TRY(tt_quantity_check(config->maximum, "maximum", where, TT_LENGTH, 1e-6, 1e4, 10,
                           &config->farthest, error));
  TT_TRY(tt_quantity_check(config->noise, "noise", where, TT_LENGTH, 0, 1e3, 0, &config->deviation,
                           error));
  if (config->nearest >= config->farthest)
    return tt_fail(error, TT_INVALID, "%s.minimum: must be below maximum", where);
  config->direction[0] = cos(pitch) * cos(yaw);
  config->direction[1] = cos(pitch) * sin(yaw);
  config->direction[2] = sin(pitch);
  return TT_OK;
}

const tt_schema tt_range_finder_schema = {.key = "range_finders",
                                          .fields = range_finder_fields,
                                          .size = sizeof(range_finder_config),
                                          .check = range_finder_check};

typedef struct range_finder {
  tt_robot_part head;
  tt_noise noise;
  int body, distance;
  double deviation; /* m */
} range_finder;

static void range_finder_seed(tt_part *part, uint64_t seed) {
  range_finder *self = (range_finder *)part;
  self->head.env.seed = seed; /* of clones, too */
  self->noise = tt_noise_of(seed, self->head.part.robot, self->head.part.name);
}

static tt_status range_finder_declare(tt_part *part, tt_declare *declare, tt_error *error) {
  range_finder *self = (range_finder *)part;
  const range_finder_config *config = self->head.config;
  range_finder_seed(part, self->head.env.seed);
  self->deviation = config->deviation;
  TT_TRY(tt_robot_find_body(declare, "body", config->mount.body, &self->body, error));
  return tt_robot_add_channel(declare, part, "distance", TT_LENGTH, &self->distance, error);
}

static void range_finder_sense(tt_part *part, const tt_space *space, tt_view *view) {
  const range_finder *self = (const range_finder *)part;
  const range_finder_config *config = self->head.config;
  double origin[3], direction[3];
  tt_robot_place(view, self->body, config->mount.point, origin);
  tt_robot_rotate(view->body_rotation[self->body], config->direction, direction);
  double distance = tt_space_ray(space, origin, direction, part->robot, config->farthest);
  if (distance < 0) distance = config->farthest;
  distance += self->deviation * tt_noise_normal(self->noise, view->step, 0);
  view->channels[self->distance] = fmax(config->nearest, fmin(distance, config->farthest));
}

static void range_finder_ray(const tt_part *part, tt_ray *ray) {
  const range_finder *self = (const range_finder *)part;
  const range_finder_config *config = self->head.config;
  ray->body = self->body;
  ray->channel = self->distance;
  memcpy(ray->position, config->mount.point, sizeof ray->position);
  memcpy(ray->direction, config->direction, sizeof ray->direction);
}

static bool range_finder_value(const tt_part *part, int index, tt_value *value) {
  const range_finder_config *config = ((const range_finder *)part)->head.config;
  if (index > 0) return false;
  *value = (tt_value){
      .name = "noise", .dimension = TT_LENGTH, .own = config->deviation, .lower = 0, .upper = 1e3};
  return true;
}

static void range_finder_set_value(tt_part *part, int index, double value) {
  (void)index;
  ((range_finder *)part)->deviation = value;
}

static const tt_part_ops range_finder_ops = {
    .kind = "range_finders",
    .declare = range_finder_declare,
    .sense = range_finder_sense,
    .ray = range_finder_ray,
    .seed = range_finder_seed,
    .value = range_finder_value,
    .set_value = range_finder_set_value,
    .clone = tt_robot_part_clone,
    .free = tt_robot_part_free,
};

const tt_part_kind tt_range_finder_kind = {.ops = &range_finder_ops,
                                           .part_size = sizeof(range_finder)};
