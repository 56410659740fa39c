#include "app/floor_lines.h"

#include <stdlib.h>

tt_floor_line *tt_floor_lines_of(const tt_scene *scene) {
  tt_floor_line *lines = calloc((size_t)scene->line_count + 1, sizeof *lines);
  for (int i = 0; lines && i < scene->line_count; i++) {
    const tt_painted_line *from = &scene->lines[i];
    lines[i] = (tt_floor_line){from->x1,    from->y1,       from->x2,   from->y2,
                               from->width, from->darkness, from->black};
  }
  return lines;
}

tt_floor tt_floor_of(const tt_scene *scene, const tt_floor_line *lines) {
  return (tt_floor){.lines = lines,
                    .line_count = lines ? scene->line_count : 0,
                    .places = scene->places,
                    .place_count = scene->place_count};
}
