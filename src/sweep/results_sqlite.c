/* results_sqlite.c: a table in a file of SQLite.
 *
 * One connection writes and checkpoints, under a lock that the kernel holds; readers are read-only and never checkpoint.
 * synchronous=FULL: a committed row survives a power cut. A sweep that ends in order leaves one file without a log beside it,
 * which can be read anywhere, also where nobody may write.
 */
#include "base/file.h"
#include "database/lock.h"
#include "database/sqlite_link.h"
#include "sweep/results_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APPLICATION_ID 1414812503 /* "TTSW" */

typedef struct file {
  const tt_sweep_plan *plan;
  const tt_results_columns *columns;
  const char *path;
  sqlite3 *db;
  sqlite3_stmt *insert;
  tt_lock lock;
  tt_file_mark main,
      log; /**< those that were opened, which keep names unless somebody removes them */
} file;

static tt_status fail(const file *to, const char *what, tt_error *error) {
  return tt_sqlite_fail(to->db, to->path, what, error);
}

/* --- what results_table.c says --- */

typedef struct answer {
  tt_results_on_row on_row;
  void *context;
  tt_error *error;
  tt_status status;
} answer;

static int on_row(void *context, int count, char **values, char **names) {
  answer *to = context;
  (void)count, (void)names;
  if (to->on_row) to->status = to->on_row(to->context, (const char *const *)values, to->error);
  return to->status != TT_OK;
}

static tt_status run(void *self, const char *sql, tt_results_on_row row, void *context,
                     tt_error *error) {
  const file *to = self;
  answer answer = {row, context, error, TT_OK};
  const int result = sqlite3_exec(to->db, sql, on_row, &answer, NULL);
  if (result == SQLITE_ABORT && answer.status != TT_OK) return answer.status;
  if (result == SQLITE_OK) return TT_OK;
  const bool damaged = result == SQLITE_CORRUPT || result == SQLITE_NOTADB;
  return tt_fail(error, damaged ? TT_INVALID : TT_FAILED, "%s: %s%s", to->path,
                 sqlite3_errmsg(to->db), damaged ? "; move it away, and begin again" : "");
}

/* --- opening --- */

static tt_status read_number(const file *to, const char *sql, int *number, tt_error *error) {
  sqlite3_stmt *query = NULL;
  const bool there = sqlite3_prepare_v2(to->db, sql, -1, &query, NULL) == SQLITE_OK &&
                     sqlite3_step(query) == SQLITE_ROW;
  if (there) *number = sqlite3_column_int(query, 0);
  const int code = sqlite3_errcode(to->db);
  tt_status status = TT_OK;
  if (!there && (code == SQLITE_NOTADB || code == SQLITE_CORRUPT))
    status = tt_fail(error, TT_INVALID, "%s: is no table of a sweep: %s; give another --output",
                     to->path, sqlite3_errmsg(to->db));
  else if (!there)
    status = fail(to, "can't read", error);
  sqlite3_finalize(query);
  return status;
}

/** A file that is somebody else's stays as it is; a new one becomes ours. */
static tt_status check_owner(file *to, tt_error *error) {
  int application = 0, tables = 0;
  TT_TRY(read_number(to, "PRAGMA application_id", &application, error));
  TT_TRY(read_number(to, "SELECT count(*) FROM sqlite_schema", &tables, error));
  if (application == APPLICATION_ID) return TT_OK;
  if (!application && !tables)
    return run(to, "PRAGMA application_id = 1414812503", NULL, NULL, error);
  return tt_fail(error, TT_INVALID,
                 "%s: is no table of a sweep, but a database of another program; give another "
                 "--output",
                 to->path);
}

/** A damaged page is found now, not when its row is read. */
static tt_status on_check(void *context, const char *const *values, tt_error *error) {
  const file *to = context;
  if (values[0] && !strcmp(values[0], "ok")) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s: is damaged (%s); move it away, and begin again", to->path,
                 values[0] ? values[0] : "?");
}

static tt_status prepare(file *to, tt_error *error) {
  tt_bytes sql = {0};
  tt_results_put(&sql, "INSERT INTO run VALUES (");
  for (int i = 0; i < to->columns->count; i++) tt_results_put(&sql, i ? ", ?" : "?");
  tt_results_put(&sql, ")");
  tt_bytes_append(&sql, "", 1);
  tt_status status = TT_OK;
  if (sql.failed)
    status = tt_fail(error, TT_NOMEM, "out of memory");
  else if (sqlite3_prepare_v3(to->db, (const char *)sql.data, -1, SQLITE_PREPARE_PERSISTENT,
                              &to->insert, NULL) != SQLITE_OK)
    status = fail(to, "can't prepare", error);
  tt_bytes_free(&sql);
  return status;
}

static tt_status open_file(tt_sweep_results *results, file *to, tt_error *error) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  TT_TRY(tt_sqlite_connect(to->path, flags, &to->db, error));
  const char *name = sqlite3_db_filename(to->db, "main");
  if (!name || !*name)  // "", ":memory:": it would be gone with the process
    return tt_fail(error, TT_INVALID, "--output '%s': is no name of a file; give another",
                   to->path);
  TT_TRY(tt_lock_take(&to->lock, name, error));
  tt_sqlite_harden(to->db);
  sqlite3_limit(to->db, SQLITE_LIMIT_LENGTH, 64 << 20);  // a plan's text, and statements
  sqlite3_limit(to->db, SQLITE_LIMIT_SQL_LENGTH, 64 << 20);
  sqlite3_busy_timeout(to->db, 5000);
  TT_TRY(check_owner(to, error));
  TT_TRY(run(to, "PRAGMA quick_check(1)", on_check, to, error));
  TT_TRY(run(to, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY",
             NULL, NULL, error));
  const tt_results_sql sql = {.self = to,
                              .run = run,
                              .name = to->path,
                              .is_there = "SELECT count(*) FROM sqlite_schema",
                              .begin = "BEGIN IMMEDIATE",
                              .key = "rowid",
                              .key_cast = " + 0",
                              .types = {"INTEGER", "REAL", "TEXT"}};
  TT_TRY(tt_results_look(results, &sql, error));
  const char *resolved = sqlite3_db_filename(to->db, "main");
  to->main = tt_file_note(resolved);
  to->log = tt_file_note(sqlite3_filename_wal(resolved));
  return prepare(to, error);
}

static tt_status sqlite_open(tt_sweep_results *results, tt_error *error) {
  file *to = calloc(1, sizeof *to);
  if (!to) return tt_fail(error, TT_NOMEM, "out of memory");
  *to = (file){.plan = results->plan,
               .columns = &results->columns,
               .path = results->options.output,
               .lock = TT_LOCK_NONE};
  results->self = to;
  return open_file(results, to, error);
}

static void sqlite_close(void *self) {
  file *to = self;
  sqlite3_finalize(to->insert);
  sqlite3_close(to->db);
  tt_lock_release(&to->lock);
  free(to);
}

/* --- rows --- */

static void bind(sqlite3_stmt *insert, int place, const tt_results_cell *cell) {
  if (cell->none)
    sqlite3_bind_null(insert, place);
  else if (cell->kind == TT_RESULTS_INTEGER)
    sqlite3_bind_int64(insert, place, cell->integer);
  else if (cell->kind == TT_RESULTS_NUMBER)
    sqlite3_bind_double(insert, place, cell->number);
  else
    sqlite3_bind_text(insert, place, cell->text, -1, SQLITE_TRANSIENT);
}

static tt_status sqlite_add(void *self, const tt_sweep_row *row, tt_error *error) {
  file *to = self;
  tt_results_cell cell;
  if (sqlite3_get_autocommit(to->db)) TT_TRY(run(to, "BEGIN IMMEDIATE", NULL, NULL, error));
  for (int i = 0; i < to->columns->count; i++) {
    tt_results_cell_of(to->plan, to->columns, i, row, &cell);
    bind(to->insert, i + 1, &cell);
  }
  const int result = sqlite3_step(to->insert);
  tt_status status = result == SQLITE_DONE ? TT_OK : fail(to, "can't write", error);
  sqlite3_reset(to->insert);
  sqlite3_clear_bindings(to->insert);
  return status;
}

static tt_status sqlite_commit(void *self, tt_error *error) {
  file *to = self;
  const char *name = sqlite3_db_filename(to->db, "main");
  if (sqlite3_get_autocommit(to->db)) return TT_OK;  // nothing was added
  TT_TRY(run(to, "COMMIT", NULL, NULL, error));
  if (!tt_file_has_moved(name, &to->main) &&
      !tt_file_has_moved(sqlite3_filename_wal(name), &to->log))
    return TT_OK;
  return tt_fail(error, TT_FAILED,
                 "%s: was removed or replaced while the sweep writes into it, so nothing is kept; "
                 "put it back, or begin again with a new one",
                 to->path);
}

static tt_status sqlite_finish(void *self, tt_error *error) {
  file *to = self;
  (void)error;
  // Refused while somebody reads: then the log stays beside the file until the next sweep, and nothing is lost.
  sqlite3_busy_timeout(to->db, 200);
  sqlite3_exec(to->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
  return TT_OK;
}

static tt_status read_row(const file *from, sqlite3_stmt *query, tt_sweep_row *row,
                          tt_error *error) {
  int stored[TT_RESULTS_MOST];
  const int count = tt_results_stored(from->columns, stored);
  tt_error why;
  memset(row, 0, sizeof *row);
  for (int i = 0; i < count; i++) {
    if (sqlite3_column_type(query, i) == SQLITE_NULL) continue;
    const bool text = from->columns->list[stored[i]].kind == TT_RESULTS_TEXT;
    if (tt_results_take(from->plan, stored[i],
                        text ? (const char *)sqlite3_column_text(query, i) : NULL,
                        text ? 0 : sqlite3_column_double(query, i), row, &why) != TT_OK)
      return tt_fail(error, TT_INVALID, "%s: %s", from->path, why.text);
  }
  return TT_OK;
}

static tt_status sqlite_each(void *self, tt_results_visit visit, void *context, tt_error *error) {
  file *from = self;
  sqlite3_stmt *query = NULL;
  tt_bytes sql = {0};
  tt_results_put(&sql, "SELECT ");
  tt_results_put_stored(&sql, from->columns);
  tt_results_put(&sql, " FROM run WHERE run IS NOT NULL ORDER BY run");
  tt_bytes_append(&sql, "", 1);
  tt_sweep_row *row = malloc(sizeof *row);
  tt_status status = row && !sql.failed ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_OK &&
      sqlite3_prepare_v2(from->db, (const char *)sql.data, -1, &query, NULL) != SQLITE_OK)
    status = fail(from, "can't read", error);
  int result = SQLITE_DONE;
  while (status == TT_OK && (result = sqlite3_step(query)) == SQLITE_ROW) {
    status = read_row(from, query, row, error);
    if (status == TT_OK) status = visit(context, row, error);
  }
  if (status == TT_OK && result != SQLITE_DONE) status = fail(from, "can't read", error);
  sqlite3_finalize(query);
  tt_bytes_free(&sql);
  free(row);
  return status;
}

const tt_results_backend tt_results_sqlite = {sqlite_open,   sqlite_close,  sqlite_add,
                                              sqlite_commit, sqlite_finish, sqlite_each};
