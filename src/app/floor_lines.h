/* floor_lines.h: the lines on a scene's floor and where drivers stand, for those who show it. */
#ifndef TT_APP_FLOOR_LINES_H
#define TT_APP_FLOOR_LINES_H

#include "record/describe.h"
#include "scene/scene.h"

/** scene->line_count of them, the caller's to free(); NULL when out of memory. */
tt_floor_line *tt_floor_lines_of(const tt_scene *scene);

/** The floor with these lines (NULL: without), which outlive it as the scene does. */
tt_floor tt_floor_of(const tt_scene *scene, const tt_floor_line *lines);

#endif
