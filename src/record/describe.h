/* describe.h: what a simulation consists of and looks like, as a text and as meshes: for the pages (docs/web.md, message
 * `model`) and kept in every run, so that a run can be shown without the robot's files.
 */
#ifndef TT_RECORD_DESCRIBE_H
#define TT_RECORD_DESCRIBE_H

#include "game/driver_station.h"
#include "sim/sim.h"
#include "record/wpilog.h"

/** A line painted on the floor, for the view. */
typedef struct tt_floor_line {
  double x1, y1, x2, y2, width; /**< m, arena frame */
  double darkness;              /**< 0…1 */
  bool black;                   /**< else white */
} tt_floor_line;

/** What an arena's file says that only people see. Whoever makes it owns the lists. */
typedef struct tt_floor {
  const tt_floor_line *lines;
  const tt_driver_place *places;
  int line_count, place_count;
} tt_floor;

/** The JSON object `model` of docs/web.md; free() it. `floor` may be NULL. NULL when out of memory. */
char *tt_describe_sim(const tt_sim *sim, const tt_floor *floor);

/** Appends a mesh as GET /api/meshes/N answers it. */
void tt_describe_mesh(const tt_mesh *mesh, tt_bytes *out);
/** Appends a texture as GET /api/textures/N answers it. */
void tt_describe_texture(const tt_texture *texture, tt_bytes *out);

#endif
