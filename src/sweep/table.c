#include "base/json.h"
#include "database/sqlite_link.h"
#include "sweep/table_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUSY_MS 2000
#define BROWSER_WHOLE 9007199254740992 /* 2^53 */

tt_status sweep_table_fail(const tt_sweep_table *table, tt_error *error) {
  return tt_fail(error, TT_FAILED, "%s: %s", table->path, sqlite3_errmsg(table->db));
}

/* ---- opening ---- */

static tt_status add_column(tt_sweep_table *table, sqlite3_stmt *row, tt_error *error) {
  const char *name = (const char *)sqlite3_column_text(row, 0);
  const char *unit = (const char *)sqlite3_column_text(row, 1);
  const char *role = (const char *)sqlite3_column_text(row, 2);
  const char *type = (const char *)sqlite3_column_text(row, 3);
  tt_sweep_column *grown =
      realloc(table->columns, ((size_t)table->count + 1) * sizeof *table->columns);
  if (!grown) return tt_fail(error, TT_NOMEM, "out of memory");
  table->columns = grown;
  grown[table->count++] =
      (tt_sweep_column){strdup(name ? name : ""), strdup(unit ? unit : ""),
                        role && strcmp(role, "axis") == 0     ? TT_SWEEP_ROLE_AXIS
                        : role && strcmp(role, "metric") == 0 ? TT_SWEEP_ROLE_METRIC
                                                              : TT_SWEEP_ROLE_RUN,
                        type && sqlite3_stricmp(type, "TEXT") == 0};
  return grown[table->count - 1].name && grown[table->count - 1].unit
             ? TT_OK
             : tt_fail(error, TT_NOMEM, "out of memory");
}

static tt_status read_columns(tt_sweep_table *table, tt_error *error) {
  sqlite3_stmt *rows;
  tt_status status = TT_OK;
  if (sqlite3_prepare_v2(table->db,
                         "SELECT t.name, c.unit, c.role, t.type FROM pragma_table_info('run') t"
                         " LEFT JOIN run_column c ON c.name = t.name ORDER BY t.cid",
                         -1, &rows, NULL) != SQLITE_OK)
    return tt_fail(error, TT_INVALID, "%s: is no table of a sweep: %s", table->path,
                   sqlite3_errmsg(table->db));
  while (status == TT_OK && sweep_table_step(table, rows, &status, error))
    status = table->count < TT_SWEEP_MAX_COLUMNS
                 ? add_column(table, rows, error)
                 : tt_fail(error, TT_INVALID, "%s: more than %d columns", table->path,
                           TT_SWEEP_MAX_COLUMNS);
  sqlite3_finalize(rows);
  if (status == TT_OK && tt_sweep_column_find(table->columns, table->count, "status", 6) < 0)
    return tt_fail(error, TT_INVALID, "%s: is no table of a sweep", table->path);
  return status;
}

tt_status tt_sweep_table_open(const char *path, tt_sweep_table **made, tt_error *error) {
  if (access(path, R_OK) != 0)
    return tt_fail(error, errno == ENOENT ? TT_NOT_FOUND : TT_FAILED, "%s: %s", path,
                   strerror(errno));
  tt_sweep_table *table = calloc(1, sizeof *table);
  if (!table || !(table->path = strdup(path))) {
    free(table);
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  tt_status status =
      tt_sqlite_connect(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, &table->db, error);
  if (status == TT_OK && sqlite3_busy_timeout(table->db, BUSY_MS) != SQLITE_OK)
    status = sweep_table_fail(table, error);
  if (status == TT_OK) tt_sqlite_harden(table->db);
  if (status == TT_OK) status = read_columns(table, error);
  if (status != TT_OK) {
    tt_sweep_table_close(table);
    return status;
  }
  *made = table;
  return TT_OK;
}

void tt_sweep_table_close(tt_sweep_table *table) {
  if (!table) return;
  for (int i = 0; i < table->count; i++) {
    free((char *)table->columns[i].name);
    free((char *)table->columns[i].unit);
  }
  free(table->columns);
  sqlite3_close(table->db);
  free(table->path);
  free(table);
}

const tt_sweep_column *tt_sweep_table_columns(const tt_sweep_table *table, int *count) {
  *count = table->count;
  return table->columns;
}

/* ---- statements ---- */

static void add_condition(const tt_sweep_table *table, sqlite3_str *text,
                          const tt_sweep_condition *condition) {
  const char *name = table->columns[condition->column].name;
  switch (condition->comparison) {
    case TT_SWEEP_BETWEEN: sqlite3_str_appendf(text, "\"%w\" BETWEEN ? AND ?", name); break;
    case TT_SWEEP_SAME: sqlite3_str_appendf(text, "\"%w\" = ?", name); break;
    case TT_SWEEP_OTHER: sqlite3_str_appendf(text, "\"%w\" IS NOT ?", name); break;
    case TT_SWEEP_CONTAINS:
      sqlite3_str_appendf(text, "instr(lower(\"%w\"), lower(?)) > 0", name);
      break;
    case TT_SWEEP_NOTHING: sqlite3_str_appendf(text, "\"%w\" IS NULL", name); break;
  }
}

void sweep_table_where(const tt_sweep_table *table, sqlite3_str *text,
                       const tt_sweep_query *query) {
  // Rows without a number are of a plan that was changed since.
  sqlite3_str_appendall(text, " WHERE run IS NOT NULL AND rowid > ?");
  if (query->row) sqlite3_str_appendall(text, " AND rowid = ?");
  for (int i = 0; i < query->condition_count; i++) {
    sqlite3_str_appendall(text, " AND ");
    add_condition(table, text, &query->conditions[i]);
  }
}

static void bind(sqlite3_stmt *statement, const tt_sweep_query *query) {
  int at = 1;
  sqlite3_bind_int64(statement, at++, query->after);
  if (query->row) sqlite3_bind_int64(statement, at++, query->row);
  for (int i = 0; i < query->condition_count; i++) {
    const tt_sweep_condition *condition = &query->conditions[i];
    if (condition->comparison == TT_SWEEP_NOTHING) continue;
    if (condition->comparison == TT_SWEEP_BETWEEN) {
      sqlite3_bind_double(statement, at++, condition->least);
      sqlite3_bind_double(statement, at++, condition->greatest);
    } else {
      sqlite3_bind_text(statement, at++, condition->text, -1, SQLITE_STATIC);
    }
  }
}

tt_status sweep_table_prepare(const tt_sweep_table *table, sqlite3_str *text,
                              const tt_sweep_query *query, sqlite3_stmt **statement,
                              tt_error *error) {
  char *sql = sqlite3_str_finish(text);
  if (!sql) return tt_fail(error, TT_NOMEM, "out of memory");
  int prepared = sqlite3_prepare_v2(table->db, sql, -1, statement, NULL);
  sqlite3_free(sql);
  if (prepared != SQLITE_OK) return sweep_table_fail(table, error);
  if (query) bind(*statement, query);
  return TT_OK;
}

bool sweep_table_step(const tt_sweep_table *table, sqlite3_stmt *statement, tt_status *status,
                      tt_error *error) {
  int step = sqlite3_step(statement);
  if (step != SQLITE_ROW && step != SQLITE_DONE) *status = sweep_table_fail(table, error);
  return step == SQLITE_ROW;
}

struct json_object *sweep_table_value(sqlite3_stmt *statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: {
      sqlite3_int64 whole = sqlite3_column_int64(statement, column);
      if (whole > -BROWSER_WHOLE && whole < BROWSER_WHOLE) return json_object_new_int64(whole);
      break;
    }
    case SQLITE_FLOAT: {
      double number = sqlite3_column_double(statement, column);
      return isfinite(number) ? json_object_new_double(number) : NULL;
    }
    case SQLITE_NULL: return NULL;
    default: break;
  }
  const char *text = (const char *)sqlite3_column_text(statement, column);
  return text ? json_object_new_string(text) : NULL;
}

/* ---- the whole ---- */

char *tt_sweep_table_fact(const tt_sweep_table *table, const char *key) {
  sqlite3_stmt *statement;
  char *found = NULL;
  if (sqlite3_prepare_v2(table->db, "SELECT value FROM sweep WHERE key = ?", -1, &statement,
                         NULL) != SQLITE_OK)
    return strdup("");
  sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
  const char *text = sqlite3_step(statement) == SQLITE_ROW
                         ? (const char *)sqlite3_column_text(statement, 0)
                         : NULL;
  found = strdup(text ? text : "");
  sqlite3_finalize(statement);
  return found;
}

static void add_fact(const tt_sweep_table *table, struct json_object *to, const char *key,
                     bool number) {
  char *fact = tt_sweep_table_fact(table, key);
  if (number)
    tt_json_add_int(to, key, fact ? strtoll(fact, NULL, 10) : 0);
  else
    tt_json_add_text(to, key, fact);
  free(fact);
}

static void add_columns(const tt_sweep_table *table, struct json_object *to) {
  static const char *const roles[] = {"run", "axis", "metric"};
  struct json_object *list = tt_json_add_array(to, "columns");
  for (int i = 0; i < table->count; i++) {
    const tt_sweep_column *column = &table->columns[i];
    struct json_object *one = json_object_new_object();
    tt_json_add_text(one, "name", column->name);
    tt_json_add_text(one, "unit", column->unit);
    tt_json_add_text(one, "role", roles[column->role]);
    tt_json_add_bool(one, "text", column->text);
    json_object_array_add(list, one);
  }
}

/* How many rows there are of each status, and the number of the last. */
static tt_status count_rows(const tt_sweep_table *table, struct json_object *to, tt_error *error) {
  sqlite3_stmt *statement;
  tt_status status = TT_OK;
  int64_t rows = 0, last = 0;
  struct json_object *statuses = json_object_new_object();
  tt_json_add(to, "statuses", statuses);
  sqlite3_str *text = sqlite3_str_new(table->db);
  sqlite3_str_appendall(text,
                        "SELECT status, count(*), max(rowid) FROM run"
                        " WHERE run IS NOT NULL GROUP BY status");
  TT_TRY(sweep_table_prepare(table, text, NULL, &statement, error));
  while (sweep_table_step(table, statement, &status, error)) {
    const char *name = (const char *)sqlite3_column_text(statement, 0);
    tt_json_add_int(statuses, name ? name : "", sqlite3_column_int64(statement, 1));
    rows += sqlite3_column_int64(statement, 1);
    if (sqlite3_column_int64(statement, 2) > last) last = sqlite3_column_int64(statement, 2);
  }
  sqlite3_finalize(statement);
  tt_json_add_int(to, "rows", rows);
  tt_json_add_int(to, "last", last);
  return status;
}

tt_status tt_sweep_table_describe(const tt_sweep_table *table, struct json_object **made,
                                  tt_error *error) {
  struct json_object *object = json_object_new_object();
  if (!object) return tt_fail(error, TT_NOMEM, "out of memory");
  add_fact(table, object, "plan", false);
  add_fact(table, object, "scene", false);
  add_fact(table, object, "runs", true);
  add_columns(table, object);
  tt_status status = count_rows(table, object, error);
  if (status == TT_OK)
    *made = object;
  else
    json_object_put(object);
  return status;
}
