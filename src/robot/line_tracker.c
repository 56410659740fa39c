/* line_tracker.c: a reflectance sensor over the arena's painted lines, computed from where it is.
 *
 *   line_trackers:
 *     - name: left_eye     # channels left_eye.darkness, left_eye.on, left_eye.distance
 *       body: chassis      # default the robot's root body
 *       x: 0.3 m           # of the sensor in the body's frame, default 0
 *       y: 0.02 m
 *       spot: 20 mm        # diameter of what it sees, default 20 mm
 *       threshold: 0.5     # on is 1 where darkness is at least this, default 0.5
 *
 * A line is a rectangle (arena file: `lines`). With d the distance of the spot's centre outside its edge (negative
 * inside), the spot is covered by 1/2 − d/spot of it, between 0 and 1: exact for a straight edge of a square spot.
 * darkness = the greatest of coverage × the line's darkness; distance (m) = to the nearest line's centre line,
 * −1 on an arena without lines. The sensor looks straight down, at whatever height the robot stands.
 */
#include "robot/mount.h"

#include <math.h>

typedef struct line_tracker_config {
  char *name;
  tt_mount mount;
  char *spot;
  double *threshold;
  double diameter, least; /* filled by check() */
} line_tracker_config;

static const cyaml_schema_field_t line_tracker_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, line_tracker_config, name, 1, 64),
    TT_MOUNT_FIELDS(line_tracker_config),
    CYAML_FIELD_STRING_PTR("spot", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, line_tracker_config,
                           spot, 0, 64),
    CYAML_FIELD_FLOAT_PTR("threshold", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                          line_tracker_config, threshold),
    CYAML_FIELD_END,
};

static tt_status line_tracker_check(void *untyped, const char *where, tt_error *error) {
  line_tracker_config *config = untyped;
  TT_TRY(tt_robot_check_name(config->name, where, error));
  TT_TRY(tt_mount_check(&config->mount, where, error));
  TT_TRY(tt_quantity_check(config->spot, "spot", where, TT_LENGTH, 1e-6, 10, 0.02,
                           &config->diameter, error));
  return tt_number_check(config->threshold, "threshold", where, 0, 1, 0.5, &config->least, error);
}

const tt_schema tt_line_tracker_schema = {.key = "line_trackers",
                                          .fields = line_tracker_fields,
                                          .size = sizeof(line_tracker_config),
                                          .check = line_tracker_check};

typedef struct line_tracker {
  tt_robot_part head;
  int body, darkness, on, distance;
} line_tracker;

static tt_status line_tracker_declare(tt_part *part, tt_declare *declare, tt_error *error) {
  line_tracker *self = (line_tracker *)part;
  const line_tracker_config *config = self->head.config;
  TT_TRY(tt_robot_find_body(declare, "body", config->mount.body, &self->body, error));
  TT_TRY(tt_robot_add_channel(declare, part, "darkness", TT_DIMENSIONLESS, &self->darkness, error));
  TT_TRY(tt_robot_add_channel(declare, part, "on", TT_DIMENSIONLESS, &self->on, error));
  return tt_robot_add_channel(declare, part, "distance", TT_LENGTH, &self->distance, error);
}

/** How a point lies to a painted line. */
typedef struct offset {
  double outside; /* m from the edge of the paint; negative inside */
  double centre;  /* m from the centre line */
} offset;

static offset offset_of(const tt_painted_line *line, double x, double y) {
  double dx = line->x2 - line->x1, dy = line->y2 - line->y1;
  double length = hypot(dx, dy);
  double ux = length > 0 ? dx / length : 1, uy = length > 0 ? dy / length : 0;
  double along = (x - line->x1) * ux + (y - line->y1) * uy;
  double across = fabs((y - line->y1) * ux - (x - line->x1) * uy);
  double beyond = fmax(-along, along - length); /* past an end */
  double beside = across - line->width / 2;
  double outside = beyond > 0 && beside > 0 ? hypot(beyond, beside) : fmax(beyond, beside);
  return (offset){.outside = outside, .centre = hypot(fmax(beyond, 0), across)};
}

static void line_tracker_sense(tt_part *part, const tt_space *space, tt_view *view) {
  (void)space;
  const line_tracker *self = (const line_tracker *)part;
  const line_tracker_config *config = self->head.config;
  double at[3], darkness = 0, distance = -1;
  tt_robot_place(view, self->body, config->mount.point, at);
  for (int i = 0; i < self->head.env.line_count; i++) {
    const tt_painted_line *line = &self->head.env.lines[i];
    offset off = offset_of(line, at[0], at[1]);
    double covered = fmax(0, fmin(0.5 - off.outside / config->diameter, 1));
    darkness = fmax(darkness, covered * line->darkness);
    distance = distance < 0 ? off.centre : fmin(distance, off.centre);
  }
  view->channels[self->darkness] = darkness;
  view->channels[self->on] = darkness >= config->least;
  view->channels[self->distance] = distance;
}

static const tt_part_ops line_tracker_ops = {
    .kind = "line_trackers",
    .declare = line_tracker_declare,
    .sense = line_tracker_sense,
    .clone = tt_robot_part_clone,
    .free = tt_robot_part_free,
};

const tt_part_kind tt_line_tracker_kind = {.ops = &line_tracker_ops,
                                           .part_size = sizeof(line_tracker)};
