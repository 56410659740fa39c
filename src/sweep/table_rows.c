/* table_rows.c: rows of a sweep's table one by one, and rows with equal axes as one. */
#include "base/json.h"
#include "sweep/table_internal.h"

#include <math.h>
#include <string.h>

/* The query's columns, or all. */
static int chosen(const tt_sweep_table *table, const tt_sweep_query *query, int columns[]) {
  int count = query->column_count ? query->column_count : table->count;
  for (int i = 0; i < count; i++) columns[i] = query->column_count ? query->columns[i] : i;
  return count;
}

static tt_status count_matches(const tt_sweep_table *table, const tt_sweep_query *query,
                               struct json_object *to, tt_error *error) {
  sqlite3_stmt *statement;
  tt_status status = TT_OK;
  sqlite3_str *text = sqlite3_str_new(table->db);
  sqlite3_str_appendall(text, "SELECT count(*) FROM run");
  sweep_table_where(table, text, query);
  TT_TRY(sweep_table_prepare(table, text, query, &statement, error));
  if (sweep_table_step(table, statement, &status, error))
    tt_json_add_int(to, "total", sqlite3_column_int64(statement, 0));
  sqlite3_finalize(statement);
  return status;
}

/* The numbers of the rows that are asked for, in the order asked for. Their values are read one by one afterwards: SQLite would
 * carry them through its sorting. */
static tt_status find_rows(const tt_sweep_table *table, const tt_sweep_query *query,
                           int64_t numbers[TT_SWEEP_MAX_ROWS], int *count, tt_error *error) {
  sqlite3_stmt *statement;
  tt_status status = TT_OK;
  sqlite3_str *text = sqlite3_str_new(table->db);
  sqlite3_str_appendall(text, "SELECT rowid FROM run");
  sweep_table_where(table, text, query);
  sqlite3_str_appendall(text, " ORDER BY ");
  if (query->sort >= 0) {
    const char *name = table->columns[query->sort].name;
    sqlite3_str_appendf(text, "\"%w\" IS NULL, \"%w\"%s, ", name, name,
                        query->descending ? " DESC" : "");
  }
  /* equal ones in the plan's order, whichever process was ready first */
  sqlite3_str_appendf(text, "%s LIMIT %u OFFSET %llu", query->sort >= 0 ? "run" : "rowid",
                      query->limit, (unsigned long long)query->offset);
  TT_TRY(sweep_table_prepare(table, text, query, &statement, error));
  *count = 0;
  while (*count < TT_SWEEP_MAX_ROWS && sweep_table_step(table, statement, &status, error))
    numbers[(*count)++] = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return status;
}

static tt_status read_rows(const tt_sweep_table *table, const tt_sweep_query *query,
                           const int64_t *numbers, int count, struct json_object *to,
                           tt_error *error) {
  int columns[TT_SWEEP_MAX_COLUMNS], column_count = chosen(table, query, columns);
  struct json_object *lists[TT_SWEEP_MAX_COLUMNS], *rows = tt_json_add_array(to, "rows");
  struct json_object *object = json_object_new_object();
  sqlite3_stmt *statement;
  tt_status status = TT_OK;
  tt_json_add(to, "columns", object);
  sqlite3_str *text = sqlite3_str_new(table->db);
  sqlite3_str_appendall(text, "SELECT rowid");
  for (int i = 0; i < column_count; i++) {
    const char *name = table->columns[columns[i]].name;
    sqlite3_str_appendf(text, ", \"%w\"", name);
    lists[i] = tt_json_add_array(object, name);
  }
  sqlite3_str_appendall(text, " FROM run WHERE rowid = ?");
  TT_TRY(sweep_table_prepare(table, text, NULL, &statement, error));
  for (int row = 0; row < count && status == TT_OK; row++) {
    sqlite3_reset(statement);
    sqlite3_bind_int64(statement, 1, numbers[row]);
    if (!sweep_table_step(table, statement, &status, error)) continue;
    json_object_array_add(rows, json_object_new_int64(numbers[row]));
    for (int i = 0; i < column_count; i++)
      json_object_array_add(lists[i], sweep_table_value(statement, i + 1));
  }
  sqlite3_finalize(statement);
  return status;
}

static tt_status finish(struct json_object *object, tt_status status, struct json_object **made) {
  if (status == TT_OK)
    *made = object;
  else
    json_object_put(object);
  return status;
}

tt_status tt_sweep_table_rows(const tt_sweep_table *table, const tt_sweep_query *query,
                              struct json_object **made, tt_error *error) {
  int64_t numbers[TT_SWEEP_MAX_ROWS];
  int count = 0;
  struct json_object *object = json_object_new_object();
  if (!object) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_json_add_uint(object, "offset", query->offset);
  tt_status status = count_matches(table, query, object, error);
  if (status == TT_OK) status = find_rows(table, query, numbers, &count, error);
  if (status == TT_OK) status = read_rows(table, query, numbers, count, object, error);
  return finish(object, status, made);
}

/* ---- groups ---- */

#define MOST_GROUPED 64 /* axes, and metrics */

/* Welford's running mean and sum of squares. */
typedef struct spread {
  double count, mean, squares;
} spread;

static void spread_step(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  spread *of = sqlite3_aggregate_context(context, sizeof *of);
  if (!of || sqlite3_value_type(values[0]) == SQLITE_NULL) return;
  double value = sqlite3_value_double(values[0]), before = value - of->mean;
  of->mean += before / ++of->count;
  of->squares += before * (value - of->mean);
}

static void spread_end(sqlite3_context *context) {
  const spread *of = sqlite3_aggregate_context(context, 0);
  if (of && of->count > 1)
    sqlite3_result_double(context, sqrt(of->squares / (of->count - 1)));
  else
    sqlite3_result_null(context);
}

/* What is grouped by, and what is measured of each group. */
typedef struct grouping {
  int axes[MOST_GROUPED], axis_count, metrics[MOST_GROUPED], metric_count;
} grouping;

static int choose_role(const tt_sweep_table *table, const tt_sweep_query *query, bool metric,
                       int columns[MOST_GROUPED]) {
  int count = 0;
  for (int named = query->column_count > 0; named >= 0 && !count; named--) {
    for (int i = 0; i < (named ? query->column_count : table->count); i++) {
      int column = named ? query->columns[i] : i;
      bool right = metric ? table->columns[column].role == TT_SWEEP_ROLE_METRIC
                          : table->columns[column].role == TT_SWEEP_ROLE_AXIS;
      if (right && count < MOST_GROUPED) columns[count++] = column;
    }
  }
  return count;
}

/* Groups in the order of their axes, or by the mean of a metric. */
static void order_groups(const tt_sweep_table *table, const tt_sweep_query *query,
                         const grouping *by, sqlite3_str *text) {
  const char *down = query->descending ? " DESC" : "";
  sqlite3_str_appendall(text, " ORDER BY ");
  if (query->sort >= 0) {
    const tt_sweep_column *sort = &table->columns[query->sort];
    bool metric = sort->role != TT_SWEEP_ROLE_AXIS;
    sqlite3_str_appendf(
        text, metric ? "avg(\"%w\") IS NULL, avg(\"%w\")%s, " : "\"%w\" IS NULL, \"%w\"%s, ",
        sort->name, sort->name, down);
  }
  for (int i = 0; i < by->axis_count; i++) sqlite3_str_appendf(text, "%d, ", i + 2);
  sqlite3_str_appendall(text, "1");
}

static tt_status prepare_groups(const tt_sweep_table *table, const tt_sweep_query *query,
                                const grouping *by, sqlite3_stmt **statement, tt_error *error) {
  sqlite3_str *text = sqlite3_str_new(table->db);
  sqlite3_str_appendall(text, "SELECT count(*)");
  for (int i = 0; i < by->axis_count; i++)
    sqlite3_str_appendf(text, ", \"%w\"", table->columns[by->axes[i]].name);
  for (int i = 0; i < by->metric_count; i++) {
    const char *name = table->columns[by->metrics[i]].name;
    sqlite3_str_appendf(text, ", avg(\"%w\"), spread(\"%w\")", name, name);
  }
  sqlite3_str_appendall(text, " FROM run");
  sweep_table_where(table, text, query);
  for (int i = 0; i < by->axis_count; i++)
    sqlite3_str_appendf(text, i ? ", %d" : " GROUP BY %d", i + 2);
  order_groups(table, query, by, text);
  return sweep_table_prepare(table, text, query, statement, error);
}

static tt_status read_groups(const tt_sweep_table *table, const tt_sweep_query *query,
                             const grouping *by, sqlite3_stmt *statement, struct json_object *to,
                             tt_error *error) {
  struct json_object *counts = tt_json_add_array(to, "count"), *axes = json_object_new_object(),
                     *metrics = json_object_new_object(), *lists[3 * MOST_GROUPED];
  uint64_t groups = 0;
  tt_status status = TT_OK;
  int used = 0;
  tt_json_add(to, "axes", axes);
  tt_json_add(to, "metrics", metrics);
  for (int i = 0; i < by->axis_count; i++)
    lists[used++] = tt_json_add_array(axes, table->columns[by->axes[i]].name);
  for (int i = 0; i < by->metric_count; i++) {
    struct json_object *one = json_object_new_object();
    tt_json_add(metrics, table->columns[by->metrics[i]].name, one);
    lists[used++] = tt_json_add_array(one, "mean");
    lists[used++] = tt_json_add_array(one, "spread");
  }
  for (; sweep_table_step(table, statement, &status, error); groups++) {
    if (groups < query->offset || groups - query->offset >= query->limit) continue;
    json_object_array_add(counts, sweep_table_value(statement, 0));
    for (int i = 0; i < used; i++)
      json_object_array_add(lists[i], sweep_table_value(statement, i + 1));
  }
  tt_json_add_uint(to, "total", groups);
  return status;
}

tt_status tt_sweep_table_groups(const tt_sweep_table *table, const tt_sweep_query *query,
                                struct json_object **made, tt_error *error) {
  grouping by = {.axis_count = 0};
  sqlite3_stmt *statement;
  by.axis_count = choose_role(table, query, false, by.axes);
  by.metric_count = choose_role(table, query, true, by.metrics);
  if (sqlite3_create_function_v2(table->db, "spread", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                 NULL, spread_step, spread_end, NULL) != SQLITE_OK)
    return sweep_table_fail(table, error);
  struct json_object *object = json_object_new_object();
  if (!object) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_json_add_uint(object, "offset", query->offset);
  tt_status status = prepare_groups(table, query, &by, &statement, error);
  if (status == TT_OK) {
    status = read_groups(table, query, &by, statement, object, error);
    sqlite3_finalize(statement);
  }
  return finish(object, status, made);
}
