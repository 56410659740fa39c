/* picture.c: where the robots of a kept run went, as a small SVG: for lists of runs and for reports.
 *
 * One pass finds which body of each robot moved and how far; another draws at most MOST_POINTS of its places. Seen from
 * above; where no robot left its place (arms), the body of each that moved most is seen from the side.
 */
#include "game/match.h"
#include "record/export.h"
#include "record/extent.h"
#include "record/run_robots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 320.0
#define HEIGHT 120.0
#define MARGIN 10.0
#define MOST_POINTS 400
#define LEAST_SPAN 0.5 /* m: a robot that hardly moved isn't shown as if it had */
#define JUMP 0.5       /* m between two samples: a reset, not a way */

typedef struct point {
  double at[3];
  bool jumped; /* here from elsewhere */
} point;

typedef struct trail {
  uint32_t pose; /* entry that is drawn; 0: none */
  point points[MOST_POINTS + 2];
  int count;
  uint64_t stretch; /* of the last point */
  point last;
} trail;

typedef struct picture {
  tt_run_robots robots;
  tt_extent *boxes; /* by entry */
  trail *trails;
  int across, up; /* axes of the world that are drawn */
  tt_extent seen;
  double scale; /* px/m */
} picture;

/* ---- what moved ---- */

/* The place of a body at the cursor; false where it has none. */
static bool find_position(const tt_run_cursor *cursor, uint32_t pose, double at[3]) {
  tt_wpilog_record record;
  if (!tt_run_cursor_value(cursor, pose, &record) || !tt_record_fits(TT_ROLE_POSE, &record))
    return false;
  for (int i = 0; i < 3; i++) at[i] = tt_wpilog_double(record.payload + 8 * i);
  return true;
}

/* Of the root of each robot; or of all bodies, which takes a multiple of the time. */
static void measure(picture *to, tt_run_cursor *cursor, bool roots) {
  uint32_t count;
  double at[3];
  tt_run_log_entries(cursor->log, &count);
  tt_run_cursor_rewind(cursor);
  while (tt_run_cursor_next_sample(cursor) == TT_OK) {
    for (int i = 0; roots && i < to->robots.count; i++)
      if (find_position(cursor, to->robots.robots[i].root, at))
        tt_extent_take_in(&to->boxes[to->robots.robots[i].root], at);
    for (uint32_t entry = 0; !roots && entry < count; entry++)
      if (to->robots.robot_of[entry] >= 0 && find_position(cursor, entry, at))
        tt_extent_take_in(&to->boxes[entry], at);
  }
}

static bool any_root_moved(const picture *of) {
  for (int i = 0; i < of->robots.count; i++)
    if (tt_extent_size(&of->boxes[of->robots.robots[i].root]) > TT_STAYED) return true;
  return false;
}

static void choose_bodies(picture *to, tt_run_cursor *cursor) {
  uint32_t count;
  tt_run_log_entries(cursor->log, &count);
  measure(to, cursor, true);
  bool above = any_root_moved(to);
  if (!above) measure(to, cursor, false);
  to->across = 0;
  to->up = above ? 1 : 2;
  for (int i = 0; i < to->robots.count; i++) to->trails[i].pose = to->robots.robots[i].root;
  for (uint32_t entry = 0; !above && entry < count; entry++) {
    int robot = to->robots.robot_of[entry];
    if (robot < 0) continue;
    uint32_t *chosen = &to->trails[robot].pose;
    if (tt_extent_size(&to->boxes[entry]) > tt_extent_size(&to->boxes[*chosen])) *chosen = entry;
  }
  for (int i = 0; i < to->robots.count; i++) {
    const tt_extent *of = &to->boxes[to->trails[i].pose];
    if (!of->known) continue;
    tt_extent_take_in(&to->seen, of->least);
    tt_extent_take_in(&to->seen, of->most);
  }
}

/* ---- where it went ---- */

static void add_place(trail *to, const double at[3], uint64_t stretch) {
  double way = 0;
  for (int i = 0; i < 3; i++) way += (at[i] - to->last.at[i]) * (at[i] - to->last.at[i]);
  if (to->count > 0 && way == 0) return;
  bool jumped = to->count > 0 && sqrt(way) > JUMP;
  memcpy(to->last.at, at, sizeof to->last.at);
  to->last.jumped = jumped;
  if (to->count > 0 && stretch == to->stretch && !jumped) return;
  if (to->count >= MOST_POINTS) return;
  to->points[to->count++] = to->last;
  to->stretch = stretch;
}

static void follow(picture *to, const tt_run_log *log, tt_run_cursor *cursor,
                   const tt_export_sink *sink) {
  double stretch = ((double)tt_run_log_duration(log) + 1) / (MOST_POINTS / 2.0);
  double at[3];
  tt_run_cursor_rewind(cursor);
  while (tt_run_cursor_next_sample(cursor) == TT_OK) {
    for (int i = 0; i < to->robots.count; i++)
      if (find_position(cursor, to->trails[i].pose, at))
        add_place(&to->trails[i], at, (uint64_t)((double)cursor->time / stretch));
    tt_export_progress(sink, cursor);
  }
  for (int i = 0; i < to->robots.count; i++) {
    trail *of = &to->trails[i];
    if (of->count > 0) of->points[of->count++] = of->last;
  }
}

/* ---- the drawing ---- */

static double center(const picture *of, int axis) {
  return of->seen.known ? (of->seen.least[axis] + of->seen.most[axis]) / 2 : 0;
}

static void fit(picture *to) {
  double wide = fmax(to->seen.most[to->across] - to->seen.least[to->across], LEAST_SPAN);
  double high = fmax(to->seen.most[to->up] - to->seen.least[to->up], LEAST_SPAN);
  to->scale = fmin((WIDTH - 2 * MARGIN) / wide, (HEIGHT - 2 * MARGIN) / high);
}

static double px_x(const picture *of, const double at[3]) {
  return WIDTH / 2 + (at[of->across] - center(of, of->across)) * of->scale;
}

static double px_y(const picture *of, const double at[3]) {
  return HEIGHT / 2 - (at[of->up] - center(of, of->up)) * of->scale;
}

/* Lines 1, 2, 5, 10, … m apart, so that a dozen cross the picture at most. */
static double grid_of(const picture *of) {
  static const double steps[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    if (steps[i] * of->scale > WIDTH / 12) return steps[i];
  return INFINITY;
}

/* In pixels: far from the origin a metre more may be the same number. For the same reason the first line's place is what a
 * division leaves, which is exact at any distance. */
static void put_lines(tt_export_buffer *out, const picture *of, int axis, double grid,
                      double size) {
  double first = center(of, axis) - size / 2 / of->scale;
  double past = fmod(first, grid); /* since the line before */
  double offset = (past > 0 ? grid - past : -past) * of->scale;
  for (double px = offset; px < size; px += grid * of->scale) {
    if (axis == of->across)
      tt_export_text(out, "M%.1f 0V%.0f", px, HEIGHT);
    else
      tt_export_text(out, "M0 %.1fH%.0f", HEIGHT - px, WIDTH);
  }
}

static void put_grid(tt_export_buffer *out, const picture *of) {
  double grid = grid_of(of);
  if (!isfinite(grid)) return;
  tt_export_text(out, "<path stroke=\"#8884\" d=\"");
  put_lines(out, of, of->across, grid, WIDTH);
  put_lines(out, of, of->up, grid, HEIGHT);
  tt_export_text(out, "\"/>\n");
}

/* The pages' colours of robots and alliances, readable on light and dark. */
static const char *color_of(const tt_run_robot *robot, int index) {
  static const char *const colors[] = {"#3d8bfd", "#e0a030", "#2fb380",
                                       "#b36ae2", "#e0607e", "#3bb3c3"};
  static const char *const sides[] = {
      [TT_ALLIANCE_RED] = "#e5484d", [TT_ALLIANCE_BLUE] = "#3d8bfd"};
  tt_alliance alliance;
  if (tt_alliance_read(robot->alliance, &alliance) && sides[alliance]) return sides[alliance];
  return colors[index % 6];
}

/* What XML forbids in a text becomes a question mark. */
static void put_text(tt_export_buffer *out, const char *text) {
  for (; *text; text++) {
    if (*text == '<' || *text == '&')
      tt_export_text(out, "&#%d;", *text);
    else
      tt_export_put(out, (unsigned char)*text < 0x20 ? "?" : text, 1);
  }
}

static void put_trail(tt_export_buffer *out, const picture *of, int index) {
  const trail *from = &of->trails[index];
  const char *color = color_of(&of->robots.robots[index], index);
  if (from->count == 0) return;
  const double *start = from->points[0].at, *end = from->points[from->count - 1].at;
  tt_export_text(out, "<g stroke=\"%s\"><title>", color);
  put_text(out, of->robots.robots[index].name);
  tt_export_text(out, "</title><path stroke-width=\"2\" d=\"");
  for (int i = 0; i < from->count; i++)
    tt_export_text(out, "%c%.1f %.1f", i == 0 || from->points[i].jumped ? 'M' : 'L',
                   px_x(of, from->points[i].at), px_y(of, from->points[i].at));
  tt_export_text(out, "\"/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" stroke-width=\"2\"/>",
                 px_x(of, start), px_y(of, start));
  tt_export_text(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/></g>\n", px_x(of, end),
                 px_y(of, end), color);
}

static tt_status put_picture(const picture *of, const tt_export_sink *sink) {
  tt_export_buffer out;
  tt_export_begin(&out, sink);
  tt_export_text(
      &out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" fill=\"none\" "
      "stroke-linejoin=\"round\" stroke-linecap=\"round\">\n",
      WIDTH, HEIGHT);
  put_grid(&out, of);
  for (int i = 0; i < of->robots.count; i++) put_trail(&out, of, i);
  tt_export_text(&out, "</svg>\n");
  return tt_export_end(&out);
}

static tt_status draw(picture *of, const tt_run_log *log, const tt_export_sink *sink) {
  tt_run_cursor cursor;
  uint32_t entries;
  tt_run_log_entries(log, &entries);
  of->boxes = calloc((size_t)entries + 1, sizeof *of->boxes);
  of->trails = calloc((size_t)of->robots.count + 1, sizeof *of->trails);
  if (!of->boxes || !of->trails || !tt_run_cursor_open(&cursor, log)) return TT_NOMEM;
  choose_bodies(of, &cursor);
  follow(of, log, &cursor, sink);
  tt_run_cursor_close(&cursor);
  fit(of);
  return put_picture(of, sink);
}

tt_status tt_export_svg(const tt_run_log *log, const tt_export_sink *sink) {
  picture made = {0};
  tt_status status = tt_run_robots_read(log, &made.robots);
  if (status == TT_OK) status = draw(&made, log, sink);
  free(made.boxes);
  free(made.trails);
  tt_run_robots_free(&made.robots);
  return status;
}
