/* plan_show.c: what a plan would do, for people, before anything runs. */
#include "sweep/plan_show.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 8        /* of the table that is shown */
#define WIDEST 18     /* columns of a value */
#define ROW_BYTES 110 /* of a row of SQLite without axes and metrics, with its index; measured */
#define VALUE_BYTES 9 /* of each of those */

static const char *const sampling_names[] = {[TT_SWEEP_GRID] = "a grid",
                                             [TT_SWEEP_RANDOM] = "random points",
                                             [TT_SWEEP_LATIN_HYPERCUBE] = "a Latin hypercube",
                                             [TT_SWEEP_SOBOL] = "a Sobol sequence"};

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

const char *tt_sweep_time_text(double seconds, char *text, size_t size) {
  if (seconds < 1)
    snprintf(text, size, "%.2g s", seconds);
  else if (seconds < 120)
    snprintf(text, size, "%.0f s", ceil(seconds));
  else if (seconds < 7200)
    snprintf(text, size, "%.0f min", ceil(seconds / 60));
  else if (seconds < 172800)
    snprintf(text, size, "%.1f h", seconds / 3600);
  else
    snprintf(text, size, "%.1f days", seconds / 86400);
  return text;
}

const char *tt_sweep_size_text(double bytes, char *text, size_t size) {
  static const char *const units[] = {"kB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (bytes /= 1000; bytes >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
    bytes /= 1000;
  snprintf(text, size, "%.*f %s", bytes < 10 ? 1 : 0, bytes, units[unit]);
  return text;
}

double tt_sweep_plan_table_bytes(const tt_sweep_plan *plan) {
  return (double)tt_sweep_plan_runs(plan) *
         (ROW_BYTES + VALUE_BYTES * (plan->axis_count + plan->metric_count));
}

/* --- the first rows --- */

/** The text of one cell; columns: run, seed, id, then the axes. */
static const char *cell(const tt_sweep_run *run, int column, char *text, size_t size) {
  if (column == 0)
    snprintf(text, size, "%" PRIu64, run->number);
  else if (column == 1)
    snprintf(text, size, "%" PRIu64, run->seed);
  else if (column == 2)
    snprintf(text, size, "%.8s…", run->id);
  else if (run->axes[column - 3].kind == TT_SWEEP_NUMBER)
    snprintf(text, size, "%.6g", run->axes[column - 3].number);
  else
    snprintf(text, size, "%s", run->axes[column - 3].text);
  return text;
}

static void title(const tt_sweep_plan *plan, int column, char *text, size_t size) {
  static const char *const own[] = {"run", "seed", "id"};
  const tt_sweep_axis *axis = column < 3 ? NULL : &plan->axes[column - 3];
  snprintf(text, size, "%s%s%s", axis ? axis->name : own[column], axis && *axis->unit ? ", " : "",
           axis ? axis->unit : "");
}

/** Columns of a terminal that UTF-8 text takes. */
static int width_of(const char *text) {
  int width = 0;
  for (; *text; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}

static void pad(char *line, size_t size, const char *text, int width) {
  size_t used = strlen(line);
  snprintf(line + used, size - used, "  %s%*s", text, width - width_of(text), "");
}

/** The numbers of the rows that are shown: the first ones, and the last. */
static int chosen(const tt_sweep_plan *plan, uint64_t numbers[ROWS + 1]) {
  const uint64_t runs = tt_sweep_plan_runs(plan);
  const int shown = runs <= ROWS ? (int)runs : ROWS;
  for (int i = 0; i < shown; i++) numbers[i] = (uint64_t)i;
  if (runs > ROWS) numbers[shown] = runs - 1;
  return shown + (runs > ROWS);
}

static void print_rows(const tt_sweep_plan *plan, FILE *to) {
  const int columns = 3 + plan->axis_count;
  int widths[3 + TT_SWEEP_MAX_AXES];
  uint64_t numbers[ROWS + 1];
  char text[512], line[(WIDEST * 4 + 2) * (3 + TT_SWEEP_MAX_AXES)];
  tt_sweep_run run;
  const int rows = chosen(plan, numbers);
  for (int pass = 0; pass < 2; pass++) { /* the first one finds how wide columns are */
    for (int row = -1; row < rows; row++) {
      if (row >= 0) tt_sweep_plan_run(plan, numbers[row], &run);
      line[0] = 0;
      for (int column = 0; column < columns; column++) {
        if (row < 0)
          title(plan, column, text, sizeof text);
        else
          cell(&run, column, text, sizeof text);
        tt_text_cut_columns(text, WIDEST);
        int width = width_of(text);
        if (row < 0 && pass == 0) widths[column] = 0;
        if (width > widths[column]) widths[column] = width;
        pad(line, sizeof line, text, widths[column]);
      }
      for (size_t end = strlen(line); end > 0 && line[end - 1] == ' '; end--) line[end - 1] = 0;
      if (pass == 1 && row >= ROWS && numbers[row] > ROWS) tt_print(to, "  …\n");
      if (pass == 1) tt_print(to, "%s\n", line);
    }
  }
}

/* --- all --- */

static void print_axes(const tt_sweep_plan *plan, FILE *to) {
  for (int i = 0; i < plan->axis_count; i++) {
    const tt_sweep_axis *axis = &plan->axes[i];
    char values[96];
    if (axis->values)
      snprintf(values, sizeof values, "%d value%s", axis->count, plural((uint64_t)axis->count));
    else
      snprintf(values, sizeof values, "%g … %g%s%s%s", axis->lower, axis->upper,
               *axis->unit ? " " : "", axis->unit, axis->logarithmic ? ", logarithmic" : "");
    tt_print(to, "axis      %s: %s, %s%s\n", axis->name, values,
             axis->set ? "sets "
             : plan->controller.kind == TT_SWEEP_NO_CONTROLLER
                 ? "read by nobody: there is no controller"
                 : "read by the controller",
             axis->set ? axis->set : "");
  }
}

void tt_sweep_plan_show(const tt_sweep_plan *plan, FILE *to) {
  static const char *const controllers[] = {[TT_SWEEP_NO_CONTROLLER] = "none",
                                            [TT_SWEEP_LUA] = "Lua, ",
                                            [TT_SWEEP_POLICY] = "Python, ",
                                            [TT_SWEEP_PROGRAM] = "program, "};
  const uint64_t runs = tt_sweep_plan_runs(plan);
  char size[32];
  tt_print(to, "plan      %s\n", plan->path);
  tt_print_lines(to, "          ", plan->description);
  tt_print(to, "scene     %s, %g s each\n", plan->scene, plan->duration);
  tt_print(to, "drives    %s%s\n", controllers[plan->controller.kind],
           plan->controller.text ? plan->controller.text : "");
  print_axes(plan, to);
  tt_print(to, "runs      %" PRIu64 ": %s of %" PRIu64 " point%s, %d seed%s each\n", runs,
           sampling_names[plan->sampling], plan->point_count, plural(plan->point_count),
           plan->repeat, plural((uint64_t)plan->repeat));
  tt_print(to, "metrics   %d\n", plan->metric_count);
  tt_print(to, "results   %s, about %s\n", plan->output,
           tt_sweep_size_text(tt_sweep_plan_table_bytes(plan), size, sizeof size));
  if (plan->keep.all || plan->keep.failures || plan->keep.best > 0 || plan->keep.worst > 0)
    tt_print(to, "logs      in %s\n", plan->keep.folder);
  tt_print(to, "\n");
  print_rows(plan, to);
}
