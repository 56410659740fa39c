/* results_row.c: the columns of a plan's table, and a row as its cells. */
#include "base/text.h"
#include "sweep/results_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { ID, RUN, SEED, STATUS, ERROR_TEXT, HASH, SIMULATED_TIME, WALL_TIME, HOST, FIXED_COUNT };
_Static_assert(FIXED_COUNT == TT_RESULTS_FIXED, "as results_internal.h has it");

static const tt_results_column fixed[TT_RESULTS_FIXED] = {
    [ID] = {"id", "run", "", TT_RESULTS_TEXT},
    [RUN] = {"run", "run", "", TT_RESULTS_INTEGER},
    [SEED] = {"seed", "run", "", TT_RESULTS_INTEGER},
    [STATUS] = {"status", "run", "", TT_RESULTS_TEXT},
    [ERROR_TEXT] = {"error", "run", "", TT_RESULTS_TEXT},
    [HASH] = {"hash", "run", "", TT_RESULTS_TEXT},
    [SIMULATED_TIME] = {"simulated_time", "run", "s", TT_RESULTS_NUMBER},
    [WALL_TIME] = {"wall_time", "run", "s", TT_RESULTS_NUMBER},
    [HOST] = {"host", "run", "", TT_RESULTS_TEXT},
};

/* --- columns --- */

static tt_status add_column(tt_results_columns *columns, const tt_results_column *column,
                            const char *where, tt_error *error) {
  for (int i = 0; i < columns->count; i++) {
    if (strcasecmp(columns->list[i].name, column->name)) continue;
    return tt_fail(error, TT_INVALID,
                   i < TT_RESULTS_FIXED
                       ? "%s: '%s' is a column of every table; take another name"
                       : "%s: '%s' is there twice (upper and lower case are the same to a "
                         "database); take another name",
                   where, column->name);
  }
  columns->list[columns->count++] = *column;
  return TT_OK;
}

/** An axis of which one value is a text has texts. */
static tt_results_kind kind_of(const tt_sweep_axis *axis) {
  for (int i = 0; axis->values && i < axis->count; i++)
    if (axis->values[i].kind == TT_SWEEP_TEXT) return TT_RESULTS_TEXT;
  return TT_RESULTS_NUMBER;
}

tt_status tt_results_columns_of(const tt_sweep_plan *plan, tt_results_columns *columns,
                                tt_error *error) {
  columns->count = 0;
  for (int i = 0; i < TT_RESULTS_FIXED; i++) columns->list[columns->count++] = fixed[i];
  for (int i = 0; i < plan->axis_count; i++) {
    const tt_sweep_axis *axis = &plan->axes[i];
    const tt_results_column column = {axis->name, "axis", axis->unit, kind_of(axis)};
    TT_TRY(add_column(columns, &column, axis->where, error));
  }
  for (int i = 0; i < plan->metric_count; i++) {
    const tt_sweep_metric *metric = &plan->metrics[i];
    const tt_results_column column = {metric->name, "metric", metric->unit, TT_RESULTS_NUMBER};
    TT_TRY(add_column(columns, &column, metric->where, error));
  }
  const tt_results_column success = {"success", "metric", "", TT_RESULTS_NUMBER};
  return plan->success ? add_column(columns, &success, plan->path, error) : TT_OK;
}

/* --- cells --- */

static void put_number(tt_results_cell *cell, double number) {
  cell->none = !isfinite(number);
  cell->number = number + 0.0;  // which makes 0 of −0
}

static void put_value(tt_results_cell *cell, const tt_sweep_value *value) {
  if (value->kind == TT_SWEEP_NULL) {
    cell->none = true;
  } else if (cell->kind == TT_RESULTS_TEXT) {
    cell->text = value->kind == TT_SWEEP_TEXT
                     ? value->text
                     : tt_sweep_value_text(value, cell->buffer, sizeof cell->buffer);
  } else {
    put_number(cell, value->number);
  }
}

/** A program's last words may be any bytes: what is no text becomes '?', but lines stay lines. */
static void put_words(tt_results_cell *cell, const char *words) {
  snprintf(cell->buffer, sizeof cell->buffer, "%s", words);
  cell->text = cell->buffer;
  for (char *line = cell->buffer, *end; line; line = end) {
    end = strchr(line, '\n');
    if (end) *end = '\0';
    const size_t size = strlen(line);
    tt_text_make_safe(line);
    const size_t safe = strlen(line);
    if (!end) continue;
    *end = '\n';
    memmove(line + safe, end, strlen(end) + 1);
    end -= size - safe - 1;
  }
}

static void put_fixed(int column, const tt_sweep_row *row, tt_results_cell *cell) {
  switch (column) {
    case ID: cell->text = row->run.id; break;
    case RUN: cell->integer = (int64_t)row->run.number; break;
    case SEED: cell->integer = (int64_t)row->run.seed; break;
    case STATUS: cell->text = tt_sweep_status_name(row->status); break;
    case ERROR_TEXT: put_words(cell, row->error); break;
    case HASH:
      snprintf(cell->buffer, sizeof cell->buffer, "%016" PRIx64, row->hash);
      cell->text = cell->buffer;
      break;
    case SIMULATED_TIME: put_number(cell, row->simulated_time); break;
    case WALL_TIME: put_number(cell, row->wall_time); break;
    default: put_words(cell, row->host); break;
  }
}

void tt_results_cell_of(const tt_sweep_plan *plan, const tt_results_columns *columns, int column,
                        const tt_sweep_row *row, tt_results_cell *cell) {
  cell->none = false;
  cell->kind = columns->list[column].kind;
  const int axis = column - TT_RESULTS_FIXED, metric = axis - plan->axis_count;
  if (axis < 0)
    put_fixed(column, row, cell);
  else if (metric < 0)
    put_value(cell, &row->run.axes[axis]);
  else
    put_value(cell, metric < plan->metric_count ? &row->metrics[metric] : &row->success);
}

const char *tt_results_cell_text(const tt_results_cell *cell, char text[static 40]) {
  const tt_sweep_value number = {.kind = TT_SWEEP_NUMBER, .number = cell->number};
  if (cell->none) return "";
  if (cell->kind == TT_RESULTS_TEXT) return cell->text;
  if (cell->kind == TT_RESULTS_NUMBER) return tt_sweep_value_text(&number, text, 40);
  snprintf(text, 40, "%" PRId64, cell->integer);
  return text;
}

bool tt_results_status_of(const char *name, tt_sweep_status *status) {
  for (int i = TT_SWEEP_OK; i <= TT_SWEEP_LIMIT; i++) {
    if (strcmp(name, tt_sweep_status_name((tt_sweep_status)i))) continue;
    *status = (tt_sweep_status)i;
    return true;
  }
  return false;
}

/* --- and back: what can't be made of a run's number again --- */

int tt_results_stored(const tt_results_columns *columns, int stored[static TT_RESULTS_MOST]) {
  int count = 0;
  for (int i = 0; i < columns->count; i++) {
    bool again = i == ID || i == SEED || !strcmp(columns->list[i].role, "axis");
    if (!again) stored[count++] = i;
  }
  return count;
}

static bool take_fixed(int column, const char *text, double number, tt_sweep_row *row) {
  switch (column) {
    case RUN: row->run.number = (uint64_t)number; return number >= 0 && number < 1e15;
    case STATUS: return tt_results_status_of(text, &row->status);
    case ERROR_TEXT: snprintf(row->error, sizeof row->error, "%s", text); return true;
    case HASH: return sscanf(text, "%16" SCNx64, &row->hash) == 1;
    case SIMULATED_TIME: row->simulated_time = number; return true;
    case WALL_TIME: row->wall_time = number; return true;
    default: snprintf(row->host, sizeof row->host, "%s", text); return true;
  }
}

tt_status tt_results_take(const tt_sweep_plan *plan, int column, const char *text, double number,
                          tt_sweep_row *row, tt_error *error) {
  const int metric = column - TT_RESULTS_FIXED - plan->axis_count;
  const tt_sweep_value value = {.kind = TT_SWEEP_NUMBER, .number = number};
  if (column < TT_RESULTS_FIXED) {
    if (take_fixed(column, text ? text : "", number, row)) return TT_OK;
    return tt_fail(error, TT_INVALID, "no sweep wrote '%s' into the column '%s'", text ? text : "?",
                   fixed[column].name);
  }
  if (metric < plan->metric_count)
    row->metrics[metric] = value;
  else
    row->success = value;
  return TT_OK;
}
