/* results_table.c: tables of SQL: what they are made of, whose they are, and how they pass to a plan that was changed.
 *
 * SQLite and PostgreSQL are told the same but for what tt_results_sql has. VALUES without names call their columns column1 and
 * column2 in both.
 */
#include "base/log.h"
#include "sweep/results_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Of these tables; raise it when older programs can't read them any more. */
#define FORMAT 1
/** Rows that are given another number by one statement. */
#define RENUMBERED 500

/* --- text of statements --- */

void tt_results_put(tt_bytes *sql, const char *text) { tt_bytes_append(sql, text, strlen(text)); }

static void put_quoted(tt_bytes *sql, const char *text, char quote) {
  tt_bytes_append(sql, &quote, 1);
  for (; *text; text++) {
    if (*text == quote) tt_bytes_append(sql, &quote, 1);
    tt_bytes_append(sql, text, 1);
  }
  tt_bytes_append(sql, &quote, 1);
}

void tt_results_put_name(tt_bytes *sql, const char *name) { put_quoted(sql, name, '"'); }

static void put_number(tt_bytes *sql, uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, number);
  tt_results_put(sql, text);
}

void tt_results_put_stored(tt_bytes *sql, const tt_results_columns *columns) {
  int stored[TT_RESULTS_MOST];
  const int count = tt_results_stored(columns, stored);
  for (int i = 0; i < count; i++) {
    if (i) tt_results_put(sql, ", ");
    tt_results_put_name(sql, columns->list[stored[i]].name);
  }
}

/** Runs what was put, and empties it. */
static tt_status run(const tt_results_sql *sql, tt_bytes *text, tt_error *error) {
  tt_bytes_append(text, "", 1);
  tt_status status = text->failed
                         ? tt_fail(error, TT_NOMEM, "out of memory")
                         : sql->run(sql->self, (const char *)text->data, NULL, NULL, error);
  tt_bytes_cut(text, 0);
  return status;
}

/* --- a new table --- */

/** "run" is found by its number; that of rows which the plan has no longer is NULL, as often as need be. */
static void put_columns(tt_bytes *text, const tt_results_sql *sql,
                        const tt_results_columns *columns) {
  tt_results_put(text, "CREATE TABLE run (");
  for (int i = 0; i < columns->count; i++) {
    const tt_results_column *column = &columns->list[i];
    if (i) tt_results_put(text, ", ");
    tt_results_put_name(text, column->name);
    tt_results_put(text, " ");
    tt_results_put(text, sql->types[column->kind]);
    if (!strcmp(column->name, "run")) tt_results_put(text, " UNIQUE");
  }
  tt_results_put(text,
                 ");CREATE TABLE run_column (name TEXT NOT NULL PRIMARY KEY,"
                 " role TEXT NOT NULL, unit TEXT NOT NULL);"
                 "CREATE TABLE sweep (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);");
  for (int i = 0; i < columns->count; i++) {
    tt_results_put(text, "INSERT INTO run_column VALUES (");
    put_quoted(text, columns->list[i].name, '\'');
    tt_results_put(text, ", ");
    put_quoted(text, columns->list[i].role, '\'');
    tt_results_put(text, ", ");
    put_quoted(text, columns->list[i].unit, '\'');
    tt_results_put(text, ");");
  }
}

static void put_key(tt_bytes *text, const char *key, const char *value) {
  tt_results_put(text, "INSERT INTO sweep VALUES (");
  put_quoted(text, key, '\'');
  tt_results_put(text, ", ");
  put_quoted(text, value ? value : "", '\'');
  tt_results_put(text, ");");
}

static void put_count(tt_bytes *text, const char *key, uint64_t count) {
  char value[24];
  snprintf(value, sizeof value, "%" PRIu64, count);
  put_key(text, key, value);
}

static void put_plan(tt_bytes *text, const tt_sweep_results *results) {
  const tt_sweep_plan *plan = results->plan;
  put_count(text, "format", FORMAT);
  put_key(text, "plan", plan->path);
  put_key(text, "scene", plan->scene);
  put_count(text, "runs", results->runs);
  put_count(text, "repeat", (uint64_t)plan->repeat);
  put_key(text, "text", plan->text);
  put_key(text, "version", plan->version);
  put_key(text, "runs_identity", plan->runs_identity);
  put_key(text, "columns_identity", plan->columns_identity);
}

/** All that a new table has, and the end of the transaction. */
static void put_all(tt_bytes *text, const tt_sweep_results *results, const tt_results_sql *sql) {
  put_columns(text, sql, &results->columns);
  put_plan(text, results);
  tt_results_put(text, "COMMIT");
}

static tt_status make(const tt_sweep_results *results, const tt_results_sql *sql, tt_bytes *text,
                      tt_error *error) {
  tt_results_put(text, sql->begin);
  tt_results_put(text, ";");
  put_all(text, results, sql);
  return run(sql, text, error);
}

/* --- one that is there --- */

/** What a table says of itself. */
typedef struct said {
  int format;
  char version[128], runs_identity[33], columns_identity[33];
} said;

static tt_status on_key(void *context, const char *const *values, tt_error *error) {
  said *is = context;
  const char *key = values[0] ? values[0] : "", *value = values[1] ? values[1] : "";
  (void)error;
  if (!strcmp(key, "format")) is->format = atoi(value);
  if (!strcmp(key, "version")) snprintf(is->version, sizeof is->version, "%s", value);
  if (!strcmp(key, "runs_identity"))
    snprintf(is->runs_identity, sizeof is->runs_identity, "%s", value);
  if (!strcmp(key, "columns_identity"))
    snprintf(is->columns_identity, sizeof is->columns_identity, "%s", value);
  return TT_OK;
}

static tt_status read_said(const tt_results_sql *sql, said *is, tt_error *error) {
  tt_error why;
  tt_status status = sql->run(sql->self, "SELECT key, value FROM sweep", on_key, is, &why);
  if (status == TT_OK && is->format > FORMAT) {
    return tt_fail(error, TT_VERSION,
                   "%s: made by a newer Tether (format %d, this program knows up to %d); use that "
                   "program, or give another --output",
                   sql->name, is->format, FORMAT);
  }
  if (status == TT_OK && is->format > 0) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s: is no table of a sweep%s%s; give another --output",
                 sql->name, status == TT_OK ? "" : ": ", status == TT_OK ? "" : why.text);
}

static bool is_of_another(const tt_sweep_plan *plan, const said *is) {
  return strcmp(is->runs_identity, plan->runs_identity) != 0 ||
         strcmp(is->columns_identity, plan->columns_identity) != 0;
}

/** Whether the rows are those of the plan. */
static tt_status compare(const tt_sweep_results *results, const tt_results_sql *sql, const said *is,
                         bool *changed, tt_error *error) {
  const tt_sweep_plan *plan = results->plan;
  const bool columns = strcmp(is->columns_identity, plan->columns_identity) != 0;
  *changed = strcmp(is->runs_identity, plan->runs_identity) != 0;
  if (!columns && (!*changed || results->options.extend)) return TT_OK;
  if (strcmp(is->version, plan->version) && !columns) {
    return tt_fail(error, TT_INVALID,
                   "%s: was made by %s, and this is %s; give another --output, or --extend to "
                   "have what differs made anew beside what is there",
                   sql->name, is->version, plan->version);
  }
  return tt_fail(error, TT_INVALID,
                 columns ? "%s: is of another plan than %s: its axes, metrics or success are "
                           "others, so that its columns would mean two things; give another "
                           "--output"
                         : "%s: is of another plan than %s, or that was changed since; give "
                           "another --output, or --extend to keep the rows that the plan still has",
                 sql->name, plan->path);
}

/* --- a plan that was changed: rows that it still has get their new numbers --- */

typedef struct known_row {
  char id[33], key[31];
} known_row;

typedef struct known_rows {
  known_row *list;
  size_t count, room;
} known_rows;

static tt_status on_known(void *context, const char *const *values, tt_error *error) {
  known_rows *known = context;
  if (known->count == known->room) {
    const size_t room = known->room ? 2 * known->room : 1024;
    known_row *grown = realloc(known->list, room * sizeof *grown);
    if (!grown) return tt_fail(error, TT_NOMEM, "out of memory");
    known->list = grown;
    known->room = room;
  }
  known_row *row = &known->list[known->count++];
  snprintf(row->id, sizeof row->id, "%s", values[0] ? values[0] : "");
  snprintf(row->key, sizeof row->key, "%s", values[1] ? values[1] : "");
  return TT_OK;
}

static int by_id(const void *a, const void *b) {
  return strcmp(((const known_row *)a)->id, ((const known_row *)b)->id);
}

/** A row of that id which has no number yet; it is taken by emptying its key. NULL: none. */
static known_row *take_row(const known_rows *known, const char *id) {
  known_row wanted;
  memcpy(wanted.id, id, sizeof wanted.id);
  known_row *row =
      known->count ? bsearch(&wanted, known->list, known->count, sizeof wanted, by_id) : NULL;
  if (!row) return NULL;
  const known_row *end = known->list + known->count;
  while (row > known->list && !by_id(row - 1, row)) row--;
  while (row < end && !row->key[0] && !strcmp(row->id, id)) row++;
  return row < end && row->key[0] && !strcmp(row->id, id) ? row : NULL;
}

static tt_status renumber(const tt_sweep_results *results, const tt_results_sql *sql,
                          const known_rows *known, tt_bytes *text, tt_error *error) {
  tt_sweep_run one;
  size_t left = known->count, put = 0;
  for (uint64_t number = 0; number < results->runs && left; number++) {
    tt_sweep_plan_run(results->plan, number, &one);
    known_row *row = take_row(known, one.id);
    if (row) {
      tt_results_put(text, put++ ? ", (" : "UPDATE run SET run = m.column2 FROM (VALUES (");
      put_quoted(text, row->key, '\'');
      tt_results_put(text, sql->key_cast);
      tt_results_put(text, ", ");
      put_number(text, number);
      tt_results_put(text, ")");
      row->key[0] = '\0';
      left--;
    }
    if (!put || (put < RENUMBERED && left && number + 1 < results->runs)) continue;
    tt_results_put(text, ") AS m WHERE m.column1 = run.");
    tt_results_put(text, sql->key);
    TT_TRY(run(sql, text, error));
    put = 0;
  }
  return TT_OK;
}

static tt_status pass_on(const tt_sweep_results *results, const tt_results_sql *sql,
                         known_rows *known, tt_bytes *text, tt_error *error) {
  TT_TRY(sql->run(sql->self, sql->begin, NULL, NULL, error));
  tt_results_put(text, "UPDATE run SET run = NULL WHERE run IS NOT NULL; DELETE FROM sweep;");
  put_plan(text, results);
  TT_TRY(run(sql, text, error));
  tt_results_put(text, "SELECT id, ");
  tt_results_put(text, sql->key);
  tt_results_put(text, " FROM run");
  tt_bytes_append(text, "", 1);
  if (text->failed) return tt_fail(error, TT_NOMEM, "out of memory");
  TT_TRY(sql->run(sql->self, (const char *)text->data, on_known, known, error));
  tt_bytes_cut(text, 0);
  if (known->count) qsort(known->list, known->count, sizeof *known->list, by_id);
  TT_TRY(renumber(results, sql, known, text, error));
  return sql->run(sql->self, "COMMIT", NULL, NULL, error);
}

static tt_status extend(const tt_sweep_results *results, const tt_results_sql *sql, tt_bytes *text,
                        tt_error *error) {
  known_rows known = {0};
  tt_error ignored;
  tt_status status = pass_on(results, sql, &known, text, error);
  if (status != TT_OK) sql->run(sql->self, "ROLLBACK", NULL, NULL, &ignored);
  free(known.list);
  return status;
}

/* --- opening --- */

static tt_status on_count(void *context, const char *const *values, tt_error *error) {
  (void)error;
  *(int *)context = values[0] ? atoi(values[0]) : 0;
  return TT_OK;
}

static tt_status on_number(void *context, const char *const *values, tt_error *error) {
  return tt_results_mark(context, strtoull(values[0] ? values[0] : "", NULL, 10), error);
}

/** A table without a row stands for no run yet: whatever plan it was made for, it becomes that of this one. */
static tt_status make_anew(const tt_sweep_results *results, const tt_results_sql *sql,
                           tt_bytes *text, tt_error *error) {
  tt_error ignored;
  tt_results_put(text, sql->begin);
  tt_results_put(text, ";DROP TABLE run;DROP TABLE run_column;DROP TABLE sweep;");
  put_all(text, results, sql);
  tt_status status = run(sql, text, error);
  if (status != TT_OK) sql->run(sql->self, "ROLLBACK", NULL, NULL, &ignored);
  return status;
}

static tt_status open_table(tt_sweep_results *results, const tt_results_sql *sql, tt_bytes *text,
                            tt_error *error) {
  int tables = 0, rows = 0;
  bool changed;
  said is = {0};
  TT_TRY(sql->run(sql->self, sql->is_there, on_count, &tables, error));
  if (!tables) return make(results, sql, text, error);
  TT_TRY(read_said(sql, &is, error));
  TT_TRY(sql->run(sql->self, "SELECT count(*) FROM (SELECT 1 FROM run LIMIT 1) AS any_row",
                  on_count, &rows, error));
  if (!rows && is_of_another(results->plan, &is)) return make_anew(results, sql, text, error);
  TT_TRY(compare(results, sql, &is, &changed, error));
  if (changed) TT_TRY(extend(results, sql, text, error));
  TT_TRY(
      sql->run(sql->self, "SELECT run FROM run WHERE run IS NOT NULL", on_number, results, error));
  if (changed)
    tt_log_info("%s: %" PRIu64 " rows are kept; the plan has %" PRIu64 " runs", sql->name,
                results->count, results->runs);
  return TT_OK;
}

tt_status tt_results_look(tt_sweep_results *results, const tt_results_sql *sql, tt_error *error) {
  tt_bytes text = {0};
  tt_status status = open_table(results, sql, &text, error);
  tt_bytes_free(&text);
  return status;
}
